"""Reductions over the lanes of a warp: an instruction for what fits 32 bits, a tree of shuffles for the rest."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cujit import cuda
from cujit._kernel_functions import operators
from cujit._kernel_functions.stands_for import stands_for
from cujit._kernel_functions.tells_overflow import tells_overflow
from cujit.types import boolean, int8, int16, int32, uint8, uint16, uint32

if TYPE_CHECKING:
    from cujit._annotations import Integer

WORD = boolean, int8, uint8, int16, uint16, int32, uint32


@tells_overflow
def tree(operation, mask, value):
    """Where whole warps come, each lane combines its value with that of the lane 16, 8, ... away. Otherwise lanes of
    the mask may be missing: each takes what its next 1, 2, 4, ... neighbours have, from the lowest of them."""
    number = type(value)
    mask = uint32(mask)
    if mask == uint32(0xFFFFFFFF) and cuda.blockDim.x * cuda.blockDim.y * cuda.blockDim.z % 32 == 0:
        for distance in (16, 8, 4, 2, 1):
            value = number(operation(value, cuda.shfl_xor_sync(mask, value, distance)))
        return value
    present, lane = uint32(cuda.ballot_sync(mask, True)), uint32(cuda.laneid)
    for distance in (1, 2, 4, 8, 16):
        first = uint32((lane ^ uint32(distance)) & uint32(-distance))
        others = uint32(present >> first) & uint32((1 << distance) - 1)
        theirs = cuda.shfl_sync(mask, value, first + cuda.ffs(others) - 1 if others else lane)
        if others:
            value = number(operation(value, theirs))
    return value


@stands_for("cuda.cg.plus", doc="x + y, for cg.reduce.")
@tells_overflow
def sum_of(x, y):
    return x + y


@stands_for("cuda.cg.less", doc="The smaller of x and y, for cg.reduce.")
def smaller(x, y):
    return min(x, y)


@stands_for("cuda.cg.greater", doc="The larger of x and y, for cg.reduce.")
def larger(x, y):
    return max(x, y)


def reduction(of_words, operation):
    def reduce(mask: Integer, value: Any) -> Any:
        if isinstance(value, WORD):
            return type(value)(of_words(mask, value))
        return tree(operation, mask, value)
    return reduce


reduce_add = stands_for(
    "cuda.reduce_add_sync", doc="The sum of the value over the lanes of the mask, in every lane of it.")(
    reduction(cuda._redux.add, sum_of))
reduce_min = stands_for(
    "cuda.reduce_min_sync", doc="The smallest of the value over the lanes of the mask, in every lane of it.")(
    reduction(cuda._redux.min, smaller))
reduce_max = stands_for(
    "cuda.reduce_max_sync", doc="The largest of the value over the lanes of the mask, in every lane of it.")(
    reduction(cuda._redux.max, larger))
reduce_and = stands_for(
    "cuda.reduce_and_sync", doc="Bitwise and of the value over the lanes of the mask, in every lane of it.")(
    reduction(cuda._redux.and_, operators.and_))
reduce_or = stands_for(
    "cuda.reduce_or_sync", doc="Bitwise or of the value over the lanes of the mask, in every lane of it.")(
    reduction(cuda._redux.or_, operators.or_))
reduce_xor = stands_for(
    "cuda.reduce_xor_sync", doc="Bitwise exclusive or of the value over the lanes of the mask, in every lane of it.")(
    reduction(cuda._redux.xor, operators.xor))
