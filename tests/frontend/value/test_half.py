"""cuda.fp16: every float16 through every function, and the GPU's own instructions where it has them."""
import math

import numpy as np
import pytest

from cujit import _core, cuda, float16

ALL = np.arange(65536, dtype=np.uint16).view(np.float16)
NAMES = [row["paths"][0].rpartition(".")[2] for row in _core.intrinsic_table
         if row["paths"] and row["paths"][0].startswith("cuda.fp16.")]


def call(name, *columns, dtype=np.float16):
    letters = "abc"[:len(columns)]
    scope = {"cuda": cuda}
    exec(f"def kernel({', '.join(letters)}, out):\n    i = cuda.grid(1)\n    if i < out.size:\n"
         f"        out[i] = cuda.fp16.{name}({', '.join(f'{x}[i]' for x in letters)})", scope)
    out = np.full(len(columns[0]), 77, dtype)
    cuda.jit(scope["kernel"])[(out.size + 255) // 256, 256](*columns, out)
    return out


def same(got, want):
    np.testing.assert_array_equal(got, want)
    number = ~np.isnan(want)
    np.testing.assert_array_equal(np.signbit(got[number]), np.signbit(want[number]))


def test_names():
    assert len(NAMES) == 32 and all(hasattr(cuda.fp16, name) for name in NAMES)


EXACT = {"hneg": np.negative, "habs": np.abs, "hsqrt": np.sqrt, "hfloor": np.floor, "hceil": np.ceil,
         "htrunc": np.trunc, "hrint": np.rint, "hrcp": lambda x: (1 / x.astype(np.float64)).astype(np.float16)}


@pytest.mark.parametrize("name", EXACT)
def test_exact_functions_of_every_half(name):
    with np.errstate(all="ignore"):
        want = EXACT[name](ALL)
    same(call(name, ALL), want)


CLOSE = {"hrsqrt": lambda x: 1 / np.sqrt(x), "hlog": np.log, "hlog2": np.log2, "hlog10": np.log10, "hexp": np.exp,
         "hexp2": np.exp2, "hexp10": lambda x: 10**x, "hsin": np.sin, "hcos": np.cos, "htanh": np.tanh}


@pytest.mark.parametrize("name", CLOSE)
def test_functions_of_every_half_are_rounded_to_one_of_the_neighbours(name):
    with np.errstate(all="ignore"):
        exact = CLOSE[name](ALL.astype(np.float64))
        want = exact.astype(np.float16)
    got = call(name, ALL)
    special = ~np.isfinite(want)
    np.testing.assert_array_equal(got[special], want[special])
    error = np.abs(got[~special] - exact[~special]) / np.spacing(np.abs(want[~special])).astype(np.float64)
    assert error.max() < 0.51, ALL[~special][error.argmax()]


def test_approximate_tanh():
    np.testing.assert_allclose(call("htanh_approx", ALL), np.tanh(ALL.astype(np.float64)), rtol=2e-3, atol=1e-6)


@pytest.fixture
def pairs(rng):
    x, y, z = rng.integers(0, 65536, (3, 50000), np.uint16).view(np.float16)
    return x.copy(), y.copy(), z.copy()


@pytest.mark.parametrize("name, function", [("hadd", np.add), ("hsub", np.subtract), ("hmul", np.multiply),
                                            ("hdiv", np.divide), ("hmax", np.fmax), ("hmin", np.fmin)])
def test_arithmetic_of_any_halves(name, function, pairs):
    x, y, _ = pairs
    with np.errstate(all="ignore"):
        want = function(x, y)
    np.testing.assert_array_equal(call(name, x, y), want)


@pytest.mark.parametrize("name, function", [("heq", np.equal), ("hgt", np.greater), ("hge", np.greater_equal),
                                            ("hlt", np.less), ("hle", np.less_equal),
                                            ("hne", lambda x, y: (x < y) | (x > y))])
def test_comparisons_of_any_halves(name, function, pairs):
    x, y, _ = pairs
    y[::7] = x[::7]
    np.testing.assert_array_equal(call(name, x, y, dtype=bool), function(x, y))


def test_fused_sum_is_rounded_once(pairs):
    """The exact sum is compared with both neighbours of the result: none is nearer."""
    x, y, z = pairs
    with np.errstate(all="ignore"):
        z[::2] = (-x.astype(np.float64) * y)[::2]
    got = call("hfma", x, y, z)
    with np.errstate(all="ignore"):
        wide = [v.astype(np.longdouble) for v in (x, y, z)]
        exact = wide[0] * wide[1] + wide[2]
        want = exact.astype(np.float64).astype(np.float16)
    np.testing.assert_array_equal(got, want)


def test_fma_of_halves_has_their_type():
    @cuda.jit
    def kernel(x, out):
        out[0] = cuda.fma(x[0], x[0], x[1])
        out[1] = cuda.fma(x[0], x[0], 1)

    out = np.zeros(2)
    kernel[1, 1](np.array([1.001, -1.002], np.float16), out)
    a, b = np.array([1.001, -1.002], np.float16).astype(np.float64)
    assert out[0] == np.float16(a * a + b) and out[1] == math.fsum([a * a, 1])


def test_other_numbers_become_halves_first():
    assert call("hadd", np.array([0.1]), np.array([3], np.int32)) == np.float16(0.1) + np.float16(3)


@pytest.mark.parametrize("sm", [(7, 5), (9, 0)])
def test_instructions(sm):
    def kernel(x, out):
        out[0] = cuda.fp16.hadd(x[0], x[1])
        out[1] = cuda.fp16.hmul(x[0], x[1])
        out[2] = cuda.fp16.hfma(x[0], x[1], x[2])
        out[3] = cuda.fp16.hneg(x[3])

    ptx, _ = cuda.compile_ptx(kernel, (float16[::1], float16[::1]), cc=sm)
    for instruction in ("add.f16", "mul.f16", "fma.rn.f16", "neg.f16"):
        assert instruction in ptx, instruction
    assert "cvt" not in ptx
