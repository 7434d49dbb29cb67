"""Each row of the features of other systems that this one follows and that runs beside kernels has a test of its name:
test_C5_... or test_c5_.... What is another library's job is in docs/ufuncs.md and docs/interoperability.md."""
import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
ROWS = ("A18 A21 A22 A23 B15 C3 C5 C6 C7 C8 C9 C10 C15 C16 C17 C18 C19 C20 C21 C25 C26 C27 C30 C33 D8 D10 D12 "
        "D20").split()


@pytest.fixture(scope="module")
def names():
    texts = [path.read_text() for path in TESTS.rglob("test_*.py")]
    return [name.lower() for text in texts for name in re.findall(r"^def test_(\w+)", text, re.MULTILINE)]


@pytest.mark.parametrize("row", ROWS)
def test_a_test_has_the_name_of_the_row(names, row):
    assert any(row.lower() in name.split("_") for name in names)
