"""Dicts and calls of more pairs than CPython lays on its stack: from about 16 on they are put together one by one."""
import numpy as np
import pytest

from cujit import cuda, errors

COUNT = 40
DEVICE = ("def told(**named):\n    return named['b0'] + named['b39'] * 2\n"
          "def ordered(" + ", ".join(f"b{k}" for k in range(COUNT)) + "):\n    return b0 - b1 * 2 + b39 * 3\n")
KEYWORDS = ", ".join(f"b{k}=v + {k}" for k in range(COUNT))
BACKWARDS = ", ".join(f"b{k}=v * {k}" for k in reversed(range(COUNT)))


def pairs(item, first=0):
    return ", ".join(item.replace("#", str(k)) for k in range(first, COUNT))


REST = KEYWORDS.split(", ", 1)[1]
BODIES = {
    "dict": f"d = {{{pairs('#: v + #')}}}; r = d[3] * 100 + d[39]",
    "keys twice": f"d = {{{pairs('# % 20: v + #')}}}; r = d[3] * 100 + len(d)",
    "branches": f"d = {{{pairs('#: (v if v > # else -#)')}}}; r = d[3] * 9 + d[30]",
    "one branch": f"d = {{{pairs('#: v')}, 20: v and 20, {pairs('#: v + 1', 30)}}}; r = d[20] + d[31]",
    "dict in a dict": f"d = {{{pairs('#: {0: v, #: #}', 1)}}}; r = d[3][0] + d[9][9]",
    "keywords": f"r = told({KEYWORDS})",
    "keywords in another order": f"r = ordered({BACKWARDS})",
    "two calls in one": f"r = told(b0=ordered({BACKWARDS}), {REST})",
    "keywords and a dict": f"r = told(**{{'b0': 7}}, {REST})",
}


def function(body):
    scope = {}
    exec(f"{DEVICE}def plain(v):\n    {body}\n    return r\n", scope)
    return scope["plain"]


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_is_what_python_makes(body):
    plain = function(body)

    @cuda.jit
    def kernel(x):
        x[0] = plain(x[0])

    x = np.full(1, 5.0)
    kernel[1, 1](x)
    assert x[0] == plain(5.0)


def test_keys_that_are_not_constant():
    plain = function(f"d = {{{pairs('v + #: v')}}}; r = d[5]")

    @cuda.jit
    def kernel(x):
        x[0] = plain(x[0])

    with pytest.raises(errors.UnsupportedError, match="a dict with keys that are not constant"):
        kernel[1, 1](np.full(1, 5.0))
