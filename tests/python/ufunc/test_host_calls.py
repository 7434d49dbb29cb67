"""Calls of ufuncs on arrays of the host: the second of a kind is made by the extension, and agrees with the first."""
import threading

import numpy as np
import pytest

from cujit import cuda, vectorize


def adder():
    @vectorize(["float32(float32, float32)", "int32(int32, int32)", "float64(float64, float64)"])
    def add(x, y):
        return x + y
    return add


@pytest.fixture
def in_python(monkeypatch):
    """How often a call was made in Python."""
    from cujit._ufunc.ufunc import UFunc

    seen, call = [], UFunc._call

    def counted(self, *args, **keywords):
        seen.append(args)
        return call(self, *args, **keywords)
    monkeypatch.setattr(UFunc, "_call", counted)
    return seen


@pytest.mark.parametrize("size", [1, 7, 1000, 1 << 16, (1 << 18) + 3, (1 << 20) + 1])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
def test_any_size(rng, in_python, dtype, size):
    """On a GPU the large ones take several turns in page-locked memory."""
    add = adder()
    for k in range(3):
        x, y = rng.integers(-9, 9, (2, size)).astype(dtype)
        got = add(x, y)
        assert type(got) is np.ndarray and got.dtype == dtype
        np.testing.assert_array_equal(got, x + y)
        assert len(in_python) == 1


def test_shapes_numbers_and_outputs(rng, in_python):
    add = adder()
    x, y = rng.random((2, 3, 5), np.float32)
    add(x, y), add(x, 2), add(0.5, x)
    del in_python[:]
    np.testing.assert_array_equal(add(x, y), x + y)
    np.testing.assert_array_equal(add(x[1], y[2]), x[1] + y[2])
    np.testing.assert_array_equal(add(x, 3), x + 3)
    np.testing.assert_array_equal(add(0.25, x), x + np.float32(0.25))
    out = np.zeros_like(x)
    assert add(x, y, out=out) is out and add(out, y, out=out) is out
    np.testing.assert_array_equal(out, x + y + y)
    assert not in_python
    np.testing.assert_array_equal(add(x.T, y.T), (x + y).T)
    np.testing.assert_array_equal(add(x[:, ::2], y[:, ::2]), (x + y)[:, ::2])
    np.testing.assert_array_equal(add(x, y[0]), x + y[0])
    assert add(x[0, 0], y[0, 0]) == x[0, 0] + y[0, 0]
    assert add(x[:0], y[:0]).shape == (0, 5)
    assert len(in_python) == 5


def test_overlap_and_errors(rng):
    add = adder()
    x = rng.integers(0, 9, 50).astype(np.float32)
    y = x.copy()
    add(x, x)
    wanted = y[:-1] + y[1:]
    add(x[:-1], x[1:], out=x[1:])
    np.testing.assert_array_equal(x[1:], wanted)
    x.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        add(y, y, out=x)
    with pytest.raises(ValueError, match="shape"):
        add(y, y, out=np.zeros(49, np.float32))
    with pytest.raises(TypeError):
        add(y, y, out=np.zeros(50, np.int8), casting="no")
    integers = np.arange(4, dtype=np.int32)
    np.testing.assert_array_equal(add(integers, 3), integers + 3)
    for _ in range(2):
        with pytest.raises(OverflowError):
            add(integers, 1 << 40)


def test_swapped_and_unaligned_arrays(rng):
    add = adder()
    x = rng.integers(0, 9, 40).astype(np.float32)
    add(x, x)
    np.testing.assert_array_equal(add(x.astype(">f4"), x), x + x)
    odd = np.frombuffer(bytes(1) + x.tobytes(), np.uint8)[1:].view(np.float32)
    np.testing.assert_array_equal(add(odd, x), x + x)


def test_beside_device_arrays(rng):
    add = adder()
    x = rng.integers(0, 9, 40).astype(np.float32)
    d_x = cuda.to_device(x)
    add(x, x), add(d_x, d_x)
    for _ in range(2):
        for got in (add(d_x, x), add(x, d_x), add(d_x, d_x), add(x, x, out=cuda.device_array(40, np.float32))):
            assert cuda.is_cuda_array(got)
            np.testing.assert_array_equal(got.copy_to_host(), x + x)
        host = np.zeros_like(x)
        assert add(d_x, d_x, out=host) is host
        np.testing.assert_array_equal(host, x + x)


ON_A_GPU = """
import ctypes, os
import numpy as np
from cujit import cuda, vectorize

class FakeDriver(ctypes.Structure):
    _fields_ = [("fail", ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_int, ctypes.c_int)),
                ("calls", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p))]

driver = FakeDriver.in_dll(ctypes.CDLL(os.environ["CUJIT_DRIVER_LIBRARY"]), "fake_driver")
NAMES = ("cuLaunchKernel", "cuMemcpyHtoDAsync", "cuMemcpyDtoHAsync", "cuMemAllocAsync", "cuStreamSynchronize",
         "cuCtxSynchronize")

@vectorize(["float32(float32, float32)"])
def add(x, y):
    return x + y

for size in 1000, 1 << 16, 1 << 20:
    x = np.ones(size, np.float32)
    add(x, x), add(x, x)
    before = [driver.calls(name.encode()) for name in NAMES]
    add(x, x)
    print([driver.calls(name.encode()) - n for name, n in zip(NAMES, before)])
x = np.ones(1000, np.float32)
for name in b"cuLaunchKernel", b"cuStreamSynchronize":
    driver.fail(name, 1, 700)
    try:
        add(x, x)
        print("no error")
    except Exception as error:
        print(type(error).__name__)
    driver.fail(name, 0, 0)
print(add(x, x).shape)
x = np.ones(1 << 20, np.float32)
for name in b"cuLaunchKernel", b"cuEventRecord", b"cuEventSynchronize":
    for call in 1, 7:
        driver.fail(name, call, 700)
        try:
            add(x, x)
            print("no error")
        except Exception as error:
            print(type(error).__name__)
        driver.fail(name, 0, 0)
print(add(x, x).shape)
"""


def test_a_gpu_reads_page_locked_memory_itself(fake_driver, run_python):
    """No copies are ordered, no memory of the device is asked for, and one slot is waited for once; larger arrays are
    several launches."""
    said = run_python(ON_A_GPU, CUJIT_DRIVER_LIBRARY=fake_driver, CUJIT_DEVICE="cuda").splitlines()
    assert said[:2] == ["[1, 0, 0, 0, 1, 0]", "[2, 0, 0, 0, 0, 0]"]   # parts: the host copies beside the device
    assert said[2] == "[16, 0, 0, 0, 0, 0]"   # 768 KiB of three operands at a time
    assert said[3:6] == ["CudaAPIError", "CudaAPIError", "(1000,)"]
    assert said[6:] == ["CudaAPIError"] * 6 + ["(1048576,)"]   # of the caller, and of the thread that takes out


def test_a_recorded_graph_does_not_get_the_call(rng):
    add, x = adder(), rng.integers(0, 9, 40).astype(np.float32)
    add(x, x)
    out = cuda.device_array(40, np.float32)
    d = cuda.to_device(x)
    add(d, d, out=out)
    with cuda.graph() as g:
        add(d, d, out=out)
    out[:] = 0
    g.launch()
    np.testing.assert_array_equal(out.copy_to_host(), add(x, x))


def test_threads(rng):
    add, wrong = adder(), []
    x = rng.integers(0, 9, 300_000).astype(np.float32)
    add(x, x)

    def work(k):
        for _ in range(20):
            if not np.array_equal(add(x[k:], np.float32(k)), x[k:] + np.float32(k)):
                wrong.append(k)
    threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not wrong
