"""What is known of an item of a tuple that went through several functions: it is known where the tuple was made."""
import numpy as np
import pytest

from cujit import cuda

KERNEL = """
@cuda.jit(device=True)
def inner(items):
    return items[0] * 3 + 1

@cuda.jit(device=True)
def middle(items, a):
    s = 0
{branches}
    return inner(items) + s

@cuda.jit
def kernel(out, n, a):
    if n > -10:
        if n < 10:
            if a > 3:
                out[1] = 1
            elif a > 2:
                out[1] = 2
            else:
                out[2] = 3
    out[0] = middle((n, 1), a)
"""


@pytest.mark.parametrize("count", range(8))
def test_blocks_of_one_function_are_none_of_another(count):
    """The call in `middle` is in a block whose number one of `kernel` has where n is small, or none of `kernel`."""
    branches = "\n".join(f"    if a == {9 + k}:\n        s += {k + 2}" for k in range(count))
    scope = {"cuda": cuda}
    exec(KERNEL.replace("{branches}", branches), scope)
    out = cuda.to_device(np.zeros(3, np.int64))
    for n in (1 << 40, -(1 << 40), 7):
        scope["kernel"][1, 1](out, n, 1)
        assert out.copy_to_host()[0] == n * 3 + 1


ARRAYS = """
@cuda.jit(device=True)
def inner(items, n):
    return items[0][n - 1]

@cuda.jit(device=True)
def middle(items, n, a):
    s = 0
{branches}
    return inner(items, n) + s

@cuda.jit(check="bounds")
def kernel(out, x, n, a):
    if x.size > 4:
        if n <= x.size:
            if a > 3:
                out[1] = 1
            elif a > 2:
                out[1] = 2
            else:
                out[2] = 3
    out[0] = middle((x, 1), n, a)
"""


@pytest.mark.parametrize("count", range(8))
def test_extents_of_arrays_in_tuples(count):
    branches = "\n".join(f"    if a == {9 + k}:\n        s += {k + 2}" for k in range(count))
    scope = {"cuda": cuda}
    exec(ARRAYS.replace("{branches}", branches), scope)
    out, x = cuda.to_device(np.zeros(3, np.int64)), cuda.to_device(np.arange(100, 103))
    scope["kernel"][1, 1](out, x, 3, 1)
    assert out.copy_to_host()[0] == 102
    with pytest.raises(IndexError):
        scope["kernel"][1, 1](out, x, 4, 1)
        cuda.synchronize()
