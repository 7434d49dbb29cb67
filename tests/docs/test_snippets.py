"""Python in README.md and the pages runs as it stands: a page's snippets one after another, as a reader pastes them."""
import contextlib
import io
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from cujit import cuda
from cujit.errors import CujitError

ROOT = Path(__file__).resolve().parents[2]
PAGES = ["README.md", *sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LIBRARIES = {"cupy", "torch", "jax", "rmm", "dask", "ray", "nvmath", "mpi4py"}   # which a reader of the page has


class Snippet(NamedTuple):
    code: str       # behind as many empty lines as are in front of it on the page
    shown: str      # what the page shows behind it


def snippets(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = list(BLOCK.finditer(text))
    for block, following in zip(blocks, [*blocks, None][1:], strict=True):
        if block[1] == "python":
            shown = following[2] if following and following[1] != "python" else ""
            yield Snippet("\n" * (text.count("\n", 0, block.start()) + 1) + block[2], shown)


def is_shown(error, shown):
    """Its first line is, whatever its numbers are: lines, and what a race leaves."""
    first = re.sub(r"-?\d+", "0", str(error).splitlines()[0])
    return first in re.sub(r"-?\d+", "0", shown)


def run_as_program(code, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(code, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=120, env=environment)
    if "CudaAPIError" in done.stderr and "CPU device" in done.stderr:
        pytest.skip(done.stderr.splitlines()[-1])
    missing = re.search(r"^ModuleNotFoundError: No module named '(\w+)", done.stderr, re.MULTILINE)
    if missing and missing[1] in LIBRARIES:
        pytest.skip(f"{missing[1]} is not installed")
    assert done.returncode == 0, done.stderr


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::cujit.errors.CujitWarning")
@pytest.mark.parametrize("page", [page for page in PAGES if next(snippets(page), None)])
def test_snippets_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    names = {"__name__": "page"}
    for snippet in snippets(page):
        if "__main__" in snippet.code:   # processes that it starts import it again
            run_as_program(snippet.code, tmp_path)
            continue
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(snippet.code, page, "exec"), names)
        except ModuleNotFoundError as error:
            if error.name not in LIBRARIES:
                raise
            pytest.skip(f"{error.name} is not installed")
        except Exception as error:
            if is_shown(error, snippet.shown):
                continue
            if not isinstance(error, CujitError) or "CPU device" not in str(error):   # what one device has alone
                raise
            pytest.skip(str(error).splitlines()[0])
    cuda.synchronize()
