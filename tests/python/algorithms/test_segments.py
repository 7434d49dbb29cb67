"""cuda.segmented_reduce, segmented_scan, histogram and unique beside NumPy."""
import numpy as np
import pytest

from cujit import cuda
from cujit._algorithms import histogram as histograms, segments


class SmallGPU:
    """What segmented_reduce asks of a GPU; its kernels run on the device in use."""

    kind, id, MULTIPROCESSOR_COUNT = "cuda", 0, 1


@pytest.fixture(params=["own", "small_gpu"])
def ways(request, monkeypatch):
    """The way of the device in use, and that of GPUs."""
    if request.param == "small_gpu":
        monkeypatch.setattr(segments, "need_device", SmallGPU)


def then(first, second):
    """Two maps of numbers modulo 97, one after the other: associative, not commutative."""
    a, b = first // 128, first % 128
    c, d = second // 128, second % 128
    return (a * c % 97) * 128 + (b * c + d) % 97


@pytest.mark.parametrize("n, count", [(0, 3), (1, 1), (500, 20), (9000, 7), (9000, 3000)])
def test_segments_keep_the_order(rng, n, count):
    x = rng.integers(1, 97, n) * 128 + rng.integers(0, 97, n)
    offsets = np.sort(rng.integers(0, n + 1, count + 1))
    offsets[0], offsets[-1] = 0, n
    reduced, scanned, before = [], [], []
    for first, last in zip(offsets[:-1], offsets[1:], strict=True):
        value = 133
        for item in x[first:last].tolist():
            before.append(value)
            value = then(value, item)
            scanned.append(value)
        reduced.append(value)
    d, places = cuda.to_device(x), cuda.to_device(offsets)
    assert cuda.segmented_reduce(then, d, places, 133).copy_to_host().tolist() == reduced
    assert cuda.segmented_scan(then, x, offsets, 133).tolist() == scanned
    assert cuda.segmented_scan(then, d, offsets, 133, exclusive=True).copy_to_host().tolist() == before


def maps(rng, n):
    return rng.integers(1, 97, n) * 128 + rng.integers(0, 97, n)


def folded(x, offsets, value):
    for item in x[offsets[0]:offsets[1]].tolist():
        value = then(value, item)
    return value


@pytest.mark.parametrize("lengths", [
    [1] * 2000, [33] * 200, [255, 256, 257, 0, 511, 0, 0, 513] * 3, [9000], [0, 9000, 0],
    [31, 32, 33, 4000, 1, 0, 2] * 2, [7] * 500 + [5000] + [3] * 400])
@pytest.mark.parametrize("margin", [0, 300])
def test_segments_of_any_lengths(rng, monkeypatch, ways, lengths, margin):
    """Elements in front of the first one and behind the last one are none of theirs; segments of some chunks, and
    chunks of some segments."""
    monkeypatch.setattr(segments, "_WARPS", 16)
    offsets = np.cumsum([margin, *lengths])
    x = maps(rng, offsets[-1] + margin)
    expected = [folded(x, pair, 133) for pair in zip(offsets[:-1], offsets[1:], strict=True)]
    for array in (cuda.to_device(x), cuda.to_device(np.repeat(x, 2))[::2]):
        for places in (offsets, offsets.astype(np.uint32)):
            assert cuda.segmented_reduce(then, array, places, 133).copy_to_host().tolist() == expected


def test_offsets_that_are_wrong_reach_nothing_else(ways):
    x, offsets = cuda.to_device(np.arange(5000.0)), np.array([-7, 20, 3, 1 << 40, 6000, 12])
    assert cuda.segmented_reduce("a + b", x, offsets, 0.0).shape == (5,)


def test_segments_of_tuples(rng, ways):
    x, offsets = rng.random(300), np.array([0, 100, 100, 250, 300])
    total, most = cuda.segmented_reduce(lambda a, b: (a[0] + b[0], max(a[1], b[1])), (x, x), offsets, (0.0, -1.0))
    np.testing.assert_allclose(total, [x[:100].sum(), 0, x[100:250].sum(), x[250:].sum()])
    assert most.tolist() == [x[:100].max(), -1, x[100:250].max(), x[250:].max()]
    with pytest.raises(TypeError, match="init is a tuple of 2"):
        cuda.segmented_reduce(lambda a, b: a, (x, x), offsets, 0.0)
    with pytest.raises(TypeError, match="offsets are integers"):
        cuda.segmented_scan("a + b", x, x)
    with pytest.raises(ValueError, match="needs what comes before"):
        cuda.segmented_scan("a + b", x, offsets, exclusive=True)


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int64, np.float32, np.float64])
def test_histogram(rng, dtype):
    x = (rng.normal(size=20_000) * 20).astype(np.int8).astype(dtype)
    for bins, limits in ((10, None), (7, (0, 30)), (5000, (-50, 50)), ([-5, 0, 0.5, 3, 100], None), (1, (3, 3))):
        for given in (x, x[::3]):
            counts, edges = cuda.histogram(given, bins, limits)
            expected, expected_edges = np.histogram(given, bins, limits)
            assert counts.dtype == np.int64
            np.testing.assert_array_equal(counts, expected)
            np.testing.assert_array_equal(edges, expected_edges)
    weights = rng.integers(0, 9, x.size).astype(np.float32)
    counts, _ = cuda.histogram(cuda.to_device(x), 12, (-30, 30), weights=cuda.to_device(weights))
    np.testing.assert_array_equal(counts.copy_to_host(), np.histogram(x, 12, (-30, 30), weights=weights)[0])


@pytest.mark.parametrize("limits", [(0, 1), (-1e-3, 7e5), (1e9, 1e9 + 1e-5), (-1e300, 1e300), (0, 5e-324),
                                    (1e15, 1e15 + 4)])
def test_histogram_at_edges(limits):
    """What rounding leaves in doubt is decided by the edges, as NumPy does."""
    for bins in (3, 10, 256, 5000):
        with np.errstate(all="ignore"):
            try:
                edges = np.histogram_bin_edges(np.zeros(0), bins, limits)
            except ValueError:
                continue   # NumPy has no such bins
            if (edges[1:] == edges[:-1]).any():
                continue   # NumPy 1 has them: which of several that are the same number counts is open
            x = np.concatenate([edges, np.nextafter(edges, np.inf), np.nextafter(edges, -np.inf), edges + np.spacing(
                edges) * 3, (edges[1:] + edges[:-1]) / 2])
            expected = np.histogram(x, edges)[0]
            np.testing.assert_array_equal(cuda.histogram(x, bins, limits)[0], expected)


@pytest.mark.parametrize("most", [0, 1 << 30])
def test_histogram_counts_in_either_width(rng, monkeypatch, most):
    monkeypatch.setattr(histograms, "_OF_A_BLOCK", most)
    x = rng.random(100_003, np.float32)
    np.testing.assert_array_equal(cuda.histogram(x, 64)[0], np.histogram(x, 64)[0])


def test_histogram_of_nothing_and_refusals():
    assert cuda.histogram(np.zeros(0), 3)[0].tolist() == [0, 0, 0]
    assert cuda.histogram(np.array([np.nan, 0.5]), 2, (0, 1))[0].tolist() == [0, 1]
    for call, error, match in ((lambda: cuda.histogram(np.zeros(3), 0), ValueError, "number of 1 or more"),
                               (lambda: cuda.histogram(np.zeros(3), [3, 2]), ValueError, "do not decrease"),
                               (lambda: cuda.histogram(np.zeros(3), 3, (1, 0)), ValueError, "is not one"),
                               (lambda: cuda.histogram(np.zeros(3, "c8")), TypeError, "real numbers"),
                               (lambda: cuda.histogram(np.zeros(3), weights=np.zeros(2)), ValueError, "2 weights")):
        with pytest.raises(error, match=match):
            call()


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.int32, np.float32, np.complex64])
@pytest.mark.parametrize("n", [0, 1, 3000])
def test_unique(rng, n, dtype):
    x = rng.integers(0, 99, n).astype(dtype)
    if np.dtype(dtype).kind == "f":
        x[::10] = np.nan
    for given in (x, cuda.to_device(x)):
        for got, expected in zip(cuda.unique(given, True, True, True), np.unique(x, True, True, True), strict=True):
            np.testing.assert_array_equal(np.asarray(got), expected)
        np.testing.assert_array_equal(np.asarray(cuda.unique(given)), np.unique(x))


@pytest.mark.parametrize("placed", [np.asarray, cuda.to_device])
def test_several_axes_are_taken_in_c_order(rng, placed):
    x = np.asfortranarray(rng.integers(0, 9, (6, 7)))
    for given in placed(x), placed(x)[:, ::2]:
        host = given if isinstance(given, np.ndarray) else given.copy().copy_to_host()
        np.testing.assert_array_equal(np.asarray(cuda.histogram(given, 4)[0]), np.histogram(host, 4)[0])
        values, places, inverse = map(np.asarray, cuda.unique(given, True, True))
        np.testing.assert_array_equal(values, np.unique(host))
        np.testing.assert_array_equal(host.ravel()[places], values)
        assert inverse.shape == host.shape and (values[inverse] == host).all()
