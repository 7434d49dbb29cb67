"""Kernels of cuda.sort and its kin: stable sorting by 8 bits after another, or by a function that compares.

Elements are columns: tuples of arrays of one axis, of unsigned integers, which are moved together. digit(columns, r,
shift) is what element r is sorted by in one pass, move(targets, place, columns, r) copies it. Each pass counts the
digits of chunks, a scan of these counts makes the places at which a chunk's elements of each digit begin, and the
chunks move their elements. Blocks count for all passes at once, and learn from each other where their elements begin.
"""
from cujit import cuda
from cujit._kernel_functions.algorithms.scan import AGGREGATE, PREFIX
from cujit.types import int32, int64, uint32, uint64

DIGITS = 256
WARPS = 8  # of a block
RANK_BITS = 16
ALL_LANES = 0xFFFFFFFF
FIRST = 0x7FFFFFFF  # bits of a tile's number: that it is not negative is known by them
RUN = 16  # indices that a thread sorts alone


def rows_of(widest):
    """Elements of a thread, whose widest column has so many bytes: as many as shared memory holds of a block."""
    return 128 // max(widest, 4)


def tile_of(widest):
    return WARPS * 32 * rows_of(widest)


def word_of(column, bits, kind):
    """word(columns, r): what element r is sorted by. kind: "u", "i", "f" or "M" of the numbers whose bits the column
    has, "c": which parts of a complex number, in this column and the next one, are NaN."""
    every, infinity = (1 << bits) - 1, _infinity(bits)

    def is_nan(v):
        return uint64(v) & uint64(every >> 1) > uint64(infinity)

    def parts_without_value(columns, r):
        return (uint32(1) if is_nan(columns[column + 1][r]) else uint32(0)) | (
            uint32(2) if is_nan(columns[column][r]) else uint32(0))

    def word(columns, r):
        return columns[column][r]

    return parts_without_value if kind == "c" else word


def digit_of_word(bits, kind, is_descending):
    """digit(word, shift) of such a word. NaN and NaT come last in either order; -0.0 is 0.0."""
    if kind == "c":
        bits, kind, is_descending = 8, "u", False
    sign, every = 1 << (bits - 1), (1 << bits) - 1
    twice_infinity = 2 * _infinity(bits)
    number = uint64 if bits > 32 else uint32

    def digit(word, shift):
        """Without branches, so that reads of many elements are in flight."""
        v = number(word)
        magnitude = number(v << number(1)) & number(every)   # where it is a float
        key = v
        if kind != "u":
            key = v ^ number(sign)
        if kind == "f":
            key = v ^ number(every) if v & number(sign) != number(0) else key
            key = number(sign) if magnitude == number(0) else key
        if is_descending:
            key = key ^ number(every)
        if kind == "f":
            key = number(every) if magnitude > number(twice_infinity) else key
        if kind == "M":
            key = number(every) if v == number(sign) else key
        return uint32(number(key >> number(shift)) & number(DIGITS - 1))

    return digit


def _infinity(bits):
    return {16: 0x7C00, 32: 0x7F800000, 64: 0x7FF0000000000000}.get(bits, 0)


def digit_of(column, bits, kind, is_descending):
    """digit(columns, r, shift) of element r."""
    word, of_word = word_of(column, bits, kind), digit_of_word(bits, kind, is_descending)

    def digit(columns, r, shift):
        return int64(of_word(word(columns, r), shift))

    return digit


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

def count_by_blocks(word, digit, column, shifts, width):
    """How often each digit comes, for all passes of one kind of key at once: counts[row + k] are those of shifts[k].
    width: how many words of the column a thread reads at once; with 1 it asks word()."""

    def count_digits(size, row, columns, counts):
        found = cuda.shared.array((len(shifts), DIGITS), int32)
        thread = cuda.threadIdx.x
        for k in range(len(shifts)):
            found[k, thread] = 0
        cuda.syncthreads()
        for p in range(cuda.grid(1), size // width, cuda.gridsize(1)):
            if width == 1:
                for k, shift in enumerate(shifts):
                    cuda.atomic.add(found, (k, digit(word(columns, p), shift)), 1)
            else:
                for one in cuda.wide.load(columns[column], p * width, width):
                    for k, shift in enumerate(shifts):
                        cuda.atomic.add(found, (k, digit(one, shift)), 1)
        r = size // width * width + cuda.grid(1)
        if r < size:
            for k, shift in enumerate(shifts):
                cuda.atomic.add(found, (k, digit(word(columns, r), shift)), 1)
        cuda.syncthreads()
        for k in range(len(shifts)):
            cuda.atomic.add(counts, (row + k, thread), found[k, thread])

    return count_digits


def move_by_blocks(word, digit, word_type, stage_type, place_type, rows):
    """A block for each tile of WARPS * 32 * rows elements. stage_type: an unsigned integer as wide as the widest
    column; place_type: an unsigned integer that holds four times the number of elements.

    Lanes of a row with the same digit find each other, thus each element its rank among those of its digit in the
    tile. A thread for each digit shows how many the tile has of it, and looks back over the tiles before until one
    shows how many all up to it have (Adinets and Merrill, "Onesweep"). A word of `shown` is four times the number and
    what it counts, so that one load has both. The elements are put in order in shared memory, from where neighbours
    go to neighbouring places.

    Words are read before lanes meet, and all lanes meet before ranks are counted in shared memory: what waits for one
    another would else be as long a chain as there are rows. What is behind the end has the last digit, thus no place
    among the others.
    """
    threads = WARPS * 32
    tile_size = threads * rows

    def look_back(shown, tile, thread):
        """How many elements of the thread's digit are in all tiles before."""
        found, i = place_type(0), (tile - 1) * DIGITS + thread
        what = AGGREGATE
        while what != PREFIX and i >= 0:
            seen = cuda.ldcv(shown, i)
            while seen == 0:
                seen = cuda.ldcv(shown, i)
            what = int32(seen & 3)
            found += place_type(seen >> 2)
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
        before = int32(0)
        for w in range(WARPS):
            if w < warp:
                before += of_warps[w]
        return before + total - int32(value)

    def lanes_with(d):
        same = uint32(ALL_LANES)
        for bit in range(8):
            is_set = d & uint32(1 << bit) != uint32(0)
            ones = uint32(cuda.ballot_sync(ALL_LANES, is_set))
            same &= ones if is_set else ~ones
        return same

    def move_elements(size, shift, row, columns, starts, shown, key_targets, others, targets):
        """starts[row, d]: the first place of digit d. shown: one word for each tile and digit, and behind them the
        number of the next tile; all 0. key_targets: where the words go, if they are a column; others and targets: the
        other columns, and where they go."""
        found = cuda.shared.array((WARPS, DIGITS), int32)
        firsts = cuda.shared.array(DIGITS, place_type)
        staged = cuda.shared.array(tile_size, stage_type)
        of_warps, number = cuda.shared.array(WARPS, int32), cuda.shared.array(1, int32)
        thread = cuda.threadIdx.x
        lane, warp = thread & 31, thread >> 5
        if thread == 0:
            number[0] = cuda.atomic.add(shown, shown.size - 1, 1)
        for w in range(WARPS):
            found[w, thread] = 0
        cuda.syncthreads()
        tile = int64(number[0] & FIRST)
        count = min(tile_size, size - tile * tile_size)
        first = tile * tile_size + warp * (rows * 32) + lane
        words = cuda.local.array(rows, word_type)
        places = cuda.local.array(rows, uint32)   # until all are known, a rank, and above RANK_BITS a digit
        if count == tile_size:
            for k in range(rows):
                words[k] = word(columns, first + k * 32)
            for k in range(rows):
                places[k] = digit(words[k], shift)
        else:
            for k in range(rows):
                words[k] = word_type(0)
                places[k] = uint32(DIGITS - 1)
                if first + k * 32 < size:
                    words[k] = word(columns, first + k * 32)
                    places[k] = digit(words[k], shift)
        lower = uint32(cuda.lanemask_lt())
        lanes = cuda.local.array(rows, uint32)
        for k in range(rows):
            lanes[k] = lanes_with(places[k])
        for k in range(rows):
            d = places[k]
            below = uint32(cuda.popc(lanes[k] & lower))
            before = found[warp, d]
            cuda.syncwarp()
            if below == uint32(0):
                found[warp, d] = before + int32(cuda.popc(lanes[k]))
            cuda.syncwarp()
            places[k] = uint32(before) + below | d << uint32(RANK_BITS)
        cuda.syncthreads()
        total = int32(0)   # each thread has a digit from here on
        for w in range(WARPS):
            own = found[w, thread]
            found[w, thread] = total
            total += own
        cuda.atomic.exch(shown, tile * DIGITS + thread, 4 * total + (PREFIX if tile == 0 else AGGREGATE))
        local = sum_of_lower_digits(total, thread, of_warps)
        for w in range(WARPS):
            found[w, thread] += local
        earlier = place_type(0)
        if tile > 0:
            earlier = look_back(shown, tile, thread)
            cuda.atomic.exch(shown, tile * DIGITS + thread, int64(4 * (earlier + place_type(total))) + PREFIX)
        firsts[thread] = place_type(starts[row, thread]) + earlier - place_type(local)
        cuda.syncthreads()
        goals = cuda.local.array(rows, place_type)
        for k in range(rows):
            places[k] = uint32(found[warp, places[k] >> uint32(RANK_BITS)]) + (places[k] & uint32((1 << RANK_BITS) - 1))
            staged[places[k]] = words[k]
        cuda.syncthreads()
        for k in range(rows):
            i = k * threads + thread
            own_word = word_type(staged[i])
            goals[k] = firsts[digit(own_word, shift)] + place_type(i)
            for target in key_targets:
                if i < count:
                    target[goals[k]] = own_word
        values = cuda.local.array(rows, stage_type)
        for target, column in zip(targets, others):
            if count == tile_size:
                for k in range(rows):
                    values[k] = stage_type(column[first + k * 32])
            else:
                for k in range(rows):
                    values[k] = stage_type(0)
                    if first + k * 32 < size:
                        values[k] = stage_type(column[first + k * 32])
            cuda.syncthreads()
            for k in range(rows):
                staged[places[k]] = values[k]
            cuda.syncthreads()
            for k in range(rows):
                if k * threads + thread < count:
                    target[goals[k]] = staged[k * threads + thread]

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
