"""Arrays that go to other processes by their handles."""
import gc
import multiprocessing
import os
import pickle

import numpy as np
import pytest

from cujit import cuda, errors

pytestmark = pytest.mark.filterwarnings("ignore::cujit.errors.PerformanceWarning")


@cuda.jit
def add_one(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += 1


def in_other_process(function, *args):
    """What the function returns there."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        return pool.apply(function, args)


def change(handle):
    with handle as array:
        before = array.copy_to_host()
        add_one[4, 256](array)
        cuda.synchronize()
    return before, array.shape, array.device.id


def test_an_array_of_another_process():
    host = np.arange(1000, dtype=np.float32)
    array = cuda.to_device(host)
    handle = array.get_ipc_handle()
    before, shape, device = in_other_process(change, handle)
    np.testing.assert_array_equal(before, host)
    assert shape == (1000,) and device == array.device.id
    np.testing.assert_array_equal(array.copy_to_host(), host + 1)
    in_other_process(change, array.get_ipc_handle())
    np.testing.assert_array_equal(array.copy_to_host(), host + 2)


def change_slowly(handle):
    array = handle.open()
    for _ in range(2):
        try:
            handle.open()
        except ValueError as error:
            text = str(error)
    view = array[1:]
    add_one[4, 256](view)
    cuda.synchronize()
    handle.close()
    try:
        handle.close()
    except ValueError as error:
        text += str(error)
    return text


def test_views_and_layouts():
    host = np.asfortranarray(np.arange(24, dtype=np.int64).reshape(4, 6))
    array = cuda.to_device(host)
    array.get_ipc_handle()
    before, _, _ = in_other_process(change_matrix, array[1:3].get_ipc_handle())
    np.testing.assert_array_equal(before, host[1:3])
    expected = host.copy()
    expected[1:3] += 1
    np.testing.assert_array_equal(array.copy_to_host(), expected)


@cuda.jit
def add_one_2d(x):
    i, j = cuda.grid(2)
    if i < x.shape[0] and j < x.shape[1]:
        x[i, j] += 1


def change_matrix(handle):
    with handle as array:
        before = array.copy_to_host()
        add_one_2d[(1, 1), (16, 16)](array)
        cuda.synchronize()
    return before, array.shape, array.strides


def test_opening_twice_and_closing_twice():
    array = cuda.to_device(np.zeros(100))
    assert in_other_process(change_slowly, array.get_ipc_handle()) == (
        "this IpcHandle is open alreadythis IpcHandle is not open")
    assert array.copy_to_host().sum() == 99
    with pytest.raises(ValueError, match="in another process"):
        array.get_ipc_handle().open()


def open_by_bytes(handle, shape, offset):
    with cuda.open_ipc_array(handle, shape, np.float32, offset=offset) as array:
        return array.copy_to_host()


def test_by_the_drivers_handle():
    array = cuda.to_device(np.arange(100, dtype=np.float32))
    handle = array.get_ipc_handle()._ipc_handle
    got = in_other_process(open_by_bytes, bytes(handle.handle), (10, 5), handle.offset + 200)
    np.testing.assert_array_equal(got, np.arange(50, 100, dtype=np.float32).reshape(10, 5))
    memory = cuda.current_context().memalloc(400)
    cuda.cudadrv.driver.host_to_device(memory, np.arange(100, dtype=np.float32), 400)
    handle = cuda.current_context().get_ipc_handle(memory)
    got = in_other_process(open_by_bytes, bytes(handle.handle), 100, handle.offset)
    np.testing.assert_array_equal(got, np.arange(100, dtype=np.float32))


def make_and_go(path):
    array = cuda.to_device(np.arange(10))
    with open(path, "wb") as file:
        pickle.dump(array.get_ipc_handle(), file)
    os._exit(0)


def test_a_handle_of_a_process_that_has_ended(tmp_path):
    process = multiprocessing.get_context("spawn").Process(target=make_and_go, args=(tmp_path / "handle",))
    process.start()
    process.join()
    handle = pickle.loads((tmp_path / "handle").read_bytes())
    with pytest.raises(errors.CudaAPIError, match="the process that made it has ended"):
        handle.open()
    assert cuda.to_device(np.arange(3)).copy_to_host().tolist() == [0, 1, 2]


def test_memory_whose_address_is_known(run_python):
    """In a process of its own: where streams that wait for nobody have been used, arrays are not of the pool."""
    run_python("""
import gc
import numpy as np
from cujit import cuda, errors

def refused(array):
    try:
        array.get_ipc_handle()
    except errors.CudaAPIError as error:
        assert "of a pool" in str(error) and "while no view, library or kernel knows its address" in str(error)
        return True

array = cuda.to_device(np.arange(10))
view = array[2:]
assert refused(array)
del view
gc.collect()
array.get_ipc_handle()
given = cuda.to_device(np.arange(10))
assert given.__cuda_array_interface__ and refused(given)
named = cuda.to_device(np.arange(10))

@cuda.jit
def copy(out):
    out[0] = named[3]

copy[1, 1](cuda.to_device(np.zeros(1, np.int64)))
assert refused(named)
""")


@pytest.mark.several_devices
def test_of_the_second_device():
    with cuda.gpus[1]:
        array = cuda.to_device(np.arange(100, dtype=np.float32))
    before, _, device = in_other_process(change, array.get_ipc_handle())
    assert device == 1 and before.sum() == 4950
    assert array.copy_to_host().sum() == 5050


@pytest.mark.skipif(cuda.get_current_device().kind == "cuda", reason="a GPU's driver says it in its own words")
def test_refusals_of_the_cpu_device():
    array = cuda.to_device(np.arange(10))
    handle = bytes(array.get_ipc_handle()._ipc_handle.handle)
    with pytest.raises(errors.CudaAPIError, match="no IPC handle of a CPU device"), \
         cuda.open_ipc_array(bytes(64), 4, np.int8):
        pass
    with pytest.raises(errors.CudaAPIError, match="in another process"), cuda.open_ipc_array(handle, 4, np.int8):
        pass
    with pytest.raises(ValueError, match="64 bytes, not 3"), cuda.open_ipc_array(b"abc", 4, np.int8):
        pass
    context = cuda.current_context()
    with pytest.raises(errors.CudaAPIError, match="of a pool or of the host"):
        context.get_ipc_handle(context.memhostalloc(64, mapped=True))


def freed(handle):
    try:
        handle.open()
    except errors.CudaAPIError as error:
        return str(error)


def test_memory_that_was_freed():
    """Of 8 MiB: small ones are parts of a GPU driver's blocks, whose handles are good while any part is used."""
    array = cuda.to_device(np.arange(1 << 20))
    handle = array.get_ipc_handle()
    stale = pickle.dumps(handle)
    del array, handle
    gc.collect()
    assert "the process that made it has ended" in in_other_process(freed, pickle.loads(stale))


def test_many_arrays_and_their_sums():
    """Handles do not use the process up, and what is written on either side is seen on the other one."""
    arrays = [cuda.to_device(np.full(3000, k)) for k in range(40)]
    sums = in_other_process(sums_of, [array.get_ipc_handle() for array in arrays])
    assert sums == [3000 * k for k in range(40)]


def sums_of(handles):
    sums = []
    for handle in handles:
        with handle as array:
            sums.append(int(array.copy_to_host().sum()))
    return sums
