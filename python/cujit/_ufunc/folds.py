"""What reduce, accumulate, reduceat and at of ufuncs run: the kernels of cuda.reduction and cuda.scan, and where a
function is not associative, or indices say what is done, those of _kernel_functions/algorithms/ufunc_folds.py."""
from cujit import _core, cuda
from cujit._algorithms import functions, loops
from cujit._algorithms.reduction_kernel import Prepared, flat_of, lies, problem_of, settle, subscript
from cujit._algorithms.scan import ScanPlan
from cujit._algorithms.values import Element
from cujit._kernel_functions.algorithms import ufunc_folds as kernels
from cujit.cuda._dispatch.launchers import quiet_launcher
from cujit.cuda._dispatch.options import of_loops
from cujit.cuda.devices import need_device
from cujit.cuda.dispatcher import Dispatcher

_BLOCK = 256
_MOST_PREPARED = 256


class Fold:
    """A function of two arguments of one type, folded along axes of device arrays.

    in_order: whether the elements are taken one after another, since the function is not associative; is_sum: whether
    it is that of integers, which wrap.
    """

    def __init__(self, function, element, in_order, is_sum=False):
        self._function, self._element, self._in_order = function, Element(element), in_order
        self._is_sum = is_sum
        self._plans = {}
        self._prepared = {}   # by how the array lies, and what is made of it
        self.dtype = element.dtype

    def reduce(self, x, where, start, initial, out, axes, stream):
        """out[...] = initial and the elements of x along the axes. x and where: of one shape, with elements; out: of
        the other axes; initial: None, or a number, needed with `where`; start: what changes nothing, if known."""
        operands = [x] if where is None else [x, where]
        in_order = self._in_order or where is not None and start is None
        if where is not None and not in_order:
            operands.append(start)
        problem = problem_of(operands, [False] * len(operands), x.shape, tuple(sorted(axes)), False,
                             where is None and self._is_short(x))
        first, flat = () if initial is None else (initial,), flat_of(out, stream)
        if in_order:
            self._plan(False).reduce_in_order(problem, first, flat, stream)
        else:
            self._plan(where is not None).run(problem, first, [flat], stream)
        settle(out, flat, stream)

    def kind_of(self, x, axis, keepdims):
        """What repeat() is given for the same reduction of another array that lies alike."""
        return lies(x), axis, keepdims

    def repeat(self, kind, x, stream):
        """A new array: x reduced as one of that kind was before; None where none was."""
        prepared = self._prepared.get(kind)
        return None if prepared is None else prepared.run(x, stream)

    def remember(self, kind, x, axes, shape):
        """reduce() of such an x along the axes, without anything else, to a new array of a shape, for repeat()."""
        if self._in_order:
            return
        if len(self._prepared) >= _MOST_PREPARED:
            self._prepared.clear()
        problem = problem_of([x], [False], x.shape, tuple(sorted(axes)), False, self._is_short(x))
        self._prepared[kind] = Prepared(self._plan(False), problem, shape)

    def _is_short(self, x):
        return self._is_sum and x.dtype.kind in "biu" and x.dtype.itemsize <= 2

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
    """A function applied in place to elements of a device array that indices name: ufunc.at. One thread does it in the
    order of the indices; on a GPU one for each of them, where an atomic operation does the same. On two cores of a CPU
    atomics took longer than the one thread."""

    def __init__(self, function, types, atomic):
        """types: what the element, and the value of a function of two, are converted to; atomic: the name in
        cuda.atomic of the same function, or None."""
        self._function, self._types, self._atomic = function, types, atomic
        self._kernels = {}

    def run(self, array, places, values, stream):
        """places: of elements in C order; values: a device array, one for each place, or None."""
        problem = problem_of([array], [False], array.shape, tuple(range(array.ndim)), False)
        is_atomic = places.size > 1 and need_device().kind != "cpu" and self._is_atomic_for(array.dtype)
        key = problem.key, array.dtype, is_atomic
        kernel = self._kernels.get(key)
        if kernel is None:
            kernel = self._kernels.setdefault(key, self._made(problem, array.dtype, is_atomic))
        block = _BLOCK if is_atomic else 1
        blocks = -(-places.size // block) if is_atomic else 1
        quiet_launcher(kernel, blocks, block, stream)(problem.sources, places, values)

    def _is_atomic_for(self, dtype):
        """Whether it gives what the function gives, but for the order of additions of floats. Sums and bits of
        integers are right in the array's own width, too, whatever the width that NumPy computes in."""
        types = [each.dtype for each in self._types]
        if self._atomic in ("min", "max"):   # of floats: NaN
            return dtype.kind in "iu" and types == [dtype, dtype]
        if self._atomic in ("add", "sub") and dtype.kind == "f":
            return types == [dtype, dtype]
        return self._atomic is not None and dtype.kind in "iu" and all(each.kind in "iu" for each in types)

    def _made(self, problem, dtype, is_atomic):
        element, (first, second) = _core.type_from_dtype(dtype), (self._types[0], self._types[-1])
        if is_atomic:
            lines = ["def change(arrays, r, value):", *loops.index_lines(problem.reduced_axes, "arrays[0].shape", "r"),
                     f"    cuda.atomic.{self._atomic}(arrays[0], ({subscript(problem)[1:-1]}), element(second(value)))"]
            names = {"cuda": cuda, "element": element, "second": second}
            change = kernels.by_atomics(functions.written(self._function, "\n".join(lines), "change", names))
        else:
            plan = _FoldPlan(self._function, Element(element), False)
            change = kernels.at_places(plan._load(problem), plan._save(problem, 0), self._function, first, second)
        return Dispatcher(change, **of_loops(self._function.options))
