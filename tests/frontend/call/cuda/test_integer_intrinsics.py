"""Integer intrinsics of cuda beside Python's integers; clocks and places."""
import time

import numpy as np
import pytest

from cujit import cuda

MASK = 2**32 - 1


def name_of(x):
    return getattr(x, "__name__", x)


def words(rng, dtype, count=64):
    info = np.iinfo(dtype)
    x = rng.integers(info.min, info.max, count, dtype, endpoint=True)
    x[:4] = [info.min, info.max, 0, 1]
    return x


def results(expression, dtype, *arrays):
    scope = {"cuda": cuda}
    letters = "xyz"[:len(arrays)]
    arguments = ", ".join(f"{letter}[i]" for letter in letters)
    exec(f"def kernel({', '.join(letters)}, out):\n    i = cuda.grid(1)\n"
         f"    out[i] = cuda.{expression.format(arguments)}\n", scope)
    out = np.zeros(len(arrays[0]), dtype)
    cuda.jit(scope["kernel"])[1, len(out)](*arrays, out)
    return out


def wrapped(numbers, dtype):
    return np.array([int(n) & (2**64 - 1) for n in numbers], np.uint64).astype(dtype)


# --- bits -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.int64, np.uint64], ids=name_of)
def test_bits(rng, dtype):
    """As numba has it, brev takes the lower half of an int64."""
    x = words(rng, dtype)
    wide = x.itemsize * 8
    plain = [int(v) & (2**wide - 1) for v in x]
    assert results("popc({})", np.int64, x).tolist() == [bin(v).count("1") for v in plain]
    assert results("clz({})", np.int64, x).tolist() == [wide - v.bit_length() for v in plain]
    assert results("ffs({})", np.int64, x).tolist() == [(v & -v).bit_length() for v in plain]
    kept = 64 if dtype == np.uint64 else 32
    reversed_bits = [int(f"{v & (2**kept - 1):0{kept}b}"[::-1], 2) for v in plain]
    np.testing.assert_array_equal(results("brev({})", np.uint64, x), np.array(reversed_bits, np.uint64))


# --- bytes ------------------------------------------------------------------------------------------------------------


def permuted(x, y, selector):
    data, result = (x | y << 32).to_bytes(8, "little"), 0
    for i in range(4):
        nibble = selector >> 4 * i & 15
        byte = data[nibble & 7]
        result |= (byte if nibble < 8 else 255 * (byte >> 7)) << 8 * i
    return result


def test_byte_perm(rng):
    x, y, s = (words(rng, np.uint32) for _ in range(3))
    assert results("byte_perm({})", np.uint32, x, y, s).tolist() == [
        permuted(int(a), int(b), int(c)) for a, b, c in zip(x, y, s)]


@pytest.mark.parametrize("second", [np.int32, np.uint32], ids=name_of)
@pytest.mark.parametrize("first", [np.int32, np.uint32], ids=name_of)
def test_dot_products_of_bytes(rng, first, second):
    a, b = words(rng, first), words(rng, second)
    result = np.uint32 if first == second == np.uint32 else np.int32
    c = words(rng, result)
    half, byte = (("i" if t == np.int32 else "u") for t in (first, second))
    bytes_a, bytes_b = (x.view(f"{k}1").reshape(-1, 4).astype(np.int64) for x, k in ((a, half), (b, byte)))
    halves = a.view(f"{half}2").reshape(-1, 2).astype(np.int64)
    for call, products in [("dp4a({})", bytes_a * bytes_b), ("dp2a_lo({})", halves * bytes_b[:, :2]),
                           ("dp2a_hi({})", halves * bytes_b[:, 2:])]:
        expected = wrapped(products.sum(1) + c.astype(np.int64), result)
        np.testing.assert_array_equal(results(call, result, a, b, c), expected, err_msg=call)


# --- shifts and products ----------------------------------------------------------------------------------------------


def test_funnel_shifts(rng):
    low, high = words(rng, np.uint32, 80), words(rng, np.uint32, 80)
    shift = np.arange(80, dtype=np.uint32)
    both = [int(b) << 32 | int(a) for a, b in zip(low, high)]
    for call, model in [("funnelshift_l({})", lambda v, s: v << s % 32 >> 32),
                        ("funnelshift_lc({})", lambda v, s: v << min(s, 32) >> 32),
                        ("funnelshift_r({})", lambda v, s: v >> s % 32),
                        ("funnelshift_rc({})", lambda v, s: v >> min(s, 32))]:
        expected = [model(v, int(s)) & MASK for v, s in zip(both, shift)]
        assert results(call, np.uint32, low, high, shift).tolist() == expected, call


@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.int64, np.uint64], ids=name_of)
def test_upper_half_of_products(rng, dtype):
    x, y = words(rng, dtype), words(rng, dtype)
    bits = x.itemsize * 8
    assert results("mulhi({})", dtype, x, y).tolist() == [int(a) * int(b) >> bits for a, b in zip(x, y)]
    assert results("mulhi({}, 3)", dtype, x).tolist() == [int(a) * 3 >> bits for a in x]


@pytest.mark.parametrize("dtype", [np.int32, np.uint32], ids=name_of)
def test_small_products_differences_and_averages(rng, dtype):
    x, y, z = (words(rng, dtype) for _ in range(3))
    integers = [tuple(map(int, each)) for each in zip(x, y, z)]

    def narrow(v):
        v &= 2**24 - 1
        return v - 2**24 if dtype == np.int32 and v >> 23 else v

    cases = [("mul24({})", (x, y), lambda a, b, c: narrow(a) * narrow(b)),
             ("sad({})", (x, y, z), lambda a, b, c: abs(a - b) + c), ("hadd({})", (x, y), lambda a, b, c: (a + b) >> 1),
             ("rhadd({})", (x, y), lambda a, b, c: (a + b + 1) >> 1)]
    for call, arrays, model in cases:
        expected = wrapped([model(*each) for each in integers], dtype)
        np.testing.assert_array_equal(results(call, dtype, *arrays), expected, err_msg=call)


def test_types_of_results():
    @cuda.jit
    def kernel(i, u, w, out):
        out[0] = isinstance(cuda.mulhi(u[0], u[0]), cuda.types.uint32)
        out[1] = isinstance(cuda.mulhi(i[0], w[0]), cuda.types.int64)
        out[2] = isinstance(cuda.sad(u[0], 5, 7), cuda.types.uint32)
        out[3] = isinstance(cuda.dp4a(u[0], i[0], 0), cuda.types.int32)
        out[4] = isinstance(cuda.hadd(u[0], i[0]), cuda.types.int32)

    out = np.zeros(5, np.int32)
    kernel[1, 1](np.ones(1, np.int32), np.ones(1, np.uint32), np.ones(1, np.int64), out)
    assert out.tolist() == [1] * 5


def dots(a, b, c, out):
    out[0] = cuda.dp4a(a[0], b[0], c[0]) + cuda.dp2a_hi(a[0], b[0], c[0]) + cuda.byte_perm(a[0], b[0], 0x5410)
    out[1] = cuda.funnelshift_l(a[0], b[0], c[0]) + cuda.mulhi(a[0], b[0]) + cuda.brev(c[0])
    out[2] = cuda.sad(a[0], b[0], c[0]) + cuda.mul24(a[0], b[0])


@pytest.mark.parametrize("cc", [(7, 5), (9, 0), (12, 0)])
def test_instructions(assembles, cc):
    ptx = assembles(dots, "void(int32[::1], uint32[::1], int32[::1], int64[::1])", cc)
    for instruction in ["dp4a.s32.u32", "dp2a.hi.s32.u32", "prmt.b32", "shf.l.wrap.b32", "mul.hi", "brev.b32"]:
        assert instruction in ptx, instruction


@pytest.mark.parametrize("call, message", [
    ("cuda.byte_perm(1, 2)", "takes 3 arguments, 2 given"),
    ("cuda.dp4a(1.0, 2, 3)", "it takes integers"),
    ("cuda.mulhi(out, 2)", "it takes integers"),
    ("cuda.clock(1)", "takes 0 arguments, 1 given"),
])
def test_what_is_refused(refused, call, message):
    refused(call, message)


# --- clocks and places ------------------------------------------------------------------------------------------------


def test_clocks_go_on():
    @cuda.jit
    def kernel(out, ticks):
        first, first_ns = cuda.clock64(), cuda.globaltimer()
        low = cuda.clock()
        for _ in range(10):
            cuda.nanosleep(1000)
        out[0] = cuda.clock64() - first
        out[1] = cuda.globaltimer() - first_ns
        ticks[0] = low

    out, ticks = np.zeros(2, np.int64), np.zeros(1, np.uint32)
    before = time.perf_counter_ns()
    kernel[1, 1](out, ticks)
    assert 0 < out[0]
    assert 0 <= out[1] <= time.perf_counter_ns() - before + 2_000_000


def test_clock_in_a_kernel_without_synchronization():
    @cuda.jit
    def kernel(out):
        i = cuda.grid(1)
        out[i] = cuda.globaltimer() > 0 and cuda.clock64() != 0

    out = np.zeros(100, np.int64)
    kernel[4, 25](out)
    assert out.all()


def test_places_of_warps():
    @cuda.jit
    def kernel(out):
        i = cuda.threadIdx.x
        out[i] = 0 <= cuda.warpid < cuda.nwarpid and 0 <= cuda.smid < cuda.nsmid

    out = np.zeros(128, np.int64)
    kernel[1, 128](out)
    assert out.all()


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16, np.bool_], ids=lambda t: t.__name__)
def test_first_bit_of_narrow_integers(rng, dtype):
    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        out[i] = cuda.ffs(x[i])

    x = (rng.random(64) < 0.5) if dtype == np.bool_ else rng.integers(-(2 ** 15), 2 ** 15, 64).astype(dtype)
    x[:2] = 0, np.iinfo(dtype).min if dtype != np.bool_ else 1
    out = np.zeros(64, np.int64)
    kernel[1, 64](x, out)
    assert out.tolist() == [(int(v) & -int(v)).bit_length() for v in x]


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int32, np.int64], ids=lambda t: t.__name__)
def test_bit_count_counts_the_bits_of_negative_numbers(rng, dtype):
    """As numba does: what cuda.ballot_sync gives is an int32."""
    @cuda.jit
    def kernel(x, out, lanes):
        i = cuda.grid(1)
        out[i] = x[i].bit_count()
        lanes[i] = cuda.ballot_sync(0xffffffff, i < 48 or i == 63).bit_count()

    x = rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, 64, dtype=dtype, endpoint=True)
    out, lanes = np.zeros(64, np.int64), np.zeros(64, np.int64)
    kernel[1, 64](x, out, lanes)
    assert out.tolist() == [(int(v) % 2 ** (8 * x.itemsize)).bit_count() for v in x]
    assert lanes.tolist() == [32] * 32 + [17] * 32
