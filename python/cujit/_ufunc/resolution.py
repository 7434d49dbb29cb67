"""Which types a call of a ufunc computes in: NumPy's choice among signatures, and what dtype= and signature= say."""
from typing import Any, NamedTuple

import numpy as np

from cujit._core import Type
from cujit._ufunc.operands import is_scalar, is_weak
from cujit.cuda._dispatch import signature as signatures

_CASTINGS = ("no", "equiv", "safe", "same_kind", "unsafe")


class Choice(NamedTuple):
    """The types of the arguments and of the results, and the Loop that computes these from those."""

    types: tuple[Type, ...]
    results: tuple[Type, ...]
    loop: Any


def checked_casting(casting):
    if casting not in _CASTINGS:
        raise ValueError(f"casting is one of {', '.join(map(repr, _CASTINGS))}, not {casting!r}")
    return casting


def stronger(casting):
    """How inputs may be cast to choose a signature: without loss, or by what allows less."""
    return min(casting, "safe", key=_CASTINGS.index)


def fits(value, own, wanted, casting, all_weak):
    """Whether NumPy casts an input to the dtype `wanted`. Python's numbers go to any dtype of their kind or above."""
    if is_weak(value) and not all_weak:
        kinds = "iufcV" if isinstance(value, int) else "fcV" if isinstance(value, float) else "c"   # V: bfloat16
        return wanted.kind in kinds
    return np.can_cast(own.dtype, wanted, casting)


def all_are_weak(inputs):
    return all(is_scalar(x) and is_weak(x) for x in inputs)


# --- what the caller asks for ----------------------------------------------------------------------------------------

def asked(dtype, signature, nin, nout):
    """The dtypes that dtype= and signature= state, one for each argument and result, None for what they leave open;
    None where they state nothing."""
    if signature is None and dtype is None:
        return None
    if signature is None:
        return (None,) * nin + (np.dtype(dtype),) * nout
    if dtype is not None:
        raise TypeError("dtype= and signature= say the same; give one of them")
    stated = _stated(signature)
    if len(stated) == 1 and nin + nout != 1:
        stated = (None,) * nin + tuple(stated) * nout
    if len(stated) != nin + nout:
        raise ValueError(f"signature has {len(stated)} types; the function has {nin} arguments and {nout} results")
    return tuple(None if each is None else _as_dtype(each) for each in stated)


def _stated(signature):
    """NumPy's forms, such as "ff->f" or (None, None, np.float64), and cujit's own."""
    if isinstance(signature, str) and "->" in signature:
        return [*signature.replace("->", "")]
    if isinstance(signature, tuple):
        return signature
    if not signatures.is_signature(signature):
        return (signature,)
    types, result = signatures.normalize(signature)
    return (*types, *results_of(result)) if result is not None else (*types, None)


def _as_dtype(each):
    a_type = signatures.as_type(each)
    return np.dtype(each) if a_type is None else a_type.dtype


def results_of(a_type):
    """The types of the results of a function with that result: those of a tuple's items, else the one."""
    return tuple(a_type.types) if hasattr(a_type, "types") and a_type.kind != "instance" else (a_type,)

