"""kernel.profile: launches on the CPU device that count what threads and warps do, line by line."""
from __future__ import annotations

import ast
import linecache
import math
import threading
from array import array
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from cujit import _core, _observed
from cujit.errors import CujitError, LaunchConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cujit.cuda.dispatcher import Dispatcher


@dataclass
class Counts:
    """What was counted at a place of the source, or at all of a line. Docs: docs/profiling_kernels.md.

    Attributes
    ----------
    threads : int
        How often threads came here.
    branches, divergent : int
        How often warps came to a branch, and how often their lanes went both ways.
    global_warps, sectors, ideal_sectors : int
        Loads and stores of global memory by warps, the sectors of 32 bytes that they asked for, and what the bytes that
        they asked for would fill.
    shared_warps, waves, ideal_waves : int
        Loads and stores of shared memory by warps, the rounds in which its banks serve them, and the rounds without
        conflicts.
    atomic_warps, contended, most_contended : int
        Atomics by warps; the most lanes at one address in each, summed; the most of all.
    """

    threads: int = 0
    branches: int = 0
    divergent: int = 0
    global_warps: int = 0
    sectors: int = 0
    ideal_sectors: int = 0
    shared_warps: int = 0
    waves: int = 0
    ideal_waves: int = 0
    atomic_warps: int = 0
    contended: int = 0
    most_contended: int = 0

    def add(self, other: Counts) -> None:
        """Adds all but the threads, of which a line has its own."""
        for name in vars(self):
            mine, theirs = getattr(self, name), getattr(other, name)
            if name == "most_contended":
                setattr(self, name, max(mine, theirs))
            elif name != "threads":
                setattr(self, name, mine + theirs)


@dataclass
class SiteCounts(Counts):
    """The counts of one branch, load, store or atomic operation."""

    file: str = ""
    function: str = ""
    line: int = 0
    column: int = 0
    event: str = ""   # "branch", "load", "store", "atomic"


_EVENTS = ("branch", "load", "store", "atomic")


def _site_counts(site: _observed.Site, numbers: Sequence[int]) -> SiteCounts:
    row = dict(zip(_core.observed_counts, numbers, strict=True))
    warps = row.pop("warps")
    counts = SiteCounts(file=site.file, function=site.function, line=site.line, column=site.column, event=site.event,
                        **row)
    counts.branches = warps if site.event == "branch" else 0
    counts.atomic_warps = warps if site.event == "atomic" else 0
    return counts


# --- lines ------------------------------------------------------------------------------------------------------------

def _tree(file: str) -> ast.Module | None:
    try:
        return ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError):
        return None


def _statement_starts(tree: ast.Module | None) -> dict[int, int]:
    """For the lines of statements, and of the heads of compound ones, that go over several: the first."""
    starts = {}
    for node in ast.walk(tree) if tree else ():
        body = getattr(node, "body", None)
        if not isinstance(node, ast.stmt) or not node.end_lineno:
            continue
        end = body[0].lineno - 1 if isinstance(body, list) and body else node.end_lineno
        for line in range(node.lineno + 1, end + 1):
            starts[line] = node.lineno
    return starts


def _line_range(tree: ast.Module | None, table: _observed.LineTable) -> range:
    """The lines of a function from its first decorator on."""
    last = max(table.lines)
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.FunctionDef) and node.end_lineno:
            if min([node.lineno, *(each.lineno for each in node.decorator_list)]) == table.first_line:
                last = max(last, node.end_lineno)
    return range(table.first_line, last + 1)


def _count_lines(table: _observed.LineTable, cells: Sequence[int], starts: dict[int, int]) -> Iterator[tuple[int, int]]:
    """(line, how often control came to it from elsewhere); statements of several lines count at their first."""
    size = len(table.lines)
    for before in range(size):
        for now in range(1, size):
            count = cells[table.first_cell + before * size + now]
            line = starts.get(table.lines[now], table.lines[now])
            if count and (not before or starts.get(table.lines[before], table.lines[before]) != line):
                yield line, count


# --- the report -------------------------------------------------------------------------------------------------------

def _ratio(part: int, whole: int) -> str:
    return f"{part} of {whole}" if whole else ""


def _mean(total: int, count: int) -> str:
    return f"{total / count:.3g}" if count else ""


# Title, what stands there, and what a column needs to be printed. Right-aligned.
_COLUMNS = (
    ("threads", lambda c: str(c.threads) if c.threads else "", "threads"),
    ("divergent", lambda c: _ratio(c.divergent, c.branches), "branches"),
    ("sectors", lambda c: str(c.sectors) if c.global_warps else "", "global_warps"),
    ("ideal", lambda c: str(c.ideal_sectors) if c.global_warps else "", "global_warps"),
    ("waves", lambda c: str(c.waves) if c.shared_warps else "", "shared_warps"),
    ("ideal", lambda c: str(c.ideal_waves) if c.shared_warps else "", "shared_warps"),
    ("one address", lambda c: _mean(c.contended, c.atomic_warps), "atomic_warps"),
    ("most", lambda c: str(c.most_contended) if c.atomic_warps else "", "atomic_warps"),
)

_LEGEND = {
    "threads": "threads: how often threads came to the line",
    "branches": "divergent: warps whose lanes went both ways, of those that came to a branch",
    "global_warps": "sectors: of 32 bytes, asked of global memory by warps; ideal: what the bytes would fill",
    "shared_warps": "waves: rounds in which the banks of shared memory serve warps; ideal: without conflicts",
    "atomic_warps": "one address: the most lanes of a warp whose atomics are at one address, the mean; most: of any",
}


@dataclass
class Profile:
    """What a launch of kernel.profile has counted. Its text is the source with the counts beside each line.

    Attributes
    ----------
    name : str
        The kernel's.
    grid, block : tuple of 3 int
        The launch's.
    lines : dict of (str, int) to Counts
        By file and line.
    sites : list of SiteCounts
        Each branch, load, store and atomic operation by itself.
    """

    name: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    lines: dict[tuple[str, int], Counts] = field(default_factory=lambda: defaultdict(Counts))
    sites: list[SiteCounts] = field(default_factory=list)
    _ranges: dict[str, list[range]] = field(default_factory=lambda: defaultdict(list), repr=False)

    def line(self, line: int, file: str | None = None) -> Counts:
        """The counts of a line; file: None where the kernel's functions are in one."""
        found = [counts for (name, number), counts in self.lines.items()
                 if number == line and (file is None or name == file)]
        if len(found) > 1:
            raise ValueError(f"line {line} is in several files")
        return found[0] if found else Counts()

    def total(self) -> Counts:
        """The sum over all lines; threads: of the launch."""
        total = Counts(threads=math.prod(self.grid) * math.prod(self.block))
        for site in self.sites:
            total.add(site)
        return total

    def __str__(self) -> str:
        total = self.total()
        columns = [column for column in _COLUMNS if getattr(total, column[2])]
        warps = math.prod(self.grid) * -(-math.prod(self.block) // 32)
        head = (f"{self.name}: grid {_shape(self.grid)}, block {_shape(self.block)}, {total.threads} threads in "
                f"{warps} warps")
        parts = [head, *(self._file(file, columns) for file in self._ranges), self._elsewhere(columns)]
        legend = [f"  {_LEGEND[name]}" for name in dict.fromkeys(column[2] for column in columns)]
        return "\n".join([*(part for part in parts if part), "", *legend])

    def _file(self, file: str, columns: Sequence[Any]) -> str:
        rows = []
        for lines in _joined(self._ranges[file]):
            rows += [(str(line), self.lines.get((file, line)), linecache.getline(file, line).rstrip())
                     for line in lines]
        return f"\n{file}\n" + _table(rows, columns)

    def _elsewhere(self, columns: Sequence[Any]) -> str:
        """What happened in functions of cujit, which have no lines of the program's."""
        found: dict[str, Counts] = defaultdict(Counts)
        for site in self.sites:
            if site.file not in self._ranges:
                found[f"{site.function}, {site.event}"].add(site)
        return "\nin functions of cujit\n" + _table([("", counts, name) for name, counts in found.items()],
                                                    columns) if found else ""


def _shape(shape: tuple[int, int, int]) -> str:
    used = [*shape]
    while len(used) > 1 and used[-1] == 1:
        used.pop()
    return " x ".join(str(each) for each in used)


def _joined(ranges: Sequence[range]) -> list[range]:
    """Ranges that overlap become one: functions that are nested are printed once."""
    found: list[range] = []
    for each in sorted(ranges, key=lambda lines: (lines.start, lines.stop)):
        if found and each.start <= found[-1].stop:
            found[-1] = range(found[-1].start, max(found[-1].stop, each.stop))
        else:
            found.append(each)
    return found


def _table(rows: Sequence[tuple[str, Counts | None, str]], columns: Sequence[Any]) -> str:
    texts = [["line", *(title for title, _, _ in columns), ""]]
    texts += [[line, *(show(counts) if counts else "" for _, show, _ in columns), source]
              for line, counts, source in rows]
    widths = [max(len(text[place]) for text in texts) for place in range(len(columns) + 1)]
    return "\n".join(("  ".join(cell.rjust(width) for cell, width in zip(text, widths, strict=False))
                      + "  " + text[-1]).rstrip() for text in texts)


# --- launching --------------------------------------------------------------------------------------------------------

class Profiler:
    """kernel.profile: kernel.profile[grid, block, ...](*args) launches and gives a Profile."""

    def __init__(self, kernel: Dispatcher[..., Any]) -> None:
        self._kernel = kernel
        self._observed: Dispatcher[..., Any] | None = None
        self._lock = threading.RLock()   # one launch at a time: counts are the code's
        self._is_running = False

    def __getitem__(self, configuration: Any) -> ProfileLauncher:
        from cujit import cuda

        if self._kernel.is_device:
            raise CujitError(f"'{self._kernel.__name__}' is a device function: profile a kernel that calls it")
        if cuda.get_current_device().kind != "cpu":
            raise CujitError("kernel.profile counts on the CPU device only: CUJIT_DEVICE=cpu runs kernels there")
        with self._lock:   # one copy for all threads: what one launches another reads the counts of
            if self._observed is None:
                self._observed = self._kernel._copy(observe="accesses")
        return ProfileLauncher(self, self._observed.quiet_launcher(configuration))

    def run(self, launcher: Any, args: Sequence[Any]) -> Profile:
        """Launches, and reads what was counted."""
        with self._lock:
            if self._is_running:   # below it, in a handler of a signal: the counts are those of the other launch
                raise LaunchConfigurationError(f"kernel '{self._kernel.__name__}' cannot be profiled in a handler of a "
                                               "signal that interrupts another profile")
            self._is_running = True
            try:
                return self._run(launcher, args)
            finally:
                self._is_running = False

    def _run(self, launcher: Any, args: Sequence[Any]) -> Profile:
        assert self._observed is not None
        _core.take_observed(self._observed)
        arrays = [_on_device(value) for value in args]
        launcher(*(device for device, _ in arrays))
        for device, host in arrays:
            if host is not None:
                device.copy_to_host(host)
        profile = Profile(self._kernel.__name__, launcher.griddim, launcher.blockdim)
        for text, cells, sites in _core.take_observed(self._observed):
            _add(profile, text, array("Q", cells), array("Q", sites))
        return profile


class ProfileLauncher:
    """kernel.profile with a launch configuration."""

    def __init__(self, profiler: Profiler, launcher: Any) -> None:
        self._profiler, self._launcher = profiler, launcher

    def __call__(self, *args: Any) -> Profile:
        return self._profiler.run(self._launcher, args)


def _on_device(value: Any) -> tuple[Any, Any]:
    """(what is launched with, the array to copy back to). Arrays begin where a GPU's do: at whole sectors."""
    from cujit import cuda

    is_plain = type(value) is np.ndarray and value.flags.writeable and value.flags.forc and value.dtype != object
    return (cuda.to_device(value), value) if is_plain else (value, None)


def _add(profile: Profile, text: bytes, cells: Sequence[int], numbers: Sequence[int]) -> None:
    """Adds what one specialization has counted; nothing where it has not run."""
    tables, sites = _observed.read(text)
    if not any(cells) and not any(numbers):
        return
    trees = {table.file: _tree(table.file) for table in tables}
    for table in tables:
        profile._ranges[table.file].append(_line_range(trees[table.file], table))
        for line, count in _count_lines(table, cells, _statement_starts(trees[table.file])):
            profile.lines[table.file, line].threads += count
    width = len(_core.observed_counts)
    for place, site in enumerate(sites):
        if site.event in _EVENTS:
            counts = _site_counts(site, numbers[place * width:(place + 1) * width])
            profile.sites.append(counts)
            start = _statement_starts(trees.get(site.file)).get(site.line, site.line)
            profile.lines[site.file, start].add(counts)
