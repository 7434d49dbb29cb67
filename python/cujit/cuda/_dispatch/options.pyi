"""The options of functions. Made by scripts/options_stub.py from core/option.def."""
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypedDict, TypeVar

_Function = TypeVar("_Function", bound=Callable[..., Any])

TABLE: dict[str, dict[str, Any]]
DEFAULTS: dict[str, Any]
OF_CODE: list[str]
OF_LOOPS: list[str]

def takes(names: Iterable[str]) -> Callable[[_Function], _Function]: ...
def check(function: str, options: Iterable[str], names: Iterable[str]) -> None: ...
def unknown(options: Iterable[str], names: Iterable[str]) -> Iterable[str]: ...
def given(options: Mapping[str, Any]) -> dict[str, Any]: ...
def of_loops(options: Mapping[str, Any]) -> dict[str, Any]: ...

class LoopOptions(TypedDict, total=False):
    """What vectorize and guvectorize take, too."""
    debug: bool | None
    """What threads raise (`raise`, `assert`, a division by zero, a tuple's index out of range) is raised by the launch,
    which waits for the kernel."""
    opt: bool | int | None
    """False, True, or a level from 0 to 3."""
    fastmath: bool | str | Iterable[str] | None
    """Less exact and faster floating point, in the functions that a kernel calls, too: True for what CUDA's
    -use_fast_math does, or a set of LLVM's words "nnan", "ninf", "nsz", "arcp", "contract", "afn", "reassoc", "fast"
    for all of them."""
    fmad: bool | None
    """a * b + c may be rounded once; False: sums, products, quotients and square roots are NumPy's to the bit."""
    exceptions: bool | None
    """What threads raise is raised, but nothing waits: the next synchronization, copy to the host or launch on the
    stream raises it."""
    check: bool | str | Iterable[str] | None
    """What of a kernel is checked while it runs, by words: "bounds", "race", "init", "barrier", "overflow", which
    warns, "overflow=raise". True: all of them, arithmetic then warns; False: nothing. None: what the environment's
    CUJIT_CHECK says, else "bounds" on the CPU device and with debug=True, else nothing."""

class CodeOptions(LoopOptions, total=False):
    """Options of cuda.compile and compile_ptx."""
    lineinfo: bool | None
    """Line numbers for profilers."""
    literals: str | None
    """"weak": Python's numbers in kernels take the precision of the float16 or float32 beside them, as in NumPy;
    "numba": they are float64 and int64."""
    ints: str | None
    """"weak": integers of at most 32 bits are computed in 32, as in CUDA C, and widen no float beside them; "numba":
    they are int64 and make float64 of float32."""
    max_registers: int | None
    """Registers of a thread at most."""
    launch_bounds: int | Sequence[int | None] | None
    """Threads of the largest block, or (threads, blocks of a multiprocessor, blocks of a cluster), the last ones if
    wanted."""
    shared_memory_carveout: int | str | None
    """A hint how many percent of a multiprocessor's L1 cache to use as shared memory: 0 to 100, "MaxL1", "MaxShared",
    or -1 or "default" for the driver's choice; none on the CPU device."""
    observe: str | None
    """What is counted on the CPU device: "lines" for coverage.py, "accesses" as kernel.profile does, "" for nothing.
    None: lines where cujit.coverage is a plugin of coverage.py."""

class Options(CodeOptions, total=False):
    """Options of cuda.jit."""
    forceinline: bool | None
    """A device function's code is put into its callers."""
    warn_float64: bool | None
    """A PerformanceWarning for each line where narrower floats become float64. None: where the environment has
    CUJIT_WARN_FLOAT64=1."""
    quick_start: bool | None
    """The first launches run code that is made in a fraction of the time, until a thread has optimized it; in last bits
    its values may be others, but with fmad=False. None: where the environment has CUJIT_QUICK_START=1."""
    cache: bool | None
    """`stats` counts what came from disk, where compiled code is kept anyway."""
