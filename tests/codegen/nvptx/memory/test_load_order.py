"""Loads stand before divisions, roots and functions that take long, as far as what they load cannot have changed."""
import math
import re

import numpy as np
import pytest

from cujit import cuda, float32, float64, int64


def order(function, *types, **options):
    """What the PTX does in a row: L(oad), S(tore), D(ivision or root), B(arrier), C(lock)."""
    ptx, _ = cuda.compile_ptx(function, types, cc=(9, 0), **options)
    letters = {"ld.global": "L", "ld.shared": "L", "st.global": "S", "st.shared": "S", "div.": "D", "sqrt.": "D",
               "bar.": "B", "barrier": "B", "%clock": "C", "atom.": "A", "red.": "A"}
    found = re.findall("|".join(map(re.escape, letters)), ptx.split("{", 1)[1])
    return "".join(letters[each] for each in found)


F = float32[::1]


def test_loads_of_an_expression_come_first():
    def kernel(a, b, c, out):
        i = cuda.grid(1)
        out[i] = a[i] / b[i] + c[i]

    assert order(kernel, F, F, F, F) == "LLLDS"


def test_indices_come_along():
    def kernel(a, b, table, out):
        i = cuda.grid(1)
        root = math.sqrt(a[i])
        out[i] = root + table[b[i], 3] + table[2 * i + 1, 1]

    assert order(kernel, F, int64[::1], float32[:, ::1], F) == "LLLLDS"


def test_an_index_that_needs_the_result_waits():
    def kernel(a, out):
        i = cuda.grid(1)
        out[i] = a[int64(a[i] / a[i + 1])] + a[i + 2]

    assert order(kernel, F, F) == "LLLDLS"


@pytest.mark.parametrize("between, expected", [
    ("out[i] = quotient", "LLDSL"), ("cuda.syncthreads()", "LLDBL"), ("cuda.atomic.add(out, 0, quotient)", "LLDAL"),
    ("start = cuda.clock()", "LLDCL"), ("cuda.threadfence()", "LLDBL"),
])
def test_nothing_moves_across_what_others_see(between, expected):
    namespace = {"cuda": cuda}
    exec("def kernel(a, b, c, out):\n    i = cuda.grid(1)\n    quotient = a[i] / b[i]\n    "
         f"{between}\n    out[i + 1] = c[i] + quotient", namespace)
    assert order(namespace["kernel"], F, F, F, F).startswith(expected)


def test_functions_of_the_program():
    def pure(x):
        return math.sqrt(x) / (x + float32(1))

    def stores(x, out):
        out[0] = x
        return math.sqrt(x)

    def with_pure(a, b, out):
        out[1] = pure(a[0]) + b[0]

    def with_store(a, b, out):
        out[1] = stores(a[0], out) + b[0]

    assert order(with_pure, F, F, F) == "LLDDS"
    assert order(with_store, F, F, F).startswith("LS")


def test_branches_of_a_function_are_not_waited_for():
    def kernel(a, b, out):
        i = cuda.grid(1)
        out[i] = math.sin(a[i]) + b[i]

    text, _ = cuda.compile_ptx(kernel, (float64[::1],) * 3, cc=(9, 0))
    body = text[text.index("ld.global"):]
    assert body.index("ld.global", 20) < body.index("bra")


def test_no_more_loads_than_registers_bear():
    namespace = {"cuda": cuda}
    terms = " + ".join(f"b[i + {97 * k}]" for k in range(1, 21))
    exec(f"def kernel(a, b, out):\n    i = cuda.grid(1)\n    out[i] = a[i] / b[i] + ({terms})", namespace)
    assert order(namespace["kernel"], F, F, F) == "LL" + 8 * "L" + "D" + 12 * "L" + "S"


def test_values_are_those_of_the_program():
    @cuda.jit
    def kernel(a, b, table, out):
        i = cuda.grid(1)
        if i < a.size:
            out[i] = a[i] / b[i] + table[i % 7]
            table[i % 7 + 7 * (i + 1)] = out[i]
            out[i] += math.exp(-a[i]) * table[i % 7 + 7 * (i + 1)] + b[i] ** a[i] + table[3]

    random = np.random.default_rng(3)
    a, b, table = random.random(50) + 1, random.random(50) + 1, random.random(7 * 60)
    out, changed = np.zeros(50), table.copy()
    kernel[2, 32](a, b, changed, out)
    i = np.arange(50)
    first = a / b + table[i % 7]
    np.testing.assert_allclose(out, first + np.exp(-a) * first + b ** a + table[3], rtol=1e-14)
