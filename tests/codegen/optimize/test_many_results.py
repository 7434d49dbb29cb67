"""Many variables that a generator keeps over many yields: compile time goes with the pairs, and not with their cube."""
import re

import numpy as np
import pytest

from cujit import cuda, types

SIGNATURE = (types.int64[::1], types.int64)


def kept(count):
    """As many variables as yields, all of them kept over most of these."""
    return "\n".join(["def g(x, a):", *(f"    v{k} = x[{k}]" for k in range(count)),
                      *(f"    yield v{k}\n    v{k} = a" for k in range(count)),
                      *(f"    yield v{k} + {k}" for k in range(0, count, 9)),
                      "def kernel(x, a):", "    for e in g(x, a):", "        x[0] += e * (x[0] % 3 + 1)"])


def made(source):
    names = {}
    exec(compile(source, "<many>", "exec"), names)  # noqa: S102
    return names["kernel"]


@pytest.mark.parametrize("count", [20, 90, 200])
def test_values(count):
    kernel = made(kept(count))
    got, expected = np.arange(1, count + 1), np.arange(1, count + 1)
    cuda.jit(kernel)[1, 1](got, 30)
    kernel(expected, 30)
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("sm", [None, 80])
def test_results_of_all_returns_come_to_one_place(sm):
    """A struct for each took a node of all values for each of them: 300 took 11 s."""
    if sm is None and cuda.get_current_device().kind != "cpu":
        pytest.skip("code of the CPU device")
    text = cuda.jit(made(kept(150))).inspect("llvm", SIGNATURE, sm)
    assert len(re.findall("insertvalue", text)) < 1000
