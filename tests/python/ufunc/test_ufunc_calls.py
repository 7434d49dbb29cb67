"""Calls of ufuncs as NumPy's have them: several results, casting, dtype, signature, where, out; and targets."""
import pickle

import numpy as np
import pytest

from cujit import cuda, guvectorize, vectorize

PLACES = pytest.mark.parametrize("place", [np.asarray, cuda.to_device], ids=["host", "device"])


@vectorize(["float32(float32, float32)", "float64(float64, float64)"])
def mix(x, y):
    return 3 * x - y


@vectorize
def halves(x):
    return x // 2, x % 2, x > 2


@vectorize(["Tuple((float32, int8))(float64, float64)"])
def stated(x, y):
    return x * y, x + y


# --- several results -------------------------------------------------------------------------------------------------

@PLACES
def test_a_tuple_is_several_results(rng, place):
    x = rng.integers(-9, 9, (3, 4))
    quotient, rest, above = halves(place(x))
    assert type(quotient) is type(place(x)) and above.dtype == np.bool_
    for got, expected in (quotient, x // 2), (rest, x % 2), (above, x > 2):
        np.testing.assert_array_equal(np.asarray(got), expected)
    got = stated(place(x * 1.25), 2.0)
    assert [each.dtype for each in got] == [np.float32, np.int8]
    np.testing.assert_array_equal(np.asarray(got[0]), (x * 2.5).astype(np.float32))
    np.testing.assert_array_equal(np.asarray(got[1]), (x * 1.25 + 2).astype(np.int8))


def test_several_results_of_numbers_and_their_attributes():
    assert halves(7) == (3, 1, True) and (halves.nin, halves.nout, halves.nargs) == (1, 3, 4)
    assert stated.types == ["float64, float64 -> float32, int8"] and vectorize(lambda x: (x, x)).nout == 2
    assert vectorize(lambda x: x).nout == 1


@PLACES
def test_outputs_of_several_results(place):
    x, first, last = np.arange(5), place(np.zeros(5, np.int64)), place(np.zeros(5, bool))
    got = halves(place(x), out=(first, None, last))
    assert got[0] is first and got[2] is last
    np.testing.assert_array_equal(np.asarray(got[1]), x % 2)
    np.testing.assert_array_equal(np.asarray(first), x // 2)
    got = halves(place(x), first)   # as arguments
    assert got[0] is first and halves(x, np.zeros(5), None, None)[0].dtype == np.float64
    with pytest.raises(ValueError, match="3 results, out has 2"):
        halves(x, out=(None, None))
    with pytest.raises(TypeError, match="both"):
        halves(x, np.zeros(5), out=(None, None, None))


def test_a_signature_of_a_tuple_of_another_length():
    with pytest.raises(TypeError, match="the function returns"):
        vectorize(["float64(float64)"])(lambda x: (x, x))


# --- casting ---------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("dtypes, result", [
    (("f4", "f4"), "f4"), (("f2", "i1"), "f4"), (("f4", "f8"), "f8"), (("i4", "i4"), "f8"), (("i2", "u2"), "f4"),
    (("f4", int), "f4"), (("f4", float), "f4"), (("i8", int), "f8"), (("f4", np.float64), "f8"), ((int, int), "f8"),
    ((bool, "f4"), "f4"), (("?", float), "f4"),
])
def test_the_signature_is_the_first_to_which_numpy_casts(dtypes, result):
    ones = [np.ones(3, dtype) if isinstance(dtype, str) else dtype(1) for dtype in dtypes]
    got = mix(*ones)
    assert got.dtype == result
    np.testing.assert_array_equal(got, np.full(3, 2.0) if np.ndim(got) else 2)
    d = [cuda.to_device(one) if isinstance(one, np.ndarray) else one for one in ones]
    for _ in range(2):   # the second time in C
        assert np.asarray(mix(*d)).dtype == result


@PLACES
def test_casting_of_outputs(place):
    x, narrow = place(np.arange(4.0)), place(np.zeros(4, np.float32))
    assert mix(x, x, out=narrow) is narrow
    np.testing.assert_array_equal(np.asarray(narrow), 2 * np.arange(4))
    whole = place(np.zeros(4, np.int16))
    with pytest.raises(TypeError, match="same_kind"):
        mix(x, x, out=whole)
    mix(x, x, out=whole, casting="unsafe")
    np.testing.assert_array_equal(np.asarray(whole), 2 * np.arange(4))
    with pytest.raises(TypeError, match="safe"):
        mix(x, x, out=narrow, casting="safe")
    with pytest.raises(TypeError, match="no signature"):
        mix(place(np.zeros(3, np.int8)), 1.0, casting="no")
    with pytest.raises(ValueError, match="casting is one of"):
        mix(x, x, casting="maybe")


def test_dtype_and_signature():
    x = np.arange(4, dtype=np.float32)
    assert mix(x, x, dtype=np.float64).dtype == np.float64
    assert mix(x.astype("f8"), x, dtype="f4").dtype == np.float32   # same_kind
    for form in "dd->d", "float64(float64, float64)", (None, np.float64, None), ("f8",) * 3, np.float64:
        assert mix(x, x, signature=form).dtype == np.float64
    assert mix(x, x, sig="ff->f").dtype == np.float32
    with pytest.raises(TypeError):
        mix(x, x, dtype=np.complex128)
    with pytest.raises(TypeError, match="one of them"):
        mix(x, x, dtype="f4", signature="ff->f")
    with pytest.raises(ValueError, match="2 arguments and 1 results"):
        mix(x, x, signature="f->f")
    half = vectorize(lambda a: a / 2)   # without signatures, dtype= is that of the arguments, too
    assert half(x, dtype=np.float64).dtype == np.float64 and half(np.arange(3), dtype="f4").dtype == np.float32


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.0.0", reason="NumPy 1.26 lets them wrap")
def test_pythons_ints_do_not_wrap():
    @vectorize(["int8(int8, int8)"])
    def add(x, y):
        return x + y

    d = cuda.to_device(np.arange(3, dtype=np.int8))
    for _ in range(2):
        np.testing.assert_array_equal(add(d, -100).copy_to_host(), [-100, -99, -98])
        for number in 128, -129, 1 << 70:
            with pytest.raises(OverflowError):
                add(d, number)


# --- where, out, order -----------------------------------------------------------------------------------------------

@PLACES
def test_where(rng, place):
    x, y, mask = rng.standard_normal((4, 6)), rng.standard_normal(6), rng.random((4, 1)) < 0.5
    out = np.full((4, 6), 7.0)
    expected = np.where(mask, 3 * x - y, 7.0)
    target = place(out.copy())
    assert mix(place(x), place(y), where=place(mask), out=target) is target
    np.testing.assert_allclose(np.asarray(target), expected, rtol=1e-15, atol=1e-15)
    target = place(out.copy())
    mix(place(x), place(y), where=False, out=target)
    np.testing.assert_array_equal(np.asarray(target), out)
    with pytest.raises(TypeError, match="booleans"):
        mix(x, y, where=np.ones(6, int), out=out)
    assert mix(place(x), place(y), where=True).shape == (4, 6)


@PLACES
def test_where_of_outputs_that_overlap_inputs(place):
    x = np.arange(8.0)
    d = place(x.copy())
    mix(d[:-1], d[:-1], out=d[1:], where=place(np.arange(7) % 2 == 0))
    expected = x.copy()
    expected[1::2] = 2 * x[:-1:2]
    np.testing.assert_array_equal(np.asarray(d), expected)


@PLACES
def test_out_takes_part_in_broadcasting(place):
    out = place(np.zeros((2, 3)))
    mix(place(np.arange(3.0)), 1.0, out=out)
    np.testing.assert_array_equal(np.asarray(out), [[-1, 2, 5]] * 2)
    with pytest.raises(ValueError):
        mix(place(np.zeros((2, 3))), 1.0, out=place(np.zeros(3)))


def test_the_order_of_results():
    x = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    for place in np.asarray, cuda.to_device:
        got = mix(place(x), place(x))
        assert np.asarray(got).flags.f_contiguous and mix(place(x), 1.0, order="C").strides == (24, 8)
        assert mix(place(x), place(x.copy("C"))).strides == (24, 8)
        np.testing.assert_array_equal(np.asarray(got), 2 * x)
    with pytest.raises(ValueError, match="order"):
        mix(x, x, order="Z")


# --- targets ---------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("target", ["cpu", "parallel", "cuda", None])
def test_B15_targets(rng, target):
    """The same function for the CPU device, on NumPy arrays, and for the current device."""
    @vectorize(["float64(float64, float64)"], target=target)
    def distance(x, y):
        return (x * x + y * y) ** 0.5

    x, y = rng.random((2, 50, 70))
    np.testing.assert_allclose(distance(x, y), np.hypot(x, y), rtol=1e-15)
    out = np.empty((70, 50)).T
    assert distance(x[::-1], y, out=out) is out
    np.testing.assert_allclose(out, np.hypot(x[::-1], y), rtol=1e-15)


@pytest.mark.parametrize("target", ["cpu", "parallel", "cuda", None])
def test_B15_targets_of_gufuncs(rng, target):
    @guvectorize(["void(float64[:], float64[:], float64[:])"], "(n),(n)->()", target=target)
    def dot(x, y, out):
        out[0] = 0.0
        for k in range(x.shape[0]):
            out[0] += x[k] * y[k]

    x, y = rng.integers(-9, 9, (2, 40, 5)).astype(float)
    for function in dot, pickle.loads(pickle.dumps(dot)):
        np.testing.assert_array_equal(function(x, y), (x * y).sum(1))


def test_an_array_of_a_gpu_is_not_for_the_cpu():
    double = vectorize(lambda x: x + x, target="cpu")
    d = cuda.to_device(np.arange(3))
    if d.device.kind == "cpu":
        np.testing.assert_array_equal(double(d).copy_to_host(), [0, 2, 4])
    else:
        with pytest.raises(TypeError, match="copy_to_host"):
            double(d)
    np.testing.assert_array_equal(double(np.arange(3)), [0, 2, 4])


@PLACES
@pytest.mark.parametrize("dtype", ["F", "D"])
def test_complex_numbers_become_real_with_a_warning(rng, place, dtype):
    """As in NumPy: unsafe casts, astype and assignment drop the imaginary parts; other casts are refused."""
    x = (rng.integers(0, 9, (4, 5)) + 1j * rng.integers(0, 9, (4, 5))).astype(dtype)
    warning = getattr(np, "exceptions", np).ComplexWarning

    def beside(call, *arrays):
        with pytest.warns(warning):
            wanted = call(*arrays)
        with pytest.warns(warning):
            got = call(*map(cuda.to_device, arrays))
        assert got.dtype == wanted.dtype
        np.testing.assert_array_equal(got.copy_to_host(), wanted)

    beside(lambda x: np.add(x, x, dtype="f4", casting="unsafe"), x)
    beside(lambda x: np.add(x[:, ::-2], 1, dtype="i8", casting="unsafe"), x)
    beside(lambda x, out: np.multiply(x, x, out=out, casting="unsafe"), x, np.zeros((4, 5), "i4"))
    beside(lambda x: np.add.reduce(x, axis=1, dtype="f8"), x)
    beside(lambda x: np.add.accumulate(x, dtype="f8"), x)
    beside(lambda x: np.add.reduceat(x, [0, 2], dtype="f8"), x)
    beside(lambda x: x.astype("f4"), x)
    d = cuda.to_device(np.zeros((4, 5), "f4"))
    with pytest.warns(warning):
        d[:] = place(x)
    np.testing.assert_array_equal(d.copy_to_host(), x.real)
    np.testing.assert_array_equal(cuda.to_device(x).astype("?").copy_to_host(), x.astype("?"))
    with pytest.raises(TypeError):
        np.add(cuda.to_device(x), 1, dtype="f4")


def test_bytes_in_another_order(rng):
    """What files of other machines have: host arrays are converted, results go into such arrays, too."""
    x = rng.random((3, 5))
    swapped, out, d = x.astype(">f8"), np.zeros((3, 5), ">f8"), cuda.to_device(x)
    add = vectorize(["float64(float64, float64)"], identity=0)(lambda a, b: a + b)
    same = np.testing.assert_array_equal
    for got in add(swapped, x), add(x, x, out=out), np.asarray(d + swapped), np.add(d, x, out=out):
        same(got, x + x)
    same(add.reduce(swapped, axis=None), add.reduce(x, axis=None))
    same(add.accumulate(swapped), np.add.accumulate(x))
    same(cuda.sort(swapped), np.sort(x))
    same(cuda.map("x * 2", swapped), x * 2)
    same(cuda.reduce(max, swapped, axis=1), x.max(1))
    with pytest.raises(TypeError, match="have no order"):
        cuda.sort(cuda.to_device(swapped))
