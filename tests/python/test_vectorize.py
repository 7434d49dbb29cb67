"""@vectorize: which signature, which result, which shapes, on the host and on the device."""
import math

import numpy as np
import pytest

import cujit
from cujit import cuda, float32, float64, vectorize


@vectorize(["float32(float32, float32)", "float64(float64, float64)", "int64(int64, int64)"], target="cuda")
def mix(x, y):
    return 3 * x - y


@vectorize
def mix_any(x, y):
    return 3 * x - y


def random_operands(rng, dtype):
    """Two arrays whose shapes go together, of random order, steps and repeated axes."""
    shape = rng.integers(0, 6, rng.integers(0, 4))
    operands = []
    for _ in range(2):
        own = [1 if rng.random() < 0.25 else int(n) for n in shape[rng.integers(0, len(shape) + 1):]]
        array = np.array(rng.integers(-50, 50, [2 * n for n in own]), dtype, order=rng.choice(["C", "F"]))
        operands.append(array[tuple(slice(None, None, 2) for _ in own)] if rng.random() < 0.5
                        else array[tuple(slice(0, n) for n in own)])
    return operands


@pytest.mark.parametrize("function", [mix, mix_any])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_any_layout_and_shape_on_the_host(rng, function, dtype):
    for _ in range(40):
        x, y = random_operands(rng, dtype)
        got, expected = function(x, y), 3 * x - y
        assert np.shape(got) == expected.shape and (got.dtype == dtype or function is mix_any)
        np.testing.assert_array_equal(got, expected)


def test_any_layout_and_shape_on_the_device(rng):
    for _ in range(40):
        x, y = random_operands(rng, np.float32)
        d_x, d_y = (cuda.to_device(np.asarray(a, order="K").copy(rng.choice(["C", "F"]))) for a in (x, y))
        got = mix(d_x, d_y)
        assert isinstance(got, cuda.DeviceNDArray) and got.dtype == np.float32
        np.testing.assert_array_equal(got.copy_to_host(), 3 * x - y)


def test_views_of_device_arrays():
    base = np.arange(60.0).reshape(6, 10)
    d = cuda.to_device(base)
    np.testing.assert_array_equal(mix(d[::2, 1:], d[1::2, :-1]).copy_to_host(), 3 * base[::2, 1:] - base[1::2, :-1])
    np.testing.assert_array_equal(mix(d[::-1], d).copy_to_host(), 3 * base[::-1] - base)
    np.testing.assert_array_equal(mix(d[:, 3], d[2, :6]).copy_to_host(), 3 * base[:, 3] - base[2, :6])


def test_many_axes():
    x = np.arange(2 * 3 * 2 * 3 * 2, dtype=np.float64).reshape(2, 3, 2, 3, 2)
    y = x.transpose(4, 3, 2, 1, 0)[:, :, :1]
    np.testing.assert_array_equal(mix(x, y), 3 * x - y)


@pytest.mark.parametrize("n", [0, 1, 31, 255, 256, 257, 1000])
def test_every_length(n):
    x = np.arange(n, dtype=np.float32)
    np.testing.assert_array_equal(mix(x, x), 2 * x)


@pytest.mark.parametrize("types, result", [
    ((np.int32, np.int32), np.int64), ((np.float32, np.float32), np.float32),
    ((np.float32, np.float64), np.float64), ((np.int64, np.float32), np.float64),
    ((np.complex64, np.float32), np.complex64),
], ids=str)
def test_results_without_signatures_have_the_type_of_the_expression(types, result):
    """Integers are 64 bits wide in kernels, and an integer with a float32 is a float64."""
    @vectorize
    def total(x, y):
        return x + y

    x, y = np.arange(5).astype(types[0]), np.ones(5, types[1])
    got = total(x, y)
    assert got.dtype == result
    np.testing.assert_array_equal(got, x + y)


def test_scalars():
    x = np.arange(4, dtype=np.float32)
    assert mix(x, 2.0).dtype == np.float32  # the signature decides what a Python number is
    np.testing.assert_array_equal(mix(2, x), 6 - x)
    got = mix(2.5, 1.5)
    assert got == 6.0 and np.isscalar(got)
    assert mix_any(2, 3) == 3 and isinstance(mix_any(2, 3), np.int64)
    assert mix(np.array(2.0), np.array(1.0)) == 5.0


def test_a_scalar_with_a_device_array_stays_on_the_device():
    got = mix(cuda.to_device(np.arange(4.0)), 1)
    assert isinstance(got, cuda.DeviceNDArray)
    np.testing.assert_array_equal(got.copy_to_host(), 3 * np.arange(4) - 1)


def test_dtypes_that_no_signature_has():
    with pytest.raises(TypeError, match="float16"):
        mix(np.zeros(3, np.float16), np.zeros(3, np.float16))
    with pytest.raises(TypeError, match="float32"):
        mix(np.zeros(3, np.float32), np.zeros(3, np.float64))


def test_the_declared_result_is_converted_to():
    @vectorize(["int32(float64)", float32(float32)])
    def scaled(x):
        return x * 10.0

    np.testing.assert_array_equal(scaled(np.array([0.19, -0.19, 12.34])), np.array([1, -1, 123]))
    assert scaled(np.zeros(2)).dtype == np.int32 and scaled(np.zeros(2, np.float32)).dtype == np.float32


@pytest.mark.parametrize("where", ["host", "device"])
@pytest.mark.parametrize("inputs", ["host", "device"])
def test_out(where, inputs):
    x, y = np.arange(12.0).reshape(3, 4), np.ones(4)
    out = np.full((3, 4), np.nan)
    target = cuda.to_device(out) if where == "device" else out
    args = [cuda.to_device(a) if inputs == "device" else a for a in (x, y)]
    got = mix(*args, out=target)
    assert got is target
    np.testing.assert_array_equal(np.asarray(target), 3 * x - y)


def test_out_may_be_a_view_and_an_input():
    base = np.arange(20.0)
    mix(base[::2], base[1::2], out=base[::2])
    np.testing.assert_array_equal(base[::2], 3 * np.arange(0, 20, 2) - np.arange(1, 20, 2))
    np.testing.assert_array_equal(base[1::2], np.arange(1, 20, 2))


def test_out_that_does_not_fit():
    x = np.zeros(3)
    with pytest.raises(ValueError):
        mix(x, x, out=np.zeros(4))
    with pytest.raises(TypeError):
        mix(x, x, out=np.zeros(3, np.float32))
    fixed = np.zeros(3)
    fixed.flags.writeable = False
    with pytest.raises(ValueError):
        mix(x + 1, x, out=fixed)
    assert not fixed.any()


def test_inputs_are_left_alone():
    x, y = np.arange(5.0), np.ones(5)
    x.flags.writeable = False
    mix(x, y)
    np.testing.assert_array_equal(y, np.ones(5))


def test_shapes_that_do_not_go_together():
    with pytest.raises(ValueError):
        mix(np.zeros(3), np.zeros(4))


@pytest.mark.parametrize("count", [0, 1, 3])
def test_the_number_of_arguments(count):
    with pytest.raises(TypeError):
        mix(*[np.zeros(3)] * count)


@pytest.mark.parametrize("n", [1, 2, 3, 7, 64, 1001])
@pytest.mark.parametrize("where", [np.asarray, cuda.to_device], ids=["host", "device"])
def test_reduce(n, where):
    @vectorize(["int64(int64, int64)"])
    def add(x, y):
        return x + y

    x = np.arange(n) * 7 - 3
    array = where(x)
    assert add.reduce(array) == x.sum()
    np.testing.assert_array_equal(np.asarray(array), x)


def test_reduce_of_what_cannot_be():
    for array in (np.zeros(0), np.zeros((2, 2))):
        with pytest.raises(TypeError):
            mix.reduce(array)


def test_about_the_object():
    assert mix.__name__ == "mix" and "mix" in repr(mix) and (mix.nin, mix.nout, mix.nargs, mix.ntypes) == (2, 1, 3, 3)
    assert mix.types[0] == "float32, float32 -> float32"
    with pytest.raises(ValueError):
        vectorize(["float32(float32)"], target="roc")
    with pytest.raises(KeyError):
        vectorize(["float32(float32)"], color="red")
    with pytest.raises(TypeError):
        vectorize(["float32(float32)"])(lambda x, y: x)


def test_an_error_in_the_function_names_its_line():
    with pytest.raises(cujit.errors.TypingError) as raised:
        @vectorize(["float64(float64)"])
        def broken(x):
            return x + undefined_name  # noqa: F821
    assert raised.value.filename == __file__ and "undefined_name" in str(raised.value)


def test_math_in_the_body(rng):
    @vectorize([float64(float64)])
    def damped(x):
        return math.exp(-x) * math.sin(3.0 * x) if x > 0 else 0.0

    x = rng.standard_normal(500)
    np.testing.assert_allclose(damped(x), np.where(x > 0, np.exp(-x) * np.sin(3 * x), 0), rtol=1e-13, atol=1e-15)


def test_blocks_of_another_size():
    @vectorize
    def negate(x):
        return -x

    negate.max_blocksize = 32
    np.testing.assert_array_equal(negate(np.arange(100.0)), -np.arange(100.0))
    assert negate.max_blocksize == 32


def test_streams():
    stream = cuda.stream()
    d = cuda.to_device(np.arange(100.0), stream=stream)
    got = mix(mix(d, d, stream=stream), d, stream=stream)
    host = got.copy_to_host(stream=stream)
    stream.synchronize()
    np.testing.assert_array_equal(host, 5 * np.arange(100))
