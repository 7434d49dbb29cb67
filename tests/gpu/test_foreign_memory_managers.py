"""Memory managers of other libraries, for real: RMM's plugin as it is, CuPy's pool by a plugin written here."""
import numpy as np
import pytest

from cujit import cuda

pytestmark = [pytest.mark.gpu, pytest.mark.filterwarnings("ignore::cujit.errors.PerformanceWarning")]


@cuda.jit
def double(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= 2


def test_the_pool_of_cupy():
    cupy = pytest.importorskip("cupy")

    class CuPyManager(cuda.GetIpcHandleMixin, cuda.HostOnlyCUDAMemoryManager):
        interface_version = 1

        def initialize(self):
            self.pool = cupy.cuda.MemoryPool()

        def memalloc(self, size):
            held = [self.pool.malloc(size)]
            return cuda.MemoryPointer(self.context, held[0].ptr, size, finalizer=held.clear)

        def get_memory_info(self):
            return cuda.MemoryInfo(self.pool.free_bytes(), self.pool.total_bytes())

    cuda.set_memory_manager(CuPyManager)
    try:
        for gpu in cuda.gpus:
            with gpu:
                pool = cuda.current_context().memory_manager.pool
                x = cuda.to_device(np.arange(1000, dtype=np.float32))
                assert pool.used_bytes() >= 4000
                double[8, 128](x)
                host = np.arange(1000, dtype=np.float32)
                double[8, 128](host)     # its copy on the device is of the pool, too
                np.testing.assert_array_equal(x.copy_to_host(), host)
                attributes = cupy.cuda.runtime.pointerGetAttributes(x.pointer)
                assert attributes.device == gpu.id == x.device.id
                free, total = cuda.current_context().get_memory_info()
                assert total >= 4096
                del x
                assert pool.used_bytes() == 0
    finally:
        cuda.set_memory_manager(None)


@pytest.mark.parametrize("variable", [False, True])
def test_rmm(run_python, variable):
    pytest.importorskip("rmm")
    program = """
import sys, warnings
import cujit
cujit.install_as_numba()
from numba import cuda
warnings.simplefilter("ignore")
import numpy as np
import rmm
from rmm.allocators.numba import RMMNumbaManager

resource = rmm.mr.StatisticsResourceAdaptor(rmm.mr.CudaMemoryResource())
rmm.mr.set_current_device_resource(resource)
if sys.argv[1] == "False":
    cuda.set_memory_manager(RMMNumbaManager)

@cuda.jit
def double(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= 2

x = cuda.to_device(np.arange(1000, dtype=np.float32))
double[8, 128](x)
np.testing.assert_array_equal(x.copy_to_host(), 2 * np.arange(1000, dtype=np.float32))
print(type(cuda.current_context().memory_manager).__name__, resource.allocation_counts.current_bytes)
handle = x[10:].get_ipc_handle()
print(handle._ipc_handle.offset, len(bytes(handle._ipc_handle.__reduce__()[1][1])))
del x, handle
print(resource.allocation_counts.current_bytes)
"""
    named = {"NUMBA_CUDA_MEMORY_MANAGER": "rmm.allocators.numba"} if variable else {}
    output = run_python(program, variable, **named)
    assert output == "RMMNumbaManager 4000\n40 64\n0\n"
