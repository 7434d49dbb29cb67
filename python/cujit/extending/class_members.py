"""What kernels have of the classes of dataclasses, of named tuples and of declared ones, beside fields: methods,
operators, properties and constants."""
from __future__ import annotations

import collections
import dataclasses
import inspect
import types as python_types
from typing import TYPE_CHECKING, Any

import numpy as np

from cujit import _core

if TYPE_CHECKING:
    from collections.abc import Callable

_CONSTANTS = bool, int, float, complex, str, tuple, np.generic
# What collections.namedtuple gives to every class: the compiler has what kernels have of these. The class is kept: else
# the garbage collector would clear what is gone through here.
_Sample = collections.namedtuple("_Sample", "")
_OF_NAMED_TUPLES = frozenset(name for name in vars(_Sample) if not name.startswith("__"))


def member_of(cls: type, name: str, form: str, arguments: list[Any]) -> Any:
    """Called while a kernel is compiled (python/ext/argument/implementations.c).

    Parameters
    ----------
    cls : type
        The class of the first argument.
    name : str
        Of the attribute, or of an operator's method.
    form : str
        "attribute" or "method".
    arguments : list
        Their types.

    Returns
    -------
    function, None or True
        What is called with the arguments; None: the class has no such attribute; True: it is a method.
    """
    is_given = issubclass(cls, tuple) and name in _OF_NAMED_TUPLES
    found = None if is_given else inspect.getattr_static(cls, name, None)
    if form == "attribute":
        return _attribute(found)
    if isinstance(found, staticmethod):
        return _without_receiver(found.__func__)
    if not isinstance(found, python_types.FunctionType):
        return _unequal(cls, arguments) if name == "__ne__" else None
    return _comparison(cls, name, arguments) if _is_made(cls, name, found) else found


def _attribute(found: Any) -> Any:
    if isinstance(found, property):
        return found.fget
    if isinstance(found, (python_types.FunctionType, staticmethod)):
        return True
    return _constant(found) if isinstance(found, _CONSTANTS) else None


def _constant(value: Any) -> Callable[..., Any]:
    return lambda instance: value


def _without_receiver(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda instance, *arguments: function(*arguments)


def _is_made(cls: type, name: str, function: Callable[..., Any]) -> bool:
    """Whether the dataclass's decorator has made the comparison, for it says more of Python than kernels know."""
    owner = next(base for base in cls.__mro__ if name in base.__dict__)
    parameters = owner.__dict__.get("__dataclass_params__")
    wanted = parameters is not None and (parameters.eq if name == "__eq__" else parameters.order)
    compares = name in _core.comparisons and name != "__ne__"
    return bool(wanted and compares and function.__code__.co_filename == "<string>")


def _comparison(cls: type, name: str, arguments: list[Any]) -> Callable[..., Any] | None:
    """As if instances were tuples of the fields that are compared; those of another class are unequal, in no order."""
    if getattr(arguments[1], "instance_class", None) is not cls:
        return (lambda first, second: False) if name == "__eq__" else None
    fields = [field.name for field in dataclasses.fields(cls) if field.compare]
    first, second = (f"({', '.join(f'{side}.{field}' for field in fields)},)" if fields else "()"
                     for side in ("first", "second"))
    made: Callable[..., Any] = eval(f"lambda first, second: {first} {_core.comparisons[name]} {second}")
    return made


def _unequal(cls: type, arguments: list[Any]) -> Callable[..., Any] | None:
    if member_of(cls, "__eq__", "method", arguments) is None:
        return None
    return lambda first, second: not first == second   # noqa: SIM201 - as Python has it
