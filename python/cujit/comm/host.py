"""Collectives in memory of the host, over sockets: the CPU device's arrays in place, those of a GPU by a copy."""
from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from cujit.comm.links import Links

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cujit._annotations import StreamLike

OPERATIONS: dict[str, Callable[..., Any]] = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum}


class HostCollectives:
    """What a communicator does where NCCL does not. Every call returns when it is done."""

    name = "sockets"

    def __init__(self, links: Links) -> None:
        self._links = links

    def exchange(self, sends: list[tuple[Any, int]], receives: list[tuple[Any, int]], stream: StreamLike,
                 doing: str) -> None:
        outgoing = [(rank, as_bytes(_on_host(array, stream))) for array, rank in sends]
        targets = [(_target(array, stream), rank) for array, rank in receives]
        self._links.exchange(outgoing, [(rank, as_bytes(host)) for host, rank in targets], doing)
        for (host, _), (array, _) in zip(targets, receives, strict=True):
            _copy_back(host, array, stream)

    def broadcast(self, array: Any, root: int, stream: StreamLike, doing: str) -> None:
        others = [rank for rank in range(self._links.size) if rank != root]
        if self._links.rank == root:
            data = as_bytes(_on_host(array, stream))
            self._links.exchange([(rank, data) for rank in others], [], doing)
        else:
            host = _target(array, stream)
            self._links.exchange([], [(root, as_bytes(host))], doing)
            _copy_back(host, array, stream)

    def all_gather(self, source: Any, target: Any, stream: StreamLike, doing: str) -> None:
        gathered = _target(target, stream)
        self._gather(_on_host(source, stream), np.split(gathered, self._links.size), doing)
        _copy_back(gathered, target, stream)

    def _gather(self, own: NDArray[Any], parts: list[NDArray[Any]], doing: str) -> None:
        """Everyone's own part to all."""
        links = self._links
        others = [rank for rank in range(links.size) if rank != links.rank]
        parts[links.rank][...] = own
        links.exchange([(rank, as_bytes(own)) for rank in others],
                       [(rank, as_bytes(parts[rank])) for rank in others], doing)

    def reduce_scatter(self, source: Any, target: Any, operation: str, stream: StreamLike, doing: str) -> None:
        parts = np.split(_on_host(source, stream), self._links.size)
        result = _target(target, stream)
        result[...] = self._reduce(parts, operation, doing)
        _copy_back(result, target, stream)

    def all_reduce(self, source: Any, target: Any, operation: str, stream: StreamLike, doing: str) -> None:
        values, result = _on_host(source, stream), _target(target, stream)
        places = np.linspace(0, values.size, self._links.size + 1).astype(np.int64)[1:-1]
        own = self._reduce(np.split(values, places), operation, doing)
        self._gather(own, np.split(result, places), doing)
        _copy_back(result, target, stream)

    def _reduce(self, parts: list[NDArray[Any]], operation: str, doing: str) -> NDArray[Any]:
        """Everyone's part that is this rank's, from rank 0 on: the order never depends on who comes first."""
        links = self._links
        own = parts[links.rank]
        others = [rank for rank in range(links.size) if rank != links.rank]
        theirs = {rank: np.empty_like(own) for rank in others}
        links.exchange([(rank, as_bytes(parts[rank])) for rank in others],
                       [(rank, as_bytes(theirs[rank])) for rank in others], doing)
        theirs[links.rank] = own
        result = theirs[0].copy()
        for rank in range(1, links.size):
            OPERATIONS[operation](result, theirs[rank], out=result)
        return result

    def wait(self, stream: StreamLike) -> None:
        _wait(stream)

    def close(self, failed: bool) -> None:
        pass


def _wait(stream: StreamLike) -> None:
    from cujit import cuda

    if stream:
        cuda.external_stream(stream).synchronize()
    else:
        cuda.current_stream().synchronize()


def in_place(array: Any) -> NDArray[Any] | None:
    """The elements, where the host reaches them."""
    if isinstance(array, np.ndarray):
        return array.reshape(-1)
    if array.device.kind != "cpu":
        return None
    if not array.nbytes:
        return np.empty(0, array.dtype)
    return np.frombuffer((ctypes.c_byte * array.nbytes).from_address(array.pointer), array.dtype)


def _on_host(array: Any, stream: StreamLike) -> NDArray[Any]:
    """The elements along one axis, when the work before them is done."""
    if not isinstance(array, np.ndarray):
        _wait(stream)
    host = in_place(array)
    return array.copy_to_host().reshape(-1) if host is None else host


def _target(array: Any, stream: StreamLike) -> NDArray[Any]:
    """Where elements of the array are put, when the work before that is done."""
    if not isinstance(array, np.ndarray):
        _wait(stream)
    host = in_place(array)
    return np.empty(array.size, array.dtype) if host is None else host


def _copy_back(host: NDArray[Any], array: Any, stream: StreamLike) -> None:
    if not isinstance(array, np.ndarray) and array.device.kind != "cpu":
        array.copy_to_device(host.reshape(array.shape), stream=stream)
        _wait(stream)


def as_bytes(host: NDArray[Any]) -> memoryview:
    view: Any = host.view(np.uint8)
    return memoryview(view)
