"""What comes behind `if i >= n: return` has two forms where threads meet behind it: one for blocks, or warps, of which
no thread has ended."""
import re

import numpy as np
import pytest

from cujit import cuda, float32, int32

pytestmark = pytest.mark.skipif(cuda.get_current_device().kind == "cuda",
                                reason="about how the CPU device runs kernels")
FULL = 0xFFFFFFFF


def warp_scan(x, out):
    i = cuda.grid(1)
    lane = cuda.threadIdx.x % 32
    if i >= x.size:
        return
    value = x[i]
    step = 1
    while step < 32:
        before = cuda.shfl_up_sync(FULL, value, step)
        if lane >= step:
            value += before
        step *= 2
    out[i] = value


def neighbours(x, out):
    """In a loop, with phis behind it."""
    part = cuda.shared.array(64, int32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    if i >= x.size:
        return
    value, other = x[i], 0
    for k in range(3):
        part[t] = value
        cuda.syncthreads()
        other = value
        value += part[t ^ 1] if i ^ 1 < x.size else k
        cuda.syncthreads()
    out[i] = value * 2 + other


def expected_neighbours(x):
    value = x.astype(np.int64)
    for k in range(3):
        other = value
        swapped = np.append(value, 0)[np.minimum(np.arange(x.size) ^ 1, x.size)]
        value = value + np.where(np.arange(x.size) ^ 1 < x.size, swapped, k)
    return (value * 2 + other).astype(np.int32)


def without_positions(text):
    return re.sub(r" ;.*", "", text)


def loops_that_ask(text):
    return len(re.findall(r"thread_loop (?:!independent )?block \d+, block \d+, %", text))


@pytest.mark.parametrize("kernel", [warp_scan, neighbours])
def test_one_form_asks_nobody(kernel):
    compiled = cuda.jit(kernel)
    types = int32[::1], int32[::1]
    before, after = (without_positions(compiled.inspect(name, types)) for name in ("regions", "all_go_on"))
    assert after.count("thread_loop") == 2 * before.count("thread_loop") - 1
    assert loops_that_ask(before) and loops_that_ask(after) == loops_that_ask(before)


@pytest.mark.parametrize("size", [1, 31, 32, 33, 63, 64, 65, 127, 128, 1000])
def test_results(size):
    x = np.random.default_rng(size).integers(-2**31, 2**31, size).astype(np.int32)
    blocks = (size + 63) // 64 + 1
    out = np.zeros_like(x)
    cuda.jit(warp_scan)[blocks, 64](x, out)
    want = np.zeros((size + 31) // 32 * 32, np.int32)
    want[:size] = x
    np.testing.assert_array_equal(out, np.cumsum(want.reshape(-1, 32), 1, dtype=np.int32).reshape(-1)[:size])
    cuda.jit(neighbours)[blocks, 64](x, out)
    np.testing.assert_array_equal(out, expected_neighbours(x))


def test_threads_that_end_later_are_asked_for():
    @cuda.jit
    def kernel(x, out):
        part = cuda.shared.array(64, int32)
        i, t = cuda.grid(1), cuda.threadIdx.x
        if i >= x.size:
            return
        part[t] = x[i]
        cuda.syncthreads()
        if part[t ^ 1] < 0:
            return
        cuda.syncthreads()
        out[i] = part[t ^ 1]

    x = np.random.default_rng(1).integers(-10, 10, 192).astype(np.int32)
    out = np.zeros_like(x)
    kernel[4, 64](x, out)
    other = x.reshape(-1, 2)[:, ::-1].reshape(-1)
    np.testing.assert_array_equal(out, np.where(other < 0, 0, other))
    texts = [without_positions(kernel.inspect(name, kernel.signatures[0])) for name in ("regions", "all_go_on")]
    assert texts[0].split() == texts[1].split()


def test_failing_checks_end_threads():
    """An exception behind the end of some threads: there is one form, and it is told of."""
    @cuda.jit
    def kernel(x, places, out):
        part = cuda.shared.array(64, float32)
        i, t = cuda.grid(1), cuda.threadIdx.x
        if i >= x.size:
            return
        part[t] = x[i]
        cuda.syncthreads()
        out[places[i]] = part[t ^ 1]

    x, places = np.arange(128, dtype=np.float32), np.arange(128, dtype=np.int32)
    out = np.zeros_like(x)
    kernel[3, 64](x, places, out)
    np.testing.assert_array_equal(out, x.reshape(-1, 2)[:, ::-1].reshape(-1))
    places[100] = 128
    with pytest.raises(IndexError):
        kernel[3, 64](x, places, out)
        cuda.synchronize()
