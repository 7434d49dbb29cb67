"""Adding to what kernels can use: functions, attributes and methods by type, types of one's own, PTX instructions.

    from cujit import cuda, types
    from cujit.extending import overload

    def clamp(x, low, high):
        return min(max(x, low), high)

    @overload(clamp)
    def clamp_for(x, low, high):
        if isinstance(x, types.Number):
            return lambda x, low, high: min(max(x, low), high)
        return None

Definitions run in Python while a kernel is compiled, get types and return a function, which is compiled like any
other, for a GPU and for the CPU device. docs/extending.md has the whole, and what an extension written for numba
changes.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cujit.extending.assembly import asm as asm
from cujit.extending.overloads import (
    overload as overload,
    overload_attribute as overload_attribute,
    overload_classmethod as overload_classmethod,
    overload_method as overload_method,
    register_jitable as register_jitable,
)
from cujit.extending.structs import StructType as StructType, as_type as as_type, typeof_impl as typeof_impl
from cujit.types import typeof as typeof

__all__ = [
    "StructType", "as_type", "asm", "overload", "overload_attribute", "overload_classmethod", "overload_method",
    "register_jitable", "typeof", "typeof_impl",
]

if not TYPE_CHECKING:   # who reads this without running it learns of missing names
    def __getattr__(name: str) -> Any:
        from cujit._numba.extending import counterpart

        return counterpart(name)
