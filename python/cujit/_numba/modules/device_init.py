"""The names of cujit.cuda where numba.cuda.device_init has them: everything."""
from cujit.cuda import *  # noqa: F403
