"""What the systems that this one follows have around kernels, row by row of their features: names for profilers
(A21, A22), arrays of others (A23), the current device (C5), streams and events (C25, C27), times (C21), CudaPy's
arrays (D10). Rows with files of their own: memory (A18, C15 to C20) in test_memory_pool.py; what only a GPU can show
(A21, A22, C26) in tests/gpu/test_streams_and_profilers.py.
"""
import re

import numpy as np
import pytest

from cujit import cuda, float32


def scale_and_shift(x, factor):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = factor * x[i] + 1


class Interface:
    """A producer of another library, with the interface alone."""

    def __init__(self, array):
        self.__cuda_array_interface__ = {"version": 3, "shape": array.shape, "typestr": array.dtype.str,
                                         "strides": None, "data": (array.pointer, False)}
        self.array = array


class Exchange:
    """Another, with DLPack alone."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_a18_what_is_closed_is_of_no_use_and_can_go_in_any_order():
    x = cuda.to_device(np.zeros(4))
    kernel = cuda.jit(scale_and_shift)
    ufunc = cuda.vectorize(["float64(float64)"])(lambda a: a + 1)
    ufunc(x, out=x)
    stream, event, other = cuda.stream(), cuda.event(), cuda.event()
    launcher = kernel[1, 32, stream]
    launcher(x, 2)
    event.record(stream)
    with stream:
        stream.close()
        stream.close()
        for use in (lambda: kernel[1, 32](x, 2), lambda: ufunc(x, out=x), lambda: x.copy_to_host(), other.record):
            with pytest.raises(ValueError, match="the stream has been closed"):
                use()
    for use in (lambda: launcher(x, 2), stream.synchronize, stream.query, stream.__enter__,
                lambda: stream.wait_event(event), lambda: event.record(stream), lambda: x.copy_to_host(stream=stream),
                lambda: kernel[1, 32, stream](x, 2), lambda: ufunc(x, out=x, stream=stream)):
        with pytest.raises(ValueError, match="the stream has been closed"):
            use()
    assert event.query()
    event.close()
    for use in (event.record, event.wait, event.synchronize, event.query, lambda: event.elapsed_time(other),
                lambda: other.elapsed_time(event), lambda: cuda.stream().wait_event(event)):
        with pytest.raises(ValueError, match="the event has been closed"):
            use()
    del stream, launcher
    assert (x.copy_to_host() == 3).all()


def test_a21_a_kernel_has_its_python_name_on_the_gpu():
    ptx, _ = cuda.compile_ptx(scale_and_shift, (float32[::1], float32), cc=(9, 0))
    assert re.findall(r"\.entry (\w+)\(", ptx) == ["scale_and_shift"]


def test_a22_lineinfo_maps_code_to_lines_of_python(assembles):
    ptx = assembles(scale_and_shift, (float32[::1], float32), (9, 0), lineinfo=True)
    first = scale_and_shift.__code__.co_firstlineno
    file, = re.findall(r'\.file\s+(\d+) "([^"]+)"', ptx)
    assert file[1].endswith("test_seed_runtime.py")
    lines = {int(line) for number, line in re.findall(r"\.loc\s+(\d+) (\d+)", ptx) if number == file[0]}
    assert {first + 1, first + 2, first + 3} <= lines and max(lines) <= first + 3


@pytest.mark.parametrize("producer", [Interface, Exchange])
def test_a23_arrays_of_any_producer(producer):
    array = cuda.to_device(np.arange(5, dtype=np.float32))
    kernel = cuda.jit(scale_and_shift)
    if producer is Interface:
        kernel[1, 32](producer(array), 2)
        view = cuda.as_cuda_array(producer(array))
    else:
        view = cuda.from_dlpack(producer(array))
        kernel[1, 32](view, 2)
    expected = 2 * np.arange(5) + 1
    np.testing.assert_array_equal(array.copy_to_host(), expected)
    np.testing.assert_array_equal(view.copy_to_host(), expected)


def test_c5_the_current_device():
    last = len(cuda.gpus) - 1
    here = cuda.get_current_device()
    with cuda.Device(last) as device:
        assert device is cuda.gpus[last] is cuda.get_current_device()
        x = cuda.to_device(np.arange(4.0))
        cuda.jit(scale_and_shift)[1, 32](x, 3)
    assert cuda.get_current_device() is here and x.device == device._core
    copy = cuda.device_array_like(x)
    copy.copy_to_device(x)
    np.testing.assert_array_equal(copy.copy_to_host(), 3 * np.arange(4.0) + 1)


def test_c21_times_of_a_function(monkeypatch):
    called = []
    result = cuda.benchmark(lambda x, add: called.append(x + add), (1,), n_repeat=7, n_warmup=3, kwargs={"add": 2})
    assert called == [3] * 10
    assert result.cpu_times.shape == result.gpu_times.shape == (7,)
    assert (result.cpu_times > 0).all() and (result.gpu_times >= 0).all()
    line = str(result)
    assert line.startswith("<lambda>") and line.count("+/-") == line.count("min:") == line.count("max:") == 2
    assert f"{result.cpu_times.mean() * 1e6:9.3f} us" in line
    assert "+/-" not in str(cuda.benchmark(len, ([],), n_repeat=1, name="empty"))
    short = cuda.benchmark(len, ([],), n_repeat=10**9, max_duration=0.01)
    assert 1 <= short.cpu_times.size < 10**9
    assert short.to_str(show_gpu=False).count("us") == 2
    for wrong in {"n_repeat": 0}, {"n_warmup": -1}:
        with pytest.raises(ValueError, match="at least"):
            cuda.benchmark(len, ([],), **wrong)


def test_c21_ranges_for_profilers_change_nothing():
    @cuda.profile_range("all of it")
    def work(x):
        with cuda.profile_range("inside"):
            return x + 1

    assert work(1) == 2
    with pytest.raises(KeyError), cuda.profile_range("raises"):
        raise KeyError


def test_c25_streams_are_contexts():
    x = cuda.to_device(np.zeros(1000))
    with cuda.stream() as stream:
        assert cuda.current_stream() is stream
        cuda.jit(scale_and_shift)[4, 256](x, 2)
        event = cuda.event()
        event.record()
    stream.synchronize()
    assert event.query() and (x.copy_to_host() == 1).all()


def test_c27_streams_wait_for_events_of_others():
    first, second = cuda.stream(), cuda.stream()
    start, sync_point, end = (cuda.event() for _ in range(3))
    x = cuda.to_device(np.zeros(1 << 16))
    kernel = cuda.jit(scale_and_shift)
    for _ in range(10):
        start.record(first)
        kernel[256, 256, first](x, 2)
        sync_point.record(stream=first)
        second.wait_event(sync_point)
        kernel[256, 256, second](x, 0.5)
        second.record(end)
        first.wait_event(end)
    end.synchronize()
    assert start.elapsed_time(end) >= start.elapsed_time(sync_point) >= 0
    expected = 0.0
    for _ in range(10):
        expected = 0.5 * (2 * expected + 1) + 1
    assert (x.copy_to_host() == expected).all()


def test_d10_cudaarray():
    y = cuda.CudaArray([1.0, 2.0, 3.0])
    assert isinstance(y, cuda.DeviceNDArray) and len(y) == 3 and y.toList() == [1.0, 2.0, 3.0]
    result = cuda.CudaArray.allocate(3, np.float32)
    assert result.dtype == np.float32 and len(result) == 3
    result.copy_to_device(np.array([1, 2, 3], np.float32))
    cuda.jit(scale_and_shift)[1, 32](result, 2)
    assert result.toList() == [3.0, 5.0, 7.0]
    host = result.toHost()
    assert isinstance(host, np.ndarray) and host.dtype == np.float32
    assert cuda.CudaArray(np.arange(6).reshape(2, 3)).toList() == [[0, 1, 2], [3, 4, 5]]
    assert cuda.CudaArray.allocate(2, float).dtype == np.float64
    assert y[1:].copy_to_host().tolist() == [2.0, 3.0]
