"""A plugin of coverage.py: the lines and branches of kernels that run on the CPU device count as run.

    [run]
    plugins = cujit.coverage

in .coveragerc (or `plugins = ["cujit.coverage"]` below [tool.coverage.run] in pyproject.toml). Functions that are
compiled from then on tell what runs of them; what a launch has told is in coverage.py's data when the launch returns,
in the context of that moment. Kernels on a GPU tell nothing.

coverage.py's interface for plugins is for files that Python runs line by line. What it says nothing of is asked of
coverage.py's own parts, by _part(), which ends with what to do where a version has them no more.
"""
from __future__ import annotations

import os
import sys
import threading
import types
import weakref
from array import array
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from cujit import _core
from cujit._observed import LineTable, read

if TYPE_CHECKING:
    Arc = tuple[int, int]

__all__ = ["coverage_init"]


def coverage_init(reg: Any, options: Any) -> None:
    """Called by coverage.py, whose data gets what kernels run from now on."""
    _core.set_setting("observe_lines", True)


@lru_cache(maxsize=256)
def _tables(text: bytes) -> list[LineTable]:
    return read(text)[0]


def _outside(table: LineTable) -> int:
    """What coverage.py calls what is not in the function; 0: nothing, for the code of a list comprehension is a part of
    the function around it since CPython 3.12."""
    return 0 if table.function.endswith("<listcomp>") else -table.first_line


def _arcs(text: bytes, marks: bytes) -> dict[str, set[Arc]]:
    """By file: what has run, as pairs of lines."""
    numbers = array("I", marks)
    found: dict[str, set[Arc]] = {}
    tables = iter(_tables(text))
    table = next(tables)
    for number in numbers:
        while number >= table.first_cell + len(table.lines) ** 2:
            table = next(tables)
        before, now = divmod(number - table.first_cell, len(table.lines))
        outside = _outside(table)
        arc = (table.lines[before] if before else outside, table.lines[now] if now else outside)
        found.setdefault(table.file, set()).add(arc)
    return found


class _Session:
    """What is kept of one coverage.Coverage."""

    def __init__(self, running: Any) -> None:
        self.files: dict[str, str | None] = {}           # as measured, or None for those that are not
        self.known: dict[tuple[Any, ...], set[Arc]] = {}   # what its data has already

    def file(self, running: Any, file: str) -> str | None:
        """What coverage.py calls the file; None where its settings (source, include, omit) leave it out."""
        if file not in self.files:
            self.files[file] = _measured(running, file)
        return self.files[file]


def _part(owner: Any, name: str) -> Any:
    """An attribute that coverage.py does not promise."""
    try:
        return getattr(owner, name)
    except AttributeError:
        version = getattr(sys.modules.get("coverage"), "__version__", "of an unknown version")
        raise RuntimeError(
            f"cujit.coverage cannot add the lines of kernels to the data of coverage.py {version}, whose "
            f"{type(owner).__name__} has no {name}: take `cujit.coverage` from `plugins`, or install coverage.py 7.17, "
            "which works") from None


def _frame(file: str) -> Any:
    """What coverage.py asks of a frame: the names of the file's module."""
    for module in list(sys.modules.values()):
        if getattr(module, "__file__", None) == file:
            return types.SimpleNamespace(f_globals=vars(module))
    return None


def _measured(running: Any, file: str) -> str | None:
    """No part of the public interface knows which files are left out."""
    found = _part(_part(running, "_inorout"), "should_trace")(file, _frame(file))
    return _part(running, "_file_mapper")(_part(found, "source_filename")) if _part(found, "trace") else None


_sessions: weakref.WeakKeyDictionary[Any, _Session] = weakref.WeakKeyDictionary()
_lock = threading.Lock()


def _record(text: bytes, marks: bytes) -> None:
    """After a launch: puts what has run into the data of the coverage.py that measures now, if one does."""
    module = sys.modules.get("coverage")
    running: Any = module.Coverage.current() if module else None
    if running is None:
        return
    with _lock:
        session = _sessions.get(running) or _sessions.setdefault(running, _Session(running))
        arcs: dict[str, set[Arc]] = {}
        for name, found in _arcs(text, marks).items():
            file = session.file(running, name)
            if file:
                arcs[file] = arcs.get(file, set()) | found
        _add(running, session, arcs)


def _add(running: Any, session: _Session, arcs: dict[str, set[Arc]]) -> None:
    data = _part(running, "_data")   # get_data() makes it, and puts away what the tracer has each time
    data = running.get_data() if data is None else data
    has_arcs = running.get_option("run:branch")
    context = _part(data, "_current_context")
    for file, found in arcs.items():
        known = session.known.setdefault((os.getpid(), id(data), context, file), set())
        new = found - known
        if not new:
            continue
        if has_arcs:   # what begins or ends outside is of no function's lines
            data.add_arcs({file: [arc for arc in new if 0 not in arc]})
        else:
            data.add_lines({file: {line for _, line in new if line > 0}})
        known |= new
