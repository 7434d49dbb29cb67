"""Device memory of other processes: handles that can be pickled, and opened where they arrive (CUDA's IPC)."""
from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import numpy as np

from cujit import _core
from cujit.cuda import devices
from cujit.cuda._array import layout
from cujit.cuda._memory.memory import MemoryPointer, address_of, core_of, device_extents
from cujit.cuda.devicearray import DeviceNDArray
from cujit.cuda.devices import Context, Device, on

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import DTypeLike

    from cujit._annotations import Shape


def _handle_bytes(handle: Any) -> bytes:
    """The 64 bytes of a handle: of bytes, a sequence of numbers, or an object of ctypes or cuda.bindings."""
    return bytes(getattr(handle, "reserved", handle))


class IpcHandle:
    """Device memory for other processes.

    Attributes
    ----------
    base : object
        What keeps the memory alive in the process that made it; None elsewhere.
    handle : bytes or object with `reserved`
        The driver's handle of the allocation.
    size, offset : int
        Bytes of the memory, and from the start of the allocation to it.
    source_info : dict
        Device.get_device_identity() of the device that the memory is on.
    """

    def __init__(self, base: Any, handle: Any, size: int, source_info: dict[str, int] | None = None,
                 offset: int = 0) -> None:
        self.base, self.handle, self.size, self.source_info, self.offset = base, handle, size, source_info, offset
        self._opened: tuple[_core.Device, int] | None = None

    def _source(self) -> Device:
        """The device that the memory is on. RuntimeError where this process does not see it."""
        if self.source_info is None:
            return devices.need_device()
        return Device.from_identity(self.source_info)

    def can_access_peer(self, context: Context) -> bool:
        """Whether kernels on the context's device could use the memory without a copy."""
        source = self._source()
        return source is context.device or context.can_access_peer(source)

    def open(self, context: Context | None = None) -> MemoryPointer:
        """The memory in this process, on the device that it is on, until close().

        Raises
        ------
        ValueError
            It is open, or this is the process that made it.
        CudaAPIError
            The memory is gone: the process that made it has ended, or freed it.
        RuntimeError
            This process does not see the device.
        """
        if self.base is not None:
            raise ValueError("an IpcHandle is opened in another process than the one that made it")
        if self._opened is not None:
            raise ValueError("this IpcHandle is open already")
        device = self._source()
        with on(device._core):
            start = _core.import_memory(_handle_bytes(self.handle))
        self._opened = device._core, start
        return MemoryPointer(Context(device), start + self.offset, self.size)

    open_direct = open_staged = open

    def open_array(self, context: Context | None, shape: Shape, dtype: DTypeLike,
                   strides: tuple[int, ...] | int | None = None) -> DeviceNDArray:
        """open(), as a device array. `strides`: bytes; C order without them."""
        steps = (strides,) if isinstance(strides, int) else strides
        memory = self.open(context)
        with on(core_of(memory)):
            return DeviceNDArray(layout.as_shape(shape), steps, dtype, gpu_data=memory)

    def close(self) -> None:
        """Gives the memory up; arrays in it must not be used any more. ValueError where it is not open."""
        if self._opened is None:
            raise ValueError("this IpcHandle is not open")
        (core, start), self._opened = self._opened, None
        with on(core):
            _core.close_import(start)

    def __reduce__(self) -> tuple[Any, ...]:
        return IpcHandle, (None, _handle_bytes(self.handle), self.size, self.source_info, self.offset)


class IpcArrayHandle:
    """A device array for other processes, made by its get_ipc_handle(). Pickled, it goes to one of them, where open()
    or `with` give the array."""

    def __init__(self, ipc_handle: IpcHandle, array_desc: dict[str, Any]) -> None:
        self._ipc_handle, self._array_desc = ipc_handle, array_desc

    def open(self) -> DeviceNDArray:
        """The array in this process, until close(). Fails as IpcHandle.open does."""
        return self._ipc_handle.open_array(None, **self._array_desc)

    def close(self) -> None:
        """Gives the array up; it must not be used any more. ValueError where it is not open."""
        self._ipc_handle.close()

    def __enter__(self) -> DeviceNDArray:
        return self.open()

    def __exit__(self, *_: object) -> None:
        self.close()


def handle_of(memory: Any) -> IpcHandle:
    """An IpcHandle of device memory. CudaAPIError for memory that no other process can be given."""
    core = core_of(memory)
    start, _ = device_extents(memory)
    with on(core):
        handle = _core.export_memory(int(start))
    device = devices._device(core.kind, core.id)
    return IpcHandle(getattr(memory, "owner", memory), handle, memory.size, device.get_device_identity(),
                     address_of(memory) - int(start))


def handle_of_array(array: DeviceNDArray) -> IpcArrayHandle:
    """What DeviceNDArray.get_ipc_handle returns."""
    from cujit.cuda._memory import memory_managers

    memory = array.gpu_data
    if isinstance(memory, _core.DeviceBuffer) and not memory_managers.is_plugins(memory):
        array.move()   # from the pool, whose memory is this process's alone
    context = Context(devices._device(array.device.kind, array.device.id))
    extent = MemoryPointer(context, array.pointer, array.alloc_size, owner=memory)
    return IpcArrayHandle(memory_managers.manager_of(array.device).get_ipc_handle(extent),
                          {"shape": array.shape, "strides": array.strides, "dtype": array.dtype})


@contextlib.contextmanager
def open_ipc_array(handle: Any, shape: Shape, dtype: DTypeLike, strides: tuple[int, ...] | None = None,
                   offset: int = 0) -> Iterator[DeviceNDArray]:
    """A context that gives a device array in another process's memory, on the current device.

    Parameters
    ----------
    handle : bytes or sequence of int
        The driver's handle, 64 bytes.
    shape, dtype, strides
        Of the array; strides are bytes, C order without them.
    offset : int
        Bytes from the start of the allocation to the array.

    Raises
    ------
    CudaAPIError
        The memory is gone: the process that made it has ended, or freed it.
    """
    element = np.dtype(dtype)
    lengths = layout.as_shape(shape)
    steps = layout.contiguous_strides(lengths, element.itemsize) if strides is None else strides
    opened = IpcHandle(None, handle, layout.extent(lengths, steps, element.itemsize), offset=offset)
    array = opened.open_array(None, lengths, element, steps)
    try:
        yield array
    finally:
        opened.close()
