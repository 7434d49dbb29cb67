"""What device arrays compute: operators, comparisons, NumPy's methods, by the ufuncs of _ufunc/numpy_ufuncs.py.
Results are device arrays, and nothing waits for them; float(), int(), bool() and item() of one element do."""
from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from cujit import _core

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from cujit._annotations import StreamLike
    from cujit.cuda.devicearray import DeviceNDArray

_NO_VALUE: Any = np._NoValue
_NUMBERS = (int, float, complex, np.generic, np.ndarray, _core.DeviceArrayBase, list, tuple)


@functools.cache
def _ufunc(name: str) -> Any:
    from cujit._ufunc import numpy_ufuncs

    return numpy_ufuncs.named(name)


def _binary(name: str, first: Any, second: Any, other: Any, out: Any = None) -> Any:
    """The ufunc of both; NotImplemented where `other`, one of them, is neither a number nor an array."""
    if not isinstance(other, _NUMBERS) and not _core.is_in_device_memory(other):
        return NotImplemented
    return _ufunc(name)(first, second, out=out)


class Arithmetic(_core.DeviceArrayBase):
    """What DeviceNDArray computes."""

    if not TYPE_CHECKING:   # a checker is to know that there is no such attribute
        def __getattr__(self, name):
            raise AttributeError(_missing(type(self).__name__, name), name=name, obj=self)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **keywords: Any) -> Any:
        from cujit._ufunc import numpy_ufuncs

        return numpy_ufuncs.call(ufunc, method, inputs, keywords)

    def __array_function__(self, function: Any, types: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        from cujit.cuda import array_functions

        return array_functions.call(function, types, args, keywords)

    # --- operators ---------------------------------------------------------------------------------------------------

    def __add__(self, other: Any) -> Any:
        return _binary("add", self, other, other)

    def __radd__(self, other: Any) -> Any:
        return _binary("add", other, self, other)

    def __iadd__(self, other: Any) -> Any:
        return _binary("add", self, other, other, self)

    def __sub__(self, other: Any) -> Any:
        return _binary("subtract", self, other, other)

    def __rsub__(self, other: Any) -> Any:
        return _binary("subtract", other, self, other)

    def __isub__(self, other: Any) -> Any:
        return _binary("subtract", self, other, other, self)

    def __mul__(self, other: Any) -> Any:
        return _binary("multiply", self, other, other)

    def __rmul__(self, other: Any) -> Any:
        return _binary("multiply", other, self, other)

    def __imul__(self, other: Any) -> Any:
        return _binary("multiply", self, other, other, self)

    def __truediv__(self, other: Any) -> Any:
        return _binary("divide", self, other, other)

    def __rtruediv__(self, other: Any) -> Any:
        return _binary("divide", other, self, other)

    def __itruediv__(self, other: Any) -> Any:
        return _binary("divide", self, other, other, self)

    def __floordiv__(self, other: Any) -> Any:
        return _binary("floor_divide", self, other, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return _binary("floor_divide", other, self, other)

    def __ifloordiv__(self, other: Any) -> Any:
        return _binary("floor_divide", self, other, other, self)

    def __mod__(self, other: Any) -> Any:
        return _binary("remainder", self, other, other)

    def __rmod__(self, other: Any) -> Any:
        return _binary("remainder", other, self, other)

    def __imod__(self, other: Any) -> Any:
        return _binary("remainder", self, other, other, self)

    def __pow__(self, other: Any) -> Any:
        return _binary("power", self, other, other)

    def __rpow__(self, other: Any) -> Any:
        return _binary("power", other, self, other)

    def __ipow__(self, other: Any) -> Any:
        return _binary("power", self, other, other, self)

    def __lshift__(self, other: Any) -> Any:
        return _binary("left_shift", self, other, other)

    def __rlshift__(self, other: Any) -> Any:
        return _binary("left_shift", other, self, other)

    def __ilshift__(self, other: Any) -> Any:
        return _binary("left_shift", self, other, other, self)

    def __rshift__(self, other: Any) -> Any:
        return _binary("right_shift", self, other, other)

    def __rrshift__(self, other: Any) -> Any:
        return _binary("right_shift", other, self, other)

    def __irshift__(self, other: Any) -> Any:
        return _binary("right_shift", self, other, other, self)

    def __and__(self, other: Any) -> Any:
        return _binary("bitwise_and", self, other, other)

    def __rand__(self, other: Any) -> Any:
        return _binary("bitwise_and", other, self, other)

    def __iand__(self, other: Any) -> Any:
        return _binary("bitwise_and", self, other, other, self)

    def __xor__(self, other: Any) -> Any:
        return _binary("bitwise_xor", self, other, other)

    def __rxor__(self, other: Any) -> Any:
        return _binary("bitwise_xor", other, self, other)

    def __ixor__(self, other: Any) -> Any:
        return _binary("bitwise_xor", self, other, other, self)

    def __or__(self, other: Any) -> Any:
        return _binary("bitwise_or", self, other, other)

    def __ror__(self, other: Any) -> Any:
        return _binary("bitwise_or", other, self, other)

    def __ior__(self, other: Any) -> Any:
        return _binary("bitwise_or", self, other, other, self)

    def __divmod__(self, other: Any) -> Any:
        return _binary("divmod", self, other, other)

    def __rdivmod__(self, other: Any) -> Any:
        return _binary("divmod", other, self, other)

    def __neg__(self) -> Any:
        return _ufunc("negative")(self)

    def __pos__(self) -> Any:
        return _ufunc("positive")(self)

    def __abs__(self) -> Any:
        return _ufunc("absolute")(self)

    def __invert__(self) -> Any:
        return _ufunc("invert")(self)

    def __lt__(self, other: Any) -> Any:
        return _binary("less", self, other, other)

    def __le__(self, other: Any) -> Any:
        return _binary("less_equal", self, other, other)

    def __gt__(self, other: Any) -> Any:
        return _binary("greater", self, other, other)

    def __ge__(self, other: Any) -> Any:
        return _binary("greater_equal", self, other, other)

    def __eq__(self, other: Any) -> Any:
        return _binary("equal", self, other, other)

    def __ne__(self, other: Any) -> Any:
        return _binary("not_equal", self, other, other)

    __hash__ = _core.DeviceArrayBase.__hash__   # of the object

    def __contains__(self, value: Any) -> bool:
        return bool((self == value).any())

    # --- numbers -----------------------------------------------------------------------------------------------------

    def item(self, *index: Any) -> Any:
        """An element as Python's number. Waits for it.

        Parameters
        ----------
        *index : int
            Which one; without it the only one that there is.

        Returns
        -------
        int, float, complex or bool

        Raises
        ------
        ValueError
            There are several elements, and no index.

        Examples
        --------
        >>> cuda.to_device(np.arange(4)).sum().item()
        6
        """
        return self._host(*index).item()

    def _host(self, *index: Any) -> Any:
        array: Any = self
        if index:
            return array[index[0] if len(index) == 1 else index]
        if self.size != 1:
            raise ValueError(f"an array of {self.size} elements is no number")
        return array[(0,) * self.ndim]

    def __float__(self) -> float:
        return float(self._host())

    def __int__(self) -> int:
        return int(self._host())

    def __complex__(self) -> complex:
        return complex(self._host())

    def __index__(self) -> int:
        if self.ndim or self.dtype.kind not in "iu":
            raise TypeError("only an integer array without axes is an index")
        return int(self._host())

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ValueError(f"an array of {self.size} elements is neither true nor false: array.any() or array.all()")
        return bool(self._host())

    def __format__(self, specification: str) -> str:
        return format(self._host() if self.ndim == 0 else str(self), specification)

    # --- reductions --------------------------------------------------------------------------------------------------

    def sum(self, axis: Any = None, dtype: DTypeLike | None = None, out: Any = None, keepdims: bool = False,
            initial: Any = _NO_VALUE, where: Any = True, stream: StreamLike = 0) -> Any:
        """The sum of the elements.

        Parameters
        ----------
        axis : int, tuple of int or None
            Along which axes; None: all of them.
        dtype : dtype_like, optional
            What is computed in; int64 or uint64 for integers unless it is given.
        out : array, optional
            Where the result goes.
        keepdims : bool
            Whether the axes stay, with length one.
        initial : number, optional
            What it starts with.
        where : array of bool
            Which elements take part.
        stream : Stream or int
            Orders the work.

        Returns
        -------
        DeviceNDArray
            Without axes where all were reduced. Nothing waits for it.

        Examples
        --------
        >>> float(cuda.to_device([1.5, 2.5]).sum())
        4.0
        """
        return _ufunc("add").reduce(self, axis, dtype, out, keepdims, initial, where, stream=stream)

    def prod(self, axis: Any = None, dtype: DTypeLike | None = None, out: Any = None, keepdims: bool = False,
             initial: Any = _NO_VALUE, where: Any = True, stream: StreamLike = 0) -> Any:
        """The product of the elements.

        Parameters
        ----------
        axis : int, tuple of int or None
            Along which axes; None: all of them.
        dtype : dtype_like, optional
            What is computed in; int64 or uint64 for integers unless it is given.
        out : array, optional
            Where the result goes.
        keepdims : bool
            Whether the axes stay, with length one.
        initial : number, optional
            What it starts with.
        where : array of bool
            Which elements take part.
        stream : Stream or int
            Orders the work.

        Returns
        -------
        DeviceNDArray
            Without axes where all were reduced. Nothing waits for it.

        Examples
        --------
        >>> int(cuda.to_device([2, 3]).prod())
        6
        """
        return _ufunc("multiply").reduce(self, axis, dtype, out, keepdims, initial, where, stream=stream)

    def min(self, axis: Any = None, out: Any = None, keepdims: bool = False,
            initial: Any = _NO_VALUE, where: Any = True, stream: StreamLike = 0) -> Any:
        """The least element; NaN where one is.

        Parameters
        ----------
        axis : int, tuple of int or None
            Along which axes; None: all of them.
        out : array, optional
            Where the result goes.
        keepdims : bool
            Whether the axes stay, with length one.
        initial : number, optional
            What it starts with.
        where : array of bool
            Which elements take part.
        stream : Stream or int
            Orders the work.

        Returns
        -------
        DeviceNDArray
            Without axes where all were reduced. Nothing waits for it.

        Examples
        --------
        >>> int(cuda.to_device([2, 3]).min())
        2
        """
        return _ufunc("minimum").reduce(self, axis, None, out, keepdims, initial, where, stream=stream)

    def max(self, axis: Any = None, out: Any = None, keepdims: bool = False,
            initial: Any = _NO_VALUE, where: Any = True, stream: StreamLike = 0) -> Any:
        """The greatest element; NaN where one is.

        Parameters
        ----------
        axis : int, tuple of int or None
            Along which axes; None: all of them.
        out : array, optional
            Where the result goes.
        keepdims : bool
            Whether the axes stay, with length one.
        initial : number, optional
            What it starts with.
        where : array of bool
            Which elements take part.
        stream : Stream or int
            Orders the work.

        Returns
        -------
        DeviceNDArray
            Without axes where all were reduced. Nothing waits for it.

        Examples
        --------
        >>> int(cuda.to_device([2, 3]).max())
        3
        """
        return _ufunc("maximum").reduce(self, axis, None, out, keepdims, initial, where, stream=stream)

    def any(self, axis: Any = None, out: Any = None, keepdims: bool = False, where: Any = True,
            stream: StreamLike = 0) -> Any:
        """Whether an element is true.

        Parameters
        ----------
        axis, out, keepdims, where, stream
            As for sum.

        Returns
        -------
        DeviceNDArray
            Of bool.

        Examples
        --------
        >>> bool(cuda.to_device([0, 3]).any())
        True
        """
        return _ufunc("logical_or").reduce(self, axis, None, out, keepdims, where=where, stream=stream)

    def all(self, axis: Any = None, out: Any = None, keepdims: bool = False, where: Any = True,
            stream: StreamLike = 0) -> Any:
        """Whether all elements are true.

        Parameters
        ----------
        axis, out, keepdims, where, stream
            As for sum.

        Returns
        -------
        DeviceNDArray
            Of bool.

        Examples
        --------
        >>> bool(cuda.to_device([0, 3]).all())
        False
        """
        return _ufunc("logical_and").reduce(self, axis, None, out, keepdims, where=where, stream=stream)

    def mean(self, axis: Any = None, dtype: DTypeLike | None = None, out: Any = None, keepdims: bool = False,
             where: Any = True, stream: StreamLike = 0) -> Any:
        """The mean of the elements: their sum, divided by their number.

        Parameters
        ----------
        axis, out, keepdims, where, stream
            As for sum.
        dtype : dtype_like, optional
            What is computed in; float64 for integers, float32 for float16 unless it is given.

        Returns
        -------
        DeviceNDArray

        Examples
        --------
        >>> float(cuda.to_device([1, 2]).mean())
        1.5
        """
        wide = np.dtype(dtype) if dtype is not None else {"e": np.dtype(np.float32)}.get(
            self.dtype.char, self.dtype if self.dtype.kind in "fc" else np.dtype(np.float64))
        total = _ufunc("add").reduce(self, axis, wide, None, keepdims, where=where, stream=stream)
        counted: Any = self.size // max(total.size, 1)
        if where is not True:
            mask: Any = np.broadcast_to(np.asarray(where), self.shape)
            counted = mask.sum(axis, np.int64, keepdims=keepdims)
        mean = _ufunc("divide")(total, counted, out=total if out is None else out, stream=stream)
        is_narrower = out is dtype is None and self.dtype.char == "e"
        return mean.astype(self.dtype, stream=stream) if is_narrower else mean

    def cumsum(self, axis: int | None = None, dtype: DTypeLike | None = None, out: Any = None,
               stream: StreamLike = 0) -> Any:
        """Each element with all before it, as a sum.

        Parameters
        ----------
        axis : int, optional
            Along which one; without it the elements in C order.
        dtype, out, stream
            As for sum.

        Returns
        -------
        DeviceNDArray

        Examples
        --------
        >>> cuda.to_device([1, 2, 3]).cumsum().copy_to_host()
        array([1, 3, 6])
        """
        from cujit._algorithms import array_methods

        return array_methods.accumulated(self, "add", axis, dtype, out, stream)

    # --- elements ----------------------------------------------------------------------------------------------------

    def astype(self, dtype: DTypeLike, copy: bool = True, stream: StreamLike = 0) -> DeviceNDArray:
        """The elements as another dtype.

        Parameters
        ----------
        dtype : dtype_like
            Floats become integers as in kernels: without their fraction, the nearest one where they are out of range.
            Times that a finer unit cannot hold become NaT, where NumPy raises OverflowError.
        copy : bool
            False: the array itself, where it has the dtype.
        stream : Stream or int
            Orders the work.

        Returns
        -------
        DeviceNDArray
            A new array of the same order.

        Examples
        --------
        >>> cuda.to_device([1.5, 2.5]).astype(np.int32).copy_to_host()
        array([1, 2], dtype=int32)
        """
        from cujit.cuda import devicearray

        array: Any = self
        if self.dtype == dtype and not copy:
            return array
        return devicearray.converted_copy(array, np.dtype(dtype), stream)

    def copy(self, stream: StreamLike = 0) -> DeviceNDArray:
        """A new array with the same elements.

        Parameters
        ----------
        stream : Stream or int
            Orders the work.

        Returns
        -------
        DeviceNDArray

        Examples
        --------
        >>> cuda.to_device([1, 2]).copy().copy_to_host()
        array([1, 2])
        """
        return self.astype(self.dtype, stream=stream)

    def fill(self, value: Any, stream: StreamLike = 0) -> None:
        """Gives all elements one value.

        Parameters
        ----------
        value : number
            Is converted to the array's dtype.
        stream : Stream or int
            Orders the work.

        Examples
        --------
        >>> array = cuda.device_array(2)
        >>> array.fill(7)
        >>> array.copy_to_host()
        array([7., 7.])
        """
        array: Any = self
        array.setitem(Ellipsis, value, stream)

    def clip(self, min: Any = None, max: Any = None, out: Any = None, stream: StreamLike = 0) -> Any:
        """The elements, but at least `min` and at most `max`.

        Parameters
        ----------
        min, max : number or array, optional
            One of them may be left out.
        out : array, optional
            Where the result goes.
        stream : Stream or int
            Orders the work.

        Returns
        -------
        DeviceNDArray

        Raises
        ------
        ValueError
            Neither is given.

        Examples
        --------
        >>> cuda.to_device([1, 5, 9]).clip(2, 6).copy_to_host()
        array([2, 5, 6])
        """
        from cujit._ufunc import numpy_ufuncs

        if min is None and max is None:
            raise ValueError("clip needs a least or a greatest value: min, max")
        if max is None:
            return _ufunc("maximum")(self, min, out=out, stream=stream)
        if min is None:
            return _ufunc("minimum")(self, max, out=out, stream=stream)
        return numpy_ufuncs.selection("clip")(self, min, max, out=out, stream=stream)


def where(condition: Any, x: Any, y: Any, out: Any = None, stream: StreamLike = 0) -> Any:
    """Elements of x where the condition is true, else of y, with NumPy's broadcasting.

    condition: an array of bool; x, y: arrays or numbers, of which Python's take the type of the other; out: where the
    result goes. The result is on the device where one of them is.
    """
    from cujit._ufunc import numpy_ufuncs

    return numpy_ufuncs.selection("where")(condition, x, y, out=out, stream=stream)


def _missing(class_name: str, name: str) -> str:
    message = f"'{class_name}' object has no attribute '{name}'"
    if name == "to_host":   # of NumbaPro
        return f"{message}: array.copy_to_host(out) does what it did"
    if not name.startswith("_") and hasattr(np.ndarray, name):
        message += f": array.copy_to_host().{name} is NumPy's, cupy.asarray(array).{name} is CuPy's"
    return message
