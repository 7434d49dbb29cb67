"""What later CPythons compile in ways of their own, and what only they can write: as text, for older ones to read."""
import sys
import warnings

import numpy as np
import pytest

from cujit import cuda
from cujit.errors import UnsupportedError

warnings.simplefilter("ignore")


def run(kernel, *arguments):
    cuda.jit(kernel)[1, 1](*arguments)


def compiled(text, name="kernel", **scope):
    scope["cuda"] = cuda
    exec(text, scope)
    return scope[name]


def test_small_and_common_constants():
    def kernel(out):
        text = ""
        nothing = None
        out[0], out[1], out[2] = -1, 255, 256
        out[3], out[4] = True, False
        out[5] = len(text)
        out[6] = 7 if nothing is None else 8

    out = np.full(7, 99, np.int64)
    run(kernel, out)
    assert out.tolist() == [-1, 255, 256, 1, 0, 0, 7]


def test_constant_slices():
    def kernel(x, out):
        for row, value in enumerate(x[1:3, ...]):
            out[row] = value[0]
        out[2] = x[::2].shape[0]
        part = x[3:, 1:]
        out[3] = part[0, 0]
        x[1:2, 0] += 100

    x, out = np.arange(10).reshape(5, 2), np.zeros(4, np.int64)
    run(kernel, x, out)
    assert out.tolist() == [2, 4, 3, 7] and x[1, 0] == 102


def test_captured_slices():
    part, rows, last = slice(1, 3), (slice(None, None, 2), 1), slice(-2, None)

    def kernel(x, y):
        x[part] = 7
        y[rows] += x[part.start] + (10 if part.step is None else 0)
        for at, value in enumerate(x[last]):
            y[at, 0] = value

    x, y = np.arange(4.0), np.zeros((3, 2))
    run(kernel, x, y)
    assert x.tolist() == [0, 7, 7, 3] and y.tolist() == [[7, 17], [3, 0], [0, 17]]


def test_annotations_capture_nothing():
    """The variable is assigned again; that an annotation names it does not make it one of memory."""
    def kernel(x, out):
        kind = 1

        def shifted(value: kind, by: "kind" = 2, *, times: int = 3) -> kind:
            return (value + by) * times
        kind = 5.0
        out[0] = shifted(x[0]) + kind

    out = np.zeros(1)
    run(kernel, np.array([4]), out)
    assert out[0] == 23


def test_builtins_of_generator_expressions():
    def kernel(x, out):
        out[0] = any(value > 3 for value in x)
        out[1] = all(value > 3 for value in x)
        out[2] = sum(value * factor for value in x for factor in (1, 10))
        out[3] = sum(tuple(value + 1 for value in (1, 2, 3)))
        out[4] = sum(value for value in ((1, 2) if x[0] > 0 else (3, 4)))
        out[5] = max(max(inner for inner in (outer, 2)) for outer in (1, 5, 3))

    out = np.zeros(6, np.int64)
    run(kernel, np.array([1, 2, 4]), out)
    assert out.tolist() == [1, 0, 77, 9, 3, 5]


def test_loops_that_are_left():
    def find(rows, limit):
        for row in rows:
            for value in row:
                if value > limit:
                    return value, limit
                if value < 0:
                    break
            else:
                continue
            limit -= 1
        return -1, limit

    device_find = cuda.jit(device=True)(find)

    def kernel(out):
        rows = ((1, 2), (-1, 5), (3, 4))
        out[0], out[1] = device_find(rows, 3)
        out[2], out[3] = device_find(rows, 9)

    out = np.zeros(4, np.int64)
    run(kernel, out)
    rows = ((1, 2), (-1, 5), (3, 4))
    assert out.tolist() == [*find(rows, 3), *find(rows, 9)]


def test_comprehensions_in_loops():
    def kernel(x, out):
        for i in range(x.size):
            total = sum([k * k for k in range(i) if k != 1])
            out[i] += [v + total for v in (x[i], 7)][0]

    x, out = np.arange(5), np.ones(5, np.int64)
    run(kernel, x, out)
    assert out.tolist() == [1 + int(x[i]) + sum(k * k for k in range(i) if k != 1) for i in range(5)]


@pytest.mark.skipif(sys.version_info < (3, 14), reason="no template strings")
def test_template_strings_are_refused():
    kernel = compiled("def kernel(out):\n    text = t'a {out[0]} b'\n    out[0] = 1\n")
    with pytest.raises(UnsupportedError, match="a template string is not supported in a kernel; use an f-string"):
        run(kernel, np.zeros(1))


@pytest.mark.skipif(sys.version_info < (3, 15), reason="no lazy imports")
def test_lazy_imports_are_what_they_import():
    kernel = compiled("lazy import math\nlazy from math import floor\n\n"
                      "def kernel(out):\n    out[0] = math.sqrt(floor(out[0]))\n")
    out = np.full(1, 4.5)
    run(kernel, out)
    assert out[0] == 2


@pytest.mark.skipif(sys.version_info < (3, 15), reason="no star in a comprehension")
def test_stars_in_comprehensions():
    kernel = compiled("def kernel(out):\n    out[0] = [*(k, k + 1) for k in (1, 5)][1]\n")
    with pytest.raises(UnsupportedError, match="a comprehension with a star"):
        run(kernel, np.zeros(4))
    total = compiled("def kernel(out):\n    out[0] = sum((*(k, k + 1) for k in (1, 5)))\n")
    out = np.zeros(1)
    run(total, out)
    assert out[0] == 14
