"""What reading a value raises: mostly it says that the value is none of a kind. What says nothing of the value arrives
where the kernel was called."""
import types

import numpy as np
import pytest

from cujit import cuda

FATAL = [RecursionError("too deep"), MemoryError("too much"), KeyboardInterrupt()]


def raising(exception):
    """A module whose attribute `wanted` raises."""
    class Module(types.ModuleType):
        @property
        def wanted(self):
            raise exception

    return Module("given")


def kernel_reading(given):
    @cuda.jit
    def kernel(x):
        x[0] = given.wanted

    return kernel


@pytest.mark.parametrize("exception", FATAL, ids=lambda each: type(each).__name__)
def test_of_an_attribute(exception):
    kernel = kernel_reading(raising(exception))
    with pytest.raises(type(exception)) as raised:
        kernel[1, 1](np.zeros(1))
    assert raised.value is exception


def test_of_an_attribute_that_is_not_there():
    with pytest.raises(Exception, match="wanted"):
        kernel_reading(raising(ValueError("no such thing")))[1, 1](np.zeros(1))


@pytest.mark.parametrize("name", ["__dataclass_fields__", "__module__", "__cuda_array_interface__"])
@pytest.mark.parametrize("exception", FATAL, ids=lambda each: type(each).__name__)
def test_of_an_argument(exception, name):
    class Meta(type):
        def __getattribute__(self, asked):
            if asked == name:
                raise exception
            return super().__getattribute__(asked)

    class Argument(metaclass=Meta):
        def __getattr__(self, asked):
            raise exception if asked == name else AttributeError(asked)

    @cuda.jit
    def kernel(x, y):
        x[0] = 1

    with pytest.raises(type(exception)) as raised:
        kernel[1, 1](np.zeros(1), Argument())
    assert raised.value is exception
