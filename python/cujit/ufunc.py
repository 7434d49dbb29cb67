"""Functions of scalars applied to whole arrays: @vectorize, and assignment between device arrays of any layout.

The loop around the function is a kernel, written here as Python source for the wanted number of axes and operands and
compiled like any other. Axes that lie alike in all operands are merged first, so arrays without gaps take one axis.
"""
import functools

import numpy as np

from cujit import _core
from cujit import signature as signatures
from cujit.cuda import layout
from cujit.cuda.devicearray import DeviceNDArray, _view, as_cuda_array, device_array, is_cuda_array, to_device
from cujit.cuda.devices import need_device
from cujit.cuda.dispatcher import Dispatcher, jit, quiet_launcher
from cujit.cuda.reduction import Reduce
from cujit.errors import LaunchArgumentError

# --- the loop --------------------------------------------------------------------------------------------------------

class Loop:
    """Kernels that store function(inputs...) into an array: one for each pattern of operands and number of axes."""

    def __init__(self, function):
        self.function = function  # a Dispatcher with device=True
        self.max_blocksize = 256
        self._kernels = {}

    def run(self, inputs, out, types, stream):
        """out[...] = function(*inputs), elementwise. inputs: device arrays of out's shape (strides may be 0), or NumPy
        scalars; types: what each input is converted to first."""
        if out.size == 0:
            return
        are_arrays = tuple(isinstance(x, DeviceNDArray) for x in inputs)
        arrays = [out, *(x for x, is_array in zip(inputs, are_arrays, strict=True) if is_array)]
        views = _with_fewest_axes(arrays)
        remaining = iter(views[1:])
        operands = [next(remaining) if is_array else x for x, is_array in zip(inputs, are_arrays, strict=True)]
        kernel = self._kernel(are_arrays, views[0].ndim, types)
        blocks = -(-out.size // self.max_blocksize)
        quiet_launcher(kernel, blocks, self.max_blocksize, stream)(*operands, views[0])

    def _kernel(self, are_arrays, axes, types):
        key = (are_arrays, axes, types)
        if key not in self._kernels:
            self._kernels[key] = _loop_kernel(self.function, are_arrays, axes, types)
        return self._kernels[key]


def _loop_kernel(function, are_arrays, axes, types):
    """The kernel: one thread for each element, whose number is taken apart into an index for each axis."""
    names = [f"x{k}" for k in range(len(are_arrays))]
    index = ", ".join(f"i{k}" for k in range(axes)) if axes > 1 else "i"
    lines = [f"def {_identifier(function.__name__)}({', '.join([*names, 'out'])}):"]
    lines += ["    i = cuda.grid(1)", "    if i < out.size:"]
    if axes > 1:
        lines += ["        rest = i"]
        for k in range(axes - 1, 0, -1):
            lines += [f"        i{k} = rest % out.shape[{k}]", f"        rest = rest // out.shape[{k}]"]
        lines += ["        i0 = rest"]
    values = [f"type{k}({name}[{index}])" if is_array else f"type{k}({name})"
              for k, (name, is_array) in enumerate(zip(names, are_arrays, strict=True))]
    lines += [f"        out[{index}] = function({', '.join(values)})"]
    from cujit import cuda

    namespace = {"cuda": cuda, "function": function, **{f"type{k}": t for k, t in enumerate(types)}}
    exec(compile("\n".join(lines), "<cujit elementwise loop>", "exec"), namespace)
    return Dispatcher(namespace[_identifier(function.__name__)], **_loop_options(function))


def _loop_options(function):
    return {name: value for name, value in function.options.items() if name in ("fastmath", "fmad", "debug", "opt")}


def _identifier(name):
    return name if name.isidentifier() else "elementwise"


def _with_fewest_axes(arrays):
    """Views of the same elements, of arrays of one shape."""
    if all(a.layout == "C" for a in arrays):
        return arrays if arrays[0].ndim == 1 else [_view(a, (a.size,), (a.dtype.itemsize,)) for a in arrays]
    shape, strides = merge_axes(arrays[0].shape, [a.strides for a in arrays])
    return [_view(a, shape, s) for a, s in zip(arrays, strides, strict=True)]


def merge_axes(shape, operands):
    """(shape, strides of each operand) of the same elements with as few axes as their strides allow, at least one.

    Axes are ordered by the first operand's strides, so that threads next to each other write next to each other.
    """
    axes = [k for k, n in enumerate(shape) if n != 1]
    axes.sort(key=lambda k: -abs(operands[0][k]))
    merged = []  # (length, strides of the operands), outermost first
    for k in axes:
        inner = tuple(strides[k] for strides in operands)
        if merged and all(outer == shape[k] * s for outer, s in zip(merged[-1][1], inner, strict=True)):
            merged[-1] = (merged[-1][0] * shape[k], inner)
        else:
            merged.append((shape[k], inner))
    if not merged:
        merged = [(1, tuple(0 for _ in operands))]
    return tuple(n for n, _ in merged), list(zip(*(strides for _, strides in merged), strict=True))


# --- assignment ------------------------------------------------------------------------------------------------------

@functools.cache
def _copy_loop():
    return Loop(jit(lambda value: value, device=True))


def assign(view, source, stream):
    """view[...] = source for device arrays of one shape, of any strides, converting the dtype as needed."""
    if view.dtype == source.dtype:
        view, source = _as_words(view, source)
    _copy_loop().run([source], view, (_core.type_from_dtype(view.dtype),), stream)


def _as_words(*arrays):
    """The arrays as unsigned integers, with one more axis where an item takes several: any dtype can be moved so."""
    itemsize = arrays[0].dtype.itemsize
    divisors = [itemsize, *(a.pointer for a in arrays), *(s for a in arrays for s in a.strides)]
    word = next(size for size in (8, 4, 2, 1) if all(value % size == 0 for value in divisors))
    dtype, count = np.dtype(f"u{word}"), itemsize // word
    if count == 1:
        return [_view(a, dtype=dtype) for a in arrays]
    return [_view(a, (*a.shape, count), (*a.strides, word), dtype) for a in arrays]


# --- vectorize -------------------------------------------------------------------------------------------------------

class UFunc:
    """A scalar function that takes arrays of any shape, with NumPy's broadcasting. Made by vectorize.

    ufunc(*args, out=None, stream=0): the result is on the device where an argument or `out` is, else on the host.
    Attributes: types (signatures as text), nin, nout, nargs, max_blocksize (threads).
    """

    nout = 1

    def __init__(self, function, signature_list, options):
        functools.update_wrapper(self, function)
        self.py_func = function
        self.nin = function.__code__.co_argcount
        self.nargs = self.nin + 1
        self._options = options
        self._loop_of_any = Loop(Dispatcher(function, device=True, **options))
        self._loops = {}  # argument types -> (result type, Loop)
        self._max_blocksize = 256
        self._reduction = None
        for types, result in map(signatures.normalize, signature_list):
            self._add(types, result)
        self._is_open = not signature_list

    def _add(self, types, result):
        if len(types) != self.nin:
            raise TypeError(f"'{self.__name__}' takes {self.nin} arguments, a signature has {len(types)}")
        inferred = self._loop_of_any.function.result_type(types)
        result = inferred if result is None else result
        loop = self._loop_of_any
        if result != inferred:
            loop = Loop(Dispatcher(self.py_func, device=True, signature=(types, result), **self._options))
        self._loops[types] = (result, loop)
        return self._loops[types]

    @property
    def types(self):
        return [f"{', '.join(map(str, types))} -> {result}" for types, (result, _) in self._loops.items()]

    @property
    def ntypes(self):
        return len(self._loops)

    @property
    def max_blocksize(self):
        """The number of threads of a block."""
        return self._max_blocksize

    @max_blocksize.setter
    def max_blocksize(self, threads):
        self._max_blocksize = threads
        for _, loop in self._loops.values():
            loop.max_blocksize = threads
        self._loop_of_any.max_blocksize = threads

    def __repr__(self):
        return f"<ufunc '{self.__name__}'>"

    def __call__(self, *args, out=None, stream=0):
        """Applies the function. TypeError for a wrong number of arguments, and where no signature has exactly the
        dtypes of the arrays (scalars are converted); ValueError for shapes that do not go together."""
        if len(args) != self.nin:
            raise LaunchArgumentError(f"'{self.__name__}' takes {self.nin} arguments, {len(args)} given")
        inputs = [_as_input(arg) for arg in args]
        types, result, loop = self._find(inputs)
        shapes = {x.shape for x in inputs if not _is_scalar(x)}
        shape = shapes.pop() if len(shapes) == 1 else np.broadcast_shapes(*shapes)
        on_device = any(isinstance(x, DeviceNDArray) for x in inputs) if out is None else is_cuda_array(out)
        target = _target(out, shape, result.dtype, on_device, stream)
        operands = [_operand(x, t, shape, stream) for x, t in zip(inputs, types, strict=True)]
        loop.run(operands, target, types, stream)
        return _finish(target, out, on_device, shape, stream)

    # --- which signature ---------------------------------------------------------------------------------------------

    def _find(self, inputs):
        """(argument types, result type, Loop) for the inputs."""
        if self._is_open:
            types = tuple(_own_type(x) for x in inputs)
            return types, *(self._loops.get(types) or self._add(types, None))
        fitting = [types for types in self._loops
                   if all(_is_scalar(x) or _own_type(x) == t for x, t in zip(inputs, types, strict=True))]
        if len(fitting) > 1:
            fitting = [types for types in fitting if types == tuple(_own_type(x) for x in inputs)]
            if not fitting:
                raise LaunchArgumentError(f"'{self.__name__}': several signatures fit these scalars; "
                                          "give one a NumPy type, such as np.float32(2)")
        if not fitting:
            given = ", ".join(str(_own_type(x)) for x in inputs)
            raise LaunchArgumentError(f"'{self.__name__}' has no signature for ({given}); "
                                      f"it has: {'; '.join(self.types)}")
        return fitting[0], *self._loops[fitting[0]]

    # --- reduce ------------------------------------------------------------------------------------------------------

    def reduce(self, arg, stream=0):
        """Folds an array of one axis with a function of two arguments. TypeError for an array without elements."""
        if self.nin != 2:
            raise TypeError(f"'{self.__name__}' takes {self.nin} arguments; only functions of two can reduce")
        array = as_cuda_array(arg) if is_cuda_array(arg) else np.asarray(arg)
        if array.ndim != 1 or array.size == 0:
            raise TypeError(f"reduce takes an array of one axis with elements, not one of shape {array.shape}")
        if self._reduction is None:
            self._reduction = Reduce(self._loop_of_any.function)
        return self._reduction(array, init=None, stream=stream)


def _is_scalar(value):
    return not isinstance(value, (np.ndarray, DeviceNDArray))


def _as_input(arg):
    """A device array, a host array, or a scalar."""
    if isinstance(arg, (bool, int, float, complex, np.generic)):
        return arg
    return as_cuda_array(arg) if is_cuda_array(arg) else np.asarray(arg)


def _own_type(value):
    return _core.type_of(value) if _is_scalar(value) else _core.type_from_dtype(value.dtype)


def _operand(value, a_type, shape, stream):
    """What the loop takes for an input: a device array seen in the result's shape, or a scalar of the wanted type."""
    if _is_scalar(value):
        return np.asarray(value).astype(a_type.dtype)[()]
    if isinstance(value, np.ndarray):
        value = _borrow(value) if _can_borrow() else to_device(np.ascontiguousarray(value).reshape(value.shape), stream)
    if value.shape == shape:
        return value
    return _view(value, shape, layout.broadcast_strides(value.shape, value.strides, shape))


def _can_borrow():
    return need_device().kind == "cpu"


def _borrow(host):
    """A host array as one of the CPU device, in place."""
    return DeviceNDArray(host.shape, host.strides, host.dtype, host.ctypes.data, host)


def _target(out, shape, dtype, on_device, stream):
    """The device array that the loop writes."""
    if out is not None:
        if out.shape != shape:
            raise ValueError(f"out has the shape {out.shape}; the result has {shape}")
        if out.dtype != dtype:
            raise TypeError(f"out has the dtype {out.dtype}; the result has {dtype}")
        if is_cuda_array(out):
            return as_cuda_array(out)
        if not out.flags.writeable:
            raise ValueError("out is read-only")
        if _can_borrow():
            return _borrow(out)
    if not on_device and _can_borrow():
        return _borrow(np.empty(shape, dtype))
    return device_array(shape, dtype, stream=stream)


def _finish(target, out, on_device, shape, stream):
    """What the caller gets."""
    if on_device:
        return target
    if _can_borrow():
        host = target.base
    elif out is None:
        host = target.copy_to_host(stream=stream)
    else:
        host = out
        host[...] = target.copy_to_host(stream=stream)
    return host if out is not None or shape else host[()]


_OPTIONS = {"fastmath", "fmad", "debug", "opt"}
_IGNORED_OPTIONS = {"nopython", "cache", "identity"}


def vectorize(ftylist_or_function=(), target="cuda", **options):
    """Makes a function of scalars one of arrays, run by the current device.

    @vectorize(["float32(float32, float32)", ...]) compiles for these signatures; @vectorize alone, for the types of
    each call. Options: fastmath, fmad, debug, opt. ValueError for another target than "cuda"; KeyError for unknown
    options.
    """
    if target != "cuda":
        raise ValueError(f"target {target!r}: there is 'cuda', which is the GPU or the CPU device")
    unknown = options.keys() - _OPTIONS - _IGNORED_OPTIONS
    if unknown:
        raise KeyError(f"vectorize has no option '{sorted(unknown)[0]}'")
    used = {name: value for name, value in options.items() if name in _OPTIONS}
    if callable(ftylist_or_function) and hasattr(ftylist_or_function, "__code__"):
        return UFunc(ftylist_or_function, [], used)
    listed = ftylist_or_function if isinstance(ftylist_or_function, (list, tuple)) else [ftylist_or_function]
    return lambda function: UFunc(function, list(listed), used)
