"""Classes of types, for isinstance: numba's hierarchy, as far as kernels have such types; and what overload
definitions get for arguments that have no type of values: literals, texts, functions, types."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from cujit import _core

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Type = _core.Type


# --- arguments that are known while a kernel is compiled -------------------------------------------------------------

class KnownType:
    """What is known of an argument that is no value of a kernel: `kind` says what it is, `name` which.

    Parameters
    ----------
    kind : str
        "literal", "string", "type", "class", "function", "tuple" or "object".
    name : str
        For messages.
    """

    def __init__(self, kind: str, name: str, **facts: Any) -> None:
        self.kind, self.name, self.facts = kind, name, facts

    def __getattr__(self, name: str) -> Any:
        facts = self.__dict__.get("facts", {})
        if name in facts:
            return facts[name]
        if "literal_type" in facts and not name.startswith("__"):
            return getattr(facts["literal_type"], name)
        raise AttributeError(f"type {self.__dict__.get('name')} has no attribute '{name}'")

    def _key(self) -> tuple[Any, ...]:
        return self.kind, self.name, *(self.facts.values())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, KnownType) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return self.name


def literal_type(value: Any, of: Type | None = None) -> KnownType:
    """The type of a value that the code states: `literal_value`, and `literal_type` where it is a number."""
    if isinstance(value, str):
        return KnownType("string", f"Literal[str]({value})", literal_value=value)
    name = f"Literal[{type(value).__name__}]({value})"
    return KnownType("literal", name, literal_value=value, literal_type=of or _core.type_of(value))


def known_argument(given: Any) -> Any:
    """An argument of an overload definition, of what python/ext/argument/implementations.c says of it."""
    if not isinstance(given, tuple):
        return given
    kind, *rest = given
    if kind == "literal":
        return literal_type(rest[1], rest[0])
    if kind == "string":
        return literal_type(rest[0])
    if kind in ("type", "class"):
        return KnownType(kind, f"class({rest[0]})", dtype=rest[0], instance_type=rest[0])
    if kind == "tuple":
        items = tuple(known_argument(item) for item in rest[1])
        return KnownType(rest[0] or "tuple", f"Tuple{items}", types=items, count=len(items))
    return KnownType(kind, f"{kind} {rest[0]}")


def unliteral(value: Any) -> Any:
    """The type without the value that is known."""
    return value.literal_type if isinstance(value, KnownType) and value.kind == "literal" else value


# --- families --------------------------------------------------------------------------------------------------------

class Family(type):
    """A class of types: isinstance(a_type, Integer) and such. Its method `has` says which are members; a literal is one
    where its type is."""

    has: Callable[[Any], bool]

    def __instancecheck__(cls, value: object) -> bool:
        value = unliteral(value)
        return isinstance(value, (Type, KnownType)) and bool(cls.has(value))


def _of_kind(*kinds: str) -> staticmethod[[Any], bool]:
    return staticmethod(lambda t: t.kind in kinds)


class Known(Family):
    """A class of types that are known to the value."""

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, KnownType) and bool(cls.has(value))


class NoneType(metaclass=Family):
    """Whether a type is none (void): of functions that return nothing."""

    has = _of_kind("none")


class Boolean(metaclass=Family):
    """Whether a type is boolean."""

    has = _of_kind("bool")


class Integer(metaclass=Family):
    """Whether a type is one of the integers."""

    has = _of_kind("int", "uint")


class Float(metaclass=Family):
    """Whether a type is one of the floats, float16 and bfloat16 among them."""

    has = _of_kind("float")


class Complex(metaclass=Family):
    """Whether a type is complex64 or complex128."""

    has = _of_kind("complex")


class Number(metaclass=Family):
    """Whether a type is an integer, a float or complex."""

    has = _of_kind("int", "uint", "float", "complex")


class Array(metaclass=Family):
    """Array(dtype, ndim, layout): the type of arrays of `ndim` axes; layout "C", "F" or "A" (any strides)."""

    has = _of_kind("array")

    def __new__(cls, dtype: Type, ndim: int, layout: str, readonly: bool = False) -> Type:  # type: ignore[misc]
        return _core.array_type(dtype, ndim, layout, readonly)


class CPointer(metaclass=Family):
    """CPointer(dtype): the type of pointers to values of that type."""

    has = _of_kind("pointer")

    def __new__(cls, dtype: Type, addrspace: Any = None) -> Type:  # type: ignore[misc]
        return _core.pointer_type(dtype)


class RawPointer(metaclass=Family):
    """Whether a type is void*."""

    has = _of_kind("void_pointer")


class BaseTuple(metaclass=Family):
    """Whether a type is that of tuples."""

    has = _of_kind("tuple", "named")


class Tuple(metaclass=Family):
    """Tuple(types): the type of tuples of items of these types. isinstance: of more than one type."""

    has = staticmethod(lambda t: t.kind in ("tuple", "named") and len(set(t.types)) != 1)

    def __new__(cls, items: Iterable[Type]) -> Type:  # type: ignore[misc]
        return _core.tuple_type(tuple(items))


class UniTuple(metaclass=Family):
    """UniTuple(type, count): the type of tuples of `count` items of one type."""

    has = staticmethod(lambda t: t.kind in ("tuple", "named") and len(set(t.types)) == 1)

    def __new__(cls, dtype: Type, count: int) -> Type:  # type: ignore[misc]
        return _core.tuple_type((dtype,) * count)


class BaseNamedTuple(metaclass=Family):
    """Whether a type is that of named tuples: `fields` are the names."""

    has = _of_kind("named")


class NamedTuple(metaclass=Family):
    """Whether a type is that of named tuples with items of more than one type."""

    has = staticmethod(lambda t: t.kind == "named" and len(set(t.types)) != 1)


class NamedUniTuple(metaclass=Family):
    """Whether a type is that of named tuples whose items have one type."""

    has = staticmethod(lambda t: t.kind == "named" and len(set(t.types)) == 1)


class GridGroup(metaclass=Family):
    """Whether a type is that of cuda.cg.this_grid()."""

    @staticmethod
    def has(t: Any) -> bool:
        from cujit._kernel_functions.cooperative_groups import Grid  # imports this module

        return bool(t == _core.type_of(Grid()))


class Dim3(metaclass=Family):
    """Whether a type is that of cuda.threadIdx and its like."""

    has = _of_kind("dim3")


class Record(metaclass=Family):
    """Whether a type is that of records: from_dtype of a structured dtype, or what one element of such arrays is."""

    has = staticmethod(lambda t: t.kind == "record" or (t.kind == "array" and t.ndim == 0 and t.dtype.kind == "record"))


class NPDatetime(metaclass=Family):
    """NPDatetime(unit): the type of datetime64 values that count this unit: "s", "10ms", "D", ..."""

    has = _of_kind("datetime")

    def __new__(cls, unit: str) -> Type:  # type: ignore[misc]
        return _core.type_from_dtype(f"M8[{unit}]")


class NPTimedelta(metaclass=Family):
    """NPTimedelta(unit): the type of timedelta64 values that count this unit: "s", "10ms", "D", ..."""

    has = _of_kind("timedelta")

    def __new__(cls, unit: str) -> Type:  # type: ignore[misc]
        return _core.type_from_dtype(f"m8[{unit}]")


class Optional(metaclass=Family):
    """Optional(type): in a signature, None or a value of that type. isinstance: whether values of a type are None on
    some paths of the code; `types[1]` is the other type."""

    has = _of_kind("optional")

    def __new__(cls, type: Type) -> Type:  # type: ignore[misc]
        return _core.optional_type(type)


class RangeType(metaclass=Family):
    """Whether a type is that of range(...)."""

    has = _of_kind("range")


class SliceType(metaclass=Family):
    """Whether a type is that of slices."""

    has = _of_kind("slice")


class Generator(metaclass=Family):
    """Whether a type is that of generators."""

    has = _of_kind("generator")


class EnumerateType(metaclass=Family):
    """Whether a type is that of enumerate(...)."""

    has = _of_kind("enumerate")


class CharSeq(metaclass=Family):
    """Whether a type is that of fields of dtype S: bytes of known length."""

    has = staticmethod(lambda t: t.kind == "array" and t.ndim == 0 and str(t.dtype).startswith("[char "))


class UnicodeCharSeq(metaclass=Family):
    """Whether a type is that of fields of dtype U: a str of known length."""

    has = staticmethod(lambda t: t.kind == "array" and t.ndim == 0 and str(t.dtype).startswith("[unichr "))


class IntEnumMember(metaclass=Family):
    """Whether a type is that of members of an enum whose members are numbers."""

    has = _of_kind("intenum")


class EnumMember(metaclass=Family):
    """Whether a type is that of an enum's members."""

    has = _of_kind("enum", "intenum")


class Instance(metaclass=Family):
    """Whether a type is that of a dataclass or of a class that extending.as_type has declared: `fields`, `types` and
    `instance_class`."""

    has = _of_kind("instance")


class Literal(metaclass=Known):
    """Whether a value is known: `literal_value`; of a number `literal_type`, too."""

    has = _of_kind("literal", "string")


class IntegerLiteral(metaclass=Known):
    """Whether an integer's value is known: `literal_value`."""

    has = staticmethod(lambda t: t.kind == "literal" and type(t.literal_value) is int)


class BooleanLiteral(metaclass=Known):
    """Whether a boolean's value is known: `literal_value`."""

    has = staticmethod(lambda t: t.kind == "literal" and type(t.literal_value) is bool)


class StringLiteral(metaclass=Known):
    """Whether a type is that of a text, which kernels know while they are compiled only: `literal_value`."""

    has = _of_kind("string")


UnicodeType = StringLiteral


class DType(metaclass=Known):
    """Whether an argument names a type of numbers, such as np.float32: `dtype` is that type."""

    has = _of_kind("type")


NumberClass = DType


class ClassType(metaclass=Known):
    """Whether an argument is a class with fields: `instance_type` is the type of what it makes."""

    has = _of_kind("class")


class Function(metaclass=Known):
    """Whether an argument is a function."""

    has = _of_kind("function")


class Containers(metaclass=Family):
    """Never: kernels have no lists that grow, no sets and no dicts that change."""

    has = _of_kind()


class Omitted:
    """Never: an argument that a call leaves out has the default of the overload's definition."""

    value: ClassVar[Any] = None
