"""The communicator of a rank: what programs call, and what is checked before anything moves."""
from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from cujit.comm.host import OPERATIONS, HostCollectives
from cujit.comm.links import Links
from cujit.comm.nccl import NcclCollectives
from cujit.cuda import devices
from cujit.cuda.devicearray import DeviceNDArray, as_cuda_array
from cujit.errors import CommunicationError, RanksDisagreeError

if TYPE_CHECKING:
    from types import TracebackType

    from cujit._annotations import StreamLike
    from cujit.cuda.devices import Device

BACKENDS = ("auto", "nccl", "sockets")
_REDUCED = ("int8", "uint8", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64")


class _Group:
    """The sends and receives between `with comm.group()` and its end."""

    def __init__(self, stream: StreamLike) -> None:
        self.stream = stream
        self.sends: list[tuple[Any, int]] = []
        self.receives: list[tuple[Any, int]] = []


class Communicator:
    """One rank of `size` that exchange arrays; made by the functions of cujit.comm, not by hand.

    Every rank makes the same calls in the same order, each in one thread at a time. Before anything moves the ranks
    tell each other what they are about to do, so that a shape or dtype that differs is an error on all of them. An
    error of a call ends the communicator on all ranks: make another one to go on.

    Arrays are device arrays, arrays of other libraries in device memory, or, without NCCL, NumPy's; C-contiguous.
    Work that was put into `stream` (the current one, unless it is named) before the call is done before arrays are
    read. With NCCL calls return at once, and what they do is ordered in that stream; without it they return when it
    is done.

    Attributes
    ----------
    rank, size : int
        This rank, from 0, and how many there are.
    device : Device
        Where this rank's arrays are.
    backend : str
        "nccl" or "sockets".
    timeout : float
        Seconds that a call waits for other ranks.
    """

    def __init__(self, links: Links, device: Device | None = None, backend: str = "auto") -> None:
        self.rank, self.size, self.timeout = links.rank, links.size, links.timeout
        self.device = device if device is not None else devices.need_device()
        self._links = links
        self._others = [rank for rank in range(self.size) if rank != self.rank]
        self._group: _Group | None = None
        self._ended: str | None = None
        self._busy, self._doing = threading.Lock(), ""
        self._collectives: HostCollectives | NcclCollectives = HostCollectives(links)
        with self._ending("the start"):
            self._tell_all({"call": "the start", "backend": self._backend_of(backend)})
            if self._backend_of(backend) == "nccl":
                self._collectives = NcclCollectives(links, self.device)

    def _backend_of(self, backend: str) -> str:
        if backend not in BACKENDS:
            raise ValueError(f"backend is one of {', '.join(BACKENDS)}, not {backend!r}")
        if backend != "auto":
            if backend == "nccl" and self.device.kind == "cpu":
                raise ValueError("NCCL works on GPUs, and this rank has a CPU device: backend='sockets'")
            return backend
        return "nccl" if self.device.kind == "cuda" and self.size > 1 else "sockets"

    @property
    def backend(self) -> str:
        return self._collectives.name

    def __repr__(self) -> str:
        state = f", {self._ended}" if self._ended else ""
        return f"<communicator: rank {self.rank} of {self.size}, {self.device.name}, {self.backend}{state}>"

    # --- between two ranks -------------------------------------------------------------------------------------------

    def send(self, array: Any, rank: int, *, stream: StreamLike = 0) -> None:
        """Sends the elements to a rank, which receives them into an array of the same shape and dtype.

        Parameters
        ----------
        array : array
            C-contiguous, of any shape and dtype.
        rank : int
            Where to.
        stream : Stream or int
            What the array's elements come from. A group has one for all.

        Raises
        ------
        RanksDisagreeError
            The other rank does something else, or receives another shape or dtype.
        RankDiedError, CommunicationTimeoutError
            The other rank has ended, or does not come.
        ValueError
            The array has gaps, or there is no such rank.
        """
        self._add("sends", array, rank, stream)

    def recv(self, array: Any, rank: int, *, stream: StreamLike = 0) -> None:
        """Receives what a rank sends, into the array.

        Parameters
        ----------
        array : array
            C-contiguous, writable, of the sent array's shape and dtype.
        rank : int
            Where from.
        stream : Stream or int
            Where what uses the elements next will be. A group has one for all.

        Raises
        ------
        RanksDisagreeError
            The other rank does something else, or sends another shape or dtype.
        RankDiedError, CommunicationTimeoutError
            The other rank has ended, or does not come.
        ValueError
            The array has gaps or is read-only, or there is no such rank.
        """
        self._add("receives", array, rank, stream)

    @contextlib.contextmanager
    def group(self, *, stream: StreamLike = 0) -> Iterator[None]:
        """Sends and receives in the block are done together at its end: the halos of all neighbours.

        Without it two ranks that both send first would wait for each other, which is a RanksDisagreeError.

        Parameters
        ----------
        stream : Stream or int
            For all of them.

        Examples
        --------
        >>> with comm.group():                          # doctest: +SKIP
        ...     comm.send(u[1], above)
        ...     comm.recv(u[0], above)
        """
        if self._group is not None:
            raise ValueError("a group in a group")
        self._group = _Group(stream)
        try:
            yield
            group = self._group
        finally:
            self._group = None
        self._do_group(group)

    def _add(self, kind: str, array: Any, rank: int, stream: StreamLike) -> None:
        if not 0 <= rank < self.size or rank == self.rank:
            raise ValueError(f"rank {self.rank} of {self.size} cannot exchange arrays with rank {rank}")
        group = self._group or _Group(stream)
        getattr(group, kind).append((self._checked(array, kind == "receives"), rank))
        if self._group is None:
            self._do_group(group)

    def _do_group(self, group: _Group) -> None:
        for i, (target, _) in enumerate(group.receives):
            for other, _ in group.sends + group.receives[:i]:
                _apart(target, other)
        ranks = sorted({rank for _, rank in group.sends + group.receives})
        plans = {rank: {kind: [_kind_of(array) for array, other in getattr(group, kind) if other == rank]
                        for kind in ("sends", "receives")} for rank in ranks}
        doing = "an exchange"
        with self._ending(doing):
            told = self._links.agree({rank: {"call": doing, **plan} for rank, plan in plans.items()}, doing)
            for rank in ranks:
                self._compare_pair(rank, plans[rank], told[rank])
            self._collectives.exchange(group.sends, group.receives, group.stream, doing)

    def _compare_pair(self, rank: int, own: dict[str, Any], theirs: dict[str, Any]) -> None:
        if theirs["call"] != "an exchange":
            raise RanksDisagreeError(f"rank {self.rank} exchanges arrays with rank {rank}, which is in "
                                     f"{_call_text(theirs)}")
        for kind, other, words in (("sends", "receives", "sends {} to"), ("receives", "sends", "receives {} from")):
            if own[kind] != theirs[other]:
                raise RanksDisagreeError(
                    f"rank {self.rank} {words.format(_kinds_text(own[kind]))} rank {rank}, which {other} "
                    f"{_kinds_text(theirs[other])}; what goes both ways at a time stands in a `with comm.group():`")

    # --- all ranks ---------------------------------------------------------------------------------------------------

    def barrier(self) -> None:
        """Waits for all ranks to come here, and for this rank's current stream.

        Raises
        ------
        RanksDisagreeError, RankDiedError, CommunicationTimeoutError
            Another rank does something else, has ended, or does not come.
        """
        with self._ending("barrier()"):
            self._collectives.wait(0)
            self._tell_all({"call": "barrier"})

    def broadcast(self, array: Any, root: int = 0, *, stream: StreamLike = 0) -> Any:
        """Copies the elements of rank `root` into every other rank's array.

        Parameters
        ----------
        array : array
            Read on rank `root`, written on the others; the same shape and dtype on all.
        root : int
            Whose elements.
        stream : Stream or int
            What the array's elements come from, and where they are used next.

        Returns
        -------
        array

        Raises
        ------
        RanksDisagreeError, RankDiedError, CommunicationTimeoutError
            Another rank does something else or has another array, has ended, or does not come.
        """
        if not 0 <= root < self.size:
            raise ValueError(f"there is no rank {root} among {self.size}")
        found = self._checked(array, self.rank != root)
        with self._all_agree("broadcast", found, root=root) as doing:
            self._collectives.broadcast(found, root, stream, doing)
        return array

    def all_gather(self, source: Any, target: Any, *, stream: StreamLike = 0) -> Any:
        """Puts the elements of all ranks, rank after rank, into every rank's target.

        Parameters
        ----------
        source : array
            This rank's; the same shape and dtype on all.
        target : array
            `size` times as many elements, of the same dtype.
        stream : Stream or int
            What the source's elements come from, and where the target's are used next.

        Returns
        -------
        array
            The target.

        Raises
        ------
        RanksDisagreeError, RankDiedError, CommunicationTimeoutError
            Another rank does something else or has another source, has ended, or does not come.
        ValueError
            The target has another number of elements, or shares memory with the source, which may only be this rank's
            part of it.
        """
        found, into = self._checked(source), self._checked(target, True)
        self._fits(found, into, found.size * self.size, into.size)
        _apart(found, into, self.rank * found.nbytes)
        with self._all_agree("all_gather", found) as doing:
            self._collectives.all_gather(found, into, stream, doing)
        return target

    def all_reduce(self, source: Any, target: Any = None, op: str = "sum", *, stream: StreamLike = 0) -> Any:
        """Reduces the arrays of all ranks element by element; every rank gets the result, the same to the bit.

        By sockets elements are reduced from rank 0 on, always in that order. Sums of integers, and max and min, do not
        depend on the number of ranks either; sums of floats do not where at most one rank has something else than 0 at
        each place: so is a sum of parts, each in a place of its own, that one rank adds up afterwards.

        Parameters
        ----------
        source : array
            The same shape and dtype on all ranks: int8, uint8, or an integer or float of 32 or 64 bits, or float16.
        target : array, optional
            Of the same shape and dtype; the source itself unless it is given.
        op : str
            "sum", "prod", "max" or "min".
        stream : Stream or int
            What the source's elements come from, and where the target's are used next.

        Returns
        -------
        array
            The target.

        Raises
        ------
        RanksDisagreeError, RankDiedError, CommunicationTimeoutError
            Another rank does something else or has another source, has ended, or does not come.
        ValueError
            The target has another shape, or shares memory with the source without being the same.
        """
        found = self._checked(source, target is None)
        into = found if target is None else self._checked(target, True)
        self._fits(found, into, found.size, into.size)
        _apart(found, into, 0)
        with self._all_agree("all_reduce", found, op=_operation(op, found)) as doing:
            self._collectives.all_reduce(found, into, op, stream, doing)
        return source if target is None else target

    def reduce_scatter(self, source: Any, target: Any, op: str = "sum", *, stream: StreamLike = 0) -> Any:
        """Reduces the arrays of all ranks element by element; each rank gets its part of the result.

        Parameters
        ----------
        source : array
            The same shape and dtype on all ranks, as for all_reduce.
        target : array
            Of the same dtype; rank after rank has one of the `size` equal parts of the source's elements.
        op : str
            "sum", "prod", "max" or "min"; in the order of all_reduce.
        stream : Stream or int
            What the source's elements come from, and where the target's are used next.

        Returns
        -------
        array
            The target.

        Raises
        ------
        RanksDisagreeError, RankDiedError, CommunicationTimeoutError
            Another rank does something else or has another source, has ended, or does not come.
        ValueError
            The target has another number of elements, or shares memory with the source, of which it may only be
            this rank's part.
        """
        found, into = self._checked(source), self._checked(target, True)
        self._fits(found, into, found.size, into.size * self.size)
        _apart(into, found, self.rank * into.nbytes)
        with self._all_agree("reduce_scatter", found, op=_operation(op, found)) as doing:
            self._collectives.reduce_scatter(found, into, op, stream, doing)
        return target

    def synchronize(self, stream: StreamLike = 0) -> None:
        """Waits for a stream that has calls of this communicator in it, within the timeout.

        Another way of waiting, such as a copy to the host, has no such limit: with NCCL, a rank that ends in the middle
        of a call leaves the others' streams waiting.

        Parameters
        ----------
        stream : Stream or int
            The current one unless it is named.

        Raises
        ------
        RankDiedError, CommunicationTimeoutError
            Another rank has ended, or the stream is not done in time.
        """
        with self._ending("synchronize()"):
            self._collectives.wait(stream)

    # --- the end -----------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Ends the communicator. Other ranks that wait for this one get a RankDiedError."""
        self._end("closed", None)

    def _end(self, ended: str, failure: str | None) -> None:
        if self._ended is None:
            self._ended = ended
            self._links.close(failure)
            self._collectives.close(failure is not None)

    def __enter__(self) -> Communicator:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        if kind is None:
            self.close()
        else:
            reason = f"{kind.__name__}: {error}"
            self._end(f"ended by {reason}", reason)

    # --- what is checked ---------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _ending(self, doing: str) -> Iterator[None]:
        """What fails in here ends the communicator, on the other ranks, too."""
        if self._ended is not None:
            raise CommunicationError(f"{doing} of a communicator that has ended: {self._ended}")
        if self._group is not None:
            raise ValueError(f"{doing} in a group, which has sends and receives alone")
        if not self._busy.acquire(blocking=False):
            raise CommunicationError(f"{doing} while another thread is in {self._doing}: calls of a communicator are "
                                     "made one after another")
        try:
            self._doing = doing
            yield
        except BaseException as error:
            reason = f"{type(error).__name__}: {error}"
            self._end(reason, reason)
            raise
        finally:
            self._busy.release()

    @contextlib.contextmanager
    def _all_agree(self, call: str, array: Any, **more: object) -> Iterator[str]:
        message = {"call": call, "array": _kind_of(array), **more}
        doing = _call_text(message)
        with self._ending(doing):
            self._tell_all(message)
            yield doing

    def _tell_all(self, message: dict[str, Any]) -> None:
        told = {self.rank: message} | self._links.agree(dict.fromkeys(self._others, message), _call_text(message))
        texts: dict[str, list[int]] = {}
        for rank, each in sorted(told.items()):
            texts.setdefault(_call_text(each), []).append(rank)
        if len(texts) > 1:
            from cujit.comm.links import ranks_text

            raise RanksDisagreeError("the ranks disagree: " + "; ".join(
                f"{ranks_text(ranks)}: {text}" for text, ranks in texts.items()))

    def _checked(self, array: Any, is_written: bool = False) -> Any:
        if isinstance(array, np.ndarray):
            if self.backend == "nccl":
                raise ValueError("NCCL takes arrays in device memory: cuda.to_device(array)")
            gaps, locked = not array.flags.c_contiguous, not array.flags.writeable
        else:
            array = array if isinstance(array, DeviceNDArray) else as_cuda_array(array)
            if array.device.id != self.device.id:
                raise ValueError(f"rank {self.rank} has device {self.device.id}, and the array is on device "
                                 f"{array.device.id}: copy it (copy_to_device takes arrays of other devices)")
            gaps, locked = not array.is_c_contiguous(), array.read_only
        if gaps:
            raise ValueError(f"an array of shape {array.shape} and strides {array.strides} has gaps between its "
                             "elements, or another order: copy it to a new array, and what is received from there")
        if locked and is_written:
            raise ValueError("the array is read-only")
        if array.dtype.hasobject:
            raise TypeError(f"an array of {array.dtype} has references to Python's objects, which do not travel")
        return array

    def _fits(self, source: Any, target: Any, from_source: int, from_target: int) -> None:
        if source.dtype != target.dtype or from_source != from_target:
            raise ValueError(f"source {source.dtype} {source.shape} and target {target.dtype} {target.shape} do not "
                             f"fit for {self.size} ranks")


def _apart(part: Any, whole: Any, place: int | None = None) -> None:
    """Arrays that share memory would be read and written at a time, unless one is a rank's part, that many bytes in."""
    first, second = (array.ctypes.data if isinstance(array, np.ndarray) else array.pointer for array in (part, whole))
    if first < second + whole.nbytes and second < first + part.nbytes and (place is None or first != second + place):
        raise ValueError(f"two arrays of this call share memory, {_kind_text(_kind_of(part))} and "
                         f"{_kind_text(_kind_of(whole))}, and one is written while the other is read: copy one of them")


def _kind_of(array: Any) -> list[Any]:
    return [array.dtype.str if array.dtype.names is None else str(array.dtype), list(array.shape)]


def _operation(op: str, array: Any) -> str:
    if op not in OPERATIONS:
        raise ValueError(f"op is one of {', '.join(OPERATIONS)}, not {op!r}")
    if array.dtype.name not in _REDUCED:
        raise TypeError(f"arrays of {array.dtype} are not reduced; these are: {', '.join(_REDUCED)}")
    return op


def _kind_text(kind: list[Any]) -> str:
    with contextlib.suppress(TypeError):
        return f"{np.dtype(kind[0])} {tuple(kind[1])}"
    return f"{kind[0]} {tuple(kind[1])}"


def _kinds_text(kinds: list[list[Any]]) -> str:
    if len(kinds) > 4:
        return f"{len(kinds)} arrays, {_kind_text(kinds[0])} first"
    return " and ".join(map(_kind_text, kinds)) or "nothing"


def _call_text(message: dict[str, Any]) -> str:
    arguments = [_kind_text(message["array"])] if "array" in message else []
    arguments += [f"{name}={message[name]!r}" for name in ("op", "root", "backend") if name in message]
    return f"{message['call']}({', '.join(arguments)})"
