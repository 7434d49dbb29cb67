"""cuda.fp16: every float16 through every function, and the GPU's own instructions where it has them."""
import math

import numpy as np
import pytest

from cujit import _core, cuda, errors, float16, types

ALL = np.arange(65536, dtype=np.uint16).view(np.float16)
NAMES = [path.rpartition(".")[2] for row in _core.intrinsic_table for path in row["paths"]
         if path.startswith("cuda.fp16.")]


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


def test_names(run_python):
    assert len(NAMES) == len(set(NAMES)) == 127 and all(hasattr(cuda.fp16, name) for name in NAMES)
    assert getattr(cuda.fp16, "__half") is float16
    program = """import numpy as np
from cujit import cuda
from cujit.cuda.fp16 import __hadd_sat, __half, __half2int_rz

@cuda.jit
def kernel(x, out):
    out[0] = __half2int_rz(x[0])
    out[1] = cuda.fp16.__half2float(__hadd_sat(__half(x[1]), x[1]))

out = np.zeros(2)
kernel[1, 1](np.array([-2.75, 0.25], np.float32), out)
print(out.tolist(), len(cuda.fp16.__all__))
"""
    assert run_python(program) == "[-2.0, 0.5] 128\n"


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


def saturated(x):
    return np.nan_to_num(x, nan=0).clip(0, 1)


@pytest.fixture
def pairs(rng):
    x, y, z = rng.integers(0, 65536, (3, 50000), np.uint16).view(np.float16)
    return x.copy(), y.copy(), z.copy()


@pytest.mark.parametrize("name, function", [
    ("hadd", np.add), ("hsub", np.subtract), ("hmul", np.multiply), ("hdiv", np.divide), ("hmax", np.fmax),
    ("hmin", np.fmin), ("__hadd", np.add), ("__hsub", np.subtract), ("__hmul", np.multiply), ("__hdiv", np.divide),
    ("__hmax", np.fmax), ("__hmin", np.fmin), ("__hadd_rn", np.add), ("__hsub_rn", np.subtract),
    ("__hmul_rn", np.multiply), ("__hmax_nan", np.maximum), ("__hmin_nan", np.minimum),
    ("__hadd_sat", lambda x, y: saturated(x + y)), ("__hsub_sat", lambda x, y: saturated(x - y)),
    ("__hmul_sat", lambda x, y: saturated(x * y))])
def test_arithmetic_of_any_halves(name, function, pairs):
    x, y, _ = pairs
    with np.errstate(all="ignore"):
        want = function(x, y)
    np.testing.assert_array_equal(call(name, x, y), want)


@pytest.mark.parametrize("name, function", [
    (f"{prefix}{name}", function) for prefix in ("", "__") for name, function in {
        "heq": np.equal, "hgt": np.greater, "hge": np.greater_equal, "hlt": np.less, "hle": np.less_equal,
        "hne": lambda x, y: (x < y) | (x > y)}.items()] + [
    ("__hequ", lambda x, y: ~((x < y) | (x > y))), ("__hneu", np.not_equal), ("__hgtu", lambda x, y: ~(x <= y)),
    ("__hgeu", lambda x, y: ~(x < y)), ("__hltu", lambda x, y: ~(x >= y)), ("__hleu", lambda x, y: ~(x > y))])
def test_comparisons_of_any_halves(name, function, pairs):
    x, y, _ = pairs
    y[::7] = x[::7]
    np.testing.assert_array_equal(call(name, x, y, dtype=bool), function(x, y))


@pytest.mark.parametrize("name, rule", [("hfma", np.positive), ("__hfma", np.positive), ("__hfma_sat", saturated),
                                        ("__hfma_relu", lambda x: np.where(x < 0, np.float16(0), x))])
def test_fused_sum_is_rounded_once(name, rule, pairs):
    x, y, z = pairs
    with np.errstate(all="ignore"):
        z[::2] = (-x.astype(np.float64) * y)[::2]
    got = call(name, x, y, z)
    with np.errstate(all="ignore"):
        wide = [v.astype(np.longdouble) for v in (x, y, z)]
        exact = wide[0] * wide[1] + wide[2]
        want = exact.astype(np.float64).astype(np.float16)
        np.testing.assert_array_equal(got, rule(want))


def test_kinds_of_numbers():
    np.testing.assert_array_equal(call("__hisnan", ALL, dtype=bool), np.isnan(ALL))
    sign = np.where(np.isinf(ALL), 1 - 2 * np.signbit(ALL), 0)
    np.testing.assert_array_equal(call("__hisinf", ALL, dtype=np.int32), sign)
    same(call("__hneg", ALL), -ALL)
    same(call("__habs", ALL), abs(ALL))


# --- conversions ------------------------------------------------------------------------------------------------------

INTEGERS = {"short": np.int16, "ushort": np.uint16, "int": np.int32, "uint": np.uint32, "ll": np.int64,
            "ull": np.uint64}
ROUND = {"rn": np.rint, "rz": np.trunc, "rd": np.floor, "ru": np.ceil}


def rounded(exact, mode):
    """The float16 next to each longdouble in that direction."""
    near = exact.astype(np.float16)
    wide = near.astype(np.longdouble)
    is_above = {"rn": wide != wide, "rz": abs(wide) > abs(exact), "rd": wide > exact, "ru": wide < exact}[mode]
    toward = {"rn": 0, "rz": 0, "rd": -np.inf, "ru": np.inf}[mode]
    return np.where(is_above, np.nextafter(near, np.float16(toward)), near)


@pytest.mark.parametrize("mode", ROUND)
def test_from_float32(mode, rng):
    middle = (ALL[:0x7bff].astype(np.float64) + ALL[1:0x7c00]) / 2
    some = rng.integers(0, 0x7f800000, 50000, np.uint32).view(np.float32)
    numbers = np.concatenate([ALL, middle, -middle, some, -some, [65519, 65520, -65520, 1e30, -1e30, 1e-30, -1e-30]])
    with np.errstate(all="ignore"):
        numbers = numbers.astype(np.float32)
        numbers = np.concatenate([numbers, np.nextafter(numbers, np.inf), np.nextafter(numbers, -np.inf)])
        same(call(f"__float2half_{mode}", numbers), rounded(numbers.astype(np.longdouble), mode))


def test_from_floats_to_nearest(rng):
    numbers = rng.integers(0, 1 << 63, 50000, np.uint64).view(np.float64)
    middle = (ALL[:0x7bff].astype(np.float64) + ALL[1:0x7c00]) / 2
    numbers = np.concatenate([numbers, middle, np.nextafter(middle, 0), np.nextafter(middle, 1e9)])
    with np.errstate(all="ignore"):
        same(call("__double2half", numbers), numbers.astype(np.float16))
        same(call("__float2half", numbers.astype(np.float32)), numbers.astype(np.float32).astype(np.float16))


@pytest.mark.parametrize("mode", ROUND)
@pytest.mark.parametrize("name", INTEGERS)
def test_from_integers(name, mode, rng):
    limits = np.iinfo(INTEGERS[name])
    numbers = np.concatenate([np.arange(max(limits.min, -70000), min(limits.max, 70000)),
                              rng.integers(limits.min, limits.max, 1000, limits.dtype, endpoint=True)])
    numbers = np.append(numbers, [limits.min, limits.max]).astype(limits.dtype)
    with np.errstate(all="ignore"):
        same(call(f"__{name}2half_{mode}", numbers), rounded(numbers.astype(np.longdouble), mode))


def whole_numbers(mode, dtype):
    """Every float16 as an integer, the nearest where none fits; NaN as CUDA has it."""
    limits, exact = np.iinfo(dtype), ROUND[mode](ALL.astype(np.float64))
    not_a_number = 0 if limits.bits < 64 else 1 << 63 if limits.min == 0 else limits.min
    return np.array([not_a_number if math.isnan(x) else
                     int(min(max(x, limits.min), limits.max)) if abs(x) < 1e5 else limits.min if x < 0 else limits.max
                     for x in exact.tolist()], dtype)


@pytest.mark.parametrize("mode", ROUND)
@pytest.mark.parametrize("name", INTEGERS)
def test_to_integers(name, mode):
    np.testing.assert_array_equal(call(f"__half2{name}_{mode}", ALL, dtype=INTEGERS[name]),
                                  whole_numbers(mode, INTEGERS[name]))


def test_to_bytes_and_float32():
    np.testing.assert_array_equal(call("__half2char_rz", ALL, dtype=np.int8), whole_numbers("rz", np.int8))
    np.testing.assert_array_equal(call("__half2uchar_rz", ALL, dtype=np.uint8), whole_numbers("rz", np.uint8))
    np.testing.assert_array_equal(call("__half2float", ALL, dtype=np.float32), ALL.astype(np.float32))


def test_bits_stay():
    bits = ALL.view(np.uint16)
    np.testing.assert_array_equal(call("__half_as_short", ALL, dtype=np.int16), bits.view(np.int16))
    np.testing.assert_array_equal(call("__half_as_ushort", ALL, dtype=np.uint16), bits)
    same(call("__short_as_half", bits.view(np.int16)), ALL)
    same(call("__ushort_as_half", bits), ALL)


def test_atomic_add_takes_pointers():
    @cuda.jit(types.void(types.CPointer(float16), float16[::1]))
    def kernel(address, old):
        old[cuda.grid(1)] = cuda.fp16.atomicAdd(address, 0.5)

    total, old = cuda.to_device(np.zeros(2, np.float16)), np.zeros(64, np.float16)
    kernel[2, 32](total, old)
    assert total.copy_to_host().tolist() == [32, 0] and sorted(old) == [i / 2 for i in range(64)]


def test_bad_calls():
    def refused(expression, text):
        scope = {"cuda": cuda}
        exec(f"def kernel(x, out):\n    out[0] = {expression}", scope)
        with pytest.raises(errors.TypingError, match=text):
            cuda.compile_ptx(scope["kernel"], (float16[::1], float16[::1]))

    refused("cuda.fp16.__half_as_short(x)", "__half_as_short")
    refused("cuda.fp16.__hadd_rn(x[0])", "__hadd_rn|hadd_rn")
    refused("cuda.fp16.__hadd_up(x[0], x[0])", "no attribute '__hadd_up'")
    refused("cuda.fp16.atomicAdd(x[0], x[0])", "float16")


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
