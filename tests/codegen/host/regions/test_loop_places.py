"""Loops that the threads of a block run alike go around the loop over them, on the CPU device: where that makes it
vectorized, and where nobody can tell. Results are the same for every shape of a block."""

import re

import numpy as np
import pytest

from cujit import cuda, float32, int64, uint32

pytestmark = pytest.mark.skipif(cuda.get_current_device().kind == "cuda",
                                reason="about how the CPU device runs kernels")
F, U = float32[::1], uint32[::1]
SHAPES = [(1, 1), (64, 1), (32, 8), (7, 5), (1, 33)]


def rounds(x, out, count):
    i, row = cuda.grid(2)
    if i < out.shape[1] and row < out.shape[0]:
        a = x[row, i]
        b = a ^ uint32(0x9E3779B9)
        for k in range(count):
            a = uint32(a + ((b << uint32(4)) ^ uint32(k)))
            b = uint32(b ^ (a >> uint32(5)))
        out[row, i] = a ^ b


def rounds_behind_returns(x, out, count):
    i, row = cuda.grid(2)
    if i < 1:
        return
    if i >= out.shape[1] - 2 or row >= out.shape[0]:
        return
    a = x[row, i]
    for k in range(count):
        if a % uint32(3) == uint32(0):
            a = uint32(a + x[row, i - 1])
        elif a % uint32(3) == uint32(1):
            a = uint32(a * uint32(5) + x[row, i + 1])
        out[row, i] = uint32(out[row, i] + a)
    out[row, i] = uint32(out[row, i] ^ a)


def nested(x, out, count):
    i, row = cuda.grid(2)
    if i < out.shape[1] and row < out.shape[0]:
        total = uint32(0)
        for k in range(count):
            for m in range(k + 1):
                total = uint32(total * uint32(7) + x[row, i] + uint32(m))
            for m in range(3, 0, -1):
                total = uint32(total ^ uint32(m))
        for m in range(count, 0, -2):
            total = uint32(total + uint32(m))
        out[row, i] = total


def swapped(x, out, count):
    """What one loop carries in two variables changes places."""
    i, row = cuda.grid(2)
    if i < out.shape[1] and row < out.shape[0]:
        a = x[row, i]
        b = uint32(1)
        last = a
        for k in range(count):
            last = a
            a, b = b, uint32(a + b)
        out[row, i] = uint32(a + b * uint32(3) + last)


def filtered(x, out, count):
    """A loop over columns that all share, with a small one inside that is written out."""
    i, row = cuda.grid(2)
    if i < out.shape[1] and row < out.shape[0]:
        total = uint32(0)
        for k in range(count):
            for m in range(-1, 2):
                total = uint32(total * uint32(31) + x[k % x.shape[0], max(min(i + m, x.shape[1] - 1), 0)])
        out[row, i] = total


AROUND = [rounds, rounds_behind_returns, nested, swapped, filtered]


@pytest.mark.parametrize("function", AROUND, ids=lambda function: function.__name__)
@pytest.mark.parametrize("count", [0, 1, 9])
def test_results(function, count, expected_of):
    x = np.random.default_rng(count).integers(0, 1 << 32, (5, 70)).astype(np.uint32)
    expected = expected_of(function, x, count, np.ndindex(73, 7))
    kernel = cuda.jit(function)
    for block in SHAPES:
        out = np.zeros_like(x)
        kernel[(-(-73 // block[0]), -(-7 // block[1])), block](x, out, count)
        np.testing.assert_array_equal(out, expected, str(block))


@pytest.mark.parametrize("function", AROUND, ids=lambda function: function.__name__)
def test_loop_goes_around(function, has_masks):
    types = (uint32[:, ::1], uint32[:, ::1], int64)
    kernel = cuda.jit(function)
    assert "thread_loop" in kernel.inspect("regions", types)
    is_vectorized = function is not filtered and (function is not rounds_behind_returns or has_masks)
    assert not is_vectorized or re.search(r"add <\d+ x i32>", kernel.inspect_llvm(types))


# --- where it stays ---------------------------------------------------------------------------------------------------


def differs(x, out, count):
    i = cuda.grid(1)
    if i < out.size:
        total = uint32(0)
        for k in range(x[i] % uint32(8)):
            total = uint32(total * uint32(5) + uint32(k))
        out[i] = total


def breaks(x, out, count):
    i = cuda.grid(1)
    if i < out.size:
        a = x[i]
        for k in range(count):
            if a > uint32(1 << 30):
                break
            a = uint32(a * uint32(3))
        out[i] = a


def along_rows(x, out, count):
    """Neighbouring threads are far from each other; each walks along memory."""
    i = cuda.grid(1)
    if i < out.size:
        total = uint32(0)
        for k in range(count):
            total = uint32(total * uint32(5) + x[i * count + k])
        out[i] = total


def takes_places(x, out, count):
    i = cuda.grid(1)
    if i < out.size:
        for k in range(count):
            out[i] = cuda.atomic.add(out, 0, x[i])


def may_never_end(x, out, count):
    """A loop of unknown length runs only if a thread is there that runs it."""
    i = cuda.grid(1)
    if i < out.size and count > 0:
        a = x[i]
        k = 0
        while k != count:
            a = uint32(a * uint32(3) + uint32(1))
            k += 3
        out[i] = a


@pytest.mark.parametrize("function", [differs, breaks, along_rows, takes_places, may_never_end],
                         ids=lambda function: function.__name__)
def test_loop_stays(function):
    assert "thread_loop" not in cuda.jit(function).inspect("regions", (U, U, int64))


def test_short_loops_stay():
    def short(x, out):
        i = cuda.grid(1)
        if i < out.size:
            total = float32(0)
            for k in range(4):
                total = total * float32(0.5) + x[i]
            out[i] = total

    assert "thread_loop" not in cuda.jit(short).inspect("regions", (F, F))


def test_loops_of_blocks_that_meet():
    """Small loops between barriers are written out inside of the loop over threads: what they carry is in registers."""
    def product(a, b, out):
        a_tile = cuda.shared.array((16, 16), float32)
        b_tile = cuda.shared.array((16, 16), float32)
        x, y = cuda.threadIdx.x, cuda.threadIdx.y
        total = float32(0)
        for tile in range(a.shape[1] // 16):
            a_tile[y, x] = a[cuda.blockIdx.y * 16 + y, tile * 16 + x]
            b_tile[y, x] = b[tile * 16 + y, cuda.blockIdx.x * 16 + x]
            cuda.syncthreads()
            for k in range(16):
                total += a_tile[y, k] * b_tile[k, x]
            cuda.syncthreads()
        out[cuda.blockIdx.y * 16 + y, cuda.blockIdx.x * 16 + x] = total

    kernel = cuda.jit(product)
    marked = kernel.inspect("regions", (float32[:, ::1],) * 3)
    assert re.search(r"^block \d+ !unroll", marked, re.MULTILINE)
    random = np.random.default_rng(3)
    a, b = random.random((48, 32), np.float32), random.random((32, 64), np.float32)
    out = np.zeros((48, 64), np.float32)
    kernel[(4, 3), (16, 16)](a, b, out)
    np.testing.assert_allclose(out, a @ b, rtol=1e-5)


# --- arrays of a thread -----------------------------------------------------------------------------------------------


def sorted_columns(x, out, count):
    i = cuda.grid(1)
    if i < x.shape[1]:
        v = cuda.local.array(9, uint32)
        for k in range(9):
            v[k] = x[k, i]
        for trip in range(count):
            for k in range(trip % 2, 8, 2):
                low = min(v[k], v[k + 1])
                v[k + 1] = max(v[k], v[k + 1])
                v[k] = low
        for k in range(9):
            out[k, i] = v[k]


@pytest.mark.parametrize("block", [1, 40, 256, 1024])
def test_arrays_of_threads(block):
    """Elements of neighbouring threads lie next to each other, so that the loop over threads is vectorized."""
    x = np.random.default_rng(block).integers(0, 1 << 32, (9, 2000)).astype(np.uint32)
    out = np.zeros_like(x)
    kernel = cuda.jit(sorted_columns)
    kernel[-(-2000 // block), block](x, out, 9)
    np.testing.assert_array_equal(out, np.sort(x, axis=0))
    assert "u32[1 A] = slot_load" in kernel.inspect("regions", (uint32[:, ::1], uint32[:, ::1], int64))
    assert re.search(r"umin.v\d+i32", next(iter(kernel.inspect_llvm().values())))


def test_arrays_that_others_see():
    """One that a device function gets is in one piece."""
    @cuda.jit(device=True)
    def total_of(values):
        total = uint32(0)
        for value in values:
            total = uint32(total * uint32(3) + value)
        return total

    def handed(x, out, count):
        i = cuda.grid(1)
        if i < out.size:
            v = cuda.local.array(5, uint32)
            for k in range(5):
                v[k] = x[i]
            for trip in range(count):
                for k in range(5):
                    v[k] = uint32(v[k] * uint32(k + trip) + uint32(1))
            out[i] = total_of(v)

    x = np.random.default_rng(5).integers(0, 1 << 32, 300).astype(np.uint32)
    out = np.zeros_like(x)
    cuda.jit(handed)[3, 128](x, out, 70)
    v = np.repeat(x[None], 5, 0)
    for trip in range(70):
        v = v * np.arange(trip, trip + 5, dtype=np.uint32)[:, None] + np.uint32(1)
    expected = np.zeros_like(x)
    for row in v:
        expected = expected * np.uint32(3) + row
    np.testing.assert_array_equal(out, expected)
