"""Kernels of cuda.reduction: many ranges of elements at once, each folded in its order to one value.

`outputs` results each have `size` elements, which are cut into `parts` ranges. load(sources, o, r) is element r of
result o, store(targets, init, k, value) takes what range k % parts of result k // parts has. A factory makes the
kernels for one function and type; what it is given is constant for the compiler.
"""
import numpy as np

from cujit import cuda
from cujit._kernel_functions.algorithms.range_fold import hidden_zero, side_by_side
from cujit.types import int32

PACKETS = 8  # reads in flight of a lane
ROWS = 8  # reads in flight of a thread with several columns
STRIP = 128  # results that one thread folds side by side


# --- threads that do not meet -----------------------------------------------------------------------------------------

def by_threads(combine, load, store, by_column):
    """A thread for each range. by_column: threads next to each other have results next to each other."""

    of_range = side_by_side(combine, load, 2)

    def reduce_by_threads(outputs, size, parts, init, sources, targets):
        thread = cuda.grid(1)
        if thread < outputs * parts:
            o = thread % outputs if by_column else thread // parts
            part = thread // outputs if by_column else thread % parts
            value = of_range(sources, o, size * part // parts, size * (part + 1) // parts)
            store(targets, init, o * parts + part, value)

    return reduce_by_threads


def by_strips(combine, load, store, functions):
    """A thread for each range of STRIP results that lie together: it takes a row of them after another, so that one
    processor reads memory in its order."""
    put, get = functions.put, functions.get

    def reduce_by_strips(outputs, size, parts, init, sources, targets):
        thread, strips = cuda.grid(1), (outputs + STRIP - 1) // STRIP
        if thread < strips * parts:
            first, part = thread % strips * STRIP, thread // strips
            count = min(STRIP, outputs - first)
            start, stop = size * part // parts, size * (part + 1) // parts
            values = functions.local(STRIP)
            for k in range(count):
                put(values, k, load(sources, first + k, start))
            for r in range(start + 1, stop):
                for k in range(count):
                    put(values, k, combine(get(values, k), load(sources, first + k, r)))
            for k in range(count):
                store(targets, init, (first + k) * parts + part, get(values, k))

    return reduce_by_strips


def by_columns(combine, load_columns, store, functions, columns):
    """A thread for each range of `columns` neighbouring results, whose elements it reads at once. Neighbouring threads
    have neighbouring results."""
    put, get, local = functions.put, functions.get, functions.local

    def reduce_by_columns(outputs, size, parts, init, sources, targets):
        thread, groups = cuda.grid(1), outputs // columns
        if thread < groups * parts:
            o, part = thread % groups * columns, thread // groups
            r, last = size * part // parts, size * (part + 1) // parts
            values, items = local(columns), local(ROWS * columns)
            load_columns(sources, o, r, values, 0)
            r += 1
            while r + ROWS <= last:
                for j in range(ROWS):
                    load_columns(sources, o, r + j, items, j * columns)
                for j in range(ROWS):
                    for k in range(columns):
                        put(values, k, combine(get(values, k), get(items, j * columns + k)))
                r += ROWS
            while r < last:
                load_columns(sources, o, r, items, 0)
                for k in range(columns):
                    put(values, k, combine(get(values, k), get(items, k)))
                r += 1
            for k in range(columns):
                store(targets, init, (o + k) * parts + part, get(values, k))

    return reduce_by_columns


def by_columns_of_short(combine, load_columns, store, functions, columns, convert):
    """The same for sums of integers of 16 bits or less: those of ROWS rows are added in 32 bits."""
    put, get, local = functions.put, functions.get, functions.local

    def reduce_short_by_columns(outputs, size, parts, init, sources, targets):
        thread, groups = cuda.grid(1), outputs // columns
        if thread < groups * parts:
            o, part = thread % groups * columns, thread // groups
            r, last = size * part // parts, size * (part + 1) // parts
            values, items = local(columns), cuda.local.array(ROWS * columns, int32)
            load_columns(sources, o, r, items, 0)
            for k in range(columns):
                put(values, k, convert(items[k]))
            r += 1
            while r + ROWS <= last:
                for j in range(ROWS):
                    load_columns(sources, o, r + j, items, j * columns)
                for k in range(columns):
                    total = np.add(hidden_zero(), items[k])
                    for j in range(1, ROWS):
                        total = np.add(total, items[j * columns + k])
                    put(values, k, combine(get(values, k), convert(total)))
                r += ROWS
            while r < last:
                load_columns(sources, o, r, items, 0)
                for k in range(columns):
                    put(values, k, combine(get(values, k), convert(items[k])))
                r += 1
            for k in range(columns):
                store(targets, init, (o + k) * parts + part, get(values, k))

    return reduce_short_by_columns


def of_nothing(store_start):
    """Results of no elements."""

    def start_alone(outputs, init, targets):
        o = cuda.grid(1)
        if o < outputs:
            store_start(targets, init, o)

    return start_alone


# --- warps -----------------------------------------------------------------------------------------------------------

def of_warp_range(combine, load, load_packet, neighbour, width):
    """The fold of elements start to stop, of which there are some, in lane 0. start is a multiple of `width`.

    A row is a packet of `width` elements for each lane, a tile PACKETS rows. The rows of a tile are folded together:
    with each fold a lane hands half of its rows to its neighbour and gets the neighbour's part of the others.
    """
    row = 32 * width
    tile_size, half_size = PACKETS * row, PACKETS // 2 * row

    def fold(low, high, lane, mask):
        is_first = lane & mask == 0
        kept = low if is_first else high
        other = neighbour(high if is_first else low, mask)
        return combine(kept if is_first else other, other if is_first else kept)

    def meet(value, lane, mask):
        is_first = lane & mask == 0
        other = neighbour(value, mask)
        return combine(value if is_first else other, other if is_first else value)

    def of_row(sources, o, start, lane):
        value = load_packet(sources, o, start + lane * width)
        for mask in (1, 2, 4, 8, 16):
            value = meet(value, lane, mask)
        return value

    def of_tile(sources, o, start, lane):
        r = start + lane * width
        a, b = load_packet(sources, o, r), load_packet(sources, o, r + row)
        c, d = load_packet(sources, o, r + 2 * row), load_packet(sources, o, r + 3 * row)
        e, f = load_packet(sources, o, r + 4 * row), load_packet(sources, o, r + 5 * row)
        g, h = load_packet(sources, o, r + 6 * row), load_packet(sources, o, r + 7 * row)
        a, b, c, d = fold(a, e, lane, 1), fold(b, f, lane, 1), fold(c, g, lane, 1), fold(d, h, lane, 1)
        a, b = fold(a, c, lane, 2), fold(b, d, lane, 2)
        value = fold(a, b, lane, 4)
        for mask in (8, 16, 4, 2, 1):  # the other lanes of the row, then the rows
            value = meet(value, lane, mask)
        return value

    def of_half(sources, o, start, lane):
        """Half a tile."""
        r = start + lane * width
        a, b = load_packet(sources, o, r), load_packet(sources, o, r + row)
        c, d = load_packet(sources, o, r + 2 * row), load_packet(sources, o, r + 3 * row)
        value = fold(fold(a, c, lane, 1), fold(b, d, lane, 1), lane, 2)
        for mask in (4, 8, 16, 2, 1):
            value = meet(value, lane, mask)
        return value

    def of_rest(sources, o, start, stop, lane):
        """Less than a row: lanes take pieces of one length; the last ones may be idle."""
        each = (stop - start + 31) // 32
        lanes = (stop - start + each - 1) // each
        first = start + min(lane, lanes - 1) * each
        value = load(sources, o, first)
        for r in range(first + 1, min(first + each, stop)):
            value = combine(value, load(sources, o, r))
        for mask in (1, 2, 4, 8, 16):
            other = neighbour(value, mask)
            if lane & (2 * mask - 1) == 0 and lane + mask < lanes:
                value = combine(value, other)
        return value

    def of_range(sources, o, start, stop, lane):
        if start + row > stop:
            return of_rest(sources, o, start, stop, lane)
        if start + tile_size <= stop:
            value = of_tile(sources, o, start, lane)
            start += tile_size
            while start + tile_size <= stop:
                value = combine(value, of_tile(sources, o, start, lane))
                start += tile_size
        elif start + half_size <= stop:
            value = of_half(sources, o, start, lane)
            start += half_size
        else:
            value = of_row(sources, o, start, lane)
            start += row
        if start + half_size <= stop:
            value = combine(value, of_half(sources, o, start, lane))
            start += half_size
        while start + row <= stop:
            value = combine(value, of_row(sources, o, start, lane))
            start += row
        if start < stop:
            value = combine(value, of_rest(sources, o, start, stop, lane))
        return value

    return of_range, row


def by_warps(of_range, store):
    """A warp for each result, whose elements are one range."""

    def reduce_by_warps(outputs, size, init, sources, targets):
        o, lane = cuda.grid(1) >> 5, cuda.threadIdx.x & 31
        if o < outputs:
            value = of_range(sources, o, 0, size, lane)
            if lane == 0:
                store(targets, init, o, value)

    return reduce_by_warps


def by_blocks(combine, of_range, row, store, shared, put, get):
    """A block for each range of `part_size` elements, a multiple of `row`. There are no empty ranges."""

    def reduce_by_blocks(parts, size, part_size, init, sources, targets):
        o, part = cuda.blockIdx.x // parts, cuda.blockIdx.x % parts
        lane, warp, warps = cuda.threadIdx.x & 31, cuda.threadIdx.x >> 5, cuda.blockDim.x >> 5
        start, stop = part * part_size, min((part + 1) * part_size, size)
        each = (stop - start + warps * row - 1) // (warps * row) * row
        of_warps = shared(32)
        if start + warp * each < stop:
            value = of_range(sources, o, start + warp * each, min(start + (warp + 1) * each, stop), lane)
            if lane == 0:
                put(of_warps, warp, value)
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            value = get(of_warps, 0)
            for k in range(1, (stop - start + each - 1) // each):
                value = combine(value, get(of_warps, k))
            store(targets, init, cuda.blockIdx.x, value)

    return reduce_by_blocks
