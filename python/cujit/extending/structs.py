"""Classes of the program as types of kernels: values with named fields; and the types of other classes' values."""
from __future__ import annotations

import dataclasses
import typing
from typing import TYPE_CHECKING, Any

from cujit import _core

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

_kept: list[Any] = []   # launches of other threads may still be reading what a second declaration replaces
_BUILTINS = {bool: "bool", int: "int64", float: "float64", complex: "complex128"}


class StructType:
    """A class whose values kernels have as their fields. Made by as_type.

    Called in a kernel, it makes one of its fields. isinstance(type, this): whether a type is of such values. Called
    with types, on the host, it is the type of values whose fields have these types.

    Attributes
    ----------
    cls : type
        The class.
    fields : tuple of str
        The names.
    types : tuple
        A Type each, or None where the value decides.
    """

    def __init__(self, cls: type, fields: tuple[str, ...], types: tuple[_core.Type | None, ...]) -> None:
        self.cls, self.fields, self.types = cls, fields, types

    def __instancecheck__(self, value: object) -> bool:
        kind = getattr(value, "kind", None)
        return kind == "instance" and typing.cast("Any", value).instance_class is self.cls

    def __call__(self, *types: _core.Type) -> _core.Type:
        given = iter(types)
        whole = tuple(t for t in (next(given, None) if stated is None else stated for stated in self.types)
                      if t is not None)
        if len(whole) < len(self.types) or next(given, None) is not None:
            open_fields = [name for name, stated in zip(self.fields, self.types, strict=True) if stated is None]
            raise TypeError(f"{self!r} takes a type for each of ({', '.join(open_fields)})")
        return _core.instance_type(self.cls, whole)

    def __repr__(self) -> str:
        return f"StructType({self.cls.__name__})"


def _stated(given: Any) -> _core.Type | None:
    """The type that an annotation states; None where values decide."""
    if given is None or given is Any:
        return None
    if isinstance(given, _core.Type):
        return given
    if isinstance(given, type) and given in _BUILTINS:
        return _core.scalar_types[_BUILTINS[given]]
    try:
        return _core.type_from_dtype(given)
    except TypeError:
        return None


def _annotations(cls: type) -> dict[str, Any]:
    if dataclasses.is_dataclass(cls):
        hints = typing.get_type_hints(cls)
        return {field.name: hints.get(field.name) for field in dataclasses.fields(cls)}
    return typing.get_type_hints(cls)


def as_type(cls: type, fields: Any = None, *, unpack: Callable[[Any], Iterable[Any]] | None = None,
            constructor: bool = False, **named: Any) -> StructType:
    """Declares the fields that kernels have of a class's instances: as arguments, captured, in device functions, in
    tuples.

    One declaration in the place of numba's typeof_impl, register_model and make_attribute_wrapper. Values are passed
    field by field, so a kernel cannot assign to fields; elements of arrays among them it can.

    Parameters
    ----------
    cls : type
        The class; its subclasses are the same type.
    fields : class with annotations, mapping, or sequence of str, optional
        The names, and types where they are fixed: a Type, float, int, bool, complex, or a dtype. Of a fixed type the
        values are converted. Any other annotation, or none, leaves it to each value: numbers, arrays, tuples, other
        declared classes. None: the annotations of `cls`.
    unpack : function, optional
        Of an instance, to a sequence of the fields' values; else they are its attributes.
    constructor : bool
        Whether a kernel makes instances by calling `cls` with the fields. Calling the result of as_type does always.
    **named
        More fields, by name.

    Returns
    -------
    StructType
        For overload_method and isinstance in definitions of overloads.

    Raises
    ------
    TypeError
        `cls` is no class, or there are no fields.

    Examples
    --------
    >>> class Interval:
    ...     def __init__(self, low, high):
    ...         self.low, self.high = low, high
    >>> IntervalType = as_type(Interval, low=float, high=float)
    >>> @cuda.jit
    ... def widths(interval, out):
    ...     out[0] = interval.high - interval.low
    """
    if not isinstance(cls, type):
        raise TypeError(f"as_type declares a class, not {cls!r}")
    given: Mapping[str, Any]
    if fields is None:
        given = {} if named else _annotations(cls)
    elif isinstance(fields, type):
        given = _annotations(fields)
    else:
        given = fields if hasattr(fields, "keys") else dict.fromkeys(fields)
    whole = {**given, **named}
    if not whole:
        raise TypeError(f"as_type({cls.__name__}): there are no fields")
    struct = StructType(cls, tuple(whole), tuple(_stated(each) for each in whole.values()))
    for key, makes in ((cls, constructor), (struct, True)):
        entry = (cls, struct.fields, struct.types, unpack, makes)
        _kept.append(entry)
        _core.declared_classes[key] = entry
    return struct


class _TypeofImpl:
    """Registers the types of values of classes, as numba's typeof_impl does."""

    def register(self, cls: type, function: Callable[[Any, Any], _core.Type] | None = None) -> Any:
        """The decorated function says which type values of a class have as arguments of kernels.

        Parameters
        ----------
        cls : type
            The class, with its subclasses.
        function : function, optional
            Of a value and a context, which is None. Without it register is a decorator.

        Returns
        -------
        function or decorator

        Examples
        --------
        >>> @typeof_impl.register(Celsius)
        ... def typeof_celsius(value, context):
        ...     return types.float64
        """
        if function is None:
            return lambda given: self.register(cls, given)
        if not isinstance(cls, type):
            raise TypeError(f"typeof_impl.register takes a class, not {cls!r}")
        _kept.append(function)
        _core.typeof_functions[cls] = function
        return function


typeof_impl = _TypeofImpl()
