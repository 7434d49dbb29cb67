"""Memory as an object: what contexts and memory managers give, and what the functions of cudadrv.driver take.

Arrays do not need it: theirs is a DeviceBuffer, which has the attributes that these functions ask for, too.
"""
from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

import numpy as np

from cujit import _core
from cujit.cuda._array import layout
from cujit.cuda.devices import on

if TYPE_CHECKING:
    from collections.abc import Callable

    from cujit._annotations import StreamLike
    from cujit.cuda.devices import Context


class Address(int):
    """An address that can be asked for its `value`, as those of ctypes can."""

    @property
    def value(self) -> int:
        return int(self)


def address_of(pointer: Any) -> int:
    """An address as an int: of an int, of an object of ctypes or cuda.bindings, of memory or an array."""
    if isinstance(pointer, int):
        return int(pointer)
    for name in ("pointer", "device_pointer_value", "value"):
        found = getattr(pointer, name, None)
        if found is not None:
            return int(found)
    if hasattr(pointer, "__cuda_array_interface__"):
        return int(pointer.__cuda_array_interface__["data"][0])
    return 0 if hasattr(pointer, "value") else int(pointer)


def core_of(memory: Any) -> _core.Device:
    """The device that memory is on; the current one where it is only an address."""
    context = getattr(memory, "context", None)
    if context is not None:
        core: _core.Device = context.device._core
        return core
    device = getattr(memory, "device", None)
    return device if isinstance(device, _core.Device) else _core.current_device()


class MemoryPointer:
    """Device memory, freed with the object: then `finalizer` is called.

    Attributes
    ----------
    device_pointer, handle : object
        The address, as it was given.
    pointer : int
        The address.
    size : int
        Bytes.
    context : Context
        Of the device that the memory is on.
    owner : object
        What is kept alive; the object itself unless it is a view.

    Examples
    --------
    >>> memory = cuda.current_context().memalloc(64)
    >>> memory.memset(7)
    >>> memory.view(16, 32).size
    16
    """

    __cuda_memory__ = True

    def __init__(self, context: Context, pointer: Any, size: int, owner: Any = None,
                 finalizer: Callable[[], object] | None = None) -> None:
        self.context = context
        self.device_pointer = Address(pointer) if isinstance(pointer, int) else pointer
        self.handle = self.device_pointer
        self.size = self._cuda_memsize_ = size
        self.is_managed = finalizer is not None
        self._owner = owner
        self._views: weakref.WeakSet[MemoryPointer] = weakref.WeakSet()
        self._finalizer = weakref.finalize(self, finalizer) if finalizer is not None else None

    @property
    def pointer(self) -> int:
        return address_of(self.device_pointer)

    @property
    def device_pointer_value(self) -> int | None:
        """The address; None for memory of no bytes."""
        return self.pointer or None

    @property
    def device_ctypes_pointer(self) -> Any:
        """The address, as C functions called through ctypes take it."""
        import ctypes

        return ctypes.c_void_p(self.pointer or None)

    @property
    def owner(self) -> Any:
        return self if self._owner is None else self._owner

    @property
    def refct(self) -> int:
        """One for the object, and one for each view that lives."""
        return 1 + len(self._views)

    def own(self) -> MemoryPointer:
        """The object: references to it are what counts."""
        return self

    def free(self) -> None:
        """Frees the memory now. RuntimeError where that has been done."""
        if self._finalizer is None:
            return
        if not self._finalizer.alive:
            raise RuntimeError("this memory has been freed")
        self._finalizer()

    def memset(self, byte: int, count: int | None = None, stream: StreamLike = 0) -> None:
        """Sets the first `count` bytes, all by default."""
        with on(core_of(self)):
            _core.fill(self.pointer, byte, self.size if count is None else count, stream)

    def view(self, start: int, stop: int | None = None) -> MemoryPointer:
        """The bytes from `start` to `stop`, or to the end. RuntimeError where that is less than nothing."""
        size = (self.size if stop is None else stop) - start
        if size < 0:
            raise RuntimeError(f"a view of {size} bytes")
        if not self.pointer and size:
            raise RuntimeError("a view with bytes of memory without")
        view = MemoryPointer(self.context, self.pointer and self.pointer + start, size, owner=self.owner)
        if isinstance(view.owner, MemoryPointer):
            view.owner._views.add(view)
        return view

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.size} bytes at {self.pointer:#x}>"


AutoFreePointer = MemoryPointer


class PinnedMemory(_core.HostView):
    """Page-locked host memory, as a buffer: np.frombuffer reads it. `finalizer` is called when the object goes."""

    def __new__(cls, context: Context, pointer: Any, size: int, owner: Any = None,
                finalizer: Callable[[], object] | None = None) -> PinnedMemory:
        return super().__new__(cls)

    def __init__(self, context: Context, pointer: Any, size: int, owner: Any = None,
                 finalizer: Callable[[], object] | None = None) -> None:
        super().__init__(address_of(pointer), size)
        self.context, self.size, self.owned = context, size, owner
        self.host_pointer = self.handle = Address(pointer) if isinstance(pointer, int) else pointer
        self.is_managed = finalizer is not None
        if finalizer is not None:
            weakref.finalize(self, finalizer)

    def own(self) -> PinnedMemory:
        """The object."""
        return self


class MappedMemory(MemoryPointer, _core.HostView):
    """Page-locked host memory that kernels use, too: a MemoryPointer with the host's address as `host_pointer`, and a
    buffer."""

    def __new__(cls, context: Context, pointer: Any, size: int, owner: Any = None,
                finalizer: Callable[[], object] | None = None) -> MappedMemory:
        return super().__new__(cls)

    def __init__(self, context: Context, pointer: Any, size: int, owner: Any = None,
                 finalizer: Callable[[], object] | None = None) -> None:
        _core.HostView.__init__(self, address_of(pointer), size)
        MemoryPointer.__init__(self, context, address_of(pointer), size, finalizer=finalizer)
        self.owned = owner
        self.host_pointer = self.handle = Address(pointer) if isinstance(pointer, int) else pointer


    @property
    def address(self) -> int:
        """Where the host finds it."""
        return address_of(self.host_pointer)

    @property
    def device(self) -> _core.Device:
        """The device that was current when it was made."""
        return self.context.device._core


class ManagedMemory(MappedMemory):
    """Memory that moves to whoever uses it: a MemoryPointer, and a buffer."""


# --- copies under the names of numba.cuda.cudadrv.driver -------------------------------------------------------------

def _host_bytes(memory: Any, size: int) -> np.ndarray[Any, Any]:
    """The first bytes of a buffer, or of what an address leads to."""
    if isinstance(memory, int) or (hasattr(memory, "value") and not isinstance(memory, np.generic)):
        memory = _core.HostView(address_of(memory), size)
    whole = np.frombuffer(memory, np.uint8)
    if len(whole) < size:
        raise ValueError(f"{size} bytes of a host buffer of {len(whole)}")
    return whole[:size]


def device_memset(dst: Any, val: int, size: int, stream: StreamLike = 0) -> None:
    """Sets bytes of device memory (a MemoryPointer, an array or an address)."""
    with on(core_of(dst)):
        _core.fill(address_of(dst), val, size, stream)


def host_to_device(dst: Any, src: Any, size: int, stream: StreamLike = 0) -> None:
    """Copies bytes of a host buffer, or from an address of the host, to device memory."""
    with on(core_of(dst)):
        _core.copy_to_device(address_of(dst), _host_bytes(src, size), stream)


def device_to_host(dst: Any, src: Any, size: int, stream: StreamLike = 0) -> None:
    """Copies bytes of device memory to a host buffer or an address of the host."""
    with on(core_of(src)):
        _core.copy_to_host(_host_bytes(dst, size), address_of(src), stream)


def device_to_device(dst: Any, src: Any, size: int, stream: StreamLike = 0) -> None:
    """Copies bytes between two pieces of device memory, of one device or two."""
    ends = []
    for memory in (dst, src):
        with on(core_of(memory)):   # an array knows its device, an address does not
            ends.append(_core.DeviceArrayBase((size,), None, np.uint8, address_of(memory), memory))
    _core.copy_on_device(ends[0], ends[1], size, stream)


def device_extents(devmem: Any) -> tuple[int, int]:
    """(first, behind the last) address of the allocation that memory lies in."""
    with on(core_of(devmem)):
        start, size = _core.memory_range(address_of(devmem))
    if not size:
        whole = getattr(devmem, "owner", devmem)
        start, size = address_of(whole), 0 if isinstance(whole, int) else device_memory_size(whole)
    return Address(start), Address(start + size)


def device_memory_size(devmem: Any) -> int:
    """Bytes of device memory."""
    names = ("_cuda_memsize_", "alloc_size", "nbytes", "size")
    size: int = next(getattr(devmem, name) for name in names if hasattr(devmem, name))
    return size


def device_pointer(obj: Any) -> int:
    """The address of device memory."""
    return Address(address_of(obj))


def is_device_memory(obj: object) -> bool:
    """Whether an object is device memory: a MemoryPointer, a DeviceBuffer or an array that devices reach."""
    is_ours = isinstance(obj, (_core.DeviceArrayBase, _core.DeviceBuffer))
    return is_ours or getattr(obj, "__cuda_memory__", False) or hasattr(obj, "__cuda_array_interface__")


def require_device_memory(obj: object) -> None:
    """TypeError for what is no device memory."""
    if not is_device_memory(obj):
        raise TypeError(f"a value of type '{type(obj).__name__}' is no device memory")


def host_pointer(obj: Any) -> int:
    """The address of a buffer; an int as it is."""
    return obj if isinstance(obj, int) else host_memory_extents(obj)[0]


def host_memory_extents(obj: Any) -> tuple[int, int]:
    """(first, behind the last) address of a buffer."""
    if isinstance(obj, np.ndarray):
        return layout.byte_range(obj.ctypes.data, obj.shape, obj.strides, obj.itemsize)
    first = np.frombuffer(obj, np.uint8).ctypes.data
    return first, first + host_memory_size(obj)


def host_memory_size(obj: Any) -> int:
    """Bytes of a buffer."""
    return memoryview(obj).nbytes
