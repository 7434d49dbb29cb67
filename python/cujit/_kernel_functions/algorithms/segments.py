"""Kernels of cuda.segmented_reduce: ranges of an array of any lengths, each folded in its order to one value.

The elements are cut into chunks of one length, so that no work depends on how long segments are: a thread or a warp
folds what its chunk has of each segment. What lies in one chunk is a result. Of others the chunk where they begin keeps
its piece in `behind` and the segment's number in `spans`, those after it keep theirs in `before`; a second kernel joins
them. load(sources, o, r) is element r (o is 0), store(targets, start, s, value) takes what segment s has, store_start
stands for one without elements.
"""
from cujit import cuda
from cujit._kernel_functions.algorithms.range_fold import side_by_side
from cujit.types import int32, int64

ALL_LANES = 0xFFFFFFFF
# elements of a segment, at most, that a lane folds alone; that each of many lanes does
OF_A_LANE, OF_MANY_LANES, MANY_LANES = 32, 256, 8
ROWS = 8  # reads in flight of a lane


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

def of_warp(combine, load, packet, part, neighbour, width):
    """(fold, fold_by_groups). fold(sources, first, last, size, lane): of elements first to last, of which there are
    some, in lane 0. fold_by_groups: the same of one range for each 8 lanes, of more elements than a packet and less
    than a row, in all of them; a range may also be empty.

    A row has a packet of `width` elements for each lane, a tile ROWS rows, which are read at once and folded together:
    with each step a lane hands half of its rows to its neighbour and gets the neighbour's part of the others, until it
    has one; `row` is its number. Packets begin at multiples of `width`, the tile of the first one at `base`:
    part(sources, base, offset, front, end, final) is what the packet at the offset has of elements from front to end,
    both counted from base, of which there are some in the first packet; final is the last packet of the array that is
    whole, which is read in place of what is behind it. Behind the last packet there are none: of two parts it is
    always the second one that is not there.
    """
    of_a_row, of_a_tile = 32 * width, 32 * width * ROWS

    def meet(low, high, lane, mask, second_at, count):
        """second_at: the number of the packet with which the second part begins."""
        is_first = lane & mask == 0
        kept = low if is_first else high
        other = neighbour(high if is_first else low, mask)
        first, second = kept if is_first else other, other if is_first else kept
        return combine(first, second) if int32(second_at) < count else first

    def of_lanes(value, lane, mask, count):
        """A step within one row; count: packets that it has."""
        return meet(value, value, lane, mask, lane & ~(2 * mask - 1) | mask, count)

    def of_row(sources, base, front, end, final, lane):
        """A tile that has no more than one row."""
        count = int32((end + (width - 1)) // width)
        value = part(sources, base, lane * width, front, end, final)
        for mask in (1, 2, 4, 8, 16):
            value = of_lanes(value, lane, mask, count)
        return value

    def of_eight(a, b, c, d, e, f, g, h, lane, count):
        """count: packets that the tile has."""
        row = (lane & 1) * 4
        at = row * 32 + (lane | 1)   # the number of the packet that begins the second part
        a, b = meet(a, e, lane, 1, at, count), meet(b, f, lane, 1, at + 32, count)
        c, d = meet(c, g, lane, 1, at + 64, count), meet(d, h, lane, 1, at + 96, count)
        row += lane & 2
        at = row * 32 + (lane & ~3 | 2)
        a, b = meet(a, c, lane, 2, at, count), meet(b, d, lane, 2, at + 32, count)
        row += lane >> 2 & 1
        value = meet(a, b, lane, 4, row * 32 + (lane & ~7 | 4), count)
        for mask in (8, 16):   # the other lanes of the row
            value = of_lanes(value, lane, mask, int32(count - row * 32))
        value = meet(value, value, lane, 4, (row | 1) * 32, count)
        value = meet(value, value, lane, 2, (row & ~3 | 2) * 32, count)
        return meet(value, value, lane, 1, 128, count)

    def of_part_tile(sources, base, front, end, final, lane):
        at = lane * width
        a, b = part(sources, base, at, front, end, final), part(sources, base, at + of_a_row, front, end, final)
        c, d = (part(sources, base, at + 2 * of_a_row, front, end, final),
                part(sources, base, at + 3 * of_a_row, front, end, final))
        e, f = (part(sources, base, at + 4 * of_a_row, front, end, final),
                part(sources, base, at + 5 * of_a_row, front, end, final))
        g, h = (part(sources, base, at + 6 * of_a_row, front, end, final),
                part(sources, base, at + 7 * of_a_row, front, end, final))
        return of_eight(a, b, c, d, e, f, g, h, lane, int32((min(end, of_a_tile) + (width - 1)) // width))

    def of_tile(sources, base, lane):
        r = base + lane * width
        a, b = packet(sources, 0, r), packet(sources, 0, r + of_a_row)
        c, d = packet(sources, 0, r + 2 * of_a_row), packet(sources, 0, r + 3 * of_a_row)
        e, f = packet(sources, 0, r + 4 * of_a_row), packet(sources, 0, r + 5 * of_a_row)
        g, h = packet(sources, 0, r + 6 * of_a_row), packet(sources, 0, r + 7 * of_a_row)
        return of_eight(a, b, c, d, e, f, g, h, lane, int32(32 * ROWS))

    def of_packets(sources, first, last, final, lane):
        base = first - first % width
        front, end = int32(first - base), int32(min(last - base, of_a_tile))
        if last - base <= of_a_row:
            return of_row(sources, base, front, end, final, lane)
        value = of_part_tile(sources, base, front, end, final, lane)
        base += of_a_tile
        while base + of_a_tile <= last:
            value = combine(value, of_tile(sources, base, lane))
            base += of_a_tile
        if base < last:
            end = int32(last - base)
            rest = (of_row(sources, base, int32(0), end, final, lane) if end <= of_a_row else
                    of_part_tile(sources, base, int32(0), end, final, lane))
            value = combine(value, rest)
        return value

    def fold_by_groups(sources, first, last, size, lane):
        """Four rows of 8 packets."""
        whole = size - size % width
        base, at = first - first % width, (lane & 7) * width
        front, end, final = int32(first - base), int32(min(last, whole) - base), whole - width
        a, b = (part(sources, base, at, front, end, final), part(sources, base, at + 8 * width, front, end, final))
        c, d = (part(sources, base, at + 16 * width, front, end, final),
                part(sources, base, at + 24 * width, front, end, final))
        count, row = int32((end + (width - 1)) // width), (lane & 1) * 2
        second = row * 8 + (lane & 7 | 1)
        a, b = meet(a, c, lane, 1, second, count), meet(b, d, lane, 1, second + 8, count)
        row += lane >> 1 & 1
        value = meet(a, b, lane, 2, row * 8 + (lane & 4 | 2), count)
        value = meet(value, value, lane, 4, row * 8 + 4, count)
        value = meet(value, value, lane, 2, (row | 1) * 8, count)
        value = meet(value, value, lane, 1, 16, count)
        for r in range(whole, last):
            value = combine(value, load(sources, 0, r))
        return value

    def fold(sources, first, last, size, lane):
        whole = size - size % width   # what is in whole packets
        if first >= whole:
            value = load(sources, 0, first)
            first += 1
        else:
            value = of_packets(sources, first, min(last, whole), whole - width, lane)
            first = whole
        for r in range(first, last):
            value = combine(value, load(sources, 0, r))
        return value

    return fold, fold_by_groups


def by_warps(combine, load, packet, part, store, store_start, functions, width):
    """A warp for each chunk, which takes 32 segments at a time: each lane folds one, if it is short there or many lanes
    have one that is not long, groups of 8 lanes those of up to a row, and all lanes together those that are long."""
    put, of_lane = functions.put, functions.of_lane
    fold, fold_by_groups = of_warp(combine, load, packet, part, functions.of_neighbour, width)
    of_a_group = 31 * width   # elements, at most: they may begin inside of a packet

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
                middling = cuda.ballot_sync(ALL_LANES, OF_A_LANE < last - first <= OF_MANY_LANES)
                alone = OF_MANY_LANES if cuda.popc(middling) >= MANY_LANES else OF_A_LANE
                if last - first <= alone:
                    for r in range(first + 1, last):
                        value = combine(value, load(sources, 0, r))
                groups = cuda.ballot_sync(ALL_LANES, alone < last - first <= of_a_group)
                while groups != 0:
                    own, place_in = groups, cuda.popc(groups & ((1 << lane) - 1))
                    for _ in range(lane >> 3):
                        own &= own - 1
                    k = max(cuda.ffs(own) - 1, 0)
                    folded = fold_by_groups(sources, cuda.shfl_sync(ALL_LANES, first, k),
                                            cuda.shfl_sync(ALL_LANES, last, k), size, lane)
                    folded = of_lane(folded, (place_in & 3) * 8)
                    if groups >> lane & 1 and place_in < 4:
                        value = folded
                    for _ in range(4):
                        groups &= groups - 1
                rest = cuda.ballot_sync(ALL_LANES, last - first > max(alone, of_a_group))
                while rest != 0:
                    k = cuda.ffs(rest) - 1
                    rest &= rest - 1
                    whole = fold(sources, cuda.shfl_sync(ALL_LANES, first, k), cuda.shfl_sync(ALL_LANES, last, k),
                                 size, lane)
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

    def part(sources, base, offset, front, end, final):
        return get(sources, min(base + offset, final))

    fold, _ = of_warp(combine, piece, piece, part, functions.of_neighbour, 1)

    def join_segments_by_warps(size, chunk, chunks, start, offsets, targets, before, behind, spans):
        w, lane = cuda.grid(1) >> 5, cuda.threadIdx.x & 31
        if w < chunks and spans[w] >= 0:
            last = (place(offsets, spans[w] + 1, size) - 1) // chunk
            value = combine(get(behind, w), fold(before, w + 1, last + 1, chunks, lane))
            if lane == 0:
                store(targets, start, spans[w], value)

    return join_segments_by_warps
