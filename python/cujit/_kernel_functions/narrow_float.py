"""What cuda.fp16 and cuda.bf16 make their functions of: `narrow` is float16 or bfloat16."""
from __future__ import annotations

from typing import TYPE_CHECKING

from cujit.types import float32, int32

if TYPE_CHECKING:
    from cujit._annotations import Real


def in_single(narrow, function):
    """A function of float32, its result rounded to nearest."""
    def rounded(x: Real) -> float:
        return narrow(function(float32(narrow(x))))
    return rounded


def directed(dtype, to_float, round_float):
    """Rounded to float32 and on to 16 bits in one direction: the same as once."""
    def convert(x: Real) -> float:
        return round_float(to_float(dtype(x)))
    return convert


def whole(narrow, dtype, to_integer):
    """As an integer of 32 or 64 bits: what does not fit becomes the nearest number that does."""
    def convert(x: Real) -> int:
        return dtype(to_integer(float32(narrow(x))))
    return convert


def whole_clamped(narrow, dtype, to_integer, least, most):
    """As a narrower integer, from least to most."""
    def convert(x: Real) -> int:
        return dtype(min(max(to_integer(float32(narrow(x))), int32(least)), int32(most)))
    return convert
