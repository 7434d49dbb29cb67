"""The names of cujit.cuda where numba.cuda.stubs has them: what has a meaning in kernels."""
from cujit.cuda import *  # noqa: F403
