"""Where device memory comes from: the driver's pool, or a memory manager of another library (RMM, CuPy's pools).

A manager is a class with the methods of BaseCUDAMemoryManager, by version 1 of numba's interface for such plugins.
set_memory_manager() puts one in the place of the pool; each device has an object of it.
"""
from __future__ import annotations

import abc
import contextlib
import importlib
import os
from typing import TYPE_CHECKING, Any

from cujit import _core
from cujit.cuda._memory.memory import ManagedMemory, MappedMemory, MemoryPointer, PinnedMemory, address_of
from cujit.cuda.devices import Context, Deallocations, MemoryInfo, _device, defer_cleanup, on

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cujit.cuda._memory.ipc import IpcHandle

INTERFACE_VERSION = 1


class BaseCUDAMemoryManager(abc.ABC):
    """What a memory manager has to do. Made with the context of a device as keyword `context`, which stays as an
    attribute; within its methods that device is the current one, for cujit and for the driver."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if "context" not in kwargs:
            raise RuntimeError("a memory manager is made with a context")
        self.context: Any = kwargs.pop("context")

    @abc.abstractmethod
    def memalloc(self, size: int) -> MemoryPointer:
        """A MemoryPointer to `size` bytes of device memory, which owns them."""

    @abc.abstractmethod
    def memhostalloc(self, size: int, mapped: bool, portable: bool, wc: bool) -> MappedMemory | PinnedMemory:
        """Page-locked host memory: MappedMemory where kernels are to use it (mapped), else PinnedMemory."""

    @abc.abstractmethod
    def mempin(self, owner: Any, pointer: Any, size: int, mapped: bool) -> MappedMemory | PinnedMemory:
        """Page-locks host memory of `owner`, until the result goes."""

    @abc.abstractmethod
    def initialize(self) -> None:
        """Called once, before anything else is asked."""

    @abc.abstractmethod
    def get_ipc_handle(self, memory: MemoryPointer) -> IpcHandle:
        """An IpcHandle for the memory."""

    @abc.abstractmethod
    def get_memory_info(self) -> MemoryInfo:
        """(free, total) bytes. NotImplementedError where that means nothing."""

    @abc.abstractmethod
    def reset(self) -> None:
        """Forgets all memory."""

    @abc.abstractmethod
    def defer_cleanup(self) -> contextlib.AbstractContextManager[None]:
        """A context within which no memory is freed."""

    @property
    @abc.abstractmethod
    def interface_version(self) -> int:
        """1."""


class HostOnlyCUDAMemoryManager(BaseCUDAMemoryManager):
    """A memory manager whose host memory is the driver's. A subclass has memalloc, initialize, get_ipc_handle,
    get_memory_info and interface_version."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.allocations: dict[Any, Any] = {}
        self.deallocations = Deallocations()

    def memhostalloc(self, size: int, mapped: bool = False, portable: bool = False,
                     wc: bool = False) -> MappedMemory | PinnedMemory:
        """Page-locked host memory: MappedMemory or PinnedMemory. DeviceMemoryError where there is not that much."""
        with on(self.context.device._core):
            held = [_core.HostMemory(size, "write-combined" if wc else "pinned")]
        return (MappedMemory if mapped else PinnedMemory)(self.context, held[0].address, size, finalizer=held.clear)

    def mempin(self, owner: Any, pointer: Any, size: int, mapped: bool = False) -> MappedMemory | PinnedMemory:
        """Page-locks host memory of `owner`, until the result goes. CudaAPIError where it is locked already."""
        core, address = self.context.device._core, address_of(pointer)
        with on(core):
            _core.register_host(address, size)

        def unlock() -> None:
            with on(core):
                _core.unregister_host(address)

        return (MappedMemory if mapped else PinnedMemory)(self.context, pointer, size, owner=owner, finalizer=unlock)

    def memallocmanaged(self, size: int, attach_global: bool = True) -> ManagedMemory:
        """Memory that moves to whoever uses it. DeviceMemoryError where there is not that much."""
        with on(self.context.device._core):
            held = [_core.HostMemory(size, "managed" if attach_global else "managed by host")]
        return ManagedMemory(self.context, held[0].address, size, finalizer=held.clear)

    def reset(self) -> None:
        self.allocations.clear()
        self.deallocations.clear()

    @contextlib.contextmanager
    def defer_cleanup(self) -> Iterator[None]:
        with defer_cleanup():
            yield


class GetIpcHandleMixin:
    """get_ipc_handle for managers whose memory is cuMemAlloc's, or pieces of it."""

    context: Any

    def get_ipc_handle(self, memory: MemoryPointer) -> IpcHandle:
        """An IpcHandle with the memory's place in its allocation. CudaAPIError for memory that no other process can be
        given."""
        from cujit.cuda._memory.ipc import handle_of

        return handle_of(memory)


class DriverMemoryManager(GetIpcHandleMixin, HostOnlyCUDAMemoryManager):
    """The manager without a plugin. What programs ask a context for is the driver's own memory, arrays have the
    pool's."""

    def initialize(self) -> None:
        pass

    def memalloc(self, size: int) -> MemoryPointer:
        """Memory that other processes can be given. DeviceMemoryError where there is not that much."""
        with on(self.context.device._core):
            held = [_core.DeviceBuffer(size, is_shared=True)]
        return MemoryPointer(self.context, held[0].pointer, size, finalizer=held.clear)

    def get_memory_info(self) -> MemoryInfo:
        return MemoryInfo(*self.context.device._core.memory_info())

    @property
    def interface_version(self) -> int:
        return INTERFACE_VERSION


# --- the one in use --------------------------------------------------------------------------------------------------

_plugin: Any = None                    # a class; None: the driver's
_wanted: str | None = None             # the module of the environment, before memory was asked for
_managers: dict[tuple[Any, _core.Device], Any] = {}
_assigned: dict[_core.Device, Any] = {}   # instead of an object of the class
_memory: dict[tuple[_core.Device, int], MemoryPointer] = {}   # of arrays, by address


def set_memory_manager(mm_plugin: Any) -> None:
    """From now on, device memory of arrays comes from an object of this class, one for each device.

    Parameters
    ----------
    mm_plugin : type or None
        A class with the methods of BaseCUDAMemoryManager; None for the driver's pool. Memory that is there stays whose
        it is.

    Raises
    ------
    RuntimeError
        Its interface_version is not 1.
    """
    global _plugin, _wanted
    version = INTERFACE_VERSION if mm_plugin is None else mm_plugin(context=None).interface_version
    if version != INTERFACE_VERSION:
        raise RuntimeError(f"the memory manager has version {version} of the interface: "
                           f"version {INTERFACE_VERSION} required")
    _plugin, _wanted = mm_plugin, None
    _assigned.clear()
    if mm_plugin is None:
        _core.set_memory_manager(None, None)
    else:
        _core.set_memory_manager(_allocate, _release)


def use_environment() -> None:
    """Takes the manager that CUJIT_MEMORY_MANAGER or NUMBA_CUDA_MEMORY_MANAGER names, a module, when memory is first
    asked for: it may import cujit."""
    global _wanted
    _wanted = os.environ.get("CUJIT_MEMORY_MANAGER") or os.environ.get("NUMBA_CUDA_MEMORY_MANAGER")
    if _wanted in (None, "default"):
        _wanted = None
    else:
        _core.set_memory_manager(_allocate, _release)


def _load_wanted() -> None:
    global _wanted
    name, _wanted = _wanted, None
    assert name is not None
    try:
        set_memory_manager(importlib.import_module(name)._numba_memory_manager)
    except Exception as error:
        _wanted = name
        raise RuntimeError(f"no memory manager from module '{name}': {error}") from error


def manager_of(core: _core.Device) -> Any:
    """The manager of a device. RuntimeError where the environment names one that is not there."""
    if _wanted:
        _load_wanted()
    plugin = _plugin or DriverMemoryManager
    manager = _assigned.get(core) or _managers.get((plugin, core))
    if manager is None:
        manager = plugin(context=Context(_device(core.kind, core.id)))
        with on(core):
            manager.initialize()
        manager = _managers.setdefault((plugin, core), manager)
    return manager


def assign(core: _core.Device, manager: Any) -> None:
    """Makes one object the manager of one device; the driver's own one undoes that."""
    if isinstance(manager, DriverMemoryManager):
        _assigned.pop(core, None)
    else:
        with on(core):
            manager.initialize()
        _assigned[core] = manager
    if _assigned or _plugin or _wanted:
        _core.set_memory_manager(_allocate, _release)
    else:
        _core.set_memory_manager(None, None)


def gives_host_memory() -> bool:
    """Whether the plugin has host memory of its own, too."""
    return _plugin is not None and not issubclass(_plugin, HostOnlyCUDAMemoryManager)


def is_plugins(buffer: _core.DeviceBuffer) -> bool:
    """Whether the memory of arrays came from a plugin."""
    return (buffer.device, buffer.pointer) in _memory


def _allocate(core: _core.Device, size: int) -> int:
    manager = manager_of(core)
    with on(core):
        memory = manager.memalloc(size)
    address = address_of(memory)
    _memory[core, address] = memory
    return address


def _release(core: _core.Device, address: int) -> bool:
    with on(core):
        return _memory.pop((core, address), None) is not None
