"""Displays and calls of more items than CPython lays on its stack: from about 30 on they come one by one, pairs of a
dict from about 16 on."""
import numpy as np
import pytest

from cujit import cuda, errors, types

COUNT = 70
PARAMETERS = ", ".join(f"b{k}" for k in range(COUNT))
DEVICE = f"""
def told(*all):
    return all[0] + all[69] * 2 + len(all)
def named(**named):
    return named['b0'] + named['b69'] * 2
def ordered({PARAMETERS}):
    return b0 - b1 * 2 + b69 * 3
"""


def items(item, first=0):
    return ", ".join(item.replace("#", str(k)) for k in range(first, COUNT))


KEYWORDS = items("b#=v + #")
BACKWARDS = ", ".join(f"b{k}=v * {k}" for k in reversed(range(COUNT)))
BODIES = {
    "tuple": f"t = ({items('v + #')}); r = t[3] * 100 + t[69]",
    "list": f"t = [{items('v + #')}]; r = t[3] * 100 + t[69] + len(t)",
    "list that is iterated": f"r = 0\n    for e in [{items('v * #')}]:\n        r = r * 0.5 + e",
    "kinds": f"t = ({items('v', 1)}, 2, (v, 3)); r = t[69] + t[70][1]",
    "branches": f"t = ({items('v if v > # else -#')}); r = t[3] * 9 + t[30]",
    "one branch": f"t = ({items('#')}, v and 20, {items('v + #', 30)}); r = t[70] + t[71]",
    "list in a list": f"t = [{items('[v, #]')}]; r = t[3][0] + t[9][1]",
    "long list in a long list": f"t = ([{items('v - #')}], {items('v + #')}); r = t[0][40] + t[40]",
    "stars": f"s = (v, 2); t = ({items('#')}, *s, {items('v + #')}, *s); r = t[70] + t[71] + t[80] + t[-1] + len(t)",
    "star first": f"s = (v, 2); t = [*s, {items('v + #')}]; r = t[0] + t[9] + len(t)",
    "call": f"r = told({items('v + #')})",
    "call of names": f"r = ordered({items('v * #')})",
    "two calls in one": f"r = told(ordered({items('v + #')}), {items('v', 1)})",
    "the same twice": f"t = ({items('v + #')}); u = ({items('v - #')}); r = t[5] * u[6] + len(t) + len(u)",
    "dict": f"d = {{{items('#: v + #')}}}; r = d[3] * 100 + d[69]",
    "keys twice": f"d = {{{items('# % 20: v + #')}}}; r = d[3] * 100 + len(d)",
    "branches in a dict": f"d = {{{items('#: (v if v > # else -#)')}}}; r = d[3] * 9 + d[30]",
    "one branch in a dict": f"d = {{{items('#: v')}, 20: v and 20, {items('#: v + 1', 30)}}}; r = d[20] + d[31]",
    "dict in a dict": f"d = {{{items('#: {0: v, #: #}', 1)}}}; r = d[3][0] + d[9][9]",
    "keywords": f"r = named({KEYWORDS})",
    "keywords in another order": f"r = ordered({BACKWARDS})",
    "two calls with keywords": f"r = named(b0=ordered({BACKWARDS}), {KEYWORDS.split(', ', 1)[1]})",
    "keywords and a dict": f"r = named(**{{'b0': 7}}, {KEYWORDS.split(', ', 1)[1]})",
}


def function(body):
    scope = {}
    exec(f"{DEVICE}\ndef plain(v):\n    {body}\n    return r\n", scope)
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


@pytest.mark.parametrize("display", ["({})", "[{}]"])
def test_has_no_shorter_ones_in_it(display):
    """Each item made a tuple of its own of it and all before it: 4,000 took 4 s."""
    scope = {}
    exec(f"def kernel(x, v):\n    t = {display.format(items('v * #'))}\n    x[0] = t[v]", scope)
    text = cuda.jit(scope["kernel"]).inspect("ssa", (types.int64[::1], types.int64), 80)
    assert "binary *" in text and "binary +" not in text


def test_keys_that_are_not_constant():
    plain = function(f"d = {{{items('v + #: v')}}}; r = d[5]")

    @cuda.jit
    def kernel(x):
        x[0] = plain(x[0])

    with pytest.raises(errors.UnsupportedError, match="a dict with keys that are not constant"):
        kernel[1, 1](np.full(1, 5.0))
