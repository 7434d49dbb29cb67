"""The logger "cujit": INFO for each kernel that was compiled or came from disk, with its types and the time it took.

The extension imports this where the program has imported logging.
"""
from __future__ import annotations

import logging
from typing import Any

logger = logging.getLogger("cujit")


def made(kernel: Any, types: str, device: str, from_disk: bool, steps: dict[str, float]) -> None:
    """A kernel for these types is ready. steps: seconds of each."""
    if not logger.isEnabledFor(logging.INFO):
        return
    taken = {name: seconds for name, seconds in steps.items() if seconds}
    parts = ", ".join(f"{name} {1e3 * seconds:.1f}" for name, seconds in taken.items())
    logger.info("%s %s(%s) for %s in %.1f ms (%s)", "loaded from disk" if from_disk else "compiled",
                kernel.__qualname__, types, device, 1e3 * sum(taken.values()), parts,
                extra={"kernel": kernel, "types": types, "from_disk": from_disk, "steps": taken})
