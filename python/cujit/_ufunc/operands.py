"""Arguments and results of functions over arrays: what vectorize and guvectorize do around their loops."""
import warnings

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
from cujit.cuda.devices import device_of_kind, need_device
from cujit.errors import LaunchArgumentError

_ComplexWarning = getattr(np, "exceptions", np).ComplexWarning


def as_input(arg):
    """A device array, a host array whose bytes are in this machine's order, or a scalar."""
    if isinstance(arg, (bool, int, float, complex, np.generic)):
        return arg
    if is_cuda_array(arg):
        return as_cuda_array(arg)
    host = as_host_array(arg)
    return host if host.dtype.isnative else host.astype(_native(host.dtype))


def _native(dtype):
    return dtype.newbyteorder("=")


def is_scalar(value):
    return not isinstance(value, (np.ndarray, DeviceNDArray))


def own_type(value):
    """The type of a scalar, or of an array's elements. TypeError where kernels have none for it."""
    return _core.type_of(value) if is_scalar(value) else _core.type_from_dtype(value.dtype)


def is_weak(value):
    """Whether a scalar is Python's own number, which takes the dtype of what it meets."""
    return isinstance(value, (int, float, complex)) and not isinstance(value, (bool, np.generic))


def as_scalar(value, dtype):
    """The number as one of the dtype. OverflowError for an int of Python's that it does not hold."""
    if is_weak(value) and isinstance(value, int):
        if dtype.kind in "iu" and not np.iinfo(dtype).min <= value <= np.iinfo(dtype).max:   # NumPy 1 lets it wrap
            raise OverflowError(f"Python integer {value} out of bounds for {dtype}")
        return np.array(value, dtype)[()]
    return np.asarray(value).astype(dtype)[()]


def as_mask(where, stream):
    """A device array for the argument `where`; None where all elements are meant."""
    if where is True:
        return None
    mask = as_cuda_array(where) if is_cuda_array(where) else as_host_array(where)
    if mask.dtype != np.bool_:
        raise TypeError(f"where is an array of booleans, not of {mask.dtype}")
    return staged(mask, stream)


def staged(value, stream):
    """A device array with the elements of an array."""
    if isinstance(value, DeviceNDArray):
        return value
    if _can_borrow() and value.flags.aligned:
        return _borrow(value)
    has_gaps = not (value.flags.c_contiguous or value.flags.f_contiguous)
    return to_device(np.ascontiguousarray(value) if has_gaps else value, stream)


def castable(array, dtype, stacklevel=4):
    """The device array, or its real parts where complex numbers are to become real ones: NumPy's unsafe casts drop the
    imaginary parts and warn."""
    if array.dtype.kind != "c" or dtype.kind in "cb":
        return array
    warnings.warn("Casting complex values to real discards the imaginary part", _ComplexWarning, stacklevel=stacklevel)
    return view_of(array, dtype=np.dtype(f"f{array.dtype.itemsize // 2}"))


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
    _core.refuse_host_array()
    return DeviceNDArray(host.shape, host.strides, host.dtype, host.ctypes.data, host, not host.flags.writeable)


def device_of_call(name, kind, operands, stream):
    """The device that a call with these operands is to run on; None: the current one. kind: of the devices that the
    function was made for, or None."""
    if kind is None:
        return _core.device_for(name, operands, stream)
    device = device_of_kind(kind)
    for operand in operands:
        if is_cuda_array(operand) and as_cuda_array(operand, sync=False).device.kind != kind:
            raise LaunchArgumentError(f"'{name}' was made for the CPU and got an array in a GPU's memory; "
                                      "array.copy_to_host() gives it to the CPU")
    return None if device is need_device() else device._core


class Target:
    """Where a result goes: `array` is what the loop writes, finish() what the caller gets."""

    def __init__(self, out, shape, dtype, on_device, inputs, stream, casting="no", order="C", keeps=False):
        """out: what the caller gave, or None; inputs: what the loop reads while it writes, as (device array, whether
        each element is read before the one in its place is written); order: of a new array; keeps: whether the loop
        leaves elements as they are. ValueError or TypeError where `out` does not fit.
        """
        self._given, self._on_device, self._stream = out, on_device, stream
        self._host = None   # the caller's array, where the loop writes another one
        if out is None:
            self.array = self._final = self._made(shape, dtype, order)
            return
        self.array = self._final = self._of(_checked(_host_array(out), shape, dtype, casting), keeps)
        is_narrower = dtype.kind == "c" and self._final.dtype.kind != "c"   # what finish() converts
        if is_narrower or any(_overlap(self._final, array, is_safe) for array, is_safe in inputs):
            self.array = device_array(shape, dtype if is_narrower else self._final.dtype, stream=stream)
            if keeps:
                self.array.setitem(Ellipsis, self._final, stream)

    def _made(self, shape, dtype, order):
        if self._on_device or not _can_borrow():
            return device_array(shape, dtype, order=order, stream=self._stream)
        return _borrow(np.empty(shape, dtype, order))

    def _of(self, out, keeps):
        if isinstance(out, DeviceNDArray):
            return out
        if _can_borrow() and out.flags.aligned and out.dtype.isnative:
            return _borrow(out)
        self._host = out
        final = device_array(out.shape, _native(out.dtype), stream=self._stream)
        if keeps:
            final.setitem(Ellipsis, out.astype(final.dtype, copy=False), self._stream)
        return final

    def finish(self):
        """The result: `out`, or a new array or scalar."""
        if self.array is not self._final:
            self._final.setitem(Ellipsis, self.array, self._stream)
        if self._host is not None:
            self._fetch(self._host)
        if self._given is not None:
            return self._given
        if self._on_device:
            return self._final
        host = self._final.base if _can_borrow() else self._final.copy_to_host(stream=self._stream)
        return host if host.shape else host[()]

    def _fetch(self, host):
        if host.flags.c_contiguous and host.dtype.isnative:
            self._final.copy_to_host(host, self._stream)
            if self._stream:
                _synchronize(self._stream)
        else:
            host[...] = self._final.copy_to_host(stream=self._stream)


def _checked(out, shape, dtype, casting):
    """An output as a device array or a host array."""
    if not is_cuda_array(out) and not isinstance(out, np.ndarray):
        raise TypeError(f"out is an array, not {type(out).__name__}")
    array = as_cuda_array(out) if is_cuda_array(out) else out
    if array.shape != shape:
        raise ValueError(f"out has the shape {array.shape}; the result has {shape}")
    if not np.can_cast(dtype, _native(array.dtype), casting):
        rule = "" if casting == "no" else f", which casting={casting!r} does not convert"
        raise TypeError(f"out has the dtype {array.dtype}; the result has {dtype}{rule}")
    if array.read_only if isinstance(array, DeviceNDArray) else not array.flags.writeable:
        raise ValueError("out is read-only")
    return array


def _overlap(target, array, is_safe):
    """Whether writing to the one could change what is still to be read of the other."""
    if not (target.size and array.size):
        return False
    if is_safe and target.pointer == array.pointer and target.strides == array.strides:
        return False
    (first, last), (other_first, other_last) = (
        layout.byte_range(a.pointer, a.shape, a.strides, a.dtype.itemsize) for a in (target, array))
    return first < other_last and other_first < last
