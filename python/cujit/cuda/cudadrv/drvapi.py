"""The types of the driver's handles, under the names of numba.cuda.cudadrv.drvapi. Ints are taken in their places."""
from __future__ import annotations

from ctypes import c_int, c_size_t, c_void_p
from typing import NoReturn

__all__ = ["cu_context", "cu_device", "cu_device_ptr", "cu_event", "cu_function", "cu_module", "cu_stream"]

cu_device = c_int
cu_device_ptr = c_size_t
cu_context = cu_event = cu_function = cu_module = cu_stream = c_void_p


def __getattr__(name: str) -> NoReturn:
    raise AttributeError(f"module '{__name__}' has no attribute '{name}': the driver is called in C")
