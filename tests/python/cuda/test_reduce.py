"""cuda.reduce: its results by either way of working, their order, and what it refuses."""
import re

import numpy as np
import pytest

from cujit import _core, cuda
from cujit.cuda import reduction


def last(a, b):
    """Associative, not commutative."""
    return b


def then(first, second):
    """Two maps of numbers modulo 97, as 128 * factor + summand, one after the other."""
    a, b = first // 128, first % 128
    c, d = second // 128, second % 128
    return (a * c % 97) * 128 + (b * c + d) % 97


class SmallGPU:
    """What the kernels for GPUs ask of their device; they run on the CPU device here, too."""

    kind, id, MULTIPROCESSOR_COUNT = "cuda", 0, 1


def by_warps(function, x, width, init=0):
    """A reduction by the kernels for GPUs."""
    reduce = cuda.Reduce(function)
    kernels = reduction._WarpKernels(reduce._function, _core.type_from_dtype(x.dtype), width, SmallGPU)
    reduce._kernels_of = lambda array: kernels
    return reduce(x, init=init)


SIZES = [1, 5, 33, 1000, 4096, 4097, 9001, 70003]


@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.bool_, np.uint16, np.int64, np.complex64, np.complex128])
def test_warps_reduce_every_dtype_at_every_width(dtype):
    widest = 16 // np.dtype(dtype).itemsize
    for n in SIZES[::2] if widest > 1 else SIZES:
        x = (np.arange(n) * 7 % 5).astype(dtype)
        with np.errstate(all="ignore"):
            expected = x.sum(dtype=dtype)
        for width in {1, widest}:
            assert by_warps(lambda a, b: a + b, x, width) == expected, (n, width)


@pytest.mark.parametrize("width", [1, 2])
@pytest.mark.parametrize("n", SIZES)
def test_warps_keep_the_order(rng, n, width):
    x = rng.integers(1, 97, n) * 128 + rng.integers(0, 97, n)
    expected = 128
    for item in x.tolist():
        expected = then(expected, item)
    assert by_warps(then, x, width, init=128) == expected
    assert by_warps(last, x, width, init=None) == x[-1]


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


def test_the_kernel_for_many_blocks_reads_wide_and_keeps_everything_in_registers():
    reduce = cuda.Reduce(lambda a, b: a + b)
    kernels = reduction._WarpKernels(reduce._function, cuda.types.float32, 4, SmallGPU)
    array = cuda.types.float32[::1]
    ptx = kernels.many.inspect_asm((array, cuda.types.int64, array), cc=(9, 0))
    assert len(re.findall(r"ld\.global\.v4\.b32", ptx)) == 2 * 8
    assert ".local" not in ptx
    assert len(re.findall(r"shfl\.sync\.bfly", ptx)) == 2 * 12 + 5
