"""CUdevice_attribute: the properties of a device, by the numbers that cuda.h gives them."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cujit import _core


class attribute:
    """A property that asks the device for the attribute of that number."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __get__(self, device: Any, owner: type | None = None) -> int:
        if device is None:
            raise AttributeError("the attributes of devices are those of an object: cuda.get_current_device()")
        core: _core.Device = device._core
        return core.attribute(self.number)


class DeviceAttributes:
    """CUDA's device attributes under the names of cuda.h, without CU_DEVICE_ATTRIBUTE_; each is an int.
    COMPUTE_CAPABILITY_MAJOR and _MINOR are Device's own: the CPU device has an answer, too."""

    MAX_THREADS_PER_BLOCK = attribute(1)
    MAX_BLOCK_DIM_X = attribute(2)
    MAX_BLOCK_DIM_Y = attribute(3)
    MAX_BLOCK_DIM_Z = attribute(4)
    MAX_GRID_DIM_X = attribute(5)
    MAX_GRID_DIM_Y = attribute(6)
    MAX_GRID_DIM_Z = attribute(7)
    MAX_SHARED_MEMORY_PER_BLOCK = attribute(8)
    TOTAL_CONSTANT_MEMORY = attribute(9)
    WARP_SIZE = attribute(10)
    MAX_PITCH = attribute(11)
    MAX_REGISTERS_PER_BLOCK = attribute(12)
    CLOCK_RATE = attribute(13)
    TEXTURE_ALIGNMENT = attribute(14)
    GPU_OVERLAP = attribute(15)
    MULTIPROCESSOR_COUNT = attribute(16)
    KERNEL_EXEC_TIMEOUT = attribute(17)
    INTEGRATED = attribute(18)
    CAN_MAP_HOST_MEMORY = attribute(19)
    COMPUTE_MODE = attribute(20)
    SURFACE_ALIGNMENT = attribute(30)
    CONCURRENT_KERNELS = attribute(31)
    ECC_ENABLED = attribute(32)
    PCI_BUS_ID = attribute(33)
    PCI_DEVICE_ID = attribute(34)
    TCC_DRIVER = attribute(35)
    MEMORY_CLOCK_RATE = attribute(36)
    GLOBAL_MEMORY_BUS_WIDTH = attribute(37)
    L2_CACHE_SIZE = attribute(38)
    MAX_THREADS_PER_MULTI_PROCESSOR = attribute(39)
    MAX_THREADS_PER_MULTIPROCESSOR = attribute(39)
    ASYNC_ENGINE_COUNT = attribute(40)
    UNIFIED_ADDRESSING = attribute(41)
    PCI_DOMAIN_ID = attribute(50)
    TEXTURE_PITCH_ALIGNMENT = attribute(51)
    STREAM_PRIORITIES_SUPPORTED = attribute(78)
    GLOBAL_L1_CACHE_SUPPORTED = attribute(79)
    LOCAL_L1_CACHE_SUPPORTED = attribute(80)
    MAX_SHARED_MEMORY_PER_MULTIPROCESSOR = attribute(81)
    MAX_REGISTERS_PER_MULTIPROCESSOR = attribute(82)
    MANAGED_MEMORY = attribute(83)
    MULTI_GPU_BOARD = attribute(84)
    IS_MULTI_GPU_BOARD = attribute(84)
    MULTI_GPU_BOARD_GROUP_ID = attribute(85)
    HOST_NATIVE_ATOMIC_SUPPORTED = attribute(86)
    SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO = attribute(87)
    PAGEABLE_MEMORY_ACCESS = attribute(88)
    CONCURRENT_MANAGED_ACCESS = attribute(89)
    COMPUTE_PREEMPTION_SUPPORTED = attribute(90)
    CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM = attribute(91)
    COOPERATIVE_LAUNCH = attribute(95)
    COOPERATIVE_MULTI_DEVICE_LAUNCH = attribute(96)
    MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = attribute(97)
    CAN_FLUSH_REMOTE_WRITES = attribute(98)
    HOST_REGISTER_SUPPORTED = attribute(99)
    PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES = attribute(100)
    DIRECT_MANAGED_MEM_ACCESS_FROM_HOST = attribute(101)
    MAX_BLOCKS_PER_MULTIPROCESSOR = attribute(106)
    MAX_PERSISTING_L2_CACHE_SIZE = attribute(108)
    MAX_ACCESS_POLICY_WINDOW_SIZE = attribute(109)
    RESERVED_SHARED_MEMORY_PER_BLOCK = attribute(111)
    MEMORY_POOLS_SUPPORTED = attribute(115)
    CLUSTER_LAUNCH = attribute(120)
