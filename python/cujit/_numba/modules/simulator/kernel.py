"""Kernels and device functions, by the name of those of numba's simulator."""
from cujit.cuda.dispatcher import Dispatcher

__all__ = ["FakeCUDAKernel"]

FakeCUDAKernel = Dispatcher
