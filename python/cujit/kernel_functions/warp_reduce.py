"""Reductions over the lanes of a warp: an instruction for what fits 32 bits, a tree of shuffles for the rest."""
from cujit import cuda
from cujit.types import boolean, int8, int16, int32, uint8, uint16, uint32

WORD = boolean, int8, uint8, int16, uint16, int32, uint32


def tree(operation, mask, value):
    """Of 32 lanes, each combines its value with that of the lane 16, 8, ... away. Otherwise each lane takes the mask's
    next one to it, then the next of all that this one has, until it has all up to the highest lane, which makes a lane
    its own next; the lowest lane's result goes to all."""
    number = type(value)
    mask = uint32(mask)
    if mask == uint32(0xFFFFFFFF):
        for distance in (16, 8, 4, 2, 1):
            value = number(operation(value, cuda.shfl_xor_sync(mask, value, distance)))
        return value
    lane = int32(cuda.laneid)
    higher = uint32(mask & cuda.lanemask_gt())
    following = int32(cuda.ffs(higher) - 1) if higher else lane
    for _ in range(5):
        theirs = cuda.shfl_sync(mask, value, following)
        further = cuda.shfl_sync(mask, following, following)
        if following != lane:
            value = number(operation(value, theirs))
        following = lane if further == following else further
    return cuda.shfl_sync(mask, value, cuda.ffs(mask) - 1)


def sum_of(x, y):
    return x + y


def smaller(x, y):
    return min(x, y)


def larger(x, y):
    return max(x, y)


def bits_and(x, y):
    return x & y


def bits_or(x, y):
    return x | y


def bits_xor(x, y):
    return x ^ y


def reduce_add(mask, value):
    if isinstance(value, WORD):
        return type(value)(cuda._redux.add(mask, value))
    return tree(sum_of, mask, value)


def reduce_min(mask, value):
    if isinstance(value, WORD):
        return type(value)(cuda._redux.min(mask, value))
    return tree(smaller, mask, value)


def reduce_max(mask, value):
    if isinstance(value, WORD):
        return type(value)(cuda._redux.max(mask, value))
    return tree(larger, mask, value)


def reduce_and(mask, value):
    if isinstance(value, WORD):
        return type(value)(cuda._redux.and_(mask, value))
    return tree(bits_and, mask, value)


def reduce_or(mask, value):
    if isinstance(value, WORD):
        return type(value)(cuda._redux.or_(mask, value))
    return tree(bits_or, mask, value)


def reduce_xor(mask, value):
    if isinstance(value, WORD):
        return type(value)(cuda._redux.xor(mask, value))
    return tree(bits_xor, mask, value)
