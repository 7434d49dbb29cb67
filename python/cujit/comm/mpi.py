"""Device arrays as buffers of mpi4py."""
from __future__ import annotations

import contextlib
import ctypes
import functools
from collections.abc import Iterator
from typing import Any

import numpy as np

from cujit.comm.host import in_place
from cujit.cuda.devicearray import DeviceNDArray
from cujit.cuda.streams import current_stream


@functools.cache
def is_cuda_aware() -> bool:
    """Whether the MPI that mpi4py has loaded takes addresses of GPUs, as far as it says so (Open MPI, MPICH)."""
    from mpi4py import MPI

    for library in (ctypes.CDLL(MPI.__file__), ctypes.CDLL(None)):
        with contextlib.suppress(AttributeError):
            return bool(library.MPIX_Query_cuda_support())
    return False


@contextlib.contextmanager
def mpi_buffer(array: DeviceNDArray, *, read: bool = True, write: bool = True) -> Iterator[Any]:
    """What mpi4py takes in the array's place, for the block.

    The array's own memory on the CPU device and where MPI is CUDA-aware, else a copy on the host, which is copied back
    at the end. The work of the current stream is done before.

    Parameters
    ----------
    array : DeviceNDArray
        C-contiguous.
    read, write : bool
        Whether MPI reads or writes the elements. What is not needed is not copied.

    Yields
    ------
    array
        NumPy's, or `array` itself.

    Raises
    ------
    ValueError
        The array has gaps.

    Examples
    --------
    >>> with mpi_buffer(halo, read=False) as buffer:    # doctest: +SKIP
    ...     MPI.COMM_WORLD.Recv(buffer, source=1)
    """
    if not array.is_c_contiguous():
        raise ValueError(f"an array of shape {array.shape} and strides {array.strides} has gaps between its elements, "
                         "or another order")
    current_stream().synchronize()
    host = in_place(array)
    if host is not None:
        yield host.reshape(array.shape)
    elif is_cuda_aware():
        yield array
    else:
        copy = array.copy_to_host() if read else np.empty(array.shape, array.dtype)
        yield copy
        if write:
            array.copy_to_device(copy)
            current_stream().synchronize()
