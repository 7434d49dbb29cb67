"""What functions return: dataclasses, whose operators are compiled, and what no array holds, which is an error."""
import enum
import operator
from dataclasses import dataclass

import numpy as np
import pytest

from cujit import cuda, errors, vectorize

X, Y = np.linspace(0.0, 1.0, 9), np.linspace(3.0, 4.0, 9)
OFFSETS = np.array([0, 3, 3, 9])


@dataclass
class Pair:
    x: float
    k: float

    def __add__(self, other):
        return Pair(self.x + other.x, self.k + other.k)

    def __lt__(self, other):
        return self.k > other.k


class Level(enum.IntEnum):
    LOW = 3


@pytest.fixture(params=[lambda x: x, cuda.to_device], ids=["host", "device"])
def pairs(request):
    return Pair(request.param(X), request.param(Y))


def check(result, x, k):
    assert type(result) is Pair
    np.testing.assert_allclose(np.asarray(result.x), x, rtol=1e-14)
    np.testing.assert_allclose(np.asarray(result.k), k, rtol=1e-14)


def test_d20_dataclasses_are_results(pairs):
    check(cuda.map(lambda x, k: Pair(x + 1, k), pairs.x, pairs.k), X + 1, Y)
    check(cuda.zip_with(operator.add, pairs, pairs), 2 * X, 2 * Y)
    check(cuda.scan(operator.add, pairs), np.cumsum(X), np.cumsum(Y))
    check(cuda.scan(lambda a, b: a + b, pairs, Pair(1.0, 2.0), exclusive=True), 1 + np.cumsum(X) - X,
          2 + np.cumsum(Y) - Y)
    check(cuda.reduce(operator.add, pairs), X.sum(), Y.sum())
    check(cuda.reduction(lambda x, k: Pair(x, k), operator.add)(pairs.x, pairs.k), X.sum(), Y.sum())
    check(cuda.segmented_reduce(operator.add, pairs, OFFSETS, Pair(0.0, 1.0)), [X[:3].sum(), 0, X[3:].sum()],
          [1 + Y[:3].sum(), 1, 1 + Y[3:].sum()])
    check(cuda.segmented_scan(operator.add, pairs, OFFSETS), np.r_[X[:3].cumsum(), X[3:].cumsum()],
          np.r_[Y[:3].cumsum(), Y[3:].cumsum()])
    check(cuda.sort(pairs, less=operator.lt), X[::-1], Y[::-1])
    check(cuda.sort_by(lambda a: Pair(-a.x, a.k), pairs), X[::-1], Y[::-1])


def test_dataclasses_inside_of_tuples_and_as_outputs(pairs):
    found, doubled = cuda.map(lambda a: (a, 2 * a.x), pairs)
    check(found, X, Y)
    np.testing.assert_allclose(np.asarray(doubled), 2 * X)
    out = Pair(cuda.device_array(9), cuda.device_array(9))
    assert cuda.elementwise(lambda a: a + a)(pairs, out=out).x is out.x
    check(out, 2 * X, 2 * Y)


class Thing(enum.Enum):
    A = 1


NO_VALUES = {
    "a text": lambda x: "s", "a formatted text": lambda x: f"{x}", "a function": lambda x: lambda y: x,
    "a builtin": lambda x: max, "a type": lambda x: np.float32, "a module": lambda x: np, "a dict": lambda x: {"a": x},
    "a value on some paths": lambda x: None if x > 0.5 else x, "a range": lambda x: range(3),
    "a member": lambda x: Thing.A, "a tuple with a text": lambda x: (x, "s"), "an exception": lambda x: ValueError("x"),
    "a tuple with None": lambda x: (x, None), "nothing in a tuple": lambda x: (), "...": lambda x: ...,
}


@pytest.mark.parametrize("what", NO_VALUES)
def test_what_no_array_holds_is_an_error(what):
    function = NO_VALUES[what]
    calls = [lambda: cuda.elementwise(function)(X), lambda: cuda.fuse(function)(X), lambda: vectorize(function)(X),
             lambda: cuda.map(function, X), lambda: cuda.filter(function, X), lambda: cuda.sort_by(function, X),
             lambda: cuda.reduction(function, "a")(X), lambda: cuda.reduction("x", "a + b", function)(X),
             lambda: cuda.reduce(lambda a, b: function(a), X), lambda: cuda.scan(lambda a, b: function(a), X),
             lambda: cuda.segmented_scan(lambda a, b: function(a), X, OFFSETS)]
    for call in calls:
        with pytest.raises(TypeError, match="array holds|makes|returns"):
            call()


def test_the_error_shows_the_function():
    with pytest.raises(errors.TypingError) as caught:
        cuda.map(lambda x: None if x > 0.5 else x, X)
    assert "some of its paths return None" in str(caught.value) and "test_results.py" in str(caught.value)


def test_members_of_enums_of_numbers_are_numbers():
    assert list(cuda.map(lambda x: Level.LOW, X)) == [3] * 9


def test_functions_that_return_nothing():
    for call in (lambda: cuda.reduction(lambda x: None, "a")(X), lambda: cuda.scan(lambda a, b: None, X),
                 lambda: cuda.sort_by(lambda x: None, X), lambda: vectorize(lambda x: None)(X),
                 lambda: cuda.filter(lambda x: None, X), lambda: cuda.fuse(lambda x: None)(X)):
        with pytest.raises(TypeError, match="returns no|holds values of type none"):
            call()


def test_segmented_scans_compute_in_the_type_that_scans_have():
    found = cuda.segmented_scan(lambda a, b: a > b, X, OFFSETS)
    assert found.dtype == np.bool_
    for begin, end in (0, 3), (3, 9):
        np.testing.assert_array_equal(found[begin:end], cuda.scan(lambda a, b: a > b, X[begin:end]))
