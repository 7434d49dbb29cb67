"""cuda.reduce: a function of two arguments folded over arrays, in at most two launches."""
from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from cujit import _core
from cujit._algorithms.functions import device_function, of_expression, remembered
from cujit._algorithms.reduction_kernel import ReductionKernel, itself
from cujit._ufunc.operands import as_input
from cujit.cuda._dispatch.options import of_loops
from cujit.cuda.devicearray import as_cuda_array, as_host_array, device_array, is_cuda_array
from cujit.cuda.devices import on

if TYPE_CHECKING:
    from collections.abc import Callable

    from cujit._algorithms.values import Element
    from cujit._annotations import StreamLike


class _InTheArraysDtype(ReductionKernel):
    def accumulated(self, mapped: Element) -> Element:
        return mapped


class Reduce:
    """A reduction by a function of two arguments, which must be associative. Made by cuda.reduce.

    reduction(array, size=None, res=None, init=0, stream=0, axis=None, keepdims=False) gives function(...function(
    function(init, array[0]), array[1])..., array[n - 1]), grouped otherwise but in this order, in the array's dtype.
    """

    def __init__(self, functor: Callable[[Any, Any], Any] | str) -> None:
        """functor: a function of any kind that cuda.elementwise takes, or an expression in a and b."""
        self._function = device_function(of_expression(functor, "a b") if isinstance(functor, str) else functor,
                                         parameters="a, b")
        self._kernel = _InTheArraysDtype(itself, self._function, None, None, (), None, None, self._function.__name__,
                                         of_loops(self._function.options))
        functools.update_wrapper(self, self._function.py_func)

    def __copy__(self) -> Reduce:
        return self

    def __deepcopy__(self, memo: object) -> Reduce:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        from cujit.cuda import pickling

        return pickling.reduce_made(self, self._function)

    def __repr__(self) -> str:
        return f"<reduction by {self._function.__name__}>"

    def __call__(self, arr: Any, size: int | None = None, res: Any = None, init: Any = 0, stream: StreamLike = 0,
                 axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Any:
        """The result of all elements as a NumPy scalar; None where `res` is given: then it is stored there, in order
        of the stream. Along an axis or several: an array, or `res`.

        arr: a host or device array of any strides; of one axis unless `axis` is given.
        size: how many of its elements take part; all by default.
        res: a device array whose first element becomes the result; with `axis`, an array of the result's shape.
        init: what the reduction starts with, also the result for no elements; None: it starts with the first element.

        TypeError for an array of several axes without `axis`; ValueError for a size or axis that it does not have.
        """
        device = _core.device_for(self._function.__name__, (arr, res), stream)
        if device is not None:
            with on(device):
                return self(arr, size, res, init, stream, axis, keepdims)
        array = as_cuda_array(arr) if is_cuda_array(arr) else as_input(as_host_array(arr))
        if axis is not None:
            if size is not None:
                raise TypeError("a size is of a reduction of one axis, without `axis`")
            return self._kernel.along(array, axis, keepdims, res, init, stream)
        if array.ndim != 1:
            raise TypeError(f"a reduction takes an array of one axis, not one of {array.ndim}, unless `axis` is given")
        size = array.size if size is None else size
        if not 0 <= size <= array.size:
            raise ValueError(f"size {size} of an array of {array.size} elements")
        if init is None and not size:
            raise ValueError("a reduction of no elements needs a start: init")
        if not size and res is None:
            return np.asarray(init).astype(array.dtype)[()]
        target = device_array(1, array.dtype, stream=stream) if res is None else as_cuda_array(res)
        self._kernel.into(array[:size], target[:1], init, stream)
        return target.getitem(0, stream) if res is None else None


def reduce(functor: Callable[[Any, Any], Any] | str, array: Any = None, *, init: Any = None, axis: Any = None,
           keepdims: bool = False, out: Any = None, dtype: Any = None, stream: StreamLike = 0) -> Any:
    """A function of two arguments folded over an array, or a reduction that does so.

    Parameters
    ----------
    functor : function or str
        Associative; it need not be commutative. An expression is one in a and b.
    array : array or tuple of arrays, optional
        What is reduced at once, of any shape. Without it the result is a Reduce, to be called with arrays.
    init : optional
        What the reduction starts with; else the first element.
    axis : int or tuple of int, optional
        The axes that are reduced, all of them unless given.
    keepdims : bool
        Whether these remain, with one element.
    out : array, optional
        Where the result goes.
    dtype : dtype_like, optional
        In which values are reduced; else what the function computes.
    stream : Stream or int
        Where the work is ordered.

    Returns
    -------
    Reduce, array or scalar
        On the device where the array is there, else on the host.

    Examples
    --------
    >>> cuda.reduce("a + b", np.array([[1, 2], [3, 4]]), axis=0)
    array([4, 6])
    >>> total = cuda.reduce(lambda a, b: a + b)
    >>> int(total(np.array([1, 2, 3])))
    6
    """
    if array is None:
        return Reduce(functor)
    kernel = _kernel_of(functor, None if dtype is None else np.dtype(dtype))
    return kernel.along(array, axis, keepdims, out, init, stream)


@remembered
def _kernel_of(function: Any, dtype: Any) -> ReductionKernel:
    function = of_expression(function, "a b") if isinstance(function, str) else function
    return ReductionKernel(itself, function, None, None, (), None, dtype, device_function(function).__name__, {})
