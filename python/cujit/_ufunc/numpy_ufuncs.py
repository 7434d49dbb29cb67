"""NumPy's own ufuncs for device arrays: a row for each, whose function is the library's for kernels, compiled for the
types that NumPy computes in. np.add(x, y) of device arrays comes here by __array_ufunc__, and so does x + y."""
from __future__ import annotations

import functools
from typing import Any

import numpy as np

from cujit import _core
from cujit._ufunc.array_loop import Loop
from cujit._ufunc.operands import as_input, is_scalar, is_weak
from cujit._ufunc.resolution import Choice, asked
from cujit._ufunc.ufunc import UFunc
from cujit._ufunc.ufunc_methods import fold_of
from cujit.cuda.dispatcher import Dispatcher

# --- the table -------------------------------------------------------------------------------------------------------

# How reduce may take the elements: of "any" order; "idempotent", each as often as it likes; "left" to right.
_FOLDS = {
    **dict.fromkeys(("add", "bitwise_xor", "hypot", "logaddexp", "logaddexp2", "logical_xor", "multiply"), "any"),
    **dict.fromkeys(("bitwise_and", "bitwise_or", "fmax", "fmin", "gcd", "lcm", "logical_and", "logical_or", "maximum",
                     "minimum"), "idempotent"),
    **dict.fromkeys(("arctan2", "copysign", "divide", "equal", "float_power", "floor_divide", "fmod", "greater",
                     "greater_equal", "heaviside", "ldexp", "left_shift", "less", "less_equal", "nextafter",
                     "not_equal", "power", "remainder", "right_shift", "subtract"), "left"),
}
_OTHERS = (   # they do not fold
    "absolute", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh", "bitwise_count", "cbrt", "ceil",
    "conjugate", "cos", "cosh", "deg2rad", "degrees", "divmod", "exp", "exp2", "expm1", "fabs", "floor", "frexp",
    "invert", "isfinite", "isinf", "isnan", "isnat", "log", "log10", "log1p", "log2", "logical_not", "modf", "negative",
    "positive", "rad2deg", "radians", "reciprocal", "rint", "sign", "signbit", "sin", "sinh", "spacing", "sqrt",
    "square", "tan", "tanh", "trunc")
_PRODUCTS = ("matmul", "matvec", "vecdot", "vecmat")   # of _algorithms/matrix_product.py
_REFUSED = dict.fromkeys(_PRODUCTS, "array @ b is the product of matrices and vectors")

# What cuda.atomic has for at.
_ATOMICS = {"add": "add", "subtract": "sub", "minimum": "min", "maximum": "max", "bitwise_and": "and_",
            "bitwise_or": "or_", "bitwise_xor": "xor"}

# What a row's function is for dates and durations, where it is another one.
_OF_TIMES = {
    "add": "x + y", "subtract": "x - y", "multiply": "x * y", "divide": "x / y", "floor_divide": "x // y",
    "remainder": "x % y", "divmod": "(x // y, x % y)", "sign": "(x > type(x)(0)) - (x < type(x)(0))",
    "isnan": "np.isnat(x)", "isfinite": "not np.isnat(x)",
    "isinf": "False"}

NAMES = (*_FOLDS, *_OTHERS)
_COMPARISONS = {"equal", "greater", "greater_equal", "less", "less_equal", "not_equal"}


class NumpyUFunc(UFunc):
    """One of NumPy's ufuncs, by the types that NumPy chooses. See UFunc for what it takes."""

    def __init__(self, numpy_ufunc: np.ufunc) -> None:
        super().__init__(_function_of(numpy_ufunc), [], {})
        self._numpy = numpy_ufunc
        self._fold, self._atomic = _FOLDS.get(numpy_ufunc.__name__), _ATOMICS.get(numpy_ufunc.__name__)
        self._is_comparison = numpy_ufunc.__name__ in _COMPARISONS
        self._choices: dict[Any, Choice] = {}
        self._identity = numpy_ufunc.identity
        self.__doc__ = f"numpy.{numpy_ufunc.__name__} for device arrays."

    @property
    def nout(self) -> int:
        """How many results the function has."""
        return self._numpy.nout

    @property
    def types(self) -> list[str]:
        """NumPy's signatures."""
        return self._numpy.types

    @property
    def ntypes(self) -> int:
        """How many signatures there are."""
        return self._numpy.ntypes

    def __reduce__(self):
        return of, (self._numpy,)

    # --- types -------------------------------------------------------------------------------------------------------

    def _choose(self, inputs, outs, wanted, casting):
        self._without_large_ints(inputs)
        given = tuple(type(x) if is_scalar(x) and is_weak(x) else np.asarray(x).dtype if is_scalar(x) else x.dtype
                      for x in inputs)
        results = tuple(None if out is None else as_input(out).dtype for out in outs) or (None,) * self._numpy.nout
        signature = None if wanted is None else asked(*wanted, self.nin, self._numpy.nout)
        key = given, results, signature, casting
        known = self._choices.get(key)
        return self._choices.setdefault(key, self._resolved(*key)) if known is None else known

    def _resolved(self, given, results, signature, casting):
        stated = {} if signature is None else {"signature": signature}
        dtypes = self._numpy.resolve_dtypes(tuple(map(_plain, given)) + results, casting=casting, **stated)
        types = self._kernel_types(dtypes)
        loop = self._loop_of_times if any(dtype.kind in "mM" for dtype in dtypes) else self._loop_of_any
        return Choice(types[:self.nin], types[self.nin:], loop)

    @functools.cached_property
    def _loop_of_times(self):
        name = self.__name__
        if name not in _OF_TIMES:
            return self._loop_of_any
        return Loop(Dispatcher(_function(name, self.nin, _OF_TIMES[name]), device=True))

    def _kernel_types(self, dtypes):
        for dtype in dtypes:
            most = 16 if dtype.kind == "c" else 8
            if dtype.kind not in "biufcmMV" or dtype.names or dtype.itemsize > most:
                raise TypeError(f"numpy.{self.__name__} computes in {dtype} here, for which device arrays have no "
                                "arithmetic")
        return tuple(_core.type_from_dtype(dtype) for dtype in dtypes)

    def _without_large_ints(self, inputs):
        """Compared with integers, an int that their dtype does not hold is as good as infinite."""
        if not self._is_comparison:
            return
        for k, x in enumerate(inputs):
            other = inputs[1 - k]
            if is_scalar(x) and is_weak(x) and isinstance(x, int) and not (is_scalar(other) and is_weak(other)):
                dtype = np.asarray(other).dtype if is_scalar(other) else other.dtype
                if dtype.kind in "iu" and not np.iinfo(dtype).min <= x <= np.iinfo(dtype).max:
                    inputs[k] = np.inf if x > 0 else -np.inf

    # --- how it folds ------------------------------------------------------------------------------------------------

    @property
    def _is_reorderable(self):
        return self._fold != "left"

    @property
    def _is_idempotent(self):
        return self._fold == "idempotent"

    def _start(self):
        return self._numpy.identity

    def _folding(self, array, dtype, out, method):
        if self._fold is None:
            raise TypeError(f"numpy.{self.__name__} has two results: it cannot {method}")
        stated = {} if dtype is None else {"signature": (np.dtype(dtype), None, None)}
        first = None if out is None else as_input(out).dtype
        dtypes = self._numpy.resolve_dtypes((first, array.dtype, None), reduction=True, casting="unsafe", **stated)
        element = self._kernel_types(dtypes)[0]
        is_sum = self.__name__ == "add" and element.dtype.kind in "iu" and element.dtype.itemsize >= 4
        return fold_of(self._folds, self._loop_of_any.function, element, self._fold == "left", is_sum)


def _plain(dtype):
    """A dtype for resolve_dtypes, or Python's type of a number."""
    return next(each for each in (int, float, complex) if issubclass(dtype, each)) if isinstance(dtype, type) else dtype


def _function_of(numpy_ufunc):
    """The function for one element: np.NAME in the kernel language is the library's function."""
    name, nin = numpy_ufunc.__name__, numpy_ufunc.nin
    return _function(name, nin, f"np.{name}({', '.join('xy'[:nin])})")


def _function(name, nin, value):
    namespace = {"np": np, "__name__": __name__}
    source = f"def {name}({', '.join('xy'[:nin])}):\n    return {value}\n"
    exec(compile(source, f"<numpy.{name}>", "exec"), namespace)
    return namespace[name]


@functools.cache
def of(numpy_ufunc: np.ufunc) -> NumpyUFunc:
    """The compiled ufunc for one of NumPy's. TypeError, which names it, for one that there is not."""
    name = numpy_ufunc.__name__
    if name in _REFUSED or getattr(np, name, None) is not numpy_ufunc or name not in NAMES:
        why = _REFUSED.get(name, "array.copy_to_host() gives NumPy's array")
        raise TypeError(f"{name} of NumPy is not compiled for device arrays: {why}")
    return NumpyUFunc(numpy_ufunc)


@functools.cache
def named(name: str) -> NumpyUFunc:
    """The compiled ufunc of that name."""
    return of(getattr(np, name))


# --- functions of three ----------------------------------------------------------------------------------------------

class _Selection(UFunc):
    """A function of NumPy's of three arguments that is no ufunc; its result has what they have in common."""

    def __init__(self, function, promoted):
        super().__init__(function, [], {})
        self._promoted = promoted   # which arguments have that type

    def _choose(self, inputs, outs, wanted, casting):
        mixed = [inputs[k] for k in self._promoted]
        dtype = np.result_type(*(x if is_scalar(x) else x.dtype for x in mixed))
        element, boolean = _core.type_from_dtype(dtype), _core.type_from_dtype(np.dtype(bool))
        types = tuple(element if k in self._promoted else boolean for k in range(self.nin))
        return Choice(types, (element,), self._loop_of_any)

    def __reduce__(self):
        return selection, (self.__name__,)


@functools.cache
def selection(name: str) -> UFunc:
    """clip(x, low, high), where(condition, x, y)."""
    if name == "clip":
        def clip(x, low, high):
            return np.clip(x, low, high)
        return _Selection(clip, (0, 1, 2))

    def where(condition, x, y):
        return np.where(condition, x, y)
    return _Selection(where, (1, 2))


# --- the protocol ----------------------------------------------------------------------------------------------------

def call(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """What NumPy asks of a device array's __array_ufunc__."""
    keywords.pop("subok", None)
    if ufunc.__name__ in _PRODUCTS and getattr(np, ufunc.__name__, None) is ufunc and method == "__call__":
        from cujit._algorithms import matrix_product

        return getattr(matrix_product, ufunc.__name__)(*inputs, **keywords)
    ours = of(ufunc)
    return ours(*inputs, **keywords) if method == "__call__" else getattr(ours, method)(*inputs, **keywords)
