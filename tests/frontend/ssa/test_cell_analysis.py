"""Which variables are shared is found for all that a function captures at once."""
import resource

import pytest
from made_kernels import check_values, made

from cujit import cuda, int64

SIGNATURE = (int64[::1], int64)


def captured(count):
    """One nested function reads them all."""
    return "\n".join(["def kernel(x, a):", *(f"    v{k} = x[{k}]" for k in range(count)), "    def f(p):",
                      "        s = p", *(f"        if s > {k}:\n            s += v{k}" for k in range(count)),
                      "        return s", "    x[0] = f(a)"])


def assigned(count):
    """One within a nested function assigns to every other one."""
    names = ", ".join(f"v{k}" for k in range(0, count, 2))
    return "\n".join(["def kernel(x, a):", *(f"    v{k} = x[{k}]" for k in range(count)), "    def f(p):",
                      "        def g(q):", f"            nonlocal {names}",
                      *(f"            v{k} += q + v{k + 1}" for k in range(0, count, 2)), "        g(p)",
                      "    f(a)", *(f"    x[{k}] = v{k}" for k in range(count))])


@pytest.mark.parametrize("shape", [captured, assigned])
def test_captures_and_the_length_of_code_are_no_product(shape):
    """Where code was decoded for each variable that it captures 1,600 took 2 GB."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    cuda.jit(made(shape(1600))).inspect("ir", SIGNATURE)
    kibibytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert kibibytes < 400 << 10


@pytest.mark.parametrize("shape", [captured, assigned])
def test_values(shape):
    check_values(shape(40), 40)
