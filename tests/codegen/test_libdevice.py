"""cuda.libdevice: every function on both devices, rounding in a direction, and the ends of the ranges."""
import itertools
import math
import re
import shutil
import subprocess
from fractions import Fraction

import numpy as np
import pytest

from cujit import _core, cuda, errors, float32, float64, int16, int32, int64

PTXAS = shutil.which("ptxas") or shutil.which("ptxas", path="/usr/local/cuda/bin")
ROWS = {row["paths"][0].rpartition(".")[2]: row["signature"] for row in _core.intrinsic_table
        if row["kind"] == "libdevice"}
LETTERS = {"h": (int16, np.int16), "i": (int32, np.int32), "l": (int64, np.int64), "f": (float32, np.float32),
           "d": (float64, np.float64)}
NAN, INF = math.nan, math.inf


def kernel_of(names):
    """Calls each function with the i-th elements of the arrays named by the letters of its arguments."""
    lines = ["def kernel(h, i, l, f, d, out):", "    n = cuda.grid(1)", "    if n < out.shape[1]:"]
    row = 0
    for name in names:
        results, arguments = ROWS[name].lstrip("v").split(":")
        places = ", ".join(f"out[{row + k}, n]" for k in range(len(results)))
        lines.append(f"        {places} = cuda.libdevice.{name}({', '.join(f'{a}[n]' for a in arguments)})")
        row += len(results)
    scope = {"cuda": cuda}
    exec("\n".join(lines), scope)
    return scope["kernel"], row


def call(name, *columns):
    """The function's results, an array each."""
    results, arguments = ROWS[name].lstrip("v").split(":")
    letters = "abcde"[:len(arguments)]
    outs = [np.zeros(len(columns[0]), LETTERS[r][1]) for r in results]
    scope = {"cuda": cuda}
    places = ", ".join(f"o{k}[n]" for k in range(len(results)))
    exec(f"def kernel({', '.join(letters)}, {', '.join(f'o{k}' for k in range(len(results)))}):\n"
         f"    n = cuda.grid(1)\n    if n < a.size:\n"
         f"        {places} = cuda.libdevice.{name}({', '.join(f'{x}[n]' for x in letters)})", scope)
    given = [np.asarray(c, LETTERS[a][1]) for c, a in zip(columns, arguments)]
    cuda.jit(scope["kernel"])[(len(columns[0]) + 63) // 64, 64](*given, *outs)
    return outs[0] if len(outs) == 1 else outs


def groups(size):
    names = list(ROWS)
    return [names[k:k + size] for k in range(0, len(names), size)]


# --- the table --------------------------------------------------------------------------------------------------------


def test_rows():
    assert len(ROWS) >= 317
    import cujit.cuda.libdevice as module
    assert set(module.__all__) == set(ROWS) and module.sinf is cuda.libdevice.sinf
    assert module.sincos.__doc__ == "(sine, cosine)."
    with pytest.raises(errors.UnsupportedError, match="in kernels only"):
        cuda.libdevice.sinf(1.0)


def test_all_functions_run():
    for names in groups(60):
        kernel, rows = kernel_of(names)
        out = np.full((rows, 32), -77.0)
        columns = [np.ones(32, LETTERS[a][1]) for a in "hilfd"]
        cuda.jit(kernel)[1, 32](*columns, out)
        assert (out != -77).all()


@pytest.mark.parametrize("sm", [75, 90, 120])
def test_all_functions_assemble(sm, tmp_path):
    if PTXAS is None:
        pytest.skip("ptxas is not installed")
    signature = (*(LETTERS[a][0][::1] for a in "hilfd"), float64[:, ::1])
    for names in groups(60):
        ptx, _ = cuda.compile_ptx(kernel_of(names)[0], signature, cc=divmod(sm, 10))
        assert "__nv_" not in ptx and ".extern" not in ptx
        source = tmp_path / "kernel.ptx"
        source.write_text(ptx)
        done = subprocess.run([PTXAS, "-O0", f"-arch=sm_{sm}", "-o", str(tmp_path / "out"), str(source)],
                              capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def test_ptx_has_the_instructions():
    def kernel(f, d, out):
        out[0] = cuda.libdevice.fadd_rz(f[0], f[1])
        out[1] = cuda.libdevice.dmul_ru(d[0], d[1])
        out[2] = cuda.libdevice.fma_rd(d[0], d[1], d[2])
        out[3] = cuda.libdevice.fast_cosf(f[3])
        out[4] = cuda.libdevice.double2int_ru(d[4])
        out[5] = cuda.libdevice.saturatef(f[5])

    ptx, _ = cuda.compile_ptx(kernel, (float32[::1], float64[::1], float64[::1]), cc=(7, 5))
    for instruction in ["add.rz.f32", "mul.rp.f64", "fma.rm.f64", "cos.approx.f32", "cvt.rpi.s32.f64",
                        "cvt.sat.f32.f32"]:
        assert instruction in ptx, instruction


# --- rounding in a direction: exact, at the ends of the range too -----------------------------------------------------

EDGES = {
    "f": [0.0, -0.0, 1.0, -1.0, 1.5, 3.0, -7.0, 1e-45, -1e-45, 1.1754942e-38, 1.1754944e-38, 3.4028235e38,
          -3.4028235e38, 16777215.0, 1 / 3, 1e20, -1e-20],
    "d": [0.0, -0.0, 1.0, -1.0, 1.5, 3.0, -7.0, 5e-324, -5e-324, 2.225073858507201e-308, 2.2250738585072014e-308,
          1.7976931348623157e308, -1.7976931348623157e308, 9007199254740991.0, 1 / 3, 1e200, -1e-200],
}


def largest_below(value, dtype):
    """The largest number of the type that is not above a fraction; -inf below all."""
    largest = np.finfo(dtype).max
    if value > Fraction(float(largest)):
        return float(largest)
    if value < -Fraction(float(largest)):
        return -INF
    with np.errstate(over="ignore"):
        guess = np.clip(dtype(float(value)), -largest, largest)
    while Fraction(float(guess)) > value:
        guess = np.nextafter(guess, -largest)
    while (after := np.nextafter(guess, largest)) != guess and Fraction(float(after)) <= value:
        guess = after
    return float(guess)


def rounded(value, mode, dtype):
    if value == 0:
        return None   # the sign of zero is another question
    if mode == "rd" or (mode == "rz" and value > 0):
        return largest_below(value, dtype)
    return -largest_below(-value, dtype)


@pytest.mark.parametrize("mode", ["rd", "ru", "rz"])
@pytest.mark.parametrize("operation", ["add", "sub", "mul", "div"])
@pytest.mark.parametrize("letter", ["f", "d"])
def test_rounding_of_sums_and_products(letter, operation, mode):
    dtype = LETTERS[letter][1]
    x, y = np.array(list(itertools.product(EDGES[letter], repeat=2)), dtype).T.copy()
    if operation == "div":
        x, y = x[y != 0].copy(), y[y != 0].copy()
    exact = {"add": Fraction.__add__, "sub": Fraction.__sub__, "mul": Fraction.__mul__, "div": Fraction.__truediv__}
    got = call(f"{letter}{operation}_{mode}", x, y)
    for a, b, result in zip(x.tolist(), y.tolist(), got.tolist()):
        want = rounded(exact[operation](Fraction(a), Fraction(b)), mode, dtype)
        if want is not None:
            assert (result, math.copysign(1, result)) == (want, math.copysign(1, want)), (a, b)


@pytest.mark.parametrize("mode, minus_zero", [("rd", True), ("ru", False), ("rz", False), ("rn", False)])
def test_zero_of_a_difference_has_the_sign_of_the_mode(mode, minus_zero):
    for letter in "fd":
        assert np.signbit(call(f"{letter}sub_{mode}", [1.5], [1.5]))[0] == minus_zero


@pytest.mark.parametrize("mode", ["rd", "ru", "rz"])
def test_rounding_of_fused_sums(mode):
    for name, letter in (("fmaf", "f"), ("fma", "d")):
        dtype, edges = LETTERS[letter][1], EDGES[letter]
        x, y, z = np.array(list(itertools.product(edges[2:12], edges[4:14], edges[5:12])), dtype).T.copy()
        got = call(f"{name}_{mode}", x, y, z)
        for a, b, c, result in zip(x.tolist(), y.tolist(), z.tolist(), got.tolist()):
            want = rounded(Fraction(a) * Fraction(b) + Fraction(c), mode, dtype)
            if want is not None:
                assert result == want, (a, b, c)


@pytest.mark.parametrize("mode", ["rd", "ru", "rz"])
def test_rounding_of_conversions(mode):
    wide = [0.1, -0.1, 1e39, -1e39, 1e-46, -1e-46, 16777217.0, 3.4028235677973366e38]
    longs = [1, -1, 2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63) + 1, 2**24 + 1, -(2**24) - 1, 2**62 + 1]
    cases = [("double2float", wide, np.float32, Fraction), ("ll2float", longs, np.float32, Fraction),
             ("ll2double", longs, np.float64, Fraction),
             ("ull2float", longs, np.float32, lambda v: Fraction(v % 2**64)),
             ("ull2double", longs, np.float64, lambda v: Fraction(v % 2**64)),
             ("int2float", longs[6:8], np.float32, Fraction),
             ("uint2float", longs[6:8], np.float32, lambda v: Fraction(v % 2**32))]
    for name, values, dtype, exact in cases:
        assert call(f"{name}_{mode}", values).tolist() == [rounded(exact(v), mode, dtype) for v in values], name


def test_floats_out_of_range_saturate_into_integers():
    values = [NAN, INF, -INF, 1e30, -1e30, -0.75, 2.0**32, 2.0**31]
    top, bottom = 2**31 - 1, -2**31
    assert call("float2int_rz", values).tolist() == [0, top, bottom, top, bottom, 0, top, top]
    assert call("double2int_rn", values).tolist() == [bottom, top, bottom, top, bottom, -1, top, top]
    top = 2**32 - 1
    assert call("float2uint_rd", values).view(np.uint32).tolist() == [0, top, 0, top, 0, 0, top, 2**31]
    top, bottom = 2**63 - 1, -2**63
    assert call("float2ll_ru", values).tolist() == [bottom, top, bottom, top, bottom, 0, 2**32, 2**31]
    top = 2**64 - 1
    assert call("double2ull_rz", values).view(np.uint64).tolist() == [2**63, top, 0, top, 0, 0, 2**32, 2**31]


# --- functions at the ends of their range -----------------------------------------------------------------------------

X = [0.0, -0.0, INF, -INF, NAN, 1.0, -1.0, 1e300, -1e300, 5e-324, 710.0, -746.0, 1e22]
NUMPYS = {"asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "asinh": np.arcsinh, "acosh": np.arccosh,
          "atanh": np.arctanh}
FUNCTIONS = "sin cos tan sinh cosh tanh exp expm1 exp2 log log2 log10 log1p sqrt cbrt".split()


@pytest.mark.parametrize("name", [*NUMPYS, *FUNCTIONS])
def test_special_values(name):
    function = NUMPYS.get(name) or getattr(np, name)
    single = np.array([x for x in X if abs(x) < 1e38 or not math.isfinite(x)], np.float32)
    with np.errstate(all="ignore"):
        want, narrow = function(np.array(X)), function(single.astype(np.float64)).astype(np.float32)
    got = call(name, X)
    np.testing.assert_allclose(got, want, rtol=5e-16)
    np.testing.assert_array_equal(np.signbit(got[want == 0]), np.signbit(want[want == 0]))
    np.testing.assert_allclose(call(name + "f", single), narrow, rtol=4e-7)


def test_several_results():
    sine, cosine = call("sincos", [0.5, 1e22])
    np.testing.assert_allclose(sine, [math.sin(0.5), math.sin(1e22)], rtol=3e-16)
    np.testing.assert_allclose(cosine, [math.cos(0.5), math.cos(1e22)], rtol=3e-16)
    fraction, exponent = call("frexpf", [6.0, 1e-45, -0.0])
    assert fraction.tolist() == [0.75, 0.5, 0.0] and exponent.tolist() == [3, -148, 0] and exponent.dtype == np.int32
    fraction, whole = call("modf", [-2.5, INF])
    assert fraction.tolist() == [-0.5, 0.0] and whole.tolist() == [-2.0, INF]


def test_byte_perm_looks_at_three_bits_of_a_digit():
    assert call("byte_perm", [0x80], [0x7F], [0xC888]).view(np.uint32) == [0x7F808080]


def test_minimum_orders_zeros():
    assert np.signbit(call("fmin", [0.0, -0.0], [-0.0, 0.0])).all()
    assert not np.signbit(call("fmaxf", [0.0, -0.0], [-0.0, 0.0])).any()


def test_arguments_are_checked():
    @cuda.jit
    def complex_argument(out):
        out[0] = cuda.libdevice.sin(1j)

    @cuda.jit
    def two_arguments(out):
        out[0] = cuda.libdevice.sin(1.0, 2.0)

    for kernel, says in [(complex_argument, "complex128"), (two_arguments, "1")]:
        with pytest.raises(errors.TypingError, match=says) as caught:
            kernel[1, 1](np.zeros(1))
        assert "cuda.libdevice.sin" in str(caught.value)


def test_functions_share_what_they_call(assembles):
    """The reduction of large angles is there once for sin, cos, tan and sincos, which keep their values."""
    def turn(x, out):
        i = cuda.grid(1)
        out[i, 0] = math.sin(x[i])
        out[i, 1] = math.cos(x[i])
        out[i, 2] = math.tan(x[i])

    def __internal_trig_reduction_slowpathd(x, out):  # noqa: N807 (the function's name in the library)
        turn_all(x, out)

    turn_all = cuda.jit(device=True)(turn)
    signature = "void(float64[::1], float64[:, ::1])"
    ptx = assembles(turn, signature, (8, 0))
    assert len(re.findall(r"^\.func .*__internal_trig_reduction_slowpathd\w*\($", ptx, re.MULTILINE)) == 1
    angles = np.ldexp(np.array([1.1, -1.7, 1.3, 1.9]), [2, 40, 300, 1000])
    expected = np.stack([np.sin(angles), np.cos(angles), np.tan(angles)], axis=1)
    for kernel in turn, __internal_trig_reduction_slowpathd:
        assembles(kernel, signature, (9, 0))
        out = np.zeros((4, 3))
        cuda.jit(kernel)[1, 4](angles, out)
        np.testing.assert_allclose(out, expected, rtol=4e-16)


def once(x, out):
    i = cuda.grid(1)
    if i < out.size:
        e = math.exp(x[i])
        out[i] = x[i] * e / (e + 1.0)


def twice(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] * math.exp(x[i]) / (math.exp(x[i]) + 1.0)


def test_the_same_call_twice_is_one():
    types = (float64[::1], float64[::1])
    branches = [cuda.jit(each).inspect("asm", types, 90).count("bra") for each in (once, twice)]
    assert branches[0] == branches[1] > 0
