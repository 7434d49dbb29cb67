"""What is known of an item of a tuple that went through several functions: it is known where the tuple was made."""
import numpy as np
import pytest

from cujit import cuda

# A call in `middle` is in a block whose number one of `kernel` has where the condition holds, or none of `kernel`.
SOURCE = """
@cuda.jit(device=True)
def inner(items, n):
    return {result}

@cuda.jit(device=True)
def middle(items, n, a):
    s = 0
{branches}
    return inner(items, n) + s

@cuda.jit({options})
def kernel(out, x, n, a):
    if {lower}:
        if {upper}:
            if a > 3:
                out[1] = 1
            elif a > 2:
                out[1] = 2
            else:
                out[2] = 3
    out[0] = middle(({item}, 1), n, a)
"""


def kernel_of(branch_count, **parts):
    branches = "\n".join(f"    if a == {9 + k}:\n        s += {k + 2}" for k in range(branch_count))
    scope = {"cuda": cuda}
    exec(SOURCE.format(branches=branches, **parts), scope)
    return scope["kernel"]


@pytest.mark.parametrize("count", range(8))
def test_blocks_of_one_function_are_none_of_another(count):
    kernel = kernel_of(count, options="", lower="n > -10", upper="n < 10", item="n", result="items[0] * 3 + 1")
    out, x = cuda.to_device(np.zeros(3, np.int64)), cuda.to_device(np.arange(3))
    for n in (1 << 40, -(1 << 40), 7):
        kernel[1, 1](out, x, n, 1)
        assert out.copy_to_host()[0] == n * 3 + 1


@pytest.mark.parametrize("count", range(8))
def test_extents_of_arrays_in_tuples(count):
    kernel = kernel_of(count, options='check="bounds"', lower="x.size > 4", upper="n <= x.size", item="x",
                       result="items[0][n - 1]")
    out, x = cuda.to_device(np.zeros(3, np.int64)), cuda.to_device(np.arange(100, 103))
    kernel[1, 1](out, x, 3, 1)
    assert out.copy_to_host()[0] == 102
    with pytest.raises(IndexError):
        kernel[1, 1](out, x, 4, 1)
        cuda.synchronize()
