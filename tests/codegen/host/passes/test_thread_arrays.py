"""Loops over a thread's small array are written out on the CPU device, so that the array is in registers and
neighbouring threads are vectors."""

import re

import numpy as np
import pytest

from cujit import cuda, float32

pytestmark = pytest.mark.skipif(cuda.get_current_device().kind == "cuda",
                                reason="about how the CPU device runs kernels")


@cuda.jit
def cholesky(a, out):
    i = cuda.grid(1)
    if i >= a.shape[0]:
        return
    lower = cuda.local.array((5, 5), float32)
    for row in range(5):
        for column in range(row + 1):
            total = a[i, row, column]
            for k in range(column):
                total -= lower[row, k] * lower[column, k]
            lower[row, column] = total ** float32(0.5) if row == column else total / lower[column, column]
    for row in range(5):
        for column in range(row + 1):
            out[i, row, column] = lower[row, column]


def test_loops_whose_ends_others_count():
    parts = np.random.default_rng(1).random((100, 5, 5)).astype(np.float32)
    a = parts @ parts.transpose(0, 2, 1) + 5 * np.eye(5, dtype=np.float32)
    out = np.zeros_like(a)
    cholesky[4, 32](a, out)
    np.testing.assert_allclose(out, np.linalg.cholesky(a.astype(np.float64)), rtol=1e-3, atol=1e-5)
    text = next(iter(cholesky.inspect_llvm().values()))
    assert re.search(r"fdiv (contract )?<\d+ x float>", text) and not re.search(r"alloca \[\d\d\d x i8\]", text)


def test_long_loops_stay():
    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        part = cuda.local.array(100, float32)
        for k in range(100):
            part[k] = x[i] * k
        for k in range(99):
            part[k + 1] += part[k]
        out[i] = part[99]

    out = np.zeros(32, np.float32)
    kernel[1, 32](np.ones(32, np.float32), out)
    assert (out == 4950).all()
    assert "!unroll" not in kernel.inspect("arrays", next(iter(kernel.signatures)))
