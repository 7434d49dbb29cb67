"""Sockets between all ranks of a communicator, and the frames that travel on them.

A frame is a letter, the number of bytes, and the bytes: a message (JSON), data of an array, the reason for which a rank
gave up, or a goodbye. Nothing of it is pickled: who connects can only be misunderstood.
"""
from __future__ import annotations

import contextlib
import json
import secrets
import selectors
import socket
import struct
import time
from collections.abc import Callable, Generator, Iterable
from typing import Any

from cujit.errors import CommunicationError, CommunicationTimeoutError, RankDiedError

MESSAGE, DATA, FAILURE, GOODBYE = b"MDFG"
_PREFIX = struct.Struct("<BQ")
_HELLO = struct.Struct("<32sI")      # a secret of this communicator's, and the rank that connects
_PIECE = 1 << 20                     # bytes that one call of the system takes at most, so that all links advance

# Takes what a rank says of itself, gives what all of them have said, by rank.
Gather = Callable[[str], list[str]]


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


class Links:
    """A socket to each other rank. Every call ends within `timeout` seconds; whichever fails ends the communicator."""

    def __init__(self, rank: int, sockets: dict[int, socket.socket], timeout: float) -> None:
        self.rank, self.size, self.timeout = rank, len(sockets) + 1, timeout
        self._sockets = sockets
        self._is_interrupted = False
        for each in sockets.values():
            each.setblocking(False)
            if each.family != socket.AF_UNIX:
                each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def agree(self, messages: dict[int, Any], doing: str) -> dict[int, Any]:
        """Tells each of the ranks its message and returns theirs."""
        texts = {rank: json.dumps(message).encode() for rank, message in messages.items()}
        frames = {rank: [memoryview(_PREFIX.pack(MESSAGE, len(text)) + text)] for rank, text in texts.items()}
        incoming = {rank: _Incoming(rank, [None]) for rank in messages}
        self._move(frames, incoming, doing)
        return {rank: each.messages[0] for rank, each in incoming.items()}

    def exchange(self, sends: Iterable[tuple[int, memoryview]], receives: Iterable[tuple[int, memoryview]],
                 doing: str) -> None:
        """Moves bytes both ways, in the order of the lists for each rank."""
        outgoing: dict[int, list[memoryview]] = {}
        buffers: dict[int, list[memoryview | None]] = {}
        for rank, data in sends:
            outgoing.setdefault(rank, []).extend([memoryview(_PREFIX.pack(DATA, len(data))), data])
        for rank, data in receives:
            buffers.setdefault(rank, []).append(data)
        self._move(outgoing, {rank: _Incoming(rank, each) for rank, each in buffers.items()}, doing)

    def _move(self, outgoing: dict[int, list[memoryview]], incoming: dict[int, _Incoming], doing: str) -> None:
        deadline = time.monotonic() + self.timeout
        self._stop_if_interrupted(doing)
        with selectors.DefaultSelector() as selector:
            for rank in outgoing.keys() | incoming.keys():
                selector.register(self._sockets[rank], _wanted(rank, outgoing, incoming), rank)
            while selector.get_map():
                ready = selector.select(max(deadline - time.monotonic(), 0))
                if not ready:
                    late = sorted(key.data for key in selector.get_map().values())
                    raise CommunicationTimeoutError(
                        f"rank {self.rank} waited {self.timeout:g} s in {doing} for {ranks_text(late)}")
                for key, events in ready:
                    self._move_some(key.data, events, outgoing, incoming, doing)
                    wanted = _wanted(key.data, outgoing, incoming)
                    if not wanted:
                        selector.unregister(key.fileobj)
                    elif wanted != key.events:
                        selector.modify(key.fileobj, wanted, key.data)

    def _move_some(self, rank: int, events: int, outgoing: dict[int, list[memoryview]],
                   incoming: dict[int, _Incoming], doing: str) -> None:
        link = self._sockets[rank]
        try:
            if events & selectors.EVENT_READ:
                _receive(link, incoming[rank])
            if events & selectors.EVENT_WRITE:
                queue = outgoing[rank]
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
        """Ends what another thread does with these links, now or next: it waits for ranks no longer."""
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
        """A rank that has ended without a goodbye. Does not wait."""
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
        """Ends the links; the other ranks hear that it was meant, or of the failure."""
        text = (failure or "").encode()[:4096]
        for link in self._sockets.values():
            with contextlib.suppress(OSError):
                link.send(_PREFIX.pack(FAILURE if failure else GOODBYE, len(text)) + text)
                link.shutdown(socket.SHUT_WR)
            link.close()
        self._sockets = {}


def _receive(link: socket.socket, incoming: _Incoming) -> None:
    assert incoming.place is not None
    count = link.recv_into(incoming.place[:_PIECE])
    if not count:
        raise ConnectionResetError
    incoming.advance(count)


def _wanted(rank: int, outgoing: dict[int, list[memoryview]], incoming: dict[int, _Incoming]) -> int:
    reads = rank in incoming and incoming[rank].place is not None
    return (selectors.EVENT_READ if reads else 0) | (selectors.EVENT_WRITE if outgoing.get(rank) else 0)


def ranks_text(ranks: list[int]) -> str:
    names = ", ".join(map(str, ranks[:8])) + (" and others" if len(ranks) > 8 else "")
    return f"rank{'s' if len(ranks) > 1 else ''} {names}"


# --- making them -----------------------------------------------------------------------------------------------------

def pairs_in_process(size: int, timeout: float) -> list[Links]:
    """Links of ranks that are threads of this process."""
    sockets: list[dict[int, socket.socket]] = [{} for _ in range(size)]
    for i in range(size):
        for j in range(i):
            sockets[i][j], sockets[j][i] = socket.socketpair()
    return [Links(rank, each, timeout) for rank, each in enumerate(sockets)]


def connect_all(rank: int, size: int, host: str, gather: Gather, timeout: float) -> Links:
    """Links of ranks in processes of their own: each listens on `host`, an address of its machine, and hears by
    `gather` where the others do. Higher ranks connect to lower ones."""
    deadline = time.monotonic() + timeout
    sockets: dict[int, socket.socket] = {}
    try:
        with socket.create_server((host, 0), backlog=size) as listener:
            own = {"host": host, "port": listener.getsockname()[1], "secret": secrets.token_hex(16)}
            table = [json.loads(text) for text in gather(json.dumps(own))]
            secret = table[0]["secret"].encode()
            for peer in range(rank):
                address = (table[peer]["host"], table[peer]["port"])
                sockets[peer] = socket.create_connection(address, timeout=_left(deadline))
                sockets[peer].sendall(_HELLO.pack(secret, rank))
            while len(sockets) < size - 1:
                listener.settimeout(_left(deadline))
                _welcome(listener, secret, deadline, sockets)
    except BaseException as error:
        for each in sockets.values():
            each.close()
        if isinstance(error, OSError) and not isinstance(error, CommunicationError):
            kind = CommunicationTimeoutError if isinstance(error, TimeoutError) else CommunicationError
            raise kind(
                f"rank {rank} of {size} could not connect to all others within {timeout:g} s: {error}") from error
        raise
    return Links(rank, sockets, timeout)


def _welcome(listener: socket.socket, secret: bytes, deadline: float, sockets: dict[int, socket.socket]) -> None:
    link, _ = listener.accept()
    link.settimeout(_left(deadline))
    hello = _read(link, _HELLO.size)
    if len(hello) == _HELLO.size and secrets.compare_digest(_HELLO.unpack(hello)[0], secret):
        sockets[_HELLO.unpack(hello)[1]] = link
    else:
        link.close()   # not one of us


def gather_at(address: str, rank: int, size: int, timeout: float) -> Gather:
    """A gather by way of rank 0, which listens on the address, "host:port"."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        raise ValueError(f"an address is 'host:port', such as '127.0.0.1:29500', not {address!r}")

    def gather(text: str) -> list[str]:
        if rank == 0:
            return _serve(host, int(port), size, text, timeout)
        try:
            return _ask(host, int(port), rank, size, text, time.monotonic() + timeout)
        except CommunicationTimeoutError:
            raise   # rank 0's words
        except TimeoutError:
            raise CommunicationTimeoutError(f"rank {rank} waited {timeout:g} s at {address} for all of {size} "
                                            "ranks") from None

    return gather


def _serve(host: str, port: int, size: int, text: str, timeout: float) -> list[str]:
    deadline = time.monotonic() + timeout
    texts, links = {0: text}, []
    answer: dict[str, Any] = {"error": "rank 0 gave up"}
    try:
        with socket.create_server((host, port), backlog=size) as listener:
            while len(texts) < size:
                listener.settimeout(_left(deadline))
                link, _ = listener.accept()
                links.append(link)
                link.settimeout(_left(deadline))
                try:
                    theirs = json.loads(_line(link))
                    rank, their_size, their_text = theirs["rank"], theirs["size"], theirs["text"]
                except (ValueError, KeyError, TypeError):
                    continue   # not one of us
                if their_size != size or rank in texts or not 0 < rank < size:
                    raise CommunicationError(f"rank 0 of {size} met rank {rank} of {their_size}: each rank from 0 to "
                                             f"{size - 1} is there once")
                texts[rank] = their_text
        answer = {"texts": [texts[i] for i in range(size)]}
        return list(answer["texts"])
    except TimeoutError:
        late = ranks_text([other for other in range(size) if other not in texts])
        answer = {"late": f"rank 0 waited {timeout:g} s at {host}:{port} for {late}"}
        raise CommunicationTimeoutError(answer["late"]) from None
    except CommunicationError as error:
        answer = {"error": str(error)}
        raise
    except OSError as error:
        answer = {"error": f"rank 0 failed: {error}"}
        raise
    finally:
        for link in links:
            with contextlib.suppress(OSError):
                link.sendall(json.dumps(answer).encode() + b"\n")
            link.close()


def _ask(host: str, port: int, rank: int, size: int, text: str, deadline: float) -> list[str]:
    while True:   # rank 0 may not be there yet
        try:
            link = socket.create_connection((host, port), timeout=_left(deadline))
            break
        except ConnectionRefusedError:
            _left(deadline)
            time.sleep(0.02)
    with link:
        link.sendall(json.dumps({"rank": rank, "size": size, "text": text}).encode() + b"\n")
        link.settimeout(_left(deadline))
        line = _line(link)
    if not line:
        raise RankDiedError("rank 0 is gone, before all ranks were there")
    answer = json.loads(line)
    if "late" in answer:
        raise CommunicationTimeoutError(answer["late"])
    if "error" in answer:
        raise CommunicationError(answer["error"])
    return list(answer["texts"])


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError("the time is over")
    return left


def _read(link: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count and (piece := link.recv(count - len(data))):
        data += piece
    return data


def _line(link: socket.socket) -> str:
    with link.makefile("r", encoding="utf-8") as lines:
        return lines.readline()


def address_towards(host: str) -> str:
    """The address of this machine that another one reaches it by."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:   # sends nothing
        probe.connect((socket.gethostbyname(host), 9))
        return str(probe.getsockname()[0])
