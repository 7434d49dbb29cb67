"""Source of kernels: where the elements of several arrays lie, by as few axes as their strides allow."""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from cujit import _core
from cujit.cuda._array.array_views import view_of
from cujit.cuda.devicearray import DeviceNDArray
from cujit.cuda.devices import need_device

if TYPE_CHECKING:
    from collections.abc import Sequence

WIDE_BYTES = 16  # of one read


def merged(shape: Sequence[int], operands: Sequence[Sequence[int]], by_place: bool = False
           ) -> tuple[tuple[int, ...], list[tuple[int, ...]]]:
    """(shape, strides of each operand) of the same elements with as few axes as possible, at least one. The order of
    the elements stays what it is; by_place: it becomes that of the first operand's memory."""
    axes = [k for k, n in enumerate(shape) if n != 1]
    if by_place:
        axes.sort(key=lambda k: -abs(operands[0][k]))
    found: list[tuple[int, tuple[int, ...]]] = []   # (length, strides), outermost first
    for k in axes:
        inner = tuple(strides[k] for strides in operands)
        if found and all(outer == shape[k] * step for outer, step in zip(found[-1][1], inner, strict=True)):
            found[-1] = found[-1][0] * shape[k], inner
        else:
            found.append((shape[k], inner))
    if not found:
        found = [(1, (0,) * len(operands))]
    return (tuple(n for n, _ in found),
            [tuple(strides[k] for _, strides in found) for k in range(len(operands))])


def views(arrays: Sequence[DeviceNDArray], shape: tuple[int, ...], by_place: bool) -> list[DeviceNDArray]:
    """The arrays, which have that shape, with as few axes as they all allow."""
    if all(a.layout == "C" for a in arrays):
        return [a if a.ndim == 1 else view_of(a, (a.size,), (a.dtype.itemsize,)) for a in arrays]
    lengths, strides = merged(shape, [a.strides for a in arrays], by_place)
    return [view_of(a, lengths, own) for a, own in zip(arrays, strides, strict=True)]


def index(axes: int, prefix: str = "i") -> str:
    """The subscript of an array of that many axes, of the variables i, or i0, i1, ..."""
    return f"[{', '.join(f'{prefix}{k}' for k in range(axes))}]" if axes > 1 else f"[{prefix}]"


def index_lines(axes: int, lengths: str, prefix: str = "i", indent: str = "    ") -> list[str]:
    """Lines that take the number i apart into i0, i1, ...; lengths: an expression for a tuple."""
    if axes < 2:
        return []
    lines = [f"{indent}{prefix}rest = {prefix}"]
    for k in range(axes - 1, 0, -1):
        lines += [f"{indent}{prefix}{k} = {prefix}rest % {lengths}[{k}]",
                  f"{indent}{prefix}rest = {prefix}rest // {lengths}[{k}]"]
    return [*lines, f"{indent}{prefix}0 = {prefix}rest"]


def width(arrays: Sequence[DeviceNDArray]) -> int:
    """How many elements a thread of a GPU reads at once: those of 16 bytes of the widest array, where all lie so."""
    widest = max((a.dtype.itemsize for a in arrays), default=WIDE_BYTES)
    if widest > WIDE_BYTES // 2 or widest & (widest - 1) or need_device().kind == "cpu":
        return 1
    can_be_wide = all(a.ndim == 1 and a.layout == "C" and a.pointer % WIDE_BYTES == 0 and a.dtype.kind in "biufc"
                      for a in arrays)
    return WIDE_BYTES // widest if can_be_wide else 1


def product(shape: Sequence[int]) -> int:
    return math.prod(shape)


def vector(count: int, dtype: Any, stream: Any) -> DeviceNDArray:
    """A device array of one axis, not initialized, for what lies between two launches."""
    from cujit.cuda.devicearray import DeviceNDArray

    buffer = _core.DeviceBuffer(count * dtype.itemsize, is_scratch=True)
    return DeviceNDArray((count,), None, dtype, buffer.pointer, buffer, stream=stream)
