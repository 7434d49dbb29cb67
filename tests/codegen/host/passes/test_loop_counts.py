"""Loops that are written with `while` on the CPU device: what they count by and compare with is made in front of them,
as range() does."""
import numpy as np
import pytest

from cujit import cuda, float32

pytestmark = pytest.mark.skipif(cuda.get_current_device().kind == "cuda",
                                reason="about how the CPU device runs kernels")

A, M = float32[::1], float32[:, ::1]


def by_while(x, out):
    i = cuda.grid(1)
    while i < out.size:
        out[i] = 2 * x[i]
        i += cuda.gridsize(1)


def by_range(x, out):
    for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        out[i] = 2 * x[i]


def by_products(x, out):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    while i < x.shape[0] - 1 + 1:
        out[i] = 2 * x[i]
        i = i + cuda.blockDim.x * cuda.gridDim.x


def rising(x, out):
    """What it counts by changes."""
    i, step = cuda.grid(1), 1
    while i < out.size:
        out[i] = 2 * x[i]
        i += step
        step += 1


def entered_twice(x, out):
    """What it compares with is not known before."""
    i = cuda.grid(1)
    end = out.size
    while i < end:
        out[i] = 2 * x[i]
        if x[i] > 0.9:
            end -= 1
        i += cuda.gridsize(1)


def is_one_trip(function):
    return "next_trip" in cuda.jit(function).inspect("stride", (A, A))


@pytest.mark.parametrize("function", [by_while, by_range, by_products])
def test_is_a_stride_loop(function):
    assert is_one_trip(function)


@pytest.mark.parametrize("function", [rising, entered_twice])
def test_is_none(function):
    assert not is_one_trip(function)


@pytest.mark.parametrize("function", [by_while, by_range, by_products])
@pytest.mark.parametrize("grid", [(1, 1), (3, 32), (7, 100)])
def test_results(function, grid):
    x = np.random.default_rng(1).random(1000, np.float32)
    out = np.zeros_like(x)
    cuda.jit(function)[grid](x, out)
    np.testing.assert_array_equal(out, 2 * x)


def in_loops(x, out):
    """The bound and the step that the outer loop makes stay in it."""
    i = cuda.grid(1)
    total, k = 0, 0
    while k < x.shape[0]:
        j = k * 2
        while j < x.shape[1] - k - i % 3:
            total += x[k, j] * (i + 1)
            j += k % 2 + 1
        k += 1
    out[i] = total


def test_loops_in_loops():
    x = np.random.default_rng(2).integers(-9, 9, (6, 32))
    out = np.zeros(70, np.int64)
    cuda.jit(in_loops)[2, 35](x, out)
    expected = [sum(x[k, 2 * k:32 - k - i % 3:k % 2 + 1].sum() * (i + 1) for k in range(6)) for i in range(70)]
    np.testing.assert_array_equal(out, expected)


def rows(x, out):
    """All threads have the same trips: no stride loop, though each has a row of its own."""
    i = cuda.grid(1)
    if i < x.shape[0]:
        for j in range(1, x.shape[1] - 1):
            out[i, j] = x[i, j - 1] + x[i, j + 1]


def test_a_row_of_each_thread_is_no_stride_loop():
    assert "next_trip" not in cuda.jit(rows).inspect("stride", (M, M))
    x = np.random.default_rng(3).random((40, 50), np.float32)
    out = np.zeros_like(x)
    cuda.jit(rows)[2, 32](x, out)
    np.testing.assert_array_equal(out[:, 1:-1], x[:, :-2] + x[:, 2:])
