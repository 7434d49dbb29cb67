"""A code generator's passes are run again for the next module: its code is that of new passes."""

import numpy as np

from cujit import cuda, float32, int32, void

SIGNATURE = void(float32[::1], float32[::1])


def plain(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = 2 * x[i]


def shared(x, out):
    tile = cuda.shared.array(64, float32)
    i = cuda.grid(1)
    tile[cuda.threadIdx.x] = x[i]
    cuda.syncthreads()
    out[i] = tile[63 - cuda.threadIdx.x]


def local(x, out):
    i = cuda.grid(1)
    items = cuda.local.array(32, int32)
    for k in range(32):
        items[k] = int32(x[k])
    out[i] = items[items[i & 31] & 31]


def table(x, out):
    i = cuda.grid(1)
    out[i] = x[i] * cuda.const.array_like(TABLE)[i & 7]


TABLE = np.arange(8, dtype=np.float32) ** 2


def texts(kernels, **options):
    return [cuda.compile_ptx(kernel, SIGNATURE, cc=(8, 0), **options)[0] for kernel in kernels]


def test_ptx_does_not_depend_on_what_was_compiled_before():
    kernels = [plain, shared, local, table]
    first = texts(kernels)
    with_lines = texts(kernels, lineinfo=True)
    for turn in range(8):
        order = kernels[turn % 4 :] + kernels[: turn % 4]
        assert dict(zip(order, texts(order), strict=True)) == dict(zip(kernels, first, strict=True))
        assert texts(kernels, lineinfo=True) == with_lines
