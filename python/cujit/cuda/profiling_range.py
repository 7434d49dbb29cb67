"""Ranges with names in the timelines of profilers: NVTX, where its library is installed."""
from __future__ import annotations

import contextlib
import ctypes
import ctypes.util
import functools
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

_LIBRARIES = ("libnvToolsExt.so.1", "libnvtx3interop.so.1", "libnvtx3interop.so")


@functools.cache
def _nvtx() -> Any:
    """The library, or None. It does nothing itself where no profiler looks."""
    names = [*_LIBRARIES, ctypes.util.find_library("nvToolsExt"), ctypes.util.find_library("nvtx3interop")]
    for name in filter(None, names):
        with contextlib.suppress(OSError):
            library = ctypes.CDLL(name)
            if hasattr(library, "nvtxRangePushA"):
                return library
    return None


@contextlib.contextmanager
def profile_range(name: str) -> Iterator[None]:
    """A context, or a decorator of functions, whose time Nsight Systems and Nsight Compute show under this name. They
    find it by NVTX's library (libnvToolsExt of CUDA 12, or nvtx3interop); without one nothing is shown."""
    library = _nvtx()
    if library is not None:
        library.nvtxRangePushA(name.encode())
    try:
        yield
    finally:
        if library is not None:
            library.nvtxRangePop()
