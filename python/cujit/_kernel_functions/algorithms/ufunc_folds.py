"""Kernels of ufuncs' methods beside those of cuda.reduction and cuda.scan: elements one after another, and elements
that indices name. load(sources, o, r), save(targets, o, r, value) and meant(sources, o, r) are of element r of result
o, combine is the function with its result as the type that is computed in."""
from cujit import cuda
from cujit._kernel_functions.algorithms.range_fold import one_by_one, side_by_side

SHORT = 16   # elements for which more than one chain is not worth it


def in_order(combine, load, meant, from_leaves, put, has_start):
    """A thread for each result, which takes its elements one after another; those for which meant() is true, unless
    it is None, which needs a start."""

    def reduce_in_order(outputs, size, start, sources, targets):
        o = cuda.grid(1)
        if o < outputs:
            first = 0 if has_start else 1
            value = from_leaves(start) if has_start else load(sources, o, 0)
            for r in range(first, size):
                if meant is None or meant(sources, o, r):
                    value = combine(value, load(sources, o, r))
            put(targets, o, value)

    return reduce_in_order


def by_indices(combine, load, save, in_order):
    """A thread for elements indices[k] to indices[k + 1] of each k of each result; the one element where these are
    none. Neighbouring threads have neighbouring results."""
    fold = one_by_one(combine, load) if in_order else side_by_side(combine, load, SHORT)

    def reduce_by_indices(count, size, indices, sources, targets):
        thread, ranges = cuda.grid(1), indices.size
        if thread < count * ranges:
            o, k = thread % count, thread // count
            first = indices[k]
            last = indices[k + 1] if k + 1 < ranges else size
            save(targets, o, k, fold(sources, o, first, max(last, first + 1)))

    return reduce_by_indices


def at_places(load, save, function, first, second):
    """One thread: function(element, value) in the place of the element at each place, in their order; first, second:
    the types of the arguments."""

    def change_in_order(arrays, places, values):
        for k in range(places.size):
            place = places[k]
            old = load(arrays, 0, place)
            save(arrays, 0, place, function(first(old)) if values is None else function(first(old), second(values[k])))

    return change_in_order


def by_atomics(change):
    """A thread for each place; change(arrays, place, value) is an atomic operation."""

    def change_by_atomics(arrays, places, values):
        k = cuda.grid(1)
        if k < places.size:
            change(arrays, places[k], values[k])

    return change_by_atomics
