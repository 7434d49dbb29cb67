"""Every construct of constructs.py in a kernel and in CPython, and the page that lists them.

CUJIT_REGENERATE=1 writes docs/constructs.md anew.
"""
import ast
import copy
import inspect
import os
import re
from pathlib import Path

import constructs
import numpy as np
import pytest
from constructs import ARGUMENTS

from cujit import cuda

PAGE = Path(__file__).parents[2] / "docs" / "constructs.md"
INTRODUCTION = """\
What the kernel language has, one line each, with its result for the values below. What is not there:
[limits.md](limits.md).

Made by `tests/frontend/test_constructs.py`, which runs every line in a kernel and in CPython; with `CUJIT_REGENERATE=1`
it writes this page."""
ROWS = list(constructs.rows())
NAMES = ", ".join(ARGUMENTS)


def body(source):
    """The construct as statements that end with a return."""
    try:
        ast.parse(f"({source}\n)", mode="eval")
        return [f"return {source}"]
    except SyntaxError:
        return [*source.split("\n"), "return r"]


def compiled(text):
    """The function called function of a text, whose names are those of constructs.py."""
    namespace = dict(vars(constructs), cuda=cuda)
    exec(text, namespace)
    return namespace["function"]


def flat(value):
    return [one for item in value for one in flat(item)] if isinstance(value, (tuple, list)) else [value]


def places(value, path):
    """Expressions for the numbers inside of a result."""
    if not isinstance(value, (tuple, list)):
        return [path]
    return [place for i, item in enumerate(value) for place in places(item, f"{path}[{i}]")]


def in_python(source, case):
    lines = "\n".join("    " + line for line in body(source))
    function = compiled(f"def function({NAMES}):\n{lines}\n")
    return function(*(copy.deepcopy(values[case]) for values in ARGUMENTS.values()))


def in_kernel(source, case, like):
    lines = "\n".join("    " + line for line in body(source))
    stores = "\n".join(f"    out[{k}] = result{place}" for k, place in enumerate(places(like, "")))
    function = compiled(f"def construct({NAMES}):\n{lines}\n"
                           f"def function(out, {NAMES}):\n    result = construct({NAMES})\n{stores}\n    pass\n")
    out = np.full(max(len(flat(like)), 1), -999, np.complex128)
    cuda.jit(function)[1, 1](out, *(copy.deepcopy(values[case]) for values in ARGUMENTS.values()))
    return out[:len(flat(like))]


@pytest.mark.parametrize("source", [source for _, source in ROWS])
@pytest.mark.parametrize("case", [0, 1])
def test_b16_construct(source, case):
    expected = in_python(source, case)
    got = in_kernel(source, case, expected)
    np.testing.assert_allclose(got, np.array(flat(expected), np.complex128), rtol=1e-15, atol=0)


# --- the page --------------------------------------------------------------------------------------------------------

def shown(value):
    if isinstance(value, list):
        return "[" + ", ".join(shown(item) for item in value) + "]"
    if isinstance(value, tuple):
        return "(" + ", ".join(shown(item) for item in value) + ("," if len(value) == 1 else "") + ")"
    if isinstance(value, np.generic):
        value = value.item()
    return f"{value:.6g}" if isinstance(value, float) else repr(value)


def argument(value):
    return f"np.array({value.tolist()})" if isinstance(value, np.ndarray) else repr(value)


def page():
    source = inspect.getsource(constructs)
    definitions = re.search(r"# --- definitions ---\n(.*)# --- end of definitions ---", source, re.DOTALL).group(1)
    imports = re.findall(r"^((?:from|import) [^#\n]*\w)", source, re.MULTILINE)
    lines = ["# Constructs", "", *INTRODUCTION.split("\n"), "", "```python", *imports, ""]
    lines += [f"{name} = {argument(values[0])}" for name, values in ARGUMENTS.items()]
    lines += ["", definitions.strip(), "```"]
    for section in constructs.SECTIONS:
        lines += ["", f"## {section}", "", "| construct | result |", "|---|---|"]
        for of, row in ROWS:
            if of == section:
                code = row.replace("|", "\\|").split("\n")
                cell = "<br>".join("&emsp;" * (line.startswith(" ")) + f"`{line.strip()}`" for line in code)
                lines.append(f"| {cell} | {shown(in_python(row, 0))} |")
    return "\n".join(lines) + "\n"


def test_the_page_is_up_to_date():
    text = page()
    if os.environ.get("CUJIT_REGENERATE"):
        PAGE.write_text(text, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == text


def test_there_are_many():
    assert len(ROWS) == len(set(ROWS)) >= 150
