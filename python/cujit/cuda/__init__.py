"""The cuda namespace: what kernels name (threadIdx, grid, atomic, ...) and what programs call to run them.

What has a meaning in kernels comes from the extension's table of intrinsics; help(cuda.grid) tells about one.
"""
from __future__ import annotations

from os import environ as _environ
from typing import TYPE_CHECKING, Any

from cujit import (
    config as config,
)
from cujit.cuda._array.arithmetic import (
    where as where,
)
from cujit.cuda._array.hostarray import (
    In as In,
    InOut as InOut,
    Out as Out,
    managed_array as managed_array,
    mapped as mapped,
    mapped_array as mapped_array,
    mapped_array_like as mapped_array_like,
    pinned as pinned,
    pinned_array as pinned_array,
    pinned_array_like as pinned_array_like,
)
from cujit.cuda._intrinsics import *  # noqa: F403
from cujit.cuda.compiler import (
    compile as compile,
    compile_all as compile_all,
    compile_for_current_device as compile_for_current_device,
    compile_ptx as compile_ptx,
    compile_ptx_for_current_device as compile_ptx_for_current_device,
)
from cujit.cuda.decorator import (
    jit as jit,
)
from cujit.cuda.devicearray import (
    DeviceNDArray as DeviceNDArray,
    as_cuda_array as as_cuda_array,
    device_array as device_array,
    device_array_like as device_array_like,
    from_cuda_array_interface as from_cuda_array_interface,
    is_cuda_array as is_cuda_array,
    to_device as to_device,
)
from cujit.cuda.devices import (
    Device as Device,
    close as close,
    cuda_error as cuda_error,
    current_context as current_context,
    defer_cleanup as defer_cleanup,
    detect as detect,
    get_current_device as get_current_device,
    gpus as gpus,
    is_available as is_available,
    is_bfloat16_supported as is_bfloat16_supported,
    is_float16_supported as is_float16_supported,
    is_fp8_supported as is_fp8_supported,
    is_supported_version as is_supported_version,
    list_devices as list_devices,
    profile_start as profile_start,
    profile_stop as profile_stop,
    profiling as profiling,
    require_context as require_context,
    runtime as runtime,
    select_device as select_device,
    synchronize as synchronize,
)
from cujit.cuda.dispatcher import (
    Dispatcher as Dispatcher,
)
from cujit.cuda.streams import (
    current_stream as current_stream,
    default_stream as default_stream,
    event as event,
    event_elapsed_time as event_elapsed_time,
    external_stream as external_stream,
    legacy_default_stream as legacy_default_stream,
    per_thread_default_stream as per_thread_default_stream,
    stream as stream,
)
from cujit.errors import (
    CudaSupportError as CudaSupportError,
)
from cujit.types import *  # noqa: F403

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cujit._algorithms.element_kernel import (
        ElementwiseKernel as ElementwiseKernel,
        elementwise as elementwise,
    )
    from cujit._algorithms.fused_kernel import FusedKernel as FusedKernel, fuse as fuse
    from cujit._algorithms.histogram import histogram as histogram, unique as unique
    from cujit._algorithms.mapping import map as map, zip_with as zip_with
    from cujit._algorithms.reduce import Reduce as Reduce, reduce as reduce
    from cujit._algorithms.reduction_kernel import ReductionKernel as ReductionKernel, reduction as reduction
    from cujit._algorithms.scan import scan as scan
    from cujit._algorithms.segments import segmented_reduce as segmented_reduce, segmented_scan as segmented_scan
    from cujit._algorithms.selection import filter as filter, select as select
    from cujit._algorithms.sort import argsort as argsort, sort as sort, sort_by as sort_by, top_k as top_k
    from cujit._annotations import StreamLike
    from cujit._ufunc.gufunc import guvectorize as guvectorize
    from cujit._ufunc.ufunc import vectorize as vectorize
    from cujit.cuda import args as args, cudadrv as cudadrv, extending as extending, random as random, types as types
    from cujit.cuda._array.dlpack import from_dlpack as from_dlpack
    from cujit.cuda._link.foreign import (
        LTOIR as LTOIR,
        Archive as Archive,
        CSource as CSource,
        Cubin as Cubin,
        CUSource as CUSource,
        Fatbin as Fatbin,
        LinkableCode as LinkableCode,
        Object as Object,
        PTXSource as PTXSource,
        SharedLibrary as SharedLibrary,
        declare_device as declare_device,
    )
    from cujit.cuda._link.raw import RawKernel as RawKernel, RawModule as RawModule
    from cujit.cuda._memory.ipc import (
        IpcArrayHandle as IpcArrayHandle,
        IpcHandle as IpcHandle,
        open_ipc_array as open_ipc_array,
    )
    from cujit.cuda._memory.memory import (
        ManagedMemory as ManagedMemory,
        MappedMemory as MappedMemory,
        MemoryPointer as MemoryPointer,
        PinnedMemory as PinnedMemory,
    )
    from cujit.cuda._memory.memory_managers import (
        BaseCUDAMemoryManager as BaseCUDAMemoryManager,
        GetIpcHandleMixin as GetIpcHandleMixin,
        HostOnlyCUDAMemoryManager as HostOnlyCUDAMemoryManager,
        set_memory_manager as set_memory_manager,
    )
    from cujit.cuda._memory.pools import (
        MemoryPool as MemoryPool,
        get_default_memory_pool as get_default_memory_pool,
        get_default_pinned_memory_pool as get_default_pinned_memory_pool,
    )
    from cujit.cuda.array_functions import (
        arange as arange,
        asarray as asarray,
        full as full,
        get_array_module as get_array_module,
        ones as ones,
        zeros as zeros,
    )
    from cujit.cuda.benchmarking import BenchmarkResult as BenchmarkResult, benchmark as benchmark
    from cujit.cuda.cuda_array import CudaArray as CudaArray
    from cujit.cuda.devices import MemoryInfo as MemoryInfo
    from cujit.cuda.graphs import Graph as Graph, graph as graph
    from cujit.cuda.profiling_range import profile_range as profile_range
    from cujit.cuda.tensor_maps import TensorMap as TensorMap, tensor_map as tensor_map

# Modules that numba.cuda has and cujit does not need itself. All are imported when they are asked for.
__path__.append(__path__[0].removesuffix("cuda") + "_numba/modules")   # noqa: F405


# What few programs need, and the modules that have it.
_LATER = {
    **dict.fromkeys(("Archive", "CSource", "CUSource", "Cubin", "Fatbin", "LTOIR", "LinkableCode", "Object",
                     "PTXSource", "SharedLibrary", "declare_device"), "_link.foreign"),
    **dict.fromkeys(("RawKernel", "RawModule"), "_link.raw"),
    **dict.fromkeys(("IpcArrayHandle", "IpcHandle", "open_ipc_array"), "_memory.ipc"),
    **dict.fromkeys(("ManagedMemory", "MappedMemory", "MemoryPointer", "PinnedMemory"),
                    "_memory.memory"),
    **dict.fromkeys(("BaseCUDAMemoryManager", "GetIpcHandleMixin", "HostOnlyCUDAMemoryManager", "set_memory_manager"),
                    "_memory.memory_managers"),
    **dict.fromkeys(("MemoryPool", "get_default_memory_pool", "get_default_pinned_memory_pool"), "_memory.pools"),
    **dict.fromkeys(("Graph", "graph"), "graphs"),
    **dict.fromkeys(("BenchmarkResult", "benchmark"), "benchmarking"),
    "CudaArray": "cuda_array",
    **dict.fromkeys(("TensorMap", "tensor_map"), "tensor_maps"),
    "MemoryInfo": "devices",
    "profile_range": "profiling_range",
    "from_dlpack": "_array.dlpack",
    **dict.fromkeys(("arange", "asarray", "full", "get_array_module", "ones", "zeros"), "array_functions"),
    **dict.fromkeys(("ElementwiseKernel", "elementwise"), "_algorithms.element_kernel"),
    **dict.fromkeys(("FusedKernel", "fuse"), "_algorithms.fused_kernel"),
    **dict.fromkeys(("ReductionKernel", "reduction"), "_algorithms.reduction_kernel"),
    **dict.fromkeys(("Reduce", "reduce"), "_algorithms.reduce"),
    **dict.fromkeys(("filter", "select"), "_algorithms.selection"),
    **dict.fromkeys(("map", "zip_with"), "_algorithms.mapping"),
    **dict.fromkeys(("histogram", "unique"), "_algorithms.histogram"),
    "scan": "_algorithms.scan",
    **dict.fromkeys(("segmented_reduce", "segmented_scan"), "_algorithms.segments"),
    **dict.fromkeys(("argsort", "sort", "sort_by", "top_k"), "_algorithms.sort"),
}
if _environ.get("CUJIT_MEMORY_MANAGER") or _environ.get("NUMBA_CUDA_MEMORY_MANAGER"):
    from cujit.cuda._memory.memory_managers import use_environment as _use_environment

    _use_environment()


def copy_to_host(array: Any, ary: NDArray[Any] | None = None, stream: StreamLike = 0) -> NDArray[Any]:  # noqa: F811
    """array.copy_to_host(ary, stream): the elements of a device array as a NumPy array."""
    return as_cuda_array(array).copy_to_host(ary, stream)


if not TYPE_CHECKING:   # who reads this without running it learns of missing names
    def __getattr__(name):
        if name == "vectorize":
            from cujit._ufunc.ufunc import vectorize
            return vectorize
        if name == "guvectorize":
            from cujit._ufunc.gufunc import guvectorize
            return guvectorize
        if name in _LATER:
            import importlib
            package = "cujit" if _LATER[name].startswith("_algorithms.") else "cujit.cuda"
            return getattr(importlib.import_module(f"{package}.{_LATER[name]}"), name)
        from cujit._numba.names import missing_from_cuda

        return missing_from_cuda(name)


def __dir__() -> list[str]:
    import pkgutil

    modules = {module.name for module in pkgutil.iter_modules(__path__)}   # noqa: F405
    return sorted({*globals(), *modules, *_LATER, "guvectorize", "vectorize"})
