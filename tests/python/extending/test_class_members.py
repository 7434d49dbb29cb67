"""Methods, operators, properties and constants of dataclasses in kernels: those of their classes."""
from dataclasses import dataclass, field

import numpy as np
import pytest

from cujit import cuda, errors
from cujit.extending import overload


@dataclass(order=True)
class Pair:
    x: float
    y: float = 2.0
    note: int = field(default=0, compare=False)
    SCALE = 10.0

    def __add__(self, other):
        return Pair(self.x + other.x, self.y + other.y)

    def __radd__(self, number):
        return Pair(number + self.x, number + self.y)

    def __mul__(self, number):
        return Pair(self.x * number, self.y * number)

    def __rmul__(self, number):
        return self * number

    def __neg__(self):
        return Pair(-self.x, -self.y)

    def __getitem__(self, k):
        return self.x if k == 0 else self.y

    def __contains__(self, value):
        return value == self.x or value == self.y

    def __float__(self):
        return self.x

    @property
    def total(self):
        return self.x + self.y

    def moved(self, distance, times=1.0):
        return Pair(self.x + distance * times, self.y)

    @staticmethod
    def twice(number):
        return 2 * number


def everything(a, b, out):
    out[0], out[1] = (a + b).x, (a + b).y
    out[2], out[3], out[4] = (3.0 * a).x, (a * 3.0).y, (2.0 + a).y
    out[5], out[6] = (-a).x, a[1]
    out[7], out[8], out[9] = a.x in a, 17.0 in a, 17.0 not in a
    out[10], out[11], out[12], out[13] = a.total, a.moved(1.0).x, a.moved(1.0, times=3.0).x, a.twice(4.0)
    out[14], out[15] = a.SCALE, float(a)
    out[16], out[17], out[18], out[19] = a < b, a == b, a != b, a >= b
    a += b
    out[20], out[21] = a.x, Pair(1.0).total


def test_a_kernel_has_what_python_has():
    out, expected = np.zeros(22), np.zeros(22)
    for a, b in (Pair(1.0, 4.0), Pair(3.0, 5.0)), (Pair(2.0, 1.0, 1), Pair(2.0, 1.0, 2)):
        cuda.jit(everything)[1, 1](a, b, out)
        everything(a, b, expected)
        np.testing.assert_array_equal(out, expected)


def test_captured_instances_have_them_too():
    unit = Pair(1.0, 1.0)

    @cuda.jit
    def kernel(out):
        out[0] = (unit + unit).total + unit.moved(2.0).x

    out = np.zeros(1)
    kernel[1, 1](out)
    assert out[0] == 7.0


def test_instances_of_other_classes_are_unequal_and_inherited_methods_are_found():
    @dataclass
    class Base:
        x: float

        def doubled(self):
            return 2 * self.x

    @dataclass
    class Derived(Base):
        pass

    @cuda.jit
    def kernel(a, b, out):
        out[0], out[1], out[2], out[3] = a == b, a != b, b == b, b.doubled()

    out = np.zeros(4)
    kernel[1, 1](Base(1.0), Derived(1.0), out)
    assert list(out) == [0, 1, 1, 2]


def test_what_is_registered_comes_first():
    @dataclass
    class Own:
        x: float

        def __sub__(self, other):
            return self.x - other.x

        def __contains__(self, value):
            return value == self.x

    import operator

    @overload(operator.contains)
    def contains_of_own(container, value):
        if getattr(container, "instance_class", None) is Own:
            return lambda container, value: value == container.x + 1

    @cuda.jit
    def kernel(a, out):
        out[0], out[1], out[2] = a - a, 2.0 in a, 2.0 not in a

    out = np.zeros(3)
    kernel[1, 1](Own(1.0), out)
    assert list(out) == [0, 1, 0]


@pytest.mark.parametrize(("function", "message"), [
    (lambda a: a.nothing, "no attribute 'nothing'.*methods"),
    (lambda a: a - a, "operator - does not accept"),
    (lambda a: 1.0 - a, "operator - does not accept"),
    (lambda a: a.moved(), "moved takes 2 to 3 arguments|takes .* argument"),
    (lambda a: a < 1.0, "operator < does not accept"),
])
def test_what_the_class_lacks_is_an_error(function, message):
    with pytest.raises(errors.TypingError, match=message):
        cuda.jit(lambda a: function(a))[1, 1](Pair(1.0))
