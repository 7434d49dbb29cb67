"""Grid-stride loops in front of barriers, which all threads of a block go through together on the CPU device: each
thread takes the trips that it has in Python, in their order."""
import platform
import random
import types as python_types

import numpy as np
import pytest

from cujit import cuda, float32, int64

pytestmark = pytest.mark.skipif(cuda.get_current_device().kind == "cuda",
                                reason="about how the CPU device runs kernels")

HEAD = """def kernel(out, count, data, n, m):
    t = cuda.threadIdx.x
    j = cuda.threadIdx.y
    g = cuda.grid(1)
    carry, other, i = 1, 0, -1
"""
END = """    cuda.syncthreads()
    out[cuda.blockIdx.x, j, t] = carry * 1000 + other
"""
STARTS = ["g", "t", "g + 2", "g - 3", "t - n", "cuda.blockIdx.x * 4 + t", "2 * t", "t + j", "7 + g",
          "j", "j + 2", "cuda.blockIdx.x + j"]
BOUNDS = ["n", "out.size", "data.size", "100", "m - 1", "data[0]", "n * 2", "-n", "20", "cuda.blockDim.y + 5"]
STEPS = ["cuda.gridsize(1)", "cuda.gridsize(1)", "cuda.blockDim.x", "16", "1", "m", "cuda.blockDim.x * 2",
         "cuda.blockDim.y"]
BODIES = [
    ["carry = (carry * 3 + i) % 10007"],
    ["other, carry = carry, (other + i) % 10007"],
    ["if i % 3 == 0:", "    continue", "carry += i"],
    ["if i > m * 5:", "    break", "carry += i"],
    ["for k in range(i % 4):", "    carry = (carry + k * other) % 10007", "other += 1"],
    ["cuda.atomic.add(count, i % 8, i)"],
    ["for k in range(t, 20, 8):", "    carry = (carry + k * other + i) % 10007", "other += k"],
    ["if i < 50:", "    carry += data[i]"],
    ["if i % 2:", "    carry += i", "else:", "    other -= i", "cuda.atomic.add(count, 0, 1)"],
    ["carry += data[i % data.size]", "carry %= 10007"],
]
AFTERWARDS = [[], [], ["other += i"], ["cuda.syncthreads()", "carry += 1"]]


def source_of(pick, is_range):
    start, bound, step, body = pick(STARTS), pick(BOUNDS), pick(STEPS), pick(BODIES)
    if is_range:
        loop = [f"for i in range({start}, {bound}, {step}):", *("    " + line for line in body)]
    else:
        body = [line for line in body if "continue" not in line and "% 3 == 0" not in line]
        loop = [f"i = {start}", f"while i < {bound}:", *("    " + line for line in body), f"    i += {step}"]
    if pick([False, False, True]):
        loop = ["for round in range(2):", *("    " + line for line in [*loop, "cuda.syncthreads()"])]
    return HEAD + "\n".join("    " + line for line in [*loop, *pick(AFTERWARDS)]) + "\n" + END


def model(source, blocks, block, out, count, data, n, m):
    """Thread by thread: they share nothing but sums."""
    place = python_types.SimpleNamespace

    def add(array, index, value):
        array[index] += value

    for b in range(blocks):
        for j in range(block[1]):
            for t in range(block[0]):
                threads = place(threadIdx=place(x=t, y=j), blockIdx=place(x=b), blockDim=place(x=block[0], y=block[1]),
                                grid=lambda ndim, i=b * block[0] + t: i, gridsize=lambda ndim: blocks * block[0],
                                syncthreads=lambda: None, atomic=place(add=add))
                scope = {"cuda": threads}
                exec(source, scope)
                scope["kernel"](out, count, data, n, m)


@pytest.mark.parametrize("seed", range(90))
def test_random_loops(seed):
    chance = random.Random(seed)
    source = source_of(chance.choice, seed % 4 != 0)
    scope = {"cuda": cuda}
    exec(source, scope)
    kernel = cuda.jit(scope["kernel"])
    for blocks, block in ((2, (16, 1)), (1, (5, 3)), (3, (1, 1))):
        n, m = chance.choice([0, 1, 15, 16, 17, 40, 90]), chance.choice([1, 3, 33])
        data = np.arange(50) * 7 % 41
        results = []
        for run in (kernel[blocks, block], lambda *a, b=blocks, k=block: model(source, b, k, *a)):
            out, count = np.zeros((blocks, block[1], block[0]), np.int64), np.zeros(8, np.int64)
            run(out, count, data, n, m)
            results.append((out, count))
        (out, count), (want, wanted) = results
        assert (out == want).all() and (count == wanted).all(), (source, blocks, block, n, m)


def reduction(x, out):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    total = float32(0)
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        total += x[i]
    s[t] = total
    cuda.syncthreads()
    if t == 0:
        out[cuda.blockIdx.x] = s[0] + s[63]


@pytest.mark.skipif(platform.machine() == "aarch64", reason="NEON has no loads under a mask")
def test_a_trip_of_all_threads_is_vectorized():
    text = cuda.jit(reduction).inspect("llvm", (float32[::1], float32[::1]))
    assert "fadd contract <" in text


def halo(u, out):
    tile = cuda.shared.array((20, 36), float32)
    t, r = cuda.threadIdx.x, cuda.threadIdx.y
    for y in range(r, 20, 16):
        for x in range(t, 36, 32):
            row, column = cuda.blockIdx.y * 16 + y - 2, cuda.blockIdx.x * 32 + x - 2
            inside = row >= 0 and row < u.shape[0] and column >= 0 and column < u.shape[1]
            tile[y, x] = u[row, column] if inside else float32(0)
    cuda.syncthreads()
    j, i = cuda.grid(2)
    if i < u.shape[0] and j < u.shape[1]:
        out[i, j] = tile[r, t] + tile[r + 4, t + 4]


def test_the_border_of_a_tile_is_taken_by_all_threads():
    u = np.random.default_rng(1).random((75, 101), np.float32)
    out = np.zeros_like(u)
    cuda.jit(halo)[(4, 5), (32, 16)](u, out)
    around = np.pad(u, 2)
    assert (out == around[:-4, :-4] + around[4:, 4:]).all()


@pytest.mark.parametrize("start", [2**62, 2**63 - 100, 2**63 - 9])
def test_ends_near_the_largest_number(start):
    @cuda.jit
    def kernel(trips, start, end):
        for _ in range(cuda.grid(1) + start, end, cuda.gridsize(1)):
            cuda.atomic.add(trips, cuda.threadIdx.x, 1)
        cuda.syncthreads()
        trips[cuda.threadIdx.x] += 100

    for end in (start - 5, start, start + 1, start + 8, 2**63 - 1):
        if end - start < 1000:
            trips = np.zeros(8, np.int64)
            kernel[1, 8](trips, start, end)
            want = [100 + len(range(start + t, end, 8)) if start + t < 2**63 else 100 for t in range(8)]
            assert trips.tolist() == want, end


def test_bytes_are_counted_in_shared_memory():
    @cuda.jit
    def kernel(values, out):
        counts = cuda.shared.array(256, int64)
        counts[cuda.threadIdx.x] = 0
        cuda.syncthreads()
        for i in range(cuda.grid(1), values.size, cuda.gridsize(1)):
            cuda.atomic.add(counts, values[i], 1)
        cuda.syncthreads()
        cuda.atomic.add(out, cuda.threadIdx.x, counts[cuda.threadIdx.x])

    values = np.random.default_rng(3).integers(0, 256, 10007).astype(np.uint8)
    out = np.zeros(256, np.int64)
    kernel[5, 256](values, out)
    assert (out == np.bincount(values, minlength=256)).all()
