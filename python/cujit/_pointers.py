"""Pointers on the host: carray and farray, and what ctypes has of them. In kernels the two are those of
_kernel_functions/pointers.py."""
from __future__ import annotations

import ctypes
import math
from typing import Any

import numpy as np

from cujit import types


def carray(ptr: Any, shape: Any, dtype: Any = None) -> Any:
    """The memory that a pointer leads to, as an array in C order.

    Parameters
    ----------
    ptr : pointer
        In kernels what types.CPointer or types.voidptr declares, or an array of one axis in C order; elsewhere a
        pointer of ctypes or an array.
    shape : int or tuple of int
        Nobody knows how much memory there is: it is not checked.
    dtype : dtype, optional
        Of the elements, where it is another than the pointer's. A void* has none.

    Returns
    -------
    array
        Over the same memory.

    Examples
    --------
    >>> @cuda.jit(types.void(types.CPointer(types.float64), types.int64))
    ... def kernel(pointer, n):
    ...     matrix = cujit.carray(pointer, (n, n))
    """
    extents = shape if isinstance(shape, tuple) else (shape,)
    if isinstance(ptr, np.ndarray):
        memory = ptr if dtype is None else ptr.view(dtype)
        return memory[:math.prod(extents)].reshape(extents)
    found = pointer_of(ptr)
    if found is None:
        raise TypeError(f"expected a pointer of ctypes or an array, not {ptr!r}")
    address, element = found
    if dtype is None and element is None:
        raise TypeError("a void* does not say what lies there: pass the dtype")
    wanted = np.dtype(element if dtype is None else dtype)
    memory = (ctypes.c_char * (math.prod(extents) * wanted.itemsize)).from_address(address)
    return np.frombuffer(memoryview(memory), wanted).reshape(extents)


def farray(ptr: Any, shape: Any, dtype: Any = None) -> Any:
    """The memory that a pointer leads to, as an array in Fortran order.

    Parameters
    ----------
    ptr, shape, dtype
        As carray has them.

    Returns
    -------
    array
        Over the same memory.

    Examples
    --------
    >>> matrix = cujit.farray(pointer, (rows, columns))
    """
    extents = shape if isinstance(shape, tuple) else (shape,)
    return carray(ptr, extents[::-1], dtype).T


def pointer_of(value: Any) -> tuple[int, np.dtype[Any] | None] | None:
    """(address, dtype of what lies there or None) of a pointer of ctypes; None for what is none."""
    if isinstance(value, ctypes.c_void_p):
        return value.value or 0, None
    if isinstance(value, ctypes._Pointer):
        return ctypes.cast(value, ctypes.c_void_p).value or 0, np.dtype(value._type_)
    return None


def pointer_argument(value: Any) -> tuple[int, types.Type] | None:
    """(address, type) of a pointer of ctypes as an argument of a kernel; None for what is none."""
    found = pointer_of(value)
    if found is None:
        return None
    address, dtype = found
    return address, types.voidptr if dtype is None else types.CPointer(types.from_dtype(dtype))
