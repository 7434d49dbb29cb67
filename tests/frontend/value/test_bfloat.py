"""bfloat16: every number through every conversion and function, with NumPy's float32 and float64 as the reference.
NumPy has no such dtype: arrays here are uint16 and kernels view them."""
import math
import re
from fractions import Fraction

import numpy as np
import pytest

from cujit import _core, bfloat16, cuda, errors, float32, int64, types, vectorize

ALL = np.arange(65536, dtype=np.uint16)
NAMES = [path.rpartition(".")[2] for row in _core.intrinsic_table for path in row["paths"]
         if path.startswith("cuda.bf16.")]


def value(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32)


def nearest(x):
    """The bits of the bfloat16 nearest to a float64: a float32 that is not exact gets an odd last bit first."""
    x = np.asarray(x, np.float64)
    with np.errstate(all="ignore"):
        single = x.astype(np.float32)
        bits = single.view(np.uint32).astype(np.int64)
        inexact = ~np.isnan(x) & (single.astype(np.float64) != x)
        bits = np.where(inexact, (bits - (np.abs(single.astype(np.float64)) > np.abs(x))) | 1, bits)
        bits = np.where(np.isnan(x), 0x7fc00000, bits + 0x7fff + (bits >> 16 & 1))
    return (bits >> 16).astype(np.uint16)


def run(expression, *columns, dtype=np.uint16):
    """The expression for each row; columns of uint16 are seen as bfloat16, and so is a result of uint16."""
    letters = "abc"[:len(columns)]
    lines = [f"def kernel({', '.join(letters)}, out):", "    i = cuda.grid(1)", "    if i < out.size:"]
    for letter, column in zip(letters, columns, strict=True):
        view = ".view(bfloat16)" if column.dtype == np.uint16 else ""
        lines.append(f"        x{letter} = {letter}{view}[i]")
    expression = re.sub(r"\b([abc])\b", r"x\1", expression)
    lines.append(f"        out{'.view(bfloat16)' if dtype == np.uint16 else ''}[i] = {expression}")
    scope = {"cuda": cuda, "bfloat16": bfloat16, "math": math, "np": np}
    exec("\n".join(lines), scope)
    out = np.full(len(columns[0]), 77, dtype)
    cuda.jit(scope["kernel"])[(out.size + 255) // 256, 256](*columns, out)
    return out


def same(got, want):
    """Bits of bfloat16: any NaN is as good as another."""
    got, want = value(got), value(want)
    np.testing.assert_array_equal(got, want)
    number = ~np.isnan(want)
    np.testing.assert_array_equal(np.signbit(got[number]), np.signbit(want[number]))


@pytest.fixture
def pairs(rng):
    return rng.integers(0, 65536, (3, 50000), np.uint16)


def test_names():
    assert len(NAMES) == len(set(NAMES)) == 111 and all(hasattr(cuda.bf16, name) for name in NAMES)
    assert cuda.bf16.bfloat16 is bfloat16 is types.bfloat16 and str(bfloat16) == "bfloat16"


def test_module(run_python):
    program = """import numpy as np
from cujit import cuda
from cujit.cuda.bf16 import bfloat16, hadd

@cuda.jit
def kernel(words, out):
    x = words.view(bfloat16)
    out[0] = hadd(x[0], 2)
    out[1] = cuda.bf16.hmul(x[0], cuda.bf16.bfloat16(3))

out = np.zeros(2)
kernel[1, 1](np.array([0x3fc0], np.uint16), out)
print(out.tolist(), len(cuda.bf16.__all__))
"""
    assert run_python(program) == "[3.5, 4.5] 112\n"


# --- the type --------------------------------------------------------------------------------------------------------

def test_to_float32_and_back():
    np.testing.assert_array_equal(run("a", ALL, dtype=np.float32).view(np.uint32) >> 16 | 0x40, ALL | 0x40)
    same(run("a", ALL), ALL)
    same(run("-a", ALL), ALL ^ 0x8000)
    same(run("abs(a)", ALL), ALL & 0x7fff)
    np.testing.assert_array_equal(run("bool(a)", ALL, dtype=bool), value(ALL) != 0)


def test_from_floats(rng):
    middle = (value(ALL).astype(np.float64) + value(ALL + np.uint16(1)).astype(np.float64)) / 2
    middle = middle[np.isfinite(middle)]
    wide = np.concatenate([middle, np.nextafter(middle, np.inf), np.nextafter(middle, -np.inf), [np.nan, 1e39, 1e-50],
                           rng.integers(0, 1 << 63, 20000).view(np.float64)])
    same(run("a", wide), nearest(wide))
    with np.errstate(all="ignore"):
        narrow = wide.astype(np.float32)
    same(run("a", narrow), nearest(narrow))


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int32, np.uint32, np.int64, np.uint64])
def test_from_integers(dtype, rng):
    limits = np.iinfo(dtype)
    numbers = rng.integers(limits.min, limits.max, 3000, dtype, endpoint=True)
    if limits.bits == 64:   # next to the middle of two: float64 would lose on which side
        exponent = rng.integers(10, 63, 3000)
        between = (1 << exponent) + (rng.integers(0, 128, 3000) * 2 + 1 << exponent - 8) + rng.integers(-1, 2, 3000)
        numbers = np.concatenate([numbers, between.astype(dtype)])
    got = run("a", numbers)
    away = [value((got.astype(np.int64) + step).astype(np.uint16)) for step in (-1, 1)]
    for number, *near in zip(numbers.tolist(), value(got).tolist(), *[x.tolist() for x in away], strict=True):
        error, *others = [abs(Fraction(x) - number) if math.isfinite(x) else math.inf for x in near]
        assert error <= min(others)


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.uint32])
def test_to_integers(dtype):
    limits, exact = np.iinfo(dtype), value(ALL).astype(np.float64)
    want = np.trunc(np.nan_to_num(exact, nan=0, posinf=1e300, neginf=-1e300)).clip(limits.min, limits.max)
    np.testing.assert_array_equal(run("a", ALL, dtype=dtype), want.astype(dtype))


@pytest.mark.parametrize("operator", ["+", "-", "*", "/"])
def test_operators(operator, pairs):
    x, y, _ = pairs
    with np.errstate(all="ignore"):
        want = eval(f"x {operator} y", {"x": value(x).astype(np.float64), "y": value(y).astype(np.float64)})
    same(run(f"a {operator} b", x, y), nearest(want))


@pytest.mark.parametrize("operator", ["<", "<=", "==", "!=", ">", ">="])
def test_comparisons(operator, pairs):
    x, y, _ = pairs
    y[::7] = x[::7]
    want = eval(f"x {operator} y", {"x": value(x), "y": value(y)})
    np.testing.assert_array_equal(run(f"a {operator} b", x, y, dtype=bool), want)


def test_fused_sum_is_rounded_once(pairs):
    x, y, z = pairs
    with np.errstate(all="ignore"):
        z[::2] = nearest(-value(x[::2]).astype(np.float64) * value(y[::2]))
    z[1::4] = ALL[1::4][:len(z[1::4])]
    got = run("cuda.fma(a, b, c)", x, y, z)
    near = [value((got.astype(np.int64) + step).astype(np.uint16)) for step in (0, -1, 1)]
    for a, b, c, *results in zip(*[value(v).tolist() for v in (x, y, z)], *[v.tolist() for v in near], strict=True):
        if all(map(math.isfinite, (a, b, c, *results))):
            exact = Fraction(a) * Fraction(b) + Fraction(c)
            error, *others = [abs(Fraction(result) - exact) for result in results]
            assert error <= min(others), (a, b, c)


@pytest.mark.parametrize("expression, dtype, weak", [
    ("x[0] + x[1]", "bfloat16", "bfloat16"), ("x[0] * h[0]", "float32", "float32"),
    ("x[0] + f[0]", "float32", "float32"), ("x[0] + d[0]", "float64", "float64"),
    ("x[0] + i[0]", "float64", "float64"), ("x[0] * 2.5", "float64", "bfloat16"),
    ("-x[0]", "bfloat16", "bfloat16"), ("min(x[0], x[1])", "bfloat16", "bfloat16"),
    ("x[0] if d[0] else f[0]", "float32", "float32"),
    ("math.sqrt(x[0])", "bfloat16", "bfloat16"), ("x[0] * 2.5 * h[0]", "float64", "float32")])
def test_types_of_results(expression, dtype, weak):
    scope = {"math": math}
    exec(f"def function(x, h, f, d, i):\n    return {expression}", scope)
    arrays = [types.from_dtype(t)[::1] for t in ("f2", "f4", "f8", "i8")]
    for literals, want in (("numba", dtype), ("weak", weak)):
        function = cuda.jit(device=True, literals=literals)(scope["function"])
        assert str(function.compile_device((bfloat16[::1], *arrays))) == want


def test_arrays_of_a_block_and_of_a_thread():
    @cuda.jit
    def kernel(words, out):
        x, lane = words.view(bfloat16), cuda.threadIdx.x
        shared, own = cuda.shared.array(32, bfloat16), cuda.local.array((2, 2), bfloat16)
        shared[lane] = x[lane]
        own[1, 1] = x[lane] + x[lane]
        cuda.syncthreads()
        out[lane, 0] = shared[31 - lane]
        out[lane, 1] = own[1, 1]
        out[lane, 2] = cuda.shfl_xor_sync(0xffffffff, x[lane], 3)

    out, lanes = np.zeros((32, 3)), np.arange(32)
    kernel[1, 32](nearest(lanes), out)
    np.testing.assert_array_equal(out, np.stack([31 - lanes, 2 * lanes, lanes ^ 3], 1))


@pytest.mark.parametrize("scope", ["device", "block", "system"])
def test_atomics(scope):
    text = f"""def kernel(words, old):
    x, lane = words.view(bfloat16), cuda.grid(1)
    cuda.atomic.add(x, 0, bfloat16(1), scope="{scope}")
    cuda.atomic.sub(x, 1, bfloat16(0.5), scope="{scope}")
    cuda.atomic.max(x, 2, lane, scope="{scope}")
    cuda.atomic.nanmin(x, 3, bfloat16(-lane), scope="{scope}")
    old[lane] = cuda.atomic.cas(x, 4, bfloat16(7), bfloat16(8), scope="{scope}")
    cuda.atomic.exch(x, 5, bfloat16(2.5), scope="{scope}")
"""
    namespace = {"cuda": cuda, "bfloat16": bfloat16}
    exec(text, namespace)
    words, old = nearest([0, 0, 3, 5, 7, 1, 99]), np.zeros(64)
    cuda.jit(namespace["kernel"])[2, 32](words, old)
    np.testing.assert_array_equal(value(words), [64, -32, 63, -63, 8, 2.5, 99])
    assert sorted(old) == [7] + [8] * 63


# --- cuda.bf16 -------------------------------------------------------------------------------------------------------

def call(name, *columns, dtype=np.uint16):
    return run(f"cuda.bf16.{name}({', '.join('abc'[:len(columns)])})", *columns, dtype=dtype)


def clamped(x):
    return np.where(np.isnan(x), 0, x.clip(0, 1))


OF_ONE = {"hneg": np.negative, "habs": np.abs, "hsqrt": np.sqrt, "hrcp": lambda x: 1 / x, "hfloor": np.floor,
          "hceil": np.ceil, "htrunc": np.trunc, "hrint": np.rint, "bfloat16_to_float32": lambda x: x}
OF_TWO = {"hadd": np.add, "hsub": np.subtract, "hmul": np.multiply, "hdiv": np.divide, "hadd_rn": np.add,
          "hsub_rn": np.subtract, "hmul_rn": np.multiply, "hadd_sat": lambda x, y: clamped(x + y),
          "hsub_sat": lambda x, y: clamped(x - y), "hmul_sat": lambda x, y: clamped(x * y), "hmax": np.fmax,
          "hmin": np.fmin, "hmax_nan": np.maximum, "hmin_nan": np.minimum}
ORDERED = {"heq": np.equal, "hne": lambda x, y: (x < y) | (x > y), "hgt": np.greater, "hge": np.greater_equal,
           "hlt": np.less, "hle": np.less_equal}
CLOSE = {"hrsqrt": lambda x: 1 / np.sqrt(x), "hlog": np.log, "hlog2": np.log2, "hlog10": np.log10, "hexp": np.exp,
         "hexp2": np.exp2, "hexp10": lambda x: 10**x, "hsin": np.sin, "hcos": np.cos, "htanh": np.tanh}
FUSED = {"hfma": lambda x: x, "hfma_sat": clamped, "hfma_relu": lambda x: np.where(x < 0, 0, x)}
BITS = ["bfloat16_as_int16", "bfloat16_as_uint16", "int16_as_bfloat16", "uint16_as_bfloat16"]
CONVERSIONS = [name for name in NAMES if re.fullmatch(r"u?int\d+_to_bfloat16_r.|bfloat16_to_u?int\d+_r.|"
                                                      r"float\d+_to_bfloat16(_r.)?", name)]


def test_every_name_is_tested():
    unordered = {name + "u" for name in ORDERED}
    others = {"hisinf", "hisnan", "htanh_approx"}
    assert {*OF_ONE, *OF_TWO, *ORDERED, *unordered, *CLOSE, *FUSED, *BITS, *CONVERSIONS, *others} == set(NAMES)


@pytest.mark.parametrize("name", OF_ONE)
def test_exact_functions(name):
    with np.errstate(all="ignore"):
        want = OF_ONE[name](value(ALL).astype(np.float64))
    if name == "bfloat16_to_float32":
        np.testing.assert_array_equal(call(name, ALL, dtype=np.float32), want)
    else:
        same(call(name, ALL), nearest(want))


@pytest.mark.parametrize("name", OF_TWO)
def test_functions_of_two(name, pairs):
    x, y, _ = pairs
    y[::7] = x[::7]
    wide = value(x).astype(np.float64), value(y).astype(np.float64)
    with np.errstate(all="ignore"):
        want = value(nearest(OF_TWO[name](*wide)))
    np.testing.assert_array_equal(value(call(name, x, y)), want)


@pytest.mark.parametrize("name", ORDERED)
def test_ordered_and_unordered_comparisons(name, pairs):
    x, y, _ = pairs
    x[::5], y[::7] = 0x7fc0, x[::7]
    want = ORDERED[name](value(x), value(y))
    np.testing.assert_array_equal(call(name, x, y, dtype=bool), want)
    unordered = np.isnan(value(x)) | np.isnan(value(y))
    np.testing.assert_array_equal(call(name + "u", x, y, dtype=bool), want | unordered)


@pytest.mark.parametrize("name", FUSED)
def test_fused_functions(name, rng):
    x, y, z = nearest(rng.normal(size=(3, 20000)))
    x[:100], y[50:150] = 0x7fc0, 0x7f80
    wide = [value(v).astype(np.float64) for v in (x, y, z)]
    want = FUSED[name](wide[0] * wide[1] + wide[2])   # exact but for sums that are far from the middle of two
    np.testing.assert_array_equal(value(call(name, x, y, z)), value(nearest(want)))


@pytest.mark.parametrize("name", CLOSE)
def test_functions_are_rounded_to_one_of_the_neighbours(name):
    with np.errstate(all="ignore"):
        exact = CLOSE[name](value(ALL).astype(np.float64))
    want, got = value(nearest(exact)), value(call(name, ALL))
    ordinary = np.isfinite(want) & (np.abs(want) > 2.0**-125)
    special = ~np.isfinite(want)
    np.testing.assert_array_equal(got[special], want[special])
    step = np.exp2(np.floor(np.log2(np.abs(want[ordinary].astype(np.float64)))) - 7)
    assert (np.abs(got[ordinary] - exact[ordinary]) / step).max() < 0.51


def test_tests_and_the_approximate_function():
    np.testing.assert_array_equal(call("hisnan", ALL, dtype=bool), np.isnan(value(ALL)))
    want = np.isposinf(value(ALL)).astype(np.int32) - np.isneginf(value(ALL))
    np.testing.assert_array_equal(call("hisinf", ALL, dtype=np.int32), want)
    ordinary = ~np.isnan(value(ALL)) & (np.abs(value(ALL)) > 1e-30)
    np.testing.assert_allclose(value(call("htanh_approx", ALL))[ordinary],
                               np.tanh(value(ALL)[ordinary].astype(np.float64)), rtol=8e-3)


ROUND = {"rn": np.rint, "rz": np.trunc, "rd": np.floor, "ru": np.ceil}


@pytest.mark.parametrize("name", [name for name in CONVERSIONS if name.startswith("bfloat16_to")])
def test_conversions_to_integers(name):
    dtype, mode = re.fullmatch(r"bfloat16_to_(u?int\d+)_(r.)", name).groups()
    limits, exact = np.iinfo(dtype), value(ALL).astype(np.float64)
    number = ~np.isnan(exact) if limits.bits == 64 else np.full(ALL.size, True)   # NaN is CUDA's 2**63 for 64 bits
    rounded = ROUND[mode](np.nan_to_num(exact[number], posinf=1e300, neginf=-1e300))
    want = [min(max(int(x), limits.min), limits.max) for x in rounded.tolist()]
    np.testing.assert_array_equal(call(name, ALL, dtype=dtype)[number], np.array(want, dtype))


def directed(bits, number, mode):
    """Whether these bits are the number rounded in that direction."""
    result = Fraction(float(value(bits[None])[0])) if np.isfinite(value(bits[None])[0]) else None
    if mode == "rz":
        mode = "rd" if number >= 0 else "ru"
    if result is None:
        return mode == "ru" or mode == "rn"
    step = int(bits) + (1 if (mode == "rd") == (result > 0 or (result == 0 and number >= 0)) else -1)
    return (result <= number if mode == "rd" else result >= number) and (
        result == number or _lies_beyond(step, number, mode, result))


def _lies_beyond(step, number, mode, result):
    if result == 0:
        return abs(number) < Fraction(2)**-133
    near = float(value(np.array([step & 0xffff], np.uint16))[0])
    return not math.isfinite(near) or (Fraction(near) > number if mode == "rd" else Fraction(near) < number)


@pytest.mark.parametrize("name", [name for name in CONVERSIONS if name[0] in "ui"])
def test_conversions_from_integers(name, rng):
    dtype, mode = re.fullmatch(r"(u?int\d+)_to_bfloat16_(r.)", name).groups()
    limits = np.iinfo(dtype)
    numbers = rng.integers(limits.min, limits.max, 2000, dtype, endpoint=True)
    numbers[:limits.bits - 1] = [(1 << k) + (1 << k >> 8) + 1 for k in range(limits.bits - 1)]
    got = run(f"cuda.bf16.{name}(a)", numbers.astype(np.int32) if dtype == "uint16" else numbers)
    if mode == "rn":
        same(got, run("a", numbers.astype(np.int64) if dtype == "uint16" else numbers))
        return
    for bits, number in zip(got, numbers.tolist(), strict=True):
        assert directed(bits, number, mode), (bits, number)


@pytest.mark.parametrize("mode", ["", "_rn", "_rz", "_rd", "_ru"])
def test_conversions_from_float32(mode, rng):
    numbers = np.concatenate([rng.integers(0, 1 << 32, 20000, np.uint32).view(np.float32),
                              np.array([0, -0.0, np.inf, -np.inf, np.nan, 3.4e38, -3.4e38, 1e-45, -1e-45], np.float32)])
    got = call(f"float32_to_bfloat16{mode}", numbers)
    if mode in ("", "_rn"):
        same(got, nearest(numbers))
        return
    upper, exact = (numbers.view(np.uint32) >> 16).astype(np.uint16), numbers.view(np.uint32) & 0xffff == 0
    away = {"_rz": np.zeros(numbers.size, bool), "_rd": np.signbit(numbers), "_ru": ~np.signbit(numbers)}[mode]
    want = np.where(away & ~exact & ~np.isnan(numbers), upper + np.uint16(1), upper).astype(np.uint16)
    same(got, np.where(np.isnan(numbers), np.uint16(0x7fc0), want))


def test_conversion_from_float64(rng):
    numbers = rng.integers(0, 1 << 63, 20000).view(np.float64)
    same(call("float64_to_bfloat16", numbers), nearest(numbers))


def test_bits():
    np.testing.assert_array_equal(call("bfloat16_as_int16", ALL, dtype=np.int16), ALL.view(np.int16))
    np.testing.assert_array_equal(call("bfloat16_as_uint16", ALL, dtype=np.int64), ALL)
    same(call("int16_as_bfloat16", ALL.view(np.int16)), ALL)
    same(run("cuda.bf16.uint16_as_bfloat16(a)", ALL.astype(np.int64)), ALL)


# --- arguments -------------------------------------------------------------------------------------------------------

def test_arrays_and_numbers_of_ml_dtypes():
    ml_dtypes = pytest.importorskip("ml_dtypes")

    @cuda.jit
    def kernel(x, factor, out):
        out[cuda.grid(1)] = x[cuda.grid(1)] * factor

    x, out = np.arange(8).astype(ml_dtypes.bfloat16), np.zeros(8, ml_dtypes.bfloat16)
    kernel[1, 8](x, ml_dtypes.bfloat16(1.5), out)
    np.testing.assert_array_equal(out, x * ml_dtypes.bfloat16(1.5))
    assert kernel.signatures == [(bfloat16[::1], bfloat16, bfloat16[::1])]
    assert cuda.to_device(x).copy_to_host().dtype == bfloat16.dtype == ml_dtypes.bfloat16
    assert types.from_dtype(ml_dtypes.bfloat16) == bfloat16


def test_captured_numbers_and_functions_of_ml_dtypes_arrays():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    factor, table = ml_dtypes.bfloat16(2.5), np.arange(4).astype(ml_dtypes.bfloat16)

    @cuda.jit
    def kernel(x, out):
        own = cuda.const.array_like(table)
        out[0] = x[0] * factor + table[3]
        out[1] = ml_dtypes.bfloat16(3) + own[2]
        out[2] = cuda.reduce_add_sync(1, x[1])
        out[3] = sum(x)
        out[4] = math.sin(x[1])

    x, out = np.array([1.5, -2.25], ml_dtypes.bfloat16), np.zeros(5)
    kernel[1, 1](x, out)
    np.testing.assert_array_equal(out, [6.75, 5, -2.25, -0.75, ml_dtypes.bfloat16(math.sin(-2.25))])
    assert cuda.reduce(lambda a, b: a + b)(table) == 6
    product = vectorize(["bfloat16(bfloat16, bfloat16)"], target="cuda")(lambda a, b: a * b + a)(table, table)
    assert product.dtype == ml_dtypes.bfloat16 and product.tolist() == [0, 2, 6, 12]


def test_exceptions_carry_it():
    @cuda.jit(exceptions=True)
    def kernel(words):
        x = words.view(bfloat16)
        if x[0] > 1:
            raise ValueError("too large", x[0])

    with pytest.raises(ValueError) as caught:
        kernel[1, 1](nearest([1.5]))
        cuda.synchronize()
    assert "1.5" in str(caught.value)


def test_without_ml_dtypes(run_python):
    text = """import sys
sys.modules["ml_dtypes"] = None
from cujit import bfloat16
try:
    bfloat16.dtype
except TypeError as error:
    print(error)
"""
    assert "install ml_dtypes, or use uint16 arrays" in run_python(text)


def test_importing_does_not_import_ml_dtypes(run_python):
    assert run_python("import sys\nfrom cujit import cuda, vectorize\nprint('ml_dtypes' in sys.modules)") == "False\n"


def test_numbers_become_bfloat16_parameters():
    @cuda.jit("void(bfloat16, float64[:])")
    def kernel(x, out):
        out[0] = x

    out = np.zeros(1)
    for number in (0.1, 3, 1 + 2**-8 + 1e-12, 1e39, float("-inf")):
        kernel[1, 1](number, out)
        assert out[0] == value(nearest([number]))[0]


def test_refusals(refused):
    refused("cuda.bf16.bfloat16_as_uint16(x, x)", "bfloat16_as_uint16 takes 1 argument, 2 given")
    refused("cuda.bf16.bfloat16_as_uint16(1j)", "does not accept (complex128)")
    refused("bfloat16(x) & bfloat16(x)", "operator & does not accept (bfloat16, bfloat16)", bfloat16=bfloat16)


# --- instructions ----------------------------------------------------------------------------------------------------

def arithmetic(x, out):
    out[0] = x[0] + x[1]
    out[1] = x[0] * x[1]
    out[2] = cuda.fma(x[0], x[1], x[2])
    out[3] = cuda.atomic.add(out, 4, x[0])


@pytest.mark.parametrize("cc, present, absent", [
    ((7, 5), ["atom.relaxed.gpu"], ["bf16", "call"]),
    ((8, 0), ["fma.rn.bf16", "atom.relaxed.gpu"], ["add.bf16", "call"]),
    ((9, 0), ["add.bf16", "mul.bf16", "fma.rn.bf16", "add.noftz.bf16"], ["cvt.rn.bf16", "call", "cas"])])
def test_instructions(cc, present, absent, assembles):
    text = assembles(arithmetic, (bfloat16[::1], bfloat16[::1]), cc)
    assert all(word in text for word in present)
    assert not any(re.search(rf"^\s.*\b{word}", text, re.M) for word in absent)


def test_matrices_need_sm_80():
    def kernel(x, out):
        out[0] = cuda.mma.m16n8k8_bf16_f32((x[0],) * 4, (x[0],) * 2, (out[0],) * 4)[0]

    with pytest.raises(errors.UnsupportedError, match="not available on sm_75"):
        cuda.compile_ptx(kernel, (bfloat16[::1], float32[::1]), cc=(7, 5))
    assert "f32.bf16.bf16.f32" in cuda.compile_ptx(kernel, (bfloat16[::1], float32[::1]), cc=(8, 0))[0]


def test_signatures():
    @cuda.jit("void(bfloat16[::1], int64[:])")
    def kernel(x, out):
        out[0] = x.size

    assert kernel.signatures == [(bfloat16[::1], int64[:])]


@pytest.mark.parametrize("branches", [0, 900], ids=["small", "large"])
def test_subnormal_numbers_pass_from_block_to_block(branches):
    """Joined behind branches, in a loop, and kept across them, in code of either pipeline."""
    scope, counted = {"cuda": cuda, "bfloat16": bfloat16}, "".join(
        f"        if n[i] > {k}:\n            n[i] -= {k % 3}\n" for k in range(branches))
    exec(f"""
def kernel(x, y, n, out, kept):
    i = cuda.grid(1)
    if i < out.size:
        value, first = x.view(bfloat16)[i], y.view(bfloat16)[i]
        for k in range(n[i]):
            value, first = first, value
{counted}
        out.view(bfloat16)[i] = value
        kept.view(bfloat16)[i] = cuda.bf16.float32_to_bfloat16_rz(first) if n[i] < 5 else first
""", scope)
    x = np.arange(1, 65, dtype=np.uint16)
    y, n = x + np.uint16(0x8000), np.arange(64) % 4
    out, kept = np.zeros_like(x), np.zeros_like(x)
    cuda.jit(scope["kernel"])[1, 64](x, y, n.copy(), out, kept)
    np.testing.assert_array_equal(out, np.where(n % 2, y, x))
    np.testing.assert_array_equal(kept, np.where(n % 2, x, y))
