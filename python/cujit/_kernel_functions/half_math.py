"""cuda.fp16: arithmetic, functions and conversions of float16, by numba's names and CUDA's. Arguments of other types
become float16 first. What has no instruction of its own is computed in float32 and rounded."""
from __future__ import annotations

import math
from typing import TYPE_CHECKING

from cujit import cuda
from cujit._kernel_functions.narrow_float import directed, in_single, whole, whole_clamped
from cujit._kernel_functions.pointers import carray
from cujit._kernel_functions.stands_for import stands_for
from cujit.types import float16, float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64

if TYPE_CHECKING:
    from cujit._annotations import Real

libdevice = cuda.libdevice


def single(x):
    return float32(float16(x))


@stands_for("cuda.fp16.hadd", "cuda.fp16.__hadd", doc="x + y, of float16.")
def hadd(x: Real, y: Real) -> float:
    return float16(x) + float16(y)


@stands_for("cuda.fp16.hsub", "cuda.fp16.__hsub", doc="x - y, of float16.")
def hsub(x: Real, y: Real) -> float:
    return float16(x) - float16(y)


@stands_for("cuda.fp16.hmul", "cuda.fp16.__hmul", doc="x * y, of float16.")
def hmul(x: Real, y: Real) -> float:
    return float16(x) * float16(y)


@stands_for("cuda.fp16.hdiv", "cuda.fp16.__hdiv", doc="x / y, of float16.")
def hdiv(x: Real, y: Real) -> float:
    return float16(x) / float16(y)


@stands_for("cuda.fp16.hfma", "cuda.fp16.__hfma", doc="x * y + z, rounded once, of float16.")
def hfma(x: Real, y: Real, z: Real) -> float:
    return cuda.fma(float16(x), float16(y), float16(z))


@stands_for("cuda.fp16.hneg", "cuda.fp16.__hneg", doc="-x, of float16.")
def hneg(x: Real) -> float:
    return -float16(x)


@stands_for("cuda.fp16.habs", "cuda.fp16.__habs", doc="The absolute value, of float16.")
def habs(x: Real) -> float:
    return abs(float16(x))


@stands_for("cuda.fp16.hmax", "cuda.fp16.__hmax", doc="The larger number; the other one where one is NaN, of float16.")
def hmax(x: Real, y: Real) -> float:
    return float16(libdevice.fmaxf(float16(x), float16(y)))


@stands_for("cuda.fp16.hmin", "cuda.fp16.__hmin", doc="The smaller number; the other one where one is NaN, of float16.")
def hmin(x: Real, y: Real) -> float:
    return float16(libdevice.fminf(float16(x), float16(y)))


# --- arithmetic with a rule of its own --------------------------------------------------------------------------------


@stands_for("cuda.fp16.__hadd_rn", doc="x + y, never part of a fused multiply-add, of float16.")
def hadd_rn(x: Real, y: Real) -> float:
    return float16(libdevice.fadd_rn(single(x), single(y)))


@stands_for("cuda.fp16.__hsub_rn", doc="x - y, never part of a fused multiply-add, of float16.")
def hsub_rn(x: Real, y: Real) -> float:
    return float16(libdevice.fsub_rn(single(x), single(y)))


@stands_for("cuda.fp16.__hmul_rn", doc="x * y, never part of a fused multiply-add, of float16.")
def hmul_rn(x: Real, y: Real) -> float:
    return float16(libdevice.fmul_rn(single(x), single(y)))


def saturated(x):
    return float16(libdevice.saturatef(float32(x)))


@stands_for("cuda.fp16.__hadd_sat", doc="x + y between 0 and 1, NaN as 0, of float16.")
def hadd_sat(x: Real, y: Real) -> float:
    return saturated(hadd(x, y))


@stands_for("cuda.fp16.__hsub_sat", doc="x - y between 0 and 1, NaN as 0, of float16.")
def hsub_sat(x: Real, y: Real) -> float:
    return saturated(hsub(x, y))


@stands_for("cuda.fp16.__hmul_sat", doc="x * y between 0 and 1, NaN as 0, of float16.")
def hmul_sat(x: Real, y: Real) -> float:
    return saturated(hmul(x, y))


@stands_for("cuda.fp16.__hfma_sat", doc="x * y + z, rounded once, between 0 and 1, NaN as 0, of float16.")
def hfma_sat(x: Real, y: Real, z: Real) -> float:
    return saturated(hfma(x, y, z))


@stands_for("cuda.fp16.__hfma_relu", doc="x * y + z, rounded once, 0 where it is negative, of float16.")
def hfma_relu(x: Real, y: Real, z: Real) -> float:
    result = hfma(x, y, z)
    return float16(0) if result < float16(0) else result


@stands_for("cuda.fp16.__hmax_nan", doc="The larger number; NaN where one is, of float16.")
def hmax_nan(x: Real, y: Real) -> float:
    return float16(math.nan) if hisnan(x) or hisnan(y) else hmax(x, y)


@stands_for("cuda.fp16.__hmin_nan", doc="The smaller number; NaN where one is, of float16.")
def hmin_nan(x: Real, y: Real) -> float:
    return float16(math.nan) if hisnan(x) or hisnan(y) else hmin(x, y)


@stands_for("cuda.fp16.__hisnan", doc="Whether x is NaN, of float16.")
def hisnan(x: Real) -> bool:
    return math.isnan(float16(x))


@stands_for("cuda.fp16.__hisinf", doc="1 for infinity, -1 for negative infinity, else 0, of float16.")
def hisinf(x: Real) -> int:
    number = single(x)
    return int32(number == math.inf) - int32(number == -math.inf)


@stands_for("cuda.fp16.atomicAdd", doc="Add to the float16 that a pointer leads to: what was there before.")
def atomic_add(address, val: Real) -> float:
    return cuda.atomic.add(carray(address, 1), 0, float16(val))


# --- comparisons: false where one is NaN ------------------------------------------------------------------------------


@stands_for("cuda.fp16.heq", "cuda.fp16.__heq", doc="x == y; false where one is NaN, of float16.")
def heq(x: Real, y: Real) -> bool:
    return float16(x) == float16(y)


@stands_for("cuda.fp16.hne", "cuda.fp16.__hne", doc="x != y; false where one is NaN, of float16.")
def hne(x: Real, y: Real) -> bool:
    return float16(x) < float16(y) or float16(x) > float16(y)


@stands_for("cuda.fp16.hgt", "cuda.fp16.__hgt", doc="x > y, of float16.")
def hgt(x: Real, y: Real) -> bool:
    return float16(x) > float16(y)


@stands_for("cuda.fp16.hge", "cuda.fp16.__hge", doc="x >= y, of float16.")
def hge(x: Real, y: Real) -> bool:
    return float16(x) >= float16(y)


@stands_for("cuda.fp16.hlt", "cuda.fp16.__hlt", doc="x < y, of float16.")
def hlt(x: Real, y: Real) -> bool:
    return float16(x) < float16(y)


@stands_for("cuda.fp16.hle", "cuda.fp16.__hle", doc="x <= y, of float16.")
def hle(x: Real, y: Real) -> bool:
    return float16(x) <= float16(y)


# --- comparisons: true where one is NaN -------------------------------------------------------------------------------


@stands_for("cuda.fp16.__hequ", doc="x == y; true where one is NaN, of float16.")
def hequ(x: Real, y: Real) -> bool:
    return not hne(x, y)


@stands_for("cuda.fp16.__hneu", doc="x != y; true where one is NaN, of float16.")
def hneu(x: Real, y: Real) -> bool:
    return not heq(x, y)


@stands_for("cuda.fp16.__hgtu", doc="x > y; true where one is NaN, of float16.")
def hgtu(x: Real, y: Real) -> bool:
    return not hle(x, y)


@stands_for("cuda.fp16.__hgeu", doc="x >= y; true where one is NaN, of float16.")
def hgeu(x: Real, y: Real) -> bool:
    return not hlt(x, y)


@stands_for("cuda.fp16.__hltu", doc="x < y; true where one is NaN, of float16.")
def hltu(x: Real, y: Real) -> bool:
    return not hge(x, y)


@stands_for("cuda.fp16.__hleu", doc="x <= y; true where one is NaN, of float16.")
def hleu(x: Real, y: Real) -> bool:
    return not hgt(x, y)


# --- functions --------------------------------------------------------------------------------------------------------


hsqrt = stands_for("cuda.fp16.hsqrt", doc="Square root, of float16.")(in_single(float16, math.sqrt))
hrsqrt = stands_for("cuda.fp16.hrsqrt", doc="1 / sqrt(x), of float16.")(in_single(float16, libdevice.rsqrtf))
hrcp = stands_for("cuda.fp16.hrcp", doc="1 / x, of float16.")(in_single(float16, libdevice.frcp_rn))
hlog = stands_for("cuda.fp16.hlog", doc="Natural logarithm, of float16.")(in_single(float16, math.log))
hlog2 = stands_for("cuda.fp16.hlog2", doc="Logarithm to base 2, of float16.")(in_single(float16, math.log2))
hlog10 = stands_for("cuda.fp16.hlog10", doc="Logarithm to base 10, of float16.")(in_single(float16, math.log10))
hexp = stands_for("cuda.fp16.hexp", doc="e to the power x, of float16.")(in_single(float16, math.exp))
hexp2 = stands_for("cuda.fp16.hexp2", doc="2 to the power x, of float16.")(in_single(float16, math.exp2))
hexp10 = stands_for("cuda.fp16.hexp10", doc="10 to the power x, of float16.")(in_single(float16, libdevice.exp10f))
hsin = stands_for("cuda.fp16.hsin", doc="Sine, of float16.")(in_single(float16, math.sin))
hcos = stands_for("cuda.fp16.hcos", doc="Cosine, of float16.")(in_single(float16, math.cos))
htanh = stands_for("cuda.fp16.htanh", doc="Hyperbolic tangent, of float16.")(in_single(float16, math.tanh))
htanh_approx = stands_for("cuda.fp16.htanh_approx", doc="Hyperbolic tangent, fast and approximate, of float16.")(
    in_single(float16, libdevice.fast_tanhf))
hfloor = stands_for("cuda.fp16.hfloor", doc="Largest whole number not above x, of float16.")(
    in_single(float16, libdevice.floorf))
hceil = stands_for("cuda.fp16.hceil", doc="Smallest whole number not below x, of float16.")(
    in_single(float16, libdevice.ceilf))
htrunc = stands_for("cuda.fp16.htrunc", doc="x without its fraction, of float16.")(in_single(float16, libdevice.truncf))
hrint = stands_for("cuda.fp16.hrint", doc="The nearest whole number, halves to even, of float16.")(
    in_single(float16, libdevice.rintf))


# --- to float16: rn to nearest, rz towards zero, rd down, ru up -------------------------------------------------------


@stands_for(
    "cuda.fp16.__float2half", "cuda.fp16.__float2half_rn", doc="A float32 as a float16, rounded to nearest.")
def float_to_half(x: Real) -> float:
    return float16(float32(x))


@stands_for("cuda.fp16.__double2half", doc="A float64 as a float16, rounded once, to nearest.")
def double_to_half(x: Real) -> float:
    return float16(float64(x))


def next_to(number, is_away):
    """The float16 after or before, away from zero or towards it; both zeros are before the least of their sign."""
    bits = cuda.fp16.__half_as_ushort(number)
    return cuda.fp16.__ushort_as_half(bits + 1 if is_away else bits - 1)


@stands_for("cuda.fp16.__float2half_rz", doc="A float32 as a float16, rounded towards zero.")
def float_to_half_rz(x: Real) -> float:
    number = float32(x)
    near = float16(number)
    return next_to(near, False) if abs(float32(near)) > abs(number) else near


def is_negative(number):
    return cuda.fp16.__half_as_short(number) < 0


@stands_for("cuda.fp16.__float2half_rd", doc="A float32 as a float16, rounded down.")
def float_to_half_rd(x: Real) -> float:
    number = float32(x)
    near = float16(number)
    return next_to(near, is_negative(near)) if float32(near) > number else near


@stands_for("cuda.fp16.__float2half_ru", doc="A float32 as a float16, rounded up.")
def float_to_half_ru(x: Real) -> float:
    number = float32(x)
    near = float16(number)
    return next_to(near, not is_negative(near)) if float32(near) < number else near


def to_nearest(dtype):
    """By way of float32, which is exact up to 2**24: what is above is infinity in either."""
    def convert(x: Real) -> float:
        return float16(float32(dtype(x)))
    return convert


short_to_half_rn = stands_for("cuda.fp16.__short2half_rn", doc="An int16 as a float16, rounded once, to nearest.")(
    to_nearest(int16))
ushort_to_half_rn = stands_for("cuda.fp16.__ushort2half_rn", doc="A uint16 as a float16, rounded once, to nearest.")(
    to_nearest(uint16))
int_to_half_rn = stands_for("cuda.fp16.__int2half_rn", doc="An int32 as a float16, rounded once, to nearest.")(
    to_nearest(int32))
uint_to_half_rn = stands_for("cuda.fp16.__uint2half_rn", doc="A uint32 as a float16, rounded once, to nearest.")(
    to_nearest(uint32))
ll_to_half_rn = stands_for("cuda.fp16.__ll2half_rn", doc="An int64 as a float16, rounded once, to nearest.")(
    to_nearest(int64))
ull_to_half_rn = stands_for("cuda.fp16.__ull2half_rn", doc="A uint64 as a float16, rounded once, to nearest.")(
    to_nearest(uint64))
short_to_half_rz = stands_for("cuda.fp16.__short2half_rz", doc="An int16 as a float16, rounded once, towards zero.")(
    directed(int16, float32, float_to_half_rz))
ushort_to_half_rz = stands_for("cuda.fp16.__ushort2half_rz", doc="A uint16 as a float16, rounded once, towards zero.")(
    directed(uint16, float32, float_to_half_rz))
int_to_half_rz = stands_for("cuda.fp16.__int2half_rz", doc="An int32 as a float16, rounded once, towards zero.")(
    directed(int32, libdevice.int2float_rz, float_to_half_rz))
uint_to_half_rz = stands_for("cuda.fp16.__uint2half_rz", doc="A uint32 as a float16, rounded once, towards zero.")(
    directed(uint32, libdevice.uint2float_rz, float_to_half_rz))
ll_to_half_rz = stands_for("cuda.fp16.__ll2half_rz", doc="An int64 as a float16, rounded once, towards zero.")(
    directed(int64, libdevice.ll2float_rz, float_to_half_rz))
ull_to_half_rz = stands_for("cuda.fp16.__ull2half_rz", doc="A uint64 as a float16, rounded once, towards zero.")(
    directed(uint64, libdevice.ull2float_rz, float_to_half_rz))
short_to_half_rd = stands_for("cuda.fp16.__short2half_rd", doc="An int16 as a float16, rounded once, down.")(
    directed(int16, float32, float_to_half_rd))
ushort_to_half_rd = stands_for("cuda.fp16.__ushort2half_rd", doc="A uint16 as a float16, rounded once, down.")(
    directed(uint16, float32, float_to_half_rd))
int_to_half_rd = stands_for("cuda.fp16.__int2half_rd", doc="An int32 as a float16, rounded once, down.")(
    directed(int32, libdevice.int2float_rd, float_to_half_rd))
uint_to_half_rd = stands_for("cuda.fp16.__uint2half_rd", doc="A uint32 as a float16, rounded once, down.")(
    directed(uint32, libdevice.uint2float_rd, float_to_half_rd))
ll_to_half_rd = stands_for("cuda.fp16.__ll2half_rd", doc="An int64 as a float16, rounded once, down.")(
    directed(int64, libdevice.ll2float_rd, float_to_half_rd))
ull_to_half_rd = stands_for("cuda.fp16.__ull2half_rd", doc="A uint64 as a float16, rounded once, down.")(
    directed(uint64, libdevice.ull2float_rd, float_to_half_rd))
short_to_half_ru = stands_for("cuda.fp16.__short2half_ru", doc="An int16 as a float16, rounded once, up.")(
    directed(int16, float32, float_to_half_ru))
ushort_to_half_ru = stands_for("cuda.fp16.__ushort2half_ru", doc="A uint16 as a float16, rounded once, up.")(
    directed(uint16, float32, float_to_half_ru))
int_to_half_ru = stands_for("cuda.fp16.__int2half_ru", doc="An int32 as a float16, rounded once, up.")(
    directed(int32, libdevice.int2float_ru, float_to_half_ru))
uint_to_half_ru = stands_for("cuda.fp16.__uint2half_ru", doc="A uint32 as a float16, rounded once, up.")(
    directed(uint32, libdevice.uint2float_ru, float_to_half_ru))
ll_to_half_ru = stands_for("cuda.fp16.__ll2half_ru", doc="An int64 as a float16, rounded once, up.")(
    directed(int64, libdevice.ll2float_ru, float_to_half_ru))
ull_to_half_ru = stands_for("cuda.fp16.__ull2half_ru", doc="A uint64 as a float16, rounded once, up.")(
    directed(uint64, libdevice.ull2float_ru, float_to_half_ru))


# --- from float16: what does not fit becomes the nearest number that does ---------------------------------------------


@stands_for("cuda.fp16.__half2float", doc="A float16 as a float32.")
def half_to_float(x: Real) -> float:
    return single(x)


half_to_char_rz = stands_for(
    "cuda.fp16.__half2char_rz", doc="A float16 as an int8, rounded towards zero; NaN as 0.")(
    whole_clamped(float16, int8, libdevice.float2int_rz, -128, 127))
half_to_uchar_rz = stands_for(
    "cuda.fp16.__half2uchar_rz", doc="A float16 as a uint8, rounded towards zero; NaN as 0.")(
    whole_clamped(float16, uint8, libdevice.float2int_rz, 0, 255))
half_to_short_rn = stands_for(
    "cuda.fp16.__half2short_rn",
    doc="A float16 as an int16, rounded to nearest, the nearest one where none fits; NaN as 0.")(
    whole_clamped(float16, int16, libdevice.float2int_rn, -32768, 32767))
half_to_short_rz = stands_for(
    "cuda.fp16.__half2short_rz",
    doc="A float16 as an int16, rounded towards zero, the nearest one where none fits; NaN as 0.")(
    whole_clamped(float16, int16, libdevice.float2int_rz, -32768, 32767))
half_to_short_rd = stands_for(
    "cuda.fp16.__half2short_rd",
    doc="A float16 as an int16, rounded down, the nearest one where none fits; NaN as 0.")(
    whole_clamped(float16, int16, libdevice.float2int_rd, -32768, 32767))
half_to_short_ru = stands_for(
    "cuda.fp16.__half2short_ru",
    doc="A float16 as an int16, rounded up, the nearest one where none fits; NaN as 0.")(
    whole_clamped(float16, int16, libdevice.float2int_ru, -32768, 32767))
half_to_ushort_rn = stands_for(
    "cuda.fp16.__half2ushort_rn",
    doc="A float16 as a uint16, rounded to nearest, the nearest one where none fits; NaN as 0.")(
    whole_clamped(float16, uint16, libdevice.float2int_rn, 0, 65535))
half_to_ushort_rz = stands_for(
    "cuda.fp16.__half2ushort_rz",
    doc="A float16 as a uint16, rounded towards zero, the nearest one where none fits; NaN as 0.")(
    whole_clamped(float16, uint16, libdevice.float2int_rz, 0, 65535))
half_to_ushort_rd = stands_for(
    "cuda.fp16.__half2ushort_rd",
    doc="A float16 as a uint16, rounded down, the nearest one where none fits; NaN as 0.")(
    whole_clamped(float16, uint16, libdevice.float2int_rd, 0, 65535))
half_to_ushort_ru = stands_for(
    "cuda.fp16.__half2ushort_ru",
    doc="A float16 as a uint16, rounded up, the nearest one where none fits; NaN as 0.")(
    whole_clamped(float16, uint16, libdevice.float2int_ru, 0, 65535))
half_to_int_rn = stands_for(
    "cuda.fp16.__half2int_rn",
    doc="A float16 as an int32, rounded to nearest, the nearest one where none fits; NaN as 0.")(
    whole(float16, int32, libdevice.float2int_rn))
half_to_int_rz = stands_for(
    "cuda.fp16.__half2int_rz",
    doc="A float16 as an int32, rounded towards zero, the nearest one where none fits; NaN as 0.")(
    whole(float16, int32, libdevice.float2int_rz))
half_to_int_rd = stands_for(
    "cuda.fp16.__half2int_rd",
    doc="A float16 as an int32, rounded down, the nearest one where none fits; NaN as 0.")(
    whole(float16, int32, libdevice.float2int_rd))
half_to_int_ru = stands_for(
    "cuda.fp16.__half2int_ru",
    doc="A float16 as an int32, rounded up, the nearest one where none fits; NaN as 0.")(
    whole(float16, int32, libdevice.float2int_ru))
half_to_uint_rn = stands_for(
    "cuda.fp16.__half2uint_rn",
    doc="A float16 as a uint32, rounded to nearest, the nearest one where none fits; NaN as 0.")(
    whole(float16, uint32, libdevice.float2uint_rn))
half_to_uint_rz = stands_for(
    "cuda.fp16.__half2uint_rz",
    doc="A float16 as a uint32, rounded towards zero, the nearest one where none fits; NaN as 0.")(
    whole(float16, uint32, libdevice.float2uint_rz))
half_to_uint_rd = stands_for(
    "cuda.fp16.__half2uint_rd",
    doc="A float16 as a uint32, rounded down, the nearest one where none fits; NaN as 0.")(
    whole(float16, uint32, libdevice.float2uint_rd))
half_to_uint_ru = stands_for(
    "cuda.fp16.__half2uint_ru",
    doc="A float16 as a uint32, rounded up, the nearest one where none fits; NaN as 0.")(
    whole(float16, uint32, libdevice.float2uint_ru))
half_to_ll_rn = stands_for(
    "cuda.fp16.__half2ll_rn",
    doc="A float16 as an int64, rounded to nearest, the nearest one where none fits; NaN as -2**63.")(
    whole(float16, int64, libdevice.float2ll_rn))
half_to_ll_rz = stands_for(
    "cuda.fp16.__half2ll_rz",
    doc="A float16 as an int64, rounded towards zero, the nearest one where none fits; NaN as -2**63.")(
    whole(float16, int64, libdevice.float2ll_rz))
half_to_ll_rd = stands_for(
    "cuda.fp16.__half2ll_rd",
    doc="A float16 as an int64, rounded down, the nearest one where none fits; NaN as -2**63.")(
    whole(float16, int64, libdevice.float2ll_rd))
half_to_ll_ru = stands_for(
    "cuda.fp16.__half2ll_ru",
    doc="A float16 as an int64, rounded up, the nearest one where none fits; NaN as -2**63.")(
    whole(float16, int64, libdevice.float2ll_ru))
half_to_ull_rn = stands_for(
    "cuda.fp16.__half2ull_rn",
    doc="A float16 as a uint64, rounded to nearest, the nearest one where none fits; NaN as 2**63.")(
    whole(float16, uint64, libdevice.float2ull_rn))
half_to_ull_rz = stands_for(
    "cuda.fp16.__half2ull_rz",
    doc="A float16 as a uint64, rounded towards zero, the nearest one where none fits; NaN as 2**63.")(
    whole(float16, uint64, libdevice.float2ull_rz))
half_to_ull_rd = stands_for(
    "cuda.fp16.__half2ull_rd",
    doc="A float16 as a uint64, rounded down, the nearest one where none fits; NaN as 2**63.")(
    whole(float16, uint64, libdevice.float2ull_rd))
half_to_ull_ru = stands_for(
    "cuda.fp16.__half2ull_ru",
    doc="A float16 as a uint64, rounded up, the nearest one where none fits; NaN as 2**63.")(
    whole(float16, uint64, libdevice.float2ull_ru))
