"""Arrays of a thread that a loop over threads uses by numbers alone are in registers there on the CPU device."""

import numpy as np
import pytest

from cujit import cuda, float32, int64

pytestmark = pytest.mark.skipif(cuda.get_current_device().kind == "cuda",
                                reason="about how the CPU device runs kernels")
A, F = int64[::1], float32[:, ::1]


def tiles(a, b, out):
    """A product by tiles, 2 x 3 items for each thread."""
    a_tile = cuda.shared.array((8, 16), int64)
    b_tile = cuda.shared.array((8, 24), int64)
    sums = cuda.local.array((2, 3), int64)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    for i in range(2):
        for j in range(3):
            sums[i, j] = 0
    for start in range(0, a.shape[1], 8):
        for i in range(2):
            a_tile[tx, ty * 2 + i] = a[ty * 2 + i, start + tx]
        for j in range(3):
            b_tile[ty, tx * 3 + j] = b[start + ty, tx * 3 + j]
        cuda.syncthreads()
        for k in range(8):
            for i in range(2):
                for j in range(3):
                    sums[i, j] += a_tile[k, ty * 2 + i] * b_tile[k, tx * 3 + j]
        cuda.syncthreads()
    for i in range(2):
        for j in range(3):
            out[ty * 2 + i, tx * 3 + j] = sums[i, j]


def some_threads(x, out):
    """Who goes through the loop depends on the thread, and so does who changes the array."""
    part = cuda.local.array(3, int64)
    t = cuda.threadIdx.x
    for i in range(3):
        part[i] = t * i
    cuda.syncthreads()
    if x[t] > 3:
        for i in range(2):
            part[i + 1] += part[i] * x[t]
        if x[t] == 5:
            part[0] = part[2] - 1
        part[2] += 1
    cuda.syncthreads()
    out[t] = part[0] * 10000 + part[1] * 100 + part[2]


def by_the_program(x, out):
    """An index that is not known: the array stays where it is."""
    part = cuda.local.array(4, int64)
    t = cuda.threadIdx.x
    for i in range(4):
        part[i] = t
    cuda.syncthreads()
    for i in range(4):
        part[i] += x[t]
    part[x[t] & 3] = 1
    cuda.syncthreads()
    out[t] = part[0] + part[3]


def in_registers(function, *types):
    return "!in_turn" in cuda.jit(function).inspect("registers", types)


def test_products():
    L = int64[:, ::1]
    assert in_registers(tiles, L, L, L)
    random = np.random.default_rng(5)
    a, b, out = random.integers(-99, 99, (16, 40)), random.integers(-99, 99, (40, 24)), np.zeros((16, 24), np.int64)
    cuda.jit(tiles)[1, (8, 8)](a, b, out)
    np.testing.assert_array_equal(out, a @ b)


def test_threads_on_ways_of_their_own():
    assert in_registers(some_threads, A, A)
    x, out = np.arange(96) % 7, np.zeros(96, np.int64)
    cuda.jit(some_threads)[1, 96](x, out)
    for t in range(96):
        part = [0, t, 2 * t]
        if x[t] > 3:
            part[1] += part[0] * x[t]
            part[2] += part[1] * x[t]
            if x[t] == 5:
                part[0] = part[2] - 1
            part[2] += 1
        assert out[t] == part[0] * 10000 + part[1] * 100 + part[2]


def test_an_index_of_the_program():
    assert not in_registers(by_the_program, A, A)
    x, out = np.arange(64) % 5, np.zeros(64, np.int64)
    cuda.jit(by_the_program)[1, 64](x, out)
    for t in range(64):
        part = [t + x[t]] * 4
        part[x[t] & 3] = 1
        assert out[t] == part[0] + part[3]
