"""`python -m cujit cache ls|rm|size`: the compiled kernels that are kept on disk."""
from __future__ import annotations

import argparse
import contextlib
import fnmatch
import os
import time
from typing import NamedTuple

from cujit import _core


class CachedKernel(NamedTuple):
    """A file of the folder; used: seconds since 1970, to the hour; device: "gpu" or "cpu"."""

    file: str
    size: int
    used: int
    device: str
    name: str


def kernels() -> list[CachedKernel]:
    """What is kept, that which was used last first."""
    rows = [line.split("\t") for line in _core.list_cached().splitlines()]
    found = [CachedKernel(file, int(size), int(used), device, name) for file, size, used, device, name in rows]
    return sorted(found, key=lambda kernel: (-kernel.used, kernel.name, kernel.file))


def size_text(size: int) -> str:
    """Bytes as a person reads them."""
    number = float(size)
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if number < 1024:
            return f"{number:.0f} {unit}" if unit == "bytes" else f"{number:.1f} {unit}"
        number /= 1024
    return f"{number:.1f} TiB"


def _chosen(words: list[str]) -> list[CachedKernel]:
    """Those whose name or file has one of these patterns; all where there is none."""
    return [kernel for kernel in kernels()
            if not words or any(fnmatch.fnmatchcase(text, word)
                                for word in words for text in (kernel.name, kernel.file))]


def _count(chosen: list[CachedKernel]) -> str:
    return f"{len(chosen)} kernel{'' if len(chosen) == 1 else 's'}"


def _sum(chosen: list[CachedKernel]) -> str:
    return size_text(sum(kernel.size for kernel in chosen))


def _ls(words: list[str]) -> int:
    for kernel in _chosen(words):
        used = time.strftime("%Y-%m-%d %H:%M", time.localtime(kernel.used))
        print(f"{used}  {kernel.device}  {kernel.size:>10}  {kernel.name}  {kernel.file}")
    return 0


def _rm(words: list[str]) -> int:
    folder, chosen = _core.cache_folder(), _chosen(words)
    for kernel in chosen:
        with contextlib.suppress(FileNotFoundError):   # another process was faster
            os.unlink(os.path.join(folder or "", kernel.file))
    print(f"{_count(chosen)} removed, {_sum(chosen)}")
    return 0


def _size(words: list[str]) -> int:
    chosen = _chosen(words)
    print(f"{_core.cache_folder()}: {_count(chosen)}, {_sum(chosen)}")
    return 0


_ACTIONS = {"ls": _ls, "rm": _rm, "size": _size}


def main(arguments: list[str]) -> int:
    """Runs the command; its exit status."""
    parser = argparse.ArgumentParser(prog="python -m cujit cache", description="The compiled kernels on disk.")
    parser.add_argument("action", choices=_ACTIONS, help="list, remove, or sum up")
    parser.add_argument("names", nargs="*", default=[],
                        help="of kernels or files, with * and ?; all where none is given")
    given = parser.parse_args(arguments)
    if _core.cache_folder() is None:
        parser.exit(1, "no kernels are kept on disk: CUJIT_CACHE=0, or there is no home folder\n")
    return _ACTIONS[given.action](given.names)
