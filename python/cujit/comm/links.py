"""What ranks have to each other, and sockets as that, with the frames that travel on them.

A frame is a letter, the number of bytes, and the bytes: a message (JSON), data of an array, the reason for which a rank
gave up, or a goodbye. Nothing of it is pickled: who connects can only be misunderstood.
"""
from __future__ import annotations

import abc
import contextlib
import json
import selectors
import socket
import struct
import time
from collections.abc import Generator, Iterable
from typing import Any

from cujit.errors import CommunicationError, CommunicationTimeoutError, RankDiedError

MESSAGE, DATA, FAILURE, GOODBYE = b"MDFG"
_PREFIX = struct.Struct("<BQ")
_PIECE = 1 << 20                     # bytes that one call of the system takes at most, so that all links advance


class _Incoming:
    """Frames that are expected of a rank, each into a buffer, or, where that is None, as a message."""

    def __init__(self, rank: int, buffers: list[memoryview | None]) -> None:
        self.rank = rank
        self.messages: list[Any] = []
        self._frames = self._read(buffers)
        self.place: memoryview | None = next(self._frames, None)

    def advance(self, count: int) -> None:
        assert self.place is not None
        self.place = self.place[count:]
        if not self.place:
            self.place = next(self._frames, None)

    def _read(self, buffers: list[memoryview | None]) -> Generator[memoryview, None, None]:   # where bytes belong
        for buffer in buffers:
            prefix = bytearray(_PREFIX.size)
            yield memoryview(prefix)
            kind, length = _PREFIX.unpack(prefix)
            if kind == GOODBYE:
                raise RankDiedError(f"rank {self.rank} has closed its communicator")
            if kind == DATA and buffer is not None and length == len(buffer):
                if length:
                    yield buffer
                continue
            text = bytearray(length)
            if length:
                yield memoryview(text)
            if kind == FAILURE:
                raise RankDiedError(f"rank {self.rank} gave up: {text.decode()}")
            if kind != MESSAGE or buffer is not None:
                raise CommunicationError(f"rank {self.rank} sent what was not expected")
            self.messages.append(json.loads(text.decode()))


class Links(abc.ABC):
    """What a rank has to all others. A call ends within `timeout` seconds; whichever fails ends the communicator."""

    def __init__(self, rank: int, size: int, timeout: float) -> None:
        self.rank, self.size, self.timeout = rank, size, timeout

    @abc.abstractmethod
    def agree(self, messages: dict[int, Any], doing: str) -> dict[int, Any]:
        """Tells each of the ranks its message and returns theirs."""

    @abc.abstractmethod
    def exchange(self, sends: Iterable[tuple[int, memoryview]], receives: Iterable[tuple[int, memoryview]],
                 doing: str) -> None:
        """Moves bytes both ways, in the order of the lists for each rank."""

    @abc.abstractmethod
    def interrupt(self) -> None:
        """Ends what another thread does with these links, now or next: it waits for ranks no longer."""

    @abc.abstractmethod
    def gone(self) -> int | None:
        """A rank that has ended without a goodbye. Does not wait."""

    @abc.abstractmethod
    def close(self, failure: str | None = None) -> None:
        """Ends the links; the other ranks hear that it was meant, or of the failure."""


class SocketLinks(Links):
    """A socket to each other rank."""

    def __init__(self, rank: int, sockets: dict[int, socket.socket], timeout: float) -> None:
        super().__init__(rank, len(sockets) + 1, timeout)
        self._sockets = sockets
        self._is_interrupted = False
        for each in sockets.values():
            each.setblocking(False)
            each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def agree(self, messages: dict[int, Any], doing: str) -> dict[int, Any]:
        texts = {rank: json.dumps(message).encode() for rank, message in messages.items()}
        frames = {rank: [memoryview(_PREFIX.pack(MESSAGE, len(text)) + text)] for rank, text in texts.items()}
        incoming = {rank: _Incoming(rank, [None]) for rank in messages}
        self._move(frames, incoming, doing)
        return {rank: each.messages[0] for rank, each in incoming.items()}

    def exchange(self, sends: Iterable[tuple[int, memoryview]], receives: Iterable[tuple[int, memoryview]],
                 doing: str) -> None:
        outgoing: dict[int, list[memoryview]] = {}
        buffers: dict[int, list[memoryview | None]] = {}
        for rank, data in sends:
            outgoing.setdefault(rank, []).extend([memoryview(_PREFIX.pack(DATA, len(data))), data])
        for rank, data in receives:
            buffers.setdefault(rank, []).append(data)
        self._move(outgoing, {rank: _Incoming(rank, each) for rank, each in buffers.items()}, doing)

    def _move(self, outgoing: dict[int, list[memoryview]], incoming: dict[int, _Incoming], doing: str) -> None:
        """What can be moved at once takes no waiting, which costs more than a small message does."""
        deadline = time.monotonic() + self.timeout
        self._stop_if_interrupted(doing)
        waiting = {}
        for rank in dict.fromkeys([*outgoing, *incoming]):   # what others wait for goes first
            self._move_some(rank, outgoing, {}, doing)
        for rank in incoming:
            self._move_some(rank, {}, incoming, doing)
        for rank in outgoing.keys() | incoming.keys():
            if wanted := _wanted(rank, outgoing, incoming):
                waiting[rank] = wanted
        if not waiting:
            return
        with selectors.PollSelector() as selector:   # unlike epoll's it asks nothing of the system until it waits
            for rank, wanted in waiting.items():
                selector.register(self._sockets[rank], wanted, rank)
            while selector.get_map():
                ready = selector.select(max(deadline - time.monotonic(), 0))
                if not ready:
                    late = sorted(key.data for key in selector.get_map().values())
                    raise CommunicationTimeoutError(
                        f"rank {self.rank} waited {self.timeout:g} s in {doing} for {ranks_text(late)}")
                for key, events in ready:
                    self._move_some(key.data, outgoing if events & selectors.EVENT_WRITE else {},
                                    incoming if events & selectors.EVENT_READ else {}, doing)
                    wanted = _wanted(key.data, outgoing, incoming)
                    if not wanted:
                        selector.unregister(key.fileobj)
                    elif wanted != key.events:
                        selector.modify(key.fileobj, wanted, key.data)

    def _move_some(self, rank: int, outgoing: dict[int, list[memoryview]], incoming: dict[int, _Incoming],
                   doing: str) -> None:
        """As much as the system takes and has, at most a piece of either."""
        link = self._sockets[rank]
        try:
            if rank in incoming:
                _receive(link, incoming[rank])
            if queue := outgoing.get(rank):
                sent = link.send(queue[0][:_PIECE]) if queue[0] else 0
                queue[0] = queue[0][sent:]
                while queue and not queue[0]:
                    queue.pop(0)
        except BlockingIOError:
            pass
        except OSError as error:
            if isinstance(error, CommunicationError):
                raise
            self._stop_if_interrupted(doing)
            raise RankDiedError(f"rank {rank} is gone, while rank {self.rank} was in {doing}: "
                                f"{self._reason(rank) or 'it has ended, or was stopped in the middle'}") from None

    def interrupt(self) -> None:
        self._is_interrupted = True
        for link in list(self._sockets.values()):
            with contextlib.suppress(OSError):
                link.shutdown(socket.SHUT_RDWR)

    def _stop_if_interrupted(self, doing: str) -> None:
        if self._is_interrupted:
            raise CommunicationError(f"rank {self.rank} was interrupted in {doing}")

    def _reason(self, rank: int) -> str | None:
        """Why a rank that takes nothing any more gave up, if it said so."""
        rest = bytearray()
        with contextlib.suppress(OSError):
            while piece := self._sockets[rank].recv(_PIECE):
                rest += piece
        if len(rest) >= _PREFIX.size:
            kind, length = _PREFIX.unpack_from(rest)
            if kind == FAILURE:
                return rest[_PREFIX.size:_PREFIX.size + length].decode(errors="replace")
        return None

    def gone(self) -> int | None:
        for rank, link in self._sockets.items():
            try:
                if link.recv(1, socket.MSG_PEEK) in (b"", bytes([FAILURE])):
                    return rank
            except BlockingIOError:
                continue
            except OSError:
                return rank
        return None

    def close(self, failure: str | None = None) -> None:
        text = (failure or "").encode()[:4096]
        for link in self._sockets.values():
            with contextlib.suppress(OSError):
                link.send(_PREFIX.pack(FAILURE if failure else GOODBYE, len(text)) + text)
                link.shutdown(socket.SHUT_WR)
            link.close()
        self._sockets = {}


def _receive(link: socket.socket, incoming: _Incoming) -> None:
    """A piece, or all of some small frames. BlockingIOError where there is nothing yet."""
    left = _PIECE
    while incoming.place is not None and left > 0:
        count = link.recv_into(incoming.place[:left])
        if not count:
            raise ConnectionResetError
        left -= count
        incoming.advance(count)


def _wanted(rank: int, outgoing: dict[int, list[memoryview]], incoming: dict[int, _Incoming]) -> int:
    reads = rank in incoming and incoming[rank].place is not None
    return (selectors.EVENT_READ if reads else 0) | (selectors.EVENT_WRITE if outgoing.get(rank) else 0)


def ranks_text(ranks: list[int]) -> str:
    names = ", ".join(map(str, ranks[:8])) + (" and others" if len(ranks) > 8 else "")
    return f"rank{'s' if len(ranks) > 1 else ''} {names}"
