"""Kernels of cuda.sort and its kin: stable sorting by 8 bits after another, or by a function that compares.

Elements are columns: tuples of arrays of one axis, of unsigned integers, which are moved together. digit(columns, r,
shift) is what element r is sorted by in one pass, move(targets, place, columns, r) copies it. Each pass counts the
digits of chunks, a scan of these counts makes the places at which a chunk's elements of each digit begin, and the
chunks move their elements.
"""
from cujit import cuda
from cujit.types import int32, int64, uint64

DIGITS = 256
WARPS = 8  # of a block
ROWS = 16  # elements of a thread
TILE = WARPS * ROWS * 32
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


# --- blocks ----------------------------------------------------------------------------------------------------------

def count_by_blocks(digit):
    """A block for each chunk of TILE elements, of WARPS warps."""

    def count_digits(size, chunks, shift, columns, counts):
        found = cuda.shared.array(DIGITS, int32)
        thread, chunk = cuda.threadIdx.x, cuda.blockIdx.x
        found[thread] = 0
        cuda.syncthreads()
        for k in range(ROWS):
            r = chunk * TILE + k * WARPS * 32 + thread
            if r < size:
                cuda.atomic.add(found, digit(columns, r, shift), 1)
        cuda.syncthreads()
        counts[thread * chunks + chunk] = found[thread]

    return count_digits


def move_by_blocks(digit):
    """Each warp has ROWS rows of 32 neighbours; lanes of a row with the same digit find each other."""

    def move_elements(size, chunks, shift, columns, counts, targets):
        found = cuda.shared.array((WARPS, DIGITS), int32)
        thread, chunk = cuda.threadIdx.x, cuda.blockIdx.x
        lane, warp = thread & 31, thread >> 5
        for w in range(WARPS):
            found[w, thread] = 0
        cuda.syncthreads()
        ranks, digits = cuda.local.array(ROWS, int32), cuda.local.array(ROWS, int32)
        first = chunk * TILE + warp * ROWS * 32 + lane
        for k in range(ROWS):
            r = first + k * 32
            d = DIGITS   # behind the end: no digit has it
            if r < size:
                d = digit(columns, r, shift)
            same = cuda.match_any_sync(ALL_LANES, d)
            below = cuda.popc(same & cuda.lanemask_lt())
            before = 0
            if d < DIGITS:
                before = found[warp, d]
            cuda.syncwarp()
            if below == 0 and d < DIGITS:
                found[warp, d] = before + cuda.popc(same)
            cuda.syncwarp()
            ranks[k], digits[k] = before + below, d
        cuda.syncthreads()
        before = 0
        for w in range(WARPS):   # each thread has a digit: what warps before have of it
            own = found[w, thread]
            found[w, thread] = before
            before += own
        cuda.syncthreads()
        for k in range(ROWS):
            d = digits[k]
            if d < DIGITS:
                place = counts[d * chunks + chunk] + found[warp, d] + ranks[k]
                move(targets, place, columns, first + k * 32)

    return move_elements


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
