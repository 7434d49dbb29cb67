"""Ranks that are processes: they meet at an address, and hear of it when one dies, does not come or is not theirs."""
import os
import socket
import subprocess
import sys
import threading

import numpy as np
import pytest

from cujit import comm
from cujit.comm.links import gather_at
from cujit.errors import CommunicationError, CommunicationTimeoutError

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
