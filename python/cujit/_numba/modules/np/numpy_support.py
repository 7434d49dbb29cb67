"""Types and dtypes."""
import numpy as np

from cujit._pointers import carray, farray
from cujit.types import from_dtype

__all__ = ["as_dtype", "carray", "farray", "from_dtype", "numpy_version"]


def as_dtype(nbtype):
    """The NumPy dtype of values of a type."""
    return nbtype.dtype


numpy_version = tuple(int(part) for part in np.__version__.split(".")[:2])
