"""Device arrays in Dask's messages: importing this module tells `distributed` how they travel.

On the client and on every worker (`dask worker --preload cujit.dask`). Where the connection takes device memory
(UCX), that is what is sent, else a copy on the host. Without this module device arrays are pickled, by way of the host.
"""
from __future__ import annotations

from typing import Any

import numpy as np
from dask.sizeof import sizeof
from distributed.protocol.cuda import cuda_deserialize, cuda_serialize
from distributed.protocol.serialize import dask_deserialize, dask_serialize

from cujit._dask import register_sizeof
from cujit.cuda._array import layout
from cujit.cuda.devicearray import DeviceNDArray, as_cuda_array, device_array, to_device
from cujit.cuda.devices import on

register_sizeof(sizeof)   # where cujit is not installed, but found by PYTHONPATH, Dask has no entry point for it


def _without_gaps(array: DeviceNDArray) -> tuple[dict[str, Any], DeviceNDArray]:
    """What describes the array, and an array of the same elements that is one block."""
    if not array._is_contiguous():
        with on(array.device):
            block = device_array(array.shape, array.dtype)
        block[...] = array
        array = block
    order = "C" if array.is_c_contiguous() else "F"
    return {"shape": array.shape, "descr": np.lib.format.dtype_to_descr(array.dtype), "order": order}, array


def _over(header: dict[str, Any], block: DeviceNDArray) -> DeviceNDArray:
    """The array in a block of bytes."""
    dtype, shape = np.lib.format.descr_to_dtype(header["descr"]), tuple(header["shape"])
    strides = layout.contiguous_strides(shape, dtype.itemsize, header["order"])
    return DeviceNDArray(shape, strides, dtype, block.pointer, block)


@cuda_serialize.register(DeviceNDArray)
def serialize_for_devices(array: DeviceNDArray) -> tuple[dict[str, Any], list[DeviceNDArray]]:
    """(header, frames): the device memory itself."""
    header, block = _without_gaps(array)
    return header, [block]


@cuda_deserialize.register(DeviceNDArray)
def deserialize_on_device(header: dict[str, Any], frames: list[Any]) -> DeviceNDArray:
    """The array in device memory that has arrived."""
    return _over(header, as_cuda_array(frames[0]))


@dask_serialize.register(DeviceNDArray)
def serialize_for_hosts(array: DeviceNDArray) -> tuple[dict[str, Any], list[memoryview]]:
    """(header, frames): the elements' bytes, copied to the host."""
    header, block = _without_gaps(array)
    elements: Any = block.copy_to_host().ravel("K").view(np.uint8)   # types know of buffers since CPython 3.12
    return header, [memoryview(elements)]


@dask_deserialize.register(DeviceNDArray)
def deserialize_on_host(header: dict[str, Any], frames: list[Any]) -> DeviceNDArray:
    """The array on the current device, of bytes that have arrived on the host."""
    return _over(header, to_device(np.frombuffer(frames[0], np.uint8) if len(frames[0]) else np.empty(0, np.uint8)))
