"""The names of cujit.cuda where numba.cuda.simulator has them: the CPU device is in the simulator's place."""
from cujit.cuda import *  # noqa: F403
