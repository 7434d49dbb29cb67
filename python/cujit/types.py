"""Types of kernel values, under numba's names.

A type indexed with slices is an array type: `float32[:]` (any strides), `float32[::1]` (C order), `float64[:, ::1]`,
`float64[::1, :]` (Fortran order). A type called with types is a signature: `void(float32[:], int32)`; called with a
number it converts the number, in kernels and on the host.
"""
from cujit import _core

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


def from_dtype(dtype):
    """The type of values of a NumPy dtype. TypeError where kernels have none."""
    return _core.type_from_dtype(dtype)


def NPDatetime(unit):
    """The type of datetime64 values that count this unit: "s", "10ms", "D", ..."""
    return from_dtype(f"M8[{unit}]")


def NPTimedelta(unit):
    """The type of timedelta64 values that count this unit: "s", "10ms", "D", ..."""
    return from_dtype(f"m8[{unit}]")


def Array(dtype, ndim, layout, readonly=False):
    """The type of arrays of `ndim` axes of `dtype`; layout "C", "F" or "A" (any strides)."""
    return _core.array_type(dtype, ndim, layout, readonly)


def Tuple(items):
    """The type of tuples of items of these types."""
    return _core.tuple_type(tuple(items))


def UniTuple(dtype, count):
    """The type of tuples of `count` items of one type."""
    return _core.tuple_type((dtype,) * count)


__all__ = [_name for _name, _value in globals().items() if isinstance(_value, Type)] + ["from_dtype", "typeof"]
