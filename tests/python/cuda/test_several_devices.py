"""Two devices in one process, GPUs or CPU devices: arrays of both, of other libraries too, copies between them, peers,
threads. Where there is no second one, test_two_cpu_devices.py runs them in a process that has two CPU devices."""
import threading

import numpy as np
import pytest

from cujit import cuda, errors, guvectorize, vectorize

pytestmark = [pytest.mark.several_devices, pytest.mark.filterwarnings("ignore::cujit.errors.PerformanceWarning")]

COUNT = 1 << 20


@cuda.jit
def add(x, y):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += y[i]


@cuda.jit
def slow(x, rounds):
    i = cuda.grid(1)
    if i < x.size:
        value = x[i]
        for _ in range(rounds):
            value = value * 1.0000001 + 1.0
        x[i] = value


def on_device(number, host):
    with cuda.gpus[number]:
        return cuda.to_device(host)


def launch(kernel, *args, stream=0):
    kernel[-(-args[0].shape[0] // 256), 256, stream](*args)


def name_of(number):
    return f"{'GPU' if cuda.gpus[number].kind == 'cuda' else 'CPU device'} {number}"


class Foreign:
    """An array of another library, which does not say on which device it is."""

    def __init__(self, array):
        self.array = array
        self.__cuda_array_interface__ = {"version": 3, "shape": array.shape, "typestr": array.dtype.str,
                                         "strides": None, "data": (array.pointer, False)}


@pytest.fixture(autouse=True)
def no_choice():
    """Threads of pytest have named no device before a test, and contexts are whole after it."""
    cuda.close()
    yield
    cuda.close()
    for gpu in cuda.gpus:
        with gpu:
            assert cuda.to_device(np.arange(3)).copy_to_host().tolist() == [0, 1, 2]


@pytest.mark.parametrize("home", [0, 1])
def test_launches_run_where_their_arguments_are(home):
    x, y = (on_device(home, np.arange(COUNT, dtype=np.float32)) for _ in range(2))
    for _ in range(3):
        launch(add, x, y)
    np.testing.assert_array_equal(x.copy_to_host(), 4 * np.arange(COUNT, dtype=np.float32))
    assert x.device.id == home and x[5] == 20 and x[::2].copy_to_host().shape[0] == COUNT // 2


@pytest.mark.gpu
def test_torch_tensors_of_the_second_device():
    torch = pytest.importorskip("torch")
    x, y = (torch.ones(COUNT, device="cuda:1") for _ in range(2))
    for _ in range(2):
        launch(add, x, y)
    assert torch.all(x == 3).item()
    z = torch.ones(COUNT, device="cuda:0")
    with pytest.raises(errors.LaunchArgumentError, match="'x' is on GPU 1, 'y' is on GPU 0"):
        launch(add, x, z)
    with cuda.gpus[0], pytest.raises(errors.LaunchArgumentError, match="'add' is to run on GPU 0"):
        launch(add, x, y)
    launch(add, z, z)
    stream = torch.cuda.Stream(device="cuda:1")
    torch.cuda.synchronize(1)
    launch(add, x, y, stream=stream)
    stream.synchronize()
    assert torch.all(x == 4).item() and torch.all(z == 2).item()


@pytest.mark.gpu
def test_cupy_arrays_of_the_second_device():
    cupy = pytest.importorskip("cupy")
    with cupy.cuda.Device(1):
        x, y = cupy.arange(COUNT, dtype="f4"), cupy.ones(COUNT, "f4")
        cupy.cuda.Device(1).synchronize()
    launch(add, x, y)
    cuda.synchronize()
    with cupy.cuda.Device(1):
        assert bool((x == cupy.arange(COUNT, dtype="f4") + 1).all())
    assert cuda.as_cuda_array(x).device.id == 1
    np.testing.assert_array_equal(cuda.as_cuda_array(x).copy_to_host(), np.arange(COUNT, dtype=np.float32) + 1)


def test_arguments_on_two_devices_do_not_launch():
    x, y = (on_device(k, np.ones(COUNT, np.float32)) for k in (0, 1))
    message = f"'x' is on {name_of(0)}, 'y' is on {name_of(1)}"
    for other in (y, Foreign(y)):
        with pytest.raises(errors.LaunchArgumentError, match=message):
            launch(add, x, other)
    with cuda.gpus[0], pytest.raises(errors.LaunchArgumentError, match=f"'add' is to run on {name_of(0)}"):
        launch(add, y, Foreign(y))
    assert x.copy_to_host().sum() == COUNT


def test_memory_that_is_no_devices():
    for make in (cuda.mapped_array, cuda.managed_array):
        with cuda.gpus[0]:
            host = make(COUNT, np.float32)
        host[:] = 1
        x = on_device(1, np.ones(COUNT, np.float32))
        for first, second in ((x, host), (host, x)):
            launch(add, first, second)
            cuda.synchronize()
        assert host[7] == 3 and x[7] == 2
    host = np.ones(COUNT, np.float32)
    with cuda.gpus[0], cuda.mapped(host) as mapped, cuda.gpus[1]:
        launch(add, mapped, mapped)
        cuda.synchronize()
    assert host.sum() == 2 * COUNT


@pytest.mark.parametrize("source", [0, 1])
@pytest.mark.parametrize("streamed", ["default", "of the source", "of the target"])
def test_copies_between_devices_wait(source, streamed):
    """The source is written to when the copy starts, and freed, with memory taken anew, when it has not ended."""
    target = 1 - source
    host = np.arange(COUNT * 16 if cuda.gpus[0].kind == "cuda" else 4096, dtype=np.float64)
    d_to = on_device(target, np.zeros(host.size))
    stream = 0
    if streamed != "default":
        with cuda.gpus[source if streamed == "of the source" else target]:
            stream = cuda.stream()
    for k in range(3):
        d_from = on_device(source, host + k)
        launch(slow, d_from, 200)
        d_to.copy_to_device(d_from, stream)
        expected = d_from.copy_to_host()
        del d_from
        with cuda.gpus[source]:
            cuda.to_device(np.zeros(host.size))
        np.testing.assert_array_equal(d_to.copy_to_host(stream=stream), expected)


def test_assignments_between_devices():
    host = np.arange(24, dtype=np.float32).reshape(4, 6)
    a, b = on_device(0, host), on_device(1, np.zeros((4, 6), np.float32))
    b[:] = a
    np.testing.assert_array_equal(b.copy_to_host(), host)
    b[::2, ::3] = a[1::2, 1::3]
    expected = host.copy()
    expected[::2, ::3] = host[1::2, 1::3]
    np.testing.assert_array_equal(b.copy_to_host(), expected)
    b[:, 1] = 7
    np.testing.assert_array_equal(b[:, 1].copy_to_host(), 7 * np.ones(4, np.float32))
    np.testing.assert_array_equal(b.transpose().copy_to_host()[0], expected[:, 0])
    d = on_device(1, np.zeros((4, 6)))
    d[:] = a    # of another dtype
    np.testing.assert_array_equal(d.copy_to_host(), host)


@vectorize(["float32(float32, float32)"])
def plus(x, y):
    return x + y


@guvectorize(["void(float32[:], float32[:])"], "(n)->()")
def largest(x, out):
    out[0] = x[0]
    for value in x:
        out[0] = max(out[0], value)


def test_functions_over_arrays():
    host = np.arange(COUNT, dtype=np.float32)
    fold = cuda.reduce(lambda a, b: a + b)
    for home in (1, 0, 1):
        x = on_device(home, host)
        for _ in range(2):
            result = plus(x, x)
            assert result.device.id == home
            np.testing.assert_array_equal(result.copy_to_host(), host + host)
        np.testing.assert_array_equal(plus(x, host).copy_to_host(), host + host)
        assert largest(x.reshape(-1, 1024)).copy_to_host().tolist() == host.reshape(-1, 1024).max(1).tolist()
        assert fold(on_device(home, np.ones(COUNT, np.int64))) == COUNT
    for call in (lambda: plus(on_device(0, host), x), lambda: fold(x, res=on_device(0, host))):
        with pytest.raises(errors.LaunchArgumentError, match=f"on {name_of(0)}"):
            call()


def test_threads_with_a_device_each():
    from cujit.cuda.random import create_xoroshiro128p_states, xoroshiro128p_uniform_float32

    @cuda.jit
    def draw(states, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = xoroshiro128p_uniform_float32(states, i)

    results = {}

    def work(number):
        cuda.select_device(number)
        assert cuda.gpus.current.id == number == cuda.current_context().device.id
        states, out = create_xoroshiro128p_states(4096, seed=7), cuda.device_array(4096, np.float32)
        stream, start, end = cuda.stream(), cuda.event(), cuda.event()
        start.record(stream)
        for _ in range(20):
            draw[16, 256, stream](states, out)
        end.record(stream)
        end.synchronize()
        assert start.elapsed_time(end) > 0 and stream.device.id == number
        results[number] = out.copy_to_host()

    threads = [threading.Thread(target=work, args=(number,)) for number in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_array_equal(results[0], results[1])
    assert 0 <= results[0].min() < results[0].max() <= 1


def test_constants_and_named_arrays():
    table = np.arange(8, dtype=np.float32)
    named = on_device(1, table)

    @cuda.jit
    def by_constant(x):
        constant = cuda.const.array_like(table)
        i = cuda.grid(1)
        if i < x.size:
            x[i] = constant[i % 8]

    @cuda.jit
    def by_name(x):
        i = cuda.grid(1)
        if i < x.size:
            x[i] = named[i % 8]

    for home in (0, 1):
        x = on_device(home, np.zeros(16, np.float32))
        launch(by_constant, x)
        np.testing.assert_array_equal(x.copy_to_host(), np.tile(table, 2))
    launch(by_name, x)
    with pytest.raises(errors.LaunchArgumentError, match=f"an array that it names is on {name_of(1)}"):
        launch(by_name, on_device(0, np.zeros(16, np.float32)))


def test_exceptions_of_kernels_on_the_second_device():
    @cuda.jit(exceptions=True)
    def raising(x):
        if x[0] > 0:
            raise ValueError("too large")

    x = on_device(1, np.ones(1))
    with pytest.raises(ValueError, match="too large"):   # on the CPU device by the launch itself
        raising[1, 1](x)
        x.copy_to_host()


def test_the_disk_cache_serves_both(tmp_path, run_python):
    program = """
import numpy as np
from cujit import cuda

@cuda.jit
def double(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= 2

for gpu in cuda.gpus:
    with gpu:
        d = cuda.to_device(np.arange(4))
        double[1, 4](d)
        print(d.copy_to_host().tolist(), double.stats.cache_hits)
"""
    first, second = (run_python(program, CUJIT_CACHE="1", CUJIT_CACHE_DIR=str(tmp_path)) for _ in range(2))
    assert first.count("[0, 2, 4, 6]") == second.count("[0, 2, 4, 6]") == len(cuda.gpus)


def test_arrays_of_other_libraries_are_on_the_device_of_their_memory():
    for home in (0, 1):
        x = on_device(home, np.ones(COUNT, np.float32))
        assert cuda.as_cuda_array(Foreign(x)).device.id == home == cuda.as_cuda_array(x).device.id
        add[COUNT // 256, 256](Foreign(x), Foreign(x))
        assert x.copy_to_host()[3] == 2


def test_graphs_of_each_device():
    for home in (0, 1):
        with cuda.gpus[home]:
            x, y = cuda.to_device(np.zeros(COUNT, np.float32)), cuda.to_device(np.ones(COUNT, np.float32))
            launch(add, x, y)
            with cuda.graph() as graph:
                launch(add, x, y)
                launch(add, x, y)
            graph.launch()
            graph.launch()
            cuda.synchronize()
        assert x.device.id == home and x.copy_to_host().tolist() == [5] * COUNT


def test_streams_and_events_belong_to_a_device():
    with cuda.gpus[1]:
        stream, start, end = cuda.stream(), cuda.event(), cuda.event()
    x = on_device(1, np.zeros(COUNT, np.float32))
    start.record(stream)
    launch(slow, x, 10, stream=stream)
    end.record(stream)
    end.synchronize()
    assert stream.device.id == 1 and cuda.event_elapsed_time(start, end) > 0
    with pytest.raises(errors.LaunchArgumentError, match=f"is to run on {name_of(1)}"):
        launch(slow, on_device(0, np.zeros(4, np.float32)), 10, stream=stream)


def test_pools_of_each_device():
    def used(number):
        with cuda.gpus[number]:
            return cuda.get_default_memory_pool().used_bytes()

    before = used(0), used(1)
    x = on_device(1, np.zeros(COUNT, np.float32))
    assert (used(0), used(1)) == (before[0], before[1] + x.nbytes)
    with cuda.gpus[1]:
        pool = cuda.get_default_memory_pool()
        pool.free_all_blocks()
        pool.set_limit(size=pool.used_bytes() + 4096)
        try:
            with pytest.raises(errors.DeviceMemoryError, match="the limit is"):
                cuda.device_array(COUNT, np.float32)
            on_device(0, np.zeros(COUNT, np.float32))
        finally:
            pool.set_limit(size=0)
    kept = [gpu._core.pool_use(False)[1] for gpu in cuda.gpus]
    del x
    assert gpu_kept_more(kept) == [1]


def gpu_kept_more(before):
    return [gpu.id for gpu, kept in zip(cuda.gpus, before) if gpu._core.pool_use(False)[1] > kept]


def test_devices_are_told_apart():
    first, second = cuda.gpus[0], cuda.gpus[1]
    assert first.uuid != second.uuid and first.get_device_identity() != second.get_device_identity()
    assert cuda.gpus[0].from_identity(second.get_device_identity()) is second
    assert cuda.select_device(1) is second is cuda.get_current_device()


def test_numpys_functions():
    """They compute where their arrays are, unless the program chose a device; only copies take those of several."""
    host = np.arange(6.0)[::-1].copy()
    x, y = (on_device(k, host + k) for k in (0, 1))
    joined = np.concatenate([x, y])
    assert joined.device.id == 0
    np.testing.assert_array_equal(joined.copy_to_host(), [*host, *host + 1])
    for call in (lambda: np.where(x > 2, x, y), lambda: np.isclose(x, y)):
        with pytest.raises(errors.LaunchArgumentError, match="argument 1 is on .*0, .* is on .*1; copy to one device"):
            call()
    total, ordered = np.sum(y), np.sort(y)
    assert total.device.id == ordered.device.id == 1
    assert float(total) == 21 and ordered.copy_to_host().tolist() == [1, 2, 3, 4, 5, 6]
    with cuda.gpus[0], pytest.raises(errors.LaunchArgumentError, match="is to run on"):
        np.sum(y)
    with cuda.gpus[1]:
        assert np.array_equal(y, host + 1) and np.zeros_like(y).device.id == 1
    with pytest.warns(errors.PerformanceWarning, match="numpy.median works on the host"):
        assert np.median(y) == 3.5


def test_peers():
    """Last: peers stay so for the rest of the process."""
    if not cuda.gpus[0].can_access_peer(cuda.gpus[1]):
        pytest.skip("the hardware has no peer access")
    x, y = (on_device(k, np.ones(COUNT, np.float32)) for k in (0, 1))
    cuda.current_context(0).enable_peer_access(cuda.current_context(1))
    cuda.gpus[0].enable_peer_access(1)
    launch(add, x, y)
    assert x.copy_to_host().sum() == 2 * COUNT
    with cuda.gpus[1], pytest.raises(errors.LaunchArgumentError, match="is to run on"):
        launch(add, y, x)   # the other way round nobody has asked for
    if cuda.gpus[0].kind == "cpu":
        return
    cupy = pytest.importorskip("cupy")
    with cupy.cuda.Device(1):
        foreign = cupy.ones(COUNT, "f4")
        cupy.cuda.Device(1).synchronize()
    launch(add, x, foreign)
    assert x.copy_to_host().sum() == 3 * COUNT
