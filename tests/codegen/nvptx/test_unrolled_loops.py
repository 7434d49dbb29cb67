"""Loops over tuples whose items differ in type: each item has its own, as in CPython. The samples run in both."""
import math

import numpy as np
import pytest

import cujit
from cujit import cuda, errors, literal_unroll

X = np.array([10.0, 20.0, 30.0])


@cuda.jit(device=True)
def double(v):
    return v * 2


@cuda.jit(device=True)
def square(v):
    return v * v


FUNCTIONS = double, square, math.sqrt
SAMPLES = []


def sample(function):
    SAMPLES.append(pytest.param(function, id=function.__name__))
    return function


@sample
def plain_loop(x, n, out):
    i = 0
    for v in (x, n, 2.5):
        if isinstance(v, int):
            out[i] = v // 2
        elif isinstance(v, float):
            out[i] = v / 2
        else:
            out[i] = v[1]
        i += 1


@sample
def marked_loop(x, n, out):
    for i, v in enumerate(literal_unroll((x, n, 1.5))):
        out[i] = v[0] if isinstance(v, np.ndarray) else v


@sample
def functions_beside_an_array(x, n, out):
    for i, (function, v) in enumerate(zip(FUNCTIONS, x)):
        out[i] = function(v)


@sample
def functions_from_behind(x, n, out):
    for function in reversed(FUNCTIONS):
        out[0] = out[0] * 3 + function(4.0)


@sample
def continue_break_and_else_in_nested_loops(x, n, out):
    i = 0
    for t in ((1, 2.5), (x, n), (n, x), (0.5, 1000, x)):
        for v in t:
            if isinstance(v, np.ndarray):
                out[i] = v[2]
                i += 1
                continue
            elif v > 100:
                out[14] = v
                break
            out[i] = v
            i += 1
        else:
            out[15] += 1


@sample
def mixed_loop_in_a_loop(x, n, out):
    k = 0
    while k < 2:
        for v in (n, 2.5, x):
            if isinstance(v, np.ndarray):
                out[0] += v[k]
            else:
                out[1] += v
        k += 1


@sample
def loop_in_a_mixed_loop(x, n, out):
    for v in (n, x, 2.0):
        for i in range(3):
            out[i] += v[i] if isinstance(v, np.ndarray) else v * i


@sample
def break_knows_the_item(x, n, out):
    for v in (n, x, 3.5):
        if isinstance(v, np.ndarray):
            out[0] = v[0] + 100
            break
    else:
        out[0] = -1


@sample
def counters_and_ranges_beside_it(x, n, out):
    for a, b in zip((n, 0.5, x), range(n, n + 10)):
        out[b - n] = a[1] if isinstance(a, np.ndarray) else a
    for i, a in enumerate((n, x), n):
        if isinstance(a, np.ndarray):
            out[5] = i
    for a, b in zip((n, x), (2.5, 1, n)):
        out[6] += b if not isinstance(a, np.ndarray) else a[b]


@sample
def texts(x, n, out):
    for name in ("a", "bb", "ccc"):
        out[len(name)] = len(name)


@sample
def comprehensions_and_reductions(x, n, out):
    out[0] = sum(f(9) for f in FUNCTIONS)
    out[1] = max(f(9) for f in FUNCTIONS)
    results = tuple(f(3.0) for f in FUNCTIONS)
    out[2] = results[1]
    more = [f(16.0) for f in FUNCTIONS]
    out[3] = more[2]
    out[4] = sum(v for v in (n, 2.5, True))


def twice(items):
    for v in items:
        yield v * 2
        yield v


@sample
def generators(x, n, out):
    i = 0
    for v in twice((n, 2.5)):
        out[i] = v
        i += 1


def length_of(items):
    total = 0
    for v in items:
        if isinstance(v, tuple):
            total += length_of(v)
        else:
            total += 1
    return total


@sample
def recursion_over_nested_tuples(x, n, out):
    out[0] = length_of((1, (2.5, x, (n, 3)), n))


@sample
def variables_that_change_type(x, n, out):
    last = 0
    for v in (n, 2.5, True):
        last = v
    out[0] = last
    total = 0
    for v in (n, n, 0.25):
        total += v
    out[1] = total


@pytest.mark.parametrize("function", SAMPLES)
def test_a_kernel_does_what_python_does(function):
    for n in 7, 3:
        expected, out = np.zeros(16), np.zeros(16)
        function(X, n, expected)
        cuda.jit(function)[1, 1](X, n, out)
        np.testing.assert_array_equal(out, expected)


def test_items_of_a_marked_loop_are_constants():
    @cuda.jit
    def kernel(out):
        for size in literal_unroll((2, 3)):
            local = cuda.local.array(size, np.int32)
            for i in range(size):
                local[i] = size + i
            out[size] = local[size - 1]

    out = np.zeros(4)
    kernel[1, 1](out)
    assert out.tolist() == [0, 0, 3, 5]


def test_on_the_host_the_marks_give_their_argument():
    assert cujit.literal_unroll is cuda.literal_unroll and cujit.literally is cuda.literally
    items = (1, 2.5)
    assert literal_unroll(items) is items and cujit.literally(items) is items
    with pytest.raises(errors.UnsupportedError, match="in kernels only"):
        literal_unroll(1, 2)


def test_a_tuple_argument_of_many_types():
    @cuda.jit
    def kernel(items, out):
        i = 0
        for v in items:
            if isinstance(v, np.ndarray):
                out[i] = v.sum() if False else v.size
            else:
                out[i] = v
            i += 1

    out = np.zeros(4)
    kernel[1, 1]((X, 5, np.zeros((2, 3), np.float32), 1.5), out)
    assert out.tolist() == [3, 5, 6, 1.5]


def test_an_error_points_into_the_loop():
    @cuda.jit
    def kernel(x, out):
        for v in (1.5, x):
            out[0] = v[0]

    with pytest.raises(errors.TypingError) as caught:
        kernel[1, 1](X, np.zeros(1))
    assert "cannot index float64" in str(caught.value) and "out[0] = v[0]" in str(caught.value)


def test_too_many_items():
    items = (X,) * 40 + (1,) * 40

    @cuda.jit
    def kernel(out):
        for v in items:
            out[0] += 1 if isinstance(v, int) else 2

    with pytest.raises(errors.TypingError, match="different types, and it has more than 64"):
        kernel[1, 1](np.zeros(1))


def test_too_much_code():
    items = (1, 2.5) * 16

    @cuda.jit
    def kernel(out):
        for a in items:
            for b in items:
                for c in items:
                    if a == b:
                        out[0] += a + b + c

    with pytest.raises(errors.UnsupportedError, match="too much code") as caught:
        kernel[1, 1](np.zeros(1))
    assert "for " in str(caught.value)
