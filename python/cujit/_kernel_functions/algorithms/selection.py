"""Kernel of cuda.filter and cuda.select where blocks work together: one pass over memory.

wanted(sources, r) says whether element r is; keep(sources, outs, place, r) stores it.
"""
from cujit import cuda
from cujit._kernel_functions.algorithms.scan import AGGREGATE, ALL_LANES, PREFIX, WARPS
from cujit.types import int32, int64, uint32

ROWS = 16  # elements of a thread, at most 32
THREADS = WARPS * 32  # of a block
TILE = THREADS * ROWS
FIRST = 0x7FFFFFFF  # bits of a tile's number: that it is not negative is known by them


def of_tiles(wanted, keep):
    """A block for each tile. Each shows how many it keeps, looks back over those before until one shows how many all
    up to it do, and shows the same of its own, as in scans. A word of `shown` is four times the number and what it
    counts. An element's neighbours that are kept lie beside it again: a row of a warp goes to one piece of memory."""

    def all_before(tile, lane, shown):
        """How many elements all tiles before this one keep; run by one warp."""
        found, last, is_done = int64(0), tile - 1, False
        while not is_done:
            i = max(last - lane, 0)   # below tile 0, which shows a prefix, nothing is taken
            word = int64(cuda.ldcv(shown, i))
            while word == 0:
                word = int64(cuda.ldcv(shown, i))
            ends = uint32(cuda.ballot_sync(ALL_LANES, word & 3 == PREFIX))
            is_done = ends != 0
            value = word >> 2 if not is_done or lane < cuda.ffs(ends) else int64(0)
            for mask in (16, 8, 4, 2, 1):
                value += cuda.shfl_xor_sync(ALL_LANES, value, mask)
            found += value
            last -= 32
        return found

    def select_tiles(size, sources, outs, count, shown):
        """shown: one word for each tile, and behind them the number of the next one; all 0."""
        thread = cuda.threadIdx.x
        lane, warp = thread & 31, thread >> 5
        number, of_warps = cuda.shared.array(1, int32), cuda.shared.array(WARPS, int32)
        before = cuda.shared.array(1, int64)
        if thread == 0:
            number[0] = cuda.atomic.add(shown, shown.size - 1, 1)
        cuda.syncthreads()
        tile = int64(number[0] & FIRST)
        first = tile * TILE + warp * (ROWS * 32) + lane
        flags = uint32(0)
        if (tile + 1) * TILE <= size:
            for k in range(ROWS):   # all are asked before lanes meet: reads of all rows are in flight
                flags |= uint32(1 << k) if wanted(sources, first + k * 32) else uint32(0)
        else:
            for k in range(ROWS):
                if first + k * 32 < size:
                    flags |= uint32(1 << k) if wanted(sources, first + k * 32) else uint32(0)
        rows = cuda.local.array(ROWS, uint32)
        kept = int32(0)
        for k in range(ROWS):
            rows[k] = cuda.ballot_sync(ALL_LANES, flags & uint32(1 << k) != 0)
            kept += cuda.popc(rows[k])
        if lane == 0:
            of_warps[warp] = kept
        cuda.syncthreads()
        total, place = int32(0), int64(0)
        for w in range(WARPS):
            if w < warp:
                place += of_warps[w]
            total += of_warps[w]
        if warp == 0:
            earlier = int64(0)
            if tile > 0:
                if lane == 0:
                    cuda.atomic.exch(shown, tile, 4 * int64(total) + AGGREGATE)
                earlier = all_before(tile, lane, shown)
            if lane == 0:
                before[0] = earlier
                cuda.atomic.exch(shown, tile, 4 * (earlier + total) + PREFIX)
                if (tile + 1) * TILE >= size:
                    count[0] = earlier + total
        cuda.syncthreads()
        place += before[0]
        lower = uint32(cuda.lanemask_lt())
        for k in range(ROWS):
            if flags & uint32(1 << k) != 0:
                keep(sources, outs, place + cuda.popc(rows[k] & lower), first + k * 32)
            place += cuda.popc(rows[k])

    return select_tiles
