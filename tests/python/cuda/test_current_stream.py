"""`with stream:`, and what else can be given as a stream. The order of work itself is tested on a GPU, in tests/gpu."""
import ctypes
import gc
import threading
import weakref

import numpy as np
import pytest

from cujit import cuda, vectorize


def seen():
    return int(cuda.current_stream())


def test_streams_nest_and_end():
    outer, inner = cuda.stream(), cuda.stream()
    assert seen() == 0
    with outer as entered:
        assert entered is outer and cuda.current_stream() is outer
        with inner:
            assert cuda.current_stream() is inner
            with outer:
                assert cuda.current_stream() is outer
            assert cuda.current_stream() is inner
        assert cuda.current_stream() is outer
    assert seen() == 0


def test_an_exception_leaves_it_too():
    with pytest.raises(KeyError), cuda.stream():
        raise KeyError
    assert seen() == 0


def test_each_thread_has_its_own():
    found = []
    with cuda.stream() as stream:
        thread = threading.Thread(target=lambda: found.append(seen()))
        thread.start()
        thread.join()
        assert found == [0] and cuda.current_stream() is stream
        thread = threading.Thread(target=lambda: found.append(leave(stream)))
        thread.start()
        thread.join()
        assert isinstance(found[1], RuntimeError)


def leave(stream):
    try:
        stream.__exit__(None, None, None)
    except RuntimeError as error:
        return error


def test_work_in_it_has_its_results():
    @cuda.jit
    def double(x):
        i = cuda.grid(1)
        if i < x.size:
            x[i] *= 2

    launcher = double[1, 32]
    with cuda.stream() as stream:
        x = cuda.to_device(np.arange(4.0))
        launcher(x)
        double[1, 32](x)
        double.forall(4)(x)
        result = vectorize(lambda a: a + 1)(x)
        x[0] = 5
        event = cuda.event()
        event.record()
        assert x.copy_to_host().tolist() == [5, 8, 16, 24]
        assert result.copy_to_host().tolist() == [1, 9, 17, 25]
        assert cuda.reduce(lambda a, b: a + b)(x) == 53
        assert result.stream is stream and x.stream == 0
        event.wait()
        assert event.query()


class OfProtocol:
    def __cuda_stream__(self):
        return (0, 7)


class OfTorch:
    cuda_stream = 7


class OfCupy:
    ptr = 7


@pytest.mark.parametrize("stream", [7, np.int64(7), OfProtocol(), OfTorch(), OfCupy()], ids=lambda s: type(s).__name__)
def test_streams_of_other_libraries(stream):
    if cuda.get_current_device().kind != "cpu":
        pytest.skip("the driver knows no stream 7")
    ours = cuda.external_stream(stream)
    assert int(ours) == 7 and ours.external and (ours.owner is stream or isinstance(stream, int))
    x = cuda.to_device(np.arange(3.0), stream=stream)
    cuda.jit(lambda x: None)[1, 1, stream](x)
    assert x.copy_to_host(stream=stream).tolist() == [0, 1, 2]
    assert x.__cuda_array_interface__["stream"] == 7


@pytest.mark.parametrize("value", ["7", 7.5, object(), True, None])
def test_what_is_no_stream(value):
    with pytest.raises(TypeError):
        cuda.external_stream(value)


def test_a_stream_that_raises():
    class Broken:
        @property
        def cuda_stream(self):
            raise RuntimeError("gone")

    with pytest.raises(RuntimeError, match="gone"):
        cuda.external_stream(Broken())


@pytest.mark.gpu
@pytest.mark.parametrize("address", [3, 0x1234, 0xdeadbeef, (1 << 63) + 8])
def test_an_address_without_a_stream(address):
    stream = cuda.external_stream(address)
    x = cuda.to_device(np.arange(3.0))
    for use in (stream.synchronize, stream.query, lambda: x.copy_to_host(stream=stream),
                lambda: cuda.jit(lambda x: None)[1, 1, stream](x), lambda: cuda.event().record(stream)):
        with pytest.raises(ValueError, match="no stream at 0x"):
            use()
    assert x.copy_to_host().tolist() == [0, 1, 2]


def test_numbas_constructor():
    """What programs from before external_stream write."""
    driver, ended = cuda.driver, []
    for handle in driver.drvapi.cu_stream(0), ctypes.c_void_p(2), 1, None:
        stream = driver.Stream(weakref.proxy(cuda.current_context()), handle, None)
        assert int(stream) == (getattr(handle, "value", handle) or 0) and not stream.external
        stream.synchronize()
    stream = driver.Stream(cuda.current_context(), handle=ctypes.c_void_p(2), finalizer=lambda: ended.append(1))
    assert isinstance(stream, driver.Stream) and not ended
    del stream
    gc.collect()
    assert ended
