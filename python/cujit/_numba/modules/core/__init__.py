"""What numba.cuda.core has of settings, types, errors and files."""
from cujit import config, errors, types

__all__ = ["config", "errors", "types"]
