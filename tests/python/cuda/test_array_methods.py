"""Methods of device arrays that are no operator and no sum, beside NumPy's: places, order, deviations, products."""
import numpy as np
import pytest

from cujit import cuda
from cujit._algorithms import matrix_product

DTYPES = pytest.mark.parametrize("dtype", ["?", "i1", "u4", "i8", "f2", "f4", "f8"])


def same(got, expected, rtol=1e-6):
    assert isinstance(got, cuda.DeviceNDArray) and got.dtype == expected.dtype and got.shape == np.shape(expected)
    np.testing.assert_allclose(np.asarray(got), expected, rtol=rtol)


# --- places ----------------------------------------------------------------------------------------------------------

@DTYPES
@pytest.mark.parametrize("name", ["argmin", "argmax"])
def test_argmin_and_argmax(rng, name, dtype):
    x = rng.integers(0, 9, (5, 6, 70)).astype(dtype)
    for array, d in (x, cuda.to_device(x)), (x[::2, :, 3:], cuda.to_device(x)[::2, :, 3:]):
        for axis in None, 0, 1, -1:
            same(getattr(d, name)(axis), getattr(array, name)(axis))
            same(getattr(d, name)(axis, keepdims=True), getattr(array, name)(axis, keepdims=True))
    out = cuda.to_device(np.zeros(5, np.int64))
    assert getattr(cuda.to_device(x)[:, 0], name)(1, out=out) is out
    same(out, getattr(x[:, 0], name)(1))


@pytest.mark.parametrize("name", ["argmin", "argmax"])
def test_the_first_nan_is_the_place(rng, name):
    x = rng.random((40, 50))
    x[3, 7] = x[3, 9] = x[20, 0] = np.nan
    d = cuda.to_device(x)
    for axis in None, 0, 1:
        same(getattr(d, name)(axis), getattr(x, name)(axis))
    times = np.array(["2020-01-01", "2019-05-05", "2021-01-01"], "M8[D]")
    same(getattr(cuda.to_device(times), name)(), getattr(times, name)())


def test_no_place():
    for refused in lambda d: d.argmax(), lambda d: d.argmin(0):
        with pytest.raises(ValueError, match="no elements"):
            refused(cuda.to_device(np.zeros((0, 3))))
    assert cuda.to_device(np.zeros((0, 3))).argmax(1).shape == (0,)
    with pytest.raises(TypeError, match="order"):
        cuda.to_device(np.zeros(3, complex)).argmax()
    with pytest.raises(ValueError, match="axis 1"):
        cuda.to_device(np.zeros(3)).argmax(1)


@DTYPES
def test_nonzero(rng, dtype):
    x = rng.integers(0, 2, (6, 7, 5)).astype(dtype)
    for array in x, x[:, 0], x[0, 0], np.asfortranarray(x[0]), x[:0], x * 0:
        got, expected = cuda.to_device(np.asarray(array, order="K").copy("K")).nonzero(), array.nonzero()
        for one, other in zip(got, expected, strict=True):
            same(one, other)
    with pytest.raises(ValueError, match="axes"):
        cuda.to_device(np.array(3)).nonzero()


# --- order -----------------------------------------------------------------------------------------------------------

def test_kinds_of_sorting(rng):
    x = rng.integers(0, 9, 50)
    for kind in (None, "stable", "quicksort"):
        d = cuda.to_device(x)
        np.testing.assert_array_equal(d.argsort(kind=kind).copy_to_host(), np.argsort(x, kind="stable"))
        d.sort(kind=kind)
        np.testing.assert_array_equal(d.copy_to_host(), np.sort(x))
    with pytest.raises(ValueError, match="no kind of sorting 'bubble'"):
        d.sort(kind="bubble")


def test_one_axis_of_an_array_without_axes():
    x, d = np.array(3.5), cuda.to_device(np.array(3.5))
    for name in ("cumsum", "cumprod", "argmax", "argmin"):
        np.testing.assert_array_equal(getattr(d, name)(axis=0).copy_to_host(), getattr(x, name)(axis=0))


def test_sort_and_argsort(rng):
    x = rng.integers(0, 50, (6, 70)).astype(np.float32)
    x[2, 3] = np.nan
    for axis in 0, 1, -1:
        d = cuda.to_device(x)
        same(d.argsort(axis), x.argsort(axis, kind="stable"))
        assert d.sort(axis) is None
        same(d, np.sort(x, axis))


# --- deviations ------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("dtype", ["?", "i1", "u4", "f2", "f4", "f8", "F", "D"])
@pytest.mark.parametrize("name", ["var", "std"])
def test_var_and_std(rng, name, dtype):
    x = (rng.random((4, 6, 50)) * 10).astype(dtype)
    if dtype in "FD":
        x = (x * (1 + 0.5j)).astype(dtype)
    rtol = {"f2": 2e-3, "f4": 1e-5, "F": 1e-5}.get(dtype, 1e-10)
    mask = rng.random(x.shape) < 0.7
    for array, d in (x, cuda.to_device(x)), (x[:, ::2, 3:], cuda.to_device(x)[:, ::2, 3:]):
        for axis in None, 0, 1, -1, (0, 2):
            same(getattr(d, name)(axis), getattr(array, name)(axis), rtol)
            same(getattr(d, name)(axis, ddof=1, keepdims=True), getattr(array, name)(axis, ddof=1, keepdims=True), rtol)
    for where in mask, mask[0, 0]:
        same(getattr(cuda.to_device(x), name)(-1, where=cuda.to_device(where)), getattr(x, name)(-1, where=where), rtol)


def test_arguments_of_deviations(rng):
    x = rng.random((5, 6)).astype(np.float32)
    d, out = cuda.to_device(x), cuda.to_device(np.zeros(6))
    assert d.std(0, out=out) is out
    same(out, x.std(0, dtype=np.float32).astype(float), 1e-5)
    same(d.var(dtype=np.float64), x.var(dtype=np.float64), 1e-10)
    far = np.full(5000, 1e4, np.float32)
    far[::2] += 1
    same(cuda.to_device(far).var(), far.var(), 1e-4)   # no difference of squares
    with np.errstate(all="ignore"), pytest.warns(RuntimeWarning):
        assert np.isnan(float(cuda.to_device(np.ones(1)).var(ddof=1))) and np.isnan(np.ones(1).var(ddof=1))


@DTYPES
def test_ptp(rng, dtype):
    if dtype == "?":
        pytest.skip("NumPy has no difference of bool")
    x = rng.integers(0, 100, (5, 60)).astype(dtype)
    for axis in None, 0, 1, (0, 1):
        same(cuda.to_device(x).ptp(axis), np.ptp(x, axis))
        same(cuda.to_device(x).ptp(axis, keepdims=True), np.ptp(x, axis, keepdims=True))
    out = cuda.to_device(np.zeros(5, dtype))
    assert cuda.to_device(x).ptp(1, out=out) is out
    same(out, np.ptp(x, 1))


# --- each element ----------------------------------------------------------------------------------------------------

@DTYPES
def test_cumprod_and_cumsum(rng, dtype):
    x = rng.integers(1, 3, (4, 9)).astype(dtype)
    for name in "cumprod", "cumsum":
        for axis in None, 0, 1:
            for array, d in (x, cuda.to_device(x)), (x[:, ::2], cuda.to_device(x)[:, ::2]):
                same(getattr(d, name)(axis), getattr(array, name)(axis))
        same(getattr(cuda.to_device(x), name)(1, dtype=np.float64), getattr(x, name)(1, dtype=np.float64))


@pytest.mark.parametrize("dtype", ["i1", "u4", "i8", "f2", "f4", "f8", "D"])
@pytest.mark.parametrize("decimals", [-2, -1, 0, 1, 3])
def test_round(rng, dtype, decimals):
    x = (rng.random((3, 50)) * 100).astype(dtype)
    if dtype == "f2" and decimals == 3:
        pytest.skip("a factor of 1000 is out of float16's range")
    same(cuda.to_device(x).round(decimals), x.round(decimals), 1e-3 if dtype == "f2" else 1e-6)
    out = cuda.to_device(x)
    assert cuda.to_device(x).round(decimals, out=out) is out
    same(out, x.round(decimals), 1e-3 if dtype == "f2" else 1e-6)


def test_round_of_what_is_no_number():
    with pytest.raises(TypeError, match="round"):
        cuda.to_device(np.array([True])).round()


# --- products of matrices --------------------------------------------------------------------------------------------

class GPU:
    kind, id, MULTIPROCESSOR_COUNT = "cuda", 0, 2


@pytest.fixture(params=["own", "tiles"])
def ways(request, monkeypatch):
    """The kernel of the device in use, and that of GPUs."""
    if request.param == "tiles":
        monkeypatch.setattr(matrix_product, "need_device", GPU)


@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "i4", "u8", "f2", "f4", "f8", "F", "D"])
def test_products_of_matrices(rng, ways, dtype):
    for m, k, n in (1, 1, 1), (3, 5, 2), (64, 16, 64), (70, 33, 129), (5, 0, 4):
        x, y = (rng.integers(0, 5, shape).astype(dtype) for shape in ((m, k), (k, n)))
        if dtype in "FD":
            x = (x * (1 - 2j)).astype(dtype)
        same(cuda.to_device(x) @ cuda.to_device(y), x @ y)


SHAPES = [((3, 4), (4,)), ((4,), (4, 3)), ((4,), (4,)), ((2, 3, 4), (4, 5)), ((2, 1, 3, 4), (5, 4, 2)),
          ((1, 3, 4), (6, 4, 2)), ((4,), (2, 4, 3)), ((0, 4), (4, 3)), ((2, 0, 4), (4, 3))]


@pytest.mark.parametrize("first, second", SHAPES, ids=str)
def test_stacks_and_vectors(rng, ways, first, second):
    x, y = rng.random(first), rng.random(second)
    same(cuda.to_device(x) @ cuda.to_device(y), x @ y)
    same(cuda.to_device(x) @ y, x @ y)
    same(x @ cuda.to_device(y), x @ y)
    same(np.matmul(cuda.to_device(x), cuda.to_device(y)), x @ y)
    if max(len(first), len(second)) < 3:
        same(cuda.to_device(x).dot(y), x.dot(y))


def test_operands_of_products(rng, ways):
    x, y = rng.random((30, 40)), rng.random((50, 40)).astype(np.float32)
    d, e = cuda.to_device(x), cuda.to_device(y)
    same(d @ e.T, x @ y.T)
    same(d[::2, ::3] @ e[:14:, 1:30].T[:14, ::-1], x[::2, ::3] @ y[:14, 1:30].T[:14, ::-1], 1e-6)
    square = rng.random((20, 20))
    own = cuda.to_device(square)
    assert np.matmul(own, own, out=own) is own   # what is read is not written
    same(own, square @ square)
    wide = cuda.to_device(np.zeros((30, 100)))
    np.matmul(d, e.T, out=wide[:, ::2])
    np.testing.assert_allclose(wide.copy_to_host()[:, ::2], x @ y.T, 1e-6)
    same(cuda.to_device(np.arange(6).reshape(2, 3)) @ [1, 2, 3], np.arange(6).reshape(2, 3) @ [1, 2, 3])


def test_what_has_no_product():
    d = cuda.to_device(np.ones((3, 4)))
    with pytest.raises(ValueError, match=r"\(3, 4\) and \(3, 4\) have no product: 4 columns are not 3 rows"):
        d @ d
    with pytest.raises(ValueError, match="with axes"):
        d @ cuda.to_device(np.array(2.0))
    with pytest.raises(ValueError, match="one axis or two"):
        d.dot(np.ones((2, 4, 4)))
    with pytest.raises(TypeError, match="no product"):
        d @ cuda.to_device(np.zeros(4, "m8[s]"))
    for refused in lambda: d @ 2, lambda: 2 @ d, lambda: d @ "a", lambda: d @ None:
        with pytest.raises(TypeError):
            refused()
    with pytest.raises(ValueError, match="shape"):
        np.matmul(d, np.ones((4, 2)), out=cuda.to_device(np.zeros((2, 2))))


def test_names_of_the_array_module(rng):
    x = rng.random((5, 6))
    xp = cuda.get_array_module(cuda.to_device(x))
    for compute in (lambda m, a: m.argmax(a, axis=1), lambda m, a: m.std(a, axis=0), lambda m, a: m.var(a),
                    lambda m, a: m.ptp(a, axis=1), lambda m, a: m.round(a, 1), lambda m, a: m.matmul(a, a[0]),
                    lambda m, a: m.dot(a, a[0]), lambda m, a: m.sort(a, axis=0), lambda m, a: m.nonzero(a)[0],
                    lambda m, a: m.cumprod(a, axis=0)):
        same(compute(xp, cuda.to_device(x)), compute(np, x))


@pytest.mark.parametrize("target, source", [
    (np.s_[:], np.s_[::-1]), (np.s_[1:], np.s_[:-1]), (np.s_[:-1], np.s_[1:]), (np.s_[:, ::2], np.s_[:, 1::2]),
    (np.s_[:, 1:], np.s_[:, :-1]), (np.s_[...], np.s_[:1]), (np.s_[:], np.s_[:, ::-1]), (np.s_[2:4], np.s_[2:4])])
def test_assignment_from_a_part_of_itself(target, source):
    """What is read is what was there before."""
    for shape in ((4, 8), (64, 1000)):
        x = np.arange(float(np.prod(shape))).reshape(shape)
        d = cuda.to_device(x)
        d[target] = d[source]
        x[target] = x[source].copy()
        np.testing.assert_array_equal(d.copy_to_host(), x)


def test_an_index_that_is_an_array_names_what_does_its_work():
    x = cuda.to_device(np.arange(5.0))
    mask, places = x > 2, cuda.to_device(np.array([1, 3]))
    with pytest.raises(IndexError, match=r"cuda\.select\(mask, x\)"):
        x[mask]
    with pytest.raises(IndexError, match="where=mask"):
        x[np.array([True] * 5)] = 0
    with pytest.raises(IndexError, match=r'cuda\.elementwise\("x\[k\]", raw="x"\)\(x, places\)'):
        x[places]
    assert cuda.select(mask, x).copy_to_host().tolist() == [3, 4]
    assert cuda.elementwise("x[k]", raw="x")(x, places).copy_to_host().tolist() == [1, 3]
    np.add(x, 1, out=x, where=mask)
    assert x.copy_to_host().tolist() == [0, 1, 2, 4, 5]
