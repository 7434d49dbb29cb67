"""The devices: what there is, which one this thread uses, and what it can do."""
from __future__ import annotations

import contextlib
import functools
import threading
import weakref
from typing import TYPE_CHECKING, Any, NamedTuple, ParamSpec, SupportsIndex, TypeVar

from cujit import _core
from cujit.cuda.device_attributes import DeviceAttributes
from cujit.errors import CudaAPIError, DriverMissingError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from cujit._core import Event
    from cujit.cuda._memory.ipc import IpcHandle
    from cujit.cuda._memory.memory import ManagedMemory, MappedMemory, MemoryPointer, PinnedMemory
    from cujit.cuda.streams import Stream

    _P = ParamSpec("_P")
    _R = TypeVar("_R")

# The CPU device runs whatever the first of these GPUs does, so programs that ask get this answer.
CPU_COMPUTE_CAPABILITY = (7, 5)
CPU_CUDA_VERSION = (13, 0)


class MemoryInfo(NamedTuple):
    """Bytes of a device's memory."""

    free: int
    total: int


class _Thread(threading.local):
    """Which devices this thread has entered; empty until it needs one."""

    def __init__(self) -> None:
        # Each with the choice that was before, and the context that the driver had for the thread.
        self.stack: list[tuple[Device, _core.Device | None, int]] = []


_thread = _Thread()


class Device(DeviceAttributes):
    """A CPU device or a GPU. CUDA's device attributes are attributes in capitals: device.MULTIPROCESSOR_COUNT.

    `with device:` makes it this thread's current one for the block. Device(0) is gpus[0].
    """

    def __new__(cls, core: _core.Device | int) -> Device:
        return super().__new__(cls) if isinstance(core, _core.Device) else gpus[core]

    def __init__(self, core: _core.Device | int) -> None:
        if isinstance(core, _core.Device):
            self._core = core

    @property
    def id(self) -> int:
        """The number of the device, from 0."""
        return self._core.id

    @property
    def name(self) -> str:
        return self._core.name

    @property
    def kind(self) -> str:
        """"cuda" or "cpu"."""
        return self._core.kind

    @property
    def compute_capability(self) -> tuple[int, int]:
        """(major, minor); the CPU device names the oldest GPU that cujit compiles for."""
        return divmod(self._core.sm, 10) if self.kind == "cuda" else CPU_COMPUTE_CAPABILITY

    @property
    def COMPUTE_CAPABILITY_MAJOR(self) -> int:
        return self.compute_capability[0]

    @property
    def COMPUTE_CAPABILITY_MINOR(self) -> int:
        return self.compute_capability[1]

    @property
    def uuid(self) -> str:
        """"GPU-" and the 16 bytes in the usual groups of hexadecimal digits."""
        digits = bytes(self._core.uuid()).hex()
        return "GPU-" + "-".join(digits[i:j] for i, j in [(0, 8), (8, 12), (12, 16), (16, 20), (20, 32)])

    @property
    def _device(self) -> Device:
        """What numba's `cuda.gpus[0]`, which is a context manager there, has in it."""
        return self

    @property
    def supports_float16(self) -> bool:
        return self.compute_capability >= (5, 3)

    @property
    def supports_bfloat16(self) -> bool:
        return self.compute_capability >= (8, 0)

    def get_device_identity(self) -> dict[str, int]:
        """Where the device is on the PCI bus: the same in all processes, whatever number they give it."""
        return {"pciDomainID": self.PCI_DOMAIN_ID, "pciBusID": self.PCI_BUS_ID, "pciDeviceID": self.PCI_DEVICE_ID}

    @staticmethod
    def from_identity(identity: dict[str, int]) -> Device:
        """The device with this get_device_identity(). RuntimeError where this process does not see it."""
        for device in gpus:
            if device.get_device_identity() == identity:
                return device
        raise RuntimeError(f"this process does not see the device {identity}: it is hidden by CUDA_VISIBLE_DEVICES, or "
                           "another machine's")

    def synchronize(self) -> None:
        """Waits until all work on the device is done, and the callbacks of streams have returned."""
        from cujit.cuda.streams import wait_for_callbacks

        self._core.synchronize()
        wait_for_callbacks()

    def can_access_peer(self, peer: Device | Context | int) -> bool:
        """Whether the hardware lets kernels of this device use the memory of another one (False for itself)."""
        return self._core.can_access_peer(_as_device(peer)._core)

    def enable_peer_access(self, peer: Device | Context | int) -> None:
        """Lets kernels of this device use the memory of another one, for the rest of the process. ValueError where the
        hardware has no way."""
        self._core.enable_peer_access(_as_device(peer)._core)

    def get_primary_context(self) -> Context:
        return Context(self)

    def reset(self) -> None:
        """Waits until the device is idle, and gives back the memory that no array uses. Arrays and kernels stay
        valid."""
        self.synchronize()
        self.give_back_memory()

    def give_back_memory(self) -> None:
        """What the pools of device memory and of pinned memory keep."""
        for is_pinned in (False, True):
            self._core.empty_pool(is_pinned)

    def __enter__(self) -> Device:
        enter(self)
        return self

    def __exit__(self, *_) -> None:
        leave()

    def __repr__(self) -> str:
        return f"<{'CUDA device' if self.kind == 'cuda' else 'CPU device'} {self.id} '{self.name}'>"


_devices: dict[tuple[str, int], Device] = {}


def _device(kind: str, number: int) -> Device:
    """The one object for a device, in all threads."""
    known = _devices.get((kind, number))
    return _devices.setdefault((kind, number), Device(_core.Device(kind, number))) if known is None else known


def _as_device(device: Device | Context | int) -> Device:
    if isinstance(device, Context):
        return device.device
    return device if isinstance(device, Device) else gpus[device]


def need_device() -> Device:
    """This thread's current device, chosen now where there is none."""
    if not _thread.stack:
        core = _core.current_device()
        _thread.stack.append((_device(core.kind, core.id), _core.chosen_device(), 0))
    return _thread.stack[-1][0]


def device_of_kind(kind: str) -> Device:
    """The current device where it is of that kind, else the first such one."""
    current = need_device()
    return current if current.kind == kind else _device(kind, 0)


def enter(device: Device) -> None:
    """Makes `device` the current one of this thread until leave()."""
    before = _core.chosen_device()
    former = device._core.make_current()   # for other libraries, which take memory on it
    _core.set_current_device(device._core)
    _thread.stack.append((device, before, former))


def leave() -> None:
    if _thread.stack:   # else close() was called meanwhile
        device, before, former = _thread.stack.pop()
        _core.set_current_device(before)
        device._core.restore_current(former)


@contextlib.contextmanager
def on(core: _core.Device) -> Iterator[None]:
    """A context in which this is the current device."""
    enter(_device(core.kind, core.id))
    try:
        yield
    finally:
        leave()


class _DeviceList:
    """The devices of this process: the GPUs, or the CPU devices where they are in use."""

    @functools.cached_property
    def lst(self) -> list[Device]:
        kind = _core.current_device().kind
        return [_device(kind, k) for k in range(_core.gpu_count() if kind == "cuda" else _core.cpu_count())]

    @property
    def current(self) -> Device | None:
        """This thread's current device, or None while it has none."""
        return _thread.stack[-1][0] if _thread.stack else None

    def __len__(self) -> int:
        return len(self.lst)

    def __iter__(self) -> Iterator[Device]:
        return iter(self.lst)

    def __getitem__(self, index: int) -> Device:
        return self.lst[index]

    def __repr__(self) -> str:
        return repr(self.lst)


gpus = _DeviceList()


def list_devices() -> list[Device]:
    """The devices, as a list."""
    return list(gpus)


def get_current_device() -> Device:
    """The device that this thread's arrays, streams and launches go to."""
    return need_device()


def select_device(device_id: int) -> Device:
    """Makes that device this thread's current one, and returns it. IndexError where there is none of this number,
    TypeError where it is none."""
    if not isinstance(device_id, SupportsIndex):
        raise TypeError(f"a device is its number, not {device_id!r}")
    if not 0 <= device_id < len(gpus):
        raise IndexError(f"there is no device {device_id}; there {'is' if len(gpus) == 1 else 'are'} {len(gpus)}")
    device = gpus[device_id]
    former = device._core.make_current()
    _core.set_current_device(device._core)
    if _thread.stack:
        _thread.stack[-1] = (device, *_thread.stack[-1][1:])
    else:
        _thread.stack.append((device, None, former))
    return device


def close() -> None:
    """Waits for the work of this thread's device, gives back the memory there that no array uses, and forgets which
    device it was. Arrays and kernels stay valid.

    Where a kernel has broken a GPU's context it raises that error, after which the process can use no GPU any more: the
    driver refuses new contexts as well."""
    try:
        if _thread.stack:
            synchronize()
            _thread.stack[-1][0].give_back_memory()
    finally:
        _thread.stack.clear()
        _core.set_current_device(None)


class Context:
    """A device's state, under numba's name. Two objects for one device are equal."""

    def __init__(self, device: Device) -> None:
        self.device = device

    @property
    def deallocations(self) -> Deallocations:
        """Memory that is to be freed."""
        return Deallocations()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Context) and self.device is other.device

    def __hash__(self) -> int:
        return hash(self.device)

    def __repr__(self) -> str:
        return f"<context of {self.device!r}>"

    @property
    def handle(self) -> int:
        """The CUcontext; 0 for the CPU device."""
        return self.device._core.context

    @property
    def memory_manager(self) -> Any:
        """What gives the device's memory: an object of the class of cuda.set_memory_manager, or the driver's."""
        from cujit.cuda._memory import memory_managers

        return memory_managers.manager_of(self.device._core)

    @memory_manager.setter
    def memory_manager(self, manager: Any) -> None:
        from cujit.cuda._memory import memory_managers

        memory_managers.assign(self.device._core, manager)

    def get_memory_info(self) -> MemoryInfo:
        """(free, total) bytes of the device's memory. NotImplementedError where its manager does not tell."""
        with on(self.device._core):
            free, total = self.memory_manager.get_memory_info()
        return MemoryInfo(free, total)

    def memalloc(self, bytesize: int) -> MemoryPointer:
        """Device memory, freed with the object. DeviceMemoryError where there is not that much."""
        with on(self.device._core):
            memory: MemoryPointer = self.memory_manager.memalloc(bytesize)
        return memory

    def memhostalloc(self, bytesize: int, mapped: bool = False, portable: bool = False,
                     wc: bool = False) -> MappedMemory | PinnedMemory:
        """Page-locked host memory, as a buffer; kernels use what is mapped. wc: write-combined. DeviceMemoryError where
        there is not that much."""
        with on(self.device._core):
            memory: MappedMemory | PinnedMemory = self.memory_manager.memhostalloc(bytesize, mapped, portable, wc)
        return memory

    def memallocmanaged(self, bytesize: int, attach_global: bool = True) -> ManagedMemory:
        """Memory that moves to whoever uses it, as a buffer. DeviceMemoryError where there is not that much."""
        with on(self.device._core):
            memory: ManagedMemory = self.memory_manager.memallocmanaged(bytesize, attach_global)
        return memory

    def mempin(self, owner: Any, pointer: Any, size: int, mapped: bool = False) -> MappedMemory | PinnedMemory:
        """Page-locks host memory of `owner`, until the result goes. CudaAPIError where it is locked already."""
        with on(self.device._core):
            memory: MappedMemory | PinnedMemory = self.memory_manager.mempin(owner, pointer, size, mapped)
        return memory

    def get_ipc_handle(self, memory: Any) -> IpcHandle:
        """Device memory for another process. CudaAPIError for memory that none can be given."""
        with on(self.device._core):
            handle: IpcHandle = self.memory_manager.get_ipc_handle(memory)
        return handle

    def open_ipc_handle(self, handle: Any, size: int) -> MemoryPointer:
        """Another process's memory by the driver's handle, on this device, until the object goes. CudaAPIError where it
        is gone."""
        from cujit.cuda._memory import ipc

        opened = ipc.IpcHandle(None, handle, size, self.device.get_device_identity())
        memory = opened.open()
        weakref.finalize(memory, opened.close)
        return memory

    def get_active_blocks_per_multiprocessor(self, func: Any, blocksize: int, memsize: int,
                                             flags: int | None = None) -> int:
        """How many blocks of `blocksize` threads and `memsize` bytes of dynamic shared memory a multiprocessor runs at
        once. func: a kernel, compiled for one list of types, or one of its overloads. ValueError for others."""
        with on(self.device._core):
            kernel, types = _compiled(func)
            blocks: int = kernel.resident_blocks(types, blocksize, memsize)
        return blocks // self.device.MULTIPROCESSOR_COUNT

    def get_max_potential_block_size(self, func: Any, b2d_func: Any, memsize: int, blocksizelimit: int,
                                     flags: int | None = None) -> tuple[int, int]:
        """(blocks, threads of a block) that fill the device, of at most `blocksizelimit` threads (0: no limit).

        func: as above; b2d_func: None or 0, or a function of the threads of a block that tells the bytes of dynamic
        shared memory in the place of `memsize`.
        """
        with on(self.device._core):
            kernel, types = _compiled(func)
            blocks, threads = kernel.occupancy(types, memsize)
            if b2d_func or 0 < blocksizelimit < threads:
                blocks, threads = self._largest_block(kernel, types, b2d_func or (lambda _: memsize), blocksizelimit)
        return blocks, threads

    def _largest_block(self, kernel: Any, types: Any, bytes_of: Callable[[int], int], limit: int) -> tuple[int, int]:
        """The block, of whole warps where it can be, with which most threads are at work."""
        most = kernel.attribute(types, 0)   # CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK
        most = min(most, limit) if limit > 0 else most
        sizes = range(most - most % 32, 0, -32) if most >= 32 else [most]
        return max(((kernel.resident_blocks(types, size, bytes_of(size)), size) for size in sizes),
                   key=lambda found: (found[0] * found[1], found[1]))

    def can_access_peer(self, peer_device: Device | Context | int) -> bool:
        """Device.can_access_peer."""
        return self.device.can_access_peer(peer_device)

    def enable_peer_access(self, peer_context: Device | Context | int, flags: int = 0) -> None:
        """Device.enable_peer_access. ValueError for other flags than 0: CUDA has none."""
        if flags:
            raise ValueError(f"flags is {flags}: it must be 0")
        self.device.enable_peer_access(peer_context)

    def synchronize(self) -> None:
        """Waits until all work on the device is done."""
        self.device.synchronize()

    def reset(self) -> None:
        """Waits until the device is idle, and tells its memory manager. Arrays and kernels stay valid if that lets
        them."""
        self.device.reset()
        with on(self.device._core):
            self.memory_manager.reset()

    def push(self) -> None:
        """Makes the device this thread's current one until pop()."""
        enter(self.device)

    def pop(self) -> None:
        leave()

    def create_stream(self) -> Stream:
        from cujit.cuda.streams import stream

        with self.device:
            return stream()

    def get_default_stream(self) -> Stream:
        """The stream that work goes to when none is named."""
        return self.create_external_stream(0)

    def get_legacy_default_stream(self) -> Stream:
        """The default stream that waits for those of all threads, and they for it."""
        return self.create_external_stream(1)

    def get_per_thread_default_stream(self) -> Stream:
        """The default stream of the calling thread."""
        return self.create_external_stream(2)

    def create_external_stream(self, ptr: int) -> Stream:
        """A stream made elsewhere, by its CUstream value."""
        from cujit.cuda.streams import external_stream

        with self.device:
            return external_stream(ptr)

    def create_event(self, timing: bool = True) -> Event:
        with self.device:
            return _core.Event(timing=timing)


def _compiled(func: Any) -> tuple[Any, Any]:
    """(kernel, types) of a kernel with one list of types, or of an overload."""
    kernel = getattr(func, "dispatcher", func)
    if kernel is not func:
        return kernel, func.argtypes
    if len(kernel.overloads) != 1:
        raise ValueError(f"{kernel!r} is compiled for {len(kernel.overloads)} lists of types; name one: "
                         "kernel.overloads[types]")
    return kernel, next(iter(kernel.overloads))


class Deallocations:
    """Memory that is to be freed, under numba's name. Nothing waits but within disable() or cuda.defer_cleanup():
    the memory of an array goes when the array does."""

    def __len__(self) -> int:
        return _core.deferred_count()

    @property
    def is_disabled(self) -> bool:
        """Whether this is within disable() or defer_cleanup()."""
        return _core.is_deferring()

    def clear(self) -> None:
        """Frees what waits; nothing within disable()."""

    def disable(self) -> AbstractContextManager[None]:
        """cuda.defer_cleanup()."""
        return defer_cleanup()


def current_context(devnum: int | None = None) -> Context:
    """The context of this thread's current device, or of the device with that number."""
    return Context(need_device() if devnum is None else gpus[devnum])


def require_context(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Decorates a function that needs a current device."""

    @functools.wraps(function)
    def wrapper(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        need_device()
        return function(*args, **kwargs)

    return wrapper


def synchronize() -> None:
    """Waits until all work on this thread's device is done; where the thread has named none (select_device, `with`), on
    all devices that are in use, for a launch runs where its arguments are. The callbacks of streams have returned."""
    from cujit.cuda.streams import wait_for_callbacks

    need_device()
    _core.synchronize()
    wait_for_callbacks()


# --- what there is ---------------------------------------------------------------------------------------------------

def is_available() -> bool:
    """Whether kernels run where the program wants them: on a GPU that a driver reports, or on the CPU device where
    CUJIT_DEVICE=cpu asks for it. False where kernels run on the CPU device for want of a GPU."""
    import os

    if os.environ.get("CUJIT_DEVICE", "auto") == "cpu":
        return True
    try:
        return _core.gpu_count() > 0
    except (CudaAPIError, DriverMissingError):
        return False


def is_supported_version() -> bool:
    """Whether the driver is new enough; True where there is none, since the CPU device needs no driver."""
    return cuda_error() is None


def cuda_error() -> Exception | None:
    """The error that keeps GPUs from being used (an exception), or None."""
    try:
        _core.gpu_count()
    except (CudaAPIError, DriverMissingError) as error:
        return error
    return None


def detect() -> bool:
    """Prints the devices; returns is_available()."""
    print(f"Found {len(gpus)} CUDA devices")
    for device in gpus:
        print(f"id {device.id:<4} {device.name!r:>24} {'[SUPPORTED]':>40}")
        described = {"Kind": "GPU" if device.kind == "cuda" else "CPU device", "UUID": device.uuid,
                     "Compute Capability": "{}.{}".format(*device.compute_capability),
                     "PCI Device ID": device.PCI_DEVICE_ID, "PCI Bus ID": device.PCI_BUS_ID}
        for name, value in described.items():
            print(f"{name:>40}: {value}")
    print(f"Summary:\n\t{len(gpus)}/{len(gpus)} devices are supported")
    if not is_available():
        print(f"No GPU: {cuda_error() or _core.gpu_missing_reason()}")
    return is_available()


def is_float16_supported() -> bool:
    return need_device().supports_float16


def is_bfloat16_supported() -> bool:
    return need_device().supports_bfloat16


def is_fp8_supported() -> bool:
    """Whether kernels can use cuda.fp8: always, since it is written in the kernel language."""
    return True


class runtime:
    """The CUDA version of the driver."""

    @staticmethod
    def get_version() -> tuple[int, int]:
        """(major, minor); the CPU device names the CUDA version whose device functions it has."""
        if need_device().kind == "cpu":
            return CPU_CUDA_VERSION
        version = _core.driver_version()
        return version // 1000, version % 1000 // 10

    @staticmethod
    def is_supported_version() -> bool:
        """True: cujit needs no toolkit of a certain version."""
        return True


@contextlib.contextmanager
def defer_cleanup() -> Iterator[None]:
    """A context in which no device memory is freed; what was dropped meanwhile is freed at the end of the outermost."""
    _core.begin_deferring()
    try:
        yield
    finally:
        _core.end_deferring()


# --- nothing to do, kept for programs that call them -----------------------------------------------------------------

def profile_start() -> None:
    """Marks the start of a range for a profiler."""


def profile_stop() -> None:
    """Marks the end of a range for a profiler."""


@contextlib.contextmanager
def profiling() -> Iterator[None]:
    """A context between profile_start() and profile_stop()."""
    profile_start()
    try:
        yield
    finally:
        profile_stop()


if not TYPE_CHECKING:
    def __getattr__(name):
        if name.startswith("__"):   # the import system asks for __path__
            raise AttributeError(name)
        from cujit._numba.names import missing_from_driver_module

        return missing_from_driver_module("devices", name)
