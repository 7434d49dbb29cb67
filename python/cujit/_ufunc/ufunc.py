"""vectorize: functions of scalars applied to whole arrays, with NumPy's broadcasting."""
from __future__ import annotations

import functools
import warnings
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from cujit import _core
from cujit._ufunc.array_loop import Loop
from cujit._ufunc.operands import (
    Target,
    as_input,
    as_mask,
    as_scalar,
    broadcast,
    castable,
    device_of_call,
    is_scalar,
    is_weak,
    own_type,
    staged,
)
from cujit._ufunc.resolution import Choice, all_are_weak, asked, checked_casting, fits, results_of, stronger
from cujit._ufunc.ufunc_methods import UFuncMethods, fold_of
from cujit.cuda._dispatch import signature as signatures
from cujit.cuda._dispatch.options import OF_LOOPS, of_loops, takes
from cujit.cuda.devicearray import DeviceNDArray, is_cuda_array
from cujit.cuda.devices import on
from cujit.cuda.dispatcher import Dispatcher
from cujit.errors import LaunchArgumentError, OptionsWarning
from cujit.types import Tuple, float64

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Unpack

    from cujit._annotations import ArgumentTypes, Signatures
    from cujit.cuda._dispatch.options import LoopOptions


class UFunc(UFuncMethods):
    """A scalar function that takes arrays of any shape, with NumPy's broadcasting. Made by vectorize.

    ufunc(*args, out=None, where=True, casting="same_kind", dtype=None, signature=None, stream=0): the result is on the
    device where an argument or `out` is, else on the host; a tuple where the function returns one. Methods and
    attributes are those of NumPy's ufuncs; max_blocksize is the number of threads of a block.
    """

    signature = None   # of a gufunc

    __name__: str

    def __init__(self, function: Callable[..., Any], signature_list: list[Any], options: dict[str, Any],
                 identity: Any = None, device: str | None = None, exact: bool = False) -> None:
        """identity: as NumPy's ufuncs have it, or "reorderable"; device: the kind of device that it runs on, None for
        the current one; exact: a signature is for exactly the dtypes of arrays, as numba.cuda has it."""
        functools.update_wrapper(self, function)
        self.py_func = function
        self.nin = function.__code__.co_argcount
        self._options = options
        self._identity, self._device, self._is_exact = identity, device, exact
        self._loop_of_any = Loop(Dispatcher(function, device=True, **options))
        self._loops: dict[ArgumentTypes, Choice] = {}   # by the types of the arguments
        self._folds: dict[Any, Any] = {}
        self._max_blocksize = 256
        for types, result in map(signatures.normalize, signature_list):
            self._add(types, result)
        self._is_open = not signature_list

    def _add(self, types, result):
        if len(types) != self.nin:
            raise TypeError(f"'{self.__name__}' takes {self.nin} arguments, a signature has {len(types)}")
        inferred = self._loop_of_any.function.stored_type(types)
        if any(not hasattr(each, "dtype") or each.kind == "array" for each in results_of(inferred) or (inferred,)):
            raise TypeError(f"'{self.__name__}' returns {inferred}; a ufunc's function returns a number, or a tuple of "
                            "them")
        result = inferred if result is None else result
        results, loop = results_of(result), self._loop_of_any
        if len(results) != len(results_of(inferred)):
            raise TypeError(f"a signature of '{self.__name__}' has the result {result}; the function returns "
                            f"{inferred}")
        if result != inferred and len(results) == 1:
            loop = Loop(Dispatcher(self.py_func, device=True, signature=(types, result), **self._options))
        elif result != inferred:
            loop = Loop(self._loop_of_any.function, results)
        loop.max_blocksize = self._max_blocksize
        return self._loops.setdefault(types, Choice(types, results, loop))   # another thread may have been here

    @property
    def types(self) -> list[str]:
        """The signatures as text."""
        return [f"{', '.join(map(str, types))} -> {', '.join(map(str, results))}"
                for types, results, _ in list(self._loops.values())]

    @property
    def ntypes(self) -> int:
        """How many signatures there are."""
        return len(self._loops)

    @property
    def nout(self) -> int:
        """How many results the function has. One without signatures that has not been called yet is tried with float64.
        """
        known = next(iter(list(self._loops.values())), None)
        if known is None:
            return len(results_of(self._loop_of_any.function.result_type((float64,) * self.nin)))
        return len(known.results)

    @property
    def nargs(self) -> int:
        """How many arguments and results there are."""
        return self.nin + self.nout

    @property
    def identity(self) -> Any:
        """What leaves the other argument as it is; None where that is not known."""
        return None if self._identity == "reorderable" else self._identity

    @property
    def max_blocksize(self) -> int:
        """The number of threads of a block."""
        return self._max_blocksize

    @max_blocksize.setter
    def max_blocksize(self, threads: int) -> None:
        self._max_blocksize = threads
        for _, _, loop in list(self._loops.values()):
            loop.max_blocksize = threads
        self._loop_of_any.max_blocksize = threads
        self.forget()

    def __copy__(self) -> UFunc:
        return self

    def __deepcopy__(self, memo: object) -> UFunc:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        from cujit.cuda import pickling

        stated = [] if self._is_open else [(types, results[0] if len(results) == 1 else Tuple(results))
                                           for types, results, _ in list(self._loops.values())]
        return pickling.reduce_ufunc(self, self._loop_of_any.function, stated,
                                     keywords={"identity": self._identity, "device": self._device,
                                               "exact": self._is_exact})

    def __repr__(self) -> str:
        return f"<ufunc '{self.__name__}'>"

    # --- calls -------------------------------------------------------------------------------------------------------

    def _call(self, *args, out=None, where=True, casting="same_kind", dtype=None, signature=None, sig=None, order="K",
              stream=0):
        """Applies the function. TypeError for a wrong number of arguments, and where no signature fits the dtypes or
        out's; ValueError for shapes that do not go together.

        The base class makes the calls for which remember() has told it all, and leaves the others to this.
        """
        outs = self._outs(args, out)
        device = self._device_for((*args, *outs, where), stream)
        if device is not None:
            with on(device):
                return self._call(*args, out=out, where=where, casting=casting, dtype=dtype, signature=signature,
                                  sig=sig, order=order, stream=stream)
        stream = stream or _core.current_stream() or 0
        inputs = [as_input(arg) for arg in args[:self.nin]]
        checked_casting(casting)
        wanted = None if dtype is signature is sig is None else (dtype, sig if signature is None else signature)
        types, results, loop = self._choose(inputs, outs, wanted, casting)
        outs = outs or (None,) * len(results)
        if len(outs) != len(results):
            raise ValueError(f"'{self.__name__}' has {len(results)} results, out has {len(outs)}")
        mask = as_mask(where, stream)
        shape = self._shape(inputs, outs, mask)
        operands = [as_scalar(x, t.dtype) if is_scalar(x) else broadcast(castable(staged(x, stream), t.dtype), shape)
                    for x, t in zip(inputs, types, strict=True)]
        mask = None if mask is None else broadcast(mask, shape)
        read = [(x, True) for x in (*operands, mask) if isinstance(x, DeviceNDArray)]
        on_device = any(isinstance(x, DeviceNDArray) for x in inputs) or any(is_cuda_array(out) for out in outs)
        targets = [Target(out, shape, result.dtype, on_device, read, stream, casting, _order(order, operands),
                          mask is not None) for out, result in zip(outs, results, strict=True)]
        launch = loop.map(operands, [target.array for target in targets], types, stream, mask)
        if launch and len(targets) == 1 and mask is wanted is None:
            self._remember(launch, inputs, operands, targets[0].array, shape, results[0])
        finished = tuple(target.finish() for target in targets)
        return finished if len(finished) > 1 else finished[0]

    def _outs(self, args, out):
        """The outputs that a call gives, of which some may be None; () where it gives none."""
        if len(args) == self.nin:
            return () if out is None else out if isinstance(out, tuple) else (out,)
        if len(args) < self.nin or len(args) > self.nargs or self._is_exact:
            raise LaunchArgumentError(f"'{self.__name__}' takes {self.nin} arguments, {len(args)} given")
        if out is not None:
            raise TypeError(f"the outputs of '{self.__name__}' are given both as arguments and as out")
        return (*args[self.nin:], *(None,) * (self.nargs - len(args)))

    def _device_for(self, operands, stream):
        return device_of_call(self.__name__, self._device, operands, stream)

    def _shape(self, inputs, outs, mask):
        arrays = (*inputs, *(as_input(out) for out in outs if out is not None), *(() if mask is None else (mask,)))
        shapes = {x.shape for x in arrays if not is_scalar(x)}
        return shapes.pop() if len(shapes) == 1 else np.broadcast_shapes(*shapes)

    def _remember(self, launch, inputs, operands, target, shape, result):
        """Tells the base class how the call was launched, where it can repeat it, with arrays of either."""
        if target.dtype == result.dtype and target.layout == "C" and all(
                is_scalar(x) or operand.dtype == x.dtype and operand.layout == "C" and x.shape == shape
                for x, operand in zip(inputs, operands, strict=True)):
            self.remember(launch.kernel, tuple(x if is_scalar(x) else operand for x, operand in
                                               zip(inputs, operands, strict=True)), target, launch.block, launch.width,
                          launch.is_wide)

    # --- which signature ---------------------------------------------------------------------------------------------

    def _choose(self, inputs, outs, wanted, casting):
        """The Choice for the inputs. wanted: (dtype, signature) that the call states, or None."""
        own = tuple(own_type(x) for x in inputs)
        if wanted is not None:
            return self._stated(inputs, own, wanted, casting)
        if self._is_open:
            return self._loops.get(own) or self._add(own, None)
        if self._is_exact and casting == "same_kind":
            return self._exactly(inputs, own)
        all_weak = all_are_weak(inputs)
        if own in self._loops and (all_weak or not any(is_scalar(x) and is_weak(x) for x in inputs)):
            return self._loops[own]
        return self._first(inputs, own, list(self._loops.values()), stronger(casting), all_weak)

    def _first(self, inputs, own, choices, casting, all_weak=False):
        """The first signature to whose types the inputs can be cast, one with exactly the arrays' dtypes before others.
        """
        fitting = [choice for choice in choices
                   if all(fits(x, o, t.dtype, casting, all_weak)
                          for x, o, t in zip(inputs, own, choice.types, strict=True))]
        if not fitting:
            raise self._no_signature(own)
        return next((choice for choice in fitting if _is_exact_for(choice, inputs, own)), fitting[0])

    def _exactly(self, inputs, own):
        """The one signature that has the dtypes of all arrays, or, where several do, of all scalars, too."""
        fitting = [choice for choice in list(self._loops.values()) if _is_exact_for(choice, inputs, own)]
        if not fitting:
            raise self._no_signature(own)
        if len(fitting) > 1 and own not in self._loops:
            raise LaunchArgumentError(f"'{self.__name__}': several signatures fit these scalars; "
                                      "give one a NumPy type, such as np.float32(2)")
        return fitting[0] if len(fitting) == 1 else self._loops[own]

    def _no_signature(self, own):
        hint = ": with target='cuda' dtypes of arrays are not cast; without a target they are, as NumPy does it"
        return LaunchArgumentError(f"'{self.__name__}' has no signature for ({', '.join(map(str, own))}); "
                                   f"it has: {'; '.join(self.types)}{hint if self._is_exact else ''}")

    def _stated(self, inputs, own, wanted, casting):
        """The signature that a call names by its dtypes; of a function without signatures dtype= is the arguments' too.
        """
        dtype, signature = wanted
        stated = asked(dtype, signature, self.nin, self.nout)
        if self._is_open:
            result = stated[self.nin:]
            arguments = tuple(o if each is None else _core.type_from_dtype(each) for o, each in
                              zip(own, result[:1] * self.nin if signature is None else stated, strict=False))
            return self._converting(arguments, result)
        choices = [choice for choice in list(self._loops.values())
                   if all(each is None or each == t.dtype
                          for each, t in zip(stated, (*choice.types, *choice.results), strict=True))]
        return self._first(inputs, own, choices, casting)

    def _converting(self, types, dtypes):
        """The Choice for these argument types whose results are converted to the dtypes."""
        known = self._loops.get(types) or self._add(types, None)
        results = tuple(t if each is None else _core.type_from_dtype(each)
                        for t, each in zip(known.results, dtypes, strict=True))
        return known._replace(results=results)

    # --- how it folds ------------------------------------------------------------------------------------------------

    @property
    def _is_reorderable(self):
        return self._identity is not None

    def _start(self):
        return self.identity

    def _folding(self, array, dtype, out, method):
        """By the signature whose arguments and result have one type, to which the array is cast."""
        if dtype is None and out is not None:
            dtype = as_input(out).dtype
        element = own_type(array) if dtype is None else _core.type_from_dtype(np.dtype(dtype))
        for _ in range(3):
            if self._is_open:
                choice = self._loops.get((element, element)) or self._add((element, element), None)
            else:
                choice = self._first([array] * 2, (element,) * 2, list(self._loops.values()), "safe")
            types, results, loop = choice
            if types == results * 2:
                return fold_of(self._folds, loop.function, results[0])
            if dtype is not None or len(results) > 1:
                break
            element = results[0]
        raise TypeError(f"'{self.__name__}' has no signature with one type for both arguments and the result: it "
                        f"cannot {method} an array of {array.dtype}")


def _is_exact_for(choice, inputs, own):
    return all(is_scalar(x) or o == t for x, o, t in zip(inputs, own, choice.types, strict=True))


def _order(order, operands):
    """The order of new results: that of the operands, where all of them have it."""
    if order not in ("K", "A", "C", "F"):
        raise ValueError(f"order is 'K', 'A', 'C' or 'F', not {order!r}")
    if order in "CF":
        return order
    layouts = {x.layout for x in operands if isinstance(x, DeviceNDArray) and x.ndim > 1}
    return "F" if layouts == {"F"} else "C"


_DEVICES = {None: None, "cuda": None, "cpu": "cpu", "parallel": "cpu"}   # of targets; None: the current one
_IGNORED_OPTIONS = {"nopython", "cache", "identity"}


def plain_function(decorator: str, function: Any) -> Any:
    """The Python function, of a device function or another ufunc too. TypeError for what is none."""
    found = getattr(function, "py_func", function)
    if not hasattr(found, "__code__"):
        raise TypeError(f"{decorator} takes a Python function, not {function!r}; a lambda that calls it is one")
    return found


def used_options(decorator: str, options: dict[str, Any]) -> dict[str, Any]:
    """The options that compilation takes. KeyError for unknown options."""
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


def device_of_target(target: str | None) -> str | None:
    """The kind of device that functions of a target run on; None: the current device. ValueError for other targets."""
    if target not in _DEVICES:
        raise ValueError(f"target {target!r}: there are 'cuda', which is the current device, and 'cpu' and 'parallel', "
                         "which are the CPU device")
    return _DEVICES[target]


@overload
def vectorize(ftylist_or_function: Callable[..., Any], target: str | None = None,
              **options: Unpack[LoopOptions]) -> UFunc: ...
@overload
def vectorize(ftylist_or_function: Signatures = (), target: str | None = None,
              **options: Unpack[LoopOptions]) -> Callable[[Callable[..., Any]], UFunc]: ...
@takes(OF_LOOPS)
def vectorize(ftylist_or_function: Any = (), target: str | None = None, **options: Any) -> Any:
    """Makes a function of scalars one of arrays, with NumPy's broadcasting, run by the current device.

    Parameters
    ----------
    ftylist_or_function : function, or signatures, optional
        Signatures compile at once, and for these types only; otherwise types are those of each call.
    target : {None, "cuda", "cpu", "parallel"}
        None and "cuda": the current device, a GPU or the CPU device. "cpu" and "parallel": the CPU device with all of
        its threads, also where there is a GPU; for host arrays. "cuda" has numba.cuda's rules: a signature is for
        arrays of exactly its dtypes, scalars that several signatures fit are a TypeError, and outputs are given by
        `out` alone. The others choose and cast as NumPy's ufuncs do.
    identity : number, "reorderable" or None
        An option: what leaves the other argument as it is, such as 0 for a sum. Then, and with "reorderable", the
        order of the arguments does not matter to reduce.

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
    used, device = used_options("vectorize", options), device_of_target(target)

    def made(function: Callable[..., Any], listed: list[Any]) -> UFunc:
        return UFunc(plain_function("vectorize", function), listed, used, options.get("identity"), device,
                     target == "cuda")

    if callable(ftylist_or_function) and not isinstance(ftylist_or_function, (_core.Type, _core.Signature)):
        return made(ftylist_or_function, [])
    listed = ftylist_or_function if isinstance(ftylist_or_function, (list, tuple)) else [ftylist_or_function]
    return lambda function: made(function, list(listed))
