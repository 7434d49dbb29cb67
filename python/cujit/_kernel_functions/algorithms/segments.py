"""Kernels of cuda.segmented_reduce: ranges of an array of any lengths, each folded in its order to one value.

The elements are cut into chunks of one length, so that no work depends on how long segments are: a thread or a warp
folds what its chunk has of each segment. What lies in one chunk is a result. Of others the chunk where they begin keeps
its piece in `behind` and the segment's number in `spans`, those after it keep theirs in `before`; a second kernel joins
them. load(sources, o, r) is element r (o is 0), store(targets, start, s, value) takes what segment s has, store_start
stands for one without elements.
"""
from cujit import cuda
from cujit._kernel_functions.algorithms.range_fold import side_by_side
from cujit.types import int64

ALL_LANES = 0xFFFFFFFF
OF_A_LANE = 32  # elements of a segment, at most, that a lane folds alone
ROWS = 8  # reads in flight of a lane
TILE = 32 * ROWS


def place(offsets, s, size):
    """Where segment s begins, inside of the array whatever the offsets say."""
    return min(max(int64(offsets[s]), 0), size)


def first_from(offsets, count, begin, size):
    """The first of `count` segments that begins at the element or behind it; `count` where none does."""
    low, high = int64(0), int64(count)
    while low < high:
        middle = (low + high) >> 1
        if place(offsets, middle, size) < begin:
            low = middle + 1
        else:
            high = middle
    return low


# --- threads that do not meet -----------------------------------------------------------------------------------------

def by_threads(combine, load, store, store_start, put):
    """A thread for each chunk."""

    fold = side_by_side(combine, load, 2)

    def fold_segments_by_threads(size, count, chunk, start, sources, offsets, targets, before, behind, spans):
        w = cuda.grid(1)
        begin = int64(w) * chunk
        if begin < size:
            end, spanning = min(begin + chunk, size), int64(-1)
            s = first_from(offsets, count, begin, size) if w > 0 else int64(0)
            first = place(offsets, s, size)
            if w > 0 and s > 0 and first > begin:
                put(before, w, fold(sources, 0, begin, min(first, end)))
            while s < count and (first < end or end == size):
                last = place(offsets, s + 1, size)
                if last > end:
                    put(behind, w, fold(sources, 0, first, end))
                    spanning = s
                elif last > first:
                    store(targets, start, s, fold(sources, 0, first, last))
                else:
                    store_start(targets, start, s)
                first = last
                s += 1
            spans[w] = spanning

    return fold_segments_by_threads


def join_by_threads(combine, store, get):
    """A thread for each chunk: the segment that begins in it and does not end there."""

    def join_segments_by_threads(size, chunk, chunks, start, offsets, targets, before, behind, spans):
        w = cuda.grid(1)
        if w < chunks and spans[w] >= 0:
            value = get(behind, w)
            for k in range(w + 1, (place(offsets, spans[w] + 1, size) - 1) // chunk + 1):
                value = combine(value, get(before, k))
            store(targets, start, spans[w], value)

    return join_segments_by_threads


# --- warps -----------------------------------------------------------------------------------------------------------

def of_warp(combine, load, neighbour):
    """fold(sources, first, last, lane): of elements first to last, of which there are some, in lane 0.

    A tile has ROWS rows of an element for each lane, which are read at once and folded together: with each step a lane
    hands half of its rows to its neighbour and gets the neighbour's part of the others, until it has one; `row` is its
    number. In the last tile what is behind the end is left out: of two parts it is always the second one that is not
    there.
    """

    def meet(low, high, lane, mask, there):
        is_first = lane & mask == 0
        kept = low if is_first else high
        other = neighbour(high if is_first else low, mask)
        first, second = kept if is_first else other, other if is_first else kept
        return combine(first, second) if there else first

    def of_tile(sources, first, count, lane):
        """count: elements of the tile that there are."""
        end = count - 1
        a, b = load(sources, 0, first + min(lane, end)), load(sources, 0, first + min(lane + 32, end))
        c, d = load(sources, 0, first + min(lane + 64, end)), load(sources, 0, first + min(lane + 96, end))
        e, f = load(sources, 0, first + min(lane + 128, end)), load(sources, 0, first + min(lane + 160, end))
        g, h = load(sources, 0, first + min(lane + 192, end)), load(sources, 0, first + min(lane + 224, end))
        row, second = (lane & 1) * 4, lane | 1   # the lane whose element begins the second part
        a, b = (meet(a, e, lane, 1, row * 32 + second < count), meet(b, f, lane, 1, row * 32 + 32 + second < count))
        c, d = (meet(c, g, lane, 1, row * 32 + 64 + second < count),
                meet(d, h, lane, 1, row * 32 + 96 + second < count))
        row, second = row + (lane & 2), lane & ~3 | 2
        a, b = meet(a, c, lane, 2, row * 32 + second < count), meet(b, d, lane, 2, row * 32 + 32 + second < count)
        row, second = row + (lane >> 2 & 1), lane & ~7 | 4
        value = meet(a, b, lane, 4, row * 32 + second < count)
        for mask in (8, 16):   # the other lanes of the row
            value = meet(value, value, lane, mask, row * 32 + (lane & ~(2 * mask - 1) | mask) < count)
        value = meet(value, value, lane, 4, (row | 1) * 32 < count)
        value = meet(value, value, lane, 2, (row & ~3 | 2) * 32 < count)
        return meet(value, value, lane, 1, count > 128)

    def fold(sources, first, last, lane):
        value = of_tile(sources, first, min(last - first, TILE), lane)
        for r in range(first + TILE, last, TILE):
            value = combine(value, of_tile(sources, r, min(last - r, TILE), lane))
        return value

    return fold


def by_warps(combine, load, store, store_start, functions):
    """A warp for each chunk, which takes 32 segments at a time: each lane folds one, if it is short there, and all
    lanes together those that are long."""
    put, of_lane = functions.put, functions.of_lane
    fold = of_warp(combine, load, functions.of_neighbour)

    def fold_segments_by_warps(size, count, chunk, start, sources, offsets, targets, before, behind, spans):
        w, lane = int64(cuda.grid(1) >> 5), cuda.threadIdx.x & 31
        begin = w * chunk
        if begin < size:
            end = min(begin + chunk, size)
            bound = first_from(offsets, count, begin if lane < 16 else end, size)
            low = cuda.shfl_sync(ALL_LANES, bound, 0) if w > 0 else int64(0)
            high = cuda.shfl_sync(ALL_LANES, bound, 16) if end < size else int64(count)
            for s in range(max(low - 1, 0), high, 32):
                mine = s + lane
                is_mine = mine < high
                came = place(offsets, mine, size) if is_mine else begin
                goes = place(offsets, mine + 1, size) if is_mine else begin
                first, last = max(came, begin), min(goes, end)
                value = load(sources, 0, min(first, size - 1))
                if last - first <= OF_A_LANE:
                    for r in range(first + 1, last):
                        value = combine(value, load(sources, 0, r))
                rest = cuda.ballot_sync(ALL_LANES, last - first > OF_A_LANE)
                while rest != 0:
                    k = cuda.ffs(rest) - 1
                    rest &= rest - 1
                    whole = fold(sources, cuda.shfl_sync(ALL_LANES, first, k), cuda.shfl_sync(ALL_LANES, last, k), lane)
                    whole = of_lane(whole, 0)
                    if lane == k:
                        value = whole
                if is_mine and mine < low:
                    if last > first:
                        put(before, w, value)
                elif is_mine and goes > end:
                    put(behind, w, value)
                elif is_mine and last > first:
                    store(targets, start, mine, value)
                elif is_mine:
                    store_start(targets, start, mine)
            if lane == 0:
                spans[w] = high - 1 if high > low and place(offsets, high, size) > end else -1

    return fold_segments_by_warps


def join_by_warps(combine, store, functions):
    """A warp for each chunk: the segment that begins in it and does not end there."""
    get = functions.get

    def piece(sources, o, k):
        return get(sources, k)

    fold = of_warp(combine, piece, functions.of_neighbour)

    def join_segments_by_warps(size, chunk, chunks, start, offsets, targets, before, behind, spans):
        w, lane = cuda.grid(1) >> 5, cuda.threadIdx.x & 31
        if w < chunks and spans[w] >= 0:
            last = (place(offsets, spans[w] + 1, size) - 1) // chunk
            value = combine(get(behind, w), fold(before, w + 1, last + 1, lane))
            if lane == 0:
                store(targets, start, spans[w], value)

    return join_segments_by_warps
