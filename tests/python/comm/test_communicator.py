"""Collectives between threads, each with a device: results, agreement, errors."""
import select
import selectors
import socket
import threading
import time

import numpy as np
import pytest

from cujit import comm, cuda
from cujit.comm import engines
from cujit.comm.links import SocketLinks
from cujit.errors import CommunicationError, CommunicationTimeoutError, RankDiedError, RanksDisagreeError


def links_by_sockets(size, timeout):
    """Those that processes have."""
    sockets = [{} for _ in range(size)]
    with socket.create_server(("127.0.0.1", 0)) as listener:
        for i in range(size):
            for j in range(i):
                sockets[i][j] = socket.create_connection(listener.getsockname())
                sockets[j][i] = listener.accept()[0]
    return [SocketLinks(rank, each, timeout) for rank, each in enumerate(sockets)]


@pytest.fixture(autouse=True, params=["queues", "sockets"])
def links(request, monkeypatch):
    """Threads have queues; what processes have does the same."""
    if request.param == "sockets":
        monkeypatch.setattr(engines, "links_in_process", links_by_sockets)


def on_ranks(size, program, *arguments, timeout=20.0, **options):
    """On the first device, size times; by sockets, which several ranks of a GPU have, too."""
    return comm.on_devices(program, *arguments, using=[cuda.gpus[0]] * size, timeout=timeout, backend="sockets",
                           **options)


def values(rank, shape=(5, 3), dtype=np.float32):
    return (np.arange(np.prod(shape)).reshape(shape) * (rank + 1) + 0.1 * rank).astype(dtype)


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_collectives(size):
    def program(c):
        own = cuda.to_device(values(c.rank))
        total = c.all_reduce(own, cuda.device_array_like(own)).copy_to_host()
        largest = c.all_reduce(own, cuda.device_array_like(own), "max").copy_to_host()
        gathered = c.all_gather(own, cuda.device_array((size, 5, 3), np.float32)).copy_to_host()
        part = c.reduce_scatter(cuda.to_device(values(c.rank, (size, 4), np.int64)), cuda.device_array(4, np.int64))
        root = c.broadcast(cuda.to_device(values(c.rank)), size - 1).copy_to_host()
        c.barrier()
        return total, largest, gathered, part.copy_to_host(), root

    everyones = [values(rank) for rank in range(size)]
    expected = everyones[0].copy()
    for each in everyones[1:]:
        expected += each   # from rank 0 on
    for rank, (total, largest, gathered, part, root) in enumerate(on_ranks(size, program)):
        np.testing.assert_array_equal(total, expected)
        np.testing.assert_array_equal(largest, np.max(everyones, axis=0))
        np.testing.assert_array_equal(gathered, everyones)
        np.testing.assert_array_equal(part, sum(values(r, (size, 4), np.int64) for r in range(size))[rank])
        np.testing.assert_array_equal(root, everyones[-1])


@pytest.mark.parametrize("op, function", [("prod", np.multiply), ("min", np.minimum)])
@pytest.mark.parametrize("dtype", ["int8", "uint32", "float16", "float64"])
def test_reductions_of_dtypes(op, function, dtype):
    parts = [np.arange(1, 6).astype(dtype), np.arange(6, 1, -1).astype(dtype)]
    for result in on_ranks(2, lambda c: c.all_reduce(cuda.to_device(parts[c.rank]), op=op).copy_to_host()):
        assert result.dtype == dtype
        np.testing.assert_array_equal(result, function(*parts))


def test_arrays_of_the_host():
    def program(c):
        return c.all_reduce(np.full(3, c.rank), np.zeros(3, np.int64))

    np.testing.assert_array_equal(on_ranks(3, program), np.full((3, 3), 3))


def test_halos_of_a_ring():
    """More than sockets hold, both ways at a time; with two ranks both neighbours are the same."""
    def program(c, size, n):
        left, right = (c.rank - 1) % size, (c.rank + 1) % size
        own = cuda.to_device(np.full((2, n), c.rank, np.float64))
        halos = cuda.device_array((2, n), np.float64)
        with c.group():
            c.send(own[0], left)
            c.send(own[1], right)
            c.recv(halos[1], right)
            c.recv(halos[0], left)
        return halos.copy_to_host()[:, ::n - 1].tolist()

    for size in (2, 4):
        assert on_ranks(size, program, size, 300_000) == [
            [[(rank - 1) % size] * 2, [(rank + 1) % size] * 2] for rank in range(size)]


def test_one_way():
    def program(c):
        x = cuda.to_device(np.array(["2026-11-23"] * 2, "datetime64[D]") + np.arange(2) * c.rank)
        if c.rank == 0:
            return c.send(x, 1)
        c.recv(x, 0)
        return x.copy_to_host().astype(str).tolist()

    assert on_ranks(2, program) == [None, ["2026-11-23"] * 2]


def test_empty_arrays():
    def program(c):
        empty = cuda.device_array((0, 3), np.float32)
        with c.group():
            c.send(empty, 1 - c.rank)
            c.recv(empty, 1 - c.rank)
        return c.all_reduce(empty).shape

    assert on_ranks(2, program) == [(0, 3)] * 2


def failures(size, program, **options):
    """What each rank of program(c) raised."""
    found = [None] * size

    def guarded(c):
        try:
            program(c)
        except CommunicationError as error:
            found[c.rank] = error

    started = time.monotonic()
    on_ranks(size, guarded, **options)
    assert time.monotonic() - started < 10
    return found


def test_shapes_that_differ():
    errors = failures(3, lambda c: c.all_reduce(np.zeros((4, 5 if c.rank < 2 else 6))))
    expected = ("the ranks disagree: ranks 0, 1: all_reduce(float64 (4, 5), op='sum'); "
                "rank 2: all_reduce(float64 (4, 6), op='sum')")
    assert [(type(error), str(error)) for error in errors] == [(RanksDisagreeError, expected)] * 3


def test_calls_that_differ():
    errors = failures(2, lambda c: c.barrier() if c.rank else c.broadcast(np.zeros(3, np.int8)))
    assert {str(error) for error in errors} == {
        "the ranks disagree: rank 0: broadcast(int8 (3,), root=0); rank 1: barrier()"}


def test_an_exchange_that_does_not_fit():
    def program(c):
        x = np.zeros(3 + c.rank)
        c.recv(x, 0) if c.rank else c.send(x, 1)

    first, second = failures(2, program)
    assert str(first).startswith("rank 0 sends float64 (3,) to rank 1, which receives float64 (4,)")
    assert str(second).startswith("rank 1 receives float64 (4,) from rank 0, which sends float64 (3,)")
    both_send = failures(2, lambda c: c.send(np.zeros(1), 1 - c.rank))
    assert all("`with comm.group():`" in str(error) for error in both_send)
    in_a_barrier, exchanging = failures(2, lambda c: c.send(np.zeros(1), 0) if c.rank else c.barrier())
    assert str(exchanging) == "rank 1 exchanges arrays with rank 0, which is in barrier()"
    assert isinstance(in_a_barrier, CommunicationError)


def test_a_rank_that_does_not_come():
    ended = threading.Event()

    def program(c):
        if c.rank == 2:
            ended.wait(8)
            return
        try:
            c.barrier()
        finally:
            ended.set()

    first, second, _ = failures(3, program, timeout=0.5)
    assert {type(first), type(second)} <= {CommunicationTimeoutError, RankDiedError}
    assert any(str(error).endswith("waited 0.5 s in barrier() for rank 2") for error in (first, second))


def test_a_rank_that_fails():
    def program(c):
        if c.rank == 1:
            raise KeyError("no such thing")
        c.all_reduce(np.zeros(3))

    with pytest.raises(KeyError, match="no such thing"):   # the cause, not what became of the others
        on_ranks(3, program)


def test_a_rank_that_leaves():
    errors = failures(2, lambda c: None if c.rank else c.barrier())
    assert isinstance(errors[0], RankDiedError)


def test_an_error_is_the_end():
    def program(c):
        with pytest.raises(RanksDisagreeError):
            c.all_reduce(np.zeros(2 + c.rank))
        with pytest.raises(CommunicationError, match="has ended: RanksDisagreeError"):
            c.barrier()
        return repr(c)

    assert "has ended" not in on_ranks(2, program)[0]


def test_arguments():
    def program(c):
        x = cuda.to_device(np.zeros((4, 4)))
        for wrong, error, words in [
                (lambda: c.send(x[:, 0], 1 - c.rank), ValueError, "gaps"),
                (lambda: c.send(x, c.rank), ValueError, f"rank {c.rank} of 2 cannot exchange"),
                (lambda: c.recv(x, 2), ValueError, "cannot exchange"),
                (lambda: c.broadcast(x, 7), ValueError, "no rank 7"),
                (lambda: c.all_gather(x, x), ValueError, "do not fit"),
                (lambda: c.all_reduce(x, op="xor"), ValueError, "op is one of"),
                (lambda: c.all_reduce(cuda.to_device(np.zeros(2, bool))), TypeError, "arrays of bool"),
                (lambda: c.broadcast(np.array([c])), TypeError, "references to Python's objects"),
                (lambda: c.reduce_scatter(x, cuda.device_array(8, np.float32)), ValueError, "do not fit")]:
            with pytest.raises(error, match=words):
                wrong()
        c.barrier()   # none of these was the end

    on_ranks(2, program)
    with pytest.raises(ValueError, match="backend is one of"):
        comm.on_devices(lambda c: None, using=[cuda.gpus[0]], backend="smoke")
    with pytest.raises(TypeError, match=r"using is devices, such as cuda.gpus\[0\], not 0"):
        comm.on_devices(lambda c: None, using=[0])


def test_arrays_that_share_memory():
    """What one reads while the other is written is refused, but a rank's own part of the whole."""
    def program(c):
        x = cuda.to_device(np.arange(8, dtype=np.float32))
        for wrong in (lambda: c.all_reduce(x[:6], x[1:7]), lambda: c.all_gather(x[1:5], x),
                      lambda: c.reduce_scatter(x, x[1:5]), exchange_of_one_array(c, x)):
            with pytest.raises(ValueError, match="two arrays of this call share memory"):
                wrong()
        mine = slice(4 * c.rank, 4 * c.rank + 4)
        x[mine] = c.rank + 1
        gathered = c.all_gather(x[mine], x).copy_to_host().tolist()
        return gathered, c.reduce_scatter(x, x[mine]).copy_to_host().tolist()

    def exchange_of_one_array(c, x):
        def exchange():
            with c.group():
                c.send(x[:6], 1 - c.rank)
                c.recv(x[1:7], 1 - c.rank)
        return exchange

    assert on_ranks(2, program) == [([1.0] * 4 + [2.0] * 4, [2.0 * (rank + 1)] * 4) for rank in range(2)]


def test_calls_of_two_threads():
    """One at a time: a second one is refused, and ends nothing."""
    def program(c):
        if c.rank == 1:
            refused.wait(10)
        else:
            threading.Thread(target=second_call, args=(c,)).start()
        c.barrier()
        return True

    def second_call(c):
        time.sleep(0.2)
        with pytest.raises(CommunicationError, match=r"barrier\(\) while another thread is in barrier\(\)"):
            c.barrier()
        refused.set()

    refused = threading.Event()
    assert on_ranks(2, program) == [True, True]
    assert refused.is_set()


@pytest.mark.parametrize("size", [1, 3])
def test_an_interrupt(size, run_python):
    """Ctrl-C, which the main thread hears, ends what the ranks' threads wait for."""
    assert run_python("""
import os, signal, sys, threading, time
import numpy as np
from cujit import comm, cuda, errors

signal.signal(signal.SIGINT, signal.default_int_handler)   # a shell's background processes ignore it

def program(c):
    if c.rank == 0:
        os.kill(os.getpid(), signal.SIGINT)
    try:
        while True:
            c.all_reduce(np.zeros(10))
    except errors.CommunicationError as error:
        print(error)

try:
    comm.on_devices(program, using=[cuda.gpus[0]] * int(sys.argv[1]), timeout=60, backend="sockets")
except KeyboardInterrupt:
    for _ in range(1000):   # a thread that has nothing left to do may still be there
        if threading.active_count() > 1:
            time.sleep(0.01)
    print("interrupted", threading.active_count())
""", size).splitlines()[-1] == "interrupted 1"


@pytest.mark.several_devices
def test_each_rank_has_a_device():
    def program(c):
        x = cuda.to_device(np.full(3, c.device.id))
        return c.device.id, c.all_reduce(x).copy_to_host()[0], x.device.id

    n = len(cuda.gpus)
    assert comm.on_devices(program) == [(i, n * (n - 1) // 2, i) for i in range(n)]


@pytest.mark.several_devices
def test_an_array_of_another_device():
    with cuda.gpus[1]:
        elsewhere = cuda.device_array(3)
    with pytest.raises(ValueError, match="rank 0 has device 0, and the array is on device 1"):
        on_ranks(2, lambda c: c.all_reduce(elsewhere) if c.rank == 0 else c.barrier())


def test_what_is_there_is_not_waited_for(monkeypatch):
    waits = []

    class Watched(selectors.DefaultSelector):
        def select(self, timeout=None):
            waits.append(threading.current_thread())
            return super().select(timeout)

    for name in ("DefaultSelector", "PollSelector"):
        monkeypatch.setattr(selectors, name, Watched)
    first, second = links_by_sockets(2, 5.0)
    heard = []
    thread = threading.Thread(target=lambda: heard.append(first.agree({1: "of 0"}, "a test")))
    thread.start()
    select.select([second._sockets[0]], [], [])
    assert second.agree({0: "of 1"}, "a test") == {0: "of 0"}
    thread.join()
    assert heard == [{1: "of 1"}] and set(waits) <= {thread}
