"""File names, sizes and openings."""

import re
from collections import defaultdict

from source_tree import FOLDERS, ROOMS, ROOT, SUFFIXES, read, sources

MAX_LINES = 800
SCRIPTS = [".ci/run", "scripts/find_python.sh", "scripts/install_packages.sh", "scripts/prepare_venv.sh",
           "scripts/sanitized.sh"]


def all_sources():
    return [path for folder in FOLDERS for path in sources(folder, frozenset(SUFFIXES))]


def test_names_of_c_files_are_unique():
    places = defaultdict(list)
    for room in [*ROOMS, "tools"]:
        for path in sources(room):
            places[path.rsplit("/", 1)[-1]].append(path)
    assert not {name: paths for name, paths in places.items() if len(paths) > 1}


def test_files_are_short():
    assert not [path for path in all_sources() if read(path).count("\n") > MAX_LINES]


def test_files_say_what_they_do():
    """C files open with a comment, Python modules with a docstring."""
    openings = {".c": r"/\*", ".h": r"/\*", ".def": r"/\*", ".py": r'\s*$|[rR]?"""', ".sh": r"#!/\S+\n(# |set )"}
    paths = [path for path in all_sources() if not path.startswith("tests/")]
    assert not [path for path in paths if not re.match(openings.get("." + path.rsplit(".")[-1], ""), read(path))]


def test_no_machine_paths():
    found = [(path, re.search(r"(?<![\w./])/(?:home|root|work)/\w+", read(path))) for path in all_sources()]
    assert not [f"{path} names {match[0]}" for path, match in found if match]


def test_scripts_are_executable():
    assert not [name for name in SCRIPTS if not (ROOT / name).stat().st_mode & 0o100]


def test_formats_that_python_3_11_has():
    """A width or precision from an argument is taken for text there."""
    pattern = re.compile(r"(?:PyErr_\w*Format\w*|PyUnicode_FromFormat)\([^;]*?%[-0-9.]*\*")
    assert not [path for path in sources("python/ext") if pattern.search(read(path))]
