"""Arrays over the memory that pointers lead to."""
import math

from cujit._kernel_functions.stands_for import stands_for


@stands_for("cujit.carray", doc="The memory that a pointer leads to, as an array in C order.")
def carray(ptr, shape, dtype=None):
    memory = ptr if dtype is None else ptr.view(dtype)
    extents = shape if isinstance(shape, tuple) else (shape,)
    return memory[:math.prod(extents)].reshape(extents)


@stands_for("cujit.farray", doc="The memory that a pointer leads to, as an array in Fortran order.")
def farray(ptr, shape, dtype=None):
    extents = shape if isinstance(shape, tuple) else (shape,)
    return carray(ptr, extents[::-1], dtype).T
