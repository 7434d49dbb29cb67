"""Ranks that are processes: they meet at an address, and hear of it when one dies, does not come or is not theirs."""
import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from cujit import comm
from cujit.comm import meeting
from cujit.comm.meeting import gather_at
from cujit.errors import CommunicationError, CommunicationTimeoutError, RankDiedError

PROGRAM = """
import os, signal, sys, time
import numpy as np
from cujit import comm, cuda, errors

rank, size, address, what = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
with comm.connect(rank, size, address, timeout=20, backend="sockets") as c:
    x = cuda.to_device(np.full(1000, rank + 1.0))
    assert (c.all_reduce(x).copy_to_host() == size * (size + 1) / 2).all()
    if what == "killed" and rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    started = time.monotonic()
    try:
        c.barrier()
        print("fine")
    except errors.RankDiedError as error:
        assert time.monotonic() - started < 5
        print("rank 1" in str(error))
"""


def free_address():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return "127.0.0.1:%d" % listener.getsockname()[1]


def run_ranks(tmp_path, size, *arguments):
    program, address = tmp_path / "program.py", free_address()
    program.write_text(PROGRAM)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    processes = [subprocess.Popen([sys.executable, program, str(rank), str(size), address, *arguments],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
                 for rank in range(size)]
    return [(process.communicate(timeout=60), process.returncode) for process in processes]


def test_three_processes(tmp_path):
    for (output, errors), status in run_ranks(tmp_path, 3, "alive"):
        assert (output, status) == ("fine\n", 0), errors


def test_a_process_that_is_killed(tmp_path):
    first, second, third = run_ranks(tmp_path, 3, "killed")
    assert second[1] == -9
    for (output, errors), status in (first, third):
        assert (output, status) == ("True\n", 0), errors


def test_ranks_that_do_not_come():
    for rank, others in ((0, "rank 1"), (1, "all of 2 ranks")):
        with pytest.raises(CommunicationTimeoutError, match=f"rank {rank} waited 0.3 s at 127.0.0.1:.* for {others}$"):
            comm.connect(rank, 2, free_address(), timeout=0.3)


def test_those_that_came_hear_who_did_not():
    address, late = free_address(), []

    def rank_2():
        with pytest.raises(CommunicationTimeoutError) as caught:
            comm.connect(2, 4, address, timeout=10)
        late.append(str(caught.value))

    thread = threading.Thread(target=rank_2)
    thread.start()
    with pytest.raises(CommunicationTimeoutError) as caught:
        comm.connect(0, 4, address, timeout=1)
    thread.join()
    assert late == [str(caught.value)] == [f"rank 0 waited 1 s at {address} for ranks 1, 3"]


def test_sizes_that_differ():
    address, failures = free_address(), []

    def rank_1():
        try:
            comm.connect(1, 3, address, timeout=10)
        except CommunicationError as error:
            failures.append(str(error))

    thread = threading.Thread(target=rank_1)
    thread.start()
    message = "rank 0 of 2 met rank 1 of 3: each rank from 0 to 1 is there once"
    with pytest.raises(CommunicationError, match=message):
        comm.connect(0, 2, address, timeout=10)
    thread.join()
    assert failures == [message]


def test_who_is_not_ours_is_not_listened_to():
    """A stranger's line at the address of rank 0 does not end the wait for rank 1."""
    address = free_address()
    host, port = address.split(":")
    results = []

    def stranger_then_rank_1():
        while True:
            try:
                stranger = socket.create_connection((host, int(port)))
                break
            except ConnectionRefusedError:
                continue
        with stranger:
            stranger.sendall(b"GET / HTTP/1.1\r\n")
            results.append(gather_at(address, 1, 2, 10)("b"))

    thread = threading.Thread(target=stranger_then_rank_1)
    thread.start()
    assert gather_at(address, 0, 2, 10)("a") == ["a", "b"]
    thread.join()
    assert results == [["a", "b"]]


@contextlib.contextmanager
def stranger_at(address, reaction):
    """Something that listens at an address, and does reaction(link) with whoever connects."""
    host, port = address.split(":")
    links = []

    def serve(listener):
        with contextlib.suppress(OSError):
            while True:
                links.append(listener.accept()[0])
                reaction(links[-1])

    with socket.create_server((host, int(port))) as listener:
        thread = threading.Thread(target=serve, args=(listener,))
        thread.start()
        try:
            yield
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()
            for link in links:
                link.close()


def in_threads(*calls):
    """What each call returned, or the CommunicationError that it raised."""
    results = [None] * len(calls)

    def run(i):
        try:
            results[i] = calls[i]()
        except CommunicationError as error:
            results[i] = error

    threads = [threading.Thread(target=run, args=(i,)) for i in range(len(calls))]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    return results


def connected(address):
    """A connection that says nothing."""
    host, port = address.rsplit(":", 1)
    while True:
        with contextlib.suppress(ConnectionRefusedError):
            return socket.create_connection((host, int(port)))


def test_silent_strangers_keep_nobody_waiting():
    """At rank 0's address, and at those that the ranks then tell each other."""
    address, strangers, started = free_address(), [], time.monotonic()

    def meet(rank):
        def gather(text):
            texts = gather_at(address, rank, 3, 60)(text)
            own = json.loads(text)
            strangers.append(connected(f"{own['host']}:{own['port']}"))   # in front of all higher ranks
            turns.wait()
            return texts

        if rank:
            came.wait()
        with contextlib.closing(meeting.connect_all(rank, 3, "127.0.0.1", gather, 60)) as links:
            return links.agree({other: rank for other in range(3) if other != rank}, "the start")

    def strange():
        strangers.extend(connected(address) for _ in range(3))
        came.set()

    came, turns = threading.Event(), threading.Barrier(3)
    try:
        results = in_threads(strange, *(lambda rank=rank: meet(rank) for rank in range(3)))[1:]
        assert results == [{other: other for other in range(3) if other != rank} for rank in range(3)]
        assert time.monotonic() - started < meeting.HELLO_SECONDS
    finally:
        for each in strangers:
            each.close()


def test_strangers_are_named(monkeypatch):
    monkeypatch.setattr(meeting, "HELLO_SECONDS", 0.2)
    address, links = free_address(), []

    def strange():
        links.append(connected(address))
        links.append(connected(address))
        links[1].sendall(b"GET / HTTP/1.1\r\n")

    error, _ = in_threads(lambda: comm.connect(0, 2, address, timeout=1), strange)
    names = ["127.0.0.1:%d" % link.getsockname()[1] for link in links]
    assert str(error) == (f"rank 0 waited 1 s at {address} for rank 1; others connected: {names[1]} is not a rank, "
                          f"{names[0]} said nothing within 0.2 s")
    for link in links:
        with contextlib.suppress(ConnectionResetError):
            while link.recv(100):   # the greeting
                pass                # and then the end: nobody is kept
        link.close()


@pytest.mark.parametrize("reaction, words", [
    (lambda link: None, "it says nothing for 0.2 s"),
    (lambda link: link.sendall(b"220 example.com ESMTP\r\n"), "it says b'220 example.com"),
    (lambda link: link.shutdown(socket.SHUT_RDWR), "it ends the connection")])
def test_something_else_at_the_address_of_rank_0(reaction, words, monkeypatch):
    monkeypatch.setattr(meeting, "HELLO_SECONDS", 0.2)
    address, started = free_address(), time.monotonic()
    with stranger_at(address, reaction):
        with pytest.raises(CommunicationError) as caught:
            comm.connect(1, 2, address, timeout=60)
        assert f"something else than rank 0 of cujit.comm at {address}: {words}" in str(caught.value)
        with pytest.raises(CommunicationError, match=f"rank 0 cannot listen at {address}, .*another address"):
            comm.connect(0, 2, address, timeout=60)
    assert time.monotonic() - started < 10


@pytest.mark.parametrize("reaction, error, words", [
    (lambda link: None, CommunicationTimeoutError, "rank 0 did not answer at {}"),
    (lambda link: link.sendall(link.recv(36)), CommunicationError, "rank 1 found something else than rank 0 at {}"),
    (lambda link: link.shutdown(socket.SHUT_RDWR), RankDiedError, "rank 0 at {} is gone"),
    (None, RankDiedError, "rank 0 does not listen at {}: it has ended, or that is another machine's address")])
def test_an_address_that_leads_elsewhere(reaction, error, words):
    """A rank's own, as the others see it."""
    address = free_address()
    host, port = address.split(":")

    def gather(text):
        return [json.dumps({"host": host, "port": int(port), "secret": "0" * 32}), text]

    with stranger_at(address, reaction) if reaction else contextlib.nullcontext(), pytest.raises(error) as caught:
        meeting.connect_all(1, 2, "127.0.0.1", gather, 0.5)
    assert words.format(address) in str(caught.value)


def test_addresses():
    for wrong in ("here", "here:there", ":80"):
        with pytest.raises((ValueError, OSError)):
            comm.connect(0, 1, wrong, timeout=0.3)
    with pytest.raises(ValueError, match="no rank 2 among 2"):
        comm.connect(2, 2, "127.0.0.1:1")


def test_one_rank_needs_no_other():
    with comm.connect(0, 1, free_address(), timeout=5) as c:
        assert c.all_reduce(np.arange(3.0)).tolist() == [0, 1, 2]
        assert c.backend == "sockets"
