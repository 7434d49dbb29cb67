"""Device arrays as shapes and strides: what an array says of itself, and its views. No element is moved."""
from __future__ import annotations

import ctypes
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from cujit import _core
from cujit.cuda._array import layout

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import DTypeLike

    from cujit._annotations import StreamLike
    from cujit.cuda.devicearray import DeviceNDArray


class ArrayViews(_core.DeviceArrayBase):
    """What DeviceNDArray can do with shape and strides alone."""

    stream: StreamLike = 0

    def _over(self, shape: tuple[int, ...], strides: tuple[int, ...], dtype: DTypeLike, pointer: int) -> DeviceNDArray:
        """An array over this one's memory, which it keeps alive."""
        raise NotImplementedError

    # --- layout -------------------------------------------------------------------------------------------------------

    def is_c_contiguous(self) -> bool:
        """Whether the elements follow each other in C order, without gaps.

        Returns
        -------
        bool

        Examples
        --------
        >>> array = cuda.device_array((2, 3))
        >>> array.is_c_contiguous(), array[:, 1:].is_c_contiguous()
        (True, False)
        """
        return layout.is_contiguous(self.shape, self.strides, self.dtype.itemsize, "C")

    def is_f_contiguous(self) -> bool:
        """Whether the elements follow each other in Fortran order, without gaps.

        Returns
        -------
        bool

        Examples
        --------
        >>> cuda.device_array((2, 3), order="F").is_f_contiguous()
        True
        """
        return layout.is_contiguous(self.shape, self.strides, self.dtype.itemsize, "F")

    def _is_contiguous(self) -> bool:
        return self.is_c_contiguous() or self.is_f_contiguous()

    @property
    def flags(self) -> dict[str, bool]:
        """Whether the array is contiguous in either order, under NumPy's names.

        Returns
        -------
        dict of str to bool
            "C_CONTIGUOUS" and "F_CONTIGUOUS".

        Examples
        --------
        >>> cuda.device_array((2, 3)).flags
        {'C_CONTIGUOUS': True, 'F_CONTIGUOUS': False}
        """
        return {"C_CONTIGUOUS": self.is_c_contiguous(), "F_CONTIGUOUS": self.is_f_contiguous()}

    @property
    def alloc_size(self) -> int:
        """Bytes of memory from the first element to the last, gaps included.

        Returns
        -------
        int

        Examples
        --------
        >>> cuda.device_array(10, np.float32)[::3].alloc_size
        40
        """
        return layout.extent(self.shape, self.strides, self.dtype.itemsize)

    @property
    def gpu_data(self) -> Any:
        """What owns the memory: the same object for all views of it.

        Returns
        -------
        object

        Examples
        --------
        >>> array = cuda.device_array(4)
        >>> array[2:].gpu_data is array.gpu_data
        True
        """
        owner = self.base
        while isinstance(owner, _core.DeviceArrayBase):
            owner = owner.base
        return owner

    @property
    def device_ctypes_pointer(self) -> Any:
        """The address of the first element, as C functions called through ctypes take it.

        Returns
        -------
        ctypes.c_void_p
            Of None for an array without elements.

        Examples
        --------
        >>> array = cuda.device_array(4)
        >>> array.device_ctypes_pointer.value == array.pointer
        True
        """
        self.share()
        return ctypes.c_void_p(self.pointer if self.size else None)

    @property
    def _numba_type_(self) -> _core.Type:
        """The type that the array has as an argument of a kernel, under the name that numba's extensions know."""
        return _core.type_of(self)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """The array for other libraries, by version 3 of the CUDA Array Interface.

        Returns
        -------
        dict
            "shape", "strides" in bytes (None for C order), "typestr", "data" (address, whether it is read-only) and
            "stream".

        Examples
        --------
        >>> sorted(cuda.device_array(4).__cuda_array_interface__)
        ['data', 'shape', 'stream', 'strides', 'typestr', 'version']
        """
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

    def __repr__(self) -> str:
        return f"<device array of {self.dtype}, shape {self.shape}, on {self.device.name}>"

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a device array without axes")
        return self.shape[0]

    # --- views --------------------------------------------------------------------------------------------------------

    def bind(self, stream: StreamLike = 0) -> DeviceNDArray:
        """The same array with another stream for its copies.

        Parameters
        ----------
        stream : Stream or int
            Where copies go unless another stream is named.

        Returns
        -------
        DeviceNDArray
            A view of the whole array.

        Examples
        --------
        >>> stream = cuda.stream()
        >>> cuda.device_array(4).bind(stream).stream is stream
        True
        """
        return view_of(self, stream=stream)

    def reshape(self, *shape: Any, order: str = "C") -> DeviceNDArray:
        """A view of another shape.

        Parameters
        ----------
        *shape : int, or a tuple of int
            Elements along each axis; one of them may be -1.
        order : {"C", "F", "A"}
            In which order elements are taken and laid out; "A" is "F" for arrays in Fortran order, else "C".

        Returns
        -------
        DeviceNDArray

        Raises
        ------
        ValueError
            The size would be another one, or the order is none of these.
        NotImplementedError
            The view would need a copy.

        Examples
        --------
        >>> cuda.to_device(np.arange(6)).reshape(2, -1).copy_to_host()
        array([[0, 1, 2],
               [3, 4, 5]])
        """
        shape = layout.as_shape(shape[0] if len(shape) == 1 else shape)
        if order not in ("C", "F", "A"):
            raise ValueError(f"order must be 'C', 'F' or 'A', not {order!r}")
        if order == "A":
            order = "F" if self.is_f_contiguous() and not self.is_c_contiguous() else "C"
        shape = layout.reshaped(shape, self.size)
        if shape == self.shape:
            return view_of(self)
        if not layout.is_contiguous(self.shape, self.strides, self.dtype.itemsize, order):
            raise NotImplementedError(f"reshaping this array in order '{order}' would need a copy")
        return view_of(self, shape, layout.contiguous_strides(shape, self.dtype.itemsize, order))

    def ravel(self, order: str = "C", stream: StreamLike = 0) -> DeviceNDArray:
        """A view with one axis.

        Parameters
        ----------
        order : {"C", "F", "A"}
            As for reshape.
        stream : Stream or int
            The view's stream; the array's own one unless it is given.

        Returns
        -------
        DeviceNDArray

        Raises
        ------
        ValueError
            The order is none of these.
        NotImplementedError
            The view would need a copy.

        Examples
        --------
        >>> cuda.to_device(np.eye(2)).ravel().copy_to_host()
        array([1., 0., 0., 1.])
        """
        if order not in ("C", "F", "A"):
            raise ValueError(f"order must be 'C', 'F' or 'A', not {order!r}")
        if order == "A":
            order = "F" if self.is_f_contiguous() and not self.is_c_contiguous() else "C"
        if not layout.is_contiguous(self.shape, self.strides, self.dtype.itemsize, order):
            raise NotImplementedError(f"flattening this array in order '{order}' would need a copy")
        return view_of(self, (self.size,), (self.dtype.itemsize,), stream=stream or self.stream)

    def view(self, dtype: DTypeLike) -> DeviceNDArray:
        """The same bytes as another dtype, by NumPy's rules.

        Parameters
        ----------
        dtype : dtype_like
            Of any size where the last axis has no gaps, else of the same one.

        Returns
        -------
        DeviceNDArray

        Raises
        ------
        ValueError
            The sizes do not go together.

        Examples
        --------
        >>> cuda.to_device(np.array([1.0], np.float32)).view(np.uint32).copy_to_host()
        array([1065353216], dtype=uint32)
        """
        dtype = np.dtype(dtype)
        shape, strides = layout.viewed(self.shape, self.strides, self.dtype, dtype)
        return view_of(self, shape, strides, dtype)

    def squeeze(self, axis: int | tuple[int, ...] | None = None, stream: StreamLike = 0) -> DeviceNDArray:
        """A view without axes of length one.

        Parameters
        ----------
        axis : int or tuple of int, optional
            Which ones; all of them unless it is given.
        stream : Stream or int
            The view's stream; the array's own one unless it is given.

        Returns
        -------
        DeviceNDArray

        Raises
        ------
        ValueError
            An axis that was named is longer.

        Examples
        --------
        >>> cuda.device_array((1, 3, 1)).squeeze().shape
        (3,)
        """
        if axis is None:
            drop = {k for k, n in enumerate(self.shape) if n == 1}
        else:
            drop = {operator.index(a) % max(self.ndim, 1) for a in (axis if isinstance(axis, tuple) else (axis,))}
        if any(self.shape[k] != 1 for k in drop):
            raise ValueError(f"cannot squeeze axis {axis} of shape {self.shape}")
        keep = [k for k in range(self.ndim) if k not in drop]
        return view_of(self, tuple(self.shape[k] for k in keep), tuple(self.strides[k] for k in keep),
                     stream=stream or self.stream)

    def split(self, section: int, stream: StreamLike = 0) -> Iterator[DeviceNDArray]:
        """Views of neighbouring elements, one after another.

        Parameters
        ----------
        section : int
            Elements of each view; the last one may have fewer.
        stream : Stream or int
            The views' stream; the array's own one unless it is given.

        Yields
        ------
        DeviceNDArray

        Raises
        ------
        ValueError
            The array has not one axis, or gaps.

        Examples
        --------
        >>> [part.size for part in cuda.device_array(5).split(2)]
        [2, 2, 1]
        """
        if self.ndim != 1 or not self.is_c_contiguous():
            raise ValueError("only an array of one axis without gaps can be split")
        for start in range(0, self.size, section):
            part = self._indexed(slice(start, start + section))
            yield part.bind(stream) if stream else part

    def _indexed(self, index: Any) -> DeviceNDArray:
        if isinstance(index, str):
            return self._field(index)
        offset, shape, strides = layout.indexed(self.shape, self.strides, self.dtype, index)
        return view_of(self, shape, strides, offset=offset)

    def _field(self, name: str) -> DeviceNDArray:
        fields: Any = self.dtype.fields or {}
        if name not in fields:
            raise KeyError(f"there is no field {name!r} in dtype {self.dtype}")
        dtype, offset = fields[name][:2]
        base, inner = dtype.base, dtype.shape
        strides = self.strides + layout.contiguous_strides(inner, base.itemsize)
        return view_of(self, self.shape + inner, strides, base, offset)


def view_of(array: ArrayViews, shape: tuple[int, ...] | None = None, strides: tuple[int, ...] | None = None,
            dtype: DTypeLike | None = None, offset: int = 0, stream: StreamLike = None) -> DeviceNDArray:
    """A new array object over the memory of `array`, `offset` bytes behind its first element."""
    made = array._over(array.shape if shape is None else shape, array.strides if strides is None else strides,
                       array.dtype if dtype is None else dtype, array.pointer + offset)
    made.stream = array.stream if stream is None else stream
    return made
