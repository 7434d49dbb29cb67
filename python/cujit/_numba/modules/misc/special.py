"""Markers in kernels."""
from cujit.cuda import literal_unroll, literally

__all__ = ["literal_unroll", "literally"]
