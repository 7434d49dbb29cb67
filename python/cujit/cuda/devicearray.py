"""Arrays in device memory, and what moves them there and back."""
from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from cujit import _core
from cujit.cuda._array import layout
from cujit.cuda._array.arithmetic import Arithmetic
from cujit.cuda._array.array_methods import ArrayMethods
from cujit.cuda._array.array_views import ArrayViews, view_of
from cujit.cuda.devices import need_device, on

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import DTypeLike, NDArray

    from cujit._annotations import HostOrDeviceArray, Shape, StreamLike
    from cujit.cuda._memory.ipc import IpcArrayHandle

_NEITHER = (np.generic, int, float, complex, str, bytes, tuple, list)  # what no library makes an array of
_SMALL = 1 << 16  # bytes up to which an assigned value is broadcast on the host rather than by a kernel


class DeviceNDArray(ArrayViews, ArrayMethods, Arithmetic):
    """A NumPy-like array in device memory; made by cuda.to_device, cuda.device_array and their like.

    Slices and views share the memory and keep it alive.

    Attributes
    ----------
    shape : tuple of int
        Elements along each axis.
    strides : tuple of int
        Bytes from one element to the next along each axis.
    dtype : numpy.dtype
        The type of the elements.
    ndim, size, nbytes : int
        The number of axes, of elements, and of bytes that the elements take.
    stream : Stream or int
        Where copies go unless another stream is named; 0 is the default stream.

    Examples
    --------
    >>> array = cuda.to_device(np.arange(6).reshape(2, 3))
    >>> array.shape, array.strides, array.nbytes
    ((2, 3), (24, 8), 48)
    >>> array[1, 0].item(), array[:, 2].copy_to_host()
    (3, array([2, 5]))
    """

    def __init__(self, shape: tuple[int, ...], strides: tuple[int, ...] | None, dtype: DTypeLike,
                 pointer: int | None = None, base: Any = None, read_only: bool = False, *, stream: StreamLike = 0,
                 gpu_data: Any = None) -> None:
        """An array in memory of its own, or over other memory.

        Parameters
        ----------
        shape : tuple of int
            Elements along each axis.
        strides : tuple of int or None
            Bytes along each axis; None for C order.
        dtype : dtype_like
            The type of the elements.
        pointer : int, optional
            The address of the first element, in memory that `base` owns.
        base : object, optional
            What is kept alive as long as the array.
        read_only : bool
            Whether kernels may not write the elements.
        stream : Stream or int
            Where copies go unless another stream is named.
        gpu_data : object, optional
            Where there is no `pointer`: the memory of another array, as its `gpu_data`. Without it memory is allocated.
        """
        if pointer is None:
            base = gpu_data if gpu_data is not None else _memory(shape, strides, np.dtype(dtype))
            pointer = base.pointer
        super().__init__(shape, strides, dtype, pointer, base, read_only)
        if stream:
            self.stream = stream

    def _over(self, shape: tuple[int, ...], strides: tuple[int, ...], dtype: DTypeLike, pointer: int) -> DeviceNDArray:
        return DeviceNDArray(shape, strides, dtype, pointer, self, self.read_only)

    # --- to the host -------------------------------------------------------------------------------------------------

    def _repr_html_(self) -> str:
        """What Jupyter shows: what the array is. Its elements stay where they are."""
        import html

        facts = {"shape": self.shape, "dtype": self.dtype, "strides": self.strides, "memory": f"{self.nbytes} bytes",
                 "device": self.device.name}
        rows = "".join(f"<tr><td>{name}</td><td>{html.escape(str(fact))}</td></tr>" for name, fact in facts.items())
        return f"<code>device array</code><table>{rows}</table>"

    def copy_to_host(self, ary: NDArray[Any] | None = None, stream: StreamLike = 0) -> NDArray[Any]:
        """Copies the elements to the host.

        Parameters
        ----------
        ary : numpy.ndarray, optional
            Where to; a new array unless it is given. It must have the same dtype, shape and strides.
        stream : Stream or int
            The copy is put into this stream, the array's own one unless it is given. A copy on a stream does not wait
            where `ary` is page-locked (cuda.pinned_array).

        Returns
        -------
        numpy.ndarray
            `ary`, or the new array.

        Raises
        ------
        TypeError
            `ary` is no NumPy array or has another dtype.
        ValueError
            `ary` has another shape or order, or is read-only.
        NotImplementedError
            The array has negative strides.

        Examples
        --------
        >>> array = cuda.to_device(np.arange(4))
        >>> array.copy_to_host()
        array([0, 1, 2, 3])
        >>> host = np.empty(2, np.int64)
        >>> array[2:].copy_to_host(host) is host
        True
        """
        stream = stream or _core.current_stream() or self.stream
        if ary is not None:
            self._check_target(ary)
        if any(s < 0 for s in self.strides):
            raise NotImplementedError("a device array with negative strides cannot be copied to the host")
        if ary is not None and self._is_contiguous():
            if self.size:
                _core.copy_to_host(ary, self, stream)
            return ary
        host = self._block_on_host(stream)
        if ary is None:
            return host
        if stream:
            _synchronize(stream)
        ary[...] = host.reshape(ary.shape)
        return ary

    def get(self, stream: StreamLike = 0) -> NDArray[Any]:
        """Copies the elements to the host, under CuPy's name.

        Parameters
        ----------
        stream : Stream or int
            As for copy_to_host.

        Returns
        -------
        numpy.ndarray

        Raises
        ------
        NotImplementedError
            The array has negative strides.

        Examples
        --------
        >>> cuda.to_device([1, 2]).get()
        array([1, 2])
        """
        return self.copy_to_host(stream=stream)

    def _check_target(self, ary: NDArray[Any]) -> None:
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

    def _block_on_host(self, stream: StreamLike) -> NDArray[Any]:
        """A new host array with these strides; it holds what is in the gaps too."""
        block = np.empty(self.alloc_size, np.uint8)
        if block.size:
            _core.copy_to_host(block, self, stream, True)
        return np.ndarray(self.shape, self.dtype, block, strides=self.strides)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError("an array in device memory cannot become a NumPy array without a copy")
        host = self.copy_to_host()
        if self.stream:
            _synchronize(self.stream)
        return host if dtype is None else host.astype(dtype, copy=False)

    def __reduce__(self) -> tuple[Any, ...]:
        host = self.copy_to_host()
        return to_device, (host if self._is_contiguous() else host.copy(order="C"),)

    # --- to other libraries ------------------------------------------------------------------------------------------

    def __dlpack_device__(self) -> tuple[int, int]:
        """Where the memory is, in DLPack's numbers.

        Returns
        -------
        (int, int)
            (2, number) for a GPU, (1, 0) for the CPU device.

        Examples
        --------
        >>> len(cuda.device_array(4).__dlpack_device__())
        2
        """
        from cujit.cuda._array import dlpack

        return dlpack.device_of(self)

    def __dlpack__(self, *, stream: int | None = None, max_version: tuple[int, int] | None = None,
                   dl_device: tuple[int, int] | None = None, copy: bool | None = None) -> object:
        """The array for other libraries, by DLPack: their from_dlpack() calls it.

        Parameters
        ----------
        stream : int, optional
            The stream on which the array will be used waits for the work on it. None: the default stream; -1: no
            stream waits.
        max_version : (int, int), optional
            The newest version that the caller knows; from version 1 on capsules tell whether the array is read-only.
        dl_device : (int, int), optional
            Where the elements are wanted: where they are, or (1, 0), to which they are copied.
        copy : bool, optional
            True: always copy; False: never.

        Returns
        -------
        capsule
            Keeps the array alive until it is given back.

        Raises
        ------
        BufferError
            DLPack has no dtype for the elements, or no way to say that they are read-only or to have them there.
        ValueError
            `stream` is no stream.

        Examples
        --------
        >>> cuda.from_dlpack(cuda.to_device(np.arange(3))).copy_to_host()
        array([0, 1, 2])
        """
        from cujit.cuda._array import dlpack

        return dlpack.capsule_of(self, dlpack.device_of(self), stream, max_version, dl_device, copy)

    # --- from the host -----------------------------------------------------------------------------------------------

    def copy_to_device(self, ary: Any, stream: StreamLike = 0) -> None:
        """Takes the elements of another array into this one, which must not have gaps.

        Parameters
        ----------
        ary : array_like or device array
            Of the same shape and dtype; host elements are rearranged to this array's order, device arrays must have it,
            and may overlap with this one.
        stream : Stream or int
            The copy is put into this stream, the array's own one unless it is given.

        Raises
        ------
        TypeError
            `ary` has another dtype.
        ValueError
            `ary` has another shape, or a device array another order; or this array has gaps.

        Examples
        --------
        >>> array = cuda.device_array(3, np.int64)
        >>> array.copy_to_device(np.array([7, 8, 9]))
        >>> array.copy_to_host()
        array([7, 8, 9])
        """
        stream = stream or _core.current_stream() or self.stream
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

    def _upload(self, host: NDArray[Any], stream: StreamLike) -> None:
        """Copies host elements into this contiguous array, rearranged to its order."""
        if self.size:
            host = np.asarray(host, order="C" if self.is_c_contiguous() else "F")
            _core.copy_to_device(self, host, stream)

    def _copy_block(self, source: DeviceNDArray, stream: StreamLike) -> None:
        if self.size and (layout.without_unit_axes(source.shape, source.strides)
                          != layout.without_unit_axes(self.shape, self.strides)):
            raise ValueError("cannot copy a device array of another order or with gaps; assign to it: array[:] = ...")
        if not self.size:
            return
        if 0 < abs(self.pointer - source.pointer) < self.nbytes:   # the driver copies in any order
            between = device_array(self.nbytes, np.uint8, stream=stream)
            _core.copy_on_device(between, source, self.nbytes, stream)
            _core.copy_on_device(self, between, self.nbytes, stream)
        else:
            _core.copy_on_device(self, source, self.nbytes, stream)

    def get_ipc_handle(self) -> IpcArrayHandle:
        """The array for another process of the same machine, which gets the handle pickled and opens it.

        Memory of cujit's pool cannot be given away: the elements move once to memory of the driver's own, which nobody
        may know of but the array.

        Returns
        -------
        IpcArrayHandle
            It keeps the memory for as long as it lives; that must be as long as others use it.

        Raises
        ------
        CudaAPIError
            There are views of the array already, another library or a kernel knows its address, it is in memory of
            the host, or on the CPU device.

        Examples
        --------
        >>> cuda.to_device([1]).get_ipc_handle()  # doctest: +SKIP
        <cujit.cuda._memory.ipc.IpcArrayHandle object at 0x7fda6523f7a0>
        """
        from cujit.cuda._memory import ipc

        return ipc.handle_of_array(self)

    # --- items -------------------------------------------------------------------------------------------------------

    def __iter__(self) -> Iterator[Any]:
        return (self[k] for k in range(len(self)))

    def __getitem__(self, index: Any) -> Any:
        return self.getitem(index)

    def __setitem__(self, index: Any, value: Any) -> None:
        self.setitem(index, value)

    def getitem(self, index: Any, stream: StreamLike = 0) -> Any:
        """An element or a view, as array[index] gives it.

        Parameters
        ----------
        index : int, slice, None, Ellipsis or tuple of them, or str
            As for NumPy's basic indexing; text names a field of records.
        stream : Stream or int
            Copies an element, and is the stream of a view; the array's own one unless it is given.

        Returns
        -------
        numpy scalar or DeviceNDArray
            An element on the host, or a view.

        Raises
        ------
        IndexError
            The index is out of range, or neither integers nor slices.
        KeyError
            There is no field of that name.

        Examples
        --------
        >>> array = cuda.to_device(np.array([[1, 2], [3, 4]]))
        >>> array.getitem((1, 0)).item(), array.getitem(1).copy_to_host()
        (3, array([3, 4]))
        """
        view = self._indexed(index)
        if view.shape or view.dtype.names:
            return view.bind(stream) if stream else view
        return view.copy_to_host(stream=stream or _core.current_stream() or self.stream)[()]

    def setitem(self, index: Any, value: Any, stream: StreamLike = 0) -> None:
        """Assigns to an element or a view, as array[index] = value does.

        Parameters
        ----------
        index : int, slice, None, Ellipsis or tuple of them, or str
            As for getitem.
        value : scalar, array_like or device array
            Is broadcast to the view's shape and converted to the array's dtype.
        stream : Stream or int
            The assignment is put into this stream, the array's own one unless it is given.

        Raises
        ------
        ValueError
            The value has no shape that fits.
        IndexError, KeyError
            As for getitem.

        Examples
        --------
        >>> array = cuda.to_device(np.zeros((2, 3)))
        >>> array.setitem((slice(None), 1), 5)
        >>> array[0] = [1, 2, 3]
        >>> array.copy_to_host()
        array([[1., 2., 3.],
               [0., 5., 0.]])
        """
        stream = stream or _core.current_stream() or self.stream
        view = self._indexed(index)
        if is_cuda_array(value):
            source = as_cuda_array(value)
            layout.broadcast_strides(source.shape, source.strides, view.shape)
            _assign(view, source, stream)
            return
        host = _converted(value, view.dtype)
        layout.broadcast_strides(host.shape, host.strides, view.shape)
        if view._is_contiguous() and (host.size == view.size or view.nbytes <= _SMALL):
            view._upload(np.broadcast_to(host, view.shape), stream)
        else:
            with on(view.device):
                _assign(view, to_device(np.ascontiguousarray(host).reshape(host.shape), stream), stream)

    # --- views -------------------------------------------------------------------------------------------------------

    @property
    def T(self) -> DeviceNDArray:
        """transpose(), under NumPy's name.

        Returns
        -------
        DeviceNDArray

        Raises
        ------
        NotImplementedError
            The array has not two axes.

        Examples
        --------
        >>> cuda.to_device(np.array([[1, 2, 3]])).T.copy_to_host().tolist()
        [[1], [2], [3]]
        """
        return self.transpose()

    def transpose(self, axes: Sequence[int] | None = None) -> DeviceNDArray:
        """A transposed copy of a matrix.

        Parameters
        ----------
        axes : sequence of int, optional
            (1, 0), which is meant without it; (0, 1) gives the array itself.

        Returns
        -------
        DeviceNDArray
            In C order.

        Raises
        ------
        ValueError
            `axes` is no order of the axes.
        NotImplementedError
            The array has not two axes.

        Examples
        --------
        >>> cuda.to_device(np.array([[1, 2], [3, 4]])).transpose().copy_to_host()
        array([[1, 3],
               [2, 4]])
        """
        if axes is not None and tuple(axes) == tuple(range(self.ndim)):
            return self
        if axes is not None and sorted(axes) != list(range(self.ndim)):
            raise ValueError(f"{axes} is no order of {self.ndim} axes")
        if self.ndim != 2:
            raise NotImplementedError("only device arrays of two axes can be transposed")
        with on(self.device):
            result = device_array(self.shape[::-1], self.dtype, stream=self.stream)
        _assign(result, view_of(self, self.shape[::-1], self.strides[::-1]), self.stream)
        return result


def _assign(view: DeviceNDArray, source: DeviceNDArray, stream: StreamLike) -> None:
    """view[...] = source, both on the device, by a plain copy where the two are laid out alike."""
    if view.size == 0:
        return
    strides = layout.broadcast_strides(source.shape, source.strides, view.shape)
    if source.pointer != view.pointer or strides != view.strides or source.dtype != view.dtype:
        source, strides = _apart(view, source, strides, stream)
    if source.dtype == view.dtype and view._is_contiguous() and strides == view.strides:
        _core.copy_on_device(view, source, view.nbytes, stream)
        return
    from cujit._ufunc import array_loop

    if source.device is not view.device:
        source = _brought_to(view.device, source, stream)
        strides = layout.broadcast_strides(source.shape, source.strides, view.shape)
    with on(view.device):
        array_loop.assign(view, view_of(source, view.shape, strides), stream)


def _apart(view: DeviceNDArray, source: DeviceNDArray, strides: tuple[int, ...], stream: StreamLike
           ) -> tuple[DeviceNDArray, tuple[int, ...]]:
    """(the source, its strides for the view's shape): a copy, where writing to the view would change it."""
    first, last = layout.byte_range(view.pointer, view.shape, view.strides, view.dtype.itemsize)
    other, other_last = layout.byte_range(source.pointer, source.shape, source.strides, source.dtype.itemsize)
    if first >= other_last or other >= last or source.device is not view.device:
        return source, strides
    with on(source.device):
        own = device_array(source.shape, source.dtype, stream=stream)
        _assign(own, source, stream)
    return own, layout.broadcast_strides(own.shape, own.strides, view.shape)


def _brought_to(device: _core.Device, source: DeviceNDArray, stream: StreamLike) -> DeviceNDArray:
    """The elements of an array of another device, without gaps. What is between is not ordered by one stream."""
    if stream:
        _synchronize(stream)
    if not source._is_contiguous():
        with on(source.device):
            block = device_array_like(source)
            _assign(block, source, 0)
        source = block
    with on(device):
        near = device_array_like(source)
        near.copy_to_device(source)
    return near


def _synchronize(stream: StreamLike) -> None:
    _core.synchronize_stream(stream)


# --- making device arrays --------------------------------------------------------------------------------------------

def device_array(shape: Shape, dtype: DTypeLike = np.float64, strides: Sequence[int] | None = None, order: str = "C",
                 stream: StreamLike = 0) -> DeviceNDArray:
    """An array on the current device, not initialized. `shape`: int or tuple; `strides`: bytes.

    TypeError for a shape that is not of integers, ValueError for another order than "C" and "F".
    """
    need_device()
    lengths, element = layout.of_new_array(shape, dtype)
    if strides is None:
        strides = layout.contiguous_strides(lengths, element.itemsize, order)
    return _allocate(lengths, layout.as_shape(strides), element, stream)


def device_array_like(ary: HostOrDeviceArray, stream: StreamLike = 0) -> DeviceNDArray:
    """An array on the current device with the shape, dtype and order of `ary`, without its gaps, not initialized."""
    like: Any = as_cuda_array(ary) if is_cuda_array(ary) else ary if isinstance(ary, np.ndarray) else as_host_array(ary)
    need_device()
    strides = layout.like_strides(like.shape, like.strides, like.dtype.itemsize)
    return _allocate(like.shape, strides, like.dtype, stream)


def converted_copy(array: DeviceNDArray, dtype: np.dtype[Any], stream: StreamLike = 0) -> DeviceNDArray:
    """A new array with the elements as another dtype, where the array is, in its order."""
    if array.dtype != dtype and (array.dtype.names or dtype.names or {array.dtype.kind, dtype.kind} & set("SUO")):
        raise TypeError(f"a device array of {array.dtype} cannot become one of {dtype}")
    stream = stream or _core.current_stream() or array.stream
    with on(array.device):
        strides = layout.like_strides(array.shape, array.strides, array.dtype.itemsize)
        packed = tuple(s // array.dtype.itemsize * dtype.itemsize for s in strides)
        made = _allocate(array.shape, packed, dtype, stream)
        _assign(made, array, stream)
    return made


def _converted(value: Any, dtype: np.dtype[Any]) -> np.ndarray:
    """What is assigned, as an array of that dtype. Integers wrap around, as they do when a kernel stores them."""
    source = _host_array(value)
    if dtype.kind in "iu":
        own = np.asarray(source)
        if own.dtype.kind in "iu":
            return own.astype(dtype)
    return np.asarray(source, dtype)


def _memory(shape: tuple[int, ...], strides: tuple[int, ...] | None, dtype: np.dtype[Any]) -> _core.DeviceBuffer:
    need_device()
    if dtype.hasobject:
        raise TypeError(f"device arrays cannot hold Python objects (dtype {dtype})")
    if strides is None:
        strides = layout.contiguous_strides(shape, dtype.itemsize, "C")
    return _core.DeviceBuffer(layout.extent(shape, strides, dtype.itemsize))


def _allocate(shape: tuple[int, ...], strides: tuple[int, ...], dtype: np.dtype[Any],
              stream: StreamLike) -> DeviceNDArray:
    buffer = _memory(shape, strides, dtype)
    array = DeviceNDArray(shape, strides, dtype, buffer.pointer, buffer)
    if stream:
        array.stream = stream
    return array


def to_device(obj: Any, stream: StreamLike = 0, copy: bool = True, to: DeviceNDArray | None = None) -> DeviceNDArray:
    """The array, scalar or nested sequence as a device array; one that is on a device already passes through.

    `to`: an existing device array to copy into, which is returned. copy=False only allocates. ValueError for a host
    array that is not one block of memory; axes of stride 0 are stored once.
    """
    if to is not None and not isinstance(to, DeviceNDArray):
        raise TypeError(f"`to` is a device array, not of type {type(to).__name__!r}")
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
        _core.copy_to_device(array, block, stream)
    return array


def _without_repeats(host: NDArray[Any]) -> NDArray[Any]:
    """The part of the array that its axes of stride 0 repeat."""
    if 0 not in host.strides or not host.size:
        return host
    return host[(*(0 if s == 0 else slice(None) for s in host.strides), Ellipsis)]


# --- the CUDA Array Interface ----------------------------------------------------------------------------------------

def is_cuda_array(obj: object) -> bool:
    """Whether `obj` is an array in memory that the device reaches: a device array, or another library's array with
    `__cuda_array_interface__` or with DLPack and memory of a GPU."""
    return isinstance(obj, _core.DeviceArrayBase) or (not isinstance(obj, _NEITHER) and
                                                      _core.is_in_device_memory(obj))


def as_cuda_array(obj: Any, sync: bool = True) -> DeviceNDArray:
    """A device array over the memory of another library's array in device memory, which it keeps alive.

    obj: has `__cuda_array_interface__`, or DLPack. sync: wait for the stream that the object names. TypeError for other
    objects.
    """
    if isinstance(obj, DeviceNDArray):
        return obj
    if not is_cuda_array(obj):
        raise TypeError(f"{type(obj).__name__} has neither __cuda_array_interface__ nor DLPack for memory of a device: "
                        "it is not in device memory")
    if isinstance(obj, np.ndarray) or not hasattr(type(obj), "__dlpack__"):   # the dtype may be one of copies alone
        return from_cuda_array_interface(obj.__cuda_array_interface__, owner=obj, sync=sync)
    need_device()
    viewed = _core.view_array(DeviceNDArray, obj)
    if viewed is None:
        raise TypeError(f"the array of type '{type(obj).__name__}' is in host memory")
    _put_on_stream(*viewed, sync)
    return viewed[0]


def _put_on_stream(array: DeviceNDArray, handle: int | None, sync: bool) -> None:
    if handle:
        from cujit.cuda.streams import external_stream

        with on(array.device):
            array.stream = external_stream(handle)
        if sync and _core.get_setting("array_interface_sync"):
            array.stream.synchronize()


def _host_array(obj: Any) -> Any:
    """A NumPy array over another library's array in host memory; other objects as they are."""
    host = None if isinstance(obj, (np.ndarray, *_NEITHER)) else _core.host_array(obj)
    return obj if host is None else host


def auto_device(obj: Any, stream: StreamLike = 0, copy: bool = True) -> tuple[Any, bool]:
    """(a device array, whether it was made now): the array itself, or for a host array one with its elements if `copy`.
    """
    if is_cuda_array(obj):
        return obj, False
    return (to_device(obj, stream) if copy else device_array_like(obj, stream)), True


def as_host_array(obj: Any) -> NDArray[Any]:
    """np.asarray(obj). TypeError that says why where NumPy makes an array that holds just this object: it is no array,
    or a buffer that cannot be read."""
    host = np.asarray(_host_array(obj))
    holds_obj: bool = host.dtype == object and not host.shape and host[()] is obj
    if holds_obj:
        try:
            memoryview(obj)
        except (TypeError, ValueError, BufferError) as error:
            raise TypeError(f"a value of type '{type(obj).__name__}' is no array: {error}") from error
    return host


def from_cuda_array_interface(desc: dict[str, Any], owner: Any = None, sync: bool = True) -> DeviceNDArray:
    """A device array over the memory that `desc`, a CUDA Array Interface, describes; `owner` is kept alive.

    NotImplementedError for a mask; TypeError, ValueError and KeyError for what is no such interface.
    """
    if not isinstance(desc, dict):
        raise TypeError("__cuda_array_interface__ is not a dict")
    if desc.get("mask") is not None:
        raise NotImplementedError("arrays with a mask are not supported")
    need_device()
    if not isinstance(desc["typestr"], str):
        raise TypeError("'typestr' of __cuda_array_interface__ is no text")
    dtype = np.dtype(desc["typestr"])
    if dtype.hasobject:
        raise TypeError(f"device arrays cannot hold Python objects (dtype {dtype})")
    if dtype.kind == "V" and desc.get("descr"):
        dtype = np.lib.format.descr_to_dtype(desc["descr"])
    pointer, read_only = desc["data"]
    strides = desc.get("strides")
    array = DeviceNDArray(tuple(desc["shape"]), None if strides is None else tuple(strides), dtype,
                          0 if pointer is None else operator.index(pointer), owner, read_only)
    first, last = layout.byte_range(array.pointer, array.shape, array.strides, dtype.itemsize)
    if array.size and (not array.pointer or first < 0 or last > 1 << 64):
        raise ValueError("what __cuda_array_interface__ says of the array is outside of the address space")
    _put_on_stream(array, desc.get("stream"), sync)
    return array


if not TYPE_CHECKING:
    def __getattr__(name):
        if name.startswith("__"):   # the import system asks for __path__
            raise AttributeError(name)
        from cujit._numba.names import missing_from_driver_module

        return missing_from_driver_module("devicearray", name)
