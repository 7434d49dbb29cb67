"""Functions that are PTX on a GPU."""
from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

from cujit import _core
from cujit.cuda._dispatch import signature as signatures
from cujit.errors import SignatureError

if TYPE_CHECKING:
    from collections.abc import Callable

    from cujit._annotations import PythonFunction, SignatureLike

# CUDA C's letter for a register of each type.
_LETTERS = {
    "bool": "b", "int16": "h", "uint16": "h", "int32": "r", "uint32": "r", "int64": "l", "uint64": "l",
    "float16": "h", "bfloat16": "h", "float32": "f", "float64": "d",
}
_BY_TYPE = {_core.scalar_types[name]: letter for name, letter in _LETTERS.items()}
_NONE = _core.scalar_types["none"]


class Assembly:
    """A function for kernels that is PTX on a GPU. Made by asm.

    Attributes
    ----------
    template : str
        As given.
    signature : Signature
        The types of the arguments and of the result.
    constraints : str
        In CUDA C's letters, "=r,r,r".
    cpu : function or None
        What it is on the CPU device.
    """

    def __init__(self, template: str, signature: _core.Signature, constraints: str, cpu: Callable[..., Any] | None,
                 py_func: PythonFunction) -> None:
        self.template, self.signature, self.constraints = template, signature, constraints
        self.cpu, self.py_func = cpu, py_func

    def __call__(self, *args: Any) -> Any:
        """cpu(*args), in Python. TypeError where there is none."""
        if self.cpu is None:
            raise TypeError(f"{self!r} is for kernels on a GPU; asm(..., cpu=function) says what it is elsewhere")
        return self.cpu(*args)

    def __repr__(self) -> str:
        return f"<asm {self.template!r}>"


def _results(result: _core.Type) -> tuple[_core.Type, ...]:
    if result == _NONE:
        return ()
    return result.types if result.kind == "tuple" else (result,)


def _letter(type: _core.Type) -> str:
    if type not in _BY_TYPE:
        raise TypeError(f"asm: {type} has no register of PTX's; they hold {', '.join(sorted(_LETTERS))}")
    return _BY_TYPE[type]


def _checked_template(template: str, results: int, count: int) -> str:
    """In LLVM's notation: $0 in the place of %0."""
    named: set[int] = set()

    def replace(match: re.Match[str]) -> str:
        text = match.group()
        if text == "$":
            return "$$"
        if text == "%%":
            return "%"
        named.add(int(text[1:]))
        return f"${{{text[1:]}}}"

    replaced = re.sub(r"%%|%\d+|\$", replace, template)
    if beyond := [n for n in sorted(named) if n >= count]:
        raise ValueError(f"asm: %{beyond[0]} is beyond the {count} operands of the signature")
    if unset := [n for n in range(results) if n not in named]:
        raise ValueError(f"asm: nothing sets %{unset[0]}, a result of the signature")
    if template.count("{") != template.count("}"):
        raise ValueError("asm: braces are not closed")
    if not template.strip():
        raise ValueError("asm: there is no instruction")
    return replaced


def _function(source: str, place: tuple[str, int], namespace: dict[str, Any]) -> Any:
    """The function asm of a source, whose lines are those of the place for messages."""
    file, line = place
    exec(compile("\n" * (line - 1) + source, file, "exec"), namespace)
    return namespace["asm"]


def _make(text: str, pure: bool, types: tuple[_core.Type, ...], result: _core.Type, cpu: Callable[..., Any] | None,
          place: tuple[str, int]) -> PythonFunction:
    """Two functions: one that converts the arguments, and the one that is PTX, whose arguments have their types."""
    names = [f"a{i}" for i in range(len(types))]
    results = _results(result)
    namespace: dict[str, Any] = {f"t{i}": t for i, t in enumerate(types)} | {f"r{i}": t for i, t in enumerate(results)}
    namespace["cpu"] = cpu
    values = [f"r{i}(0)" for i in range(len(results))]
    body = f"return {', '.join(values) + (',' if result.kind == 'tuple' else '')}"
    if cpu is not None and result.kind == "tuple":
        body = f"c = cpu({', '.join(names)}); return {', '.join(f'r{i}(c[{i}])' for i in range(len(results)))},"
    elif cpu is not None:
        call = f"cpu({', '.join(names)})"
        body = f"return r0({call})" if results else call
    inner = _function(f"def asm({', '.join(names)}): {body}\n", place, namespace)
    inner.__assembly__ = text, pure, cpu is None
    converted = ", ".join(f"t{i}({name})" for i, name in enumerate(names))
    return _function(f"def asm({', '.join(names)}): return inner({converted})\n", place, {**namespace, "inner": inner})


def asm(template: str, signature: SignatureLike, *, constraints: str | None = None, pure: bool = False,
        cpu: Callable[..., Any] | None = None) -> Assembly:
    """A function for kernels that is PTX on a GPU.

    Arguments are converted to the signature's types and lie in registers; so do results.

    Parameters
    ----------
    template : str
        PTX as in CUDA C's asm: %0 and on are the results, then the arguments; %% is a percent sign, before a name of
        PTX's one is enough (%laneid); braces hold registers of its own.
    signature : Signature or str
        types.int32(types.int32, types.int32), "int32(int32, int32)"; several results are a tuple's types; none is void.
        Numbers of 16, 32 and 64 bits, and booleans, which are predicates. An address is a uint64.
    constraints : str, optional
        CUDA C's, "=r,r,r"; they follow from the signature and are checked against it.
    pure : bool
        Whether nothing but the result depends on it, so that it may run less often, elsewhere or not at all; else it is
        volatile and reads and writes memory.
    cpu : function, optional
        What the CPU device runs, in the kernel language. Without it a kernel that calls the function does not compile
        there.

    Returns
    -------
    Assembly

    Raises
    ------
    ValueError
        An operand that the signature has not, a result that nothing sets, braces that are not closed, other
        constraints.
    TypeError
        A type that has no register.

    Examples
    --------
    >>> mad = asm("mad.lo.s32 %0, %1, %2, %3;", "int32(int32, int32, int32)", pure=True,
    ...           cpu=lambda a, b, c: a * b + c)
    >>> @cuda.jit
    ... def kernel(out):
    ...     out[0] = mad(3, 4, 5)
    """
    types, result = signatures.normalize(signature)
    if result is None:
        raise SignatureError(f"asm: the signature {signature!r} states no result; void is one")
    results = _results(result)
    letters = ",".join([f"={_letter(t)}" for t in results] + [_letter(t) for t in types])
    given = letters if constraints is None else constraints.replace(" ", "").replace("\"", "")
    if given != letters:
        raise ValueError(f"asm: constraints {constraints!r} are not those of the signature, {letters!r}")
    text = _checked_template(template, len(results), len(results) + len(types))
    caller = sys._getframe(1)
    place = caller.f_code.co_filename, caller.f_lineno
    made = _core.Signature(types, result)
    return Assembly(template, made, letters, cpu, _make(text, pure, types, result, cpu, place))
