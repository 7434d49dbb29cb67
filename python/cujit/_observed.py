"""What an observed kernel says its numbers are of: words with a zero behind each (codegen/host/observe/observe.h)."""
from __future__ import annotations

from typing import NamedTuple


class LineTable(NamedTuple):
    """A function that counts its lines: its cells are a square, a row for each line before, a column for this one."""

    file: str
    function: str
    first_line: int
    lines: list[int]   # by place; 0 stands for the outside of the function
    first_cell: int


class Site(NamedTuple):
    """A place of the source that is observed beside its line."""

    file: str
    function: str
    line: int
    column: int
    end_line: int
    end_column: int
    event: str   # of core/observed.def


def read(text: bytes) -> tuple[list[LineTable], list[Site]]:
    """The tables in the order of their cells, the sites in that of their numbers."""
    words = iter(text.decode().split("\0")[:-1])
    tables: list[LineTable] = []
    sites: list[Site] = []
    first = 0
    for kind in words:
        file, function = next(words), next(words)
        if kind == "site":
            line, column, end_line, end_column = (int(next(words)) for _ in range(4))
            sites.append(Site(file, function, line, column, end_line, end_column, next(words)))
            continue
        first_line, count = int(next(words)), int(next(words))
        lines = [0, *(int(next(words)) for _ in range(count))]
        tables.append(LineTable(file, function, first_line, lines, first))
        first += len(lines) ** 2
    return tables, sites
