"""What a stranger writes: shapes, streams and stores that mean nothing are refused in words that say so."""
import numpy as np
import pytest

from cujit import cuda, errors, float64, int64

ARRAYS = [cuda.device_array, cuda.pinned_array, cuda.mapped_array]
HOST = np.zeros(4)


@cuda.jit
def one(x):
    x[0] = 1


@pytest.mark.parametrize("make", ARRAYS)
@pytest.mark.parametrize("shape", ["a", 1.5, None, (2, "x"), (1.5,), {"a": 1}, np.zeros(2)], ids=str)
def test_what_is_no_shape(make, shape):
    with pytest.raises(TypeError, match="a shape is an int or a tuple of ints, not "):
        make(shape)


@pytest.mark.parametrize("make", ARRAYS)
@pytest.mark.parametrize("shape", [2**62, (2**40, 2**40), 2**70, (2**31, 2**31, 2)], ids=str)
def test_shapes_beyond_any_memory(make, shape):
    with pytest.raises(ValueError, match="larger than any memory"):
        make(shape)


@pytest.mark.parametrize("make", ARRAYS)
def test_negative_lengths(make):
    for shape in (-1, (2, -3), (0, -1)):
        with pytest.raises(ValueError, match="negative length in the shape"):
            make(shape)


@pytest.mark.parametrize("make", ARRAYS)
def test_dtypes_with_a_shape_of_their_own(make):
    array = make(3, ("f4", (2, 5)))
    assert array.shape == (3, 2, 5) and array.dtype == np.float32


@pytest.mark.parametrize("shape", [3, np.int64(3), np.array(3), [3], (np.uint8(3),), np.array([3]), range(3, 4)],
                         ids=repr)
def test_shapes(shape):
    assert cuda.device_array(shape).shape == (3,)


def test_streams_that_are_none():
    with pytest.raises(ValueError, match="-5 is no stream's handle"):
        one[1, 1, -5](HOST)
    with pytest.raises(ValueError, match="is no stream's handle"):
        one[1, 1, 2**80](HOST)


def test_more_shared_memory_than_can_be_written_down():
    with pytest.raises(errors.LaunchConfigurationError, match="a number of bytes from 0 to 2147483647"):
        one[1, 1, 0, 2**40](HOST)


@pytest.mark.parametrize("lines, message", [
    ("x[0] = x", r"cannot store array\(float64, 1d, C\) into array\(float64, 1d, C\): an element is float64"),
    ("x = 1; x[0] = 2", "cannot store int64 into int64, which has no elements"),
    ("x.shape = 2, 2", r"into array\(float64, 1d, C\): a kernel cannot set its attribute 'shape'"),
    ("y = x[0]; y.real = 1", "into float64: a kernel cannot set its attribute 'real'"),
    ("a = cuda.local.array((), float64)", "cuda.local.array has at least one axis"),
    ("a = cuda.shared.array((), float64)", "cuda.shared.array has at least one axis"),
], ids=lambda text: text[:20])
def test_stores_that_mean_nothing(lines, message):
    scope = {"cuda": cuda, "float64": float64}
    exec(f"def kernel(x):\n    {lines}\n", scope)
    with pytest.raises(errors.TypingError, match=message):
        cuda.jit((float64[::1],))(scope["kernel"])


def test_a_scalar_stored_by_index():
    with pytest.raises(errors.TypingError, match="which has no elements"):
        cuda.jit((int64,))(one.py_func)


class Foreign:
    def __init__(self, **changed):
        array = cuda.to_device(np.zeros(8))
        self.keep = array
        self.__cuda_array_interface__ = {**array.__cuda_array_interface__, **changed}


@pytest.mark.parametrize("key, value, message", [
    ("shape", ("a",), "'shape' of __cuda_array_interface__ has 'a', which is no integer"),
    ("shape", (8.5,), "'shape' of __cuda_array_interface__ has 8.5, which is no integer"),
    ("strides", (float("nan"),), "'strides' of __cuda_array_interface__ has nan, which is no integer"),
    ("data", (-8, False), "-8 in 'data' of __cuda_array_interface__ is no address"),
    ("data", (2**70, False), f"{2**70} in 'data' of __cuda_array_interface__ is no address"),
    ("stream", -1, "-1 in 'stream' of __cuda_array_interface__ is no address")], ids=str)
def test_interfaces_with_odd_numbers(key, value, message):
    with pytest.raises(errors.LaunchArgumentError, match=f"argument 'x' of kernel 'one': {message}"):
        one[1, 1](Foreign(**{key: value}))


def test_what_is_no_device_array():
    with pytest.raises(TypeError, match="a device is its number, not 'a'"):
        cuda.select_device("a")
    with pytest.raises(TypeError, match="`to` is a device array, not of type 'int'"):
        cuda.to_device(HOST, to=5)
    with pytest.raises(KeyError, match="there is no field 'a' in dtype float64"):
        cuda.to_device(HOST)["a"]
