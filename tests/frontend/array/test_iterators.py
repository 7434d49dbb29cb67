"""iter() and next(): iterators as values, in kernels as in CPython. The samples run in both."""
import math

import numpy as np
import pytest

from cujit import cuda, errors

SAMPLES = []


def sample(function):
    SAMPLES.append(pytest.param(function, id=function.__name__))
    return function


def squares(n):
    i = 0
    while i < n:
        yield i * i
        i += 1


def pairs(n):
    for i in range(n):
        for j in range(i):
            yield i, j


@cuda.jit(device=True)
def take_two(iterator):
    return next(iterator) * 100 + next(iterator)


@sample
def of_an_array(x, n, out):
    it = iter(x)
    out[0] = next(it)
    out[1] = next(it)
    for v in it:
        out[2] += v
    for v in it:
        out[3] = 1
    out[4] = next(it, -5)
    out[5] = next(it, -5)


@sample
def of_a_range(x, n, out):
    it = iter(range(n, 2, -1))
    while True:
        v = next(it, -1)
        if v < 0:
            break
        out[v] = v


@sample
def of_a_tuple(x, n, out):
    it = iter((n, 2, 5))
    out[0] = next(it)
    out[1] = next(it)
    mixed = iter((n, 2.5))
    out[2] = next(mixed)
    out[3] = next(mixed)


@sample
def of_a_generator(x, n, out):
    g = squares(4)
    out[0] = next(g)
    out[1] = next(g)
    for v in g:
        out[2] += v
    out[3] = next(g, -1)
    out[4] = next(g, 2.5)
    for v in g:
        out[5] = 1


@sample
def of_a_generator_of_tuples(x, n, out):
    g = pairs(n)
    i, j = next(g)
    out[0] = i * 10 + j
    i, j = next(g)
    out[1] = i * 10 + j
    i, j = next(g, (-1, -2))
    out[2] = i * 10 + j
    out[3] = sum(i for i, j in g)


@sample
def in_steps(x, n, out):
    it = iter(x)
    for a in it:
        b = next(it, 0.5)
        out[0] = out[0] * 10 + a * b


@sample
def others_see_it_move(x, n, out):
    it = iter(x)
    same = it
    out[0] = next(same)
    out[1] = take_two(it)
    out[2] = next(same, -1)
    g = squares(9)
    out[3] = take_two(g)
    out[4] = take_two(g)


@sample
def of_enumerate_and_zip(x, n, out):
    e = enumerate(x, n)
    i, v = next(e)
    out[0] = i + v
    for i, v in e:
        out[1] += i * v
    z = zip(x, range(10))
    a, b = next(z)
    a, b = next(z)
    out[2] = a * 10 + b
    r = reversed(x)
    out[3] = next(r)
    m = iter(range(n))
    out[4] = sum(m) + next(m, 7)


@sample
def generators_that_are_used_again(x, n, out):
    g = (v + 1 for v in x)
    out[0] = sum(g)
    out[1] = sum(g)
    s = squares(n)
    for k in range(3):
        for v in s:
            out[2 + k] += v
            if v > 0:
                break
    for k in range(3):
        out[6 + k] = sum(v for v in s if v > 4)


@sample
def chosen_at_run_time(x, n, out):
    for k in range(3):
        it = iter(x) if k % 2 else iter(x[1:])
        out[k] = next(it) * 10 + next(it)


@sample
def two_in_turn(x, n, out):
    a, b = iter(x), iter(range(10, 20))
    for i in range(3):
        out[i] = next(a) + next(b)
    out[3] = next(b)


@sample
def expressions(x, n, out):
    g = (v * 2 for v in x)
    out[0] = next(g)
    out[1] = next(g) + next(g)
    out[2] = next((v for v in x if v > 15), -1)
    out[3] = next((v for v in x if v > 55), -1)


def with_an_iterator(x, n):
    it = iter(x)
    yield next(it)
    for v in it:
        for w in iter((v, n)):
            yield w


def with_a_generator(n):
    it = squares(n)
    yield next(it, -1)
    for v in it:
        yield v + next(it, 0.5)


@sample
def in_generators(x, n, out):
    for v in with_an_iterator(x, n):
        out[0] = out[0] * 3 + v
    out[1] = sum(with_a_generator(n))
    it = with_an_iterator(x, n)
    out[2] = next(it)
    out[3] = next(it)
    out[4] = sum(it)


@pytest.mark.parametrize("options", [{}, {"exceptions": True}], ids=["plain", "exceptions"])
@pytest.mark.parametrize("function", SAMPLES)
def test_a_kernel_does_what_python_does(function, options):
    x = np.array([10.0, 20.0, 30.0])
    for n in 3, 7:
        expected, out = np.zeros(16), np.zeros(16)
        function(x, n, expected)
        cuda.jit(function, **options)[1, 1](x, n, out)
        np.testing.assert_array_equal(out, expected)


def test_behind_the_last_item():
    def kernel(x, out):
        it = iter(x)
        for i in range(out.size):
            out[i] = next(it)

    x, out = np.arange(3.0) + 1, np.zeros(5)
    cuda.jit(kernel)[1, 1](x, out)   # the thread ends
    assert out.tolist() == [1, 2, 3, 0, 0]
    with pytest.raises(StopIteration):
        cuda.jit(kernel, exceptions=True)[1, 1](x, out)


def test_what_is_no_iterator():
    @cuda.jit
    def kernel(x):
        x[0] = next(x)

    with pytest.raises(errors.TypingError, match=r"next does not accept .*iter\(\) makes an iterator"):
        kernel[1, 1](np.zeros(3))


def test_an_iterator_that_is_returned():
    @cuda.jit(device=True)
    def make(x):
        return iter(x)

    @cuda.jit
    def kernel(x, out):
        first, second = make(x), make(x[1:])
        out[0] = next(first)
        out[1] = next(second)
        out[2] = next(first)
        for v in first:
            out[3] += v
        out[4] = next(second)

    x, out = np.arange(5.0) + 1, np.zeros(5)
    kernel[1, 1](x, out)
    assert out.tolist() == [1, 2, 2, 12, 3]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_bounds_of_ranges_can_be_floats(dtype):
    """As numba's can: range(math.ceil(n / 32)). What is behind the point falls off."""
    @cuda.jit
    def kernel(x, out):
        for i in range(math.ceil(x[0])):
            out[0] += i
        for i in range(x[1], x[0]):
            out[1] += i
        for i in range(x[0], x[1], x[2]):
            out[2] = out[2] * 10 + i
        for _ in range(2.9):
            out[3] += 1

    out = np.zeros(4)
    kernel[1, 1](np.array([4.5, -1.5, -2.25], dtype), out)
    assert out.tolist() == [0 + 1 + 2 + 3 + 4, -1 + 0 + 1 + 2 + 3, 420, 2]
