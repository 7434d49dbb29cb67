"""Kernels of ufuncs' reduce, accumulate, reduceat and at.

An operand is seen as a table: of `count` results, each of `length` elements. load(x, o, r) gives element r of result o
as the type that is computed in, store(out, o, p, value) and meant(where, o, r) likewise; combine is the function, with
its result as that type. A length is cut into `parts`, whose results another launch makes one.
"""
from cujit import cuda
from cujit._kernel_functions.range_fold import TURNS, one_by_one, side_by_side

ALL_LANES = 0xFFFFFFFF
SHORT = 16   # parts that are not worth it


def folder(load, meant, combine, element):
    """What a thread does alone, in the order of the elements."""

    of_range, of_parts = one_by_one(combine, load), side_by_side(combine, load, SHORT)

    def behind(value, x, where, o, first, last):
        for r in range(first, last):
            if where is None or meant(where, o, r):
                value = combine(value, load(x, o, r))
        return value

    def fold(x, where, start, initial, o, first, last, in_order):
        """in_order: one element after another."""
        if where is not None:
            value = behind(element(start), x, where, o, first, last)
        elif in_order and initial is not None:
            return behind(element(initial), x, None, o, first, last)
        elif in_order:
            value = of_range(x, o, first, last)
        else:
            value = of_parts(x, o, first, last)
        return value if initial is None else combine(element(initial), value)

    return fold


def by_threads(load, meant, store, combine, element, in_order):
    """A thread for each part of each result; neighbouring threads have neighbouring results."""
    fold = folder(load, meant, combine, element)

    def reduce_by_threads(x, where, start, initial, out, count, length, parts):
        """initial: None, or what comes before the elements; start: what changes nothing, needed with `where`."""
        thread = cuda.grid(1)
        if thread < count * parts:
            o, p = thread % count, thread // count
            first, last = length * p // parts, length * (p + 1) // parts
            store(out, o, p, fold(x, where, start, initial, o, first, last, in_order))

    return reduce_by_threads


def by_groups(load, meant, store, combine, element, move, is_block):
    """A warp or a block for each part of each result; neighbouring threads read neighbouring elements."""

    def of_thread(x, o, first, last, step):
        value = load(x, o, first if first < last else last - 1)
        r = first + step
        while r + (TURNS - 1) * step < last:
            a, b, c, d = load(x, o, r), load(x, o, r + step), load(x, o, r + 2 * step), load(x, o, r + 3 * step)
            value = combine(value, combine(combine(a, b), combine(c, d)))
            r += TURNS * step
        while r < last:
            value = combine(value, load(x, o, r))
            r += step
        return value

    def of_thread_where(x, where, start, o, first, last, step):
        value = element(start)
        for r in range(first, last, step):
            if meant(where, o, r):
                value = combine(value, load(x, o, r))
        return value

    def reduce_by_groups(x, where, start, initial, out, count, length, parts):
        thread, step = cuda.threadIdx.x, cuda.blockDim.x
        group = cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y
        if not is_block and group >= count * parts:
            return
        o, p = group // parts, group % parts
        first, last = length * p // parts, length * (p + 1) // parts
        if where is None:
            value, threads = of_thread(x, o, first + thread, last, step), min(last - first, step)
        else:
            value, threads = of_thread_where(x, where, start, o, first + thread, last, step), step
        for mask in (1, 2, 4, 8, 16):
            other = move(value, mask)
            if thread & (2 * mask - 1) == 0 and thread + mask < threads:
                value = combine(value, other)
        if is_block:
            of_warps = cuda.shared.array(32, element)
            if thread & 31 == 0:
                of_warps[thread >> 5] = value
            cuda.syncthreads()
            if thread == 0:
                for k in range(1, (threads + 31) >> 5):
                    value = combine(value, of_warps[k])
        if thread == 0:
            store(out, o, p, value if initial is None else combine(element(initial), value))

    return reduce_by_groups


# --- accumulate ------------------------------------------------------------------------------------------------------

def scan_parts(combine):
    """What each part has, combined with all parts before it."""

    def scan_of_parts(partial, count, parts):
        o = cuda.grid(1)
        if o < count:
            value = partial[o, 0]
            for p in range(1, parts):
                value = combine(value, partial[o, p])
                partial[o, p] = value

    return scan_of_parts


def scan_elements(load, store, combine):
    """Every element with all before it; `before` has it of whole parts, None where there is one."""

    def scan_of_elements(x, before, out, count, length, parts):
        thread = cuda.grid(1)
        if thread < count * parts:
            o, p = thread % count, thread // count
            first, last = length * p // parts, length * (p + 1) // parts
            value = load(x, o, first)
            if before is not None:
                if p > 0:
                    value = combine(before[o, p - 1], value)
            store(out, o, first, value)
            for r in range(first + 1, last):
                value = combine(value, load(x, o, r))
                store(out, o, r, value)

    return scan_of_elements


# --- reduceat and at -------------------------------------------------------------------------------------------------

def by_indices(load, meant, store, combine, element, in_order):
    """Elements indices[k] to indices[k + 1], for each k of each result; the one element where that is none."""
    fold = folder(load, meant, combine, element)

    def reduce_by_indices(x, indices, out, count, length):
        thread, ranges = cuda.grid(1), indices.size
        if thread < count * ranges:
            o, k = thread % count, thread // count
            first = indices[k]
            last = indices[k + 1] if k + 1 < ranges else length
            store(out, o, k, fold(x, None, None, None, o, first, max(last, first + 1), in_order))

    return reduce_by_indices


def at_places(load, store, function, first, second):
    """One thread: function(element, value) in the place of the element at each place, in their order; first, second:
    the types of the arguments."""

    def change_in_order(x, places, values):
        for k in range(places.size):
            place = places[k]
            old = load(x, place, 0)
            store(x, place, 0, function(first(old)) if values is None else function(first(old), second(values[k])))

    return change_in_order

