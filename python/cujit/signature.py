"""The forms in which a program may state argument types, brought to one: a tuple of types and a result type or None."""
from cujit import _core
from cujit.errors import SignatureError

Type, Signature = _core.Type, _core.Signature


def is_signature(value):
    """Whether `value` is meant as a signature: text, a Signature, a tuple of types, or a list of those."""
    return isinstance(value, (str, tuple, list, Signature))


def normalize(signature):
    """(argument types, result type or None) of text, a Signature or a tuple of types. SignatureError otherwise."""
    if isinstance(signature, Signature):
        return tuple(signature.args), signature.return_type
    if isinstance(signature, str):
        return _parse(signature)
    if isinstance(signature, (tuple, list)) and all(isinstance(item, Type) for item in signature):
        return tuple(signature), None
    raise SignatureError(f"{signature!r} is no signature: expected text, types called with types, or a tuple of types")


def _parse(text):
    stripped = text.strip()
    if not stripped.startswith("("):
        parsed = _core.parse_signature(stripped)
        return tuple(parsed.args), parsed.return_type
    return tuple(_core.parse_signature("void" + stripped).args), None
