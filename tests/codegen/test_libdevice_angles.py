"""Large angles in libdevice's functions: tools/libdevice_own.ll leaves of them what the library does, bit by bit."""
import math
import re

import numpy as np
import pytest

from cujit import cuda, float32, float64

FACTOR = 0xC90FDAA22168C235  # pi / 4 * 2**64, as the library has it


def arcus_tangent(inverse, scale):
    """scale * atan(1 / inverse)"""
    power, total, k = scale // inverse, 0, 1
    while power:
        total += power // k if k % 4 == 1 else -(power // k)
        power //= inverse**2
        k += 2
    return total


def two_over_pi(bits):
    scale = 1 << bits + 64
    pi = 16 * arcus_tangent(5, scale) - 4 * arcus_tangent(239, scale)
    return (2 << bits) * scale // pi


def left_of(bits, width, words, exponent_bits):
    """Quarter turns, and what is left as a fraction of one in 2 * width bits, as the library finds them: a product with
    words of 2 / pi, of which it takes a double word. In float64 the product begins two words below that."""
    significand_bits = width - 1 - exponent_bits
    exponent = (bits >> significand_bits & (1 << exponent_bits) - 1) - (1 << exponent_bits - 1)
    significand = bits << exponent_bits & (1 << width) - 1 | 1 << width - 1
    word = words - exponent // width  # of the double word's upper half
    table = two_over_pi(words * width)
    if width == 64:
        table = table >> width * (word - 3) << width * (word - 3)
    quarters = significand * table >> width * (word - 1) - exponent % width & (1 << 2 * width) - 1
    left = quarters << 2 & (1 << 2 * width) - 1
    return (quarters >> 2 * width - 2) + (left >> 2 * width - 1), left


def reduced_single(angle):
    bits = int(angle.view(np.uint32))
    turns, left = left_of(bits, 32, 6, 8)
    is_beyond = left >> 63
    radians = float(left ^ (2**64 - 1) if is_beyond else left) * (float(FACTOR) * 2.0**-127)
    return turns, np.float32(-radians if is_beyond != bits >> 31 else radians)


def reduced_double(angle):
    bits = int(angle.view(np.uint64))
    turns, left = left_of(bits, 64, 18, 11)
    is_beyond = left >> 127
    left = 2**128 - left if is_beyond else left
    zeros = 128 - left.bit_length()
    product = (left << zeros >> 64) * FACTOR
    if not product >> 127:
        product, zeros = product * 2, zeros + 1
    rounded = (((product >> 64) + 1 >> 10) + 1) >> 1
    radians = math.ldexp(rounded, -52 - zeros)
    return turns, np.float64(-radians if is_beyond != bits >> 63 else radians)


def sines(x, sine, cosine):
    i = cuda.grid(1)
    if i < x.size:
        sine[i] = cuda.libdevice.sin(x[i])
        cosine[i] = cuda.libdevice.cos(x[i])


def single_sines(x, sine, cosine):
    i = cuda.grid(1)
    if i < x.size:
        sine[i] = cuda.libdevice.sinf(x[i])
        cosine[i] = cuda.libdevice.cosf(x[i])


def run(kernel, angles):
    results = np.zeros_like(angles), np.zeros_like(angles)
    cuda.jit(kernel)[(angles.size + 127) // 128, 128](angles, *results)
    return results


def angles_of(dtype, first, last, count):
    """Of each exponent the least and the greatest angle, both signs, and random ones."""
    random = np.random.default_rng(7)
    below_one = np.concatenate([[0, 1 - np.finfo(dtype).epsneg * 2], random.random(count)]).astype(dtype)
    below_one[below_one == 1] = 0
    angles = np.concatenate([np.ldexp(1 + below_one, exponent) for exponent in range(first, last + 1)]).astype(dtype)
    angles[random.random(angles.size) < 0.5] *= -1
    return angles


NEAR_A_TURN = [6381956970095103 * 2.0**797, 5319372648326541 * 2.0**255, -6381956970095103 * 2.0**798]
NEAR_A_TURN_SINGLE = [16367173.0 * 2**72, -16367173.0 * 2**72, 11789117.0 * 2**60, 105615.0]


@pytest.mark.parametrize("kernel, reduced, dtype, first, last, near", [
    (single_sines, reduced_single, np.float32, 17, 127, NEAR_A_TURN_SINGLE),
    (sines, reduced_double, np.float64, 31, 1023, NEAR_A_TURN)])
def test_large_angles_have_the_librarys_values(kernel, reduced, dtype, first, last, near):
    angles = np.concatenate([angles_of(dtype, first, last, 2000 // (last - first)), np.array(near, dtype)])
    turns, rest = zip(*map(reduced, angles))
    small = run(kernel, np.array(rest, dtype))
    for k, got in enumerate(run(kernel, angles)):
        quarter = (np.where(np.signbit(angles), -np.array(turns), np.array(turns)) + k) % 4
        want = np.where(quarter % 2, small[1], small[0])
        want = np.where(quarter >= 2, 0 - want, want)
        np.testing.assert_array_equal(got.view(f"u{dtype().itemsize}"), want.view(f"u{dtype().itemsize}"))


def test_infinite_angles_are_not_numbers():
    for kernel, dtype in (single_sines, np.float32), (sines, np.float64):
        for got in run(kernel, np.array([math.inf, -math.inf, math.nan], dtype)):
            assert np.isnan(got).all()


@pytest.mark.parametrize("fastmath", [False, True])
def test_large_angles_are_reduced_without_memory(fastmath, assembles):
    for kernel, type in (single_sines, float32), (sines, float64):
        ptx = assembles(kernel, (type[::1],) * 3, (9, 0), fastmath=fastmath)
        assert "__local_depot" not in ptx and "madc" not in ptx
        assert (".ftz" in ptx) == (fastmath and type is float32)
        assert ptx.count("nounroll") == (type is float64)


def all_single(x):
    a = x[0]
    x[0] = cuda.libdevice.sinf(a) + cuda.libdevice.cosf(a) + cuda.libdevice.tanf(a) + cuda.libdevice.j0f(a)


def all_double(x):
    a = x[0]
    x[0] = cuda.libdevice.sin(a) + cuda.libdevice.cos(a) + cuda.libdevice.tan(a) + cuda.libdevice.j0(a)


@pytest.mark.parametrize("kernel, type", [(all_single, float32), (all_double, float64)])
def test_functions_of_one_kernel_have_one_table(kernel, type, assembles):
    ptx = assembles(kernel, (type[::1],), (9, 0))
    table, = re.findall(r"^(.*)\b__cujit_two_over_pi\w*\[.*=", ptx, re.MULTILINE)
    assert ".visible" not in table and ".weak" not in table


CALLS = ["sin({})", "cos({})", "tan({})", "sincos({})[0]",
         "j0({})", "j1({})", "y0({})", "y1({})", "jn(3, {})", "yn(3, {})"]


@pytest.mark.parametrize("call", CALLS)
def test_all_functions_of_large_angles_have_the_reductions(call, assembles):
    """The library's multiply words with carries; float32 also in a local array."""
    for suffix, type in ("f", float32), ("", float64):
        name, arguments = call.split("(", 1)
        source = f"def kernel(x):\n    x[0] = cuda.libdevice.{name}{suffix}({arguments.format('x[0]')}"
        names = {"cuda": cuda}
        exec(source, names)
        ptx = assembles(names["kernel"], (type[::1],), (9, 0))
        assert "madc" not in ptx and "__cujit_two_over_pi" in ptx
