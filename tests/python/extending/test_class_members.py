"""Methods, operators, properties and constants of dataclasses and named tuples in kernels: those of their classes."""
import gc
import importlib
import operator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pytest

from cujit import _core, cuda, errors
from cujit.extending import class_members, overload


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


def test_the_garbage_collector_may_run_while_the_module_is_imported():
    before = gc.get_threshold()
    gc.set_threshold(1, 1, 1)
    try:
        for _ in range(100):
            importlib.reload(class_members)
    finally:
        gc.set_threshold(*before)


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


# --- named tuples ----------------------------------------------------------------------------------------------------

class Vector(NamedTuple):
    x: float
    y: float
    SCALE = 10.0

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __rmul__(self, number):
        return Vector(number * self.x, number * self.y)

    def __neg__(self):
        return Vector(-self.x, -self.y)

    def __lt__(self, other):
        return self.x * self.x + self.y * self.y < other.x * other.x + other.y * other.y

    def __contains__(self, value):
        return value == 2 * self.x

    def __float__(self):
        return self.x

    @property
    def total(self):
        return self.x + self.y

    @staticmethod
    def twice(number):
        return 2 * number

    def moved(self, distance):
        return Vector(self.x + distance, self.y)


def of_vectors(a, b, out):
    c = a + b
    out[0], out[1], out[2], out[3] = c.x, c.y, (3.0 * a).x, (-b).y
    out[4], out[5], out[6] = a < b, b < a, a == b
    out[7], out[8], out[9] = 2 * a.x in a, a.x in a, float(b)
    out[10], out[11], out[12] = a.total, a.moved(1.0).x, a.twice(4.0)
    out[13], out[14], out[15] = (c + a).total, a[0], len(a)
    out[16], out[17] = a.SCALE, isinstance(a, Vector)
    x, y = b
    out[18], out[19] = x, y


def test_named_tuples_have_what_their_classes_have():
    a, b = Vector(1.0, 2.0), Vector(5.0, 0.5)
    got, expected = np.zeros(20), np.zeros(20)
    of_vectors(a, b, expected)
    cuda.jit(of_vectors)[1, 1](a, b, got)
    np.testing.assert_array_equal(got, expected)
    assert cuda.jit(of_vectors).py_func is of_vectors


def test_named_tuples_that_a_kernel_makes_or_captures_have_it_too():
    captured = Vector(3.0, 4.0)

    def kernel(out):
        made = Vector(1.0, 2.0)
        for _ in range(3):
            made = made + captured
        out[0], out[1], out[2] = made.x, made.total, captured < made
    got, expected = np.zeros(3), np.zeros(3)
    kernel(expected)
    cuda.jit(kernel)[1, 1](got)
    np.testing.assert_array_equal(got, expected)


def test_classes_of_one_name_have_their_own_methods():
    def make(factor):
        class Scaled(NamedTuple):
            x: float

            def __add__(self, other):
                return factor * (self.x + other.x)
        return Scaled

    @cuda.jit
    def kernel(a, out):
        out[0] = a + a
    out = np.zeros(1)
    for factor in (2.0, 3.0, 2.0):
        kernel[1, 1](make(factor)(1.0), out)
        assert out[0] == 2 * factor


def test_named_tuples_without_operators_are_joined_as_before():
    class Plain(NamedTuple):
        x: float
        y: float

    @cuda.jit
    def kernel(a, out):
        joined = a + a
        out[0], out[1] = len(joined), joined[3]
    out = np.zeros(2)
    kernel[1, 1](Plain(1.0, 2.0), out)
    assert out.tolist() == [4, 2.0]


def test_blocks_and_algorithms_combine_named_tuples(rng):
    @cuda.jit
    def kernel(v, out):
        t = cuda.threadIdx.x
        total = cuda.block.reduce(Vector(v.x[t], v.y[t]))
        out[0] = total.x
    x, y = rng.integers(0, 9, 64).astype(float), rng.integers(0, 9, 64).astype(float)
    out = np.zeros(1)
    kernel[1, 64](Vector(x, y), out)
    assert out[0] == x.sum()
    got = cuda.reduce(lambda a, b: a + b, Vector(x, y), axis=0)
    assert float(got[0]) == x.sum() and float(got[1]) == y.sum()


def test_methods_of_comparisons_have_the_texts_of_their_operators():
    assert sorted(_core.comparisons.values()) == ["!=", "<", "<=", "==", ">", ">="]
    for method, text in _core.comparisons.items():
        for pair in (1, 2), (2, 1), (1, 1):
            assert getattr(operator, method)(*pair) == eval("{} {} {}".format(pair[0], text, pair[1]))


@dataclass
class Replaced:
    x: float

    def _replace(self, by):
        return Replaced(self.x + by)


def test_names_of_named_tuples_are_free_in_other_classes():
    @cuda.jit
    def kernel(value, out):
        out[0] = value._replace(2.0).x

    out = np.zeros(1)
    kernel[1, 1](Replaced(1.0), out)
    assert out[0] == 3
