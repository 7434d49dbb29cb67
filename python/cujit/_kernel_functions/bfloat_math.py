"""cuda.bf16: arithmetic, functions and conversions of bfloat16. Arguments of other types become bfloat16 first. What
has no instruction of its own is computed in float32 and rounded."""
from __future__ import annotations

import math
from typing import TYPE_CHECKING

from cujit import cuda
from cujit.types import bfloat16, float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64

if TYPE_CHECKING:
    from cujit._annotations import Real

libdevice = cuda.libdevice


def single(x):
    return float32(bfloat16(x))


# --- arithmetic -------------------------------------------------------------------------------------------------------


def hadd(x: Real, y: Real) -> float:
    return bfloat16(x) + bfloat16(y)


def hsub(x: Real, y: Real) -> float:
    return bfloat16(x) - bfloat16(y)


def hmul(x: Real, y: Real) -> float:
    return bfloat16(x) * bfloat16(y)


def hdiv(x: Real, y: Real) -> float:
    return bfloat16(x) / bfloat16(y)


def hadd_rn(x: Real, y: Real) -> float:
    return bfloat16(libdevice.fadd_rn(single(x), single(y)))


def hsub_rn(x: Real, y: Real) -> float:
    return bfloat16(libdevice.fsub_rn(single(x), single(y)))


def hmul_rn(x: Real, y: Real) -> float:
    return bfloat16(libdevice.fmul_rn(single(x), single(y)))


def hfma(x: Real, y: Real, z: Real) -> float:
    return cuda.fma(bfloat16(x), bfloat16(y), bfloat16(z))


def saturated(x):
    return bfloat16(libdevice.saturatef(float32(x)))


def hadd_sat(x: Real, y: Real) -> float:
    return saturated(hadd(x, y))


def hsub_sat(x: Real, y: Real) -> float:
    return saturated(hsub(x, y))


def hmul_sat(x: Real, y: Real) -> float:
    return saturated(hmul(x, y))


def hfma_sat(x: Real, y: Real, z: Real) -> float:
    return saturated(hfma(x, y, z))


def hfma_relu(x: Real, y: Real, z: Real) -> float:
    result = hfma(x, y, z)
    return bfloat16(0) if result < bfloat16(0) else result


def hneg(x: Real) -> float:
    return -bfloat16(x)


def habs(x: Real) -> float:
    return abs(bfloat16(x))


# --- comparisons ------------------------------------------------------------------------------------------------------


def heq(x: Real, y: Real) -> bool:
    return bfloat16(x) == bfloat16(y)


def hne(x: Real, y: Real) -> bool:
    return bfloat16(x) < bfloat16(y) or bfloat16(x) > bfloat16(y)


def hgt(x: Real, y: Real) -> bool:
    return bfloat16(x) > bfloat16(y)


def hge(x: Real, y: Real) -> bool:
    return bfloat16(x) >= bfloat16(y)


def hlt(x: Real, y: Real) -> bool:
    return bfloat16(x) < bfloat16(y)


def hle(x: Real, y: Real) -> bool:
    return bfloat16(x) <= bfloat16(y)


def hequ(x: Real, y: Real) -> bool:
    return not hne(x, y)


def hneu(x: Real, y: Real) -> bool:
    return not heq(x, y)


def hgtu(x: Real, y: Real) -> bool:
    return not hle(x, y)


def hgeu(x: Real, y: Real) -> bool:
    return not hlt(x, y)


def hltu(x: Real, y: Real) -> bool:
    return not hge(x, y)


def hleu(x: Real, y: Real) -> bool:
    return not hgt(x, y)


def hmax(x: Real, y: Real) -> float:
    return bfloat16(libdevice.fmaxf(single(x), single(y)))


def hmin(x: Real, y: Real) -> float:
    return bfloat16(libdevice.fminf(single(x), single(y)))


def hmax_nan(x: Real, y: Real) -> float:
    return bfloat16(math.nan) if hisnan(x) or hisnan(y) else hmax(x, y)


def hmin_nan(x: Real, y: Real) -> float:
    return bfloat16(math.nan) if hisnan(x) or hisnan(y) else hmin(x, y)


def hisnan(x: Real) -> bool:
    return math.isnan(bfloat16(x))


def hisinf(x: Real) -> int:
    number = single(x)
    return int32(number == math.inf) - int32(number == -math.inf)


# --- functions --------------------------------------------------------------------------------------------------------


def in_single(function):
    def rounded(x: Real) -> float:
        return bfloat16(function(single(x)))
    return rounded


hsqrt = in_single(math.sqrt)
hrsqrt = in_single(libdevice.rsqrtf)
hrcp = in_single(libdevice.frcp_rn)
hlog = in_single(math.log)
hlog2 = in_single(math.log2)
hlog10 = in_single(math.log10)
hexp = in_single(math.exp)
hexp2 = in_single(math.exp2)
hexp10 = in_single(libdevice.exp10f)
hsin = in_single(math.sin)
hcos = in_single(math.cos)
htanh = in_single(math.tanh)
htanh_approx = in_single(libdevice.fast_tanhf)
hfloor = in_single(libdevice.floorf)
hceil = in_single(libdevice.ceilf)
htrunc = in_single(libdevice.truncf)
hrint = in_single(libdevice.rintf)


# --- to bfloat16: rn to nearest, rz towards zero, rd down, ru up ------------------------------------------------------

UPPER = uint32(0xFFFF0000)
STEP = uint32(0x10000)


def float_to_bfloat16(x: Real) -> float:
    return bfloat16(float32(x))


def double_to_bfloat16(x: Real) -> float:
    return bfloat16(float64(x))


def from_upper_bits(bits):
    return bfloat16(libdevice.int_as_float(int32(bits)))


def float_to_bfloat16_rz(x: Real) -> float:
    number = float32(x)
    if math.isnan(number):
        return bfloat16(number)
    return from_upper_bits(uint32(libdevice.float_as_int(number)) & UPPER)


def stepped(number, is_raised):
    """The bfloat16 next to a float32, towards zero, or away from it where is_raised."""
    bits = uint32(libdevice.float_as_int(number))
    upper = bits & UPPER
    return from_upper_bits(upper + STEP if is_raised and bits != upper else upper)


def float_to_bfloat16_rd(x: Real) -> float:
    number = float32(x)
    return bfloat16(number) if math.isnan(number) else stepped(number, number < float32(0))


def float_to_bfloat16_ru(x: Real) -> float:
    number = float32(x)
    return bfloat16(number) if math.isnan(number) else stepped(number, number > float32(0))


def to_nearest(dtype):
    def convert(x: Real) -> float:
        return bfloat16(dtype(x))
    return convert


def directed(dtype, to_float, round_float):
    """Rounded to float32 and on to bfloat16 in one direction: the same as once."""
    def convert(x: Real) -> float:
        return round_float(to_float(dtype(x)))
    return convert


_INTEGERS = int16, uint16, int32, uint32, int64, uint64
short_rn, ushort_rn, int_rn, uint_rn, ll_rn, ull_rn = map(to_nearest, _INTEGERS)


def all_directed(round_float, *to_float):
    """For all integers; those of 16 bits are float32 as they are."""
    return [directed(_INTEGERS[k], to_float[max(k - 1, 0)], round_float) for k in range(6)]


short_rz, ushort_rz, int_rz, uint_rz, ll_rz, ull_rz = all_directed(
    float_to_bfloat16_rz, float32, libdevice.int2float_rz, libdevice.uint2float_rz, libdevice.ll2float_rz,
    libdevice.ull2float_rz)
short_rd, ushort_rd, int_rd, uint_rd, ll_rd, ull_rd = all_directed(
    float_to_bfloat16_rd, float32, libdevice.int2float_rd, libdevice.uint2float_rd, libdevice.ll2float_rd,
    libdevice.ull2float_rd)
short_ru, ushort_ru, int_ru, uint_ru, ll_ru, ull_ru = all_directed(
    float_to_bfloat16_ru, float32, libdevice.int2float_ru, libdevice.uint2float_ru, libdevice.ll2float_ru,
    libdevice.ull2float_ru)


# --- from bfloat16: what does not fit becomes the nearest number that does --------------------------------------------


def bfloat16_to_float(x: Real) -> float:
    return single(x)


def whole(dtype, to_integer):
    def convert(x: Real) -> int:
        return dtype(to_integer(single(x)))
    return convert


def whole_clamped(dtype, to_integer, least, most):
    def convert(x: Real) -> int:
        return dtype(min(max(to_integer(single(x)), int32(least)), int32(most)))
    return convert


TO_INT = libdevice.float2int_rn, libdevice.float2int_rz, libdevice.float2int_rd, libdevice.float2int_ru
TO_UINT = libdevice.float2uint_rn, libdevice.float2uint_rz, libdevice.float2uint_rd, libdevice.float2uint_ru
TO_LL = libdevice.float2ll_rn, libdevice.float2ll_rz, libdevice.float2ll_rd, libdevice.float2ll_ru
TO_ULL = libdevice.float2ull_rn, libdevice.float2ull_rz, libdevice.float2ull_rd, libdevice.float2ull_ru

to_char_rz = whole_clamped(int8, libdevice.float2int_rz, -128, 127)
to_uchar_rz = whole_clamped(uint8, libdevice.float2int_rz, 0, 255)
to_short_rn, to_short_rz, to_short_rd, to_short_ru = [whole_clamped(int16, each, -32768, 32767) for each in TO_INT]
to_ushort_rn, to_ushort_rz, to_ushort_rd, to_ushort_ru = [whole_clamped(uint16, each, 0, 65535) for each in TO_INT]
to_int_rn, to_int_rz, to_int_rd, to_int_ru = [whole(int32, each) for each in TO_INT]
to_uint_rn, to_uint_rz, to_uint_rd, to_uint_ru = [whole(uint32, each) for each in TO_UINT]
to_ll_rn, to_ll_rz, to_ll_rd, to_ll_ru = [whole(int64, each) for each in TO_LL]
to_ull_rn, to_ull_rz, to_ull_rd, to_ull_ru = [whole(uint64, each) for each in TO_ULL]
