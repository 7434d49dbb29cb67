"""Arrays in kernels: attributes, indices, views, loops; arrays of the module, of the thread and of the block."""
import numpy as np
import pytest

from cujit import cuda, int64


def test_array_attributes_and_indices():
    @cuda.jit
    def kernel(x, out):
        out[0] = x.shape[0] * 100 + x.shape[1]
        out[1] = x.size
        out[2] = x.ndim
        out[3] = len(x)
        out[4] = x[-1, -2]
        out[5] = x[1][2]
        rows, columns = x.shape
        out[6] = rows - columns
        out[7] = x.strides[0]
        index = (1, 0)
        out[8] = x[index]

    x, out = np.arange(12).reshape(3, 4), np.zeros(9, np.int64)
    kernel[1, 1](x, out)
    assert out.tolist() == [304, 12, 2, 3, x[-1, -2], x[1][2], -1, 32, x[1, 0]]


def test_slices_are_views():
    @cuda.jit
    def kernel(x, out):
        row = x[1]
        part = row[1:]
        back = x[0][::-1]
        column = x[:, 2]
        out[0] = part[0]
        out[1] = back[0]
        out[2] = column[2]
        out[3] = len(part)
        out[4] = x[1:, 1:3].shape[1]
        part[1] = 70
        column[0] = 80
        x[2, :2] = 9

    x, out = np.arange(12).reshape(3, 4), np.zeros(5, np.int64)
    kernel[1, 1](x, out)
    assert out.tolist() == [5, 3, 10, 3, 2]
    expected = np.arange(12).reshape(3, 4)
    expected[1, 2], expected[0, 2], expected[2, :2] = 70, 80, 9
    np.testing.assert_array_equal(x, expected)


def test_loops_over_arrays():
    @cuda.jit
    def kernel(x, out):
        for v in x:
            out[0] += v
        for k, v in enumerate(x):
            out[1] += k * v
        for v, w in zip(x, x[1:]):
            out[2] += v * w

    x, out = np.arange(1, 6), np.zeros(3, np.int64)
    kernel[1, 1](x, out)
    assert out.tolist() == [x.sum(), (x * np.arange(5)).sum(), (x[:-1] * x[1:]).sum()]


def test_arrays_of_the_module_are_constants():
    table = np.array([3, 1, 4, 1, 5])

    @cuda.jit
    def kernel(out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = table[i] + cuda.const.array_like(table)[0]

    out = np.zeros(5, np.int64)
    kernel[1, 8](out)
    np.testing.assert_array_equal(out, table + 3)


def test_constants_of_arguments_are_the_arguments():
    @cuda.jit
    def kernel(table, out):
        own, i = cuda.const.array_like(table), cuda.grid(1)
        if i < out.size:
            out[i] = own[i] * 2

    out = np.zeros(5, np.int64)
    kernel[1, 8](np.arange(5), out)
    np.testing.assert_array_equal(out, np.arange(5) * 2)


def test_local_and_shared_memory():
    @cuda.jit
    def kernel(out):
        mine = cuda.local.array(4, int64)
        ours = cuda.shared.array(32, np.int64)
        t = cuda.threadIdx.x
        for k in range(4):
            mine[k] = t * k
        ours[t] = mine[3] + mine[1]
        cuda.syncthreads()
        out[cuda.grid(1)] = ours[31 - t]

    out = np.zeros(64, np.int64)
    kernel[2, 32](out)
    np.testing.assert_array_equal(out.reshape(2, 32), [4 * np.arange(32)[::-1]] * 2)


@pytest.mark.parametrize("name, hint", [("sort", "; cuda.sort sorts whole arrays, outside of kernels"),
                                        ("cumsum", ", which would make an array; cuda.local.array("),
                                        ("tolist", "; known are shape, size, ")])
def test_attributes_that_arrays_have_elsewhere(refused, name, hint):
    refused(f"out.{name}", f"array(int64, 1d, A) has no attribute '{name}'{hint}")
