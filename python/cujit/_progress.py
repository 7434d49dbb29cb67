"""A line in an interactive terminal while a compilation takes more than a second; it is gone when that is done.

The extension calls begin() where standard error is a terminal.
"""
from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from typing import Any

PATIENCE = 1.0   # seconds without a line
_PERIOD = 0.5    # seconds until it is written again


def begin(kernel: Any) -> Callable[[], None]:
    """The kernel is being compiled. The result is called when it is, or cannot be."""
    done = threading.Event()
    thread = threading.Thread(target=_show, args=(kernel.__qualname__, done), name="cujit-progress", daemon=True)
    try:
        thread.start()
    except RuntimeError:   # the interpreter is ending, or there are too many threads
        return lambda: None

    def end() -> None:
        done.set()
        thread.join()

    return end


def _show(name: str, done: threading.Event) -> None:
    started = time.monotonic()
    if done.wait(PATIENCE):
        return
    while True:
        sys.stderr.write(f"\rcujit: compiling {name}, {time.monotonic() - started:.1f} s\x1b[K")
        sys.stderr.flush()
        if done.wait(_PERIOD):
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            return
