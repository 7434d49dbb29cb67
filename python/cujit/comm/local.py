"""Links of ranks that are threads of one process: what they tell each other are objects in queues, and what they send
is copied once, by whoever receives it. Sockets would hand the interpreter's lock to another thread at each call."""
from __future__ import annotations

import collections
import queue
import threading
import time
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from cujit.comm.links import Links, ranks_text
from cujit.errors import CommunicationError, CommunicationTimeoutError, RankDiedError


class _End(NamedTuple):
    """The last thing that a rank says. failure: why it gave up."""
    failure: str | None


class _Parcel:
    """Memory of the sender's, which the receiver may read until it is taken back."""

    def __init__(self, parts: list[memoryview]) -> None:
        self._parts, self._lock = parts, threading.Lock()
        self._is_there = True

    def copy_to(self, targets: list[memoryview], sender: int) -> None:
        with self._lock:
            if not self._is_there:
                raise RankDiedError(f"rank {sender} gave up what it was sending")
            if [len(part) for part in self._parts] != [len(target) for target in targets]:
                raise CommunicationError(f"rank {sender} sent what was not expected")
            for part, target in zip(self._parts, targets, strict=True):
                np.copyto(np.asarray(target), np.asarray(part))

    def take_back(self) -> None:
        with self._lock:
            self._is_there = False


class LocalLinks(Links):
    """One rank's of `everyone`, a list that is filled by the ranks' links in order."""

    def __init__(self, rank: int, everyone: list[LocalLinks], size: int, timeout: float) -> None:
        super().__init__(rank, size, timeout)
        self._everyone = everyone
        self._arriving: queue.SimpleQueue[tuple[int, Any]] = queue.SimpleQueue()
        self._early: list[collections.deque[Any]] = [collections.deque() for _ in range(size)]   # not yet asked for
        self._end: _End | None = None
        self._is_interrupted = False

    def agree(self, messages: dict[int, Any], doing: str) -> dict[int, Any]:
        self._stop_if_interrupted(doing)
        for rank, message in messages.items():
            self._tell(rank, message)
        return self._hear(messages, doing)

    def exchange(self, sends: Iterable[tuple[int, memoryview]], receives: Iterable[tuple[int, memoryview]],
                 doing: str) -> None:
        self._stop_if_interrupted(doing)
        outgoing: dict[int, list[memoryview]] = {}
        targets: dict[int, list[memoryview]] = {}
        for lists, pairs in ((outgoing, sends), (targets, receives)):
            for rank, data in pairs:
                lists.setdefault(rank, []).append(data)
        parcels = {rank: _Parcel(parts) for rank, parts in outgoing.items()}
        try:
            for rank, parcel in parcels.items():
                self._tell(rank, parcel)
            for rank, parcel in self._hear(targets, doing).items():
                parcel.copy_to(targets[rank], rank)
                self._tell(rank, None)   # it has arrived
            self._hear(parcels, doing)
        except BaseException:
            for parcel in parcels.values():
                parcel.take_back()
            raise

    def _tell(self, rank: int, what: Any) -> None:
        self._everyone[rank]._arriving.put((self.rank, what))

    def _hear(self, ranks: Iterable[int], doing: str) -> dict[int, Any]:
        """The next thing that each of the ranks says to this one."""
        heard: dict[int, Any] = {}
        missing = set(ranks)
        for rank in list(missing):
            if self._early[rank]:
                self._take(heard, missing, rank, self._early[rank].popleft())
        deadline = time.monotonic() + self.timeout
        while missing:
            try:
                rank, what = self._arriving.get(timeout=max(deadline - time.monotonic(), 0))
            except queue.Empty:
                raise CommunicationTimeoutError(f"rank {self.rank} waited {self.timeout:g} s in {doing} for "
                                                f"{ranks_text(sorted(missing))}") from None
            self._stop_if_interrupted(doing)
            if rank in missing:
                self._take(heard, missing, rank, what)
            else:
                self._early[rank].append(what)
        return heard

    def _take(self, heard: dict[int, Any], missing: set[int], rank: int, what: Any) -> None:
        if isinstance(what, _End):
            raise RankDiedError(f"rank {rank} has closed its communicator" if what.failure is None else
                                f"rank {rank} gave up: {what.failure}")
        heard[rank] = what
        missing.remove(rank)

    def interrupt(self) -> None:
        self._is_interrupted = True
        self._arriving.put((self.rank, None))   # wakes it

    def _stop_if_interrupted(self, doing: str) -> None:
        if self._is_interrupted:
            raise CommunicationError(f"rank {self.rank} was interrupted in {doing}")

    def gone(self) -> int | None:
        for links in self._everyone:
            if links._end is not None and links._end.failure is not None:
                return links.rank
        return None

    def close(self, failure: str | None = None) -> None:
        if self._end is None:
            self._end = _End(failure)
            for rank in range(self.size):
                if rank != self.rank:
                    self._tell(rank, self._end)


def links_in_process(size: int, timeout: float) -> list[LocalLinks]:
    """Those of all ranks."""
    everyone: list[LocalLinks] = []
    everyone.extend(LocalLinks(rank, everyone, size, timeout) for rank in range(size))
    return everyone
