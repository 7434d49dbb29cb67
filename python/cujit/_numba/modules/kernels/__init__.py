"""Kernels that are ready to be called."""
from cujit.cuda.kernels import reduction, transpose

__all__ = ["reduction", "transpose"]
