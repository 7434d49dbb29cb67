"""python -m cujit: alone, what there is of devices and versions; `cache`, `compile` and `explain` are its commands.

python -m cujit program.py [arguments] runs a program for numba.cuda as it is, with cujit in numba.cuda's place. What is
behind `-m cujit` then is what Python takes: a program, `-m module`, `-c code`, `-i` for a prompt; but `-h` prints this.
The process becomes that Python, so that __main__, sys.argv and tracebacks are the program's; the Python processes that
it starts find cujit in numba's place, too. A program whose name is a command's is run by its path: ./cache.
"""
from __future__ import annotations

import os
import sys

_STARTUP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_numba", "startup")


def _options() -> list[str]:
    """Python's own options, in front of `-m cujit`."""
    given = sys.orig_argv[1:]
    for place, word in enumerate(given):
        if given[place:place + 2] == ["-m", "cujit"] or word == "-mcujit":
            return given[:place]
    return []


def _environment() -> dict[str, str]:
    paths = [_STARTUP]
    paths += [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path not in ("", _STARTUP)]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


def _command(name: str, arguments: list[str]) -> int:
    if name == "cache":
        from cujit._command import cache

        return cache.main(arguments)
    from cujit._command import compile

    return compile.main(arguments) if name == "compile" else compile.explain(arguments)


def main() -> None:
    if len(sys.argv) == 1:
        from cujit._command.report import print_report

        print_report()
        return
    if sys.argv[1] in ("-h", "--help"):
        print(__doc__)
        return
    if sys.argv[1] in ("cache", "compile", "explain"):
        sys.exit(_command(sys.argv[1], sys.argv[2:]))
    if sys.flags.ignore_environment or sys.flags.no_site:
        sys.exit("python -m cujit: Python's options -E, -I and -S leave no way into the program; without them, or call "
                 "cujit.install_as_numba() in the program")
    os.execve(sys.executable, [sys.executable, *_options(), *sys.argv[1:]], _environment())


if __name__ == "__main__":
    main()
