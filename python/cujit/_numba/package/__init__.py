"""`numba` for programs below cujit.install_as_numba() where numba is not installed: cuda, ufuncs, types and settings.

What compiles for CPUs (njit, prange, typed, ...) is numba's own: asking for it is an ImportError that says so.
"""
from cujit import (  # noqa: F401
    config,
    errors,
    guvectorize,
    literal_unroll,
    literally,
    types,
    vectorize,
)
from cujit._numba.names import COMPILERS
from cujit.errors import (  # noqa: F401
    NumbaDeprecationWarning,
    NumbaExperimentalFeatureWarning,
    NumbaPendingDeprecationWarning,
    NumbaPerformanceWarning,
    NumbaWarning,
)
from cujit.types import *  # noqa: F403

__version__ = "0.68.0+cujit"   # programs compare these two; the interface is that of this numba
version_info = (0, 68, 0)


def __getattr__(name):
    if name in ("cuda", "core", "extending", "np", "typing"):
        import importlib

        return importlib.import_module(f"numba.{name}")
    if name in COMPILERS:
        raise ImportError(f"numba.{name} compiles for CPUs and needs numba, which is not installed: cujit is in the "
                          "place of numba.cuda only", name=f"numba.{name}")
    raise AttributeError(f"module 'numba' has no attribute '{name}': numba is not installed, and cujit, which is in "
                         "the place of numba.cuda, has none")
