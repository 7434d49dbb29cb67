"""What the methods of device arrays run that are no ufunc and no reduction of one: places, deviations, rounding."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cujit import _core
from cujit._algorithms import functions, loops
from cujit._algorithms.element_kernel import ElementwiseKernel
from cujit._algorithms.reduction_kernel import ReductionKernel
from cujit._algorithms.selection import select
from cujit._ufunc import numpy_ufuncs
from cujit._ufunc.operands import as_mask, broadcast
from cujit.cuda.devicearray import DeviceNDArray, device_array
from cujit.cuda.devices import on

if TYPE_CHECKING:
    from cujit._annotations import StreamLike


# --- places ----------------------------------------------------------------------------------------------------------

def _first_greatest(a: Any, b: Any) -> Any:
    return b if a[0] == a[0] and (b[0] > a[0] or b[0] != b[0]) else a


def _first_least(a: Any, b: Any) -> Any:
    return b if a[0] == a[0] and (b[0] < a[0] or b[0] != b[0]) else a


@functions.once
def _place_kernel(name: str) -> ReductionKernel:
    chosen = _first_greatest if name == "argmax" else _first_least
    return ReductionKernel(lambda i, x: (x, i), chosen, lambda a: a[1], None, (), "i", None, name, {})


def place_of(array: Any, name: str, axis: int | None, out: Any, keepdims: bool, stream: StreamLike) -> Any:
    """name: argmax or argmin."""
    if axis is not None and isinstance(axis, tuple):
        raise TypeError(f"{name} is along one axis, or all of them")
    if array.dtype.kind not in "biufmM":
        raise TypeError(f"{name} needs elements with an order, not of {array.dtype}")
    if not array.ndim and axis in (0, -1):
        axis = None
    if not array.size and (axis is None or not array.shape[axis]):
        raise ValueError(f"{name} of no elements")
    return _place_kernel(name)(array, axis=axis, keepdims=keepdims, out=out, stream=stream)


def nonzero(array: Any, stream: StreamLike) -> tuple[DeviceNDArray, ...]:
    if not array.ndim:
        raise ValueError("nonzero is of arrays with axes")
    with on(array.device):
        stream = stream or _core.current_stream() or 0
        flags = in_c_order(numpy_ufuncs.named("not_equal")(array, 0, stream=stream), stream).reshape(-1)
        numbers = _numbers()(size=flags.size, out=loops.vector(flags.size, np.dtype(np.int64), stream), stream=stream)
        places = select(flags, numbers, stream=stream)
        found = []
        for length in array.shape[:0:-1]:
            found.append(numpy_ufuncs.named("remainder")(places, max(length, 1), stream=stream))
            places = numpy_ufuncs.named("floor_divide")(places, max(length, 1), stream=stream)
        return (places, *found[::-1])


@functions.once
def _numbers() -> ElementwiseKernel:
    return ElementwiseKernel(lambda i: i, (), "i", np.int64, "numbers", {})


# --- deviations ------------------------------------------------------------------------------------------------------

def _square(x: Any, mean: Any) -> Any:
    return (x - mean) * (x - mean)


def _absolute_square(x: Any, mean: Any) -> Any:
    d = x - mean
    return d.real * d.real + d.imag * d.imag


def _sum(a: Any, b: Any) -> Any:
    return a + b


@functions.once
def _squares(is_complex: bool, has_mask: bool, dtype: Any) -> ReductionKernel:
    square = _absolute_square if is_complex else _square

    def of_meant(x, mean, mask):
        return square(x, mean) if mask else dtype.type(0)

    return ReductionKernel(of_meant if has_mask else square, _sum, None, 0.0, (), None, dtype, "squares", {})


def variance(array: Any, axis: Any, dtype: Any, out: Any, ddof: float, keepdims: bool, where: Any,
             stream: StreamLike) -> Any:
    wide = np.dtype(dtype) if dtype is not None else array.dtype if array.dtype.kind in "fc" else np.dtype(np.float64)
    is_narrower = out is dtype is None and wide.char == "e"
    if wide.char == "e":
        wide = np.dtype(np.float32)
    real = np.dtype(wide.char.lower()) if wide.kind == "c" else wide
    with on(array.device):
        stream = stream or _core.current_stream() or 0
        mean = array.mean(axis, wide, keepdims=True, where=where, stream=stream)
        mask = as_mask(where, stream)
        more = () if mask is None else (broadcast(mask, array.shape),)
        squares = _squares(array.dtype.kind == "c", mask is not None, real)
        total = squares(array, mean, *more, axis=axis, keepdims=keepdims, stream=stream)
        counted: Any = array.size // max(total.size, 1)
        if mask is not None:
            host: Any = np.broadcast_to(np.asarray(where), array.shape)
            counted = host.sum(axis, np.int64, keepdims=keepdims)
        divisor = np.maximum(counted - ddof, 0).astype(real)[()]
        found = numpy_ufuncs.named("divide")(total, divisor, out=total if out is None else out, stream=stream)
    return found.astype(array.dtype, stream=stream) if is_narrower else found


def deviation(array: Any, axis: Any, dtype: Any, out: Any, ddof: float, keepdims: bool, where: Any,
              stream: StreamLike) -> Any:
    is_narrow = array.dtype.char == "e" and out is dtype is None
    found = variance(array, axis, np.float32 if is_narrow else dtype, out, ddof, keepdims, where, stream)
    numpy_ufuncs.named("sqrt")(found, out=found, stream=stream)
    return found.astype(array.dtype, stream=stream) if is_narrow else found


def extent(array: Any, axis: Any, out: Any, keepdims: bool, stream: StreamLike) -> Any:
    greatest = array.max(axis, keepdims=keepdims, stream=stream)
    least = array.min(axis, keepdims=keepdims, stream=stream)
    return numpy_ufuncs.named("subtract")(greatest, least, out=greatest if out is None else out, stream=stream)


# --- each element ----------------------------------------------------------------------------------------------------

def in_c_order(array: Any, stream: StreamLike) -> Any:
    """The array, or a copy whose elements follow each other in C order."""
    if array.layout == "C":
        return array
    own = device_array(array.shape, array.dtype, stream=stream)
    own.setitem(Ellipsis, array, stream)
    return own


def accumulated(array: Any, name: str, axis: int | None, dtype: Any, out: Any, stream: StreamLike) -> Any:
    """Sums or products of each element with all before it; name: of the ufunc."""
    if axis is None or not array.ndim and axis in (0, -1):
        array, axis = in_c_order(array, stream).reshape(-1), 0
    if dtype is None and out is None and array.dtype.kind in "biu":
        dtype = np.add.reduce(np.zeros(0, array.dtype)).dtype
    return numpy_ufuncs.named(name).accumulate(array, axis, dtype, out, stream=stream)


def rounded(array: Any, decimals: int, out: Any, stream: StreamLike) -> Any:
    if array.dtype.kind not in "iufc":
        raise TypeError(f"round is of numbers, not of {array.dtype}")
    rint, divide, multiply = (numpy_ufuncs.named(name) for name in ("rint", "divide", "multiply"))
    if array.dtype.kind in "iu":
        if decimals >= 0:
            return numpy_ufuncs.named("positive")(array, out=out, stream=stream)
        tens = rint(divide(array, 10.0 ** -decimals, stream=stream), stream=stream)
        whole = multiply(tens, 10.0 ** -decimals, out=tens, stream=stream).astype(array.dtype, stream=stream)
        return whole if out is None else numpy_ufuncs.named("positive")(whole, out=out, stream=stream)
    if decimals == 0:
        return rint(array, out=out, stream=stream)
    scale, back = (multiply, divide) if decimals > 0 else (divide, multiply)
    found = scale(array, 10.0 ** abs(decimals), stream=stream)
    rint(found, out=found, stream=stream)
    return back(found, 10.0 ** abs(decimals), out=found if out is None else out, stream=stream)


