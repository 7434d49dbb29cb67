"""What numba.cuda.core has of settings, types and errors."""
from cujit import config, errors, types

__all__ = ["config", "errors", "types"]
