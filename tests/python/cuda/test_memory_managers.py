"""Memory as an object, managers of it, and what they are told, on the device at hand. RMM's and CuPy's are tried in
tests/gpu/test_foreign_memory_managers.py."""
import ctypes

import numpy as np
import pytest

from cujit import _core, cuda, errors, vectorize
from cujit.cuda.cudadrv import driver


@cuda.jit
def double(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= 2


class CountingManager(cuda.GetIpcHandleMixin, cuda.HostOnlyCUDAMemoryManager):
    """The driver's memory, counted."""

    made = []

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.sizes, self.freed, self.initialized = [], 0, 0
        self.made.append(self)

    def initialize(self):
        self.initialized += 1

    def memalloc(self, size):
        if size == 1313:
            raise MemoryError("an unlucky number")
        buffer = [_core.DeviceBuffer(size, is_shared=True)]
        pointer = ctypes.c_uint64(buffer[0].pointer)   # as numba's own have them
        self.sizes.append(size)
        self.allocations[pointer.value] = buffer

        def free():
            self.freed += 1
            del self.allocations[pointer.value]

        return cuda.MemoryPointer(self.context, pointer, size, finalizer=free)

    def get_memory_info(self):
        return cuda.MemoryInfo(free=5, total=7)

    @property
    def interface_version(self):
        return 1


@pytest.fixture
def manager():
    cuda.set_memory_manager(CountingManager)
    yield cuda.current_context().memory_manager
    cuda.set_memory_manager(None)


def test_arrays_come_from_the_manager(manager):
    assert isinstance(manager, CountingManager) and manager.initialized == 1
    assert manager.context == cuda.current_context() and cuda.current_context().memory_manager is manager
    before, freed = len(manager.sizes), manager.freed
    x = cuda.to_device(np.arange(10, dtype=np.float32))
    assert manager.sizes[before:] == [40] and len(manager.allocations) == 1
    double[1, 16](x)
    part = x[4:]
    del x
    assert manager.freed == freed
    np.testing.assert_array_equal(part.copy_to_host(), 2 * np.arange(4, 10))
    del part
    assert manager.freed == freed + 1 and not manager.allocations


def test_all_device_memory_is_the_managers(manager):
    before = len(manager.sizes)

    @vectorize
    def plus(x, y):
        return x + y

    x = cuda.device_array(100)
    plus(x, x)
    cuda.reduce(lambda a, b: a + b)(x)
    assert len(manager.sizes) >= before + 3
    count = len(manager.sizes)
    assert cuda.current_context().memalloc(24).size == 24 and manager.sizes[count:] == [24]
    cuda.device_array(0)
    assert len(manager.sizes) == count + 1
    assert cuda.current_context().get_memory_info() == (5, 7)


def test_freeing_waits_where_it_is_deferred(manager):
    freed = manager.freed
    with cuda.defer_cleanup():
        cuda.device_array(4)
        assert manager.freed == freed
    assert manager.freed == freed + 1


def test_what_a_manager_raises(manager):
    with pytest.raises(errors.DeviceMemoryError, match="1313 bytes.*MemoryError: an unlucky number"):
        cuda.device_array(1313, np.uint8)
    assert cuda.to_device([1.0]).copy_to_host() == 1


def test_memory_stays_its_managers():
    own = cuda.to_device([1.0])
    cuda.set_memory_manager(CountingManager)
    try:
        manager = cuda.current_context().memory_manager
        freed = manager.freed
        theirs = cuda.to_device([2.0])
        del own
    finally:
        cuda.set_memory_manager(None)
    assert manager.freed == freed and theirs.copy_to_host() == 2
    del theirs
    assert manager.freed == freed + 1


def test_a_manager_of_one_device():
    context = cuda.current_context()
    own = context.memory_manager
    context.memory_manager = manager = CountingManager(context=context)
    try:
        assert cuda.current_context().memory_manager is manager and manager.initialized == 1
        x = cuda.to_device([1.0])
        assert manager.sizes == [8]
        del x
        context.reset()
    finally:
        context.memory_manager = own
    assert manager.freed == 1 and context.memory_manager is own
    cuda.to_device([1.0])
    assert manager.sizes == [8]


def test_managers_that_are_none():
    class Newer(CountingManager):
        interface_version = 2

    with pytest.raises(RuntimeError, match="version 2 of the interface: version 1 required"):
        cuda.set_memory_manager(Newer)
    with pytest.raises(RuntimeError, match="with a context"):
        CountingManager()
    with pytest.raises(TypeError, match="abstract"):
        cuda.HostOnlyCUDAMemoryManager(context=None)
    assert not isinstance(cuda.current_context().memory_manager, CountingManager)


def test_a_manager_of_the_environment(run_python, tmp_path):
    (tmp_path / "counting_memory.py").write_text("""
from cujit import _core, cuda

class Manager(cuda.GetIpcHandleMixin, cuda.HostOnlyCUDAMemoryManager):
    interface_version = 1
    sizes = []

    def initialize(self):
        pass

    def get_memory_info(self):
        raise NotImplementedError

    def memalloc(self, size):
        self.sizes.append(size)
        held = [_core.DeviceBuffer(size, is_shared=True)]
        return cuda.MemoryPointer(self.context, held[0].pointer, size, finalizer=held.clear)

_numba_memory_manager = Manager
""")
    program = """
import sys
sys.path.insert(0, sys.argv[1])
from cujit import cuda, errors
try:
    print(cuda.to_device([1.0, 2.0]).copy_to_host(), sys.modules["counting_memory"].Manager.sizes)
    cuda.current_context().get_memory_info()
except (errors.DeviceMemoryError, NotImplementedError) as error:
    print(type(error).__name__, error)
"""
    for variable in ("CUJIT_MEMORY_MANAGER", "NUMBA_CUDA_MEMORY_MANAGER"):
        assert run_python(program, tmp_path, **{variable: "counting_memory"}) == (
            "[1. 2.] [16]\nNotImplementedError \n")
    assert "no memory manager from module 'absent_memory'" in run_python(
        program, tmp_path, CUJIT_MEMORY_MANAGER="absent_memory")


class OwnHostMemory(cuda.BaseCUDAMemoryManager):
    """Has host memory of its own, too."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.asked = []

    def default(self):
        from cujit.cuda._memory.memory_managers import DriverMemoryManager

        return DriverMemoryManager(context=self.context)

    def memalloc(self, size):
        return self.default().memalloc(size)

    def memhostalloc(self, size, mapped, portable, wc):
        self.asked.append((size, mapped, wc))
        return self.default().memhostalloc(size, mapped, portable, wc)

    def memallocmanaged(self, size, attach_global):
        self.asked.append((size, "managed"))
        return self.default().memallocmanaged(size, attach_global)

    def mempin(self, owner, pointer, size, mapped):
        return self.default().mempin(owner, pointer, size, mapped)

    def initialize(self):
        pass

    def get_ipc_handle(self, memory):
        raise NotImplementedError

    def get_memory_info(self):
        raise NotImplementedError

    def reset(self):
        pass

    def defer_cleanup(self):
        return cuda.defer_cleanup()

    interface_version = 1


def test_host_memory_of_a_manager():
    cuda.set_memory_manager(OwnHostMemory)
    try:
        pinned, mapped = cuda.pinned_array(4), cuda.mapped_array(4, wc=True)
        managed = cuda.managed_array(4)
        assert cuda.current_context().memory_manager.asked == [(32, True, False), (32, True, True), (32, "managed")]
    finally:
        cuda.set_memory_manager(None)
    pinned[:] = mapped[:] = managed[:] = 3
    for array in (mapped, managed):
        double[1, 4](array)
        cuda.synchronize()
        assert array.tolist() == [6, 6, 6, 6]


# --- memory as an object ---------------------------------------------------------------------------------------------

def test_memory_of_a_context():
    memory = cuda.current_context().memalloc(64)
    host = np.arange(16, dtype=np.float32)
    driver.host_to_device(memory, host, 64)
    back = np.zeros(16, np.float32)
    driver.device_to_host(back, memory, 64)
    np.testing.assert_array_equal(back, host)
    memory.view(8, 16).memset(0)
    driver.device_memset(memory.view(60), 0, 4)
    driver.device_to_host(back.ctypes.data, memory, 64)
    np.testing.assert_array_equal(back, np.where(np.isin(np.arange(16), (2, 3, 15)), 0, host))
    array = cuda.cudadrv.devicearray.DeviceNDArray((16,), (4,), np.float32, gpu_data=memory)
    double[1, 16](array)
    assert array[1] == 2 and array.gpu_data is memory
    x = cuda.to_device(np.zeros(16, np.float32))
    driver.device_to_device(x, memory, 64)
    np.testing.assert_array_equal(x.copy_to_host(), 2 * back)
    start, end = driver.device_extents(memory.view(8))
    assert (start, end) == (memory.pointer, memory.pointer + 64)
    assert driver.device_memory_size(x) == driver.device_memory_size(memory) == 64
    assert driver.is_device_memory(memory) and driver.is_device_memory(x) and not driver.is_device_memory(host)
    assert driver.device_pointer(x) == x.pointer == x.gpu_data.handle and memory.handle.value == memory.pointer
    assert memory.device_ctypes_pointer.value == memory.device_pointer_value
    driver.require_device_memory(memory)
    with pytest.raises(TypeError, match="'ndarray' is no device memory"):
        driver.require_device_memory(host)
    assert driver.host_pointer(host) == host.ctypes.data == driver.host_memory_extents(host)[0]
    fortran = np.asfortranarray(host.reshape(4, 4))
    assert driver.host_memory_extents(fortran) == (fortran.ctypes.data, fortran.ctypes.data + 64)
    assert driver.host_memory_size(host) == 64 and driver.host_memory_size(ctypes.c_double()) == 8
    mapped = cuda.mapped_array(4, np.uint8)
    mapped[:] = 1
    driver.device_memset(mapped, 5, driver.device_memory_size(mapped))
    cuda.synchronize()
    assert mapped.tolist() == [5, 5, 5, 5]


def test_views_of_memory_and_its_end():
    memory = cuda.current_context().memalloc(16)
    views = [memory.view(4), memory.view(4).view(4)]
    assert memory.refct == 3 and views[1].owner is memory and views[1].pointer == memory.pointer + 8
    del views
    assert memory.refct == 1
    assert memory.view(4).size == 12 and memory.view(4).owner is memory and memory.own() is memory
    for bad in (lambda: memory.view(5, 4), lambda: cuda.current_context().memalloc(0).view(0, 1)):
        with pytest.raises(RuntimeError):
            bad()
    with pytest.raises(ValueError, match="64 bytes of a host buffer of 8"):
        driver.host_to_device(memory, np.zeros(1), 64)
    memory.free()
    with pytest.raises(RuntimeError, match="has been freed"):
        memory.free()


def test_host_memory_of_a_context():
    context = cuda.current_context()
    mapped, pinned = context.memhostalloc(32, mapped=True), context.memhostalloc(32)
    managed = context.memallocmanaged(32)
    assert isinstance(mapped, cuda.MappedMemory) and isinstance(managed, cuda.ManagedMemory)
    assert isinstance(pinned, cuda.PinnedMemory) and not isinstance(pinned, cuda.MemoryPointer)
    for memory in (mapped, pinned, managed):
        values = np.frombuffer(memory, np.float64)
        values[:] = 3
        assert len(memoryview(memory)) == 32
    array = cuda.cudadrv.devicearray.DeviceNDArray((4,), (8,), np.float64, gpu_data=mapped)
    double[1, 4](array)
    cuda.synchronize()
    assert np.frombuffer(mapped, np.float64).tolist() == [6, 6, 6, 6]
    host = np.ones(512)
    held = context.mempin(host, host.ctypes.data, host.nbytes, mapped=True)
    assert held.owned is host and held.size == host.nbytes
    del held
    context.mempin(host, host.ctypes.data, host.nbytes)   # it is not locked any more


def test_what_a_context_knows():
    context = cuda.current_context()
    kernel = cuda.jit("void(float32[:])")(double.py_func)
    blocks = context.get_active_blocks_per_multiprocessor(kernel, 128, 0)
    assert blocks >= 1
    assert blocks == context.get_active_blocks_per_multiprocessor(next(iter(kernel.overloads.values())), 128, 0)
    grid, block = context.get_max_potential_block_size(kernel, None, 0, 0)
    assert grid >= 1 and 1 <= block <= context.device.MAX_THREADS_PER_BLOCK
    assert context.get_max_potential_block_size(kernel, 0, 0, 64)[1] == 64
    asked = []
    context.get_max_potential_block_size(kernel, lambda threads: asked.append(threads) or 4 * threads, 0, 128)
    assert asked and max(asked) == 128
    with pytest.raises(ValueError, match="0 lists of types"):
        context.get_max_potential_block_size(cuda.jit(double.py_func), None, 0, 0)
    assert (context.handle != 0) == (context.device.kind == "cuda")
    identity = context.device.get_device_identity()
    assert set(identity) == {"pciDomainID", "pciBusID", "pciDeviceID"}
    assert cuda.gpus[0].from_identity(identity) is context.device
    with pytest.raises(RuntimeError, match="does not see the device"):
        cuda.gpus[0].from_identity({**identity, "pciBusID": -1})
    assert int(context.get_legacy_default_stream()) == 1 and int(context.get_per_thread_default_stream()) == 2
    assert int(context.get_default_stream()) == 0 and int(context.create_external_stream(2)) == 2
    assert driver.driver.get_device_count() == len(cuda.gpus) and len(driver.driver.get_version()) == 2
