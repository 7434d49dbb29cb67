"""Kernels of cuda.scan: each element with all before it, in their order, for any associative function.

load(sources, o, r) is element r of row o, save(targets, o, r, value) stores there. combine is the function with its
result as the values' type; put, get, shared and of_lane... are those of cujit._algorithms.element_functions.
"""
from cujit import cuda
from cujit._kernel_functions.algorithms.axis_reduction import STRIP
from cujit.types import int32, int64, uint64

NOTHING, AGGREGATE, PREFIX = 0, 1, 2  # what a tile has shown: nothing yet, its own sum, that of all up to it
WARPS = 8  # of a block
ALL_LANES = 0xFFFFFFFF
HALF = uint64(32)  # of a word


# --- threads that do not meet: sums of parts, sums up to each part, elements -----------------------------------------

def of_parts(combine, put, get, from_leaves, has_start):
    """What each part has becomes what it has with all parts before it, and the start."""

    def scan_of_parts(rows, parts, start, partial):
        o = cuda.grid(1)
        if o < rows:
            value = get(partial, o * parts)
            if has_start:
                value = combine(from_leaves(start), value)
            put(partial, o * parts, value)
            for p in range(1, parts):
                value = combine(value, get(partial, o * parts + p))
                put(partial, o * parts + p, value)

    return scan_of_parts


def of_elements(combine, load, save, get, from_leaves, has_start, is_exclusive, has_parts, by_column):
    """A thread for each part of each row; `before` has what comes before the next part."""

    def scan_of_elements(rows, size, parts, start, sources, before, targets):
        thread = cuda.grid(1)
        if thread < rows * parts:
            o = thread % rows if by_column else thread // parts
            p = thread // rows if by_column else thread % parts
            first, last = size * p // parts, size * (p + 1) // parts
            if is_exclusive:
                value = from_leaves(start)
                if has_parts and p > 0:
                    value = get(before, o * parts + p - 1)
                for r in range(first, last):
                    item = load(sources, o, r)
                    save(targets, o, r, value)
                    value = combine(value, item)
            else:
                value = load(sources, o, first)
                if has_parts and p > 0:
                    value = combine(get(before, o * parts + p - 1), value)
                elif has_start:
                    value = combine(from_leaves(start), value)
                save(targets, o, first, value)
                for r in range(first + 1, last):
                    value = combine(value, load(sources, o, r))
                    save(targets, o, r, value)

    return scan_of_elements


def of_strips(combine, load, save, functions, has_start, is_exclusive):
    """A thread for each range of STRIP rows whose elements lie together, in the order of memory."""
    put, get, from_leaves = functions.put, functions.get, functions.from_leaves

    def scan_of_strips(rows, size, start, sources, targets):
        first = cuda.grid(1) * STRIP
        count = min(STRIP, rows - first)
        values = functions.local(STRIP)
        for k in range(count):
            item = load(sources, first + k, 0)
            if is_exclusive:
                save(targets, first + k, 0, from_leaves(start))
                item = combine(from_leaves(start), item)
            else:
                if has_start:
                    item = combine(from_leaves(start), item)
                save(targets, first + k, 0, item)
            put(values, k, item)
        for r in range(1, size):
            for k in range(count):
                item = load(sources, first + k, r)
                before = get(values, k)
                after = combine(before, item)
                save(targets, first + k, r, before if is_exclusive else after)
                put(values, k, after)

    return scan_of_strips


# --- blocks, in one pass over memory ---------------------------------------------------------------------------------

def clear(words):
    i = cuda.grid(1)
    if i < words.size:
        words[i] = 0


def of_tiles(combine, load, load_packet, save, save_packet, functions, width, rows, has_start, is_exclusive, leaf):
    """A block for each tile: WARPS ranges of `rows` rows, each a packet of `width` elements for each lane.

    Blocks take their tiles in the order in which they begin, so that those before have begun, too. Each shows what its
    tile has, looks back over those before until one shows what all up to it have, and shows the same of its own
    (Merrill and Garland, "Single-pass parallel prefix scan with decoupled look-back").

    leaf: the type of values of one leaf that fit into half a word: what is shown and the value are one word, and no
    fence comes between. None: values are in arrays of their own.
    """
    row = 32 * width
    of_a_warp = rows * row
    tile_size = WARPS * of_a_warp
    put, get, get_from_l2, from_leaves = functions.put, functions.get, functions.get_from_l2, functions.from_leaves
    shared, local = functions.shared, functions.local
    of_lane, of_lane_below = functions.of_lane, functions.of_lane_below

    def over_lanes(value, lane):
        for distance in (1, 2, 4, 8, 16):
            below = of_lane_below(value, distance)
            if lane >= distance:
                value = combine(below, value)
        return value

    def over_older_lanes(value, lane, count):
        """In lane 0: of lanes count - 1 to 0, one after another: higher lanes have earlier tiles."""
        for distance in (1, 2, 4, 8, 16):
            earlier = of_lane(value, (lane + distance) & 31)
            if lane + distance < count:
                value = combine(earlier, value)
        return value

    def show_word(tile, what, value, words, arrays):
        bits = cuda.local.array(1, uint64)
        bits[0] = uint64(0)
        put((bits.view(leaf),), 0, value)
        cuda.atomic.exch(words, tile, bits[0] | uint64(what) << HALF)

    def word_shown_by(i, words, aggregates, prefixes):
        bits = cuda.local.array(1, uint64)
        bits[0] = cuda.ldcv(words, i)
        while bits[0] >> HALF == uint64(NOTHING):
            bits[0] = cuda.ldcv(words, i)
        return int64(bits[0] >> HALF), get((bits.view(leaf),), 0)

    def show_in_array(tile, what, value, words, arrays):
        put(arrays, tile, value)
        cuda.threadfence()
        cuda.atomic.exch(words, tile, what)

    def shown_in_arrays_by(i, words, aggregates, prefixes):
        what = int64(cuda.ldcv(words, i))
        while what == NOTHING:
            what = int64(cuda.ldcv(words, i))
        cuda.threadfence()
        return what, get_from_l2(prefixes, i) if what == PREFIX else get_from_l2(aggregates, i)

    show, shown_by = (show_in_array, shown_in_arrays_by) if leaf is None else (show_word, word_shown_by)

    def window(last, lane, words, aggregates, prefixes):
        """(what tiles up to `last` have, in lane 0, as far back as one shows a prefix or 32 of them; whether one did).
        """
        i = max(last - lane, 0)   # below tile 0, which shows a prefix, nothing is taken
        what, value = shown_by(i, words, aggregates, prefixes)
        ends = cuda.ballot_sync(ALL_LANES, what == PREFIX)
        return over_older_lanes(value, lane, cuda.ffs(ends) if ends != 0 else 32), ends != 0

    def look_back(tile, lane, words, aggregates, prefixes):
        """What all tiles before this one have, in lane 0."""
        last = tile - 1
        value, is_done = window(last, lane, words, aggregates, prefixes)
        while not is_done:
            last -= 32
            earlier, is_done = window(last, lane, words, aggregates, prefixes)
            value = combine(earlier, value)
        return value

    def before_the_tile(tile, total, start, lane, words, aggregates, prefixes, of_before):
        """Run by one warp: shows what the tile has, and puts what is before it where the block finds it."""
        if tile > 0:
            if lane == 0:
                show(tile, AGGREGATE, total, words, aggregates)
            value = look_back(tile, lane, words, aggregates, prefixes)
            if lane == 0:
                put(of_before, 0, value)
                show(tile, PREFIX, combine(value, total), words, prefixes)
        elif lane == 0:
            if has_start:
                put(of_before, 0, from_leaves(start))
                total = combine(from_leaves(start), total)
            show(tile, PREFIX, total, words, prefixes)

    def load_tile(sources, size, first, is_whole, items):
        if is_whole:
            for j in range(rows):
                load_packet(sources, first + j * row, items, j * width)
        else:   # what is behind the end comes after all that is stored
            last = load(sources, 0, size - 1)
            for j in range(rows):
                for k in range(width):   # a load under a condition: LLVM would make one of the last one and a wide one
                    r = first + j * row + k
                    put(items, j * width + k, last)
                    if r < size:
                        put(items, j * width + k, load(sources, 0, r))

    def save_tile(targets, size, first, is_whole, items):
        if is_whole:
            for j in range(rows):
                save_packet(targets, first + j * row, items, j * width)
        else:
            for j in range(rows):
                for k in range(width):
                    r = first + j * row + k
                    if r < size:
                        save(targets, 0, r, get(items, j * width + k))

    def scan_rows(items, below, lane):
        """Packets become scans of their own; below[j]: what the warp has before this lane's packet of row j, but for
        the first of all. The result: what the warp has."""
        carry = get(items, 0)   # replaced by row 0
        for j in range(rows):
            for k in range(j * width + 1, (j + 1) * width):
                put(items, k, combine(get(items, k - 1), get(items, k)))
            value = over_lanes(get(items, (j + 1) * width - 1), lane)
            before, end = of_lane_below(value, 1), of_lane(value, 31)
            if j > 0:
                before = combine(carry, before) if lane > 0 else carry
                end = combine(carry, end)
            put(below, j, before)
            carry = end
        return carry

    def add(items, below, lane, has_before, before):
        """Items become what they have with all before them, or what is before them alone."""
        for j in range(rows):
            has_more, more = has_before, before
            if j > 0 or lane > 0:
                more = combine(before, get(below, j)) if has_before else get(below, j)
                has_more = True
            if is_exclusive:   # there is a start, thus always something before
                for k in range((j + 1) * width - 1, j * width, -1):
                    put(items, k, combine(more, get(items, k - 1)))
                put(items, j * width, more)
            elif has_more:
                for k in range(j * width, (j + 1) * width):
                    put(items, k, combine(more, get(items, k)))

    def scan_of_tiles(size, start, sources, targets, words, aggregates, prefixes):
        """words: one for each tile, and behind them the number of the next one; all 0, and of 64 bits with a leaf."""
        lane, warp = cuda.threadIdx.x & 31, cuda.threadIdx.x >> 5
        number = cuda.shared.array(1, int32)
        of_warps, of_before = shared(WARPS), shared(1)
        if cuda.threadIdx.x == 0:
            number[0] = cuda.atomic.add(words, words.size - 1, 1)
        cuda.syncthreads()
        tile = number[0]
        first = tile * tile_size + warp * of_a_warp + lane * width
        is_whole = (tile + 1) * tile_size <= size
        items, below = local(rows * width), local(rows)
        load_tile(sources, size, first, is_whole, items)
        carry = scan_rows(items, below, lane)
        if lane == 0:
            put(of_warps, warp, carry)
        cuda.syncthreads()
        total = get(of_warps, 0)
        has_before, before = warp > 0, total
        for w in range(1, WARPS):
            total = combine(total, get(of_warps, w))
            if w + 1 == warp:
                before = total
        if warp == 0:
            before_the_tile(tile, total, start, lane, words, aggregates, prefixes, of_before)
        cuda.syncthreads()
        if has_start or tile > 0:
            earlier = get(of_before, 0)
            before = combine(earlier, before) if has_before else earlier
            has_before = True
        add(items, below, lane, has_before, before)
        save_tile(targets, size, first, is_whole, items)

    return scan_of_tiles
