"""The names of cujit.cuda where numba.cuda.decorators has them: decorators."""
from cujit.cuda import *  # noqa: F403
