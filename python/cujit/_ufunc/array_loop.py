"""The loop around a function of elements or of small arrays: what vectorize, guvectorize and assignment have in common.

The loop is a kernel with one thread for each index, written here as Python source for the wanted operands and number of
axes and compiled like any other. Axes that lie alike in all operands are merged first, so arrays without gaps take one
axis; where all of them can be read and written 16 bytes at a time, a thread does as many elements as that.
"""
import functools
import math

import numpy as np

from cujit import _core
from cujit._ufunc import row_loop, serial_loop, staged_call, tile_loop
from cujit._ufunc.flat import Flat, can_be_flat
from cujit._ufunc.operands import castable
from cujit.cuda._array.array_views import view_of
from cujit.cuda._dispatch.launchers import quiet_launcher
from cujit.cuda._dispatch.options import of_loops
from cujit.cuda.decorator import jit
from cujit.cuda.devicearray import DeviceNDArray
from cujit.cuda.devices import need_device
from cujit.cuda.dispatcher import Dispatcher
from cujit.types import uint32, uint64

_WIDE_BYTES = 16
_APART_ELEMENTS = 8
_MOST_PREPARED = 256


class Launch:
    """What Loop.map launched, for those who launch it again: the kernel, threads of a block, elements of a thread,
    whether arrays must lie at multiples of 16 bytes for it."""

    def __init__(self, kernel, block, width, is_wide):
        self.kernel, self.block, self.width, self.is_wide = kernel, block, width, is_wide


class Prepared:
    """A launch over Flat operands, to be repeated for others that lie alike."""

    def __init__(self, kernel, blocks, threads, arguments, flats):
        """arguments: of the kernel, those of the operands last; flats: the operands, Flat ones and numbers."""
        self._kernel, self._blocks, self._threads = kernel, blocks, threads
        self._arguments = list(arguments)
        counts = [len(x.arguments()) if isinstance(x, Flat) else 1 for x in flats]
        first = len(arguments) - sum(counts)
        self._places = [first + sum(counts[:k]) for k in range(len(counts))]
        self._spans = [(x.memory.shape, x.memory.strides, -x.start * x.itemsize) if isinstance(x, Flat) else None
                       for x in flats]
        for place in self._places:
            self._arguments[place] = None   # of the call

    def launch(self, operands, stream):
        """operands: the arrays and numbers, in the order of the Flat ones."""
        arguments = self._arguments.copy()
        for place, span, x in zip(self._places, self._spans, operands, strict=True):
            arguments[place] = x if span is None else view_of(x, span[0], span[1], offset=span[2])
        quiet_launcher(self._kernel, self._blocks, self._threads, stream)(*arguments)


class Loop:
    """Kernels that call function(*inputs, *outputs) or store function(*inputs), one for each pattern of operands."""

    def __init__(self, function, results=None):
        """results: the types to which the items of a tuple are converted that the function returns; None: as they are.
        """
        self.function = function  # a Dispatcher with device=True
        self._results = results
        self.max_blocksize = 256
        self._kernels = {}
        self._prepared = {}   # by how operands lie

    def map(self, inputs, outs, types, stream, where=None):
        """outs[0][...] = function(*inputs), elementwise, of several outs the items of the tuple that it returns; gives
        the Launch, or None where there is nothing to do, or nothing that others could repeat.

        inputs: device arrays of the shape of each out (strides may be 0), or NumPy scalars; types: what each is
        converted to; where: a device array of that shape, which says what elements are computed.
        """
        size, count = outs[0].size, len(outs)
        if size == 0:
            return None
        given = (*inputs, *(() if where is None else (where,)), *outs)
        layout = (types, count, where is None, self.max_blocksize, plans_for_gpu(), outs[0].shape,
                  tuple([(x.strides, x.dtype, x.pointer % _WIDE_BYTES) if isinstance(x, DeviceNDArray) else None
                         for x in given]))
        prepared = self._prepared.get(layout)
        if prepared is not None:
            return prepared.launch(given, stream)
        are_arrays = tuple(isinstance(x, DeviceNDArray) for x in inputs)
        arrays = [*outs, *(x for x, is_array in zip(inputs, are_arrays, strict=True) if is_array)]
        views = with_fewest_axes(arrays if where is None else [*arrays, where])
        operands = _in_place_of_arrays(inputs, are_arrays, iter(views[count:]))
        if where is not None:
            operands.append(views[-1])
        prepared = self._plan(operands[:len(inputs)], None if where is None else operands[-1], views[:count], types)
        if prepared is not None:
            if len(self._prepared) >= _MOST_PREPARED:
                self._prepared.clear()
            self._prepared[layout] = prepared
            return prepared.launch(given, stream)
        width, is_wide = (1, False) if count > 1 or where is not None else _width(views)
        key = are_arrays, views[0].ndim, types, width, is_wide, count, where is not None, self._results
        kernel = self._kernel(key, types, lambda name: _map_source(name, *key))
        self._launch(kernel, -(-size // width), (*operands, *views[:count]), stream)
        return Launch(kernel, self.max_blocksize, width, is_wide)

    def _plan(self, inputs, mask, outs, types):
        """The launch, where a thread for each element is not best; else None."""
        views = [x for x in (*inputs, mask, *outs) if isinstance(x, DeviceNDArray)]
        is_plain = len(outs) == 1 and mask is None and outs[0].ndim == 1 and all(x.layout == "C" for x in views)
        if is_plain or not all(map(can_be_flat, views)):
            return None
        flats = [Flat(x) if isinstance(x, DeviceNDArray) else x for x in (*inputs, mask, *outs)]
        count, axes = len(inputs), outs[0].ndim
        for kind in (tile_loop, row_loop) if plans_for_gpu() else (serial_loop,):
            planned = kind.planned(flats[:count], flats[count], flats[count + 1:], outs[0].shape, self._results,
                                   self.max_blocksize)
            if planned is not None:
                plan, blocks, threads, arguments = planned
                kernel = self._kernel((plan, axes, types), types, functools.partial(kind.source, plan=plan, axes=axes),
                                      kind.names_for(plan), plan.bounds)
                return Prepared(kernel, blocks, threads, arguments, [x for x in flats if x is not None])
        return None

    def call(self, inputs, outputs, core_axes, types, shape, stream, keeps=None):
        """function(*inputs, *outputs) for each index of `shape`, with what each operand has there.

        Device arrays, of `shape` and behind it core_axes[k] axes that the function gets, or NumPy scalars among the
        inputs. Elements, of no such axes, are converted to types[k] first. keeps: of each output, whether elements that
        the function does not write stay as they are; None: all do.
        """
        count = math.prod(shape)
        if count == 0:
            return
        operands = [*inputs, *outputs]
        are_arrays = tuple(isinstance(x, DeviceNDArray) for x in operands)
        arrays = [x for x in reversed(operands) if isinstance(x, DeviceNDArray)]
        merged, strides = merge_axes(shape, [a.strides[:len(shape)] for a in arrays])
        views = [view_of(a, merged + a.shape[len(shape):], own + a.strides[len(shape):])
                 for a, own in zip(arrays, strides, strict=True)]
        operands = _in_place_of_arrays(operands, are_arrays, reversed(views))
        planned = staged_call.planned(operands, len(inputs), core_axes, merged, keeps or (True,) * len(outputs),
                                      self.max_blocksize, _core.type_from_dtype) if plans_for_gpu() else None
        if planned is not None:
            plan, blocks, shared, arguments = planned
            kernel = self._kernel((plan, types), types, lambda name: staged_call.source(name, plan),
                                  staged_call.names_for(plan), plan.bounds)
            quiet_launcher(kernel, blocks, plan.threads, stream, shared)(*arguments)
            return
        key = are_arrays, len(merged), types, core_axes
        kernel = self._kernel(key, types, lambda name: _call_source(name, *key))
        self._launch(kernel, count, (count, *operands), stream)

    def _launch(self, kernel, threads, arguments, stream):
        quiet_launcher(kernel, -(-threads // self.max_blocksize), self.max_blocksize, stream)(*arguments)

    def _kernel(self, key, types, write_source, names=None, bounds=None):
        kernel = self._kernels.get(key)
        if kernel is None:   # of threads that are here at the same time, all get the first one's
            name = self.function.__name__ if self.function.__name__.isidentifier() else "elementwise"
            made = _compiled(self.function, name, write_source(name), types, self._results or (), names or {},
                             bounds)
            kernel = self._kernels.setdefault(key, made)
        return kernel


def _in_place_of_arrays(operands, are_arrays, views):
    return [next(views) if is_array else x for x, is_array in zip(operands, are_arrays, strict=True)]


def _compiled(function, name, source, types, results, names, bounds):
    from cujit import cuda

    namespace = {"cuda": cuda, "function": function, "uint64": uint64, "uint32": uint32, **names,
                 **{f"type{k}": t for k, t in enumerate(types)},
                 **{f"result{k}": t for k, t in enumerate(results)}}
    exec(compile(source, "<cujit elementwise loop>", "exec"), namespace)
    return Dispatcher(namespace[name], **of_loops(function.options), **({"launch_bounds": bounds} if bounds else {}))


# --- kernels as source -----------------------------------------------------------------------------------------------

def _map_source(name, are_arrays, axes, types, width, is_wide, count=1, has_mask=False, results=None):
    names = [f"x{k}" for k in range(len(are_arrays))]
    outs = ["out"] if count == 1 else [f"out{k}" for k in range(count)]
    arrays = [x for x, is_array in zip(names, are_arrays, strict=True) if is_array]
    lines = [f"def {name}({', '.join([*names, *['where'] * has_mask, *outs])}):"]

    def value(read):
        items = [f"type{k}({read(x) if is_array else x})"
                 for k, (x, is_array) in enumerate(zip(names, are_arrays, strict=True))]
        return f"function({', '.join(items)})"

    if width == 1:
        index = _index(axes)
        lines += _index_lines(axes, f"{outs[0]}.size", outs[0])
        lines += [f"        if where{index}:"] * has_mask
        indent = "    " * (2 + has_mask)
        return "\n".join(lines + [indent + line for line in
                                  _stores(outs, index, value(lambda x: x + index), results)])
    lines += _wide_lines(arrays, width, value) if is_wide else _apart_lines(arrays, width, value)
    return "\n".join([*lines, f"            out[i] = {value(lambda x: x + '[i]')}"])


def _wide_lines(arrays, width, value):
    """A thread does neighbouring elements, by one access of each array."""
    items = ", ".join(value(lambda x, k=k: f"{x}_wide[{k}]") for k in range(width))
    return [f"    first = cuda.grid(1) * {width}", f"    if first + {width} <= out.size:",
            *(f"        {x}_wide = cuda.wide.load({x}, first, {width})" for x in arrays),
            f"        cuda.wide.store(out, first, ({items}))", "    else:",
            "        for i in range(first, out.size):"]


def _apart_lines(arrays, width, value):
    """A thread does elements that are a block's threads apart, all of which it reads before it stores the first."""
    places = [f"first + {k} * cuda.blockDim.x" for k in range(width)]
    return [f"    first = cuda.blockIdx.x * cuda.blockDim.x * {width} + cuda.threadIdx.x",
            f"    if {places[-1]} < out.size:",
            *(f"        {x}_{k} = {x}[{at}]" for x in arrays for k, at in enumerate(places)),
            *(f"        out[{at}] = {value(lambda x, k=k: f'{x}_{k}')}" for k, at in enumerate(places)),
            "    else:", "        for i in range(first, out.size, cuda.blockDim.x):"]


def _stores(outs, index, value, results):
    if len(outs) == 1:
        return [f"{outs[0]}{index} = {value}"]
    stores = [f"{out}{index} = {f'values[{k}]' if results is None else f'result{k}(values[{k}])'}"
              for k, out in enumerate(outs)]
    return [f"values = {value}", *stores]


def _call_source(name, are_arrays, axes, types, core_axes):
    names = [f"x{k}" for k in range(len(are_arrays))]
    index = _index(axes)
    arguments = []
    for k, (x, is_array) in enumerate(zip(names, are_arrays, strict=True)):
        item = x + index if is_array else x
        arguments.append(item if core_axes[k] else f"type{k}({item})")
    shaped = names[are_arrays.index(True)]
    lines = [f"def {name}(count, {', '.join(names)}):", *_index_lines(axes, "count", shaped)]
    return "\n".join([*lines, f"        function({', '.join(arguments)})"])


def _index(axes):
    return f"[{', '.join(f'i{k}' for k in range(axes))}]" if axes > 1 else "[i]"


def _index_lines(axes, count, shaped):
    """Lines that take the thread's number apart into an index for each axis."""
    lines = ["    i = cuda.grid(1)", f"    if i < {count}:"]
    if axes > 1:
        lines += ["        rest = i"]
        for k in range(axes - 1, 0, -1):
            lines += [f"        i{k} = rest % {shaped}.shape[{k}]", f"        rest = rest // {shaped}.shape[{k}]"]
        lines += ["        i0 = rest"]
    return lines


# --- axes ------------------------------------------------------------------------------------------------------------

def with_fewest_axes(arrays):
    """Views of the same elements, of arrays of one shape."""
    if all(a.layout == "C" for a in arrays):
        return arrays if arrays[0].ndim == 1 else [view_of(a, (a.size,), (a.dtype.itemsize,)) for a in arrays]
    shape, strides = merge_axes(arrays[0].shape, [a.strides for a in arrays])
    return [view_of(a, shape, s) for a, s in zip(arrays, strides, strict=True)]


def merge_axes(shape, operands):
    """(shape, strides of each operand) of the same elements with as few axes as their strides allow, at least one.

    Axes are ordered by the first operand's strides, so that threads next to each other write next to each other.
    """
    axes = [k for k, n in enumerate(shape) if n != 1]
    axes.sort(key=lambda k: -abs(operands[0][k]))
    merged = []  # (length, strides of the operands), outermost first
    for k in axes:
        inner = tuple(strides[k] for strides in operands)
        if merged and all(outer == shape[k] * s for outer, s in zip(merged[-1][1], inner, strict=True)):
            merged[-1] = (merged[-1][0] * shape[k], inner)
        else:
            merged.append((shape[k], inner))
    if not merged:
        merged = [(1, tuple(0 for _ in operands))]
    return tuple(n for n, _ in merged), list(zip(*(strides for _, strides in merged), strict=True))


def plans_for_gpu():
    """Whether kernels are written for a GPU's memory; the CPU device is better off with simple loops."""
    return need_device().kind != "cpu"


def _width(views):
    """(how many elements a thread of a GPU does, whether they are one access): those of 16 bytes of the widest operand,
    where all lie so."""
    widest = max(view.dtype.itemsize for view in views)
    if not plans_for_gpu() or views[0].ndim > 1 or any(view.layout != "C" for view in views):
        return 1, False
    apart = _APART_ELEMENTS // 2 if widest > 2 else _APART_ELEMENTS, False
    if widest > _WIDE_BYTES // 2 or widest & (widest - 1):
        return apart
    can_be_wide = all(view.pointer % _WIDE_BYTES == 0 and view.dtype.kind in "biufc" for view in views)
    return (_WIDE_BYTES // widest, True) if can_be_wide else apart


# --- assignment ------------------------------------------------------------------------------------------------------

@functools.cache
def _copy_loop():
    return Loop(jit(lambda value: value, device=True))


def assign(view, source, stream):
    """view[...] = source for device arrays of one shape, of any strides, converting the dtype as needed."""
    if view.dtype == source.dtype:
        view, source = _as_words(view, source)
    _copy_loop().map([castable(source, view.dtype)], [view], (_core.type_from_dtype(view.dtype),), stream)


def _as_words(*arrays):
    """The arrays as unsigned integers, with one more axis where an item takes several: any dtype can be moved so."""
    itemsize = arrays[0].dtype.itemsize
    divisors = [itemsize, *(a.pointer for a in arrays), *(s for a in arrays for s in a.strides)]
    word = next(size for size in (8, 4, 2, 1) if all(value % size == 0 for value in divisors))
    dtype, count = np.dtype(f"u{word}"), itemsize // word
    if count == 1:
        return [view_of(a, dtype=dtype) for a in arrays]
    return [view_of(a, (*a.shape, count), (*a.strides, word), dtype) for a in arrays]
