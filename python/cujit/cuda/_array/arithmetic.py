"""What device arrays leave to others: arithmetic, comparisons, NumPy's methods. Their errors say who does them."""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

_BINARY = {"add": "+", "sub": "-", "mul": "*", "matmul": "@", "truediv": "/", "floordiv": "//", "mod": "%",
           "divmod": "divmod()", "pow": "**", "lshift": "<<", "rshift": ">>", "and": "&", "xor": "^", "or": "|"}
_COMPARISONS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">="}   # == and != are about the object
_UNARY = {"neg": "-", "pos": "+", "abs": "abs()", "invert": "~"}

_REDUCTIONS = {"sum", "prod", "min", "max", "any", "all", "mean", "std", "var", "argmin", "argmax", "trace"}


class NoArithmetic:
    """Errors of device arrays that name what to use."""

    if not TYPE_CHECKING:   # a checker is to know that there is no such attribute
        def __getattr__(self, name):
            raise AttributeError(_missing(type(self).__name__, name), name=name, obj=self)


def _missing(class_name: str, name: str) -> str:
    message = f"'{class_name}' object has no attribute '{name}'"
    if not name.startswith("_") and hasattr(np.ndarray, name):
        message += f": array.copy_to_host().{name} is NumPy's, cupy.asarray(array).{name} is CuPy's"
        if name in _REDUCTIONS:
            message += "; cuda.reduce(function) makes a reduction of a function of two arguments"
    return message


def _refusal(symbol: str) -> str:
    return (f"device arrays have no {symbol}: @vectorize makes a function of arrays of one of numbers; "
            "array.copy_to_host() gives NumPy's array, cupy.asarray(array) CuPy's, both of which have it")


def _binary(symbol):
    def operate(self, other):
        if isinstance(other, (int, float, complex, NoArithmetic)):
            raise TypeError(_refusal(symbol))
        return NotImplemented   # NumPy's and CuPy's arrays know what to do
    return operate


def _unary(symbol):
    def operate(self):
        raise TypeError(_refusal(symbol))
    return operate


for _name, _symbol in _BINARY.items():
    setattr(NoArithmetic, f"__{_name}__", _binary(_symbol))
    setattr(NoArithmetic, f"__r{_name}__", _binary(_symbol))
for _name, _symbol in _COMPARISONS.items():
    setattr(NoArithmetic, f"__{_name}__", _binary(_symbol))
for _name, _symbol in _UNARY.items():
    setattr(NoArithmetic, f"__{_name}__", _unary(_symbol))
