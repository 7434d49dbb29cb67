"""What may be None at run time: equal to nothing but None, and a TypeError of check mode where a value is needed."""
import numpy as np
import pytest

from cujit import cuda


def equality(x, m):
    y = None
    if m:
        y = 0
    w = None
    if m > 1:
        w = 0
    x[0], x[1], x[2], x[3] = y == 0, 0 != y, y == w, y != w
    x[4], x[5], x[6] = y == None, None != w, m == None  # noqa: E711


@pytest.mark.parametrize("m, expected", [(0, [0, 1, 1, 0, 1, 0, 0]), (1, [1, 0, 0, 1, 0, 0, 0]),
                                         (2, [1, 0, 1, 0, 0, 1, 0])])
@pytest.mark.parametrize("check", [None, False])
def test_equality(m, expected, check):
    out = np.full(7, 9)
    cuda.jit(check=check)(equality)[1, 1](out, m)
    assert out.tolist() == expected


def least(x, m, out):
    best = None
    for i in range(m):
        if best is None or x[i] < best:
            best = x[i]
    out[0] = best + 1  # fault


def place(x, m, out):
    at = None
    for i in range(m):
        at = i
    x[at] = 1  # fault
    out[0] = 3


def helped(x, m, out):
    def half(a):
        return a / 2

    y = None
    if m:
        y = 4
    out[0] = half(y)  # fault


@pytest.mark.parametrize("function, expected", [(least, 3), (place, 3), (helped, 2)])
def test_none_is_no_value(function, expected):
    out = np.zeros(1)
    kernel = cuda.jit(check="bounds")(function)
    kernel[1, 1](np.array([3.0, 2.0, 5.0]), 3, out)
    assert out[0] == expected
    with pytest.raises(TypeError, match="None is used where (int64|float64) is needed") as raised:
        kernel[1, 1](np.array([3.0, 2.0, 5.0]), 0, out)
        cuda.synchronize()
    lines = open(__file__).read().splitlines()
    number = int(str(raised.value).split("line ")[1].split(",")[0])
    assert lines[number - 1].endswith("# fault")


def test_guards_need_no_check():
    """Where the program has asked, nothing is left of the check."""
    @cuda.jit(check="bounds")
    def kernel(x, m):
        y = None
        if m:
            y = 4
        if y is not None:
            x[0] = y

    x = np.zeros(1)
    kernel[1, 1](x, 0)
    assert x[0] == 0
    kernel[1, 1](x, 1)
    assert x[0] == 4


def countdown(x, n):
    if n > 0:
        again(x, n - 1)
    x[n] += n


again = cuda.jit(countdown)


def test_kernel_calls_itself():
    """As a function: the thread comes back."""
    x = np.zeros(6)
    again[1, 1](x, 5)
    assert x.tolist() == [0, 1, 2, 3, 4, 5]
