"""cuda.reduction beside NumPy: axes, layouts, dtypes, order, the kernels for GPUs on the device in use, errors."""
import itertools
import math
from typing import NamedTuple

import numpy as np
import pytest

from cujit import cuda
from cujit._algorithms import reduction_kernel
from cujit._kernel_functions.algorithms import axis_reduction

LAYOUTS = {
    "C": lambda x: x,
    "F": lambda x: np.array(x, order="F"),
    "steps": lambda x: np.repeat(x, 2, -1)[..., ::2] if x.ndim else x,
    "backwards": lambda x: np.ascontiguousarray(x[::-1])[::-1] if x.ndim else x,
}
CASES = [((), None), ((31,), 0), ((70_001,), None), ((5, 0), 1), ((0, 5), 1), ((700, 3), 0), ((700, 3), 1),
         ((100, 65), 1), ((9, 8, 7), (0, 2)), ((6, 1, 300), (-1, 0)), ((3, 9001), -1), ((9001, 40), 0), ((2000, 40), 1)]


class SmallGPU:
    """What reductions ask of a GPU; their kernels run on the device in use."""

    kind, id, MULTIPROCESSOR_COUNT = "cuda", 0, 1


@pytest.fixture(params=["own", "small_gpu"])
def ways(request, monkeypatch):
    """The ways in which the device in use works, and those of GPUs."""
    if request.param == "small_gpu":
        monkeypatch.setattr(reduction_kernel, "need_device", SmallGPU)


def then(first, second):
    """Two maps of numbers modulo 97, as 128 * factor + summand, one after the other: associative, not commutative."""
    a, b = first // 128, first % 128
    c, d = second // 128, second % 128
    return (a * c % 97) * 128 + (b * c + d) % 97


def folded(x, axis):
    axes = tuple(range(x.ndim)) if axis is None else tuple(a % x.ndim for a in np.atleast_1d(axis))
    kept = [k for k in range(x.ndim) if k not in axes]
    rows = x.transpose([*kept, *sorted(axes)])
    rows = rows.reshape(*rows.shape[:len(kept)], math.prod(rows.shape[len(kept):]))
    result = np.full(rows.shape[:-1], 128)
    for k in range(rows.shape[-1]):
        result = then(result, rows[..., k])
    return result


def test_C8_reduction_kernel(rng, ways):
    """Row C8: map, reduce, post, identity, axis, keepdims."""
    x, y = rng.random((2, 50, 60))
    distance = cuda.reduction(lambda x, y: (x - y) ** 2, lambda a, b: a + b, lambda a: a ** 0.5, 0.0, name="distance")
    for axis in (None, 0, 1, (0, 1)):
        for keepdims in (False, True):
            expected = np.sqrt(((x - y) ** 2).sum(axis, keepdims=keepdims))
            got = distance(cuda.to_device(x), cuda.to_device(y), axis=axis, keepdims=keepdims)
            assert isinstance(got, cuda.DeviceNDArray) and got.shape == np.shape(expected)
            np.testing.assert_allclose(got.copy_to_host(), expected, rtol=1e-12)
    assert distance(np.zeros((3, 0)), 1.0, axis=1).tolist() == [0, 0, 0]


def test_every_axis_keeps_the_order(rng, ways):
    compose = cuda.reduction(None, then, identity=128)
    for (shape, axis), layout in zip(CASES * 2, itertools.cycle(LAYOUTS)):   # their numbers have no common divisor
        x = LAYOUTS[layout](rng.integers(1, 97, shape) * 128 + rng.integers(0, 97, shape))
        got = compose(x, axis=axis)
        np.testing.assert_array_equal(got, folded(x, axis), err_msg=f"{shape} {axis}")


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.uint16, np.int32, np.uint64, np.float16, np.float32,
                                   np.complex64, np.complex128])
def test_every_dtype(ways, dtype):
    x = (np.arange(3 * 2000) % 2).astype(dtype).reshape(3, 2000)
    total = cuda.reduction(None, "a + b", dtype=dtype)
    for axis in (None, 0, 1):
        got = total(x, axis=axis)
        assert got.dtype == dtype
        np.testing.assert_array_equal(got, x.sum(axis, dtype=dtype) if dtype != np.float16 or axis == 0 else got)
    assert cuda.reduction(None, "a + b")(x).dtype == (np.int64 if dtype in (np.bool_, np.int8, np.int32) else
                                                      np.uint64 if np.dtype(dtype).kind == "u" else dtype)


@pytest.mark.parametrize("ways", ["small_gpu"], indirect=True)
@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "i4", "f2", "f4", "i8", "c8"])
def test_neighbouring_results_are_read_at_once(rng, ways, monkeypatch, dtype):
    made, by_columns = [], axis_reduction.by_columns
    monkeypatch.setattr(axis_reduction, "by_columns", lambda *given: made.append(given[-1]) or by_columns(*given))
    add = cuda.reduction(lambda i, x: x, lambda a, b: a + b, index="i")
    for shape, axis in (((300, 512), 0), ((3, 77, 256), 1), ((5, 33, 512), (0, 1)), ((300, 500), 0), ((40, 257), 0)):
        x = rng.integers(0, 2, shape).astype(dtype)
        got = add(cuda.to_device(x), axis=axis).copy_to_host()
        np.testing.assert_array_equal(got, x.sum(axis, dtype=got.dtype))
    assert made and set(made) == {min(8, 16 // np.dtype(dtype).itemsize)}


@pytest.mark.parametrize("ways", ["small_gpu"], indirect=True)
def test_rows_of_a_warp_keep_the_order(rng, ways):
    """As many reads as a tile has, half of them, fewer, and what is left."""
    compose = cuda.reduction(None, then, identity=128)
    for length in (64 * rows + more for rows in range(1, 22) for more in (-1, 0, 33)):
        x = rng.integers(1, 97, (20, length)) * 128 + rng.integers(0, 97, (20, length))
        np.testing.assert_array_equal(compose(cuda.to_device(x), axis=1).copy_to_host(), folded(x, 1))


class Moments(NamedTuple):
    n: int
    total: float


def test_tuples(rng, ways):
    x = rng.random((40, 333))
    argmax = cuda.reduction(lambda i, x: (x, i), lambda a, b: b if b[0] > a[0] else a, lambda a: a[1], index="i")
    np.testing.assert_array_equal(argmax(x, axis=1), x.argmax(1))
    np.testing.assert_array_equal(argmax(x, axis=0), x.argmax(0))
    assert argmax(x) == x.argmax()
    moments = cuda.reduction(lambda x: Moments(1, x), lambda a, b: Moments(a.n + b.n, a.total + b.total),
                             identity=(0, 0.0))
    got = moments(x, axis=0)
    assert type(got).__name__ == "Moments" and got.n.tolist() == [40] * 333
    np.testing.assert_allclose(got.total, x.sum(0))
    low, high = cuda.reduction(lambda x: (x, x), lambda a, b: (min(a[0], b[0]), max(a[1], b[1])))(cuda.to_device(x))
    assert low.copy_to_host() == x.min() and high.copy_to_host() == x.max()


def test_raw_arguments_and_the_index(rng, ways):
    weights, x = rng.integers(0, 9, 500), rng.integers(0, 9, (7, 500))
    weighted = cuda.reduction("x * w[i]", "a + b", raw="w", index="i")
    np.testing.assert_array_equal(weighted(x, weights, axis=1), x @ weights)


def test_out(rng):
    x = rng.random((30, 20))
    total = cuda.reduction(None, "a + b")
    out = np.zeros((20, 2), np.float32)[:, 1]
    assert total(x, axis=0, out=out) is out
    np.testing.assert_allclose(out, x.sum(0), rtol=1e-6)
    d = cuda.to_device(x)
    row = d[0]
    total(d, axis=0, out=row)   # overlaps what is read
    np.testing.assert_allclose(row.copy_to_host(), x.sum(0))
    stream = cuda.stream()
    got = total(d, stream=stream)
    stream.synchronize()
    assert got.shape == ()


def test_refusals():
    total = cuda.reduction(None, "a + b")
    for x, axis, error, match in ((np.zeros((2, 3)), 2, ValueError, "axis 2 of an array of 2 axes"),
                                  (np.zeros((2, 3)), (0, -2), ValueError, "names one twice"),
                                  (np.zeros(0), None, ValueError, "of no elements needs an identity")):
        with pytest.raises(error, match=match):
            total(x, axis=axis)
    with pytest.raises(TypeError, match="needs a function of two values"):
        cuda.reduction("x")
    with pytest.raises(TypeError, match="makes bool of two values of type float64|results are of its arguments' type"):
        cuda.reduction(None, lambda a, b: (a, b))(np.zeros(3))
    with pytest.raises(TypeError, match="out has the dtype int8"):
        total(np.zeros((3, 3)), axis=0, out=np.zeros(3, np.int8))
    with pytest.raises(TypeError, match="the start is a tuple of 2"):
        cuda.reduction("(x, x)", "a", identity=0)(np.zeros(3))


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.uint16])
@pytest.mark.parametrize("shape", [(40, 2048), (9, 333)])
def test_sums_of_short_integers(rng, ways, dtype, shape):
    """Packets are added in 32 bits, results in those of the sum, which may wrap."""
    most = 1 if dtype == np.bool_ else np.iinfo(dtype).max
    for x in rng.integers(0 if dtype == np.bool_ else np.iinfo(dtype).min, most, shape).astype(dtype), np.full(
            shape, most, dtype):
        d = cuda.to_device(x)
        for axis in (None, 0, 1):
            for wanted in (None, np.uint16):
                expected = x.sum(axis, wanted)
                got = d.sum(axis, wanted)
                assert got.dtype == expected.dtype
                np.testing.assert_array_equal(got.copy_to_host(), expected)
        np.testing.assert_array_equal(d.sum(1, where=x > 0).copy_to_host(), x.sum(1, where=x > 0))


def test_operands_that_are_the_same_for_a_row(rng, ways):
    """They are read once for a packet of the others."""
    x, row, number = rng.random((60, 2048), np.float32), rng.random((60, 1), np.float32), rng.random((), np.float32)
    weighed = cuda.reduction(lambda i, x, y: (x - y) * (i % 3), "a + b", identity=0.0, index="i")
    weights = np.arange(2048) % 3
    for y in row, number:
        for axis in (1, None):
            flat = np.arange(x.size).reshape(x.shape) % 3 if axis is None else weights
            np.testing.assert_allclose(np.asarray(weighed(cuda.to_device(x), cuda.to_device(y), axis=axis)),
                                       ((x - y) * flat).sum(axis), rtol=1e-3)
    for axis in (0, 1, None):
        np.testing.assert_allclose(cuda.to_device(x).std(axis).copy_to_host(), x.std(axis), rtol=1e-4)
