"""Reductions over the lanes of a warp: an instruction for what fits 32 bits, a tree of shuffles for the rest."""
from cujit import cuda
from cujit.kernel_functions import operators
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


def reduction(of_words, operation):
    def reduce(mask, value):
        if isinstance(value, WORD):
            return type(value)(of_words(mask, value))
        return tree(operation, mask, value)
    return reduce


reduce_add = reduction(cuda._redux.add, sum_of)
reduce_min = reduction(cuda._redux.min, smaller)
reduce_max = reduction(cuda._redux.max, larger)
reduce_and = reduction(cuda._redux.and_, operators.and_)
reduce_or = reduction(cuda._redux.or_, operators.or_)
reduce_xor = reduction(cuda._redux.xor, operators.xor)
