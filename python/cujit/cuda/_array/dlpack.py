"""DLPack: device arrays for other libraries and theirs as device arrays, without a copy."""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cujit import _core
from cujit.cuda.devicearray import DeviceNDArray
from cujit.cuda.devices import need_device

if TYPE_CHECKING:
    from cujit._annotations import StreamLike, SupportsDLPack

# DLPack's numbers for where memory is.
CPU, CUDA, CUDA_HOST, CUDA_MANAGED = 1, 2, 3, 13

_NO_STREAM = -1      # the consumer waits by itself
_LEGACY_DEFAULT = 1  # what a consumer means who names no stream


def from_dlpack(x: SupportsDLPack, /, *, device: tuple[int, int] | None = None,
                copy: bool | None = None) -> DeviceNDArray:
    """A device array over the memory of another library's array, by DLPack.

    Parameters
    ----------
    x : object with `__dlpack__` and `__dlpack_device__`
        An array in memory that the current device reaches. Its memory is kept alive; work that is under way on it is
        done before what the default stream does next.
    device : (int, int), optional
        DLPack's device type and number: where the result is to be, which must be where `x` is.
    copy : bool, optional
        True: the elements are copied to new memory. False and None: never.

    Returns
    -------
    DeviceNDArray
        Read-only where `x` is.

    Raises
    ------
    BufferError
        `x` is in memory that the current device does not reach, or of a version of DLPack that is not known.
    TypeError
        `x` has elements that kernels cannot use, or no such methods.
    ValueError
        What `x.__dlpack__` gives is no capsule of DLPack's, or one that has been used.

    Examples
    --------
    >>> array = cuda.from_dlpack(cuda.to_device(np.arange(3)))
    >>> array.copy_to_host()
    array([0, 1, 2])
    """
    current = need_device()
    if not hasattr(x, "__dlpack__") or not hasattr(x, "__dlpack_device__"):
        raise TypeError(f"a value of type '{type(x).__name__}' has no __dlpack__ and __dlpack_device__")
    place = tuple(map(int, x.__dlpack_device__()))
    if device is not None and tuple(device) != place:
        raise BufferError(f"the array is on DLPack's device {place}, not on {tuple(device)}")
    if place[0] == CUDA and current.kind == "cpu":
        raise BufferError("the array is in memory of a GPU, and the current device is the CPU device")
    array: DeviceNDArray = _core.from_capsule(DeviceNDArray, _core.ask_capsule(x))
    return _copied(array) if copy else array


def device_of(array: DeviceNDArray) -> tuple[int, int]:
    """What `__dlpack_device__` of a device array gives."""
    return (CPU, 0) if array.device.kind == "cpu" else (CUDA, array.device.id)


def capsule_of(array: DeviceNDArray, place: tuple[int, int], stream: int | None, max_version: tuple[int, int] | None,
               dl_device: tuple[int, int] | None, copy: bool | None) -> object:
    """What `__dlpack__` of a device array in memory of that DLPack device gives."""
    is_versioned = max_version is not None and max_version[0] >= 1
    wanted = place if dl_device is None else (int(dl_device[0]), int(dl_device[1]))
    if wanted == (CPU, 0) and place[0] == CUDA:
        if copy is False:
            raise BufferError("an array in memory of a GPU cannot be had on the host without a copy")
        return _on_host(array).__dlpack__(max_version=max_version)
    if wanted != place:
        raise BufferError(f"the array is on DLPack's device {place} and is not moved to {wanted}")
    if copy:
        array = _copied(array)
    _order(array, place, stream)
    array.share()
    return _core.to_capsule(array, place, is_versioned, bool(copy))


def _on_host(array):
    host = array.copy_to_host()
    if array.stream:
        _core.synchronize_stream(array.stream)
    return host


def _copied(array: DeviceNDArray) -> DeviceNDArray:
    from cujit.cuda.devicearray import device_array_like

    made = device_array_like(array)
    made[...] = array
    return made


def _order(array: DeviceNDArray, place: tuple[int, int], stream: StreamLike) -> None:
    """Lets a consumer's stream wait for the work on the array: that of its stream, and of the default stream, which has
    waited for all streams made by cujit. ValueError for what is no stream."""
    if stream is not None and (not isinstance(stream, (int, np.integer)) or stream < _NO_STREAM):
        raise ValueError(f"stream is -1, None or the handle of a stream, not {stream!r}")
    if place[0] == CPU:
        if stream not in (None, _NO_STREAM):
            raise ValueError("there are no streams where the memory is the host's: stream is None")
        return
    if stream == _NO_STREAM:
        return
    own = array.stream
    consumer = _LEGACY_DEFAULT if stream is None or stream == 0 else int(stream)
    for producer in {0, _core.stream_handle(own)}:
        if producer != consumer and not (producer == 0 and consumer == _LEGACY_DEFAULT):
            reached = _core.Event(timing=False)
            reached.record(producer)
            reached.wait(consumer)
