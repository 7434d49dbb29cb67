"""What device arrays compute: operators, comparisons, NumPy's ufuncs and methods, beside NumPy; rows C3, C6, C30."""
import operator
import pickle

import numpy as np
import pytest

from cujit import cuda
from cujit._ufunc import numpy_ufuncs

pytestmark = pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.0.0",
                                reason="NumPy 1.26 has other dtypes for numbers")

ARITHMETIC = [operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, divmod,
              operator.pow]
BITS = [operator.lshift, operator.rshift, operator.and_, operator.xor, operator.or_]
COMPARISONS = [operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne]
IN_PLACE = [operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ifloordiv, operator.imod,
            operator.ipow, operator.ilshift, operator.irshift, operator.iand, operator.ixor, operator.ior]


def by_name(functions):
    return pytest.mark.parametrize("operate", functions, ids=lambda f: f.__name__)


def assert_same(got, expected):
    for one, other in zip(got, expected, strict=True) if isinstance(expected, tuple) else [(got, expected)]:
        assert isinstance(one, cuda.DeviceNDArray) and one.dtype == other.dtype and one.shape == np.shape(other)
        if one.dtype.kind in "mM":
            np.testing.assert_array_equal(one.copy_to_host(), other)
        else:
            np.testing.assert_allclose(one.copy_to_host(), other, rtol=1e-6)


# --- operators -------------------------------------------------------------------------------------------------------

@by_name(ARITHMETIC + BITS + COMPARISONS)
@pytest.mark.parametrize("dtype", ["i1", "u2", "i8", "f4"])
def test_C3_operators_of_arrays_and_numbers(operate, dtype):
    if operate in BITS and dtype[0] == "f":
        pytest.skip("bits are integers'")
    x, y = np.array([[5, 2, 3], [1, 6, 4]], dtype), np.array([1, 2, 3], dtype)
    d_x, d_y = cuda.to_device(x), cuda.to_device(y)
    for _ in range(2):   # the second call is made in C
        assert_same(operate(d_x, d_x), operate(x, x))
        assert_same(operate(d_x, d_y), operate(x, y))
        assert_same(operate(d_x, 2), operate(x, 2))
        assert_same(operate(d_x.T, 2), operate(x.T, 2))
    assert_same(operate(2, d_y), operate(2, y))
    assert_same(operate(d_x, np.int16(2)), operate(x, np.int16(2)))
    if operate not in BITS:
        assert_same(operate(d_x, 1.5), operate(x, 1.5))
        assert_same(operate(1.5, d_x), operate(1.5, x))


@by_name(IN_PLACE)
def test_operators_in_place(operate):
    x = np.array([5, 2, 3], "f4" if operate is operator.itruediv else "i4")
    d = before = cuda.to_device(x)
    d = operate(d, 2)
    assert d is before
    assert_same(d, operate(x, 2))
    assert_same(operate(d[::2], d[:1]), operate(x[::2], x[:1]))
    np.testing.assert_array_equal(d.copy_to_host(), x)


def test_in_place_keeps_the_dtype():
    d = cuda.to_device(np.arange(3))
    with pytest.raises(TypeError, match="same_kind"):
        d += 1.5
    with pytest.raises(ValueError):
        d += cuda.to_device(np.ones((2, 3), int))
    assert d.copy_to_host().tolist() == [0, 1, 2]


@by_name([operator.neg, operator.pos, abs, operator.invert])
def test_unary_operators(operate):
    x = np.array([5, -2, 3])
    assert_same(operate(cuda.to_device(x)), operate(x))


def test_what_is_no_operand():
    d = cuda.to_device(np.arange(3))
    for refused in lambda: d + "a", lambda: d < object(), lambda: d + None:
        with pytest.raises(TypeError):
            refused()
    assert (d == "a") is False and (d != object()) is True and len({d, d}) == 1


def test_host_arrays_and_numbers_beside_device_arrays():
    """All go to the device; Python's numbers are weak, NumPy's have their dtype."""
    x = np.arange(3, dtype=np.float32)
    d = cuda.to_device(x)
    for got, expected in ((d + np.ones(3), x + np.ones(3)), (np.ones((2, 1)) - d, np.ones((2, 1)) - x),
                          (np.float64(2) * d, np.float64(2) * x), (d + [1, 2, 3], x + [1, 2, 3]),
                          (2 * d, 2 * x), (d + True, x + True), (d + 1j, x + 1j), (d + np.int8(1), x + np.int8(1))):
        assert_same(got, expected)
    host = np.zeros(3)
    assert np.add(d, 1, out=host) is host and host.tolist() == [1, 2, 3]


def test_ints_that_do_not_fit():
    d = cuda.to_device(np.arange(3, dtype=np.uint8))
    for number in 300, -1:
        with pytest.raises(OverflowError):
            d + number
    for operate in COMPARISONS:
        for number in 300, -1, 1 << 80:
            assert_same(operate(d, number), operate(np.arange(3, dtype=np.uint8), number))
            assert_same(operate(number, d), operate(number, np.arange(3, dtype=np.uint8)))


def test_int64_beside_uint64():
    x, y = np.array([-1, 5, 2**62], np.int64), np.array([2**64 - 1, 5, 3], np.uint64)
    for operate in COMPARISONS:
        assert_same(operate(cuda.to_device(x), cuda.to_device(y)), operate(x, y))
        assert_same(operate(cuda.to_device(y), cuda.to_device(x)), operate(y, x))


# --- NumPy's ufuncs --------------------------------------------------------------------------------------------------

VALUES = {"b": np.array([0, 1, 1, 0]), "i": np.array([1, 2, 5, 100]), "f": np.array([0.25, 0.5, 0.75, 1.0]),
          "c": np.array([0.25 + 0.5j, -0.5 + 0.25j, 0.75 - 0.125j, 1.0 + 0.5j])}


def operands(name, characters):
    """Arrays of these types within the function's domain."""
    kinds = [np.dtype(c).kind.replace("u", "i") for c in characters]
    shift = 1.0 if name == "arccosh" else 0
    arrays = [(VALUES[kind] + shift).astype(c) for kind, c in zip(kinds, characters, strict=True)]
    if name in ("left_shift", "right_shift", "power", "ldexp") and kinds[-1] == "i":
        arrays[-1] = np.array([0, 1, 3, 2], arrays[-1].dtype)
    return arrays


@pytest.mark.parametrize("name", numpy_ufuncs.NAMES)
def test_every_ufunc_of_numpy(name):
    """In all its types that kernels have; the library's tests look closer at the values."""
    ufunc = getattr(np, name)
    for signature in ufunc.types:
        characters = signature.partition("->")[0]
        if set(characters) - set("?bIqefdFD"):
            continue
        arrays = operands(name, characters)
        with np.errstate(all="ignore"):
            expected, got = ufunc(*arrays), ufunc(*map(cuda.to_device, arrays))
        for one, other in zip(*[x if isinstance(x, tuple) else (x,) for x in (got, expected)], strict=True):
            assert isinstance(one, cuda.DeviceNDArray) and one.dtype == other.dtype, signature
            tolerance = {"e": 2e-3, "f": 1e-5, "F": 1e-5}.get(other.dtype.char, 1e-12)
            np.testing.assert_allclose(one.copy_to_host(), other, tolerance, tolerance, err_msg=signature)


def test_the_table_has_every_ufunc():
    there = {each.__name__ for each in vars(np).values() if isinstance(each, np.ufunc)}
    assert there == {*numpy_ufuncs.NAMES, *numpy_ufuncs._REFUSED}


def test_ufuncs_that_are_not_compiled_say_their_name():
    d = cuda.to_device(np.eye(2))
    with pytest.raises(TypeError, match=r"numpy.add computes in .*float128"):
        np.add(d, np.longdouble(1))
    with pytest.raises(TypeError, match="str_len of NumPy is not compiled"):
        np.strings.str_len(cuda.to_device(np.array(["a"])))


def test_arguments_of_numpys_ufuncs(rng):
    x, y, mask = rng.random((3, 4)), rng.random(4), rng.random((3, 4)) < 0.5
    d_x, d_y = cuda.to_device(x), cuda.to_device(y)
    out = cuda.to_device(np.zeros((3, 4)))
    assert np.add(d_x, d_y, out=out, where=cuda.to_device(mask)) is out
    assert_same(out, np.where(mask, x + y, 0))
    assert_same(np.add(d_x, d_y, dtype=np.float32), np.add(x, y, dtype=np.float32))
    assert_same(np.add.outer(d_y, d_x), np.add.outer(y, x))
    for method in "reduce", "accumulate":
        assert_same(getattr(np.multiply, method)(d_x, axis=1), getattr(np.multiply, method)(x, axis=1))
    assert_same(np.maximum.reduceat(d_x, [0, 2, 1], axis=1), np.maximum.reduceat(x, [0, 2, 1], axis=1))
    np.subtract.at(d_y, [0, 0, 2], 1.0)
    np.subtract.at(y, [0, 0, 2], 1.0)
    assert_same(d_y, y)
    assert_same(np.subtract.reduce(d_x, axis=0), np.subtract.reduce(x, axis=0))
    assert_same(np.subtract.accumulate(d_x, axis=0), np.subtract.accumulate(x, axis=0))
    with pytest.raises(ValueError, match="depends on the order"):
        np.subtract.reduce(d_x, axis=(0, 1))
    with pytest.raises(TypeError, match="two results"):
        numpy_ufuncs.of(np.divmod).reduce(d_x)
    assert_same(np.modf(d_x, out=(None, out)), np.modf(x))


def test_dates_and_durations():
    x, span = np.array(["2020-01-01", "NaT", "2021-03-04"], "M8[D]"), np.timedelta64(36, "h")
    d = cuda.to_device(x)
    assert_same(d - d[:1], x - x[:1])
    assert_same(d + span, x + span)
    assert_same(np.isnat(d), np.isnat(x))
    assert_same(d > np.datetime64("2020-06-01"), x > np.datetime64("2020-06-01"))
    assert_same((d - d[:1]) / np.timedelta64(1, "h"), (x - x[:1]) / np.timedelta64(1, "h"))


def test_signs_and_parts_of_durations():
    x = np.array([-5, 0, 7, "NaT"], "m8[s]")
    d, step = cuda.to_device(x), np.timedelta64(2, "s")
    assert_same(np.sign(d[:3]), np.sign(x[:3]))
    assert_same(np.divmod(d, step), np.divmod(x, step))


@pytest.mark.parametrize("name, first, second", [
    ("matvec", (2, 3, 4), (4,)), ("matvec", (3, 4), (5, 4)), ("vecmat", (3,), (2, 3, 4)), ("vecdot", (5, 3), (3,)),
    ("vecdot", (3,), (3,))])
def test_products_of_vectors(rng, name, first, second):
    if not hasattr(np, name):
        pytest.skip("this NumPy has no such ufunc")
    numpys = getattr(np, name)
    x = rng.random(first) + 1j * rng.random(first)
    for y in rng.random(second), rng.random(second) * 1j:
        expected = numpys(x, y)
        for got in numpys(cuda.to_device(x), y), numpys(x, cuda.to_device(y)):
            assert_same(got, expected)
        out = cuda.device_array(expected.shape, np.complex128)
        assert numpys(cuda.to_device(x), y, out=out) is out
        assert_same(out, expected)
    with pytest.raises(ValueError, match=f"{name} takes arrays of"):
        numpys(cuda.to_device(x), 1.0)


def test_is_a_number_among_the_elements():
    d = cuda.to_device(np.arange(6).reshape(2, 3))
    assert 4 in d and 6 not in d and 3 in cuda.to_device(np.array(3))


@pytest.mark.parametrize("dtype", ["S3", "U2", object, [("x", "f4")]])
def test_dtypes_that_arrays_do_not_become(dtype):
    with pytest.raises(TypeError, match="cannot become one of"):
        cuda.to_device(np.arange(3)).astype(dtype)


def test_compiled_ufuncs_pickle():
    assert pickle.loads(pickle.dumps(numpy_ufuncs.of(np.add))) is numpy_ufuncs.of(np.add)


# --- methods ---------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("name", ["sum", "prod", "min", "max", "any", "all", "mean"])
@pytest.mark.parametrize("dtype", ["?", "i1", "u4", "f2", "f4", "F"])
def test_C30_reductions_stay_on_the_device(name, dtype):
    if dtype == "F" and name in ("min", "max"):
        pytest.skip("the order of complex numbers is looked at elsewhere")
    x = (np.arange(24).reshape(4, 6) % 5 + (name == "prod")).astype(dtype)
    d = cuda.to_device(x)
    for axis in None, 0, 1, -1, (0, 1):
        got, expected = getattr(d, name)(axis), getattr(x, name)(axis)
        assert isinstance(got, cuda.DeviceNDArray) and got.shape == expected.shape and got.dtype == expected.dtype
        np.testing.assert_allclose(np.asarray(got), expected, rtol=1e-3 if dtype == "f2" else 1e-6)
    assert getattr(d, name)(axis=1, keepdims=True).shape == (4, 1)
    if dtype != "F":
        assert float(getattr(d, name)()) == pytest.approx(float(getattr(x, name)()), rel=1e-3)


def test_C30_numbers_of_arrays_without_axes():
    total = cuda.to_device(np.arange(5)).sum()
    assert (int(total), float(total), complex(total), bool(total), total.item()) == (10, 10.0, 10, True, 10)
    assert f"{total:5d} {total}" == "   10 10" and f"{cuda.to_device(np.arange(2))}".startswith("<device array")
    assert type(total.item()) is int and [*range(20)][total] == 10
    d = cuda.to_device(np.arange(3.0))
    assert d.item(2) == 2.0 and bool(d[:1]) is False
    for refused in lambda: bool(d), lambda: float(d), lambda: d.item():
        with pytest.raises(ValueError, match="3 elements"):
            refused()
    with pytest.raises(TypeError, match="index"):
        [1][d.sum()]


def test_mean_takes_what_numpys_takes():
    x, mask = np.arange(12, dtype=np.float32).reshape(3, 4), np.arange(12).reshape(3, 4) % 3 == 0
    d, out = cuda.to_device(x), cuda.to_device(np.zeros(4))
    assert_same(d.mean(0, where=cuda.to_device(mask)), x.mean(0, where=mask))
    assert d.mean(0, out=out) is out and d.mean(dtype=np.float64).dtype == np.float64
    assert float(cuda.to_device(np.full(5000, 60000, np.float16)).mean()) == 60000


def test_elements():
    x = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    d = cuda.to_device(x)
    assert_same(d.astype(np.int8), x.astype(np.int8))
    assert d.astype("f4").layout == "F" and d.astype(float, copy=False) is d and d.astype(float) is not d
    assert_same(d[:, ::2].copy(), x[:, ::2])
    assert_same(d.clip(1, 3), x.clip(1, 3))
    assert_same(d.clip(max=2), x.clip(max=2))
    assert_same(np.clip(d, cuda.to_device(np.arange(3.0)), None), np.clip(x, np.arange(3.0), None))
    with pytest.raises(ValueError, match="clip"):
        d.clip()
    assert_same(d.cumsum(0), x.cumsum(0))
    assert_same(cuda.to_device(x.copy("C")).astype("i2").cumsum(), x.astype("i2").cumsum())
    d[:, 1:].fill(7)
    x[:, 1:].fill(7)
    assert_same(d, x)


def test_where_chooses_elements(rng):
    mask, x, y = rng.random((3, 4)) < 0.5, rng.random((3, 4)).astype("f4"), rng.random(4)
    d_mask, d_x, d_y = map(cuda.to_device, (mask, x, y))
    assert_same(cuda.where(d_mask, d_x, d_y), np.where(mask, x, y))
    assert_same(cuda.where(d_mask, d_x, 0), np.where(mask, x, np.float32(0)))
    assert_same(cuda.where(d_x > 0.5, d_x, -1.0), np.where(x > 0.5, x, np.float32(-1)))
    out = cuda.to_device(np.zeros((3, 4)))
    assert cuda.where(d_mask, d_x, d_y, out=out) is out
    np.testing.assert_array_equal(cuda.where(mask, x, y), np.where(mask, x, y))


def test_methods_that_there_are_not():
    d = cuda.to_device(np.arange(3))
    with pytest.raises(AttributeError, match=r"no attribute 'choose': array.copy_to_host\(\).choose .* cupy"):
        d.choose()
    with pytest.raises(AttributeError, match=r"no attribute 'to_host': array.copy_to_host\(out\) does what it did"):
        d.to_host()
    for name in "nonsense", "__array_wrap__", "_private":
        assert not hasattr(d, name)
        with pytest.raises(AttributeError, match=rf"no attribute '{name}'$"):
            getattr(d, name)


# --- one function for both -------------------------------------------------------------------------------------------

def softmax(x):
    xp = cuda.get_array_module(x)
    e = xp.exp(x - xp.max(x, axis=1, keepdims=True)) + xp.zeros_like(x)
    return e / xp.sum(e, axis=1, keepdims=True, dtype=xp.float64)


def test_C6_get_array_module(rng):
    x = rng.random((5, 7))
    assert_same(softmax(cuda.to_device(x)), softmax(x))
    assert cuda.get_array_module(x, 1, None) is np and cuda.get_array_module(1, cuda.to_device(x)) is not np


def test_C6_functions_that_make_arrays():
    xp = cuda.get_array_module(cuda.to_device(np.ones(2)))
    like = np.asfortranarray(np.ones((2, 3), np.float32))
    for make in (lambda m: m.zeros((2, 3)), lambda m: m.ones(3, "i4"), lambda m: m.full(2, 7), lambda m: m.arange(1, 5),
                 lambda m: m.linspace(0, 1, 5), lambda m: m.asarray([1, 2], "f4"), lambda m: m.array([[1.5]]),
                 lambda m: m.zeros_like(like), lambda m: m.ones_like(like, dtype=int), lambda m: m.full_like(like, 3),
                 lambda m: m.where(m.asarray([True, False]), m.asarray([1, 2]), m.asarray([3, 4])),
                 lambda m: m.clip(m.arange(5), 1, 3), lambda m: m.amax(m.arange(5))[None], lambda m: m.abs(m.ones(2))):
        assert_same(make(xp), make(np))
    assert xp.pi == np.pi and xp.float32 is np.float32 and xp.newaxis is None and xp.empty(3).shape == (3,)
    d = xp.ones(3)
    assert xp.asarray(d) is d and xp.array(d) is not d and xp.array(d, "i4").dtype == np.int32
    with pytest.raises(AttributeError, match="no searchsorted for device arrays"):
        xp.searchsorted
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        xp.nonsense


@pytest.mark.parametrize("size", [5, 1 << 20])
@pytest.mark.parametrize("order", ["C", "F"])
def test_copies_between_views_that_overlap(size, order):
    """Both ways, by one element and by more; the same view is left as it is."""
    host = np.arange(2 * size, dtype=np.float32)
    shape = (size,) if order == "C" else (1, size)
    for to, source in (1, 0), (0, 1), (3, 0), (0, size - 1), (2, 2), (0, size):
        x, expected = cuda.to_device(host), host.copy()
        x[to:to + size].reshape(shape).copy_to_device(x[source:source + size].reshape(shape))
        expected[to:to + size] = host[source:source + size]
        np.testing.assert_array_equal(x.copy_to_host(), expected)
