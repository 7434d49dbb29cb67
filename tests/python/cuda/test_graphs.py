"""Graphs: recorded work, done again and again, on both devices."""
import dataclasses
import gc
import threading
import weakref
from typing import Any

import numpy as np
import pytest

import cujit.extending
from cujit import cuda, errors, vectorize

COUNT = 1000


@cuda.jit
def add_scaled(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] += a * x[i]


@cuda.jit
def count_down(flag):
    if cuda.grid(1) == 0:
        flag[0] -= 1


@cuda.jit(exceptions=True)
def root_of(x, y):
    i = cuda.grid(1)
    if i < x.size:
        if x[i] < 0:
            raise ValueError("negative", i)
        y[i] = x[i] ** 0.5


def asserts(x):
    if x[0] < 0:
        raise ValueError


@vectorize(["float64(float64, float64)"])
def plus(a, b):
    return a + b


total = cuda.reduce(lambda a, b: a + b)


@pytest.fixture
def arrays():
    return [cuda.to_device(np.arange(COUNT, dtype=np.float64)), cuda.to_device(np.zeros(COUNT))]


def test_all_kinds_of_work_are_done_by_each_launch_and_not_before(arrays):
    x, y = arrays
    z, sums, host = cuda.device_array(COUNT), cuda.to_device(np.zeros(1)), np.zeros(COUNT)
    given = np.full(COUNT, 3.0)
    plus(x, y, out=z)
    total(z, res=sums)
    with cuda.graph() as g:
        y.copy_to_device(given)
        add_scaled[8, 128](2.0, x, y)
        plus(x, y, out=z)
        plus(z, 1.0, out=z)
        total(z, res=sums)
        y[0] = 7
        y.copy_to_host(host)
    assert not host.any() and not y.copy_to_host().any()
    for value in 3.0, 5.0:
        given[:] = value
        g.launch()
        cuda.synchronize()
        expected = value + 2 * np.arange(COUNT)
        np.testing.assert_array_equal(z.copy_to_host(), expected + np.arange(COUNT) + 1)
        assert sums.copy_to_host()[0] == (expected + np.arange(COUNT) + 1).sum()
        expected[0] = 7
        np.testing.assert_array_equal(host, expected)
    assert len(g) >= 7 and "graph of" in repr(g)


def test_ufuncs_that_have_not_been_called_before(arrays):
    x, y = arrays
    minus = vectorize(lambda a, b: a - b)
    with cuda.graph() as g:
        minus(x, 1.0, out=y)
        minus(y, x, out=y)
    g.launch()
    assert (y.copy_to_host() == -1).all()


def test_reductions_of_several_launches_have_memory(rng):
    host = rng.random(300_000)
    x, sums = cuda.to_device(host), cuda.to_device(np.zeros(1))
    with cuda.graph() as g:
        total(x, res=sums)
    for k in 1, 2:
        x.copy_to_device(host * k)
        g.launch()
        assert sums.copy_to_host()[0] == pytest.approx(k * host.sum())


def test_several_streams_and_events(arrays):
    x, y = arrays
    first, second, done = cuda.stream(), cuda.stream(), cuda.event()
    z = cuda.to_device(np.zeros(COUNT))
    with cuda.graph() as g, first:
        add_scaled[8, 128](1.0, x, y)
        done.record()
        done.wait(second)
        add_scaled[8, 128, second](1.0, y, z)
        done.record(second)
        done.wait(first)
        add_scaled[8, 128](1.0, z, y)
    g.launch(second)
    second.synchronize()
    np.testing.assert_array_equal(y.copy_to_host(), 2 * np.arange(COUNT))
    g.launch(stream=first)
    first.synchronize()
    np.testing.assert_array_equal(y.copy_to_host(), 7 * np.arange(COUNT))


def test_arguments_are_updated_by_name(arrays):
    x, y = arrays
    with cuda.graph() as g:
        add_scaled[8, 128](1.0, x, y)
        count_down[1, 1](y)
        add_scaled[8, 128](1.0, x, y)
    g.update(a=10.0)
    g.launch()
    expected = 20.0 * np.arange(COUNT)
    expected[0] = -1
    np.testing.assert_array_equal(y.copy_to_host(), expected)
    other, singles = cuda.to_device(np.zeros(COUNT)), cuda.to_device(np.ones(COUNT, np.float32))
    g.update(a=2, y=other, x=singles)   # other types are another specialization
    g.launch()
    np.testing.assert_array_equal(other.copy_to_host(), np.full(COUNT, 4.0))
    assert y.copy_to_host()[0] == -2
    with pytest.raises(TypeError, match="no kernel of the graph has a parameter 'b'; there are: a, flag, x, y"):
        g.update(b=1)
    with cuda.graph() as empty, pytest.raises(errors.CudaAPIError, match="update"):
        g.update(a=1)
    with pytest.raises(TypeError, match="there are: none"):
        empty.update(a=1)


@pytest.mark.parametrize("dtype", ["i1", "u2", "i4", "i8", "?"])
def test_a_condition_that_a_kernel_sets_ends_a_while(dtype):
    @cuda.jit
    def step(x, flag):
        if cuda.grid(1) == 0:
            x[0] += 1
            flag[0] = x[0] < 5

    x, flag = cuda.to_device(np.zeros(1)), cuda.to_device(np.zeros(1, dtype))
    with cuda.graph() as g, g.while_(flag):
        step[1, 1](x, flag)
    g.launch()
    assert x.copy_to_host()[0] == 0
    for start, expected in (0, 5), (7, 8):
        x[0], flag[0] = start, 1
        g.launch()
        assert x.copy_to_host()[0] == expected and not flag.copy_to_host()[0]


def test_conditions_in_each_other(arrays):
    x, y = arrays
    rounds, odd = (cuda.to_device(np.zeros(1, np.int64)) for _ in range(2))

    @cuda.jit
    def parity(rounds, odd):
        odd[0] = rounds[0] % 2

    with cuda.graph() as g:
        with g.while_(rounds):
            parity[1, 1](rounds, odd)
            with g.if_(odd):
                add_scaled[8, 128](1.0, x, y)
            count_down[1, 1](rounds)
        add_scaled[8, 128](100.0, x, y)
    rounds[0] = 5   # 5, 3 and 1 are odd
    g.launch()
    np.testing.assert_array_equal(y.copy_to_host(), 103 * np.arange(COUNT))


def test_flags_that_are_none(arrays):
    _, y = arrays
    for flag in y, cuda.to_device(np.zeros(1)), np.zeros(1, int):
        with pytest.raises(TypeError), cuda.graph() as g, g.if_(flag):
            pass
    g = cuda.graph()
    with pytest.raises(errors.CudaAPIError, match="inside of its graph"), g.if_(cuda.to_device(np.zeros(1, int))):
        pass


HOST = np.arange(float(COUNT))
REFUSED = {
    "an allocation": lambda x, y: cuda.device_array(3),
    "an allocation of a result": lambda x, y: plus(x, y),
    "a copy that is new": lambda x, y: cuda.to_device(np.zeros(3)),
    "pinned memory": lambda x, y: cuda.pinned_array(3),
    "reading": lambda x, y: y.copy_to_host(),
    "reading an element": lambda x, y: y[0],
    "a number": lambda x, y: total(y),
    "waiting for the device": lambda x, y: cuda.synchronize(),
    "waiting for a stream": lambda x, y: cuda.stream().synchronize(),
    "asking a stream": lambda x, y: cuda.stream().query(),
    "waiting for an event": lambda x, y: cuda.event().synchronize(),
    "asking an event": lambda x, y: cuda.event().query(),
    "an event from outside": lambda x, y: cuda.event().wait(),
    "a host array": lambda x, y: add_scaled[8, 128](1.0, np.zeros(COUNT), y),
    "a host array of a ufunc": lambda x, y: plus(HOST, HOST, out=y),
    "a ufunc of host arrays": lambda x, y: plus(HOST, HOST),
    "a host array as the result": lambda x, y: plus(x, y, out=np.zeros(COUNT)),
    "a reduction of a host array": lambda x, y: cuda.reduce("a + b", HOST),
    "a scan of a host array": lambda x, y: cuda.scan("a + b", HOST),
    "a kernel that waits": lambda x, y: cuda.jit(debug=True)(asserts)[8, 128](x),
    "another graph": lambda x, y: cuda.graph().__enter__(),
    "a launch that cannot be": lambda x, y: add_scaled[8, 4096](1.0, x, y),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_recorded_is_an_error_and_leaves_the_thread_as_it_was(arrays, what):
    x, y = arrays
    plus(x, y, out=y)
    with pytest.raises(errors.CujitError) as caught, cuda.graph() as g:
        REFUSED[what](x, y)
    assert "cannot be recorded in a graph: " in str(caught.value) or what == "a launch that cannot be"
    with pytest.raises(errors.CudaAPIError, match="not been recorded to its end"):
        g.launch()
    assert cuda.device_array(3).size == 3   # as ever


def test_a_graph_keeps_the_arrays_that_it_uses():
    pool = cuda.get_default_memory_pool()
    gc.collect()
    before = pool.used_bytes()
    x, y = cuda.to_device(np.ones(COUNT)), cuda.to_device(np.zeros(COUNT))
    z, seen = cuda.to_device(np.zeros(COUNT)), np.zeros(COUNT)
    plus(x, y, out=z)
    with cuda.graph() as g:
        add_scaled[8, 128](2.0, x[::1], y)
        plus(y, y, out=z)
        z.copy_to_host(seen)
    del x, y, z
    gc.collect()
    others = [cuda.to_device(np.full(COUNT, -1.0)) for _ in range(5)]
    g.launch()
    cuda.synchronize()
    assert (seen == 4).all() and all((other.copy_to_host() == -1).all() for other in others)
    del others
    g.close()
    gc.collect()
    assert pool.used_bytes() == before
    with pytest.raises(ValueError, match="the graph has been closed"):
        g.launch()
    with pytest.raises(ValueError, match="the graph has been closed"), g:
        pass
    g.close()


class Giver:
    """Gives away an array whenever it is asked for one."""

    def __init__(self, *values):
        self.arrays = [cuda.to_device(np.full(COUNT, float(value))) for value in values]
        self.seen = [weakref.ref(array) for array in self.arrays]

    @property
    def numbers(self):
        return self.arrays.pop(0)


cujit.extending.as_type(Giver, {"numbers": Any})


@dataclasses.dataclass
class Source:
    numbers: Any


@cuda.jit
def add_numbers(source, y):
    i = cuda.grid(1)
    if i < y.size:
        y[i] += source.numbers[i]


def launch_among_others(g):
    """Memory that the graph does not keep has other contents."""
    gc.collect()
    others = [cuda.to_device(np.full(COUNT, -1.0)) for _ in range(8)]
    g.launch()
    assert all((other.copy_to_host() == -1).all() for other in others)


def test_a_graph_keeps_the_arrays_that_fields_give():
    y, giver = cuda.to_device(np.zeros(COUNT)), Giver(0, *[0] * 3, *range(1, 7))
    while len(giver.arrays) > 6:
        add_numbers[8, 128](giver, y)   # compiled
    with cuda.graph() as g:
        while giver.arrays:
            add_numbers[8, 128](giver, y)
    launch_among_others(g)
    assert (y.copy_to_host() == 21).all()
    g.close()
    gc.collect()
    assert [array() for array in giver.seen] == [None] * 10


def test_a_graph_keeps_the_arrays_that_fields_had():
    y, given = cuda.to_device(np.zeros(COUNT)), Source(cuda.to_device(np.ones(COUNT)))
    add_numbers[8, 128](given, cuda.device_array(COUNT))
    with cuda.graph() as g:
        add_numbers[8, 128](given, y)
    given.numbers = None
    launch_among_others(g)
    assert (y.copy_to_host() == 1).all()


def test_a_launch_with_other_arguments_keeps_what_their_fields_give():
    y, first, second = cuda.to_device(np.zeros(COUNT)), Giver(0, 0, 0, 1), Giver(2)
    while len(first.arrays) > 1:
        add_numbers[8, 128](first, y)
    with cuda.graph() as g:
        add_numbers[8, 128](first, y)
    g.update(source=second)
    launch_among_others(g)
    assert (y.copy_to_host() == 2).all()
    assert [array() for array in first.seen] == [None] * 4


def test_closing_waits_for_launches_of_other_threads(run_python):
    run_python("""
import threading, time
import numpy as np
from cujit import cuda, errors

@cuda.jit
def wait(x):
    while cuda.atomic.add(x, 0, 0) == 0:
        cuda.nanosleep(1000)

@cuda.jit
def count(x):
    x[1] += 1

x = cuda.to_device(np.zeros(2))
with cuda.graph() as g:
    wait[1, 1](x)
    for _ in range(100):
        count[1, 1](x)
failures = []
def launch():
    try:
        g.launch()
    except (ValueError, errors.CudaAPIError) as error:
        failures.append(str(error))
launching = threading.Thread(target=launch)
launching.start()
time.sleep(0.2)
others = [threading.Thread(target=work) for work in (g.close, g.close, launch)]
for other in others:
    other.start()
others[0].join(0.2)
assert others[0].is_alive()
x[0] = 1
for thread in launching, *others:
    thread.join()
assert x.copy_to_host()[1] in (100, 200) and len(g) == 0
assert set(failures) <= {"the graph has been closed"}
""", CUJIT_DEVICE="cpu")


@pytest.mark.parametrize("use", ["g.launch()", "g.update(n=2)"])
def test_threads_run_while_one_waits_for_the_graph_to_be_closed(fake_driver, run_python, use):
    run_python(f"""
import os, threading, time, warnings
from cujit import cuda, errors
from ticking import ticking

warnings.simplefilter("ignore")

@cuda.jit
def nothing(n):
    pass

with cuda.graph() as g:
    nothing[1, 1](1)
g.launch()
os.environ["FAKE_DRIVER_WAIT"] = "600"
closing = threading.Thread(target=g.close)
closing.start()
time.sleep(0.1)
with ticking(at_least=0.3):
    try:
        {use}
    except errors.CudaAPIError as error:
        assert "the graph has been closed" in str(error)
    else:
        raise AssertionError("a closed graph was used")
closing.join()
os.environ["FAKE_DRIVER_WAIT"] = "0"
""", CUJIT_DRIVER_LIBRARY=fake_driver, CUJIT_DEVICE="cuda")


def test_two_threads_update_a_graph_at_once(arrays):
    """One of them is held up in the middle."""
    x, _ = arrays

    @cuda.jit
    def first(x, p):
        x[0] = p

    @cuda.jit
    def second(x, q):
        x[1] = q

    with cuda.graph() as g:
        first[1, 1](x, 1.0)
        second[1, 1](x, 2.0)
    inside, go_on = threading.Event(), threading.Event()
    launcher = g.launches[0][0]
    launcher.pre_launch_callbacks.append(lambda *_: inside.set() or go_on.wait(0.2))
    threads = [threading.Thread(target=lambda: g.update(p=5.0)), threading.Thread(target=lambda: g.update(q=7.0))]
    threads[0].start()
    inside.wait()
    threads[1].start()
    for thread in threads:
        thread.join()
    g.launch()
    assert x.copy_to_host()[:2].tolist() == [5, 7] and len(g) == 2


def test_an_exception_of_a_kernel_is_raised_and_the_graph_is_still_good(arrays):
    x, y = arrays
    with cuda.graph() as g:
        root_of[8, 128](x, y)
    g.launch()
    cuda.synchronize()
    np.testing.assert_allclose(y.copy_to_host(), np.arange(COUNT) ** 0.5, rtol=1e-15)   # a GPU's pow
    x[17] = -1
    with pytest.raises(ValueError) as caught:
        g.launch()
        cuda.synchronize()
    assert "negative" in caught.value.args[0] and caught.value.args[1:] == (17,)
    x[17] = 4
    g.launch()
    cuda.synchronize()
    assert y.copy_to_host()[17] == 2


def test_a_graph_is_recorded_once(arrays):
    x, y = arrays
    with cuda.graph() as g:
        add_scaled[8, 128](2.0, x, y)
    with pytest.raises(errors.CudaAPIError, match="recorded already"), g:
        pass
    with pytest.raises(KeyError), cuda.graph() as failed:
        raise KeyError
    with pytest.raises(errors.CudaAPIError, match="not been recorded to its end"):
        failed.launch()
    with pytest.raises(TypeError):
        g.launch(1, 2)
    with pytest.raises(TypeError):
        g.launch(place=3)
    with cuda.graph() as nothing:
        pass
    nothing.launch()
    assert len(nothing) == 0


def test_other_threads_work_on_while_one_records(arrays):
    x, y = arrays
    seen = []
    with cuda.graph() as g:
        add_scaled[8, 128](2.0, x, y)
        thread = threading.Thread(target=lambda: seen.append(cuda.to_device(np.ones(3)).copy_to_host().sum()))
        thread.start()
        thread.join()
    assert seen == [3]
    threads = [threading.Thread(target=g.launch) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    cuda.synchronize()
    np.testing.assert_array_equal(y.copy_to_host(), 16 * np.arange(COUNT))


def test_cycles_of_graphs_are_flat(arrays):
    x, y = arrays
    pool = cuda.get_default_memory_pool()
    gc.collect()
    before = pool.used_bytes()
    for _ in range(300):
        with cuda.graph() as g:
            add_scaled[8, 128](1.0, x, y)
        g.launch()
    del g
    gc.collect()
    assert pool.used_bytes() == before and y.copy_to_host()[1] == 300


def test_a_runge_kutta_step_is_that_of_single_launches():
    @cuda.jit
    def slope(y, k):
        i = cuda.grid(1)
        if i < y.size:
            k[i] = -0.5 * y[i]

    @cuda.jit
    def stage(y, k, h, out):
        i = cuda.grid(1)
        if i < y.size:
            out[i] = y[i] + h * k[i]

    @cuda.jit
    def combine(y, k1, k2, k3, k4, h):
        i = cuda.grid(1)
        if i < y.size:
            y[i] += h / 6 * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i])

    def step(y, k, between, h):
        slope[8, 128](y, k[0])
        for n, part in enumerate((0.5, 0.5, 1.0), 1):
            stage[8, 128](y, k[n - 1], part * h, between)
            slope[8, 128](between, k[n])
        combine[8, 128](y, *k, h)

    start = np.linspace(1, 2, COUNT)
    single, whole = cuda.to_device(start), cuda.to_device(start)
    k, between = [cuda.device_array(COUNT) for _ in range(4)], cuda.device_array(COUNT)
    with cuda.graph() as g:
        step(whole, k, between, 0.1)
    for _ in range(10):
        step(single, k, between, 0.1)
        g.launch()
    np.testing.assert_array_equal(whole.copy_to_host(), single.copy_to_host())
    np.testing.assert_allclose(whole.copy_to_host(), start * np.exp(-0.5), rtol=1e-7)


def test_threads_launch_and_close_a_graph_at_once(run_python):
    """On either device: a launch is whole, with no other one in its middle, or the graph was closed before it."""
    run_python("""
import threading, time
import numpy as np
from cujit import cuda, errors

@cuda.jit
def keep(x, kept):
    kept[cuda.threadIdx.x] = x[cuda.threadIdx.x]

@cuda.jit
def between(kept):
    pass

@cuda.jit
def count(x, kept):
    x[cuda.threadIdx.x] = kept[cuda.threadIdx.x] + 1

NODES, LAUNCHES, ROUNDS = 1000, 10, 30
x, kept = [cuda.to_device(np.zeros(32, np.int64)) for _ in range(2)]
whole, failures = [], []

def launch(g, start, stream):
    start.wait()
    try:
        for _ in range(LAUNCHES):
            g.launch(stream)
            whole.append(1)
    except (ValueError, errors.CudaAPIError) as error:
        failures.append(str(error))

def close(g, start, launches):
    start.wait()
    while len(whole) < launches:
        time.sleep(0)
    g.close()

stream = cuda.stream()
for n in range(ROUNDS):
    with cuda.graph() as g:
        keep[1, 32](x, kept)
        for _ in range(NODES):
            between[1, 32](kept)
        count[1, 32](x, kept)
    start = threading.Barrier(4)
    threads = [threading.Thread(target=launch, args=(g, start, stream)) for _ in range(2)]
    threads += [threading.Thread(target=close, args=(g, start, len(whole) + n % 8)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(g) == 0
cuda.synchronize()
assert (x.copy_to_host() == len(whole)).all(), (x.copy_to_host(), len(whole))
assert set(failures) <= {"the graph has been closed"}, set(failures)
print(len(whole), len(failures))
""")
