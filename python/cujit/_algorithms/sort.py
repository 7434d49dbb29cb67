"""cuda.sort, argsort, sort_by, top_k: stable, by 8 bits after another, or by a function that compares."""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cujit import _core
from cujit._algorithms import functions, loops
from cujit._algorithms.arguments import Arguments, of_form, outputs_of
from cujit._algorithms.element_kernel import ElementwiseKernel
from cujit._algorithms.leaf_function import LeafFunction
from cujit._algorithms.mapping import map as map_elements
from cujit._algorithms.scan import clear, scan
from cujit._ufunc.operands import Target, is_scalar
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
_CHUNKS = 64  # of threads that work alone
_LEAST = 1024  # elements of a chunk
_LARGE = 1 << 16  # elements of which top_k looks for those that can be among the first, before it sorts
_SELECTED = 16  # where these are at most one of so many
_FEW_OF = 256  # one of so many is few enough
_BLOCKS_OF_PROCESSOR = 8  # that count
_LARGE_PLACES = 1 << 29  # four times as many do not fit into 31 bits


class Key(NamedTuple):
    """What elements are sorted by: a number of an array, one of its words, how many of that's bits, whether they are
    "u", "i", "f", "M" or "c", and whether the largest comes first."""

    array: int
    word: int
    bits: int
    kind: str
    is_descending: bool


# --- by digits -------------------------------------------------------------------------------------------------------

def _words(array: DeviceNDArray, word: int) -> list[DeviceNDArray]:
    return [view_of(array, dtype=np.dtype(f"u{word}"), offset=k) for k in range(0, array.dtype.itemsize, word)]


def _word_size(array: DeviceNDArray) -> int:
    """The bytes of the largest unsigned integer that such elements can be moved by, and numbers be compared."""
    if array.dtype.kind == "c":
        return array.dtype.itemsize // 2
    divisors = (array.dtype.itemsize, array.pointer, array.strides[0])
    return next(size for size in (8, 4, 2, 1) if all(value % size == 0 for value in divisors))


def keys_of(array: DeviceNDArray, number: int, is_descending: bool) -> list[Key]:
    """The keys of elements of array `number`, the most important one first. TypeError where they have no order."""
    dtype = array.dtype
    kind = {"b": "u", "u": "u", "i": "i", "f": "f", "c": "f", "M": "M", "m": "M"}.get(dtype.kind)
    if kind is None or dtype.itemsize > 16 or dtype.kind == "f" and dtype.itemsize > 8 or not dtype.isnative:
        raise TypeError(f"elements of dtype {dtype} have no order; sort_by takes a key, and less= a function of two")
    count = 2 if dtype.kind == "c" else 1
    keys = [Key(number, part, 8 * dtype.itemsize // count, kind, is_descending) for part in range(count)]
    return [Key(number, 0, 8, "c", False), *keys] if count == 2 else keys   # those with a NaN come last


@functions.once
def _count_and_move(key: Key, column: int, word: int) -> tuple[Dispatcher[..., Any], Dispatcher[..., Any]]:
    """Kernels whose threads work alone, for one kind of key, which is in column number `column`."""
    from cujit import cuda
    from cujit._kernel_functions.algorithms import sort as kernels

    digit = kernels.digit_of(column, 8 * word, key.kind, key.is_descending)
    return cuda.jit(kernels.count_by_threads(digit)), cuda.jit(kernels.move_by_threads(digit))


@functions.once
def _count_all(key: Key, column: int, word: int, width: int) -> Dispatcher[..., Any]:
    """The kernel whose blocks count for all passes. width: how many words are read at once."""
    from cujit import cuda
    from cujit._kernel_functions.algorithms import sort as kernels

    digit = kernels.digit_of_word(8 * word, key.kind, key.is_descending)
    count = kernels.count_by_blocks(kernels.word_of(column, 8 * word, key.kind), digit, column,
                                    tuple(range(0, key.bits, 8)), width)
    return cuda.jit(count, launch_bounds=kernels.WARPS * 32)


@functions.once
def _move_by_blocks(key: Key, column: int, word: int, widest: int, is_large: bool) -> Dispatcher[..., Any]:
    """The kernel whose blocks move together. widest: the bytes of the widest column; is_large: places have 64 bits."""
    from cujit import cuda, types
    from cujit._kernel_functions.algorithms import sort as kernels

    digit = kernels.digit_of_word(8 * word, key.kind, key.is_descending)
    move = kernels.move_by_blocks(kernels.word_of(column, 8 * word, key.kind), digit,
                                  types.uint64 if word > 4 and key.kind != "c" else types.uint32,
                                  types.uint64 if widest > 4 else types.uint32,
                                  types.uint64 if is_large else types.uint32, kernels.rows_of(widest))
    return cuda.jit(move, launch_bounds=(kernels.WARPS * 32, 2))


def sort_arrays(arrays: Sequence[DeviceNDArray], keys: Sequence[Key], stream: StreamLike) -> list[DeviceNDArray]:
    """New arrays, of one axis as these, with the elements in the order of the keys."""
    size = arrays[0].size
    outs = [loops.vector(size, a.dtype, stream) for a in arrays]
    passes = sum(-(-key.bits // 8) for key in keys)
    if size == 0 or not passes:
        return list(arrays) if size else outs
    words = [_word_size(a) for a in arrays]
    columns = [sum(a.dtype.itemsize // word for a, word in zip(arrays[:key.array], words[:key.array], strict=True))
               + key.word for key in keys]
    spare = [loops.vector(size, a.dtype, stream) for a in arrays] if passes > 1 else outs
    read = _columns(arrays, words)
    written = [_columns(outs if (passes - done) % 2 else spare, words) for done in range(passes)]
    found = list(zip(keys, columns, (words[key.array] for key in keys), strict=True))[::-1]   # the least one first
    if need_device().kind == "cpu":
        _sort_by_threads(size, found, read, written, stream)
    else:
        _sort_by_blocks(size, found, read, written, max(words), stream)
    return outs


def _sort_by_threads(size: int, keys: Sequence[tuple[Key, int, int]], read: Any, written: Sequence[Any],
                     stream: StreamLike) -> None:
    from cujit._kernel_functions.algorithms import sort as kernels

    chunks = max(1, min(_CHUNKS, size // _LEAST))
    counts = loops.vector(kernels.DIGITS * chunks, np.dtype(np.int64), stream)
    targets = iter(written)
    for key, column, word in keys:
        count, move = _count_and_move(key, column, word)
        for shift in range(0, key.bits, 8):
            quiet_launcher(count, chunks, 1, stream)(size, chunks, shift, read, counts)
            scan(_sum, counts, 0, exclusive=True, out=counts, dtype=counts.dtype, stream=stream)
            target = next(targets)
            quiet_launcher(move, chunks, 1, stream)(size, chunks, shift, read, counts, target)
            read = target


def _sort_by_blocks(size: int, keys: Sequence[tuple[Key, int, int]], read: Any, written: Sequence[Any], widest: int,
                    stream: StreamLike) -> None:
    from cujit._kernel_functions.algorithms import sort as kernels

    threads, tiles = kernels.WARPS * 32, -(-size // kernels.tile_of(widest))
    is_large = size >= _LARGE_PLACES
    counts = device_array((len(written), kernels.DIGITS), np.int64, stream=stream)
    clear(counts, stream)
    row, rows = 0, []
    for key, column, word in keys:
        width = 1 if key.kind == "c" else loops.width([read[column]])
        blocks = min(-(-size // (threads * width)), need_device().MULTIPROCESSOR_COUNT * _BLOCKS_OF_PROCESSOR)
        quiet_launcher(_count_all(key, column, word, width), blocks, threads, stream)(size, row, read, counts)
        rows.append(row)
        row += -(-key.bits // 8)
    scan(_sum, counts, 0, exclusive=True, out=counts, dtype=counts.dtype, stream=stream)
    shown = loops.vector(tiles * kernels.DIGITS + 1, np.dtype(np.int64 if is_large else np.int32), stream)
    targets = iter(written)
    for (key, column, word), row in zip(keys, rows, strict=True):
        move = _move_by_blocks(key, column, word, widest, is_large)
        own = slice(column, column if key.kind == "c" else column + 1)   # the words, where they are a column
        for k, shift in enumerate(range(0, key.bits, 8)):
            clear(shown, stream)
            target = next(targets)
            quiet_launcher(move, tiles, threads, stream)(
                size, shift, row + k, read, counts, shown, target[own], read[:own.start] + read[own.stop:],
                target[:own.start] + target[own.stop:])
            read = target


def _columns(arrays: Sequence[DeviceNDArray], words: Sequence[int]) -> tuple[DeviceNDArray, ...]:
    return tuple(column for a, word in zip(arrays, words, strict=True) for column in _words(a, word))


def _sum(a: Any, b: Any) -> Any:
    return a + b


# --- the first ones of an order --------------------------------------------------------------------------------------

class _Search:
    """The kernels that find which elements can be among the first ones by one kind of key."""

    def __init__(self, key: Key) -> None:
        from cujit import cuda
        from cujit._kernel_functions.algorithms import sort as kernels

        digit = kernels.digit_of(0, key.bits, key.kind, key.is_descending)
        self.count = cuda.jit(kernels.count_with_prefix(digit, key.bits))
        self.take = cuda.jit(kernels.take_up_to(digit, key.bits))


@functions.once
def _search(key: Key) -> _Search:
    return _Search(key)


def _first_ones(array: DeviceNDArray, count: int, is_descending: bool, stream: StreamLike
                ) -> list[DeviceNDArray] | None:
    """[elements of which the first `count` are those of the order, their places], in order; None where that is not
    worth it. The number of elements with each digit is waited for, from the highest digit on."""
    from cujit._kernel_functions.algorithms import sort as kernels

    size, keys = array.size, keys_of(array, 0, is_descending)
    if size < _LARGE or count * _SELECTED > size or len(keys) > 1 or 8 * _word_size(array) != keys[0].bits:
        return None
    search, words, prefix, before, candidates = _search(keys[0]), [_word_size(array)], 0, 0, size
    columns = _columns([array], words)
    device = need_device()
    blocks = min(-(-size // kernels.DIGITS), 64 if device.kind == "cpu" else device.MULTIPROCESSOR_COUNT * 8)
    for shift in range(keys[0].bits - 8, 0 if keys[0].bits == 64 else -1, -8):   # a prefix is an int64
        counts = _zeros(kernels.DIGITS, stream)
        quiet_launcher(search.count, blocks, kernels.DIGITS, stream)(size, prefix, shift, columns, counts)
        sums = before + np.cumsum(counts.copy_to_host(stream=stream))
        digit = int(np.searchsorted(sums, count))
        before, candidates = int(sums[digit - 1]) if digit else before, int(sums[digit])
        prefix = prefix * kernels.DIGITS + digit
        if candidates <= max(4 * count, size // _FEW_OF):
            break
    if candidates * _SELECTED > size:
        return None   # many are equal
    values, places = loops.vector(candidates, array.dtype, stream), loops.vector(candidates, np.dtype(np.int64), stream)
    quiet_launcher(search.take, blocks, kernels.DIGITS, stream)(size, prefix, shift, columns, _columns([values], words),
                                                               places, _zeros(1, stream))
    place = Key(1, 0, 8 * -(-(size - 1).bit_length() // 8), "u", False)
    return sort_arrays([values, places], [*keys, place], stream)


def _zeros(count: int, stream: StreamLike) -> DeviceNDArray:
    made = device_array(count, np.int64, stream=stream)
    made.setitem(Ellipsis, 0, stream)
    return made


# --- by comparing ----------------------------------------------------------------------------------------------------

class _Merging:
    """Indices of elements in the order that a function of two of them says."""

    def __init__(self, less: Any) -> None:
        less = functions.of_expression(less, "a b") if isinstance(less, str) else less
        self._leaves = LeafFunction(less, (), None, None, {})
        self._kernels: dict[Any, tuple[Dispatcher[..., Any], Dispatcher[..., Any]]] = {}

    def indices(self, array: Any, leaves: tuple[DeviceNDArray, ...], stream: StreamLike) -> DeviceNDArray:
        from cujit._kernel_functions.algorithms import sort as kernels

        size = leaves[0].size
        first, merge = self._kernels_of(array)
        read, written = (loops.vector(size, np.dtype(np.int64), stream) for _ in range(2))
        is_cpu = need_device().kind == "cpu"
        runs = -(-size // kernels.RUN)
        block = 1 if is_cpu else _BLOCK
        quiet_launcher(first, -(-runs // block), block, stream)(size, leaves, read)
        each = max(_LEAST, size // _CHUNKS) if is_cpu else kernels.RUN
        threads, run = -(-size // each), kernels.RUN
        while run < size:
            quiet_launcher(merge, -(-threads // block), block, stream)(size, run, each, leaves, read, written)
            read, written, run = written, read, 2 * run
        return read

    def _kernels_of(self, array: Any) -> tuple[Dispatcher[..., Any], Dispatcher[..., Any]]:
        from cujit._kernel_functions.algorithms import sort as kernels

        arguments = Arguments((array, array))
        self._leaves.check_count((array, array))
        function, result = self._leaves.of(arguments)
        found = self._kernels.get(function)
        if found is None:
            if result is None or len(result.leaves) != 1:
                raise TypeError(f"'{self._leaves.name}' says whether one element comes before another; it returns no "
                                "truth value")
            count = len(arguments.leaves) // 2
            values = [f"sources[{k}][{index}]" for index in "ij" for k in range(count)]
            source = f"def less(sources, i, j):\n    return its_function({', '.join(values)})\n"
            less = functions.written(self._leaves.function, source, "less", {"its_function": function})
            options = of_loops(self._leaves.function.options)
            found = self._kernels.setdefault(function, (Dispatcher(kernels.sort_runs(less), **options),
                                                        Dispatcher(kernels.merge_runs(less), **options)))
        return found


@functions.remembered
def _merging(less: Any) -> _Merging:
    return _Merging(less)


# --- arrays ----------------------------------------------------------------------------------------------------------

class _Rows:
    """Arrays of one shape whose rows along an axis are to be sorted: as arrays of one axis, row after row."""

    def __init__(self, array: Any, axis: int, what: str, stream: StreamLike) -> None:
        """array: or a tuple of them. TypeError, ValueError for what cannot be sorted along the axis."""
        self.arguments = Arguments((array,))
        leaves = self.arguments.leaves
        if not leaves or any(is_scalar(x) for x in leaves):
            raise TypeError(f"{what} takes arrays, not numbers")
        shapes = {x.shape for x in leaves}
        if len(shapes) > 1:
            raise ValueError(f"{what} takes arrays of one shape, not of {', '.join(map(str, sorted(shapes)))}")
        shape, = shapes
        if not -len(shape) <= axis < len(shape):
            raise ValueError(f"axis {axis} of an array of {len(shape)} axes")
        self.axis, self.shape = axis % len(shape), shape
        self.rest = shape[:self.axis] + shape[self.axis + 1:]
        self.length, self.count = shape[self.axis], math.prod(self.rest)
        self.on_device = self.arguments.on_device
        self.leaves = tuple(self._flat(x, stream) for x in self.arguments.stage(stream))

    def _flat(self, array: DeviceNDArray, stream: StreamLike) -> DeviceNDArray:
        if array.ndim == 1:
            return array
        moved = _moved(array, self.axis, array.ndim - 1)
        if moved.layout != "C":
            own = device_array(moved.shape, moved.dtype, stream=stream)
            own.setitem(Ellipsis, moved, stream)
            moved = own
        return view_of(moved, (moved.size,), (moved.dtype.itemsize,))

    def shaped(self, array: DeviceNDArray, length: int | None = None) -> DeviceNDArray:
        """An array of one axis with the results of each row, whose first `length` are taken, as the axis was."""
        rows = array.reshape((*self.rest, self.length))
        if length is not None:
            rows = rows[..., :length]
        return _moved(rows, len(self.rest), self.axis)

    def numbers(self, stream: StreamLike) -> DeviceNDArray | None:
        """The row of each element, where there are several."""
        if self.count < 2 or not self.length:
            return None
        out = loops.vector(self.count * self.length, np.dtype(np.uint32), stream)
        _row_numbers()(self.length, size=out.size, out=out, stream=stream)
        return out

    def places(self, stream: StreamLike) -> DeviceNDArray:
        """The place of each element in its row, in as few bits as hold it: they are moved with each pass."""
        dtype = np.dtype(np.uint32 if self.length <= 1 << 32 else np.int64)
        out = loops.vector(self.count * self.length, dtype, stream)
        if self.count == 1:
            _numbers(dtype)(size=out.size, out=out, stream=stream)
        else:
            _places(dtype)(max(self.length, 1), size=out.size, out=out, stream=stream)
        return out

    def of_places(self, found: DeviceNDArray, length: int | None, stream: StreamLike) -> DeviceNDArray:
        """What places() made, in order, as the caller gets it."""
        array = self.shaped(found, length)
        if array.dtype != np.int64:
            made = device_array(array.shape, np.int64, stream=stream)
            made.setitem(Ellipsis, array, stream)
            array = made
        return self.finish(array, None, stream)

    def sort(self, keys: Sequence[DeviceNDArray], payload: Sequence[DeviceNDArray], is_descending: bool,
             stream: StreamLike) -> list[DeviceNDArray]:
        """The keys and the payload in the keys' order."""
        arrays = [*keys, *payload]
        found = [key for number, array in enumerate(keys) for key in keys_of(array, number, is_descending)]
        numbers = self.numbers(stream)
        if numbers is not None:   # sorted by last
            found.insert(0, Key(len(arrays), 0, 8 * -(-(self.count - 1).bit_length() // 8), "u", False))
            arrays.append(numbers)
        return sort_arrays(arrays, found, stream)

    def outs(self, out: Any) -> list[Any]:
        """What the caller gave for each leaf. TypeError for another number."""
        count = len(self.leaves)
        if count == 1 and not isinstance(out, tuple):
            return [out]
        if out is not None and (not isinstance(out, tuple) or len(out) != count):
            raise TypeError(f"out is a tuple of {count} arrays")
        return [None] * count if out is None else list(out)

    def of_caller(self, leaves: Sequence[Any]) -> Any:
        """Results of the leaves, in the form that the caller's argument has."""
        return of_form(self.arguments.forms[0], iter(leaves))

    def finish(self, array: DeviceNDArray, out: Any, stream: StreamLike) -> Any:
        """A result as the caller gets it."""
        if out is not None:
            target = Target(out, array.shape, array.dtype, is_cuda_array(out), [], stream, "same_kind")
            target.array.setitem(Ellipsis, array, stream)
            return target.finish()
        if self.on_device:
            return array
        own = array
        if array.layout != "C":
            own = device_array(array.shape, array.dtype, stream=stream)
            own.setitem(Ellipsis, array, stream)
        return own.copy_to_host(stream=stream)


def _moved(array: DeviceNDArray, source: int, target: int) -> DeviceNDArray:
    axes = [k for k in range(array.ndim) if k != source]
    axes.insert(target, source)
    return view_of(array, tuple(array.shape[k] for k in axes), tuple(array.strides[k] for k in axes))


@functions.once
def _row_numbers() -> ElementwiseKernel:
    return ElementwiseKernel(lambda i, length: i // length, (), "i", np.uint32, "row_numbers", {})


@functions.once
def _places(dtype: np.dtype[Any]) -> ElementwiseKernel:
    return ElementwiseKernel(lambda i, length: i % length, (), "i", dtype, "places", {})


@functions.once
def _numbers(dtype: np.dtype[Any]) -> ElementwiseKernel:
    return ElementwiseKernel(lambda i: i, (), "i", dtype, "numbers", {})


@functions.once
def gather() -> ElementwiseKernel:
    """gather(places, array): array[places]."""
    return ElementwiseKernel(lambda k, array: array[k], ("array",), None, None, "gather", {})


def _on_its_device(what: Callable[..., Any], array: Any, out: Any, stream: StreamLike) -> Any:
    """what(stream) on the device where the arrays are."""
    leaves = Arguments((array,)).leaves
    device = _core.device_for("sort", (*leaves, *outputs_of(out)), stream)
    if device is not None:
        with on(device):
            return what(stream or _core.current_stream() or 0)
    return what(stream or _core.current_stream() or 0)


def _ordered(array: Any, rows: _Rows, less: Any, descending: bool, wants_places: bool, stream: StreamLike
             ) -> tuple[list[DeviceNDArray], DeviceNDArray | None]:
    """(the leaves in order, the places that they had), still row after row."""
    if less is None:
        payload = [rows.places(stream)] if wants_places else []
        found = rows.sort(rows.leaves, payload, descending, stream)
        return found[:len(rows.leaves)], found[len(rows.leaves)] if wants_places else None
    if descending:
        raise TypeError("descending is of numbers' own order; less= says the order itself")
    if rows.count > 1:
        raise ValueError("less= sorts arrays of one axis")
    flat = of_form(rows.arguments.forms[0], iter(rows.leaves))
    places = _merging(less).indices(flat, rows.leaves, stream) if rows.length else rows.places(stream)
    return [gather()(places, leaf, stream=stream) for leaf in rows.leaves], places


def sort(array: Any, *, axis: int = -1, descending: bool = False, less: Any = None, out: Any = None,
         stream: StreamLike = 0) -> Any:
    """The elements in order. Equal ones stay in the order that they have; NaN and NaT come last.

    Parameters
    ----------
    array : array or tuple of arrays
        Numbers, times, or tuples of them, of which the first item counts most; with `less` elements of any kind.
    axis : int
        The axis along which elements are sorted.
    descending : bool
        The largest first.
    less : function or str, optional
        Of two elements of an array of one axis: whether the first one comes before the other.
    out : array or tuple of arrays, optional
        Where the results go; may be `array`.
    stream : Stream or int
        Where the work is ordered.

    Returns
    -------
    array or tuple of arrays
        On the device where the array is there, else on the host.

    Examples
    --------
    >>> cuda.sort(np.array([3, 1, 2]))
    array([1, 2, 3])
    >>> cuda.sort(np.array([3, -1, 2]), less=lambda a, b: abs(a) < abs(b))
    array([-1,  2,  3])
    """
    def run(stream: StreamLike) -> Any:
        rows = _Rows(array, axis, "sort", stream)
        leaves, _ = _ordered(array, rows, less, descending, False, stream)
        outs = rows.outs(out)
        return rows.of_caller([rows.finish(rows.shaped(leaf), own, stream)
                               for leaf, own in zip(leaves, outs, strict=True)])
    return _on_its_device(run, array, out, stream)


def argsort(array: Any, *, axis: int = -1, descending: bool = False, less: Any = None, stream: StreamLike = 0) -> Any:
    """The places of the elements in order: those of the smallest, of the next one, and so on.

    Parameters
    ----------
    array : array or tuple of arrays
        As for cuda.sort.
    axis : int
        The axis along which elements are sorted.
    descending : bool
        The largest first.
    less : function or str, optional
        Of two elements of an array of one axis: whether the first one comes before the other.
    stream : Stream or int
        Where the work is ordered.

    Returns
    -------
    array
        Of int64.

    Examples
    --------
    >>> cuda.argsort(np.array([3, 1, 2]))
    array([1, 2, 0])
    """
    def run(stream: StreamLike) -> Any:
        rows = _Rows(array, axis, "argsort", stream)
        _, places = _ordered(array, rows, less, descending, True, stream)
        assert places is not None
        return rows.of_places(places, None, stream)
    return _on_its_device(run, array, None, stream)


def sort_by(key: Any, array: Any, *, descending: bool = False, out: Any = None, stream: StreamLike = 0) -> Any:
    """The elements in the order of what a function makes of them. Equal ones stay in the order that they have.

    Parameters
    ----------
    key : function, str or array
        Of an element: a number or a tuple; or an array with the keys.
    array : array or tuple of arrays
        Of one axis, of any dtype.
    descending : bool
        The largest key first.
    out : array or tuple of arrays, optional
        Where the results go; may be `array`.
    stream : Stream or int
        Where the work is ordered.

    Returns
    -------
    array or tuple of arrays

    Examples
    --------
    >>> cuda.sort_by(lambda x: -x % 3, np.array([1, 2, 3, 4]))
    array([3, 2, 1, 4])
    """
    def run(stream: StreamLike) -> Any:
        rows = _Rows(array, 0, "sort_by", stream)
        if len(rows.shape) != 1:
            raise TypeError(f"sort_by takes arrays of one axis, not of {len(rows.shape)}")
        flat = of_form(rows.arguments.forms[0], iter(rows.leaves))
        keys = map_elements(key, flat, stream=stream) if callable(key) or isinstance(key, str) else key
        if keys is None:
            raise TypeError("sort_by takes a function that makes keys of elements; this one returns nothing")
        found = _Rows(keys, 0, "sort_by", stream)
        if found.shape != rows.shape:
            raise ValueError(f"{found.length} keys for {rows.length} elements")
        leaves = rows.sort(found.leaves, rows.leaves, descending, stream)[len(found.leaves):]
        return rows.of_caller([rows.finish(leaf, own, stream)
                               for leaf, own in zip(leaves, rows.outs(out), strict=True)])
    return _on_its_device(run, array, out, stream)


def top_k(array: Any, k: int, *, axis: int = -1, largest: bool = True, stream: StreamLike = 0) -> Any:
    """The k largest elements, the largest first, and their places; of equal ones those that come first.

    Parameters
    ----------
    array : array
        Of numbers.
    k : int
        ValueError where the axis is shorter.
    axis : int
        The axis along which elements are taken.
    largest : bool
        False: the smallest instead.
    stream : Stream or int
        Where the work is ordered. Of 65536 elements and more in one row, at least 16 times as many as k, those that
        can be among the first are looked for, and their number is waited for; only they are sorted.

    Returns
    -------
    (array, array)
        The elements, and their places along the axis, int64.

    Examples
    --------
    >>> cuda.top_k(np.array([5, 9, 1, 7]), 2)
    (array([9, 7]), array([1, 3]))
    """
    def run(stream: StreamLike) -> Any:
        rows = _Rows(array, axis, "top_k", stream)
        if not 0 <= k <= rows.length:
            raise ValueError(f"{k} of {rows.length} elements")
        found = _first_ones(rows.leaves[0], k, largest, stream) if rows.count == 1 == len(rows.leaves) and k else None
        if found is not None:
            shape = tuple(k if rows.axis == n else 1 for n in range(len(rows.shape)))
            return tuple(rows.finish(each[:k].reshape(shape), None, stream) for each in found)
        leaves, places = _ordered(array, rows, None, largest, True, stream)
        assert places is not None
        values = rows.of_caller([rows.finish(rows.shaped(leaf, k), None, stream) for leaf in leaves])
        return values, rows.of_places(places, k, stream)
    return _on_its_device(run, array, None, stream)
