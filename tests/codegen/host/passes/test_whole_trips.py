"""Trips of a loop that all threads of a block, or of a warp, have run without the test that asks each for its own, on
the CPU device; the last trip, which some lack, has it still. Integers: any mistake shows."""
import numpy as np
import pytest

from cujit import cuda, int64

pytestmark = pytest.mark.skipif(cuda.get_current_device().kind == "cuda",
                                reason="about how the CPU device runs kernels")

A, M = int64[::1], int64[:, ::1]


def long_way(x, out):
    """What a thread carries is far from what it gets: one trip at a time."""
    part = cuda.shared.array(64, int64)
    t = cuda.threadIdx.x
    total = int64(t)
    for k in range(t, x.size, 64):
        total = ((total * 5 + 1) ^ (total >> 3)) * 7 + x[k]
    part[t] = total
    cuda.syncthreads()
    out[t] = part[63 - t]


def four_trips(x, out):
    part = cuda.shared.array(64, int64)
    t = cuda.threadIdx.x
    total = int64(t)
    for k in range(t, x.size, 64):
        total += x[k]
    part[t] = total
    cuda.syncthreads()
    out[t] = part[63 - t]


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


def two_ways(x, out):
    part = cuda.shared.array(64, int64)
    t = cuda.threadIdx.x
    total = int64(t)
    for k in range(t, x.size, 64):
        if x[k] > 0:
            total = total * 3 + x[k]
        else:
            total ^= x[k]
    part[t] = total
    cuda.syncthreads()
    out[t] = part[63 - t]


FUNCTIONS = [long_way, four_trips, stores, two_ways]


def loops(kernel, stage, types):
    return kernel.inspect(stage, types).count("thread_loop")


def expected_of(function, x):
    """By the kernel's own steps, one phase after the other."""
    t = np.arange(64)
    total = 3 * (63 - t) if function is stores else t.copy()
    for k in range(0, x.size, 64):
        here = x[k:k + 64]
        mine = total[:here.size]
        if function is long_way:
            mine[:] = ((mine * 5 + 1) ^ (mine >> 3)) * 7 + here
        elif function is four_trips:
            mine += here
        elif function is stores:
            here[:] = here * 2 + mine
        else:
            mine[:] = np.where(here > 0, mine * 3 + here, mine ^ here)
    return total if function is stores else total[::-1]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_results(function):
    kernel = cuda.jit(function)
    for size in [0, 1, 63, 64, 65, 127, 128, 255, 256, 257, 319, 320, 500, 1024]:
        mine = np.random.default_rng(size).integers(-9, 9, size)
        its, out = mine.copy(), np.zeros(64, np.int64)
        kernel[1, 64](mine, out)
        with np.errstate(over="ignore"):
            expected = expected_of(function, its)
        np.testing.assert_array_equal(out, expected)
        np.testing.assert_array_equal(mine, its)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_whole_trips_have_a_loop(function):
    kernel = cuda.jit(function)
    assert loops(kernel, "whole", (A, A)) > loops(kernel, "region_bounds", (A, A))


def test_along_another_axis():
    def columns(x, out):
        part = cuda.shared.array((8, 32), int64)
        i, j = cuda.threadIdx.y, cuda.threadIdx.x
        total = int64(i)
        for k in range(i, x.shape[0], cuda.blockDim.y):
            total = ((total * 5 + 1) ^ (total >> 3)) * 7 + x[k, j]
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
                    total = expected[k % threads]
                    expected[k % threads] = ((total * 5 + 1) ^ (total >> 3)) * 7 + x[k]
            np.testing.assert_array_equal(out, expected[::-1])
    assert loops(kernel, "whole", (M, M)) > loops(kernel, "region_bounds", (M, M))


def test_of_a_warp():
    def extent(starts, x, out):
        row, lane = cuda.grid(1) // 32, cuda.grid(1) % 32
        total = int64(0)
        for k in range(lane, x.size, 32):
            total += x[k] * (row + 1)
        total += cuda.shfl_xor_sync(0xFFFFFFFF, total, 16)
        out[row, lane] = total

    def loaded(starts, x, out):
        row, lane = cuda.grid(1) // 32, cuda.grid(1) % 32
        total = int64(0)
        for k in range(lane, starts[row], 32):
            total += x[k] * (row + 1)
        total += cuda.shfl_xor_sync(0xFFFFFFFF, total, 16)
        out[row, lane] = total

    extent, loaded = cuda.jit(extent), cuda.jit(loaded)
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
