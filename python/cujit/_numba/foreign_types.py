"""Types, signatures and functions of an installed numba, for programs that have more of numba than its cuda: cujit does
not import it, and knows what it has by name."""
from cujit import _core

_STAND_INS = {
    "prange": range,
    "literal_unroll": _core.intrinsics["cuda.literal_unroll"],
    "literally": _core.intrinsics["cuda.literally"],
}

_FROM_DTYPE = {
    "Record": lambda t: t.dtype,
    "CharSeq": lambda t: f"S{t.count}",
    "UnicodeCharSeq": lambda t: f"U{t.count}",
    "NPDatetime": lambda t: f"M8[{t.unit}]" if t.unit else "M8",
    "NPTimedelta": lambda t: f"m8[{t.unit}]" if t.unit else "m8",
}


def _classes(value):
    return {cls.__name__ for cls in type(value).__mro__ if (cls.__module__ or "").partition(".")[0] == "numba"}


def type_from_numba(value):
    """The type that a type of numba's means; None for what is none. TypeError for one that kernels have not.

    A type of cujit's is itself: numba's signatures, arrays and tuples hold such ones where a program has both."""
    if isinstance(value, _core.Type):
        return value
    classes = _classes(value)
    if "Type" not in classes:
        return None
    if "Literal" in classes:
        return type_from_numba(value.literal_type)
    if "Array" in classes:
        return _core.array_type(type_from_numba(value.dtype), value.ndim, value.layout, not value.mutable)
    if "CPointer" in classes:
        return _core.pointer_type(type_from_numba(value.dtype))
    if "Optional" in classes:
        return _core.optional_type(type_from_numba(value.type))
    if value.name == "void*":
        return _core.pointer_type(_core.scalar_types["none"])
    if classes & {"Tuple", "UniTuple"}:
        return _core.tuple_type(tuple(map(type_from_numba, value.types)))
    for name in classes & _FROM_DTYPE.keys():
        return _core.type_from_dtype(_FROM_DTYPE[name](value))
    found = _core.scalar_types.get(value.name)
    if found is None:
        raise TypeError(f"numba's type {value} is none that kernels have")
    return found


def signature_from_numba(value):
    """(argument types, result type or None) of a signature of numba's; None for what is none."""
    if "Signature" not in _classes(value):
        return None
    result = value.return_type
    return tuple(map(type_from_numba, value.args)), None if result is None else type_from_numba(result)


def stand_in(value):
    """What a function or class of numba's is in a kernel; None for all that have no such meaning."""
    name = getattr(value, "__name__", None)
    if name in ("carray", "farray"):
        from cujit import _pointers

        return getattr(_pointers, name)
    return _STAND_INS.get(name)
