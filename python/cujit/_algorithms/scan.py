"""cuda.scan: each element with all before it, along an axis, by any associative function."""
from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from cujit import _core
from cujit._algorithms import functions, loops
from cujit._algorithms.arguments import Arguments, leaves_of, outputs_of
from cujit._algorithms.leaf_function import LeafFunction
from cujit._algorithms.reduction_kernel import (
    Plan,
    Problem,
    accumulated,
    axes_of,
    itself,
    problem_of,
    start_of,
    subscript,
)
from cujit._algorithms.values import Element
from cujit._ufunc.operands import Target, broadcast, is_scalar
from cujit.cuda._dispatch.launchers import quiet_launcher
from cujit.cuda.devicearray import DeviceNDArray, is_cuda_array
from cujit.cuda.devices import need_device, on

if TYPE_CHECKING:
    from cujit._annotations import StreamLike
    from cujit.cuda.dispatcher import Dispatcher

_BLOCK = 256
_ITEMS = 16  # elements of a thread in one pass, at most
_ROWS = 4  # reads of a thread: with more, of several numbers each, the loops are too long to be written out in full
_MORE_ROWS = 5  # of 4 numbers: 2^27 float32 on an H100 in 0.391 ms, with 4 rows 0.411, with 6 0.403
_FEW = 8  # rows side by side that are worth it
_PART = 1024  # elements that a thread does alone, at least


class Scan:
    """Scans by one function, which must be associative. Its calls are those of cuda.scan."""

    def __init__(self, function: Any, dtype: Any) -> None:
        function = functions.of_expression(function, "a b") if isinstance(function, str) else function
        self._function = functions.device_function(function, parameters="a, b")
        self._leaves = LeafFunction(itself, (), None, self._function.__name__, {})
        self._dtype = dtype
        self._plans: dict[Any, ScanPlan] = {}

    def __call__(self, array: Any, init: Any, exclusive: bool, axis: int, out: Any, stream: StreamLike) -> Any:
        operands = (*leaves_of(array), *outputs_of(out))
        device = _core.device_for(self._function.__name__, operands, stream)
        if device is not None:
            with on(device):
                return self._scan(array, init, exclusive, axis, out, stream)
        return self._scan(array, init, exclusive, axis, out, stream)

    def _scan(self, array: Any, init: Any, exclusive: bool, axis: int, out: Any, stream: StreamLike) -> Any:
        stream = stream or _core.current_stream() or 0
        arguments = Arguments((array,))
        shape = arguments.shape
        if not shape:
            raise ValueError("a scan needs an array with an axis")
        axes = axes_of(axis, len(shape))
        if len(axes) != 1:
            raise ValueError(f"a scan is along one axis, not {axis}")
        plan = self._plan(arguments)
        if exclusive and init is None:
            raise ValueError("an exclusive scan needs what comes before the first element: init")
        operands = [x if is_scalar(x) else broadcast(x, shape) for x in arguments.stage(stream)]
        outs = [None] * len(plan.element.leaves) if out is None else plan.element.flat(out, "out")
        on_device = arguments.on_device or any(o is not None and is_cuda_array(o) for o in outs)
        read = [(x, True) for x in operands if isinstance(x, DeviceNDArray)]   # a thread reads its elements first
        targets = [Target(own, shape, leaf.dtype, on_device, read, stream, "same_kind")
                   for own, leaf in zip(outs, plan.element.leaves, strict=True)]
        if 0 not in shape:
            problem = problem_of([*operands, *(t.array for t in targets)], [False] * (len(operands) + len(targets)),
                                 shape, axes, False)
            plan.scan(problem, len(operands), start_of(plan, init), exclusive, stream)
        return plan.element.of_host([target.finish() for target in targets])

    def _plan(self, arguments: Arguments) -> ScanPlan:
        function, mapped = self._leaves.of(arguments)
        found = self._plans.get(function)
        if found is None:
            assert mapped is not None
            element = accumulated(mapped, self._function) if self._dtype is None else Element(
                mapped.with_leaves(_core.type_from_dtype(self._dtype)))
            plan = ScanPlan(self._function.__name__, function, False, element, self._function)
            found = self._plans.setdefault(function, plan)
        return found


class ScanPlan(Plan):
    """The kernels of one scan for one kind of arguments."""

    def __init__(self, name: str, function: Dispatcher[..., Any], has_index: bool, element: Element,
                 combine: Dispatcher[..., Any]) -> None:
        super().__init__(name, function, has_index, element, combine, None)

    def scan(self, problem: Problem, count: int, start: tuple[Any, ...], exclusive: bool, stream: StreamLike) -> None:
        """count: how many of the problem's sources are read; the others are written."""
        self.run_scan(problem, problem.sources[:count], problem.sources[count:], start, exclusive, count, stream)

    def run_scan(self, problem: Problem, sources: tuple[Any, ...], targets: tuple[Any, ...], start: tuple[Any, ...],
                 exclusive: bool, count: int, stream: StreamLike) -> None:
        """sources: the first `count` of the problem's; targets: what save() stores to."""
        rows, size = problem.outputs, problem.size
        if rows == 1 and self.element.can_shuffle and need_device().kind != "cpu":
            self._in_one_pass(problem, sources, targets, start, exclusive, stream)
            return
        if need_device().kind == "cpu" and problem.by_column and rows >= _FEW:
            from cujit._kernel_functions.algorithms.axis_reduction import STRIP

            kernel = self._scan_kernel(("strips", bool(start), exclusive), problem, count)
            quiet_launcher(kernel, -(-rows // STRIP), 1, stream)(rows, size, start, sources, targets)
            return
        wanted = 64 if need_device().kind == "cpu" else need_device().MULTIPROCESSOR_COUNT * 512
        parts = max(1, min(wanted // rows, size // _PART))
        before: list[Any] = []
        if parts > 1:
            before = [loops.vector(rows * parts, leaf.dtype, stream) for leaf in self.element.leaves]
            read = problem._replace(sources=sources, taken=problem.taken[:count])
            self._launch("threads", read, parts, size, (), before, False, stream)
            kernel = self._scan_kernel(("parts", bool(start)), problem, count)
            self._by_threads(kernel, rows, (rows, parts, start, tuple(before)), stream)
        kernel = self._scan_kernel(("elements", bool(start), exclusive, parts > 1), problem, count)
        self._by_threads(kernel, rows * parts, (rows, size, parts, start, sources, tuple(before), targets),
                         stream)

    def _by_threads(self, kernel: Dispatcher[..., Any], threads: int, arguments: Any, stream: StreamLike) -> None:
        block = _BLOCK if need_device().kind != "cpu" else 1 if threads <= 256 else 16
        quiet_launcher(kernel, -(-threads // block), block, stream)(*arguments)

    def _in_one_pass(self, problem: Problem, sources: Any, targets: Any, start: tuple[Any, ...], exclusive: bool,
                     stream: StreamLike) -> None:
        from cujit._kernel_functions.algorithms import scan as kernels

        kernel = self._scan_kernel(("tiles", bool(start), exclusive), problem, len(sources))
        tiles = -(-problem.size // (kernels.WARPS * 32 * problem.width * self._rows(problem)))
        words = loops.vector(tiles + 1, np.dtype(np.int32 if self._leaf is None else np.uint64), stream)
        shown = [[loops.vector(tiles, leaf.dtype, stream) for leaf in self.element.leaves if self._leaf is None]
                 for _ in range(2)]
        clear(words, stream)
        launcher = quiet_launcher(kernel, tiles, kernels.WARPS * 32, stream)
        launcher(problem.size, start, sources, targets, words, tuple(shown[0]), tuple(shown[1]))

    @functools.cached_property
    def _leaf(self) -> Any:
        """The type of the values, where these are of one that fits into half a word of what tiles show."""
        leaf = self.element.leaves[0]
        return leaf if len(self.element.leaves) == 1 and leaf.dtype.itemsize <= 4 else None

    def _rows(self, problem: Problem) -> int:
        rows = _MORE_ROWS if problem.width == 4 else min(_ROWS, _ITEMS // problem.width)
        return max(1, rows // len(self.element.leaves))

    # --- kernels -----------------------------------------------------------------------------------------------------

    def _scan_kernel(self, way: Any, problem: Problem, count: int) -> Dispatcher[..., Any]:
        key = way, problem.key, need_device().kind
        kernel = self._kernels.get(key)
        return kernel if kernel is not None else self._kernels.setdefault(key, self._made_scan(way, problem, count))

    def _made_scan(self, way: Any, problem: Problem, count: int) -> Dispatcher[..., Any]:
        from cujit._kernel_functions.algorithms import scan as kernels

        f, has_start = self._functions, way[1]
        if way[0] == "parts":
            return self._compiled(kernels.of_parts(self._combine, f.put, f.get, f.from_leaves, has_start))
        read = problem._replace(taken=problem.taken[:count])
        load, save = self._load(read), self._save(problem, count)
        if way[0] == "elements":
            made = kernels.of_elements(self._combine, load, save, f.get, f.from_leaves, has_start, way[2],
                                       way[3], problem.by_column)
            return self._compiled(made)
        if way[0] == "strips":
            return self._compiled(kernels.of_strips(self._combine, load, save, f, has_start, way[2]))
        made = kernels.of_tiles(self._combine, load, self._load_packet(read, load), save,
                                self._save_packet(problem, save), f, problem.width, self._rows(problem), has_start,
                                way[2], self._leaf)
        return self._compiled(made)

    def _save(self, problem: Problem, count: int) -> Any:
        """save(targets, o, r, value): to element r of row o."""
        lines = ["def save(targets, o, r, value):", *self._index_lines(problem, "targets[0].shape")]
        lines += [f"    targets[{k}]{subscript(problem)} = {part}"
                  for k, part in enumerate(self.element.parts("value"))]
        return functions.written(self._reduce, "\n".join(lines), "save", {})

    def _load_packet(self, problem: Problem, load: Any) -> Any:
        """load_packet(sources, r, items, k): `width` elements from r on, to items k and those behind it."""
        width = problem.width
        names = {**self._names(), "put": self._functions.put, "load": load}
        lines = ["def load_packet(sources, r, items, k):"]
        if width == 1:
            lines += ["    put(items, k, load(sources, 0, r))"]
        else:
            lines += [f"    wide{j} = cuda.wide.load(sources[{j}], r, {width})"
                      for j, is_taken in enumerate(problem.taken) if is_taken]
            for n in range(width):
                values = [f"wide{j}[{n}]" if is_taken else f"sources[{j}]"
                          for j, is_taken in enumerate(problem.taken)]
                lines += [f"    put(items, k + {n}, convert(mapped(its_function({', '.join(values)}))))"]
        return functions.written(self._function, "\n".join(lines), "load_packet", names)

    def _save_packet(self, problem: Problem, save: Any) -> Any:
        """save_packet(targets, r, items, k): items k and those behind it, to `width` elements from r on."""
        lines = ["def save_packet(targets, r, items, k):"]
        if problem.width == 1:
            lines += ["    save(targets, 0, r, get(items, k))"]
        else:
            for j in range(len(self.element.leaves)):
                values = ", ".join(f"items[{j}][k + {n}]" for n in range(problem.width))
                lines += [f"    cuda.wide.store(targets[{j}], r, ({values}))"]
        return functions.written(self._reduce, "\n".join(lines), "save_packet", {
            **self._names(), "save": save, "get": self._functions.get})


@functions.once
def _clear() -> Dispatcher[..., Any]:
    from cujit import cuda
    from cujit._kernel_functions.algorithms import scan as kernels

    return cuda.jit(kernels.clear)


def clear(words: DeviceNDArray, stream: StreamLike) -> None:
    """Makes the elements of an array without gaps 0."""
    flat = words if words.ndim == 1 else words.reshape(words.size)
    quiet_launcher(_clear(), -(-flat.size // _BLOCK), _BLOCK, stream)(flat)


@functions.remembered
def _scan_of(function: Any, dtype: Any) -> Scan:
    return Scan(function, dtype)


def scan(function: Any, array: Any, init: Any = None, *, exclusive: bool = False, axis: int = -1, out: Any = None,
         dtype: Any = None, stream: StreamLike = 0) -> Any:
    """Each element with all before it, by an associative function of two values.

    Parameters
    ----------
    function : function or str
        It need not be commutative. An expression is one in a and b.
    array : array or tuple of arrays
        Of any shape; a tuple or a dataclass of arrays is an array of tuples.
    init : optional
        What comes before the first element.
    exclusive : bool
        Results are what comes before each element, without it.
    axis : int
        The axis along which elements follow each other.
    out : array or tuple of arrays, optional
        Where the results go; may be `array`.
    dtype : dtype_like, optional
        In which values are computed; else what the function computes.
    stream : Stream or int
        Where the work is ordered.

    Returns
    -------
    array or tuple of arrays
        On the device where the array is there, else on the host.

    Examples
    --------
    >>> cuda.scan("a + b", np.array([1, 2, 3, 4]))
    array([ 1,  3,  6, 10])
    >>> cuda.scan(max, np.array([[2, 1, 7], [5, 3, 4]]), axis=1)
    array([[2, 2, 7],
           [5, 5, 5]])
    >>> cuda.scan("a + b", np.array([1, 2, 3, 4]), 10, exclusive=True)
    array([10, 11, 13, 16])
    """
    return _scan_of(function, None if dtype is None else np.dtype(dtype))(array, init, exclusive, axis, out, stream)
