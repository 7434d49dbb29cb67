"""Types and dtypes."""
from cujit.types import from_dtype

__all__ = ["as_dtype", "from_dtype"]


def as_dtype(nbtype):
    """The NumPy dtype of values of a type."""
    return nbtype.dtype
