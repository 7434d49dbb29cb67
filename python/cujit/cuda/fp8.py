"""Floating-point numbers of 8 bits, under numba's names: from cujit.cuda.fp8 import fp8_e4m3, float32_to_fp8.

In kernels fp8_e4m3(x) makes one, float32(v) and int32(v) read it, `v.__x` are its bits; an array of uint8 has those of
many. All is written in the kernel language, so that every device has it: no instruction of a GPU is used.
"""
from __future__ import annotations

import enum
import struct
from typing import TYPE_CHECKING, Any

from cujit import cuda
from cujit.extending import as_type, overload, overload_method, register_jitable
from cujit.types import Number, bfloat16, float32, float64, int32, int64, uint8, uint16, uint32

if TYPE_CHECKING:
    from cujit.extending import StructType

__all__ = [
    "FP8Format", "RoundMode", "SaturationMode", "bfloat16_to_e8m0", "bfloat16_to_fp8", "cvt_double2_to_e8m0x2",
    "cvt_double2_to_fp8x2", "cvt_double_to_e8m0", "cvt_double_to_fp8", "cvt_float2_to_e8m0x2", "cvt_float2_to_fp8x2",
    "cvt_float_to_e8m0", "cvt_float_to_fp8", "e8m0_to_bfloat16", "float32_to_e8m0", "float32_to_fp8",
    "float32x2_to_e8m0x2", "float32x2_to_fp8x2", "float64_to_e8m0", "float64_to_fp8", "float64x2_to_e8m0x2",
    "float64x2_to_fp8x2", "fp8_e4m3", "fp8_e5m2", "fp8_e8m0", "fp8_interpretation_t", "fp8x2_e4m3", "fp8x2_e5m2",
    "fp8x2_e8m0", "fp8x4_e4m3", "fp8x4_e5m2", "fp8x4_e8m0", "fp8_to_float32", "e8m0_to_float32", "saturation_t",
]

_libdevice = cuda.libdevice
_NAN = 0x7F


class SaturationMode(enum.IntEnum):
    """What numbers beyond the largest become: an infinity, or NaN where there is none; or the largest."""

    NOSAT = 0
    SATFINITE = 1


class FP8Format(enum.IntEnum):
    """4 bits of exponent and 3 of mantissa, up to 448; or 5 and 2, up to 57344, with infinities."""

    E4M3 = 0
    E5M2 = 1


class RoundMode(enum.IntEnum):
    """How e8m0 rounds; the names and values of CUDA's cudaRoundMode."""

    cudaRoundNearest = 0
    cudaRoundZero = 1
    cudaRoundPosInf = 2
    cudaRoundMinInf = 3


saturation_t, fp8_interpretation_t = SaturationMode, FP8Format


# --- bits ------------------------------------------------------------------------------------------------------------

def _encode(bits, saturate, e5m2):
    """The 8 bits for a float64 given as an int64, to nearest, ties to even."""
    sign = (bits >> 56) & 0x80
    bits &= 0x7FFF_FFFF_FFFF_FFFF
    if bits > 0x7FF0_0000_0000_0000:
        return _NAN
    if e5m2:
        fraction, bias, largest, beyond = 2, 15, 0x7B, 0x7C
    else:
        fraction, bias, largest, beyond = 3, 7, 0x7E, _NAN
    exponent = (bits >> 52) - 1023 + bias
    whole = (bits & 0xF_FFFF_FFFF_FFFF) | (1 << 52)
    shift = 52 - fraction
    if exponent < 1:   # below the smallest normal number
        shift = min(shift + 1 - exponent, 60)
        exponent = 1
    code = whole >> shift
    rest = whole & ((1 << shift) - 1)
    half = 1 << (shift - 1)
    if rest > half or (rest == half and code & 1):
        code += 1
    code += (exponent - 1) << fraction
    if code > largest:
        code = largest if saturate else beyond
    return code | sign


def _encode_e8m0(bits, saturate, rounds_up):
    """The power of two for a float64 given as an int64: its sign is nowhere."""
    bits &= 0x7FFF_FFFF_FFFF_FFFF
    if bits > 0x7FF0_0000_0000_0000:
        return 0xFF
    code = (bits >> 52) - 1023 + 127
    if rounds_up and bits & 0xF_FFFF_FFFF_FFFF:
        code += 1
    if code > 0xFE:
        return 0xFE if saturate else 0xFF
    return max(code, 0)


def fp8_to_float32(code: Any, e5m2: Any) -> Any:
    """The number of 8 bits: of E5M2 where `e5m2` is true, else of E4M3."""
    sign = int32(code & 0x80) << 24
    if e5m2:
        fraction, bias = 2, 15
    else:
        fraction, bias = 3, 7
    exponent = (code & 0x7F) >> fraction
    mantissa = code & ((1 << fraction) - 1)
    if (e5m2 and exponent == 31 and mantissa) or (not e5m2 and code & 0x7F == _NAN):
        return _libdevice.int_as_float(int32(0x7FC0_0000))
    if e5m2 and exponent == 31:
        return _libdevice.int_as_float(int32(0x7F80_0000 | sign))
    if exponent:
        return _libdevice.int_as_float(int32((exponent - bias + 127) << 23 | mantissa << (23 - fraction) | sign))
    least = _libdevice.int_as_float(int32((128 - bias - fraction) << 23))
    value = float32(mantissa) * least
    return -value if sign else value


def e8m0_to_float32(code: Any) -> Any:
    """The power of two of 8 bits: 2 ** (code - 127), NaN for 255."""
    if code == 0xFF:
        return _libdevice.int_as_float(int32(0x7FC0_0000))
    if code == 0:
        return _libdevice.int_as_float(int32(0x0040_0000))
    return _libdevice.int_as_float(int32(code) << 23)


# --- conversions -----------------------------------------------------------------------------------------------------

@register_jitable
def cvt_double_to_fp8(x: Any, saturate: Any, fp8_interpretation: Any) -> Any:
    """The 8 bits of a number, as uint8."""
    return uint8(_encode(_libdevice.double_as_longlong(float64(x)), int64(saturate), int64(fp8_interpretation)))


@register_jitable
def cvt_double_to_e8m0(x: Any, saturate: Any, rounding: Any) -> Any:
    """The 8 bits of a power of two at or above the number, or with cudaRoundZero at or below, as uint8."""
    return uint8(_encode_e8m0(_libdevice.double_as_longlong(float64(x)), int64(saturate), int64(rounding) != 1))


@register_jitable
def cvt_double2_to_fp8x2(x: Any, saturate: Any, fp8_interpretation: Any) -> Any:
    """The 8 bits of x.x and above them those of x.y, as uint16."""
    low = cvt_double_to_fp8(x.x, saturate, fp8_interpretation)
    return uint16(low | cvt_double_to_fp8(x.y, saturate, fp8_interpretation) << 8)


@register_jitable
def cvt_double2_to_e8m0x2(x: Any, saturate: Any, rounding: Any) -> Any:
    """The 8 bits of x.x and above them those of x.y, as uint16."""
    return uint16(cvt_double_to_e8m0(x.x, saturate, rounding) | cvt_double_to_e8m0(x.y, saturate, rounding) << 8)


@register_jitable
def e8m0_to_bfloat16(code: Any) -> Any:
    """The power of two of 8 bits as bfloat16."""
    return bfloat16(e8m0_to_float32(code))


# A float64 holds every float32 and bfloat16.
cvt_float_to_fp8 = float32_to_fp8 = float64_to_fp8 = bfloat16_to_fp8 = cvt_double_to_fp8
cvt_float_to_e8m0 = float32_to_e8m0 = float64_to_e8m0 = bfloat16_to_e8m0 = cvt_double_to_e8m0
cvt_float2_to_fp8x2 = float32x2_to_fp8x2 = float64x2_to_fp8x2 = cvt_double2_to_fp8x2
cvt_float2_to_e8m0x2 = float32x2_to_e8m0x2 = float64x2_to_e8m0x2 = cvt_double2_to_e8m0x2


# --- types -----------------------------------------------------------------------------------------------------------

class _Packed:
    """Bits of one or more numbers of 8 bits."""

    _bits = 0

    def __init__(self, *numbers: float) -> None:
        codes = [self._code(struct.unpack("q", struct.pack("d", float(number)))[0]) for number in numbers]
        self._bits = sum(code << 8 * place for place, code in enumerate(codes))

    def _code(self, bits: int) -> int:
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__}(bits={self._bits:#x})"


class _E5M2(_Packed):
    def _code(self, bits: int) -> int:
        return int(_encode(bits, True, True))


class _E4M3(_Packed):
    def _code(self, bits: int) -> int:
        return int(_encode(bits, True, False))


class _E8M0(_Packed):
    def _code(self, bits: int) -> int:
        return int(_encode_e8m0(bits, True, True))


class fp8_e5m2(_E5M2):
    """A number with 5 bits of exponent and 2 of mantissa; beyond the largest it is that."""


class fp8_e4m3(_E4M3):
    """A number with 4 bits of exponent and 3 of mantissa; beyond the largest it is that."""


class fp8_e8m0(_E8M0):
    """A power of two, at or above the number that it is made of."""


class fp8x2_e5m2(_E5M2):
    """Two of fp8_e5m2, in kernels of a vector of two."""


class fp8x2_e4m3(_E4M3):
    """Two of fp8_e4m3, in kernels of a vector of two."""


class fp8x2_e8m0(_E8M0):
    """Two of fp8_e8m0, in kernels of a vector of two."""


class fp8x4_e5m2(_E5M2):
    """Four of fp8_e5m2, in kernels of a vector of four."""


class fp8x4_e4m3(_E4M3):
    """Four of fp8_e4m3, in kernels of a vector of four."""


class fp8x4_e8m0(_E8M0):
    """Four of fp8_e8m0, in kernels of a vector of four."""


def _encoder(cls: type) -> Any:
    """A function of kernels from a number to the bits in the constructors' way."""
    if issubclass(cls, _E8M0):
        return lambda x: cvt_double_to_e8m0(x, 1, 2)
    e5m2 = int(issubclass(cls, _E5M2))
    return lambda x: cvt_double_to_fp8(x, 1, e5m2)


def _declare(cls: type, bits: Any) -> StructType:
    made = as_type(cls, {"__x": bits}, unpack=lambda value: (value._bits,))
    encode = _encoder(cls)

    @overload(cls)
    def constructor(x):
        if bits == uint8:
            return (lambda x: made(encode(x))) if isinstance(x, Number) else None
        if getattr(x, "kind", None) != "vector" or x.count != (2 if bits == uint16 else 4):
            return None
        if bits == uint16:
            return lambda x: made(encode(x.x) | encode(x.y) << 8)
        return lambda x: made(encode(x.x) | encode(x.y) << 8 | encode(x.z) << 16 | encode(x.w) << 24)
    return made


def _declare_number(cls: type) -> None:
    made, is_e8m0, e5m2 = _declare(cls, uint8), issubclass(cls, _E8M0), issubclass(cls, _E5M2)

    def value(self):
        code = int64(getattr(self, "__x"))
        return e8m0_to_float32(code) if is_e8m0 else fp8_to_float32(code, e5m2)

    for name in ("__float__", "__int__"):
        overload_method(made, name)(lambda self: lambda self: value(self))
    overload_method(made, "__bool__")(lambda self: lambda self: value(self) != 0)


_NUMBERS: tuple[type, ...] = (fp8_e5m2, fp8_e4m3, fp8_e8m0)
_PAIRS: tuple[type, ...] = (fp8x2_e5m2, fp8x2_e4m3, fp8x2_e8m0)
_FOURS: tuple[type, ...] = (fp8x4_e5m2, fp8x4_e4m3, fp8x4_e8m0)
for _each in _NUMBERS:
    _declare_number(_each)
for _each in _PAIRS:
    _declare(_each, uint16)
for _each in _FOURS:
    _declare(_each, uint32)
