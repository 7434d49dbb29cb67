"""Tensor maps: what cuda.tma.load and cuda.tma.store copy boxes of."""
from __future__ import annotations

import dataclasses
import operator
import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from cujit.cuda.devicearray import as_cuda_array, device_array
from cujit.cuda.devices import get_current_device, synchronize

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["TensorMap", "tensor_map"]


@dataclasses.dataclass(frozen=True)
class TensorMap:
    """What cuda.tensor_map() makes; in kernels its array can be used like any other."""

    words: Any
    array: Any


class _Places:
    """Memory of a device for the words of maps. A place is never used again for other words: what a GPU keeps of a map
    would not learn of it."""

    SIZE, COUNT = 128, 256

    def __init__(self):
        self.known, self.memory, self.used, self.lock = {}, None, self.COUNT, threading.Lock()

    def put(self, words):
        """A device array of these words."""
        with self.lock:
            if words not in self.known:
                if self.used == self.COUNT:
                    self.memory, self.used = device_array((self.COUNT, self.SIZE // 8), np.uint64), 0
                place = self.memory[self.used]
                self.used += 1
                place.copy_to_device(np.frombuffer(words, np.uint64))
                synchronize()   # any stream may use it from now on; where a graph is recorded, nothing is copied yet
                self.known[words] = place
            return self.known[words]


_places: dict[Any, _Places] = {}


def tensor_map(array: NDArray[Any] | Any, box: int | tuple[int, ...], swizzle: int = 0) -> TensorMap:
    """A map of a device array, for copies of boxes of that shape between it and shared memory.

    array: of up to 5 axes; elements along the last one are neighbours, and the other strides are multiples of 16 bytes.
    box: as many elements along each axis, at most 256. swizzle: that of the shared arrays, the bytes of a row of the
    box. What of a box lies outside of the array is read as zeros and not written. While a graph is recorded, only maps
    that were made before can be made again."""
    array = as_cuda_array(array)
    box = tuple(map(operator.index, (box,) if hasattr(box, "__index__") else box))
    device = get_current_device()
    pointer = array.__cuda_array_interface__["data"][0]
    words = device._core.tensor_map(pointer, array.dtype.itemsize, array.shape, array.strides, box, swizzle)
    return TensorMap(_places.setdefault(device, _Places()).put(words), array)
