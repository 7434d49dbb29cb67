"""cuda.bf16. Made by scripts/intrinsics_stub.py from the tables."""
# ruff: noqa: E501, I001
from typing import Any
from cujit import _core
from cujit._annotations import Number, Real


bfloat16: _core.Type
def bfloat16_as_int16(x: Number) -> int:
    """The int16 with the bits of a bfloat16."""
def bfloat16_as_uint16(x: Number) -> int:
    """The uint16 with the bits of a bfloat16."""
def int16_as_bfloat16(x: Number) -> Any:
    """The bfloat16 with the bits of an int16."""
def uint16_as_bfloat16(x: Number) -> Any:
    """The bfloat16 with the bits of a uint16."""
def hadd(x: Real, y: Real) -> float:
    """x + y, of bfloat16."""
def hsub(x: Real, y: Real) -> float:
    """x - y, of bfloat16."""
def hmul(x: Real, y: Real) -> float:
    """x * y, of bfloat16."""
def hdiv(x: Real, y: Real) -> float:
    """x / y, of bfloat16."""
def hadd_rn(x: Real, y: Real) -> float:
    """x + y, never part of a fused multiply-add, of bfloat16."""
def hsub_rn(x: Real, y: Real) -> float:
    """x - y, never part of a fused multiply-add, of bfloat16."""
def hmul_rn(x: Real, y: Real) -> float:
    """x * y, never part of a fused multiply-add, of bfloat16."""
def hfma(x: Real, y: Real, z: Real) -> float:
    """x * y + z, rounded once, of bfloat16."""
def hadd_sat(x: Real, y: Real) -> float:
    """x + y between 0 and 1, NaN as 0, of bfloat16."""
def hsub_sat(x: Real, y: Real) -> float:
    """x - y between 0 and 1, NaN as 0, of bfloat16."""
def hmul_sat(x: Real, y: Real) -> float:
    """x * y between 0 and 1, NaN as 0, of bfloat16."""
def hfma_sat(x: Real, y: Real, z: Real) -> float:
    """x * y + z, rounded once, between 0 and 1, NaN as 0, of bfloat16."""
def hfma_relu(x: Real, y: Real, z: Real) -> float:
    """x * y + z, rounded once, 0 where it is negative, of bfloat16."""
def hneg(x: Real) -> float:
    """-x, of bfloat16."""
def habs(x: Real) -> float:
    """The absolute value, of bfloat16."""
def heq(x: Real, y: Real) -> bool:
    """x == y; false where one is NaN, of bfloat16."""
def hne(x: Real, y: Real) -> bool:
    """x != y; false where one is NaN, of bfloat16."""
def hgt(x: Real, y: Real) -> bool:
    """x > y, of bfloat16."""
def hge(x: Real, y: Real) -> bool:
    """x >= y, of bfloat16."""
def hlt(x: Real, y: Real) -> bool:
    """x < y, of bfloat16."""
def hle(x: Real, y: Real) -> bool:
    """x <= y, of bfloat16."""
def hequ(x: Real, y: Real) -> bool:
    """x == y; true where one is NaN, of bfloat16."""
def hneu(x: Real, y: Real) -> bool:
    """x != y; true where one is NaN, of bfloat16."""
def hgtu(x: Real, y: Real) -> bool:
    """x > y; true where one is NaN, of bfloat16."""
def hgeu(x: Real, y: Real) -> bool:
    """x >= y; true where one is NaN, of bfloat16."""
def hltu(x: Real, y: Real) -> bool:
    """x < y; true where one is NaN, of bfloat16."""
def hleu(x: Real, y: Real) -> bool:
    """x <= y; true where one is NaN, of bfloat16."""
def hmax(x: Real, y: Real) -> float:
    """The larger number; the other one where one is NaN, of bfloat16."""
def hmin(x: Real, y: Real) -> float:
    """The smaller number; the other one where one is NaN, of bfloat16."""
def hmax_nan(x: Real, y: Real) -> float:
    """The larger number; NaN where one is, of bfloat16."""
def hmin_nan(x: Real, y: Real) -> float:
    """The smaller number; NaN where one is, of bfloat16."""
def hisnan(x: Real) -> bool:
    """Whether x is NaN, of bfloat16."""
def hisinf(x: Real) -> int:
    """1 for infinity, -1 for negative infinity, else 0, of bfloat16."""
def hsqrt(x: Real) -> float:
    """Square root, of bfloat16."""
def hrsqrt(x: Real) -> float:
    """1 / sqrt(x), of bfloat16."""
def hrcp(x: Real) -> float:
    """1 / x, of bfloat16."""
def hlog(x: Real) -> float:
    """Natural logarithm, of bfloat16."""
def hlog2(x: Real) -> float:
    """Logarithm to base 2, of bfloat16."""
def hlog10(x: Real) -> float:
    """Logarithm to base 10, of bfloat16."""
def hexp(x: Real) -> float:
    """e to the power x, of bfloat16."""
def hexp2(x: Real) -> float:
    """2 to the power x, of bfloat16."""
def hexp10(x: Real) -> float:
    """10 to the power x, of bfloat16."""
def hsin(x: Real) -> float:
    """Sine, of bfloat16."""
def hcos(x: Real) -> float:
    """Cosine, of bfloat16."""
def htanh(x: Real) -> float:
    """Hyperbolic tangent, of bfloat16."""
def htanh_approx(x: Real) -> float:
    """Hyperbolic tangent, fast and approximate, of bfloat16."""
def hfloor(x: Real) -> float:
    """Largest whole number not above x, of bfloat16."""
def hceil(x: Real) -> float:
    """Smallest whole number not below x, of bfloat16."""
def htrunc(x: Real) -> float:
    """x without its fraction, of bfloat16."""
def hrint(x: Real) -> float:
    """The nearest whole number, halves to even, of bfloat16."""
def float32_to_bfloat16(x: Real) -> float:
    """A float32 as a bfloat16, rounded to nearest."""
def float32_to_bfloat16_rn(x: Real) -> float:
    """A float32 as a bfloat16, rounded to nearest."""
def float64_to_bfloat16(x: Real) -> float:
    """A float64 as a bfloat16, rounded once, to nearest."""
def float32_to_bfloat16_rz(x: Real) -> float:
    """A float32 as a bfloat16, rounded towards zero."""
def float32_to_bfloat16_rd(x: Real) -> float:
    """A float32 as a bfloat16, rounded down."""
def float32_to_bfloat16_ru(x: Real) -> float:
    """A float32 as a bfloat16, rounded up."""
def int16_to_bfloat16_rn(x: Real) -> float:
    """An int16 as a bfloat16, rounded once, to nearest."""
def uint16_to_bfloat16_rn(x: Real) -> float:
    """A uint16 as a bfloat16, rounded once, to nearest."""
def int32_to_bfloat16_rn(x: Real) -> float:
    """An int32 as a bfloat16, rounded once, to nearest."""
def uint32_to_bfloat16_rn(x: Real) -> float:
    """A uint32 as a bfloat16, rounded once, to nearest."""
def int64_to_bfloat16_rn(x: Real) -> float:
    """An int64 as a bfloat16, rounded once, to nearest."""
def uint64_to_bfloat16_rn(x: Real) -> float:
    """A uint64 as a bfloat16, rounded once, to nearest."""
def int16_to_bfloat16_rz(x: Real) -> float:
    """An int16 as a bfloat16, rounded once, towards zero."""
def uint16_to_bfloat16_rz(x: Real) -> float:
    """A uint16 as a bfloat16, rounded once, towards zero."""
def int32_to_bfloat16_rz(x: Real) -> float:
    """An int32 as a bfloat16, rounded once, towards zero."""
def uint32_to_bfloat16_rz(x: Real) -> float:
    """A uint32 as a bfloat16, rounded once, towards zero."""
def int64_to_bfloat16_rz(x: Real) -> float:
    """An int64 as a bfloat16, rounded once, towards zero."""
def uint64_to_bfloat16_rz(x: Real) -> float:
    """A uint64 as a bfloat16, rounded once, towards zero."""
def int16_to_bfloat16_rd(x: Real) -> float:
    """An int16 as a bfloat16, rounded once, down."""
def uint16_to_bfloat16_rd(x: Real) -> float:
    """A uint16 as a bfloat16, rounded once, down."""
def int32_to_bfloat16_rd(x: Real) -> float:
    """An int32 as a bfloat16, rounded once, down."""
def uint32_to_bfloat16_rd(x: Real) -> float:
    """A uint32 as a bfloat16, rounded once, down."""
def int64_to_bfloat16_rd(x: Real) -> float:
    """An int64 as a bfloat16, rounded once, down."""
def uint64_to_bfloat16_rd(x: Real) -> float:
    """A uint64 as a bfloat16, rounded once, down."""
def int16_to_bfloat16_ru(x: Real) -> float:
    """An int16 as a bfloat16, rounded once, up."""
def uint16_to_bfloat16_ru(x: Real) -> float:
    """A uint16 as a bfloat16, rounded once, up."""
def int32_to_bfloat16_ru(x: Real) -> float:
    """An int32 as a bfloat16, rounded once, up."""
def uint32_to_bfloat16_ru(x: Real) -> float:
    """A uint32 as a bfloat16, rounded once, up."""
def int64_to_bfloat16_ru(x: Real) -> float:
    """An int64 as a bfloat16, rounded once, up."""
def uint64_to_bfloat16_ru(x: Real) -> float:
    """A uint64 as a bfloat16, rounded once, up."""
def bfloat16_to_float32(x: Real) -> float:
    """A bfloat16 as a float32."""
def bfloat16_to_int8_rz(x: Real) -> int:
    """A bfloat16 as an int8, rounded towards zero; NaN as 0."""
def bfloat16_to_uint8_rz(x: Real) -> int:
    """A bfloat16 as a uint8, rounded towards zero; NaN as 0."""
def bfloat16_to_int16_rn(x: Real) -> int:
    """A bfloat16 as an int16, rounded to nearest, the nearest one where none fits."""
def bfloat16_to_int16_rz(x: Real) -> int:
    """A bfloat16 as an int16, rounded towards zero, the nearest one where none fits."""
def bfloat16_to_int16_rd(x: Real) -> int:
    """A bfloat16 as an int16, rounded down, the nearest one where none fits."""
def bfloat16_to_int16_ru(x: Real) -> int:
    """A bfloat16 as an int16, rounded up, the nearest one where none fits."""
def bfloat16_to_uint16_rn(x: Real) -> int:
    """A bfloat16 as a uint16, rounded to nearest, the nearest one where none fits."""
def bfloat16_to_uint16_rz(x: Real) -> int:
    """A bfloat16 as a uint16, rounded towards zero, the nearest one where none fits."""
def bfloat16_to_uint16_rd(x: Real) -> int:
    """A bfloat16 as a uint16, rounded down, the nearest one where none fits."""
def bfloat16_to_uint16_ru(x: Real) -> int:
    """A bfloat16 as a uint16, rounded up, the nearest one where none fits."""
def bfloat16_to_int32_rn(x: Real) -> int:
    """A bfloat16 as an int32, rounded to nearest, the nearest one where none fits."""
def bfloat16_to_int32_rz(x: Real) -> int:
    """A bfloat16 as an int32, rounded towards zero, the nearest one where none fits."""
def bfloat16_to_int32_rd(x: Real) -> int:
    """A bfloat16 as an int32, rounded down, the nearest one where none fits."""
def bfloat16_to_int32_ru(x: Real) -> int:
    """A bfloat16 as an int32, rounded up, the nearest one where none fits."""
def bfloat16_to_uint32_rn(x: Real) -> int:
    """A bfloat16 as a uint32, rounded to nearest, the nearest one where none fits."""
def bfloat16_to_uint32_rz(x: Real) -> int:
    """A bfloat16 as a uint32, rounded towards zero, the nearest one where none fits."""
def bfloat16_to_uint32_rd(x: Real) -> int:
    """A bfloat16 as a uint32, rounded down, the nearest one where none fits."""
def bfloat16_to_uint32_ru(x: Real) -> int:
    """A bfloat16 as a uint32, rounded up, the nearest one where none fits."""
def bfloat16_to_int64_rn(x: Real) -> int:
    """A bfloat16 as an int64, rounded to nearest, the nearest one where none fits."""
def bfloat16_to_int64_rz(x: Real) -> int:
    """A bfloat16 as an int64, rounded towards zero, the nearest one where none fits."""
def bfloat16_to_int64_rd(x: Real) -> int:
    """A bfloat16 as an int64, rounded down, the nearest one where none fits."""
def bfloat16_to_int64_ru(x: Real) -> int:
    """A bfloat16 as an int64, rounded up, the nearest one where none fits."""
def bfloat16_to_uint64_rn(x: Real) -> int:
    """A bfloat16 as a uint64, rounded to nearest, the nearest one where none fits."""
def bfloat16_to_uint64_rz(x: Real) -> int:
    """A bfloat16 as a uint64, rounded towards zero, the nearest one where none fits."""
def bfloat16_to_uint64_rd(x: Real) -> int:
    """A bfloat16 as a uint64, rounded down, the nearest one where none fits."""
def bfloat16_to_uint64_ru(x: Real) -> int:
    """A bfloat16 as a uint64, rounded up, the nearest one where none fits."""
