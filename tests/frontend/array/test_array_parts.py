"""What kernels ask arrays beside their elements: addresses, flags, flat elements, shapes known at run time only."""
import numpy as np
import pytest

from cujit import cuda, errors, float32, float64, types

TABLE = np.array([2.0, 4.0, 8.0])


def test_addresses():
    @cuda.jit
    def kernel(x, out):
        tile = cuda.shared.array((4, 8), float32, alignment=64)
        own = cuda.local.array(3, types.uint8, alignment=32)
        own[0] = x[0, 0]
        tile[0, 0] = own[0]
        out[0] = x[1:, 2:].ctypes.data - x.ctypes.data
        out[1] = tile[1].ctypes.data - tile.ctypes.data
        out[2], out[3] = tile.ctypes.data % 64, own.ctypes.data % 32
        out[4], out[5] = x.ctypes.shape[1], x.ctypes.strides[0]
        out[6] = x.ctypes.data

    x, out = cuda.to_device(np.zeros((3, 5))), np.zeros(7, np.int64)
    kernel[1, 1](x, out)
    assert out.tolist() == [8 * (5 + 2), 32, 0, 0, 5, 40, x.__cuda_array_interface__["data"][0]]


@pytest.mark.parametrize("array", [np.zeros((3, 4)), np.zeros((3, 4), order="F"), np.zeros((6, 4))[::2], np.zeros(5)],
                         ids=["C", "F", "A", "1-d"])
def test_flags(array):
    @cuda.jit
    def kernel(x, out):
        out[0], out[1], out[2] = x.flags.c_contiguous, x.flags.f_contiguous, x.flags.contiguous

    out = np.zeros(3, np.bool_)
    kernel[1, 1](cuda.to_device(array) if array.flags.contiguous else array, out)
    c, f = array.flags.c_contiguous, array.flags.f_contiguous
    assert out.tolist() == [c, f, c or f]


def test_the_unknown_extent_of_run_time():
    @cuda.jit
    def kernel(x, rows, columns, out):
        shape = x.reshape(rows, columns).shape
        out[0], out[1] = shape
        out[2], out[3] = x.reshape((2, rows * 0 - 1)).shape
        out[4] = x.reshape(rows * 0 - 1).size

    x, out = np.arange(24), np.zeros(5, np.int64)
    for rows, columns in (-1, 4), (4, -1), (3, 8):
        kernel[1, 1](x, rows, columns, out)
        assert out.tolist() == [*x.reshape(rows, columns).shape, 2, 12, 24]


def test_stores_into_flat_elements():
    @cuda.jit
    def kernel(x):
        x.flat[4] = 40
        x.flat[-1] = 50
        x.itemset(0, 60)
        x.itemset((1, 0), 70)

    x = cuda.to_device(np.zeros((3, 4)))
    kernel[1, 1](x[:, 1:])
    np.testing.assert_array_equal(x.copy_to_host(), [[0, 60, 0, 0], [0, 70, 40, 0], [0, 0, 0, 50]])


def test_arrays_without_axes_are_indices():
    @cuda.jit
    def kernel(x, i, out):
        out[i] = x[i, 2] + x[1, i]
        row = x[i]
        out[2] = row[0]

    x, out = np.arange(12.0).reshape(3, 4), np.zeros(3)
    kernel[1, 1](x, np.array(1), out)
    assert out.tolist() == [0, 6 + 5, 4]


@pytest.mark.parametrize("step", [0, np.uint64(0)], ids=["int64", "uint64"])
def test_a_range_of_step_zero_is_empty(step):
    @cuda.jit
    def kernel(out, start, stop, step):
        out[0] = 0
        for i in range(start, stop, step):
            out[0] += 1

    out = np.ones(1, np.int64)
    for start, stop in (0, 5), (5, 0):
        kernel[1, 1](out, type(step)(start), type(step)(stop), step)
        assert out[0] == 0


def test_tuples_are_assigned_along_the_last_axis():
    @cuda.jit
    def kernel(x, colour, small):
        r, g, b = x[0, 0], x[0, 1], x[0, 2]
        x[0] = (b, g, r)
        x[1, 1:] = 7, colour[2]
        x[2:] = (1, 2.5, True)
        x[3] += (10.0, 20, 30)
        x[2, :] *= (2,)
        small[0, 0] = colour
        small[1] = (255.9, -1.0, 3)

    x, small = np.arange(12.0).reshape(4, 3), np.zeros((2, 2, 3), np.int16)
    kernel[1, 1](x, (1.5, 2.5, 3.5), small)
    assert x.tolist() == [[2, 1, 0], [3, 7, 3.5], [2, 5, 2], [11, 22.5, 31]]
    assert small.tolist() == [[[1, 2, 3], [0, 0, 0]], [[255, -1, 3], [255, -1, 3]]]


def test_tuples_that_are_too_long_stay_within_the_array():
    @cuda.jit(check=False)
    def kernel(x):
        x[0] = (1, 2, 3)

    x = np.zeros((2, 2))
    kernel[1, 1](x)
    assert x.tolist() == [[1, 2], [0, 0]]


@pytest.mark.parametrize("value", [((1, 2), (3, 4)), (1, "a"), (1, 2j), ()])
def test_tuples_whose_items_are_no_elements(value):
    @cuda.jit
    def kernel(x):
        x[0] = value

    with pytest.raises(TypeError, match="cannot store|cannot convert"):
        kernel[1, 1](np.zeros((2, 2)))


def test_bounds_of_slices_can_be_floats():
    """As numba's can. What is behind the point falls off."""
    @cuda.jit
    def kernel(x, f, out):
        part = x[f[0]:f[1]:f[2]]
        out[0] = part.size
        out[1] = part[0] * 10 + part[1]
        tail = x[f[3]:]
        out[2] = tail[0]
        x[:2.9] = -1

    x, out = np.arange(8.0), np.zeros(3)
    kernel[1, 1](x, np.array([1.7, 6.2, 2.5, -2.5]), out)
    assert out.tolist() == [3, 13, 6] and x.tolist() == [-1, -1, 2, 3, 4, 5, 6, 7]


def test_copies_are_local_arrays():
    @cuda.jit
    def kernel(x, out):
        tile = cuda.shared.array((2, 3), float64)
        for i in range(6):
            tile[i // 3, i % 3] = x[i]
        same, turned, line, table = tile.copy(), tile.T.copy(), tile.reshape(6).copy(), TABLE.copy()
        tile[:] = 9
        table[0] += 1
        out[0], out[1], out[2], out[3], out[4] = same[1, 2], turned[2, 0], line[4], tile[0, 0], table[0] + TABLE[0]

    out = np.zeros(5)
    kernel[1, 1](np.arange(6.0), out)
    assert list(out) == [5, 2, 4, 9, 2 * TABLE[0] + 1]


def test_a_copy_needs_a_known_shape():
    @cuda.jit
    def kernel(x):
        x.copy()

    with pytest.raises(errors.TypingError, match="shape of an array that is copied must be a compile-time constant"):
        kernel[1, 1](np.zeros(3))
