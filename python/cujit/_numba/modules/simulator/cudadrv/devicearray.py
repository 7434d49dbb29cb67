"""Device arrays, by the name of those of numba's simulator."""
from cujit.cuda.cudadrv.devicearray import *  # noqa: F403
from cujit.cuda.devicearray import DeviceNDArray as FakeCUDAArray

__all__ = ["FakeCUDAArray"]
