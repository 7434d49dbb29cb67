"""Devices and contexts, under the names of numba.cuda.cudadrv.devices."""
from cujit.cuda.devices import close as reset, current_context as get_context, gpus, require_context

__all__ = ["get_context", "gpus", "require_context", "reset"]
