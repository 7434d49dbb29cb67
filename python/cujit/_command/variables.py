"""The environment variables that cujit reads, a row each: `python -m cujit` and docs/command_line.md have them."""
from __future__ import annotations

from typing import NamedTuple


class Variable(NamedTuple):
    """numbas: what is read where the first is not set."""

    name: str
    numbas: str
    does: str


VARIABLES = [
    Variable("CUJIT_DEVICE", "",
             "Where kernels run: `cuda`, `cpu`, or `auto`, which takes a GPU where there is one."),
    Variable("CUJIT_CPU_DEVICES", "", "How many devices the CPU device is, 1 to 16; one unless set."),
    Variable("CUJIT_CPU_THREADS", "", "How many threads the CPU device has; else one for each core."),
    Variable("CUJIT_CHECK", "",
             "What kernels are checked for that do not say it: `bounds,race,init,barrier,overflow`; `0` for nothing."),
    Variable("CUJIT_SCHEDULE", "",
             "A number: the CPU device runs threads in another order, the same one for each number."),
    Variable("CUJIT_CACHE", "", "`0`: compiled kernels are not kept on disk."),
    Variable("CUJIT_CACHE_DIR", "", "Where they are kept; else `cujit` below `XDG_CACHE_HOME` or `~/.cache`."),
    Variable("CUJIT_CACHE_MEGABYTES", "", "How much room they may take, 512 unless set."),
    Variable("CUJIT_GPU_MEMORY_LIMIT", "",
             "How much of a device's memory arrays may take: bytes, or a number and `%`."),
    Variable("CUJIT_MEMORY_MANAGER", "NUMBA_CUDA_MEMORY_MANAGER",
             "A module whose `_numba_memory_manager` gives device memory."),
    Variable("CUJIT_DUMP", "", "Stages and passes whose texts are printed for each compilation, apart by commas."),
    Variable("CUJIT_QUICK_START", "",
             "`1`: `quick_start=True` for what does not say: first launches run code that is made quickly."),
    Variable("CUJIT_WARN_FLOAT64", "", "`1`: a warning for each line where narrower floats become float64."),
    Variable("CUJIT_LOW_OCCUPANCY_WARNINGS", "NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS", "`0`: none for grids of few blocks."),
    Variable("CUJIT_WARN_ON_IMPLICIT_COPY", "NUMBA_CUDA_WARN_ON_IMPLICIT_COPY",
             "`0`: none for host arrays as arguments."),
    Variable("CUJIT_DISABLE_PERFORMANCE_WARNINGS", "NUMBA_DISABLE_PERFORMANCE_WARNINGS", "`1`: neither of these two."),
    Variable("CUJIT_ARRAY_INTERFACE_SYNC", "NUMBA_CUDA_ARRAY_INTERFACE_SYNC",
             "`0`: launches do not wait for the streams that arrays of other libraries name."),
    Variable("CUJIT_DEFAULT_PTX_CC", "NUMBA_CUDA_DEFAULT_PTX_CC",
             "The compute capability that `cuda.compile` compiles for unless told, 7.5."),
    Variable("CUJIT_DEBUGINFO", "NUMBA_CUDA_DEBUGINFO", "`1`: `debug=True` for what does not say."),
    Variable("CUJIT_DRIVER_LIBRARY", "", "The path of the driver's library, in place of `libcuda.so.1`."),
    Variable("CUJIT_NVRTC_LIBRARY", "", "The path of NVRTC, in place of the one that is found."),
    Variable("CUJIT_NVJITLINK_LIBRARY", "", "The path of nvJitLink."),
    Variable("CUJIT_NVVM_LIBRARY", "", "The path of libNVVM."),
    Variable("CUDA_HOME", "CUDA_PATH", "A CUDA toolkit, where NVRTC, nvJitLink and libNVVM are looked for first."),
]
