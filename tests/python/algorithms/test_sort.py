"""cuda.sort, argsort, sort_by and top_k beside NumPy: stable, NaN last, every dtype, axes, both ways of working."""
from typing import NamedTuple

import numpy as np
import pytest

from cujit import cuda, types
from cujit._algorithms import loops, sort as sorts
from cujit._kernel_functions.algorithms import sort as kernels

DTYPES = [np.bool_, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64, np.float16,
          np.float32, np.float64, np.complex64, np.complex128]


class SmallGPU:
    """What sorting asks of a GPU; its kernels run on the device in use."""

    kind, id, MULTIPROCESSOR_COUNT = "cuda", 0, 1


@pytest.fixture(params=["own", "small_gpu"])
def ways(request, monkeypatch):
    """The way in which the device in use works, and that of GPUs."""
    if request.param == "small_gpu":
        monkeypatch.setattr(sorts, "need_device", SmallGPU)
        monkeypatch.setattr(loops, "need_device", SmallGPU)


class Pair(NamedTuple):
    first: int
    second: float


def samples(rng, n, dtype):
    dtype = np.dtype(dtype)
    if dtype.kind in "biu":
        info = np.iinfo(np.uint8 if dtype.kind == "b" else dtype)
        x = rng.integers(info.min, info.max, n, dtype=info.dtype, endpoint=True) if n else np.zeros(0, info.dtype)
        return (x & 1).astype(dtype) if dtype.kind == "b" else x
    x = (rng.normal(size=n) * 100).astype(dtype)
    if dtype.kind == "c":
        x = (x.real.round(-2) + 1j * rng.normal(size=n)).astype(dtype)
        x.imag[rng.random(n) < 0.05] = np.nan
    x.real[rng.random(n) < 0.1] = rng.choice(np.array([np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0], x.real.dtype))
    x.real[:6 * (n > 6)] = [np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0][:6 * (n > 6)]
    return x


@pytest.mark.parametrize("n", [0, 1, 33, 4097, 20_000])
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype_and_size(rng, ways, n, dtype):
    x = samples(rng, n, dtype)
    d = cuda.to_device(x)
    for part in (np.s_[:], np.s_[::-2], np.s_[1:]):
        given, host = d[part], x[part]
        got = cuda.sort(given).copy_to_host()
        assert got.dtype == dtype
        np.testing.assert_array_equal(got, np.sort(host))
        np.testing.assert_array_equal(cuda.argsort(given).copy_to_host(), np.argsort(host, kind="stable"))


@pytest.mark.parametrize("ways", ["small_gpu"], indirect=True)
def test_places_of_64_bits(rng, ways, monkeypatch):
    """As they are needed for more than 2^29 elements."""
    monkeypatch.setattr(sorts, "_LARGE_PLACES", 0)
    for dtype in (np.float32, np.complex64, np.int64):
        x = samples(rng, 20_000, dtype)
        np.testing.assert_array_equal(cuda.argsort(cuda.to_device(x)).copy_to_host(), np.argsort(x, kind="stable"))


@pytest.mark.parametrize("dtype", [np.int16, np.float32, np.float64])
def test_descending_is_stable_and_keeps_nan_last(rng, ways, dtype):
    x = (rng.integers(-50, 50, 9000)).astype(dtype)
    if np.dtype(dtype).kind == "f":
        x[::97] = np.nan
    finite = np.nan_to_num(-x, nan=1e9) if np.dtype(dtype).kind == "f" else -x
    np.testing.assert_array_equal(cuda.argsort(x, descending=True), np.argsort(finite, kind="stable"))
    np.testing.assert_array_equal(cuda.sort(x, descending=True), x[np.argsort(finite, kind="stable")])


@pytest.mark.parametrize("shape, axis", [((3, 700), 1), ((700, 3), 0), ((4, 5, 6), 1), ((300, 2), 1), ((2, 0), 1),
                                         ((0, 3), 1), ((5, 1), -1)])
def test_axes(rng, ways, shape, axis):
    x = rng.integers(-9, 9, shape).astype(np.float32)
    for given in (x, np.array(x, order="F")):
        d = cuda.to_device(given)
        np.testing.assert_array_equal(cuda.sort(given, axis=axis), np.sort(x, axis))
        np.testing.assert_array_equal(cuda.argsort(d, axis=axis), np.argsort(x, axis, kind="stable"))
        np.testing.assert_array_equal(cuda.sort(d, axis=axis, descending=True), -np.sort(-x, axis))


def test_times_and_tuples(rng, ways):
    t = rng.integers(0, 999, 3000).astype("M8[s]")
    t[::50] = np.datetime64("NaT")
    np.testing.assert_array_equal(cuda.sort(t), np.sort(t))
    a, b = rng.integers(0, 9, 3000), rng.random(3000).astype(np.float32)
    got = cuda.sort(Pair(a, b))
    order = np.lexsort((b, a))
    assert type(got) is Pair
    np.testing.assert_array_equal(got.first, a[order])
    np.testing.assert_array_equal(got.second, b[order])


def test_D20_sort_by(rng, ways):
    """Row D20: sort_by with a Python function."""
    x = rng.integers(-99, 99, 5000)
    for function, keys in ((lambda v: v % 7, x % 7), (lambda v: (v % 3, -v), None)):
        order = np.argsort(keys, kind="stable") if keys is not None else np.lexsort((-x, x % 3))
        np.testing.assert_array_equal(cuda.sort_by(function, x), x[order])
    records = np.zeros(500, np.dtype([("n", np.int32), ("x", np.float32), ("k", np.int8)], align=True))
    records["n"], records["x"] = np.arange(500), rng.random(500)
    np.testing.assert_array_equal(cuda.sort_by(lambda r: r.x, cuda.to_device(records)).copy_to_host(),
                                  records[np.argsort(records["x"])])
    keys = rng.random(5000)
    got = cuda.sort_by(keys, (x, keys), descending=True)
    np.testing.assert_array_equal(got[1], np.sort(keys)[::-1])
    np.testing.assert_array_equal(got[0], x[np.argsort(-keys, kind="stable")])


@pytest.mark.parametrize("n", [0, 1, 15, 16, 17, 1000, 4097])
def test_a_function_that_compares(rng, ways, n):
    x = rng.integers(-500, 500, n)
    d = cuda.to_device(x)
    np.testing.assert_array_equal(cuda.sort(d, less=lambda a, b: a % 10 < b % 10).copy_to_host(),
                                  x[np.argsort(x % 10, kind="stable")])
    np.testing.assert_array_equal(cuda.argsort(x, less="abs(a) > abs(b)"), np.argsort(-abs(x), kind="stable"))
    got = cuda.sort((x, d), less=lambda a, b: a[0] * a[1] < b[0] * b[1])
    np.testing.assert_array_equal(got[0].copy_to_host(), x[np.argsort(x * x, kind="stable")])


@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "i4", "u8", "f2", "f4", "f8", "M8[s]"])
@pytest.mark.parametrize("largest", [True, False])
def test_top_k_of_many(rng, ways, dtype, largest):
    """Only those that can be among the first are sorted."""
    x = rng.integers(0, 1 << 40, 1 << 17)
    x = (x - (1 << 39)).astype(dtype) if dtype[0] in "iuM" else (x % 2).astype(dtype) if dtype == "?" else (
        (x - (1 << 39)) / 2**36).astype(dtype)
    if dtype[0] == "f":
        x[77], x[78] = np.nan, -np.inf
    if dtype[0] == "M":
        x[5] = "NaT"
    order = np.argsort(x, kind="stable")
    if largest:   # NaN stays last, equal ones in their order
        none = np.isnat(x) if dtype[0] == "M" else x != x
        number = np.unique(x[~none], return_inverse=True)[1]
        order = np.concatenate([np.flatnonzero(~none)[np.argsort(-number, kind="stable")], np.flatnonzero(none)])
    for array, axis in (x, 0), (x.reshape(1, -1, 1), 1):
        values, places = cuda.top_k(cuda.to_device(array), 9, axis=axis, largest=largest)
        np.testing.assert_array_equal(places.copy_to_host().reshape(-1), order[:9])
        np.testing.assert_array_equal(values.copy_to_host().reshape(-1), x[order[:9]])
        assert values.shape == places.shape == tuple(9 if n > 1 else 1 for n in array.shape)


def test_top_k_sorts_few_of_many(rng, monkeypatch):
    sizes, sort_arrays = [], sorts.sort_arrays
    monkeypatch.setattr(sorts, "sort_arrays", lambda arrays, *more: sizes.append(arrays[0].size) or sort_arrays(
        arrays, *more))
    x = cuda.to_device(rng.random(1 << 17))
    cuda.top_k(x, 5)
    cuda.top_k(x, 1 << 15)
    cuda.top_k(cuda.to_device(np.zeros(1 << 17)), 5)
    assert 5 <= sizes[0] < 1 << 13 and sizes[1:] == [1 << 17, 1 << 17]


def test_top_k(rng, ways):
    x = rng.integers(0, 50, (4, 900)).astype(np.float32)
    values, places = cuda.top_k(cuda.to_device(x), 7)
    order = np.argsort(-x, 1, kind="stable")[:, :7]
    np.testing.assert_array_equal(np.asarray(places), order)
    np.testing.assert_array_equal(np.asarray(values), np.take_along_axis(x, order, 1))
    values, places = cuda.top_k(x[0], 3, largest=False)
    assert values.tolist() == np.sort(x[0])[:3].tolist()
    assert places.tolist() == np.argsort(x[0], kind="stable")[:3].tolist()


def test_in_place_and_out(rng):
    x = rng.integers(0, 99, 5000).astype(np.int8)
    d = cuda.to_device(x)
    assert cuda.sort(d, out=d) is d
    np.testing.assert_array_equal(d.copy_to_host(), np.sort(x))
    out = np.zeros((5000, 2), np.int32)[:, 1]
    assert cuda.sort(x, out=out) is out
    np.testing.assert_array_equal(out, np.sort(x))


def test_many_elements(rng):
    x = rng.random((1 << 20) + 7).astype(np.float32)
    np.testing.assert_array_equal(cuda.sort(x), np.sort(x))


def test_words_are_read_before_lanes_meet(assembles):
    """Of a whole tile all reads stand before the first vote: one after another they were twice the time."""
    digit = kernels.digit_of_word(32, "f", False)
    move = kernels.move_by_blocks(kernels.word_of(0, 32, "f"), digit, types.uint32, types.uint32, types.uint32,
                                  kernels.rows_of(4))
    ptx = assembles(move, "void(int64, int64, int64, Tuple((uint32[::1],)), int64[:, ::1], int32[::1], "
                          "Tuple((uint32[::1],)), Tuple(()), Tuple(()))", (9, 0), launch_bounds=(256, 2))
    before = ptx[ptx.rindex("bar.sync", 0, ptx.index("vote.sync.ballot")):ptx.index("vote.sync.ballot")]
    assert before.count("ld.global") == 2 * 32   # of a whole tile, and of the last one


def test_places_are_moved_in_32_bits_and_read_before_they_are_stored(rng, monkeypatch, assembles):
    moved, sort_arrays = [], sorts.sort_arrays
    monkeypatch.setattr(sorts, "sort_arrays", lambda arrays, *rest: moved.append([a.dtype for a in arrays])
                        or sort_arrays(arrays, *rest))
    x = rng.random((3, 1000), np.float32)
    for given in x, x[0]:
        got = cuda.argsort(given)
        assert got.dtype == np.int64
        np.testing.assert_array_equal(got, np.argsort(given, kind="stable"))
        assert moved[-1][1] == np.uint32
    digit = kernels.digit_of_word(32, "f", False)
    move = kernels.move_by_blocks(kernels.word_of(0, 32, "f"), digit, types.uint32, types.uint32, types.uint32,
                                  kernels.rows_of(4))
    ptx = assembles(move, "void(int64, int64, int64, Tuple((uint32[::1], uint32[::1])), int64[:, ::1], int32[::1], "
                          "Tuple((uint32[::1],)), Tuple((uint32[::1],)), Tuple((uint32[::1],)))", (9, 0),
                    launch_bounds=(256, 2))
    *_, storing, _ = ptx.split("bar.sync")
    assert "ld.global" not in storing and storing.count("st.shared") >= 32


def test_refusals():
    for call, error, match in (
            (lambda: cuda.sort(np.zeros((2, 2)), axis=2), ValueError, "axis 2 of an array of 2 axes"),
            (lambda: cuda.sort(np.zeros(3), less="a < b", descending=True), TypeError, "less= says the order itself"),
            (lambda: cuda.sort(np.zeros((3, 3)), less="a < b"), ValueError, "sorts arrays of one axis"),
            (lambda: cuda.sort(np.zeros(3, "S3")), TypeError, "have no order; sort_by takes a key"),
            (lambda: cuda.sort_by(np.zeros(2), np.zeros(3)), ValueError, "2 keys for 3 elements"),
            (lambda: cuda.top_k(np.zeros(3), 4), ValueError, "4 of 3 elements"),
            (lambda: cuda.sort(np.zeros(3), less=lambda a, b: (a, b)), TypeError, "returns no truth value"),
            (lambda: cuda.sort(3.0), TypeError, "takes arrays, not numbers")):
        with pytest.raises(error, match=match):
            call()
