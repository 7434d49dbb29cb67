"""Files that call each other in a circle: none, but where what they work on is nested."""

import re

import pytest
from source_tree import code_of, sources

# Room: the circles that are there, each the stems of its files.
CIRCLES = {
    "runtime": [],
    "jit": [],
    # A snapshot's values contain functions, and functions contain values.
    "python/ext": [
        {"class_snapshot", "constant_snapshot", "function_constant", "function_snapshot", "overload_constant"}
    ],
}

DEFINITION = re.compile(r"^(?!static|typedef|extern|#)[A-Za-z][\w *]*?\b(\w+)\([^;{]*\)\s*\{", re.MULTILINE)


def calls_of(room):
    """For each .c file the others that define what it names."""
    files = [path for path in sources(room) if path.endswith(".c")]
    owners = {name: path for path in files for name in DEFINITION.findall(code_of(path))}
    words = {path: set(re.findall(r"\w+", code_of(path))) for path in files}
    return {path: {owners[name] for name in words[path] & owners.keys()} - {path} for path in files}


def reached(start, calls):
    found, waiting = set(), [start]
    while waiting:
        new = calls[waiting.pop()] - found
        found |= new
        waiting += new
    return found


@pytest.mark.parametrize("room", CIRCLES)
def test_circles(room):
    calls = calls_of(room)
    below = {path: reached(path, calls) for path in calls}
    circles = []
    for path in sorted(calls):
        circle = {other.rsplit("/")[-1].removesuffix(".c") for other in below[path] if path in below[other]}
        if circle and circle not in circles:
            circles.append(circle)
    assert circles == CIRCLES[room]
