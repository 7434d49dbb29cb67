"""What CUDA Python shows of driver and run-time compilation (rows A2 to A17), and tools that work beside it (E1 to E6),
row by row. Rows of other files: A18 and A21 to A23 in test_seed_runtime.py, A1 in test_import.py."""
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from cujit import cuda, errors, float32

ROOT = Path(__file__).parents[3]


@cuda.jit
def saxpy(a, x, y, out, n):
    i = cuda.grid(1)
    if i < n:
        out[i] = a * x[i] + y[i]


def test_a2_a_device_tells_about_itself():
    device = cuda.get_current_device()
    assert device is cuda.gpus.current and cuda.gpus[device.id] is not None
    assert device.name and device.MULTIPROCESSOR_COUNT >= 1 and device.MAX_THREADS_PER_BLOCK == 1024
    assert re.fullmatch(r"GPU-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|.+", device.uuid)
    assert device.compute_capability >= (7, 5) and device.WARP_SIZE == 32


@pytest.mark.gpu
def test_a3_the_primary_context_is_used():
    """That of the runtime API, and so of every other library."""
    import ctypes

    driver = ctypes.CDLL("libcuda.so.1")
    x = cuda.to_device(np.ones(4))
    with cuda.gpus[0]:
        primary, current = ctypes.c_void_p(), ctypes.c_void_p()
        assert driver.cuDevicePrimaryCtxRetain(ctypes.byref(primary), 0) == 0
        assert driver.cuCtxGetCurrent(ctypes.byref(current)) == 0
        assert current.value == primary.value
        assert driver.cuDevicePrimaryCtxRelease_v2(0) == 0
    assert x.copy_to_host().sum() == 4


def test_a4_what_the_driver_refuses_is_a_typed_exception():
    with pytest.raises(errors.CudaAPIError, match=f"{1 << 60} bytes") as error:
        cuda.device_array(1 << 60, np.int8)
    assert isinstance(error.value, MemoryError) and error.value.code in ("DEVICE_MEMORY", 2)


def test_a5_a10_a11_a12_a13_a15_a17_saxpy_without_a_string_of_code():
    """Compiled from a definition (A5), arrays (A10), a stream (A11) with copies both ways on it (A12), a launch with
    all of its configuration (A13), in order without waiting (A15), results that are exact without fmad (A17)."""
    n = 32 * 512
    rng = np.random.default_rng(1)
    x, y = rng.random((2, n), np.float32)
    stream = cuda.stream()
    out = cuda.pinned_array(n, np.float32)
    d_x, d_y, d_out = cuda.to_device(x, stream), cuda.to_device(y, stream), cuda.device_array(n, np.float32)
    saxpy[(512, 1, 1), (32, 1, 1), stream, 0](np.float32(2), d_x, d_y, d_out, np.uint32(n))
    d_out.copy_to_host(out, stream)
    stream.synchronize()
    np.testing.assert_allclose(out, 2 * x + y, rtol=1e-6)
    exact = cuda.jit(saxpy.py_func, fmad=False)
    exact[512, 32](np.float32(3), d_x, d_y, d_out, n)
    assert (d_out.copy_to_host() == np.float32(3) * x + y).all()


def test_a7_what_cannot_be_compiled_is_shown_with_its_line():
    @cuda.jit
    def wrong(x):
        x[0] = x.nothing_like_it

    with pytest.raises(errors.TypingError, match=r"(?s)test_seed_driver\.py:\d+.*x\[0\] = x\.nothing_like_it.*\^"):
        wrong[1, 1](np.zeros(1))


def test_a8_the_code_can_be_read():
    ptx, result = cuda.compile_ptx(saxpy.py_func, (float32, float32[::1], float32[::1], float32[::1], float32))
    assert ".entry saxpy" in ptx and str(result) == "none"
    kernel = cuda.jit("(float32, float32[::1], float32[::1], float32[::1], int64)")(saxpy.py_func)
    assert "saxpy" in next(iter(kernel.inspect_asm().values()))


def test_a9_several_kernels_of_one_program():
    """Foreign PTX and CUDA C: test_foreign_ptx.py and tests/gpu/test_link.py."""
    doubled = cuda.jit(_doubled)
    x = cuda.to_device(np.array([1.0, 5.0]))
    for kernel in (doubled, cuda.jit(_added), doubled):
        kernel[1, 1](x)
    assert x.copy_to_host().tolist() == [14.0, 5.0]


def _doubled(x):
    x[0] *= 2


def _added(x):
    x[0] += x[1]


def test_a16_waiting_lets_other_threads_run():
    @cuda.jit
    def long(out, rounds):
        value = out[0]
        for k in range(rounds):
            value = value * 0.5 + k
        out[0] = value

    x, counted, is_done = cuda.to_device(np.ones(1)), [], threading.Event()
    long[1, 1](x, 1)

    def work():
        long[1, 1](x, 20_000_000)
        cuda.synchronize()
        is_done.set()

    thread = threading.Thread(target=work)
    thread.start()
    while not is_done.wait(0.001):
        counted.append(time.perf_counter())
    thread.join()
    assert len(counted) > 3


# --- tools ------------------------------------------------------------------------------------------------------------

def test_e1_no_example_has_code_in_c():
    for path in (ROOT / "examples").glob("*.py"):
        assert not re.search(r"__global__|RawKernel|extern \"C\"", path.read_text()), path


def test_e2_b9_no_compiler_is_run(run_python):
    """Neither a separate step, nor a toolkit: no other program is started."""
    program = """
import sys
def hook(event, arguments):
    assert event not in ("subprocess.Popen", "os.exec", "os.posix_spawn", "os.system", "os.fork"), arguments
import numpy as np
from cujit import cuda
sys.addaudithook(hook)
@cuda.jit
def double(x):
    x[cuda.grid(1)] *= 2
x = np.ones(32)
double[1, 32](x)
print(int(x.sum()))
"""
    assert run_python(program, PATH="/nonexistent", CUDA_HOME="/nonexistent", CUJIT_CACHE="0").split() == ["64"]


def test_e3_the_same_kernel_on_the_cpu(run_python):
    """Threaded and in vectors (docs/cpu_device.md); an object file for programs in other languages."""
    program = """
import numpy as np
from cujit import cuda
@cuda.jit
def double(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = x[i] * 2 + 1
x = np.ones(10_000, np.float32)
double[40, 256](x)
print(int(x.sum()), cuda.get_current_device().kind)
"""
    assert run_python(program, CUJIT_DEVICE="cpu", CUJIT_CPU_THREADS="2").split() == ["30000", "cpu"]
    help_text = subprocess.run([sys.executable, "-m", "cujit", "compile", "--help"], capture_output=True, text=True,
                               check=True).stdout
    assert "object" in help_text


@pytest.mark.parametrize("types", [(np.int8, np.float32), (np.float16, np.complex64), (np.bool_, np.int64)])
def test_e4_any_mixture_of_types(types):
    x, y = np.ones(3, types[0]), np.full(3, 2, types[1])
    out = cuda.elementwise("x + y")(x, y)
    assert out.dtype.kind == (x + y).dtype.kind and (out == x + y).all()


def test_e6_arrays_go_to_other_libraries_and_come_back():
    x = cuda.to_device(np.arange(6.0).reshape(2, 3))
    again = cuda.from_dlpack(x)
    assert again.pointer == x.pointer and again.shape == (2, 3)
    assert cuda.as_cuda_array(x).pointer == x.pointer
    if cuda.get_current_device().kind == "cpu":
        shared = np.from_dlpack(x)
        x[0, 0] = 7.0
        assert shared[0, 0] == 7
