"""What programs ask numba.cuda.cudadrv.nvvm for: whether kernels can be compiled. cujit needs no NVVM for that."""
from cujit.cuda.cudadrv.error import NvvmError, NvvmSupportError

__all__ = ["NvvmError", "NvvmSupportError", "is_available"]


def is_available() -> bool:
    """True: cujit has a compiler of its own."""
    return True
