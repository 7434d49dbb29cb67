"""Pinned, mapped and managed memory, page-locking of arrays, and copies large enough for threads."""
import subprocess
import sys
import threading

import numpy as np
import pytest

from cujit import cuda, errors
from cujit.cuda.devicearray import DeviceNDArray

MAKERS = [cuda.pinned_array, cuda.mapped_array, cuda.managed_array]


@cuda.jit
def affine(x, a, b):
    i = cuda.grid(1)
    if i < x.size:
        x.flat[i] = a * x.flat[i] + b


@cuda.jit
def add_one(x):
    i, j = cuda.grid(2)
    if i < x.shape[0] and j < x.shape[1]:
        x[i, j] += 1


# --- arrays ----------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("shape, dtype, strides, order", [
    (7, np.float64, None, "C"), ((3, 4), np.int16, None, "F"), ((), np.int64, None, "C"),
    ((2, 3), np.int32, (64, 8), "C"), ((2, 0, 3), np.float32, None, "C"),
    ((2, 3, 4), np.dtype([("a", "i4"), ("b", "f8")], align=True), None, "F"),
])
def test_they_are_numpy_arrays_of_any_shape(make, shape, dtype, strides, order):
    array = make(shape, dtype, strides=strides, order=order)
    expected = np.empty(shape, dtype, order=order)
    assert isinstance(array, np.ndarray)
    assert (array.shape, array.dtype) == (expected.shape, expected.dtype)
    assert array.strides == (strides or expected.strides)
    assert array.flags.writeable and array.flags.aligned
    array[...] = np.zeros((), dtype)
    assert not array.view(np.ndarray).any() if array.dtype.names is None else (array["a"] == 0).all()


@pytest.mark.parametrize("make", MAKERS)
def test_memory_lives_as_long_as_a_view_of_it(make):
    part = make((100, 100), np.int32)[::2, 1:]
    part[:] = 5
    others = [make((100, 100), np.int32) for _ in range(4)]
    for other in others:
        other[:] = 9
    assert (part == 5).all()


@pytest.mark.parametrize("make", MAKERS)
def test_what_is_refused(make):
    with pytest.raises(TypeError, match="objects"):
        make(3, object)
    with pytest.raises(errors.DeviceMemoryError, match="cannot allocate"):
        make(1 << 58, np.int8)
    with pytest.raises(ValueError, match="order"):
        make(3, order="K")


@pytest.mark.parametrize("make", [cuda.mapped_array, cuda.managed_array])
def test_kernels_work_on_mapped_arrays_in_place(make):
    array = make((6, 9), np.float64)
    array[:] = np.arange(54).reshape(6, 9)
    affine[1, 64](array, 2, 1)
    cuda.synchronize()
    np.testing.assert_array_equal(np.array(array), 2 * np.arange(54).reshape(6, 9) + 1)
    add_one[(1, 1), (8, 16)](array[1::2, 3:].T[::-1])
    cuda.synchronize()
    expected = 2 * np.arange(54.0).reshape(6, 9) + 1
    expected[1::2, 3:] += 1
    np.testing.assert_array_equal(np.array(array), expected)
    view = cuda.as_cuda_array(array[2])
    assert isinstance(view, DeviceNDArray)
    view[:] = 4
    cuda.synchronize()
    assert (np.array(array[2]) == 4).all()
    array.copy_to_device(np.zeros((6, 9)))
    assert not array.copy_to_host().any()


def test_wide_and_streams_of_mapped_arrays():
    stream = cuda.stream()
    array = cuda.mapped_array(1000, np.float32, stream=stream, wc=True, portable=True)
    array[:] = 1
    assert array[3:].stream is stream
    assert array[3:].__cuda_array_interface__["data"][0] == array.__cuda_array_interface__["data"][0] + 12
    for k in range(3):
        affine[8, 128, stream](array, 3, k)
    stream.synchronize()
    assert (np.array(array) == 1 * 27 + 0 * 9 + 1 * 3 + 2).all()


def test_what_numpy_makes_of_a_mapped_array_is_a_host_array():
    array = cuda.mapped_array(5, np.int64)
    array[:] = range(5)
    doubled = array * 2
    assert not hasattr(doubled, "__cuda_array_interface__")
    affine[1, 8](doubled, 1, 1)
    np.testing.assert_array_equal(doubled, 2 * np.arange(5) + 1)
    np.testing.assert_array_equal(array, np.arange(5))


def test_mapped_arrays_of_records():
    pair = np.dtype([("count", np.int32), ("sum", np.float64)], align=True)

    @cuda.jit
    def fill(x):
        i = cuda.grid(1)
        if i < x.size:
            x[i].count = i
            x[i].sum = i / 2

    array = cuda.mapped_array(20, pair)
    fill[1, 32](array)
    cuda.synchronize()
    np.testing.assert_array_equal(array["count"], np.arange(20))
    np.testing.assert_array_equal(array["sum"], np.arange(20) / 2)


def test_padding_of_records_in_the_array_interface():
    padded = np.dtype([("flag", np.int8), ("value", np.float64), ("tail", np.int16)], align=True)
    data = np.zeros(5, padded)
    data["value"], data["tail"] = range(5), range(5, 10)
    on_device = cuda.to_device(data)
    foreign = type("Foreign", (), {"__cuda_array_interface__": on_device.__cuda_array_interface__})()
    again = cuda.as_cuda_array(foreign)
    assert again.dtype == padded

    @cuda.jit
    def double(x):
        x[cuda.grid(1)].value *= 2

    double[1, 5](foreign)
    np.testing.assert_array_equal(on_device.copy_to_host()["value"], 2 * np.arange(5))
    np.testing.assert_array_equal(on_device.copy_to_host()["tail"], np.arange(5, 10))


# --- page-locking ----------------------------------------------------------------------------------------------------

def test_contexts_lock_memory_of_any_strides():
    whole = np.arange(200.0).reshape(10, 20)
    with cuda.mapped(whole[::-2, 3:]) as view:
        assert (view.shape, view.strides) == ((5, 17), (-320, 8))
        add_one[(1, 1), (8, 32)](view)
    expected = np.arange(200.0).reshape(10, 20)
    expected[::-2, 3:] += 1
    np.testing.assert_array_equal(whole, expected)


def test_contexts_unlock_after_an_error():
    array = np.arange(1000)
    for context in (cuda.pinned, cuda.mapped):
        with pytest.raises(ZeroDivisionError), context(array, np.empty(0)):
            raise ZeroDivisionError
    with cuda.pinned(array):
        assert (cuda.to_device(array).copy_to_host() == array).all()
    read_only = np.arange(10)
    read_only.flags.writeable = False
    with cuda.mapped(read_only) as view, pytest.raises(Exception, match="read-only|readonly"):
        affine[1, 32](view, 1, 1)


@pytest.mark.gpu
def test_memory_is_locked_once():
    array = np.arange(1000)
    with cuda.pinned(array), pytest.raises(errors.CudaAPIError, match="ALREADY_REGISTERED"), cuda.pinned(array):
        pass
    with cuda.pinned(array):
        pass


# --- large copies ----------------------------------------------------------------------------------------------------

SIZES = [(16 << 20) - 1, 16 << 20, (16 << 20) + 1, (18 << 20) + 4097, 37_000_001]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("with_stream", [False, True])
def test_large_copies_arrive_whole(size, with_stream):
    stream = cuda.stream() if with_stream else 0
    data = np.random.default_rng(size).integers(0, 256, size, np.uint8)
    on_device = cuda.to_device(data, stream)
    data_then = data.copy()
    if with_stream:
        data[:] = 0     # the copy has left the array
    affine[(size + 255) // 256, 256, stream](on_device, 3, 1)
    np.testing.assert_array_equal(on_device.copy_to_host(stream=stream), data_then * np.uint8(3) + np.uint8(1))


def test_large_copies_between_pinned_memory():
    source, target = cuda.pinned_array(5 << 20, np.float32), cuda.pinned_array(5 << 20, np.float32)
    source[:] = np.arange(5 << 20)
    target[:] = -1
    stream = cuda.stream()
    cuda.to_device(source, stream).copy_to_host(target, stream)
    stream.synchronize()
    np.testing.assert_array_equal(source, target)


def test_large_copies_of_threads_at_the_same_time():
    problems = []

    def work(k):
        data = np.random.default_rng(k).integers(0, 1 << 60, (18 << 17) + k)
        stream = cuda.stream()
        for step in range(3):
            on_device = cuda.to_device(data, stream)
            affine[(data.size + 255) // 256, 256, stream](on_device, 1, step)
            if not (on_device.copy_to_host(stream=stream) == data + step).all():
                problems.append((k, step))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not problems


@pytest.mark.gpu
def test_a_large_copy_reports_what_went_wrong_before():
    code = """
import numpy as np
from cujit import cuda, errors

@cuda.jit
def kernel(x):
    x[1 << 40] = 1

x = cuda.to_device(np.zeros(4 << 20, np.int64))
kernel[1, 1](x)
try:
    x.copy_to_host()
except errors.CudaAPIError as error:
    print("said:", error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100)
    assert "said:" in done.stdout and "ILLEGAL_ADDRESS" in done.stdout, done.stderr


@pytest.mark.parametrize("make, kind", [(cuda.mapped_array, 3), (cuda.managed_array, 13)])
def test_dlpack(make, kind):
    array = make(4, np.float32)
    array[:] = range(4)
    on_gpu = cuda.get_current_device().kind == "cuda"
    assert array.__dlpack_device__() == ((kind, 0) if on_gpu else (1, 0))
    theirs = np.from_dlpack(array)
    assert theirs.tolist() == [0, 1, 2, 3] and theirs.ctypes.data == array.ctypes.data
    ours = cuda.from_dlpack(array)
    assert ours.copy_to_host().tolist() == [0, 1, 2, 3]
    assert (array * 2).__dlpack_device__() == (1, 0)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint64, np.int8, np.int32])
def test_assigned_integers_wrap_as_in_kernels(dtype):
    """numba-cuda converts what is assigned in a kernel, and programs fill unsigned arrays with -1."""
    array = cuda.device_array(4, dtype)
    array[:] = -1
    array[1] = 300
    array[2:] = [-2, 1 << 40]
    want = np.array([-1, 300, -2, 1 << 40]).astype(dtype)
    assert (array.copy_to_host() == want).all()
    with pytest.raises((OverflowError, ValueError)):
        array[:] = 10 ** 30
