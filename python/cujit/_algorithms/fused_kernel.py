"""cuda.fuse: a function of whole arrays in NumPy's words as one kernel; what it folds is a reduction before it."""
from __future__ import annotations

import inspect
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from cujit._algorithms.arguments import Arguments
from cujit._algorithms.element_kernel import ElementwiseKernel
from cujit._algorithms.fused_source import FOLDS, Fold, Part, split
from cujit._algorithms.reduction_kernel import ReductionKernel
from cujit._ufunc.operands import is_scalar

if TYPE_CHECKING:
    from collections.abc import Callable

    from cujit._algorithms.values import Element
    from cujit._annotations import Shape, StreamLike


_OF_ITS_SOURCE = "source"  # parts that are found when they are asked for


class FusedKernel(ElementwiseKernel):
    """A function of whole arrays, in NumPy's words, as one kernel. Made by cuda.fuse; called as an ElementwiseKernel.

    Results have the dtypes that NumPy gives them, or where NumPy cannot run the function those that kernels compute.
    What the function folds, np.sum(x * y, axis=0) or (x * y).sum(), is a reduction of what is in the parentheses, and
    what is left a kernel behind it.
    """

    def __init__(self, function: Any, name: str | None, options: dict[str, Any],
                 parts: Any = _OF_ITS_SOURCE) -> None:
        """parts: what split() makes of the function, where its source is not here: a Fold, a list of Part or None."""
        super().__init__(function, (), None, None, name, options)
        self._dtypes_of: dict[Any, list[Any]] = {}
        self._parts = parts
        self._calls: Callable[..., Any] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        from cujit.cuda import pickling

        _, _, _, name, options = self._parameters
        self._split()
        return pickling.reduce_made(self, self._function, name, options, self._parts)

    def __repr__(self) -> str:
        return f"<fused kernel '{self.__name__}'>"

    def __call__(self, *args: Any, out: Any = None, size: Shape | None = None, stream: StreamLike = 0) -> Any:
        """Applies the function; see ElementwiseKernel. A fold has no size: TypeError."""
        calls = self._split()
        if calls is None:
            return super().__call__(*args, out=out, size=size, stream=stream)
        if size is not None:
            raise TypeError(f"'{self.__name__}' folds its arguments, which have a size")
        args, out = self._leaves.with_outputs(args, out)
        self._leaves.check_count(args)
        bound = inspect.signature(self._function.py_func).bind(*args)
        bound.apply_defaults()
        return calls(bound.arguments, out, stream)

    # --- folds --------------------------------------------------------------------------------------------------------

    def _split(self) -> Callable[..., Any] | None:
        """What calls the parts of a function that folds: (arguments by name, out, stream)."""
        if self._parts == _OF_ITS_SOURCE:
            self._parts = split(self._function.py_func)
        if self._parts is not None and self._calls is None:
            self._calls = self._made_of(self._parts)
        return self._calls

    def _made_of(self, parts: Fold | list[Part]) -> Callable[..., Any]:
        if isinstance(parts, Fold):
            return self._of_fold(parts)
        each = [self._of_part(part) for part in parts]

        def call(given: dict[str, Any], out: Any, stream: StreamLike) -> Any:
            outs = out if isinstance(out, tuple) else (out,) * len(each)
            if len(outs) != len(each) or (out is not None and outs is not out):
                raise TypeError(f"'{self.__name__}' has {len(each)} results")
            return tuple(one(given, own, stream) for one, own in zip(each, outs, strict=True))
        return call

    def _of_part(self, part: Part) -> Callable[..., Any]:
        kernel = FusedKernel(part.function, self.__name__, self._parameters[-1], part.parts)

        def call(given: dict[str, Any], out: Any, stream: StreamLike) -> Any:
            return kernel(*(given[name] for name in part.parameters), out=out, stream=stream)
        return call

    def _of_fold(self, fold: Fold) -> Callable[..., Any]:
        """The reduction of the elements, which has the dtype that NumPy's has, and what is left with its result."""
        elements = FusedKernel(fold.elements.function, self.__name__, self._parameters[-1], None)
        kernels: dict[Any, ReductionKernel] = {}
        rest = None if fold.rest is None else self._of_part(fold.rest)

        def reduction_of(given: list[Any]) -> ReductionKernel:
            arguments = Arguments(given)
            _, result = elements._leaves.of(arguments)
            if result is None or len(result.leaves) != 1:
                raise TypeError(f"'{self.__name__}' folds what is no number")
            dtype = getattr(np, fold.name)(np.ones(1, elements._dtypes(result, arguments)[0])).dtype
            if dtype not in kernels:
                operation, start = FOLDS[fold.name]
                kernels.setdefault(dtype, ReductionKernel(fold.elements.function, operation, None, start, (), None,
                                                          dtype, self.__name__, self._parameters[-1]))
            return kernels[dtype]

        def call(given: dict[str, Any], out: Any, stream: StreamLike) -> Any:
            own = [given[name] for name in fold.elements.parameters]
            folded = reduction_of(own)(*own, axis=fold.axis, keepdims=fold.keepdims,
                                       out=out if rest is None else None, stream=stream)
            return folded if rest is None else rest({**given, fold.result: folded}, out, stream)
        return call

    # --- dtypes -------------------------------------------------------------------------------------------------------

    def _targets(self, result: Element | None, *more: Any) -> list[Any]:
        if result is None:   # nothing of it would be seen
            raise TypeError(f"'{self.__name__}' returns nothing; a fused function returns its results")
        return super()._targets(result, *more)

    def _dtypes(self, result: Element, arguments: Arguments) -> list[Any]:
        key = arguments.forms, tuple(type(x) if is_scalar(x) else x.dtype for x in arguments.leaves)
        found = self._dtypes_of.get(key)
        if found is None:
            found = self._dtypes_of.setdefault(key, self._by_numpy(result, arguments))
        return found

    def _by_numpy(self, result: Element, arguments: Arguments) -> list[Any]:
        """What NumPy makes of arrays of one element. TypeError for a function that writes to its arguments."""
        samples = iter([type(x)(1) if is_scalar(x) else _sample(x.dtype) for x in arguments.leaves])
        namespace: dict[str, Any] = {}
        text = ", ".join(form.source(iter(lambda: "next(samples)", None), namespace) for form in arguments.forms)
        values = eval(f"({text},)", {**namespace, "samples": samples})
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                made = self._function.py_func(*values)
            parts = result.flat(made, "the result")
        except ValueError as error:
            if "read-only" in str(error):
                raise TypeError(f"'{self.__name__}' writes to an argument; a fused function returns its results"
                                ) from error
            parts = None
        except Exception:   # whatever a function of kernels may do that one of NumPy cannot
            parts = None
        inferred = [leaf.dtype for leaf in result.leaves]
        return inferred if parts is None else [np.asarray(part).dtype for part in parts]


def _sample(dtype: Any) -> Any:
    sample = np.ones(1, dtype)
    sample.flags.writeable = False
    return sample


def fuse(function: Callable[..., Any] | None = None, *, kernel_name: str | None = None, **options: Any) -> Any:
    """Makes one kernel of a function of arrays that is written in NumPy's words.

    Parameters
    ----------
    function : function, optional
        Of arrays and numbers: operators, NumPy's functions of elements, np.where; and folds, np.sum, prod, min, max,
        any and all of an expression, as functions or methods, with axis and keepdims.
    kernel_name : str, optional
        Of the kernel, for profilers; the function's unless given.
    **options
        Those of cuda.jit that concern code, such as fastmath.

    Returns
    -------
    FusedKernel
        Or a decorator that makes one, where no function is given.

    Examples
    --------
    >>> @cuda.fuse(kernel_name="squared_diff")
    ... def f(x, y):
    ...     return np.square(x - y)
    >>> f(np.array([1, 5], np.float32), 2)
    array([1., 9.], dtype=float32)
    >>> normal = cuda.fuse(lambda x: x / np.sqrt(np.sum(x * x, axis=1, keepdims=True)))
    >>> normal(np.array([[3.0, 4.0]]))
    array([[0.6, 0.8]])
    """
    if function is None:
        return lambda function: fuse(function, kernel_name=kernel_name, **options)
    return FusedKernel(function, kernel_name, options)
