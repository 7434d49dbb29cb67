"""guvectorize: functions of small arrays applied to every one of a batch, with NumPy's broadcasting of the batch."""
from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from cujit import _core
from cujit._ufunc.array_loop import Loop
from cujit._ufunc.core_axes import wanted_axes, with_last, with_moved_back, without_kept
from cujit._ufunc.operands import (
    Target,
    as_input,
    as_scalar,
    broadcast,
    device_of_call,
    is_scalar,
    own_type,
    staged,
)
from cujit._ufunc.ufunc import device_of_target, plain_function, used_options
from cujit.cuda._array.array_views import view_of
from cujit.cuda._dispatch import signature as signatures
from cujit.cuda._dispatch.options import OF_LOOPS, takes
from cujit.cuda.devicearray import DeviceNDArray, as_cuda_array, is_cuda_array
from cujit.cuda.devices import on
from cujit.cuda.dispatcher import Dispatcher
from cujit.errors import LaunchArgumentError
from cujit.types import void

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Unpack

    from cujit._annotations import Signatures, StreamLike
    from cujit.cuda._dispatch.options import LoopOptions

# --- layouts ---------------------------------------------------------------------------------------------------------

_OPERAND = r"\(\s*(?:\w+\s*(?:,\s*\w+\s*)*)?\)"
_OPERANDS = rf"\s*{_OPERAND}\s*(?:,\s*{_OPERAND}\s*)*"


class Layout:
    """The axes that a function takes of each operand: "(m,n),(n,p)->(m,p)" as tuples of names and fixed lengths."""

    def __init__(self, text: str) -> None:
        """ValueError for text of another form, NameError for an axis of an output that no input has."""
        match = re.fullmatch(rf"({_OPERANDS})->({_OPERANDS})", text)
        if not match:
            raise ValueError(f"{text!r} is no layout: expected a form such as '(m,n),(n)->(m)'")
        self.text = text
        self.inputs, self.outputs = (
            [tuple(int(axis) if axis.isdigit() else axis for axis in re.findall(r"\w+", operand))
             for operand in re.findall(_OPERAND, side)] for side in match.groups())
        known = {axis for operand in self.inputs for axis in operand}
        for operand in self.outputs:
            for axis in operand:
                if not isinstance(axis, int) and axis not in known:
                    raise NameError(f"the axis '{axis}' of an output is in no input of the layout {text!r}")

    def lengths(self, name: str, shapes: list[tuple[int, ...]]) -> dict[str, int]:
        """What the named axes are for inputs of these shapes, core axes last. ValueError where they do not agree."""
        lengths: dict[str, int] = {}
        for place, (axes, shape) in enumerate(zip(self.inputs, shapes, strict=True)):
            if len(shape) < len(axes):
                raise ValueError(f"'{name}': input {place} has {len(shape)} axes, the layout {self.text} wants "
                                 f"{len(axes)} or more")
            for axis, n in zip(axes, shape[len(shape) - len(axes):], strict=True):
                wanted = axis if isinstance(axis, int) else lengths.setdefault(axis, n)
                if wanted != n:
                    raise ValueError(f"'{name}': input {place} has {n} where the layout {self.text} has "
                                     f"{axis}, which is {wanted}")
        return lengths


# --- the functions ---------------------------------------------------------------------------------------------------

class GUFunc:
    """A function of small arrays that takes arrays of them. Made by guvectorize.

    gufunc(*inputs, out=None, axes=, axis=, keepdims=, stream=0), or with the outputs behind the inputs: the results are
    on the device where an input or output is, else on the host; a tuple where there are several. Attributes: signature
    (the layout), types, nin, nout, nargs, max_blocksize (threads).
    """

    __name__: str

    def __init__(self, function: Callable[..., Any], signature_list: list[Any], layout: str,
                 options: dict[str, Any], device: str | None = None) -> None:
        """device: the kind of device that it runs on, None for the current one."""
        functools.update_wrapper(self, function)
        self.py_func = function
        self._device = device
        self._layout = Layout(layout)
        self.signature = self._layout.text
        self.nin, self.nout = len(self._layout.inputs), len(self._layout.outputs)
        self.nargs = self.nin + self.nout
        self._loop = Loop(Dispatcher(function, device=True, **options))
        self._signatures = [self._checked(*signatures.normalize(each)) for each in signature_list]

    def _checked(self, types, result):
        """The signature's argument types. TypeError where they do not go with the layout."""
        if result not in (None, void):
            raise TypeError(f"the signature of '{self.__name__}' says that it returns {result}; a function of "
                            "guvectorize writes its results into its last arguments")
        if len(types) != self.nargs:
            raise TypeError(f"a signature of '{self.__name__}' has {len(types)} arguments, the layout "
                            f"{self.signature} has {self.nargs}")
        for place, (a_type, axes) in enumerate(zip(types, self._layout.inputs + self._layout.outputs, strict=True)):
            given = getattr(a_type, "ndim", 0)
            can_be = {len(axes)} if axes else {1} if place >= self.nin else {0, 1}
            if given not in can_be:
                raise TypeError(f"argument {place} of a signature of '{self.__name__}' is {a_type}; the layout "
                                f"{self.signature} wants {max(can_be)} axes")
        return tuple(types)

    @property
    def types(self) -> list[str]:
        """The signatures as text."""
        return [f"{', '.join(map(str, types[:self.nin]))} -> {', '.join(map(str, types[self.nin:]))}"
                for types in self._signatures]

    @property
    def max_blocksize(self) -> int:
        """The number of threads of a block."""
        return self._loop.max_blocksize

    @max_blocksize.setter
    def max_blocksize(self, threads: int) -> None:
        self._loop.max_blocksize = threads

    def __copy__(self) -> GUFunc:
        return self

    def __deepcopy__(self, memo: object) -> GUFunc:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        from cujit.cuda import pickling

        return pickling.reduce_ufunc(self, self._loop.function, [(types, void) for types in self._signatures],
                                     self.signature, keywords={"device": self._device})

    def __repr__(self) -> str:
        return f"<gufunc '{self.__name__}' {self.signature}>"

    def __call__(self, *args: Any, out: Any = None, axes: Any = None, axis: int | None = None, keepdims: bool = False,
                 stream: StreamLike = 0) -> Any:
        """Applies the function. TypeError for a wrong number of arguments and where no signature has the dtypes of the
        inputs; ValueError for shapes that do not go together, and for outputs given twice."""
        inputs, outputs = self._split(args, out)
        if axes is not None or axis is not None or keepdims:
            places = wanted_axes(self.__name__, self._layout, axes, axis, keepdims)
            return self._along(inputs, outputs, places, keepdims, stream)
        return self._called(inputs, outputs, stream)

    def _along(self, inputs, outputs, axes, keepdims, stream):
        """The call with other axes than the last ones."""
        own = [with_last(x, each) for x, each in zip(inputs, axes, strict=False)]
        given = [with_last(x, each) for x, each in zip(outputs, axes[self.nin:], strict=True)]
        if keepdims:
            given = [without_kept(x, len(each)) for x, each in zip(given, axes[self.nin:], strict=True)]
        found = self._called(own, given, stream)
        results = [x if x is not None else with_moved_back(result, each, keepdims) for x, result, each in
                   zip(outputs, found if self.nout > 1 else (found,), axes[self.nin:], strict=True)]
        return tuple(results) if self.nout > 1 else results[0]

    def _called(self, inputs, outputs, stream):
        device = device_of_call(self.__name__, self._device, (*inputs, *outputs), stream)
        if device is not None:
            with on(device):
                return self._called(inputs, outputs, stream)
        stream = stream or _core.current_stream() or 0
        inputs = [as_input(arg) for arg in inputs]
        given = [x for x in outputs if x is not None]
        on_device = any(map(is_cuda_array, given)) if given else any(isinstance(x, DeviceNDArray) for x in inputs)
        types = self._find(inputs, outputs)
        shapes = [() if is_scalar(x) else x.shape for x in inputs]
        lengths = self._layout.lengths(self.__name__, shapes)
        shape = np.broadcast_shapes(*(own[:len(own) - len(axes)]
                                      for own, axes in zip(shapes, self._layout.inputs, strict=True)))
        operands = [self._operand(x, t, len(axes), shape, stream)
                    for x, t, axes in zip(inputs, types, self._layout.inputs, strict=False)]
        read = [(x, False) for x in operands if isinstance(x, DeviceNDArray)]
        wanted = [(*shape, *(axis if isinstance(axis, int) else lengths[axis] for axis in axes))
                  for axes in self._layout.outputs]
        whole = [_with_unit_axes(own, shape) for own, shape in zip(outputs, wanted, strict=True)]
        targets = [Target(own, shape, _element(t).dtype, on_device, read, stream, keeps=True)
                   for own, t, shape in zip(whole, types[self.nin:], wanted, strict=True)]
        results = [target.array if axes else _cells(target.array)
                   for target, axes in zip(targets, self._layout.outputs, strict=True)]
        core_axes = tuple(getattr(t, "ndim", 0) for t in types)
        self._loop.call(operands, results, core_axes, tuple(map(_element, types)), shape, stream,
                        tuple(own is not None for own in outputs))
        results = [target.finish() for target in targets]
        finished = tuple(result if used is own else own
                         for own, used, result in zip(outputs, whole, results, strict=True))
        return finished if self.nout > 1 else finished[0]

    def _split(self, args, out):
        """(inputs, outputs); outputs that were not given are None."""
        if len(args) not in (self.nin, self.nargs):
            raise LaunchArgumentError(f"'{self.__name__}' takes {self.nin} inputs, or these and {self.nout} outputs; "
                                      f"{len(args)} arguments given")
        if out is None:
            return args[:self.nin], args[self.nin:] or (None,) * self.nout
        if len(args) == self.nargs:
            raise ValueError(f"the outputs of '{self.__name__}' are given both as arguments and as out")
        outputs = out if isinstance(out, tuple) else (out,)
        if len(outputs) != self.nout:
            raise ValueError(f"'{self.__name__}' has {self.nout} outputs, out has {len(outputs)}")
        return args, outputs

    def _find(self, inputs, outputs):
        """The argument types for the inputs: of a signature with their dtypes, where scalars convert; else of the first
        to which NumPy casts the host arrays, as its ufuncs do ("same_kind"), without loss if there is one."""
        own = tuple(map(own_type, inputs))
        if not self._signatures:
            return self._types_of(own, outputs)
        for casting in ("no", "safe", "same_kind"):
            fitting = [types for types in self._signatures
                       if all(_fits(x, o, _element(t), axes, casting) for x, o, t, axes in
                              zip(inputs, own, types, self._layout.inputs, strict=False))]
            if fitting:
                break
        else:
            raise LaunchArgumentError(f"'{self.__name__}' has no signature for ({', '.join(map(str, own))}); "
                                      f"it has: {'; '.join(self.types)}")
        exact = [types for types in fitting if tuple(map(_element, types[:self.nin])) == own]
        return (exact or fitting)[0]

    def _types_of(self, own, outputs):
        """The argument types of a call of a function without signatures, whose outputs must be there."""
        if any(out is None for out in outputs):
            raise LaunchArgumentError(f"'{self.__name__}' has no signature that tells the dtype of its outputs; "
                                      "pass them")
        inputs = [_array_of(t, len(axes)) if axes else t for t, axes in zip(own, self._layout.inputs, strict=True)]
        return (*inputs, *(_array_of(own_type(as_input(out)), max(len(axes), 1))
                           for out, axes in zip(outputs, self._layout.outputs, strict=True)))

    def _operand(self, value, a_type, axes, shape, stream):
        """What the loop takes for an input."""
        ndim = getattr(a_type, "ndim", 0)
        if is_scalar(value) and not ndim:
            return as_scalar(value, a_type.dtype)
        if is_scalar(value):
            value = np.asarray(value, _element(a_type).dtype)
        elif isinstance(value, np.ndarray) and own_type(value) != _element(a_type):
            value = value.astype(_element(a_type).dtype)
        view = broadcast(staged(value, stream), shape, axes)
        return view if ndim == axes else _cells(view)


def _fits(value, own, wanted, axes, casting):
    """Whether an input of type `own` is of type `wanted`, or becomes it: scalars do, and host arrays by casting."""
    if own == wanted or is_scalar(value) and not axes:
        return True
    if casting == "no" or isinstance(value, DeviceNDArray):
        return False
    return np.can_cast(own.dtype, wanted.dtype, casting)


def _element(a_type):
    return a_type.dtype if hasattr(a_type, "ndim") else a_type


def _array_of(element, ndim):
    return element[(slice(None),) * ndim]


def _with_unit_axes(out, shape):
    """An output that lacks the first axes of the result's shape, which have length one there, with these axes."""
    array = as_cuda_array(out, sync=False) if out is not None and is_cuda_array(out) else out
    lacking = len(shape) - getattr(array, "ndim", len(shape))
    return array[(None,) * lacking] if lacking > 0 and shape == (1,) * lacking + array.shape else out


def _cells(array):
    """The array with one more axis, of length one: each element as an array of one."""
    return view_of(array, (*array.shape, 1), (*array.strides, array.dtype.itemsize))


@overload
def guvectorize(ftylist_or_layout: Signatures, layout: str, target: str | None = None,
                **options: Unpack[LoopOptions]) -> Callable[[Callable[..., Any]], GUFunc]: ...
@overload
def guvectorize(ftylist_or_layout: str, *, target: str | None = None,
                **options: Unpack[LoopOptions]) -> Callable[[Callable[..., Any]], GUFunc]: ...
@takes(OF_LOOPS)
def guvectorize(ftylist_or_layout: Any, layout: str | None = None, target: str | None = None,
                **options: Any) -> Callable[[Callable[..., Any]], GUFunc]:
    """Makes a function of small arrays, which writes its results into its last arguments, one of arrays of them.

    Parameters
    ----------
    ftylist_or_layout : signatures, or the layout
        Of the signatures, the inputs' dtypes choose one; an output without axes is an array of one element. Without
        signatures types are those of each call, which must pass the outputs.
    layout : str, optional
        The axes of each operand, such as "(m,n),(n)->(m)". Axes of one name have one length; numbers are lengths.
    target : {None, "cuda", "cpu", "parallel"}
        As for vectorize.

    Returns
    -------
    callable
        A decorator that makes a GUFunc.

    Raises
    ------
    ValueError
        Another target, or a layout that cannot be read.
    NameError
        An output's axis that no input has.
    TypeError
        Signatures that do not go with the layout or return a value.
    KeyError
        An unknown option.

    Examples
    --------
    >>> @guvectorize(["void(float64[:], float64[:])"], "(n)->()")
    ... def largest(x, out):
    ...     out[0] = max(x)
    >>> largest(np.array([[1.0, 3.0], [5.0, 2.0]]))
    array([3., 5.])
    """
    if "writable_args" in options:
        raise TypeError("writable_args: only a function's last arguments, its outputs, are written")
    device = device_of_target(target)
    used = used_options("guvectorize", options)
    if layout is None:
        ftylist_or_layout, layout = [], ftylist_or_layout
    listed = ftylist_or_layout if isinstance(ftylist_or_layout, (list, tuple)) else [ftylist_or_layout]
    return lambda function: GUFunc(plain_function("guvectorize", function), list(listed), layout, used, device)
