"""Cooperative groups, as values with methods. What all groups can: sync(), thread_rank(), num_threads()."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from cujit import cuda
from cujit._kernel_functions import warp_reduce
from cujit._kernel_functions.constant import constant
from cujit._kernel_functions.stands_for import stands_for
from cujit._kernel_functions.warp_reduce import sum_of
from cujit.types import int32, int64, uint32

if TYPE_CHECKING:
    from collections.abc import Callable

    from cujit._annotations import Array, Integer


class Dim3(NamedTuple):
    x: int
    y: int
    z: int


def rank_in_block():
    return int32((cuda.threadIdx.z * cuda.blockDim.y + cuda.threadIdx.y) * cuda.blockDim.x + cuda.threadIdx.x)


def threads_of_block():
    return int32(cuda.blockDim.x * cuda.blockDim.y * cuda.blockDim.z)


def bits_below(count):
    """A mask of the lowest lanes; 32 of them, too."""
    return uint32((int64(1) << int64(count)) - 1)


# --- blocks and grids -------------------------------------------------------------------------------------------------


class Block(NamedTuple):
    def sync(self) -> None:
        cuda.syncthreads()

    def thread_rank(self) -> int:
        return rank_in_block()

    def num_threads(self) -> int:
        return threads_of_block()

    @property
    def rank(self) -> int:
        return self.thread_rank()

    @property
    def size(self) -> int:
        return self.num_threads()

    def group_index(self) -> Dim3:
        return Dim3(cuda.blockIdx.x, cuda.blockIdx.y, cuda.blockIdx.z)

    def thread_index(self) -> Dim3:
        return Dim3(cuda.threadIdx.x, cuda.threadIdx.y, cuda.threadIdx.z)

    def dim_threads(self) -> Dim3:
        return Dim3(cuda.blockDim.x, cuda.blockDim.y, cuda.blockDim.z)


class Grid(NamedTuple):
    def sync(self) -> None:
        cuda._grid_sync()

    def block_rank(self) -> int:
        row = int64(cuda.blockIdx.z) * cuda.gridDim.y + cuda.blockIdx.y
        return row * cuda.gridDim.x + cuda.blockIdx.x

    def num_blocks(self) -> int:
        return int64(cuda.gridDim.x) * cuda.gridDim.y * cuda.gridDim.z

    def thread_rank(self) -> int:
        return self.block_rank() * threads_of_block() + rank_in_block()

    def num_threads(self) -> int:
        return self.num_blocks() * threads_of_block()

    @property
    def rank(self) -> int:
        return self.thread_rank()

    @property
    def size(self) -> int:
        return self.num_threads()

    def block_index(self) -> Dim3:
        return Dim3(cuda.blockIdx.x, cuda.blockIdx.y, cuda.blockIdx.z)

    def dim_blocks(self) -> Dim3:
        return Dim3(cuda.gridDim.x, cuda.gridDim.y, cuda.gridDim.z)


class Cluster(NamedTuple):
    def sync(self) -> None:
        cuda._cluster.sync()

    def block_rank(self) -> int:
        return cuda._cluster.block_rank()

    def num_blocks(self) -> int:
        return cuda._cluster.num_blocks()

    def thread_rank(self) -> int:
        return int32(self.block_rank() * threads_of_block() + rank_in_block())

    def num_threads(self) -> int:
        return int32(self.num_blocks() * threads_of_block())

    @property
    def rank(self) -> int:
        return self.thread_rank()

    @property
    def size(self) -> int:
        return self.num_threads()

    def block_index(self) -> Dim3:
        return Dim3(cuda._cluster.block_index_x(), cuda._cluster.block_index_y(), cuda._cluster.block_index_z())

    def dim_blocks(self) -> Dim3:
        return Dim3(cuda._cluster.dim_x(), cuda._cluster.dim_y(), cuda._cluster.dim_z())

    def map_shared_rank(self, array: Array, rank: Integer) -> Any:
        """The shared array as the block of that rank has it. It may end only after the last access: sync() first."""
        return cuda._cluster.map_shared(array, rank)


@stands_for(
    "cuda.cg.this_cluster",
    doc="The group of all threads of the block's cluster; its blocks can wait for each other and reach each other's "
        "shared memory.")
def this_cluster() -> Cluster:
    return Cluster()


@stands_for("cuda.cg.this_thread_block", doc="The group of all threads of the block.")
def this_thread_block() -> Block:
    return Block()


@stands_for(
    "cuda.cg.this_grid",
    doc="The group of all threads of the launch; where it syncs, the launch is cooperative by itself.")
def this_grid() -> Grid:
    return Grid()


# --- tiles: neighbouring lanes ----------------------------------------------------------------------------------------


FULL = uint32(0xFFFFFFFF)
HALVINGS = {1 << count: (None,) * count for count in range(6)}


class Tile(NamedTuple):
    mask: int             # the lanes, uint32
    rank: int             # in the tile
    first: int            # its lowest lane
    meta_rank: int        # which of its parent's tiles it is
    meta_size: int        # how many of them there are
    halvings: tuple       # a None for each that leads to single threads: the size is known while compiling

    @property
    def size(self) -> int:
        return int32(1 << len(self.halvings))

    def lanes(self) -> int:
        return FULL if len(self.halvings) == 5 else self.mask

    def sync(self) -> None:
        cuda.syncwarp(self.lanes())

    def thread_rank(self) -> int:
        return self.rank

    def num_threads(self) -> int:
        return self.size

    def meta_group_rank(self) -> int:
        return self.meta_rank

    def meta_group_size(self) -> int:
        return self.meta_size

    def shfl(self, value: Any, src_rank: Integer) -> Any:
        return cuda.shfl_sync(self.lanes(), value, src_rank, self.size)

    def shfl_up(self, value: Any, delta: Integer) -> Any:
        return cuda.shfl_up_sync(self.lanes(), value, delta, self.size)

    def shfl_down(self, value: Any, delta: Integer) -> Any:
        return cuda.shfl_down_sync(self.lanes(), value, delta, self.size)

    def shfl_xor(self, value: Any, lane_mask: Integer) -> Any:
        inside = lane_mask if lane_mask < self.size else 0
        return cuda.shfl_xor_sync(self.lanes(), value, inside, self.size)

    def any(self, predicate: object) -> bool:
        return cuda.any_sync(self.lanes(), predicate)

    def all(self, predicate: object) -> bool:
        return cuda.all_sync(self.lanes(), predicate)

    def ranks_of(self, lanes: Integer) -> int:
        return uint32((uint32(lanes) & self.mask) >> uint32(self.first))

    def ballot(self, predicate: object) -> int:
        return self.ranks_of(cuda.ballot_sync(self.lanes(), predicate))

    def match_any(self, value: Any) -> int:
        return self.ranks_of(cuda.match_any_sync(self.lanes(), value))

    def match_all(self, value: Any) -> tuple[int, bool]:
        lanes, agree = cuda.match_all_sync(self.lanes(), value)
        return self.ranks_of(lanes), agree


@stands_for(
    "cuda.cg.tiled_partition",
    doc="The group of `size` neighbouring threads of a block or of a larger tile: 1, 2, 4, 8, 16 or 32.")
@constant("size")
def tiled_partition(group: Block | Tile, size: int) -> Tile:
    if not isinstance(size, int) or size < 1 or size > 32 or size & (size - 1):
        cuda._refuse("the size of a tile is 1, 2, 4, 8, 16 or 32")
    lane = cuda.laneid
    first = int32(lane & -size)
    if isinstance(group, Tile):
        if 1 << len(group.halvings) < size:
            cuda._refuse("a tile cannot be larger than the one that it is a part of")
        number, count = int32(group.rank // size), int32((1 << len(group.halvings)) // size)
    elif isinstance(group, Block):
        number, count = int32(rank_in_block() // size), int32((threads_of_block() + size - 1) // size)
    else:
        cuda._refuse("tiled_partition takes a thread block or a tile")
    return Tile(uint32(bits_below(size) << uint32(first)), int32(lane - first), first, number, count, HALVINGS[size])


# --- coalesced groups: any lanes of a warp ----------------------------------------------------------------------------


class Lanes(NamedTuple):
    mask: int   # the lanes, uint32
    size: int   # how many there are
    rank: int   # of this one among them

    def lanes(self) -> int:
        return self.mask

    def sync(self) -> None:
        cuda.syncwarp(self.mask)

    def thread_rank(self) -> int:
        return self.rank

    def num_threads(self) -> int:
        return self.size

    def any(self, predicate: object) -> bool:
        return cuda.any_sync(self.mask, predicate)

    def all(self, predicate: object) -> bool:
        return cuda.all_sync(self.mask, predicate)

    def ballot(self, predicate: object) -> int:
        return self.ranks_of(cuda.ballot_sync(self.mask, predicate))

    def match_any(self, value: Any) -> int:
        return self.ranks_of(cuda.match_any_sync(self.mask, value))

    def match_all(self, value: Any) -> tuple[int, bool]:
        lanes, agree = cuda.match_all_sync(self.mask, value)
        return self.ranks_of(lanes), agree

    def lane_of(self, rank: Integer) -> int:
        """The lane with that rank, by halves: whether it lies in the lower one is a matter of counting."""
        lanes, rank, lane = self.mask, int32(rank), int32(0)
        for width in (16, 8, 4, 2, 1):
            below = int32(cuda.popc(lanes & bits_below(width)))
            if rank >= below:
                rank = int32(rank - below)
                lanes = uint32(lanes >> uint32(width))
                lane = int32(lane + width)
        return lane

    def shfl(self, value: Any, src_rank: Integer) -> Any:
        return cuda.shfl_sync(self.mask, value, self.lane_of(src_rank))

    def shfl_up(self, value: Any, delta: Integer) -> Any:
        source = self.rank - delta
        return self.shfl(value, source if source >= 0 else self.rank)

    def shfl_down(self, value: Any, delta: Integer) -> Any:
        source = self.rank + delta
        return self.shfl(value, source if source < self.size else self.rank)

    def ranks_of(self, lanes: Integer) -> int:
        """Bit k of the result: that of the lane with rank k."""
        ranks, rest, k = uint32(0), self.mask, uint32(0)
        while rest:
            lowest = uint32(rest & (~rest + uint32(1)))
            if uint32(lanes) & lowest:
                ranks |= uint32(1) << k
            rest = uint32(rest ^ lowest)
            k = uint32(k + 1)
        return uint32(ranks)


def group_of(lanes: Integer) -> Lanes:
    mask = uint32(lanes)
    return Lanes(mask, int32(cuda.popc(mask)), int32(cuda.popc(mask & cuda.lanemask_lt())))


@stands_for("cuda.cg.coalesced_threads", doc="The group of the threads of the warp that run this call together.")
def coalesced_threads() -> Lanes:
    return group_of(cuda.activemask())


@stands_for(
    "cuda.cg.labeled_partition", doc="The group of the threads of a tile or coalesced group with the same label.")
def labeled_partition(group: Tile | Lanes, label: Any) -> Lanes:
    if not isinstance(group, (Tile, Lanes)):
        cuda._refuse("labeled_partition takes a tile or a coalesced group")
    return group_of(cuda.match_any_sync(group.lanes(), label))


@stands_for(
    "cuda.cg.binary_partition",
    doc="The group of the threads of a tile or coalesced group with the same truth of the predicate.")
def binary_partition(group: Tile | Lanes, predicate: object) -> Lanes:
    if not isinstance(group, (Tile, Lanes)):
        cuda._refuse("binary_partition takes a tile or a coalesced group")
    yes = uint32(cuda.ballot_sync(group.lanes(), predicate))
    return group_of(yes if predicate else uint32(group.mask & ~yes))


# --- reductions -------------------------------------------------------------------------------------------------------


def reduce_lanes(mask, value, op):
    if op is sum_of:
        return warp_reduce.reduce_add(mask, value)
    return warp_reduce.tree(op, mask, value)


def reduce_block(value, op):
    """Warps by themselves, then the first warp over what they have."""
    results = cuda.shared.array(33, type(value))
    rank, size = rank_in_block(), threads_of_block()
    warps, first = (size + 31) // 32, rank // 32 * 32
    value = reduce_lanes(bits_below(min(32, size - first)), value, op)
    if warps > 1:
        cuda.syncthreads()   # an earlier reduction may still be read
        if rank == first:
            results[rank // 32] = value
        cuda.syncthreads()
        if rank < warps:
            results[32] = reduce_lanes(bits_below(warps), results[rank], op)
        cuda.syncthreads()
        value = results[32]
    return value


@stands_for(
    "cuda.cg.reduce",
    doc="op over the values of all threads of a block, tile or coalesced group, in every thread of it.")
def reduce(group: Block | Tile | Lanes, value: Any, op: Callable[[Any, Any], Any] = sum_of) -> Any:
    if isinstance(group, Block):
        return reduce_block(value, op)
    if not isinstance(group, (Tile, Lanes)):
        cuda._refuse("reduce takes a thread block, a tile or a coalesced group")
    return reduce_lanes(group.lanes(), value, op)


@stands_for(
    "cuda.cg.inclusive_scan", doc="op over the values of the threads of a tile or coalesced group up to this one.")
def inclusive_scan(group: Tile | Lanes, value: Any, op: Callable[[Any, Any], Any] = sum_of) -> Any:
    if not isinstance(group, (Tile, Lanes)):
        cuda._refuse("scans take a tile or a coalesced group")
    number = type(value)
    for distance in (1, 2, 4, 8, 16):
        lower = group.shfl_up(value, distance)
        if group.rank >= distance:
            value = number(op(lower, value))
    return value


@stands_for(
    "cuda.cg.exclusive_scan",
    doc="op over the values of the threads of a tile or coalesced group before this one, 0 in the first.")
def exclusive_scan(group: Tile | Lanes, value: Any, op: Callable[[Any, Any], Any] = sum_of) -> Any:
    lower = group.shfl_up(inclusive_scan(group, value, op), 1)
    return lower if group.rank > 0 else type(value)(0)
