"""The transpose of a device array as an array of its own."""
from cujit.cuda.devicearray import DeviceNDArray, device_array


def transpose(a: DeviceNDArray, b: DeviceNDArray | None = None) -> DeviceNDArray:
    """The elements of `a`, of two axes, with the axes exchanged: in `b`, or in a new array."""
    if b is None:
        b = device_array(a.shape[::-1], a.dtype)
    b[...] = a.T
    return b
