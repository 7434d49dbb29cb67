"""The logger "cujit": INFO for each kernel that was compiled or came from disk, with its types, the time it took, and
which argument is of another type than at the last compilation.

The extension imports this where the program has imported logging and the logger hears INFO.
"""
from __future__ import annotations

import logging
import weakref
from typing import Any

logger = logging.getLogger("cujit")
_last: weakref.WeakKeyDictionary[Any, tuple[str, ...]] = weakref.WeakKeyDictionary()   # types of a kernel's last one


def made(kernel: Any, types: str, device: str, from_disk: bool, steps: dict[str, float]) -> None:
    """A kernel for these types is ready. steps: seconds of each."""
    taken = {name: seconds for name, seconds in steps.items() if seconds}
    parts = ", ".join(f"{name} {1e3 * seconds:.1f}" for name, seconds in taken.items())
    why = _difference(kernel, types, device)
    logger.info("%s %s(%s) for %s in %.1f ms (%s)%s", "loaded from disk" if from_disk else "compiled",
                kernel.__qualname__, types, device, 1e3 * sum(taken.values()), parts, f": {why}" if why else "",
                extra={"kernel": kernel, "types": types, "from_disk": from_disk, "steps": taken, "why": why})


def _difference(kernel: Any, types: str, device: str) -> str:
    """What is not as it was when the kernel was last told of; nothing the first time."""
    now = (device, *_split(types))
    before = _last.get(kernel)
    _last[kernel] = now
    if before is None:
        return ""
    if len(before) != len(now):
        return f"{len(now) - 1} arguments, {len(before) - 1} before"
    names = ("device", *kernel.py_func.__code__.co_varnames)
    changed = [f"{name} is {new}, was {old}" for name, new, old in zip(names, now, before, strict=False) if new != old]
    return "; ".join(changed)


def _split(types: str) -> list[str]:
    """The types of the arguments: what commas that stand in no brackets divide."""
    parts, depth, start = [], 0, 0
    for place, letter in enumerate(types):
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and not depth:
            parts.append(types[start:place].strip())
            start = place + 1
    return [*parts, types[start:].strip()]
