"""Names that programs written for numba ask for and cujit has not: numba's own where it is installed, or the reason."""

import importlib
import sys
from importlib.machinery import PathFinder
from typing import Any

# What programs import from numba in the same line as cuda: numba's compiler for CPUs.
COMPILERS = frozenset({
    "cfunc", "get_num_threads", "jit", "njit", "objmode", "pndindex", "prange",
    "set_num_threads", "stencil", "threading_layer", "typed",
})

# Attributes of numba.cuda that are modules below it.
MODULES = {"driver": "cudadrv.driver", "nvvm": "cudadrv.nvvm"}

# What numba.cuda has and cujit.cuda has not, and why.
ABSENT = {
    "autojit": "cuda.jit does what it did",
}


def missing_from_cujit(name: str) -> Any:
    """numba's object of that name, for `cujit.name`. AttributeError where numba is not installed or has none such."""
    if name not in COMPILERS:
        raise AttributeError(f"module 'cujit' has no attribute '{name}'")
    try:
        numba = importlib.import_module("numba")
    except ImportError:
        raise AttributeError(f"cujit has no '{name}': it is numba's, which is not installed") from None
    return getattr(numba, name)


def missing_from_cuda(name: str) -> Any:
    """The module `cujit.cuda.name`. AttributeError where there is none, with the reason where numba.cuda has it."""
    # A snapshot asks for each attribute that a kernel names of anything: importlib.util's takes ten times as long.
    if not name.startswith("__") and PathFinder.find_spec(f"cujit.cuda.{name}", sys.modules["cujit.cuda"].__path__):
        return importlib.import_module(f"cujit.cuda.{name}")
    if name in MODULES:
        return importlib.import_module(f"cujit.cuda.{MODULES[name]}")
    reason = f": {ABSENT[name]}" if name in ABSENT else ""
    raise AttributeError(f"module 'cujit.cuda' has no attribute '{name}'{reason}")


def missing_from_driver_module(module: str, name: str) -> Any:
    """`cujit.cuda.module.name`, where numba.cuda has the module of that name below cudadrv in both places."""
    found = importlib.import_module(f"cujit.cuda.cudadrv.{module}")
    if name not in found.__all__:
        raise AttributeError(f"module 'cujit.cuda.{module}' has no attribute '{name}'")
    return getattr(found, name)
