"""Functions of kernels that are written in the kernel language: each row of the table is one, and gives the values of
cmath, math and NumPy."""
import cmath
import functools
import importlib
import itertools
import math
import operator
import sys
import types
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from cujit import _core, cuda, errors

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "scripts"))
import stands_for_index  # noqa: E402

FUNCTIONS = ROOT / "python" / "cujit" / "_kernel_functions"
ROWS = [row for row in _core.intrinsic_table
        if row["kind"] == "python_function" and not row["paths"][0].startswith("cuda.")]
INF, NAN = math.inf, math.nan


def kernel_of(expression, arity, **names):
    """A kernel that stores the expression, of a[i], b[i] and c[i], for element after element."""
    letters = "abc"[:arity]
    scope = {"cuda": cuda, "cmath": cmath, "math": math, "np": np, **names}
    lines = [f"def kernel({', '.join([*letters, 'out'])}):", "    i = cuda.grid(1)", "    if i < out.size:",
             f"        out[i] = {expression}"]
    exec("\n".join(lines), scope)
    return cuda.jit(scope["kernel"])


def values_of(path, columns, dtype):
    call = f"{path}({', '.join(f'{letter}[i]' for letter in 'abc'[:len(columns)])})"
    out = np.full(len(columns[0]), 99).astype(dtype)
    kernel_of(call, len(columns))[1, max(32, len(out))](*columns, out)
    return out


# --- the table --------------------------------------------------------------------------------------------------------


def test_the_build_has_seen_every_mark():
    marks = {(path, f"{module}.{name}") for paths, module, name, _ in stands_for_index.index(FUNCTIONS)
             for path in paths.split()}
    marks |= {(row["numpy"], row["numpy"].replace("numpy.", "numpy_functions.math.")) for row in _core.intrinsic_table
              if row["numpy"]}
    assert marks == {(path, row["python_function"]) for row in _core.intrinsic_table if row["python_function"]
                     for path in row["paths"]}


def test_functions_for_forms_of_calls_have_an_intrinsic():
    paths = [path for row in _core.intrinsic_table for path in row["paths"]]
    assert len(set(paths)) == len(paths)
    forms = {paths for paths, _, _, doc in stands_for_index.index(FUNCTIONS) if not doc}
    assert forms == {row["paths"][0] for row in _core.intrinsic_table
                     if row["python_function"] and row["kind"] == "builtin"}


def test_objects_are_found_by_their_own_names():
    """What the lookup of an object relies on: np.abs is called absolute, which is one of its row's paths."""
    for row in _core.intrinsic_table:
        for path in row["paths"]:
            root, *names = path.split(".")
            if root == "cuda":
                continue
            try:
                found = functools.reduce(getattr, names, importlib.import_module(root))
            except AttributeError:   # of other versions
                continue
            assert callable(found)
            assert found.__name__ in [path.rpartition(".")[2] for path in row["paths"]], path


@pytest.mark.parametrize("source", [
    "def outer():\n    @stands_for('math.f')\n    def f(): pass\n",
    "f, g = stands_for('math.f')(1), stands_for('math.g')(2)\n",
])
def test_marks_that_lead_to_no_name_of_the_module(tmp_path, source):
    (tmp_path / "functions.py").write_text(source)
    with pytest.raises(SystemExit, match="functions of a module"):
        stands_for_index.index(tmp_path)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_row_names_a_function_with_the_parameters_of_python(row):
    module, _, name = row["python_function"].rpartition(".")
    function = getattr(importlib.import_module("cujit._kernel_functions." + module), name)
    assert isinstance(function, types.FunctionType)
    assert row["paths"]


NEWER = {"numpy.bitwise_count"} if np.__version__ < "2" else set()   # what an older NumPy has not


def is_there(path):
    module, name = path.rsplit(".", 1)
    return hasattr(importlib.import_module(module), name)


def test_paths_lead_to_objects_of_python():
    newer = set()
    for row in ROWS:
        for path in row["paths"]:
            if not path.startswith("cuda.") and not is_there(path):
                newer.add(path)
    assert newer <= NEWER


# One argument list for each row; those of NumPy follow from the ufunc.
CALLS = {
    "math.gcd": "(4, 6)", "math.lcm": "(4, 6)", "math.comb": "(5, 2)", "math.perm": "(5, 2)",
    "math.factorial": "(4)", "math.isqrt": "(17)", "math.isclose": "(1.0, 2.0)", "math.ulp": "(1.0)",
    "math.dist": "((1.0, 2.0), (3.0, 4.0))", "cmath.isclose": "(1j, 2.0)", "cmath.rect": "(2.0, 0.5)",
    "cmath.polar": "(3 + 4j)[0]", "numpy.clip": "(5, 1, 3)", "numpy.where": "(True, 2.5, 3.5)",
    "builtins.map": "(abs, (-3, 2))", "builtins.filter": "(None, (3, 0, 2))", "builtins.sorted": "((3, -1, 2))[1]",
    "functools.reduce": "(max, (3, 7, 2))", "functools.partial": "(max, 3)(2)",
    "math.prod": "((3, 7, 2))", "operator.concat": "((1, 2), (5,))[2]", "operator.iconcat": "((1, 2), (5,))[2]",
    "operator.countOf": "((1, 2, 2), 2)",
    "operator.matmul": "(VECTOR, VECTOR)",
    "operator.contains": "((1, 2), 2)", "operator.getitem": "((1, 2), 1)", "operator.indexOf": "((1, 2), 2)",
    "operator.attrgetter": "('real')(2.5 - 1j)", "operator.methodcaller": "('conjugate')(2.5 - 1j).imag",
    "operator.itemgetter": "(1)((3, 4))", "operator.is_": "(None, None)", "operator.is_not": "(None, None)",
    "numpy.divmod": "(7, 4)[1]", "numpy.arccosh": "(1.5)", "numpy.ldexp": "(1.5, 3)",
    "numpy.round": "(2.675, 2)", "numpy.around": "(-1250, -2)", "numpy.angle": "(1 + 2j, deg=True)",
    "numpy.isclose": "(1.0, 1.00001)", "numpy.allclose": "(1.0, 1.1)", "numpy.nan_to_num": "(-math.inf)",
    "numpy.frexp": "(0.75)[0]", "numpy.modf": "(-2.5)[1]", "numpy.heaviside": "(0.0, 0.25)",
    "numpy.searchsorted": "(SORTED, 2.5, side='right')", "numpy.digitize": "(1.0, SORTED)",
    "numpy.interp": "(1.75, SORTED, TABLE)", "numpy.dot": "(TABLE, SORTED)", "numpy.shape": "(GRID)[1]",
    "numpy.bitwise_count": "(-77)", "numpy.finfo": "(np.float32).eps", "numpy.iinfo": "(np.int16).min",
    "numpy.ndenumerate": "(GRID)", "numpy.ndindex": "(2, 3)",
}
TABLE, SORTED, GRID = np.array([3.0, -1.0, 4.0, 1.5]), np.array([0.5, 1.0, 2.5, 8.0]), np.arange(6.0).reshape(2, 3)


@dataclass
class Vector:
    x: float
    y: float

    def __matmul__(self, other):
        return self.x * other.x + self.y * other.y


ARRAYS = {"TABLE": TABLE, "SORTED": SORTED, "GRID": GRID, "VECTOR": Vector(2.0, 0.5)}
OF_ARRAYS = ("sum prod nansum nanprod mean nanmean var nanvar std nanstd max amax min amin nanmax nanmin ptp argmax "
             "argmin any all count_nonzero size ndim").split()


UNARY = ("neg", "pos", "invert", "inv", "not_", "truth", "abs", "index")
STORES = {"operator.setitem"}   # they have no value of their own


def call_of(path):
    if path in CALLS:
        return CALLS[path]
    if path.startswith("operator."):
        return "(6)" if path.split(".")[1] in UNARY else "(6, 3)"
    if path.startswith("cmath."):
        return "(0.25 + 0.5j)"
    name = path.split(".")[1]
    if name in OF_ARRAYS:
        return "(GRID)"
    ufunc = getattr(np, name)
    if not isinstance(ufunc, np.ufunc):
        return "(0.75)"
    number = "3" if "i" in ufunc.types[0] or "bb->b" in ufunc.types or "b->b" in ufunc.types else "0.75"
    return "(" + ", ".join([number, "2" if number == "3" else "0.5"][:ufunc.nin]) + ")"


# What needs a GPU's threads or a pointer is tested with them.
RUN = [path for row in ROWS for path in row["paths"]
       if path not in STORES | NEWER and not path.startswith(("cuda.", "cujit."))]


@pytest.mark.parametrize("path", RUN)
def test_each_row_has_the_value_of_python(path):
    expression = path.replace("numpy.", "np.").replace("builtins.", "") + call_of(path)
    if path in ("builtins.map", "builtins.filter"):
        expression = f"sum({expression})"
    if path in ("numpy.ndindex", "numpy.ndenumerate"):
        expression = f"sum(hash_of(item) for item in {expression})"
    scope = {"cmath": cmath, "math": math, "np": np, "operator": operator, "functools": functools,
             "hash_of": lambda item: item[0] * 10 + item[1] if isinstance(item[0], int) else item[0][1] * 10 + item[1],
             **ARRAYS}
    out = np.full(1, 99j)
    kernel_of(expression, 0, **scope)[1, 1](out)
    want = eval(expression, scope)
    np.testing.assert_allclose(out, complex(want), rtol=1e-15)


# --- cmath ------------------------------------------------------------------------------------------------------------

CMATH = "acos acosh asin asinh atan atanh cos cosh exp log log10 sin sinh sqrt tan tanh".split()
SIZES = (1e-300, 1e-20, 1e-3, 0.5, 0.99999, 1.0, 1.5, 30.0, 1e5, 1e20, 1e160)


def cmath_value(name, z):
    try:
        return getattr(cmath, name)(z)
    except (OverflowError, ValueError):
        return None


@pytest.mark.parametrize("name", CMATH)
def test_cmath_in_every_quadrant_and_scale(name):
    points = [complex(s * x, t * y) for x, y in itertools.product(SIZES, SIZES) for s in (1, -1) for t in (1, -1)]
    cases = [(z, want) for z in points if (want := cmath_value(name, z)) is not None]
    assert len(cases) > 100
    z, want = map(np.array, zip(*cases))
    out = np.full(z.size, 99j)
    kernel_of(f"cmath.{name}(a[i])", 1)[z.size // 64 + 1, 64](z, out)
    error = np.abs(out - want)
    limit = 1e-14 * np.abs(want)
    wrong = np.flatnonzero(~(error <= limit + 1e-307))
    assert not wrong.size, [(z[i], out[i], want[i]) for i in wrong[:5]]


@pytest.mark.parametrize("name", CMATH)
def test_cmath_signs_of_zero(name):
    parts = (0.0, -0.0, 0.5, -0.5, 2.0, -2.0)
    cases = [(complex(x, y), want) for x in parts for y in parts if x == 0 or y == 0
             if (want := cmath_value(name, complex(x, y))) is not None]
    z, want = map(np.array, zip(*cases))
    out = values_of(f"cmath.{name}", [z], complex)
    np.testing.assert_allclose(out, want, rtol=1e-14, atol=1e-16)
    for part in ("real", "imag"):
        got, expected = getattr(out, part), getattr(want, part)
        differ = (np.signbit(got) != np.signbit(expected)) & (np.abs(expected) > 1e-16)
        exact = (expected == 0) & (np.signbit(got) != np.signbit(expected))
        assert not differ.any() and not exact.any(), (part, z[differ | exact], out[differ | exact])


SPECIAL = (math.inf, -math.inf, math.nan, 0.0, -0.0, 0.5, -3.5, 100.0, 1e300)


@pytest.mark.parametrize("name", [*CMATH, "exp", "rect"])
def test_cmath_of_infinities_and_nan(name):
    """C99's Annex G, as CPython has it: what becomes NaN, which infinities and zeros stay, and their signs."""
    def expected(z):
        if name == "rect":
            return cmath_rect(z)
        return corrected(name, z) or cmath_value(name, z)

    cases = [(z, want) for z in itertools.starmap(complex, itertools.product(SPECIAL, SPECIAL))
             if (want := expected(z)) is not None]
    z, want = map(np.array, zip(*cases))
    out = values_of(f"cmath.{name}", [z.real, z.imag] if name == "rect" else [z], complex)
    for got, right in (out.real, want.real), (out.imag, want.imag):
        np.testing.assert_allclose(got, right, rtol=1e-14)
        signs = (np.signbit(got) != np.signbit(right)) & (right == right) & ((right == 0) | np.isinf(right))
        assert not signs.any(), (z[signs], got[signs], right[signs])


def corrected(name, z):
    """What CPython has since 3.14, NumPy and kernels always: a zero, or an angle, beside NaN."""
    if name == "acosh" and z.real == 0 and math.isnan(z.imag):
        return complex(NAN, math.pi / 2)
    if name == "tanh" and z.real == 0 and not math.isfinite(z.imag):
        return complex(z.real, NAN)
    if name == "tan" and z.imag == 0 and not math.isfinite(z.real):
        return complex(NAN, z.imag)
    return None


def cmath_rect(z):
    try:
        return cmath.rect(z.real, z.imag)
    except ValueError:
        return None


def test_cmath_keeps_single_precision():
    z = np.array([0.3 + 0.7j, -2 + 0.1j], np.complex64)
    for name in CMATH:
        out = values_of(f"cmath.{name}", [z], complex)
        np.testing.assert_allclose(out, [getattr(cmath, name)(x) for x in z.tolist()], rtol=2e-6)


def test_cmath_of_real_numbers_and_integers():
    for column in (np.array([0.25, -4.0]), np.array([2, -9]), np.array([2, 250], np.uint8)):
        out = values_of("cmath.sqrt", [column], complex)
        np.testing.assert_allclose(out, np.sqrt(column.astype(complex)), rtol=2e-7)


def test_cmath_isclose_log_with_a_base_polar_and_rect():
    a, b = np.array([1 + 1j, 1 + 1j, 3.0]), np.array([1 + 1.0000000001j, 1 + 2j, 3.5])
    np.testing.assert_array_equal(values_of("cmath.isclose", [a, b], bool), [True, False, False])
    np.testing.assert_allclose(values_of("cmath.log", [a, b], complex),
                               [cmath.log(x, y) for x, y in zip(a.tolist(), b.tolist())], rtol=1e-14)
    out = np.zeros(3)
    kernel_of("cmath.polar(a[i])[0] + cmath.polar(a[i])[1]", 1)[1, 32](a, out)
    np.testing.assert_allclose(out, [sum(cmath.polar(z)) for z in a.tolist()], rtol=1e-15)


# --- math -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["gcd", "lcm", "comb", "perm"])
def test_math_of_two_integers(name):
    pairs = [(a, b) for a in (0, 1, 2, 12, 17, 30) for b in (0, 1, 3, 8, 12)]
    a, b = np.array(pairs).T.copy()
    want = [getattr(math, name)(x, y) for x, y in pairs]
    np.testing.assert_array_equal(values_of(f"math.{name}", [a, b], np.int64), want)


def test_math_of_signed_and_of_many_integers():
    a, b, c = np.array([-12, 0, -7]), np.array([18, -5, -21]), np.array([4, 10, 14])
    rows = list(zip(a.tolist(), b.tolist(), c.tolist()))
    np.testing.assert_array_equal(values_of("math.gcd", [a, b, c], np.int64), [math.gcd(*r) for r in rows])
    np.testing.assert_array_equal(values_of("math.lcm", [a, b, c], np.int64), [math.lcm(*r) for r in rows])


ENDS = [0, 1, -1, 5, -5, 12, 15, 25, -15, -25, 10**18, 5 * 10**18, 5 * 10**18 + 1, -5 * 10**18 - 1, 2**62, -2**62,
        2**63 - 1, -2**63, -2**63 + 1, -2**63 + 4]


def wrapped(number):
    """As int64 has the last bits of it."""
    return (number + 2**63) % 2**64 - 2**63


def test_gcd_where_numbers_are_largest():
    pairs = [(a, b) for a in ENDS for b in ENDS]
    a, b = np.array(pairs).T.copy()
    want = [wrapped(math.gcd(*pair)) for pair in pairs]
    np.testing.assert_array_equal(values_of("math.gcd", [a, b], np.int64), want)
    np.testing.assert_array_equal(values_of("np.gcd", [a, b], np.int64), want)


@pytest.mark.parametrize("digits", range(-21, 1))
def test_integers_are_rounded_to_powers_of_ten(digits):
    out = np.zeros(len(ENDS), np.int64)
    kernel_of(f"round(a[i], {digits})", 1)[1, 32](np.array(ENDS), out)
    np.testing.assert_array_equal(out, [wrapped(round(number, digits)) for number in ENDS])


def test_isqrt_and_factorial():
    n = np.array([0, 1, 2, 15, 16, 17, 2**52 - 1, 3037000499**2 - 1, 3037000499**2, 2**63 - 1])
    np.testing.assert_array_equal(values_of("math.isqrt", [n], np.int64), [math.isqrt(x) for x in n.tolist()])
    n = np.arange(21)
    np.testing.assert_array_equal(values_of("math.factorial", [n], np.int64), [math.factorial(x) for x in n.tolist()])


def test_hypot_of_many_numbers():
    a, b, c = np.array([3.0, 1e200, 0.0]), np.array([4.0, 1e200, -2.0]), np.array([12.0, 1e200, INF])
    want = [math.hypot(*row) for row in zip(a.tolist(), b.tolist(), c.tolist())]
    np.testing.assert_allclose(values_of("math.hypot", [a, b, c], float), want, rtol=1e-15)
    out = np.zeros(1)
    kernel_of("math.hypot(1, 2, 3.5, -4, True)", 0)[1, 1](out)
    np.testing.assert_allclose(out, math.hypot(1, 2, 3.5, -4, 1), rtol=1e-15)


def test_functions_of_two_numbers_take_halves():
    a, b = np.array([1.5, -3.0], np.float16), np.array([2.0, 0.25], np.float16)
    for name in ("atan2", "hypot", "copysign", "fmod"):
        want = [getattr(math, name)(x, y) for x, y in zip(a.tolist(), b.tolist())]
        np.testing.assert_allclose(values_of(f"math.{name}", [a, b], float), want, rtol=3e-7)


def test_ulp_and_dist():
    x = np.array([1.0, -3.5, 0.0, 1e300, INF, 1.7976931348623157e308])
    np.testing.assert_array_equal(values_of("math.ulp", [x], float), [math.ulp(v) for v in x.tolist()])
    out = np.zeros(6)
    kernel_of("math.dist((a[i], 1.0, 2), (0.5, a[i], 3))", 1)[1, 32](np.arange(6.0), out)
    np.testing.assert_allclose(out, [math.dist((v, 1.0, 2), (0.5, v, 3)) for v in range(6)], rtol=1e-15)


# --- NumPy ------------------------------------------------------------------------------------------------------------

INTEGERS = "int8 int16 int32 int64 uint8 uint16 uint32 uint64".split()
FLOATS = "float32 float64".split()
ONE = ("sin cos tan sinh cosh tanh arcsin arccos arctan arcsinh arccosh arctanh exp exp2 expm1 log log2 log10 log1p "
       "sqrt cbrt fabs rint spacing rad2deg deg2rad floor ceil trunc isnan isinf isfinite signbit negative positive "
       "absolute square reciprocal sign conjugate logical_not").split()
COMPLEX = ("sin cos tan sinh cosh tanh arcsin arccos arctan arcsinh arccosh arctanh exp exp2 expm1 log log2 log10 "
           "log1p sqrt isnan isinf isfinite negative positive absolute square reciprocal conjugate logical_not").split()
TWO = ("add subtract multiply divide floor_divide remainder fmod maximum minimum fmax fmin hypot arctan2 copysign "
       "nextafter equal not_equal less less_equal greater greater_equal logical_and logical_or logical_xor "
       "logaddexp logaddexp2 float_power").split()
BITS = "bitwise_and bitwise_or bitwise_xor left_shift right_shift gcd lcm".split()


def close(got, want, dtype):
    """Equal but for rounding, and NaN and infinities where they belong."""
    rtol = 2e-6 if np.dtype(dtype) in (np.float32, np.complex64) else 2e-14
    np.testing.assert_allclose(got, want, rtol=rtol, atol=0 if got.dtype.kind != "c" else 1e-15)


@pytest.mark.parametrize("name", ONE)
@pytest.mark.parametrize("dtype", FLOATS)
def test_numpy_of_one_float(name, dtype):
    x = np.array([0.0, -0.0, 0.1, -0.7, 1.0, 2.5, -3.5, 17.0, INF, -INF, NAN], dtype)
    with np.errstate(all="ignore"):
        want = getattr(np, name)(x)
    got = values_of(f"np.{name}", [x], want.dtype)
    close(got, want, dtype)
    zero = want == 0
    np.testing.assert_array_equal(np.signbit(got[zero]), np.signbit(want[zero]))


@pytest.mark.parametrize("name", COMPLEX)
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_numpy_of_one_complex_number(name, dtype):
    x = np.array([0.3 + 0.2j, -0.7 + 1.5j, 2 - 0.25j, -3 - 2j, 0.5j, 0.001 + 1e-4j], dtype)
    got = values_of(f"np.{name}", [x], getattr(np, name)(x).dtype)
    want = getattr(np, name)(x.astype(complex))   # NumPy's own log1p of complex64 is less precise
    assert (np.abs(got.astype(complex) - want) <= (4e-6 if dtype == "complex64" else 2e-14) * np.abs(want)).all()


@pytest.mark.parametrize("name", "negative absolute square reciprocal conjugate sign sqrt log angle".split())
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_numpy_of_special_complex_numbers(name, dtype):
    if name == "sign" and np.lib.NumpyVersion(np.__version__) < "2.0.0":
        pytest.skip("NumPy 1 gives the sign of the real part")
    parts = [0.0, -0.0, 1.0, -2.5, INF, -INF, NAN]
    x = np.array([complex(a, b) for a in parts for b in parts], dtype)
    with np.errstate(all="ignore"):
        want = getattr(np, name)(x)
    got = values_of(f"np.{name}", [x], want.dtype)
    for a, b in (got.real, want.real), (got.imag, want.imag):
        np.testing.assert_allclose(a, b, rtol=2e-6)
        signs = (np.signbit(a) != np.signbit(b)) & ((b == 0) | np.isinf(b))
        assert not signs.any(), (x[signs], got[signs], want[signs])


@pytest.mark.parametrize("dtype", INTEGERS)
def test_numpy_of_one_integer(dtype):
    x = np.array([0, 1, 2, 7, 100, 127, 5], dtype)
    if dtype[0] == "i":
        x[::2] = -x[::2]
    with np.errstate(all="ignore"):
        for name in "negative positive absolute square sign conjugate invert logical_not".split():
            want = getattr(np, name)(x)
            np.testing.assert_array_equal(values_of(f"np.{name}", [x], want.dtype), want, name)
        for name in ("sin", "sqrt", "exp2", "rad2deg"):
            want = getattr(np, name)(x.astype(np.float64))
            np.testing.assert_allclose(values_of(f"np.{name}", [x], np.float64), want, rtol=3e-6, err_msg=name)


@pytest.mark.parametrize("name", TWO)
@pytest.mark.parametrize("dtype", FLOATS)
def test_numpy_of_two_floats(name, dtype):
    parts = (0.0, 1.0, -1.5, 2.25, 7.0, NAN)
    x, y = np.array(list(itertools.product(parts, parts)), dtype).T.copy()
    if name in ("floor_divide", "remainder"):   # by zero as Python has it, not NumPy
        x, y = x[y != 0], y[y != 0]
    with np.errstate(all="ignore"):
        want = getattr(np, name)(x, y)
    close(values_of(f"np.{name}", [x, y], want.dtype), want, dtype)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_numpy_of_two_integers(dtype):
    x, y = np.array(list(itertools.product((0, 1, 3, 12, 100), (1, 2, 3, 5)))).astype(dtype).T.copy()
    if dtype[0] == "i":
        x[1::2] = -x[1::2]
    for name in [*TWO[:11], "power", *BITS]:
        if name in ("left_shift", "power"):
            x = np.abs(x) % 4
        want = getattr(np, name)(x, y)
        np.testing.assert_allclose(values_of(f"np.{name}", [x, y], want.dtype), want, rtol=1e-15, err_msg=name)


def test_numpy_of_two_types():
    for left, right in itertools.product(INTEGERS + FLOATS, INTEGERS + FLOATS):
        x, y = np.array([1, 5, 100, 7]).astype(left), np.array([3, 5, 2, 100]).astype(right)
        for name in ("add", "maximum", "less"):
            want = getattr(np, name)(x, y)
            np.testing.assert_array_equal(values_of(f"np.{name}", [x, y], want.dtype), want, f"{name} {left} {right}")


def test_numpy_of_booleans():
    x, y = np.array([True, True, False, False]), np.array([True, False, True, False])
    for name in "add multiply maximum bitwise_xor logical_xor left_shift equal".split():
        want = getattr(np, name)(x, y)
        np.testing.assert_array_equal(values_of(f"np.{name}", [x, y], want.dtype), want, name)
    np.testing.assert_array_equal(values_of("np.invert", [x], bool), ~x)


def test_results_have_the_types_of_numba():
    def result(expression, *types):
        scope = {"np": np}
        exec(f"def f({', '.join('abc'[:len(types)])}):\n    return {expression}", scope)
        return str(cuda.compile_ptx(scope["f"], types, device=True)[1])

    from cujit.types import boolean, complex64, float16, float32, float64, int8, int32, int64, uint16
    assert result("np.sin(a)", uint16) == "float32"
    assert result("np.sin(a)", int32) == "float64"
    assert result("np.sin(a)", float16) == "float16"
    assert result("np.exp(a)", complex64) == "complex64"
    assert result("np.add(a, b)", int8, int8) == "int8"
    assert result("np.add(a, 1)", float32) == "float32"
    assert result("np.add(a, b)", int8, uint16) == "int32"
    assert result("np.divide(a, b)", int8, int8) == "float64"
    assert result("np.maximum(a, b)", int64, float32) == "float32"
    assert result("np.arctan2(a, b)", uint16, boolean) == "float32"
    assert result("np.hypot(a, b)", float32, float64) == "float64"
    assert result("np.conjugate(a)", boolean) == "int8"


def test_where_clip_divmod_ldexp():
    x, low, high = np.array([0.5, 2.0, NAN, -3.0]), np.full(4, -1.0), np.full(4, 1.0)
    np.testing.assert_array_equal(values_of("np.clip", [x, low, high], float), np.clip(x, -1, 1))
    np.testing.assert_array_equal(values_of("np.where", [x > 0, x, high], float), np.where(x > 0, x, 1.0))
    exponents = np.array([1, -2, 3, 0])
    np.testing.assert_array_equal(values_of("np.ldexp", [x, exponents], float), np.ldexp(x, exponents))
    n, m = np.array([7, -7, 7, -7]), np.array([2, 2, -2, -2])
    out = np.zeros(4, int)
    kernel_of("np.divmod(a[i], b[i])[0] * 100 + np.divmod(a[i], b[i])[1]", 2)[1, 32](n, m, out)
    np.testing.assert_array_equal(out, n // m * 100 + n % m)


def test_clip_with_one_bound_and_arrays():
    @cuda.jit
    def kernel(x, lower, upper, both):
        np.clip(x, 0.25, None, lower)
        np.clip(x, None, 0.5, upper)
        np.clip(x, 0.25, 0.5, both)

    x = np.linspace(0, 1, 9)
    lower, upper, both = np.zeros((3, 9))
    kernel[1, 1](x, lower, upper, both)
    np.testing.assert_array_equal([lower, upper, both], [x.clip(0.25), x.clip(None, 0.5), x.clip(0.25, 0.5)])


# --- whole arrays -----------------------------------------------------------------------------------------------------


def test_arrays_of_three_axes_and_broadcasting():
    @cuda.jit
    def kernel(x, row, column, out, roots):
        np.add(x, row, out)
        np.multiply(out, column, out)
        np.sqrt(x, out=roots)

    x, row, column = np.arange(24.0).reshape(2, 3, 4), np.arange(4.0), np.arange(3.0).reshape(3, 1)
    out, roots = np.full((2, 2, 3, 4), NAN)
    kernel[1, 1](x, row, column, out, roots)
    np.testing.assert_array_equal(out, (x + row) * column)
    np.testing.assert_array_equal(roots, np.sqrt(x))


def test_arrays_of_any_layout():
    @cuda.jit
    def kernel(x, y, out):
        np.subtract(x, y, out)

    x = np.arange(12).reshape(3, 4)
    for y, out in [(np.asfortranarray(x * x), np.zeros((3, 4))), (x[::-1, ::-1], np.zeros((4, 3)).T)]:
        kernel[1, 1](x, y, out)
        np.testing.assert_array_equal(out, x - y)


# --- refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("expression", ["np.sin((1, 2))", "np.floor(1j)", "np.cbrt(1j)", "np.invert(1.5)",
                                        "np.bitwise_and(1.5, 2)", "cmath.sin((1, 2))", "math.gcd(1.5, 2)"])
def test_what_python_refuses_is_a_typing_error(expression):
    with pytest.raises(errors.TypingError):
        kernel_of(expression, 0)[1, 1](np.zeros(1))


# --- NumPy's methods, iterators and limits ----------------------------------------------------------------------------

@pytest.mark.parametrize("name", "sum prod mean var std max min argmax argmin any all".split())
@pytest.mark.parametrize("array", [GRID, TABLE, SORTED[::-1], GRID.T > 2, np.arange(4, dtype=np.int8)], ids=str)
def test_reductions_are_methods_of_arrays(name, array):
    if name == "all" or array.dtype.kind != "b" or name in ("any", "sum"):
        @cuda.jit
        def kernel(x, out):
            out[0] = method(x)

        scope = {}
        exec(f"def method(x): return x.{name}()", scope)
        method = scope["method"]
        out = np.zeros(1)
        kernel[1, 1](array, out)
        np.testing.assert_allclose(out[0], getattr(array, name)(), rtol=1e-15)


def test_methods_and_builtins_of_one_name():
    @cuda.jit
    def kernel(x, out):
        row = x[1]
        out[0] = sum(row) + row.sum() * 10
        out[1] = max(row[0], row[1]) + row.max() * 10 + np.max(row) * 100
        out[2] = row.dot(row)
        cuda.atomic.max(out, 3, row.min())

    out = np.zeros(4)
    kernel[1, 1](GRID, out)
    assert out.tolist() == [12 + 120, 4 + 50 + 500, 9 + 16 + 25, 3]


def test_flat_is_iterated():
    @cuda.jit
    def kernel(x, out):
        for i, v in enumerate(x.flat):
            out[0] += i * v
        for v in reversed(x.T.flat):
            out[1] = out[1] * 10 + v
        out[2] = len(x.flat) + sum(v * v for v in x.flat)

    out = np.zeros(3)
    kernel[1, 1](GRID, out)
    assert out.tolist() == [sum(i * v for i, v in enumerate(GRID.flat)), 524130, 6 + (GRID ** 2).sum()]


def test_places_of_arrays():
    @cuda.jit
    def kernel(x, out):
        for i, j in np.ndindex(2, 3):
            out[0] = out[0] * 100 + i * 10 + j
        for place in np.ndindex(x.shape):
            out[1] = out[1] * 10 + x[place]
        for (i, j), v in np.ndenumerate(x.T):
            out[2] += (i * 10 + j) * v
        for place, v in np.ndenumerate(x[1]):
            out[3] += place[0] * v
        for place in np.ndindex(0, 3):
            out[3] = -1

    out = np.zeros(4)
    kernel[1, 1](GRID, out)
    assert out.tolist() == [10210111 * 10 + 2, 12345, sum((i * 10 + j) * v for (i, j), v in np.ndenumerate(GRID.T)), 14]


def test_limits_of_types():
    @cuda.jit
    def kernel(f, u, out):
        out[0] = np.finfo(f.dtype).eps + np.finfo(np.float16).max + np.finfo(float).tiny
        out[1] = np.iinfo(np.int32).min + np.iinfo(np.int8).bits + np.iinfo(int).bits
        u[0] = np.iinfo(u.dtype).max

    u, out = np.zeros(1, np.uint64), np.zeros(2)
    kernel[1, 1](np.zeros(1, np.float32), u, out)
    assert u[0] == 2**64 - 1
    assert out.tolist() == [65504.0, -2**31 + 8 + 64]     # the first sum is one of float32

    @cuda.jit
    def wrong(out):
        out[0] = np.finfo(np.int32).eps

    with pytest.raises(errors.TypingError, match="finfo takes a type of floats"):
        wrong[1, 1](out)
