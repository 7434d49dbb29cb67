"""Kernels of cuda.sort and its kin: stable sorting by 8 bits after another, or by a function that compares.

Elements are columns: tuples of arrays of one axis, of unsigned integers, which are moved together. digit(columns, r,
shift) is what element r is sorted by in one pass, move(targets, place, columns, r) copies it. Each pass counts the
digits of chunks, a scan of these counts makes the places at which a chunk's elements of each digit begin, and the
chunks move their elements. Blocks count for all passes at once, and learn from each other where their elements begin.
"""
from cujit import cuda
from cujit._kernel_functions.algorithms.scan import AGGREGATE, PREFIX
from cujit.types import int32, int64, uint8, uint32, uint64

DIGITS = 256
WARPS = 8  # of a block
ROWS = 16  # elements of a thread
TILE = WARPS * ROWS * 32
RANK_BITS = 16
ALL_LANES = 0xFFFFFFFF
RUN = 16  # indices that a thread sorts alone


def digit_of(column, bits, kind, is_descending):
    """kind: "u", "i", "f" or "M" of the numbers whose bits the column has. NaN and NaT come last in either order. "c":
    which parts of a complex number, in this column and the next one, are NaN."""
    sign, every = 1 << (bits - 1), (1 << bits) - 1
    infinity = {16: 0x7C00, 32: 0x7F800000, 64: 0x7FF0000000000000}.get(bits, 0)

    def in_order(v):
        if kind == "u":
            return v
        if kind == "f":
            if v == uint64(sign):   # -0.0 is 0.0
                return uint64(sign)
            if v & uint64(sign) != uint64(0):
                return v ^ uint64(every)
        return v ^ uint64(sign)

    def is_none(v):
        if kind == "f":
            return is_nan(v)
        return kind == "M" and v == uint64(sign)

    def is_nan(v):
        return uint64(v) & uint64(every >> 1) > uint64(infinity)

    def parts_without_value(columns, r, shift):
        return (1 if is_nan(columns[column + 1][r]) else 0) + (2 if is_nan(columns[column][r]) else 0)

    def digit(columns, r, shift):
        v = uint64(columns[column][r])
        key = in_order(v)
        if is_descending:
            key = key ^ uint64(every)
        if is_none(v):
            key = uint64(every)
        return int64((key >> uint64(shift)) & uint64(DIGITS - 1))

    return parts_without_value if kind == "c" else digit


def move(targets, place, columns, r):
    for target, column in zip(targets, columns):
        target[place] = column[r]


# --- threads that do not meet ----------------------------------------------------------------------------------------

def count_by_threads(digit):
    def count_digits(size, chunks, shift, columns, counts):
        chunk = cuda.grid(1)
        if chunk < chunks:
            found = cuda.local.array(DIGITS, int64)
            for d in range(DIGITS):
                found[d] = 0
            for r in range(size * chunk // chunks, size * (chunk + 1) // chunks):
                found[digit(columns, r, shift)] += 1
            for d in range(DIGITS):
                counts[d * chunks + chunk] = found[d]

    return count_digits


def move_by_threads(digit):
    def move_elements(size, chunks, shift, columns, counts, targets):
        chunk = cuda.grid(1)
        if chunk < chunks:
            places = cuda.local.array(DIGITS, int64)
            for d in range(DIGITS):
                places[d] = counts[d * chunks + chunk]
            for r in range(size * chunk // chunks, size * (chunk + 1) // chunks):
                d = digit(columns, r, shift)
                place = places[d]
                places[d] = place + 1
                move(targets, place, columns, r)

    return move_elements


# --- blocks, in one pass over memory for each digit ------------------------------------------------------------------

def count_by_blocks(digit, shifts):
    """How often each digit comes, for all passes of one kind of key at once: counts[row + k] are those of shifts[k]."""

    def count_digits(size, row, columns, counts):
        found = cuda.shared.array((len(shifts), DIGITS), int32)
        thread = cuda.threadIdx.x
        for k in range(len(shifts)):
            found[k, thread] = 0
        cuda.syncthreads()
        for r in range(cuda.grid(1), size, cuda.gridsize(1)):
            for k, shift in enumerate(shifts):
                cuda.atomic.add(found, (k, digit(columns, r, shift)), 1)
        cuda.syncthreads()
        for k in range(len(shifts)):
            cuda.atomic.add(counts, (row + k, thread), found[k, thread])

    return count_digits


def move_by_blocks(digit, stage_type):
    """A block for each tile of TILE elements. stage_type: an unsigned integer as wide as the widest column.

    Lanes of a row with the same digit find each other, thus each element its rank among those of its digit in the
    tile. A thread for each digit shows how many the tile has of it, and looks back over the tiles before until one
    shows how many all up to it have (Adinets and Merrill, "Onesweep"). A word of `shown` is four times the number and
    what it counts, so that one load has both. The elements are put in order in shared memory, from where neighbours
    go to neighbouring places.
    """

    def look_back(shown, tile, thread):
        """How many elements of the thread's digit are in all tiles before."""
        found, i = 0, (tile - 1) * DIGITS + thread
        what = AGGREGATE
        while what != PREFIX and i >= 0:
            word = cuda.ldcv(shown, i)
            while word == 0:
                word = cuda.ldcv(shown, i)
            what = word & 3
            found += word >> 2
            i -= DIGITS
        return found

    def sum_of_lower_digits(value, thread, of_warps):
        """The sum of what the threads before have: one value for each digit."""
        lane, warp = thread & 31, thread >> 5
        total = int32(value)
        for distance in (1, 2, 4, 8, 16):
            below = cuda.shfl_up_sync(ALL_LANES, total, distance)
            if lane >= distance:
                total += below
        if lane == 31:
            of_warps[warp] = total
        cuda.syncthreads()
        before = 0
        for w in range(WARPS):
            if w < warp:
                before += of_warps[w]
        return before + total - int32(value)

    def lanes_with(d, is_there):
        same = uint32(cuda.ballot_sync(ALL_LANES, is_there))
        for bit in range(8):
            is_set = (d >> bit) & 1 != 0
            ones = uint32(cuda.ballot_sync(ALL_LANES, is_set))
            same &= ones if is_set else ~ones
        return same

    def move_elements(size, shift, row, columns, starts, shown, targets):
        """starts[row, d]: the first place of digit d. shown: one word for each tile and digit, and behind them the
        number of the next tile; all 0."""
        found = cuda.shared.array((WARPS, DIGITS), int32)
        firsts = cuda.shared.array(DIGITS, int64)
        digits = cuda.shared.array(TILE, uint8)
        staged = cuda.shared.array(TILE, stage_type)
        of_warps, number = cuda.shared.array(WARPS, int32), cuda.shared.array(1, int64)
        thread = cuda.threadIdx.x
        lane, warp = thread & 31, thread >> 5
        if thread == 0:
            number[0] = cuda.atomic.add(shown, shown.size - 1, 1)
        for w in range(WARPS):
            found[w, thread] = 0
        cuda.syncthreads()
        tile = number[0]
        count = min(TILE, size - tile * TILE)
        first = tile * TILE + warp * ROWS * 32 + lane
        places = cuda.local.array(ROWS, int32)   # until all are known, a rank, and above RANK_BITS a digit
        for k in range(ROWS):
            r = first + k * 32
            is_there = r < size
            d = int32(digit(columns, r if is_there else 0, shift))
            same = lanes_with(d, is_there)
            below = cuda.popc(same & uint32(cuda.lanemask_lt()))
            before = found[warp, d]
            cuda.syncwarp()
            if is_there and below == 0:
                found[warp, d] = before + cuda.popc(same)
            cuda.syncwarp()
            places[k] = before + below | d << RANK_BITS
        cuda.syncthreads()
        total = 0
        for w in range(WARPS):   # each thread has a digit from here on
            total += found[w, thread]
        cuda.atomic.exch(shown, tile * DIGITS + thread, 4 * total + (PREFIX if tile == 0 else AGGREGATE))
        local = sum_of_lower_digits(total, thread, of_warps)
        before = local
        for w in range(WARPS):
            own = found[w, thread]
            found[w, thread] = before
            before += own
        earlier = 0
        if tile > 0:
            earlier = look_back(shown, tile, thread)
            cuda.atomic.exch(shown, tile * DIGITS + thread, 4 * (earlier + total) + PREFIX)
        firsts[thread] = starts[row, thread] + earlier - local
        cuda.syncthreads()
        for k in range(ROWS):
            if first + k * 32 < size:
                d = places[k] >> RANK_BITS
                place = found[warp, d] + (places[k] & (1 << RANK_BITS) - 1)
                places[k] = place
                digits[place] = d
        for target, column in zip(targets, columns):
            for k in range(ROWS):
                if first + k * 32 < size:
                    staged[places[k]] = column[first + k * 32]
            cuda.syncthreads()
            for k in range(ROWS):
                i = k * WARPS * 32 + thread
                if i < count:
                    target[firsts[digits[i]] + i] = staged[i]
            cuda.syncthreads()

    return move_elements


# --- the first ones of an order ---------------------------------------------------------------------------------------

def prefix_of(digit, bits):
    """The digits of an element above a shift, as one number."""

    def prefix(columns, r, shift):
        value = int64(0)
        for step in range(bits // 8):
            at = bits - 8 - 8 * step
            if at >= shift:
                value = value * DIGITS + digit(columns, r, at)
        return value

    return prefix


def count_with_prefix(digit, bits):
    """counts[d]: of elements with the prefix above shift + 8 how many have digit d. Blocks of DIGITS threads."""
    prefix_at = prefix_of(digit, bits)

    def count_digits_with_prefix(size, prefix, shift, columns, counts):
        found = cuda.shared.array(DIGITS, int32)
        thread = cuda.threadIdx.x
        found[thread] = 0
        cuda.syncthreads()
        for r in range(cuda.grid(1), size, cuda.gridsize(1)):
            if shift + 8 >= bits or prefix_at(columns, r, shift + 8) == prefix:
                cuda.atomic.add(found, digit(columns, r, shift), 1)
        cuda.syncthreads()
        if found[thread] > 0:
            cuda.atomic.add(counts, thread, int64(found[thread]))

    return count_digits_with_prefix


def take_up_to(digit, bits):
    """Elements that do not come after those with the prefix above the shift, and their places, in any order. count[0],
    0 before, becomes their number."""
    prefix_at = prefix_of(digit, bits)

    def take_candidates(size, prefix, shift, columns, targets, places, count):
        for r in range(cuda.grid(1), size, cuda.gridsize(1)):
            if prefix_at(columns, r, shift) <= prefix:
                k = cuda.atomic.add(count, 0, 1)
                move(targets, k, columns, r)
                places[k] = r

    return take_candidates


# --- by comparing ----------------------------------------------------------------------------------------------------

def sort_runs(less):
    """indices: 0, 1, 2, ...; runs of RUN of them become sorted."""

    def sort_each_run(size, sources, indices):
        first = cuda.grid(1) * RUN
        last = min(first + RUN, size)
        for k in range(first, last):
            item = int64(k)
            place = k
            while place > first and less(sources, item, indices[place - 1]):
                indices[place] = indices[place - 1]
                place -= 1
            indices[place] = item

    return sort_each_run


def merge_runs(less):
    """Pairs of sorted runs of `run` indices become one. Each thread makes `each` of the result's places."""

    def taken_of_first(sources, indices, first, middle, last, count):
        """How many of the first `count` of both are of indices[first:middle]; of equals these come before."""
        low, high = max(0, count - (last - middle)), min(count, middle - first)
        while low < high:
            k = (low + high) // 2
            if less(sources, indices[middle + count - k - 1], indices[first + k]):
                high = k
            else:
                low = k + 1
        return low

    def merge(size, run, each, sources, indices, merged):
        place = cuda.grid(1) * each
        stop = min(place + each, size)
        while place < stop:
            first = place // (2 * run) * (2 * run)
            middle, last = min(first + run, size), min(first + 2 * run, size)
            i = first + taken_of_first(sources, indices, first, middle, last, place - first)
            j = middle + place - i
            end = min(last, stop)
            while place < end:
                if i < middle and not (j < last and less(sources, indices[j], indices[i])):
                    merged[place] = indices[i]
                    i += 1
                else:
                    merged[place] = indices[j]
                    j += 1
                place += 1

    return merge
