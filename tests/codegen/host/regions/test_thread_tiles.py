"""Sums of a tile of each thread's own, between barriers: the loop over k stays inside of the loop over threads on the
CPU device where a thread's columns lie side by side and those of its neighbours apart."""
import numpy as np
import pytest

from cujit import cuda, float32, float64, int32

pytestmark = pytest.mark.skipif(cuda.get_current_device().kind == "cuda",
                                reason="about how the CPU device runs kernels")


def product(rows, columns, number, depth=16):
    """The kernel that multiplies matrices by blocks of 8 x 8 threads of rows x columns items each."""
    height, width = 8 * rows, 8 * columns

    def kernel(a, b, out):
        a_tile = cuda.shared.array((depth, height), number)
        b_tile = cuda.shared.array((depth, width), number)
        total = cuda.local.array((rows, columns), number)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        row, column = cuda.blockIdx.y * height, cuda.blockIdx.x * width
        for i in range(rows):
            for j in range(columns):
                total[i, j] = 1
        for start in range(0, a.shape[1], depth):
            for item in range(ty * 8 + tx, depth * height, 64):
                a_tile[item % depth, item // depth] = a[row + item // depth, start + item % depth]
            for item in range(ty * 8 + tx, depth * width, 64):
                b_tile[item // width, item % width] = b[start + item // width, column + item % width]
            cuda.syncthreads()
            for k in range(depth):
                for i in range(rows):
                    for j in range(columns):
                        total[i, j] += a_tile[k, ty * rows + i] * b_tile[k, tx * columns + j]
            cuda.syncthreads()
        for i in range(rows):
            for j in range(columns):
                out[row + ty * rows + i, column + tx * columns + j] = total[i, j]

    return cuda.jit(kernel)


def is_whole(kernel, types):
    """Whether a thread's array lies in one piece; else its elements are as far apart as there are threads."""
    loads = [line for line in kernel.inspect("regions", types).splitlines() if "slot_load" in line and "[2 " in line]
    assert loads
    return all("[2 C]" in line for line in loads)


@pytest.mark.parametrize(("rows", "columns", "number", "inside"), [
    (4, 4, float32, True), (1, 4, float32, True), (2, 5, float64, True), (4, 4, float64, True),
    (4, 2, float32, False), (4, 4, int32, False),
])
def test_products(rows, columns, number, inside):
    kernel = product(rows, columns, number)
    dtype = {float32: np.float32, float64: np.float64, int32: np.int32}[number]
    random = np.random.default_rng(rows * 10 + columns)
    a = random.integers(-9, 9, (16 * rows, 48)).astype(dtype)
    b = random.integers(-9, 9, (48, 24 * columns)).astype(dtype)
    out = np.zeros((16 * rows, 24 * columns), dtype)
    kernel[(3, 2), (8, 8)](a, b, out)
    np.testing.assert_array_equal(out, a @ b + 1)
    assert is_whole(kernel, (number[:, ::1],) * 3) == inside


def test_trips_known_at_the_launch():
    def weighted(x, out, trips):
        part = cuda.shared.array((32, 64), float32)
        total = cuda.local.array((1, 4), float32)
        t = cuda.threadIdx.x
        for j in range(4):
            total[0, j] = 0
        for k in range(32):
            part[k, t * 4 + 0] = x[k, t * 4]
            part[k, t * 4 + 1] = x[k, t * 4 + 1]
            part[k, t * 4 + 2] = x[k, t * 4 + 2]
            part[k, t * 4 + 3] = x[k, t * 4 + 3]
        cuda.syncthreads()
        for k in range(trips):
            for j in range(4):
                total[0, j] += part[k & 31, t * 4 + j] * k
        cuda.syncthreads()
        for j in range(4):
            out[0, t * 4 + j] = total[0, j]

    kernel = cuda.jit(weighted)
    x = np.random.default_rng(1).integers(-9, 9, (32, 64)).astype(np.float32)
    for trips in 0, 1, 2, 7, 40:
        out = np.ones((1, 64), np.float32)
        kernel[1, 16](x, out, trips)
        expected = sum((x[k & 31] * k for k in range(trips)), np.zeros(64, np.float32))
        np.testing.assert_array_equal(out[0], expected)
    assert is_whole(kernel, (float32[:, ::1], float32[:, ::1], int32))


def test_neighbours_side_by_side_stay_vectors_of_threads():
    def columns(x, out):
        part = cuda.shared.array((16, 128), float32)
        total = cuda.local.array((1, 4), float32)
        t = cuda.threadIdx.x
        for j in range(4):
            total[0, j] = 0
            for k in range(16):
                part[k, j * 32 + t] = x[k, j * 32 + t]
        cuda.syncthreads()
        for k in range(16):
            for j in range(4):
                total[0, j] += part[k, j * 32 + t] * part[15 - k, j * 32 + t]
        cuda.syncthreads()
        for j in range(4):
            out[j, t] = total[0, j]

    kernel = cuda.jit(columns)
    x = np.random.default_rng(1).integers(-9, 9, (16, 128)).astype(np.float32)
    out = np.zeros((4, 32), np.float32)
    kernel[1, 32](x, out)
    np.testing.assert_array_equal(out.ravel(), (x * x[::-1]).sum(0))
    assert not is_whole(kernel, (float32[:, ::1],) * 2)
