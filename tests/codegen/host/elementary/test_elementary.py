"""The CPU device's own elementary functions: how exact they are, that a number gives the same bits in a vector and
alone, special values, and that loops with them are vectorized."""

import math
import re
from pathlib import Path

import numpy as np
import pytest

from cujit import cuda

pytestmark = pytest.mark.skipif(cuda.get_current_device().kind == "cuda", reason="about the CPU device")

ONE = {"sin": (-1e4, 1e4), "cos": (-1e4, 1e4), "tan": (-1e4, 1e4), "asin": (-1, 1), "acos": (-1, 1), "atan": (-50, 50),
       "sinh": (-80, 80), "cosh": (-80, 80), "tanh": (-10, 10), "asinh": (-1e3, 1e3), "acosh": (1, 1e3),
       "atanh": (-1, 1), "exp": (-85, 85), "exp2": (-120, 120), "expm1": (-30, 80), "log": (0, 1e4), "log2": (0, 1e4),
       "log10": (0, 1e4), "log1p": (-1, 1e3), "erf": (-4, 4), "erfc": (-5, 9)}
TWO = {"atan2": (-10, 10), "pow": (0, 20), "hypot": (-1e3, 1e3)}
NUMPY = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh", "acosh": "arccosh",
         "atanh": "arctanh", "atan2": "arctan2", "pow": "power"}
DTYPES = [np.float32, np.float64]
LARGEST_ERROR = {np.float32: 0.6, np.float64: 1.1}
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 2.5, -2.5, 3.0, -3.0, math.inf, -math.inf, math.nan, 1e-45,
           -1e-45, 5e-324, -5e-324, 1e-310, 1e300, -1e300, 3.4e38, -3.4e38, 1e22, -1e22, 2.0**53, 709.7, 710.0,
           -745.0, -746.0, 88.7, 88.8, -103.9, -104.0, 1023.9, 1024.0, -1074.5, -1076.0, 89.4, 89.5, 710.4, 710.5,
           708.9, 709.1, -707.9, -708.1, -1021.9, -1022.1, 1022.9, 0.984, 1.03125,
           1.1754942e-38, 2.225073858507201e-308, 0.4142135, 2.4142137, 100.5, 1e-20, -1e-20]
HAS_VECTORS = "avx2" in Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else False


def kernel_of(name, count):
    """A kernel of one element a thread, and one with a loop in each thread, which is not vectorized."""
    letters = "xy"[:count]
    each, call = ", ".join(letters), f"math.{name}({', '.join(f'{a}[i]' for a in letters)})"
    scope = {"cuda": cuda, "math": math}
    exec(f"def vector({each}, out):\n    i = cuda.grid(1)\n    if i < out.size:\n        out[i] = {call}\n"
         f"def alone({each}, out):\n    i = cuda.grid(1)\n    k = 0\n    while k < 3 and i < out.size:\n"
         f"        out[i] = {call}\n        k += 1 + int(out[i] == out[i]) * 2\n", scope)
    return cuda.jit(scope["vector"]), cuda.jit(scope["alone"])


def launch(kernel, columns):
    out = np.zeros_like(columns[0])
    kernel[(out.size + 127) // 128, 128](*columns, out)
    return out


def same_bits(a, b):
    bits = f"u{a.dtype.itemsize}"
    return (a.view(bits) == b.view(bits)) | (np.isnan(a) & np.isnan(b))


def columns_of(name, dtype):
    low, high = ONE.get(name) or TWO[name]
    rng = np.random.default_rng(7)
    count = 1 if name in ONE else 2
    columns = [np.concatenate([rng.uniform(low, high, 4000), rng.uniform(max(low, -2), min(high, 2), 4001)])
               for _ in range(count)]
    return [np.clip(column, low, high).astype(dtype) for column in columns]


def exact(name, columns):
    """In a type with more bits; NumPy has no erf."""
    if name in ("erf", "erfc"):
        return None
    wide = np.longdouble if columns[0].dtype == np.float64 else np.float64
    with np.errstate(all="ignore"):
        return getattr(np, NUMPY.get(name, name))(*(column.astype(wide) for column in columns))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", [*ONE, *TWO])
def test_errors_are_small(name, dtype):
    columns = columns_of(name, dtype)
    if name in ("erf", "erfc"):
        want = np.array([getattr(math, name)(float(x)) for x in columns[0]])
    else:
        want = exact(name, columns)
    got = launch(kernel_of(name, len(columns))[0], columns)
    with np.errstate(all="ignore"):
        unit = np.spacing(np.abs(want.astype(dtype)))
        error = np.abs((got.astype(want.dtype) - want) / unit)
    error = error[np.isfinite(want.astype(dtype))]
    bound = LARGEST_ERROR[dtype] if HAS_VECTORS and name not in ("erf", "erfc") else 4
    assert error.max() <= bound


@pytest.mark.skipif(not HAS_VECTORS, reason="a processor without AVX2")
@pytest.mark.parametrize("name", ["exp", "exp2", "log", "log2", "log10"])
def test_functions_with_tables_round_nearly_once(name):
    """Beside 1, whose logarithm is 0, as far from it; where powers become denormal they are rounded twice."""
    rng = np.random.default_rng(11)
    ends = [(-708, 709)] * 2 if name == "exp" else [(-1022, 1023)] * 2 if name == "exp2" else [(0.5, 2), (0, 1e300)]
    columns = [rng.uniform(low, high, 300_000) for low, high in ends]
    small = rng.uniform(1, 2, 300_000) * 2.0 ** rng.integers(-52, -3, 300_000)
    columns.append(small if name.startswith("exp") else 1 + rng.choice([-0.5, 1], small.size) * small)
    x = np.concatenate(columns)
    want = exact(name, [x])
    error = np.abs((launch(kernel_of(name, 1)[0], [x]) - want) / np.spacing(np.abs(want.astype(x.dtype))))
    assert error[want != 0].max() <= 0.55
    tiny = rng.uniform(-745, -708, 100_000) if name == "exp" else rng.uniform(-1074, -1022, 100_000)
    if name.startswith("exp"):
        error = np.abs(launch(kernel_of(name, 1)[0], [tiny]) - exact(name, [tiny])) / np.finfo(float).smallest_subnormal
        assert error.max() <= 0.8


@pytest.mark.skipif(not HAS_VECTORS, reason="a processor without AVX2")
def test_powers_round_nearly_once():
    """However large the exponent of e is: of numbers beside 1, of any size and denormal ones."""
    rng = np.random.default_rng(13)
    sizes = 2.0 ** rng.integers(-1000, 1000, 200_000) * rng.uniform(1, 2, 200_000)
    x = np.concatenate([rng.uniform(0.95, 1.06, 200_000), rng.uniform(0.5, 2, 200_000), sizes, [5e-324, 3e-310] * 100])
    y = rng.uniform(-708, 709, x.size) / np.log(x)
    want = exact("pow", [x, y])
    error = np.abs((launch(kernel_of("pow", 2)[0], [x, y]) - want) / np.spacing(want.astype(x.dtype)))
    assert error.max() <= 0.56


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", [*ONE, *TWO])
def test_vectors_have_the_bits_of_numbers(name, dtype):
    columns = columns_of(name, dtype)
    special = np.array(SPECIAL, np.float64)
    with np.errstate(over="ignore"):
        extra = [special] if name in ONE else [grid.ravel() for grid in np.meshgrid(special, special)]
        columns = [np.concatenate([a, b.astype(dtype)]) for a, b in zip(columns, extra, strict=True)]
    vector, alone = kernel_of(name, len(columns))
    assert same_bits(launch(vector, columns), launch(alone, columns)).all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", [*ONE, *TWO])
def test_special_values(name, dtype):
    """NaN, infinities and zeros with their signs are those of the C library, as NumPy has them."""
    special = np.array(SPECIAL, np.float64)
    with np.errstate(all="ignore"):
        columns = [special] if name in ONE else [grid.ravel() for grid in np.meshgrid(special, special)]
        columns = [column.astype(dtype) for column in columns]
        if name in ("erf", "erfc"):
            want = np.array([getattr(math, name)(float(x)) for x in columns[0]]).astype(dtype)
        else:
            want = getattr(np, NUMPY.get(name, name))(*columns)
    got = launch(kernel_of(name, len(columns))[0], columns)
    ends = ~np.isfinite(want) | (want == 0)
    assert same_bits(got[ends], want[ends]).all()
    tiny = np.finfo(dtype).smallest_subnormal
    assert np.allclose(got[~ends], want[~ends], rtol=8 * np.finfo(dtype).eps, atol=2 * tiny)


def test_large_angles():
    for dtype in DTYPES:
        x = np.array([1e10, 1e15, 1e22, 1e30, -3e38, 2.0**40, 2.0**41, 2.0**30, 2.0**30 + 1, 1e300], np.float64)
        with np.errstate(over="ignore"):
            x = x.astype(dtype)
        for name in ("sin", "cos", "tan"):
            with np.errstate(all="ignore"):
                want = getattr(np, name)(x)
            assert np.allclose(launch(kernel_of(name, 1)[0], [x]), want, rtol=4 * np.finfo(dtype).eps, equal_nan=True)


def llvm_of(kernel, *arguments):
    kernel[4, 64](*arguments)
    return next(iter(kernel.inspect_llvm().values()))


@pytest.mark.skipif(not HAS_VECTORS, reason="a processor without AVX2")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", [*ONE, *TWO])
def test_loops_call_vectors(name, dtype):
    columns = columns_of(name, dtype)
    text = llvm_of(kernel_of(name, len(columns))[0], *columns, np.zeros_like(columns[0]))
    suffix = "f" if dtype is np.float32 else ""
    assert re.search(rf"call <\d+ x {'float' if suffix else 'double'}> @cujit\.vector\.{name}{suffix}\.", text)


@pytest.mark.skipif(not HAS_VECTORS, reason="a processor without AVX2")
def test_branches_become_masks():
    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        if i < out.size:
            if x[i] > 0:
                out[i] = math.log(x[i])
            else:
                out[i] = math.sin(x[i]) + 1

    x = np.random.default_rng(3).normal(size=1001).astype(np.float32)
    out = np.zeros_like(x)
    text = llvm_of(kernel, x, out)
    kernel[8, 128](x, out)
    with np.errstate(all="ignore"):
        want = np.where(x > 0, np.log(x.astype(float)), np.sin(x.astype(float)) + 1)
    assert np.allclose(out, want, rtol=1e-6, atol=1e-6)
    assert "x float> @cujit.vector.logf." in text and "x float> @cujit.vector.sinf." in text


def test_every_launch_shape_gives_the_same():
    @cuda.jit
    def kernel(x, out):
        for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
            out[i] = math.exp(math.sin(x[i])) * math.log1p(x[i] * x[i])

    x = np.random.default_rng(5).normal(size=777)
    results = []
    for blocks, threads in ((1, 1), (1, 7), (3, 32), (7, 128), (1, 1024)):
        out = np.zeros_like(x)
        kernel[blocks, threads](x, out)
        results.append(out)
    assert all(same_bits(out, results[0]).all() for out in results)


@pytest.mark.parametrize("name", [name for name in [*ONE, *TWO] if name != "pow"])
def test_constants_have_the_bits_of_variables(name):
    """LLVM knows the C library's functions, and computed those of constants by them."""
    columns = [column[:100] for column in columns_of(name, np.float64)]
    lines = [f"    out[{i}] = math.{name}({', '.join(repr(float(x)) for x in numbers)})"
             for i, numbers in enumerate(zip(*columns, strict=True))]
    scope = {"math": math}
    exec("\n".join(["def constants(out):", *lines]), scope)
    out = np.zeros(100)
    cuda.jit(scope["constants"])[1, 1](out)
    assert same_bits(out, launch(kernel_of(name, len(columns))[0], columns)).all()


def test_sine_and_cosine_of_one_number():
    @cuda.jit
    def kernel(x, s, c):
        i = cuda.grid(1)
        k = 0
        while k < 2:
            s[i] = math.sin(x[i])
            c[i] = math.cos(x[i])
            k += 1 + int(s[i] < 2)

    for dtype in DTYPES:
        x = np.linspace(-20, 20, 256).astype(dtype)
        s, c = np.zeros_like(x), np.zeros_like(x)
        kernel[4, 64](x, s, c)
        assert same_bits(s, launch(kernel_of("sin", 1)[0], [x])).all()
        assert same_bits(c, launch(kernel_of("cos", 1)[0], [x])).all()
