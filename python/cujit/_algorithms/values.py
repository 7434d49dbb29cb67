"""What values of a kernel are in memory. A tuple is an array for each of its items, so that neighbouring threads read
neighbouring numbers: a value has leaves, which are numbers, times or records, each with an array of its own."""
from __future__ import annotations

import collections
import functools
from typing import TYPE_CHECKING, Any

from cujit import _core

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cujit._core import Type

_TUPLES = ("tuple", "named", "instance")
_MOVED = "biufc"  # kinds of dtypes that shuffles move


class Element:
    """A type of values, by its leaves. Equal for equal types."""

    def __init__(self, type_: Type) -> None:
        """TypeError for a type whose values no array holds."""
        self.type = type_
        self.leaves: list[Type] = list(_leaves(type_, type_))
        if not self.leaves:
            raise TypeError(f"no array holds values of type {type_}")
        self.is_tuple = type_.kind in _TUPLES

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Element) and self.type == other.type

    def __hash__(self) -> int:
        return hash(self.type)

    @property
    def can_shuffle(self) -> bool:
        """Whether lanes of a warp can hand such values to each other."""
        return all(leaf.dtype.kind in _MOVED and leaf.dtype.itemsize <= (16 if leaf.dtype.kind == "c" else 8)
                   for leaf in self.leaves)

    def with_leaves(self, leaf: Type) -> Type:
        """The type of this form whose leaves all have that type."""
        return _with_leaves(self.type, leaf)

    # --- as source of kernels ----------------------------------------------------------------------------------------

    def parts(self, value: str) -> list[str]:
        """The leaves of the value, each as an expression."""
        return list(_parts(self.type, value))

    def made_of(self, leaves: Sequence[str], namespace: dict[str, Any], convert: bool = True) -> str:
        """An expression for the value, from one for each leaf, which are converted to the leaves' types if wanted.
        What it names is put into the namespace."""
        texts = iter(leaves)
        return _made(self.type, texts, namespace, convert)

    # --- on the host -------------------------------------------------------------------------------------------------

    def of_host(self, leaves: Sequence[Any]) -> Any:
        """The objects of the leaves (arrays, scalars) as one of the value's form: themselves, or in a tuple."""
        return _of_host(self.type, iter(leaves))

    def flat(self, value: Any, what: str) -> list[Any]:
        """The objects of the leaves of one of the value's form. TypeError where it has another form; `what` is said
        of it."""
        return list(_flat(self.type, value, what))


def named_tuple(type_: Type) -> Any:
    """The class of a named tuple's type: its own where it has methods, else one of its fields."""
    return getattr(type_, "instance_class", None) or _named_tuple(str(type_).partition("(")[0], type_.fields)


@functools.cache
def _named_tuple(name: str, fields: tuple[str, ...]) -> Any:
    return collections.namedtuple(name if name.isidentifier() else "Items", fields)


def _leaves(type_: Type, whole: Type) -> Iterator[Type]:
    if type_.kind in _TUPLES:
        for item in type_.types:
            yield from _leaves(item, whole)
    elif type_.kind == "array" and type_.ndim == 0 and type_.dtype.kind == "record":
        yield type_.dtype   # a reference to a record: it is copied
    elif getattr(type_, "dtype", None) is None or type_.kind == "array" or str(type_) == "none":
        raise TypeError(f"no array holds values of type {whole}")
    else:
        yield type_


def _with_leaves(type_: Type, leaf: Type) -> Type:
    if type_.kind in ("named", "instance"):
        raise TypeError(f"a dtype for values of type {type_}: make a tuple of them")
    return leaf if type_.kind != "tuple" else _core.tuple_type([_with_leaves(item, leaf) for item in type_.types])


def _parts(type_: Type, value: str) -> Iterator[str]:
    if type_.kind not in _TUPLES:
        yield value
        return
    for k, item in enumerate(type_.types):
        yield from _parts(item, f"{value}.{type_.fields[k]}" if type_.kind == "instance" else f"{value}[{k}]")


def _made(type_: Type, texts: Iterator[str], namespace: dict[str, Any], convert: bool) -> str:
    if type_.kind not in _TUPLES:
        text = next(texts)
        if not convert or type_.kind in ("array", "record", "chars"):
            return text
        name = f"type_{len(namespace)}"
        name = next((n for n, value in namespace.items() if n.startswith("type_") and value == type_), name)
        namespace[name] = type_
        return f"{name}({text})"
    items = [_made(item, texts, namespace, convert) for item in type_.types]
    if type_.kind == "tuple":
        return f"({', '.join(items)},)"
    if type_.kind == "instance":
        cls = type_.instance_class
        name = f"class_{cls.__name__}_{id(cls)}"
        items = [f"{field}={item}" for field, item in zip(type_.fields, items, strict=True)]
    else:
        cls = named_tuple(type_)
        name = f"tuple_{cls.__name__}_{id(cls)}"
    namespace[name] = cls
    return f"{name}({', '.join(items)})"


def _of_host(type_: Type, objects: Iterator[Any]) -> Any:
    if type_.kind not in _TUPLES:
        return next(objects)
    items = [_of_host(item, objects) for item in type_.types]
    if type_.kind == "instance":
        return type_.instance_class(**dict(zip(type_.fields, items, strict=True)))
    return tuple(items) if type_.kind == "tuple" else named_tuple(type_)(*items)


def _flat(type_: Type, value: Any, what: str) -> Iterator[Any]:
    if type_.kind not in _TUPLES:
        yield value
        return
    if type_.kind == "instance" and isinstance(value, type_.instance_class):
        value = [getattr(value, field) for field in type_.fields]
    if not isinstance(value, (tuple, list)) or len(value) != type_.count:
        raise TypeError(f"{what} is a tuple of {type_.count} for values of type {type_}, not {type(value).__name__}"
                        + (f" of {len(value)}" if isinstance(value, (tuple, list)) else ""))
    for item, own in zip(value, type_.types, strict=True):
        yield from _flat(own, item, what)
