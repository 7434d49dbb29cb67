"""The types of values."""
from cujit.types import typeof

__all__ = ["typeof"]
