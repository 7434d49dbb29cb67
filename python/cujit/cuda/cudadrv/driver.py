"""Devices, contexts, memory and copies of it, under the names of numba.cuda.cudadrv.driver."""
from __future__ import annotations

from typing import NoReturn

from cujit import _core
from cujit._core import Event
from cujit.cuda._link.linker import Linker
from cujit.cuda._memory.ipc import IpcHandle
from cujit.cuda._memory.memory import (
    AutoFreePointer,
    ManagedMemory,
    MappedMemory,
    MemoryPointer,
    PinnedMemory,
    device_extents,
    device_memory_size,
    device_memset,
    device_pointer,
    device_to_device,
    device_to_host,
    host_memory_extents,
    host_memory_size,
    host_pointer,
    host_to_device,
    is_device_memory,
    require_device_memory,
)
from cujit.cuda._memory.memory_managers import (
    BaseCUDAMemoryManager,
    GetIpcHandleMixin,
    HostOnlyCUDAMemoryManager,
    set_memory_manager,
)
from cujit.cuda.cudadrv import drvapi
from cujit.cuda.devices import (
    Context,
    Device,
    MemoryInfo,
    gpus,
    profile_start,
    profile_stop,
    profiling,
    runtime,
)
from cujit.cuda.streams import Stream, event_elapsed_time
from cujit.errors import CudaAPIError, LinkerError

__all__ = [
    "AutoFreePointer", "BaseCUDAMemoryManager", "Context", "CudaAPIError", "Device", "Driver", "Event",
    "GetIpcHandleMixin", "HostOnlyCUDAMemoryManager", "IpcHandle", "Linker", "LinkerError", "ManagedMemory",
    "MappedMemory", "MemoryInfo", "MemoryPointer", "PinnedMemory", "Stream", "device_extents", "device_memory_size",
    "device_memset", "device_pointer", "device_to_device", "device_to_host", "driver", "drvapi",
    "event_elapsed_time", "get_version", "host_memory_extents", "host_memory_size", "host_pointer",
    "host_to_device", "is_device_memory", "profile_start", "profile_stop", "profiling", "require_device_memory",
    "set_memory_manager",
]

# Names of numba's, and what does their work here.
_INSTEAD = {
    **dict.fromkeys(("Module", "CudaPythonModule", "load_module_image"), "cuda.RawModule loads PTX, cubins and CUDA C"),
    **dict.fromkeys(("Function", "CudaPythonFunction", "launch_kernel"), "cuda.RawKernel, and get_function of a "
                    "cuda.RawModule, are launched as kernels are"),
    "binding": "the driver is called in C",
}


def __getattr__(name: str) -> NoReturn:
    hint = f": {_INSTEAD[name]}" if name in _INSTEAD else ""
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'{hint}")


class Driver:
    """What the driver says of itself."""

    def get_version(self) -> tuple[int, int]:
        """(major, minor) of the newest CUDA that the driver supports; of the CPU device, what cuda.runtime says."""
        return runtime.get_version()

    def get_device_count(self) -> int:
        """The number of devices."""
        return len(gpus)

    def get_device(self, devnum: int = 0) -> Device:
        """A device by its number."""
        return gpus[devnum]

    @property
    def is_available(self) -> bool:
        """Whether there is a GPU."""
        return _core.gpu_count() > 0


driver = Driver()


def get_version() -> tuple[int, int]:
    """driver.get_version()."""
    return driver.get_version()
