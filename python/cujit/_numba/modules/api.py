"""The names of cujit.cuda where numba.cuda.api has them: arrays, devices, streams and events."""
from cujit.cuda import *  # noqa: F403
