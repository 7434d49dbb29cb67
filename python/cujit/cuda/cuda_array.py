"""CudaArray: a device array under CudaPy's names."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cujit.cuda.devicearray import DeviceNDArray, device_array, to_device

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray


class CudaArray(DeviceNDArray):
    """CudaArray(values): a copy of a sequence or an array on the device, which kernels work on in place.

    It is a device array with CudaPy's methods beside its own. len(x) is the length of the first axis.
    """

    def __init__(self, values: Any) -> None:
        self._take(to_device(np.ascontiguousarray(values)))

    def _take(self, array: DeviceNDArray) -> None:
        super().__init__(array.shape, array.strides, array.dtype, array.pointer, array)

    @staticmethod
    def allocate(length: int, type: DTypeLike) -> CudaArray:
        """An array of that length, not initialized. type: of its elements, such as float or numpy.float32."""
        made = CudaArray.__new__(CudaArray)
        made._take(device_array(length, np.dtype(type)))
        return made

    def toHost(self) -> NDArray[Any]:
        """The elements as a NumPy array."""
        return self.copy_to_host()

    def toList(self) -> list[Any]:
        """The elements as a list, of lists where there are several axes."""
        values: list[Any] = self.copy_to_host().tolist()
        return values
