"""What kernel.explain() says of typed IR: accesses whose neighbouring threads are far apart, and barriers that not all
threads of a block may reach. Only what is certain in the IR's terms is said: indices that are no linear function of
threadIdx.x are left alone.
"""
from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_FUNCTION = re.compile(r"^(?:kernel|device|export) \w+\((.*)\)")
_PARAMETER = re.compile(r"([\w.]+): \w+\[(\d+) ([CF])\]")
_BLOCK = re.compile(r"^block (\d+):$")
_PLACE = re.compile(r" ; (\d+):\d+-\d+$")
_VALUE = re.compile(r"^  (?:(%\d+): \S+(?: \w\])? = )?(.*)$")
_ACCESS = re.compile(r"^(?:load|store|atomic \w+) ([A-Za-z_][\w.]*)\[([^\]]*)\]")
_OPERAND = re.compile(r"(?<![\w.])(%\d+|[A-Za-z_][\w.]*)")
_SAME = ("convert", "wrap")
_MEETINGS = ("cuda.syncthreads", "cuda.syncthreads_count", "cuda.syncthreads_and", "cuda.syncthreads_or")
_LANES = ("cuda.threadIdx.", "cuda.laneid")

_SOME = "some"      # a factor that only the launch knows, not 0
_VARIES = "varies"  # no linear function of threadIdx.x, as far as the IR says

_END = -2           # a block behind all ends of a kernel

_Step = int | str | None   # by how much a value grows from a thread to the next; None: not known yet


class _Line(NamedTuple):
    """A line of a block."""

    name: str      # of its value, or ""
    text: str      # behind the name
    place: int     # line of the source; 0: none
    block: int


class _Function:
    """A kernel's typed IR as lines, and what is asked of its values and blocks."""

    def __init__(self, text: str) -> None:
        header, *rest = text.splitlines()
        found = _FUNCTION.match(header)
        self.arrays = {name: (int(axes), order) for name, axes, order in _PARAMETER.findall(found[1] if found else "")}
        self.lines: list[_Line] = []
        block = 0
        for line in rest:
            if start := _BLOCK.match(line):
                block = int(start[1])
            elif not line.startswith("  "):
                break   # functions behind the kernel
            elif parts := _VALUE.match(_PLACE.sub("", line)):
                place = _PLACE.search(line)
                self.lines.append(_Line(parts[1] or "", parts[2], int(place[1]) if place else 0, block))
        self.steps = self._steps()
        self.varying = self._varying()
        self.next: dict[int, list[int]] = {}
        for each in self.lines:
            if each.text.startswith(("jump ", "branch ")):
                self.next[each.block] = [int(number) for number in re.findall(r"block (\d+)", each.text)]
        self.meetings = self._meetings()

    # --- values ------------------------------------------------------------------------------------------------------

    def _steps(self) -> dict[str, _Step]:
        constants = {line.name: int(found[1]) for line in self.lines
                     if line.name and (found := re.match(r"const (-?\d+)$", line.text))}
        steps: dict[str, _Step] = {}
        for _ in range(len(self.lines) + 1):   # phis need another round for each loop around them
            before = dict(steps)
            for line in self.lines:
                if line.name:
                    steps[line.name] = self._step(line.text, steps, constants)
            if steps == before:
                break
        return steps

    def _step(self, text: str, steps: dict[str, _Step], constants: dict[str, int]) -> _Step:
        operation, _, rest = text.partition(" ")
        if operation == "phi":
            known = {steps.get(name) for name in re.findall(r": (%\d+)", rest)} - {None}
            known |= {0} if re.search(r": [A-Za-z_]", rest) else set()
            return None if not known else known.pop() if len(known) == 1 else _VARIES
        if operation == "cuda.threadIdx.x":
            return 1
        if operation.startswith(("cuda.blockIdx", "cuda.blockDim", "cuda.gridDim", "const", "extent", "stride")):
            return 0
        if operation.startswith(_LANES):
            return 0 if operation.startswith("cuda.threadIdx") else _VARIES
        names = _OPERAND.findall(rest)
        found = [steps.get(name, 0 if not name.startswith("%") else None) for name in names]
        if operation in _SAME and found:
            return found[0]
        if None in found:
            return None
        if operation in ("add", "sub") and len(found) == 2:
            return _sum(found[0], found[1], operation == "sub")
        if operation == "mul" and len(found) == 2:
            return _product(found[0], found[1], constants.get(names[0]), constants.get(names[1]))
        return 0 if operation not in ("load", "call", "atomic") and not any(found) else _VARIES

    def _varying(self) -> set[str]:
        """Names of values that threads of a block may have different ones of."""
        varying: set[str] = set()
        count = -1
        while count != len(varying):
            count = len(varying)
            for line in self.lines:
                if line.name and (line.text.startswith(_LANES) or varying.intersection(_OPERAND.findall(line.text))):
                    varying.add(line.name)
        return varying

    # --- blocks ------------------------------------------------------------------------------------------------------

    def _meetings(self) -> dict[int, int]:
        """For each block the nearest one that all ways from it to an end pass: its immediate post-dominator, _END where
        the ways meet at no block before. Cooper, Harvey and Kennedy, "A simple, fast dominance algorithm"."""
        order = self._from_the_end()
        place = {block: number for number, block in enumerate(order)}
        found = {_END: _END}
        changed = True
        while changed:
            changed = False
            for block in order[1:]:
                meeting = -1
                for each in self.next.get(block) or [_END]:
                    if each in found:
                        meeting = each if meeting == -1 else self._common(each, meeting, found, place)
                if found.get(block) != meeting:
                    found[block], changed = meeting, True
        return found

    def _from_the_end(self) -> list[int]:
        """_END and the blocks from which it can be reached, each in front of those before it but for loops."""
        before: dict[int, list[int]] = {}
        for block in {line.block for line in self.lines}:
            for each in self.next.get(block) or [_END]:
                before.setdefault(each, []).append(block)
        order: list[int] = []
        seen, waiting = {_END}, [(_END, iter(before.get(_END, ())))]
        while waiting:
            block, rest = waiting[-1]
            fresh = next((each for each in rest if each not in seen), None)
            if fresh is None:
                order.append(block)
                waiting.pop()
            else:
                seen.add(fresh)
                waiting.append((fresh, iter(before.get(fresh, ()))))
        return order[::-1]

    @staticmethod
    def _common(a: int, b: int, found: dict[int, int], place: dict[int, int]) -> int:
        while a != b:
            while place[a] > place[b]:
                a = found[a]
            while place[b] > place[a]:
                b = found[b]
        return a

    def apart(self, block: int) -> set[int]:
        """Blocks that threads pass between the branch at a block's end and where its ways meet again."""
        end = self.meetings.get(block, _END)
        seen: set[int] = set()
        waiting = [each for each in self.next[block] if each != end]
        while waiting:
            each = waiting.pop()
            if each not in seen:
                seen.add(each)
                waiting += [following for following in self.next.get(each, ()) if following != end]
        return seen


def _sum(a: _Step, b: _Step, is_difference: bool) -> _Step:
    if isinstance(a, int) and isinstance(b, int):
        return a - b if is_difference else a + b
    if b == 0:
        return a
    return b if a == 0 else _VARIES   # two factors of the launch may cancel


def _product(a: _Step, b: _Step, factor_a: int | None, factor_b: int | None) -> _Step:
    if a == 0 and b == 0:
        return 0
    if _VARIES in (a, b) or a != 0 and b != 0:
        return _VARIES
    step, factor = (a, factor_b) if a != 0 else (b, factor_a)
    if isinstance(step, int) and factor is not None:
        return step * factor
    return 0 if factor == 0 else _SOME


def advice(text: str) -> list[str]:
    """Sentences, each with a line of the source."""
    function = _Function(text)
    return [*dict.fromkeys([*_far_accesses(function), *_divergent_barriers(function)])]


def _far_accesses(function: _Function) -> Iterator[str]:
    for line in function.lines:
        found = _ACCESS.match(line.text)
        if not found or found[1] not in function.arrays:
            continue
        axes, order = function.arrays[found[1]]
        indices = [name.strip() for name in found[2].split(",")]
        steps = [function.steps.get(name, 0) for name in indices]
        if len(steps) != axes:
            continue
        fast = axes - 1 if order == "C" else 0
        where = f"line {line.place}: neighbouring threads (threadIdx.x) access '{found[1]}' "
        if any(step != 0 and step != _VARIES for axis, step in enumerate(steps) if axis != fast):
            yield (f"{where}{'rows' if order == 'C' else 'columns'} apart: let threadIdx.x run along the "
                   f"{'last' if order == 'C' else 'first'} axis, which is the one without gaps")
        elif isinstance(steps[fast], int) and abs(int(steps[fast] or 0)) > 1:
            yield f"{where}{abs(int(steps[fast] or 0))} elements apart"
        elif steps[fast] == _SOME:
            yield f"{where}as far apart as a factor of the launch says"


def _divergent_barriers(function: _Function) -> Iterator[str]:
    barriers = [line for line in function.lines if line.text.split(" ")[0] in _MEETINGS]
    for branch in function.lines:
        if not branch.text.startswith("branch ") or not function.varying.intersection(_OPERAND.findall(branch.text)):
            continue
        apart = function.apart(branch.block)
        for barrier in barriers:
            if barrier.block in apart:
                yield (f"line {barrier.place}: not all threads of a block may reach this barrier: what line "
                       f"{branch.place} decides differs between them")
