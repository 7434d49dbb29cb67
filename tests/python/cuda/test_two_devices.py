"""Two GPUs over the fake driver of the C tests, whose memory is the host's and whose kernels do nothing: where
launches, functions over arrays and copies go, and what is refused. test_several_devices.py has real ones."""
import pytest

BEGIN = """
import ctypes, os
import numpy as np
from cujit import cuda, errors, guvectorize, vectorize

library = ctypes.CDLL(os.environ["CUJIT_DRIVER_LIBRARY"])

class FakeDriver(ctypes.Structure):
    _fields_ = [("fail", ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_int, ctypes.c_int)),
                ("calls", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p)),
                ("alive", ctypes.c_void_p), ("last_launch", ctypes.CFUNCTYPE(ctypes.c_void_p)),
                ("max_registers", ctypes.c_void_p), ("attribute", ctypes.c_void_p),
                ("launch_context", ctypes.CFUNCTYPE(ctypes.c_uint64))]

driver = FakeDriver.in_dll(library, "fake_driver")

def calls(name):
    return driver.calls(name.encode())

def launched_on():
    return driver.launch_context() // 0x1000 - 10   # the fake's contexts are numbers

def on_device(number, host=(1, 2, 3, 4)):
    with cuda.gpus[number]:
        return cuda.to_device(np.array(host, np.float32))

class Foreign:   # another library's array
    def __init__(self, array):
        self.array = array
        self.__cuda_array_interface__ = {"version": 3, "shape": array.shape, "typestr": "<f4", "strides": None,
                                         "data": (array.pointer, False)}

def refused(call, *texts):
    try:
        call()
    except errors.LaunchArgumentError as error:
        for text in texts:
            assert text in str(error), error
        return
    raise AssertionError("the call went through")

@cuda.jit
def add(x, y):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += y[i]

d0, d1, e1 = on_device(0), on_device(1), on_device(1)
"""


@pytest.fixture
def with_two_devices(fake_driver, run_python):
    def run(program, **environment):
        environment = {"CUJIT_DRIVER_LIBRARY": fake_driver, "CUJIT_DEVICE": "cuda", **environment}
        return run_python(BEGIN + program, **environment)

    return run


def test_a_launch_runs_where_its_arguments_are(with_two_devices):
    with_two_devices("""
assert cuda.get_current_device().id == 0
for x, y, home in [(d1, e1, 1), (d0, d0, 0), (d1, e1, 1), (Foreign(d1), e1, 1), (Foreign(d0), Foreign(d0), 0)] * 2:
    add[1, 4](x, y)
    assert launched_on() == home
add[1, 4](d1, np.ones(4, np.float32))      # a host array goes there, too
assert launched_on() == 1
add[1, 4](np.ones(4, np.float32), np.ones(4, np.float32))
assert launched_on() == 0

@cuda.jit
def of_tuple(pair):
    pair[0][0] = pair[1][0]

of_tuple[1, 1]((d1, e1))
assert launched_on() == 1
""")


def test_arguments_on_two_devices_are_an_error_before_the_launch(with_two_devices):
    with_two_devices("""
refused(lambda: add[1, 4](d0, d1), "'add'", "'x' is on GPU 0", "'y' is on GPU 1", "copy_to_device",
        "cuda.gpus[0].enable_peer_access(cuda.gpus[1])")
refused(lambda: add[1, 4](Foreign(d1), d0), "'x' is on GPU 1", "'y' is on GPU 0")
add[1, 4](d0, d0)
refused(lambda: add[1, 4](d0, Foreign(d1)))
with cuda.gpus[0]:
    refused(lambda: add[1, 4](d1, e1), "'add' is to run on GPU 0", "'x' is on GPU 1", "with cuda.gpus[1]:")
    stream = cuda.stream()
refused(lambda: add[1, 4, stream](d1, e1), "'add' is to run on GPU 0")
assert calls("cuLaunchKernel") == 1
add[1, 4](d1, e1)
assert launched_on() == 1
""")


def test_a_stream_is_a_choice(with_two_devices):
    with_two_devices("""
with cuda.gpus[1]:
    stream = cuda.stream()
add[1, 4, stream](d1, e1)
assert launched_on() == 1
add[1, 4, stream](np.ones(4, np.float32), e1)
assert launched_on() == 1
add[1, 4, int(stream)](d1, e1)     # as of another library: it says nothing
assert launched_on() == 1
""")


def test_peers_reach_each_other(with_two_devices):
    with_two_devices("""
assert cuda.gpus[0].can_access_peer(cuda.gpus[1]) and not cuda.gpus[0].can_access_peer(cuda.gpus[0])
assert cuda.current_context(1).can_access_peer(0)
cuda.current_context(1).enable_peer_access(cuda.current_context(0))
cuda.gpus[1].enable_peer_access(cuda.gpus[0])   # again
add[1, 4](d0, d1)
assert launched_on() == 1
with cuda.gpus[1]:
    add[1, 4](d0, d0)
    assert launched_on() == 1
with cuda.gpus[0]:
    refused(lambda: add[1, 4](d1, e1))
add[1, 4](d0, d0)
assert launched_on() == 0
""")


def test_hardware_without_peers(with_two_devices):
    with_two_devices("""
assert not cuda.gpus[0].can_access_peer(cuda.gpus[1])
try:
    cuda.gpus[0].enable_peer_access(cuda.gpus[1])
    raise AssertionError
except ValueError as error:
    assert "Fake GPU 0 and Fake GPU 1" in str(error)
""", FAKE_DRIVER_PEERS="0")


def test_copies_between_devices(with_two_devices):
    with_two_devices("""
d1.copy_to_device(d0)
assert calls("cuMemcpyPeer") == 1
d0.copy_to_device(on_device(1, (5, 6, 7, 8)))
assert d0.copy_to_host().tolist() == [5, 6, 7, 8]
with cuda.gpus[1]:
    stream = cuda.stream()
d1.copy_to_device(d0, stream=stream)
assert calls("cuMemcpyPeerAsync") == 1
assert d1.copy_to_host().tolist() == [5, 6, 7, 8] and d1[2] == 7
with cuda.gpus[0]:
    other = cuda.stream()
waits = calls("cuStreamSynchronize")
assert d1.copy_to_host(stream=other).tolist() == [5, 6, 7, 8]    # the stream's context need not reach d1
assert calls("cuStreamSynchronize") == waits + 2 and calls("cuMemcpyDtoHAsync") == 0
d1[:] = on_device(0, (1, 1, 2, 2))
d1[1] = 9
assert d1.copy_to_host().tolist() == [1, 9, 2, 2]
d1[::2] = on_device(0)[::2]      # by kernels, which only launch here
assert launched_on() == 1
assert cuda.as_cuda_array(Foreign(d1)).device.id == 1
""")


def test_functions_over_arrays_run_where_the_arrays_are(with_two_devices):
    with_two_devices("""
@vectorize(["float32(float32, float32)"])
def plus(x, y):
    return x + y

@guvectorize(["void(float32[:], float32[:])"], "(n)->()")
def total(x, out):
    out[0] = x[0]

fold = cuda.reduce(lambda a, b: a + b)
for x, home in [(d1, 1), (d0, 0), (Foreign(d1), 1), (d1, 1), (d0, 0)]:
    result = plus(x, x)
    assert launched_on() == result.device.id == home
    assert plus(np.ones(4, np.float32), x).device.id == home
    result = total(x)
    assert launched_on() == result.device.id == home
    fold(x)
    assert launched_on() == home
for call in (lambda: plus(d0, d1), lambda: total(d0, out=on_device(1, [0])), lambda: fold(d0, res=d1)):
    refused(call, "argument 1 is on GPU 0", "is on GPU 1")
with cuda.gpus[0]:
    refused(lambda: plus(d1, d1), "'plus' is to run on GPU 0", "argument 1 is on GPU 1")
""")


def test_arrays_that_a_kernel_names(with_two_devices):
    with_two_devices("""
@cuda.jit
def named(x):
    x[0] = d1[0]

named[1, 1](e1)
assert launched_on() == 1
refused(lambda: named[1, 1](d0), "'x' is on GPU 0", "an array that it names is on GPU 1")
""")


def test_a_kernel_is_compiled_once_and_loaded_on_each(with_two_devices):
    output = with_two_devices("""
os.dup2(1, 2)   # where dumps go
add[1, 4](d0, on_device(0))
add[1, 4](d1, e1)
assert calls("cuLibraryLoadData") == 2
""", CUJIT_DUMP="ir")
    assert output.count("kernel add(") == 1


def test_close_says_what_broke_the_context_and_forgets_the_device(with_two_devices):
    with_two_devices("""
cuda.select_device(1)
add[1, 4](d1, e1)
driver.fail(b"cuCtxSynchronize", 1, 700)
try:
    cuda.close()
except errors.CudaAPIError as error:
    for text in ("cuCtxSynchronize failed", "synchronization: add", "CUJIT_CHECK=bounds", "start it again"):
        assert text in str(error), error
else:
    raise AssertionError("no error")
assert cuda.gpus.current is None
assert cuda.get_current_device().id == 0
""")


def test_devices_of_threads(with_two_devices):
    with_two_devices("""
import threading
homes = {}

def work(number):
    cuda.select_device(number)
    with cuda.gpus[1 - number]:
        homes[number, "inside"] = cuda.to_device([1.0]).device.id
    homes[number] = cuda.to_device([1.0]).device.id
    cuda.close()
    homes[number, "closed"] = cuda.to_device([1.0]).device.id

for number in (0, 1):
    thread = threading.Thread(target=work, args=(number,))
    thread.start()
    thread.join()
assert homes == {0: 0, 1: 1, (0, "inside"): 1, (1, "inside"): 0, (0, "closed"): 0, (1, "closed"): 0}
assert cuda.to_device([1.0]).device.id == 0
""")


def test_synchronize_waits_for_all_where_none_was_chosen(with_two_devices):
    with_two_devices("""
before = calls("cuCtxSynchronize")
cuda.synchronize()
assert calls("cuCtxSynchronize") == before + 2
with cuda.gpus[1]:
    cuda.synchronize()
assert calls("cuCtxSynchronize") == before + 3
""")


def test_the_drivers_current_context_follows(with_two_devices):
    """Other libraries take memory on it."""
    with_two_devices("""
def context():
    current = ctypes.c_void_p()
    library.cuCtxGetCurrent(ctypes.byref(current))
    return current.value or 0

library.cuCtxSetCurrent(None)
add[1, 4](d1, e1)
assert launched_on() == 1 and context() == 0
with cuda.gpus[1]:
    assert context() == cuda.current_context().handle == 0x1000 * 11
    with cuda.gpus[0]:
        assert context() == cuda.current_context().handle == 0x1000 * 10
    assert context() == 0x1000 * 11
assert context() == 0
cuda.select_device(1)
assert context() == 0x1000 * 11
""")


def test_arrays_for_other_processes(with_two_devices):
    """The fake opens its own handles."""
    with_two_devices("""
import pickle
before = d1.pointer
handle = d1.get_ipc_handle()
assert d1.pointer != before and d1.copy_to_host().tolist() == [1, 2, 3, 4]    # it has left the pool
moved = d1.pointer
assert d1[1:].get_ipc_handle()._ipc_handle.offset == 4 and d1.pointer == moved
there = pickle.loads(pickle.dumps(handle))
with there as array:
    assert array.device.id == 1 and array.pointer == d1.pointer and array.shape == (4,)
    assert array.copy_to_host().tolist() == [1, 2, 3, 4]
    try:
        there.open()
        raise AssertionError
    except ValueError as error:
        assert "open already" in str(error)
assert calls("cuIpcCloseMemHandle") == 1
with cuda.gpus[1], cuda.open_ipc_array(handle._ipc_handle.handle, 2, np.float32, offset=8) as array:
    assert array.copy_to_host().tolist() == [3, 4]
try:
    handle.open()
    raise AssertionError
except ValueError as error:
    assert "in another process" in str(error)
view = e1[1:]
for known in (e1, Foreign(d0).array):
    if known is d0:
        known.__cuda_array_interface__
    try:
        known.get_ipc_handle()
        raise AssertionError
    except errors.CudaAPIError as error:
        assert "while no view, library or kernel knows its address" in str(error)
del view
assert e1.get_ipc_handle() and e1.copy_to_host().tolist() == [1, 2, 3, 4]
there._ipc_handle.source_info["pciBusID"] = 99
try:
    there.open()
    raise AssertionError
except RuntimeError as error:
    assert "does not see the device" in str(error)
""")


def test_memory_managers_of_each_device(with_two_devices):
    with_two_devices("""
from cujit import _core

class Manager(cuda.GetIpcHandleMixin, cuda.HostOnlyCUDAMemoryManager):
    interface_version = 1

    def initialize(self):
        self.contexts = []

    def get_memory_info(self):
        raise NotImplementedError

    def memalloc(self, size):
        current = ctypes.c_void_p()
        library.cuCtxGetCurrent(ctypes.byref(current))
        self.contexts.append(current.value)
        held = [_core.DeviceBuffer(size, is_shared=True)]
        return cuda.MemoryPointer(self.context, held[0].pointer, size, finalizer=held.clear)

cuda.set_memory_manager(Manager)
for number in (0, 1):
    with cuda.gpus[number]:
        x = cuda.to_device([1.0])
        manager = cuda.current_context().memory_manager
        assert manager.context.device.id == x.device.id == number and set(manager.contexts) == {0x1000 * (number + 10)}
        add[1, 1](np.ones(1, np.float32), x)      # the host array's copy on the device is the manager's, too
        assert len(manager.contexts) == 2
cuda.set_memory_manager(None)
""")


def test_what_dlpack_says_of_the_device_is_not_asked_of_the_driver(with_two_devices):
    with_two_devices("""
class Other:
    def __init__(self, array):
        self.__dlpack__, self.__dlpack_device__ = array.__dlpack__, array.__dlpack_device__

def asked():
    return calls("cuPointerGetAttribute") + calls("cuPointerGetAttributes")

with cuda.gpus[1]:
    add[1, 4](Other(d1), Other(e1))
    before = asked()
    add[1, 4](Other(d1), Other(e1))
    assert asked() == before and launched_on() == 1
    add[1, 4](Foreign(d1), Foreign(on_device(1)))   # the array interface does not say it
    assert asked() > before
add[1, 4](Other(d1), Other(e1))
assert launched_on() == 1
""")
