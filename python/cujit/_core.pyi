"""The C extension, as the Python package sees it. Everything public is re-exported by cujit and cujit.cuda."""
import sys
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, TypeVar, final, overload

import numpy as np
from numpy.typing import DTypeLike, NDArray
from typing_extensions import Self

from cujit._annotations import Number, StreamLike

@final
class Type:
    """A type of kernel values. Singletons for scalars; equality by structure; hashable.

    str(): numba's spelling ("float32", "array(float32, 1d, C)", "none"). type[:], type[:, ::1], type[::1, :] make array
    types (layouts A, C, F). type(a_type, ...) makes a Signature with this result; type(number) converts as NumPy does
    (host) and casts in kernels.
    """
    name: str
    dtype: Any                # arrays: the element type; scalars, records and times: NumPy's dtype
    ndim: int                 # arrays
    layout: str               # arrays: "C", "F", "A"
    bitwidth: int             # scalars
    signed: bool              # integers
    underlying_float: Type    # complex numbers
    base_type: Type    # vectors
    num_elements: int    # vectors
    count: int                # tuples: how many items
    readonly: bool            # arrays
    mutable: bool             # arrays
    is_contig: bool           # arrays: layout "C" or "F"
    is_c_contig: bool         # arrays
    is_f_contig: bool         # arrays
    kind: str                 # "int", "uint", "float", "array", "tuple", "named", "range", "instance", ...
    fields: tuple[str, ...]   # named tuples, dataclasses and declared classes: the names
    instance_class: type      # dataclasses, declared classes, named tuples with methods
    types: tuple[Type, ...]   # tuples: the types of the items
    key: str                  # type_print's text, for caches
    def __getitem__(self, axes: slice | tuple[slice, ...], /) -> Type: ...
    @overload
    def __call__(self) -> Signature: ...
    @overload
    def __call__(self, value: Number, /, *values: Number) -> Any: ...  # kernels may assign it numbers of other types
    @overload
    def __call__(self, first: Type, /, *arguments: Type) -> Signature: ...

scalar_types: dict[str, Type]         # "bool", "int8", ... "complex128", and "none"
vector_types: dict[str, Type]
def array_type(element: Type, ndim: int, layout: str = "A", readonly: bool = False) -> Type: ...
def optional_type(value: Type, /) -> Type: ...
def pointer_type(element: Type, /) -> Type: ...
def tuple_type(items: Sequence[Type], /) -> Type: ...
def instance_type(cls: Any, types: tuple[Type, ...], /) -> Type: ...  # of a class with fields, or a StructType
overloads: dict[Any, Any]             # function -> what chooses its implementations
member_overloads: dict[str, Any]      # name of attributes and methods, or "operator.add"
declared_classes: dict[Any, Any]      # class -> (class, names, types, unpack, whether calls make one)
comparisons: dict[str, str]           # "__lt__" -> "<"
typeof_functions: dict[type, Callable[[Any, None], Type]]
def type_of(value: Any, /) -> Type: ...  # numba's typeof: Python and NumPy scalars, arrays, device arrays, tuples; TypeError
def type_from_dtype(dtype: DTypeLike, /) -> Type: ...
def type_from_key(key: str, /) -> Type: ...           # the inverse of Type.key
def parse_signature(text: str, /) -> Signature: ...   # "void(float32[:], int32)", "f4(f4)", "int32(int32)"; SignatureError

def begin_deferring() -> None: ...  # from now on memory is not freed but noted; calls nest
def end_deferring() -> None: ...
def deferred_count() -> int: ...
def is_deferring() -> bool: ...
def get_setting(name: str, /) -> bool: ...             # "low_occupancy_warnings", ...; KeyError
def set_setting(name: str, value: Any) -> None: ...
observed_counts: tuple[str, ...]                       # the names of the numbers of a site: core/observed.def
def take_observed(kernel: KernelBase, /) -> list[tuple[bytes, bytes, bytes]]: ...   # observe="accesses": text, cells, sites; then zero

class Elementwise:
    """A callable over arrays; a subclass's method _call makes the calls that are not remembered."""
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def remember(self, kernel: KernelBase, args: tuple[Any, ...], target: DeviceArrayBase, block: int,
                 width: int, is_wide: bool) -> None: ...
    def forget(self) -> None: ...

@final
class Signature:
    """Argument types and the result (None: not stated)."""
    args: tuple[Type, ...]
    return_type: Type | None
    def __new__(cls, args: Sequence[Type], return_type: Type | None = None) -> Self: ...

@final
class Intrinsic:
    """Something that has a meaning in kernels only (cuda.grid, cuda.threadIdx, ...). One for each row of intrinsic.def;
    attributes lead to the rows below its path (cuda.atomic.add). Calling it outside of a kernel raises."""
    path: str
    __doc__: str
    __name__: str
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

intrinsics: dict[str, Intrinsic | Type]      # by path, for every "cuda." path of intrinsic.def and every prefix of one
def intrinsic(path: str, /) -> Intrinsic: ...          # KeyError
intrinsic_table: tuple[dict[str, Any], ...]   # the rows: id, paths, kind, doc, ...; for docs and tests
diagnostics: tuple[tuple[str, str, str], ...] # diag.def: id, exception name, format

@final
class Device:
    """The CPU device or a GPU; `Device(kind, ordinal)` returns the one object for it."""
    kind: str                 # "cpu" or "cuda"
    id: int
    name: str
    sm: int
    def __new__(cls, kind: str, ordinal: int = 0) -> Self: ...
    def attribute(self, number: int, /) -> int: ...
    def uuid(self) -> bytes: ...
    def synchronize(self) -> None: ...
    def tensor_map(self, pointer: int, itemsize: int, shape: tuple[int, ...], strides: tuple[int, ...],
                   box: tuple[int, ...], swizzle: int, /) -> bytes: ...
    def memory_info(self) -> tuple[int, int]: ...
    def pool_use(self, is_pinned: bool, /) -> tuple[int, int, int, int, int]: ...   # used, kept, blocks, limit, asked
    def pool_total(self, is_pinned: bool, /) -> int: ...
    def empty_pool(self, is_pinned: bool, /) -> None: ...
    def limit_pool(self, is_pinned: bool, limit: int, /) -> None: ...
    context: int              # the CUcontext; 0 for the CPU device
    def make_current(self) -> int: ...   # the former context
    def restore_current(self, former: int, /) -> None: ...
    def can_access_peer(self, peer: Device, /) -> bool: ...
    def enable_peer_access(self, peer: Device, /) -> None: ...

def gpu_count() -> int: ...           # 0 without a driver; a driver that fails raises CudaAPIError
def cpu_count() -> int: ...           # CUJIT_CPU_DEVICES, else 1
def gpu_missing_reason() -> str | None: ...
def driver_version() -> int: ...
def current_device() -> Device: ...   # chosen by CUJIT_DEVICE on first use; warns once when auto finds no GPU
def set_current_device(device: Device | None, /) -> None: ...   # for this thread; None: it names none
def chosen_device() -> Device | None: ...
def device_for(name: str, args: tuple[Any, ...], stream: StreamLike, /) -> Device | None: ...   # None: the current one
def synchronize() -> None: ...

class Stream:
    """An order of work on a device. Stream() makes one; Stream.default() is handle 0."""
    handle: int
    device: Device
    @classmethod
    def default(cls) -> Stream: ...
    def __cuda_stream__(self) -> tuple[int, int]: ...
    def __new__(cls, external: int | None = None) -> Self: ...
    def synchronize(self) -> None: ...
    def close(self) -> None: ...         # ValueError for whoever uses it from then on
    def query(self) -> bool: ...
    def wait(self, event: Event, /) -> None: ...
    def __enter__(self) -> Self: ...     # until __exit__, the stream of what names none in this thread
    def __exit__(self, *exception: object) -> None: ...

class Graph:
    """Work that is recorded once and launched as a whole; of the current device."""
    size: int
    launches: dict[int, tuple[Launcher, tuple[Any, ...], list[Any]]]   # by nodes: arguments, and what else they use
    def __new__(cls) -> Self: ...
    def begin(self) -> None: ...
    def end(self) -> None: ...
    def leave(self) -> None: ...
    def begin_body(self, repeats: bool, flag: DeviceArrayBase, /) -> None: ...
    def end_body(self) -> None: ...
    def launch(self, stream: StreamLike = 0) -> None: ...
    def replace(self, node: int, launcher: Launcher, arguments: tuple[Any, ...], /) -> None: ...
    def close(self) -> None: ...

class Event:
    def __new__(cls, timing: bool = True) -> Self: ...
    def record(self, stream: StreamLike = 0) -> None: ...
    def synchronize(self) -> None: ...
    def close(self) -> None: ...         # likewise
    def query(self) -> bool: ...
    def wait(self, stream: StreamLike = 0) -> None: ...
    def elapsed_time(self, end: Event, /) -> float: ...      # milliseconds

class DeviceBuffer:
    """Device memory of `size` bytes, freed with the object."""
    pointer: int
    device_pointer: int
    device_pointer_value: int
    handle: int
    size: int
    device: Device
    # shared: the driver's own memory, for others; scratch: a graph that is recorded may have it
    def __new__(cls, size: int, is_shared: bool = False, is_scratch: bool = False) -> Self: ...

@final
class HostMemory:
    """Host memory that the current device reaches, freed with the object; a writable buffer.

    kind: "pinned" (page-locked), "write-combined" (and slow to read), "managed" (moves to whoever uses it), "managed by
    host" (attached to no stream)."""
    address: int
    pointer: int              # where kernels find it
    size: int
    device: Device
    def __new__(cls, size: int, kind: str) -> Self: ...
    if sys.version_info >= (3, 12):
        def __buffer__(self, flags: int, /) -> memoryview: ...

class HostView:
    """Host memory that a subclass owns, as a writable buffer."""
    def __init__(self, address: int, size: int) -> None: ...
    if sys.version_info >= (3, 12):
        def __buffer__(self, flags: int, /) -> memoryview: ...

def set_memory_manager(allocate: Callable[[Device, int], int] | None,
                       release: Callable[[Device, int], bool] | None, /) -> None: ...
def memory_range(address: int, /) -> tuple[int, int]: ...   # (start, size) of an allocation; size 0: not known
def export_memory(address: int, /) -> bytes: ...            # for another process
def import_memory(handle: bytes, /) -> int: ...
def close_import(address: int, /) -> None: ...

def register_host(address: int, size: int) -> int: ...   # page-locks memory; its address for kernels
def unregister_host(address: int) -> None: ...

class DeviceArrayBase:
    """A strided array in device memory. Subclassed in Python; the launcher reads its C fields.

    base: the object that owns the memory (a DeviceBuffer or anything to be kept alive)."""
    shape: tuple[int, ...]
    strides: tuple[int, ...]  # bytes
    dtype: np.dtype[Any]
    ndim: int
    size: int
    nbytes: int
    pointer: int
    base: Any
    device: Device
    layout: str               # "C", "F" or "A", from shape and strides
    read_only: bool
    def __init__(self, shape: tuple[int, ...], strides: tuple[int, ...] | None, dtype: DTypeLike, pointer: int,
                 base: Any, read_only: bool = False) -> None: ...    # strides None: C order
    def move(self) -> bool: ...      # to memory that processes can share; False: somebody knows the address
    def share(self) -> None: ...     # other libraries learn of the memory: it is reused when all work is done

# Arrays of other libraries: by DLPack's table or methods, __cuda_array_interface__, or CuPy's attributes.
_A = TypeVar("_A", bound=DeviceArrayBase)
def view_array(class_: type[_A], value: object, /) -> tuple[_A, int | None] | None: ...   # the stream to wait for
def host_array(value: object, /) -> NDArray[Any] | None: ...
def is_in_device_memory(value: object, /) -> bool: ...
def ask_capsule(value: object, /) -> object: ...
def from_capsule(class_: type[_A], capsule: object, /) -> _A: ...
def to_capsule(array: DeviceArrayBase, place: tuple[int, int], is_versioned: bool, is_copied: bool, /) -> object: ...

class HostArgument:
    """An array as an argument of a launch with what is copied stated: the base of cuda.In, cuda.Out and cuda.InOut.
    Device arrays pass as they are."""
    value: Any
    copy_in: bool
    copy_out: bool
    def __new__(cls, value: Any, copy_in: bool = True, copy_out: bool = True) -> Self: ...

def current_stream() -> Stream | None: ...     # the innermost `with stream:` of this thread for the current device
def refuse_host_array() -> None: ...     # CudaAPIError while this thread records a graph
def stream_handle(stream: StreamLike, /) -> int: ...     # 0: the default stream
def synchronize_stream(stream: StreamLike, /) -> None: ...

_Place: TypeAlias = int | DeviceArrayBase   # an address on the current device, or an array's memory on its own

def copy_to_device(to: _Place, array: NDArray[Any], stream: StreamLike = 0) -> None: ...     # contiguous (C or F) host array
# is_read: the caller looks at the elements at once
def copy_to_host(array: NDArray[Any], place: _Place, stream: StreamLike = 0, is_read: bool = False) -> None: ...
def copy_on_device(to: _Place, place: _Place, size: int, stream: StreamLike = 0) -> None: ...
def fill(to: _Place, byte: int, size: int, stream: StreamLike = 0) -> None: ...

# A row of core/link_kind.def by its ending: id, class, word, doc
link_kinds: dict[str, tuple[str, str, str, str]]

class LinkItem:
    """Code that is linked beside kernels: the base of cuda.PTXSource and its kin. With is_watched, loaded(handle) and
    unloaded(handle) of a subclass are called for the modules that have it."""
    kind: str
    data: bytes
    name: str
    path: str | None
    def __new__(cls, kind: str, data: bytes, name: str, path: str | None = None, is_watched: bool = False) -> Self: ...

class ForeignFunction:
    """A function from elsewhere that kernels call."""
    symbol: str
    result: Type
    parameters: tuple[Type, ...]
    by_pointer: tuple[bool, ...]
    abi: str
    links: tuple[LinkItem, ...]
    is_cooperative: bool
    def __new__(cls, symbol: str, result: Type, parameters: tuple[Type, ...], by_pointer: tuple[bool, ...], abi: str,
                links: tuple[LinkItem, ...], is_cooperative: bool = False) -> Self: ...

def toolkit_search(libraries: tuple[str, ...], includes: tuple[str, ...], /) -> None: ...   # folders, added to those known
# Machine code of the items (with ptx: text), and what the linker said; sm None: for the current device, by its driver.
def link(items: tuple[LinkItem, ...], sm: int | None, max_registers: int = 0, lineinfo: bool = False, debug: bool = False,
         lto: bool = False, ptx: bool = False, options: tuple[str, ...] = ()) -> tuple[bytes, str]: ...
# CUDA C compiled by NVRTC to "ptx", "cubin" or "ltoir", and the symbols of C++ names.
def compile_source(text: str, name: str, sm: int, output: str, options: tuple[str, ...] = (),
                   expressions: tuple[str, ...] = (), relocatable: bool = False) -> tuple[bytes, tuple[str, ...]]: ...
# LTO-IR that libNVVM has made of LLVM IR, which inspect("nvvm") gives, for that architecture.
def compile_llvm(text: str, name: str, sm: int, /) -> bytes: ...

@final
class RawModule:
    """PTX or machine code from elsewhere, loaded on each device on which something of it is used."""
    def __new__(cls, code: bytes, name: str, max_registers: int = 0) -> Self: ...
    def load(self) -> int: ...                                       # the driver's handle on the current device
    def attribute(self, symbol: str, number: int, /) -> int: ...     # CUfunction_attribute of a kernel
    def variable(self, name: str, /) -> tuple[int, int]: ...         # address and bytes

option_table: tuple[dict[str, Any], ...]   # a row of core/option.def each: name, kind, default (source), doc, is_of_code, loops

class KernelBase:
    """A kernel or device function. Subclassed in Python (the dispatcher).

    kernel[grid, block, stream=0, shared=0] gives a Launcher; calling an unconfigured kernel raises
    LaunchConfigurationError. Calling a device function outside of a kernel runs the Python function."""
    py_func: Callable[..., Any]
    is_device: bool
    is_frozen: bool
    options: dict[str, Any]
    def __init__(self, function: Callable[..., Any], *, device: bool = False, **options: Any) -> None: ...
    # options: option_table
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __getitem__(self, configuration: Any, /) -> Launcher: ...
    def bind(self, launcher: Launcher, /) -> None: ...    # others' configurations: self._for_configuration(launcher) launches
    def watch(self, wanted: bool, /) -> None: ...    # whether self._compiled_for_launch() is called where a launch compiles
    def is_bound(self) -> bool: ...
    def quiet_launcher(self, configuration: Any, /) -> Launcher: ...   # the same without a hint that the grid is small
    def loaded_types(self) -> list[tuple[Type, ...]]: ...      # those that the disk cache had
    def quick_counts(self) -> list[tuple[tuple[Type, ...], int, int]]: ...   # begun with quick code, of these replaced
    def variant_counts(self) -> list[tuple[tuple[Type, ...], int]]: ...    # kernels besides, for launches unlike most
    def compile(self, types: tuple[Type, ...], /) -> None: ...      # for the current device; kept in the cache
    def freeze(self) -> None: ...                                # only compiled types are accepted from now on
    def compiled_types(self) -> list[tuple[Type, ...]]: ...
    def links(self) -> list[LinkItem]: ...                       # what the function and all that it may call is linked with
    def result_type(self, types: tuple[Type, ...], /) -> Type: ...  # device functions: the inferred result
    def stored_type(self, types: tuple[Type, ...], /) -> Type: ...  # likewise; TypingError where no array holds such
    def inspect(self, what: str, types: tuple[Type, ...], sm: int | None = None,
                abi: str | None = None, forceinline: bool = False, any_launch: bool = False) -> Any: ...   # str; "object": bytes
    # what: "bytecode", "cfg", "ssa", "ir", "types", "widenings", "warnings", "llvm", "asm", "nvvm", "object" (of the CPU device); sm: a GPU architecture by number, None: the current device
    # any_launch: the code is for other launchers, which test nothing
    def attribute(self, types: tuple[Type, ...], number: int) -> int: ...   # CUfunction_attribute of a compiled kernel
    def resident_blocks(self, types: tuple[Type, ...], threads: int, shared: int, /) -> int: ...
    def occupancy(self, types: tuple[Type, ...], shared: int = 0) -> tuple[int, int]: ...   # (blocks, threads) to fill it

@final
class Launcher:
    """A kernel with its launch configuration; calling it launches. Vectorcall."""
    kernel: KernelBase
    griddim: tuple[int, int, int]
    blockdim: tuple[int, int, int]
    stream: Any
    sharedmem: int
    cluster: tuple[int, int, int] | None
    pre_launch_callbacks: list[Callable[[KernelBase, Launcher], Any]]
    def __call__(self, *args: Any) -> None: ...

# While code is compiled for a launch of this thread, else None.
def current_launch() -> tuple[Launcher, tuple[Any, ...]] | None: ...

def llvm_version() -> str: ...
def host_cpu() -> str: ...
def cache_folder() -> str | None: ...
def list_cached() -> str: ...
def finish_quick_starts() -> None: ...
def targets() -> tuple[int, ...]: ...          # the sm numbers of target.def
# For tests of single rooms:
def ir_roundtrip(text: str, /) -> str: ...        # parse, verify, print
def ir_compile(text: str, sm: int | None) -> str: ...     # IR text -> PTX, or host assembly
