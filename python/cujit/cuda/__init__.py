"""The cuda namespace: what kernels name (threadIdx, grid, atomic, ...) and what programs call to run them.

What has a meaning in kernels comes from the extension's table of intrinsics; help(cuda.grid) tells about one.
"""
from cujit import config
from cujit.cuda._intrinsics import *  # noqa: F403
from cujit.cuda.compiler import (
    compile,
    compile_for_current_device,
    compile_ptx,
    compile_ptx_for_current_device,
)
from cujit.cuda.decorator import jit
from cujit.cuda.devicearray import (
    DeviceNDArray,
    as_cuda_array,
    device_array,
    device_array_like,
    from_cuda_array_interface,
    is_cuda_array,
    to_device,
)
from cujit.cuda.devices import (
    close,
    cuda_error,
    current_context,
    defer_cleanup,
    detect,
    get_current_device,
    gpus,
    is_available,
    is_bfloat16_supported,
    is_float16_supported,
    is_supported_version,
    list_devices,
    profile_start,
    profile_stop,
    profiling,
    require_context,
    runtime,
    select_device,
    synchronize,
)
from cujit.cuda.dispatcher import Dispatcher
from cujit.cuda.hostarray import (
    In,
    InOut,
    Out,
    managed_array,
    mapped,
    mapped_array,
    mapped_array_like,
    pinned,
    pinned_array,
    pinned_array_like,
)
from cujit.cuda.reduction import Reduce, reduce
from cujit.cuda.streams import (
    default_stream,
    event,
    event_elapsed_time,
    external_stream,
    legacy_default_stream,
    per_thread_default_stream,
    stream,
)
from cujit.errors import CudaSupportError
from cujit.types import *  # noqa: F403

_SUBMODULES = "args", "cudadrv", "random", "types"   # imported when they are asked for


def copy_to_host(array, ary=None, stream=0):  # noqa: F811
    """array.copy_to_host(ary, stream): the elements of a device array as a NumPy array."""
    return as_cuda_array(array).copy_to_host(ary, stream)


def __getattr__(name):
    if name == "vectorize":
        from cujit._ufunc.ufunc import vectorize
        return vectorize
    if name == "guvectorize":
        from cujit._ufunc.gufunc import guvectorize
        return guvectorize
    if name in _SUBMODULES:
        import importlib
        return importlib.import_module(f"cujit.cuda.{name}")
    from cujit._numba.names import missing_from_cuda

    raise missing_from_cuda(name)


def __dir__():
    return sorted({*globals(), *_SUBMODULES, "guvectorize", "vectorize"})
