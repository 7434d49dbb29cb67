"""Types of kernel values, under numba's names.

A type indexed with slices is an array type: `float32[:]` (any strides), `float32[::1]` (C order), `float64[:, ::1]`,
`float64[::1, :]` (Fortran order). A type called with types is a signature: `void(float32[:], int32)`; called with a
number it converts the number, in kernels and on the host.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cujit import _core
from cujit._type_families import (
    Array as Array,
    BaseNamedTuple as BaseNamedTuple,
    BaseTuple as BaseTuple,
    Boolean as Boolean,
    BooleanLiteral as BooleanLiteral,
    CharSeq as CharSeq,
    ClassType as ClassType,
    Complex as Complex,
    Containers as Containers,
    CPointer as CPointer,
    Dim3 as Dim3,
    DType as DType,
    EnumerateType as EnumerateType,
    EnumMember as EnumMember,
    Float as Float,
    Function as Function,
    Generator as Generator,
    GridGroup as GridGroup,
    Instance as Instance,
    Integer as Integer,
    IntegerLiteral as IntegerLiteral,
    IntEnumMember as IntEnumMember,
    KnownType as KnownType,
    Literal as Literal,
    NamedTuple as NamedTuple,
    NamedUniTuple as NamedUniTuple,
    NoneType as NoneType,
    NPDatetime as NPDatetime,
    NPTimedelta as NPTimedelta,
    Number as Number,
    NumberClass as NumberClass,
    Omitted as Omitted,
    Optional as Optional,
    RangeType as RangeType,
    RawPointer as RawPointer,
    Record as Record,
    SliceType as SliceType,
    StringLiteral as StringLiteral,
    Tuple as Tuple,
    UnicodeCharSeq as UnicodeCharSeq,
    UnicodeType as UnicodeType,
    UniTuple as UniTuple,
    literal_type,
    unliteral as _unliteral,
)

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

__all__ = [
    "b1", "bfloat16", "bool_", "boolean", "byte", "c16", "c8", "char", "complex128", "complex64", "double", "f2",
    "f4", "f8", "float16", "float32", "float64", "float_", "from_dtype", "i1", "i2", "i4", "i8", "int16", "int32",
    "int64", "int8", "int_", "intc", "intp", "long_", "longlong", "none", "short", "size_t", "ssize_t", "typeof",
    "u1", "u2", "u4", "u8", "uchar", "uint", "uint16", "uint32", "uint64", "uint8", "uintc", "uintp", "ulong",
    "ulonglong", "ushort", "void", "voidptr",
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
float32 = f4 = float_ = _scalars["float32"]
float64 = f8 = double = _scalars["float64"]
complex64 = c8 = _scalars["complex64"]
complex128 = c16 = _scalars["complex128"]
none = void = _scalars["none"]

typeof = _core.type_of


def from_dtype(dtype: DTypeLike) -> Type:
    """The type of values of a NumPy dtype. TypeError where kernels have none."""
    return _core.type_from_dtype(dtype)


voidptr = _core.pointer_type(none)


def is_pointer(type: Any) -> bool:
    """Whether values of a type are pointers, typed ones or void*."""
    return isinstance(type, Type) and type.kind in ("pointer", "void_pointer")


Callable = Dispatcher = BaseFunction = Function
ArrayCompatible = Buffer = Array
List = ListType = LiteralList = Set = SetType = DictType = LiteralStrKeyDict = Containers

signed_domain = frozenset({int8, int16, int32, int64})
unsigned_domain = frozenset({uint8, uint16, uint32, uint64})
integer_domain = signed_domain | unsigned_domain
real_domain = frozenset({float32, float64})
complex_domain = frozenset({complex64, complex128})
number_domain = integer_domain | real_domain | complex_domain


def unliteral(value: Any) -> Any:
    """The type of a literal without its value; any other type as it is."""
    return _unliteral(value)


def literal(value: Any) -> KnownType:
    """The type that an overload's definition gets for a value which the code states: a bool, an int or a str."""
    if not isinstance(value, (bool, int, str)):
        raise TypeError(f"a literal is a bool, an int or a str, not {value!r}")
    return literal_type(value)
