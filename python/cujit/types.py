"""Types of kernel values, under numba's names.

A type indexed with slices is an array type: `float32[:]` (any strides), `float32[::1]` (C order), `float64[:, ::1]`,
`float64[::1, :]` (Fortran order). A type called with types is a signature: `void(float32[:], int32)`; called with a
number it converts the number, in kernels and on the host.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cujit import _core

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import DTypeLike

__all__ = [
    "b1", "bfloat16", "bool_", "boolean", "byte", "c16", "c8", "char", "complex128", "complex64", "double", "f2",
    "f4", "f8", "float16", "float32", "float64", "float_", "from_dtype", "i1", "i2", "i4", "i8", "int16", "int32",
    "int64", "int8", "int_", "intc", "intp", "long_", "longlong", "none", "short", "size_t", "ssize_t", "typeof",
    "u1", "u2", "u4", "u8", "uchar", "uint", "uint16", "uint32", "uint64", "uint8", "uintc", "uintp", "ulong",
    "ulonglong", "ushort", "void",
]

Type = _core.Type
Signature = _core.Signature

_scalars = _core.scalar_types
boolean = bool_ = b1 = _scalars["bool"]
int8 = i1 = char = _scalars["int8"]
int16 = i2 = short = _scalars["int16"]
int32 = i4 = intc = _scalars["int32"]
int64 = i8 = int_ = intp = long_ = longlong = ssize_t = _scalars["int64"]
uint8 = u1 = byte = uchar = _scalars["uint8"]
uint16 = u2 = ushort = _scalars["uint16"]
uint32 = u4 = uintc = _scalars["uint32"]
uint64 = u8 = uint = uintp = ulong = ulonglong = size_t = _scalars["uint64"]
float16 = f2 = _scalars["float16"]
bfloat16 = _scalars["bfloat16"]
float32 = f4 = _scalars["float32"]
float64 = f8 = float_ = double = _scalars["float64"]
complex64 = c8 = _scalars["complex64"]
complex128 = c16 = _scalars["complex128"]
none = void = _scalars["none"]

typeof = _core.type_of


def from_dtype(dtype: DTypeLike) -> Type:
    """The type of values of a NumPy dtype. TypeError where kernels have none."""
    return _core.type_from_dtype(dtype)


# A pointer is an array of one axis in C order, as in C's declarations. Where the two are passed otherwise, by numba's
# convention for functions from elsewhere, it is the one object that CPointer makes for an element.
_pointers: dict[Type, Type] = {}


def CPointer(dtype: Type, addrspace: Any = None) -> Type:
    """The type of a pointer to values of that type, for signatures of cuda.declare_device: it takes arrays."""
    if dtype not in _pointers:
        _pointers[dtype] = dtype[::1]
    return _pointers[dtype]


def is_pointer(type: Type) -> bool:
    """Whether CPointer has made the type."""
    return any(type is each for each in _pointers.values())


signed_domain = frozenset({int8, int16, int32, int64})
unsigned_domain = frozenset({uint8, uint16, uint32, uint64})
integer_domain = signed_domain | unsigned_domain
real_domain = frozenset({float32, float64})
complex_domain = frozenset({complex64, complex128})
number_domain = integer_domain | real_domain | complex_domain


class _Family(type):
    """A class of types: isinstance(a_type, Integer) and such. Its method `has` says which are members."""

    has: Callable[[Any], bool]

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, Type) and cls.has(value)


class NoneType(metaclass=_Family):
    """Whether a type is none (void): of functions that return nothing."""

    has = staticmethod(lambda t: t == none)


class Boolean(metaclass=_Family):
    """Whether a type is boolean."""

    has = staticmethod(lambda t: t == boolean)


class Integer(metaclass=_Family):
    """Whether a type is one of the integers."""

    has = staticmethod(integer_domain.__contains__)


class Float(metaclass=_Family):
    """Whether a type is one of the floats, float16 and bfloat16 among them."""

    has = staticmethod((real_domain | {float16, bfloat16}).__contains__)


class Complex(metaclass=_Family):
    """Whether a type is complex64 or complex128."""

    has = staticmethod(complex_domain.__contains__)


class Number(metaclass=_Family):
    """Whether a type is an integer, a float or complex."""

    has = staticmethod((number_domain | {float16, bfloat16}).__contains__)


class Array(metaclass=_Family):
    """Array(dtype, ndim, layout): the type of arrays of `ndim` axes; layout "C", "F" or "A" (any strides)."""

    has = staticmethod(lambda t: hasattr(t, "layout"))

    def __new__(cls, dtype: Type, ndim: int, layout: str, readonly: bool = False) -> Type:  # type: ignore[misc]
        return _core.array_type(dtype, ndim, layout, readonly)


_vectors = frozenset(_core.vector_types.values())


class BaseTuple(metaclass=_Family):
    """Whether a type is that of tuples."""

    has = staticmethod(lambda t: hasattr(t, "types") and t not in _vectors)


class Tuple(metaclass=_Family):
    """Tuple(types): the type of tuples of items of these types. isinstance: of more than one type."""

    has = staticmethod(lambda t: BaseTuple.has(t) and len(set(t.types)) != 1)

    def __new__(cls, items: Iterable[Type]) -> Type:  # type: ignore[misc]
        return _core.tuple_type(tuple(items))


class UniTuple(metaclass=_Family):
    """UniTuple(type, count): the type of tuples of `count` items of one type."""

    has = staticmethod(lambda t: BaseTuple.has(t) and len(set(t.types)) == 1)

    def __new__(cls, dtype: Type, count: int) -> Type:  # type: ignore[misc]
        return _core.tuple_type((dtype,) * count)


def _has_dtype(t: Any, test: Callable[[Any], bool]) -> bool:
    if isinstance(t, (Array, Number)):
        return False
    dtype = getattr(t, "dtype", None)
    return dtype is not None and test(dtype)


class Record(metaclass=_Family):
    """Whether a type is that of records: from_dtype of a structured dtype."""

    has = staticmethod(lambda t: _has_dtype(t, lambda dtype: dtype.fields is not None))


class NPDatetime(metaclass=_Family):
    """NPDatetime(unit): the type of datetime64 values that count this unit: "s", "10ms", "D", ..."""

    has = staticmethod(lambda t: _has_dtype(t, lambda dtype: dtype.kind == "M"))

    def __new__(cls, unit: str) -> Type:  # type: ignore[misc]
        return from_dtype(f"M8[{unit}]")


class NPTimedelta(metaclass=_Family):
    """NPTimedelta(unit): the type of timedelta64 values that count this unit: "s", "10ms", "D", ..."""

    has = staticmethod(lambda t: _has_dtype(t, lambda dtype: dtype.kind == "m"))

    def __new__(cls, unit: str) -> Type:  # type: ignore[misc]
        return from_dtype(f"m8[{unit}]")
