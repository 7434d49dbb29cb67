from cujit import config as config
from cujit import cuda as cuda
from cujit import errors as errors
from cujit import types as types
from cujit._ufunc.gufunc import guvectorize as guvectorize
from cujit._ufunc.ufunc import vectorize as vectorize
from cujit.cuda import literal_unroll as literal_unroll
from cujit.cuda import literally as literally
from cujit.errors import NumbaPerformanceWarning as NumbaPerformanceWarning
from cujit.errors import NumbaWarning as NumbaWarning
from cujit.types import *  # noqa: F403

__version__: str
