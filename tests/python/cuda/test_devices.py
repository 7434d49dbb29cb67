"""Devices, contexts, streams and events, and host memory for transfers."""
import asyncio
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from cujit import cuda, errors, float32


@cuda.jit
def affine(x, a, b):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = a * x[i] + b


def in_thread(function):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function).result(60)


def test_the_list_of_devices():
    assert len(cuda.gpus) >= 1 and list(cuda.gpus) == cuda.list_devices() == cuda.gpus.lst
    assert cuda.gpus[0] is cuda.gpus[-len(cuda.gpus)] and cuda.gpus[0].id == 0
    assert {device.kind for device in cuda.gpus} == {cuda.get_current_device().kind}
    with pytest.raises(IndexError):
        cuda.gpus[len(cuda.gpus)]
    for number in (-1, len(cuda.gpus)):
        with pytest.raises(IndexError):
            cuda.select_device(number)


def test_a_device_by_its_number():
    from cujit.cuda.cudadrv.driver import Device

    assert Device(0) is cuda.gpus[0] is Device(np.int64(0)) and Device(0).name
    with pytest.raises(IndexError):
        Device(len(cuda.gpus))


def test_about_a_device():
    device = cuda.select_device(0)
    assert device is cuda.get_current_device() is cuda.gpus.current
    assert device.name and device.name in repr(device)
    assert device.WARP_SIZE == 32 and device.MULTIPROCESSOR_COUNT >= 1
    assert device.compute_capability == (device.COMPUTE_CAPABILITY_MAJOR, device.COMPUTE_CAPABILITY_MINOR)
    for name in ("NO_SUCH_ATTRIBUTE", "no_such_attribute"):
        with pytest.raises(AttributeError):
            getattr(device, name)


def test_what_programs_ask_before_they_use_it():
    """Each is what the device can: managed_array, a kernel's use of it, grid.sync."""
    device = cuda.get_current_device()
    assert device.MANAGED_MEMORY == device.UNIFIED_ADDRESSING == device.CAN_MAP_HOST_MEMORY == 1
    assert device.COOPERATIVE_LAUNCH == 1


def test_detect_prints_the_devices(capsys):
    assert cuda.detect() == cuda.is_available()
    assert cuda.gpus[0].name in capsys.readouterr().out


def test_a_thread_has_no_device_until_it_needs_one():
    def look():
        before = cuda.gpus.current
        with cuda.gpus[0] as device:
            inside = cuda.gpus.current
        after = cuda.gpus.current
        cuda.to_device([1])
        return before, inside is device, after, cuda.gpus.current.id

    assert in_thread(look) == (None, True, None, 0)


def test_close_forgets_the_device_and_keeps_arrays():
    def work():
        array = cuda.to_device(np.arange(5))
        cuda.close()
        return cuda.gpus.current, array.copy_to_host().tolist()

    assert in_thread(work) == (None, [0, 1, 2, 3, 4])


def test_contexts():
    context = cuda.current_context()
    assert context == cuda.current_context(0) and hash(context) == hash(cuda.current_context())
    free, total = context.get_memory_info()
    assert 0 < free <= total
    context.push()
    assert cuda.gpus.current is context.device
    context.pop()

    @cuda.require_context
    def current():
        return cuda.gpus.current.id

    assert in_thread(current) == 0


def test_streams_have_handles():
    one, other = cuda.stream(), cuda.stream()
    assert int(one) > 2 and int(one) != int(other) and one.__cuda_stream__() == (0, int(one))
    default = [cuda.default_stream(), cuda.legacy_default_stream(), cuda.per_thread_default_stream()]
    assert list(map(int, default)) == [0, 1, 2]
    assert int(cuda.external_stream(int(one))) == int(one)
    for handle in ("7", 7.0, True, None):
        with pytest.raises(TypeError):
            cuda.external_stream(handle)


def test_work_in_streams():
    with cuda.stream().auto_synchronize() as stream:
        d = cuda.to_device(np.arange(100), stream=stream)
        for k in range(4):
            affine[1, 128, stream](d, 2, k)
        host = d.copy_to_host()
    np.testing.assert_array_equal(host, 16 * np.arange(100) + 11)


def test_callbacks_come_in_order_and_survive_an_error(capsys):
    stream, seen, done = cuda.stream(), [], threading.Event()
    stream.add_callback(lambda *_: 1 / 0)
    stream.add_callback(lambda *_: sys.exit(3))
    for k in range(3):
        stream.add_callback(lambda s, status, arg: seen.append((s is stream, status, arg)), k)
    stream.add_callback(lambda *_: done.set())
    assert done.wait(30)
    assert seen == [(True, 0, 0), (True, 0, 1), (True, 0, 2)]
    told = capsys.readouterr().err
    assert "ZeroDivisionError" in told and "SystemExit" in told
    with pytest.raises(TypeError, match="a callback is called, which int cannot be"):
        stream.add_callback(3)


@pytest.mark.parametrize("wait", [lambda stream: stream.synchronize(), lambda stream: cuda.synchronize()])
def test_who_waits_for_a_stream_waits_for_its_callbacks(wait):
    stream, begun, seen = cuda.stream(), threading.Event(), []

    def slow(*_):
        begun.wait(30)
        stream.synchronize()   # a callback itself does not wait
        seen.append(1)

    stream.add_callback(slow)
    stream.add_callback(lambda *_: seen.append(2))
    threading.Timer(0.05, begun.set).start()
    wait(stream)
    assert seen == [1, 2]


def test_async_done():
    async def work():
        stream = cuda.stream()
        d = cuda.to_device(np.arange(10), stream=stream)
        affine[1, 32, stream](d, 3, 1)
        assert await stream.async_done() is stream
        return d.copy_to_host()

    np.testing.assert_array_equal(asyncio.run(work()), 3 * np.arange(10) + 1)
    with pytest.raises(RuntimeError):
        cuda.stream().async_done()


def test_events():
    stream, start, end = cuda.stream(), cuda.event(), cuda.event()
    d = cuda.to_device(np.arange(100))
    start.record(stream)
    affine[1, 128, stream](d, 2, 0)
    end.record(stream)
    end.synchronize()
    assert end.query() is True
    assert cuda.event_elapsed_time(start, end) == start.elapsed_time(end) >= 0
    end.wait(cuda.stream())
    with pytest.raises(TypeError):
        end.record("stream")


def test_things_that_are_no_streams():
    d = cuda.to_device(np.arange(4))
    for call in (lambda: d.copy_to_host(stream="s"), lambda: affine[1, 4, 1.5](d, 1, 1)):
        with pytest.raises(TypeError):
            call()


@pytest.mark.parametrize("make", [cuda.pinned_array, cuda.mapped_array, cuda.managed_array])
def test_host_memory(make):
    array = make((3, 4), np.int32, order="F")
    assert isinstance(array, np.ndarray) and array.flags.f_contiguous and array.dtype == np.int32
    line = make(5)
    line[:] = range(5)
    affine[1, 8](line, 2.0, 1.0)
    cuda.synchronize()
    np.testing.assert_array_equal(np.array(line), 2 * np.arange(5) + 1)


def test_mapped_and_pinned_contexts():
    a, b = np.arange(4), np.ones(4)
    with cuda.mapped(a, b) as (d_a, d_b):
        affine[1, 8](d_a, 10, 1)
        affine[1, 8](d_b, 5, 0)
        cuda.synchronize()
    np.testing.assert_array_equal(a, 10 * np.arange(4) + 1)
    np.testing.assert_array_equal(b, np.full(4, 5.0))
    with cuda.pinned(a, b):
        np.testing.assert_array_equal(cuda.to_device(a).copy_to_host(), a)


def test_nothing_to_do_does_nothing():
    with cuda.defer_cleanup(), cuda.profiling():
        assert cuda.is_supported_version() is True
    assert cuda.cuda_error() is None


@pytest.mark.gpu
def test_the_drivers_version():
    assert cuda.runtime.get_version() >= (11, 0)


def test_the_cuda_version():
    """The CPU device has one too: programs compare it before they use what is new in a version."""
    major, minor = cuda.runtime.get_version()
    assert major >= 11 and minor >= 0
    if cuda.get_current_device().kind == "cpu":
        assert (major, minor) == (13, 0)


@pytest.mark.parametrize(("choice", "expected"), [("auto", False), ("cpu", True)])
def test_availability_without_a_gpu(run_python, choice, expected):
    """Who asks for the CPU device has it, as under numba's simulator."""
    program = "from cujit import cuda\nprint(cuda.is_available(), cuda.detect())"
    hidden = {"CUDA_VISIBLE_DEVICES": "", "CUJIT_DRIVER_LIBRARY": "libnone.so"}
    *_, last = run_python(program, CUJIT_DEVICE=choice, **hidden).splitlines()
    assert last == f"{expected} {expected}"


def test_attributes_of_the_cpu_device_that_programs_divide_by(run_python):
    program = """
from cujit import cuda
device = cuda.get_current_device()
print(device.ASYNC_ENGINE_COUNT, device.CLOCK_RATE, device.MAX_THREADS_PER_MULTIPROCESSOR, device.MEMORY_CLOCK_RATE,
      device.GLOBAL_MEMORY_BUS_WIDTH, device.L2_CACHE_SIZE)
"""
    values = [int(word) for word in run_python(program, CUJIT_DEVICE="cpu").split()]
    assert values[:2] == [1, 1_000_000] and min(values) > 0


def test_times_between_events_that_keep_none():
    start, silent, unused = cuda.event(), cuda.event(timing=False), cuda.event()
    start.record()
    silent.record()
    cuda.synchronize()
    assert cuda.event_elapsed_time(start, start) == 0
    for other in (silent, unused):
        for pair in ((start, other), (other, start)):
            with pytest.raises(errors.CudaAPIError, match="CUDA_ERROR_INVALID_HANDLE"):
                cuda.event_elapsed_time(*pair)


def test_fp8_is_there_where_its_kernels_run():
    assert cuda.is_fp8_supported() is True

    @cuda.jit
    def kernel(out):
        out[0] = float32(cuda.fp8.fp8_e4m3(1.5))

    out = np.zeros(1)
    kernel[1, 1](out)
    assert out[0] == 1.5
