"""How ranks that are processes find each other: at rank 0's address, or by what an engine hands around.

Anything may connect to a port, and anything may listen at an address. So each side of a connection says at once who it
is: nobody waits longer than HELLO_SECONDS for one that says nothing, and others are heard meanwhile.
"""
from __future__ import annotations

import contextlib
import json
import secrets
import selectors
import socket
import struct
import time
from collections.abc import Callable
from typing import Any

from cujit.comm.links import Links, SocketLinks, ranks_text
from cujit.errors import CommunicationError, CommunicationTimeoutError, RankDiedError

HELLO_SECONDS = 10.0
_GREETING = b"cujit.comm, rank 0\n"   # what rank 0 says to whoever connects to its address
_HELLO = struct.Struct("<32sI")       # what two ranks tell each other: their communicator's secret, and their number
_LONGEST = 1 << 16                    # bytes of a first line

# Takes what a rank says of itself, gives what all of them have said, by rank.
Gather = Callable[[str], list[str]]


class _Door:
    """Those who connect to a listener, as soon as they have said who they are; all others are turned away.

    read(what one has said): None while that is not all; ValueError where it is not one of us.
    """

    def __init__(self, listener: socket.socket, read: Callable[[bytes], Any], longest: int,
                 greeting: bytes = b"") -> None:
        listener.setblocking(False)
        self._listener, self._read, self._longest, self._greeting = listener, read, longest, greeting
        self._saying: dict[socket.socket, tuple[str, float, bytearray]] = {}   # address, until when, and what so far
        self._selector = selectors.DefaultSelector()
        self._selector.register(listener, selectors.EVENT_READ)
        self._turned_away: dict[str, str] = {}

    def __enter__(self) -> _Door:
        return self

    def __exit__(self, *error: object) -> None:
        for link in list(self._saying):
            self._forget(link).close()
        self._selector.close()

    def next(self, deadline: float) -> tuple[socket.socket, Any]:
        """(socket, what was read) of the next one. TimeoutError at the deadline."""
        while True:
            patience = min([_left(deadline), *(until - time.monotonic() for _, until, _ in self._saying.values())])
            for key, _ in self._selector.select(max(patience, 0)):
                if key.fileobj is self._listener:
                    self._let_in()
                    continue
                link: Any = key.fileobj
                if (said := self._hear(link)) is not None:
                    return self._forget(link), said
            for link, (_, until, _) in list(self._saying.items()):
                if until <= time.monotonic():
                    self._turn_away(link, f"said nothing within {HELLO_SECONDS:g} s")

    def others(self) -> str:
        """Who was turned away, for an error's text."""
        if not self._turned_away:
            return ""
        shown = ", ".join(f"{address} {why}" for address, why in list(self._turned_away.items())[:4])
        return f"; others connected: {shown}{' and more' if len(self._turned_away) > 4 else ''}"

    def _let_in(self) -> None:
        try:
            link, (host, port, *_) = self._listener.accept()
        except OSError:   # who knocked has gone already
            return
        link.setblocking(False)
        self._saying[link] = f"{host}:{port}", time.monotonic() + HELLO_SECONDS, bytearray()
        self._selector.register(link, selectors.EVENT_READ)
        with contextlib.suppress(OSError):
            link.send(self._greeting)

    def _hear(self, link: socket.socket) -> Any:
        said = self._saying[link][2]
        try:
            piece = link.recv(self._longest - len(said))
            said += piece
            found = self._read(bytes(said))
            if found is None and (not piece or len(said) == self._longest):
                raise ValueError
            return found
        except BlockingIOError:
            return None
        except (ValueError, OSError):
            self._turn_away(link, "is not a rank" if said else "said nothing")
            return None

    def _turn_away(self, link: socket.socket, why: str) -> None:
        self._turned_away[self._saying[link][0]] = why
        self._forget(link).close()

    def _forget(self, link: socket.socket) -> socket.socket:
        self._selector.unregister(link)
        del self._saying[link]
        return link


# --- at rank 0's address ---------------------------------------------------------------------------------------------

def gather_at(address: str, rank: int, size: int, timeout: float) -> Gather:
    """A gather by way of rank 0, which listens on the address, "host:port"."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        raise ValueError(f"an address is 'host:port', such as '127.0.0.1:29500', not {address!r}")

    def gather(text: str) -> list[str]:
        deadline = time.monotonic() + timeout
        if rank == 0:
            try:
                listener = socket.create_server((host, int(port)), backlog=max(size, 16))
            except (OSError, OverflowError) as error:
                raise CommunicationError(
                    f"rank 0 cannot listen at {address}, where the others look for it: {error}; give all ranks another "
                    "address, of rank 0's machine and with a free port") from None
            return _serve(listener, address, size, text, deadline, timeout)
        try:
            return _ask(host, int(port), rank, size, text, deadline)
        except CommunicationTimeoutError:
            raise   # rank 0's words
        except TimeoutError:
            raise CommunicationTimeoutError(f"rank {rank} waited {timeout:g} s at {address} for all of {size} "
                                            "ranks") from None

    return gather


def _serve(listener: socket.socket, address: str, size: int, text: str, deadline: float, timeout: float) -> list[str]:
    texts, links = {0: text}, []
    answer: dict[str, Any] = {"error": "rank 0 gave up"}
    with listener, _Door(listener, _first_line, _LONGEST, _GREETING) as door:
        try:
            while len(texts) < size:
                link, (rank, their_size, their_text) = door.next(deadline)
                links.append(link)
                if their_size != size or rank in texts or not 0 < rank < size:
                    raise CommunicationError(f"rank 0 of {size} met rank {rank} of {their_size}: each rank from 0 to "
                                             f"{size - 1} is there once")
                texts[rank] = their_text
            answer = {"texts": [texts[i] for i in range(size)]}
            return list(answer["texts"])
        except TimeoutError:
            late = ranks_text([other for other in range(size) if other not in texts])
            answer = {"late": f"rank 0 waited {timeout:g} s at {address} for {late}{door.others()}"}
            raise CommunicationTimeoutError(answer["late"]) from None
        except CommunicationError as error:
            answer = {"error": str(error)}
            raise
        except OSError as error:
            answer = {"error": f"rank 0 failed: {error}"}
            raise
        finally:
            for link in links:
                link.settimeout(max(deadline - time.monotonic(), 1))
                with contextlib.suppress(OSError):
                    link.sendall(json.dumps(answer).encode() + b"\n")
                link.close()


def _first_line(said: bytes) -> tuple[int, int, str] | None:
    if said and not said.startswith(b"{"):
        raise ValueError
    if not said.endswith(b"\n"):
        return None
    try:
        theirs = json.loads(said)
        return int(theirs["rank"]), int(theirs["size"]), str(theirs["text"])
    except (KeyError, TypeError) as error:
        raise ValueError from error


def _ask(host: str, port: int, rank: int, size: int, text: str, deadline: float) -> list[str]:
    while True:   # rank 0 may not be there yet
        try:
            link = socket.create_connection((host, port), timeout=_left(deadline))
            break
        except ConnectionRefusedError:
            _left(deadline)
            time.sleep(0.02)
    with link:
        try:
            link.sendall(json.dumps({"rank": rank, "size": size, "text": text}).encode() + b"\n")
            _expect_greeting(link, f"{host}:{port}", rank, deadline)
            link.settimeout(_left(deadline))
            line = _line(link)
        except (ConnectionResetError, BrokenPipeError):
            line = ""
    if not line:
        raise RankDiedError("rank 0 is gone, before all ranks were there")
    answer = json.loads(line)
    if "late" in answer:
        raise CommunicationTimeoutError(answer["late"])
    if "error" in answer:
        raise CommunicationError(answer["error"])
    return list(answer["texts"])


def _expect_greeting(link: socket.socket, address: str, rank: int, deadline: float) -> None:
    """CommunicationError where something else than rank 0 listens."""
    try:
        said = _read(link, len(_GREETING), min(time.monotonic() + HELLO_SECONDS, deadline))
    except TimeoutError:
        _left(deadline)
        said, words = None, f"it says nothing for {HELLO_SECONDS:g} s"
    else:
        words = f"it says {said!r}" if said else "it ends the connection"
    if said != _GREETING:
        raise CommunicationError(f"rank {rank} found something else than rank 0 of cujit.comm at {address}: {words}; "
                                 "another program has that port, or rank 0 has ended: give all ranks another address")


# --- all with all ----------------------------------------------------------------------------------------------------

def connect_all(rank: int, size: int, host: str, gather: Gather, timeout: float) -> Links:
    """Links of ranks in processes of their own: each listens on `host`, an address of its machine, and hears by
    `gather` where the others do. Higher ranks connect to lower ones."""
    deadline = time.monotonic() + timeout
    sockets: dict[int, socket.socket] = {}
    try:
        with socket.create_server((host, 0), backlog=max(size, 16)) as listener:
            own = {"host": host, "port": listener.getsockname()[1], "secret": secrets.token_hex(16)}
            table = [json.loads(text) for text in gather(json.dumps(own))]
            addresses = [(each["host"], each["port"]) for each in table]
            hello = _HELLO.pack(table[0]["secret"].encode(), rank)
            for peer in range(rank):
                sockets[peer] = _connect(peer, addresses[peer], hello, deadline)
            _welcome(listener, rank, size, hello, deadline, sockets)
        for peer in range(rank):
            _expect_hello(sockets[peer], rank, peer, addresses[peer], hello, deadline)
    except BaseException as error:
        for each in sockets.values():
            each.close()
        if isinstance(error, OSError) and not isinstance(error, CommunicationError):
            kind = CommunicationTimeoutError if isinstance(error, TimeoutError) else CommunicationError
            raise kind(
                f"rank {rank} of {size} could not connect to all others within {timeout:g} s: {error}") from error
        raise
    return SocketLinks(rank, sockets, timeout)


def _connect(peer: int, address: tuple[str, int], hello: bytes, deadline: float) -> socket.socket:
    try:
        link = socket.create_connection(address, timeout=_left(deadline))
    except TimeoutError:
        raise TimeoutError(f"rank {peer} cannot be reached at {_text(address)}") from None
    except ConnectionRefusedError:
        raise RankDiedError(f"rank {peer} does not listen at {_text(address)}: it has ended, or that is another "
                            "machine's address") from None
    except OSError as error:
        raise OSError(f"rank {peer} at {_text(address)}: {error}") from error
    with contextlib.suppress(OSError):   # _expect_hello finds out
        link.sendall(hello)
    return link


def _welcome(listener: socket.socket, rank: int, size: int, hello: bytes, deadline: float,
             sockets: dict[int, socket.socket]) -> None:
    """Takes the connections of higher ranks."""
    secret = _HELLO.unpack(hello)[0]

    def read(said: bytes) -> int | None:
        if len(said) < _HELLO.size:
            return None
        theirs, peer = _HELLO.unpack(said)
        if not secrets.compare_digest(theirs, secret) or not rank < peer < size or peer in sockets:
            raise ValueError
        return int(peer)

    with _Door(listener, read, _HELLO.size) as door:
        while len(sockets) < size - 1:
            try:
                link, peer = door.next(deadline)
            except TimeoutError:
                late = ranks_text([other for other in range(rank + 1, size) if other not in sockets])
                own = _text(listener.getsockname())
                raise TimeoutError(f"{late} did not connect to {own}{door.others()}") from None
            sockets[peer] = link
            with contextlib.suppress(OSError):
                link.send(hello)


def _expect_hello(link: socket.socket, rank: int, peer: int, address: tuple[str, int], hello: bytes,
                  deadline: float) -> None:
    """The other side may still be at the gathering, and has as long for it as this one."""
    secret = _HELLO.unpack(hello)[0]
    try:
        said = _read(link, _HELLO.size, deadline)
    except TimeoutError:
        raise TimeoutError(f"rank {peer} did not answer at {_text(address)}") from None
    except OSError:
        said = b""
    if not said:
        raise RankDiedError(f"rank {peer} at {_text(address)} is gone, before rank {rank} was connected to all others")
    if said != _HELLO.pack(secret, peer):
        raise CommunicationError(f"rank {rank} found something else than rank {peer} at {_text(address)}: what ranks "
                                 "give as their address has to lead to them from all machines")


# --- sockets ---------------------------------------------------------------------------------------------------------

def _text(address: tuple[Any, ...]) -> str:
    return f"{address[0]}:{address[1]}"


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError("the time is over")
    return left


def _read(link: socket.socket, count: int, deadline: float) -> bytes:
    """So many bytes, fewer at the end. TimeoutError at the deadline."""
    data = b""
    while len(data) < count:
        link.settimeout(_left(deadline))
        piece = link.recv(count - len(data))
        if not piece:
            break
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
