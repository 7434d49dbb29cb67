"""cuda.scan beside NumPy: inclusive, exclusive, axes, order, tuples, both ways of working, errors."""
import re
import threading

import numpy as np
import pytest

from cujit import cuda
from cujit._algorithms import scan as scans

SIZES = [0, 1, 2, 31, 1000, 4096, 4097, 70_001]


class SmallGPU:
    """What scans ask of a GPU; their kernels run on the device in use."""

    kind, id, MULTIPROCESSOR_COUNT = "cuda", 0, 1


@pytest.fixture(params=["own", "small_gpu"])
def ways(request, monkeypatch):
    """The way in which the device in use works, and that of GPUs."""
    scans._scan_of = scans.functions.remembered(scans.Scan)   # kernels of the one are not the other's
    if request.param == "small_gpu":
        monkeypatch.setattr(scans, "need_device", SmallGPU)


def then(first, second):
    """Two maps of numbers modulo 97, as 128 * factor + summand, one after the other: associative, not commutative."""
    a, b = first // 128, first % 128
    c, d = second // 128, second % 128
    return (a * c % 97) * 128 + (b * c + d) % 97


def scanned(x, start=None):
    found, value = [], start
    for item in x.tolist():
        value = item if value is None else then(value, item)
        found.append(value)
    return found


@pytest.mark.parametrize("dtype", [np.int64, np.int16])
@pytest.mark.parametrize("n", SIZES)
def test_every_size_keeps_the_order(rng, ways, n, dtype):
    x = (rng.integers(1, 97, n) * 128 + rng.integers(0, 97, n)).astype(dtype)
    d = cuda.to_device(x)
    got = cuda.scan(then, d, dtype=np.int64)
    assert isinstance(got, cuda.DeviceNDArray) and got.copy_to_host().tolist() == scanned(x)
    assert cuda.scan(then, d, 133, dtype=np.int64).copy_to_host().tolist() == scanned(x, 133)
    exclusive = cuda.scan(then, d, 133, exclusive=True, dtype=np.int64)
    assert exclusive.copy_to_host().tolist() == [133, *scanned(x, 133)][:n]


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.uint16, np.int32, np.uint64, np.float16, np.float32,
                                   np.float64, np.complex64])
def test_every_dtype(ways, dtype):
    x = (np.arange(3000) * 7 % 3).astype(dtype)
    got = cuda.scan("a + b", x, dtype=dtype)
    assert got.dtype == dtype
    if dtype != np.float16:
        np.testing.assert_array_equal(got, np.cumsum(x, dtype=dtype))
    assert cuda.scan("a + b", x).dtype == (np.int64 if np.dtype(dtype).kind in "bi" else
                                           np.uint64 if np.dtype(dtype).kind == "u" else dtype)


@pytest.mark.parametrize("shape, axis", [((4, 5), 0), ((4, 5), 1), ((3, 4000), 1), ((4000, 3), 0), ((2, 30, 4), 1),
                                         ((2, 3, 4), -3), ((1, 5000), 1), ((40, 300), 0)])
def test_axes_and_layouts(rng, ways, shape, axis):
    x = rng.integers(0, 99, shape)
    for given in (x, np.array(x, order="F"), np.repeat(x, 2, -1)[..., ::2], x[::-1]):
        np.testing.assert_array_equal(cuda.scan("a + b", given, axis=axis), np.cumsum(given, axis))
    got = cuda.scan("a + b", x, 7, exclusive=True, axis=axis)
    np.testing.assert_array_equal(got, np.cumsum(x, axis) - x + 7)
    np.testing.assert_array_equal(cuda.scan("a + b", x, 7, axis=axis), np.cumsum(x, axis) + 7)


def test_D20_scan_of_tuples(rng, ways):
    """Row D20: any operator, such as that of linear recurrences, on tuples."""
    a, b = rng.random((2, 5000)) * 0.5
    slope, y = cuda.scan(lambda p, q: (p[0] * q[0], q[0] * p[1] + q[1]), (a, b))
    expected, value = [], 0.0
    for k in range(5000):
        value = a[k] * value + b[k]
        expected.append(value)
    np.testing.assert_allclose(y, expected, rtol=1e-9)
    np.testing.assert_allclose(slope[:50], np.cumprod(a)[:50], rtol=1e-9)


def test_in_place_and_out(rng, ways):
    x = rng.integers(0, 9, 10_000)
    d = cuda.to_device(x)
    assert cuda.scan("a + b", d, out=d) is d
    np.testing.assert_array_equal(d.copy_to_host(), np.cumsum(x))
    narrow = cuda.to_device(x.astype(np.int32))
    cuda.scan("a + b", narrow, out=narrow)   # computed as int64
    np.testing.assert_array_equal(narrow.copy_to_host(), np.cumsum(x))
    narrow = cuda.to_device(x.astype(np.int32))
    cuda.scan("a + b", narrow, 3, exclusive=True, out=narrow)
    np.testing.assert_array_equal(narrow.copy_to_host(), np.cumsum(x) - x + 3)
    a, b = cuda.to_device(x), cuda.to_device(-x)
    cuda.scan(lambda p, q: (p[0] + q[0], p[1] + q[1]), (a, b), out=(b, a))
    np.testing.assert_array_equal(a.copy_to_host(), -np.cumsum(x))
    np.testing.assert_array_equal(b.copy_to_host(), np.cumsum(x))
    out = np.zeros((10_000, 2), np.float32)[:, 1]
    assert cuda.scan("a + b", x, out=out) is out
    np.testing.assert_array_equal(out, np.cumsum(x))
    part = cuda.to_device(x)
    cuda.scan("a + b", part[:-1], out=part[1:])
    np.testing.assert_array_equal(part.copy_to_host()[1:], np.cumsum(x[:-1]))


def test_threads_and_streams_scan_at_once(rng):
    x = rng.integers(0, 9, 50_000)
    results = [None] * 4

    def work(k):
        stream = cuda.stream()
        d = cuda.to_device(x + k, stream=stream)
        for _ in range(3):
            results[k] = cuda.scan("a + b", d, stream=stream).copy_to_host(stream=stream)
        stream.synchronize()
    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k in range(4):
        np.testing.assert_array_equal(results[k], np.cumsum(x + k))


def test_lambdas_are_compiled_once(rng):
    x = rng.integers(0, 9, 10)
    for by in (1, 2, 1):
        assert cuda.scan(lambda a, b: a + by * b, x).tolist()[1] == x[0] + by * x[1]
    before = scans._scan_of(lambda a, b: a * b + 0, None)
    made = [scans._scan_of(f, None) for f in [lambda a, b: a + b] * 2 + [lambda a, b: a - b]]
    assert made[0] is made[1] and made[1] is not made[2] and before is not made[0]


def test_refusals():
    with pytest.raises(ValueError, match="needs what comes before the first element: init"):
        cuda.scan("a + b", np.arange(3), exclusive=True)
    with pytest.raises(ValueError, match="along one axis"):
        cuda.scan("a + b", np.zeros((3, 3)), axis=(0, 1))
    with pytest.raises(ValueError, match="needs an array with an axis"):
        cuda.scan("a + b", 3.0)
    with pytest.raises(TypeError, match="makes bool of two|results are of its arguments"):
        cuda.scan(lambda a, b: (a, b), np.zeros(3))


@pytest.mark.parametrize(("dtype", "rows"), [(np.float32, 5), (np.float64, 4)])
def test_the_kernel_of_one_pass_reads_wide_and_keeps_everything_in_registers(monkeypatch, dtype, rows):
    monkeypatch.setattr(scans, "need_device", SmallGPU)
    scan = scans.Scan("a + b", None)
    scan(cuda.to_device(np.zeros(1 << 14, dtype)), None, False, 0, None, 0)
    plan, = scan._plans.values()
    kernel, = plan._kernels.values()
    ptx = kernel.inspect_asm(kernel.signatures[0], cc=(9, 0))
    wide = rf"global\.v{16 // np.dtype(dtype).itemsize}\.b{8 * np.dtype(dtype).itemsize}"
    assert len(re.findall(r"ld\." + wide, ptx)) == len(re.findall(r"st\." + wide, ptx)) == rows
    assert ".local" not in ptx
