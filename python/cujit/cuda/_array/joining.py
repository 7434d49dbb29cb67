"""NumPy's functions that join device arrays, or see one with other axes: what NumPy's own become of them."""
from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from cujit import _core
from cujit.cuda._array import layout
from cujit.cuda._array.array_views import view_of
from cujit.cuda.devices import on

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import DTypeLike

    from cujit.cuda.devicearray import DeviceNDArray


def as_device(a: Any) -> DeviceNDArray:
    """A device array with the elements: the array itself where it is one."""
    from cujit.cuda import array_functions

    return array_functions.asarray(a)


def _axis(axis: Any, ndim: int) -> int:
    number = operator.index(axis)
    if not -ndim <= number < ndim:
        raise np.exceptions.AxisError(number, ndim)
    return number % ndim


# --- other axes ------------------------------------------------------------------------------------------------------

def transpose(a: Any, axes: Sequence[int] | None = None) -> DeviceNDArray:
    """A view with the axes in another order; reversed unless one is given."""
    array = as_device(a)
    order = tuple(reversed(range(array.ndim))) if axes is None else tuple(_axis(k, array.ndim) for k in axes)
    if sorted(order) != list(range(array.ndim)):
        raise ValueError(f"axes {axes} are not the {array.ndim} of the array")
    return view_of(array, tuple(array.shape[k] for k in order), tuple(array.strides[k] for k in order))


def swapaxes(a: Any, axis1: int, axis2: int) -> DeviceNDArray:
    """A view in which two axes change places."""
    array = as_device(a)
    order = list(range(array.ndim))
    first, second = _axis(axis1, array.ndim), _axis(axis2, array.ndim)
    order[first], order[second] = second, first
    return transpose(array, order)


def moveaxis(a: Any, source: Any, destination: Any) -> DeviceNDArray:
    """A view in which axes stand at other places."""
    array = as_device(a)
    from_, to = (([k] if isinstance(k, int) else list(k)) for k in (source, destination))
    from_, to = ([_axis(k, array.ndim) for k in each] for each in (from_, to))
    if len(from_) != len(to) or len(set(from_)) != len(from_) or len(set(to)) != len(to):
        raise ValueError("source and destination are as many different axes")
    order = [k for k in range(array.ndim) if k not in from_]
    for place, axis in sorted(zip(to, from_, strict=True)):
        order.insert(place, axis)
    return transpose(array, order)


def expand_dims(a: Any, axis: Any) -> DeviceNDArray:
    """A view with more axes, of length one."""
    array = as_device(a)
    given = axis if isinstance(axis, (tuple, list)) else (axis,)
    ndim = array.ndim + len(given)
    places = {_axis(k, ndim) for k in given}
    if len(places) != len(given):
        raise ValueError("an axis is named twice")
    return array[tuple(None if k in places else slice(None) for k in range(ndim))]


def broadcast_to(array: Any, shape: Any) -> DeviceNDArray:
    """A view of that shape, in which axes of length one are repeated."""
    own, wanted = as_device(array), layout.as_shape(shape)
    return view_of(own, wanted, layout.broadcast_strides(own.shape, own.strides, wanted))


def flip(m: Any, axis: Any = None) -> DeviceNDArray:
    """A new array with the elements along axes, or all of them, the other way round."""
    array = as_device(m)
    axes = range(array.ndim) if axis is None else [_axis(k, array.ndim)
                                                   for k in (axis if isinstance(axis, tuple) else (axis,))]
    return array[tuple(slice(None, None, -1 if k in axes else None) for k in range(array.ndim))].copy()


# --- several arrays become one ---------------------------------------------------------------------------------------

def concatenate(arrays: Iterable[Any], /, axis: int | None = 0, out: Any = None, *, dtype: DTypeLike | None = None,
                casting: Any = "same_kind") -> Any:
    """The arrays behind each other along an axis, on the device; with axis=None their elements in C order."""
    from cujit._algorithms.array_methods import in_c_order
    from cujit.cuda.devicearray import device_array, is_cuda_array

    given = list(arrays)
    if not given:
        raise ValueError("concatenate needs an array")
    if out is not None and dtype is not None:
        raise TypeError("concatenate takes out= or dtype=, not both")
    found = next((a for a in [*given, out] if is_cuda_array(a)), None)
    own = as_device(given[0] if found is None else found)
    with on(own.device):
        parts = [as_device(a) for a in given]
        if axis is None:
            stream = _core.current_stream() or 0
            parts, axis = [in_c_order(part, stream).reshape(-1) for part in parts], 0
        shape = _joined_shape(parts, _axis(axis, parts[0].ndim))
        wanted = np.result_type(*(part.dtype for part in parts)) if dtype is None else np.dtype(dtype)
        target = device_array(shape, wanted) if out is None else as_device(out)
        if target.shape != shape:
            raise ValueError(f"out has shape {target.shape}, the joined arrays {shape}")
        for part in parts:
            if not np.can_cast(part.dtype, target.dtype, casting):
                raise TypeError(f"cannot cast {part.dtype} to {target.dtype} by casting={casting!r}")
        _fill(target, parts, _axis(axis, target.ndim))
    if out is not None and not is_cuda_array(out):
        out[...] = target.copy_to_host()
        return out
    return target if out is None else out


def _joined_shape(parts: list[DeviceNDArray], axis: int) -> tuple[int, ...]:
    shape = list(parts[0].shape)
    for part in parts[1:]:
        if part.ndim != len(shape) or any(part.shape[k] != shape[k] for k in range(part.ndim) if k != axis):
            raise ValueError(f"arrays of shapes {parts[0].shape} and {part.shape} cannot be joined along axis {axis}")
    shape[axis] = sum(part.shape[axis] for part in parts)
    return tuple(shape)


def _fill(target: DeviceNDArray, parts: list[DeviceNDArray], axis: int) -> None:
    place = 0
    for part in parts:
        index = (slice(None),) * axis + (slice(place, place + part.shape[axis]),)
        place += part.shape[axis]
        if part.size:
            target[index] = part


def stack(arrays: Iterable[Any], axis: int = 0, out: Any = None, *, dtype: DTypeLike | None = None,
          casting: Any = "same_kind") -> Any:
    """The arrays, of one shape, beside each other along a new axis, on the device."""
    parts = [as_device(a) for a in arrays]
    if not parts:
        raise ValueError("stack needs an array")
    if any(part.shape != parts[0].shape for part in parts):
        raise ValueError("stack takes arrays of one shape")
    place = _axis(axis, parts[0].ndim + 1)
    return concatenate([expand_dims(part, place) for part in parts], place, out, dtype=dtype, casting=casting)


# How many axes NumPy's atleast_1d, atleast_2d and atleast_3d put in front, by the wanted number and the array's.
_IN_FRONT = {(1, 0): 1, (2, 0): 2, (2, 1): 1, (3, 0): 2, (3, 1): 1}


def _at_least(array: DeviceNDArray, ndim: int) -> DeviceNDArray:
    before = _IN_FRONT.get((ndim, array.ndim), 0)
    behind = max(ndim - array.ndim - before, 0)
    return array[(None,) * before + (slice(None),) * array.ndim + (None,) * behind]


def vstack(tup: Iterable[Any], *, dtype: DTypeLike | None = None, casting: Any = "same_kind") -> Any:
    """The arrays below each other, those of one axis as rows, on the device."""
    return concatenate([_at_least(as_device(a), 2) for a in tup], 0, dtype=dtype, casting=casting)


def hstack(tup: Iterable[Any], *, dtype: DTypeLike | None = None, casting: Any = "same_kind") -> Any:
    """The arrays beside each other, along the second axis, or the only one, on the device."""
    parts = [_at_least(as_device(a), 1) for a in tup]
    return concatenate(parts, 0 if parts and parts[0].ndim == 1 else 1, dtype=dtype, casting=casting)


def dstack(tup: Iterable[Any]) -> Any:
    """The arrays behind each other, along the third axis, on the device."""
    return concatenate([_at_least(as_device(a), 3) for a in tup], 2)


def column_stack(tup: Iterable[Any]) -> Any:
    """The arrays beside each other, those of one axis as columns, on the device."""
    parts = [as_device(a) for a in tup]
    return concatenate([part if part.ndim > 1 else _at_least(part, 1)[:, None] for part in parts], 1)
