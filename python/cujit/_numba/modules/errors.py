"""cujit.errors, and what numba.cuda.errors has beside."""
from cujit.errors import *  # noqa: F403
from cujit.errors import LoweringError as CudaLoweringError  # noqa: F401
