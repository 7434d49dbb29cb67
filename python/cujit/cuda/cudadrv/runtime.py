"""The CUDA version, under the names of numba.cuda.cudadrv.runtime."""
from cujit.cuda.devices import runtime

__all__ = ["runtime"]
