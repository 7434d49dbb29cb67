"""Arrays in device memory, and what moves them there and back."""
import ctypes
import operator

import numpy as np

from cujit import _core
from cujit.cuda import layout
from cujit.cuda.devices import need_device

_SMALL = 1 << 16  # bytes up to which an assigned value is broadcast on the host rather than by a kernel


class DeviceNDArray(_core.DeviceArrayBase):
    """A NumPy-like array in device memory; made by cuda.to_device, cuda.device_array and their like.

    Attributes: shape, strides (bytes), dtype, ndim, size, nbytes, and `stream`, the stream that its copies go to unless
    another one is named. Slices and views share the memory and keep it alive.
    """

    stream = 0

    def __init__(self, shape, strides, dtype, pointer=None, base=None, read_only=False, *, stream=0, gpu_data=None):
        """strides: in bytes, None for C order. pointer: of memory that `base` owns; without it the array gets memory of
        its own, or is in `gpu_data`, the memory of another array."""
        if pointer is None:
            base = gpu_data if gpu_data is not None else _memory(shape, strides, np.dtype(dtype))
            pointer = base.pointer
        super().__init__(shape, strides, dtype, pointer, base, read_only)
        if stream:
            self.stream = stream

    # --- layout ------------------------------------------------------------------------------------------------------

    def is_c_contiguous(self):
        """Whether the elements follow each other in C order, without gaps."""
        return layout.is_contiguous(self.shape, self.strides, self.dtype.itemsize, "C")

    def is_f_contiguous(self):
        """Whether the elements follow each other in Fortran order, without gaps."""
        return layout.is_contiguous(self.shape, self.strides, self.dtype.itemsize, "F")

    def _is_contiguous(self):
        return self.is_c_contiguous() or self.is_f_contiguous()

    @property
    def flags(self):
        return {"C_CONTIGUOUS": self.is_c_contiguous(), "F_CONTIGUOUS": self.is_f_contiguous()}

    @property
    def alloc_size(self):
        """Bytes of memory from the first element to the last."""
        return layout.extent(self.shape, self.strides, self.dtype.itemsize)

    @property
    def gpu_data(self):
        """What owns the memory: the same object for all views of it."""
        owner = self.base
        while isinstance(owner, _core.DeviceArrayBase):
            owner = owner.base
        return owner

    @property
    def device_ctypes_pointer(self):
        """The address of the first element, as C functions called through ctypes take it."""
        return ctypes.c_void_p(self.pointer if self.size else None)

    @property
    def _numba_type_(self):
        """The type that the array has as an argument of a kernel, under the name that numba's extensions know."""
        return _core.type_of(self)

    @property
    def __cuda_array_interface__(self):
        self.share()
        dtype = self.dtype
        interface = {
            "version": 3, "shape": self.shape, "typestr": dtype.str,
            "strides": None if self.is_c_contiguous() else self.strides,
            "data": (self.pointer if self.size else 0, self.read_only),
            "stream": layout.stream_number(self.stream),
        }
        if dtype.names:
            interface["descr"] = dtype.descr
        return interface

    def __repr__(self):
        return f"<device array of {self.dtype}, shape {self.shape}, on {self.device.name}>"

    def __len__(self):
        if not self.shape:
            raise TypeError("len() of a device array without axes")
        return self.shape[0]

    def __iter__(self):
        return (self[k] for k in range(len(self)))

    def bind(self, stream=0):
        """The same array with another stream for its copies."""
        return _view(self, stream=stream)

    # --- to the host -------------------------------------------------------------------------------------------------

    def copy_to_host(self, ary=None, stream=0):
        """A NumPy array with the elements: a new one, or `ary`, which must have the same dtype, shape and strides.

        TypeError for another dtype; ValueError for another shape or order, or a read-only array; NotImplementedError
        for negative strides.
        """
        stream = stream or self.stream
        if ary is not None:
            self._check_target(ary)
        if any(s < 0 for s in self.strides):
            raise NotImplementedError("a device array with negative strides cannot be copied to the host")
        if ary is not None and self._is_contiguous():
            if self.size:
                _core.copy_to_host(ary, self.pointer, stream)
            return ary
        host = self._block_on_host(stream)
        if ary is None:
            return host
        if stream:
            _synchronize(stream)
        ary[...] = host.reshape(ary.shape)
        return ary

    def get(self, stream=0):
        """A NumPy array with the elements, under CuPy's name."""
        return self.copy_to_host(stream=stream)

    def _check_target(self, ary):
        if not isinstance(ary, np.ndarray):
            raise TypeError(f"expected a NumPy array to copy to, not {type(ary).__name__}")
        if ary.dtype != self.dtype:
            raise TypeError(f"cannot copy {self.dtype} to an array of {ary.dtype}")
        if not ary.flags.writeable:
            raise ValueError("cannot copy to a read-only array")
        ours, theirs = (layout.without_unit_axes(a.shape, a.strides) for a in (self, ary))
        if [n for n, _ in ours] != [n for n, _ in theirs]:
            raise ValueError(f"cannot copy shape {self.shape} to shape {ary.shape}")
        if self.size and ours != theirs:
            raise ValueError(f"cannot copy strides {self.strides} to strides {ary.strides}")

    def _block_on_host(self, stream):
        """A new host array with these strides; it holds what is in the gaps too."""
        block = np.empty(self.alloc_size, np.uint8)
        if block.size:
            _core.copy_to_host(block, self.pointer, stream)
        return np.ndarray(self.shape, self.dtype, block, strides=self.strides)

    def __array__(self, dtype=None, copy=None):
        if copy is False:
            raise ValueError("an array in device memory cannot become a NumPy array without a copy")
        host = self.copy_to_host()
        if self.stream:
            _synchronize(self.stream)
        return host if dtype is None else host.astype(dtype, copy=False)

    # --- from the host -----------------------------------------------------------------------------------------------

    def copy_to_device(self, ary, stream=0):
        """Overwrites the elements with those of `ary`, a host or device array of the same dtype and shape.

        TypeError for another dtype; ValueError for another shape, for gaps in this array, and for a device array in
        another order.
        """
        stream = stream or self.stream
        source = as_cuda_array(ary) if is_cuda_array(ary) else as_host_array(ary)
        if source.dtype != self.dtype:
            raise TypeError(f"cannot copy {source.dtype} to a device array of {self.dtype}")
        if [n for n in source.shape if n != 1] != [n for n in self.shape if n != 1]:
            raise ValueError(f"cannot copy shape {source.shape} to shape {self.shape}")
        repeated = tuple(0 if s == 0 and n > 1 else slice(None) for n, s in zip(self.shape, self.strides, strict=True))
        if 0 in repeated and source.shape == self.shape:   # stored once, as cuda.to_device does with such axes
            self[repeated].copy_to_device(source[repeated], stream)
            return
        if not self._is_contiguous():
            raise ValueError("cannot copy to a device array that has gaps; assign to it instead: array[:] = ...")
        if isinstance(source, np.ndarray):
            self._upload(source, stream)
        else:
            self._copy_block(source, stream)

    def _upload(self, host, stream):
        """Copies host elements into this contiguous array, rearranged to its order."""
        if self.size:
            host = np.asarray(host, order="C" if self.is_c_contiguous() else "F")
            _core.copy_to_device(self.pointer, host, stream)

    def _copy_block(self, source, stream):
        if self.size and (layout.without_unit_axes(source.shape, source.strides)
                          != layout.without_unit_axes(self.shape, self.strides)):
            raise ValueError("cannot copy a device array of another order or with gaps; assign to it: array[:] = ...")
        if self.size:
            _core.copy_on_device(self.pointer, source.pointer, self.nbytes, stream)

    # --- items -------------------------------------------------------------------------------------------------------

    def __getitem__(self, index):
        return self.getitem(index)

    def __setitem__(self, index, value):
        self.setitem(index, value)

    def getitem(self, index, stream=0):
        """An element as a NumPy scalar, or a view; of a record, the field of that name."""
        view = self._indexed(index)
        if view.shape or view.dtype.names:
            return view.bind(stream) if stream else view
        return view.copy_to_host(stream=stream or self.stream)[()]

    def setitem(self, index, value, stream=0):
        """Assigns to an element or a view; the value is broadcast and converted. ValueError where it does not fit."""
        stream = stream or self.stream
        view = self._indexed(index)
        if is_cuda_array(value):
            source = as_cuda_array(value)
            layout.broadcast_strides(source.shape, source.strides, view.shape)
            _assign(view, source, stream)
            return
        host = np.asarray(value, view.dtype)
        layout.broadcast_strides(host.shape, host.strides, view.shape)
        if view._is_contiguous() and (host.size == view.size or view.nbytes <= _SMALL):
            view._upload(np.broadcast_to(host, view.shape), stream)
        else:
            _assign(view, to_device(np.ascontiguousarray(host).reshape(host.shape), stream), stream)

    def _indexed(self, index):
        if isinstance(index, str):
            return self._field(index)
        offset, shape, strides = layout.indexed(self.shape, self.strides, self.dtype, index)
        return _view(self, shape, strides, offset=offset)

    def _field(self, name):
        if name not in (self.dtype.names or ()):
            raise KeyError(name)
        dtype, offset = self.dtype.fields[name][:2]
        base, inner = dtype.base, dtype.shape
        strides = self.strides + layout.contiguous_strides(inner, base.itemsize)
        return _view(self, self.shape + inner, strides, base, offset)

    # --- views -------------------------------------------------------------------------------------------------------

    def reshape(self, *shape, order="C"):
        """A view of another shape. NotImplementedError where that would need a copy; ValueError for another size."""
        shape = layout.as_shape(shape[0] if len(shape) == 1 else shape)
        if order not in ("C", "F", "A"):
            raise ValueError(f"order must be 'C', 'F' or 'A', not {order!r}")
        if order == "A":
            order = "F" if self.is_f_contiguous() and not self.is_c_contiguous() else "C"
        shape = layout.reshaped(shape, self.size)
        if shape == self.shape:
            return _view(self)
        if not layout.is_contiguous(self.shape, self.strides, self.dtype.itemsize, order):
            raise NotImplementedError(f"reshaping this array in order '{order}' would need a copy")
        return _view(self, shape, layout.contiguous_strides(shape, self.dtype.itemsize, order))

    def ravel(self, order="C", stream=0):
        """A view with one axis. NotImplementedError where that would need a copy."""
        if order not in ("C", "F", "A"):
            raise ValueError(f"order must be 'C', 'F' or 'A', not {order!r}")
        if order == "A":
            order = "F" if self.is_f_contiguous() and not self.is_c_contiguous() else "C"
        if not layout.is_contiguous(self.shape, self.strides, self.dtype.itemsize, order):
            raise NotImplementedError(f"flattening this array in order '{order}' would need a copy")
        return _view(self, (self.size,), (self.dtype.itemsize,), stream=stream or self.stream)

    def view(self, dtype):
        """The same bytes as another dtype, by NumPy's rules. ValueError where the sizes do not go together."""
        dtype = np.dtype(dtype)
        shape, strides = layout.viewed(self.shape, self.strides, self.dtype, dtype)
        return _view(self, shape, strides, dtype)

    def squeeze(self, axis=None, stream=0):
        """A view without the axes of length one: all, or those named. ValueError for a longer axis."""
        if axis is None:
            drop = {k for k, n in enumerate(self.shape) if n == 1}
        else:
            drop = {operator.index(a) % max(self.ndim, 1) for a in (axis if isinstance(axis, tuple) else (axis,))}
        if any(self.shape[k] != 1 for k in drop):
            raise ValueError(f"cannot squeeze axis {axis} of shape {self.shape}")
        keep = [k for k in range(self.ndim) if k not in drop]
        return _view(self, tuple(self.shape[k] for k in keep), tuple(self.strides[k] for k in keep),
                     stream=stream or self.stream)

    def split(self, section, stream=0):
        """Views of `section` elements each, the last one shorter. ValueError unless there is one axis without gaps."""
        if self.ndim != 1 or not self.is_c_contiguous():
            raise ValueError("only an array of one axis without gaps can be split")
        for start in range(0, self.size, section):
            part = self[start:start + section]
            yield part.bind(stream) if stream else part

    @property
    def T(self):
        return self.transpose()

    def transpose(self, axes=None):
        """A transposed copy of a matrix. NotImplementedError for other numbers of axes."""
        if axes is not None and tuple(axes) == tuple(range(self.ndim)):
            return self
        if axes is not None and sorted(axes) != list(range(self.ndim)):
            raise ValueError(f"{axes} is no order of {self.ndim} axes")
        if self.ndim != 2:
            raise NotImplementedError("only device arrays of two axes can be transposed")
        result = device_array(self.shape[::-1], self.dtype, stream=self.stream)
        _assign(result, _view(self, self.shape[::-1], self.strides[::-1]), self.stream)
        return result


def _view(array, shape=None, strides=None, dtype=None, offset=0, stream=None):
    """A new array object over the memory of `array`."""
    made = DeviceNDArray(array.shape if shape is None else shape, array.strides if strides is None else strides,
                         array.dtype if dtype is None else dtype, array.pointer + offset, array, array.read_only)
    made.stream = array.stream if stream is None else stream
    return made


def _assign(view, source, stream):
    """view[...] = source, both on the device, by a plain copy where the two are laid out alike."""
    if view.size == 0:
        return
    strides = layout.broadcast_strides(source.shape, source.strides, view.shape)
    if source.dtype == view.dtype and view._is_contiguous() and strides == view.strides:
        _core.copy_on_device(view.pointer, source.pointer, view.nbytes, stream)
        return
    from cujit._ufunc import array_loop

    array_loop.assign(view, _view(source, view.shape, strides), stream)


def _synchronize(stream):
    from cujit.cuda.streams import external_stream

    (stream if hasattr(stream, "synchronize") else external_stream(int(stream))).synchronize()


# --- making device arrays --------------------------------------------------------------------------------------------

def device_array(shape, dtype=np.float64, strides=None, order="C", stream=0):
    """An array on the current device, not initialized. `shape`: int or tuple; `strides`: bytes.

    TypeError for a shape that is not of integers, ValueError for another order than "C" and "F".
    """
    need_device()
    shape, dtype = layout.as_shape(shape), np.dtype(dtype)
    if any(n < 0 for n in shape):
        raise ValueError(f"negative length in the shape {shape}")
    if strides is None:
        strides = layout.contiguous_strides(shape, dtype.itemsize, order)
    return _allocate(shape, layout.as_shape(strides), dtype, stream)


def device_array_like(ary, stream=0):
    """An array on the current device with the shape, dtype and order of `ary`, without its gaps, not initialized."""
    ary = as_cuda_array(ary) if is_cuda_array(ary) else ary
    need_device()
    strides = layout.like_strides(ary.shape, ary.strides, ary.dtype.itemsize)
    return _allocate(ary.shape, strides, ary.dtype, stream)


def _memory(shape, strides, dtype):
    need_device()
    if dtype.hasobject:
        raise TypeError(f"device arrays cannot hold Python objects (dtype {dtype})")
    if strides is None:
        strides = layout.contiguous_strides(shape, dtype.itemsize, "C")
    return _core.DeviceBuffer(layout.extent(shape, strides, dtype.itemsize))


def _allocate(shape, strides, dtype, stream):
    buffer = _memory(shape, strides, dtype)
    array = DeviceNDArray(shape, strides, dtype, buffer.pointer, buffer)
    if stream:
        array.stream = stream
    return array


def to_device(obj, stream=0, copy=True, to=None):
    """The array, scalar or nested sequence as a device array; one that is on a device already passes through.

    `to`: an existing device array to copy into, which is returned. copy=False only allocates. ValueError for a host
    array that is not one block of memory; axes of stride 0 are stored once.
    """
    if to is not None:
        if copy:
            to.copy_to_device(obj, stream)
        return to
    if is_cuda_array(obj):
        return as_cuda_array(obj)
    need_device()
    host = as_host_array(obj)
    block = _without_repeats(host)
    if not (block.flags.c_contiguous or block.flags.f_contiguous):
        raise ValueError("only a host array that is one block of memory can be sent; see numpy.ascontiguousarray")
    array = _allocate(host.shape, host.strides, host.dtype, stream)
    if copy and host.size:
        _core.copy_to_device(array.pointer, block, stream)
    return array


def _without_repeats(host):
    """The part of the array that its axes of stride 0 repeat."""
    if 0 not in host.strides or not host.size:
        return host
    return host[(*(0 if s == 0 else slice(None) for s in host.strides), Ellipsis)]


# --- the CUDA Array Interface ----------------------------------------------------------------------------------------

def is_cuda_array(obj):
    """Whether `obj` is in device memory: it has `__cuda_array_interface__`."""
    return isinstance(obj, _core.DeviceArrayBase) or hasattr(obj, "__cuda_array_interface__")


def as_cuda_array(obj, sync=True):
    """A device array over the memory of an object with `__cuda_array_interface__`, which it keeps alive.

    sync: wait for the stream that the object names. TypeError for other objects.
    """
    if isinstance(obj, DeviceNDArray):
        return obj
    if not is_cuda_array(obj):
        raise TypeError(f"{type(obj).__name__} has no __cuda_array_interface__: it is not in device memory")
    return from_cuda_array_interface(obj.__cuda_array_interface__, owner=obj, sync=sync)


def as_host_array(obj):
    """np.asarray(obj). TypeError that says why where NumPy makes an array that holds just this object: it is no array,
    or a buffer that cannot be read."""
    host = np.asarray(obj)
    if host.dtype == object and not host.shape and host[()] is obj:
        try:
            memoryview(obj)
        except (TypeError, ValueError, BufferError) as error:
            raise TypeError(f"a value of type '{type(obj).__name__}' is no array: {error}") from error
    return host


def from_cuda_array_interface(desc, owner=None, sync=True):
    """A device array over the memory that `desc`, a CUDA Array Interface, describes; `owner` is kept alive.

    NotImplementedError for a mask.
    """
    if desc.get("mask") is not None:
        raise NotImplementedError("arrays with a mask are not supported")
    need_device()
    dtype = np.dtype(desc["typestr"])
    if dtype.kind == "V" and desc.get("descr"):
        dtype = np.lib.format.descr_to_dtype(desc["descr"])
    pointer, read_only = desc["data"]
    strides = desc.get("strides")
    array = DeviceNDArray(tuple(desc["shape"]), None if strides is None else tuple(strides), dtype, pointer or 0, owner,
                          read_only)
    if desc.get("stream"):
        from cujit.cuda.streams import external_stream

        array.stream = external_stream(desc["stream"])
        if sync and _core.get_setting("array_interface_sync"):
            array.stream.synchronize()
    return array


