"""cuda.core's own buffers, views and streams."""
import numpy as np
import pytest

from cujit import cuda

core = pytest.importorskip("cuda.core")
pytestmark = pytest.mark.gpu
if cuda.get_current_device().kind != "cuda":
    pytest.skip("needs a GPU", allow_module_level=True)


@pytest.fixture
def device():
    made = core.Device()
    made.set_current()
    return made


@cuda.jit
def fill(out, value):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = value


def test_a_stream_is_a_launch_configuration(device):
    stream = device.create_stream()
    out = cuda.to_device(np.zeros(1000), stream=stream)
    fill[4, 256, stream](out, 3)
    assert out.copy_to_host(stream=stream).tolist() == [3] * 1000
    assert int(cuda.external_stream(int(stream.handle))) == int(stream.handle)


def test_our_stream_is_one_of_theirs(device):
    stream = cuda.stream()
    theirs = device.create_stream(stream)
    assert int(theirs.handle) == int(stream)
    theirs.sync()


def test_a_buffer_is_bytes(device):
    stream = device.create_stream()
    buffer = device.allocate(64, stream=stream)
    stream.sync()
    fill[1, 64](buffer, 7)
    cuda.synchronize()
    assert cuda.from_dlpack(buffer).copy_to_host().tolist() == [7] * 64
    buffer.close()


def test_a_view_of_strided_memory(device):
    utils = pytest.importorskip("cuda.core.utils")
    ours = cuda.to_device(np.zeros((4, 6), "f4"))
    view = utils.StridedMemoryView.from_any_interface(ours[:, 0], stream_ptr=-1)
    fill[1, 32](view, 5)
    assert ours.copy_to_host()[:, 0].tolist() == [5] * 4
    assert ours.copy_to_host()[:, 1:].any() == False  # noqa: E712
