"""LTO-IR by libNVVM: of functions and kernels, linked with what NVRTC makes. Nothing of this needs a GPU."""
import math
import re
import subprocess
import sys

import numpy as np
import pytest
from toolkit_libraries import has_library

from cujit import _core, cuda, types
from cujit.errors import LinkerError, UnsupportedError
from cujit.types import complex64, float32, float64, int32, int64

sys.path.insert(0, __file__.rsplit("/tests/", 1)[0] + "/tests/kernels")
from samples import SAMPLES  # noqa: E402

pytestmark = pytest.mark.skipif(
    not (has_library(lambda: _core.compile_llvm("", "empty", 100)) and
         has_library(lambda: _core.compile_source("", "empty.cu", 90, "ptx")) and
         has_library(lambda: _core.link((cuda.PTXSource("no PTX"),), 90))),
    reason="libNVVM, NVRTC or nvJitLink is not installed")

CALLER = """
extern "C" __device__ float2 turned(float2 z, float by);
extern "C" __global__ void caller(float2 *z) { z[threadIdx.x] = turned(z[threadIdx.x], 2); }
"""


def turned(z, by):
    return z.conjugate() * by


def linked(*items, sm=100, ptx=True):
    return _core.link(items, sm, lto=True, ptx=ptx)[0]


ARCHITECTURES = [75, 80, 86, 89, 90, 100, 120]


@pytest.mark.parametrize("sm", ARCHITECTURES)
def test_functions_are_optimized_with_their_callers(sm):
    code, result = cuda.compile(turned, (complex64, float32), cc=(sm // 10, sm % 10), output="ltoir")
    assert isinstance(code, bytes) and result == complex64
    caller, _ = _core.compile_source(CALLER, "caller.cu", sm, "ltoir", relocatable=True)
    ptx = linked(cuda.LTOIR(caller), cuda.LTOIR(code), sm=sm)
    assert b"caller" in ptx and b"call.uni" not in ptx and ptx.isascii() and not ptx.endswith(b"\0")
    machine = linked(cuda.LTOIR(caller), cuda.LTOIR(code), sm=sm, ptx=False)
    assert machine.startswith(b"\x7fELF")
    with pytest.raises(LinkerError, match="Unresolved extern function 'turned'"):
        linked(cuda.LTOIR(caller), sm=sm, ptx=False)


@pytest.mark.parametrize("cc", [(7, 5), (10, 0)])
def test_kernels_and_what_they_are_linked_with(cc):
    sm = cc[0] * 10 + cc[1]
    code, _ = cuda.compile(turned, (complex64, float32), cc=cc, output="ltoir", forceinline=True)
    declared = cuda.declare_device("turned", complex64(complex64, float32), link=cuda.LTOIR(code), abi="c")

    def kernel(z):
        z[cuda.threadIdx.x] = declared(z[cuda.threadIdx.x], 3)

    signature, options = types.void(complex64[::1]), {"device": False, "abi": "numba", "cc": cc}
    codes, _ = cuda.compile_all(kernel, signature, output="ltoir", **options)
    assert codes[1] == code
    ptx = linked(*map(cuda.LTOIR, codes), sm=sm)
    assert b".entry kernel" in ptx and b"call.uni" not in ptx
    machine, _ = cuda.compile(kernel, signature, output="cubin", **options)
    assert machine.startswith(b"\x7fELF")
    source = cuda.CUSource('extern "C" __device__ float twice(float x) { return 2 * x; }')
    twice = cuda.declare_device("twice", "float32(float32)", link=source, abi="c")
    codes, _ = cuda.compile_all(lambda x: twice(x), (float32,), cc=cc, output="ltoir")
    assert linked(*map(cuda.LTOIR, codes), sm=sm, ptx=False).startswith(b"\x7fELF")


def linked_kernel(function, signature, sm, **options):
    """PTX of the kernel as nvJitLink makes it of LTO-IR, which ptxas takes."""
    code, _ = cuda.compile(function, signature, device=False, abi="numba", cc=(sm // 10, sm % 10), output="ltoir",
                           **options)
    assert linked(cuda.LTOIR(code), sm=sm, ptx=False).startswith(b"\x7fELF")
    ptx = linked(cuda.LTOIR(code), sm=sm).decode()
    assert ".entry " in ptx and ".extern .func (.param .b32 func_retval0) llvm" not in ptx
    return ptx


@pytest.mark.parametrize("cc", [(7, 5), (9, 0), (10, 0)])
def test_inspect_lto_ptx(cc):
    source = cuda.CUSource('extern "C" __device__ float twice(float x) { return 2 * x; }')
    twice = cuda.declare_device("twice", "float32(float32)", link=source, abi="c")

    def kernel(x, out):
        i = cuda.grid(1)
        out[i] = twice(math.sqrt(x[i])) / x[i + 1]

    signature = types.void(float32[::1], float32[::1])
    dispatcher = cuda.jit(kernel)
    ptx = dispatcher.inspect_lto_ptx(signature, cc)
    assert "sqrt.rn.f32" in ptx and "call" not in ptx
    assert "call" in dispatcher.inspect_asm(signature, cc)
    fast = cuda.jit(kernel, fastmath=True).inspect_lto_ptx(signature, cc)
    assert "sqrt.rn.ftz.f32" in fast and "div.full.ftz.f32" in fast
    for options, fuses in (({}, True), ({"fmad": False}, False)):
        assert ("fma.rn.f32" in cuda.jit(times_and_plus, **options).inspect_lto_ptx(signature, cc)) == fuses
    assert dispatcher.inspect_lto_ptx(cc=cc) == {}
    if _core.gpu_count() == 0:
        with pytest.raises(UnsupportedError, match="code for a GPU"):
            dispatcher.inspect_lto_ptx(signature)


def times_and_plus(x, out):
    out[0] = x[0] * x[1] + x[2]


@pytest.mark.parametrize("sm", ARCHITECTURES)
@pytest.mark.parametrize("name", SAMPLES)
def test_libnvvm_reads_what_is_written(name, sm):
    linked_kernel(*SAMPLES[name][:2], sm)


@pytest.mark.parametrize("sm", [75, 90, 100])
def test_much_that_kernels_do(sm):
    table = np.arange(7.0)

    def body(x, n, out):
        shared = cuda.shared.array(64, float32)
        local = cuda.local.array(5, float64)
        i = cuda.grid(1)
        shared[cuda.threadIdx.x] = x[i]
        cuda.syncthreads()
        for k in range(5):
            local[k] = math.sin(shared[k]) + table[(i + k) % 7]
        cuda.atomic.add(out, 0, math.exp(local[n[0] % 5]))
        cuda.atomic.max(n, 1, i)
        cuda.atomic.cas(n, 2, 0, i)
        bits = cuda.popc(n[i]) + cuda.clz(n[i]) + cuda.ffs(n[i])
        out[i] = min(cuda.shfl_sync(-1, local[i % 5], 3), abs(x[i])) + bits
        if cuda.any_sync(-1, x[i] > 3):
            out[i] = math.fmod(out[i], 3) + cuda.fma(x[i], 2.0, 1.0) + (n[i] // 3) ** 2
        print("x", out[i], n[i])

    for options in ({}, {"fastmath": True}, {"launch_bounds": (128, 2), "lineinfo": True}, {"opt": False}):
        ptx = linked_kernel(body, types.void(float32[:], int64[::1], float64[::1]), sm, **options)
        assert (".maxntid" in ptx) == (".minnctapersm" in ptx) == ("launch_bounds" in options)


def test_what_there_is_not():
    with pytest.raises(LinkerError, match="(?s)libNVVM cannot compile broken.*parse expected"):
        _core.compile_llvm("define nothing", "broken", 100)
    with pytest.raises(LinkerError, match="libNVVM cannot compile old"):
        _core.compile_llvm("define i32 @f() { ret i32 1 }", "old", 20)
    if _core.gpu_count() == 0:
        with pytest.raises(UnsupportedError, match="what libNVVM reads is code for a GPU"):
            cuda.jit(device=True)(turned).inspect("nvvm", (complex64, float32))


def test_a_missing_libnvvm_says_what_to_install(monkeypatch):
    monkeypatch.setenv("CUJIT_NVVM_LIBRARY", "/no/such/library.so")
    program = """
from cujit import cuda, errors
for _ in range(2):
    try:
        cuda.compile(lambda x: x, "(int32,)", cc=(10, 0), output="ltoir")
    except errors.LinkerError as error:
        print(error.code, "pip install nvidia-nvvm" in str(error))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "TOOLKIT_MISSING True\n" * 2


def test_forceinline():
    text = cuda.jit(device=True)(turned).inspect("nvvm", (complex64, float32), 100, "c", True)
    assert "alwaysinline" in text and "!nvvmir.version" in text and "memory(" not in text
    with pytest.raises(ValueError, match="LTO output only"):
        cuda.compile(lambda x: x, (int32,), forceinline=True)


# --- the IR of LLVM 7 ---------------------------------------------------------------------------------------------


def typed(function, signature, sm=75, **options):
    """The text that libNVVM gets of a kernel."""
    return cuda.jit(check=False, **options)(function).inspect("nvvm", signature, sm)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "uint32", "int64", "uint64", "float16",
                                   "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("sm", [75, 90])
def test_atomics(sm, dtype):
    """In LLVM 7's text they are PTX: all types, also those whose bytes are a part of what the GPU exchanges."""
    def kernel(x, y):
        cuda.atomic.add(x, 0, y[0])
        cuda.atomic.max(x, 1, y[1])
        cuda.atomic.exch(x, 2, y[2])
        y[3] = cuda.atomic.cas(x, 3, y[3], y[4])
        cuda.atomic.add(x, 5, y[5], order="acq_rel", scope="system")

    element = _core.scalar_types[dtype]
    linked_kernel(kernel, types.void(element[::1], element[::1]), sm)


def test_scopes_of_atomics():
    def kernel(x):
        x[0] = cuda.atomic.cas(x, 3, x[3], x[4], scope="block")
        cuda.atomic.add(x, 2, x[3], scope="system", order="release")

    ptx = linked_kernel(kernel, types.void(int64[::1]), 75)
    assert re.search(r"atom\.relaxed\.cta(\.global)?\.cas\.b64", ptx)
    assert re.search(r"fence\.acq_rel\.sys;.*atom\.relaxed\.sys(\.global)?\.add\.u64", ptx, re.DOTALL)


@pytest.mark.parametrize("sm", [75, 80, 90])
def test_halves_and_bfloats(sm):
    def kernel(h, b, out):
        i = cuda.grid(1)
        h[i] = -abs(h[i]) * h[i + 1] + math.sqrt(h[i])
        b[i] = -abs(b[i]) * b[i + 1] + math.copysign(b[i], b[i + 2])
        out[i] = h[i] + float(b[i]) if b[i] < b[i + 1] else max(h[i], h[i + 1])
        for k in range(8):
            h[8 * i + k] = h[16 * i + k]

    half, bfloat = _core.scalar_types["float16"], _core.scalar_types["bfloat16"]
    linked_kernel(kernel, types.void(half[::1], bfloat[::1], float64[::1]), sm)


def test_instructions_that_came_later():
    def kernel(x, n, f, out):
        i = cuda.grid(1)
        a, b = n[i], n[i + 1]
        out[i] = min(a, b) + max(x[i], x[i + 1]) + abs(a) + int(f[i])
        out[i + 1] = cuda.funnelshift_l(x[i], x[i + 1], x[i + 2]) + (a > b) - (a < b)
        x[i] = x[i] - x[i + 1] if x[i] > x[i + 1] else 0
        f[i] = -f[i]

    uint32 = _core.scalar_types["uint32"]
    text = typed(kernel, (uint32[::1], int64[::1], float64[::1], int64[::1]))
    assert not re.search(r"llvm\.(smin|smax|umin|umax|abs|fsh[lr]|usub\.sat|[us]cmp|fptosi)", text)
    assert not re.search(r"\bptr\b", text) and "fsub double 0x8000000000000000" in text
    linked_kernel(kernel, types.void(uint32[::1], int64[::1], float64[::1], int64[::1]), 75)


def matrices(x, n, out):
    tile = cuda.shared.array((32, 16), _core.scalar_types["float16"], alignment=16)
    i = cuda.threadIdx.x
    cuda.cp_async(tile, (i, 0), x, 16 * i, 8)
    cuda.cp_async_commit()
    cuda.cp_async_wait(0)
    cuda.syncthreads()
    a, b = cuda.ldmatrix_x4(tile, i % 16, i // 16 * 8), cuda.ldmatrix_x2_trans(tile, i % 16, 0)
    c = cuda.mma.m16n8k16_f16_f32(a, (b[0], b[1], b[2], b[3]), (float32(0), float32(0), float32(0), float32(0)))
    out[i] = c[0] + c[3] + cuda.dp4a(n[i], n[i + 1], int32(3)) + cuda.dp2a_hi(n[i], n[i + 1], int32(3))


def counting(n):
    n[0] = cuda.activemask() + int32(cuda.globaltimer()) + cuda.syncthreads_count(n[1])
    n[1] = cuda.syncthreads_and(n[2]) + cuda.syncthreads_or(n[3]) + cuda.match_all_sync(-1, n[4])[0]
    cuda.cg.this_grid().sync()


def clusters(n):
    shared = cuda.shared.array(4, int32)
    cluster = cuda.cg.this_cluster()
    shared[0] = cluster.block_rank()
    cluster.sync()
    n[0] = cluster.map_shared_rank(shared, 0)[0] + cluster.num_blocks()


@pytest.mark.parametrize("function, signature, sm, expected", [
    (matrices, "void(float16[::1], int32[::1], float32[::1])", 80,
     "cp.async.cg.shared.global cp.async.wait_group ldmatrix.sync.aligned.m8n8.x4 ldmatrix.sync.aligned.m8n8.x2.trans "
     "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 dp4a.s32.s32 dp2a.hi.s32.s32"),
    (counting, "void(int32[::1])", 75,
     "activemask %globaltimer barrier.red.popc barrier.red.and barrier.red.or match.all %envreg1"),
    (clusters, "void(int32[::1])", 90,
     "%cluster_ctarank %cluster_nctarank barrier.cluster.arrive barrier.cluster.wait mapa")])
def test_instructions_of_gpus(function, signature, sm, expected):
    """Which LLVM 7 does not know."""
    ptx = linked_kernel(function, signature, sm)
    assert [word for word in expected.split() if word not in ptx] == []

