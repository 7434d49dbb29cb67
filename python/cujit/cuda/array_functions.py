"""NumPy's names for device arrays: what cuda.get_array_module() gives in NumPy's place; one function serves both.

All ufuncs that are compiled, functions that make, join and fold arrays, where and clip; NumPy's types and constants.
NumPy's own functions come here by __array_function__ where an argument is a device array.
"""
from __future__ import annotations

import functools
import inspect
import warnings
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cujit import _core, errors
from cujit.cuda._array.arithmetic import where as _chosen
from cujit.cuda._array.joining import (
    broadcast_to as broadcast_to,
    column_stack as column_stack,
    concatenate as concatenate,
    dstack as dstack,
    expand_dims as expand_dims,
    flip as flip,
    hstack as hstack,
    moveaxis as moveaxis,
    stack as stack,
    swapaxes as swapaxes,
    transpose as transpose,
    vstack as vstack,
)
from cujit.cuda.devicearray import DeviceNDArray, device_array, device_array_like, is_cuda_array, to_device

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import DTypeLike

    from cujit._annotations import HostOrDeviceArray, Shape

# What NumPy's functions are on device arrays. Functions of this file, or imported into it, that have their names: of
# any elements, but for these, which are of numbers and times.
_OF_NUMBERS = ("allclose", "copyto", "histogram", "isclose", "nonzero", "sort", "unique", "where")
# Methods of device arrays: likewise.
_METHODS_OF_NUMBERS = ("all", "any", "argmax", "argmin", "argsort", "clip", "cumprod", "cumsum", "dot", "max", "mean",
                       "min", "prod", "ptp", "round", "std", "sum", "var")
_METHODS_OF_ANY = ("ravel", "reshape", "squeeze")
_ALIASES = {"amin": "min", "amax": "max", "around": "round"}
_METHODS = (*_METHODS_OF_NUMBERS, *_METHODS_OF_ANY, *_ALIASES)
# What looks at arrays without their elements: NumPy's own.
_OF_SHAPES = ("iscomplexobj", "isrealobj", "ndim", "shape", "size")


def get_array_module(*args: Any) -> ModuleType:
    """NumPy, or where one of the arguments is an array in a device's memory, its counterpart for device arrays.

    Examples
    --------
    >>> def distance(x, y):
    ...     xp = cuda.get_array_module(x, y)
    ...     return xp.sqrt(x * x + y * y).sum()
    >>> float(distance(np.array([3.0]), np.array([4.0])))
    5.0
    >>> float(distance(cuda.to_device([3.0]), cuda.to_device([4.0])))
    5.0
    """
    import sys

    return sys.modules[__name__] if any(map(is_cuda_array, args)) else np


# --- functions that make arrays --------------------------------------------------------------------------------------

def asarray(a: Any, dtype: DTypeLike | None = None) -> DeviceNDArray:
    """A device array with the elements; one that is on the device and has the dtype is the array itself.

    Parameters
    ----------
    a : array_like, or an array of any library in a device's memory
        Whose elements are wanted.
    dtype : dtype_like, optional
        Of the elements; theirs unless it is given.

    Returns
    -------
    DeviceNDArray

    Examples
    --------
    >>> array = cuda.asarray([1, 2, 3])
    >>> cuda.asarray(array) is array, cuda.asarray(array, np.float32).copy_to_host()
    (True, array([1., 2., 3.], dtype=float32))
    """
    if not is_cuda_array(a):
        return to_device(np.ascontiguousarray(np.asarray(a, dtype)).reshape(np.shape(a)))
    known = to_device(a)
    return known if dtype is None else known.astype(dtype, copy=False)


def array(a: Any, dtype: DTypeLike | None = None) -> DeviceNDArray:
    """A new device array with the elements.

    Parameters
    ----------
    a, dtype
        As those of `asarray`.

    Returns
    -------
    DeviceNDArray

    Examples
    --------
    >>> from cujit.cuda import array_functions as xp
    >>> known = xp.asarray([1, 2, 3])
    >>> xp.array(known) is known, xp.array(known, np.float32).copy_to_host()
    (False, array([1., 2., 3.], dtype=float32))
    """
    if not is_cuda_array(a):
        return asarray(np.asarray(a, dtype))
    known = to_device(a)
    return known.astype(known.dtype if dtype is None else dtype)


def empty(shape: Shape, dtype: DTypeLike = np.float64, order: str = "C") -> DeviceNDArray:
    """A device array, not initialized.

    Parameters
    ----------
    shape : int or tuple of int
        Elements along each axis.
    dtype : dtype_like
        Of the elements.
    order : {"C", "F"}
        How they lie in memory.

    Returns
    -------
    DeviceNDArray

    Examples
    --------
    >>> from cujit.cuda import array_functions as xp
    >>> xp.empty((2, 3), np.int32, order="F").strides
    (4, 8)
    """
    return device_array(shape, dtype, order=order)


def full(shape: Shape, fill_value: Any, dtype: DTypeLike | None = None, order: str = "C") -> DeviceNDArray:
    """A device array of one value.

    Parameters
    ----------
    shape, order
        As those of `empty`.
    fill_value : number
        Of all elements.
    dtype : dtype_like, optional
        Of the elements; the value's unless it is given.

    Returns
    -------
    DeviceNDArray

    Examples
    --------
    >>> cuda.full(2, 7).copy_to_host()
    array([7, 7])
    """
    return _filled(device_array(shape, np.asarray(fill_value).dtype if dtype is None else dtype, order=order),
                   fill_value)


def zeros(shape: Shape, dtype: DTypeLike = np.float64, order: str = "C") -> DeviceNDArray:
    """A device array of zeros.

    Parameters
    ----------
    shape, dtype, order
        As those of `empty`.

    Returns
    -------
    DeviceNDArray

    Examples
    --------
    >>> cuda.zeros((2, 2), np.int32).copy_to_host()
    array([[0, 0],
           [0, 0]], dtype=int32)
    """
    return full(shape, 0, dtype, order)


def ones(shape: Shape, dtype: DTypeLike = np.float64, order: str = "C") -> DeviceNDArray:
    """A device array of ones.

    Parameters
    ----------
    shape, dtype, order
        As those of `empty`.

    Returns
    -------
    DeviceNDArray

    Examples
    --------
    >>> cuda.ones(3).copy_to_host()
    array([1., 1., 1.])
    """
    return full(shape, 1, dtype, order)


def empty_like(prototype: HostOrDeviceArray, dtype: DTypeLike | None = None, order: str = "K", subok: bool = True,
               shape: Shape | None = None) -> DeviceNDArray:
    """A device array with the shape and order of another one, or those that are given, not initialized."""
    _check_order(order)
    made = device_array_like(prototype)
    if shape is None and order == "K" and (dtype is None or made.dtype == dtype):
        return made
    if order not in "CF":
        order = "F" if made.layout == "F" else "C"
    return device_array(made.shape if shape is None else shape, made.dtype if dtype is None else dtype, order=order)


def full_like(a: HostOrDeviceArray, fill_value: Any, dtype: DTypeLike | None = None, order: str = "K",
              subok: bool = True, shape: Shape | None = None) -> DeviceNDArray:
    """A device array of one value, with the shape and order of another one, or those that are given."""
    return _filled(empty_like(a, dtype, order, subok, shape), fill_value)


def zeros_like(a: HostOrDeviceArray, dtype: DTypeLike | None = None, order: str = "K", subok: bool = True,
               shape: Shape | None = None) -> DeviceNDArray:
    """A device array of zeros, with the shape and order of another one, or those that are given."""
    return full_like(a, 0, dtype, order, subok, shape)


def ones_like(a: HostOrDeviceArray, dtype: DTypeLike | None = None, order: str = "K", subok: bool = True,
              shape: Shape | None = None) -> DeviceNDArray:
    """A device array of ones, with the shape and order of another one, or those that are given."""
    return full_like(a, 1, dtype, order, subok, shape)


def arange(*args: Any, dtype: DTypeLike | None = None) -> DeviceNDArray:
    """Numbers of equal distance, as numpy.arange has them, on the device. They are made on the host.

    Parameters
    ----------
    *args : number
        stop; start, stop; or start, stop, step.
    dtype : dtype_like, optional
        Of the elements; what NumPy chooses unless it is given.

    Returns
    -------
    DeviceNDArray

    Examples
    --------
    >>> cuda.arange(2, 8, 2).copy_to_host()
    array([2, 4, 6])
    """
    return to_device(np.arange(*args, dtype=dtype))


def linspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, retstep: bool = False,
             dtype: DTypeLike | None = None, axis: int = 0) -> Any:
    """numpy.linspace, on the device. It is made on the host, where the step stays."""
    numbers, step = np.linspace(_on_host(start), _on_host(stop), num, endpoint, retstep=True, dtype=dtype, axis=axis)
    return (to_device(numbers), step) if retstep else to_device(numbers)


def _check_order(order: str) -> None:
    if order not in ("K", "A", "C", "F"):
        raise ValueError(f"order must be 'K', 'A', 'C' or 'F', not {order!r}")


def _filled(made: DeviceNDArray, value: Any) -> DeviceNDArray:
    made.fill(value)
    return made


# --- elements --------------------------------------------------------------------------------------------------------

def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """Elements of x where the condition is true, else of y; of a condition alone the places where it is true."""
    return nonzero(condition) if x is None and y is None else _chosen(condition, x, y)


def nonzero(a: Any) -> tuple[DeviceNDArray, ...]:
    """The places of the elements that are not zero: an array of int64 for each axis."""
    return asarray(a).nonzero()


def copy(a: Any, order: str = "K", subok: bool = False) -> DeviceNDArray:
    """A new device array with the elements."""
    _check_order(order)
    own = asarray(a)
    if order in "KA":
        return own.copy() if own is a else own
    made = device_array(own.shape, own.dtype, order=order)
    made[...] = own
    return made


def copyto(dst: Any, src: Any, casting: Any = "same_kind", where: Any = True) -> None:
    """Elements of src into those of dst; to a host array by way of the host."""
    if not is_cuda_array(dst):
        return np.copyto(dst, _on_host(src), casting=casting, where=_on_host(where))
    from cujit._ufunc import numpy_ufuncs

    target = asarray(dst)
    if where is True and not is_cuda_array(src):
        source = np.asarray(src)
        if not np.can_cast(source.dtype if source.ndim or not isinstance(src, (int, float, complex)) else
                           np.min_scalar_type(src), target.dtype, casting):
            raise TypeError(f"cannot cast {source.dtype} to {target.dtype} by casting={casting!r}")
        target[...] = src
        return None
    numpy_ufuncs.named("positive" if target.dtype != bool else "logical_or")(
        *((src,) if target.dtype != bool else (src, False)), out=target, casting=casting, where=where)
    return None


def _on_host(value: Any) -> Any:
    return asarray(value).copy_to_host() if is_cuda_array(value) else value


def sort(a: Any, axis: int | None = -1, kind: str | None = None) -> DeviceNDArray:
    """A new array with the elements in order along an axis, or of all of them; NaN last."""
    found = array(a) if axis is not None else copy(a, "C").reshape(-1)
    found.sort(-1 if axis is None else axis, kind)
    return found


def unique(ar: Any, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False) -> Any:
    """The different elements in order, and what else is asked for: cuda.unique."""
    from cujit._algorithms import histogram as algorithms

    return algorithms.unique(asarray(ar), return_index, return_inverse, return_counts)


def histogram(a: Any, bins: Any = 10, range: tuple[float, float] | None = None, density: bool | None = None,
              weights: Any = None) -> Any:
    """How many elements are in each bin, and the bins' edges: cuda.histogram."""
    from cujit._algorithms import histogram as algorithms

    own = asarray(a)
    limits = np.histogram_bin_edges(own.copy_to_host(), bins, range) if isinstance(bins, str) else _on_host(bins)
    counts, edges = algorithms.histogram(own, limits, range, weights=weights)
    if not density:
        return counts, edges
    widths = edges[1:] - edges[:-1]
    return counts / (widths * counts.sum()), edges


# --- comparisons -----------------------------------------------------------------------------------------------------

def isclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> DeviceNDArray:
    """Whether elements are close: abs(a - b) <= atol + rtol * abs(b), or equal."""
    from cujit._ufunc import numpy_ufuncs

    named = numpy_ufuncs.named
    first, second = _number_or_array(a), _number_or_array(b)
    wide = np.result_type(*(getattr(each, "dtype", each) for each in (first, second)), np.float64
                          if all(_kind(each) not in "fc" for each in (first, second)) else np.float16)
    first, second = (each.astype(wide, copy=False) if isinstance(each, DeviceNDArray) else each
                     for each in (first, second))
    near = named("absolute")(named("subtract")(first, second))
    allowed = named("add")(named("multiply")(named("absolute")(second), rtol), atol)
    found = named("logical_and")(named("less_equal")(near, allowed), named("isfinite")(second))
    found = named("logical_or")(found, named("equal")(first, second))
    if equal_nan:
        both = named("logical_and")(named("isnan")(first), named("isnan")(second))
        found = named("logical_or")(found, both)
    return found


def _kind(value: Any) -> str:
    return np.asarray(value).dtype.kind if not hasattr(value, "dtype") else value.dtype.kind


def _number_or_array(value: Any) -> Any:
    return value if isinstance(value, (bool, int, float, complex, np.generic)) else asarray(value)


def allclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> bool:
    """Whether all elements are close. Waits for the answer."""
    return bool(isclose(a, b, rtol, atol, equal_nan).all())


def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> bool:
    """Whether the shapes are the same and all elements equal. Waits for the answer."""
    from cujit._ufunc import numpy_ufuncs

    first, second = asarray(a1), asarray(a2)
    if first.shape != second.shape:
        return False
    if any(each.dtype.kind not in "biufcmM" for each in (first, second)):   # texts and records have no ufuncs here
        return np.array_equal(first.copy_to_host(), second.copy_to_host(), equal_nan)
    equal = numpy_ufuncs.named("equal")(first, second)
    if equal_nan and first.dtype.kind in "fcmM" and second.dtype.kind in "fcmM":
        isnan = numpy_ufuncs.named("isnan")
        equal = numpy_ufuncs.named("logical_or")(equal, numpy_ufuncs.named("logical_and")(isnan(first), isnan(second)))
    return bool(equal.all())


def result_type(*arrays_and_dtypes: Any) -> np.dtype[Any]:
    """The dtype that NumPy gives to what is computed of them; nothing is looked at but dtypes."""
    return np.result_type(*(asarray(each).dtype if is_cuda_array(each) else each for each in arrays_and_dtypes))


# --- NumPy's own functions -------------------------------------------------------------------------------------------

def _of_method(name: str) -> Callable[..., Any]:
    if name in ("ravel", "reshape"):   # of which the methods copy nothing
        return _raveled if name == "ravel" else _reshaped
    own = getattr(DeviceNDArray, _ALIASES.get(name, name))

    @functools.wraps(own)
    def call(a, *args, **keywords):
        return own(asarray(a), *args, **keywords)

    return call


def _reshaped(a: Any, /, shape: Any, order: str = "C", *, copy: bool | None = None) -> DeviceNDArray:
    own = asarray(a)
    if copy:
        own = own.copy()
    try:
        return own.reshape(shape, order=order)
    except NotImplementedError:
        if copy is False:
            raise ValueError("reshaping this array needs a copy") from None
        return globals()["copy"](own, "F" if order == "F" else "C").reshape(shape, order=order)


def _raveled(a: Any, order: str = "C") -> DeviceNDArray:
    return _reshaped(a, -1, "C" if order == "K" else order)


class _Row(NamedTuple):
    """What one of NumPy's functions is where an argument is a device array."""

    function: Callable[..., Any]
    signature: inspect.Signature
    is_of_any: bool   # whatever the elements are

    def takes(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
        try:
            self.signature.bind(*args, **keywords)
        except TypeError:   # a keyword that there is not
            return False
        return self.is_of_any or all(array.dtype.kind in "biufcmM" for array in _arrays((*args, *keywords.values())))


def _arrays(values: Any) -> list[Any]:
    found = [value for value in values if isinstance(value, _core.DeviceArrayBase)]
    return found + [array for value in values if isinstance(value, (tuple, list)) for array in _arrays(value)]


@functools.cache
def _table() -> dict[Any, _Row]:
    rows: dict[str, tuple[Callable[..., Any], bool]]
    rows = {name: (own, name not in _OF_NUMBERS) for name, own in globals().items()
            if inspect.isfunction(own) and not name.startswith("_")}
    rows |= {name: (_of_method(name), name in _METHODS_OF_ANY) for name in _METHODS}
    rows |= {name: (getattr(np, name)._implementation, True) for name in _OF_SHAPES}
    return {getattr(np, name): _Row(function, inspect.signature(function), is_of_any)
            for name, (function, is_of_any) in rows.items() if hasattr(np, name)}


def call(function: Any, types: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """What NumPy asks of a device array's __array_function__: by a row of the table; where there is none that takes
    these arguments NumPy's own, on the host, as if device arrays had no such method."""
    if not all(issubclass(each, (np.ndarray, _core.DeviceArrayBase)) or hasattr(each, "__cuda_array_interface__")
               for each in types):
        return NotImplemented
    row = _table().get(function)
    own = {name: value for name, value in keywords.items() if name != "like"}
    if row is not None and row.takes(args, own):
        return row.function(*args, **own)
    warnings.warn(f"{function.__module__}.{function.__name__} works on the host here: it copies the elements of device "
                  "arrays there, and gives NumPy's arrays. array.copy_to_host() does so where it is meant",
                  errors.PerformanceWarning, stacklevel=3)
    return function._implementation(*args, **keywords)


# --- the other names -------------------------------------------------------------------------------------------------

if not TYPE_CHECKING:
    def __getattr__(name):
        from cujit._ufunc import numpy_ufuncs

        if name in _METHODS:
            return _of_method(name)
        if name == "matmul":
            from cujit._algorithms.matrix_product import matmul

            return matmul
        value = getattr(np, name, None) if not name.startswith("_") else None
        if isinstance(value, np.ufunc):
            return numpy_ufuncs.of(value)
        if value is None and name != "newaxis" or callable(value) and not isinstance(value, type):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}" if value is None else
                                 f"there is no {name} for device arrays; array.copy_to_host() gives NumPy's array")
        return value
