"""Thousands of variables in thousands of branches take what both take together, and no block asks for each variable."""
import re

import pytest
from made_kernels import check_values, made, variables_of_yields

from cujit import cuda, errors, int64

SIGNATURE = (int64[::1], int64)

pytestmark = [pytest.mark.filterwarnings("ignore::cujit.errors.CujitWarning"),
              pytest.mark.filterwarnings("ignore:overflow encountered")]


def variables_in_ifs(count):
    """Each is assigned to in one `if` of the loop and read in another one."""
    lines = [f"        if a > {k}:\n            v{k} = x[k]\n        if a > {k}:\n            x[k] += v{k}"
             for k in range(count)]
    return "\n".join(["def kernel(x, a):", "    for k in range(4):", *lines])


def variables_of_ways(count):
    """Each comes to the loop's head by each of as many ways: so many pairs are written down."""
    ways = [f"        if j == a + {k}:\n            v{k} += 1\n            continue" for k in range(count)]
    return "\n".join(["def kernel(x, a):", *(f"    v{k} = a" for k in range(count)), "    for j in range(9):", *ways,
                      *(f"    x[{k}] = v{k}" for k in range(count))])


def megabytes_of_ir(count):
    """What the text of the IR takes, which has all phis in it."""
    return len(cuda.jit(made(variables_in_ifs(count))).inspect("ir", SIGNATURE)) / 1e6


def test_variables_and_branches_are_no_product():
    """Where each block asked for each variable 1,600 took more than 512 MiB."""
    assert megabytes_of_ir(4000) < 11 * megabytes_of_ir(400)


@pytest.mark.parametrize("shape, count, function", [(variables_of_ways, 2600, "kernel"),
                                                    (variables_of_yields, 1000, "items")])
def test_variables_of_as_many_ways_are_refused_before_memory_is_full(shape, count, function):
    """At a variable for which there is no more room."""
    source = shape(count)
    with pytest.raises(errors.UnsupportedError) as raised:
        cuda.jit(made(source)).inspect("ir", SIGNATURE)
    place, shown, below, says = str(raised.value).splitlines()
    assert place == f"<made>:{raised.value.lineno} in {function}"
    assert shown.strip() == source.splitlines()[raised.value.lineno - 1].strip()
    assert re.fullmatch(r"v\d+", shown[below.index("^"):below.rindex("^") + 1])
    assert says.startswith("so many variables in so many branches")


@pytest.mark.parametrize("shape, count", [(variables_in_ifs, 300), (variables_of_ways, 60),
                                          (variables_of_yields, 60)])
def test_values(shape, count):
    check_values(shape(count), 400, 400)


def test_a_nested_function_of_more_variables_than_the_stack_has_places():
    names = [f"v{k}" for k in range(4200)]
    source = "\n".join(["def kernel(x, a):", *(f"    {name} = a" for name in names), "    def f(p):",
                        f"        nonlocal {', '.join(names)}", *(f"        {name} += p" for name in names),
                        "    f(a)"])
    with pytest.raises(errors.UnsupportedError, match="more than 4096 values at once") as raised:
        cuda.jit(made(source)).inspect("ir", SIGNATURE)
    assert "def f(p):" in str(raised.value)
