"""Each row of the features of other systems that this one follows has a test of its name: test_C5_... or test_c5_...;
or it is another's job, or no test's, and a line of a page says so. A: CUDA Python, B: numba, C: CuPy, D: CudaPy, E:
others."""
import re
from pathlib import Path

import pytest

TESTS, DOCS = Path(__file__).parents[1], Path(__file__).parents[2] / "docs"
ROWS = [f"{system}{k}" for system, count in {"A": 23, "B": 17, "C": 33, "D": 24, "E": 6}.items()
        for k in range(1, count + 1)]
# Rows without a test: where it is said whose job they are, or, of figures, what was measured.
LINES = {
    "A19": ("benchmarks.md", "the ratio to the same algorithm in CUDA C"),
    "A20": ("benchmarks.md", "`benchmarks/application.py`"),
    "B17": ("limits.md", "Not AMD's"),
    "D23": ("benchmarks.md", "| Mandelbrot |"),
    "E5": ("interoperability.md", "Arrays of CuPy, PyTorch, JAX, cuda.core and of every library"),
}


@pytest.fixture(scope="module")
def named():
    """The words that names of tests are made of."""
    texts = [path.read_text() for path in TESTS.rglob("test_*.py")]
    return {word for text in texts for name in re.findall(r"^def test_(\w+)", text, re.MULTILINE)
            for word in name.lower().split("_")}


@pytest.mark.parametrize("row", ROWS)
def test_a_test_has_the_name_of_the_row_or_a_page_has_a_line(named, row):
    if row in LINES:
        page, line = LINES[row]
        assert line in (DOCS / page).read_text() and row.lower() not in named
    else:
        assert row.lower() in named
