"""Python's integers have 64 bits; where 32 are enough, the CPU device computes in 32, of which a vector has twice as
many."""

import re

import numpy as np
import pytest

from cujit import cuda, float32, float64, uint8

pytestmark = pytest.mark.skipif(cuda.get_current_device().kind == "cuda",
                                reason="about how the CPU device runs kernels")


def test_sums_of_small_numbers():
    @cuda.jit
    def kernel(cells, out):
        i = cuda.grid(1)
        if 0 < i < cells.size - 1:
            alive = cells[i - 1] + cells[i] + cells[i + 1]
            out[i] = 1 if alive == 3 or alive % 5 == 1 else 0

    cells = np.random.default_rng(1).integers(0, 256, 1000).astype(np.uint8)
    out = np.zeros(1000, np.uint8)
    kernel[4, 256](cells, out)
    alive = cells[:-2].astype(int) + cells[1:-1] + cells[2:]
    assert (out[1:-1] == ((alive == 3) | (alive % 5 == 1))).all()
    text = next(iter(kernel.inspect_llvm().values()))
    assert re.search(r"add (nuw |nsw )*<\d+ x i(16|32)>", text) and not re.search(r"icmp eq <\d+ x i64>", text)


def test_words_that_wrap():
    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.size:
            h = x[i]
            for k in range(8):
                h = np.uint32((h ^ (h >> np.uint32(16))) * np.uint32(0x45D9F3B) + k)
            out[i] = h

    x = np.random.default_rng(1).integers(0, 1 << 32, 1000, dtype=np.uint32)
    out = np.zeros_like(x)
    kernel[4, 256](x, out)
    want = x.astype(np.uint64)
    for k in range(8):
        want = ((want ^ (want >> np.uint64(16))) * np.uint64(0x45D9F3B) + np.uint64(k)) & np.uint64(0xFFFFFFFF)
    assert (out == want).all()
    assert not re.search(r"mul (nuw |nsw )*<\d+ x i64>", next(iter(kernel.inspect_llvm().values())))


def test_tests_in_32_bits_bound_loops_over_threads():
    @cuda.jit
    def kernel(x):
        part = cuda.shared.array(256, np.float32)
        t = cuda.threadIdx.x
        part[t] = x[t]
        half = 128
        while half > 0:
            cuda.syncthreads()
            if t < half:
                part[t] += part[t + half]
            half //= 2
        if t == 0:
            x[0] = part[0]

    x = np.arange(256, dtype=np.float32)
    kernel[1, 256](x)
    assert x[0] == 255 * 128
    text = kernel.inspect("region_bounds", next(iter(kernel.signatures)))
    assert re.search(r"%\d+: i32 = phi", text) and len(re.findall("branch !in", text)) == 2


FULL = 0xFFFFFFFF


def warp_scan(x, out):
    i = cuda.grid(1)
    value = x[i]
    step = 1
    while step < 32:
        before = cuda.shfl_up_sync(FULL, value, step)
        if i % 32 >= step:
            value += before
        step *= 2
    out[i] = value


def test_shuffles_of_what_is_stored_in_32_bits():
    kernel = cuda.jit(warp_scan)
    x = np.random.default_rng(1).integers(-2**31, 2**31, 256).astype(np.int32)
    out = np.zeros_like(x)
    kernel[4, 64](x, out)
    np.testing.assert_array_equal(out, np.cumsum(x.reshape(-1, 32), 1, dtype=np.int32).reshape(-1))
    assert "u32 = cuda.shfl_up_sync" in kernel.inspect("int32", kernel.signatures[0])
    text = kernel.inspect_llvm(kernel.signatures[0])
    assert re.search(r"shufflevector <32 x i32>", text) and not re.search(r"(shufflevector|phi) <32 x i64>", text)


@pytest.mark.parametrize("other", [False, True], ids=["asked by this one", "asked by one that lanes may meet there"])
def test_shuffles_of_more_than_32_bits(other):
    def kernel(x, out):
        i = cuda.grid(1)
        value = np.int64(x[i]) << 20
        if other and i % 2:
            low = cuda.shfl_xor_sync(FULL, value, 1)
            out[i] = np.int32(low)
        else:
            out[i] = cuda.shfl_xor_sync(FULL, value, 1)

    compiled = cuda.jit(kernel)
    x = np.random.default_rng(1).integers(-2**31, 2**31, 64).astype(np.int32)
    out = np.zeros(64, np.int64)
    compiled[1, 64](x, out)
    want = x.astype(np.int64).reshape(-1, 2)[:, ::-1].reshape(-1) << 20
    if other:
        want[1::2] = want[1::2].astype(np.int32)
    np.testing.assert_array_equal(out, want)
    text = compiled.inspect("int32", compiled.signatures[0])
    assert "i64 = cuda.shfl_xor_sync" in text and "32 = cuda.shfl_xor_sync" not in text


def clamped(x, table, out):
    """An end that is an extent, of a number that has 32 bits."""
    i = cuda.grid(1)
    if i < x.size:
        place = x[i] * np.float32(3)
        above = min(np.int32(place), table.shape[0] - 2)
        below = max(1 - table.shape[0], np.int32(place))
        out[0, i] = above
        out[1, i] = below
        out[2, i] = max(min(table.shape[0] - 1, np.int32(place)), 0) + 1
        out[3, i] = place - np.float32(above)


@pytest.mark.parametrize("size", [0, 1, 100, 2**31 - 1, 2**31, 2**31 + 1, 2**31 + 2, 2**33])
def test_an_end_may_be_beyond_32_bits(size):
    x = np.float32([-2e9, -1e8, -40, -33, -0.4, 0, 5, 33, 33.4, 1e8, 2e9] * 9)
    table, out = np.broadcast_to(np.uint8(3), size), np.zeros((4, x.size), np.float64)
    cuda.jit(clamped)[2, 64](x, table, out)
    place = x * np.float32(3)
    whole = place.astype(np.float64).clip(-2**31, 2**31 - 1).astype(np.int64)
    above = np.minimum(whole, size - 2)
    want = above, np.maximum(1 - size, whole), np.maximum(np.minimum(size - 1, whole), 0) + 1, \
        place - above.astype(np.int32).astype(np.float32)
    assert (out == want).all()


def test_clamps_are_in_32_bits():
    kernel, types = cuda.jit(clamped), (float32[::1], uint8[::1], float64[:, ::1])
    text = kernel.inspect("int32", types)
    assert len(re.findall(r": i32 = (?:min|max) ", text)) == 4
    assert len(re.findall(r": i64 = (?:min|max) ", text)) == 3, "the ends, which all threads have alike"
    assert not re.search(r"smin\.v\d+i64", kernel.inspect("llvm", types))
