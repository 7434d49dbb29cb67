"""Functions, attributes and methods that have implementations by the types of their arguments."""
from __future__ import annotations

import inspect
import types as python_types
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from cujit import _core
from cujit._type_families import known_argument
from cujit.errors import CujitError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_F = TypeVar("_F", bound="Callable[..., Any]")


class Definition(NamedTuple):
    """A function that gets the types of arguments and returns an implementation or None, and what it is for."""

    function: Callable[..., Any]
    form: str                  # "call", "attribute", "method" or "classmethod"
    owner: Any                 # the type or class of types whose values have the attribute or method
    prefer_literal: bool
    strict: bool
    target: str                # numba's: one of _TARGETS, or what is for other compilers


# What of numba's targets is for kernels; of definitions for the same types that for the earlier of these is asked.
_TARGETS = "cuda", "gpu", "generic"


def _belongs(type: Any, owner: Any) -> bool:
    if isinstance(owner, tuple):
        return any(_belongs(type, each) for each in owner)
    return bool(type == owner) if isinstance(owner, _core.Type) else isinstance(type, owner)


def _place(function: Callable[..., Any]) -> str:
    code = function.__code__
    return f"{code.co_filename}:{code.co_firstlineno}"


def _parameters(function: Callable[..., Any]) -> list[str]:
    return [f"{'*' if p.kind == p.VAR_POSITIONAL else '**' if p.kind == p.VAR_KEYWORD else ''}{p.name}"
            for p in inspect.signature(function).parameters.values()]


def _takes(function: Callable[..., Any], arguments: list[Any], by_name: dict[str, Any]) -> bool:
    try:
        inspect.signature(function).bind(*arguments, **by_name)
    except TypeError:
        return False
    return True


class Overloads:
    """The definitions for one function, or for one name of attributes and methods."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.definitions: list[Definition] = []

    @property
    def prefers_literals(self) -> bool:
        return any(each.prefer_literal for each in self.definitions)

    def choose(self, form: str, given: list[Any], keywords: tuple[str, ...]) -> Any:
        """Called while a kernel is compiled (python/ext/argument/implementations.c).

        Returns
        -------
        function, None, True or str
            The implementation; None: there is none; True: an attribute that is a method; a str: why it cannot be told.
        """
        arguments = [known_argument(each) for each in given]
        reasons: list[str] = []
        for definition in self._fitting(form, arguments):
            if form == "attribute" and definition.form != "attribute":
                return True
            try:
                chosen = self._ask(definition, arguments, keywords)
            except CujitError as error:   # numba's way to say: not for these types
                reasons.append(str(error))
                continue
            except Exception as error:
                place = _place(definition.function)
                return f"{self.name}: its overload in {place} raised {type(error).__name__}: {error}"
            if chosen is not None:
                return chosen
        return "; ".join(reasons) or None

    def _fitting(self, form: str, arguments: list[Any]) -> list[Definition]:
        if form == "call":
            return [each for each in self.definitions if each.form == "call"]
        receiver = arguments[0]
        made = getattr(receiver, "instance_type", None) if receiver.kind in ("type", "class") else None
        forms = ("attribute", "method", "classmethod") if form == "attribute" else ("method", "classmethod")
        return [each for each in self.definitions if each.form in forms
                and _belongs(made if each.form == "classmethod" else receiver, each.owner)]

    def _ask(self, definition: Definition, arguments: list[Any], keywords: tuple[str, ...]) -> Any:
        positional = len(arguments) - len(keywords)
        by_name = dict(zip(keywords, arguments[positional:], strict=True))
        if not _takes(definition.function, arguments[:positional], by_name):   # cujit's own implementation may
            return None
        chosen = definition.function(*arguments[:positional], **by_name)
        if chosen is None:
            return None
        function = getattr(chosen, "py_func", chosen)
        if not isinstance(function, python_types.FunctionType):
            raise TypeError(f"it returned {chosen!r}, which is neither a function nor None")
        if definition.strict and _parameters(function) != _parameters(definition.function):
            raise TypeError(f"its implementation takes ({', '.join(_parameters(function))}), "
                            f"it takes ({', '.join(_parameters(definition.function))}); strict=False allows that")
        return function


def _add(registry: dict[Any, Any], key: Any, name: str, definition: Definition) -> None:
    if not isinstance(definition.function, python_types.FunctionType):
        raise TypeError(f"an overload is defined by a Python function, not by {definition.function!r}")
    if definition.target in _TARGETS:   # others, such as "cpu", are for numba
        overloads = registry.setdefault(key, Overloads(name))
        overloads.definitions = sorted([*overloads.definitions, definition], key=_rank)


def _rank(definition: Definition) -> int:
    return _TARGETS.index(definition.target)


def overload(func: Callable[..., Any], jit_options: Mapping[str, Any] | None = None, strict: bool = True,
             inline: str = "never", prefer_literal: bool = False, target: str = "cuda",
             **kwargs: Any) -> Callable[[_F], _F]:
    """Gives a function implementations for kernels by the types of its arguments.

    The decorated definition gets the arguments' types, of keywords by name, and returns a function with the same
    parameters, or None where it has none for these types. Definitions are asked in the order of their registration,
    those for target "generic" last, while a kernel is compiled. They come before what cujit knows of `func` itself,
    which answers where all of them return None; a function of the program's that has overloads is not compiled itself.

    Parameters
    ----------
    func : function or class
        What kernels call; also a builtin, a function of NumPy's, or one of module operator, which is then the operator
        of types that extending.as_type has declared, of dataclasses and of named tuples.
    jit_options, inline : mapping, str
        numba's; implementations are compiled as part of the kernel, with its options.
    strict : bool
        Whether implementations must have the definition's parameters.
    prefer_literal : bool
        numba's. Numbers that the code states have their types first, and those of literals where no definition takes
        them.
    target : str
        numba's. "cuda" and "gpu": for kernels. "generic": for kernels, too, where no definition of these takes the
        types. Definitions for others, such as "cpu", have no effect.
    **kwargs
        Others of numba's, without effect.

    Returns
    -------
    decorator
        It returns the definition.

    Raises
    ------
    TypeError
        `func` has no hash, or what is decorated is no function.

    Examples
    --------
    >>> def scale(x, factor):
    ...     return x * factor
    >>> @overload(scale)
    ... def scale_for(x, factor):
    ...     if isinstance(x, types.Float):
    ...         return lambda x, factor: x * factor
    """
    name = getattr(func, "__name__", repr(func))

    def decorate(definition: _F) -> _F:
        made = Definition(definition, "call", None, prefer_literal, strict, target)
        _add(_core.overloads, func, name, made)
        if getattr(func, "__module__", None) == "_operator":
            _add(_core.member_overloads, f"operator.{name}", f"operator.{name}", made)
        return definition
    return decorate


def _member(form: str, type: Any, name: str, target: str, strict: bool = True) -> Callable[[_F], _F]:
    def decorate(definition: _F) -> _F:
        _add(_core.member_overloads, name, name, Definition(definition, form, type, False, strict, target))
        return definition
    return decorate


def overload_attribute(typ: Any, attr: str, target: str = "cuda", **kwargs: Any) -> Callable[[_F], _F]:
    """Gives values of a type an attribute in kernels.

    Parameters
    ----------
    typ : Type, class of types, StructType, or tuple of these
        types.Array, types.float64, what extending.as_type returned, ...
    attr : str
        The attribute's name.
    target : str
        As for overload.
    **kwargs
        numba's, without effect.

    Returns
    -------
    decorator
        Of a definition that gets the value's type and returns a function of the value.

    Examples
    --------
    >>> @overload_attribute(types.Array, "last_axis")
    ... def last_axis_of(array):
    ...     return lambda array: array.ndim - 1
    """
    return _member("attribute", typ, attr, target)


def overload_method(typ: Any, attr: str, strict: bool = True, target: str = "cuda",
                    **kwargs: Any) -> Callable[[_F], _F]:
    """Gives values of a type a method in kernels.

    Parameters
    ----------
    typ : Type, class of types, StructType, or tuple of these
        types.Array, types.float64, what extending.as_type returned, ...
    attr : str
        The method's name.
    strict : bool
        Whether implementations must have the definition's parameters.
    target : str
        As for overload.
    **kwargs
        numba's, without effect.

    Returns
    -------
    decorator
        Of a definition that gets the types of the value and of the arguments, and returns a function of these.

    Examples
    --------
    >>> @overload_method(types.Array, "first")
    ... def first_of(array):
    ...     return lambda array: array[0]
    """
    return _member("method", typ, attr, target, strict)


def overload_classmethod(typ: Any, attr: str, strict: bool = True, target: str = "cuda",
                         **kwargs: Any) -> Callable[[_F], _F]:
    """Gives a type itself a method in kernels, such as Interval.around(x, r).

    Parameters
    ----------
    typ : Type, class of types, StructType, or tuple of these
        Whose names, in kernels, have the method: the class that extending.as_type has declared, np.float32, ...
    attr : str
        The method's name.
    strict : bool
        Whether implementations must have the definition's parameters.
    target : str
        As for overload.
    **kwargs
        numba's, without effect.

    Returns
    -------
    decorator
        Of a definition that gets the type's type and those of the arguments, and returns a function of these.

    Examples
    --------
    >>> @overload_classmethod(IntervalType, "around")
    ... def around_for(cls, x, r):
    ...     return lambda cls, x, r: Interval(x - r, x + r)
    """
    return _member("classmethod", typ, attr, target, strict)


def register_jitable(*args: Any, **kwargs: Any) -> Any:
    """Nothing: kernels call any Python function. A decorator for code that is written for numba, too.

    Parameters
    ----------
    *args, **kwargs
        The function, or numba's options, which are the kernel's here.

    Returns
    -------
    function or decorator
        The function as it is.

    Examples
    --------
    >>> @register_jitable
    ... def square(x):
    ...     return x * x
    """
    return args[0] if args and callable(args[0]) else lambda function: function
