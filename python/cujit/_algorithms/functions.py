"""The functions that algorithms take: Python's and device functions, operators, expressions as text; and whether two of
them are the same one, so that a lambda that is written where it is used is compiled once."""
from __future__ import annotations

import ast
import builtins
import functools
import keyword
import math
import operator
import types as python_types
from typing import TYPE_CHECKING, Any

import numpy as np

from cujit.cuda._dispatch.generated_source import code_at_the_place_of, parsed_expression
from cujit.cuda._dispatch.options import OF_LOOPS, given
from cujit.cuda.dispatcher import Dispatcher

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_REMEMBERED = 256  # functions that were given to cuda.map and its kin
_PLAIN = (bool, int, float, complex, str, bytes, type(None), np.generic)
_LASTING = (python_types.FunctionType, python_types.BuiltinFunctionType, python_types.ModuleType, type, np.ufunc,
            Dispatcher)


def device_function(function: Any, options: dict[str, Any] | None = None, name: str | None = None,
                    parameters: str = "*arguments") -> Dispatcher[..., Any]:
    """What kernels call for a function of any kind. TypeError for what is none, and for unknown options.

    name: of the kernels that are made of it. parameters: those of operators and the like, which do not tell.
    """
    from cujit._ufunc.ufunc import UFunc

    options = options or {}
    if unknown := sorted(options.keys() - set(OF_LOOPS)):
        raise TypeError(f"there is no option '{unknown[0]}'; there are {', '.join(OF_LOOPS)}")
    if isinstance(function, UFunc):
        function = function.py_func
    if isinstance(function, Dispatcher):
        if function.is_device and not options and name is None:
            return function
        options = {**{key: value for key, value in function.options.items() if key in OF_LOOPS}, **options}
        function = function.py_func
    if not callable(function):
        raise TypeError(f"expected a function, not {type(function).__name__}")
    if not isinstance(function, python_types.FunctionType):
        function = _calling(function, parameters)
    made = Dispatcher(function, device=True, **given(options))
    made.__name__ = name or function.__name__
    return made


def _calling(function: Callable[..., Any], parameters: str) -> Callable[..., Any]:
    """A Python function that calls another kind of callable."""
    label = identifier(getattr(function, "__name__", type(function).__name__))
    namespace: dict[str, Any] = {"its_function": function}
    exec(f"def {label}({parameters}):\n    return its_function({parameters})\n", namespace)
    return namespace[label]


def identifier(name: str) -> str:
    """A name for a function in source, for one of any name."""
    return name if name.isidentifier() and not keyword.iskeyword(name) and name != "cuda" else "elementwise"


def written(function: Any, source: str, label: str, namespace: dict[str, Any]) -> Callable[..., Any]:
    """The function of that label in the source, at the place in the program of the function that it is made for."""
    exec(code_at_the_place_of(getattr(function, "py_func", function), source), namespace)
    return namespace[label]


# --- expressions -----------------------------------------------------------------------------------------------------

def of_expression(text: str, parameters: str | Sequence[str] | None = None, name: str | None = None,
                  more: Sequence[str] = ()) -> Callable[..., Any]:
    """The function whose result is the expression. Its parameters are the names that it has, in the order in which
    they come, unless they are given; math, np, cuda and Python's builtins are what they are elsewhere.

    more: names of the expression that are parameters whatever else they may mean. SyntaxError for another text.
    """
    from cujit import cuda

    tree = parsed_expression(text.strip(), "<expression>")
    known: dict[str, Any] = {"math": math, "np": np, "numpy": np, "operator": operator, "cuda": cuda}
    if parameters is None:
        bound = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
        bound |= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        free = sorted((node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id not in bound),
                      key=lambda node: (node.lineno, node.col_offset))
        listed = list(dict.fromkeys(node.id for node in free if node.id in more or
                                    not (node.id in known or hasattr(builtins, node.id))))
    else:
        listed = parameters.replace(",", " ").split() if isinstance(parameters, str) else list(parameters)
    label = identifier(name or "expression")
    exec(compile(f"def {label}({', '.join(listed)}):\n    return ({text.strip()}\n    )\n", "<expression>", "exec"),
         known)
    return known[label]


# --- which functions are the same ------------------------------------------------------------------------------------

class Same:
    """A function as a key: equal to one of the same code, defaults, captured values and globals."""

    def __init__(self, function: Any) -> None:
        self.function = function
        self._key = tuple(_identity(function))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


once = functools.cache   # what is made for a whole program


def remembered(make: Callable[..., Any]) -> Callable[..., Any]:
    """make(function, *more), remembered for functions that are the same; more: what can be hashed."""
    made = functools.lru_cache(_REMEMBERED)(lambda same, *more: make(same.function, *more))
    return lambda function, *more: made(Same(function), *more)


def _identity(function: Any) -> Iterator[Any]:
    if not isinstance(function, python_types.FunctionType):
        yield _of_value(function)
        return
    yield function.__code__
    for values in (function.__defaults__ or (), (function.__kwdefaults__ or {}).values()):
        yield tuple(map(_of_value, values))
    for cell in function.__closure__ or ():
        try:
            yield _of_value(cell.cell_contents)
        except ValueError:   # no value yet
            yield object()
    yield id(function.__globals__)
    for name in sorted(_names(function.__code__)):
        if name in function.__globals__:
            yield name, _of_value(function.__globals__[name])


def _names(code: python_types.CodeType) -> set[str]:
    return set(code.co_names).union(*(_names(value) for value in code.co_consts
                                      if isinstance(value, python_types.CodeType)))


def _of_value(value: Any) -> Any:
    if isinstance(value, _PLAIN):
        return type(value), repr(value)
    if isinstance(value, (tuple, frozenset)):
        return type(value), tuple(map(_of_value, value))
    if isinstance(value, _LASTING):
        return _Held(value)
    return object()   # what may change: no two are the same


class _Held:
    """An object by its identity, which it keeps as long as this key lives."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Held) and self._value is other._value

    def __hash__(self) -> int:
        return id(self._value)
