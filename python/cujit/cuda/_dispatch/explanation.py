"""kernel.explain(): a page that shows a kernel's source beside what is made of it, line by line."""
from __future__ import annotations

import dataclasses
import html
import linecache
import re
from typing import TYPE_CHECKING, Any

from cujit import _core
from cujit.cuda._dispatch.advice import advice

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

    from cujit._annotations import ArgumentTypes

_Place = tuple[str, int]   # file and line; "" and 0: none

_FUNCTION = re.compile(r'^(?:kernel|device|export)\b.* ; (\S+) "(.*)":(\d+)$')
_IR_PLACE = re.compile(r" ; (\d+):\d+-\d+$")
_TYPES_FUNCTION = re.compile(r'^(\S.*):(\d+) [^:(]+\(.*\) -> .*$')
_TYPES_LINE = re.compile(r"^  line (\d+):$")
_TYPES_VALUE = re.compile(r"^    (\d+)-(\d+): (.*)$")
_LLVM_USE = re.compile(r",? !dbg !(\d+)")
_LLVM_NODE = re.compile(r"^!(\d+) = (?:distinct )?!DI(\w+)\((.*)\)$")
_LLVM_END = re.compile(r"^(?:!|attributes #|declare |; Function Attrs|; ModuleID|source_filename|target )")
_PTX_PLACE = re.compile(r"^\s*\.loc\s+(\d+)\s+(\d+)\s+\d+")
_PTX_FILE = re.compile(r'^\s*\.file\s+(\d+)\s+"(.*?)"')
_SASS_PLACE = re.compile(r'^\s*//## File "(.*?)", line (\d+)')
_SASS_CODE = re.compile(r"^\s*/\*[0-9a-f]{4,}\*/\s+[^.\s]")   # no data

_STYLE = """
.cujit { font: 13px/1.45 ui-monospace, monospace; color: #1b1f24; }
.cujit h2, .cujit h3 { font: 600 15px system-ui, sans-serif; margin: 12px 0 6px; }
.cujit h3 { font-size: 12px; color: #57606a; margin: 0; padding: 4px 8px; background: #f6f8fa; }
.cujit .columns { display: grid; grid-auto-flow: column; grid-auto-columns: minmax(320px, 1fr); gap: 8px;
                  overflow-x: auto; }
.cujit .column { border: 1px solid #d0d7de; border-radius: 4px; overflow: auto; max-height: 80vh; }
.cujit .line { white-space: pre; padding: 0 8px; min-height: 1.45em; }
.cujit .line[data-place].lit { background: #fff3bf; }
.cujit .number { color: #8c959f; display: inline-block; width: 4ch; user-select: none; }
.cujit .types { color: #0969da; white-space: pre; padding: 0 8px 0 6ch; font-size: 11px; }
.cujit .warning { color: #9a6700; }
.cujit table { border-collapse: collapse; font-size: 12px; }
.cujit td { padding: 1px 12px 1px 0; }
"""

_SCRIPT = """
(root => {
  const light = (place, on) => root.querySelectorAll(".line[data-place]").forEach(line => {
    if (line.dataset.place === place) line.classList.toggle("lit", on);
  });
  root.querySelectorAll(".line[data-place]").forEach(line => {
    line.addEventListener("mouseenter", () => light(line.dataset.place, true));
    line.addEventListener("mouseleave", () => light(line.dataset.place, false));
    line.addEventListener("click", () => root.querySelectorAll(".column").forEach(column => {
      const found = [...column.querySelectorAll(".line[data-place]")].find(l => l.dataset.place === line.dataset.place);
      if (found && !column.contains(line)) column.scrollTop = found.offsetTop - column.offsetTop - 40;
    }));
  });
})(document.currentScript.closest(".cujit"));
"""


@dataclasses.dataclass(frozen=True)
class Line:
    """A line of a text, and the place in the source that it was made of."""

    text: str
    file: str = ""
    number: int = 0


@dataclasses.dataclass(frozen=True)
class Value:
    """The type of an expression: columns `first` to `last` of a line."""

    first: int
    last: int
    type: str


class Explanation:
    """What kernel.explain() returns. In Jupyter it shows itself; str() is the whole page.

    Attributes
    ----------
    title : str
        The kernel and its argument types.
    texts : dict of str to list of Line
        By "source", "typed IR", "LLVM IR", "PTX" or "assembly", and "SASS": the lines of each.
    values : dict of (str, int) to list of Value
        The types of expressions, by file and line.
    facts : dict of str to object
        Registers, memory, occupancy.
    warnings : list of str
        float64 by accident, variables that some path leaves unassigned, accesses of neighbouring threads that are far
        apart, barriers that not all threads of a block may reach, registers that did not suffice.
    """

    def __init__(self, title: str, texts: dict[str, list[Line]], values: dict[_Place, list[Value]],
                 facts: dict[str, Any], warnings: list[str]) -> None:
        self.title, self.texts, self.values, self.facts, self.warnings = title, texts, values, facts, warnings

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the page, which needs no other files."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(str(self))

    def _repr_html_(self) -> str:
        return "".join(self._parts())

    def __str__(self) -> str:
        return (f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{html.escape(self.title)}</title>'
                f"</head><body>{self._repr_html_()}</body></html>\n")

    def __repr__(self) -> str:
        return f"<explanation of {self.title}: {', '.join(self.texts)}>"

    def _parts(self) -> Iterator[str]:
        yield f'<div class="cujit"><style>{_STYLE}</style><h2>{html.escape(self.title)}</h2>'
        yield "<table>"
        for name, fact in self.facts.items():
            yield f"<tr><td>{html.escape(name)}</td><td>{html.escape(str(fact))}</td></tr>"
        yield "</table>"
        for warning in self.warnings:
            yield f'<div class="warning">{html.escape(warning)}</div>'
        yield '<div class="columns">'
        for name, lines in self.texts.items():
            yield f'<div class="column" data-text="{name}"><h3>{name}</h3>'
            for line in lines:
                yield self._line(name, line)
            yield "</div>"
        yield f"</div><script>{_SCRIPT}</script></div>"

    def _line(self, name: str, line: Line) -> str:
        place = f' data-place="{html.escape(line.file)}:{line.number}"' if line.number else ""
        if name != "source":
            return f'<div class="line"{place}>{html.escape(line.text)}</div>'
        number = f'<span class="number">{line.number}</span>' if line.number else ""
        shown = f'<div class="line"{place}>{number}{html.escape(line.text)}</div>'
        values = "   ".join(f"{line.text[value.first:value.last].strip()}: {value.type}"
                            for value in self.values.get((line.file, line.number), ()))
        return shown + (f'<div class="types">{html.escape(values)}</div>' if values else "")


# --- what is made of which line --------------------------------------------------------------------------------------

def _ir_lines(text: str) -> list[Line]:
    lines: list[Line] = []
    file = ""
    for line in text.splitlines():
        function, place = _FUNCTION.match(line), _IR_PLACE.search(line)
        if function:
            file = function[2]
        number = int(function[3]) if function else int(place[1]) if place else 0
        lines.append(Line(_IR_PLACE.sub("", line), file if number else "", number))
    return lines


def _llvm_places(text: str) -> dict[str, _Place]:
    """The file and line of each location, by its number."""
    nodes = {found[1]: (found[2], found[3]) for found in map(_LLVM_NODE.match, text.splitlines()) if found}

    def field(facts: str, name: str) -> str:
        found = re.search(rf'\b{name}: (?:"((?:[^"\\]|\\.)*)"|!?([\w.]+))', facts)
        return (found[1] if found[1] is not None else found[2]) if found else ""

    def file_of(number: str) -> str:
        kind, facts = nodes.get(number, ("", ""))
        if kind == "File":
            folder, name = field(facts, "directory"), field(facts, "filename")
            return f"{folder}/{name}" if folder else name
        known = field(facts, "file") or field(facts, "scope")
        return file_of(known) if known else ""

    return {number: (file_of(field(facts, "scope")), int(field(facts, "line") or 0))
            for number, (kind, facts) in nodes.items() if kind == "Location"}


def _llvm_lines(text: str) -> list[Line]:
    places = _llvm_places(text)
    lines: list[Line] = []
    for line in text.splitlines():
        if _LLVM_END.match(line) or not line and (not lines or not lines[-1].text):
            continue
        use = _LLVM_USE.search(line)
        file, number = places.get(use[1], ("", 0)) if use else ("", 0)
        lines.append(Line(_LLVM_USE.sub("", line), file if number else "", number))
    return lines


def _assembly_lines(text: str) -> list[Line]:
    files = {found[1]: found[2] for found in map(_PTX_FILE.match, text.splitlines()) if found}
    lines: list[Line] = []
    place = "", 0
    for line in text.splitlines():
        found = _PTX_PLACE.match(line)
        if found:
            place = (files.get(found[1], ""), int(found[2])) if int(found[2]) else ("", 0)
        elif not _PTX_FILE.match(line):
            is_code = line.startswith(("\t", " ")) and not line.lstrip().startswith((".", "//"))
            lines.append(Line(line.expandtabs(8), *place) if is_code else Line(line.expandtabs(8)))
    return lines


def _sass_lines(text: str) -> list[Line]:
    lines: list[Line] = []
    place = "", 0
    for line in text.splitlines():
        found = _SASS_PLACE.match(line)
        if found:
            place = found[1], int(found[2])
        elif _SASS_CODE.match(line):
            lines.append(Line(line.strip(), *place))
    return lines


def _source_lines(ir: list[Line]) -> list[Line]:
    """From the first to the last line of each file that something was made of."""
    spans: dict[str, list[int]] = {}
    lines: list[Line] = []
    for line in ir:
        if line.number:
            spans.setdefault(line.file, []).append(line.number)
    for file, numbers in spans.items():
        if lines:
            lines.append(Line(""))
        for number in range(min(numbers), max(numbers) + 1):
            lines.append(Line(linecache.getline(file, number).rstrip("\n"), file, number))
    return lines


def _values(text: str) -> dict[_Place, list[Value]]:
    values: dict[_Place, list[Value]] = {}
    file, number = "", 0
    for line in text.splitlines():
        function, place, value = _TYPES_FUNCTION.match(line), _TYPES_LINE.match(line), _TYPES_VALUE.match(line)
        if function:
            file = function[1]
        elif place:
            number = int(place[1])
        elif value and value[3] != "none":
            shown = value[3].split("   <-")[0]
            values.setdefault((file, number), []).append(Value(int(value[1]), int(value[2]), shown))
    return values


# --- the page --------------------------------------------------------------------------------------------------------

def _facts(kernel: Any, types: ArgumentTypes) -> dict[str, Any]:
    """What the current device says of the compiled kernel."""
    overload = kernel.compile(types)
    device = _core.current_device()
    facts = {"device": device.name, "registers of a thread": overload.regs_per_thread,
             "local memory of a thread, bytes": overload.local_mem_per_thread,
             "shared memory of a block, bytes": overload.shared_mem_per_block,
             "constant memory, bytes": overload.const_mem_size,
             "threads of a block, at most": overload.max_threads_per_block}
    if device.kind == "cpu":
        del facts["registers of a thread"], facts["constant memory, bytes"]
        return facts
    blocks, threads = kernel.occupancy(types)
    facts["fills the device"] = f"{blocks} blocks of {threads} threads"
    return facts


def _sass(kernel: Any, ptx: str) -> list[Line]:
    """Empty where ptxas and nvdisasm are not installed."""
    from cujit.cuda._link.machine_code import disassemble, has_tools

    if not has_tools("ptxas", "nvdisasm"):
        return []
    return _sass_lines(disassemble(ptx, kernel.options.get("max_registers"), kernel.links(), lines=True))


def _usage(kernel: Any, ptx: str) -> dict[str, int]:
    """What ptxas says of a kernel for a GPU; nothing where it is not installed, or other code is linked to it."""
    from cujit.cuda._link.machine_code import has_tools, usage

    return usage(ptx, kernel.options.get("max_registers")) if has_tools("ptxas") and not kernel.links() else {}


def explain(kernel: Any, types: ArgumentTypes, sm: int | None) -> Explanation:
    """The page of a kernel for these types; sm: a GPU's architecture, None: the current device's."""
    twin = type(kernel)(kernel.py_func, device=kernel.is_device, extensions=kernel._extensions,
                        **{**kernel.options, "lineinfo": True})
    is_gpu = sm is not None or _core.current_device().kind == "cuda"
    ir, asm = _ir_lines(kernel.inspect("ir", types)), twin.inspect("asm", types, sm)
    texts = {"source": _source_lines(ir), "typed IR": ir, "LLVM IR": _llvm_lines(twin.inspect("llvm", types, sm)),
             "PTX" if is_gpu else "assembly": _assembly_lines(asm)}
    sass = _sass(twin, asm) if is_gpu else []
    if sass:
        texts["SASS"] = sass
    warnings = [line for what in ("widenings", "warnings") for line in kernel.inspect(what, types).splitlines() if line]
    warnings += advice(kernel.inspect("ir", types))
    facts = _facts(kernel, types) if sm is None and not kernel.is_device else {}
    used = _usage(twin, asm) if is_gpu and not kernel.is_device else {}
    if used.get("spilled, bytes written") or used.get("spilled, bytes read"):
        warnings.append(f"{used['registers of a thread']} registers do not suffice: "
                        f"{used['spilled, bytes written']} bytes written to local memory and "
                        f"{used['spilled, bytes read']} read")
    facts = {**used, **facts}
    target = f"sm_{sm}" if sm is not None else "GPU" if is_gpu else "the CPU device"
    title = f"{kernel.__qualname__}({', '.join(map(str, types))}) for {target}"
    return Explanation(title, texts, _values(kernel.inspect("types", types)), facts, warnings)
