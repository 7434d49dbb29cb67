"""LTO-IR by libNVVM: of functions and kernels, linked with what NVRTC makes. Nothing of this needs a GPU."""
import math
import subprocess
import sys

import numpy as np
import pytest

from cujit import _core, cuda, types
from cujit.cuda._link import toolkit
from cujit.errors import LinkerError, UnsupportedError
from cujit.types import complex64, float32, float64, int32, int64

sys.path.insert(0, __file__.rsplit("/tests/", 1)[0] + "/tests/kernels")
from samples import SAMPLES  # noqa: E402


def has_library(compile_something):
    toolkit.find()
    try:
        compile_something()
    except LinkerError as error:
        return error.code != "TOOLKIT_MISSING"
    return True


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


@pytest.mark.parametrize("sm", [100, 120])
def test_functions_are_optimized_with_their_callers(sm):
    code, result = cuda.compile(turned, (complex64, float32), cc=(sm // 10, 0), output="ltoir")
    assert isinstance(code, bytes) and result == complex64
    caller, _ = _core.compile_source(CALLER, "caller.cu", sm, "ltoir", relocatable=True)
    ptx = linked(cuda.LTOIR(caller), cuda.LTOIR(code), sm=sm)
    assert b"caller" in ptx and b"call.uni" not in ptx
    machine = linked(cuda.LTOIR(caller), cuda.LTOIR(code), sm=sm, ptx=False)
    assert machine.startswith(b"\x7fELF")
    with pytest.raises(LinkerError, match="Unresolved extern function 'turned'"):
        linked(cuda.LTOIR(caller), sm=sm, ptx=False)


def test_kernels_and_what_they_are_linked_with():
    code, _ = cuda.compile(turned, (complex64, float32), cc=(10, 0), output="ltoir", forceinline=True)
    declared = cuda.declare_device("turned", complex64(complex64, float32), link=cuda.LTOIR(code), abi="c")

    def kernel(z):
        z[cuda.threadIdx.x] = declared(z[cuda.threadIdx.x], 3)

    signature, options = types.void(complex64[::1]), {"device": False, "abi": "numba", "cc": (10, 0)}
    codes, _ = cuda.compile_all(kernel, signature, output="ltoir", **options)
    assert codes[1] == code
    ptx = linked(*map(cuda.LTOIR, codes))
    assert b".entry kernel" in ptx and b"call.uni" not in ptx
    machine, _ = cuda.compile(kernel, signature, output="cubin", **options)
    assert machine.startswith(b"\x7fELF")
    source = cuda.CUSource('extern "C" __device__ float twice(float x) { return 2 * x; }')
    twice = cuda.declare_device("twice", "float32(float32)", link=source, abi="c")
    codes, _ = cuda.compile_all(lambda x: twice(x), (float32,), cc=(10, 0), output="ltoir")
    assert linked(*map(cuda.LTOIR, codes), ptx=False).startswith(b"\x7fELF")


@pytest.mark.parametrize("name", SAMPLES)
def test_libnvvm_reads_what_is_written(name):
    function, signature = SAMPLES[name][:2]
    code, _ = cuda.compile(function, signature, device=False, abi="numba", cc=(10, 0), output="ltoir")
    assert b".entry " in linked(cuda.LTOIR(code))
    assert linked(cuda.LTOIR(code), ptx=False).startswith(b"\x7fELF")


def test_much_that_kernels_do():
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
        out[i] = min(cuda.shfl_sync(-1, local[i % 5], 3), abs(x[i])) + cuda.popc(n[i]) + cuda.clz(n[i]) + cuda.ffs(n[i])
        if cuda.any_sync(-1, x[i] > 3):
            out[i] = math.fmod(out[i], 3) + cuda.fma(x[i], 2.0, 1.0) + (n[i] // 3) ** 2
        print("x", out[i], n[i])

    for options in ({}, {"fastmath": True}, {"launch_bounds": (128, 2), "lineinfo": True}, {"opt": False}):
        kernel = types.void(float32[:], int64[::1], float64[::1])
        code, _ = cuda.compile(body, kernel, device=False, abi="numba", cc=(10, 0), output="ltoir", **options)
        assert linked(cuda.LTOIR(code), ptx=False).startswith(b"\x7fELF")


def test_what_there_is_not():
    with pytest.raises(NotImplementedError, match=r"compute capability 9.0: .*cc=\(10, 0\)"):
        cuda.compile(turned, (complex64, float32), cc=(9, 0), output="ltoir")
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
