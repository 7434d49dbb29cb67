"""Host memory that devices can reach, and the hints that say which way a host argument is copied."""
import contextlib

import numpy as np

from cujit import _core
from cujit.cuda import devicearray, layout
from cujit.cuda.devices import need_device


class In(_core.HostArgument):
    """A host array argument that the kernel reads: it is not copied back."""

    def __new__(cls, value):
        return super().__new__(cls, value, copy_out=False)


class Out(_core.HostArgument):
    """A host array argument that the kernel overwrites: it is not copied in."""

    def __new__(cls, value):
        return super().__new__(cls, value, copy_in=False)


class InOut(_core.HostArgument):
    """A host array argument that is copied in and back, as one without a hint is."""

    def __new__(cls, value):
        return super().__new__(cls, value)


class MappedNDArray(np.ndarray):
    """A NumPy array that the CPU device reaches as one of its own."""

    stream = 0

    @property
    def __cuda_array_interface__(self):
        interface = dict(self.__array_interface__)
        interface.update(version=3, stream=layout.stream_number(self.stream))
        return interface


def _host_array(shape, dtype, strides, order):
    shape, dtype = layout.as_shape(shape), np.dtype(dtype)
    if strides is None:
        return np.empty(shape, dtype, order=order)
    block = np.empty(layout.extent(shape, strides, dtype.itemsize), np.uint8)
    return np.ndarray(shape, dtype, block, strides=strides)


def pinned_array(shape, dtype=np.float64, strides=None, order="C"):
    """A NumPy array, not initialized, for fast transfers."""
    return _host_array(shape, dtype, strides, order)


def pinned_array_like(ary):
    """A pinned array with the shape, dtype and order of `ary`, without its gaps."""
    return _like(ary)


@contextlib.contextmanager
def pinned(*arrays):
    """A context in which the host arrays are good for fast transfers."""
    yield


def mapped_array(shape, dtype=np.float64, strides=None, order="C", stream=0, portable=False, wc=False):
    """A NumPy array, not initialized, that kernels can be given as it is.

    The CPU device works on it in place; a GPU on a copy for each launch, which comes back when the kernel is done.
    """
    return _map(_host_array(shape, dtype, strides, order), stream)


def mapped_array_like(ary, stream=0, portable=False, wc=False):
    """A mapped array with the shape, dtype and order of `ary`, without its gaps."""
    return _map(_like(ary), stream)


def managed_array(shape, dtype=np.float64, strides=None, order="C", stream=0, attach_global=True):
    """The same as mapped_array."""
    return _map(_host_array(shape, dtype, strides, order), stream)


@contextlib.contextmanager
def mapped(*arrays, stream=0):
    """A context that gives a device array for each host array: one, or a tuple of several.

    On the CPU device it is the host array's own memory. On a GPU it is a copy, which comes back at the end.
    """
    if need_device().kind == "cpu":
        views = [devicearray.as_cuda_array(_map(array)).bind(stream) for array in arrays]
    else:
        views = [devicearray.to_device(array, stream) for array in arrays]
    yield views[0] if len(views) == 1 else tuple(views)
    if need_device().kind != "cpu":
        for array, view in zip(arrays, views, strict=True):
            view.copy_to_host(array, stream)
        need_device().synchronize()


def _like(ary):
    return np.empty_like(np.asarray(ary), subok=False)


def _map(array, stream=0):
    if need_device().kind != "cpu":
        return array
    mapped_view = array.view(MappedNDArray)
    mapped_view.stream = stream
    return mapped_view
