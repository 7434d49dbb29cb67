"""`python -m cujit compile module:function`: the code of a function for a signature, in a file or printed; `explain`:
the page of kernel.explain()."""
from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Callable
from typing import Any

from cujit.errors import CujitError


def _found(place: str) -> Any:
    """The function at "module:function" or "path.py:function". ValueError where there is none."""
    module_name, separator, name = place.rpartition(":")
    if not separator or not module_name or not name:
        raise ValueError(f"{place!r} is not module:function")
    folder, file = os.path.split(module_name)
    if module_name.endswith(".py"):
        sys.path.insert(0, os.path.abspath(folder))
        module_name = file[:-len(".py")]
    else:
        sys.path.insert(0, os.getcwd())
    found: Any = importlib.import_module(module_name)
    for part in name.split("."):
        found = getattr(found, part)
    if not callable(found):
        raise ValueError(f"{place!r} is {found!r}, which is no function")
    return found


_SIGNATURE = 'the types of its arguments, "void(float32[::1], int64)"; the one that its decorator has unless given'


def _signature(function: Any, given: argparse.Namespace) -> Any:
    """What was given, else the one signature of the decorator. ValueError where that has none, or several."""
    if given.signature is not None:
        return given.signature
    declared = getattr(function, "signatures", [])
    if len(declared) != 1:
        raise ValueError(f"--signature is needed: the decorator of {given.function} has {len(declared) or 'none'}")
    return declared[0]


def _architecture(text: str) -> tuple[int, int]:
    """(9, 0) of "sm_90", "90" or "9.0". ValueError for others."""
    digits = text.removeprefix("sm_").removeprefix("compute_").replace(".", "")
    if not digits.isdigit() or len(digits) < 2:
        raise ValueError(f"{text!r} is no target such as sm_90, or cpu")
    return int(digits[:-1]), int(digits[-1])


def _code(function: Any, given: argparse.Namespace) -> str | bytes:
    from cujit import cuda
    from cujit.cuda._dispatch.options import OF_CODE
    from cujit.cuda._dispatch.signature import normalize
    from cujit.cuda.devices import device_of_kind, on
    from cujit.cuda.dispatcher import Dispatcher

    options = function.targetoptions if isinstance(function, Dispatcher) else {}
    is_device = given.device or isinstance(function, Dispatcher) and function.is_device
    if given.target != "cpu":
        if given.output in ("asm", "object"):
            raise ValueError(f"a GPU has no {given.output}; it has ptx, cubin, llvm and ltoir")
        core = {name: options[name] for name in OF_CODE if name in options and name != "check"}
        code, _ = cuda.compile(function, _signature(function, given), device=is_device, cc=_architecture(given.target),
                               abi="c" if is_device else "numba", output=given.output, **core)
        return code
    if given.output not in ("llvm", "asm", "object"):
        raise ValueError(f"the CPU device has no {given.output}; it has llvm, asm and object")
    kernel = function if isinstance(function, Dispatcher) else cuda.jit(function, device=is_device)
    types, _ = normalize(_signature(function, given))
    with on(device_of_kind("cpu")._core):
        return kernel.inspect(given.output, types, any_launch=True)


def main(arguments: list[str]) -> int:
    """Runs the command; its exit status."""
    parser = argparse.ArgumentParser(prog="python -m cujit compile",
                                     description="Prints code of a function, or writes it to a file.")
    parser.add_argument("function", help="module:function or path.py:function")
    parser.add_argument("--signature", help=_SIGNATURE)
    parser.add_argument("--target", default="sm_75", help="sm_75 (unless given), sm_90, ..., or cpu")
    parser.add_argument("--output", default="ptx", choices=["ptx", "cubin", "llvm", "ltoir", "asm", "object"],
                        help="asm, object: machine code of the CPU device, as text and as an object file")
    parser.add_argument("--device", action="store_true", help="a function that kernels call, with C's convention")
    return _run(parser, arguments, _code)


def _page(function: Any, given: argparse.Namespace) -> str:
    from cujit import cuda
    from cujit.cuda.devices import device_of_kind, on
    from cujit.cuda.dispatcher import Dispatcher

    kernel = function if isinstance(function, Dispatcher) else cuda.jit(function)
    signature = _signature(function, given)
    if given.target is None:
        return str(kernel.explain(signature))
    if given.target != "cpu":
        return str(kernel.explain(signature, cc=_architecture(given.target)))
    with on(device_of_kind("cpu")._core):
        return str(kernel.explain(signature))


def explain(arguments: list[str]) -> int:
    """Runs the command `explain`; its exit status."""
    parser = argparse.ArgumentParser(prog="python -m cujit explain",
                                     description="An HTML page: a kernel's source beside the code made of each line.")
    parser.add_argument("function", help="module:kernel or path.py:kernel")
    parser.add_argument("--signature", help=_SIGNATURE)
    parser.add_argument("--target", help="sm_75, sm_90, ..., or cpu; the current device unless given")
    return _run(parser, arguments, _page)


def _run(parser: argparse.ArgumentParser, arguments: list[str],
         make: Callable[[Any, argparse.Namespace], str | bytes]) -> int:
    parser.add_argument("-o", dest="file", help="where it goes; standard output unless given")
    given = parser.parse_args(arguments)
    try:
        code = make(_found(given.function), given)
    except (CujitError, ValueError, ImportError, AttributeError, NotImplementedError, TypeError) as error:
        parser.exit(1, f"{type(error).__name__}: {error}\n")
    content = code.encode() if isinstance(code, str) else code
    if given.file:
        with open(given.file, "wb") as file:
            file.write(content)
    else:
        sys.stdout.buffer.write(content)
    return 0
