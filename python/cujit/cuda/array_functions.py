"""NumPy's names for device arrays: what cuda.get_array_module() gives in NumPy's place; one function serves both.

All ufuncs that are compiled, functions that make arrays, reductions, where and clip; NumPy's types and constants.
"""
from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from cujit.cuda._array.arithmetic import where as where
from cujit.cuda.devicearray import DeviceNDArray, device_array, device_array_like, is_cuda_array, to_device

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from cujit._annotations import HostOrDeviceArray, Shape

_METHODS = ("sum", "prod", "min", "max", "any", "all", "mean", "cumsum", "clip", "argmax", "argmin", "argsort",
            "cumprod", "dot", "nonzero", "ptp", "round", "std", "var")
_ALIASES = {"amin": "min", "amax": "max"}


def get_array_module(*args: Any) -> ModuleType:
    """NumPy, or where one of the arguments is an array in a device's memory, its counterpart for device arrays.

    Examples
    --------
    >>> def distance(x, y):
    ...     xp = cuda.get_array_module(x, y)
    ...     return xp.sqrt(x * x + y * y).sum()
    >>> distance(np.array([3.0]), np.array([4.0])), float(distance(cuda.to_device([3.0]), cuda.to_device([4.0])))
    (np.float64(5.0), 5.0)
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
    """A new device array with the elements."""
    if not is_cuda_array(a):
        return asarray(np.asarray(a, dtype))
    known = to_device(a)
    return known.astype(known.dtype if dtype is None else dtype)


def empty(shape: Shape, dtype: DTypeLike = np.float64, order: str = "C") -> DeviceNDArray:
    """A device array, not initialized."""
    return device_array(shape, dtype, order=order)


def full(shape: Shape, fill_value: Any, dtype: DTypeLike | None = None, order: str = "C") -> DeviceNDArray:
    """A device array of one value.

    Parameters
    ----------
    shape : int or tuple of int
        Elements along each axis.
    fill_value : number
        Of all elements.
    dtype : dtype_like, optional
        Of the elements; the value's unless it is given.
    order : {"C", "F"}
        How they lie in memory.

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
        As for zeros.

    Returns
    -------
    DeviceNDArray

    Examples
    --------
    >>> cuda.ones(3).copy_to_host()
    array([1., 1., 1.])
    """
    return full(shape, 1, dtype, order)


def empty_like(prototype: HostOrDeviceArray, dtype: DTypeLike | None = None) -> DeviceNDArray:
    """A device array with the shape and order of another one, not initialized."""
    made = device_array_like(prototype)
    return made if dtype is None or made.dtype == dtype else device_array(
        made.shape, dtype, order="F" if made.layout == "F" else "C")


def full_like(a: HostOrDeviceArray, fill_value: Any, dtype: DTypeLike | None = None) -> DeviceNDArray:
    """A device array of one value, with the shape and order of another one."""
    return _filled(empty_like(a, dtype), fill_value)


def zeros_like(a: HostOrDeviceArray, dtype: DTypeLike | None = None) -> DeviceNDArray:
    """A device array of zeros, with the shape and order of another one."""
    return full_like(a, 0, dtype)


def ones_like(a: HostOrDeviceArray, dtype: DTypeLike | None = None) -> DeviceNDArray:
    """A device array of ones, with the shape and order of another one."""
    return full_like(a, 1, dtype)


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


def linspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True,
             dtype: DTypeLike | None = None) -> DeviceNDArray:
    """numpy.linspace, on the device. It is made on the host."""
    return to_device(np.linspace(start, stop, num, endpoint, dtype=dtype))


def _filled(made: DeviceNDArray, value: Any) -> DeviceNDArray:
    made.fill(value)
    return made


def sort(a: Any, axis: int = -1, kind: str | None = None) -> DeviceNDArray:
    """A new array with the elements in order along an axis; NaN last."""
    found = array(a)
    found.sort(axis, kind)
    return found


# --- the other names -------------------------------------------------------------------------------------------------

if not TYPE_CHECKING:
    def __getattr__(name):
        from cujit._ufunc import numpy_ufuncs

        method = _ALIASES.get(name, name)
        if method in _METHODS:
            return lambda a, *args, **keywords: getattr(asarray(a), method)(*args, **keywords)
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
