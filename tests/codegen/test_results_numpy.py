"""Results of kernels against NumPy: every dtype, layout and size, integers exactly and floats to the last places."""
import math

import numpy as np
import pytest

from cujit import cuda, errors

INTEGERS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]
FLOATS = ["f2", "f4", "f8"]


def values(dtype, n, rng):
    """n values over the whole range of a dtype, the ends and zero among them."""
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        ordinary = rng.standard_normal(n) * rng.choice([1e-2, 1, 1e3], n)
        ordinary[:6] = [0.0, -0.0, 1.0, -1.0, 0.5, 3.0]
        return ordinary.astype(dtype)
    info = np.iinfo(dtype)
    array = rng.integers(info.min, info.max, n, dtype, endpoint=True)
    array[:5] = [info.min, info.max, 0, 1, info.max - 1]
    return array


@cuda.jit
def sum_difference_product(x, y, total, difference, product):
    i = cuda.grid(1)
    if i < x.size:
        total[i] = x[i] + y[i]
        difference[i] = x[i] - y[i]
        product[i] = x[i] * y[i]


@pytest.mark.parametrize("dtype", INTEGERS + FLOATS + ["c8", "c16"])
def test_arithmetic(rng, dtype):
    n = 501
    if dtype in ("c8", "c16"):
        x, y = ((rng.standard_normal(n) + 1j * rng.standard_normal(n)).astype(dtype) for _ in range(2))
    else:
        x, y = values(dtype, n, rng), rng.permutation(values(dtype, n, rng))
    outs = [np.zeros(n, dtype) for _ in range(3)]
    sum_difference_product[4, 128](x, y, *outs)
    with np.errstate(over="ignore"):
        for got, expected in zip(outs, (x + y, x - y, x * y), strict=True):
            if np.dtype(dtype).kind == "c":
                np.testing.assert_allclose(got, expected, rtol=1e-5 if dtype == "c8" else 1e-13)
            else:
                np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integer_division_and_bits(rng, dtype):
    @cuda.jit
    def kernel(x, y, quotient, remainder, conjunction, disjunction, difference, inverse):
        i = cuda.grid(1)
        if i < x.size:
            quotient[i] = x[i] // y[i]
            remainder[i] = x[i] % y[i]
            conjunction[i] = x[i] & y[i]
            disjunction[i] = x[i] | y[i]
            difference[i] = x[i] ^ y[i]
            inverse[i] = ~x[i]

    x, y = values(dtype, 300, rng), values(dtype, 300, rng)
    y[y == 0] = 3
    y[0] = 7  # the smallest integer by -1 has no quotient
    outs = [np.zeros(300, dtype) for _ in range(6)]
    kernel[3, 128](x, y, *outs)
    for got, expected in zip(outs, (x // y, x % y, x & y, x | y, x ^ y, ~x), strict=True):
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("source", INTEGERS + FLOATS)
@pytest.mark.parametrize("target", INTEGERS + FLOATS)
def test_conversions_on_storing(rng, source, target):
    """As NumPy converts; but float16 is rounded to integers, not cut off, as numba does."""
    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = x[i]

    x = values(source, 200, rng)
    if np.dtype(source).kind == "f" and np.dtype(target).kind != "f":
        low, high = np.iinfo(target).min, np.iinfo(target).max
        x = np.clip(x.astype("f8"), max(low, -2000), min(high, 2000)).astype(source)
    out = np.zeros(200, target)
    kernel[2, 128](x, out)
    if source == "f2" and target in INTEGERS:
        x = np.rint(x)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(out, x.astype(target))


ONE = {
    "sqrt": (np.sqrt, 0, 4), "sin": (np.sin, -20, 20), "cos": (np.cos, -20, 20), "tan": (np.tan, -1.5, 1.5),
    "exp": (np.exp, -20, 20), "log": (np.log, 1e-3, 50), "log2": (np.log2, 1e-3, 50), "log10": (np.log10, 1e-3, 50),
    "log1p": (np.log1p, -0.9, 9), "expm1": (np.expm1, -3, 3), "sinh": (np.sinh, -5, 5), "cosh": (np.cosh, -5, 5),
    "tanh": (np.tanh, -5, 5), "asin": (np.arcsin, -1, 1), "acos": (np.arccos, -1, 1), "atan": (np.arctan, -9, 9),
    "asinh": (np.arcsinh, -9, 9), "acosh": (np.arccosh, 1, 9), "atanh": (np.arctanh, -0.9, 0.9),
    "floor": (np.floor, -9, 9), "ceil": (np.ceil, -9, 9), "trunc": (np.trunc, -9, 9), "fabs": (np.fabs, -9, 9),
    "degrees": (np.degrees, -9, 9), "radians": (np.radians, -900, 900),
}


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("name", ONE)
def test_math_functions(rng, name, dtype):
    """Against NumPy in float64, to a few units in the last place of the dtype."""
    reference, low, high = ONE[name]
    function = getattr(math, name)

    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = function(x[i])

    x = rng.uniform(low, high, 1000).astype(dtype)
    out = np.zeros(1000, dtype)
    kernel[8, 128](x, out)
    expected = reference(x.astype(np.float64))
    tolerance = 6 * np.finfo(dtype).eps
    np.testing.assert_allclose(out, expected, rtol=tolerance, atol=tolerance * 1e-2)


@pytest.mark.parametrize("name, reference", [("atan2", np.arctan2), ("hypot", np.hypot), ("copysign", np.copysign),
                                             ("fmod", np.fmod), ("pow", np.power)])
def test_math_functions_of_two(rng, name, reference):
    function = getattr(math, name)

    @cuda.jit
    def kernel(x, y, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = function(x[i], y[i])

    x, y, out = rng.uniform(0.1, 9, 500), rng.uniform(-5, 5, 500), np.zeros(500)
    kernel[4, 128](x, y, out)
    np.testing.assert_allclose(out, reference(x, y), rtol=1e-14)


@pytest.mark.parametrize("view", [
    lambda a: a, lambda a: a[::2], lambda a: a[::-1], lambda a: a[:, ::3], lambda a: a.T, lambda a: a[1:-1, 2:],
    lambda a: np.asfortranarray(a), lambda a: a[::-2, ::-1],
], ids=["C", "rows", "reversed", "columns", "transposed", "inner", "F", "both reversed"])
@pytest.mark.parametrize("dtype", ["i2", "f4", "c16"])
def test_layouts(rng, view, dtype):
    @cuda.jit
    def kernel(x, out):
        i, j = cuda.grid(2)
        if i < x.shape[0] and j < x.shape[1]:
            out[i, j] = x[i, j] + x[-1 - i, j - x.shape[1]]

    x = view(rng.integers(0, 100, (10, 13)).astype(dtype))
    out = np.zeros(x.shape, dtype)
    kernel[(4, 4), (8, 8)](x, out)
    np.testing.assert_array_equal(out, x + x[::-1])


@pytest.mark.parametrize("n", [1, 2, 31, 32, 33, 127, 1000, 4097])
def test_tree_reduction_in_shared_memory(n):
    @cuda.jit
    def kernel(x, out):
        shared = cuda.shared.array(128, np.float64)
        t, i = cuda.threadIdx.x, cuda.grid(1)
        shared[t] = x[i] if i < x.size else 0.0
        cuda.syncthreads()
        step = 64
        while step > 0:
            if t < step:
                shared[t] += shared[t + step]
            cuda.syncthreads()
            step //= 2
        if t == 0:
            cuda.atomic.add(out, 0, shared[0])

    x, out = np.arange(n, dtype=np.float64), np.zeros(1)
    kernel[-(-n // 128), 128](x, out)
    assert out[0] == x.sum()


@pytest.mark.parametrize("dtype", ["i4", "u4", "i8", "u8", "f4", "f8"])
def test_atomics(rng, dtype):
    @cuda.jit
    def kernel(x, total, low, high, histogram):
        i = cuda.grid(1)
        if i < x.size:
            cuda.atomic.add(total, 0, x[i])
            cuda.atomic.min(low, 0, x[i])
            cuda.atomic.max(high, 0, x[i])
            cuda.atomic.add(histogram, int(x[i]) % 7, 1)

    x = rng.integers(0, 1000, 3000).astype(dtype)
    total, low, high = np.zeros(1, dtype), np.full(1, 5000, dtype), np.zeros(1, dtype)
    histogram = np.zeros(7, np.int32)
    kernel[24, 128](x, total, low, high, histogram)
    assert (total[0], low[0], high[0]) == (x.sum(), x.min(), x.max())
    np.testing.assert_array_equal(histogram, np.bincount(x.astype(int) % 7, minlength=7))


def test_matrix_product_with_tiles(rng):
    import sys
    from pathlib import Path

    sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))
    try:
        import tiled_matmul
    finally:
        sys.path.pop(0)
    for m, k, n in [(1, 1, 1), (16, 16, 16), (17, 33, 15), (64, 1, 64)]:
        tiled_matmul.main(m, k, n)


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_empty_arrays(axes):
    @cuda.jit
    def kernel(x, out):
        out[0] = x.size + len(x)

    out = np.full(1, -1)
    kernel[1, 1](np.zeros((0,) * axes), out)
    assert out[0] == 0


def test_more_than_32_bits_of_index():
    """A view whose strides reach beyond 2**31 bytes would need memory; indices and sizes are 64 bits wide anyway."""
    @cuda.jit
    def kernel(out):
        i = cuda.grid(1) + 3_000_000_000
        out[0] = i
        out[1] = i * 4

    out = np.zeros(2, np.int64)
    kernel[1, 1](out)
    assert out.tolist() == [3_000_000_000, 12_000_000_000]


def test_grid_stride_loop_over_many_elements():
    @cuda.jit
    def kernel(x):
        for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
            x[i] += i

    x = np.zeros(1_000_003, np.int64)
    kernel[37, 96](x)
    np.testing.assert_array_equal(x, np.arange(x.size))


PLACE = [("x", np.float64), ("y", np.float64)]
RECORD = np.dtype([("mass", np.float32), ("place", PLACE), ("kind", np.int8)], align=True)


def test_fields_of_records():
    @cuda.jit
    def kernel(a, out):
        i = cuda.grid(1)
        if i < a.size:
            here = a[i]
            here.place.x += here.mass
            here.kind = i
            out[i] = a["place"]["y"][i] + a[i].mass

    a = np.zeros(5, RECORD)
    a["mass"], a["place"]["x"], a["place"]["y"] = np.arange(5) + 0.5, 10, np.arange(5)
    got, out = a.copy(), np.zeros(5)
    kernel[1, 8](got, out)
    np.testing.assert_array_equal(got["place"]["x"], 10.5 + np.arange(5))
    np.testing.assert_array_equal(got["kind"], np.arange(5))
    np.testing.assert_array_equal(out, 2 * np.arange(5) + 0.5)


def test_a_field_that_is_not_aligned_is_refused():
    @cuda.jit
    def kernel(a):
        a[0].x = 1

    with pytest.raises(errors.UnsupportedError, match="'x' at byte 1 .* not aligned to 8"):
        kernel[1, 1](np.zeros(2, [("flag", np.int8), ("x", np.float64)]))


def test_float16_takes_part_in_functions_of_two_numbers():
    """As float32, as with the functions of one number that have no float16 form."""
    @cuda.jit
    def kernel(out, a):
        out[0] = math.hypot(a[0], a[1])
        out[1] = math.atan2(a[0], a[1])
        out[2] = math.fmod(a[2], a[0])
        out[3] = math.copysign(a[0], -a[1])
        out[4] = math.pow(a[0], a[1])
        out[5] = math.ldexp(a[0], 3)
        out[6] = math.remainder(a[2], 2)

    a, out = np.array([0.5, 0.25, 3.75], np.float16), np.zeros(7, np.float32)
    kernel[1, 1](out, a)
    want = [math.hypot(0.5, 0.25), math.atan2(0.5, 0.25), 0.25, -0.5, 0.5 ** 0.25, 4, -0.25]
    np.testing.assert_allclose(out, want, rtol=1e-6)
