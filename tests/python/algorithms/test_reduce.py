"""cuda.reduce: its results by either way of working, their order, and what it refuses."""
import re

import numpy as np
import pytest

from cujit import cuda
from cujit._algorithms import reduction_kernel


def last(a, b):
    """Associative, not commutative."""
    return b


def then(first, second):
    """Two maps of numbers modulo 97, as 128 * factor + summand, one after the other."""
    a, b = first // 128, first % 128
    c, d = second // 128, second % 128
    return (a * c % 97) * 128 + (b * c + d) % 97


class SmallGPU:
    """What reductions ask of a GPU; their kernels run on the device in use."""

    kind, id, MULTIPROCESSOR_COUNT = "cuda", 0, 1


@pytest.fixture
def small_gpu(monkeypatch):
    monkeypatch.setattr(reduction_kernel, "need_device", SmallGPU)


SIZES = [1, 5, 33, 1000, 4096, 4097, 9001, 70003]


@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.bool_, np.uint16, np.int64, np.complex64, np.complex128])
def test_warps_reduce_every_dtype_at_every_width(small_gpu, dtype):
    total = cuda.Reduce(lambda a, b: a + b)
    for n in SIZES[::2]:
        x = (np.arange(n + 1) * 7 % 5).astype(dtype)
        d = cuda.to_device(x)
        for part in (slice(None, n), slice(1, n + 1)):
            with np.errstate(all="ignore"):
                expected = x[part].sum(dtype=dtype)
            assert total(d[part]) == expected, n


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("n", SIZES)
def test_warps_keep_the_order(rng, small_gpu, n, dtype):
    x = (rng.integers(1, 97, n) * 128 + rng.integers(0, 97, n)).astype(dtype)
    expected = 128
    for item in x.tolist():
        expected = then(expected, item)
    assert cuda.Reduce(then)(x, init=128) == expected
    assert cuda.Reduce(last)(x, init=None) == x[-1]


@pytest.mark.parametrize("n", SIZES)
def test_order_and_start(rng, n):
    x = rng.integers(1, 97, n) * 128 + rng.integers(0, 97, n)
    expected = x.tolist()[0]
    for item in x.tolist()[1:]:
        expected = then(expected, item)
    assert cuda.reduce(then)(x, init=None) == expected
    assert cuda.reduce(last)(cuda.to_device(x)) == x[-1]
    assert cuda.reduce(lambda a, b: a)(x, init=-5) == -5


def test_strided_and_unaligned_device_arrays():
    total, x = cuda.reduce(lambda a, b: a + b), np.arange(20_000, dtype=np.float32) % 100
    d = cuda.to_device(x)
    for view in (np.s_[1:], np.s_[3:19_997], np.s_[::3], np.s_[::-1], np.s_[5::-2], np.s_[7:8]):
        assert total(d[view]) == x[view].sum()
    assert total(x[::-7]) == x[::-7].sum()
    columns = cuda.to_device(x.reshape(100, 200))
    assert total(columns[:, 3]) == x[3::200].sum()


def test_result_of_another_dtype_and_on_a_stream():
    total, stream = cuda.reduce(lambda a, b: a + b), cuda.stream()
    result = cuda.to_device(np.zeros(2), stream=stream)
    assert total(cuda.to_device(np.arange(9000)), res=result, stream=stream) is None
    assert total(np.zeros(0, np.int32), res=result[1:], init=3, stream=stream) is None
    assert result.copy_to_host(stream=stream).tolist() == [9000 * 8999 / 2, 3]


def test_a_device_function_can_be_the_operation():
    larger = cuda.jit(lambda a, b: a if a > b else b, device=True)
    reduce = cuda.Reduce(larger)
    assert reduce(np.array([3, 9, 4])) == 9 and "reduction" in repr(reduce)


def test_refusals():
    total = cuda.reduce(lambda a, b: a + b)
    with pytest.raises(TypeError, match="one axis, not one of 2"):
        total(np.zeros((2, 2)))
    with pytest.raises(ValueError, match="size 4 of an array of 3 elements"):
        total(np.zeros(3), size=4)
    with pytest.raises(ValueError, match="needs a start"):
        total(np.zeros(0), init=None)
    with pytest.raises(TypeError):
        total(np.array(["a"]))


def test_the_kernel_for_many_blocks_reads_wide_and_keeps_everything_in_registers(small_gpu):
    reduce = cuda.Reduce(lambda a, b: a + b)
    reduce(cuda.to_device(np.zeros(1 << 18, np.float32)))
    plan, = reduce._kernel._plans.values()
    kernel = next(kernel for (way, *_), kernel in plan._kernels.items() if way[0] == "blocks" and not way[-1])
    ptx = kernel.inspect_asm(kernel.signatures[0], cc=(9, 0))
    assert len(re.findall(r"ld\.global\.v4\.b32", ptx)) >= 8
    assert ".local" not in ptx


def test_along_axes(rng):
    total, x = cuda.Reduce(lambda a, b: a + b), rng.integers(0, 99, (30, 41)).astype(np.int16)
    got = total(cuda.to_device(x), axis=0)
    assert isinstance(got, cuda.DeviceNDArray) and got.dtype == np.int16
    assert got.copy_to_host().tolist() == x.sum(0, dtype=np.int16).tolist()
    assert total(x, axis=1, init=5, keepdims=True).tolist() == (x.sum(1, dtype=np.int16) + 5)[:, None].tolist()
    res = np.zeros(41)
    assert total(x, axis=0, res=res) is res and res[3] == x[:, 3].sum()


def test_at_once(rng):
    x = rng.integers(-9, 99, (7, 5000)).astype(np.int8)
    d = cuda.to_device(x)
    got = cuda.reduce(lambda a, b: a + b, d)
    assert isinstance(got, cuda.DeviceNDArray) and got.shape == () and got.dtype == np.int64
    assert got.copy_to_host() == x.sum()
    assert cuda.reduce(max, x, axis=1).tolist() == x.max(1).tolist()
    assert cuda.reduce("a * b % 7", np.array([3, 4, 5]), init=2) == 3 * 4 * 5 * 2 % 7
    assert cuda.reduce("a + b", x, dtype=np.float32).dtype == np.float32
    pair = cuda.reduce(lambda a, b: (a[0] + b[0], max(a[1], b[1])), (d, d))
    assert [each.copy_to_host() for each in pair] == [x.sum(), x.max()]
