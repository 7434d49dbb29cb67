"""Tests of whether a variable has been assigned to are left out where the condition of the assignment holds again, and
only there: kernels end with UnboundLocalError where CPython does, else have its results."""

import numpy as np
import pytest
from made_kernels import made

from cujit import cuda, int64

A = int64[::1]

# name: (the program, whether nothing is tested)
PROGRAMS = {
    "again": ("if a > b:\n    v = x[0]\nx[1] = 5\nif a > b:\n    x[2] = v", True),
    "negated": ("if not a > b:\n    x[3] = 1\nelse:\n    v = x[0]\nif a > b:\n    x[2] = v", True),
    "other side": ("if a > b:\n    x[3] = 1\nelse:\n    v = x[0]\nif not (a > b):\n    x[2] = v", True),
    "under another one": ("if a > b:\n    v = x[0]\nif a > 0:\n    if a > b:\n        if b < 2:\n"
                          "            x[2] = v", True),
    "in a loop": ("for k in range(4):\n    if k >= a:\n        v = x[k]\n    x[0] += 1\n"
                  "    if k >= a:\n        x[k] += v", True),
    "in a loop, used behind it": ("for k in range(4):\n    if k >= a:\n        v = x[k]\n    x[0] += 1\n"
                                  "    if k >= a:\n        x[k] += v\nx[5] = v", False),
    "of the trip before": ("for k in range(4):\n    if k >= a:\n        v = k + x[k]\n    if k >= b:\n"
                           "        x[k] += v", False),
    "kept from the trip before": ("v = 7\nfor k in range(4):\n    if k >= a:\n        v = k\n    if k >= a:\n"
                                  "        x[k] += v\n    if k >= b:\n        x[k] += v * 3", True),
    "doubled": ("s = 1\nwhile s < 6:\n    if a >= s:\n        v = x[a - s] + s\n    x[7] += 1\n    if a >= s:\n"
                "        x[a] += v\n    s *= 2", True),
    "changed between": ("s = 1\nwhile s < 6:\n    if a >= s:\n        v = x[s]\n    s *= 2\n    if a >= s:\n"
                        "        x[a] += v", False),
    "changed before": ("if a > b:\n    v = 1\na -= 1\nif a > b:\n    x[2] = v", False),
    "less": ("if a > b:\n    v = 1\nif a >= b:\n    x[2] = v", False),
    "opposite": ("if a > b:\n    v = 1\nif a <= b:\n    x[2] = v", False),
    "out of memory": ("if x[0] > b:\n    v = 1\nx[0] += a\nif x[0] > b:\n    x[2] = v", False),
    "on one of two ways": ("if a > b:\n    if a > 2:\n        v = 1\nif a > b:\n    x[2] = v", False),
    "on both of two ways": ("if a > b:\n    if a > 2:\n        v = 1\n    else:\n        v = 2\n"
                            "if a > b:\n    x[2] = v", None),
    "taken away": ("if a > b:\n    v = 1\nif a > 2:\n    v = x[0]\nif a > b:\n    x[2] = v", None),
    "nested": ("for k in range(3):\n    for j in range(3):\n        if j > a:\n            v = j\n        if k > b:\n"
               "            x[k] = 1\n        if j > a:\n            x[j] += v + k", True),
    "condition of the trip before": ("c = a > 0\nfor k in range(3):\n    d = c\n    if d:\n        v = k\n"
                                     "    c = k > b\n    if d:\n        x[k] = v\n    if c:\n        x[4] += v", False),
}


def kernel_of(text):
    body = "".join(f"    {line}\n" for line in text.splitlines())
    return made(f"def kernel(x, a, b):\n{body}")


def by_python(function, a, b):
    x = np.arange(1, 9, dtype=np.int64)
    try:
        function(x, a, b)
    except UnboundLocalError:
        return None
    return x


@pytest.mark.parametrize("name", PROGRAMS)
def test_as_python(name):
    text, is_known = PROGRAMS[name]
    function = kernel_of(text)
    kernel = cuda.jit(check="init")(function)   # which is off on a GPU, and the variable is 0
    for a in range(-1, 6):
        for b in range(-1, 5):
            x = np.arange(1, 9, dtype=np.int64)
            expected = by_python(function, a, b)
            if expected is None:
                with pytest.raises(UnboundLocalError):
                    kernel[1, 1](x, a, b)
                    cuda.synchronize()
            else:
                kernel[1, 1](x, a, b)
                cuda.synchronize()
                assert np.array_equal(x, expected), (a, b)
    if is_known is not None:
        assert ("raise" not in kernel.inspect("ir", (A, int64, int64))) == is_known
