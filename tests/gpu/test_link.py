"""Code from elsewhere on a GPU: every kind of it linked beside kernels, whole kernels, and what goes wrong."""
import gc
import importlib.util
import os
import shutil
import subprocess

import numpy as np
import pytest

from cujit import _core, cuda, types
from cujit.errors import CudaAPIError, LaunchArgumentError, LinkerError
from cujit.types import int32

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(_core.gpu_count() == 0, reason="needs a GPU")]

SOURCE = """
extern "C" __device__ float scaled(float x, const float *by) { return x * *by; }
extern "C" __device__ int numbas(float *result, float x, signed char y) { *result = x + y; return 0; }
extern "C" __device__ int array_sum(double *result, void *meminfo, void *parent, long long items, long long itemsize,
                                    double *data, long long rows, long long columns, long long down, long long along)
{
    *result = 0;
    for (long long i = 0; i < rows; i++)
        for (long long k = 0; k < columns; k++)
            *result += *(double *)((char *)data + i * down + k * along);
    return 0;
}
extern "C" __device__ bool is_odd(short x) { return x & 1; }
"""


def machine():
    major, minor = cuda.get_current_device().compute_capability
    return 10 * major + minor


def compiled(output):
    cuda.CUSource("")   # which looks for NVIDIA's libraries
    return _core.compile_source(SOURCE, "source.cu", machine(), output, relocatable=True)[0]


def has_nvrtc():
    try:
        compiled("ptx")
    except LinkerError:
        return False
    return True


needs_nvrtc = pytest.mark.skipif(_core.gpu_count() == 0 or not has_nvrtc(), reason="NVRTC is not installed")

PTX = """
.version 7.0
.target sm_75
.address_size 64
.visible .func (.param .b32 result) twice(.param .b32 x)
{
    .reg .b32 %r<3>;
    ld.param.b32 %r1, [x];
    add.s32 %r2, %r1, %r1;
    st.param.b32 [result], %r2;
    ret;
}
.visible .global .align 4 .b32 number = 7;
"""


def launch(function, *arguments):
    def body(out):
        out[0] = function(*arguments)

    out = np.zeros(1)
    cuda.jit(body)[1, 1](out)
    return out[0]


# --- linked beside kernels -------------------------------------------------------------------------------------------

def test_ptx_needs_no_toolkit(tmp_path):
    path = tmp_path / "twice.ptx"
    path.write_text(PTX)
    for link in (cuda.PTXSource(PTX), str(path)):
        twice = cuda.declare_device("twice", "int32(int32)", link=link, abi="c")

        @cuda.jit
        def kernel(x):
            x[cuda.grid(1)] = twice(x[cuda.grid(1)])

        x = np.arange(64, dtype=np.int32)
        kernel[2, 32](x)
        assert (x == 2 * np.arange(64)).all()


@needs_nvrtc
@pytest.mark.parametrize("make", [
    lambda: cuda.CUSource(SOURCE, "source.cu"), lambda: cuda.PTXSource(compiled("ptx")),
    lambda: cuda.Cubin(compiled("cubin")), lambda: cuda.LTOIR(compiled("ltoir"))], ids=["cu", "ptx", "cubin", "ltoir"])
def test_every_convention(make):
    source = make()
    scaled = cuda.declare_device("scaled", "float (float x, const float *by)", link=source, abi="c")
    numbas = cuda.declare_device("numbas", "float32(float32, int8)", link=source)
    array_sum = cuda.declare_device("array_sum", types.float64(types.float64[:, :]), link=source)
    is_odd = cuda.declare_device("is_odd", "boolean(int16)", link=source, abi="c")

    @cuda.jit
    def kernel(x, by, matrix, odd):
        i = cuda.grid(1)
        x[i] = scaled(x[i], by) + numbas(x[i], -i)
        odd[i] = is_odd(-i)
        if i == 0:
            matrix[0, 0] = array_sum(matrix[::2, 1:])

    x, by, odd = np.arange(8, dtype=np.float32), np.full(1, 3, np.float32), np.zeros(8, np.bool_)
    matrix = np.arange(12.0).reshape(4, 3)
    kernel[2, 4](x, by, matrix, odd)
    assert x.tolist() == [3 * i for i in range(8)]
    assert odd.tolist() == [bool(i & 1) for i in range(8)]
    assert matrix[0, 0] == 1 + 2 + 7 + 8


@pytest.mark.skipif(not shutil.which("nvcc"), reason="nvcc is not installed")
@pytest.mark.parametrize("ending, command", [
    ("fatbin", ["-fatbin", "-rdc=true"]), ("o", ["-dc"]), ("a", ["-lib", "-rdc=true"]),
    ("ltoir", ["-ltoir", "-dlto", "-rdc=true"])])
def test_files_of_nvcc(tmp_path, ending, command):
    source = tmp_path / "source.cu"
    source.write_text(SOURCE)
    path = tmp_path / f"code.{ending}"
    subprocess.run(["nvcc", f"-arch=sm_{machine()}", *command, "-o", path, source], check=True)
    numbas = cuda.declare_device("numbas", "float32(float32, int8)", link=[str(path)])
    assert launch(numbas, 4, 3) == 7


def test_what_is_linked_is_kept_on_disk(tmp_path, monkeypatch):
    monkeypatch.setenv("CUJIT_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("CUJIT_CACHE", "1")

    def make(factor):
        source = cuda.PTXSource(PTX.replace("add.s32 %r2, %r1, %r1", f"mul.lo.s32 %r2, %r1, {factor}"))
        twice = cuda.declare_device("twice", "int32(int32)", link=source, abi="c")

        def body(out):
            out[0] = twice(5)

        return cuda.jit(body, cache=True)

    results = []
    for factor in (3, 3, 4):
        kernel, out = make(factor), np.zeros(1, np.int32)
        kernel[1, 1](out)
        results.append((out[0], bool(kernel.stats.cache_hits)))
    assert results == [(15, False), (15, True), (20, False)]


@needs_nvrtc
@pytest.mark.skipif(not shutil.which("nvdisasm"), reason="nvdisasm is not installed")
def test_machine_code_of_all():
    scaled = cuda.declare_device("scaled", "float (float x, const float *by)", link=cuda.CUSource(SOURCE), abi="c")

    def kernel(x):
        x[0] = scaled(x[0], x)

    text = cuda.jit(kernel).inspect_sass("void(float32[::1])")
    assert ".text.kernel" in text and ".text.scaled" in text


def test_callbacks_have_the_module():
    found = []

    def setup(handle):
        found.append(handle)

    watched = cuda.PTXSource(PTX, setup_callback=setup, teardown_callback=lambda handle: found.append(-handle))

    def body(x):
        x[0] = 1

    kernel = cuda.jit(link=[watched])(body)
    kernel[1, 1](np.zeros(1))
    kernel[1, 1](np.zeros(1))
    assert len(found) == 1 and found[0].value > 0
    del kernel
    gc.collect()
    assert found[1] == -found[0]


@needs_nvrtc
def test_a_grid_that_waits_is_launched_cooperatively():
    source = cuda.CUSource("""
    #include <cooperative_groups.h>
    extern "C" __device__ int all_arrive(int *result, int *counter, int n)
    {
        atomicAdd(counter, 1);
        cooperative_groups::this_grid().sync();
        *result = *(volatile int *)counter;
        return 0;
    }
    """)
    all_arrive = cuda.declare_device("all_arrive", "int32(CPointer(int32), int32)", link=source, use_cooperative=True)

    @cuda.jit
    def kernel(counter, out):
        out[cuda.grid(1)] = all_arrive(counter, 1)

    counter, out = np.zeros(1, np.int32), np.zeros(256, np.int32)
    try:
        kernel[8, 32](counter, out)
    except LinkerError as error:
        if "cooperative_groups.h" in str(error):
            pytest.skip("the toolkit's headers are not installed")
        raise
    assert (out == 256).all()


# --- what is wrong ---------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("link, says", [
    (lambda: cuda.PTXSource("broken", "broken.ptx"), "(?s)the driver cannot link broken.ptx: CUDA_ERROR"),
    (lambda: cuda.PTXSource(PTX.replace("add.s32", "nonsense"), "broken.ptx"),
     "(?s)cannot link broken.ptx.*ptxas.*line"),
    (lambda: cuda.Cubin(b"broken", "broken.cubin"), "(?s)cannot link .*"),
    (lambda: cuda.PTXSource(PTX.replace("twice", "other")), "(?s)cannot link .*twice"),
    (lambda: None, "(?s)cannot load|could not load .*twice|cannot link.*twice"),
])
def test_what_cannot_be_linked_is_an_error_and_the_process_goes_on(link, says):
    twice = cuda.declare_device("twice", "int32(int32)", link=link(), abi="c")
    with pytest.raises((LinkerError, CudaAPIError), match=says):
        launch(twice, 3)
    assert launch(cuda.declare_device("twice", "int32(int32)", link=cuda.PTXSource(PTX), abi="c"), 3) == 6


# --- whole kernels ---------------------------------------------------------------------------------------------------

KERNELS = """
template <class T> __global__ void scale(T *x, T by, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= by;
}
__device__ int table[4];
extern "C" __global__ void look_up(int *out, bool negate, signed char shift)
{
    extern __shared__ int memory[];
    memory[threadIdx.x] = table[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = (negate ? -1 : 1) * memory[3 - threadIdx.x] + shift;
}
"""


def kernel_ptx():
    def add_one(x):
        i = cuda.grid(1)
        if i < x.size:
            x[i] += 1

    return cuda.compile_ptx(add_one, "void(float32[::1])", cc=(7, 5))[0]


def test_C9_raw_ptx():
    kernel = cuda.RawKernel(kernel_ptx(), "add_one")
    x = cuda.to_device(np.zeros(100, np.float32))
    kernel[4, 32](x, np.int64(90))
    kernel((4,), (32,), (x, np.int64(50)))
    assert x.copy_to_host().tolist() == [2] * 50 + [1] * 40 + [0] * 10
    host = np.zeros(5, np.float32)
    kernel[1, 32, cuda.stream(), 0](host, 5)
    assert host.tolist() == [1] * 5
    assert kernel.num_regs > 0 and kernel.attributes["max_threads_per_block"] == 1024
    with pytest.raises(LaunchArgumentError, match="takes 2 arguments, 1 given"):
        kernel[1, 32](x)
    with pytest.raises(LaunchArgumentError, match="takes 2 arguments, 3 given"):
        kernel[1, 32](x, 5, 6)
    with pytest.raises(LaunchArgumentError, match="int32 has 4 bytes, the kernel's parameter 8"):
        kernel[1, 32](x, np.int32(5))
    with pytest.raises(LaunchArgumentError, match="numbers and arrays"):
        kernel[1, 32](x, None)
    kernel[1, 32](x, 1)
    assert x.copy_to_host()[0] == 3


@needs_nvrtc
def test_C9_raw_cuda_c():
    module = cuda.RawModule(code=KERNELS, name_expressions=["scale<float>", "scale<double>"], options=["-std=c++17"])
    for dtype, name in ((np.float32, "scale<float>"), (np.float64, "scale<double>")):
        x = cuda.to_device(np.arange(100, dtype=dtype))
        module.get_function(name)[4, 32](x, dtype(3), np.int32(100))
        assert (x.copy_to_host() == 3 * np.arange(100)).all()
    table = module.get_global("table", np.int32)
    table.copy_to_device(np.arange(4, dtype=np.int32))
    look_up, out = module.get_function("look_up"), cuda.device_array(4, np.int32)
    look_up[1, 4, 0, 16](out, True, np.int8(-5))
    assert out.copy_to_host().tolist() == [-8, -7, -6, -5]
    large = cuda.RawKernel(KERNELS, "scale<float>")
    with pytest.raises(LaunchArgumentError, match="int64 has 8 bytes, the kernel's parameter 4"):
        large[1, 32](cuda.device_array(4, np.float32), np.float32(1), 4)
    with pytest.raises(CudaAPIError, match="NOT_FOUND"):
        module.get_function("absent")
    with pytest.raises(CudaAPIError, match="NOT_FOUND"):
        module.get_global("absent")


def test_broken_raw_code():
    with pytest.raises(CudaAPIError, match="(?s)ptxas.*line 3"):
        cuda.RawModule(code=".version 7.0\n.target sm_75\nnonsense here\n")
    with pytest.raises(CudaAPIError):
        cuda.RawModule(code=b"\x7fELF and nothing else")
    with pytest.raises(TypeError, match="code, or of the file"):
        cuda.RawModule()


def test_raw_kernels_take_other_libraries_arrays():
    cupy = pytest.importorskip("cupy")
    kernel = cuda.RawKernel(kernel_ptx(), "add_one")
    x = cupy.zeros(64, cupy.float32)
    kernel[2, 32](x, 64)
    assert (x == 1).all()


# --- clients ---------------------------------------------------------------------------------------------------------

@needs_nvrtc
def test_numbas_linker():
    from cujit.cuda.cudadrv.driver import Linker

    linker = Linker.new()
    linker.add_ptx(kernel_ptx())
    linker.add_cu(SOURCE, "source.cu")
    module = cuda.RawModule(code=linker.complete())
    x = cuda.to_device(np.zeros(3, np.float32))
    module.get_function("add_one")[1, 32](x, 3)
    assert x.copy_to_host().tolist() == [1] * 3


def cccl_folders():
    """Where CUB's headers are: in a CUDA toolkit, or in CuPy."""
    folders = ["/usr/local/cuda/include/cccl", "/usr/local/cuda/include"]
    spec = importlib.util.find_spec("cupy")
    if spec and spec.origin:
        bundled = os.path.join(os.path.dirname(spec.origin), "_core", "include", "cupy", "_cccl")
        folders += [os.path.join(bundled, name) for name in ("cub", "thrust", "libcudacxx")]
    return [folder for folder in folders if os.path.isdir(folder)]


CUB = """
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
extern "C" __device__ int block_sum(float *result, float x)
{
    using Reduce = cub::BlockReduce<float, 128>;
    __shared__ typename Reduce::TempStorage memory;
    *result = Reduce(memory).Sum(x);
    return 0;
}
extern "C" __device__ int block_scan(int *result, int x)
{
    using Scan = cub::BlockScan<int, 128>;
    __shared__ typename Scan::TempStorage memory;
    Scan(memory).InclusiveSum(x, *result);
    return 0;
}
"""


@needs_nvrtc
@pytest.mark.parametrize("output", ["ltoir", "ptx"])
def test_cub(output):
    """Block-wide functions of CUB, as cuda.cooperative makes them: LTO-IR that a kernel in Python calls."""
    options = ("-std=c++17", *(f"--include-path={folder}" for folder in cccl_folders()))
    try:
        code, _ = _core.compile_source(CUB, "cub.cu", machine(), output, options, relocatable=True)
    except LinkerError as error:
        if "cannot open source file" in str(error):
            pytest.skip("CUB's headers are not installed")
        raise
    link = cuda.LTOIR(code) if output == "ltoir" else cuda.PTXSource(code)
    block_sum = cuda.declare_device("block_sum", "float32(float32)", link=link)
    block_scan = cuda.declare_device("block_scan", "int32(int32)", link=link)

    @cuda.jit
    def kernel(x, sums, scanned):
        i = cuda.grid(1)
        total = block_sum(x[i])
        if cuda.threadIdx.x == 0:
            sums[cuda.blockIdx.x] = total
        scanned[i] = block_scan(int32(x[i]))

    x = np.arange(512, dtype=np.float32)
    sums, scanned = np.zeros(4, np.float32), np.zeros(512, np.int32)
    kernel[4, 128](x, sums, scanned)
    blocks = x.reshape(4, 128)
    assert sums.tolist() == blocks.sum(axis=1).tolist()
    assert (scanned.reshape(4, 128) == blocks.cumsum(axis=1)).all()
