"""Numerics under control: fmad, fastmath and its words, opt; in kernels and in the functions they call."""
import math
import re

import numpy as np
import pytest

from cujit import cuda, float16, float32, float64

SINGLE = (float32[::1], float32[::1])
DOUBLE = (float64[::1], float64[::1])


def ptx_of(expression, signature=SINGLE, cc=(9, 0), **options):
    scope = {"cuda": cuda, "math": math}
    exec(f"def kernel(x, out):\n    i = cuda.grid(1)\n    out[i] = {expression}", scope)
    return cuda.compile_ptx(scope["kernel"], signature, cc=cc, **options)[0]


# --- contraction ------------------------------------------------------------------------------------------------------

EXPRESSIONS = {
    "a * b + c": lambda a, b, c: a * b + c,
    "a * b - c * b": lambda a, b, c: a * b - c * b,
    "c - a * b": lambda a, b, c: c - a * b,
    "(a + b) * (a - b) / c": lambda a, b, c: (a + b) * (a - b) / c,
    "(a * a + b * b + c * c) ** 0.5": None,
    "helper(a, b, c)": lambda a, b, c: (a * b + c) * b + a,
}


@cuda.jit(device=True)
def helper(a, b, c):
    return (a * b + c) * b + a


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_without_contraction_values_are_numpys_bit_for_bit(expression, dtype, rng):
    a, b, c = rng.uniform(0.5, 2, (3, 4096)).astype(dtype)
    code, function = expression, EXPRESSIONS[expression]
    if function is None:
        code, function = "math.sqrt(a * a + b * b + c * c)", lambda a, b, c: np.sqrt(a * a + b * b + c * c)
    scope = {"cuda": cuda, "math": math, "helper": helper}
    exec(f"def kernel(x, y, z, out):\n    i = cuda.grid(1)\n    a = x[i]\n    b = y[i]\n    c = z[i]\n"
         f"    out[i] = {code}", scope)
    out = np.zeros(4096, dtype)
    cuda.jit(fmad=False)(scope["kernel"])[16, 256](a, b, c, out)
    want = function(a, b, c)
    assert want.dtype == dtype
    np.testing.assert_array_equal(out, want)


def test_complex_products_without_contraction(rng):
    @cuda.jit(fmad=False)
    def kernel(x, y, out):
        i = cuda.grid(1)
        out[i] = x[i] * y[i]

    x, y = rng.normal(size=(2, 512)) + 1j * rng.normal(size=(2, 512))
    out = np.zeros(512, complex)
    kernel[2, 256](x, y, out)
    want = x.real * y.real - x.imag * y.imag + 1j * (x.real * y.imag + x.imag * y.real)
    np.testing.assert_array_equal(out, want)


@pytest.mark.parametrize("signature, suffix", [(SINGLE, "f32"), (DOUBLE, "f64"), ((float16[::1], float16[::1]), "f16")])
def test_contraction_in_ptx(signature, suffix):
    expression = "x[0] * x[1] + x[2]"
    assert f"fma.rn.{suffix}" in ptx_of(expression, signature)
    separate = ptx_of(expression, signature, fmad=False)
    assert "fma" not in separate and f"mul.rn.{suffix}" in separate and f"add.rn.{suffix}" in separate
    assert f"fma.rn.{suffix}" in ptx_of(expression, signature, fmad=False, fastmath={"contract"})


def test_contraction_reaches_device_functions_and_methods_of_ufuncs():
    @cuda.jit(device=True)
    def product_and_sum(a, b, c):
        return a * b + c

    def kernel(x, out):
        out[0] = product_and_sum(x[0], x[1], x[2])

    assert "fma.rn" in cuda.compile_ptx(kernel, SINGLE)[0]
    assert "fma" not in cuda.compile_ptx(kernel, SINGLE, fmad=False)[0]
    assert "fma.rn.f32" in ptx_of("cuda.fma(x[0], x[1], x[2])", fmad=False)


# --- fastmath ---------------------------------------------------------------------------------------------------------

FAST = {
    "math.cos(x[0])": "cos.approx.ftz.f32", "math.sin(x[0])": "sin.approx.ftz.f32",
    "math.tan(x[0])": "sin.approx.ftz.f32", "math.exp(x[0])": "ex2.approx.ftz.f32",
    "math.exp2(x[0])": "ex2.approx.ftz.f32", "math.log(x[0])": "lg2.approx.ftz.f32",
    "math.log2(x[0])": "lg2.approx.ftz.f32", "math.log10(x[0])": "lg2.approx.ftz.f32",
    "math.pow(x[0], x[1])": "lg2.approx.ftz.f32", "x[0] ** x[1]": "ex2.approx.ftz.f32",
    "math.tanh(x[0])": "tanh.approx.f32", "x[0] / x[1]": "div.approx.ftz.f32",
    "math.sqrt(x[0])": "sqrt.approx.ftz.f32", "x[0] + x[1]": "add.ftz.f32",
}


@pytest.mark.parametrize("expression", FAST)
def test_fastmath_maps_functions_of_float32(expression):
    assert FAST[expression] in ptx_of(expression, fastmath=True)
    if "ex2" not in FAST[expression]:   # exact functions use it, too
        assert FAST[expression] not in ptx_of(expression)


@pytest.mark.parametrize("expression", FAST)
def test_fastmath_keeps_float64_exact(expression):
    if "+" not in expression:
        fast = ptx_of(expression, DOUBLE, fastmath=True)
        assert not re.search(r"(sin|cos|tanh|lg2|div|sqrt)\.approx", fast)


def test_fastmath_on_the_oldest_architecture():
    assert "tanh" not in ptx_of("math.tanh(x[0])", cc=(7, 5), fastmath=True).replace("kernel", "")


@pytest.mark.parametrize("fastmath", [True, "fast", {"afn"}, ["afn", "nsz"], frozenset({"fast"})])
def test_words_that_allow_approximate_functions(fastmath):
    assert "cos.approx" in ptx_of("math.cos(x[0])", fastmath=fastmath)
    assert "div.approx" in ptx_of("x[0] / x[1]", fastmath=fastmath) or fastmath in (True, "fast")


@pytest.mark.parametrize("fastmath", [False, None, (), {"nnan", "ninf", "nsz", "contract", "reassoc"}])
def test_words_that_keep_functions_exact(fastmath):
    ptx = ptx_of("math.cos(x[0]) / x[1]", fastmath=fastmath)
    assert "cos.approx" not in ptx and "div.rn.f32" in ptx and ".ftz" not in ptx.replace("approx.ftz", "")


def test_no_nan():
    assert "setp" in ptx_of("1 if x[0] != x[0] else 2")
    assert "setp" in ptx_of("1 if math.isnan(x[0]) else 2", fastmath=True)
    assert "setp" not in ptx_of("1 if math.isnan(x[0]) else 2", fastmath={"nnan"})


def test_reciprocal_and_reassociation():
    assert "div.rn" in ptx_of("x[0] / 3", (float32[::1], float32[::1]))
    assert "div" not in ptx_of("x[0] / x[0] * 0 + x[1] / 3.0", DOUBLE, fastmath={"arcp", "reassoc", "nnan", "ninf",
                                                                              "nsz"})
    assert len(re.findall(r"add\S*\.f64", ptx_of("(x[0] + 1e20) - 1e20", DOUBLE))) == 2
    assert not re.findall(r"add\S*\.f64", ptx_of("(x[0] + 1e20) - 1e20", DOUBLE, fastmath={"reassoc", "nsz"}))


def test_fastmath_reaches_device_functions():
    @cuda.jit(device=True)
    def angle(v):
        return math.cos(v) / v

    @cuda.jit(device=True, inline="never")
    def outer(v):
        return angle(v) + 1

    def kernel(x, out):
        out[0] = outer(x[0])

    ptx = cuda.compile_ptx(kernel, SINGLE, fastmath=True)[0]
    assert "cos.approx" in ptx and "div.rn" not in ptx


def test_values_with_fastmath_are_near(rng):
    @cuda.jit(fastmath=True)
    def kernel(x, out):
        i = cuda.grid(1)
        out[i] = math.sin(x[i]) * math.exp(x[i]) / math.sqrt(x[i] + 1) + x[i] ** x[i]

    x = rng.uniform(0.1, 3, 256).astype(np.float32)
    out = np.zeros(256, np.float32)
    kernel[1, 256](x, out)
    wide = x.astype(np.float64)
    np.testing.assert_allclose(out, np.sin(wide) * np.exp(wide) / np.sqrt(wide + 1) + wide**wide, rtol=2e-5)


def test_infinities_and_nan_survive_fastmath():
    @cuda.jit(fastmath=True)
    def kernel(x, out):
        i = cuda.grid(1)
        out[i] = 1 if math.isnan(x[i]) else 2 if math.isinf(x[i]) else 3

    out = np.zeros(3)
    kernel[1, 3](np.array([np.nan, -np.inf, 1], np.float32), out)
    assert out.tolist() == [1, 2, 3]


@pytest.mark.parametrize("fastmath", ["quick", {"nnan", "Fast"}, [1], 0.5])
def test_unknown_words_are_refused(fastmath):
    with pytest.raises((ValueError, TypeError)) as caught:
        cuda.jit(fastmath=fastmath)(lambda x: None)
    if not isinstance(fastmath, float):
        assert "fast, nnan, ninf, nsz, arcp, contract, afn, reassoc" in str(caught.value)


def test_options_are_kept():
    kernel = cuda.jit(fastmath={"nnan"}, fmad=False, opt=1)(lambda x: None)
    options = kernel.targetoptions
    assert options["fastmath"] == {"nnan"} and options["fmad"] is False and options["opt"] == 1


# --- levels of optimization -------------------------------------------------------------------------------------------


def test_levels():
    def kernel(x, out):
        total = 0.0
        for k in range(4):
            total += x[k] * k
        out[0] = total

    lengths = [len(cuda.compile_ptx(kernel, DOUBLE, opt=level)[0].splitlines()) for level in (0, 1, 2, 3)]
    assert "bra" in cuda.compile_ptx(kernel, DOUBLE, opt=0)[0] and lengths[0] > lengths[3]
    assert cuda.compile_ptx(kernel, DOUBLE, opt=True) == cuda.compile_ptx(kernel, DOUBLE, opt=3)
    assert cuda.compile_ptx(kernel, DOUBLE, opt=False) == cuda.compile_ptx(kernel, DOUBLE, opt=0)
    for level in (0, 1, 2, 3, True, False, None):
        out = np.zeros(1)
        cuda.jit(opt=level)(kernel)[1, 1](np.arange(4.0), out)
        assert out[0] == 14
