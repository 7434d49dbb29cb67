"""Tests at a kernel's beginning, which bound the CPU device's loop over threads: the same threads run as in Python."""

import random
import re
from types import SimpleNamespace

import numpy as np
import pytest

from cujit import cuda

pytestmark = pytest.mark.skipif(cuda.get_current_device().kind == "cuda",
                                reason="about how the CPU device runs kernels")
LIMITS = [-(2**63), -(2**62), -5, -1, 0, 1, 2, 7, 31, 32, 33, 64, 95, 96, 97, 2**31, 2**62, 2**63 - 1]


def llvm_of(kernel, *arguments, grid=(3, 32)):
    kernel[grid](*arguments)
    return next(iter(kernel.inspect_llvm().values()))


def kernel_of(text):
    scope = {"cuda": cuda, "np": np}
    exec(text, scope)
    return cuda.jit(scope["kernel"])


class Conditions:
    """Random conditions on i, which counts threads along x, and r, which is alike in a row."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def bound(self):
        return self.random.choice(["n", "m", "n - 3", "out.shape[1]", "out.shape[1] - 1", "r", "40", "0", "-2",
                                   "n // 2"])

    def index(self):
        return self.random.choice(["i", "i", "i", "i + 2", "i - 3", "r + i", "2 * i", "i + m", "cuda.threadIdx.x"])

    def comparison(self):
        sides = [self.index(), self.bound()]
        self.random.shuffle(sides)
        return f" {self.random.choice(['<', '<', '<=', '>', '>=', '=='])} ".join(sides)

    def condition(self):
        kind = self.random.random()
        if kind < 0.2:
            return f"{self.bound()} <= {self.index()} < {self.bound()}"
        if kind < 0.4:
            return f"{self.comparison()} {self.random.choice(['and', 'or'])} {self.comparison()}"
        if kind < 0.5:
            return f"({self.comparison()}) & ({self.comparison()})"
        if kind < 0.6:
            return f"r {self.random.choice(['<', '>='])} 1"
        return self.comparison()

    def body(self):
        lines = []
        for _ in range(self.random.randint(1, 3)):
            lines.append(self.random.choice([f"if not ({self.condition()}): return", f"if {self.condition()}: return"]))
        if self.random.random() < 0.5:
            lines.append(f"if {self.condition()}: out[r, i] += 1 + i")
        else:
            lines += ["out[r, i] += 1 + i", f"if {self.condition()}: out[r, i] += 1000"]
        return lines


@pytest.mark.parametrize("seed", range(60))
def test_random_tests(seed):
    tests = Conditions(seed)
    body = "\n".join("    " + line for line in tests.body())
    head = "def kernel(out, n, m):\n    i, r = cuda.grid(2)\n"
    kernel = kernel_of(head + body)
    reference = {}
    exec("def reference(i, r, out, n, m, cuda):\n" + body, reference)

    class FakeCuda:
        class threadIdx:     # noqa: N801
            x = 0

    for _ in range(6):
        n, m = tests.random.choice(LIMITS[2:-3]), tests.random.choice(LIMITS[2:-3])
        out, want = np.zeros((2, 96), np.int64), np.zeros((2, 96), np.int64)
        kernel[(3, 2), (32, 1)](out, n, m)
        for r in range(2):
            for i in range(96):
                FakeCuda.threadIdx.x = i % 32
                reference["reference"](i, r, want, n, m, FakeCuda)
        assert (out == want).all(), (body, n, m)


@pytest.mark.parametrize("seed", range(40))
def test_random_tests_between_barriers(seed):
    tests = Conditions(seed)
    body = f"if {tests.condition()}:\n            out[r, i] += 1 + k"
    if seed % 2:
        body = f"if {tests.condition()}:\n            if {tests.condition()}:\n                out[r, i] += 1 + k"
    kernel = kernel_of("def kernel(out, n, m):\n    i, r = cuda.grid(2)\n    for k in range(3):\n        " + body
                       + "\n        cuda.syncthreads()\n        n += k\n")
    reference = {}
    exec("def reference(i, r, out, n, m, k, cuda):\n        " + body, reference)

    class FakeCuda:
        class threadIdx:     # noqa: N801
            x = 0

    for _ in range(6):
        n, m = tests.random.choice(LIMITS[2:-3]), tests.random.choice(LIMITS[2:-3])
        out, want = np.zeros((2, 96), np.int64), np.zeros((2, 96), np.int64)
        kernel[(3, 1), (32, 2)](out, n, m)
        for k in range(3):
            for r in range(2):
                for i in range(96):
                    FakeCuda.threadIdx.x = i % 32
                    reference["reference"](i, r, want, n + max(0, k - 1), m, k, FakeCuda)
        assert (out == want).all(), (body, n, m)


@pytest.mark.parametrize("test", ["i < n", "i <= n", "i > n", "i >= n", "n < i", "n >= i", "i == n", "not n != i"])
def test_any_limit(test):
    kernel = kernel_of(f"def kernel(out, n):\n    i = cuda.grid(1)\n    if {test}:\n        out[i] = 1")
    for n in LIMITS:
        out = np.zeros(96, np.int64)
        kernel[3, 32](out, n)
        assert (out == [eval(test, {"i": i, "n": n}) for i in range(96)]).all(), n


def test_common_kernels_have_no_masks():
    x = np.arange(90, dtype=np.float32)
    out = np.zeros_like(x)
    for body in ("if i < out.size: out[i] = x[i] + 1",
                 "if i >= out.size: return\n    out[i] = x[i] + 1",
                 "for k in range(i, out.size, cuda.gridsize(1)): out[k] = x[k] + 1",
                 "if 0 < i < out.size - 1: out[i] = x[i - 1] + x[i + 1]",
                 "for k in range(9):\n        if i < k: out[i] += x[i]\n        cuda.syncthreads()"):
        text = llvm_of(kernel_of(f"def kernel(x, out):\n    i = cuda.grid(1)\n    {body}"), x, out)
        assert " x float>" in text and "masked" not in text, body


def test_two_axes():
    @cuda.jit
    def kernel(x, out):
        column, row = cuda.grid(2)
        if row < out.shape[0] and column < out.shape[1]:
            out[row, column] = x[row, column] * 2

    for shape in ((1, 1), (7, 33), (16, 64), (5, 100)):
        x = np.random.default_rng(1).random(shape).astype(np.float32)
        out = np.zeros_like(x)
        text = llvm_of(kernel, x, out, grid=((4, 2), (32, 8)))
        assert (out == x * 2).all() and "masked" not in text


def test_strides_of_any_launch():
    @cuda.jit
    def kernel(x, out, first, end, trips):
        for i in range(cuda.grid(1) + first, end, cuda.gridsize(1)):
            out[i] += x[i]
            cuda.atomic.add(trips, 0, 1)

    x = np.arange(200)
    for blocks, threads in ((1, 1), (1, 32), (3, 32), (2, 150)):
        for first, end in ((0, 200), (3, 3), (5, 4), (7, 8), (0, 96), (10, 197), (0, -5)):
            out, trips = np.zeros_like(x), np.zeros(1, np.int64)
            kernel[blocks, threads](x, out, first, end, trips)
            inside = (np.arange(200) >= first) & (np.arange(200) < end)
            assert (out == np.where(inside, x, 0)).all() and trips[0] == max(0, end - first)


def test_an_exception_of_a_thread_that_runs():
    @cuda.jit(debug=True, opt=False)
    def kernel(x, n):
        i = cuda.grid(1)
        if i < n:
            if x[i] < 0:
                raise ValueError("negative")
            x[i] = 7

    x = np.ones(64, np.int64)
    x[50] = -1
    kernel[2, 32](x, 50)
    assert (x[:50] == 7).all() and x[50] == -1
    with pytest.raises(ValueError, match="negative"):
        kernel[2, 32](x, 51)


KEPT_BY_WARP = """def kernel(x, out, count):
    i = cuda.grid(1)
    lane = i % 32
    row = i // 32
    if row >= count:
        return
    total = x[i]
    for q in range(row):
        total += x[q * 32 + lane] if q < 2 else x[out[q] + lane]
    total += cuda.shfl_down_sync(0xFFFFFFFF, total, 1)
    if {test}:
        out[row + 100] = total
"""
KEPT_BY_BLOCK = """def kernel(x, out, count):
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    row = cuda.blockIdx.x
    part = cuda.shared.array(64, np.int64)
    if i >= count:
        return
    total = x[i] * 3
    part[t] = total
    cuda.syncthreads()
    total += part[0]
    cuda.syncthreads()
    if {test}:
        out[row * 64 + t + 100] = total
"""


def bounds_of(kernel):
    return re.findall(r"branch !(in|out) ", kernel.inspect("region_bounds", kernel.signatures[0]))


def totals_of_warps(x, count):
    """The place, the number and what is kept of each thread that has a place."""
    for row in range(count):
        firsts = [row * 32] + [q * 32 if q < 2 else 0 for q in range(row)]
        totals = [sum(x[first + lane] for first in firsts) for lane in range(32)]
        for lane in range(32):
            yield row + 100, lane, totals[lane] + totals[min(lane + 1, 31)]


def totals_of_blocks(x, count):
    for i in range(count):
        yield i + 100, i % 64, 3 * x[i] + 3 * x[i // 64 * 64]


def run_kept(text, totals, test, launch, count):
    """The kernel, whose threads take their totals where the test says so."""
    kernel = kernel_of(text.format(test=test))
    x = np.arange(256) ** 2
    out, want = np.zeros(300, np.int64), np.zeros(300, np.int64)
    kernel[launch](x, out, count)
    for place, number, total in totals(x, count):
        registers = SimpleNamespace(laneid=number, threadIdx=SimpleNamespace(x=number))
        if eval(test, {"lane": number, "t": number, "cuda": registers, "np": np}):
            want[place] = total
    np.testing.assert_array_equal(out, want)
    return kernel


@pytest.mark.parametrize("test", ["lane == 0", "lane < 1", "3 > lane", "lane == 31", "lane == 40", "cuda.laneid == 5",
                                  "cuda.threadIdx.x % 32 == 0", "lane - 7 == 2", "not lane != 3", "lane > 29"])
@pytest.mark.parametrize("count", [5, 8])
def test_lanes_that_take_what_a_warp_has_kept(test, count):
    """Loops over lanes whose checks may have ended threads, too, are bounded: one lane scatters nothing."""
    kernel = run_kept(KEPT_BY_WARP, totals_of_warps, test, (2, 128), count)
    assert bounds_of(kernel)
    if "=" in test:
        assert "masked.scatter" not in next(iter(kernel.inspect_llvm().values()))


@pytest.mark.parametrize("test", ["t == 0", "t < 1", "3 > t", "t == 63", "t == 64", "t - 7 == 2", "t > 60", "t == -1",
                                  "np.uint32(t) < 5"])
@pytest.mark.parametrize("count", [64 * 3, 64 * 2 + 5, 1, 0])
def test_threads_that_take_what_a_block_has_kept(test, count):
    kernel = run_kept(KEPT_BY_BLOCK, totals_of_blocks, test, (3, 64), count)
    assert "np.uint32" in test or bounds_of(kernel)[-1:] == ["in"]


def test_a_thread_that_has_ended_is_not_among_the_bounded():
    @cuda.jit
    def kernel(places, x, out):
        i = cuda.grid(1)
        total = np.int64(0)
        for q in range(3):
            total += x[places[q, i]]
        total += cuda.shfl_down_sync(0xFFFFFFFF, total, 1)
        if i % 32 == 0:
            out[i // 32] = total

    x = np.arange(10)
    places = np.ones((3, 128), np.int32)
    places[2, 32] = 10
    out = np.zeros(4, np.int64)
    with pytest.raises(IndexError):
        kernel[1, 128](places, x, out)
    assert out[1] == 0
    places[2, 32] = 9
    kernel[1, 128](places, x, out)
    np.testing.assert_array_equal(out, [6, 14, 6, 6])


@pytest.mark.parametrize("waits", [False, True])
def test_places_that_do_not_wrap_behind_a_test(waits):
    """For a row's first thread, at which bounds are found, they do: the test behind is no bound."""
    lines = ["if t >= 40:",
             "    item = (t - 40) + (cuda.blockIdx.x - 2**31)",
             "    if item < -2**31 + 100:",
             "        out[t] += 1"]
    if waits:
        lines = ["for trip in range(2):", *("    " + line for line in lines), "    cuda.syncthreads()"]
    kernel = kernel_of("\n    ".join(["def kernel(out):", "t = cuda.threadIdx.x", *lines]))
    out = np.zeros(256, np.int64)
    kernel[1, 256](out)
    np.testing.assert_array_equal(out, [(1 + waits) * (40 <= t < 140) for t in range(256)])


def test_what_all_threads_make_may_bound():
    """Behind another bound, too: nobody is kept out in front of it."""
    @cuda.jit
    def kernel(out, n, m):
        t = cuda.threadIdx.x
        for trip in range(2):
            at = t + 3
            if t < n:
                if at >= m:
                    out[t] += 1
            cuda.syncthreads()

    for n, m in ((0, 5), (50, 5), (64, -1), (10, 40)):
        out = np.zeros(64, np.int64)
        kernel[1, 64](out, n, m)
        np.testing.assert_array_equal(out, [2 * (t < n and t + 3 >= m) for t in range(64)])
    assert bounds_of(kernel) == ["in", "in"]
