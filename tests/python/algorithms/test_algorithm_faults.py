"""Algorithms whose functions raise, or cannot be compiled: errors that name the function's line."""
import numpy as np
import pytest

from cujit import cuda
from cujit.errors import CompileError


def checked(x):
    if x < 0:
        raise ValueError("negative")
    return x


raising = cuda.jit(checked, device=True, exceptions=True)
plus = cuda.jit(lambda a, b: checked(a) + b, device=True, exceptions=True)
less = cuda.jit(lambda a, b: checked(a) < b, device=True, exceptions=True)
X = np.array([3.0, -1.0, 2.0])
OFFSETS = np.array([0, 3])


@pytest.mark.parametrize("call", [
    lambda: cuda.elementwise(checked, exceptions=True)(X), lambda: cuda.fuse(checked, exceptions=True)(X),
    lambda: cuda.map(raising, X), lambda: cuda.zip_with(plus, X[::-1], X[::-1]),
    lambda: cuda.reduction(checked, "a + b", exceptions=True)(X), lambda: cuda.reduce(plus, X[1:]),
    lambda: cuda.scan(plus, X[1:]), lambda: cuda.filter(raising, X), lambda: cuda.sort(X, less=less),
    lambda: cuda.sort_by(raising, X), lambda: cuda.segmented_reduce(plus, X[1:], np.array([0, 2]), 0.0)])
def test_a_function_that_raises(call):
    with pytest.raises(ValueError, match="negative"):
        call()
        cuda.synchronize()
    assert cuda.map(raising, abs(X)).tolist() == [3, 1, 2]   # the next launch works


@pytest.mark.parametrize("call", [
    lambda: cuda.map(lambda x: x.nothing, X), lambda: cuda.reduce(lambda a, b: a.nothing, X),
    lambda: cuda.scan(lambda a, b: a.nothing, X), lambda: cuda.filter(lambda x: x.nothing, X),
    lambda: cuda.sort(X, less=lambda a, b: a.nothing), lambda: cuda.sort_by(lambda x: x.nothing, X),
    lambda: cuda.segmented_scan(lambda a, b: a.nothing, X, OFFSETS)])
def test_a_function_that_cannot_be_compiled(call):
    with pytest.raises(CompileError, match=r"(?s)test_algorithm_faults\.py:\d+.*nothing"):
        call()
