"""NCCL, by the packages that have it: nccl4py, else CuPy. Their calls alike, and what they need at the start."""
from __future__ import annotations

import threading
import time
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import numpy as np

from cujit.comm.links import Links
from cujit.errors import CommunicationError, CommunicationTimeoutError, RankDiedError

if TYPE_CHECKING:
    from cujit._annotations import StreamLike
    from cujit.cuda.devicearray import DeviceNDArray
    from cujit.cuda.devices import Device

# NCCL's numbers of what it reduces.
_TYPES = {"int8": 0, "uint8": 1, "int32": 2, "uint32": 3, "int64": 4, "uint64": 5, "float16": 6, "float32": 7,
          "float64": 8}
_OPERATIONS = {"sum": 0, "prod": 1, "max": 2, "min": 3}


class _ByNccl4py:
    """A communicator of nccl4py, which takes arrays and streams as they are."""

    def __init__(self) -> None:
        import nccl.core

        self._nccl = nccl.core

    def unique_id(self) -> list[int]:
        return list(self._nccl.get_unique_id().as_bytes)

    def start(self, size: int, rank: int, unique_id: list[int]) -> None:
        self._comm = self._nccl.Communicator.init(size, rank, self._nccl.UniqueId.from_bytes(bytes(unique_id)))

    def group(self) -> AbstractContextManager[Any]:
        return self._nccl.group()

    def send(self, array: DeviceNDArray, rank: int, stream: int) -> None:
        self._comm.send(_raw(array), rank, stream=stream)

    def receive(self, array: DeviceNDArray, rank: int, stream: int) -> None:
        self._comm.recv(_raw(array), rank, stream=stream)

    def broadcast(self, array: DeviceNDArray, root: int, stream: int) -> None:
        self._comm.broadcast(_raw(array), _raw(array), root, stream=stream)

    def all_gather(self, source: DeviceNDArray, target: DeviceNDArray, stream: int) -> None:
        self._comm.allgather(_raw(source), _raw(target), stream=stream)

    def all_reduce(self, source: DeviceNDArray, target: DeviceNDArray, operation: str, stream: int) -> None:
        self._comm.allreduce(source, target, self._nccl.NcclRedOp(_OPERATIONS[operation]), stream=stream)

    def reduce_scatter(self, source: DeviceNDArray, target: DeviceNDArray, operation: str, stream: int) -> None:
        self._comm.reduce_scatter(source, target, self._nccl.NcclRedOp(_OPERATIONS[operation]), stream=stream)

    def abort(self) -> None:
        self._comm.abort()

    def destroy(self) -> None:
        self._comm.destroy()


class _Group:
    """CuPy's group of calls."""

    def __init__(self, nccl: Any) -> None:
        self._nccl = nccl

    def __enter__(self) -> None:
        self._nccl.groupStart()

    def __exit__(self, *error: object) -> None:
        self._nccl.groupEnd()


class _ByCupy:
    """A communicator of CuPy's, which takes addresses."""

    def __init__(self) -> None:
        from cupy.cuda import nccl

        if not nccl.available:
            raise ImportError("this CuPy was built, or is installed, without NCCL")
        self._nccl = nccl

    def unique_id(self) -> list[int]:
        return list(self._nccl.get_unique_id())

    def start(self, size: int, rank: int, unique_id: list[int]) -> None:
        try:
            self._comm = self._nccl.NcclCommunicator(size, bytes(value & 0xFF for value in unique_id), rank)
        except TypeError:   # older ones take a tuple of what they gave, numbers with a sign
            self._comm = self._nccl.NcclCommunicator(size, tuple(unique_id), rank)

    def group(self) -> AbstractContextManager[Any]:
        return _Group(self._nccl)

    def send(self, array: DeviceNDArray, rank: int, stream: int) -> None:
        self._comm.send(array.pointer, array.nbytes, _TYPES["uint8"], rank, stream)

    def receive(self, array: DeviceNDArray, rank: int, stream: int) -> None:
        self._comm.recv(array.pointer, array.nbytes, _TYPES["uint8"], rank, stream)

    def broadcast(self, array: DeviceNDArray, root: int, stream: int) -> None:
        self._comm.bcast(array.pointer, array.nbytes, _TYPES["uint8"], root, stream)

    def all_gather(self, source: DeviceNDArray, target: DeviceNDArray, stream: int) -> None:
        self._comm.allGather(source.pointer, target.pointer, source.nbytes, _TYPES["uint8"], stream)

    def all_reduce(self, source: DeviceNDArray, target: DeviceNDArray, operation: str, stream: int) -> None:
        self._comm.allReduce(source.pointer, target.pointer, source.size, _TYPES[source.dtype.name],
                             _OPERATIONS[operation], stream)

    def reduce_scatter(self, source: DeviceNDArray, target: DeviceNDArray, operation: str, stream: int) -> None:
        self._comm.reduceScatter(source.pointer, target.pointer, target.size, _TYPES[source.dtype.name],
                                 _OPERATIONS[operation], stream)

    def abort(self) -> None:
        self._comm.abort()

    def destroy(self) -> None:
        self._comm.destroy()


PACKAGES: dict[str, type[Any]] = {"nccl4py": _ByNccl4py, "cupy": _ByCupy}


def _raw(array: DeviceNDArray) -> DeviceNDArray:
    """The bytes, which NCCL moves whatever they are."""
    return array.reshape(-1).view(np.uint8)


def find_package() -> tuple[str, Any]:
    """(name, object) of the first package that is there and loads. CommunicationError says what is missing."""
    why = []
    for name, cls in PACKAGES.items():
        try:
            return name, cls()
        except (ImportError, OSError, RuntimeError) as error:
            why.append(f"{name}: {error}")
    raise CommunicationError("no package with NCCL works here (" + "; ".join(why) + "); install nccl4py[cu13], or CuPy "
                             "and nvidia-nccl-cu13, or use backend='sockets', which copies by way of the host")


class NcclCollectives:
    """What a communicator does on GPUs. Calls return when they are put into the stream."""

    name = "nccl"

    def __init__(self, links: Links, device: Device) -> None:
        self._links, self._device = links, device
        self._package, self._nccl = find_package()
        others = [rank for rank in range(links.size) if rank != links.rank]
        unique_id = self._nccl.unique_id() if links.rank == 0 else []
        own = {"package": self._package, "device": device.uuid, "id": unique_id}
        told: dict[int, Any] = {links.rank: own} | links.agree(dict.fromkeys(others, own), "the start of NCCL")
        packages = {rank: each["package"] for rank, each in sorted(told.items())}
        if len(set(packages.values())) > 1:
            raise CommunicationError(f"the ranks have NCCL by different packages: {packages}")
        seen: dict[str, int] = {}
        for rank, each in sorted(told.items()):
            if (first := seen.setdefault(each["device"], rank)) != rank:
                raise CommunicationError(
                    f"ranks {first} and {rank} are on the same GPU, and NCCL takes one rank for each: name another "
                    "device, or use backend='sockets'")
        self._start(told[0]["id"])

    def _start(self, unique_id: list[int]) -> None:
        """NCCL waits for all ranks in there, without a limit of its own."""
        failure: list[BaseException] = []

        def start() -> None:
            try:
                with self._device:
                    self._nccl.start(self._links.size, self._links.rank, unique_id)
            except BaseException as error:
                failure.append(error)

        thread = threading.Thread(target=start, daemon=True)
        thread.start()
        thread.join(self._links.timeout)
        if thread.is_alive():
            raise CommunicationTimeoutError(
                f"rank {self._links.rank} waited {self._links.timeout:g} s for NCCL to start")
        if failure:
            raise CommunicationError(f"NCCL could not start: {failure[0]}") from failure[0]

    def exchange(self, sends: list[tuple[Any, int]], receives: list[tuple[Any, int]], stream: StreamLike,
                 doing: str) -> None:
        handle = _handle(stream)
        with self._nccl.group():
            for array, rank in sends:
                if array.size:
                    self._nccl.send(array, rank, handle)
            for array, rank in receives:
                if array.size:
                    self._nccl.receive(array, rank, handle)

    def broadcast(self, array: Any, root: int, stream: StreamLike, doing: str) -> None:
        if array.size:
            self._nccl.broadcast(array, root, _handle(stream))

    def all_gather(self, source: Any, target: Any, stream: StreamLike, doing: str) -> None:
        if source.size:
            self._nccl.all_gather(source, target, _handle(stream))

    def reduce_scatter(self, source: Any, target: Any, operation: str, stream: StreamLike, doing: str) -> None:
        if target.size:
            self._nccl.reduce_scatter(source, target, operation, _handle(stream))

    def all_reduce(self, source: Any, target: Any, operation: str, stream: StreamLike, doing: str) -> None:
        if source.size:
            self._nccl.all_reduce(source, target, operation, _handle(stream))

    def wait(self, stream: StreamLike) -> None:
        """Until the stream is done, or a rank is gone, or the time is over."""
        from cujit import cuda

        reached = cuda.event(timing=False)
        reached.record(stream or cuda.current_stream())
        deadline, pause = time.monotonic() + self._links.timeout, 1e-5
        while not reached.query():
            if (rank := self._links.gone()) is not None:
                raise RankDiedError(
                    f"rank {rank} is gone, while rank {self._links.rank} waited for what it takes part in")
            if time.monotonic() > deadline:
                raise CommunicationTimeoutError(
                    f"rank {self._links.rank} waited {self._links.timeout:g} s for its stream")
            time.sleep(pause)
            pause = min(pause * 2, 1e-3)

    def close(self, failed: bool) -> None:
        with self._device:
            if failed:
                self._nccl.abort()
            else:
                self._nccl.destroy()


def _handle(stream: StreamLike) -> int:
    from cujit import cuda

    return (cuda.external_stream(stream) if stream else cuda.current_stream()).handle
