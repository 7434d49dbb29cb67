"""cuda.segmented_scan and cuda.segmented_reduce: ranges of an array, each by itself, all in one scan of the whole."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cujit import _core
from cujit._algorithms import functions, loops
from cujit._algorithms.arguments import Arguments, of_form, one_axis
from cujit._algorithms.element_kernel import ElementwiseKernel
from cujit._algorithms.scan import Scan
from cujit._algorithms.sort import gather
from cujit._algorithms.values import Element
from cujit._ufunc.operands import as_scalar, is_scalar, own_type, staged
from cujit.cuda._dispatch.options import of_loops
from cujit.cuda.devicearray import DeviceNDArray
from cujit.cuda.devices import on

if TYPE_CHECKING:
    from collections.abc import Callable

    from cujit._annotations import StreamLike


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

        def of_segment(first, last, value, init):
            return combine(init, value) if last > first else init

        options = of_loops(combine.options)
        self.scan = Scan(functions.device_function(joined, options), None)
        self.behind, self.before, self.of_segment = (
            ElementwiseKernel(f, (), None, None, combine.__name__, options) for f in (behind, before, of_segment))

    def inclusive(self, array: Any, leaves: list[DeviceNDArray], offsets: DeviceNDArray, stream: StreamLike
                  ) -> tuple[DeviceNDArray, Any]:
        """(flags of where segments begin, each element with those before it in its segment)."""
        n = leaves[0].size
        flags = loops.vector(n, np.dtype(np.bool_), stream)
        _none()(size=n, out=flags, stream=stream)
        _mark()(offsets, flags, stream=stream)
        return flags, self.scan((flags, array), None, False, 0, None, stream)[1]


@functions.once
def _none() -> ElementwiseKernel:
    return ElementwiseKernel(lambda i: False, (), "i", np.bool_, "no_flags", {})


@functions.once
def _mark() -> ElementwiseKernel:
    def mark(offset, flags):
        if 0 <= offset < flags.size:
            flags[offset] = True
    return ElementwiseKernel(mark, ("flags",), None, None, "mark", {})


@functions.once
def _ends() -> ElementwiseKernel:
    return ElementwiseKernel(lambda offset: max(offset - 1, 0), (), None, np.int64, "ends", {})


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
    """function() of an array, or of all those of a tuple."""
    if not isinstance(value, tuple):
        return function(value)
    items = [_each(item, function) for item in value]
    return type(value)(*items) if hasattr(value, "_fields") else tuple(items)


def _start(init: Any, like: Any) -> Any:
    """The start as numbers of the results' dtypes. TypeError where it has another form."""
    arguments = Arguments((like,))
    element = Element(_type_of(like))
    leaves = [as_scalar(value, leaf.dtype) for value, leaf in
              zip(element.flat(init, "init"), arguments.leaves, strict=True)]
    return of_form(arguments.forms[0], iter(leaves))


def _type_of(value: Any) -> Any:
    return _core.tuple_type([_type_of(item) for item in value]) if isinstance(value, tuple) else own_type(value)


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
        kernels = _segmented(function)
        _, found = kernels.inclusive(own, leaves, places, stream)
        start = _start(init, found)
        results = _each(found, lambda leaf: loops.vector(places.size - 1, leaf.dtype, stream))
        if not leaves[0].size:
            return _fill()(start, size=places.size - 1, out=results, stream=stream)
        ends = _ends()(places[1:], stream=stream)
        last = _each(found, lambda leaf: gather()(ends, leaf, stream=stream))
        return kernels.of_segment(places[:-1], places[1:], last, start, out=results, stream=stream)
    return _checked(array, offsets, run, stream)
