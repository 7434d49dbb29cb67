"""Trips of a loop that all threads of a block, or of a warp, have run without the test that asks each for its own, on
the CPU device; the last trip, which some lack, has it still. Integers: any mistake shows."""
import numpy as np
import pytest

from cujit import cuda, int64

pytestmark = pytest.mark.skipif(cuda.get_current_device().kind == "cuda",
                                reason="about how the CPU device runs kernels")

A, M = int64[::1], int64[:, ::1]


def far(total, item):
    """What a thread carries is far from what it gets: one trip at a time."""
    return ((total * 5 + 1) ^ (total >> 3)) * 7 + item


def near(total, item):
    """Four trips at a time."""
    return total + item


def two_ways(total, item):
    if item > 0:
        return total * 3 + item
    return total ^ item


def carrying(step):
    """The kernel whose threads go through their items with step(total, item)."""
    def kernel(x, out):
        part = cuda.shared.array(64, int64)
        t = cuda.threadIdx.x
        total = int64(t)
        for k in range(t, x.size, 64):
            total = step(total, x[k])
        part[t] = total
        cuda.syncthreads()
        out[t] = part[63 - t]

    return kernel


def stores(x, out):
    """Takes what the thread has kept, and carries nothing."""
    part = cuda.shared.array(64, int64)
    t = cuda.threadIdx.x
    part[t] = t * 3
    cuda.syncthreads()
    total = part[63 - t]
    cuda.syncthreads()
    for k in range(t, x.size, 64):
        x[k] = x[k] * 2 + total
    out[t] = total


STEPS = [far, near, two_ways]


def loops(kernel, stage, types):
    return kernel.inspect(stage, types).count("thread_loop")


def totals(step, x):
    """What 64 threads have at last, each of which begins with its place."""
    total = np.arange(64)
    with np.errstate(over="ignore"):
        for k, item in enumerate(x):
            total[k % 64] = step(total[k % 64], item)
    return total


SIZES = [0, 1, 63, 64, 65, 127, 128, 255, 256, 257, 319, 320, 500, 1024]


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.__name__)
def test_results(step):
    kernel = cuda.jit(carrying(step))
    for size in SIZES:
        x = np.random.default_rng(size).integers(-9, 9, size)
        out = np.zeros(64, np.int64)
        kernel[1, 64](x, out)
        np.testing.assert_array_equal(out, totals(step, x)[::-1])


def test_stores():
    kernel = cuda.jit(stores)
    for size in SIZES:
        x = np.random.default_rng(size).integers(-9, 9, size)
        kept = 3 * (63 - np.arange(64))
        expected, out = x * 2 + np.resize(kept, size), np.zeros(64, np.int64)
        kernel[1, 64](x, out)
        np.testing.assert_array_equal(x, expected)
        np.testing.assert_array_equal(out, kept)


@pytest.mark.parametrize("function", [*map(carrying, STEPS), stores], ids=["far", "near", "two_ways", "stores"])
def test_whole_trips_have_a_loop(function):
    kernel = cuda.jit(function)
    assert loops(kernel, "whole", (A, A)) > loops(kernel, "region_bounds", (A, A))


def test_along_another_axis():
    def columns(x, out):
        part = cuda.shared.array((8, 32), int64)
        i, j = cuda.threadIdx.y, cuda.threadIdx.x
        total = int64(i)
        for k in range(i, x.shape[0], cuda.blockDim.y):
            total = far(total, x[k, j])
        part[i, j] = total
        cuda.syncthreads()
        out[i, j] = part[cuda.blockDim.y - 1 - i, j]

    kernel = cuda.jit(columns)
    for threads in 8, 5, 1:
        for size in 0, 1, 5, 7, 8, 9, 15, 16, 40, 43:
            x = np.random.default_rng(size).integers(-9, 9, (size, 32))
            out = np.zeros((threads, 32), np.int64)
            kernel[1, (32, threads)](x, out)
            expected = np.repeat(np.arange(threads)[:, None], 32, 1)
            with np.errstate(over="ignore"):
                for k in range(size):
                    expected[k % threads] = far(expected[k % threads], x[k])
            np.testing.assert_array_equal(out, expected[::-1])
    assert loops(kernel, "whole", (M, M)) > loops(kernel, "region_bounds", (M, M))


def test_of_a_warp():
    def kernel(last):
        """last(starts, x, row): where the loop ends"""
        def rows(starts, x, out):
            row, lane = cuda.grid(1) // 32, cuda.grid(1) % 32
            total = int64(0)
            for k in range(lane, last(starts, x, row), 32):
                total += x[k] * (row + 1)
            total += cuda.shfl_xor_sync(0xFFFFFFFF, total, 16)
            out[row, lane] = total

        return cuda.jit(rows)

    extent, loaded = kernel(lambda starts, x, row: x.size), kernel(lambda starts, x, row: starts[row])
    for size in 0, 1, 31, 32, 33, 128, 160, 200:
        x = np.random.default_rng(size).integers(-9, 9, size)
        sums = np.array([x[lane::32].sum() for lane in range(32)], np.int64)
        expected = np.outer([1, 2], sums + np.roll(sums, 16))
        for kernel in extent, loaded:
            out = np.zeros((2, 32), np.int64)
            kernel[1, 64](np.full(2, size), x, out)
            np.testing.assert_array_equal(out, expected)
    types = (A, A, M)
    assert loops(extent, "whole", types) > loops(extent, "region_bounds", types)
    assert loops(loaded, "whole", types) == loops(loaded, "region_bounds", types)


def test_an_index_behind_the_array_raises():
    def wrong(x, out):
        t = cuda.threadIdx.x
        total = int64(0)
        for k in range(t, out.size, 64):
            total += x[k]
        cuda.syncthreads()
        out[t] = total

    with pytest.raises(IndexError):
        cuda.jit(wrong)[1, 64](np.ones(100, np.int64), np.ones(200, np.int64))
