"""Make python/cujit/cuda/_dispatch/options.pyi from core/option.def: compare it, or write it with --write."""
import sys
import textwrap
from pathlib import Path

from cujit.cuda._dispatch import options

STUB = Path(__file__).resolve().parent.parent / "python/cujit/cuda/_dispatch/options.pyi"

# What Python may give for an option of that kind, beside None.
TYPES = {"flag": "bool", "level": "bool | int", "number": "int", "carveout": "int | str", "literals": "str",
         "float_rules": "bool | str | Iterable[str]", "observation": "str",
         "launch_bounds": "int | Sequence[int | None]", "checks": "bool | str | Iterable[str]"}

HEAD = '''"""The options of functions. Made by scripts/options_stub.py from core/option.def."""
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypedDict, TypeVar

_Function = TypeVar("_Function", bound=Callable[..., Any])

TABLE: dict[str, dict[str, Any]]
DEFAULTS: dict[str, Any]
OF_CODE: list[str]
OF_LOOPS: list[str]

def takes(names: Iterable[str]) -> Callable[[_Function], _Function]: ...
def check(function: str, options: Iterable[str], names: Iterable[str]) -> None: ...
def unknown(options: Iterable[str], names: Iterable[str]) -> Iterable[str]: ...
def given(options: Mapping[str, Any]) -> dict[str, Any]: ...
def of_loops(options: Mapping[str, Any]) -> dict[str, Any]: ...
'''


def described(name):
    """A key of a TypedDict with its documentation below, as editors show it."""
    lines = textwrap.wrap(f'"""{options.TABLE[name]["doc"]}"""', 116)
    return [f"{name}: {TYPES[options.TABLE[name]['kind']]} | None", *lines]


def of_class(name, base, doc, names):
    lines = [f'"""{doc}"""'] + [line for each in names for line in described(each)]
    return f"\nclass {name}({base}total=False):\n" + "".join(f"    {line}\n" for line in lines)


def stub():
    code = [name for name in options.OF_CODE if name not in options.OF_LOOPS]
    host = [name for name in options.TABLE if name not in options.OF_CODE]
    return (HEAD + of_class("LoopOptions", "TypedDict, ", "What vectorize and guvectorize take, too.", options.OF_LOOPS)
            + of_class("CodeOptions", "LoopOptions, ", "Options of cuda.compile and compile_ptx.", code)
            + of_class("Options", "CodeOptions, ", "Options of cuda.jit.", host))


if __name__ == "__main__":
    if "--write" in sys.argv:
        STUB.write_text(stub(), encoding="utf-8")
    elif STUB.read_text(encoding="utf-8") != stub():
        sys.exit(f"{STUB.name} is not what core/option.def makes: scripts/options_stub.py --write")
