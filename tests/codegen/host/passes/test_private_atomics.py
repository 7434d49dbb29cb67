"""Atomic sums that workers of the CPU device make in copies of an array: the same sums as in Python, and only where
nobody can tell."""

import numpy as np
import pytest

from cujit import cuda, float32, int32, int64, uint8

pytestmark = pytest.mark.skipif(cuda.get_current_device().kind == "cuda",
                                reason="about how the CPU device runs kernels")


def count(values, out):
    for i in range(cuda.grid(1), values.size, cuda.gridsize(1)):
        cuda.atomic.add(out, values[i], 1)


def count_behind_barrier(values, out):
    part = cuda.shared.array(64, np.int32)
    part[cuda.threadIdx.x] = 0
    cuda.syncthreads()
    i = cuda.grid(1)
    if i < values.size:
        cuda.atomic.add(part, values[i] % 64, 1)
    cuda.syncthreads()
    cuda.atomic.add(out, cuda.threadIdx.x, part[cuda.threadIdx.x])


def add_and_subtract(values, out):
    i = cuda.grid(1)
    if i < values.size:
        cuda.atomic.add(out, values[i], i)
        cuda.atomic.sub(out, values[i], 3)


def flip(values, out):
    i = cuda.grid(1)
    if i < values.size:
        cuda.atomic.xor(out, values[i], i)


def reads(values, out):
    i = cuda.grid(1)
    cuda.atomic.add(out, values[i], 1)
    out[i] = 2


def uses_old(values, out):
    i = cuda.grid(1)
    values[i] = cuda.atomic.add(out, values[i], 1)


def hands_on(values, out):
    element(values, out, cuda.grid(1))


def element(values, out, i):
    cuda.atomic.add(out, values[i], 1)


def fences(values, out):
    cuda.atomic.add(out, values[cuda.grid(1)], 1)
    cuda.threadfence()


def to_the_host(values, out):
    cuda.atomic.add(out, values[cuda.grid(1)], 1, scope="system")


def mixed(values, out):
    i = cuda.grid(1)
    cuda.atomic.add(out, values[i], 1)
    cuda.atomic.xor(out, values[i], 1)


def is_private(function, *types):
    return "!private" in cuda.jit(function).inspect("private", types)


@pytest.mark.parametrize("function", [count, count_behind_barrier, add_and_subtract, flip, hands_on])
def test_marked(function):
    assert is_private(function, uint8[::1], int32[::1])


@pytest.mark.parametrize("function", [reads, uses_old, fences, to_the_host, mixed])
def test_not_where_it_could_be_seen(function):
    assert not is_private(function, int64[::1], int64[::1])


@pytest.mark.parametrize("function", [count, hands_on])
def test_where_indices_are_checked(function):
    """What a thread has added before it raises is there, and what others have."""
    text = cuda.jit(function).inspect("private", (int64[::1], int32[::1]))
    assert "!private" in text and "raise" in text
    values = np.random.default_rng(2).integers(0, 64, 6400)
    values[100] = 64
    out = np.zeros(64, np.int32)
    with pytest.raises(IndexError):
        cuda.jit(function)[100, 64](values, out)
    expected = np.bincount(values, minlength=65)[:64]
    assert (out == expected).all()


def test_not_of_floats():
    assert not is_private(count, uint8[::1], float32[::1])


@pytest.mark.parametrize("bins", [1, 7, 64, 256, 5000])
@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.int64, np.uint64])
def test_counts(dtype, bins):
    """Small arrays have copies, large ones and small launches none; what was there stays."""
    random = np.random.default_rng(bins)
    for size, grid in ((40000, (200, 64)), (40000, (3, 64)), (50, (1, 64))):
        values = random.integers(0, bins, size)
        before = random.integers(0, 1000, bins).astype(dtype)
        out = before.copy()
        cuda.jit(count)[grid](values, out)
        assert (out == before + np.bincount(values, minlength=bins).astype(dtype)).all(), (size, grid)


def test_other_sums():
    random = np.random.default_rng(1)
    values = random.integers(0, 60, 10000)
    numbers = np.arange(10000)
    out = np.full(64, 5)
    cuda.jit(add_and_subtract)[157, 64](values, out)
    assert (out == 5 + np.bincount(values, numbers - 3, 64).astype(np.int64)).all()
    cuda.jit(count_behind_barrier)[157, 64](values, out)
    assert (out == 5 + np.bincount(values, numbers - 3, 64) + np.bincount(values, minlength=64)).all()
    out[:] = 9
    cuda.jit(flip)[157, 64](values, out)
    assert all(out[k] == 9 ^ np.bitwise_xor.reduce(numbers[values == k], initial=0) for k in range(64))


def test_arrays_that_share_memory():
    """Threads run one after the other where they can: each sees what it has added itself."""
    @cuda.jit
    def kernel(x, y, out):
        i = cuda.grid(1)
        cuda.atomic.add(x, i, 7)
        out[i] = y[i]

    x = np.arange(256)
    device, out = cuda.to_device(x), np.zeros(256, np.int64)
    kernel[4, 64](device, device, out)
    assert (out == x + 7).all() and (device.copy_to_host() == x + 7).all()
    kernel[1, 64](device[:64], device[64:], out)
    assert (out[:64] == x[64:128] + 7).all() and (device.copy_to_host()[:64] == x[:64] + 14).all()


def test_arrays_of_two_axes():
    @cuda.jit
    def kernel(values, out):
        i = cuda.grid(1)
        cuda.atomic.add(out, (values[i] % 5, values[i] % 3), values[i])

    values = np.random.default_rng(4).integers(0, 1000, 6400)
    for order in ("C", "F"):
        out = np.zeros((5, 3), np.int64, order=order)
        want = np.zeros((5, 3), np.int64)
        np.add.at(want, (values % 5, values % 3), values)
        kernel[100, 64](values, out)
        assert (out == want).all()
