"""cuda.elementwise: a function of elements, or an expression, as one kernel over whole arrays."""
from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from cujit import _core
from cujit._algorithms import functions, loops
from cujit._algorithms.arguments import Arguments, outputs_of
from cujit._algorithms.leaf_function import LeafFunction
from cujit._algorithms.values import Element
from cujit._ufunc.operands import Target, broadcast, is_scalar
from cujit.cuda._dispatch.launchers import quiet_launcher
from cujit.cuda._dispatch.options import of_loops
from cujit.cuda.devicearray import DeviceNDArray, is_cuda_array
from cujit.cuda.devices import on
from cujit.cuda.dispatcher import Dispatcher

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cujit._annotations import Shape, StreamLike

_BLOCK = 256


class ElementwiseKernel:
    """A function of elements as a kernel over arrays. Made by cuda.elementwise and cuda.fuse.

    kernel(*args, out=None, size=None, stream=0): arguments broadcast as NumPy's; a tuple or a dataclass of arrays is an
    array of tuples or instances. The result is on the device where an argument or `out` is, else on the host; a
    function that returns a tuple has an array for each of its items, one that returns nothing has none. Outputs may
    also be passed behind the arguments.
    """

    __name__: str

    def __init__(self, function: Any, raw: Sequence[str], index: str | None, dtype: Any, name: str | None,
                 options: dict[str, Any]) -> None:
        self._leaves = LeafFunction(function, raw, index, name, options)
        self._function = self._leaves.function
        functools.update_wrapper(self, self._function.py_func)
        self.__name__ = self._leaves.name
        self._has_index = index is not None
        self._dtype = dtype
        self._kernels: dict[Any, Dispatcher[..., Any]] = {}
        self._parameters = raw, index, dtype, name, options

    def __copy__(self) -> ElementwiseKernel:
        return self

    def __deepcopy__(self, memo: object) -> ElementwiseKernel:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        from cujit.cuda import pickling

        return pickling.reduce_made(self, self._function, *self._parameters)

    def __repr__(self) -> str:
        return f"<elementwise kernel '{self.__name__}'>"

    def __call__(self, *args: Any, out: Any = None, size: Shape | None = None, stream: StreamLike = 0) -> Any:
        """Applies the function to each element.

        out: where the results go, a tuple where there are several; their dtypes need only be of the same kind.
        size: the number of elements or the shape, where no argument has it: all are raw or scalars.

        LaunchArgumentError for a wrong number of arguments, ValueError for shapes that do not go together, TypeError
        for results that `out` cannot hold.
        """
        args, out = self._leaves.with_outputs(args, out)
        self._leaves.check_count(args)
        outs = outputs_of(out)
        device = _core.device_for(self.__name__, (*args, *outs), stream)
        if device is not None:
            with on(device):
                return self(*args, out=out, size=size, stream=stream)
        stream = stream or _core.current_stream() or 0
        arguments = Arguments(args, self._leaves.raw)
        shape = self._shape(arguments, size)
        function, result = self._leaves.of(arguments)
        on_device = arguments.on_device if not outs else all(is_cuda_array(o) for o in outs)
        operands = [x if is_raw else x if is_scalar(x) else broadcast(x, shape)
                    for x, is_raw in zip(arguments.stage(stream), arguments.are_raw, strict=True)]
        targets = self._targets(result, out, shape, on_device, operands, arguments, stream)
        if loops.product(shape):
            self._launch(function, result, operands, arguments.are_raw, [t.array for t in targets], shape, stream)
        finished = [target.finish() for target in targets]
        return None if result is None else result.of_host(finished)

    def _shape(self, arguments: Arguments, size: Shape | None) -> tuple[int, ...]:
        from cujit.cuda._array import layout

        if size is None:
            if not arguments.arrays and self._leaves.raw:
                raise ValueError(f"'{self.__name__}' needs a size: all its arrays are raw")
            return arguments.shape
        if arguments.arrays:
            raise ValueError(f"'{self.__name__}' takes a size only where no argument has a shape")
        return layout.as_shape(size)

    # --- results ------------------------------------------------------------------------------------------------------

    def _targets(self, result: Element | None, out: Any, shape: tuple[int, ...], on_device: bool, operands: list[Any],
                 arguments: Arguments, stream: StreamLike) -> list[Target]:
        if result is None:
            if out is not None:
                raise TypeError(f"'{self.__name__}' returns nothing; it has no out")
            return []
        outs = [None] * len(result.leaves) if out is None else result.flat(out, "out")
        dtypes = self._dtypes(result, arguments)
        read = [(x, not is_raw) for x, is_raw in zip(operands, arguments.are_raw, strict=True)
                if isinstance(x, DeviceNDArray)]
        read = [(x, is_safe and len(outs) == 1) for x, is_safe in read]
        targets = []
        for own, dtype in zip(outs, dtypes, strict=True):
            targets.append(Target(own, shape, dtype, on_device, read, stream, "same_kind"))
        return targets

    def _dtypes(self, result: Element, arguments: Arguments) -> list[Any]:
        inferred = [leaf.dtype for leaf in result.leaves]
        if self._dtype is None:
            return inferred
        wanted = list(self._dtype) if isinstance(self._dtype, (tuple, list)) else [self._dtype] * len(inferred)
        if len(wanted) != len(inferred):
            raise TypeError(f"'{self.__name__}' has {len(inferred)} results and {len(wanted)} dtypes")
        return [np.dtype(dtype) for dtype in wanted]

    # --- the kernel --------------------------------------------------------------------------------------------------

    def _launch(self, function: Dispatcher[..., Any], result: Element | None, operands: list[Any], are_raw: list[bool],
                outs: list[DeviceNDArray], shape: tuple[int, ...], stream: StreamLike) -> None:
        taken = tuple(isinstance(x, DeviceNDArray) and not is_raw for x, is_raw in zip(operands, are_raw, strict=True))
        arrays = [*outs, *(x for x, is_taken in zip(operands, taken, strict=True) if is_taken)]
        found = loops.views(arrays, shape, not self._has_index) if arrays else []
        rest = iter(found[len(outs):])
        operands = [next(rest) if is_taken else x for x, is_taken in zip(operands, taken, strict=True)]
        count, axes = loops.product(shape), found[0].ndim if found else 1
        width = loops.width(found) if found and outs else 1
        key = function, taken, axes, width
        kernel = self._kernels.get(key)
        if kernel is None:
            kernel = self._kernels.setdefault(key, self._kernel(function, result, taken, axes, width))
        lengths = found[0].shape if found else (count,)
        blocks = -(-count // (width * _BLOCK))
        quiet_launcher(kernel, blocks, _BLOCK, stream)(count, lengths, *found[:len(outs)], *operands)

    def _kernel(self, function: Dispatcher[..., Any], result: Element | None, taken: tuple[bool, ...], axes: int,
                width: int) -> Dispatcher[..., Any]:
        names = [f"x{k}" for k in range(len(taken))]
        outs = [f"out{k}" for k in range(len(result.leaves) if result else 0)]
        label = functions.identifier(self.__name__)
        first = ["i"] if self._has_index else []
        lines = [f"def {label}(count, lengths, {', '.join([*outs, *names])}):"]

        def call(index: str, number: str, wide: int | None = None) -> str:
            values = [f"{x}_wide[{wide}]" if wide is not None and is_taken else x + index if is_taken else x
                      for x, is_taken in zip(names, taken, strict=True)]
            return f"its_function({', '.join([number] * len(first) + values)})"

        def store(indent: str, index: str, value: str) -> list[str]:
            if result is None:
                return [f"{indent}{value}"]
            parts = result.parts("value")
            return [f"{indent}value = {value}",
                    *(f"{indent}{o}{index} = {part}" for o, part in zip(outs, parts, strict=True))]

        if width == 1:
            index = loops.index(axes)
            lines += ["    i = cuda.grid(1)", "    if i < count:", *loops.index_lines(axes, "lengths", indent=" " * 8),
                      *store(" " * 8, index, call(index, "i"))]
        else:
            lines += [f"    first = cuda.grid(1) * {width}", f"    if first + {width} <= count:"]
            lines += [f"        {x}_wide = cuda.wide.load({x}, first, {width})"
                      for x, is_taken in zip(names, taken, strict=True) if is_taken]
            lines += [f"        value{k} = {call('', f'first + {k}', k)}" for k in range(width)]
            values = [[] if result is None else result.parts(f"value{k}") for k in range(width)]
            for o, parts in zip(outs, zip(*values, strict=True), strict=True):
                lines += [f"        cuda.wide.store({o}, first, ({', '.join(parts)}))"]
            lines += ["    else:", "        for i in range(first, count):", *store(" " * 12, "[i]", call("[i]", "i"))]
        from cujit import cuda

        made = functions.written(self._function, "\n".join(lines), label, {"cuda": cuda, "its_function": function})
        return Dispatcher(made, **of_loops(self._function.options))


def elementwise(function: Any = None, parameters: str | Sequence[str] | None = None, *, raw: str | Sequence[str] = (),
                index: str | None = None, dtype: Any = None, name: str | None = None, **options: Any) -> Any:
    """Makes a kernel over arrays of a function of elements, or of an expression.

    Parameters
    ----------
    function : function or str, optional
        Python's, a device function, an operator, or an expression as text, such as "(x - y) ** 2".
    parameters : str or sequence of str, optional
        Those of an expression, in order; unless given, in the order in which they come in it.
    raw : str or sequence of str, optional
        Parameters that get whole arrays.
    index : str, optional
        The parameter that gets the place in the result, counted in C order; no argument is passed for it.
    dtype : dtype_like or a sequence of them, optional
        Of the results; else what kernels compute.
    name : str, optional
        Of the kernel, for profilers.
    **options
        Those of cuda.jit that concern code, such as fastmath.

    Returns
    -------
    ElementwiseKernel
        Or a decorator that makes one, where no function is given.

    Examples
    --------
    >>> squared_diff = cuda.elementwise(lambda x, y: (x - y) ** 2)
    >>> squared_diff(np.array([1.0, 5.0]), 2.0)
    array([1., 9.])
    >>> smooth = cuda.elementwise("(x[i] + x[i + 1]) / 2", "i x", raw="x", index="i")
    >>> smooth(np.array([1.0, 3.0, 9.0]), size=2)
    array([2., 6.])
    """
    if function is None:
        return lambda function: elementwise(function, parameters, raw=raw, index=index, dtype=dtype, name=name,
                                            **options)
    listed = raw.replace(",", " ").split() if isinstance(raw, str) else tuple(raw)
    if isinstance(function, str):
        function = functions.of_expression(function, parameters, name, (*listed, *([index] if index else [])))
    elif parameters is not None:
        raise TypeError("parameters are of an expression; a function has its own")
    return ElementwiseKernel(function, tuple(listed), index, dtype, name, options)
