"""The names of cujit.cuda where numba.cuda.intrinsics has them: what has a meaning in kernels."""
from cujit.cuda import *  # noqa: F403
