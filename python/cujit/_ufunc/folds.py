"""The kernels behind reduce, accumulate, reduceat and at: which of them for an operand of some axes, and in how many
launches. What they do is written in _kernel_functions/axis_reduce.py; here is the way to an element, as source.
"""
import math

from cujit import _core
from cujit._algorithms.element_functions import of_element
from cujit._algorithms.reduce import Reduce
from cujit._algorithms.values import Element
from cujit._kernel_functions import axis_reduce
from cujit._ufunc.array_loop import merge_axes
from cujit.cuda._array import layout
from cujit.cuda._array.array_views import view_of
from cujit.cuda._dispatch.generated_source import code_at_the_place_of
from cujit.cuda._dispatch.launchers import quiet_launcher
from cujit.cuda._dispatch.options import of_loops
from cujit.cuda.devicearray import device_array
from cujit.cuda.devices import need_device
from cujit.cuda.dispatcher import Dispatcher

_BLOCK = 256   # threads of a block
_LONG = 4096   # elements for which a whole block works
_PART = {"cpu": 2048, "cuda": 64}   # least elements of a thread where others could help


class Fold:
    """A function of two arguments of one type, folded along axes of device arrays; its kernels, by the axes.

    reorderable: whether the order of the elements does not matter; in_order: whether they are taken one after another,
    since the function is not associative.
    """

    def __init__(self, function, element, reorderable, in_order):
        self._function, self._element = function, element   # a Dispatcher with device=True; the type
        self._reorderable, self._in_order = reorderable and not in_order, in_order
        self._kernels = {}
        self._whole = Reduce(function)
        self.dtype = element.dtype

    # --- what there is -----------------------------------------------------------------------------------------------

    def reduce(self, x, where, start, initial, out, axes, stream):
        """out[...] = initial and the elements of x along the axes. x and where: of one shape, with elements; out: of
        the other axes; initial: None, or a number, needed with `where`; start: what changes nothing, if known."""
        x, where, out, outer, inner = _table(x, where, out, axes)
        count, length = math.prod(x.shape[:outer]), math.prod(x.shape[outer:])
        if self._is_one_vector(x, where, count, outer, inner, out):
            self._whole(view_of(x, x.shape[outer:], x.strides[outer:]), res=_vector(out), init=initial, stream=stream)
            return
        is_alone = where is not None and start is None   # who begins with `initial` does all
        if is_alone:
            start, initial = initial, None
        while True:
            plan = self._plan(x, where, count, length, outer, inner, is_alone)
            is_last = plan.parts == 1
            target = _with_axis(out) if is_last else self._partial(x.shape[:outer], plan.parts, stream)
            self._launch(plan, (x, where, None if where is None else start, initial if is_last else None, target, count,
                                length, plan.parts), stream)
            if is_last:
                return
            x, where, length, inner = target, None, plan.parts, 1

    def accumulate(self, x, out, axis, stream):
        """out[...] = along the axis, each element with all before it."""
        x, _, out, outer, inner = _table(x, None, out, (axis,), keeps=True)
        count, length = math.prod(x.shape[:outer]), x.shape[-1]
        parts = self._parts(count, length)
        before = None
        if parts > 1:
            partial = self._partial(x.shape[:outer], parts, stream)
            plan = _Plan(self._kernel("threads", outer, inner, False), parts, None)
            self._launch(plan, (x, None, None, None, partial, count, length, parts), stream)
            before = view_of(partial, (count, parts), (self._size, self._size * count))
            self._run(self._kernel("parts", outer, inner, False), count, (before, count, parts), stream)
        self._run(self._kernel("scan", outer, inner, False), count * parts, (x, before, out, count, length, parts),
                  stream)

    def reduceat(self, x, indices, out, axis, stream):
        """out[..., k, ...] = elements indices[k] to indices[k + 1] along the axis."""
        x, _, out, outer, inner = _table(x, None, out, (axis,), keeps=True)
        count, length = math.prod(x.shape[:outer]), x.shape[-1]
        self._run(self._kernel("indices", outer, inner, False), count * indices.size, (x, indices, out, count, length),
                  stream)

    # --- in how many parts, by whom ----------------------------------------------------------------------------------

    @property
    def _size(self):
        return self._element.dtype.itemsize

    def _is_one_vector(self, x, where, count, outer, inner, out):
        return (count == 1 and inner == 1 and where is None and not self._in_order and x.dtype == self._element.dtype
                and out.dtype == x.dtype and need_device().kind != "cpu")

    def _partial(self, shape, parts, stream):
        """A table of results of parts: those of one part lie together."""
        flat = device_array((parts, math.prod(shape)), self._element.dtype, stream=stream)
        return view_of(flat, (*shape, parts), (*layout.contiguous_strides(shape, self._size), flat.strides[0]))

    def _parts(self, count, length):
        """Into how many parts threads that work alone should cut a length."""
        if self._in_order:
            return 1
        device = need_device()
        threads = 64 if device.kind == "cpu" else device.MULTIPROCESSOR_COUNT * 1024
        return max(1, min(threads // count, length // _PART[device.kind]))

    def _plan(self, x, where, count, length, outer, inner, is_alone):
        has_mask = where is not None
        if is_alone:
            return _Plan(self._kernel("threads", outer, inner, has_mask), 1, None)
        device = need_device()
        by_lanes = (device.kind != "cpu" and self._reorderable and Element(self._element).can_shuffle
                    and not _lies_across(x, outer))
        if not by_lanes:
            return _Plan(self._kernel("threads", outer, inner, has_mask), self._parts(count, length), None)
        is_long = length >= _LONG or length > 512 and count < device.MULTIPROCESSOR_COUNT * 8
        threads = _BLOCK if is_long else 32
        wanted = device.MULTIPROCESSOR_COUNT * 2048 // threads
        parts = max(1, min(wanted // count, length // (threads * 16)))
        block = (threads, 1) if is_long else (32, _BLOCK // 32)
        return _Plan(self._kernel("blocks" if is_long else "warps", outer, inner, has_mask), parts, block)

    def _launch(self, plan, arguments, stream):
        count = arguments[5] * plan.parts
        if plan.block is None:
            self._run(plan.kernel, count, arguments, stream)
        else:
            quiet_launcher(plan.kernel, -(-count // plan.block[1]), plan.block, stream)(*arguments)

    def _run(self, kernel, threads, arguments, stream):
        block = min(_BLOCK, 32 if need_device().kind != "cpu" and threads < 1024 else _BLOCK)
        if need_device().kind == "cpu":
            block = max(1, min(_BLOCK, threads // 64))
        quiet_launcher(kernel, -(-threads // block), block, stream)(*arguments)

    # --- kernels -----------------------------------------------------------------------------------------------------

    def _kernel(self, kind, outer, inner, has_mask):
        key = kind, outer, inner, has_mask
        kernel = self._kernels.get(key)
        if kernel is None:
            options = of_loops(self._function.options)
            made = Dispatcher(self._source(kind, outer, inner), launch_bounds=_BLOCK, **options)
            kernel = self._kernels.setdefault(key, made)
        return kernel

    def _source(self, kind, outer, inner):
        element = self._element
        load, meant, store, combine = accessors(self._function, element, outer, inner)
        if kind == "threads":
            return axis_reduce.by_threads(load, meant, store, combine, element, self._in_order)
        if kind in ("warps", "blocks"):
            move = of_element(Element(element)).of_neighbour
            return axis_reduce.by_groups(load, meant, store, combine, element, move, kind == "blocks")
        if kind == "parts":
            return axis_reduce.scan_parts(combine)
        if kind == "scan":
            return axis_reduce.scan_elements(load, store, combine)
        return axis_reduce.by_indices(load, meant, store, combine, element, self._in_order)


class _Plan:
    """A kernel, into how many parts it cuts a length, and its block; None: threads that work alone."""

    def __init__(self, kernel, parts, block):
        self.kernel, self.parts, self.block = kernel, parts, block


class Changes:
    """A function applied in place to elements of a device array that indices name: ufunc.at."""

    def __init__(self, function, types):
        """types: what the element, and the value of a function of two, are converted to."""
        self._function, self._types = function, types
        self._kernels = {}

    def run(self, array, places, values, stream):
        """places: of elements in C order; values: a device array, one for each place, or None."""
        key = array.ndim, array.dtype
        kernel = self._kernels.get(key)
        if kernel is None:
            load, _, store, _ = accessors(self._function, _core.type_from_dtype(array.dtype), array.ndim, 0)
            change = axis_reduce.at_places(load, store, self._function, self._types[0], self._types[-1])
            made = Dispatcher(change, **of_loops(self._function.options))
            kernel = self._kernels.setdefault(key, made)
        quiet_launcher(kernel, 1, 1, stream)(array, places, values)


# --- tables ----------------------------------------------------------------------------------------------------------

def _table(x, where, out, axes, keeps=False):
    """(x, where, out, how many of x's axes are of results, how many of elements), with as few axes as strides allow.

    keeps: the one axis is out's last one, too; without it out has none of the axes.
    """
    rest = [k for k in range(x.ndim) if k not in axes]
    results = _taken(out, rest) if keeps else ([*out.shape], [*out.strides])
    operands = [_taken(x, rest)[1], results[1], *([] if where is None else [_taken(where, rest)[1]])]
    shape, merged = merge_axes([x.shape[k] for k in rest], operands)
    inside = [[a.strides[k] for k in axes] for a in ([x] if where is None else [x, where])]
    lengths, strides = merge_axes([x.shape[k] for k in axes], inside)
    view = view_of(x, (*shape, *lengths), (*merged[0], *strides[0]))
    mask = None if where is None else view_of(where, (*shape, *lengths), (*merged[2], *strides[1]))
    last = ((out.shape[axes[0]],), (out.strides[axes[0]],)) if keeps else ((), ())
    target = view_of(out, (*shape, *last[0]), (*merged[1], *last[1]))
    return view, mask, target, len(shape), len(lengths)


def _taken(array, axes):
    return [array.shape[k] for k in axes], [array.strides[k] for k in axes]


def _lies_across(x, outer):
    """Whether neighbouring results, rather than neighbouring elements of one, are what lies together."""
    results = [abs(s) for n, s in zip(x.shape[:outer], x.strides[:outer], strict=True) if n > 1]
    elements = [abs(s) for n, s in zip(x.shape[outer:], x.strides[outer:], strict=True) if n > 1]
    return bool(results) and (not elements or min(results) < min(elements)) and math.prod(x.shape[:outer]) >= 32


def _with_axis(out):
    return view_of(out, (*out.shape, 1), (*out.strides, 0))


def _vector(out):
    return view_of(out, (1,), (out.dtype.itemsize,))


# --- source ----------------------------------------------------------------------------------------------------------

def accessors(function, element, outer, inner):
    """(load, meant, store, combine) for tables with so many axes of results and of elements. function: a Dispatcher."""
    source = "\n".join([
        "def load(x, o, r):", *_unravelled("x", "o", "i", 0, outer), *_unravelled("x", "r", "j", outer, inner),
        f"    return element(x[{_indices(outer, inner)}])",
        "def meant(where, o, r):", *_unravelled("where", "o", "i", 0, outer),
        *_unravelled("where", "r", "j", outer, inner), f"    return where[{_indices(outer, inner)}]",
        "def store(out, o, p, value):", *_unravelled("out", "o", "i", 0, outer),
        f"    out[{_indices(outer, 0)}{', p' if inner else ''}] = value",
        "def combine(first, second):", "    return element(function(first, second))"])
    namespace = {"function": function, "element": element}
    exec(code_at_the_place_of(function.py_func, source), namespace)
    return tuple(namespace[name] for name in ("load", "meant", "store", "combine"))


def _indices(outer, inner):
    return ", ".join([*(f"i{k}" for k in range(outer)), *(f"j{k}" for k in range(inner))])


def _unravelled(array, number, letter, first, axes):
    """Lines that take a number apart into an index for each of so many axes."""
    if axes == 0:
        return []
    lines = [f"    {letter}_rest = {number}"] if axes > 1 else [f"    {letter}0 = {number}"]
    for k in range(axes - 1, 0, -1):
        lines += [f"    {letter}{k} = {letter}_rest % {array}.shape[{first + k}]",
                  f"    {letter}_rest = {letter}_rest // {array}.shape[{first + k}]"]
    return [*lines, f"    {letter}0 = {letter}_rest"] if axes > 1 else lines

