"""What LLVM is told on the CPU device: a block's shared memory, what its threads keep, and arguments lie apart."""

import re

import numpy as np
import pytest

from cujit import cuda, float32, int32, int64

pytestmark = pytest.mark.skipif(cuda.get_current_device().kind == "cuda",
                                reason="about how the CPU device runs kernels")


def through_shared(x, out):
    tile = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    tile[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    out[cuda.grid(1)] = tile[63 - t] + x[cuda.grid(1)]


def in_slots(table, places, out, rounds):
    i = cuda.grid(1)
    if i < out.size:
        total = float32(0)
        for k in range(rounds):
            total += table[places[k]] * float32(i)
        out[i] = total


def kinds_of(kernel, *types):
    """By the text: the scopes that accesses have."""
    text = kernel.inspect_llvm(types)
    return {kind for kind in ("shared", "slots", "arguments") if re.search(rf'!{{!"{kind}", ', text)}


def test_shared_memory_is_apart():
    kernel = cuda.jit(through_shared)
    assert {"shared", "arguments"} <= kinds_of(kernel, float32[::1], float32[::1])
    x = np.arange(256, dtype=np.float32)
    out = np.zeros_like(x)
    kernel[4, 64](x, out)
    np.testing.assert_array_equal(out, x.reshape(4, 64)[:, ::-1].reshape(-1) + x)


def test_slots_are_apart():
    """What is the same for all threads is loaded once for them, though they store to their slots."""
    kernel = cuda.jit(in_slots, check=False)
    assert {"slots", "arguments"} <= kinds_of(kernel, float32[::1], int32[::1], float32[::1], int64)
    table = np.arange(10, dtype=np.float32)
    places = np.array([3, 9, 0, 3] * 30, np.int32)
    out = np.zeros(500, np.float32)
    kernel[4, 128](table, places, out, 120)
    np.testing.assert_allclose(out, table[places].sum() * np.arange(500, dtype=np.float32), rtol=1e-5)


def test_arguments_may_overlap():
    """Two names of one array are not taken for two arrays."""
    def shifted(x, out):
        tile = cuda.shared.array(32, float32)
        t = cuda.threadIdx.x
        tile[t] = x[t]
        cuda.syncthreads()
        if t < 31:
            out[t] = tile[t + 1] * float32(2)
        cuda.syncthreads()
        tile[t] = x[t] + float32(1)
        cuda.syncthreads()
        out[t] = tile[t]

    x = cuda.to_device(np.arange(32, dtype=np.float32))
    cuda.jit(shifted)[1, 32](x, x)
    expected = np.append(np.arange(1, 32, dtype=np.float32) * 2, np.float32(31)) + 1
    np.testing.assert_array_equal(x.copy_to_host(), expected)
