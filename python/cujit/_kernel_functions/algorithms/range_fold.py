"""Folds of a range of elements by one thread, which the kernels of reductions share.

load(sources, o, r) is element r of result o, combine the function. A range has at least one element.
"""
from cujit import cuda
from cujit.types import int32

TURNS = 4   # parts of a range that a thread folds side by side: so many reads are in flight


def one_by_one(combine, load):
    """fold(sources, o, first, last): one element after another."""

    def fold(sources, o, first, last):
        value = load(sources, o, first)
        for r in range(first + 1, last):
            value = combine(value, load(sources, o, r))
        return value

    return fold


def side_by_side(combine, load, shortest):
    """fold(sources, o, first, last): TURNS parts at a time, which are then combined in their order.

    shortest: the least elements of a part that are worth it, 1 or more.
    """
    of_short_range = one_by_one(combine, load)

    def fold(sources, o, first, last):
        part = (last - first) // TURNS
        if part < shortest:
            return of_short_range(sources, o, first, last)
        a, b = load(sources, o, first), load(sources, o, first + part)
        c, d = load(sources, o, first + 2 * part), load(sources, o, first + 3 * part)
        for r in range(first + 1, first + part):
            a, b = combine(a, load(sources, o, r)), combine(b, load(sources, o, r + part))
            c, d = combine(c, load(sources, o, r + 2 * part)), combine(d, load(sources, o, r + 3 * part))
        value = combine(combine(a, b), combine(c, d))
        for r in range(first + TURNS * part, last):
            value = combine(value, load(sources, o, r))
        return value

    return fold


def hidden_zero():
    """0, as blocks of one axis have it. LLVM does not know, and so leaves a sum with it in 32 bits; it makes one of 64
    bits of all numbers that it knows to fit into 32."""
    return int32(cuda.threadIdx.z)
