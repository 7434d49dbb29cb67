"""Methods of ufuncs beside NumPy's: reduce, accumulate, reduceat, at, outer, on the host and on the device."""
import numpy as np
import pytest

from cujit import cuda, vectorize
from cujit._ufunc import folds, numpy_ufuncs

PLACES = pytest.mark.parametrize("place", [np.asarray, cuda.to_device], ids=["host", "device"])
SIGNATURES = ["int64(int64, int64)", "float64(float64, float64)"]


@vectorize(SIGNATURES, identity=0)
def add(x, y):
    return x + y


@vectorize(SIGNATURES, identity="reorderable")
def larger(x, y):
    return x if x > y else y


@vectorize(["int64(int64, int64)"])
def then(first, second):
    """Two maps of numbers modulo 97, as 128 * factor + summand, one after the other: depends on the order."""
    a, b = first // 128, first % 128
    c, d = second // 128, second % 128
    return (a * c % 97) * 128 + (b * c + d) % 97


@vectorize(["float64(float64)", "int64(int64)"])
def negate(x):
    return -x


def maps(rng, shape):
    return rng.integers(1, 97, shape) * 128 + rng.integers(0, 97, shape)


def one_after_another(x, axis):
    x = np.moveaxis(x, axis, 0)
    results = [x[0]]
    for item in x[1:]:
        a, b, c, d = results[-1] // 128, results[-1] % 128, item // 128, item % 128
        results.append((a * c % 97) * 128 + (b * c + d) % 97)
    return np.moveaxis(np.array(results), 0, axis)


@PLACES
@pytest.mark.parametrize("axis", [0, 1, 2, -1, (0, 2), (1, 0), (2, 1, 0), (), None], ids=str)
@pytest.mark.parametrize("keepdims", [False, True])
def test_reduce_along_axes(rng, place, axis, keepdims):
    x = rng.integers(-50, 50, (6, 50, 70))
    for array, d in (x, place(x)), (x[::2, ::-3, 1:], place(x)[::2, ::-3, 1:]), (x[:, :1], place(x)[:, :1]):
        for ours, numpys in (add, np.add), (larger, np.maximum):
            got, expected = ours.reduce(d, axis, keepdims=keepdims), numpys.reduce(array, axis, keepdims=keepdims)
            assert np.shape(got) == expected.shape
            np.testing.assert_array_equal(np.asarray(got), expected)


@PLACES
@pytest.mark.parametrize("shape, axis", [((20000,), 0), ((3, 9000), 1), ((9000, 3), 0), ((40, 300, 5), 1)], ids=str)
def test_long_axes_keep_the_order(rng, place, shape, axis):
    x = maps(rng, shape)
    expected = one_after_another(x, axis)
    np.testing.assert_array_equal(np.asarray(then.reduce(place(x), axis)), np.take(expected, -1, axis))
    np.testing.assert_array_equal(np.asarray(then.accumulate(place(x), axis)), expected)
    indices = [0, 7, 7, 3, 39]
    np.testing.assert_array_equal(np.asarray(add.reduceat(place(x), indices, axis)), np.add.reduceat(x, indices, axis))


@PLACES
def test_where_and_initial(rng, place):
    x, mask = rng.integers(-50, 50, (30, 400)), rng.random((30, 400)) < 0.3
    for axis in 0, 1, None:
        for where in mask, mask[0], mask[:, :1].copy():
            np.testing.assert_array_equal(np.asarray(add.reduce(place(x), axis, where=place(where))),
                                          np.add.reduce(x, axis, where=where))
            np.testing.assert_array_equal(np.asarray(add.reduce(place(x), axis, initial=7, where=place(where))),
                                          np.add.reduce(x, axis, initial=7, where=where))
            np.testing.assert_array_equal(np.asarray(larger.reduce(place(x), axis, initial=20, where=place(where))),
                                          np.maximum.reduce(x, axis, initial=20, where=where))
        np.testing.assert_array_equal(np.asarray(add.reduce(place(x), axis, initial=-3)),
                                      np.add.reduce(x, axis, initial=-3))
    with pytest.raises(ValueError, match="leaves elements out"):
        larger.reduce(place(x), where=place(mask))


@PLACES
def test_no_elements(place):
    x = place(np.zeros((0, 3)))
    np.testing.assert_array_equal(np.asarray(add.reduce(x)), [0, 0, 0])
    assert add.reduce(x, axis=1).shape == (0,) and np.asarray(add.reduce(x, None)) == 0
    np.testing.assert_array_equal(np.asarray(larger.reduce(x, initial=2)), [2, 2, 2])
    with pytest.raises(ValueError, match="has no elements"):
        larger.reduce(x)
    assert larger.reduce(x, axis=1).shape == (0,)   # no result needs a start
    with pytest.raises(ValueError, match="has no elements"):
        larger.reduce(place(np.zeros((0, 0))), axis=1)   # none here either, but NumPy looks at the axis alone
    assert add.accumulate(x).shape == (0, 3)


@PLACES
def test_dtype_and_out(place):
    x, out = np.arange(6, dtype=np.int16).reshape(2, 3), place(np.zeros(3, np.float32))
    assert add.reduce(place(x)).dtype == np.int64 and add.reduce(place(x), dtype=np.float64).dtype == np.float64
    assert vectorize(lambda a, b: a + b).reduce(x).dtype == np.int64   # in kernels, int16 + int16 is an int64
    assert add.reduce(place(x), 0, np.float64, out) is out and add.reduce(place(x), 0, np.float64, (out,)) is out
    np.testing.assert_array_equal(np.asarray(out), [3, 5, 7])
    square = place(np.arange(9.0).reshape(3, 3))
    add.accumulate(square, 1, out=square)
    np.testing.assert_array_equal(np.asarray(square), np.arange(9.0).reshape(3, 3).cumsum(1))
    add.reduce(square, 0, out=square[0])
    np.testing.assert_array_equal(np.asarray(square)[0], np.arange(9.0).reshape(3, 3).cumsum(1).sum(0))
    with pytest.raises(TypeError, match="one type for both"):
        vectorize(["boolean(float64, float64)"])(lambda a, b: a < b).reduce(x)


@PLACES
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_accumulate_and_reduceat(rng, place, axis):
    x = rng.integers(-50, 50, (40, 50))
    for array, d in (x, place(x)), (x[::-2, 3:], place(x)[::-2, 3:]):
        np.testing.assert_array_equal(np.asarray(add.accumulate(d, axis)), np.add.accumulate(array, axis))
        for indices in [0, 4, 2, 2, 19], [5], np.array([3, 1]):
            np.testing.assert_array_equal(np.asarray(larger.reduceat(d, indices, axis)),
                                          np.maximum.reduceat(array, indices, axis))
    for indices in [50], [-1]:
        with pytest.raises(IndexError):
            add.reduceat(place(x), indices)
    with pytest.raises(TypeError, match="integers"):
        add.reduceat(place(x), [[0]])
    for refused in lambda: add.accumulate(place(np.array(3))), lambda: add.reduceat(place(np.array(3)), [0]):
        with pytest.raises(TypeError, match="one axis or more"):
            refused()


@PLACES
@pytest.mark.parametrize("indices", [
    [0, 2, 2, -1], slice(1, None, 2), np.s_[[0, 0, 1], [1, 1, 3]], np.s_[:, [2, 2]], np.arange(5) % 2 == 0, (),
    np.s_[..., 1], np.s_[2, 3]], ids=str)
def test_at(rng, place, indices):
    x = rng.integers(-50, 50, (5, 4)).astype(float)
    expected, d = x.copy(), place(x.copy())
    values = np.arange(expected[indices].size * 1.0).reshape(np.shape(expected[indices]))
    np.add.at(expected, indices, values)
    assert add.at(d, indices, place(values)) is None
    np.testing.assert_array_equal(np.asarray(d), expected)
    np.negative.at(expected, indices)
    negate.at(d, indices)
    np.add.at(expected, indices, 3)
    add.at(d, indices, 3)
    np.testing.assert_array_equal(np.asarray(d), expected)


def test_at_of_what_cannot_be():
    x = np.zeros(3, np.int64)
    for function, array, *values in (add, x), (negate, x, 1), (add, [1, 2], 1), (vectorize(lambda a: a * 1j), x):
        with pytest.raises(TypeError):
            function.at(array, 0, *values)
    with pytest.raises(IndexError):
        add.at(x, [3], 1)
    with pytest.raises(TypeError, match="2 results"):
        vectorize(lambda a: (a, a)).at(x, 0)
    assert not x.any()


@PLACES
def test_outer_takes_what_a_call_takes(place):
    x, y, out = np.arange(6.0).reshape(2, 3), np.arange(4.0), place(np.zeros((2, 3, 4), np.float32))
    assert add.outer(place(x), place(y), out=out, casting="same_kind") is out
    np.testing.assert_array_equal(np.asarray(out), np.add.outer(x, y))


def test_identity():
    assert (add.identity, larger.identity, then.identity) == (0, None, None)
    for method in "reduce", "accumulate", "outer":
        with pytest.raises(TypeError, match="functions of two"):
            getattr(negate, method)(*[np.zeros(3)] * (2 if method == "outer" else 1))


def test_axes_that_are_not_there():
    with pytest.raises(np.exceptions.AxisError):
        add.reduce(np.zeros((2, 2)), 2)
    with pytest.raises(ValueError, match="duplicate|repeated"):
        add.reduce(np.zeros((2, 2)), (0, 0))


@PLACES
def test_streams(place):
    stream = cuda.stream()
    x = place(np.arange(5000))
    total = add.reduce(x, stream=stream)
    stream.synchronize()
    assert np.asarray(total) == np.arange(5000).sum()


class GPU:
    """What the choice among kernels asks of a GPU; they run on the CPU device here, too."""

    kind, id, MULTIPROCESSOR_COUNT = "cuda", 0, 2


@pytest.mark.parametrize("shape, axis", [
    ((50, 8), 1), ((5, 31), 1), ((5, 33), 1), ((3, 700), 1), ((2, 9000), 1), ((9000, 3), 0), ((700, 40), 0),
    ((40, 300, 5), (0, 2)), ((40, 300, 5), (1,)), ((1, 20001), None)], ids=str)
def test_warps_and_blocks_of_gpus(rng, monkeypatch, shape, axis):
    monkeypatch.setattr("cujit._algorithms.reduction_kernel.need_device", lambda: GPU)
    x, mask = rng.integers(-50, 50, shape), rng.random(shape) < 0.3
    d = cuda.to_device(x)
    for ours, numpys in (add, np.add), (larger, np.maximum):
        np.testing.assert_array_equal(np.asarray(ours.reduce(d, axis, initial=5)), numpys.reduce(x, axis, initial=5))
        np.testing.assert_array_equal(np.asarray(ours.reduce(d, axis, dtype=float)), numpys.reduce(x, axis))
        got = ours.reduce(d, axis, initial=5, where=cuda.to_device(mask))
        np.testing.assert_array_equal(np.asarray(got), numpys.reduce(x, axis, initial=5, where=mask))


@pytest.mark.parametrize("name", ["add", "subtract", "minimum", "maximum", "bitwise_and", "bitwise_or", "bitwise_xor"])
@pytest.mark.parametrize("dtype", ["i1", "u2", "i4", "u8", "f2", "f4", "f8", "?"])
def test_many_threads_change_what_indices_name(rng, monkeypatch, name, dtype):
    """On a GPU, where cuda.atomic has the function; others and other dtypes by one thread."""
    if name.startswith("bitwise") and dtype[0] == "f" or (name, dtype) == ("subtract", "?"):
        pytest.skip("NumPy has no such function")
    monkeypatch.setattr("cujit._ufunc.folds.need_device", lambda: GPU)
    ufunc = getattr(np, name)
    x = rng.integers(0, 2 if dtype == "?" else 100, (40, 7)).astype(dtype)
    places = np.s_[rng.integers(-40, 40, 500), rng.integers(0, 7, 500)]
    for view in lambda a: a, lambda a: a[::-2], lambda a: a[:, 3], lambda a: a[::3, 2:5]:
        array = view(x)
        where = places if array.shape == x.shape else rng.integers(-len(array), len(array), 300)
        values = rng.integers(0, 2 if dtype == "?" else 5, np.shape(array[where])).astype(dtype)
        whole, expected = cuda.to_device(x), array.copy()
        d = view(whole)
        ufunc.at(d, where, cuda.to_device(values))
        ufunc.at(d, where, values[:1] if values.ndim == 1 else values)
        ufunc.at(expected, where, values)
        ufunc.at(expected, where, values[:1] if values.ndim == 1 else values)
        np.testing.assert_array_equal(view(whole.copy_to_host()), expected)
    made = {is_atomic for each in numpy_ufuncs.of(ufunc)._changes.values() for _, own, is_atomic in each._kernels
            if own == dtype}
    has_atomic = dtype != "?" and (dtype[0] != "f" or name in ("add", "subtract"))
    assert has_atomic in made and (has_atomic or True not in made)   # other tests may have made those of one thread


def test_at_of_wider_values(monkeypatch):
    monkeypatch.setattr("cujit._ufunc.folds.need_device", lambda: GPU)
    x, places, values = np.full(3, 100, np.int8), [0, 1, 1, -1], np.array([300, -1, 5, 27])
    for ufunc in np.add, np.maximum, np.bitwise_or:
        d, expected = cuda.to_device(x), x.copy()
        ufunc.at(d, places, values)
        ufunc.at(expected, places, values)
        np.testing.assert_array_equal(d.copy_to_host(), expected)


@pytest.mark.parametrize("dtype", ["i1", "f4", "?"])
def test_arrays_that_lie_alike_are_planned_once(rng, monkeypatch, dtype):
    """The second reduction of a kind is only launched; another layout, axis or place in memory is another kind."""
    planned, problem_of = [], folds.problem_of
    monkeypatch.setattr(folds, "problem_of", lambda *arguments: planned.append(arguments) or problem_of(*arguments))
    shape = (3, 40 + len(dtype), 50)
    for k in range(3):
        x = rng.integers(0, 2, shape).astype(dtype)
        d = cuda.to_device(x)
        for view, own in (d, x), (d[:, 1:], x[:, 1:]), (d[..., 1:-1], x[..., 1:-1]), (d[::-1], x[::-1]):
            for axis in None, 0, -1, (0, 2):
                for keepdims in False, True:
                    got = view.sum(axis, keepdims=keepdims)
                    assert cuda.is_cuda_array(got) and got.dtype == own.sum(axis).dtype
                    np.testing.assert_array_equal(got.copy_to_host(), own.sum(axis, keepdims=keepdims))
        if k == 0:
            first = len(planned)
    assert len(planned) == first > 0
