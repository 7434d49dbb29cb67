"""cuda.bf16: arithmetic, functions and conversions of bfloat16. Arguments of other types become bfloat16 first. What
has no instruction of its own is computed in float32 and rounded."""
from __future__ import annotations

import math
from typing import TYPE_CHECKING

from cujit import cuda
from cujit._kernel_functions.narrow_float import directed, in_single, whole, whole_clamped
from cujit._kernel_functions.stands_for import stands_for
from cujit.types import bfloat16, float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64

if TYPE_CHECKING:
    from cujit._annotations import Real

libdevice = cuda.libdevice


def single(x):
    return float32(bfloat16(x))


# --- arithmetic -------------------------------------------------------------------------------------------------------


@stands_for("cuda.bf16.hadd", doc="x + y, of bfloat16.")
def hadd(x: Real, y: Real) -> float:
    return bfloat16(x) + bfloat16(y)


@stands_for("cuda.bf16.hsub", doc="x - y, of bfloat16.")
def hsub(x: Real, y: Real) -> float:
    return bfloat16(x) - bfloat16(y)


@stands_for("cuda.bf16.hmul", doc="x * y, of bfloat16.")
def hmul(x: Real, y: Real) -> float:
    return bfloat16(x) * bfloat16(y)


@stands_for("cuda.bf16.hdiv", doc="x / y, of bfloat16.")
def hdiv(x: Real, y: Real) -> float:
    return bfloat16(x) / bfloat16(y)


@stands_for("cuda.bf16.hadd_rn", doc="x + y, never part of a fused multiply-add, of bfloat16.")
def hadd_rn(x: Real, y: Real) -> float:
    return bfloat16(libdevice.fadd_rn(single(x), single(y)))


@stands_for("cuda.bf16.hsub_rn", doc="x - y, never part of a fused multiply-add, of bfloat16.")
def hsub_rn(x: Real, y: Real) -> float:
    return bfloat16(libdevice.fsub_rn(single(x), single(y)))


@stands_for("cuda.bf16.hmul_rn", doc="x * y, never part of a fused multiply-add, of bfloat16.")
def hmul_rn(x: Real, y: Real) -> float:
    return bfloat16(libdevice.fmul_rn(single(x), single(y)))


@stands_for("cuda.bf16.hfma", doc="x * y + z, rounded once, of bfloat16.")
def hfma(x: Real, y: Real, z: Real) -> float:
    return cuda.fma(bfloat16(x), bfloat16(y), bfloat16(z))


def saturated(x):
    return bfloat16(libdevice.saturatef(float32(x)))


@stands_for("cuda.bf16.hadd_sat", doc="x + y between 0 and 1, NaN as 0, of bfloat16.")
def hadd_sat(x: Real, y: Real) -> float:
    return saturated(hadd(x, y))


@stands_for("cuda.bf16.hsub_sat", doc="x - y between 0 and 1, NaN as 0, of bfloat16.")
def hsub_sat(x: Real, y: Real) -> float:
    return saturated(hsub(x, y))


@stands_for("cuda.bf16.hmul_sat", doc="x * y between 0 and 1, NaN as 0, of bfloat16.")
def hmul_sat(x: Real, y: Real) -> float:
    return saturated(hmul(x, y))


@stands_for("cuda.bf16.hfma_sat", doc="x * y + z, rounded once, between 0 and 1, NaN as 0, of bfloat16.")
def hfma_sat(x: Real, y: Real, z: Real) -> float:
    return saturated(hfma(x, y, z))


@stands_for("cuda.bf16.hfma_relu", doc="x * y + z, rounded once, 0 where it is negative, of bfloat16.")
def hfma_relu(x: Real, y: Real, z: Real) -> float:
    result = hfma(x, y, z)
    return bfloat16(0) if result < bfloat16(0) else result


@stands_for("cuda.bf16.hneg", doc="-x, of bfloat16.")
def hneg(x: Real) -> float:
    return -bfloat16(x)


@stands_for("cuda.bf16.habs", doc="The absolute value, of bfloat16.")
def habs(x: Real) -> float:
    return abs(bfloat16(x))


# --- comparisons ------------------------------------------------------------------------------------------------------


@stands_for("cuda.bf16.heq", doc="x == y; false where one is NaN, of bfloat16.")
def heq(x: Real, y: Real) -> bool:
    return bfloat16(x) == bfloat16(y)


@stands_for("cuda.bf16.hne", doc="x != y; false where one is NaN, of bfloat16.")
def hne(x: Real, y: Real) -> bool:
    return bfloat16(x) < bfloat16(y) or bfloat16(x) > bfloat16(y)


@stands_for("cuda.bf16.hgt", doc="x > y, of bfloat16.")
def hgt(x: Real, y: Real) -> bool:
    return bfloat16(x) > bfloat16(y)


@stands_for("cuda.bf16.hge", doc="x >= y, of bfloat16.")
def hge(x: Real, y: Real) -> bool:
    return bfloat16(x) >= bfloat16(y)


@stands_for("cuda.bf16.hlt", doc="x < y, of bfloat16.")
def hlt(x: Real, y: Real) -> bool:
    return bfloat16(x) < bfloat16(y)


@stands_for("cuda.bf16.hle", doc="x <= y, of bfloat16.")
def hle(x: Real, y: Real) -> bool:
    return bfloat16(x) <= bfloat16(y)


@stands_for("cuda.bf16.hequ", doc="x == y; true where one is NaN, of bfloat16.")
def hequ(x: Real, y: Real) -> bool:
    return not hne(x, y)


@stands_for("cuda.bf16.hneu", doc="x != y; true where one is NaN, of bfloat16.")
def hneu(x: Real, y: Real) -> bool:
    return not heq(x, y)


@stands_for("cuda.bf16.hgtu", doc="x > y; true where one is NaN, of bfloat16.")
def hgtu(x: Real, y: Real) -> bool:
    return not hle(x, y)


@stands_for("cuda.bf16.hgeu", doc="x >= y; true where one is NaN, of bfloat16.")
def hgeu(x: Real, y: Real) -> bool:
    return not hlt(x, y)


@stands_for("cuda.bf16.hltu", doc="x < y; true where one is NaN, of bfloat16.")
def hltu(x: Real, y: Real) -> bool:
    return not hge(x, y)


@stands_for("cuda.bf16.hleu", doc="x <= y; true where one is NaN, of bfloat16.")
def hleu(x: Real, y: Real) -> bool:
    return not hgt(x, y)


@stands_for("cuda.bf16.hmax", doc="The larger number; the other one where one is NaN, of bfloat16.")
def hmax(x: Real, y: Real) -> float:
    return bfloat16(libdevice.fmaxf(single(x), single(y)))


@stands_for("cuda.bf16.hmin", doc="The smaller number; the other one where one is NaN, of bfloat16.")
def hmin(x: Real, y: Real) -> float:
    return bfloat16(libdevice.fminf(single(x), single(y)))


@stands_for("cuda.bf16.hmax_nan", doc="The larger number; NaN where one is, of bfloat16.")
def hmax_nan(x: Real, y: Real) -> float:
    return bfloat16(math.nan) if hisnan(x) or hisnan(y) else hmax(x, y)


@stands_for("cuda.bf16.hmin_nan", doc="The smaller number; NaN where one is, of bfloat16.")
def hmin_nan(x: Real, y: Real) -> float:
    return bfloat16(math.nan) if hisnan(x) or hisnan(y) else hmin(x, y)


@stands_for("cuda.bf16.hisnan", doc="Whether x is NaN, of bfloat16.")
def hisnan(x: Real) -> bool:
    return math.isnan(bfloat16(x))


@stands_for("cuda.bf16.hisinf", doc="1 for infinity, -1 for negative infinity, else 0, of bfloat16.")
def hisinf(x: Real) -> int:
    number = single(x)
    return int32(number == math.inf) - int32(number == -math.inf)


# --- functions --------------------------------------------------------------------------------------------------------


hsqrt = stands_for("cuda.bf16.hsqrt", doc="Square root, of bfloat16.")(in_single(bfloat16, math.sqrt))
hrsqrt = stands_for("cuda.bf16.hrsqrt", doc="1 / sqrt(x), of bfloat16.")(in_single(bfloat16, libdevice.rsqrtf))
hrcp = stands_for("cuda.bf16.hrcp", doc="1 / x, of bfloat16.")(in_single(bfloat16, libdevice.frcp_rn))
hlog = stands_for("cuda.bf16.hlog", doc="Natural logarithm, of bfloat16.")(in_single(bfloat16, math.log))
hlog2 = stands_for("cuda.bf16.hlog2", doc="Logarithm to base 2, of bfloat16.")(in_single(bfloat16, math.log2))
hlog10 = stands_for("cuda.bf16.hlog10", doc="Logarithm to base 10, of bfloat16.")(in_single(bfloat16, math.log10))
hexp = stands_for("cuda.bf16.hexp", doc="e to the power x, of bfloat16.")(in_single(bfloat16, math.exp))
hexp2 = stands_for("cuda.bf16.hexp2", doc="2 to the power x, of bfloat16.")(in_single(bfloat16, math.exp2))
hexp10 = stands_for("cuda.bf16.hexp10", doc="10 to the power x, of bfloat16.")(in_single(bfloat16, libdevice.exp10f))
hsin = stands_for("cuda.bf16.hsin", doc="Sine, of bfloat16.")(in_single(bfloat16, math.sin))
hcos = stands_for("cuda.bf16.hcos", doc="Cosine, of bfloat16.")(in_single(bfloat16, math.cos))
htanh = stands_for("cuda.bf16.htanh", doc="Hyperbolic tangent, of bfloat16.")(in_single(bfloat16, math.tanh))
htanh_approx = stands_for("cuda.bf16.htanh_approx", doc="Hyperbolic tangent, fast and approximate, of bfloat16.")(
    in_single(bfloat16, libdevice.fast_tanhf))
hfloor = stands_for("cuda.bf16.hfloor", doc="Largest whole number not above x, of bfloat16.")(
    in_single(bfloat16, libdevice.floorf))
hceil = stands_for("cuda.bf16.hceil", doc="Smallest whole number not below x, of bfloat16.")(
    in_single(bfloat16, libdevice.ceilf))
htrunc = stands_for("cuda.bf16.htrunc", doc="x without its fraction, of bfloat16.")(
    in_single(bfloat16, libdevice.truncf))
hrint = stands_for("cuda.bf16.hrint", doc="The nearest whole number, halves to even, of bfloat16.")(
    in_single(bfloat16, libdevice.rintf))


# --- to bfloat16: rn to nearest, rz towards zero, rd down, ru up ------------------------------------------------------

UPPER = uint32(0xFFFF0000)
STEP = uint32(0x10000)


@stands_for(
    "cuda.bf16.float32_to_bfloat16", "cuda.bf16.float32_to_bfloat16_rn",
    doc="A float32 as a bfloat16, rounded to nearest.")
def float_to_bfloat16(x: Real) -> float:
    return bfloat16(float32(x))


@stands_for("cuda.bf16.float64_to_bfloat16", doc="A float64 as a bfloat16, rounded once, to nearest.")
def double_to_bfloat16(x: Real) -> float:
    return bfloat16(float64(x))


def from_upper_bits(bits):
    return bfloat16(libdevice.int_as_float(int32(bits)))


@stands_for("cuda.bf16.float32_to_bfloat16_rz", doc="A float32 as a bfloat16, rounded towards zero.")
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


@stands_for("cuda.bf16.float32_to_bfloat16_rd", doc="A float32 as a bfloat16, rounded down.")
def float_to_bfloat16_rd(x: Real) -> float:
    number = float32(x)
    return bfloat16(number) if math.isnan(number) else stepped(number, number < float32(0))


@stands_for("cuda.bf16.float32_to_bfloat16_ru", doc="A float32 as a bfloat16, rounded up.")
def float_to_bfloat16_ru(x: Real) -> float:
    number = float32(x)
    return bfloat16(number) if math.isnan(number) else stepped(number, number > float32(0))


def to_nearest(dtype):
    def convert(x: Real) -> float:
        return bfloat16(dtype(x))
    return convert


short_rn = stands_for("cuda.bf16.int16_to_bfloat16_rn", doc="An int16 as a bfloat16, rounded once, to nearest.")(
    to_nearest(int16))
ushort_rn = stands_for("cuda.bf16.uint16_to_bfloat16_rn", doc="A uint16 as a bfloat16, rounded once, to nearest.")(
    to_nearest(uint16))
int_rn = stands_for("cuda.bf16.int32_to_bfloat16_rn", doc="An int32 as a bfloat16, rounded once, to nearest.")(
    to_nearest(int32))
uint_rn = stands_for("cuda.bf16.uint32_to_bfloat16_rn", doc="A uint32 as a bfloat16, rounded once, to nearest.")(
    to_nearest(uint32))
ll_rn = stands_for("cuda.bf16.int64_to_bfloat16_rn", doc="An int64 as a bfloat16, rounded once, to nearest.")(
    to_nearest(int64))
ull_rn = stands_for("cuda.bf16.uint64_to_bfloat16_rn", doc="A uint64 as a bfloat16, rounded once, to nearest.")(
    to_nearest(uint64))
short_rz = stands_for("cuda.bf16.int16_to_bfloat16_rz", doc="An int16 as a bfloat16, rounded once, towards zero.")(
    directed(int16, float32, float_to_bfloat16_rz))
ushort_rz = stands_for("cuda.bf16.uint16_to_bfloat16_rz", doc="A uint16 as a bfloat16, rounded once, towards zero.")(
    directed(uint16, float32, float_to_bfloat16_rz))
int_rz = stands_for("cuda.bf16.int32_to_bfloat16_rz", doc="An int32 as a bfloat16, rounded once, towards zero.")(
    directed(int32, libdevice.int2float_rz, float_to_bfloat16_rz))
uint_rz = stands_for("cuda.bf16.uint32_to_bfloat16_rz", doc="A uint32 as a bfloat16, rounded once, towards zero.")(
    directed(uint32, libdevice.uint2float_rz, float_to_bfloat16_rz))
ll_rz = stands_for("cuda.bf16.int64_to_bfloat16_rz", doc="An int64 as a bfloat16, rounded once, towards zero.")(
    directed(int64, libdevice.ll2float_rz, float_to_bfloat16_rz))
ull_rz = stands_for("cuda.bf16.uint64_to_bfloat16_rz", doc="A uint64 as a bfloat16, rounded once, towards zero.")(
    directed(uint64, libdevice.ull2float_rz, float_to_bfloat16_rz))
short_rd = stands_for("cuda.bf16.int16_to_bfloat16_rd", doc="An int16 as a bfloat16, rounded once, down.")(
    directed(int16, float32, float_to_bfloat16_rd))
ushort_rd = stands_for("cuda.bf16.uint16_to_bfloat16_rd", doc="A uint16 as a bfloat16, rounded once, down.")(
    directed(uint16, float32, float_to_bfloat16_rd))
int_rd = stands_for("cuda.bf16.int32_to_bfloat16_rd", doc="An int32 as a bfloat16, rounded once, down.")(
    directed(int32, libdevice.int2float_rd, float_to_bfloat16_rd))
uint_rd = stands_for("cuda.bf16.uint32_to_bfloat16_rd", doc="A uint32 as a bfloat16, rounded once, down.")(
    directed(uint32, libdevice.uint2float_rd, float_to_bfloat16_rd))
ll_rd = stands_for("cuda.bf16.int64_to_bfloat16_rd", doc="An int64 as a bfloat16, rounded once, down.")(
    directed(int64, libdevice.ll2float_rd, float_to_bfloat16_rd))
ull_rd = stands_for("cuda.bf16.uint64_to_bfloat16_rd", doc="A uint64 as a bfloat16, rounded once, down.")(
    directed(uint64, libdevice.ull2float_rd, float_to_bfloat16_rd))
short_ru = stands_for("cuda.bf16.int16_to_bfloat16_ru", doc="An int16 as a bfloat16, rounded once, up.")(
    directed(int16, float32, float_to_bfloat16_ru))
ushort_ru = stands_for("cuda.bf16.uint16_to_bfloat16_ru", doc="A uint16 as a bfloat16, rounded once, up.")(
    directed(uint16, float32, float_to_bfloat16_ru))
int_ru = stands_for("cuda.bf16.int32_to_bfloat16_ru", doc="An int32 as a bfloat16, rounded once, up.")(
    directed(int32, libdevice.int2float_ru, float_to_bfloat16_ru))
uint_ru = stands_for("cuda.bf16.uint32_to_bfloat16_ru", doc="A uint32 as a bfloat16, rounded once, up.")(
    directed(uint32, libdevice.uint2float_ru, float_to_bfloat16_ru))
ll_ru = stands_for("cuda.bf16.int64_to_bfloat16_ru", doc="An int64 as a bfloat16, rounded once, up.")(
    directed(int64, libdevice.ll2float_ru, float_to_bfloat16_ru))
ull_ru = stands_for("cuda.bf16.uint64_to_bfloat16_ru", doc="A uint64 as a bfloat16, rounded once, up.")(
    directed(uint64, libdevice.ull2float_ru, float_to_bfloat16_ru))


# --- from bfloat16: what does not fit becomes the nearest number that does --------------------------------------------


@stands_for("cuda.bf16.bfloat16_to_float32", doc="A bfloat16 as a float32.")
def bfloat16_to_float(x: Real) -> float:
    return single(x)


to_char_rz = stands_for("cuda.bf16.bfloat16_to_int8_rz", doc="A bfloat16 as an int8, rounded towards zero; NaN as 0.")(
    whole_clamped(bfloat16, int8, libdevice.float2int_rz, -128, 127))
to_uchar_rz = stands_for(
    "cuda.bf16.bfloat16_to_uint8_rz", doc="A bfloat16 as a uint8, rounded towards zero; NaN as 0.")(
    whole_clamped(bfloat16, uint8, libdevice.float2int_rz, 0, 255))
to_short_rn = stands_for(
    "cuda.bf16.bfloat16_to_int16_rn",
    doc="A bfloat16 as an int16, rounded to nearest, the nearest one where none fits.")(
    whole_clamped(bfloat16, int16, libdevice.float2int_rn, -32768, 32767))
to_short_rz = stands_for(
    "cuda.bf16.bfloat16_to_int16_rz",
    doc="A bfloat16 as an int16, rounded towards zero, the nearest one where none fits.")(
    whole_clamped(bfloat16, int16, libdevice.float2int_rz, -32768, 32767))
to_short_rd = stands_for(
    "cuda.bf16.bfloat16_to_int16_rd", doc="A bfloat16 as an int16, rounded down, the nearest one where none fits.")(
    whole_clamped(bfloat16, int16, libdevice.float2int_rd, -32768, 32767))
to_short_ru = stands_for(
    "cuda.bf16.bfloat16_to_int16_ru", doc="A bfloat16 as an int16, rounded up, the nearest one where none fits.")(
    whole_clamped(bfloat16, int16, libdevice.float2int_ru, -32768, 32767))
to_ushort_rn = stands_for(
    "cuda.bf16.bfloat16_to_uint16_rn",
    doc="A bfloat16 as a uint16, rounded to nearest, the nearest one where none fits.")(
    whole_clamped(bfloat16, uint16, libdevice.float2int_rn, 0, 65535))
to_ushort_rz = stands_for(
    "cuda.bf16.bfloat16_to_uint16_rz",
    doc="A bfloat16 as a uint16, rounded towards zero, the nearest one where none fits.")(
    whole_clamped(bfloat16, uint16, libdevice.float2int_rz, 0, 65535))
to_ushort_rd = stands_for(
    "cuda.bf16.bfloat16_to_uint16_rd", doc="A bfloat16 as a uint16, rounded down, the nearest one where none fits.")(
    whole_clamped(bfloat16, uint16, libdevice.float2int_rd, 0, 65535))
to_ushort_ru = stands_for(
    "cuda.bf16.bfloat16_to_uint16_ru", doc="A bfloat16 as a uint16, rounded up, the nearest one where none fits.")(
    whole_clamped(bfloat16, uint16, libdevice.float2int_ru, 0, 65535))
to_int_rn = stands_for(
    "cuda.bf16.bfloat16_to_int32_rn",
    doc="A bfloat16 as an int32, rounded to nearest, the nearest one where none fits.")(
    whole(bfloat16, int32, libdevice.float2int_rn))
to_int_rz = stands_for(
    "cuda.bf16.bfloat16_to_int32_rz",
    doc="A bfloat16 as an int32, rounded towards zero, the nearest one where none fits.")(
    whole(bfloat16, int32, libdevice.float2int_rz))
to_int_rd = stands_for(
    "cuda.bf16.bfloat16_to_int32_rd", doc="A bfloat16 as an int32, rounded down, the nearest one where none fits.")(
    whole(bfloat16, int32, libdevice.float2int_rd))
to_int_ru = stands_for(
    "cuda.bf16.bfloat16_to_int32_ru", doc="A bfloat16 as an int32, rounded up, the nearest one where none fits.")(
    whole(bfloat16, int32, libdevice.float2int_ru))
to_uint_rn = stands_for(
    "cuda.bf16.bfloat16_to_uint32_rn",
    doc="A bfloat16 as a uint32, rounded to nearest, the nearest one where none fits.")(
    whole(bfloat16, uint32, libdevice.float2uint_rn))
to_uint_rz = stands_for(
    "cuda.bf16.bfloat16_to_uint32_rz",
    doc="A bfloat16 as a uint32, rounded towards zero, the nearest one where none fits.")(
    whole(bfloat16, uint32, libdevice.float2uint_rz))
to_uint_rd = stands_for(
    "cuda.bf16.bfloat16_to_uint32_rd", doc="A bfloat16 as a uint32, rounded down, the nearest one where none fits.")(
    whole(bfloat16, uint32, libdevice.float2uint_rd))
to_uint_ru = stands_for(
    "cuda.bf16.bfloat16_to_uint32_ru", doc="A bfloat16 as a uint32, rounded up, the nearest one where none fits.")(
    whole(bfloat16, uint32, libdevice.float2uint_ru))
to_ll_rn = stands_for(
    "cuda.bf16.bfloat16_to_int64_rn",
    doc="A bfloat16 as an int64, rounded to nearest, the nearest one where none fits.")(
    whole(bfloat16, int64, libdevice.float2ll_rn))
to_ll_rz = stands_for(
    "cuda.bf16.bfloat16_to_int64_rz",
    doc="A bfloat16 as an int64, rounded towards zero, the nearest one where none fits.")(
    whole(bfloat16, int64, libdevice.float2ll_rz))
to_ll_rd = stands_for(
    "cuda.bf16.bfloat16_to_int64_rd", doc="A bfloat16 as an int64, rounded down, the nearest one where none fits.")(
    whole(bfloat16, int64, libdevice.float2ll_rd))
to_ll_ru = stands_for(
    "cuda.bf16.bfloat16_to_int64_ru", doc="A bfloat16 as an int64, rounded up, the nearest one where none fits.")(
    whole(bfloat16, int64, libdevice.float2ll_ru))
to_ull_rn = stands_for(
    "cuda.bf16.bfloat16_to_uint64_rn",
    doc="A bfloat16 as a uint64, rounded to nearest, the nearest one where none fits.")(
    whole(bfloat16, uint64, libdevice.float2ull_rn))
to_ull_rz = stands_for(
    "cuda.bf16.bfloat16_to_uint64_rz",
    doc="A bfloat16 as a uint64, rounded towards zero, the nearest one where none fits.")(
    whole(bfloat16, uint64, libdevice.float2ull_rz))
to_ull_rd = stands_for(
    "cuda.bf16.bfloat16_to_uint64_rd", doc="A bfloat16 as a uint64, rounded down, the nearest one where none fits.")(
    whole(bfloat16, uint64, libdevice.float2ull_rd))
to_ull_ru = stands_for(
    "cuda.bf16.bfloat16_to_uint64_ru", doc="A bfloat16 as a uint64, rounded up, the nearest one where none fits.")(
    whole(bfloat16, uint64, libdevice.float2ull_ru))
