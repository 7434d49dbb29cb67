"""Exceptions about the driver, under the names of numba.cuda.cudadrv.error."""
from cujit.errors import CudaAPIError, CudaDriverError, CudaRuntimeError, CudaSupportError

__all__ = ["CudaAPIError", "CudaDriverError", "CudaRuntimeError", "CudaSupportError"]
