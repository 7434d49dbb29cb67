"""array @ array: products of matrices as numpy.matmul has them, by kernels of the kernel language."""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from cujit import _core
from cujit._algorithms import functions, loops
from cujit._ufunc.operands import Target, as_input, broadcast, is_scalar, staged
from cujit.cuda._array.array_views import view_of
from cujit.cuda._dispatch.launchers import quiet_launcher
from cujit.cuda.devicearray import DeviceNDArray, device_array, is_cuda_array
from cujit.cuda.devices import need_device, on

if TYPE_CHECKING:
    from cujit._annotations import StreamLike
    from cujit.cuda.dispatcher import Dispatcher


def is_operand(value: Any) -> bool:
    return isinstance(value, (np.ndarray, list, tuple)) or is_cuda_array(value)


def dot(first: Any, second: Any, out: Any, stream: StreamLike) -> Any:
    """numpy.dot where it is a product of matrices."""
    if max(np.ndim(x) if isinstance(x, (list, tuple)) else x.ndim for x in map(as_input, (first, second))
           if not is_scalar(x)) > 2:
        raise ValueError("dot is of arrays of one axis or two; array @ b is of stacks of matrices")
    return matmul(first, second, out, stream)


def matmul(first: Any, second: Any, out: Any = None, stream: StreamLike = 0) -> Any:
    """The product of matrices, which are the last two axes; the others broadcast. An array of one axis is a row on the
    left and a column on the right, and its axis of length one is not in the result. Numbers are added in the result's
    type, float16 in float32. The result is on the device where one operand is.

    ValueError for lengths that do not fit and for numbers; TypeError for what has no products."""
    if isinstance(out, tuple):
        out, = out
    x, y = as_input(first), as_input(second)
    if is_scalar(x) or is_scalar(y) or not x.ndim or not y.ndim:
        raise ValueError("a product of matrices takes arrays with axes; * is for numbers")
    device = _core.device_for("matmul", (x, y, out), stream)
    if device is not None:
        with on(device):
            return _product(x, y, out, stream)
    return _product(x, y, out, stream)


def matvec(matrix: Any, vector: Any, out: Any = None, stream: StreamLike = 0) -> Any:
    """The product of matrices, which are the last two axes, and of vectors, the last one; the others broadcast."""
    return _of_vectors("matvec", matrix, vector, False, True, out, stream)


def vecmat(vector: Any, matrix: Any, out: Any = None, stream: StreamLike = 0) -> Any:
    """The same with the conjugate vectors on the left."""
    return _of_vectors("vecmat", vector, matrix, True, False, out, stream)


def vecdot(first: Any, second: Any, out: Any = None, stream: StreamLike = 0) -> Any:
    """The products of vectors, the last axis, the first ones conjugate; the others broadcast."""
    return _of_vectors("vecdot", first, second, True, True, out, stream)


def _of_vectors(name: str, first: Any, second: Any, is_row: bool, is_column: bool, out: Any, stream: StreamLike) -> Any:
    """matmul with what is a vector as a matrix of one row, or of one column."""
    x, y = as_input(first), as_input(second)
    for operand, least in (x, 1 if is_row else 2), (y, 1 if is_column else 2):
        if is_scalar(operand) or operand.ndim < least:
            raise ValueError(f"{name} takes arrays of {least} axes or more here, not of "
                             f"{0 if is_scalar(operand) else operand.ndim}")
    device = _core.device_for(name, (x, y, out), stream)
    if device is not None:
        with on(device):
            return _of_vectors(name, x, y, is_row, is_column, out, stream)
    if is_row:
        x = (np.conjugate(x) if x.dtype.kind == "c" else x)[..., None, :]
    found = matmul(x, y[..., None] if is_column else y, None, stream)
    found = found.reshape((*found.shape[:-2], *(found.shape[-1:] if not is_column else () if is_row else
                                                found.shape[-2:-1])))
    if out is None:
        return found
    target, = out if isinstance(out, tuple) else (out,)
    if isinstance(target, DeviceNDArray):
        target.setitem(Ellipsis, found, stream)
    else:
        target[...] = np.asarray(found)
    return target


def _product(x: Any, y: Any, out: Any, stream: StreamLike) -> Any:
    stream = stream or _core.current_stream() or 0
    kinds = x.dtype.kind + y.dtype.kind
    if set(kinds) - set("biufc") or max(x.dtype.itemsize, y.dtype.itemsize) > (16 if "c" in kinds else 8):
        raise TypeError(f"matrices of {x.dtype} and {y.dtype} have no product")
    dtype = np.result_type(x.dtype, y.dtype)
    matrices, columns = x[None] if x.ndim == 1 else x, y[:, None] if y.ndim == 1 else y
    (rows, length), (other, width) = matrices.shape[-2:], columns.shape[-2:]
    if length != other:
        raise ValueError(f"matrices of the shapes {x.shape} and {y.shape} have no product: {length} columns are not "
                         f"{other} rows")
    stack = np.broadcast_shapes(matrices.shape[:-2], columns.shape[:-2])
    shape = (*stack, *(() if x.ndim == 1 else (rows,)), *(() if y.ndim == 1 else (width,)))
    own = [staged(a, stream) for a in (matrices, columns)]
    on_device = any(isinstance(a, DeviceNDArray) for a in (x, y)) or out is not None and is_cuda_array(out)
    target = Target(out, shape, dtype, on_device, [(a, False) for a in own], stream, "same_kind")
    if math.prod(shape):
        count = math.prod(stack)
        operands = [_stacked(broadcast(a, stack, 2), count, stream) for a in own]
        flat = target.array if target.array.layout == "C" else device_array(shape, target.array.dtype, stream=stream)
        size = flat.dtype.itemsize
        result = view_of(flat, (count, rows, width), (rows * width * size, width * size, size))
        _launch(dtype, count, (rows, width, length, *operands, result), stream)
        if flat is not target.array:
            target.array.setitem(Ellipsis, flat, stream)
    return target.finish()


def _stacked(array: DeviceNDArray, count: int, stream: StreamLike) -> DeviceNDArray:
    """The array with one axis before those of the matrices; a copy where its strides do not allow that."""
    core, steps = array.shape[-2:], array.strides[-2:]
    shape, strides = loops.merged(array.shape[:-2], [array.strides[:-2]])
    if len(shape) == 1:
        return view_of(array, (count, *core), (strides[0][0], *steps))
    own = device_array(array.shape, array.dtype, stream=stream)
    own.setitem(Ellipsis, array, stream)
    return own.reshape((count, *core))


def _launch(dtype: Any, count: int, arguments: tuple[Any, ...], stream: StreamLike) -> None:
    from cujit._kernel_functions.algorithms import matrix_product as kernels

    rows, columns = arguments[:2]
    kind = need_device().kind
    kernel = _kernel(_added_in(dtype), kind)
    if kind == "cpu":
        threads = count * -(-rows // kernels.ROWS) * -(-columns // kernels.STRIP)
        quiet_launcher(kernel, threads, 1, stream)(*arguments)
        return
    blocks = count * -(-rows // kernels.TILE) * -(-columns // kernels.TILE)
    quiet_launcher(kernel, blocks, kernels.SIDE * kernels.SIDE, stream)(*arguments)


def _added_in(dtype: Any) -> str:
    """The name of the type in which products are added; integers wrap alike in wider ones."""
    if dtype.kind == "f":
        return "float64" if dtype.itemsize == 8 else "float32"
    if dtype.kind == "c":
        return str(dtype)
    return "int64" if dtype.itemsize == 8 else "int32"


@functions.once
def _kernel(number: str, kind: str) -> Dispatcher[..., Any]:
    from cujit import cuda
    from cujit._kernel_functions.algorithms import matrix_product as kernels

    made = kernels.by_strips if kind == "cpu" else kernels.by_tiles
    return cuda.jit(made(_core.scalar_types[number]))
