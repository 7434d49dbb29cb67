"""Arrays on the device, under the names of numba.cuda.cudadrv.devicearray."""
from cujit.cuda.devicearray import DeviceNDArray, is_cuda_array
from cujit.cuda.hostarray import MappedNDArray

__all__ = ["DeviceNDArray", "MappedNDArray", "is_cuda_array", "is_cuda_ndarray"]


def is_cuda_ndarray(obj: object) -> bool:
    """Whether it is an array of cujit's on a device."""
    return isinstance(obj, DeviceNDArray)
