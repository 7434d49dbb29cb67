"""cuda.reduction: a function of elements whose results are folded along axes, in one launch or two."""
from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cujit import _core
from cujit._algorithms import functions, loops
from cujit._algorithms.arguments import Arguments, leaves_of, outputs_of
from cujit._algorithms.element_functions import conversion, of_element
from cujit._algorithms.leaf_function import LeafFunction
from cujit._algorithms.values import Element
from cujit._ufunc.operands import Target, as_scalar, broadcast, is_scalar
from cujit.cuda._array.array_views import view_of
from cujit.cuda._dispatch.launchers import quiet_launcher
from cujit.cuda._dispatch.options import of_loops
from cujit.cuda.devicearray import DeviceNDArray, device_array, is_cuda_array
from cujit.cuda.devices import need_device, on
from cujit.cuda.dispatcher import Dispatcher

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cujit._annotations import StreamLike

_BLOCK = 256
_PART = {"cpu": 2048, "cuda": 64}  # elements that are worth a thread of their own, where threads do not meet
_FEW = 32  # elements or results below which a warp has too little of them
_OF_A_BLOCK = 4096  # elements that one block does at once
_MOST_COLUMNS = 8  # of a thread
_OF_COLUMNS, _OF_SHORT_COLUMNS = 512, 256  # threads of a multiprocessor that each read several columns
_ROUNDS = 16  # blocks of a multiprocessor: what one lags behind, others do meanwhile


class Problem(NamedTuple):
    """Elements as kernels see them: sources (views whose last axes are the reduced ones, scalars, raw arrays), how many
    results there are and elements of each."""

    sources: tuple[Any, ...]
    taken: tuple[bool, ...]  # which sources are taken by element
    kept_axes: int
    reduced_axes: int
    kept: tuple[int, ...]
    reduced: tuple[int, ...]
    width: int  # elements of a result that are read at once
    by_column: bool
    columns: int = 1  # neighbouring results whose elements are read at once
    same: tuple[bool, ...] = ()  # which sources have one element for all of a result's, where others are read wide
    is_short: bool = False  # whether the elements are integers of which int32 holds the sum of a packet

    @property
    def outputs(self) -> int:
        return math.prod(self.kept)

    @property
    def size(self) -> int:
        return math.prod(self.reduced)

    @property
    def key(self) -> Any:
        return (self.taken, self.kept_axes, self.reduced_axes, self.width, self.by_column, self.columns, self.same,
                self.is_short)

    def by_rows_of_memory(self) -> tuple[Any, ...]:
        """The sources with the last kept axis, along which neighbours lie, behind the reduced ones."""
        axes = [*range(self.kept_axes - 1), *range(self.kept_axes, self.kept_axes + self.reduced_axes),
                self.kept_axes - 1]
        return tuple([_permuted(x, axes) if is_taken else x
                      for x, is_taken in zip(self.sources, self.taken, strict=True)])


class ReductionKernel:
    """A reduction over axes. Made by cuda.reduction.

    kernel(*args, axis=None, keepdims=False, out=None, stream=0): arguments broadcast as NumPy's. The result is on the
    device where an argument or `out` is, and is not waited for: over all axes it is an array without axes. Outputs may
    also be passed behind the arguments.
    """

    __name__: str

    def __init__(self, mapped: Any, reduced: Any, post: Any, identity: Any, raw: Sequence[str], index: str | None,
                 dtype: Any, name: str | None, options: dict[str, Any]) -> None:
        self._map = LeafFunction(mapped, raw, index, name, options)
        self._reduce = functions.device_function(reduced, options, parameters="a, b")
        self._post = None if post is None else functions.device_function(post, options, parameters="a")
        self._identity = identity
        self._dtype = None if dtype is None else np.dtype(dtype)
        self.__name__ = self._map.name if name is None and self._map.name != "<lambda>" else name or "reduction"
        self._plans: dict[Any, Plan] = {}
        self._parameters = raw, index, dtype, name, options

    def __copy__(self) -> ReductionKernel:
        return self

    def __deepcopy__(self, memo: object) -> ReductionKernel:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        from cujit.cuda import pickling

        return pickling.reduce_made(self, self._map.function, self._reduce, self._post, self._identity,
                                    *self._parameters)

    def __repr__(self) -> str:
        return f"<reduction kernel '{self.__name__}'>"

    def __call__(self, *args: Any, axis: int | tuple[int, ...] | None = None, keepdims: bool = False, out: Any = None,
                 stream: StreamLike = 0) -> Any:
        """Folds the elements along the axes, all of them for None, in C order.

        LaunchArgumentError for a wrong number of arguments; ValueError for shapes that do not go together, axes that
        are not there and no elements without an identity; TypeError for results that `out` cannot hold.
        """
        args, out = self._map.with_outputs(args, out)
        self._map.check_count(args)
        outs = outputs_of(out)
        device = _core.device_for(self.__name__, (*args, *outs), stream)
        if device is not None:
            with on(device):
                return self._called(args, axis, keepdims, out, self._identity, stream)
        return self._called(args, axis, keepdims, out, self._identity, stream)

    def along(self, array: Any, axis: Any, keepdims: bool, out: Any, init: Any, stream: StreamLike) -> Any:
        """The call with one argument, which starts with `init` unless that is None."""
        outs = outputs_of(out)
        device = _core.device_for(self.__name__, (*leaves_of(array), *outs), stream)
        if device is not None:
            with on(device):
                return self._called((array,), axis, keepdims, out, init, stream)
        return self._called((array,), axis, keepdims, out, init, stream)

    def into(self, array: Any, target: DeviceNDArray, init: Any, stream: StreamLike) -> None:
        """All elements of an array, to the one of a device array, whose dtype takes the result by conversion."""
        stream = stream or _core.current_stream() or 0
        arguments = Arguments((array,))
        plan = self._plan(arguments)
        problem = problem_of(arguments.stage(stream), arguments.are_raw, arguments.shape, (0,), False)
        plan.run(problem, start_of(plan, init), [target], stream)

    def accumulated(self, mapped: Element) -> Element:
        """The type in which such values are reduced."""
        if self._dtype is not None:
            return Element(mapped.with_leaves(_core.type_from_dtype(self._dtype)))
        return accumulated(mapped, self._reduce)

    def _called(self, args: Sequence[Any], axis: Any, keepdims: bool, out: Any, start: Any, stream: StreamLike) -> Any:
        stream = stream or _core.current_stream() or 0
        arguments = Arguments(args, self._map.raw)
        shape = arguments.shape
        axes = axes_of(axis, len(shape))
        plan = self._plan(arguments)
        operands = [x if is_raw or is_scalar(x) else broadcast(x, shape)
                    for x, is_raw in zip(arguments.stage(stream), arguments.are_raw, strict=True)]
        problem = problem_of(operands, arguments.are_raw, shape, axes, False)
        result_shape = tuple(1 if k in axes else n for k, n in enumerate(shape) if keepdims or k not in axes)
        on_device = arguments.on_device if out is None else all(map(is_cuda_array, outputs_of(out)))
        targets = self._targets(plan.result, out, result_shape, on_device, operands, stream)
        if problem.outputs:
            flat = [flat_of(t.array, stream) for t in targets]
            plan.run(problem, start_of(plan, start), flat, stream)
            for target, array in zip(targets, flat, strict=True):
                settle(target.array, array, stream)
        return plan.result.of_host([target.finish() for target in targets])

    def _plan(self, arguments: Arguments) -> Plan:
        function, mapped = self._map.of(arguments)
        found = self._plans.get(function)
        if found is None:
            if mapped is None:
                raise TypeError(f"'{self.__name__}' reduces what a function returns; this one returns nothing")
            plan = Plan(self.__name__, function, self._map.index is not None, self.accumulated(mapped), self._reduce,
                         self._post)
            found = self._plans.setdefault(function, plan)
        return found

    def _targets(self, result: Element, out: Any, shape: tuple[int, ...], on_device: bool, operands: list[Any],
                 stream: StreamLike) -> list[Target]:
        outs = [None] * len(result.leaves) if out is None else result.flat(out, "out")
        read = [(x, False) for x in operands if isinstance(x, DeviceNDArray)]
        targets = []
        for own, leaf in zip(outs, result.leaves, strict=True):
            targets.append(Target(own, shape, leaf.dtype, on_device, read, stream, "same_kind"))
        return targets


def start_of(plan: Plan, value: Any) -> tuple[Any, ...]:
    if value is None:
        return ()
    return tuple(as_scalar(each, leaf.dtype) for each, leaf in
                 zip(plan.element.flat(value, "the start"), plan.element.leaves, strict=True))


def axes_of(axis: Any, ndim: int) -> tuple[int, ...]:
    """The reduced axes in order. ValueError for others than there are, and for one that is named twice."""
    if axis is None:
        return tuple(range(ndim))
    listed = axis if isinstance(axis, tuple) else (axis,)
    found = []
    for each in listed:
        if not -ndim <= each < ndim:
            raise ValueError(f"axis {each} of an array of {ndim} axes")
        found.append(each % ndim)
    if len(set(found)) != len(found):
        raise ValueError(f"axis {axis} names one twice")
    return tuple(sorted(found))


def problem_of(operands: list[Any], are_raw: list[bool], shape: tuple[int, ...], axes: tuple[int, ...],
               is_narrow: bool, is_short: bool = False) -> Problem:
    """is_narrow: nothing is read wide; is_short: the function is a sum, and the elements are integers of 16 bits or
    less."""
    taken = tuple([isinstance(x, DeviceNDArray) and not is_raw for x, is_raw in zip(operands, are_raw, strict=True)])
    arrays = [x for x, is_taken in zip(operands, taken, strict=True) if is_taken]
    kept, reduced, kept_axes, seen, by_column = _arranged(shape, axes, tuple([a.strides for a in arrays]))
    for k, (lengths, strides) in enumerate(seen):
        if arrays[k].strides != strides or arrays[k].shape != lengths:
            arrays[k] = view_of(arrays[k], lengths, strides)
    rest = iter(arrays)
    sources = tuple([next(rest) if is_taken else x for x, is_taken in zip(operands, taken, strict=True)])
    wide = [a for a in arrays if a.strides[-1]]
    width = 1 if is_narrow or len(reduced) > 1 or not wide else _width(wide)
    same = tuple([is_taken and x.strides[-1] == 0 for x, is_taken in zip(sources, taken, strict=True)]
                 ) if width > 1 and len(wide) < len(arrays) else ()
    problem = Problem(sources, taken, kept_axes, len(reduced), kept, reduced, width, by_column, 1, same, is_short)
    if is_narrow or not by_column or need_device().kind == "cpu":
        return problem
    return problem._replace(columns=_columns(problem))


def _permuted(array: DeviceNDArray, axes: list[int]) -> DeviceNDArray:
    return view_of(array, tuple([array.shape[k] for k in axes]), tuple([array.strides[k] for k in axes]))


def _columns(problem: Problem) -> int:
    """Of how many neighbouring results the elements are read at once: at most 8, or of a thread's too many are held."""
    views = [x for x, is_taken in zip(problem.by_rows_of_memory(), problem.taken, strict=True) if is_taken]
    width = min(_width(views), loops.WIDE_BYTES if problem.is_short else _MOST_COLUMNS)
    return width if problem.kept[-1] % width == 0 else 1


@functools.lru_cache(1024)
def _arranged(shape: tuple[int, ...], axes: tuple[int, ...], operands: tuple[tuple[int, ...], ...]
              ) -> tuple[tuple[int, ...], tuple[int, ...], int, list[tuple[tuple[int, ...], tuple[int, ...]]], bool]:
    """(lengths of what is kept, of what is reduced, how many axes the former has in (shape, strides) of each array,
    these, whether neighbouring results lie together). operands: the arrays' strides."""
    outer = [k for k in range(len(shape)) if k not in axes]
    kept, kept_strides = loops.merged([shape[k] for k in outer], [[own[k] for k in outer] for own in operands])
    reduced, strides = loops.merged([shape[k] for k in axes], [[own[k] for k in axes] for own in operands])
    kept_axes = 0 if math.prod(kept) == 1 else len(kept)
    seen = [((*kept, *reduced), (*first, *second)) if kept_axes else (reduced, second)
            for first, second in zip(kept_strides, strides, strict=True)]
    by_column = bool(operands and kept_axes and 0 < abs(kept_strides[0][-1]) < abs(strides[0][-1]))
    return kept if kept_axes else (1,), reduced, kept_axes, seen, by_column


def _width(views: list[DeviceNDArray]) -> int:
    """How many elements are read at once: those of 16 bytes of the widest array, where all lie so."""
    widest = max((v.dtype.itemsize for v in views), default=loops.WIDE_BYTES)
    if widest > loops.WIDE_BYTES // 2 or widest & (widest - 1):
        return 1
    multiples = [v.pointer for v in views] + [s for v in views for s in v.strides[:-1]]
    can_be_wide = all(v.layout == "C" and v.dtype.kind in "biufc" for v in views)
    return loops.WIDE_BYTES // widest if can_be_wide and not any(m % loops.WIDE_BYTES for m in multiples) else 1


def flat_of(target: DeviceNDArray, stream: StreamLike) -> DeviceNDArray:
    """The array as one of one axis; where it has gaps, another one, whose elements settle() brings there."""
    if target.layout == "C":
        return view_of(target, (target.size,), (target.dtype.itemsize,))
    return loops.vector(target.size, target.dtype, stream)


def settle(target: DeviceNDArray, flat: DeviceNDArray, stream: StreamLike) -> None:
    if target.layout != "C":
        target.setitem(Ellipsis, flat.reshape(target.shape), stream)


def lies(array: DeviceNDArray) -> tuple[Any, ...]:
    """What the launches of a reduction of the array depend on, its device too."""
    return array.shape, array.strides, array.dtype, array.pointer % loops.WIDE_BYTES, need_device()


class Step(NamedTuple):
    """A launch: kernel(*numbers, start, sources, targets). by_rows: sources as Problem.by_rows_of_memory()."""

    kernel: Dispatcher[..., Any]
    blocks: int
    threads: int
    numbers: tuple[int, ...]
    by_rows: bool = False

    def read(self, problem: Problem) -> tuple[Any, ...]:
        return problem.by_rows_of_memory() if self.by_rows else problem.sources

    def launch(self, start: tuple[Any, ...], sources: tuple[Any, ...], targets: tuple[DeviceNDArray, ...],
               stream: StreamLike) -> None:
        quiet_launcher(self.kernel, self.blocks, self.threads, stream)(*self.numbers, start, sources, targets)


class Steps(NamedTuple):
    """The launches of a reduction. Of two, the first one leaves `parts` values for each result."""

    first: Step
    rest: Step | None
    parts: int

    def of_partial(self, partial: list[DeviceNDArray], outputs: int) -> tuple[DeviceNDArray, ...]:
        """What the first launch has left, as the second one reads it."""
        if outputs == 1:
            return tuple(partial)
        return tuple([view_of(p, (outputs, self.parts), (self.parts * p.dtype.itemsize, p.dtype.itemsize))
                      for p in partial])


class Prepared:
    """A reduction of one array, to be repeated for others that lie alike."""

    def __init__(self, plan: Plan, problem: Problem, shape: tuple[int, ...]) -> None:
        """shape: of the result."""
        self._steps, self._shape, self._outputs = plan.steps(problem, False), shape, problem.outputs
        self._dtypes = [leaf.dtype for leaf in plan.element.leaves]
        source, = self._steps.first.read(problem)
        self._source = source.shape, source.strides

    def run(self, array: DeviceNDArray, stream: StreamLike) -> DeviceNDArray:
        """A new array with the results."""
        steps, outputs, dtype = self._steps, self._outputs, self._dtypes[0]
        flat = result = device_array(self._shape, dtype, stream=stream)
        if len(self._shape) != 1:
            flat = view_of(result, (outputs,), (dtype.itemsize,))
        source = array if (array.shape, array.strides) == self._source else view_of(array, *self._source)
        if steps.rest is None:
            steps.first.launch((), (source,), (flat,), stream)
        else:
            partial = [loops.vector(outputs * steps.parts, dtype, stream)]
            steps.first.launch((), (source,), tuple(partial), stream)
            steps.rest.launch((), steps.of_partial(partial, outputs), (flat,), stream)
        return result


class Plan:
    """The kernels of one reduction for one kind of arguments."""

    def __init__(self, name: str, function: Dispatcher[..., Any], has_index: bool, element: Element,
                 reduce: Dispatcher[..., Any], post: Dispatcher[..., Any] | None) -> None:
        self._name, self._function, self._has_index, self._reduce, self._post = name, function, has_index, reduce, post
        self.element = element
        self.result = element if post is None else Element(post.stored_type((element.type,)))
        self._functions = of_element(element)
        self._kernels: dict[Any, Dispatcher[..., Any]] = {}
        source = "def combine(first, second):\n    return convert(its_function(first, second))\n"
        self._combine = functions.written(reduce, source, "combine", {
            "convert": conversion(element, reduce), "its_function": reduce})

    # --- launches ----------------------------------------------------------------------------------------------------

    def run(self, problem: Problem, start: tuple[Any, ...], targets: list[DeviceNDArray], stream: StreamLike) -> None:
        """start: of each leaf, or nothing. targets: of one axis."""
        outputs, size = problem.outputs, problem.size
        if size == 0:
            if not start:
                raise ValueError(f"'{self._name}' of no elements needs an identity")
            kernel = self._kernel(("nothing",), problem)
            quiet_launcher(kernel, -(-outputs // _BLOCK), _BLOCK, stream)(outputs, start, tuple(targets))
            return
        steps = self.steps(problem, bool(start))
        if steps.rest is None:
            steps.first.launch(start, steps.first.read(problem), tuple(targets), stream)
            return
        partial = [loops.vector(outputs * steps.parts, leaf.dtype, stream) for leaf in self.element.leaves]
        steps.first.launch((), steps.first.read(problem), tuple(partial), stream)
        steps.rest.launch(start, steps.of_partial(partial, outputs), tuple(targets), stream)

    def steps(self, problem: Problem, has_start: bool) -> Steps:
        """The launches for such elements, of which there are some."""
        outputs, size = problem.outputs, problem.size
        kind, parts = self._way(problem)
        if parts == 1:
            return Steps(self._step(kind, problem, 1, size, has_start, True), None, 1)
        part_size = size
        if kind == "blocks":
            row = 32 * problem.width
            part_size = -(-size // (parts * row)) * row
            parts = -(-size // part_size)
        rest = Problem((), (), 0 if outputs == 1 else 1, -1, (outputs,), (parts,), 1, False)
        return Steps(self._step(kind, problem, parts, part_size, False, False),
                     self._step(self._last_way(rest), rest, 1, parts, has_start, True), parts)

    def _way(self, problem: Problem) -> tuple[str, int]:
        """(threads, strips, warps or blocks, how many ranges each result's elements are cut into)."""
        device, outputs, size = need_device(), problem.outputs, problem.size
        if device.kind == "cpu" and problem.by_column and outputs >= _FEW:
            from cujit._kernel_functions.algorithms.axis_reduction import STRIP

            return "strips", max(1, min(64 // -(-outputs // STRIP), size // 64))
        if device.kind == "cpu" or not self.element.can_shuffle:
            wanted = 64 if device.kind == "cpu" else device.MULTIPROCESSOR_COUNT * 2048
            return "threads", max(1, min(wanted // outputs, size // _PART[device.kind]))
        if size >= _FEW and problem.columns > 1 and outputs >= _FEW * problem.columns:
            of_one = _OF_SHORT_COLUMNS if problem.is_short else _OF_COLUMNS
            wanted = device.MULTIPROCESSOR_COUNT * of_one * problem.columns
            return "columns", max(1, min(wanted // outputs, size // _FEW))
        if size < _FEW or problem.by_column and outputs >= _FEW:
            return "threads", max(1, min(device.MULTIPROCESSOR_COUNT * 2048 // outputs, size // _PART["cuda"]))
        wanted = device.MULTIPROCESSOR_COUNT * _ROUNDS
        if outputs >= wanted and size <= _OF_A_BLOCK * problem.width:
            return "warps", 1
        return "blocks", max(1, min(wanted // outputs, size // _OF_A_BLOCK))

    def _last_way(self, problem: Problem) -> str:
        if need_device().kind == "cpu" or not self.element.can_shuffle or problem.size < _FEW:
            return "threads"
        return "warps" if problem.outputs > 1 else "blocks"

    def _launch(self, kind: str, problem: Problem, parts: int, part_size: int, start: tuple[Any, ...],
                targets: list[DeviceNDArray], is_last: bool, stream: StreamLike) -> None:
        step = self._step(kind, problem, parts, part_size, bool(start), is_last)
        step.launch(start, step.read(problem), tuple(targets), stream)

    def _step(self, kind: str, problem: Problem, parts: int, part_size: int, has_start: bool, is_last: bool) -> Step:
        outputs, size = problem.outputs, problem.size
        kernel = self._kernel((kind, problem.by_column if kind == "threads" else False, has_start, is_last), problem)
        if kind == "blocks":
            return Step(kernel, outputs * parts, _BLOCK, (parts, size, part_size))
        if kind == "warps":
            return Step(kernel, -(-outputs * 32 // _BLOCK), _BLOCK, (outputs, size))
        if kind == "columns":
            threads = outputs // problem.columns * parts
            return Step(kernel, -(-threads // _BLOCK), _BLOCK, (outputs, size, parts), True)
        if kind == "strips":
            from cujit._kernel_functions.algorithms.axis_reduction import STRIP

            return Step(kernel, -(-outputs // STRIP) * parts, 1, (outputs, size, parts))
        block = _BLOCK
        if need_device().kind == "cpu":
            block = 1 if outputs * parts <= 256 else 16
        return Step(kernel, -(-outputs * parts // block), block, (outputs, size, parts))

    # --- kernels -----------------------------------------------------------------------------------------------------

    def _kernel(self, way: Any, problem: Problem) -> Dispatcher[..., Any]:
        key = way, problem.key, need_device().kind
        kernel = self._kernels.get(key)
        return kernel if kernel is not None else self._kernels.setdefault(key, self._made(way, problem))

    def _made(self, way: Any, problem: Problem) -> Dispatcher[..., Any]:
        from cujit._kernel_functions.algorithms import axis_reduction as kernels

        if way[0] == "nothing":
            return self._compiled(kernels.of_nothing(self._store(True, True, alone=True)))
        kind, by_column, has_start, is_last = way
        load, store = self._load(problem), self._store(has_start, is_last)
        if kind == "threads":
            return self._compiled(kernels.by_threads(self._combine, load, store, by_column))
        if kind == "strips":
            return self._compiled(kernels.by_strips(self._combine, load, store, self._functions))
        if kind == "columns" and problem.is_short:
            return self._compiled(kernels.by_columns_of_short(
                self._combine, self._load_columns(problem), store, self._functions, problem.columns,
                conversion(self.element, self._function)))
        if kind == "columns":
            made = kernels.by_columns(self._combine, self._load_columns(problem), store, self._functions,
                                      problem.columns)
            return self._compiled(made)
        packet = self._packet(problem, load)
        of_range, row = kernels.of_warp_range(self._combine, load, packet, self._functions.of_neighbour, problem.width)
        if kind == "warps":
            return self._compiled(kernels.by_warps(of_range, store))
        f = self._functions
        return self._compiled(kernels.by_blocks(self._combine, of_range, row, store, f.shared, f.put, f.get))

    def _compiled(self, function: Callable[..., Any]) -> Dispatcher[..., Any]:
        label = functions.identifier(self._name)
        function.__code__ = function.__code__.replace(co_name=label, co_qualname=label)
        function.__name__ = label
        post = {} if self._post is None else self._post.options
        options = of_loops({**self._function.options, **self._reduce.options, **post})
        return Dispatcher(function, launch_bounds=_BLOCK, **options)

    def _load(self, problem: Problem) -> Any:
        """load(sources, o, r): what the function makes of element r of result o."""
        if problem.reduced_axes < 0:   # what another launch has left
            return _load_partial_of_many(self._functions.get) if problem.kept_axes else _load_partial(
                self._functions.get)
        lines = ["def load(sources, o, r):"]
        shaped = f"sources[{problem.taken.index(True)}].shape" if True in problem.taken else "(1,)"
        lines += self._index_lines(problem, shaped)
        values = [f"sources[{k}]{subscript(problem)}" if is_taken else f"sources[{k}]"
                  for k, is_taken in enumerate(problem.taken)]
        first = ["r"] if self._has_index else []
        lines += [f"    return convert(mapped(its_function({', '.join([*first, *values])})))"]
        return functions.written(self._function, "\n".join(lines), "load", self._names())

    @staticmethod
    def _index_lines(problem: Problem, shape: str) -> list[str]:
        return [*loops.index_lines(problem.kept_axes, shape, "o"),
                *loops.index_lines(problem.reduced_axes, f"{shape}[{problem.kept_axes}:]", "r")]

    def _packet(self, problem: Problem, load: Any) -> Any:
        """packet(sources, o, r): the fold of `width` elements from r on."""
        width = problem.width
        if width == 1:
            return load
        lines = ["def packet(sources, o, r):", *loops.index_lines(problem.kept_axes, self._shaped(problem), "o")]
        row = loops.index(problem.kept_axes, "o") if problem.kept_axes else ""
        is_same = problem.same or (False,) * len(problem.taken)
        lines += [f"    same{k} = sources[{k}]{subscript(problem)}" if is_same[k] else
                  f"    wide{k} = cuda.wide.load(sources[{k}]{row}, r, {width})"
                  for k, is_taken in enumerate(problem.taken) if is_taken]
        if problem.is_short:
            return functions.written(self._function, "\n".join([*lines, *_sum_lines("wide0", width)]), "packet",
                                     self._names())
        for j in range(width):
            values = [f"same{k}" if is_same[k] else f"wide{k}[{j}]" if is_taken else f"sources[{k}]"
                      for k, is_taken in enumerate(problem.taken)]
            if self._has_index:
                values.insert(0, f"r + {j}")
            call = f"convert(mapped(its_function({', '.join(values)})))"
            lines += [f"    value = {call}" if j == 0 else f"    value = combine(value, {call})"]
        return functions.written(self._function, "\n".join([*lines, "    return value"]), "packet", self._names())

    def _load_columns(self, problem: Problem) -> Any:
        """load_columns(sources, o, r, items, k): element r of `columns` results from o on, to items k and behind."""
        first, before = problem.taken.index(True), problem.kept_axes - 1
        lengths = [f"sources[{first}].shape[{k if k < before else k + problem.reduced_axes}]"
                   for k in range(problem.kept_axes)]
        lines = ["def load_columns(sources, o, r, items, k):",
                 *loops.index_lines(problem.kept_axes, f"({', '.join(lengths)},)", "o"),
                 *loops.index_lines(problem.reduced_axes, f"sources[{first}].shape[{before}:]", "r")]
        kept = [f"o{k}" for k in range(problem.kept_axes)] if before else ["o"]
        reduced = [f"r{k}" for k in range(problem.reduced_axes)] if problem.reduced_axes > 1 else ["r"]
        row = ", ".join([*kept[:-1], *reduced])
        lines += [f"    wide{j} = cuda.wide.load(sources[{j}][{row}], {kept[-1]}, {problem.columns})"
                  for j, is_taken in enumerate(problem.taken) if is_taken]
        for n in range(problem.columns):
            values = [f"wide{j}[{n}]" if is_taken else f"sources[{j}]" for j, is_taken in enumerate(problem.taken)]
            if self._has_index:
                values.insert(0, "r")
            lines += [f"    items[k + {n}] = wide0[{n}]" if problem.is_short else
                      f"    put(items, k + {n}, convert(mapped(its_function({', '.join(values)}))))"]
        return functions.written(self._function, "\n".join(lines), "load_columns", {
            **self._names(), "put": self._functions.put})

    @staticmethod
    def _shaped(problem: Problem) -> str:
        return f"sources[{problem.taken.index(True)}].shape"

    def _names(self) -> dict[str, Any]:
        from cujit import cuda
        from cujit._kernel_functions.algorithms.range_fold import hidden_zero

        return {"cuda": cuda, "np": np, "hidden_zero": hidden_zero, "int32": _core.scalar_types["int32"],
                "its_function": self._function, "convert": conversion(self.element, self._function),
                "combine": self._combine, "mapped": self._convert_mapped()}

    def _convert_mapped(self) -> Any:
        """What becomes of the function's result before it is combined."""
        return itself

    def _store(self, has_start: bool, is_last: bool, alone: bool = False) -> Any:
        """store(targets, start, k, value): the last launch begins with `start` and ends with the function `post`."""
        parameters = "targets, start, k" if alone else "targets, start, k, value"
        lines = [f"def store({parameters}):"]
        if alone:
            lines += ["    value = from_leaves(start)"]
        elif has_start and is_last:
            lines += ["    value = combine(from_leaves(start), value)"]
        if is_last and self._post is not None:
            lines += ["    value = convert_result(post(value))"]
        lines += ["    put(targets, k, value)"]
        result = of_element(self.result if is_last else self.element)
        return functions.written(self._reduce, "\n".join(lines), "store", {
            **self._names(), "from_leaves": self._functions.from_leaves, "post": self._post, "put": result.put,
            "convert_result": conversion(self.result, self._post or self._reduce)})


def _sum_lines(wide: str, width: int) -> list[str]:
    """The end of a function: the sum of some numbers in 32 bits, as the values' type."""
    return [f"    value = np.add(hidden_zero(), int32({wide}[0]))",
            *(f"    value = np.add(value, int32({wide}[{j}]))" for j in range(1, width)), "    return convert(value)"]


def subscript(problem: Problem) -> str:
    kept = [f"o{k}" for k in range(problem.kept_axes)] if problem.kept_axes > 1 else ["o"] * problem.kept_axes
    reduced = [f"r{k}" for k in range(problem.reduced_axes)] if problem.reduced_axes > 1 else ["r"]
    return f"[{', '.join([*kept, *reduced])}]"


def _load_partial(get: Any) -> Any:
    def load(sources, o, r):
        return get(sources, r)
    return load


def _load_partial_of_many(get: Any) -> Any:
    def load(sources, o, r):
        return get(sources, (o, r))
    return load


def accumulated(mapped: Element, reduce: Dispatcher[..., Any]) -> Element:
    """The type of sums of such values: what the function gives for two of them, and for two of what it gives. TypeError
    where there is none."""
    element = mapped
    for _ in range(4):
        try:
            result = Element(reduce.stored_type((element.type, element.type)))
        except TypeError as error:
            if element is mapped or element.type.kind == mapped.type.kind:
                raise
            raise TypeError(f"'{reduce.__name__}' makes {element.type} of two values of type {mapped.type}; a "
                            "reduction needs a function whose results are of its arguments' type") from error
        if result == element:
            return element
        if len(result.leaves) != len(element.leaves):
            break
        element = result
    raise TypeError(f"'{reduce.__name__}' makes {result.type} of two values of type {element.type}; a reduction needs "
                    "a function whose results are of its arguments' type")


def reduction(map: Any = None, reduce: Any = None, post: Any = None, identity: Any = None, *,
              raw: str | Sequence[str] = (), index: str | None = None, dtype: Any = None, name: str | None = None,
              **options: Any) -> ReductionKernel:
    """Makes a reduction over axes of three functions, or expressions.

    Parameters
    ----------
    map : function or str, optional
        Of the arguments' elements; what it returns is reduced, a number or a tuple. None: the elements themselves.
    reduce : function or str
        Of two such values, associative; an expression in a and b. It need not be commutative.
    post : function or str, optional
        Of the result; an expression in a.
    identity : optional
        What the reduction starts with, also the result of no elements.
    raw : str or sequence of str, optional
        Parameters of `map` that get whole arrays.
    index : str, optional
        The parameter of `map` that gets the place along the reduced axes, counted in C order.
    dtype : dtype_like, optional
        In which values are reduced; else what the functions compute.
    name : str, optional
        Of the kernel, for profilers.
    **options
        Those of cuda.jit that concern code, such as fastmath.

    Returns
    -------
    ReductionKernel

    Examples
    --------
    >>> norm = cuda.reduction("x * x", "a + b", "math.sqrt(a)", 0.0)
    >>> norm(np.array([[3.0, 4.0], [6.0, 8.0]]), axis=1)
    array([ 5., 10.])
    >>> argmax = cuda.reduction(lambda i, x: (x, i), lambda a, b: b if b[0] > a[0] else a, lambda a: a[1], index="i")
    >>> int(argmax(np.array([2, 7, 5])))
    1
    """
    listed = raw.replace(",", " ").split() if isinstance(raw, str) else tuple(raw)
    if reduce is None:
        raise TypeError("a reduction needs a function of two values: reduce")
    if isinstance(map, str):
        map = functions.of_expression(map, None, name, (*listed, *([index] if index else [])))
    if isinstance(reduce, str):
        reduce = functions.of_expression(reduce, "a b", name)
    if isinstance(post, str):
        post = functions.of_expression(post, "a", name)
    return ReductionKernel(map if map is not None else itself, reduce, post, identity, tuple(listed), index, dtype,
                           name, options)


def itself(value: Any) -> Any:
    """What is reduced as it is."""
    return value
