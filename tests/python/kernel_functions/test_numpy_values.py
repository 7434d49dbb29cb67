"""NumPy's functions of numbers beside its arithmetic, and of whole arrays: values and types are NumPy's."""
import math

import numpy as np
import pytest

from cujit import cuda, errors, from_dtype

HAS_NUMPY_2 = np.__version__ >= "2"

INF, NAN = math.inf, math.nan
FLOATS = [np.float32, np.float64]
INTEGERS = [np.int8, np.uint8, np.int16, np.int32, np.uint32, np.int64, np.uint64]
REALS = [0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -2.5, 1e-3, -7.25, 100.125, INF, -INF, NAN]


def run(expression, *columns, results=1, **names):
    """The expression of a, b, c for element after element: an array for each result, of the type it has."""
    letters = "abc"[:len(columns)]
    scope = {"cuda": cuda, "np": np, "math": math, **names}
    exec(f"def f({', '.join(letters)}):\n    return {expression}\n", scope)
    scope["f"] = cuda.jit(device=True)(scope["f"])
    exec(f"def kernel({', '.join(letters)}, out):\n    i = cuda.grid(1)\n    if i < out.size:\n"
         f"        out[i] = f({', '.join(f'{x}[i]' for x in letters)})", scope)
    result = str(scope["f"].compile_device(tuple(from_dtype(c.dtype) for c in columns)))
    out = np.zeros(len(columns[0]), result)
    cuda.jit(scope["kernel"])[1, max(32, len(out))](*columns, out)
    return out


def check(expression, *columns, rtol=0, types=True, **names):
    got = run(expression, *columns, **names)
    letters = "abc"[:len(columns)]
    with np.errstate(all="ignore"):
        want = [eval(expression, {"np": np, "math": math, **names, **dict(zip(letters, row))}) for row in zip(*columns)]
    if types:
        assert got.dtype == np.asarray(want[0]).dtype, expression
    np.testing.assert_allclose(got, np.array(want), rtol=rtol, atol=0)
    return got


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("expression", ["np.round(a)", "np.round(a, 1)", "np.around(a, decimals=2)", "np.round(a, -1)",
                                        "np.fix(a)", "np.real(a)", "np.imag(a)", "np.isreal(a)", "np.iscomplex(a)",
                                        "np.isposinf(a)", "np.isneginf(a)", "np.nan_to_num(a)",
                                        "np.nan_to_num(a, nan=-1.0, posinf=7, neginf=8)", "np.heaviside(a, a)",
                                        "np.sign(a)", "np.modf(a)[0]", "np.modf(a)[1]", "np.frexp(a)[0]",
                                        "np.isrealobj(a)", "np.iscomplexobj(a)"])
@pytest.mark.filterwarnings("ignore:.*fix:DeprecationWarning", "ignore:.*fix:PendingDeprecationWarning")
def test_exact_functions_of_floats(expression, dtype):
    check(expression, np.array(REALS, dtype))


@pytest.mark.parametrize("dtype, rtol", [(np.float32, 3e-7), (np.float64, 4e-16)])
def test_close_functions_of_floats(dtype, rtol):
    x = np.array(REALS[:10], dtype)
    for expression in ["np.angle(a)", "np.angle(a, deg=True)", "np.i0(a)"]:
        check(expression, x, rtol=rtol, types=HAS_NUMPY_2)   # NumPy 1 goes by the value of a scalar
    np.testing.assert_allclose(run("np.sinc(a)", x), np.sinc(x), rtol=1e3 * rtol, atol=rtol)


def test_halves():
    x = np.array([0.5, 1.5, -2.5, 0.125, 1000], np.float16)
    for expression in ["np.round(a)", "np.round(a, 1)", "np.nan_to_num(a)", "np.modf(a)[0]", "np.heaviside(a, a)"]:
        check(expression, x)
    assert run("np.nan_to_num(a)", np.array([INF], np.float16))[0] == 65504


def test_neighbours_of_halves():
    x = np.array([1, 2, -1, 0, 100, INF, NAN, 65504, -0.0, 6e-8, 0.0005], np.float16)
    for y in (x, -x, x[::-1].copy(), np.full_like(x, INF)):
        with np.errstate(over="ignore"):
            check("np.nextafter(a, b)", x, y)
    positive = np.array([1, 2, 3, 0, 100, INF, NAN, 6e-8], np.float16)
    check("np.spacing(a)", positive)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_spacing_of_large_numbers(dtype):
    largest = np.finfo(dtype).max
    check("np.spacing(a)", np.array([largest, largest / 2, -largest / 4, 3e38, 1, INF, -INF], dtype))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_functions_of_integers(dtype):
    x = np.array([0, 1, 3, 15, 25, 99], dtype)
    for expression in ["np.round(a)", "np.round(a, -1)", "np.real(a)", "np.imag(a)", "np.isposinf(a)",
                       "np.nan_to_num(a)", "np.isreal(a)", "np.sign(a)"]:
        check(expression, x)
    check("np.sinc(a)", x, rtol=1e-15, types=False)
    if HAS_NUMPY_2:
        check("np.bitwise_count(a)", x)
    if HAS_NUMPY_2 and np.dtype(dtype).kind == "i":
        check("np.bitwise_count(a)", -x)


def test_functions_of_complex_numbers():
    z = np.array([1 + 2j, -0.55 - 0.25j, 3, complex(NAN, INF), complex(-INF, 1)])
    for expression in ["np.round(a, 1)", "np.real(a)", "np.imag(a)", "np.isreal(a)", "np.iscomplex(a)",
                       "np.nan_to_num(a)", "np.iscomplexobj(a)"]:
        check(expression, z)
    check("np.angle(a)", z[:3], rtol=1e-15)
    check("np.angle(a, True)", z[:3], rtol=1e-15)


def test_complex_numbers_at_borders():
    ones = np.array([1 + 0j, 1 - 0j, -1 + 0j, complex(-1, -0.0)])
    check("np.arctanh(a)", ones)
    check("np.arctan(a)", ones * 1j)
    check("np.exp2(a)", np.array([complex(INF, 0), complex(-INF, 1), 3 + 0j]), rtol=1e-15)
    check("np.log1p(a)", np.array([complex(-1, 1e-310), -0.75 + 0.5j, -0.25 + 1e-9j]), rtol=1e-14)
    if HAS_NUMPY_2:
        check("np.sign(a)", np.array([complex(0, INF), complex(-INF, 3), complex(NAN, 1), 3 + 4j]))


def test_isclose():
    a = np.array([1.0, 1.0, INF, INF, NAN, 1e-9, 0.0, 5.0])
    b = np.array([1.00001, 1.0001, INF, -INF, NAN, 0.0, 1e-7, NAN])
    for expression in ["np.isclose(a, b)", "np.isclose(a, b, equal_nan=True)", "np.isclose(a, b, rtol=0.1, atol=0)",
                       "np.allclose(a, b)", "np.isclose(a, b, 1e-3, 1e-3)"]:
        check(expression, a, b)
    check("np.isclose(a, b)", np.array([3, 4]), np.array([3, 5]))


def test_searches():
    table = np.array([-1.0, 0.5, 0.5, 2.0, 9.0])
    x = np.array([-5, -1, 0.5, 0.7, 2, 9, 10, NAN])
    values = np.array([10.0, 20, 15, 40, -3])
    for expression in ["np.searchsorted(T, a)", "np.searchsorted(T, a, 'right')", "np.searchsorted(T, a, side='left')",
                       "np.digitize(a, T)", "np.digitize(a, T, right=True)", "np.digitize(a, D)",
                       "np.digitize(a, D, True)"]:
        check(expression, x, T=table, D=table[::-1].copy())
    points = np.array([-1.0, 0.5, 1.25, 2.0, 9.0])
    check("np.interp(a, T, V)", x, rtol=1e-15, T=points, V=values)
    check("np.interp(a, T, V, left=-7, right=7)", x, rtol=1e-15, T=points, V=values)


@pytest.mark.parametrize("name", "less less_equal greater greater_equal maximum minimum fmax fmin".split())
def test_complex_numbers_have_the_order_of_numpy(name):
    x = np.array([1 + 2j, 1 + 1j, 2 - 1j, complex(NAN, 0), complex(1, NAN), 3j, -3])
    y = np.array([1 + 1j, 2 + 0j, 2 - 1j, 1, 2, complex(0, NAN), -2j])
    scope = {"np": np, "cuda": cuda}
    exec(f"def kernel(x, y, out):\n    i = cuda.grid(1)\n    out[i] = np.{name}(x[i], y[i])", scope)
    want = getattr(np, name)(x, y)
    for dtype in np.complex128, np.complex64:
        out = np.zeros_like(want)
        cuda.jit(scope["kernel"])[1, x.size](x.astype(dtype), y.astype(dtype), out)
        np.testing.assert_array_equal(out, want)


# --- whole arrays -----------------------------------------------------------------------------------------------------

REDUCTIONS = ("sum prod mean var std max min ptp argmax argmin any all count_nonzero nansum nanprod nanmean "
              "nanvar nanstd nanmax nanmin").split()


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint32, np.int64, np.float16, *FLOATS, np.complex128])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name, dtype, rng):
    kind = np.dtype(dtype).kind
    if (kind == "c" and name in ("max", "min", "ptp", "argmax", "argmin", "nanmax", "nanmin")) or (
            kind == "b" and name == "ptp"):
        pytest.skip("there is no order, or no difference")
    full = rng.integers(0, 2 if kind == "b" else 5, (3, 4, 2)).astype(dtype)
    arrays = full, full[1, :, 0], np.asfortranarray(full[0])
    out = np.zeros(3, complex if kind == "c" else np.float64)
    scope = {"np": np}
    exec(f"def kernel(x, y, z, out):\n    out[0] = np.{name}(x)\n    out[1] = np.{name}(y)\n"
         f"    out[2] = np.{name}(z)", scope)
    cuda.jit(scope["kernel"])[1, 1](*arrays, out)
    want = [getattr(np, name)(x) for x in arrays]
    np.testing.assert_allclose(out, want, rtol=2e-3 if dtype == np.float16 else 1e-6)


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_of_no_axes(name):
    scope = {"np": np}
    exec(f"def kernel(x, out):\n    out[0] = np.{name}(x)\n", scope)
    for x in np.array(3.5), np.array(-2):
        out = np.zeros(1)
        cuda.jit(scope["kernel"])[1, 1](x, out)
        assert out[0] == getattr(np, name)(x)


@pytest.mark.parametrize("dtype, want", [(bool, "int64"), (np.int8, "int64"), (np.uint16, "uint64"),
                                         (np.float32, "float32"), (np.complex64, "complex64")])
def test_type_of_a_sum(dtype, want):
    def total(x):
        return np.sum(x)

    array = from_dtype(np.dtype(dtype))[::1]
    assert str(cuda.jit(device=True)(total).compile_device((array,))) == want == str(np.sum(np.ones(1, dtype)).dtype)


def test_nan_in_reductions():
    @cuda.jit
    def kernel(x, out):
        out[0] = np.max(x)
        out[1] = np.min(x)
        out[2] = np.argmax(x)
        out[3] = np.argmin(x)
        out[4] = np.nanmax(x)
        out[5] = np.nanmin(x)
        out[6] = np.nansum(x)
        out[7] = np.nanmean(x)
        out[8] = np.std(x[:2], ddof=1)
        out[9] = np.dot(x[:2], x[3:])
        out[10] = np.nanvar(x)
        out[11] = np.nanstd(x, ddof=1)

    x, out = np.array([3.0, -1.0, NAN, 5.0, NAN])[[0, 1, 2, 3, 4]], np.zeros(12)
    kernel[1, 1](x, out)
    want = [NAN, NAN, 2, 2, 5, -1, 7, 7 / 3, np.std(x[:2], ddof=1), NAN, np.nanvar(x), np.nanstd(x, ddof=1)]
    np.testing.assert_allclose(out, want, rtol=1e-15)


def test_shapes_of_numbers_and_arrays():
    @cuda.jit
    def kernel(x, out):
        out[0], out[1], out[2] = np.ndim(x), np.size(x), np.shape(x)[1]
        out[3], out[4], out[5] = np.ndim(2.5), np.size(3), len(np.shape(1j))

    out = np.zeros(6)
    kernel[1, 1](np.zeros((2, 7)), out)
    assert out.tolist() == [2, 14, 7, 0, 1, 0]


def test_round_and_heaviside_into_arrays():
    @cuda.jit
    def kernel(x, y, z):
        np.round(x, 1, y)
        np.heaviside(x, 0.5, z)

    x = np.array([[0.25, -1.75], [0.0, 3.349]])
    y, z = np.zeros((2, 2, 2))
    kernel[1, 1](x, y, z)
    np.testing.assert_array_equal(y, np.round(x, 1))
    np.testing.assert_array_equal(z, np.heaviside(x, 0.5))


def test_an_axis_is_refused():
    @cuda.jit
    def kernel(x, out):
        out[0] = np.sum(x, axis=0)

    with pytest.raises(errors.TypingError, match="axis"):
        kernel[1, 1](np.zeros((2, 2)), np.zeros(2))
