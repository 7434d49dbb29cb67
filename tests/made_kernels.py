"""Kernels of source text that tests put together, and those that several files of tests look at."""
import linecache

import numpy as np

from cujit import cuda


def made(source, name="kernel", file="<made>", **names):
    """The function of that name; its source lines can be found."""
    linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
    exec(compile(source, file, "exec"), names)
    return names[name]


def check_values(source, count, a=30):
    """kernel(x, a) makes of 1 to `count` what the function in Python makes of it."""
    function = made(source)
    got, expected = np.arange(1, count + 1), np.arange(1, count + 1)
    cuda.jit(function)[1, 1](got, a)
    function(expected, a)
    np.testing.assert_array_equal(got, expected)


def variables_of_yields(count):
    """A generator keeps each of as many variables at most of as many yields."""
    return "\n".join(["def items(x, a):", *(f"    v{k} = x[{k}]" for k in range(count)),
                      *(f"    yield v{k}\n    v{k} = a" for k in range(count)),
                      *(f"    yield v{k} + {k}" for k in range(0, count, 7)),
                      "def kernel(x, a):", "    for item in items(x, a):", "        x[0] += item * (x[0] % 3 + 1)"])


def echoes(delays, gains, x, out):
    """What the rows' elements are loaded from in front of the threads, which have them alike."""
    row = cuda.blockIdx.y
    i = cuda.grid(1)
    if i < x.size:
        value = x[i]
        if i >= delays[row]:
            value += x[i - delays[row]] * gains[row]
        out[row, i] = value
