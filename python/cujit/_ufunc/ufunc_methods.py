"""Methods of ufuncs: reduce, accumulate, reduceat, at and outer, with the arguments that NumPy's have."""
from __future__ import annotations

import functools
import importlib
from typing import TYPE_CHECKING, Any

import numpy as np

from cujit import _core
from cujit._ufunc.folds import Changes, Fold
from cujit._ufunc.operands import Target, as_input, as_mask, as_scalar, broadcast, castable, is_scalar, staged
from cujit.cuda._array.array_views import view_of
from cujit.cuda.devicearray import DeviceNDArray, as_cuda_array, as_host_array, device_array, is_cuda_array
from cujit.cuda.devices import on
from cujit.errors import NoIdentityError

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from cujit._annotations import StreamLike

_NO_VALUE = np._NoValue
_axes_of_numpy = importlib.import_module(
    "numpy.lib.array_utils" if np.lib.NumpyVersion(np.__version__) >= "2.0.0" else "numpy.core.numeric")


def _on_its_device(method):
    """The method, run by the device of its operands and ordered by a stream, as a ufunc's call is."""
    @functools.wraps(method)
    def call(self, *args, stream=0, **keywords):
        device = self._device_for((*args, *keywords.values()), stream)
        if device is None:
            return method(self, *args, stream=stream or _core.current_stream() or 0, **keywords)
        with on(device):
            return call(self, *args, stream=stream, **keywords)
    return call


class UFuncMethods(_core.Elementwise):
    """What a ufunc can do beside being called. A subclass says how it folds."""

    nin: int
    __name__: str

    # --- what the subclass knows -------------------------------------------------------------------------------------

    def _folding(self, array: Any, dtype: Any, out: Any, method: str) -> Fold:
        """The Fold for an array, in the dtype if one is given, else in that which goes with out."""
        raise NotImplementedError

    def _device_for(self, operands: tuple[Any, ...], stream: StreamLike) -> Any:
        raise NotImplementedError

    def _start(self) -> Any:
        """What changes nothing; None where there is no such number."""
        raise NotImplementedError

    _is_reorderable = _is_idempotent = False
    _atomic: str | None = None   # the same function in cuda.atomic

    # --- the methods -------------------------------------------------------------------------------------------------

    @_on_its_device
    def reduce(self, array: Any, axis: Any = 0, dtype: DTypeLike | None = None, out: Any = None,
               keepdims: bool = False, initial: Any = _NO_VALUE, where: Any = True, stream: StreamLike = 0) -> Any:
        """Folds an array along axes with the function, which must be associative.

        Parameters
        ----------
        array : array_like
            On the host or on the device.
        axis : int, tuple of int or None
            None: all of them. Several ones need a function whose arguments may change places (`identity`).
        dtype : dtype_like, optional
            What is computed in, and the result's dtype.
        out : array, optional
            Where the result goes.
        keepdims : bool
            Whether the axes stay, with length one.
        initial : number, optional
            What it starts with; needed for no elements, and with `where`, unless the function has an identity.
        where : array of bool
            Which elements take part.
        stream : Stream or int
            Orders the work.

        Returns
        -------
        array or scalar
            Of a device array one on the device, which nobody waits for.

        Raises
        ------
        TypeError
            The function has not two arguments, or not one type for them and its result.
        ValueError
            There are no elements and no identity; or several axes of a function that depends on their order.
        """
        array, given = self._folded(array, "reduce"), _only(out)
        fold, kind = self._folding(array, dtype, given, "reduce"), None
        if given is None and initial is _NO_VALUE and where is True and isinstance(array, DeviceNDArray):
            kind = fold.kind_of(array, axis if axis is None else _axes(axis, array.ndim), keepdims)
            repeated = fold.repeat(kind, array, stream)
            if repeated is not None:
                return repeated
        axes = _axes(axis, array.ndim)
        if len(axes) > 1 and not self._is_reorderable:
            raise ValueError(f"'{self.__name__}' depends on the order of the elements: it reduces one axis, not "
                             f"{len(axes)}; identity= of vectorize says that it does not")
        mask, x = as_mask(where, stream), castable(staged(array, stream), fold.dtype)
        kept = [k for k in range(x.ndim) if k not in axes]
        shape = tuple(1 if k in axes else x.shape[k] for k in range(x.ndim) if keepdims or k not in axes)
        read = [(a, False) for a in (x, mask) if a is not None]
        target = Target(given, shape, fold.dtype, isinstance(array, DeviceNDArray) or is_cuda_array(given), read,
                        stream, "unsafe")
        result = target.array
        if keepdims:
            result = view_of(result, tuple(x.shape[k] for k in kept), tuple(result.strides[k] for k in kept))
        start, first = self._starts(initial, mask is not None, any(x.shape[k] == 0 for k in axes), fold.dtype)
        if x.size and result.size:
            fold.reduce(x, None if mask is None else broadcast(mask, x.shape), start, first, result, axes, stream)
            if kind is not None and x.dtype == array.dtype:
                fold.remember(kind, x, axes, shape)
        elif result.size:
            result.setitem(Ellipsis, first, stream)
        return target.finish()

    @_on_its_device
    def accumulate(self, array: Any, axis: int = 0, dtype: DTypeLike | None = None, out: Any = None,
                   stream: StreamLike = 0) -> Any:
        """Folds each element of an array with all before it along an axis.

        Parameters
        ----------
        array : array_like
            On the host or on the device, of one axis or more.
        axis : int
            Along which one.
        dtype, out, stream
            As for reduce.

        Returns
        -------
        array
            Of the shape of the array.

        Raises
        ------
        TypeError
            As for reduce, and for an array without axes.
        """
        array = self._folded(array, "accumulate")
        axis = _one_axis(axis, array.ndim, "accumulate")
        fold = self._folding(array, dtype, _only(out), "accumulate")
        x = castable(staged(array, stream), fold.dtype)
        target = Target(_only(out), x.shape, fold.dtype, isinstance(array, DeviceNDArray) or is_cuda_array(_only(out)),
                        [(x, True)], stream, "unsafe")
        if x.size:
            fold.accumulate(x, target.array, axis, stream)
        return target.finish()

    @_on_its_device
    def reduceat(self, array: Any, indices: Any, axis: int = 0, dtype: DTypeLike | None = None, out: Any = None,
                 stream: StreamLike = 0) -> Any:
        """Folds the elements from each index to the next one along an axis; where the next one is not larger, the
        result is the one element.

        Parameters
        ----------
        array : array_like
            On the host or on the device, of one axis or more.
        indices : array_like of int
            They are read on the host.
        axis, dtype, out, stream
            As for accumulate.

        Returns
        -------
        array
            Along the axis as many elements as there are indices.

        Raises
        ------
        IndexError
            An index is outside of the axis.
        TypeError
            As for accumulate.
        """
        array = self._folded(array, "reduceat")
        axis = _one_axis(axis, array.ndim, "reduceat")
        fold = self._folding(array, dtype, _only(out), "reduceat")
        x = castable(staged(array, stream), fold.dtype)
        places = _indices(indices, x.shape[axis])
        shape = (*x.shape[:axis], places.size, *x.shape[axis + 1:])
        target = Target(_only(out), shape, fold.dtype, isinstance(array, DeviceNDArray) or is_cuda_array(_only(out)),
                        [(x, False)], stream, "unsafe")
        if target.array.size:
            fold.reduceat(x, staged(places, stream), target.array, axis, stream)
        return target.finish()

    @_on_its_device
    def at(self, array: Any, indices: Any, values: Any = None, stream: StreamLike = 0) -> None:
        """array[indices] = function(array[indices], values), one index after another: an index that comes twice counts
        twice.

        Parameters
        ----------
        array : array
            On the host or on the device; it is changed.
        indices : array_like of int or bool, slice, or tuple of them
            As NumPy takes them. They are read on the host.
        values : array_like, optional
            The second argument of a function of two, with the shape of array[indices] or one that broadcasts to it.
        stream : Stream or int
            Orders the work, which one thread does; on a GPU as many as there are indices, where the function is
            NumPy's and an atomic operation does the same: sums of floats are then in any order.

        Raises
        ------
        TypeError
            The function has several results or more than two arguments, or complex results for an array of reals.
        IndexError
            An index is outside of the array.
        """
        if self.nin > 2 or (values is None) != (self.nin == 1):
            raise TypeError(f"'{self.__name__}' takes {self.nin} arguments: at applies functions of one argument to an "
                            "array and indices, functions of two to values besides")
        if not isinstance(array, np.ndarray) and not is_cuda_array(array):
            raise TypeError(f"at changes an array, not a {type(array).__name__}")
        inputs = [as_input(array), *([] if values is None else [as_input(values)])]
        types, results, loop = self._choose(inputs, (), None, "same_kind")
        if len(results) > 1:
            raise TypeError(f"'{self.__name__}' has {len(results)} results; at takes functions of one")
        own = inputs[0]
        places, shape = _places(own.shape, indices)
        if results[0].dtype.kind == "c" and own.dtype.kind != "c":
            raise TypeError(f"'{self.__name__}' gives {results[0]}, which is not cast to an array of {own.dtype}")
        target = Target(array, own.shape, own.dtype, False, [], stream, keeps=True)
        if places.size:
            flat = None if values is None else _flat(inputs[1], shape, types[1].dtype, stream)
            self._changes_by(loop, types).run(target.array, staged(places, stream), flat, stream)
        target.finish()

    def outer(self, first: Any, second: Any, out: Any = None, **keywords: Any) -> Any:
        """The function of every element of the one with every element of the other: axes of both, one after another.

        Parameters
        ----------
        first, second : array_like
            On the host or on the device.
        out : array, optional
            Where the result goes.
        **keywords
            As for a call.

        Returns
        -------
        array or scalar

        Raises
        ------
        TypeError
            The function has not two arguments.
        """
        self._need_two("outer")
        first, second = as_input(first), as_input(second)
        if not is_scalar(first) and not is_scalar(second):
            first = first[(..., *(None,) * second.ndim)]
        return self(first, second, out=out, **keywords)

    # --- what they need ----------------------------------------------------------------------------------------------

    def _choose(self, inputs, outs, wanted, casting):
        raise NotImplementedError

    def _need_two(self, method):
        if self.nin != 2:
            raise TypeError(f"'{self.__name__}' takes {self.nin} arguments; only functions of two can {method}")

    def _folded(self, array, method):
        self._need_two(method)
        return as_cuda_array(array) if is_cuda_array(array) else as_input(as_host_array(array))

    def _changes_by(self, loop, types):
        return self.__dict__.setdefault("_changes", {}).setdefault(
            (id(loop), types), Changes(loop.function, types, self._atomic))

    def _starts(self, initial, has_mask, is_empty, dtype):
        """(what changes nothing, what a reduction begins with), None for what there is not."""
        identity = self._start()
        if initial is _NO_VALUE:
            initial = identity if has_mask or is_empty else None
        if initial is None and (has_mask or is_empty):
            why = "leaves elements out" if has_mask else "has no elements"
            raise NoIdentityError(f"a reduction with '{self.__name__}', which has no identity, {why}: "
                                  "it needs initial=")
        first = None if initial is None else _as_start(initial, identity, dtype)
        if self._is_idempotent:
            return first, first
        return None if identity is None else _as_start(identity, identity, dtype), first


def _as_start(initial, identity, dtype):
    """A number as one of the dtype; an identity, such as -1 for all bits, wraps."""
    return np.asarray(initial).astype(dtype)[()] if initial is identity else as_scalar(initial, dtype)


def _only(out):
    """The output of a tuple of one, as NumPy's ufuncs take it."""
    if isinstance(out, tuple):
        if len(out) != 1:
            raise ValueError(f"there is one result, out has {len(out)}")
        return out[0]
    return out


def _axes(axis, ndim):
    if axis is None:
        return tuple(range(ndim))
    if ndim == 0 and axis in (0, -1):
        return ()
    return _axes_of_numpy.normalize_axis_tuple(axis, ndim)


def _one_axis(axis, ndim, method):
    if ndim == 0 and axis in (0, -1):
        raise TypeError(f"{method} takes an array of one axis or more")
    return _axes_of_numpy.normalize_axis_index(axis, ndim)


def _indices(indices, length):
    places = np.asarray(indices)
    if places.ndim != 1 or places.dtype.kind not in "iu" and places.size:
        raise TypeError("indices of reduceat are an array of integers of one axis")
    if places.size and not (places.min() >= 0 and places.max() < length):
        raise IndexError(f"an index of reduceat is outside of an axis of {length} elements")
    return np.ascontiguousarray(places, np.int64)


def _places(shape, indices):
    """(the place in C order of each element that the indices name, their shape)."""
    items = indices if isinstance(indices, tuple) else (indices,)
    key = tuple(np.asarray(item) if is_cuda_array(item) else item for item in items)
    if len(shape) == len(key) == 1 and isinstance(key[0], (np.ndarray, list)):
        places = np.asarray(key[0])
        if places.dtype.kind in "iu" and places.size and -shape[0] <= places.min() and places.max() < shape[0]:
            own = places.astype(np.int64, copy=False)
            own = np.where(own < 0, own + shape[0], own) if own.min() < 0 else own
            return np.ascontiguousarray(own).reshape(-1), own.shape
    places, step = np.zeros(np.broadcast_to(0, shape)[key].shape, np.int64), 1
    for k in range(len(shape) - 1, -1, -1):
        along = np.arange(shape[k]).reshape([-1 if j == k else 1 for j in range(len(shape))])
        places = places + np.broadcast_to(along, shape)[key] * step
        step *= shape[k]
    return np.ascontiguousarray(places).reshape(-1), places.shape


def _flat(values, shape, dtype, stream):
    """A device array of one axis with a value for each place."""
    if is_scalar(values):
        values = np.asarray(as_scalar(values, dtype))
    if isinstance(values, np.ndarray):
        return staged(np.ascontiguousarray(np.broadcast_to(values, shape)).reshape(-1), stream)
    whole = device_array(shape, values.dtype, stream=stream)
    whole.setitem(Ellipsis, broadcast(values, shape), stream)
    return whole.reshape(-1)


def fold_of(folds, function, element, in_order=False, is_sum=False):
    """The one Fold of a table for a function and the type that it computes in."""
    key = function, element
    known = folds.get(key)
    return folds.setdefault(key, Fold(function, element, in_order, is_sum)) if known is None else known

