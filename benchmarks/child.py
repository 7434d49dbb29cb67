"""What needs a fresh process: child.py import|compile PEER. Prints milliseconds.

import: of the library over NumPy. compile: of the first kernel of the process, then of saxpy, each from its decoration
to its first result, with the context up and the arrays on the device."""

import sys
import time

import numpy as np
import peers

IMPORTS = {"cujit": "cujit.cuda", "numba-cuda": "numba.cuda", "CuPy RawKernel": "cupy"}


def milliseconds(action):
    start = time.perf_counter()
    action()
    return (time.perf_counter() - start) * 1e3


def import_time(name):
    peers.prepare(name)
    return milliseconds(lambda: __import__(IMPORTS[name]))


def fill_function(cuda):
    def fill(out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = i

    return fill


FILL_C = (
    'extern "C" __global__ void fill(float *out, int n) '
    "{ int i = blockIdx.x * 256 + threadIdx.x; if (i < n) out[i] = i; }"
)
SAXPY_C = (
    'extern "C" __global__ void saxpy(float a, const float *x, const float *y, float *out, int n) '
    "{ int i = blockIdx.x * 256 + threadIdx.x; if (i < n) out[i] = a * x[i] + y[i]; }"
)


def compile_times(name):
    from kernels import saxpy_function

    peer = peers.MAKERS[name]()
    x, y, out = (peer.put(np.ones(1024, np.float32)) for _ in range(3))
    peer.synchronize()

    def first_result(function, source, arguments):
        if name == "CuPy RawKernel":
            kernel_name = function(None).__name__
            peer.cupy.RawKernel(source, kernel_name)((4,), (256,), (*arguments, np.int32(1024)))
        else:
            peer.cuda.jit(function(peer.cuda))[4, 256](*arguments)
        peer.synchronize()

    yield milliseconds(lambda: first_result(fill_function, FILL_C, (out,)))
    yield milliseconds(lambda: first_result(saxpy_function, SAXPY_C, (np.float32(2), x, y, out)))
    assert np.all(peer.get(out) == 3)


if __name__ == "__main__":
    what, name = sys.argv[1:]
    print(*([import_time(name)] if what == "import" else compile_times(name)))
