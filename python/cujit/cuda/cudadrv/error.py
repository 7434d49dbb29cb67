"""Exceptions about the driver, under the names of numba.cuda.cudadrv.error. NVVM and NVRTC are not needed: what says
that one of them is missing is what says that the driver is."""
from cujit.errors import CudaAPIError, CudaDriverError, CudaRuntimeError, CudaSupportError

NvvmSupportError = NvrtcSupportError = CudaSupportError
NvvmError = NvrtcError = NvrtcCompilationError = CudaAPIError

__all__ = ["CudaAPIError", "CudaDriverError", "CudaRuntimeError", "CudaSupportError", "NvrtcCompilationError",
           "NvrtcError", "NvrtcSupportError", "NvvmError", "NvvmSupportError"]
