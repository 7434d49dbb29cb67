"""Arithmetic on shapes and strides, and the numbers of streams. No memory is touched: all of it is numbers."""
import math
import operator

import numpy as np

from cujit import _core


def as_shape(shape):
    """A tuple of ints from an int or a sequence of them. TypeError for anything else."""
    if isinstance(shape, int):
        return (operator.index(shape),)
    try:
        return tuple(map(operator.index, shape))
    except TypeError:
        pass
    try:
        return (operator.index(shape),)
    except TypeError:
        raise TypeError(f"a shape is an int or a tuple of ints, not {shape!r}") from None


def of_new_array(shape, dtype):
    """Shape and dtype of an array to make; a dtype with a shape of its own is taken apart. ValueError for lengths below
    zero, and where no memory is that large."""
    lengths, dtype = as_shape(shape), np.dtype(dtype)
    if dtype.subdtype:
        dtype, more = dtype.subdtype
        lengths += more
    if any(n < 0 for n in lengths):
        raise ValueError(f"negative length in the shape {lengths}")
    if math.prod(lengths) * dtype.itemsize >= 2**63:
        raise ValueError(f"an array of shape {lengths} and dtype {dtype} would be larger than any memory")
    return lengths, dtype


def stream_number(stream):
    """The stream of an array as the CUDA Array Interface has it: None for the default stream."""
    return _core.stream_handle(stream) or None


def contiguous_strides(shape, itemsize, order="C"):
    """The strides, in bytes, of an array without gaps in that order."""
    if order not in ("C", "F"):
        raise ValueError(f"order must be 'C' or 'F', not {order!r}")
    strides, step = [], itemsize
    for n in reversed(shape) if order == "C" else shape:
        strides.append(step)
        step *= max(n, 1)
    return tuple(reversed(strides)) if order == "C" else tuple(strides)


def is_contiguous(shape, strides, itemsize, order):
    """Whether the elements follow each other without gaps in that order; axes of length one do not count."""
    if 0 in shape:
        return True
    expected = contiguous_strides(shape, itemsize, order)
    return all(n == 1 or s == e for n, s, e in zip(shape, strides, expected, strict=True))


def like_strides(shape, strides, itemsize):
    """Strides without gaps, with the axes in the order of `strides`: what numpy.empty_like gives."""
    if is_contiguous(shape, strides, itemsize, "C"):
        return contiguous_strides(shape, itemsize)
    if is_contiguous(shape, strides, itemsize, "F"):
        return contiguous_strides(shape, itemsize, "F")
    axes = sorted(range(len(shape)), key=lambda axis: -abs(strides[axis]))
    packed = contiguous_strides([shape[axis] for axis in axes], itemsize)
    return tuple(packed[axes.index(axis)] for axis in range(len(shape)))


def extent(shape, strides, itemsize):
    """Bytes from the first to the last one of an array whose strides are not negative; 0 for one without elements."""
    if 0 in shape:
        return 0
    return sum((n - 1) * s for n, s in zip(shape, strides, strict=True)) + itemsize


def byte_range(address, shape, strides, itemsize):
    """(address of the first byte, address behind the last one) of an array whose first element is at `address`."""
    if 0 in shape:
        return address, address
    reach = [(n - 1) * s for n, s in zip(shape, strides, strict=True)]
    return address + sum(r for r in reach if r < 0), address + sum(r for r in reach if r > 0) + itemsize


def without_unit_axes(shape, strides):
    """(length, stride) of the axes that are longer than one."""
    return [(n, s) for n, s in zip(shape, strides, strict=True) if n != 1]


def reshaped(shape, size):
    """The shape with its -1 worked out. ValueError where the sizes do not agree."""
    if shape.count(-1) > 1 or any(n < -1 for n in shape):
        raise ValueError(f"cannot reshape {size} elements to {shape}")
    known = math.prod(n for n in shape if n != -1)
    if -1 in shape and known:
        shape = tuple(size // known if n == -1 else n for n in shape)
    if math.prod(shape) != size or -1 in shape:
        raise ValueError(f"cannot reshape {size} elements to {shape}")
    return shape


def broadcast_strides(shape, strides, to):
    """The strides with which an array of `shape` is seen as one of shape `to`. ValueError where that cannot be."""
    lead = len(to) - len(shape)
    if lead < 0 or any(n not in (1, m) for n, m in zip(shape, to[lead:], strict=True)):
        raise ValueError(f"an array of shape {shape} does not fit the shape {to}")
    return (0,) * lead + tuple(0 if n == 1 and m != 1 else s
                               for n, m, s in zip(shape, to[lead:], strides, strict=True))


class _Interface:
    """Something that NumPy makes an array of, over memory that is never read."""

    def __init__(self, shape, strides, itemsize, address):
        self.__array_interface__ = {"version": 3, "shape": shape, "strides": strides, "typestr": f"|V{itemsize}",
                                    "data": (address, False)}


# An address of our own for the arithmetic: offsets are relative to it, and NumPy never reads there.
_ADDRESS = 1 << 40


def indexed(shape, strides, dtype, index):
    """(offset in bytes, shape, strides) of a basic index: integers, slices, Ellipsis, None, or a tuple of these.

    IndexError for anything else, or outside of the array.
    """
    index = tuple(map(_basic_index, index if isinstance(index, tuple) else (index,)))
    view = _proxy(shape, strides, dtype)[index if Ellipsis in index else (*index, Ellipsis)]
    return view.__array_interface__["data"][0] - _ADDRESS if view.size else 0, view.shape, view.strides


def viewed(shape, strides, dtype, new_dtype):
    """(shape, strides) with the same bytes taken as another dtype, by NumPy's rules."""
    view = _proxy(shape, strides, dtype).view(dtype).view(new_dtype)
    return view.shape, view.strides


def _basic_index(item):
    if item is None or item is Ellipsis or isinstance(item, slice):
        return item
    try:
        if not isinstance(item, bool):
            return operator.index(item)
    except TypeError:
        pass
    raise IndexError(f"device arrays take integers and slices as an index, not {item!r}{_instead(item)}")


def _instead(item):
    """What does the work of NumPy's other indices."""
    kind = getattr(getattr(item, "dtype", None), "kind", "")
    if kind == "b":
        return "; cuda.select(mask, x) has the elements, ufunc(..., out=x, where=mask) changes them"
    return '; cuda.elementwise("x[k]", raw="x")(x, places) has the elements' if kind and kind in "iu" else ""


def _proxy(shape, strides, dtype):
    return np.asarray(_Interface(shape, strides, dtype.itemsize, _ADDRESS))
