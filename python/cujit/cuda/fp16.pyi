"""cuda.fp16. Made by scripts/intrinsics_stub.py from the tables."""
# ruff: noqa: E501, I001
from typing import Any
from cujit import _core
from cujit._annotations import Number, Real


__half: _core.Type
def __half_as_short(x: Number) -> int:
    """The int16 with the bits of a float16."""
def __half_as_ushort(x: Number) -> int:
    """The uint16 with the bits of a float16."""
def __short_as_half(x: Number) -> Any:
    """The float16 with the bits of an int16."""
def __ushort_as_half(x: Number) -> Any:
    """The float16 with the bits of a uint16."""
def hadd(x: Real, y: Real) -> float:
    """x + y, of float16."""
def __hadd(x: Real, y: Real) -> float:
    """x + y, of float16."""
def hsub(x: Real, y: Real) -> float:
    """x - y, of float16."""
def __hsub(x: Real, y: Real) -> float:
    """x - y, of float16."""
def hmul(x: Real, y: Real) -> float:
    """x * y, of float16."""
def __hmul(x: Real, y: Real) -> float:
    """x * y, of float16."""
def hdiv(x: Real, y: Real) -> float:
    """x / y, of float16."""
def __hdiv(x: Real, y: Real) -> float:
    """x / y, of float16."""
def hfma(x: Real, y: Real, z: Real) -> float:
    """x * y + z, rounded once, of float16."""
def __hfma(x: Real, y: Real, z: Real) -> float:
    """x * y + z, rounded once, of float16."""
def hneg(x: Real) -> float:
    """-x, of float16."""
def __hneg(x: Real) -> float:
    """-x, of float16."""
def habs(x: Real) -> float:
    """The absolute value, of float16."""
def __habs(x: Real) -> float:
    """The absolute value, of float16."""
def hmax(x: Real, y: Real) -> float:
    """The larger number; the other one where one is NaN, of float16."""
def __hmax(x: Real, y: Real) -> float:
    """The larger number; the other one where one is NaN, of float16."""
def hmin(x: Real, y: Real) -> float:
    """The smaller number; the other one where one is NaN, of float16."""
def __hmin(x: Real, y: Real) -> float:
    """The smaller number; the other one where one is NaN, of float16."""
def __hadd_rn(x: Real, y: Real) -> float:
    """x + y, never part of a fused multiply-add, of float16."""
def __hsub_rn(x: Real, y: Real) -> float:
    """x - y, never part of a fused multiply-add, of float16."""
def __hmul_rn(x: Real, y: Real) -> float:
    """x * y, never part of a fused multiply-add, of float16."""
def __hadd_sat(x: Real, y: Real) -> float:
    """x + y between 0 and 1, NaN as 0, of float16."""
def __hsub_sat(x: Real, y: Real) -> float:
    """x - y between 0 and 1, NaN as 0, of float16."""
def __hmul_sat(x: Real, y: Real) -> float:
    """x * y between 0 and 1, NaN as 0, of float16."""
def __hfma_sat(x: Real, y: Real, z: Real) -> float:
    """x * y + z, rounded once, between 0 and 1, NaN as 0, of float16."""
def __hfma_relu(x: Real, y: Real, z: Real) -> float:
    """x * y + z, rounded once, 0 where it is negative, of float16."""
def __hmax_nan(x: Real, y: Real) -> float:
    """The larger number; NaN where one is, of float16."""
def __hmin_nan(x: Real, y: Real) -> float:
    """The smaller number; NaN where one is, of float16."""
def __hisnan(x: Real) -> bool:
    """Whether x is NaN, of float16."""
def __hisinf(x: Real) -> int:
    """1 for infinity, -1 for negative infinity, else 0, of float16."""
def atomicAdd(address: Any, val: Real) -> float:
    """Add to the float16 that a pointer leads to: what was there before."""
def heq(x: Real, y: Real) -> bool:
    """x == y; false where one is NaN, of float16."""
def __heq(x: Real, y: Real) -> bool:
    """x == y; false where one is NaN, of float16."""
def hne(x: Real, y: Real) -> bool:
    """x != y; false where one is NaN, of float16."""
def __hne(x: Real, y: Real) -> bool:
    """x != y; false where one is NaN, of float16."""
def hgt(x: Real, y: Real) -> bool:
    """x > y, of float16."""
def __hgt(x: Real, y: Real) -> bool:
    """x > y, of float16."""
def hge(x: Real, y: Real) -> bool:
    """x >= y, of float16."""
def __hge(x: Real, y: Real) -> bool:
    """x >= y, of float16."""
def hlt(x: Real, y: Real) -> bool:
    """x < y, of float16."""
def __hlt(x: Real, y: Real) -> bool:
    """x < y, of float16."""
def hle(x: Real, y: Real) -> bool:
    """x <= y, of float16."""
def __hle(x: Real, y: Real) -> bool:
    """x <= y, of float16."""
def __hequ(x: Real, y: Real) -> bool:
    """x == y; true where one is NaN, of float16."""
def __hneu(x: Real, y: Real) -> bool:
    """x != y; true where one is NaN, of float16."""
def __hgtu(x: Real, y: Real) -> bool:
    """x > y; true where one is NaN, of float16."""
def __hgeu(x: Real, y: Real) -> bool:
    """x >= y; true where one is NaN, of float16."""
def __hltu(x: Real, y: Real) -> bool:
    """x < y; true where one is NaN, of float16."""
def __hleu(x: Real, y: Real) -> bool:
    """x <= y; true where one is NaN, of float16."""
def hsqrt(x: Real) -> float:
    """Square root, of float16."""
def hrsqrt(x: Real) -> float:
    """1 / sqrt(x), of float16."""
def hrcp(x: Real) -> float:
    """1 / x, of float16."""
def hlog(x: Real) -> float:
    """Natural logarithm, of float16."""
def hlog2(x: Real) -> float:
    """Logarithm to base 2, of float16."""
def hlog10(x: Real) -> float:
    """Logarithm to base 10, of float16."""
def hexp(x: Real) -> float:
    """e to the power x, of float16."""
def hexp2(x: Real) -> float:
    """2 to the power x, of float16."""
def hexp10(x: Real) -> float:
    """10 to the power x, of float16."""
def hsin(x: Real) -> float:
    """Sine, of float16."""
def hcos(x: Real) -> float:
    """Cosine, of float16."""
def htanh(x: Real) -> float:
    """Hyperbolic tangent, of float16."""
def htanh_approx(x: Real) -> float:
    """Hyperbolic tangent, fast and approximate, of float16."""
def hfloor(x: Real) -> float:
    """Largest whole number not above x, of float16."""
def hceil(x: Real) -> float:
    """Smallest whole number not below x, of float16."""
def htrunc(x: Real) -> float:
    """x without its fraction, of float16."""
def hrint(x: Real) -> float:
    """The nearest whole number, halves to even, of float16."""
def __float2half(x: Real) -> float:
    """A float32 as a float16, rounded to nearest."""
def __float2half_rn(x: Real) -> float:
    """A float32 as a float16, rounded to nearest."""
def __double2half(x: Real) -> float:
    """A float64 as a float16, rounded once, to nearest."""
def __float2half_rz(x: Real) -> float:
    """A float32 as a float16, rounded towards zero."""
def __float2half_rd(x: Real) -> float:
    """A float32 as a float16, rounded down."""
def __float2half_ru(x: Real) -> float:
    """A float32 as a float16, rounded up."""
def __short2half_rn(x: Real) -> float:
    """An int16 as a float16, rounded once, to nearest."""
def __ushort2half_rn(x: Real) -> float:
    """A uint16 as a float16, rounded once, to nearest."""
def __int2half_rn(x: Real) -> float:
    """An int32 as a float16, rounded once, to nearest."""
def __uint2half_rn(x: Real) -> float:
    """A uint32 as a float16, rounded once, to nearest."""
def __ll2half_rn(x: Real) -> float:
    """An int64 as a float16, rounded once, to nearest."""
def __ull2half_rn(x: Real) -> float:
    """A uint64 as a float16, rounded once, to nearest."""
def __short2half_rz(x: Real) -> float:
    """An int16 as a float16, rounded once, towards zero."""
def __ushort2half_rz(x: Real) -> float:
    """A uint16 as a float16, rounded once, towards zero."""
def __int2half_rz(x: Real) -> float:
    """An int32 as a float16, rounded once, towards zero."""
def __uint2half_rz(x: Real) -> float:
    """A uint32 as a float16, rounded once, towards zero."""
def __ll2half_rz(x: Real) -> float:
    """An int64 as a float16, rounded once, towards zero."""
def __ull2half_rz(x: Real) -> float:
    """A uint64 as a float16, rounded once, towards zero."""
def __short2half_rd(x: Real) -> float:
    """An int16 as a float16, rounded once, down."""
def __ushort2half_rd(x: Real) -> float:
    """A uint16 as a float16, rounded once, down."""
def __int2half_rd(x: Real) -> float:
    """An int32 as a float16, rounded once, down."""
def __uint2half_rd(x: Real) -> float:
    """A uint32 as a float16, rounded once, down."""
def __ll2half_rd(x: Real) -> float:
    """An int64 as a float16, rounded once, down."""
def __ull2half_rd(x: Real) -> float:
    """A uint64 as a float16, rounded once, down."""
def __short2half_ru(x: Real) -> float:
    """An int16 as a float16, rounded once, up."""
def __ushort2half_ru(x: Real) -> float:
    """A uint16 as a float16, rounded once, up."""
def __int2half_ru(x: Real) -> float:
    """An int32 as a float16, rounded once, up."""
def __uint2half_ru(x: Real) -> float:
    """A uint32 as a float16, rounded once, up."""
def __ll2half_ru(x: Real) -> float:
    """An int64 as a float16, rounded once, up."""
def __ull2half_ru(x: Real) -> float:
    """A uint64 as a float16, rounded once, up."""
def __half2float(x: Real) -> float:
    """A float16 as a float32."""
def __half2char_rz(x: Real) -> int:
    """A float16 as an int8, rounded towards zero; NaN as 0."""
def __half2uchar_rz(x: Real) -> int:
    """A float16 as a uint8, rounded towards zero; NaN as 0."""
def __half2short_rn(x: Real) -> int:
    """A float16 as an int16, rounded to nearest, the nearest one where none fits; NaN as 0."""
def __half2short_rz(x: Real) -> int:
    """A float16 as an int16, rounded towards zero, the nearest one where none fits; NaN as 0."""
def __half2short_rd(x: Real) -> int:
    """A float16 as an int16, rounded down, the nearest one where none fits; NaN as 0."""
def __half2short_ru(x: Real) -> int:
    """A float16 as an int16, rounded up, the nearest one where none fits; NaN as 0."""
def __half2ushort_rn(x: Real) -> int:
    """A float16 as a uint16, rounded to nearest, the nearest one where none fits; NaN as 0."""
def __half2ushort_rz(x: Real) -> int:
    """A float16 as a uint16, rounded towards zero, the nearest one where none fits; NaN as 0."""
def __half2ushort_rd(x: Real) -> int:
    """A float16 as a uint16, rounded down, the nearest one where none fits; NaN as 0."""
def __half2ushort_ru(x: Real) -> int:
    """A float16 as a uint16, rounded up, the nearest one where none fits; NaN as 0."""
def __half2int_rn(x: Real) -> int:
    """A float16 as an int32, rounded to nearest, the nearest one where none fits; NaN as 0."""
def __half2int_rz(x: Real) -> int:
    """A float16 as an int32, rounded towards zero, the nearest one where none fits; NaN as 0."""
def __half2int_rd(x: Real) -> int:
    """A float16 as an int32, rounded down, the nearest one where none fits; NaN as 0."""
def __half2int_ru(x: Real) -> int:
    """A float16 as an int32, rounded up, the nearest one where none fits; NaN as 0."""
def __half2uint_rn(x: Real) -> int:
    """A float16 as a uint32, rounded to nearest, the nearest one where none fits; NaN as 0."""
def __half2uint_rz(x: Real) -> int:
    """A float16 as a uint32, rounded towards zero, the nearest one where none fits; NaN as 0."""
def __half2uint_rd(x: Real) -> int:
    """A float16 as a uint32, rounded down, the nearest one where none fits; NaN as 0."""
def __half2uint_ru(x: Real) -> int:
    """A float16 as a uint32, rounded up, the nearest one where none fits; NaN as 0."""
def __half2ll_rn(x: Real) -> int:
    """A float16 as an int64, rounded to nearest, the nearest one where none fits; NaN as -2**63."""
def __half2ll_rz(x: Real) -> int:
    """A float16 as an int64, rounded towards zero, the nearest one where none fits; NaN as -2**63."""
def __half2ll_rd(x: Real) -> int:
    """A float16 as an int64, rounded down, the nearest one where none fits; NaN as -2**63."""
def __half2ll_ru(x: Real) -> int:
    """A float16 as an int64, rounded up, the nearest one where none fits; NaN as -2**63."""
def __half2ull_rn(x: Real) -> int:
    """A float16 as a uint64, rounded to nearest, the nearest one where none fits; NaN as 2**63."""
def __half2ull_rz(x: Real) -> int:
    """A float16 as a uint64, rounded towards zero, the nearest one where none fits; NaN as 2**63."""
def __half2ull_rd(x: Real) -> int:
    """A float16 as a uint64, rounded down, the nearest one where none fits; NaN as 2**63."""
def __half2ull_ru(x: Real) -> int:
    """A float16 as a uint64, rounded up, the nearest one where none fits; NaN as 2**63."""
