"""cuda.reduce: a function of two arguments folded over an array of one axis, in at most two launches."""
from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from cujit import _core
from cujit.cuda._dispatch.launchers import quiet_launcher
from cujit.cuda._dispatch.options import of_loops
from cujit.cuda.devicearray import DeviceNDArray, as_cuda_array, as_host_array, is_cuda_array, to_device
from cujit.cuda.devices import need_device, on
from cujit.cuda.dispatcher import Dispatcher, code_at_the_place_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from cujit._annotations import StreamLike

_READ_BYTES = 16  # of one wide read
_BLOCK = 256  # threads of a block where there are many
_LAST_BLOCK = 512  # threads of the block that ends it
_BLOCKS_OF_A_MULTIPROCESSOR = 32  # several rounds: what one multiprocessor lags behind, others do meanwhile
_ONE_BLOCK = 4096  # elements that one block does at once
_ONE_THREAD = 64  # elements that one thread does, where threads do not meet


class Reduce:
    """A reduction by a function of two arguments, which must be associative. Made by cuda.reduce.

    reduction(array, size=None, res=None, init=0, stream=0) gives function(...function(function(init, array[0]),
    array[1])..., array[n - 1]), grouped otherwise but in this order, in the dtype of the array.
    """

    def __init__(self, functor: Callable[[Any, Any], Any]) -> None:
        """functor: a Python function or a device function."""
        self._function = functor if isinstance(functor, Dispatcher) else Dispatcher(functor, device=True)
        self._kernels: dict[tuple[Any, ...], Any] = {}
        functools.update_wrapper(self, self._function.py_func)

    def __repr__(self):
        return f"<reduction by {self._function.__name__}>"

    def __call__(self, arr: Any, size: int | None = None, res: Any = None, init: Any = 0,
                 stream: StreamLike = 0) -> Any:
        """The result as a NumPy scalar, or None where `res` is given: then it is stored there, in order of the stream.

        arr: a host or device array of one axis, of any stride.
        size: how many of its elements take part; all by default.
        res: a device array whose first element becomes the result.
        init: what the reduction starts with, also the result for no elements; None: it starts with the first element.

        TypeError for an array of another number of axes; ValueError for a size that it does not have.
        """
        device = _core.device_for(self._function.__name__, (arr, res), stream)
        if device is not None:
            with on(device):
                return self(arr, size, res, init, stream)
        array = as_cuda_array(arr) if is_cuda_array(arr) else as_host_array(arr)
        if array.ndim != 1:
            raise TypeError(f"a reduction takes an array of one axis, not one of {array.ndim}")
        size = array.size if size is None else size
        if not 0 <= size <= array.size:
            raise ValueError(f"size {size} of an array of {array.size} elements")
        if init is None and not size:
            raise ValueError("a reduction of no elements needs a start: init")
        start = None if init is None else np.asarray(init).astype(array.dtype)[()]
        target = _vector(1, array.dtype) if res is None else as_cuda_array(res)
        if size:
            self._reduce(_on_device(array if size == array.size else array[:size], stream), size, start, target, stream)
        elif res is None:
            return start
        else:
            target.setitem(slice(0, 1), start, stream)
        return target.getitem(0, stream) if res is None else None

    def _reduce(self, array, size, init, target, stream):
        kernels = self._kernels_of(array)
        while size > kernels.one_launch:
            blocks, threads, count = kernels.configuration(size)
            partial = _vector(count, array.dtype)
            quiet_launcher(kernels.many, blocks, threads, stream)(array, size, partial)
            array, size = partial, count
        quiet_launcher(kernels.last, 1, kernels.last_block, stream)(array, size, init, target)

    def _kernels_of(self, array):
        device = need_device()
        element = _core.type_from_dtype(array.dtype)
        if device.kind == "cpu" or not _can_shuffle(array.dtype):
            key, make = (element, device.kind), lambda: _ThreadKernels(self._function, element, device)
        else:
            width = _width(array)
            key, make = (element, width, device.id), lambda: _WarpKernels(self._function, element, width, device)
        kernels = self._kernels.get(key)
        return self._kernels.setdefault(key, make()) if kernels is None else kernels


def reduce(functor: Callable[[Any, Any], Any]) -> Reduce:
    """Makes a reduction of a function of two arguments, such as lambda a, b: a + b. See Reduce for how it is called."""
    return Reduce(functor)


class _WarpKernels:
    """Kernels whose lanes shuffle. `width`: elements of a read."""

    last_block, one_launch = _LAST_BLOCK, _ONE_BLOCK

    def __init__(self, function, element, width, device) -> None:
        from cujit._kernel_functions import reduction

        is_complex = element.dtype.kind == "c"
        combine, move = _combiner(function, element), reduction.mover(element, is_complex)
        many, self._tile = reduction.by_warps(combine, move, element, width)
        self.many = _kernel(many, function, _BLOCK)
        self.last = _kernel(reduction.by_block(combine, move, element), function, _LAST_BLOCK)
        self._most_blocks = device.MULTIPROCESSOR_COUNT * _BLOCKS_OF_A_MULTIPROCESSOR

    def configuration(self, size):
        """(blocks, threads of a block, results) of the first launch: no more warps than tiles."""
        tiles = size // self._tile
        warps = min(tiles, _BLOCK // 32)
        blocks = min(tiles // warps, self._most_blocks)
        return blocks, 32 * warps, blocks


class _ThreadKernels:
    """Kernels whose threads do not meet."""

    last_block, one_launch = 1, _ONE_THREAD

    def __init__(self, function, element, device) -> None:
        from cujit._kernel_functions import reduction

        combine = _combiner(function, element)
        self.many = _kernel(reduction.by_threads(combine), function, _BLOCK)
        self.last = _kernel(reduction.by_one_thread(combine, element), function, _BLOCK)
        self._block = 1 if device.kind == "cpu" else _BLOCK
        self._most = 4096 if device.kind == "cpu" else device.MULTIPROCESSOR_COUNT * 2048

    def configuration(self, size):
        """(blocks, threads of a block, results) of a launch."""
        threads = min(-(-size // _ONE_THREAD), self._most)
        return -(-threads // self._block), self._block, threads


def _combiner(function, element):
    """function(first, second) as an element, which it may not fit: that is the function's fault."""
    source = "def combine(first, second):\n    return element(function(first, second))\n"
    namespace = {"function": function, "element": element}
    exec(code_at_the_place_of(function.py_func, source), namespace)
    return namespace["combine"]


def _kernel(function, reduced, threads):
    """threads: of the largest block, for which there are registers then whatever the reduction needs."""
    return Dispatcher(function, launch_bounds=threads, **of_loops(reduced.options))


def _can_shuffle(dtype):
    return dtype.kind in "biufc" and dtype.itemsize <= (16 if dtype.kind == "c" else 8)


def _width(array):
    """How many elements are read at once: as many as 16 bytes hold where the array allows."""
    size = array.dtype.itemsize
    is_packed = array.strides[0] == size or array.size < 2
    return _READ_BYTES // size if is_packed and array.pointer % _READ_BYTES == 0 else 1


def _vector(count, dtype):
    """A device array of one axis, not initialized."""
    buffer = _core.DeviceBuffer(count * dtype.itemsize)
    return DeviceNDArray((count,), (dtype.itemsize,), dtype, buffer.pointer, buffer)


def _on_device(array, stream):
    """The elements in memory that kernels reach."""
    if isinstance(array, DeviceNDArray):
        return array
    return to_device(np.ascontiguousarray(array), stream)
