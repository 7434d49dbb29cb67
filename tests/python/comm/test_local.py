"""Links of threads: what comes before it is asked for, and memory of a rank that has given up."""
import threading

import numpy as np
import pytest

from cujit.comm.local import links_in_process
from cujit.errors import CommunicationError, CommunicationTimeoutError, RankDiedError


def in_threads(*calls):
    threads = [threading.Thread(target=call) for call in calls]
    for each in threads:
        each.start()
    for each in threads:
        each.join()


def test_what_comes_early_is_kept_in_order():
    first, second, third = links_in_process(3, 20)
    heard, told = [], threading.Event()

    def ahead():
        third._tell(0, "early")
        third._tell(0, "late")
        told.set()

    def behind():
        told.wait()
        heard.append(first.agree({1: "to the second"}, "a call"))
        heard.append(first.agree({2: "x"}, "a call"))
        heard.append(first.agree({2: "y"}, "a call"))

    in_threads(ahead, behind, lambda: heard.append(second.agree({0: "to the first"}, "a call")))
    assert sorted(heard, key=str) == [{0: "to the second"}, {1: "to the first"}, {2: "early"}, {2: "late"}]
    assert heard[-2:] == [{2: "early"}, {2: "late"}]


def test_memory_of_a_rank_that_gave_up_is_not_read():
    first, second = links_in_process(2, 0.2)
    source, target = np.arange(10, dtype=np.uint8), np.zeros(10, np.uint8)
    with pytest.raises(CommunicationTimeoutError, match=r"rank 0 waited 0.2 s in send\(\) for rank 1"):
        first.exchange([(1, memoryview(source))], [], "send()")
    with pytest.raises(RankDiedError, match="rank 0 gave up what it was sending"):
        second.exchange([], [(0, memoryview(target))], "recv()")
    assert not target.any()


def test_sizes_that_differ():
    first, second = links_in_process(2, 5)
    failures = []

    def receive():
        with pytest.raises(CommunicationError, match="rank 0 sent what was not expected"):
            second.exchange([], [(0, memoryview(np.zeros(3, np.uint8)))], "recv()")
        second.close("gave up")

    def send():
        with pytest.raises(RankDiedError) as caught:
            first.exchange([(1, memoryview(np.zeros(4, np.uint8)))], [], "send()")
        failures.append(str(caught.value))

    in_threads(receive, send)
    assert failures == ["rank 1 gave up: gave up"]


def test_ends():
    """The first one counts, and a goodbye is none of a rank that is gone."""
    first, second, third = links_in_process(3, 5)
    second.close()
    second.close("too late")
    assert first.gone() is None
    with pytest.raises(RankDiedError, match="rank 1 has closed its communicator"):
        first.agree({1: "x"}, "a call")
    third.close("KeyError: 5")
    assert first.gone() == 2
    with pytest.raises(RankDiedError, match="rank 2 gave up: KeyError: 5"):
        first.agree({2: "x"}, "a call")


def test_an_interrupt_ends_what_waits():
    first, _ = links_in_process(2, 20)
    threading.Timer(0.1, first.interrupt).start()
    for _ in range(2):
        with pytest.raises(CommunicationError, match=r"rank 0 was interrupted in barrier\(\)"):
            first.agree({1: "x"}, "barrier()")
