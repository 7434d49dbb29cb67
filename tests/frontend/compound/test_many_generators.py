"""Generators are looked at by who uses them, and not by a search of the kernel for each."""
import resource

import pytest
from made_kernels import check_values, made

from cujit import cuda, int64

SIGNATURE = (int64[::1], int64)


def expressions(count):
    """As many generator expressions, each over a variable of its own."""
    lines = [f"    v{k} = x[{k}]\n    if a > {k}:\n        v{k} += sum(e + v{k} for e in (a, v{k}))"
             for k in range(count)]
    return "\n".join(["def kernel(x, a):", *lines, *(f"    x[{k}] = v{k}" for k in range(count))])


def iterators(count):
    """Each on one of two ways, of which next() takes the items."""
    lines = [f"    if a > {k}:\n        g{k} = iter((a, x[{k}]))\n    else:\n        g{k} = iter((x[{k}], a))\n"
             f"    x[{k}] += next(g{k}) - {k} * next(g{k})" for k in range(count)]
    return "\n".join(["def kernel(x, a):", *lines])


def test_generators_and_the_size_of_a_kernel_are_no_product():
    """Where the kernel was searched for the users of each, 800 took 9 GB."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    cuda.jit(made(expressions(800))).inspect("ir", SIGNATURE)
    kibibytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert kibibytes < 500 << 10


@pytest.mark.parametrize("shape", [expressions, iterators])
def test_values(shape):
    check_values(shape(40), 40)
