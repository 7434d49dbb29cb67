"""Shapes of control flow that bytecode has seldom: kernels that do what Python does."""
import numpy as np
import pytest

from cujit import cuda


def branch_to_one_place(out, x):
    """The decoder leaves nothing of `pass`: both ways of the branch lead behind it."""
    v, w = x[0], x[3]
    if -3 < x[2]:
        pass
    elif v > -1:
        match v % 5:
            case 0:
                if (w := x[1]) > 19:
                    pass
        out[2] = 1
    out[1] = w


def branch_to_one_place_in_a_loop(out, x):
    v = 0
    for k in range(4):
        if x[k] > 1:
            v += 1
        elif x[k] > 0:
            v += 2
        else:
            if (v := v + x[k]) > 2:
                pass
        if v > 100:
            pass
    out[0] = v


def loop_that_never_goes_around(out, x):
    v = x[0]
    for e in (v, 0.5):
        v = 7
        break
    out[0] = v


def loop_that_returns(out, x):
    for e in (x[0], 0.5):
        out[0] = e * 3
        return
    out[0] = 4


def loop_that_breaks_with_else(out, x):
    for i, e in enumerate((x[0], 0.5)):
        out[i] = 5 + e
        break
    else:
        out[1] = 9


def loop_of_a_function_that_returns(out, x):
    def first(a):
        for e in (a[0], 0.5):
            return e * 3
        return 4
    out[0] = first(x)


def assignments_of_one_variable_within_each_other(out, x):
    n = 0

    def set_by(p):
        nonlocal n
        if p > 0:
            n = 1
            if p > 1:
                n = 2
                if p > 2:
                    n = 3
    set_by(x[0])
    out[0] = n


def deleted_variable_of_another_function(out, x):
    n = 1

    def put(p):
        nonlocal n
        del n
        n = p
    put(x[1])
    out[0] = n


KERNELS = [each for each in list(globals().values()) if getattr(each, "__module__", None) == __name__]


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
@pytest.mark.parametrize("x", [[5, 2, -9, 7], [0, 21, -3, 1], [3, 1, 4, 0], [-5, 0, -7, 2], [10, 30, -4, 6]], ids=str)
def test_a_kernel_does_what_python_does(kernel, x):
    got, expected = np.zeros(4), np.zeros(4)
    cuda.jit(kernel)[1, 1](got, np.array(x))
    kernel(expected, x)
    np.testing.assert_array_equal(got, expected)
