"""cuda.filter and cuda.select: the elements that are wanted, in their order.

Where blocks work together each element is asked once. Else a scan counts the wanted ones and stores only these.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cujit import _core
from cujit._algorithms import functions, loops
from cujit._algorithms.arguments import Arguments, of_form, one_axis
from cujit._algorithms.leaf_function import LeafFunction
from cujit._algorithms.reduction_kernel import Problem, problem_of
from cujit._algorithms.scan import ScanPlan, clear
from cujit._algorithms.values import Element
from cujit._ufunc.operands import is_scalar
from cujit.cuda._dispatch.launchers import quiet_launcher
from cujit.cuda.devicearray import DeviceNDArray
from cujit.cuda.devices import need_device, on

if TYPE_CHECKING:
    from cujit._annotations import StreamLike
    from cujit.cuda.dispatcher import Dispatcher


class Selection:
    """Elements by a function of them, which says whether they are wanted."""

    def __init__(self, predicate: Any, raw: tuple[str, ...] = (), index: str | None = None) -> None:
        predicate = functions.of_expression(predicate) if isinstance(predicate, str) else predicate
        self._leaves = LeafFunction(predicate, raw, index, None, {})
        self._plans: dict[Any, _SelectionPlan] = {}

    def __call__(self, args: tuple[Any, ...], kept: int, stream: StreamLike) -> tuple[list[DeviceNDArray], Arguments]:
        """(of the last `kept` leaves of the arguments, the elements for which the function is true; the arguments)."""
        arguments = Arguments(args, self._leaves.raw)
        operands = arguments.stage(stream)
        shape, = {x.shape for x in arguments.arrays}
        function, result = self._leaves.of(arguments)
        if result is None or len(result.leaves) != 1:
            raise TypeError(f"'{self._leaves.name}' says whether an element is wanted; it returns no truth value")
        plan = self._plans.get(function)
        if plan is None:
            plan = self._plans.setdefault(function, _SelectionPlan(function, self._leaves.index is not None, kept))
        outs = [loops.vector(shape[0], x.dtype, stream) for x in operands[-kept:]]
        if not shape[0]:
            return outs, arguments
        problem = problem_of(operands, arguments.are_raw, shape, (0,), True)   # True: nothing is read wide
        count = loops.vector(1, np.dtype(np.int64), stream)
        plan.select(problem, outs, count, stream)
        wanted = int(count.getitem(0, stream))
        return [out[:wanted] for out in outs], arguments


class _SelectionPlan(ScanPlan):
    """A scan of how many are wanted up to each element."""

    def __init__(self, function: Dispatcher[..., Any], has_index: bool, kept: int) -> None:
        self._kept = kept
        element = Element(_core.scalar_types["int64"])
        super().__init__(function.__name__, function, has_index, element, functions.device_function(_sum))

    def _convert_mapped(self) -> Any:
        return _counted

    def select(self, problem: Problem, outs: list[DeviceNDArray], count: DeviceNDArray, stream: StreamLike) -> None:
        if need_device().kind != "cpu":
            self._select_tiles(problem, outs, count, stream)
            return
        targets = (problem.sources, tuple(outs), count)
        self.run_scan(problem, problem.sources, targets, (), False, len(problem.sources), stream)

    def _select_tiles(self, problem: Problem, outs: list[DeviceNDArray], count: DeviceNDArray,
                      stream: StreamLike) -> None:
        from cujit._kernel_functions.algorithms import selection as kernels

        tiles = -(-problem.size // kernels.TILE)
        shown = loops.vector(tiles + 1, np.dtype(np.int64), stream)
        clear(shown, stream)
        kernel = self._scan_kernel(("selection", False), problem, len(problem.sources))
        launcher = quiet_launcher(kernel, tiles, kernels.THREADS, stream)
        launcher(problem.size, problem.sources, tuple(outs), count, shown)

    def _made_scan(self, way: Any, problem: Problem, count: int) -> Dispatcher[..., Any]:
        if way[0] != "selection":
            return super()._made_scan(way, problem, count)
        from cujit._kernel_functions.algorithms import selection as kernels

        asked, values = self._asked(problem)
        lines = [f"    outs[{k}][place] = {text}" for k, text in enumerate(values[-self._kept:])]
        names = {"its_function": self._function}
        return self._compiled(kernels.of_tiles(
            functions.written(self._function, f"def wanted(sources, r):\n    return {asked}", "wanted", names),
            functions.written(self._function, "\n".join(["def keep(sources, outs, place, r):", *lines]), "keep", {})))

    def _asked(self, problem: Problem) -> tuple[str, list[str]]:
        """(whether element r is wanted, its values) as expressions of sources and r."""
        values = [f"sources[{k}][r]" if is_taken else f"sources[{k}]" for k, is_taken in enumerate(problem.taken)]
        first = ["r"] if self._has_index else []
        return f"its_function({', '.join([*first, *values])})", values

    def _save(self, problem: Problem, count: int) -> Any:
        """save(targets, o, r, value): value - 1 is the place of element r, where it is wanted."""
        asked, values = self._asked(problem)
        lines = ["def save(targets, o, r, value):", "    sources, outs, count = targets", f"    if {asked}:"]
        lines += [f"        outs[{k}][value - 1] = {text}" for k, text in enumerate(values[-self._kept:])]
        lines += [f"    if r == sources[{problem.taken.index(True)}].size - 1:", "        count[0] = value"]
        return functions.written(self._function, "\n".join(lines), "save", {"its_function": self._function})


def _sum(a: Any, b: Any) -> Any:
    return a + b


def _counted(value: Any) -> Any:
    return 1 if value else 0


@functions.remembered
def _selection_of(predicate: Any) -> Selection:
    return Selection(predicate)


def filter(predicate: Any, array: Any, *, stream: StreamLike = 0) -> Any:
    """The elements for which a function is true, in their order.

    Parameters
    ----------
    predicate : function or str
        Of an element; it is asked more than once.
    array : array or tuple of arrays
        Of one axis; a tuple or a dataclass of arrays is an array of tuples.
    stream : Stream or int
        Where the work is ordered; it is waited for, since the number of elements must be known.

    Returns
    -------
    array or tuple of arrays

    Examples
    --------
    >>> cuda.filter(lambda x: x % 2 == 0, np.array([4, 3, 8, 1]))
    array([4, 8])
    """
    return _selected(_selection_of(predicate), (), array, stream)


def select(flags: Any, array: Any, *, stream: StreamLike = 0) -> Any:
    """The elements whose flag is true, in their order: array[flags] in NumPy.

    Parameters
    ----------
    flags : array
        Of one axis, with a truth value for each element.
    array : array or tuple of arrays
        Of one axis; a tuple or a dataclass of arrays is an array of tuples.
    stream : Stream or int
        Where the work is ordered; it is waited for, since the number of elements must be known.

    Returns
    -------
    array or tuple of arrays

    Examples
    --------
    >>> cuda.select(np.array([True, False, True]), np.array([5, 6, 7]))
    array([5, 7])
    """
    return _selected(_selection_of(_by_flag), (flags,), array, stream)


def _by_flag(flag: Any, element: Any) -> Any:
    return flag


def _selected(selection: Selection, flags: tuple[Any, ...], array: Any, stream: StreamLike) -> Any:
    arguments = Arguments((array,))
    for each in arguments.leaves:
        one_axis(each, "a selection")
    args = (*flags, array)
    sizes = {x.shape for x in Arguments(args).arrays}
    if len(sizes) > 1 or any(is_scalar(x) for x in Arguments(args).leaves):
        raise ValueError(f"a selection takes arrays of one length, not of shapes {', '.join(map(str, sorted(sizes)))}")
    device = _core.device_for("filter", (*flags, *arguments.leaves), stream)
    if device is not None:
        with on(device):
            return _selected(selection, flags, array, stream)
    stream = stream or _core.current_stream() or 0
    found, given = selection(args, len(arguments.leaves), stream)
    leaves = found if given.on_device else [each.copy_to_host(stream=stream) for each in found]
    return of_form(arguments.forms[0], iter(leaves))
