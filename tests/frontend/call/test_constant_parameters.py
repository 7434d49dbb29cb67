"""Parameters of helpers whose value the helper needs while it is compiled: calls with constants give it to them."""
import numpy as np
import pytest

from cujit import cuda, errors, float32, float64, types


@cuda.jit(device=True)
def reversed_tile(x, size, dtype):
    tile = cuda.shared.array(size, dtype)
    i = cuda.threadIdx.x
    tile[i] = x[i]
    cuda.syncthreads()
    return tile[size - 1 - i]


def test_the_shape_of_shared_memory_is_a_parameter():
    @cuda.jit
    def kernel(x, out):
        i = cuda.threadIdx.x
        out[0, i] = reversed_tile(x, 32, float32)
        cuda.syncthreads()
        out[1, i] = reversed_tile(x, 32, np.int32)

    x, out = np.arange(32) + 0.5, np.zeros((2, 32))
    kernel[1, 32](x, out)
    np.testing.assert_array_equal(out, [x[::-1], (x[::-1]).astype(np.int32)])


def test_through_functions_and_by_keyword():
    def squares(count, *, shape):
        own = cuda.local.array(shape, float64)
        for i in range(shape[0]):
            own[i, shape[1] - 1] = i * i
        total = 0.0
        for i in range(count):
            total += own[i, shape[1] - 1]
        return total

    def middle(count, rows, columns=2):
        return squares(count, shape=(rows, columns))

    @cuda.jit
    def kernel(out, n):
        out[0] = middle(n, 8)
        out[1] = middle(n - 1, rows=4, columns=3)

    out = np.zeros(2)
    kernel[1, 1](out, 4)
    assert out.tolist() == [14, 5]


def test_the_place_in_a_tuple_of_different_types():
    def pick(items, place):
        return items[place]

    @cuda.jit
    def kernel(out, n):
        items = (n, 2.5, True)
        out[0], out[1], out[2] = pick(items, 0), pick(items, 1) * 2, pick(items, -1)

    out = np.zeros(3)
    kernel[1, 1](out, 7)
    assert out.tolist() == [7, 5, 1]


def test_one_function_serves_all_other_values():
    """Only what has to be known makes a version of the function: k is passed at run time."""
    def scaled(x, size, k):
        own = cuda.local.array(size, float32)
        own[0] = x
        return own[0] * k

    @cuda.jit
    def kernel(out):
        out[0] = scaled(out[1], 2, 3) + scaled(out[1], 2, 4) + scaled(out[1], 3, 5)

    out = np.array([0.0, 1.0])
    kernel[1, 1](out)
    assert out[0] == 12
    ir = kernel.inspect_ir(kernel.signatures[0])
    assert ir.count("device scaled") == 2, ir


@pytest.mark.parametrize("call", ["tile(x.size)", "tile(size=int(x[0]))"])
def test_a_value_of_run_time_is_refused(call):
    scope = {"cuda": cuda, "float32": float32}
    exec(f"def tile(size):\n    return cuda.shared.array(size, float32)[0]\n"
         f"def kernel(x):\n    x[0] = {call}\n", scope)
    with pytest.raises(errors.TypingError, match="the shape of cuda.shared.array must be a compile-time constant"):
        cuda.jit(scope["kernel"])[1, 1](np.ones(4))


def test_a_branch_that_the_value_decides_on():
    """Where the function has no type for every value, calls with constants decide."""
    def at(x, place, wraps):
        place = (place, np.uint64(1))
        if wraps:
            place = (place[0] + 0.5, -1)
        return x[place]

    @cuda.jit
    def kernel(x, out):
        out[0] = at(x, 1, False)

    x, out = np.arange(6.0).reshape(2, 3), np.zeros(1)
    kernel[1, 1](x, out)
    assert out[0] == 4


def test_recursion_with_constants_ends_in_the_error_at_hand():
    def count(x, n):
        return count(x, n - 1) + x.nothing if n else 0

    @cuda.jit
    def kernel(x):
        x[0] = count(x, 1000)

    with pytest.raises(errors.TypingError, match="nothing"):
        kernel[1, 1](np.zeros(1))


def test_a_branch_that_in_decides_is_not_compiled():
    @cuda.jit(device=True)
    def kind(dtype):
        if dtype in (types.int64, types.float32):
            return 1
        if dtype not in (types.int8, types.int16):
            return dtype.no_such_attribute
        return 2

    @cuda.jit
    def kernel(out):
        out[0] = kind(types.int64) * 1000 + kind(types.float32) * 100 + kind(types.int8) * 10 + kind(types.int16)

    out = np.zeros(1)
    kernel[1, 1](out)
    assert out[0] == 1122
