"""Dataclasses, and named tuples beside them: arguments and constants, made in kernels, nested, with defaults."""
import dataclasses
from collections import namedtuple
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import numpy as np
import pytest

from cujit import cuda, errors, float32


class Point(NamedTuple):
    x: float
    y: float = 2.5


Pair = namedtuple("Pair", "first second")


@dataclass(frozen=True)
class Span:
    low: int
    high: int = 100
    kind: ClassVar[str] = "span"


@dataclass
class Job:
    name_code: int
    span: Span
    data: np.ndarray
    centre: Point
    weights: tuple = (1, 2)
    scale: float = field(default=1.0, kw_only=True)


@dataclass(slots=True)
class Slotted:
    a: np.float32
    b: bool


@dataclass
class Checked:
    a: int

    def __post_init__(self):
        self.a = abs(self.a)


SPAN = Span(3, 9)
CONFIG = Job(1, Span(0, 4), np.arange(4.0), Point(1, 2), scale=3.0)


def launch(kernel, *arguments, n=6):
    out = np.full(n, -99.0)
    cuda.jit(kernel)[1, 1](out, *arguments)
    return out.tolist()


def test_dataclasses_by_value():
    def kernel(out, job, slotted):
        for k in range(job.span.low, job.span.high):
            job.data[k] *= job.scale
        out[0] = job.name_code + job.centre.y
        out[1] = job.weights[1] + job.data.size
        out[2] = slotted.a if slotted.b else 0

    data = np.arange(5.0)
    assert launch(kernel, Job(7, Span(1, 3), data, Point(1), (5, 6), scale=10), Slotted(np.float32(1.5), True))[:3] == [
        9.5, 11, 1.5]
    assert data.tolist() == [0, 10, 20, 3, 4]


def test_device_arrays_and_equal_types():
    @cuda.jit
    def kernel(job):
        i = cuda.grid(1)
        if i < job.data.size:
            job.data[i] += job.centre.x

    data = cuda.to_device(np.zeros(4))
    for k in range(3):
        kernel[1, 4](Job(k, Span(k), data, Point(float(k), 0.0), scale=0.5))
    assert data.copy_to_host().tolist() == [3, 3, 3, 3] and len(kernel.signatures) == 1
    kernel[1, 4](Job(1.5, Span(0), data, Point(1.0, 0.0), scale=0.5))
    assert len(kernel.signatures) == 2


def test_instances_as_constants():
    def kernel(out):
        mine = cuda.local.array(SPAN.high, float32)
        out[0] = SPAN.high - SPAN.low + mine.size
        out[1] = CONFIG.data[2] * CONFIG.scale + CONFIG.centre.y
        span = CONFIG.span
        out[2] = span.high

    assert launch(kernel)[:3] == [15, 8, 4]


def test_named_tuples_and_dataclasses_made_in_kernels():
    @cuda.jit(device=True)
    def shifted(p, by):
        return Point(p.x + by, y=p.y)

    @cuda.jit(device=True)
    def widened(span):
        return Span(span.low - 1, high=span.high + 1)

    def kernel(out, n):
        p = shifted(Point(n), 1.5)
        out[0] = p.x * 100 + p.y + p[1]
        x, y = p
        out[1] = x + y
        s = widened(Span(n))
        out[2] = s.low * 1000 + s.high
        best = Pair(0, -1.0)
        for k in range(4):
            if k * (3 - k) > best.second:
                best = Pair(k, k * (3 - k) * 1.0)
        out[3] = best.first * 10 + best.second
        out[4] = Pair(first=Point(1), second=2).first.y
        chosen = Span(1, 2) if n > 3 else Span(5)
        out[5] = chosen.low + chosen.high

    assert launch(kernel, 2) == [355, 6, 1101, 12, 2.5, 105]


def test_a_subclass_is_another_type():
    @dataclass(frozen=True)
    class Wide(Span):
        extra: float = 0.5

    def kernel(out, s):
        out[0] = s.low + s.high + s.extra

    assert launch(kernel, Wide(1, 2))[0] == 3.5


@pytest.mark.parametrize("source, says", [
    ("out[0] = s.middle", "middle"), ("out[0] = s[0]", "index"), ("s.low = 3", "cannot store"), ("a, b = s", "unpack"),
    ("out[0] = Span().low", "Span takes 1 to 2 arguments, 0 given"), ("out[0] = Span(1, 2, 3).low", "3 given"),
    ("out[0] = Span(1, low=2).low", "two values for field 'low'"), ("out[0] = Span(1, weight=2).low", "weight"),
    ("out[0] = Checked(1).a", "Checked"),
])
def test_what_they_cannot_do(source, says):
    names = {"Span": Span, "Checked": Checked}
    exec(f"def kernel(out, s):\n    {source}", names)
    with pytest.raises(errors.TypingError, match=says):
        launch(names["kernel"], Span(1))


def test_fields_that_kernels_cannot_take_are_named():
    @dataclass
    class Bad:
        text: str

    with pytest.raises(TypeError, match="'str'"):
        launch(lambda out, s: None, Bad("x"))


def test_array_fields_stay_alive_while_the_kernel_runs():
    @dataclass
    class Fresh:
        @property
        def data(self):
            return np.full(1000, 2.0)

    fresh = dataclasses.make_dataclass("Fresh", [("data", np.ndarray)])(np.full(1000, 2.0))

    def kernel(out, f):
        for v in f.data:
            out[0] += v

    for _ in range(3):
        assert launch(kernel, fresh)[0] == 2000 - 99
    assert dataclasses.is_dataclass(Fresh)
