"""Arrays on the device, under the names of numba.cuda.cudadrv.devicearray."""
from __future__ import annotations

from typing import Any

from cujit.cuda._array.hostarray import ManagedNDArray, MappedNDArray
from cujit.cuda._memory.ipc import IpcArrayHandle
from cujit.cuda.devicearray import DeviceNDArray, auto_device, device_array_like, is_cuda_array

__all__ = ["DeviceNDArray", "DeviceNDArrayBase", "IpcArrayHandle", "ManagedNDArray", "MappedNDArray", "auto_device",
           "from_array_like", "is_contiguous", "is_cuda_array", "is_cuda_ndarray", "require_cuda_ndarray",
           "verify_cuda_ndarray_interface"]

DeviceNDArrayBase = DeviceNDArray


def is_cuda_ndarray(obj: object) -> bool:
    """Whether it is an array of cujit's on a device."""
    return isinstance(obj, DeviceNDArray)


def require_cuda_ndarray(obj: object) -> None:
    """ValueError for what is no array of cujit's on a device."""
    if not is_cuda_ndarray(obj):
        raise ValueError(f"a device array is wanted, not {type(obj).__name__}")


verify_cuda_ndarray_interface = require_cuda_ndarray


def from_array_like(ary: Any, stream: Any = 0) -> DeviceNDArray:
    """A device array of the same shape, order and elements, filled with anything."""
    return device_array_like(ary, stream)


def is_contiguous(ary: Any) -> bool:
    """Whether the elements lie one behind another, in C or Fortran order."""
    if isinstance(ary, DeviceNDArray):
        return ary.is_c_contiguous() or ary.is_f_contiguous()
    return bool(ary.flags.c_contiguous or ary.flags.f_contiguous)
