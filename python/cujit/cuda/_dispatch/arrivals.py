"""Kernels that arrive again. Engines send a function with each of its tasks, and what it refers to by value as often:
what is the same in its code, its options and all that the code refers to is the object that came first, so that a
process compiles it once. Where that cannot be told, such as of a kernel that refers to an array, it is another one."""
from __future__ import annotations

import enum
import threading
import types
from collections.abc import Callable, Hashable, Iterable
from typing import Any

import numpy as np

from cujit import _core

KEPT = 64                          # at most, those that came last
UNFILLED = " is being unpickled"   # among the globals of a function whose other ones are still to come

# A key for each, with what it was made of, which the key may name by its address. The oldest first.
_kept: dict[Hashable, tuple[Any, Any]] = {}
_kept_ids: set[int] = set()        # of what was made: addresses that nothing else has as long as these are kept
_lock = threading.Lock()

_EQUAL_IS_SAME = (types.NoneType, bool, int, str, bytes, np.dtype, enum.Enum, _core.Type, _core.Intrinsic)


class _UnknownError(Exception):
    """Whether a value is the same as another one cannot be told."""


def first_of(make: Callable[..., Any], *parts: Any) -> Any:
    """make(*parts), or what it made before of the same parts."""
    try:
        key = make, _identities(parts, {})
    except _UnknownError:
        return make(*parts)
    with _lock:
        if key in _kept:
            _kept[key] = _kept.pop(key)
            return _kept[key][1]
    made = make(*parts)
    with _lock:
        while len(_kept) >= KEPT:
            oldest = next(iter(_kept))
            _kept_ids.discard(id(_kept[oldest][1]))
            del _kept[oldest]
        first = _kept.setdefault(key, (parts, made))[1]   # of two threads' the first one
        _kept_ids.add(id(first))
        return first


def _identity(value: Any, seen: dict[int, int]) -> Hashable:
    """Equal for values that are the same to a kernel. seen: functions, by id, which may refer to each other."""
    kind = type(value)
    if isinstance(value, _EQUAL_IS_SAME):
        return kind, value
    if kind in (float, complex) or isinstance(value, np.generic) and not value.dtype.hasobject:
        array = np.asarray(value)
        return kind, array.dtype, array.tobytes()   # 0.0 is not -0.0, and NaN is itself
    if isinstance(value, tuple):
        return kind, _identities(value, seen)
    if kind is list and not value:
        return kind
    if kind is dict and all(type(name) is str for name in value):
        names = sorted(value)
        return kind, tuple(names), _identities([value[name] for name in names], seen)
    if isinstance(value, types.ModuleType) or _is_named(value) or id(value) in _kept_ids:
        return "itself", id(value)
    if kind is types.FunctionType:
        return _identity_of_function(value, seen)
    raise _UnknownError


def _identities(values: Iterable[Any], seen: dict[int, int]) -> tuple[Hashable, ...]:
    return tuple(_identity(each, seen) for each in values)


def _is_named(value: Any) -> bool:
    from cujit.cuda import pickling

    return pickling.has_name(value, getattr(value, "__module__", None), getattr(value, "__qualname__", None) or "")


def _identity_of_function(function: types.FunctionType, seen: dict[int, int]) -> Hashable:
    if id(function) in seen:
        return "seen", seen[id(function)]
    seen[id(function)] = len(seen)
    if UNFILLED in function.__globals__:
        raise _UnknownError
    code = function.__code__
    namespace = {name: value for name, value in function.__globals__.items() if name != "__builtins__"}
    try:
        cells = [cell.cell_contents for cell in function.__closure__ or ()]
    except ValueError:   # a variable without a value
        raise _UnknownError from None
    about = function.__name__, function.__qualname__, function.__module__, code.co_filename
    return code, about, _identities((namespace, *cells, function.__defaults__, function.__kwdefaults__), seen)
