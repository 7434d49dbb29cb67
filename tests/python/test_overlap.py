"""Assignment between overlapping parts of one array, by one thread: what NumPy gives."""
import numpy as np
import pytest

from cujit import cuda, float32


def up(x):
    x[1:] = x[:-1]


def down(x):
    x[:-1] = x[1:]


def far(x):
    x[2:] += x[:-2]


def reversed_view(x):
    y = x[::-1]
    y[1:] = y[:-1]


def reversed_view_down(x):
    y = x[::-1]
    y[:-2] *= y[2:]


def every_second(x):
    x[::2][1:] = x[::2][:-1]


def itself(x):
    x[:] = x


def scaled(x):
    x[:] += x


def down_right(x):
    x[1:, 1:] = x[:-1, :-1]


def up_right(x):
    x[:-1, 1:] = x[1:, :-1]


def up_left(x):
    x[:-1, :-1] = x[1:, 1:]


def down_left(x):
    x[1:, :-1] = x[:-1, 1:]


def right(x):
    x[:, 1:] -= x[:, :-1]


VIEWS = {"plain": lambda a: a, "upside_down": lambda a: a[::-1], "strided": lambda a: a[::2]}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("function", [up, down, far, reversed_view, reversed_view_down, every_second, itself, scaled])
def test_one_axis(function, view):
    expected = np.arange(1.0, 21.0)
    out = expected.copy()
    function(VIEWS[view](expected))
    cuda.jit(function)[1, 1](VIEWS[view](out))
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("function", [up, down, far, reversed_view, itself, right,
                                      down_right, up_right, up_left, down_left])
def test_two_axes(function, view):
    expected = np.arange(48.0).reshape(6, 8) ** 2
    out = expected.copy()
    function(VIEWS[view](expected))
    cuda.jit(function)[1, 1](VIEWS[view](out))
    np.testing.assert_array_equal(out, expected)


def test_arrays_of_the_thread_and_arguments_that_overlap():
    @cuda.jit
    def kernel(a, b):
        local = cuda.local.array(4, float32)
        for i in range(4):
            local[i] = i
        local[1:] = local[:-1]
        b[:] = a
        b[0] = local[3]

    x = np.arange(10.0)
    on_device = cuda.to_device(x)
    kernel[1, 1](on_device[:-1], on_device[1:])
    assert on_device.copy_to_host().tolist() == [0, 2, 1, 2, 3, 4, 5, 6, 7, 8]
