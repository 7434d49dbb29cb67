"""vectorize: functions of scalars applied to whole arrays, with NumPy's broadcasting."""
from __future__ import annotations

import functools
import warnings
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from cujit import _core
from cujit._ufunc.array_loop import Loop
from cujit._ufunc.operands import Target, as_input, as_scalar, broadcast, is_scalar, own_type, staged
from cujit.cuda._dispatch import signature as signatures
from cujit.cuda._dispatch.options import OF_LOOPS, of_loops, takes
from cujit.cuda.devicearray import DeviceNDArray, as_cuda_array, as_host_array, is_cuda_array
from cujit.cuda.devices import on
from cujit.cuda.dispatcher import Dispatcher
from cujit.cuda.reduction import Reduce
from cujit.errors import LaunchArgumentError, OptionsWarning

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Unpack

    from cujit._annotations import ArgumentTypes, Signatures, StreamLike
    from cujit._core import Type
    from cujit.cuda._dispatch.options import LoopOptions


class UFunc(_core.Elementwise):
    """A scalar function that takes arrays of any shape, with NumPy's broadcasting. Made by vectorize.

    ufunc(*args, out=None, stream=0): the result is on the device where an argument or `out` is, else on the host.
    Attributes: types (signatures as text), nin, nout, nargs, max_blocksize (threads).
    """

    nout = 1

    __name__: str

    def __init__(self, function: Callable[..., Any], signature_list: list[Any], options: dict[str, Any]) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function
        self.nin = function.__code__.co_argcount
        self.nargs = self.nin + 1
        self._options = options
        self._loop_of_any = Loop(Dispatcher(function, device=True, **options))
        self._loops: dict[ArgumentTypes, tuple[Type, Loop]] = {}  # argument types -> (result type, Loop)
        self._max_blocksize = 256
        self._reduction = Reduce(self._loop_of_any.function)
        for types, result in map(signatures.normalize, signature_list):
            self._add(types, result)
        self._is_open = not signature_list

    def _add(self, types, result):
        if len(types) != self.nin:
            raise TypeError(f"'{self.__name__}' takes {self.nin} arguments, a signature has {len(types)}")
        inferred = self._loop_of_any.function.result_type(types)
        result = inferred if result is None else result
        loop = self._loop_of_any
        if result != inferred:
            loop = Loop(Dispatcher(self.py_func, device=True, signature=(types, result), **self._options))
            loop.max_blocksize = self._max_blocksize
        return self._loops.setdefault(types, (result, loop))   # another thread may have been here

    @property
    def types(self) -> list[str]:
        return [f"{', '.join(map(str, types))} -> {result}" for types, (result, _) in list(self._loops.items())]

    @property
    def ntypes(self) -> int:
        return len(self._loops)

    @property
    def max_blocksize(self) -> int:
        """The number of threads of a block."""
        return self._max_blocksize

    @max_blocksize.setter
    def max_blocksize(self, threads: int) -> None:
        self._max_blocksize = threads
        for _, loop in list(self._loops.values()):
            loop.max_blocksize = threads
        self._loop_of_any.max_blocksize = threads
        self.forget()

    def __reduce__(self) -> tuple[Any, ...]:
        from cujit.cuda import pickling

        stated = [] if self._is_open else [(types, result) for types, (result, _) in list(self._loops.items())]
        return pickling.reduce_ufunc(self, self._loop_of_any.function, stated)

    def __repr__(self) -> str:
        return f"<ufunc '{self.__name__}'>"

    def _call(self, *args, out=None, stream=0):
        """Applies the function. TypeError for a wrong number of arguments, and where no signature has exactly the
        dtypes of the arrays (scalars are converted); ValueError for shapes that do not go together.

        The base class makes the calls for which remember() has told it all, and leaves the others to this.
        """
        if len(args) != self.nin:
            raise LaunchArgumentError(f"'{self.__name__}' takes {self.nin} arguments, {len(args)} given")
        device = _core.device_for(self.__name__, (*args, out), stream)
        if device is not None:
            with on(device):
                return self._call(*args, out=out, stream=stream)
        stream = stream or _core.current_stream() or 0
        inputs = [as_input(arg) for arg in args]
        types, result, loop = self._find(inputs)
        shapes = {x.shape for x in inputs if not is_scalar(x)}
        shape = shapes.pop() if len(shapes) == 1 else np.broadcast_shapes(*shapes)
        on_device = any(isinstance(x, DeviceNDArray) for x in inputs) if out is None else is_cuda_array(out)
        operands = [as_scalar(x, t.dtype) if is_scalar(x) else broadcast(staged(x, stream), shape)
                    for x, t in zip(inputs, types, strict=True)]
        read = [(x, True) for x in operands if isinstance(x, DeviceNDArray)]
        target = Target(out, shape, result.dtype, on_device, read, stream)
        launch = loop.map(operands, target.array, types, stream)
        if launch and all(isinstance(x, DeviceNDArray) and x.layout == "C" and x.shape == shape or is_scalar(x)
                          for x in (*inputs, target.array)):
            self.remember(launch.kernel, tuple(inputs), target.array, launch.block, launch.width)
        return target.finish()

    # --- which signature ---------------------------------------------------------------------------------------------

    def _find(self, inputs):
        """(argument types, result type, Loop) for the inputs."""
        if self._is_open:
            types = tuple(own_type(x) for x in inputs)
            return types, *(self._loops.get(types) or self._add(types, None))
        fitting = [types for types in list(self._loops)
                   if all(is_scalar(x) or own_type(x) == t for x, t in zip(inputs, types, strict=True))]
        if len(fitting) > 1:
            fitting = [types for types in fitting if types == tuple(own_type(x) for x in inputs)]
            if not fitting:
                raise LaunchArgumentError(f"'{self.__name__}': several signatures fit these scalars; "
                                          "give one a NumPy type, such as np.float32(2)")
        if not fitting:
            given = ", ".join(str(own_type(x)) for x in inputs)
            raise LaunchArgumentError(f"'{self.__name__}' has no signature for ({given}); "
                                      f"it has: {'; '.join(self.types)}")
        return fitting[0], *self._loops[fitting[0]]

    # --- methods of NumPy's ufuncs -----------------------------------------------------------------------------------

    def reduce(self, arg: Any, stream: StreamLike = 0) -> Any:
        """Folds an array of one axis with a function of two arguments. TypeError for an array without elements."""
        self._need_two("reduce")
        array = as_cuda_array(arg) if is_cuda_array(arg) else as_host_array(arg)
        if array.ndim != 1 or array.size == 0:
            raise TypeError(f"reduce takes an array of one axis with elements, not one of shape {array.shape}")
        return self._reduction(array, init=None, stream=stream)

    def outer(self, first: Any, second: Any, out: Any = None, stream: StreamLike = 0) -> Any:
        """The function of every element of the one with every element of the other: axes of both, one after another."""
        self._need_two("outer")
        first, second = as_input(first), as_input(second)
        if not is_scalar(first) and not is_scalar(second):
            first = first[(..., *(None,) * second.ndim)]
        return self(first, second, out=out, stream=stream)

    def _need_two(self, method):
        if self.nin != 2:
            raise TypeError(f"'{self.__name__}' takes {self.nin} arguments; only functions of two can {method}")


_IGNORED_OPTIONS = {"nopython", "cache", "identity"}


def used_options(decorator: str, target: str, options: dict[str, Any]) -> dict[str, Any]:
    """The options that compilation takes. ValueError for another target than "cuda"; KeyError for unknown options."""
    if target != "cuda":
        raise ValueError(f"target {target!r}: there is 'cuda', which is the GPU or the CPU device")
    if "nopython" in options:
        warnings.warn(f"{decorator}: nopython is for numba's compiler for CPUs; without effect here", OptionsWarning,
                      stacklevel=3)
    used = of_loops(options)
    unknown = options.keys() - used.keys() - _IGNORED_OPTIONS
    if unknown:
        raise KeyError(f"{decorator} has no option '{sorted(unknown)[0]}'")
    if used.get("debug"):
        used["exceptions"] = True
    return used


@overload
def vectorize(ftylist_or_function: Callable[..., Any], target: str = "cuda",
              **options: Unpack[LoopOptions]) -> UFunc: ...
@overload
def vectorize(ftylist_or_function: Signatures = (), target: str = "cuda",
              **options: Unpack[LoopOptions]) -> Callable[[Callable[..., Any]], UFunc]: ...
@takes(OF_LOOPS)
def vectorize(ftylist_or_function: Any = (), target: str = "cuda", **options: Any) -> Any:
    """Makes a function of scalars one of arrays, with NumPy's broadcasting, run by the current device.

    Parameters
    ----------
    ftylist_or_function : function, or signatures, optional
        Signatures compile at once, and for these types only; otherwise types are those of each call.
    target : {"cuda"}
        The GPU or the CPU device.

    Returns
    -------
    UFunc
        Or a decorator that makes one, where no function is given.

    Raises
    ------
    ValueError
        Another target.
    KeyError
        An unknown option.

    Examples
    --------
    >>> @vectorize(["float32(float32, float32)"])
    ... def plus(x, y):
    ...     return x + y
    >>> plus(np.ones(2, np.float32), np.float32(2))
    array([3., 3.], dtype=float32)
    """
    used = used_options("vectorize", target, options)
    if callable(ftylist_or_function) and hasattr(ftylist_or_function, "__code__"):
        return UFunc(ftylist_or_function, [], used)
    listed = ftylist_or_function if isinstance(ftylist_or_function, (list, tuple)) else [ftylist_or_function]
    return lambda function: UFunc(function, list(listed), used)
