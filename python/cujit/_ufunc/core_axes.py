"""axes=, axis= and keepdims= of a gufunc's call, as NumPy has them: which axes of each operand the function gets."""
from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from cujit._ufunc.operands import as_input, is_scalar
from cujit.cuda._array.array_views import view_of
from cujit.cuda.devicearray import DeviceNDArray

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cujit._ufunc.gufunc import Layout


def wanted_axes(name: str, layout: Layout, axes: Any, axis: Any, keepdims: bool) -> list[tuple[int, ...]]:
    """The axes of each operand, inputs first. TypeError and ValueError for what does not go with the layout."""
    inputs, outputs = [len(own) for own in layout.inputs], [len(own) for own in layout.outputs]
    if keepdims and (len(set(inputs)) > 1 or any(outputs)):
        raise TypeError(f"'{name}': keepdims is for layouts whose inputs have as many axes each and whose outputs have "
                        f"none, not for {layout.text}")
    counts = inputs + (inputs[:1] * len(outputs) if keepdims else outputs)
    if axis is not None:
        if axes is not None:
            raise TypeError(f"'{name}': axes and axis are given")
        if max(counts) > 1 or len({own for own in layout.inputs + layout.outputs if own}) != 1:
            raise TypeError(f"'{name}': axis is for layouts with one axis, not for {layout.text}; axes= says all")
        return [(operator.index(axis),) * count for count in counts]
    if axes is None:
        return [tuple(range(-count, 0)) for count in counts]
    if not isinstance(axes, (list, tuple)):
        raise TypeError(f"'{name}': axes is a list of a tuple for each operand")
    listed = [(own,) if not isinstance(own, (list, tuple)) else tuple(own) for own in axes]
    if len(listed) == len(inputs) and not any(outputs):   # outputs may be left out
        listed += [tuple(range(-count, 0)) for count in counts[len(inputs):]]
    if [len(own) for own in listed] != counts:
        raise ValueError(f"'{name}': axes has {[len(own) for own in listed]} for the operands, which have {counts}")
    return [tuple(operator.index(each) for each in own) for own in listed]


def with_last(operand: Any, axes: Sequence[int]) -> Any:
    """The operand with those axes moved to its end."""
    value = operand if operand is None else as_input(operand)
    if value is None or is_scalar(value) or tuple(axes) == tuple(range(-len(axes), 0)):
        return operand
    return _permuted(value, _order(value.ndim, axes))


def with_moved_back(result: Any, axes: Sequence[int], keepdims: bool) -> Any:
    """A result whose last axes are to be at those places; keepdims: it has them not yet, they have length one."""
    if keepdims:
        result = result[(Ellipsis, *(None,) * len(axes))]
    if tuple(axes) == tuple(range(-len(axes), 0)):
        return result
    return _permuted(result, np.argsort(_order(result.ndim, axes)).tolist())


def without_kept(operand: Any, count: int) -> Any:
    """An output that is given with axes of length one at its end, without these."""
    value = operand if operand is None else as_input(operand)
    if value is None:
        return None
    if value.ndim < count or value.shape[value.ndim - count:] != (1,) * count:
        raise ValueError(f"an output of a call with keepdims has axes of length one, not the shape {value.shape}")
    return value[(Ellipsis, *(0,) * count)] if value.ndim > count else value.reshape(())


def _order(ndim: int, axes: Sequence[int]) -> list[int]:
    chosen = []
    for each in axes:
        if not -ndim <= each < ndim:
            raise np.exceptions.AxisError(each, ndim)
        chosen.append(each % ndim)
    if len(set(chosen)) != len(chosen):
        raise ValueError("axes names one twice")
    return [k for k in range(ndim) if k not in chosen] + chosen


def _permuted(value: Any, order: list[int]) -> Any:
    if isinstance(value, DeviceNDArray):
        return view_of(value, tuple(value.shape[k] for k in order), tuple(value.strides[k] for k in order))
    return value.transpose(order)
