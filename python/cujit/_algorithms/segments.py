"""cuda.segmented_scan and cuda.segmented_reduce: ranges of an array, each by itself, whatever their lengths are."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cujit import _core
from cujit._algorithms import functions, loops
from cujit._algorithms.arguments import Arguments, leaves_of, of_form, one_axis
from cujit._algorithms.element_functions import conversion
from cujit._algorithms.element_kernel import ElementwiseKernel
from cujit._algorithms.leaf_function import LeafFunction
from cujit._algorithms.reduction_kernel import Plan, Problem, accumulated, itself, problem_of
from cujit._algorithms.scan import Scan
from cujit._ufunc.operands import as_scalar, is_scalar, staged
from cujit.cuda._dispatch.launchers import quiet_launcher
from cujit.cuda._dispatch.options import of_loops
from cujit.cuda.devicearray import DeviceNDArray
from cujit.cuda.devices import need_device, on

if TYPE_CHECKING:
    from collections.abc import Callable

    from cujit._algorithms.values import Element
    from cujit._annotations import StreamLike
    from cujit.cuda.dispatcher import Dispatcher

_BLOCK = 256
_WARPS, _THREADS = 128, 2048  # of a multiprocessor, at most
_CHUNK = {"cpu": 2048, "warps": 256, "threads": 64}  # elements of one, at least


class _Segmented:
    """The kernels for one function."""

    def __init__(self, function: Any) -> None:
        function = functions.of_expression(function, "a b") if isinstance(function, str) else function
        combine = functions.device_function(function, parameters="a, b")

        def joined(a, b):   # (whether a segment begins, what the elements have since)
            return a[0] or b[0], b[1] if b[0] else combine(a[1], b[1])

        def behind(init, value):
            return combine(init, value)

        def before(begins, value, init):
            return init if begins else combine(init, value)

        options = of_loops(combine.options)
        self.scan = Scan(functions.device_function(joined, options), None)
        self.behind, self.before = (
            ElementwiseKernel(f, (), None, None, combine.__name__, options) for f in (behind, before))
        self._combine = combine
        self._leaves = LeafFunction(itself, (), None, combine.__name__, {})
        self._converted: dict[Element, ElementwiseKernel | None] = {}
        self._plans: dict[Any, SegmentPlan] = {}

    def inclusive(self, array: Any, leaves: list[DeviceNDArray], offsets: DeviceNDArray, stream: StreamLike
                  ) -> tuple[DeviceNDArray, Any]:
        """(flags of where segments begin, each element with those before it in its segment)."""
        n = leaves[0].size
        convert = self._conversion(array)
        array = array if convert is None else convert(array, stream=stream)
        flags = loops.vector(n, np.dtype(np.bool_), stream)
        _none()(size=n, out=flags, stream=stream)
        _mark()(offsets, flags, stream=stream)
        return flags, self.scan((flags, array), None, False, 0, None, stream)[1]

    def _conversion(self, array: Any) -> ElementwiseKernel | None:
        """To the type of what the function makes of such elements, where that is another one."""
        mapped = self._leaves.of(Arguments((array,)))[1]
        assert mapped is not None
        if mapped not in self._converted:
            element = accumulated(mapped, self._combine)
            self._converted[mapped] = None if element == mapped else ElementwiseKernel(
                conversion(element, self._combine), (), None, None, "convert", {})
        return self._converted[mapped]

    def plan(self, arguments: Arguments) -> SegmentPlan:
        """Of segmented_reduce for such an array."""
        function, mapped = self._leaves.of(arguments)
        found = self._plans.get(function)
        if found is None:
            assert mapped is not None
            plan = SegmentPlan(self._combine.__name__, function, False, accumulated(mapped, self._combine),
                               self._combine, None)
            found = self._plans.setdefault(function, plan)
        return found


class SegmentPlan(Plan):
    """The kernels of segmented_reduce by one function for one kind of arguments."""

    def reduce(self, leaves: list[DeviceNDArray], offsets: DeviceNDArray, init: Any, stream: StreamLike) -> Any:
        """What each segment has, behind the start."""
        count, size = offsets.size - 1, leaves[0].size
        start = tuple([as_scalar(value, leaf.dtype) for value, leaf in
                       zip(self.element.flat(init, "init"), self.element.leaves, strict=True)])
        targets = tuple([loops.vector(count, leaf.dtype, stream) for leaf in self.element.leaves])
        is_narrow = need_device().kind == "cpu" or size < loops.WIDE_BYTES
        problem = problem_of(list(leaves), [False] * len(leaves), (size,), (0,), is_narrow)
        if not size and count:
            self.run(problem._replace(kept=(count,)), start, list(targets), stream)
        elif count:
            self._fold(problem, offsets, start, targets, stream)
        return self.element.of_host(targets)

    def _fold(self, problem: Problem, offsets: DeviceNDArray, start: tuple[Any, ...],
              targets: tuple[DeviceNDArray, ...], stream: StreamLike) -> None:
        device, size = need_device(), problem.size
        by_warps = device.kind != "cpu" and self.element.can_shuffle
        wanted = 64 if device.kind == "cpu" else device.MULTIPROCESSOR_COUNT * (_WARPS if by_warps else _THREADS)
        least = _CHUNK["cpu" if device.kind == "cpu" else "warps" if by_warps else "threads"]
        chunk = max(-(-size // wanted), least)
        if by_warps:   # a chunk begins where a packet does
            chunk = -(-chunk // least) * least
        chunks = -(-size // chunk)
        before, behind = (tuple([loops.vector(chunks, leaf.dtype, stream) for leaf in self.element.leaves])
                          for _ in range(2))
        spans = loops.vector(chunks, np.dtype(np.int64), stream)
        block = 1 if device.kind == "cpu" else _BLOCK
        blocks = -(-chunks * (32 if by_warps else 1) // block)
        fold, join = self._kernel(("segments", by_warps), problem), self._kernel(("joined", by_warps), problem)
        quiet_launcher(fold, blocks, block, stream)(size, offsets.size - 1, chunk, start, problem.sources, offsets,
                                                    targets, before, behind, spans)
        if chunks > 1:
            quiet_launcher(join, blocks, block, stream)(size, chunk, chunks, start, offsets, targets, before, behind,
                                                        spans)

    def _made(self, way: Any, problem: Problem) -> Dispatcher[..., Any]:
        from cujit._kernel_functions.algorithms import segments as kernels

        if way[0] == "nothing":
            return super()._made(way, problem)
        f, store, by_warps = self._functions, self._store(True, True), way[1]
        if way[0] == "joined":
            return self._compiled(kernels.join_by_warps(self._combine, store, f) if by_warps else
                                  kernels.join_by_threads(self._combine, store, f.get))
        load, store_start = self._load(problem), self._store(True, True, alone=True)
        if not by_warps:
            return self._compiled(kernels.by_threads(self._combine, load, store, store_start, f.put))
        return self._compiled(kernels.by_warps(self._combine, load, self._packet(problem, load),
                                               self._part(problem, load), store, store_start, f, problem.width))

    def _part(self, problem: Problem, load: Any) -> Any:
        """part() of the kernels: those elements of a packet that are meant; anything where there are none."""
        width = problem.width
        lines = ["def part(sources, base, offset, front, end, final):"]
        if width == 1:
            lines += ["    return load(sources, 0, min(base + offset, final))"]
            return functions.written(self._function, "\n".join(lines), "part", {"load": load})
        lines += [f"    wide{k} = cuda.wide.load(sources[{k}], min(base + offset, final), {width})"
                  for k, is_taken in enumerate(problem.taken) if is_taken]
        for j in range(width):
            values = [f"wide{k}[{j}]" if is_taken else f"sources[{k}]" for k, is_taken in enumerate(problem.taken)]
            value = f"convert(mapped(its_function({', '.join(values)})))"
            lines += [f"    value = {value}"] if j == 0 else [
                f"    if int32(offset + {j}) < end:", f"        own = {value}",
                f"        value = combine(value, own) if front < int32(offset + {j}) else own"]
        return functions.written(self._function, "\n".join([*lines, "    return value"]), "part", self._names())


@functions.once
def _none() -> ElementwiseKernel:
    return ElementwiseKernel(lambda i: False, (), "i", np.bool_, "no_flags", {})


@functions.once
def _mark() -> ElementwiseKernel:
    def mark(offset, flags):
        if 0 <= offset < flags.size:
            flags[offset] = True
    return ElementwiseKernel(mark, ("flags",), None, None, "mark", {})


@functions.remembered
def _segmented(function: Any) -> _Segmented:
    return _Segmented(function)


def _checked(array: Any, offsets: Any, run: Callable[..., Any], stream: StreamLike) -> Any:
    """run(arguments, leaves, offsets, stream) on the arrays' device."""
    arguments = Arguments((array,))
    for leaf in arguments.leaves:
        one_axis(leaf, "segments")
    if any(is_scalar(leaf) for leaf in arguments.leaves) or len({leaf.shape for leaf in arguments.leaves}) != 1:
        raise ValueError("segments are of arrays of one length")
    places = one_axis(offsets, "segments")
    if places.dtype.kind not in "iu" or not places.size:
        raise TypeError(f"offsets are integers, one more than there are segments, not {places.size} of {places.dtype}")
    device = _core.device_for("segments", (*arguments.leaves, places), stream)
    if device is not None:
        with on(device):
            return _checked(array, offsets, run, stream)
    stream = stream or _core.current_stream() or 0
    leaves = arguments.stage(stream)
    found = run(of_form(arguments.forms[0], iter(leaves)), leaves, staged(places, stream), stream)
    if arguments.on_device:
        return found
    return _each(found, lambda leaf: leaf.copy_to_host(stream=stream))


def _each(value: Any, function: Callable[[Any], Any]) -> Any:
    """function() of an array, or of all those of a tuple or dataclass."""
    arguments = Arguments((value,))
    return of_form(arguments.forms[0], map(function, arguments.leaves))


def _start(init: Any, like: Any) -> Any:
    """The start as numbers of the results' dtypes. TypeError where it has another form."""
    arguments = Arguments((like,))
    given = list(leaves_of(init))
    if len(given) != len(arguments.leaves):
        raise TypeError(f"init has {len(given)} numbers for elements of {len(arguments.leaves)}")
    leaves = [as_scalar(value, leaf.dtype) for value, leaf in zip(given, arguments.leaves, strict=True)]
    return of_form(arguments.forms[0], iter(leaves))


def segmented_scan(function: Any, array: Any, offsets: Any, init: Any = None, *, exclusive: bool = False,
                   stream: StreamLike = 0) -> Any:
    """Each element with those before it in its segment, by an associative function of two values.

    Parameters
    ----------
    function : function or str
        It need not be commutative. An expression is one in a and b.
    array : array or tuple of arrays
        Of one axis; a tuple or a dataclass of arrays is an array of tuples.
    offsets : array
        Of integers that do not decrease: segment s is array[offsets[s]:offsets[s + 1]].
    init : optional
        What comes before the first element of each segment.
    exclusive : bool
        Results are what comes before each element, without it.
    stream : Stream or int
        Where the work is ordered.

    Returns
    -------
    array or tuple of arrays

    Examples
    --------
    >>> cuda.segmented_scan("a + b", np.array([1, 2, 3, 4, 5]), np.array([0, 2, 5]))
    array([ 1,  3,  3,  7, 12])
    """
    if exclusive and init is None:
        raise ValueError("an exclusive scan needs what comes before the first element: init")

    def run(own: Any, leaves: list[DeviceNDArray], places: DeviceNDArray, stream: StreamLike) -> Any:
        kernels = _segmented(function)
        flags, found = kernels.inclusive(own, leaves, places, stream)
        if init is None or not leaves[0].size:
            return found
        start = _start(init, found)
        if not exclusive:
            return kernels.behind(start, found, out=found, stream=stream)
        results = _each(found, lambda leaf: loops.vector(leaf.size, leaf.dtype, stream))
        _fill()(start, size=1, out=_each(results, lambda leaf: leaf[:1]), stream=stream)
        kernels.before(flags[1:], _each(found, lambda leaf: leaf[:-1]), start,
                       out=_each(results, lambda leaf: leaf[1:]), stream=stream)
        return results
    return _checked(array, offsets, run, stream)


@functions.once
def _fill() -> ElementwiseKernel:
    return ElementwiseKernel(lambda value: value, (), None, None, "fill", {})


def segmented_reduce(function: Any, array: Any, offsets: Any, init: Any, *, stream: StreamLike = 0) -> Any:
    """The elements of each segment folded by an associative function of two values.

    Parameters
    ----------
    function : function or str
        It need not be commutative. An expression is one in a and b.
    array : array or tuple of arrays
        Of one axis; a tuple or a dataclass of arrays is an array of tuples.
    offsets : array
        Of integers that do not decrease: segment s is array[offsets[s]:offsets[s + 1]].
    init : number or tuple
        What each segment starts with; the result of one without elements.
    stream : Stream or int
        Where the work is ordered.

    Returns
    -------
    array or tuple of arrays
        One element for each segment.

    Examples
    --------
    >>> cuda.segmented_reduce("a + b", np.array([1, 2, 3, 4, 5]), np.array([0, 2, 2, 5]), 0)
    array([ 3,  0, 12])
    """
    def run(own: Any, leaves: list[DeviceNDArray], places: DeviceNDArray, stream: StreamLike) -> Any:
        return _segmented(function).plan(Arguments((own,))).reduce(leaves, places, init, stream)
    return _checked(array, offsets, run, stream)
