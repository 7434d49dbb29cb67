"""Arguments that say that they are buffers: those in device memory are never asked for one, and one that gives nothing
is an error that says why. tests/gpu has CuPy's own arrays."""
import dataclasses
import enum
import sys

import numpy as np
import pytest

from cujit import cuda, errors, guvectorize, vectorize

pytestmark = pytest.mark.skipif(sys.version_info < (3, 12), reason="no __buffer__ in Python")


class Refuses:
    """A buffer that raises when it is asked, and is no NumPy array either."""

    error = TypeError("Implicit conversion to a NumPy array is not allowed")

    def __buffer__(self, flags):
        raise self.error

    def __array__(self, dtype=None, copy=None):
        raise self.error


class OnDevice(Refuses):
    """What CuPy's arrays look like from outside."""

    def __init__(self, array):
        self.array, self.__cuda_array_interface__ = array, array.__cuda_array_interface__


def double(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= 2


LAUNCHES = {
    "call": lambda kernel, x: kernel[1, 8](x),
    "forall": lambda kernel, x: kernel.forall(3)(x),
    "launch": lambda kernel, x: kernel.launch(3)(x),
    "specialize": lambda kernel, x: kernel.specialize(x)[1, 8](x),
    "keyword": lambda kernel, x: kernel[1, 8](x=x),
    "InOut": lambda kernel, x: kernel[1, 8](cuda.InOut(x)),
    "signature": lambda kernel, x: cuda.jit("void(float64[:])")(kernel.py_func)[1, 8](x),
}

HOST_ARRAYS = {
    "vectorize": lambda x: vectorize(lambda a, b: a + b)(x, 1.0),
    "signature": lambda x: vectorize(["float64(float64, float64)"])(lambda a, b: a + b)(x, 1.0),
    "reduce": lambda x: vectorize(lambda a, b: a + b).reduce(x),
    "reduction": lambda x: cuda.reduce(lambda a, b: a + b)(x),
    "guvectorize": lambda x: guvectorize(["void(float64[:], float64[:])"], "(n)->()")(first)(x),
    "to_device": lambda x: cuda.to_device(x),
    "copy_to_device": lambda x: copied(x),
}


def first(x, out):
    out[0] = x[0]


def copied(x):
    made = cuda.device_array(3)
    made.copy_to_device(x)
    return made


@pytest.mark.parametrize("launch", LAUNCHES.values(), ids=LAUNCHES)
def test_device_memory_comes_before_the_buffer(launch):
    array = cuda.to_device(np.arange(3.0))
    launch(cuda.jit(double), OnDevice(array))
    assert array.copy_to_host().tolist() == [0, 2, 4]


@pytest.mark.parametrize("give", HOST_ARRAYS, ids=HOST_ARRAYS)
def test_arrays_in_device_memory_where_host_arrays_may_be(give):
    result = HOST_ARRAYS[give](OnDevice(cuda.to_device(np.arange(3.0))))
    expected = {"vectorize": [1, 2, 3], "signature": [1, 2, 3], "reduce": 3, "reduction": 3, "guvectorize": 0}
    assert np.asarray(result).tolist() == expected.get(give, [0, 1, 2])


def test_parts_of_arrays_in_device_memory():
    base = cuda.to_device(np.arange(24.0).reshape(4, 6))

    @cuda.jit
    def kernel(x, out):
        i, j = cuda.grid(2)
        if i < x.shape[0] and j < x.shape[1]:
            out[i, j] = x[i, j]

    for index in np.s_[:], np.s_[::2, 1:], np.s_[::-1, ::-2], np.s_[:0]:
        host = np.arange(24.0).reshape(4, 6)[index]
        out = cuda.to_device(np.zeros(host.shape))
        kernel[1, (8, 8)](OnDevice(base[index]), OnDevice(out))
        np.testing.assert_array_equal(out.copy_to_host(), host)


@pytest.mark.parametrize("error", [TypeError("not allowed"), BufferError("not now"), RuntimeError("broken")])
@pytest.mark.parametrize("launch", LAUNCHES.values(), ids=LAUNCHES)
def test_a_buffer_that_gives_nothing(launch, error):
    value = type("Closed", (Refuses,), {"error": error})()
    with pytest.raises(TypeError) as caught:
        launch(cuda.jit(double), value)
    assert f"buffer of a value of type 'Closed' cannot be read ({type(error).__name__}: {error})" in str(caught.value)


def test_the_parameter_is_named():
    with pytest.raises(errors.LaunchArgumentError, match="argument 'x' of kernel 'double': the buffer of"):
        cuda.jit(double)[1, 1](Refuses())


class Unreadable:
    def __buffer__(self, flags):
        raise BufferError("not now")


@pytest.mark.parametrize("give", HOST_ARRAYS.values(), ids=HOST_ARRAYS)
def test_what_is_no_array_says_so(give):
    with pytest.raises(TypeError, match="a value of type 'Unreadable' is no array: not now"):
        give(Unreadable())
    with pytest.raises(TypeError, match="a value of type 'object' is no array"):
        give(object())


def test_an_interrupt_is_none_of_these():
    value = type("Interrupted", (Unreadable,), {"__buffer__": lambda self, flags: interrupt()})()
    with pytest.raises(KeyboardInterrupt):
        cuda.jit(double)[1, 1](value)


def interrupt():
    raise KeyboardInterrupt


def test_an_interface_that_cannot_be_used_is_no_buffer():
    """Its own error is told, not the buffer's."""
    for broken, message in ({"mask": 1}, "masked"), ({"shape": (3,), "data": (0, False)}, "typestr"):
        value = Refuses()
        value.__cuda_array_interface__ = broken
        with pytest.raises(errors.LaunchArgumentError, match=message):
            cuda.jit(double)[1, 1](value)


def test_numbers_enums_and_dataclasses_that_are_buffers():
    """What kernels know by itself stays what it is."""

    class Number(int):
        __buffer__ = Refuses.__buffer__
        error = Refuses.error

    class Color(enum.Enum):
        RED = 7
        __buffer__ = Refuses.__buffer__

    @dataclasses.dataclass
    class Point:
        x: float
        __buffer__ = Refuses.__buffer__

    @cuda.jit
    def kernel(number, color, point, out):
        out[0], out[1], out[2] = number, color.value, point.x

    out = np.zeros(3)
    kernel[1, 1](Number(5), Color.RED, Point(2.5), out)
    assert out.tolist() == [5, 7, 2.5]


def test_buffers_with_hints():
    for hint, expected in (cuda.In, 1.0), (cuda.InOut, 2.0):
        buffer = memoryview(np.ones(1))
        cuda.jit(double)[1, 1](hint(buffer))
        assert buffer[0] == expected
