"""Compile time grows with the size of a kernel, not with the number of paths through it; large sources work."""
import re
import time

import numpy as np
import pytest
from made_kernels import made

from cujit import cuda, types

SM = 80
F64 = types.float64[::1]


def make(source):
    return cuda.jit(made(source, cuda=cuda))


def seconds(source, what="asm", sm=SM):
    """CPU time for a kernel of one array."""
    kernel = make(source)
    start = time.process_time()
    kernel.inspect(what, (F64,), sm)
    return time.process_time() - start


def chain(n, step="    return f{below}(a * 2.0) + {k}"):
    functions = ["def f0(a):\n    return a + 1.0"]
    functions += [f"def f{k}(a):\n" + step.format(k=k, below=k - 1) for k in range(1, n)]
    return "\n".join([*functions, "def kernel(x):", f"    x[0] = f{n - 1}(x[0])"])


TWO_CALLS = "    if a > {k}:\n        return f{below}(a - 1.0)\n    return f{below}(a) * 2.0"


@pytest.mark.parametrize("sm", [SM, None])
def test_functions_that_call_the_next_one_twice(sm):
    """2 ** 24 paths: copies of all of them would never end."""
    assert seconds(chain(24, TWO_CALLS), sm=sm) < 20


def test_functions_called_twice_give_the_right_result():
    kernel = make(chain(16, TWO_CALLS))
    x = np.array([5.5])
    kernel[1, 1](x)
    expected = 5.5
    namespace = {"cuda": cuda}
    exec(chain(16, TWO_CALLS), namespace)
    y = [expected]
    namespace["kernel"](y)
    assert x[0] == y[0]


def test_a_long_chain_of_functions():
    kernel = make(chain(300))
    x = np.array([0.0])
    kernel[1, 1](x)
    value = 1.0 + 0.0 * 2.0 ** 299
    for k in range(1, 300):
        value += k
    assert x[0] == value


def test_inference_is_proportional_to_straight_code():
    def straight(n):
        lines = [f"    v = v * {i % 5 + 1} + x[{i}]" for i in range(n)]
        return "\n".join(["def kernel(x):", "    v = x[0]", *lines, "    x[0] = v"])
    seconds(straight(10), "ir")
    small, large = (min(seconds(straight(n), "ir") for _ in range(3)) for n in (500, 4000))
    assert large < 8 * 3 * max(small, 0.002)


def loops(n):
    body = "    for k in range(m):\n        s += x[i + k] * 3\n" * n
    return f"def kernel(x):\n    i, m, s = cuda.grid(1), int(x[0]), 0.0\n{body}    x[i] = s"


@pytest.mark.parametrize("sm", [SM, None])
def test_loops_of_the_same_end(sm):
    """The code generator would ask of each how often it runs, given the ends of all loops before it: for 60 s."""
    assert seconds(loops(900), sm=sm) < 20


def test_integers_of_many_sums_and_products():
    """Strength reduction of loops would write them in all ways in which they can be sums of two others: for 60 s."""
    lines = "".join(f"        a = a * a - (a ^ {k})\n        b = b - (a - a * 3)\n" for k in range(90))
    source = ("def kernel(x):\n    a, b = cuda.blockIdx.x + int(x[0]), cuda.threadIdx.x\n    if x[b] >= 0:\n"
              f"{lines}        x[b] = x[b // 7 & 63]\n")
    assert seconds(source, sm=None) < 20


@pytest.mark.parametrize("sm", [SM, None])
def test_loops_are_parted_by_blocks(sm):
    """Where the code generator puts them there, it counts all blocks below anew for each."""
    llvm = str(make(loops(400)).inspect("llvm", (F64,), sm))
    assert len(re.findall(r"^\d+: +; preds = %\d+\n  br label %\d+\n", llvm, re.MULTILINE)) >= 399


@pytest.mark.parametrize("source", [
    "    x[0] = " + " + ".join(["x[1]"] * 900),
    "    x[0] = " + "(1 if x[1] else " * 80 + "2" + ")" * 80,
    "    t = (" + ", ".join(["1"] * 2000) + ")\n    x[0] = t[1999]",
    "".join(f"    {'elif' if k else 'if'} x[1] == {k}:\n        x[0] = {k}\n" for k in range(600)),
    "    " + "n" * 50000 + " = 3\n    x[0] = " + "n" * 50000,
    "    größe = 3\n    变量 = größe + 1\n    x[0] = 变量",
], ids=["sum", "conditional expressions", "tuple", "elif", "long name", "names of all alphabets"])
def test_large_and_odd_sources(source):
    assert seconds("def kernel(x):\n" + source, "ir") < 5
