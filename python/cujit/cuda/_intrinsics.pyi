"""What has a meaning in kernels only. Made by scripts/intrinsics_stub.py from the tables."""
# ruff: noqa: E501, I001
from collections.abc import Callable
from typing import Any, Literal, TypeVar, overload
from numpy.typing import NDArray
from cujit import _core
from cujit._annotations import Array, ElementType, Index, Integer, Number, Order, Real, Scope, Shape
from cujit._kernel_functions import cooperative_groups
from cujit.cuda import bf16 as bf16
from cujit.cuda import fp16 as fp16
from cujit.cuda import libdevice as libdevice

_T = TypeVar("_T")
_Element = TypeVar("_Element", bound=Any)

def literal_unroll(items: _T) -> _T:
    """The items themselves: a loop over them is written out once for each. On the host, the argument."""
def literally(value: _T) -> _T:
    """The argument itself."""
def cbrt(x: Real) -> float:
    """Cube root."""

class _ThreadIdx:
    @property
    def x(self) -> int:
        """threadIdx along x."""
    @property
    def y(self) -> int:
        """threadIdx along y."""
    @property
    def z(self) -> int:
        """threadIdx along z."""

threadIdx: _ThreadIdx
"""The thread's place in its block: .x .y .z, int32."""

class _BlockIdx:
    @property
    def x(self) -> int:
        """blockIdx along x."""
    @property
    def y(self) -> int:
        """blockIdx along y."""
    @property
    def z(self) -> int:
        """blockIdx along z."""

blockIdx: _BlockIdx
"""The block's place in the grid: .x .y .z, int32."""

class _BlockDim:
    @property
    def x(self) -> int:
        """blockDim along x."""
    @property
    def y(self) -> int:
        """blockDim along y."""
    @property
    def z(self) -> int:
        """blockDim along z."""

blockDim: _BlockDim
"""Threads in a block along x, y and z, int32."""

class _GridDim:
    @property
    def x(self) -> int:
        """gridDim along x."""
    @property
    def y(self) -> int:
        """gridDim along y."""
    @property
    def z(self) -> int:
        """gridDim along z."""

gridDim: _GridDim
"""Blocks in the grid along x, y and z, int32."""
@overload
def grid(ndim: Literal[1]) -> int:
    """The thread's place in the whole grid: an int64, or a tuple of 2 or 3."""
@overload
def grid(ndim: Literal[2]) -> tuple[int, int]:
    """The thread's place in the whole grid: an int64, or a tuple of 2 or 3."""
@overload
def grid(ndim: Literal[3]) -> tuple[int, int, int]:
    """The thread's place in the whole grid: an int64, or a tuple of 2 or 3."""
@overload
def gridsize(ndim: Literal[1]) -> int:
    """The number of threads of the grid along its axes: an int64, or a tuple of 2 or 3."""
@overload
def gridsize(ndim: Literal[2]) -> tuple[int, int]:
    """The number of threads of the grid along its axes: an int64, or a tuple of 2 or 3."""
@overload
def gridsize(ndim: Literal[3]) -> tuple[int, int, int]:
    """The number of threads of the grid along its axes: an int64, or a tuple of 2 or 3."""
idx: int
"""The thread's place in the whole grid along x, an int64."""
idy: int
"""The thread's place in the whole grid along y, an int64."""
idz: int
"""The thread's place in the whole grid along z, an int64."""
warpsize: int
"""Threads in a warp: 32."""
warpSize: int
"""Threads in a warp: 32."""
laneid: int
"""The thread's place in its warp."""
def syncthreads() -> None:
    """Waits until all threads of the block are here."""
def threadfence() -> None:
    """Orders this thread's memory accesses for the device."""
def threadfence_block() -> None:
    """Orders this thread's memory accesses for its block."""
def threadfence_system() -> None:
    """Orders this thread's memory accesses for the system."""
def syncthreads_count(predicate: object) -> int:
    """syncthreads; the number of threads whose predicate is true."""
def syncthreads_and(predicate: object) -> bool:
    """syncthreads; 1 where every thread's predicate is true, else 0."""
def syncthreads_or(predicate: object) -> bool:
    """syncthreads; 1 where any thread's predicate is true, else 0."""
def barrier_sync(barrier: Integer, count: Integer) -> None:
    """Waits until count threads, a multiple of 32, have come to the barrier with this number, 1 to 15."""
def barrier_arrive(barrier: Integer, count: Integer) -> None:
    """Counts as a thread that has come to the barrier with this number, 1 to 15, and does not wait."""
def nanosleep(ns: Integer) -> None:
    """Waits about that many nanoseconds, at most a millisecond."""
def syncwarp(mask: Integer = 0xffffffff) -> None:
    """Waits until the lanes of the mask, all if none is given, are here."""
def shfl_sync(mask: Integer, value: _T, src_lane: Integer, width: Integer = 32) -> _T:
    """The value of lane src_lane."""
def shfl_up_sync(mask: Integer, value: _T, delta: Integer, width: Integer = 32) -> _T:
    """The value of the lane delta places lower; the lowest lanes keep theirs."""
def shfl_down_sync(mask: Integer, value: _T, delta: Integer, width: Integer = 32) -> _T:
    """The value of the lane delta places higher; the highest lanes keep theirs."""
def shfl_xor_sync(mask: Integer, value: _T, lane_mask: Integer, width: Integer = 32) -> _T:
    """The value of lane laneid ^ lane_mask."""
def all_sync(mask: Integer, predicate: object) -> bool:
    """Whether the predicate is true in every lane."""
def any_sync(mask: Integer, predicate: object) -> bool:
    """Whether the predicate is true in any lane."""
def eq_sync(mask: Integer, predicate: object) -> bool:
    """Whether the predicate is the same in every lane."""
def ballot_sync(mask: Integer, predicate: object) -> int:
    """A mask of the lanes whose predicate is true."""
def match_any_sync(mask: Integer, value: Number) -> int:
    """A mask of the lanes with the same value."""
def match_all_sync(mask: Integer, value: Number) -> tuple[int, bool]:
    """A mask and True where every lane has the same value, else 0 and False."""
def activemask() -> int:
    """A mask of the lanes that run this call together."""
def lanemask_lt() -> int:
    """A mask of the lanes below this one."""
def lanemask_le() -> int:
    """A mask of this lane and those below."""
def lanemask_eq() -> int:
    """A mask of this lane."""
def lanemask_ge() -> int:
    """A mask of this lane and those above."""
def lanemask_gt() -> int:
    """A mask of the lanes above this one."""

class shared:
    @staticmethod
    def array(shape: Shape, dtype: ElementType, alignment: int | None = None, *, swizzle: Any = 0) -> NDArray[Any]:
        """An array shared by the threads of a block. swizzle: 32, 64 or 128, the bytes of a row: pieces of 16 bytes are exchanged within rows, as copies of tiles and wgmma take them."""
    @staticmethod
    def dynamic(shape: Shape, dtype: ElementType, offset: int = 0) -> NDArray[Any]:
        """An array in the shared memory that the launch gives, at an offset in bytes; its shape may be known at run time."""


class local:
    @staticmethod
    def array(shape: Shape, dtype: ElementType, alignment: int | None = None) -> NDArray[Any]:
        """An array of the thread's own."""


class const:
    @staticmethod
    def array_like(ndarray: NDArray[_Element]) -> NDArray[_Element]:
        """A read-only copy of a host array."""

def ldg(array: Array, i: Index) -> Any:
    """An element that nobody writes while the kernel runs: ld.global.nc."""
def ldca(array: Array, i: Index) -> Any:
    """An element, cached at all levels: ld.ca."""
def ldcg(array: Array, i: Index) -> Any:
    """An element, cached in L2 but not in L1: ld.cg."""
def ldcs(array: Array, i: Index) -> Any:
    """An element that is probably read once: ld.cs."""
def ldlu(array: Array, i: Index) -> Any:
    """An element that is not read again: ld.lu."""
def ldcv(array: Array, i: Index) -> Any:
    """An element, read from memory each time: ld.cv."""
def stcg(array: Array, i: Index, value: Any) -> None:
    """Stores into an element, cached in L2 but not in L1: st.cg."""
def stcs(array: Array, i: Index, value: Any) -> None:
    """Stores into an element that is probably written once: st.cs."""
def stwb(array: Array, i: Index, value: Any) -> None:
    """Stores into an element, cached at all levels: st.wb."""
def stwt(array: Array, i: Index, value: Any) -> None:
    """Stores into an element through the caches into memory: st.wt."""

class atomic:
    @staticmethod
    def add(array: Array, index: Index, value: Any, *, scope: Scope = 'device', order: Order = 'relaxed') -> Any:
        """Adds to an element; returns the old value."""
    @staticmethod
    def sub(array: Array, index: Index, value: Any, *, scope: Scope = 'device', order: Order = 'relaxed') -> Any:
        """Subtracts from an element; returns the old value."""
    @staticmethod
    def max(array: Array, index: Index, value: Any, *, scope: Scope = 'device', order: Order = 'relaxed') -> Any:
        """Keeps the larger value; returns the old one."""
    @staticmethod
    def min(array: Array, index: Index, value: Any, *, scope: Scope = 'device', order: Order = 'relaxed') -> Any:
        """Keeps the smaller value; returns the old one."""
    @staticmethod
    def nanmax(array: Array, index: Index, value: Any, *, scope: Scope = 'device', order: Order = 'relaxed') -> Any:
        """max that ignores NaN."""
    @staticmethod
    def nanmin(array: Array, index: Index, value: Any, *, scope: Scope = 'device', order: Order = 'relaxed') -> Any:
        """min that ignores NaN."""
    @staticmethod
    def and_(array: Array, index: Index, value: Any, *, scope: Scope = 'device', order: Order = 'relaxed') -> Any:
        """Bitwise and; returns the old value."""
    @staticmethod
    def or_(array: Array, index: Index, value: Any, *, scope: Scope = 'device', order: Order = 'relaxed') -> Any:
        """Bitwise or; returns the old value."""
    @staticmethod
    def xor(array: Array, index: Index, value: Any, *, scope: Scope = 'device', order: Order = 'relaxed') -> Any:
        """Bitwise exclusive or; returns the old value."""
    @staticmethod
    def exch(array: Array, index: Index, value: Any, *, scope: Scope = 'device', order: Order = 'relaxed') -> Any:
        """Stores a value; returns the old one."""
    @staticmethod
    def inc(array: Array, index: Index, limit: Any, *, scope: Scope = 'device', order: Order = 'relaxed') -> Any:
        """Counts up to a limit, then 0; returns the old value."""
    @staticmethod
    def dec(array: Array, index: Index, limit: Any, *, scope: Scope = 'device', order: Order = 'relaxed') -> Any:
        """Counts down from a limit; returns the old value."""
    @staticmethod
    def cas(array: Array, index: Index, old: Any, value: Any, *, scope: Scope = 'device', order: Order = 'relaxed') -> Any:
        """Stores a value where the old one is as expected; returns the old one."""
    @staticmethod
    def compare_and_swap(array: Array, old: Any, value: Any, *, scope: Scope = 'device', order: Order = 'relaxed') -> Any:
        """cas on element 0."""


class wide:
    @staticmethod
    def load(array: Array, index: Index, count: Integer) -> tuple[Any, ...]:
        """A tuple of count elements from index on, read at once; they must lie at a multiple of 16 bytes, or of their size if less."""
    @staticmethod
    def store(array: Array, index: Index, values: tuple[Any, ...]) -> None:
        """Writes the items of a tuple from index on at once; they must lie at a multiple of 16 bytes, or of their size if less."""

def popc(x: Number) -> int:
    """The number of one bits."""
def brev(x: Number) -> Any:
    """The bits in reverse order."""
def clz(x: Number) -> int:
    """The number of leading zero bits."""
def ffs(x: Number) -> int:
    """The place of the lowest one bit, from 1; 0 where there is none."""
def fma(a: Any, b: Any, c: Any) -> Any:
    """a * b + c, rounded once."""
def selp(condition: object, a: Any, b: Any) -> Any:
    """a where the condition is true, else b."""
def byte_perm(x: Integer, y: Integer, selector: Integer) -> int:
    """Four of the eight bytes of x and y: nibble i of the selector names byte i of the result; above 7, its sign only."""
def dp4a(a: Integer, b: Integer, c: Integer) -> int:
    """c plus the products of the four bytes of a and of b, each signed as its type is."""
def dp2a_lo(a: Integer, b: Integer, c: Integer) -> int:
    """c plus the products of the halves of a and the two lower bytes of b, each signed as its type is."""
def dp2a_hi(a: Integer, b: Integer, c: Integer) -> int:
    """c plus the products of the halves of a and the two upper bytes of b, each signed as its type is."""
def funnelshift_l(low: Integer, high: Integer, shift: Integer) -> int:
    """The upper 32 bits of (high, low) shifted to the left by shift % 32."""
def funnelshift_lc(low: Integer, high: Integer, shift: Integer) -> int:
    """The upper 32 bits of (high, low) shifted to the left by at most 32."""
def funnelshift_r(low: Integer, high: Integer, shift: Integer) -> int:
    """The lower 32 bits of (high, low) shifted to the right by shift % 32."""
def funnelshift_rc(low: Integer, high: Integer, shift: Integer) -> int:
    """The lower 32 bits of (high, low) shifted to the right by at most 32."""
def mulhi(x: Number, y: Number) -> Any:
    """The upper half of the product of two integers of 32 or 64 bits."""
def mul24(x: Integer, y: Integer) -> int:
    """The product of the lower 24 bits of each."""
def sad(x: Integer, y: Integer, z: Integer) -> int:
    """abs(x - y) + z."""
def hadd(x: Integer, y: Integer) -> int:
    """Half of x + y, rounded down, without overflow."""
def rhadd(x: Integer, y: Integer) -> int:
    """Half of x + y, rounded up, without overflow."""
def grid_dependency_synchronize() -> None:
    """Waits until the launches before this one in its stream are done and what they wrote can be read. From sm_90 on a kernel that calls it starts before that; elsewhere launches do not overlap, and it has nothing to wait for."""
def trigger_launch_completion() -> None:
    """Lets the stream's next launch start, if its kernel calls grid_dependency_synchronize, once all blocks have called this or are done. Nothing below sm_90."""
def trap() -> None:
    """Ends the launch with an error; a GPU can be used no more by this process."""
def clock() -> int:
    """A counter of cycles, its lower 32 bits."""
def clock64() -> int:
    """A counter of cycles."""
def globaltimer() -> int:
    """Nanoseconds of a clock of the whole device."""
warpid: int
"""A number of the warp among those of its multiprocessor; not for arithmetic, it may change."""
nwarpid: int
"""How many numbers of warps there are."""
smid: int
"""The number of the multiprocessor that runs the thread; 0 on the CPU device."""
nsmid: int
"""How many numbers of multiprocessors there are; 1 on the CPU device."""

class mma:
    @staticmethod
    def m16n8k8_f16_f32(a: Any, b: Any, c: Any) -> tuple[Any, ...]:
        """a @ b + c over a warp: float16 in, float32 out."""
    @staticmethod
    def m16n8k8_f16_f16(a: Any, b: Any, c: Any) -> tuple[Any, ...]:
        """a @ b + c over a warp: float16 in and out."""
    @staticmethod
    def m16n8k16_f16_f32(a: Any, b: Any, c: Any) -> tuple[Any, ...]:
        """a @ b + c over a warp: float16 in, float32 out."""
    @staticmethod
    def m16n8k16_f16_f16(a: Any, b: Any, c: Any) -> tuple[Any, ...]:
        """a @ b + c over a warp: float16 in and out."""
    @staticmethod
    def m16n8k8_bf16_f32(a: Any, b: Any, c: Any) -> tuple[Any, ...]:
        """a @ b + c over a warp: bfloat16 in, float32 out."""
    @staticmethod
    def m16n8k16_bf16_f32(a: Any, b: Any, c: Any) -> tuple[Any, ...]:
        """a @ b + c over a warp: bfloat16 in, float32 out."""
    @staticmethod
    def m16n8k4_tf32_f32(a: Any, b: Any, c: Any) -> tuple[Any, ...]:
        """a @ b + c over a warp: float32 of which 10 bits of the fraction count in, float32 out."""
    @staticmethod
    def m16n8k8_tf32_f32(a: Any, b: Any, c: Any) -> tuple[Any, ...]:
        """a @ b + c over a warp: float32 of which 10 bits of the fraction count in, float32 out."""
    @staticmethod
    def m16n8k16_s8_s32(a: Any, b: Any, c: Any) -> tuple[Any, ...]:
        """a @ b + c over a warp: int8 in, int32 out."""
    @staticmethod
    def m16n8k32_s8_s32(a: Any, b: Any, c: Any) -> tuple[Any, ...]:
        """a @ b + c over a warp: int8 in, int32 out."""
    @staticmethod
    def m16n8k32_u8_s32(a: Any, b: Any, c: Any) -> tuple[Any, ...]:
        """a @ b + c over a warp: uint8 in, int32 out."""
    @staticmethod
    def m8n8k4_f64(a: Any, b: Any, c: Any) -> tuple[Any, ...]:
        """a @ b + c over a warp in float64."""

def ldmatrix_x1(array: Array, row: Integer, column: Integer) -> tuple[Any, ...]:
    """One 8 x 8 matrix of 16-bit elements from shared memory as a fragment; lanes 0-7 name where its rows begin. 2 elements a lane."""
def ldmatrix_x2(array: Array, row: Integer, column: Integer) -> tuple[Any, ...]:
    """Two 8 x 8 matrices of 16-bit elements from shared memory; lanes 0-15 name where their rows begin. 4 elements a lane."""
def ldmatrix_x4(array: Array, row: Integer, column: Integer) -> tuple[Any, ...]:
    """Four 8 x 8 matrices of 16-bit elements from shared memory; lanes 0-31 name where their rows begin. 8 elements a lane."""
def ldmatrix_x1_trans(array: Array, row: Integer, column: Integer) -> tuple[Any, ...]:
    """ldmatrix_x1 of the transposed matrix."""
def ldmatrix_x2_trans(array: Array, row: Integer, column: Integer) -> tuple[Any, ...]:
    """ldmatrix_x2 of the transposed matrices."""
def ldmatrix_x4_trans(array: Array, row: Integer, column: Integer) -> tuple[Any, ...]:
    """ldmatrix_x4 of the transposed matrices."""
def cp_async(to: Array, to_index: Index, from_: Array, from_index: Index, count: Integer) -> None:
    """Copies `count` neighbouring elements, 4, 8 or 16 bytes in all, from global to shared memory without waiting (sm_80; at once on older GPUs and the CPU device)."""
def cp_async_commit() -> None:
    """Makes a group of the thread's copies since the last commit."""
def cp_async_wait(n: Integer) -> None:
    """Waits until at most n (a constant) of the thread's latest groups are still being copied."""

class mbarrier:
    @staticmethod
    def init(barriers: Array, index: Integer, count: Integer) -> None:
        """Makes an element of a shared uint64 array a barrier: a phase of it ends when count arrivals and all bytes that were announced have come."""
    @staticmethod
    def invalidate(barriers: Array, index: Integer) -> None:
        """Ends the use of the element as a barrier."""
    @staticmethod
    def arrive(barriers: Array, index: Integer, count: Integer = 1) -> None:
        """Counts so many arrivals."""
    @staticmethod
    def arrive_cluster(barriers: Array, index: Integer, rank: Integer, count: Integer = 1) -> None:
        """Counts arrivals at the same barrier of the block with that rank in the cluster."""
    @staticmethod
    def expect_tx(barriers: Array, index: Integer, bytes: Integer) -> None:
        """Announces bytes that copies will bring in this phase."""
    @staticmethod
    def arrive_expect_tx(barriers: Array, index: Integer, bytes: Integer) -> None:
        """Announces bytes of copies, and counts one arrival."""
    @staticmethod
    def try_wait(barriers: Array, index: Integer, parity: Integer) -> bool:
        """Whether the phase of that parity has ended: 0 the first, 1 the second, 0 the third. May wait a while for it."""
    @staticmethod
    def test_wait(barriers: Array, index: Integer, parity: Integer) -> bool:
        """Whether the phase of that parity has ended: 0 the first, 1 the second, 0 the third."""
    @staticmethod
    def fence_init() -> None:
        """Lets copies and the blocks of the cluster see what init did; a barrier of the block or cluster comes behind it."""
    @staticmethod
    def wait(barriers: NDArray[Any], index: int, parity: int) -> None:
        """Waits until the phase of that parity has ended: 0 the first, 1 the second, 0 the third."""


class tma:
    @staticmethod
    def load(to: Array, map: Any, index: Index, barriers: Any, barrier: Any, *, multicast: Any = 0) -> None:
        """Begins to copy the map's box from that index on into a shared array, whose bytes are counted at the barrier; zeros stand for what lies outside. multicast: a mask of ranks in the cluster, all of which get it at the same place, barriers and all."""
    @staticmethod
    def store(map: Any, index: Index, from_: Array) -> None:
        """Begins to copy a shared array into the map's box from that index on, in which no number is below 0; what lies outside stays."""
    @staticmethod
    def prefetch(map: Any) -> None:
        """Brings the map itself near."""
    @staticmethod
    def commit() -> None:
        """Makes a group of the thread's stores since the last commit."""
    @staticmethod
    def wait(n: int) -> None:
        """Waits until at most n (a constant) of the thread's latest groups of stores are under way."""
    @staticmethod
    def wait_read(n: int) -> None:
        """Waits until at most n (a constant) of the thread's latest groups still read their shared arrays."""

def fence_proxy_async() -> None:
    """Lets the tensor memory accelerator and wgmma see what this thread has written to shared memory."""

class wgmma:
    @staticmethod
    def mma(c: Any, a: Any, a_index: Any, b: Any, b_index: Any, *, transpose_a: Any = False, transpose_b: Any = False, accumulate: Any = True, kind: Any = None, columns: Any = None) -> None:
        """Begins c += a @ b.T of four warps, for 64 rows of a and as many rows of b as fit c, a local array: 32 bytes of each from these indices of swizzled shared arrays on. (c, a, b, b_index): a is a local array, too."""
    @staticmethod
    def fence(*c: Any) -> None:
        """Before the first mma, and before one that follows on writes to accumulators c or to fragments."""
    @staticmethod
    def commit() -> None:
        """Makes a group of the mma since the last commit."""
    @staticmethod
    def wait(n: Integer, *c: Any) -> None:
        """Waits until at most n (a constant) of the latest groups are under way. c: the accumulators of those that are done, which can then be read and written."""

def setmaxnreg_inc(registers: int) -> None:
    """Four warps wait until each of their threads can have so many registers, a constant."""
def setmaxnreg_dec(registers: int) -> None:
    """Four warps keep so many registers for each thread, a constant, and leave the rest to others."""

class warp:
    @staticmethod
    def inclusive_scan(value: Any, op: Callable[[Any, Any], Any] = ...) -> Any:
        """op over the values of the lanes of the warp up to this one."""
    @staticmethod
    def exclusive_scan(value: Any, op: Callable[[Any, Any], Any] = ..., init: Any = None) -> Any:
        """op over the start and the values of the lanes of the warp before this one; the start in the first."""
    @staticmethod
    def reduce(value: Any, op: Callable[[Any, Any], Any] = ...) -> Any:
        """op over the values of all lanes of the warp, in every lane."""


class block:
    @staticmethod
    def inclusive_scan(value: Any, op: Callable[[Any, Any], Any] = ...) -> Any:
        """op over the values of the threads of the block up to this one; also of tuples of items."""
    @staticmethod
    def exclusive_scan(value: Any, op: Callable[[Any, Any], Any] = ..., init: Any = None) -> Any:
        """op over the start and the values of the threads of the block before this one; also of tuples of items."""
    @staticmethod
    def reduce(value: Any, op: Callable[[Any, Any], Any] = ...) -> Any:
        """op over the values of all threads of the block, in every thread of it."""
    @staticmethod
    def to_blocked(items: tuple[Any, ...]) -> tuple[Any, ...]:
        """The items of the block in blocked order, from those in striped order."""
    @staticmethod
    def to_striped(items: tuple[Any, ...]) -> tuple[Any, ...]:
        """The items of the block in striped order, from those in blocked order."""
    @staticmethod
    def load(array: Any, first: Integer, count: int, default: Any = None) -> tuple[Any, ...]:
        """A tuple of `count` items of each thread, in blocked order, from array[first] on; neighbouring threads read neighbouring elements. Behind the end of the array items are `default`. A tuple or an instance of arrays has items of that kind."""
    @staticmethod
    def load_striped(array: Any, first: Integer, count: int, default: Any = None) -> tuple[Any, ...]:
        """A tuple of `count` items of each thread, in striped order, from array[first] on. Behind the end of the array items are `default`."""
    @staticmethod
    def store(array: Any, first: Integer, items: Any) -> None:
        """Stores the items of each thread, in blocked order, from array[first] on; neighbouring threads write neighbouring elements. What is behind the end of the array is left out."""
    @staticmethod
    def store_striped(array: Any, first: Integer, items: Any) -> None:
        """Stores the items of each thread, in striped order, from array[first] on. What is behind the end of the array is left out."""
    @staticmethod
    def histogram(items: Any, bins: int) -> Any:
        """A shared array of `bins` counts, known while compiling: how many items of the block each bin has; items outside of the bins are not counted."""
    @staticmethod
    def radix_sort(keys: Any, values: Any = None, descending: bool = False, begin_bit: Integer | None = None, end_bit: Integer | None = None) -> Any:
        """The items of the block in order, NaN last, stable, in blocked order; with values (keys, values), each value where its key is. Keys are numbers, or tuples and instances of them, which are sorted by their first field, then by the next; values are of any kind. descending: the largest come first. begin_bit, end_bit: only those bits of the keys count, of signed numbers and floats as CUB has them: of words in the keys' order."""


class cg:
    @staticmethod
    def this_cluster() -> cooperative_groups.Cluster:
        """The group of all threads of the block's cluster; its blocks can wait for each other and reach each other's shared memory."""
    @staticmethod
    def this_thread_block() -> cooperative_groups.Block:
        """The group of all threads of the block."""
    @staticmethod
    def this_grid() -> cooperative_groups.Grid:
        """The group of all threads of the launch; where it syncs, the launch is cooperative by itself."""
    @staticmethod
    def tiled_partition(group: cooperative_groups.Block | cooperative_groups.Tile, size: int) -> cooperative_groups.Tile:
        """The group of `size` neighbouring threads of a block or of a larger tile: 1, 2, 4, 8, 16 or 32."""
    @staticmethod
    def coalesced_threads() -> cooperative_groups.Lanes:
        """The group of the threads of the warp that run this call together."""
    @staticmethod
    def labeled_partition(group: cooperative_groups.Tile | cooperative_groups.Lanes, label: Any) -> cooperative_groups.Lanes:
        """The group of the threads of a tile or coalesced group with the same label."""
    @staticmethod
    def binary_partition(group: cooperative_groups.Tile | cooperative_groups.Lanes, predicate: object) -> cooperative_groups.Lanes:
        """The group of the threads of a tile or coalesced group with the same truth of the predicate."""
    @staticmethod
    def reduce(group: cooperative_groups.Block | cooperative_groups.Tile | cooperative_groups.Lanes, value: Any, op: Callable[[Any, Any], Any] = ...) -> Any:
        """op over the values of all threads of a block, tile or coalesced group, in every thread of it."""
    @staticmethod
    def inclusive_scan(group: cooperative_groups.Tile | cooperative_groups.Lanes, value: Any, op: Callable[[Any, Any], Any] = ...) -> Any:
        """op over the values of the threads of a tile or coalesced group up to this one."""
    @staticmethod
    def exclusive_scan(group: cooperative_groups.Tile | cooperative_groups.Lanes, value: Any, op: Callable[[Any, Any], Any] = ...) -> Any:
        """op over the values of the threads of a tile or coalesced group before this one, 0 in the first."""
    @staticmethod
    def bit_and(a: Any, b: Any) -> Any:
        """a & b, for cg.reduce."""
    @staticmethod
    def bit_or(a: Any, b: Any) -> Any:
        """a | b, for cg.reduce."""
    @staticmethod
    def bit_xor(a: Any, b: Any) -> Any:
        """a ^ b, for cg.reduce."""
    @staticmethod
    def plus(x: Any, y: Any) -> Any:
        """x + y, for cg.reduce."""
    @staticmethod
    def less(x: Any, y: Any) -> Any:
        """The smaller of x and y, for cg.reduce."""
    @staticmethod
    def greater(x: Any, y: Any) -> Any:
        """The larger of x and y, for cg.reduce."""

def reduce_add_sync(mask: Integer, value: Any) -> Any:
    """The sum of the value over the lanes of the mask, in every lane of it."""
def reduce_min_sync(mask: Integer, value: Any) -> Any:
    """The smallest of the value over the lanes of the mask, in every lane of it."""
def reduce_max_sync(mask: Integer, value: Any) -> Any:
    """The largest of the value over the lanes of the mask, in every lane of it."""
def reduce_and_sync(mask: Integer, value: Any) -> Any:
    """Bitwise and of the value over the lanes of the mask, in every lane of it."""
def reduce_or_sync(mask: Integer, value: Any) -> Any:
    """Bitwise or of the value over the lanes of the mask, in every lane of it."""
def reduce_xor_sync(mask: Integer, value: Any) -> Any:
    """Bitwise exclusive or of the value over the lanes of the mask, in every lane of it."""

int8x1: _core.Type
char1: _core.Type
int8x2: _core.Type
char2: _core.Type
int8x3: _core.Type
char3: _core.Type
int8x4: _core.Type
char4: _core.Type
int16x1: _core.Type
short1: _core.Type
int16x2: _core.Type
short2: _core.Type
int16x3: _core.Type
short3: _core.Type
int16x4: _core.Type
short4: _core.Type
int32x1: _core.Type
int1: _core.Type
int32x2: _core.Type
int2: _core.Type
int32x3: _core.Type
int3: _core.Type
int32x4: _core.Type
int4: _core.Type
int64x1: _core.Type
long1: _core.Type
longlong1: _core.Type
int64x2: _core.Type
long2: _core.Type
longlong2: _core.Type
int64x3: _core.Type
long3: _core.Type
longlong3: _core.Type
int64x4: _core.Type
long4: _core.Type
longlong4: _core.Type
uint8x1: _core.Type
uchar1: _core.Type
uint8x2: _core.Type
uchar2: _core.Type
uint8x3: _core.Type
uchar3: _core.Type
uint8x4: _core.Type
uchar4: _core.Type
uint16x1: _core.Type
ushort1: _core.Type
uint16x2: _core.Type
ushort2: _core.Type
uint16x3: _core.Type
ushort3: _core.Type
uint16x4: _core.Type
ushort4: _core.Type
uint32x1: _core.Type
uint1: _core.Type
uint32x2: _core.Type
uint2: _core.Type
uint32x3: _core.Type
uint3: _core.Type
uint32x4: _core.Type
uint4: _core.Type
uint64x1: _core.Type
ulong1: _core.Type
ulonglong1: _core.Type
uint64x2: _core.Type
ulong2: _core.Type
ulonglong2: _core.Type
uint64x3: _core.Type
ulong3: _core.Type
ulonglong3: _core.Type
uint64x4: _core.Type
ulong4: _core.Type
ulonglong4: _core.Type
float32x1: _core.Type
float1: _core.Type
float32x2: _core.Type
float2: _core.Type
float32x3: _core.Type
float3: _core.Type
float32x4: _core.Type
float4: _core.Type
float64x1: _core.Type
double1: _core.Type
float64x2: _core.Type
double2: _core.Type
float64x3: _core.Type
double3: _core.Type
float64x4: _core.Type
double4: _core.Type
