"""cujit: Python functions compiled for GPUs and CPUs while the program runs.

    from cujit import cuda, vectorize

    @cuda.jit
    def add(x, y, out):
        for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
            out[i] = x[i] + y[i]

    add[80, 256](x, y, out)

Importing the package loads no driver; the first array, stream or launch does. `CUJIT_DEVICE=auto|cuda|cpu` chooses.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cujit import (
    config as config,
    cuda as cuda,
    errors as errors,
    types as types,
)
from cujit.cuda import (
    literal_unroll as literal_unroll,
    literally as literally,
)
from cujit.errors import (
    NumbaDeprecationWarning as NumbaDeprecationWarning,
    NumbaExperimentalFeatureWarning as NumbaExperimentalFeatureWarning,
    NumbaPendingDeprecationWarning as NumbaPendingDeprecationWarning,
    NumbaPerformanceWarning as NumbaPerformanceWarning,
    NumbaWarning as NumbaWarning,
)
from cujit.types import *  # noqa: F403

if TYPE_CHECKING:
    from cujit import extending as extending
    from cujit._numba.stand_in import install_as_numba as install_as_numba
    from cujit._pointers import carray as carray, farray as farray
    from cujit._ufunc.gufunc import guvectorize as guvectorize
    from cujit._ufunc.ufunc import vectorize as vectorize

    __version__: str


def _version() -> str:
    from importlib import metadata

    try:
        return metadata.version("cujit")
    except metadata.PackageNotFoundError:  # run from a source tree
        return "0+unknown"


if not TYPE_CHECKING:   # who reads this without running it learns of missing names
    def __getattr__(name: str) -> Any:
        if name == "vectorize":
            from cujit._ufunc.ufunc import vectorize as value
        elif name == "guvectorize":
            from cujit._ufunc.gufunc import guvectorize as value
        elif name == "install_as_numba":
            from cujit._numba.stand_in import install_as_numba as value
        elif name in ("carray", "farray"):
            from cujit import _pointers

            value = getattr(_pointers, name)
        elif name == "extending":
            import importlib

            value = importlib.import_module("cujit.extending")
        elif name == "__version__":
            value = _version()
        else:
            from cujit._numba.names import missing_from_cujit

            value = missing_from_cujit(name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), "carray", "extending", "farray", "guvectorize",
                   "install_as_numba", "vectorize", "__version__"})
