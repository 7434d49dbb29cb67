"""cuda.fp16: arithmetic and functions of float16. Arguments of other types become float16 first. What has no
instruction of its own is computed in float32 and rounded."""
from __future__ import annotations

import math
from typing import TYPE_CHECKING

from cujit import cuda
from cujit._kernel_functions.stands_for import stands_for
from cujit.types import float16, float32

if TYPE_CHECKING:
    from cujit._annotations import Real


@stands_for("cuda.fp16.hadd", doc="x + y, of float16.")
def hadd(x: Real, y: Real) -> float:
    return float16(x) + float16(y)


@stands_for("cuda.fp16.hsub", doc="x - y, of float16.")
def hsub(x: Real, y: Real) -> float:
    return float16(x) - float16(y)


@stands_for("cuda.fp16.hmul", doc="x * y, of float16.")
def hmul(x: Real, y: Real) -> float:
    return float16(x) * float16(y)


@stands_for("cuda.fp16.hdiv", doc="x / y, of float16.")
def hdiv(x: Real, y: Real) -> float:
    return float16(x) / float16(y)


@stands_for("cuda.fp16.hfma", doc="x * y + z, rounded once, of float16.")
def hfma(x: Real, y: Real, z: Real) -> float:
    return cuda.fma(float16(x), float16(y), float16(z))


@stands_for("cuda.fp16.hneg", doc="-x, of float16.")
def hneg(x: Real) -> float:
    return -float16(x)


@stands_for("cuda.fp16.habs", doc="The absolute value, of float16.")
def habs(x: Real) -> float:
    return abs(float16(x))


@stands_for("cuda.fp16.hmax", doc="The larger number; the other one where one is NaN, of float16.")
def hmax(x: Real, y: Real) -> float:
    return float16(cuda.libdevice.fmaxf(float16(x), float16(y)))


@stands_for("cuda.fp16.hmin", doc="The smaller number; the other one where one is NaN, of float16.")
def hmin(x: Real, y: Real) -> float:
    return float16(cuda.libdevice.fminf(float16(x), float16(y)))


# --- comparisons: false where one is NaN ------------------------------------------------------------------------------


@stands_for("cuda.fp16.heq", doc="x == y; false where one is NaN, of float16.")
def heq(x: Real, y: Real) -> bool:
    return float16(x) == float16(y)


@stands_for("cuda.fp16.hne", doc="x != y; false where one is NaN, of float16.")
def hne(x: Real, y: Real) -> bool:
    return float16(x) < float16(y) or float16(x) > float16(y)


@stands_for("cuda.fp16.hgt", doc="x > y, of float16.")
def hgt(x: Real, y: Real) -> bool:
    return float16(x) > float16(y)


@stands_for("cuda.fp16.hge", doc="x >= y, of float16.")
def hge(x: Real, y: Real) -> bool:
    return float16(x) >= float16(y)


@stands_for("cuda.fp16.hlt", doc="x < y, of float16.")
def hlt(x: Real, y: Real) -> bool:
    return float16(x) < float16(y)


@stands_for("cuda.fp16.hle", doc="x <= y, of float16.")
def hle(x: Real, y: Real) -> bool:
    return float16(x) <= float16(y)


# --- functions --------------------------------------------------------------------------------------------------------


def in_single(function):
    def rounded(x: Real) -> float:
        return float16(function(float32(float16(x))))
    return rounded


hsqrt = stands_for("cuda.fp16.hsqrt", doc="Square root, of float16.")(in_single(math.sqrt))
hrsqrt = stands_for("cuda.fp16.hrsqrt", doc="1 / sqrt(x), of float16.")(in_single(cuda.libdevice.rsqrtf))
hrcp = stands_for("cuda.fp16.hrcp", doc="1 / x, of float16.")(in_single(cuda.libdevice.frcp_rn))
hlog = stands_for("cuda.fp16.hlog", doc="Natural logarithm, of float16.")(in_single(math.log))
hlog2 = stands_for("cuda.fp16.hlog2", doc="Logarithm to base 2, of float16.")(in_single(math.log2))
hlog10 = stands_for("cuda.fp16.hlog10", doc="Logarithm to base 10, of float16.")(in_single(math.log10))
hexp = stands_for("cuda.fp16.hexp", doc="e to the power x, of float16.")(in_single(math.exp))
hexp2 = stands_for("cuda.fp16.hexp2", doc="2 to the power x, of float16.")(in_single(math.exp2))
hexp10 = stands_for("cuda.fp16.hexp10", doc="10 to the power x, of float16.")(in_single(cuda.libdevice.exp10f))
hsin = stands_for("cuda.fp16.hsin", doc="Sine, of float16.")(in_single(math.sin))
hcos = stands_for("cuda.fp16.hcos", doc="Cosine, of float16.")(in_single(math.cos))
htanh = stands_for("cuda.fp16.htanh", doc="Hyperbolic tangent, of float16.")(in_single(math.tanh))
htanh_approx = stands_for("cuda.fp16.htanh_approx", doc="Hyperbolic tangent, fast and approximate, of float16.")(
    in_single(cuda.libdevice.fast_tanhf))
hfloor = stands_for("cuda.fp16.hfloor", doc="Largest whole number not above x, of float16.")(
    in_single(cuda.libdevice.floorf))
hceil = stands_for("cuda.fp16.hceil", doc="Smallest whole number not below x, of float16.")(
    in_single(cuda.libdevice.ceilf))
htrunc = stands_for("cuda.fp16.htrunc", doc="x without its fraction, of float16.")(in_single(cuda.libdevice.truncf))
hrint = stands_for("cuda.fp16.hrint", doc="The nearest whole number, halves to even, of float16.")(
    in_single(cuda.libdevice.rintf))
