"""Classes of named tuples in kernels: made there, with fields, methods and properties."""
from collections import namedtuple
from typing import NamedTuple

import numpy as np
import pytest

from cujit import cuda, errors


class Point(NamedTuple):
    x: float
    y: float = 2.0

    def plus(self, other, factor=1.0):
        return Point(self.x + factor * other.x, self.y + factor * other.y)

    def dot(self, other):
        return self.x * other.x + self.y * other.y

    @property
    def square(self):
        return self.dot(self)


class Named(namedtuple("Base", "a b")):
    def swapped(self):
        return Named(self.b, self.a)

    def twice(self):
        return self.swapped().swapped()


def test_fields_methods_and_properties():
    @cuda.jit
    def kernel(x, out):
        p, q = Point(x[0], x[1]), Point(x=x[2])
        r = p.plus(q, factor=3.0)
        out[0], out[1], out[2], out[3] = r.x, r.y, r.square, r.dot(q)
        plus = p.plus
        first, second = plus(p)
        out[4], out[5] = first, second
        n = Named(1, x[0])
        out[6], out[7] = n.swapped().b, n.twice().b
        out[8] = isinstance(p, Point) + 10 * isinstance(n, Point) + 100 * isinstance(p, (Named, tuple))

    out = np.zeros(9)
    kernel[1, 1](np.array([1.0, 5.0, 2.0]), out)
    p, q = Point(1.0, 5.0), Point(2.0)
    r = p.plus(q, 3.0)
    assert out.tolist() == [r.x, r.y, r.square, r.dot(q), 2.0, 10.0, 1.0, 1.0, 101]


def test_paths_join_and_loops_carry():
    @cuda.jit
    def kernel(n, out):
        p = Point(0.0, 1.0)
        for i in range(n):
            p = p.plus(Point(1.0, i)) if i % 2 else Point(p.y, p.x)
        out[0], out[1] = p

    out = np.zeros(2)
    kernel[1, 1](7, out)
    p = Point(0.0, 1.0)
    for i in range(7):
        p = p.plus(Point(1.0, i)) if i % 2 else Point(p.y, p.x)
    assert out.tolist() == list(p)


@pytest.mark.parametrize("expression, message", [
    ("Point()", "Point takes 1 to 2 arguments, 0 given"),
    ("Point(1, 2, 3)", "Point takes 1 to 2 arguments, 3 given"),
    ("Point(1, z=2)", "Point has no parameter named 'z'"),
    ("Point(1, x=2)", "two values for field 'x'"),
    ("Point(1, 2).norm", "has no attribute 'norm'"),
])
def test_what_is_refused(refused, expression, message):
    refused(expression, message, Point=Point)


def test_arity_of_methods():
    with pytest.raises(errors.TypingError, match="Point.dot takes 2 arguments, 1 given"):
        @cuda.jit("void(float64[:])")
        def kernel(out):
            out[0] = Point(1, 2).dot()


def test_methods_of_arguments():
    @cuda.jit
    def of_argument(p, out):
        out[0] = p.dot(p)

    @cuda.jit
    def made_of_it(p, out):
        q = Point(*p)
        out[0], out[1] = q.dot(q), q.square

    @cuda.jit
    def private(p, out):
        out[0] = p._replace(x=1.0)[0]

    out = np.zeros(2)
    made_of_it[1, 1](Point(3.0, 4.0), out)
    assert out.tolist() == [25, 25]
    of_argument[1, 1](Point(3.0, 5.0), out)
    assert out.tolist() == [34, 25]
    with pytest.raises(errors.TypingError, match=r"no attribute 'dot': methods are those of what kernels make "
                                                 r"themselves, such as Bare\(\*x\) of an argument x"):
        of_argument[1, 1](namedtuple("Bare", "x y")(3.0, 4.0), out)
    with pytest.raises(errors.TypingError, match=r"has no attribute '_replace'\n"):
        private[1, 1](Point(3.0, 4.0), out)


def test_a_tuple_of_a_named_tuple_has_no_names():
    @cuda.jit
    def kernel(p, out):
        plain = tuple(p)
        out[0], out[1] = hasattr(plain, "x"), plain[1]
        joined = plain + tuple(Point(5.0, 6.0))
        out[2], out[3] = len(joined), joined[3]
    out = np.zeros(4)
    kernel[1, 1](Point(3.0, 4.0), out)
    assert out.tolist() == [0, 4, 4, 6]


class Counted(NamedTuple):
    """Its fields have the names of a tuple's methods."""

    count: int
    index: float


class Counting(NamedTuple):
    x: int

    def count(self, by):
        return self.x + by


def test_fields_and_methods_before_those_of_tuples():
    @cuda.jit
    def kernel(given, out):
        made = Counted(3, 0.5)
        out[0], out[1], out[2], out[3] = made.count, made.index, given.count, given.index
        out[4], out[5] = Counting(4).count(10), (1, 2, 1).count(1)
    out = np.zeros(6)
    kernel[1, 1](Counted(7, 1.5), out)
    assert out.tolist() == [3, 0.5, 7, 1.5, 14, 2]
