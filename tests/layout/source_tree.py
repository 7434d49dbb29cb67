"""The sources of the repository, as the layout tests see them. Paths are strings relative to the root."""

import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ["core", "frontend", "codegen", "runtime", "jit", "python/ext"]
FOLDERS = [*ROOMS, "tools", "python/cujit", "tests", "examples", "benchmarks", "scripts"]
C_SUFFIXES = {".c", ".cpp", ".h", ".def"}
SUFFIXES = C_SUFFIXES | {".py", ".pyi", ".sh"}


def sources(folder, suffixes=frozenset(C_SUFFIXES)):
    """Every source file below the folder."""
    found = (path for path in (ROOT / folder).rglob("*") if path.suffix in suffixes and path.is_file())
    return sorted(path.relative_to(ROOT).as_posix() for path in found if "__pycache__" not in path.parts)


@cache
def read(path):
    return (ROOT / path).read_text(encoding="utf-8")


def without_strings(text):
    return re.sub(r'"(?:\\.|[^"\\\n])*"', '""', text)


@cache
def code_of(path):
    """The text of a C file without comments."""
    return re.sub(r"/\*.*?\*/|//[^\n]*", " ", read(path), flags=re.DOTALL)
