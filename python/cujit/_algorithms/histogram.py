"""cuda.histogram and cuda.unique: how often values are there."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cujit import _core
from cujit._algorithms import functions, loops
from cujit._algorithms.arguments import one_axis
from cujit._algorithms.array_methods import in_c_order
from cujit._algorithms.element_kernel import ElementwiseKernel
from cujit._algorithms.reduce import reduce
from cujit._algorithms.scan import scan
from cujit._algorithms.selection import select
from cujit._algorithms.sort import argsort, gather, sort
from cujit._ufunc.operands import as_input, is_scalar, staged
from cujit.cuda._dispatch.launchers import quiet_launcher
from cujit.cuda.devicearray import DeviceNDArray, to_device
from cujit.cuda.devices import need_device, on
from cujit.cuda.dispatcher import Dispatcher

if TYPE_CHECKING:
    from cujit._annotations import StreamLike

_BLOCK = 256
_OF_A_BLOCK = 1 << 30  # elements; fewer are counted in 32 bits
_IN_SHARED = 4096  # bins that a block can count for itself


@functions.once
def _counter(is_uniform: bool, element: Any, own_element: Any, in_shared: bool) -> Dispatcher[..., Any]:
    from cujit import cuda
    from cujit._kernel_functions.algorithms import histogram as kernels

    limits, find = (kernels.limits_of_uniform, kernels.uniform) if is_uniform else (
        kernels.limits_of_any, kernels.between)
    return cuda.jit(kernels.by_blocks(limits, find, element, own_element, in_shared))


def histogram(array: Any, bins: Any = 10, range: tuple[float, float] | None = None, *, weights: Any = None,
              stream: StreamLike = 0) -> Any:
    """How many elements are in each of several ranges, as numpy.histogram.

    Parameters
    ----------
    array : array
        Of real numbers; of several axes in C order.
    bins : int or array
        How many ranges of one width, or their edges.
    range : (float, float), optional
        From where to where; else from the smallest to the largest element, which are waited for.
    weights : array, optional
        What each element counts; else 1.
    stream : Stream or int
        Where the work is ordered.

    Returns
    -------
    (array, array)
        int64 (with weights float64), and the edges.

    Examples
    --------
    >>> cuda.histogram(np.array([1, 2, 1, 4]), bins=3)
    (array([2, 1, 1]), array([1., 2., 3., 4.]))
    """
    x = _in_one_axis(array, "histogram", stream)
    own_weights = None if weights is None else _in_one_axis(weights, "histogram", stream)
    if x.dtype.kind not in "biuf":
        raise TypeError(f"histogram takes real numbers, not {x.dtype}")
    if own_weights is not None and own_weights.shape != x.shape:
        raise ValueError(f"{own_weights.size} weights for {x.size} elements")
    device = _core.device_for("histogram", (x, own_weights), stream)
    if device is not None:
        with on(device):
            return _histogram(x, bins, range, own_weights, stream)
    return _histogram(x, bins, range, own_weights, stream)


def _histogram(x: Any, bins: Any, limits: Any, weights: Any, stream: StreamLike) -> Any:
    stream = stream or _core.current_stream() or 0
    on_device = isinstance(x, DeviceNDArray)
    own = staged(x, stream)
    is_uniform = np.ndim(bins) == 0
    edges = _edges(own, bins, limits, stream) if is_uniform else np.asarray(bins, np.float64)
    if edges.ndim != 1 or edges.size < 2 or not (edges[1:] >= edges[:-1]).all():
        raise ValueError("bins is a number of 1 or more, or edges of one axis that do not decrease")
    count = edges.size - 1
    element = _core.scalar_types["int64" if weights is None else "float64"]
    counts = _zeros(element.dtype)(size=count, out=loops.vector(count, element.dtype, stream), stream=stream)
    if x.size:
        in_shared = count <= _IN_SHARED
        device = need_device()
        most = 64 if device.kind == "cpu" else device.MULTIPROCESSOR_COUNT * 8
        blocks = min(-(-x.size // _BLOCK), most)
        own_element = element
        if weights is None and x.size // blocks < _OF_A_BLOCK:
            own_element = _core.scalar_types["int32"]
        kernel = _counter(is_uniform, element, own_element, in_shared)
        launcher = quiet_launcher(kernel, blocks, _BLOCK, stream,
                                  own_element.dtype.itemsize * count if in_shared else 0)
        launcher(x.size, count, own, None if weights is None else staged(weights, stream), to_device(edges, stream),
                 counts)
    if on_device:
        return counts, to_device(edges, stream)
    return counts.copy_to_host(stream=stream), edges


def _edges(x: DeviceNDArray, bins: Any, limits: Any, stream: StreamLike) -> Any:
    """NumPy's, for so many bins."""
    count = int(bins)
    if count < 1:
        raise ValueError("bins is a number of 1 or more, or edges of one axis that do not decrease")
    found = np.zeros(0, x.dtype)
    if limits is None and x.size:
        low, high = (each.copy_to_host(stream=stream) for each in reduce(_wider, (x, x), stream=stream))
        limits, found = (low, high), np.array([low, high], x.dtype)
    if limits is not None and not (np.isfinite(limits[0]) and np.isfinite(limits[1]) and limits[0] <= limits[1]):
        raise ValueError(f"the range from {limits[0]} to {limits[1]} is not one")
    return np.histogram_bin_edges(found, count, None if found.size else limits)


def _wider(a: Any, b: Any) -> Any:
    return min(a[0], b[0]), max(a[1], b[1])


@functions.once
def _zeros(dtype: Any) -> ElementwiseKernel:
    return ElementwiseKernel(lambda i: i * 0, (), "i", dtype, "zeros", {})


# --- unique ----------------------------------------------------------------------------------------------------------

@functions.once
def _heads() -> ElementwiseKernel:
    """Whether elements of a sorted array are the first of their value; NaNs are one value."""
    def is_first(i, x):
        if i == 0:
            return True
        a, b = x[i - 1], x[i]
        return a != b and (a == a or b == b)
    return ElementwiseKernel(is_first, ("x",), "i", np.bool_, "is_first", {})


@functions.once
def _numbers() -> ElementwiseKernel:
    return ElementwiseKernel(lambda i: i, (), "i", np.int64, "numbers", {})


@functions.once
def _scatter() -> ElementwiseKernel:
    def scatter(place, value, out):
        out[place] = value
    return ElementwiseKernel(scatter, ("out",), None, None, "scatter", {})


def unique(array: Any, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False, *,
           stream: StreamLike = 0) -> Any:
    """The different elements in order, as numpy.unique.

    Parameters
    ----------
    array : array
        Of numbers or times; of several axes in C order.
    return_index : bool
        Whether the places of the first elements of each value are wanted.
    return_inverse : bool
        Whether the number of each element's value is wanted.
    return_counts : bool
        Whether it is wanted how often each value is there.
    stream : Stream or int
        Where the work is ordered; it is waited for, since the number of values must be known.

    Returns
    -------
    array, or tuple of arrays
        The values, and what else is wanted, int64.

    Examples
    --------
    >>> cuda.unique(np.array([5, 3, 5, 5]), return_counts=True)
    (array([3, 5]), array([1, 3]))
    """
    shape = np.shape(array)
    x = _in_one_axis(array, "unique", stream)
    device = _core.device_for("unique", (x,), stream)
    if device is not None:
        with on(device):
            return _unique(x, shape, return_index, return_inverse, return_counts, stream)
    return _unique(x, shape, return_index, return_inverse, return_counts, stream)


def _in_one_axis(array: Any, what: str, stream: StreamLike) -> Any:
    """The elements in C order as an array of one axis."""
    given = as_input(array)
    if is_scalar(given) or given.ndim == 1:
        return one_axis(given, what)
    if not isinstance(given, DeviceNDArray):
        return given.reshape(-1)
    with on(given.device):
        return in_c_order(given, stream or _core.current_stream() or 0).reshape(given.size)


def _unique(x: Any, shape: tuple[int, ...], index: bool, inverse: bool, counts: bool, stream: StreamLike) -> Any:
    stream = stream or _core.current_stream() or 0
    own = staged(x, stream)
    n = own.size
    places = argsort(own, stream=stream) if index or inverse else None
    ordered = sort(own, stream=stream) if places is None else gather()(places, own, stream=stream)
    heads = _heads()(ordered, size=n, out=loops.vector(n, np.dtype(np.bool_), stream), stream=stream)
    numbers = _numbers()(size=n, out=loops.vector(n, np.dtype(np.int64), stream), stream=stream)
    values, starts = select(heads, (ordered, numbers), stream=stream)
    results = [values]
    if index:
        results.append(gather()(starts, places, stream=stream))
    if inverse:
        ranks = scan("a + b", heads, dtype=np.int64, stream=stream)
        found = loops.vector(n, np.dtype(np.int64), stream)
        _scatter()(places, _minus()(ranks, 1, stream=stream), found, stream=stream)
        results.append(found if len(shape) < 2 else found.reshape(shape))
    if counts:
        ends = loops.vector(starts.size, np.dtype(np.int64), stream)
        if starts.size:
            ends[:-1].setitem(Ellipsis, starts[1:], stream)
            ends[-1:].setitem(Ellipsis, n, stream)
        results.append(_minus()(ends, starts, stream=stream))
    if not isinstance(x, DeviceNDArray):
        results = [each.copy_to_host(stream=stream) for each in results]
    return tuple(results) if len(results) > 1 else results[0]


@functions.once
def _minus() -> ElementwiseKernel:
    return ElementwiseKernel(lambda a, b: a - b, (), None, None, "minus", {})
