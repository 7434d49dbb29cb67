"""Shuffles and votes between the threads of a block on the CPU device, beside a model: for one distance of all lanes
and for one of each, in segments, in blocks that end within a warp, and where threads have ended."""

import re

import numpy as np
import pytest

from cujit import cuda

pytestmark = pytest.mark.skipif(cuda.get_current_device().kind == "cuda",
                                reason="about how the CPU device runs kernels")
FULL = 0xFFFFFFFF
SIZES = [1, 31, 32, 33, 64, 100, 256]
TYPES = [np.int32, np.float32, np.int64, np.float64]


def source_lane(kind, lane, place, width):
    first = lane & -width
    last = first + width - 1
    source = {"up": lane - place, "down": lane + place, "xor": lane ^ place}.get(kind, first + place % width)
    is_there = first <= source if kind == "up" else source <= last
    return source if is_there else lane


def shuffled(kind, values, places, width, going=None):
    out = values.copy()
    for thread, place in enumerate(places):
        source = thread - thread % 32 + source_lane(kind, thread % 32, int(place) & 31, width)
        if source < len(values) and (going is None or going[source]):
            out[thread] = values[source]
    return out


def kernel_of(kind, condition=""):
    name = {"index": "shfl_sync"}.get(kind, f"shfl_{kind}_sync")
    text = f"""
def kernel(x, alike, each, out, width, limit):
    t = cuda.threadIdx.x
    {condition}
    out[0, t] = cuda.{name}({FULL}, x[t], alike, width)
    out[1, t] = cuda.{name}({FULL}, x[t], each[t], width)
    out[2, t] = cuda.{name}({FULL}, x[t], alike)
"""
    scope = {"cuda": cuda}
    exec(text, scope)
    return cuda.jit(scope["kernel"])


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("kind", ["index", "up", "down", "xor"])
def test_shuffles(kind, dtype):
    kernel = kernel_of(kind)
    random = np.random.default_rng(1)
    for threads in SIZES:
        for place in (0, 1, 2, 3, 4, 8, 16, 31):
            for width in (32, 8):
                x, each = (random.random(threads) * 1e6).astype(dtype), random.integers(0, 32, threads)
                out = np.zeros((3, threads), dtype)
                kernel[1, threads](x, place, each, out, width, 0)
                alike = np.full(threads, place)
                assert (out[0] == shuffled(kind, x, alike, width)).all(), (threads, place, width)
                assert (out[1] == shuffled(kind, x, each, width)).all(), (threads, place, width)
                assert (out[2] == shuffled(kind, x, alike, 32)).all(), (threads, place)


@pytest.mark.parametrize("kind", ["index", "up", "down", "xor"])
def test_threads_that_have_ended(kind):
    kernel = kernel_of(kind, "if t >= limit: return")
    x = np.arange(96)
    each = np.random.default_rng(2).integers(0, 32, 96)
    for limit in (1, 40, 64, 90, 96):
        for place in (1, 5, 16):
            out = np.full((3, 96), -1)
            kernel[1, 96](x, place, each, out, 16, limit)
            going = np.arange(96) < limit
            alike = np.full(96, place)
            want = [shuffled(kind, x, alike, 16, going), shuffled(kind, x, each, 16, going),
                    shuffled(kind, x, alike, 32, going)]
            assert (out == np.where(going, want, -1)).all(), (limit, place)


@pytest.mark.parametrize("ends", [False, True])
def test_votes(ends):
    @cuda.jit
    def kernel(x, limit, out):
        t = cuda.threadIdx.x
        if ends and t >= limit:
            return
        out[0, t] = cuda.all_sync(FULL, x[t])
        out[1, t] = cuda.any_sync(FULL, x[t])
        out[2, t] = cuda.eq_sync(FULL, x[t])
        out[3, t] = cuda.ballot_sync(FULL, x[t]) & FULL

    random = np.random.default_rng(3)
    for threads in SIZES:
        for share in (0.0, 0.5, 0.98, 1.0):
            limit = random.integers(1, threads + 1) if ends else threads
            x = random.random(threads) < share
            out, want = np.full((4, threads), -1), np.full((4, threads), -1)
            kernel[1, threads](x, limit, out)
            for first in range(0, limit, 32):
                there = slice(first, min(first + 32, limit))
                part = x[there]
                bits = sum(int(bit) << lane for lane, bit in enumerate(part))
                want[:, there] = np.array([[part.all()], [part.any()], [part.all() or not part.any()], [bits]])
            assert (out == want).all(), (threads, share, limit)


def test_common_reductions_do_not_go_from_lane_to_lane():
    @cuda.jit
    def kernel(x, out):
        value = x[cuda.grid(1)]
        offset = 16
        while offset > 0:
            value += cuda.shfl_xor_sync(FULL, value, offset)
            offset //= 2
        out[cuda.grid(1)] = value

    x, out = np.random.default_rng(1).integers(0, 100, 256).astype(np.int32), np.zeros(256, np.int32)
    kernel[2, 128](x, out)
    assert (out.reshape(-1, 32) == x.reshape(-1, 32).sum(1)[:, None]).all()
    assert "shufflevector <32 x i" in next(iter(kernel.inspect_llvm().values()))


def test_lanes_that_may_have_ended_are_moved_at_once():
    kernel = kernel_of("xor", "if t >= limit: return")
    x, out = np.arange(64), np.zeros((3, 64), np.int64)
    kernel[1, 64](x, 1, x % 32, out, 32, 64)
    assert "shufflevector <32 x i" in next(iter(kernel.inspect_llvm().values()))


def test_nobody_is_asked_where_all_go_on():
    @cuda.jit
    def kernel(x, out, n):
        i = cuda.grid(1)
        if i >= n:
            return
        value = x[i]
        if value > 0:
            out[n + i] = value
        cuda.syncthreads()
        out[i] = value

    x = np.arange(100, dtype=np.float32)
    for n in (0, 1, 50, 64, 100):
        out = np.full(200, -1, np.float32)
        kernel[2, 64](x, out, n)
        want = np.full(200, -1, np.float32)
        want[n:2 * n] = np.where(x[:n] > 0, x[:n], want[n:2 * n])
        want[:n] = x[:n]
        assert (out == want).all(), n
    assert re.search(r"\n  store <\d+ x float>", next(iter(kernel.inspect_llvm().values())))


@pytest.mark.parametrize("dtype", [*TYPES, np.int16, np.float16])
@pytest.mark.parametrize("count", [96, 75])
def test_what_lies_in_a_slot_is_shuffled_from_there(dtype, count):
    """In a loop, where each thread's value is kept anyway; narrower numbers are brought. Threads may have ended."""
    @cuda.jit
    def kernel(x, out):
        i = cuda.threadIdx.x
        if i >= x.size:
            return
        value = x[i]
        step = 1
        while step < 32:
            value = max(value, cuda.shfl_down_sync(FULL, value, step))
            step *= 2
        out[i] = value

    x = np.random.default_rng(2).integers(0, 1000, count).astype(dtype)
    out = np.zeros_like(x)
    kernel[1, 96](x, out)
    np.testing.assert_array_equal(out, [x[i:min(i // 32 * 32 + 32, count)].max() for i in range(count)])
    text = kernel.inspect("regions", kernel.signatures[0])
    given = re.search(r"exchange cuda.shfl_down_sync (%\d+),", text)[1]
    is_brought = re.search(rf"  {given}: u(32|64) = slot\n", text)
    assert bool(is_brought) == (dtype not in TYPES)


@pytest.mark.parametrize("dtype", [*TYPES, np.float16])
def test_the_place_of_a_warps_largest_number_is_handed_to_all(dtype):
    """Only the first lane of the last comparison is asked for, of which LLVM 22 makes another lane's in float64."""
    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        value = x[i] if i < x.size else x.dtype.type(-1)
        place = np.int32(i)
        step = 16
        while step > 0:
            other = cuda.shfl_down_sync(FULL, value, step)
            other_place = cuda.shfl_down_sync(FULL, place, step)
            if other > value:
                value = other
                place = other_place
            step //= 2
        out[i] = cuda.shfl_sync(FULL, place, 0)

    x = np.random.default_rng(1).permutation(512).astype(dtype)
    out = np.zeros(512, np.int32)
    kernel[4, 128](x, out)
    np.testing.assert_array_equal(out, np.repeat(x.reshape(-1, 32).argmax(1) + np.arange(0, 512, 32), 32))
