"""cuda.map and cuda.zip_with: a function of elements, applied at once."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cujit._algorithms import functions
from cujit._algorithms.arguments import Arguments
from cujit._algorithms.element_kernel import ElementwiseKernel

if TYPE_CHECKING:
    from cujit._annotations import StreamLike


@functions.remembered
def _kernel_of(function: Any, dtype: Any, count: int) -> ElementwiseKernel:
    if isinstance(function, str):
        function = functions.of_expression(function)
    return ElementwiseKernel(function, (), None, dtype, None, {})


def map(function: Any, *arrays: Any, out: Any = None, dtype: Any = None, stream: StreamLike = 0) -> Any:
    """A function of each element, or of those of several arrays, which broadcast.

    Parameters
    ----------
    function : function or str
        An expression's names are its parameters, in the order in which they come.
    *arrays : array, number, or tuple of them
        A tuple or a dataclass of arrays is an array of tuples.
    out : array or tuple of arrays, optional
        Where the results go; may be one of the arrays.
    dtype : dtype_like, optional
        Of the results; else what the function computes.
    stream : Stream or int
        Where the work is ordered.

    Returns
    -------
    array, scalar, or tuple of them
        On the device where an array or `out` is there, else on the host. A function that returns a tuple gives one.

    Examples
    --------
    >>> cuda.map(lambda x: x * x, np.array([1, 2, 3]))
    array([1, 4, 9])
    """
    return _kernel_of(function, None if dtype is None else np.dtype(dtype), len(arrays))(*arrays, out=out,
                                                                                        stream=stream)


def zip_with(function: Any, *arrays: Any, out: Any = None, dtype: Any = None, stream: StreamLike = 0) -> Any:
    """A function of the elements of several arrays of one shape.

    Parameters
    ----------
    function : function or str
        As for cuda.map.
    *arrays : array or tuple of arrays
        ValueError where their shapes differ.
    out : array or tuple of arrays, optional
        Where the results go; may be one of the arrays.
    dtype : dtype_like, optional
        Of the results; else what the function computes.
    stream : Stream or int
        Where the work is ordered.

    Returns
    -------
    array or tuple of arrays

    Examples
    --------
    >>> cuda.zip_with(lambda x, y: x - y, np.array([5, 7]), np.array([1, 2]))
    array([4, 5])
    """
    shapes = {x.shape for x in Arguments(arrays).arrays}
    if len(shapes) > 1:
        raise ValueError(f"zip_with takes arrays of one shape, not of {', '.join(str(s) for s in sorted(shapes))}")
    return map(function, *arrays, out=out, dtype=dtype, stream=stream)
