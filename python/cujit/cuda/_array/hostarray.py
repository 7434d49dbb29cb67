"""Host memory that devices can reach, and the hints that say which way a host argument is copied."""
from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from cujit import _core
from cujit.cuda import devicearray
from cujit.cuda._array import layout
from cujit.cuda.devicearray import DeviceNDArray
from cujit.cuda.devices import current_context, need_device, on

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Self

    from numpy.typing import DTypeLike, NDArray

    from cujit._annotations import HostOrDeviceArray, Shape, StreamLike


class In(_core.HostArgument):
    """A host array argument that the kernel reads: it is not copied back."""

    def __new__(cls, value: Any) -> Self:
        return super().__new__(cls, value, copy_out=False)


class Out(_core.HostArgument):
    """A host array argument that the kernel overwrites: it is not copied in."""

    def __new__(cls, value: Any) -> Self:
        return super().__new__(cls, value, copy_in=False)


class InOut(_core.HostArgument):
    """A host array argument that is copied in and back, as one without a hint is."""

    def __new__(cls, value: Any) -> Self:
        return super().__new__(cls, value)


class MappedNDArray(np.ndarray):
    """A NumPy array that kernels work on in place.

    Launches do not wait: synchronize before the host looks at the results. `stream` is the stream whose work is on it,
    0 for the default one. What NumPy computes from it is ordinary memory and goes to kernels as any host array.
    """

    stream: StreamLike = 0
    _dlpack_kind = 3   # kDLCUDAHost

    def __array_finalize__(self, source: Any) -> None:
        self.stream = getattr(source, "stream", 0)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        memory = _memory_of(self)
        if memory is None or memory.device.kind != need_device().kind:
            raise AttributeError("this array is not in memory that the device reaches")
        interface = dict(self.__array_interface__)
        address, read_only = interface["data"]
        interface.update(version=3, stream=layout.stream_number(self.stream),
                         data=(address - memory.address + memory.pointer if self.size else 0, read_only))
        return interface

    def __dlpack_device__(self) -> tuple[int, int]:   # type: ignore[override]  # NumPy's own is (1, 0)
        """Where the memory is, in DLPack's numbers: (3, 0) page-locked and (13, 0) managed on a GPU, else (1, 0)."""
        memory = _memory_of(self)
        return (1, 0) if memory is None or memory.device.kind == "cpu" else (self._dlpack_kind, 0)

    def __dlpack__(self, *, stream: int | None = None, max_version: tuple[int, int] | None = None,
                   dl_device: tuple[int, int] | None = None, copy: bool | None = None) -> Any:
        """The array for other libraries, by DLPack. See DeviceNDArray.__dlpack__."""
        from cujit.cuda._array import dlpack

        place = self.__dlpack_device__()
        if place != (1, 0):
            return dlpack.capsule_of(devicearray.as_cuda_array(self), place, stream, max_version, dl_device, copy)
        plain = self.view(np.ndarray)
        return plain.__dlpack__() if max_version is None else plain.__dlpack__(max_version=max_version)

    def copy_to_host(self, ary: NDArray[Any] | None = None, stream: StreamLike = 0) -> NDArray[Any]:
        """A NumPy array with the elements: a new one, or `ary`. See DeviceNDArray.copy_to_host."""
        return devicearray.as_cuda_array(self).copy_to_host(ary, stream or self.stream)

    def copy_to_device(self, ary: Any, stream: StreamLike = 0) -> None:
        """Takes the elements of another array. See DeviceNDArray.copy_to_device."""
        devicearray.as_cuda_array(self).copy_to_device(ary, stream or self.stream)


class ManagedNDArray(MappedNDArray):
    """A NumPy array in memory that moves to whoever uses it, the host or a GPU."""

    _dlpack_kind = 13   # kDLCUDAManaged


def _memory_of(array):
    owner = array
    while isinstance(owner, np.ndarray):
        owner = owner.base
    is_memory = isinstance(owner, (_core.HostMemory, _core.HostView)) and hasattr(owner, "address")
    return owner if is_memory else None


def _in_memory(kind, shape, dtype, strides, order):
    shape, dtype = layout.of_new_array(shape, dtype)
    if dtype.hasobject:
        raise TypeError(f"a device cannot reach the objects of dtype {dtype}")
    if strides is None:
        strides = layout.contiguous_strides(shape, dtype.itemsize, order)
    size = layout.extent(shape, strides, dtype.itemsize)
    if size == 0:
        need_device()
        return np.ndarray(shape, dtype, strides=strides)
    return np.ndarray(shape, dtype, _memory(size, kind), strides=strides)


def _memory(size, kind):
    """Host memory as a buffer: the driver's, or that of a memory manager that has its own."""
    managers = sys.modules.get("cujit.cuda._memory.memory_managers")
    if managers is None or not managers.gives_host_memory():
        return _core.HostMemory(size, kind)
    context = current_context()
    if kind.startswith("managed"):
        return context.memallocmanaged(size, kind == "managed")
    return context.memhostalloc(size, mapped=True, portable=True, wc=kind == "write-combined")


def _in_memory_like(kind, ary):
    strides = layout.like_strides(ary.shape, ary.strides, ary.dtype.itemsize)
    return _in_memory(kind, ary.shape, ary.dtype, strides, "C")


def _as_mapped(array, stream, class_=MappedNDArray):
    mapped_view = array.view(class_)
    mapped_view.stream = stream
    return mapped_view


def pinned_array(shape: Shape, dtype: DTypeLike = np.float64, strides: Sequence[int] | None = None,
                 order: str = "C") -> NDArray[Any]:
    """A NumPy array, not initialized, in page-locked memory: copies between it and a GPU are fast, and those on a
    stream do not wait. DeviceMemoryError where there is not that much."""
    return _in_memory("pinned", shape, dtype, strides, order)


def pinned_array_like(ary: HostOrDeviceArray) -> NDArray[Any]:
    """A pinned array with the shape, dtype and order of `ary`, without its gaps."""
    return _in_memory_like("pinned", ary)


def mapped_array(shape: Shape, dtype: DTypeLike = np.float64, strides: Sequence[int] | None = None, order: str = "C",
                 stream: StreamLike = 0, portable: bool = False, wc: bool = False) -> MappedNDArray:
    """A NumPy array, not initialized, in page-locked memory that kernels work on in place, over the bus.

    wc: write-combined, which the host writes faster and reads very slowly. portable: all devices reach it in any case.
    DeviceMemoryError where there is not that much.
    """
    return _as_mapped(_in_memory("write-combined" if wc else "pinned", shape, dtype, strides, order), stream)


def mapped_array_like(ary: HostOrDeviceArray, stream: StreamLike = 0, portable: bool = False,
                      wc: bool = False) -> MappedNDArray:
    """A mapped array with the shape, dtype and order of `ary`, without its gaps."""
    return _as_mapped(_in_memory_like("write-combined" if wc else "pinned", ary), stream)


def managed_array(shape: Shape, dtype: DTypeLike = np.float64, strides: Sequence[int] | None = None, order: str = "C",
                  stream: StreamLike = 0, attach_global: bool = True) -> ManagedNDArray:
    """A NumPy array, not initialized, in memory that moves to whoever uses it, page by page.

    attach_global: kernels of any stream reach it; without it, on devices that cannot share pages with the host, none.
    DeviceMemoryError where there is not that much.
    """
    kind = "managed" if attach_global else "managed by host"
    return _as_mapped(_in_memory(kind, shape, dtype, strides, order), stream, ManagedNDArray)


@contextlib.contextmanager
def pinned(*arrays: NDArray[Any]) -> Iterator[None]:
    """A context in which the memory of these host arrays is page-locked: copies between them and a GPU are fast, and
    those on a stream do not wait. It ends when the device has done all its work."""
    with _registered(arrays):
        yield


@contextlib.contextmanager
def mapped(*arrays: NDArray[Any], stream: StreamLike = 0) -> Iterator[Any]:
    """A context that gives a device array in the memory of each host array: one, or a tuple of several. It ends when
    the device has done all its work."""
    with _registered(arrays) as pointers:
        views = [DeviceNDArray(array.shape, array.strides, array.dtype, pointer, array, not array.flags.writeable,
                               stream=stream) for array, pointer in zip(arrays, pointers, strict=True)]
        yield views[0] if len(views) == 1 else tuple(views)


@contextlib.contextmanager
def _registered(arrays):
    """The arrays' first elements' addresses for kernels."""
    device, locked, pointers = need_device(), [], []
    try:
        for array in arrays:
            address = array.__array_interface__["data"][0]
            first, last = layout.byte_range(address, array.shape, array.strides, array.itemsize)
            if first == last:
                pointers.append(0)
                continue
            pointers.append(_core.register_host(first, last - first) + address - first)
            locked.append(first)
        yield pointers
    finally:
        if locked:
            device.synchronize()
        with on(device._core):
            for first in locked:
                _core.unregister_host(first)
