"""Code from elsewhere: declared functions, what is linked, what goes wrong. On the CPU device kernels call C; what is
for GPUs is compiled where NVIDIA's libraries are, and assembled as far as it can be without them."""
import gc
import pickle
import shutil
import subprocess
import sys

import numpy as np
import pytest

from cujit import _core, cuda, types
from cujit.errors import LinkerError, TypingError, UnsupportedError
from cujit.types import float32, float64, int32, int64

needs_cc = pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler")
needs_cxx = pytest.mark.skipif(not shutil.which("c++"), reason="there is no C++ compiler")
on_cpu = pytest.mark.skipif(cuda.is_available() and _core.gpu_count() > 0, reason="kernels run on a GPU")


def has_library(compile_something):
    try:
        compile_something()
    except LinkerError as error:
        return error.code != "TOOLKIT_MISSING"
    return True


HAS_NVRTC = has_library(lambda: _core.compile_source("", "empty.cu", 90, "ptx"))
HAS_NVJITLINK = has_library(lambda: _core.link((cuda.PTXSource("no PTX"),), 90))
needs_nvrtc = pytest.mark.skipif(not HAS_NVRTC, reason="NVRTC is not installed")
needs_nvjitlink = pytest.mark.skipif(not HAS_NVJITLINK, reason="nvJitLink is not installed")

SOURCE = r"""
double twice(double x) { return 2 * x; }
int sum_n(float *result, const float *x, int n) { *result = 0; for (int i = 0; i < n; i++) *result += x[i]; return 0; }
void fill(int *x, int n, signed char low, unsigned char high) { for (int i = 0; i < n; i++) x[i] = low + high; }
int describe(long *result, void *meminfo, void *parent, long items, long itemsize, double *data, long rows,
             long columns, long row_stride, long column_stride)
{
    data[1] = items;
    *result = 1000000 * itemsize + 10000 * rows + 1000 * columns + row_stride + column_stride;
    return meminfo || parent;
}
_Bool is_negative(float x) { return x < 0; }
int nothing(char *unused) { return 0; }
"""


@pytest.fixture
def compiled():
    return cuda.CSource(SOURCE, "source.c")


# --- calls -----------------------------------------------------------------------------------------------------------

@on_cpu
@needs_cc
def test_scalars_by_c(compiled):
    twice = cuda.declare_device("twice", "float64(float64)", link=compiled, abi="c")
    is_negative = cuda.declare_device("is_negative", "boolean(float32)", link=[compiled], abi="c")

    @cuda.jit
    def kernel(x, negative):
        i = cuda.grid(1)
        negative[i] = is_negative(x[i])
        x[i] = twice(x[i]) + twice(1)   # an int becomes a double

    x, negative = np.arange(-4.0, 4.0), np.zeros(8, np.bool_)
    kernel[2, 4](x, negative)
    assert x.tolist() == [2 * i + 2 for i in range(-4, 4)]
    assert negative.tolist() == [i < 0 for i in range(-4, 4)]


@on_cpu
@needs_cc
def test_pointers_and_narrow_integers(compiled):
    fill = cuda.declare_device("fill", "void (int *x, int n, char low, unsigned char high)", link=compiled, abi="c")

    @cuda.jit
    def kernel(x):
        fill(x[1:4], 3, -3, 250)

    x = np.zeros(5, np.int32)
    kernel[1, 1](x)
    assert x.tolist() == [0, 247, 247, 247, 0]


@on_cpu
@needs_cc
@pytest.mark.parametrize("signature", [
    "float32(CPointer(float32), int32)", "float32(float32*, int32)", "float sum_n(const float *x, int n)",
    float32(types.CPointer(float32), int32)], ids=str)
def test_pointers_by_numbas_convention(compiled, signature):
    sum_n = cuda.declare_device("sum_n", signature, link=compiled)

    @cuda.jit
    def kernel(x, out):
        out[0] = sum_n(x, x.size)

    out = np.zeros(1, np.float32)
    kernel[1, 1](np.arange(6, dtype=np.float32).reshape(2, 3), out)
    assert out[0] == 15


@on_cpu
@needs_cc
@pytest.mark.parametrize("signature", ["int64(void*, float32*)", "int64_t (void *raw, const float *x)",
                                       types.int64(types.voidptr, types.CPointer(float32))], ids=str)
def test_pointers_are_passed_on(signature):
    source = cuda.CUSource("""extern "C" __device__ long long both(void *raw, const float *x)
        { size_t second = 1; return ((int *)raw)[second] + (long long)x[2]; }""")
    both = cuda.declare_device("both", signature, link=source, abi="c")

    @cuda.jit(types.void(types.voidptr, types.CPointer(float32), types.int64[::1]))
    def kernel(raw, x, out):
        out[0] = both(raw, x)
        out[1] = both(x, x)
        out[2] = both(out, x)

    raw, x, out = np.array([1, 20], np.int32), np.array([0, 0, 3], np.float32), np.zeros(3, np.int64)
    kernel[1, 1](raw, x, out)
    assert out.tolist() == [23, 3, 3]

    def gaps(raw, out):
        out[0] = both(out, raw)

    def untyped(raw, out):
        out[0] = both(raw, raw)

    for function, says in ((gaps, "does not tell of gaps"), (untyped, "cannot convert void. to parameter 2")):
        with pytest.raises(TypingError, match=says):
            cuda.jit(types.void(types.voidptr, types.int64[:]))(function)


@on_cpu
@needs_cc
def test_complex_numbers_by_numbas_convention():
    source = cuda.CSource("""int turned(double *result, float re, float im, double other_re, double other_im)
        { result[0] = -im * other_re; result[1] = re + other_im; return 0; }""")
    turned = cuda.declare_device("turned", "complex128(complex64, complex128)", link=source)

    @cuda.jit
    def kernel(x, out):
        out[0] = turned(x[0], 2)
        out[1] = turned(1.5, x[0])

    out = np.zeros(2, np.complex128)
    kernel[1, 1](np.array([3 + 4j], np.complex64), out)
    assert out.tolist() == [-8 + 3j, 5.5j]


@on_cpu
@needs_cc
def test_pointers_of_cffi(compiled):
    ffi = pytest.importorskip("cffi").FFI()
    sum_n = cuda.declare_device("sum_n", "float32(CPointer(float32), int32)", link=compiled)

    @cuda.jit
    def kernel(x, out):
        out[0] = sum_n(ffi.from_buffer(x), len(x))

    out = np.zeros(1, np.float32)
    kernel[1, 1](np.arange(5, dtype=np.float32), out)
    assert out[0] == 10


@on_cpu
@needs_cc
def test_arrays_by_numbas_convention(compiled):
    describe = cuda.declare_device("describe", int64(float64[:, :]), link=compiled)
    nothing = cuda.declare_device("nothing", "void()", link=compiled)

    @cuda.jit
    def kernel(x, out):
        out[0] = describe(x)
        out[1] = describe(x[::2, 1:])
        nothing()

    x, out = np.zeros((4, 3)), np.zeros(2, np.int64)
    kernel[1, 1](x, out)
    assert out.tolist() == [8000000 + 40000 + 3000 + 24 + 8, 8000000 + 20000 + 2000 + 48 + 8]
    assert x[0].tolist() == [0, 12, 4]


@on_cpu
@needs_cc
def test_link_of_a_device_function_reaches_the_kernel(compiled):
    twice = cuda.declare_device("twice", "float64(float64)", abi="c")

    @cuda.jit(device=True, link=[compiled])
    def four_times(x):
        return twice(twice(x))

    @cuda.jit
    def kernel(x):
        x[cuda.threadIdx.x] = four_times(x[cuda.threadIdx.x])

    x = np.arange(4.0)
    kernel[1, 4](x)
    assert x.tolist() == [0, 4, 8, 12]
    copy = pickle.loads(pickle.dumps(compiled))
    assert (copy.data, copy.name, type(copy)) == (compiled.data, "source.c", cuda.CSource)
    assert pickle.loads(pickle.dumps(twice)).sig == twice.sig == float64(float64)


@on_cpu
@needs_cxx
def test_sources_call_each_other(tmp_path):
    file = tmp_path / "squares.cu"
    file.write_text('extern "C" __device__ float square(float x) { return x * x; }')
    caller = cuda.CUSource('extern "C" __device__ float square(float); extern "C" float half(float); '
                           'extern "C" __device__ float both(float x) { return square(x) + half(x); }', "both.cu")
    half = cuda.CSource("float half(float x) { return x / 2; }", "half.c")
    both = cuda.declare_device("both", "float32(float32)", link=[caller, str(file), half], abi="c")
    again = cuda.CSource("float half(float x) { return x / 2; }", "again.c")   # the same text is the same source
    direct = cuda.declare_device("half", "float32(float32)", link=again, abi="c")

    @cuda.jit
    def kernel(x):
        x[0] = both(x[0]) + direct(x[0])

    x = np.full(1, 4, np.float32)
    kernel[1, 1](x)
    assert x[0] == 20
    broken = cuda.CSource("int f( {", "broken.c")
    with pytest.raises(LinkerError, match="(?s)cannot compile half.c, broken.c.*error"):
        launch(cuda.declare_device("half", "float32(float32)", link=[half, broken], abi="c"), 1.0)


@on_cpu
@needs_cc
@pytest.mark.parametrize("ending", ["c", "so", "o", "a"])
def test_files_on_the_cpu_device(tmp_path, ending):
    source = tmp_path / "code.c"
    source.write_text("#include <stdlib.h>\nint distance(int a, int b) { return abs(a - b); }")
    path = tmp_path / f"code.{ending}"
    if ending == "so":
        subprocess.run(["cc", "-shared", "-fPIC", "-o", path, source], check=True)
    elif ending in "oa":
        subprocess.run(["cc", "-c", "-fPIC", "-o", tmp_path / "code.o", source], check=True)
    if ending == "a":
        subprocess.run(["ar", "rcs", path, tmp_path / "code.o"], check=True)
    distance = cuda.declare_device("distance", "int32(int32, int32)", link=[str(path)], abi="c")

    @cuda.jit
    def kernel(out):
        out[0] = distance(3, 10)

    out = np.zeros(1, np.int32)
    kernel[1, 1](out)
    assert out[0] == 7


@on_cpu
@needs_cxx
def test_cuda_c_on_the_cpu_device():
    source = cuda.CUSource('extern "C" __device__ float add(float x, int y) { return x + y; }')
    add = cuda.declare_device("add", "float32(float32, int32)", link=source, abi="c")

    @cuda.jit
    def kernel(x):
        x[cuda.threadIdx.x] = add(x[cuda.threadIdx.x], 3)

    x = np.zeros(4, np.float32)
    kernel[1, 4](x)
    assert x.tolist() == [3] * 4


@on_cpu
@needs_cc
def test_callbacks_are_told_of_modules(compiled):
    told = []
    watched = cuda.CSource("", setup_callback=lambda handle: told.append(("up", handle.value)),
                           teardown_callback=lambda handle: told.append(("down", int(handle))))

    def body(x):
        x[0] = 1

    kernel = cuda.jit(link=[watched])(body)
    assert told == []
    kernel[1, 1](np.zeros(1))
    kernel[1, 1](np.zeros(1))
    kernel[1, 1](np.zeros(1, np.int32))
    assert told == [("up", 0)] * 2
    del kernel
    gc.collect()
    assert told == [("up", 0)] * 2 + [("down", 0)] * 2

    def refuse(handle):
        raise KeyError("refused")

    kernel = cuda.jit(link=[cuda.CSource("", setup_callback=refuse)])(body)
    for _ in range(2):
        with pytest.raises(KeyError, match="refused"):
            kernel[1, 1](np.zeros(1))


# --- what is wrong ---------------------------------------------------------------------------------------------------

def launch(function, *args):
    def body(out):
        out[0] = function(*args)

    cuda.jit(body)[1, 1](np.zeros(1))


@on_cpu
@needs_cc
def test_missing_symbols_are_named(compiled):
    with pytest.raises(LinkerError, match="(?s)CPU device cannot link .*missing_function"):
        launch(cuda.declare_device("missing_function", "float64(float64)", link=compiled, abi="c"), 1.0)
    launch(cuda.declare_device("twice", "float64(float64)", link=compiled, abi="c"), 1.0)


@on_cpu
@needs_cc
@pytest.mark.parametrize("code, says", [
    (lambda: cuda.CSource("int f( {", "broken.c"), "(?s)cannot compile broken.c.*error"),
    (lambda: cuda.Object(b"no object", "broken.o"), "(?s)cannot link broken.o: it is no such file"),
    (lambda: cuda.SharedLibrary(b"no library", "broken.so"), "(?s)cannot link broken.so: it cannot be opened"),
])
def test_broken_code_for_the_cpu_device(code, says):
    with pytest.raises(LinkerError, match=says):
        launch(cuda.declare_device("f", "float64(float64)", link=code(), abi="c"), 1.0)


@on_cpu
@needs_cc
def test_a_missing_compiler_is_named(monkeypatch, tmp_path):
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(LinkerError, match="there is no C compiler"):
        launch(cuda.declare_device("f", "float64(float64)", link=cuda.CSource("double f(double x) { return x; }"),
                                   abi="c"), 1.0)


def test_arguments_that_do_not_fit():
    f = cuda.declare_device("f", "double (float *x, int n)", abi="c")

    def refused(body, says):
        with pytest.raises(TypingError, match=says):
            cuda.jit(body).compile("void(float32[::1], float64[::1], float32[:], complex64)")

    def gaps(x, wide, strided, z): f(strided, 1)
    def width(x, wide, strided, z): f(wide, 1)
    def fraction(x, wide, strided, z): f(x, 1.5)
    def imaginary(x, wide, strided, z): f(x, z)
    def count(x, wide, strided, z): f(x)
    def keyword(x, wide, strided, z): f(x, n=1)

    refused(gaps, "gaps between elements")
    refused(width, "array of these elements")
    refused(fraction, "cannot convert float64 to parameter 2 of f")
    refused(imaginary, "cannot convert complex64 to parameter 2 of f")
    refused(count, "f takes 2 arguments, 1 given")
    refused(keyword, "no parameter named 'n'")


def test_declarations_that_cannot_be():
    with pytest.raises(TypeError, match="has no result"):
        cuda.declare_device("f", "(int32, int32)")
    with pytest.raises(ValueError, match="neither 'numba' nor 'c'"):
        cuda.declare_device("f", "int32(int32)", abi="pascal")
    with pytest.raises(TypeError, match=r"optional\(int64\) cannot be passed"):
        cuda.declare_device("f", "int32(Optional(int64))", abi="c")
    with pytest.raises(TypeError, match=r"cannot return optional\(int64\)"):
        cuda.declare_device("f", "Optional(int64)(int32)", abi="c")
    with pytest.raises(RuntimeError, match=r"ends with none of .*\.ptx"):
        cuda.jit(link=["code.xyz"])(launch)
    with pytest.raises(RuntimeError, match="ends with none of"):
        cuda.jit(link=["code"])(launch)
    with pytest.raises(FileNotFoundError):
        cuda.jit(link=["no_such_file.ptx"])(launch)
    with pytest.raises(NotImplementedError, match="nrt"):
        cuda.PTXSource("", nrt=True)
    with pytest.raises(TypeError):
        cuda.PTXSource(3)
    with pytest.raises(TypeError, match="kernels call it, Python cannot"):
        cuda.declare_device("f", "int32(int32)")(1)


def test_one_name_for_two_functions():
    first = cuda.declare_device("g", "int32(int32)", abi="c")
    second = cuda.declare_device("g", "float32(float32)", abi="c")

    def twice(x): x[0] = first(1) + second(1)
    def g(x): x[0] = first(1)

    with pytest.raises(TypingError, match="declared twice, with different types"):
        cuda.jit(twice).compile("void(int64[:])") and cuda.jit(twice).inspect("asm", (int64[:],), 90)
    with pytest.raises(TypingError, match="the kernel has a function of that name"):
        cuda.jit(g).inspect("asm", (int64[:],), 90)


# --- for GPUs, without one -------------------------------------------------------------------------------------------

CUDA = """extern "C" __device__ float scaled(float x, const float *by) { return x * *by; }
extern "C" __device__ int numbas(float *result, float x, signed char y) { *result = x + y; return 0; }
"""


def kernel_ptx():
    scaled = cuda.declare_device("scaled", "float (float x, const float *by)", abi="c")
    numbas = cuda.declare_device("numbas", "float32(float32, int8)")

    def kernel(x, by):
        i = cuda.grid(1)
        x[i] = scaled(x[i], by) + numbas(x[i], i)

    return cuda.compile_ptx(kernel, "void(float32[::1], float32[::1])", cc=(9, 0))[0]


def test_ptx_declares_what_it_calls():
    ptx = kernel_ptx()
    assert ".extern .func  (.param .b32 func_retval0) scaled" in ptx
    assert ".extern .func  (.param .b32 func_retval0) numbas" in ptx
    ptxas = shutil.which("ptxas")
    if ptxas:
        subprocess.run([ptxas, "-c", "-arch=sm_90", "-o", "/dev/null", "-"], input=ptx, text=True, check=True)


@needs_nvrtc
@needs_nvjitlink
@pytest.mark.parametrize("as_ltoir", [False, True])
def test_cuda_c_is_linked_beside_ptx(as_ltoir):
    source = cuda.CUSource(CUDA, "scaled.cu")
    if as_ltoir:
        code, _ = _core.compile_source(CUDA, "scaled.cu", 90, "ltoir", relocatable=True)
        source = cuda.LTOIR(code)
    machine, _ = _core.link((cuda.PTXSource(kernel_ptx(), "kernel"), source), 90)
    assert machine.startswith(b"\x7fELF") and b"kernel" in machine


@needs_nvjitlink
def test_what_nvjitlink_says():
    with pytest.raises(LinkerError, match="(?s)nvJitLink cannot link broken.*does not match"):
        _core.link((cuda.PTXSource("bad", "broken"),), 90)
    with pytest.raises(LinkerError, match="(?s)nvJitLink cannot link kernel.*Undefined reference to 'scaled'"):
        _core.link((cuda.PTXSource(kernel_ptx(), "kernel"),), 90)


@needs_nvrtc
def test_what_nvrtc_says():
    with pytest.raises(LinkerError, match=r"(?s)NVRTC cannot compile broken.cu.*broken.cu\(1\): error"):
        _core.compile_source("no CUDA C", "broken.cu", 90, "ptx")
    names = _core.compile_source("template <class T> __global__ void one(T *x) { *x = 1; }", "t.cu", 90, "cubin",
                                 expressions=("one<float>", "one<double>"))[1]
    assert names == ("_Z3oneIfEvPT_", "_Z3oneIdEvPT_")


@pytest.mark.parametrize("variable, call, package", [
    ("CUJIT_NVRTC_LIBRARY", "_core.compile_source('', 'a.cu', 90, 'ptx')", "nvidia-cuda-nvrtc"),
    ("CUJIT_NVJITLINK_LIBRARY", "_core.link((cuda.LTOIR(b''),), 90)", "nvidia-nvjitlink")])
def test_missing_libraries_say_what_to_install(variable, call, package, monkeypatch):
    monkeypatch.setenv(variable, "/no/such/library.so")
    program = f"""
from cujit import _core, cuda
for _ in range(2):
    try:
        {call}
    except cuda.cudadrv.driver.LinkerError as error:
        print(error.code, "pip install {package}" in str(error), "/no/such/library.so" in str(error))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "TOOLKIT_MISSING True True\n" * 2


# --- compiling for others --------------------------------------------------------------------------------------------

def test_outputs():
    source = cuda.PTXSource("some PTX")
    scaled = cuda.declare_device("scaled", "float32(float32)", link=source, abi="c")

    def twice(x):
        return 2 * scaled(x)

    codes, result = cuda.compile_all(twice, (float32,))
    assert ".extern .func" in codes[0] and codes[1:] == [b"some PTX"]
    assert result == cuda.compile(twice, (float32,))[1]
    assert "declare float @scaled(float)" in cuda.compile(twice, (float32,), output="llvm")[0]
    kernel = cuda.jit(lambda x: None, link=[source])
    assert kernel.links() == [source]
    with pytest.raises(NotImplementedError, match="of kernels"):
        cuda.compile(twice, (float32,), output="cubin")
    with pytest.raises(NotImplementedError, match="'ptx', 'llvm'"):
        cuda.compile(twice, (float32,), output="sass")


@needs_nvjitlink
@needs_nvrtc
def test_cubins():
    source = cuda.CUSource('extern "C" __device__ float scaled(float x) { return 3 * x; }', "scaled.cu")
    scaled = cuda.declare_device("scaled", "float32(float32)", link=source, abi="c")

    def kernel(x):
        x[0] = scaled(x[0])

    signature = "void(float32[::1])"
    code, _ = cuda.compile(kernel, signature, device=False, abi="numba", cc=(9, 0), output="cubin")
    assert code.startswith(b"\x7fELF")
    codes, _ = cuda.compile_all(kernel, signature, device=False, abi="numba", cc=(9, 0))
    assert b".visible .func" in codes[1]
    from cujit.cuda.cudadrv.driver import Linker

    linker = Linker.new(cc=(9, 0), max_registers=32)
    linker.add_ptx(codes[0])
    linker.add_data(codes[1], "ptx", "scaled")
    assert linker.complete().startswith(b"\x7fELF")
    broken = Linker.new(cc=(9, 0))
    broken.add_ptx(codes[0])
    with pytest.raises(LinkerError, match="Undefined reference to 'scaled'"):
        broken.complete()
    assert "scaled" in broken.error_log
    with pytest.raises(RuntimeError, match="no kind of code"):
        broken.add_file("a.b", "b")


# --- whole kernels, where there is no GPU ----------------------------------------------------------------------------

@on_cpu
def test_the_cpu_device_runs_no_code_of_gpus():
    for code in ("__global__ void f() {}", kernel_ptx()):
        with pytest.raises(UnsupportedError, match="the CPU device cannot run it"):
            cuda.RawModule(code=code)
    with pytest.raises(UnsupportedError, match="the CPU device cannot run it"):
        cuda.RawKernel(kernel_ptx(), "kernel")
    with pytest.raises(TypeError, match="code, or of the file"):
        cuda.RawModule()
    with pytest.raises(ValueError, match="name_expressions"):
        cuda.RawModule(code=kernel_ptx(), name_expressions=["f<int>"])
    with pytest.raises(UnsupportedError, match="the CPU device cannot run it"):
        _core.link((cuda.PTXSource("some PTX"),), None)
