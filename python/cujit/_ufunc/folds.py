"""What reduce, accumulate, reduceat and at of ufuncs run: the kernels of cuda.reduction and cuda.scan, and where a
function is not associative, or indices say what is done, those of _kernel_functions/ufunc_folds.py."""
from cujit import _core
from cujit._algorithms import functions
from cujit._algorithms.reduction_kernel import flat_of, problem_of, settle, subscript
from cujit._algorithms.scan import ScanPlan
from cujit._algorithms.values import Element
from cujit._kernel_functions import ufunc_folds as kernels
from cujit.cuda._dispatch.launchers import quiet_launcher
from cujit.cuda._dispatch.options import of_loops
from cujit.cuda.dispatcher import Dispatcher


class Fold:
    """A function of two arguments of one type, folded along axes of device arrays.

    in_order: whether the elements are taken one after another, since the function is not associative.
    """

    def __init__(self, function, element, in_order):
        self._function, self._element, self._in_order = function, Element(element), in_order
        self._plans = {}
        self.dtype = element.dtype

    def reduce(self, x, where, start, initial, out, axes, stream):
        """out[...] = initial and the elements of x along the axes. x and where: of one shape, with elements; out: of
        the other axes; initial: None, or a number, needed with `where`; start: what changes nothing, if known."""
        operands = [x] if where is None else [x, where]
        in_order = self._in_order or where is not None and start is None
        if where is not None and not in_order:
            operands.append(start)
        problem = problem_of(operands, [False] * len(operands), x.shape, tuple(sorted(axes)), False)
        first, flat = () if initial is None else (initial,), flat_of(out, stream)
        if in_order:
            self._plan(False).reduce_in_order(problem, first, flat, stream)
        else:
            self._plan(where is not None).run(problem, first, [flat], stream)
        settle(out, flat, stream)

    def accumulate(self, x, out, axis, stream):
        """out[...] = along the axis, each element with all before it."""
        problem = problem_of([x, out], [False, False], x.shape, (axis,), False)
        plan = self._plan(False)
        if self._in_order:
            plan.scan_in_order(problem, stream)
        else:
            plan.scan(problem, 1, (), False, stream)

    def reduceat(self, x, indices, out, axis, stream):
        """out[..., k, ...] = elements indices[k] to indices[k + 1] along the axis."""
        read = problem_of([x], [False], x.shape, (axis,), False)
        written = problem_of([out], [False], out.shape, (axis,), False)
        self._plan(False).reduce_ranges(read, written, indices, self._in_order, stream)

    def _plan(self, has_mask):
        plan = self._plans.get(has_mask)
        return plan or self._plans.setdefault(has_mask, _FoldPlan(self._function, self._element, has_mask))


class _FoldPlan(ScanPlan):
    """The kernels of one function for one type. has_mask: sources are elements, whether they take part, and what those
    become that do not; else they are elements, which are converted to the type."""

    def __init__(self, function, element, has_mask):
        label = functions.identifier(function.__name__)
        value, parameters = ("element(x) if mask else element(start)", "x, mask, start") if has_mask else (
            "element(x)", "x")
        made = functions.written(function, f"def {label}({parameters}):\n    return {value}\n", label,
                                 {"element": element.type})
        taken = Dispatcher(made, device=True, **of_loops(function.options))
        super().__init__(function.__name__, taken, False, element, function)

    def reduce_in_order(self, problem, start, target, stream):
        """Of sources the first one is the elements, the second one, if there is one, says which of them are meant."""
        has_mask = len(problem.sources) > 1
        kernel = self._remembered(("in order", bool(start), has_mask), problem, lambda: kernels.in_order(
            self._combine, self._load(problem._replace(taken=(True,))), self._meant(problem) if has_mask else None,
            self._functions.from_leaves, self._functions.put, bool(start)))
        arguments = problem.outputs, problem.size, start, problem.sources, (target,)
        self._by_threads(kernel, problem.outputs, arguments, stream)

    def scan_in_order(self, problem, stream):
        """From the first of the problem's sources to the second one."""
        kernel = self._scan_kernel(("elements", False, False, False), problem, 1)
        arguments = problem.outputs, problem.size, 1, (), problem.sources[:1], (), problem.sources[1:]
        self._by_threads(kernel, problem.outputs, arguments, stream)

    def reduce_ranges(self, read, written, indices, in_order, stream):
        kernel = self._remembered(("ranges", in_order, written.key), read, lambda: kernels.by_indices(
            self._combine, self._load(read), self._save(written, 0), in_order))
        arguments = read.outputs, read.size, indices, read.sources, written.sources
        self._by_threads(kernel, read.outputs * indices.size, arguments, stream)

    def _remembered(self, way, problem, make):
        key = way, problem.key
        kernel = self._kernels.get(key)
        return kernel if kernel is not None else self._kernels.setdefault(key, self._compiled(make()))

    def _meant(self, problem):
        """meant(sources, o, r): whether element r of result o takes part."""
        lines = ["def meant(sources, o, r):", *self._index_lines(problem, "sources[1].shape"),
                 f"    return sources[1]{subscript(problem)}"]
        return functions.written(self._reduce, "\n".join(lines), "meant", {})


class Changes:
    """A function applied in place to elements of a device array that indices name: ufunc.at."""

    def __init__(self, function, types):
        """types: what the element, and the value of a function of two, are converted to."""
        self._function, self._types = function, types
        self._kernels = {}

    def run(self, array, places, values, stream):
        """places: of elements in C order; values: a device array, one for each place, or None."""
        problem = problem_of([array], [False], array.shape, tuple(range(array.ndim)), False)
        key = problem.key, array.dtype
        kernel = self._kernels.get(key)
        if kernel is None:
            plan = _FoldPlan(self._function, Element(_core.type_from_dtype(array.dtype)), False)
            change = kernels.at_places(plan._load(problem), plan._save(problem, 0), self._function, self._types[0],
                                       self._types[-1])
            kernel = self._kernels.setdefault(key, Dispatcher(change, **of_loops(self._function.options)))
        quiet_launcher(kernel, 1, 1, stream)(problem.sources, places, values)
