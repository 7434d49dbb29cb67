"""cuda.fp8: every code, rounding at every tie, and numba's names."""
import numpy as np
import pytest

from cujit import bfloat16, cuda, float16, float32, float64, int8, int64, types, uint8, uint64
from cujit.cuda import fp8

CODES = np.arange(256)


def numbers(fraction, bias, has_infinity):
    """What each of 256 codes is, from the definition."""
    exponent, mantissa = (CODES & 0x7F) >> fraction, CODES & ((1 << fraction) - 1)
    one = 1 << fraction
    value = np.where(exponent == 0, mantissa / one * 2.0 ** (1 - bias), (1 + mantissa / one) * 2.0 ** (exponent - bias))
    if has_infinity:
        value[(CODES & 0x7F) == 0x7C], value[(CODES & 0x7F) > 0x7C] = np.inf, np.nan
    else:
        value[(CODES & 0x7F) == 0x7F] = np.nan
    return np.where(CODES & 0x80, -value, value)


FORMATS = {"e5m2": numbers(2, 15, True), "e4m3": numbers(3, 7, False)}
POWERS = np.where(CODES == 255, np.nan, 2.0 ** (CODES - 127.0))


def test_every_code():
    @cuda.jit
    def kernel(e5m2, e4m3, e8m0):
        i = cuda.grid(1)
        e5m2[i] = fp8.fp8_to_float32(i, True)
        e4m3[i] = fp8.fp8_to_float32(i, False)
        e8m0[i] = fp8.e8m0_to_bfloat16(i)

    out = np.zeros((3, 256), np.float32)
    kernel[2, 128](*out)
    for got, want in zip(out, (*FORMATS.values(), POWERS), strict=True):
        np.testing.assert_array_equal(got, want.astype(np.float32))


@pytest.mark.parametrize("name, e5m2", [("e5m2", 1), ("e4m3", 0)])
def test_codes_are_the_nearest_and_even_of_two(name, e5m2):
    positive = FORMATS[name][:128]
    finite = positive[np.isfinite(positive)]
    between = (finite[:-1] + finite[1:]) / 2
    x = np.concatenate([finite, between, np.nextafter(between, 0), np.nextafter(between, 1e9)])
    codes = np.arange(finite.size)
    want = np.concatenate([codes, codes[:-1] + codes[:-1] % 2, codes[:-1], codes[1:]])

    @cuda.jit
    def kernel(x, out, negative):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = fp8.float64_to_fp8(x[i], 0, e5m2)
            negative[i] = fp8.float64_to_fp8(-x[i], 0, e5m2)

    out, negative = np.zeros((2, x.size), np.uint8)
    kernel[-(-x.size // 64), 64](x, out, negative)
    np.testing.assert_array_equal(out, want)
    np.testing.assert_array_equal(negative, want | 0x80)


def test_numbers_beyond_the_largest():
    @cuda.jit
    def kernel(out):
        x = (1e6, float("inf"), float("nan"))
        for k in range(3):
            for saturate in range(2):
                out[k, saturate, 0] = fp8.cvt_float_to_fp8(float32(x[k]), saturate, fp8.FP8Format.E5M2)
                out[k, saturate, 1] = fp8.cvt_float_to_fp8(float32(x[k]), saturate, fp8.FP8Format.E4M3)
                out[k, saturate, 2] = fp8.cvt_float_to_e8m0(x[k] * 1e35, saturate, fp8.RoundMode.cudaRoundPosInf)

    out = np.zeros((3, 2, 3), np.uint8)
    kernel[1, 1](out)
    beyond, largest = [0x7C, 0x7F, 0xFF], [0x7B, 0x7E, 0xFE]
    assert out.tolist() == [[beyond, largest], [beyond, largest], [[0x7F, 0x7F, 0xFF]] * 2]


def test_powers_of_two():
    @cuda.jit
    def kernel(x, up, down):
        for i in range(x.size):
            up[i] = fp8.float32_to_e8m0(x[i], 1, 2)
            down[i] = fp8.float32_to_e8m0(x[i], 1, 1)

    x = np.array([1, 1.5, 2, -4, 0, 1e-45, 2.0 ** -127, 3 * 2.0 ** -128, 3e38], np.float32)
    up, down = np.zeros((2, x.size), np.uint8)
    kernel[1, 1](x, up, down)
    assert up.tolist() == [127, 128, 128, 129, 0, 0, 0, 1, 254]
    assert down.tolist() == [127, 127, 128, 129, 0, 0, 0, 0, 254]


def test_types_as_values():
    @cuda.jit
    def kernel(out):
        out[0] = float32(fp8.fp8_e5m2(float16(1.5)))
        out[1] = float64(fp8.fp8_e4m3(bfloat16(2.5)))
        out[2] = float32(float16(fp8.fp8_e8m0(int8(5))))
        out[3] = int8(fp8.fp8_e4m3(-6))
        out[4] = float(fp8.fp8_e5m2(1e9))
        out[5] = bool(fp8.fp8_e5m2(0.0))
        out[6] = int(fp8.fp8_e5m2(uint64(10)))
        out[7] = uint8(fp8.fp8_e5m2(uint8(3)))
        out[8] = int64(fp8.fp8_e8m0(-16.0))
        out[9] = np.float32(bfloat16(fp8.fp8_e5m2(7)))

    out = np.zeros(10)
    kernel[1, 1](out)
    assert list(out) == [1.5, 2.5, 8, -6, 57344, 0, 10, 3, 16, 7]


def test_packed_types_are_what_the_conversions_give(assembles):
    def kernel(out):
        f2, d4 = cuda.float32x2(1, 2), cuda.float64x4(16, 32, 64, 128)
        out[0] = fp8.fp8x2_e5m2(f2).__x
        out[1] = fp8.cvt_float2_to_fp8x2(f2, fp8.saturation_t.SATFINITE, fp8.fp8_interpretation_t.E5M2)
        out[2] = fp8.fp8x4_e8m0(d4).__x
        low, high = cuda.float64x2(d4.x, d4.y), cuda.float64x2(d4.z, d4.w)
        out[3] = fp8.cvt_double2_to_e8m0x2(low, 1, 2) | fp8.cvt_double2_to_e8m0x2(high, 1, 2) << 16
        out[4] = fp8.fp8x4_e4m3(cuda.float32x4(1, 1, 1, 1)).__x

    out = np.zeros(5, np.uint32)
    cuda.jit(kernel)[1, 1](out)
    assert out[0] == out[1] == 0x403C and out[2] == out[3] == 0x86858483 and out[4] == 0x38383838
    assembles(kernel, (types.uint32[::1],), (8, 9))


def test_values_of_the_host_are_arguments():
    @cuda.jit
    def kernel(x, out):
        out[0] = float32(x)

    out = np.zeros(1)
    kernel[1, 1](fp8.fp8_e4m3(1.1), out)
    assert out[0] == 1.125


def test_names_are_there():
    assert sorted(fp8.__all__) == sorted(set(fp8.__all__)) and all(hasattr(fp8, name) for name in fp8.__all__)
