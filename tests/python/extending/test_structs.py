"""as_type: classes of the program as values with fields; typeof_impl; and extensions that prepare arguments."""
import dataclasses
import operator
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cujit import cuda, errors, types
from cujit.extending import (
    as_type,
    overload,
    overload_attribute,
    overload_classmethod,
    overload_method,
    typeof,
    typeof_impl,
)


class Interval:
    def __init__(self, low, high):
        self.low, self.high = low, high


IntervalType = as_type(Interval, low=float, high=types.float64, constructor=True)


@overload_attribute(IntervalType, "middle")
def interval_middle(interval):
    return lambda interval: (interval.low + interval.high) / 2


@overload_method(IntervalType, "contains")
def interval_contains(interval, x):
    return lambda interval, x: interval.low <= x <= interval.high


@overload_classmethod(IntervalType, "around")
def interval_around(cls, x, radius):
    return lambda cls, x, radius: Interval(x - radius, x + radius)


@overload(operator.add)
def interval_add(a, b):
    if isinstance(a, IntervalType) and isinstance(b, IntervalType):
        return lambda a, b: Interval(a.low + b.low, a.high + b.high)
    if isinstance(a, IntervalType) and isinstance(b, types.Number):
        return lambda a, b: IntervalType(a.low + b, a.high + b)
    return None


@overload(operator.neg)
def interval_negative(a):
    if isinstance(a, IntervalType):
        return lambda a: Interval(-a.high, -a.low)
    return None


@overload(operator.lt)
def interval_before(a, b):
    if isinstance(a, IntervalType):
        return lambda a, b: a.high < b.low
    return None


@overload(operator.getitem)
def interval_end(a, i):
    if isinstance(a, IntervalType):
        return lambda a, i: a.high if i else a.low
    return None


@overload(operator.contains)
def interval_in(a, x):
    if isinstance(a, IntervalType):
        return lambda a, x: a.low <= x <= a.high
    return None


@overload(len)
def interval_len(a):
    if isinstance(a, IntervalType):
        return lambda a: 2
    return None


UNIT = Interval(0, 1)


def run(kernel, *arguments, count=8):
    out = np.zeros(count)
    kernel[1, 1](out, *arguments)
    return list(out)


def test_fields_members_and_operators():
    @cuda.jit
    def kernel(out, a):
        out[0] = a.high - a.low
        out[1] = a.middle
        out[2] = a.contains(2)
        out[3] = (a + Interval(1, 2)).high
        out[4] = Interval.around(5, 1).low
        out[5] = len(a) + len(out)
        out[6] = (a + UNIT + 0.5).high
        out[7] = (-a)[0]

    assert run(kernel, Interval(1, 4)) == [3, 2.5, 1, 6, 4, 10, 5.5, -4]

    @cuda.jit
    def more(out, a):
        out[0] = a < Interval(5, 6)
        out[1] = 3.5 in a
        out[2] = isinstance(a, Interval)
        b = a
        for i in range(3):
            b = b + i
        out[3] = b.low

    assert run(more, Interval(1, 4), count=4) == [1, 1, 1, 4]


def test_values_convert_to_fields_of_a_fixed_type():
    assert typeof(Interval(1, 2)) == IntervalType()

    @cuda.jit
    def kernel(out, a):
        out[0] = a.high

    assert run(kernel, Interval(1, 4), count=1) == [4]
    assert run(kernel, Interval(1.5, np.float32(2.5)), count=1) == [2.5]
    assert len(kernel.signatures) == 1
    with pytest.raises(errors.LaunchArgumentError):
        run(kernel, Interval(1, "high"))


class Particles:
    def __init__(self, count):
        self.inner = np.arange(float(count)), (2, 3.5), Interval(0, count)


ParticlesType = as_type(Particles, {"positions": Any, "pair": None, "bounds": IntervalType},
                        unpack=lambda particles: particles.inner)


@overload_method(ParticlesType, "move")
def particles_move(particles, distance):
    def move(particles, distance):
        for i in range(particles.positions.size):
            particles.positions[i] += distance
        return particles.positions[0]
    return move


class Filled:
    def __init__(self, number):
        self.number = number


as_type(Filled, {"numbers": Any}, unpack=lambda filled: (cuda.to_device(np.full(4, filled.number)),))


def test_arrays_that_only_unpack_has_last_for_the_launch():
    """Memory that the first one gave back would be that of the second one."""
    @cuda.jit
    def kernel(out, a, b):
        out[0] = a.numbers[0] * 10 + b.numbers[0]

    for number in range(1, 5):
        assert run(kernel, Filled(float(number)), Filled(8.0))[0] == number * 10 + 8


def test_fields_may_be_arrays_tuples_and_other_such_values():
    @cuda.jit(device=True)
    def width(p):
        return p.bounds.high - p.bounds.low

    @cuda.jit
    def kernel(out, p):
        out[0] = p.move(10)
        out[1] = p.pair[0] + p.pair[1]
        out[2] = width(p)
        out[3] = p.bounds.middle

    particles = Particles(4)
    assert run(kernel, particles, count=4) == [10, 5.5, 4, 2]
    np.testing.assert_array_equal(particles.inner[0], np.arange(4) + 10)
    assert kernel.signatures[0][1] == ParticlesType(types.float64[::1], types.Tuple((types.int64, types.float64)),
                                                     IntervalType())


def test_explicit_signatures_and_ptx(assembles):
    def kernel(out, a):
        out[0] = a.middle + (a + 1).low

    signature = (types.float64[::1], IntervalType())
    assembles(kernel, signature, (8, 0))
    compiled = cuda.jit(types.void(*signature))(kernel)
    assert run(compiled, Interval(1, 3), count=1) == [4]


def test_declarations_by_annotations():
    class Fields:
        a: types.int32
        b: "float"
        c: Any

    class Thing:
        a, b, c = 1, 2, np.ones(2)

    struct = as_type(Thing, Fields)
    assert struct.fields == ("a", "b", "c") and struct.types == (types.int32, types.float64, None)
    assert typeof(Thing()) == struct(types.float64[::1])

    @dataclasses.dataclass
    class Point:
        x: float
        y: int

    assert as_type(Point).types == (types.float64, types.int64)
    assert typeof(Point(1, 2)).types == (types.float64, types.int64)

    class Sub(Thing):
        pass

    assert typeof(Sub()) == typeof(Thing())


def test_a_class_whose_constructor_does_more_is_made_by_its_type():
    class Squared:
        def __init__(self, x):
            self.value = x * x

    SquaredType = as_type(Squared, value=float)

    @overload(Squared)
    def squared_for(x):
        return lambda x: SquaredType(x * x)

    @cuda.jit
    def kernel(out):
        out[0] = Squared(3).value
        out[1] = SquaredType(3).value

    assert run(kernel, count=2) == [9, 3]


def test_what_cannot_be_declared():
    with pytest.raises(TypeError, match="there are no fields"):
        as_type(Interval, {})
    with pytest.raises(TypeError, match="declares a class"):
        as_type(3, x=float)
    with pytest.raises(TypeError, match="takes a type for each of"):
        ParticlesType(types.int64)

    class Few:
        pass

    as_type(Few, x=None, y=None, unpack=lambda few: (1,))

    @cuda.jit
    def kernel(out, a):
        out[0] = a.x

    with pytest.raises(errors.LaunchArgumentError, match="1 values for the 2 fields"):
        run(kernel, Few())


def test_fields_are_read_only():
    @cuda.jit
    def kernel(out, a):
        a.low = 2

    with pytest.raises(errors.TypingError):
        run(kernel, UNIT)


@overload_method(IntervalType, "__float__")
def interval_number(interval):
    return lambda interval: interval.high - interval.low


def test_numbers_of_values():
    @cuda.jit
    def kernel(out, a):
        out[0] = float(a)
        out[1] = np.float32(a) + types.float64(a)

    assert run(kernel, Interval(1, 4), count=2) == [3, 6]

    @cuda.jit
    def wrong(out, a):
        out[0] = int(a)

    with pytest.raises(errors.TypingError):
        run(wrong, UNIT)


class Celsius:
    def __init__(self, degrees):
        self.degrees = degrees


class Wrapped:
    def __init__(self, array):
        self.array = array


@typeof_impl.register(Celsius)
def typeof_celsius(value, context):
    return types.float64


@typeof_impl.register(Wrapped)
def typeof_wrapped(value, context):
    return typeof(value.array)


class Unwrapping:
    def __init__(self):
        self.seen = []

    def prepare_args(self, ty, value, stream, retr):
        self.seen.append(ty)
        if isinstance(value, Celsius):
            return ty, value.degrees
        if isinstance(value, Wrapped):
            retr.append(lambda: self.seen.append("after"))
            return ty, value.array
        return ty, value


def test_extensions_prepare_arguments_of_registered_types():
    extension = Unwrapping()

    @cuda.jit(extensions=[extension])
    def kernel(out, temperature, array):
        out[0] = temperature + array[1]

    assert typeof(Celsius(3.0)) == types.float64
    assert run(kernel, Celsius(2.5), Wrapped(np.arange(3.0)), count=1) == [3.5]
    assert extension.seen == [types.float64[::1], types.float64, types.float64[::1], "after"]


def test_the_example():
    path = Path(__file__).parents[3] / "examples" / "array_view.py"
    assert runpy.run_path(str(path))["main"](200).startswith("200 events")


class Kelvin(Celsius):
    pass


def test_an_extension_may_have_types_of_its_own():
    marker = object()
    typeof_impl.register(Kelvin, lambda value, context: marker)

    class Extension:
        def prepare_args(self, ty, value, stream, retr):
            return (types.float64, value.degrees + 273) if ty is marker else (ty, value)

    @cuda.jit(extensions=[Extension()])
    def kernel(out, temperature):
        out[0] = temperature

    assert run(kernel, Kelvin(2.0), count=1) == [275]


def test_typeof_impl_takes_classes():
    with pytest.raises(TypeError, match="takes a class"):
        typeof_impl.register(3)(lambda value, context: None)
