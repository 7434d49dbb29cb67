"""carray and farray: a pointer's memory as an array, in kernels and on the host."""
from __future__ import annotations

import math
from typing import Any


def carray(ptr: Any, shape: Any, dtype: Any = None) -> Any:
    """The memory that a pointer leads to, as an array in C order.

    Parameters
    ----------
    ptr : array of one axis in C order
        What types.CPointer declares.
    shape : int or tuple of int
        No more elements than there are.
    dtype : dtype, optional
        Of the elements, where it is another than the pointer's.

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
    memory = ptr if dtype is None else ptr.view(dtype)
    extents = shape if isinstance(shape, tuple) else (shape,)
    return memory[:math.prod(extents)].reshape(extents)


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
