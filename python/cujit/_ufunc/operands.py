"""Arguments and results of functions over arrays: what vectorize and guvectorize do around their loops."""
import numpy as np

from cujit import _core
from cujit.cuda._array import layout
from cujit.cuda._array.array_views import view_of
from cujit.cuda.devicearray import (
    DeviceNDArray,
    _host_array,
    _synchronize,
    as_cuda_array,
    as_host_array,
    device_array,
    is_cuda_array,
    to_device,
)
from cujit.cuda.devices import need_device


def as_input(arg):
    """A device array, a host array, or a scalar."""
    if isinstance(arg, (bool, int, float, complex, np.generic)):
        return arg
    return as_cuda_array(arg) if is_cuda_array(arg) else as_host_array(arg)


def is_scalar(value):
    return not isinstance(value, (np.ndarray, DeviceNDArray))


def own_type(value):
    """The type of a scalar, or of an array's elements. TypeError where kernels have none for it."""
    return _core.type_of(value) if is_scalar(value) else _core.type_from_dtype(value.dtype)


def as_scalar(value, dtype):
    return np.asarray(value).astype(dtype)[()]


def staged(value, stream):
    """A device array with the elements of an array."""
    if isinstance(value, DeviceNDArray):
        return value
    if _can_borrow() and value.flags.aligned:
        return _borrow(value)
    return to_device(np.ascontiguousarray(value).reshape(value.shape), stream)


def broadcast(array, shape, core_axes=0):
    """A view of the device array whose axes, but for the last core_axes, are those of `shape`."""
    lead = array.ndim - core_axes
    if array.shape[:lead] == shape:
        return array
    strides = layout.broadcast_strides(array.shape[:lead], array.strides[:lead], shape)
    return view_of(array, (*shape, *array.shape[lead:]), (*strides, *array.strides[lead:]))


def _can_borrow():
    return need_device().kind == "cpu"


def _borrow(host):
    """A host array as one of the CPU device, in place."""
    return DeviceNDArray(host.shape, host.strides, host.dtype, host.ctypes.data, host, not host.flags.writeable)


class Target:
    """Where a result goes: `array` is what the loop writes, finish() what the caller gets."""

    def __init__(self, out, shape, dtype, on_device, inputs, stream):
        """out: what the caller gave, or None; inputs: what the loop reads while it writes, as (device array, whether
        each element is read before the one in its place is written). ValueError or TypeError where `out` does not fit.
        """
        self._given, self._on_device, self._stream = out, on_device, stream
        self._out = out = _host_array(out)
        if out is not None:
            _check_out(out, shape, dtype)
        self._final = self._host_or_device(out, shape, dtype)
        self.array = self._final
        if out is not None and any(_overlap(self._final, array, is_safe) for array, is_safe in inputs):
            self.array = device_array(shape, dtype, stream=stream)

    def _host_or_device(self, out, shape, dtype):
        if out is not None and is_cuda_array(out):
            return as_cuda_array(out)
        if not self._on_device and _can_borrow():
            return _borrow(np.empty(shape, dtype) if out is None else out)
        return device_array(shape, dtype, stream=self._stream)

    def finish(self):
        """The result: `out`, or a new array or scalar."""
        if self.array is not self._final:
            self._final.setitem(Ellipsis, self.array, self._stream)
        if self._given is not None and (self._on_device or _can_borrow()):
            return self._given
        if self._on_device:
            return self._final
        if self._out is not None:
            self._fetch(self._out)
            return self._given
        host = self._final.base if _can_borrow() else self._final.copy_to_host(stream=self._stream)
        return host if host.shape else host[()]

    def _fetch(self, host):
        if host.flags.c_contiguous:
            self._final.copy_to_host(host, self._stream)
            if self._stream:
                _synchronize(self._stream)
        else:
            host[...] = self._final.copy_to_host(stream=self._stream)


def _check_out(out, shape, dtype):
    if not is_cuda_array(out) and not isinstance(out, np.ndarray):
        raise TypeError(f"out is an array, not {type(out).__name__}")
    array = as_cuda_array(out, sync=False) if is_cuda_array(out) else out
    if array.shape != shape:
        raise ValueError(f"out has the shape {array.shape}; the result has {shape}")
    if array.dtype != dtype:
        raise TypeError(f"out has the dtype {array.dtype}; the result has {dtype}")
    if array.read_only if isinstance(array, DeviceNDArray) else not array.flags.writeable:
        raise ValueError("out is read-only")


def _overlap(target, array, is_safe):
    """Whether writing to the one could change what is still to be read of the other."""
    if not (target.size and array.size):
        return False
    if is_safe and target.pointer == array.pointer and target.strides == array.strides:
        return False
    (first, last), (other_first, other_last) = (
        layout.byte_range(a.pointer, a.shape, a.strides, a.dtype.itemsize) for a in (target, array))
    return first < other_last and other_first < last
