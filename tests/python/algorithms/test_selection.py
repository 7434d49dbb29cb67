"""cuda.map, zip_with, filter and select beside NumPy."""
from typing import NamedTuple

import numpy as np
import pytest

from cujit import _core, cuda
from cujit._algorithms import scan as scans, selection


class SmallGPU:
    """What scans ask of a GPU; their kernels run on the device in use."""

    kind, id, MULTIPROCESSOR_COUNT = "cuda", 0, 1


@pytest.fixture(params=["own", "small_gpu"])
def ways(request, monkeypatch):
    """The way in which the device in use works, and that of GPUs."""
    selection._selection_of = selection.functions.remembered(selection.Selection)
    if request.param == "small_gpu":
        monkeypatch.setattr(scans, "need_device", SmallGPU)
        monkeypatch.setattr(selection, "need_device", SmallGPU)


class Point(NamedTuple):
    x: float
    y: float


def test_D20_functions_as_arguments(rng, ways):
    """Row D20: map, zip_with, scan, reduce and filter with Python functions and lambdas."""
    x, y = rng.integers(-9, 9, (2, 1000))
    d_x, d_y = cuda.to_device(x), cuda.to_device(y)
    f, by = (lambda v: v * v - 1), 3
    assert cuda.map(f, d_x).copy_to_host().tolist() == (x * x - 1).tolist()
    assert cuda.zip_with(lambda a, b: a * by + b, d_x, d_y).copy_to_host().tolist() == (x * 3 + y).tolist()
    assert cuda.scan(lambda a, b: a + b, d_x).copy_to_host().tolist() == np.cumsum(x).tolist()
    assert cuda.reduce(lambda a, b: max(a, b), d_x).copy_to_host() == x.max()
    assert cuda.filter(lambda v: v > by, d_x).copy_to_host().tolist() == x[x > 3].tolist()


def test_D12_chained_calls_copy_back_once(rng, monkeypatch):
    """Row D12: what stays on the device is not copied between calls."""
    copies = []
    copy = _core.copy_to_host
    monkeypatch.setattr(_core, "copy_to_host", lambda *arguments: copies.append(arguments) or copy(*arguments))
    x = rng.random(1000)
    d = cuda.to_device(x)
    scaled = cuda.map(lambda v: v * 3, d)
    sums = cuda.scan(lambda a, b: a + b, cuda.sort(scaled))
    most = cuda.reduce(max, cuda.zip_with(lambda a, b: a - b, sums, scaled))
    assert copies == []
    expected = np.cumsum(np.sort(x * 3)) - x * 3
    np.testing.assert_allclose(most.copy_to_host(), expected.max())
    assert len(copies) == 1


@pytest.mark.parametrize("n", [0, 1, 31, 4097, 70_001])
@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.float16, np.float32, np.int64, np.complex128])
def test_filter_of_every_size(rng, ways, n, dtype):
    x = rng.integers(0, 5, 2 * n).astype(dtype)
    for given in (x[:n], x[::2], x[n:][::-1]):
        d = cuda.to_device(np.ascontiguousarray(given))
        for got in (cuda.filter("x != 0", given), cuda.filter("x != 0", d).copy_to_host()):
            assert got.dtype == dtype
            np.testing.assert_array_equal(got, given[given != 0])
    assert cuda.filter(lambda x: True, x).tolist() == x.tolist() and cuda.filter(lambda x: False, x).size == 0


@pytest.mark.parametrize("ways", ["small_gpu"], indirect=True)
def test_blocks_ask_each_element_once_in_one_launch(rng, ways, monkeypatch):
    asked = cuda.to_device(np.zeros(1, np.int64))
    values = cuda.to_device(np.arange(9000))
    launches = []
    launcher = selection.quiet_launcher
    monkeypatch.setattr(selection, "quiet_launcher", lambda *given: launches.append(given[1]) or launcher(*given))

    def is_odd(asked, x):
        cuda.atomic.add(asked, 0, 1)
        return x % 2 == 1

    (found,), _ = selection.Selection(is_odd, ("asked",))((asked, values), 1, 0)
    assert found.copy_to_host().tolist() == list(range(1, 9000, 2))
    assert asked[0] == 9000 and launches == [3]


def test_select_and_tuples(rng, ways):
    x, y = rng.random((2, 5000))
    flags = rng.random(5000) < 0.3
    got = cuda.select(flags, Point(x, y))
    assert type(got) is Point
    np.testing.assert_array_equal(got.x, x[flags])
    np.testing.assert_array_equal(got.y, y[flags])
    inside = cuda.filter(lambda p: p.x * p.x + p.y * p.y < 1, Point(cuda.to_device(x), cuda.to_device(y)))
    np.testing.assert_array_equal(inside.y.copy_to_host(), y[x * x + y * y < 1])


def test_records(ways):
    a = np.zeros(100, np.dtype([("x", np.float32), ("n", np.int32)], align=True))
    a["x"], a["n"] = np.arange(100), np.arange(100) % 7
    np.testing.assert_array_equal(cuda.filter(lambda r: r.n == 3, a), a[a["n"] == 3])
    np.testing.assert_array_equal(cuda.map(lambda r: (r.x, r.n), a)[1], a["n"])


def test_map_broadcasts_and_zip_with_does_not(rng):
    x = rng.random((4, 5))
    np.testing.assert_array_equal(cuda.map("a * b", x, x[0]), x * x[0])
    assert cuda.map(lambda v: v / 2, 3) == 1.5
    out = np.empty((4, 5), np.float32)
    assert cuda.map(abs, x, out=out) is out
    with pytest.raises(ValueError, match=r"arrays of one shape, not of \(4, 5\), \(5,\)"):
        cuda.zip_with("a * b", x, x[0])
    for by in (2.0, 3.0):
        np.testing.assert_array_equal(cuda.map(lambda v: v * by, x), x * by)


def test_refusals():
    with pytest.raises(TypeError, match="arrays of one axis, not of 2"):
        cuda.filter("x > 0", np.zeros((2, 2)))
    with pytest.raises(ValueError, match="arrays of one length"):
        cuda.select(np.zeros(3, np.bool_), np.zeros(4))
    with pytest.raises(TypeError, match="returns no truth value"):
        cuda.filter(lambda x: (x, x), np.zeros(4))
