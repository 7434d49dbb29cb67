"""The forms in which a program may state argument types, brought to one: a tuple of types and a result type or None."""
from __future__ import annotations

import re
from typing import Any, TypeVar

from cujit import _core
from cujit._numba.foreign_types import signature_from_numba, type_from_numba
from cujit.errors import SignatureError

Type = _core.Type
Signature = _core.Signature
_V = TypeVar("_V")


def is_signature(value: object) -> bool:
    """Whether `value` is meant as a signature: text, a Signature, a tuple of types, or a list of those."""
    return isinstance(value, (str, tuple, list, Signature)) or signature_from_numba(value) is not None


def as_type(value: Any) -> Type | None:
    """The type that `value` is or, where it is one of an installed numba, stands for; None for what is no type."""
    return type_from_numba(value)


def normalize(signature: Any) -> tuple[tuple[Type, ...], Type | None]:
    """(argument types, result type or None) of text, a Signature or a tuple of types. SignatureError otherwise."""
    if isinstance(signature, Signature):
        return tuple(signature.args), signature.return_type
    if isinstance(signature, str):
        return _parse(signature)
    if isinstance(signature, (tuple, list)):
        types = [as_type(each) for each in signature]
        known = tuple(each for each in types if each is not None)
        if len(known) == len(types):
            return known, None
    foreign = signature_from_numba(signature)
    if foreign is None:
        raise SignatureError(
            f"{signature!r} is no signature: expected text, types called with types, or a tuple of types")
    return foreign


class ByTypes(dict[tuple[Type, ...], _V]):
    """What there is for each list of argument types. Any form of a signature is a key: one of an installed numba's
    types, too, or text."""

    def __missing__(self, signature: Any) -> _V:
        types = self._types_of(signature)
        if types is None:
            raise KeyError(signature)
        return self[types]

    def __contains__(self, signature: object) -> bool:
        return super().__contains__(signature) or self._types_of(signature) is not None

    def get(self, signature: Any, default: Any = None) -> Any:
        types = signature if super().__contains__(signature) else self._types_of(signature)
        return default if types is None else self[types]

    def _types_of(self, signature: object) -> tuple[Type, ...] | None:
        """The key that the signature means, or None for what is none."""
        try:
            types, _ = normalize(signature)
        except (SignatureError, TypeError):
            return None
        return types if super().__contains__(types) else None


_C_TYPES = {
    "void": "none", "bool": "bool", "char": "int8", "unsigned char": "uint8", "short": "int16",
    "unsigned short": "uint16", "int": "int32", "unsigned": "uint32", "long": "int64", "unsigned long": "uint64",
    "long long": "int64", "unsigned long long": "uint64", "size_t": "uint64", "half": "float16", "float": "float32",
    "double": "float64",
    **{f"{sign}int{bits}_t": f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
}


def _c_type(words):
    """The type that words such as "unsigned int" name in C, or None."""
    if len(words) > 1:
        words = [word for word in words if word not in ("int", "signed")]
    return _core.scalar_types.get(_C_TYPES.get(" ".join(words)))


def _c_parameter(text):
    """(type or None, whether there is a name or a pointer) of a parameter as C declares it."""
    found = re.findall(r"[\w.]+|\S", text)   # types.int32 is one word
    words = [word for word in found if word != "const"]
    if "*" in words:
        place = words.index("*")
        element, name = _c_type(words[:place]), words[place + 1:]
        if element is None or len(name) > 1 or "*" in name:
            return None, True
        if element == _core.scalar_types["none"]:
            return _core.pointer_type(element), True
        is_constant = "const" in found[:found.index("*")]
        return _core.array_type(element, 1, "C", is_constant), True
    whole = _c_type(words)
    return (whole, False) if whole or len(words) < 2 else (_c_type(words[:-1]), True)


def c_declaration(text):
    """What a declaration of C's means, such as "void (float a, float* x)": pointers are arrays of one axis in C order.
    None for what is none: there are neither pointers nor names of parameters in it."""
    result, is_function, rest = text.removesuffix(";").partition("(")
    rest = rest.strip()
    if not is_function or not rest.endswith(")") or "[" in rest or "(" in rest:
        return None
    parameters = [] if rest == ")" else [_c_parameter(parameter) for parameter in rest[:-1].split(",")]
    if not any(is_c for _, is_c in parameters):
        return None
    words = result.split()
    returned = _c_type(words) or _c_type(words[:-1])   # the function's name may follow
    types = tuple(type for type, _ in parameters)
    if returned is None or None in types:
        raise SignatureError(f"signature {text}: neither a list of types nor C's declaration of numbers and pointers")
    return types, returned


def _parse(text):
    stripped = text.strip()
    declared = c_declaration(stripped)
    if declared is not None:
        return declared
    parsed = _core.parse_signature(stripped)
    return tuple(parsed.args), parsed.return_type
