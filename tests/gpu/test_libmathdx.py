"""A real client of LTO-IR: functions of NVIDIA's libmathdx (cuFFTDx), linked beside kernels and called by them."""
import ctypes
import functools
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from test_link import machine

from cujit import _core, cuda
from cujit.cuda._link import toolkit
from cujit.errors import LinkerError
from cujit.types import complex64

# Of libcommondx.h and libcufftdx.h.
SYMBOL_NAME, TARGET_SM = 0, 1
SIZE, DIRECTION, TYPE, PRECISION, SM, EXECUTION, API = 0, 1, 2, 3, 4, 5, 10
BLOCK_DIM = 7
FORWARD, COMPLEX, FLOAT32 = 0, 0, 5
THREAD, BLOCK = 0, 1
LOCAL_MEMORY, SHARED_MEMORY = 0, 1


@functools.cache
def library():
    """libmathdx of one of NVIDIA's packages on PyPI; NULL where there is none."""
    found = [path for entry in sys.path for path in Path(entry).glob("nvidia/*/lib/libmathdx.so*")]
    return ctypes.CDLL(str(found[0])) if found else None


def has_linker():
    toolkit.find()
    try:
        _core.link((cuda.PTXSource(".version 7.8\n.target sm_90\n.address_size 64\n"),), 90)
    except LinkerError as error:
        return error.code != "TOOLKIT_MISSING"
    return True


pytestmark = pytest.mark.skipif(not library() or not has_linker(), reason="libmathdx or nvJitLink is not installed")


def call(name, *arguments):
    assert getattr(library(), name)(*arguments) == 0, name


def wide(number):
    return ctypes.c_longlong(number)


@functools.cache
def fft(name, size, execution, api, sm):
    """LTO-IR of a function `name` that transforms `size` numbers, and how many threads of a block call it."""
    plan, code, length, threads = wide(0), wide(0), ctypes.c_size_t(), (ctypes.c_longlong * 3)(1, 1, 1)
    call("cufftdxCreateDescriptor", ctypes.byref(plan))
    for operator, value in ((SIZE, size), (DIRECTION, FORWARD), (TYPE, COMPLEX), (PRECISION, FLOAT32), (SM, 10 * sm),
                            (EXECUTION, execution), (API, api)):
        call("cufftdxSetOperatorInt64", plan, operator, wide(value))
    call("cufftdxSetOptionStr", plan, SYMBOL_NAME, name.encode())
    if execution == BLOCK:
        call("cufftdxGetTraitInt64s", plan, BLOCK_DIM, ctypes.c_size_t(3), threads)
    call("commondxCreateCode", ctypes.byref(code))
    call("commondxSetCodeOptionInt64", code, TARGET_SM, wide(10 * sm))
    call("cufftdxFinalizeCode", code, plan)
    call("commondxGetCodeLTOIRSize", code, ctypes.byref(length))
    text = ctypes.create_string_buffer(length.value)
    call("commondxGetCodeLTOIR", code, length, text)
    call("commondxDestroyCode", code)
    call("cufftdxDestroyDescriptor", plan)
    return text.raw, threads[0]


def thread_kernel(sm):
    """Each thread transforms a row of 8 numbers in its own memory."""
    code, _ = fft("fft8", 8, THREAD, LOCAL_MEMORY, sm)
    transform = cuda.declare_device("fft8", "void(complex64*)", link=cuda.LTOIR(code, "fft8.ltoir"), abi="c")

    def kernel(x):
        own = cuda.local.array(8, complex64, alignment=16)
        i = cuda.grid(1)
        for k in range(8):
            own[k] = x[i, k]
        transform(own)
        for k in range(8):
            x[i, k] = own[k]

    return kernel


def block_kernel(sm):
    """Each block transforms a row of 128 numbers in shared memory; and how many threads it has."""
    code, threads = fft("fft128", 128, BLOCK, SHARED_MEMORY, sm)
    transform = cuda.declare_device("fft128", "void(complex64*)", link=cuda.LTOIR(code, "fft128.ltoir"), abi="c")

    def kernel(x):
        row = cuda.shared.array(128, complex64, alignment=16)
        for k in range(cuda.threadIdx.x, 128, cuda.blockDim.x):
            row[k] = x[cuda.blockIdx.x, k]
        cuda.syncthreads()
        transform(row)
        cuda.syncthreads()
        for k in range(cuda.threadIdx.x, 128, cuda.blockDim.x):
            x[cuda.blockIdx.x, k] = row[k]

    return kernel, threads


def test_kernels_are_linked_with_it():
    """This needs no GPU."""
    signature = "void(complex64[:, ::1])"
    for kernel in (thread_kernel(90), block_kernel(90)[0]):
        machine_code, _ = cuda.compile(kernel, signature, device=False, abi="numba", cc=(9, 0), output="cubin")
        assert machine_code.startswith(b"\x7fELF")
    ptx = cuda.jit(thread_kernel(90)).inspect_lto_ptx(signature, cc=(9, 0))
    body = ptx[ptx.index(".entry kernel"):]
    assert not re.search(r"\bcall\b", body[:body.index("\n}")])   # it is put into the kernel


def random_rows(count, size):
    generator = np.random.default_rng(5)
    return (generator.normal(size=(count, size)) + 1j * generator.normal(size=(count, size))).astype(np.complex64)


@pytest.mark.gpu
def test_threads_transform():
    x = random_rows(256, 8)
    found = cuda.to_device(x)
    cuda.jit(thread_kernel(machine()))[2, 128](found)
    np.testing.assert_allclose(found.copy_to_host(), np.fft.fft(x), rtol=1e-4, atol=1e-4)


@pytest.mark.gpu
def test_blocks_transform():
    x = random_rows(16, 128)
    found = cuda.to_device(x)
    kernel, threads = block_kernel(machine())
    cuda.jit(kernel)[16, threads](found)
    np.testing.assert_allclose(found.copy_to_host(), np.fft.fft(x), rtol=1e-3, atol=1e-3)
