"""cuda.fp16: arithmetic and functions of float16. Arguments of other types become float16 first. What has no
instruction of its own is computed in float32 and rounded."""
from __future__ import annotations

import math
from typing import TYPE_CHECKING

from cujit import cuda
from cujit.types import float16, float32

if TYPE_CHECKING:
    from cujit._annotations import Real


def hadd(x: Real, y: Real) -> float:
    return float16(x) + float16(y)


def hsub(x: Real, y: Real) -> float:
    return float16(x) - float16(y)


def hmul(x: Real, y: Real) -> float:
    return float16(x) * float16(y)


def hdiv(x: Real, y: Real) -> float:
    return float16(x) / float16(y)


def hfma(x: Real, y: Real, z: Real) -> float:
    return cuda.fma(float16(x), float16(y), float16(z))


def hneg(x: Real) -> float:
    return -float16(x)


def habs(x: Real) -> float:
    return abs(float16(x))


def hmax(x: Real, y: Real) -> float:
    return float16(cuda.libdevice.fmaxf(float16(x), float16(y)))


def hmin(x: Real, y: Real) -> float:
    return float16(cuda.libdevice.fminf(float16(x), float16(y)))


# --- comparisons: false where one is NaN ------------------------------------------------------------------------------


def heq(x: Real, y: Real) -> bool:
    return float16(x) == float16(y)


def hne(x: Real, y: Real) -> bool:
    return float16(x) < float16(y) or float16(x) > float16(y)


def hgt(x: Real, y: Real) -> bool:
    return float16(x) > float16(y)


def hge(x: Real, y: Real) -> bool:
    return float16(x) >= float16(y)


def hlt(x: Real, y: Real) -> bool:
    return float16(x) < float16(y)


def hle(x: Real, y: Real) -> bool:
    return float16(x) <= float16(y)


# --- functions --------------------------------------------------------------------------------------------------------


def in_single(function):
    def rounded(x: Real) -> float:
        return float16(function(float32(float16(x))))
    return rounded


hsqrt = in_single(math.sqrt)
hrsqrt = in_single(cuda.libdevice.rsqrtf)
hrcp = in_single(cuda.libdevice.frcp_rn)
hlog = in_single(math.log)
hlog2 = in_single(math.log2)
hlog10 = in_single(math.log10)
hexp = in_single(math.exp)
hexp2 = in_single(math.exp2)
hexp10 = in_single(cuda.libdevice.exp10f)
hsin = in_single(math.sin)
hcos = in_single(math.cos)
htanh = in_single(math.tanh)
htanh_approx = in_single(cuda.libdevice.fast_tanhf)
hfloor = in_single(cuda.libdevice.floorf)
hceil = in_single(cuda.libdevice.ceilf)
htrunc = in_single(cuda.libdevice.truncf)
hrint = in_single(cuda.libdevice.rintf)
