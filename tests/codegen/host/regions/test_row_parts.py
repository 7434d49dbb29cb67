"""Quotients and remainders of threads' places by numbers: loops over a row's threads are cut where a quotient changes,
and neighbours load and store neighbouring elements. Values are those of Python's own operators."""

import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from cujit import cuda

pytestmark = pytest.mark.skipif(cuda.get_current_device().kind == "cuda",
                                reason="about how the CPU device runs kernels")
BLOCKS = [(16, 16), (256,), (37,), (1,), (5, 7, 3), (3, 64), (100, 2), (64, 1, 4)]
ITEMS = ["t", "t + 5 * trip", "t - 40", "t - 40 + trip * 17", "cuda.threadIdx.x + 3", "7 + cuda.threadIdx.x - trip",
         "np.int32(t) - np.int32(9)", "cuda.grid(1) + trip", "cuda.threadIdx.x + cuda.threadIdx.y * 36", "2 * t",
         "np.uint32(cuda.threadIdx.x - 20)", "500 - t",
         "np.int32(cuda.threadIdx.x + near)"]
QUOTIENTS = [("item // 16", "item % 16"), ("item // 36", "item % 36"), ("item >> 5", "item & 31"),
             ("item // 100", "item % 17"), ("item // 1000", "item % 64"),
             ("item // 16 % 3", "item % 16 + 16 * (item // 16 % 2)")]


def kernel_of(text):
    scope = {"cuda": cuda, "np": np}
    exec(text, scope)
    return cuda.jit(scope["kernel"])


def body_of(item, quotient, rest):
    return (f"def kernel(x, out, near):\n"
            f"    tile = cuda.shared.array((64, 128), np.int64)\n"
            f"    t = cuda.threadIdx.x + cuda.blockDim.x * (cuda.threadIdx.y + cuda.blockDim.y * cuda.threadIdx.z)\n"
            f"    for trip in range(near % 4 + 2):\n"
            f"        item = {item}\n"
            f"        tile[t % 64, t // 64] = x[{quotient} & 63, {rest}]\n"
            f"        cuda.syncthreads()\n"
            f"        if t % 3 != trip:\n"
            f"            out[trip, t, 0] = tile[t % 64, t // 64]\n"
            f"            out[trip, t, 1] = {quotient}\n"
            f"            out[trip, t, 2] = {rest}\n"
            f"            out[trip, t, 3] = x[{rest}, {quotient} & 63]\n"
            f"        cuda.syncthreads()\n")


def threads_of(block):
    width, height, depth = (*block, 1, 1)[:3]
    return [(x, y, z) for z in range(depth) for y in range(height) for x in range(width)]


def values_of(item, quotient, rest, block, trip, near):
    """(thread, quotient, rest) of each thread, by Python's numbers."""
    class Thread:
        class threadIdx:     # noqa: N801
            x = y = 0

        @staticmethod
        def grid(ndim):
            return Thread.threadIdx.x

    for t, (Thread.threadIdx.x, Thread.threadIdx.y, _) in enumerate(threads_of(block)):
        numpy = SimpleNamespace(uint32=lambda n: n % 2**32, int32=lambda n: (n + 2**31) % 2**32 - 2**31)
        names = {"item": eval(item, {"cuda": Thread, "np": numpy, "t": t, "trip": trip, "near": near})}
        yield t, eval(quotient, names), eval(rest, names)


@pytest.mark.parametrize("item", ITEMS)
@pytest.mark.parametrize("quotient", QUOTIENTS)
def test_quotients_of_any_block(item, quotient):
    kernel = kernel_of(body_of(item, *quotient))
    x = np.random.default_rng(1).integers(0, 1 << 40, (100, 100))
    for block in BLOCKS:
        for near in (4, 2**31 - 24) if "near" in item else (4,):
            out, want = np.zeros((2, 256, 4), np.int64), np.zeros((2, 256, 4), np.int64)
            kernel[1, block](x, out, near)
            for trip in range(2):
                for t, high, low in values_of(item, *quotient, block, trip, near):
                    if t % 3 != trip:
                        want[trip, t] = x[high & 63, low], high, low, x[low, high & 63]
            np.testing.assert_array_equal(out, want, f"{block} {near}")


def blocked(divisor):
    return kernel_of(f"def kernel(x, out):\n"
                     f"    tile = cuda.shared.array((16, 64), np.float32)\n"
                     f"    item = cuda.threadIdx.y * cuda.blockDim.x + cuda.threadIdx.x\n"
                     f"    for k in range(x.shape[0]):\n"
                     f"        tile[item // {divisor}, item % {divisor}] = x[k, item // {divisor}, item % {divisor}]\n"
                     f"        cuda.syncthreads()\n"
                     f"        out[k, cuda.threadIdx.y, cuda.threadIdx.x] = tile[0, 0]\n"
                     f"        cuda.syncthreads()\n")


@pytest.mark.parametrize("divisor, is_cut", [(16, True), (36, True), (64, True), (7, False)])
def test_neighbours_touch_neighbours(divisor, is_cut, has_masks):
    kernel = blocked(divisor)
    x = np.random.default_rng(1).random((3, 64, 64)).astype(np.float32)
    out = np.zeros((3, 4, 16), np.float32)
    kernel[1, (16, 4)](x, out)
    np.testing.assert_array_equal(out, np.broadcast_to(x[:, :1, :1], out.shape))
    text = next(iter(kernel.inspect_llvm().values()))
    gathers = bool(re.search(r"call <\d+ x float> @llvm.masked.gather", text))
    assert re.search(r"load <\d+ x float>", text) if is_cut else gathers or not has_masks
    assert not (is_cut and gathers)


def test_threads_that_have_ended_and_bounds():
    @cuda.jit
    def kernel(x, out, count):
        tile = cuda.shared.array((8, 48), np.int32)
        t = cuda.threadIdx.x
        if t >= count:
            return
        tile[t // 48, t % 48] = x[t // 20, t % 20]
        cuda.syncthreads()
        if 10 < t < 90:
            out[t // 48, t % 48] = tile[t // 48, t % 48] + x[t // 20, t % 20]

    x = np.arange(400, dtype=np.int32).reshape(20, 20)
    for count in (0, 1, 19, 20, 21, 47, 48, 50, 95, 96, 128, 200):
        out = np.zeros((8, 48), np.int32)
        kernel[1, 128](x, out, count)
        place = np.arange(384)
        want = np.where((place > 10) & (place < min(count, 90)), place * 2, 0)
        np.testing.assert_array_equal(out.reshape(-1), want, str(count))


def test_an_index_out_of_bounds_in_a_part():
    @cuda.jit
    def kernel(x, out):
        tile = cuda.shared.array(256, np.int32)
        t = cuda.threadIdx.x
        for k in range(2):
            tile[t] = x[t // 16, t % 16 + k]
            cuda.syncthreads()
            out[k, t] = tile[t]
            cuda.syncthreads()

    x = np.arange(16 * 17, dtype=np.int32).reshape(16, 17)
    out = np.zeros((2, 256), np.int32)
    kernel[1, 256](x, out)
    np.testing.assert_array_equal(out, [x[:, :16].reshape(-1), x[:, 1:].reshape(-1)])
    with pytest.raises(IndexError):
        kernel[1, 256](x[:, :16].copy(), out)


FLAT = """def kernel(x, out):
    i = {place}
    if i < out.size:
        out[i // {width}, i % {width}] = x[i // {width}, i % {width} + {first}] * 2
"""


def flat(x, out, block, **names):
    kernel = kernel_of(FLAT.format(**names))
    kernel[-(-out.size // block), block](x, out)
    return kernel


@pytest.mark.parametrize("place", ["cuda.grid(1)", "cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x",
                                   "cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x"])
@pytest.mark.parametrize("width", [16, 64, 100, 1001])
def test_a_flat_grid(place, width):
    """Without barriers; blocks may be joined."""
    for rows in (1, 3, 70):
        x = np.random.default_rng(1).random((rows, width + 3)).astype(np.float32)
        for block in (32, 100, 256):
            out = np.zeros((rows, width), np.float32)
            kernel = flat(x, out, block, place=place, width=width, first=2)
            np.testing.assert_array_equal(out, x[:, 2:width + 2] * 2)
    text = next(iter(kernel.inspect_llvm().values()))
    assert re.search(r"load <\d+ x float>", text) and "masked.gather" not in text


@pytest.mark.parametrize("width", [16, 40])
def test_indices_of_a_flat_grid_are_checked(width):
    x = np.random.default_rng(1).random((5, width + 3)).astype(np.float32)
    out = np.zeros((5, width), np.float32)
    for first in (4, -width - 4):
        with pytest.raises(IndexError):
            flat(x, out, 64, place="cuda.grid(1)", width=width, first=first)
    with pytest.raises(IndexError):
        flat(x[:4], out, 64, place="cuda.grid(1)", width=width, first=0)
    flat(x, out, 64, place="cuda.grid(1)", width=width, first=-7)
    np.testing.assert_array_equal(out, x[:, np.arange(width) - 7] * 2)


def test_two_axes_and_several_places():
    @cuda.jit
    def kernel(x, out):
        j, i = cuda.grid(2)
        if i < out.shape[0] and j < out.shape[1]:
            out[i, j] = x[i // 16, j // 20, j % 20] - x[(i + 3) >> 5, (j + 7) // 32, (j + 7) & 31] + (j - 50) // 17

    x = np.random.default_rng(1).integers(0, 1000, (8, 9, 40))
    for height, width, block in ((1, 1, (16, 16)), (37, 150, (16, 16)), (100, 99, (8, 32)), (9, 180, (1, 64))):
        out = np.zeros((height, width), np.int64)
        kernel[(-(-width // block[0]), -(-height // block[1])), block](x, out)
        i, j = np.mgrid[:height, :width]
        want = x[i // 16, j // 20, j % 20] - x[(i + 3) >> 5, (j + 7) // 32, (j + 7) & 31] + (j - 50) // 17
        np.testing.assert_array_equal(out, want)


def test_quotients_that_only_tests_look_at():
    """A division for each thread is worth a cut, too; and what a test says of a quotient bounds the dividend: no index
    is checked or counts from the end."""
    kernel = kernel_of("def kernel(x, out, height, width):\n"
                       "    k = cuda.grid(1)\n"
                       "    i, j = k // width, k % width\n"
                       "    if 1 <= i < height - 1 and 1 <= j < width - 1:\n"
                       "        out[k] = x[k - width] + x[k + width] + x[k - 1] + x[k + 1]\n")
    for width in (1, 3, 15, 16, 40, 300):
        height = -(-5000 // width)
        x = np.random.default_rng(1).random((height, width)).astype(np.float32)
        out, want = np.zeros_like(x), np.zeros_like(x)
        kernel[-(-x.size // 256), 256](x.ravel(), out.ravel(), height, width)
        want[1:-1, 1:-1] = x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]
        np.testing.assert_allclose(out, want, rtol=1e-6)
    text = kernel.inspect("divisors", kernel.signatures[0])
    assert "!cut" in text and "raise" not in text and " wrap " not in text


WIDTHS = ["x.shape[1]", "w", "np.int32(w)", "x.shape[1] + w - w"]


def flat_by(width):
    return kernel_of(f"def kernel(x, out, w):\n"
                     f"    i = cuda.grid(1)\n"
                     f"    if i < x.size:\n"
                     f"        out[i // ({width}), i % ({width})] = x[i // ({width}), i % ({width})] * 2\n")


@pytest.mark.parametrize("width", WIDTHS)
def test_divisors_that_are_no_constants(width):
    """Two loops: small divisors would make short parts."""
    kernel = flat_by(width)
    for columns in (1, 2, 3, 7, 15, 16, 17, 31, 64, 100, 300, 5000):
        x = np.random.default_rng(1).random((-(-9999 // columns), columns)).astype(np.float32)
        for block in (32, 100, 256):
            out = np.zeros_like(x)
            kernel[-(-x.size // block), block](x, out, columns)
            np.testing.assert_array_equal(out, x * 2, f"{columns} {block}")
    text = kernel.inspect("divisors", kernel.signatures[0])
    assert 2 * text.count("thread_loop !independent !cut") == text.count("thread_loop") > 0
    assert re.search(r"load <\d+ x float>", next(iter(kernel.inspect_llvm().values())))


def test_three_axes_of_a_flat_grid():
    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        n, height, width = x.shape
        if i < x.size:
            z = i // (height * width)
            y = i // width % height
            out[z, y, i % width] = x[z, y, i % width] + z * 1000 + y

    for shape in ((3, 5, 7), (2, 3, 40), (1, 1, 1), (4, 33, 17), (2, 300, 16)):
        x = np.arange(np.prod(shape)).reshape(shape)
        out = np.zeros_like(x)
        kernel[-(-x.size // 128), 128](x, out)
        z, y, _ = np.indices(shape)
        np.testing.assert_array_equal(out, x + z * 1000 + y)


def test_tiles_of_any_width_between_barriers():
    @cuda.jit
    def kernel(x, out, width, rounds):
        tile = cuda.shared.array(1024, np.int32)
        t = cuda.threadIdx.y * cuda.blockDim.x + cuda.threadIdx.x
        for k in range(rounds):
            tile[t // width * 32 + t % width] = x[t // width, t % width] + k
            cuda.syncthreads()
            out[k, t] = tile[t // width * 32 + t % width] - tile[0]
            cuda.syncthreads()

    x = np.random.default_rng(1).integers(0, 1000, (256, 32)).astype(np.int32)
    for width in (8, 16, 20, 32):
        for block in ((16, 16), (256, 1), (50, 5), (7, 3)):
            out, count = np.zeros((2, 256), np.int32), block[0] * block[1]
            kernel[1, block](x, out, width, 2)
            t = np.arange(count)
            np.testing.assert_array_equal(out[:, :count], np.stack([x[t // width, t % width] - x[0, 0]] * 2))


def test_divisors_below_zero():
    """These are divided by for each thread."""
    @cuda.jit
    def kernel(x, out, w):
        i = cuda.grid(1)
        if i < 64:
            out[i] = x[i // w + 100, i % w + 40]

    x = np.random.default_rng(1).random((200, 80))
    for w in (-16, -3, -100, 30):
        out = np.zeros(64)
        kernel[2, 32](x, out, w)
        i = np.arange(64)
        places = i % w + 40
        np.testing.assert_array_equal(out, x[i // w + 100, places])


@pytest.mark.parametrize("mask", [(1 << bits) - 1 for bits in (5, 31, 32, 61, 62, 63)])
def test_masks_of_up_to_all_bits(mask):
    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = x[(i + 7) & mask]

    x, out = np.random.default_rng(1).random(128), np.zeros(100)
    kernel[2, 64](x, out)
    np.testing.assert_array_equal(out, x[np.arange(7, 107) & mask])


def test_remainders_alone_wrap():
    """At an array's border, mostly, which row_borders.c sees to."""
    @cuda.jit
    def kernel(x, out):
        j, i = cuda.grid(2)
        if i < out.shape[0] and j < out.shape[1]:
            out[i, j] = x[i, (j + 1) % out.shape[1]]

    x = np.arange(40 * 30).reshape(40, 30)
    out = np.zeros_like(x)
    kernel[(2, 3), (16, 16)](x, out)
    np.testing.assert_array_equal(out, np.roll(x, -1, 1))
    assert "!cut" not in kernel.inspect("divisors", kernel.signatures[0])


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32])
def test_narrow_places_that_wrap_in_a_row(kind):
    """A wider number jumps there."""
    kernel = kernel_of(f"def kernel(x, out, near):\n"
                       f"    item = np.int64(np.{kind.__name__}(cuda.threadIdx.x + near))\n"
                       f"    out[cuda.threadIdx.x] = x[(item // 36) & 63, item % 36]\n")
    x = np.random.default_rng(1).integers(0, 99, (64, 36))
    for near in (0, 120, 250, 32760, 65530, 2**31 - 5, 2**32 - 5, -3):
        out = np.zeros(300, np.int64)
        kernel[1, 300](x, out, near)
        item = (np.arange(300) + near).astype(kind).astype(np.int64)
        np.testing.assert_array_equal(out, x[item // 36 & 63, item % 36], str(near))


def test_places_that_do_not_wrap_behind_a_test():
    """In front of it, for the row's first thread, they do."""
    @cuda.jit
    def kernel(x, out, base):
        t = cuda.threadIdx.x
        element = x[t]
        if t >= 40 and element != 3:
            item = t - 40
            item = item + (cuda.blockIdx.x - 2**31)
            item = item + 2**33 + base
            out[t, 0] = x[item % 1000]
            out[t, 1] = item // 1000

    x = np.arange(8192) * 7 + 4
    out, want = np.zeros((256, 2), np.int64), np.zeros((256, 2), np.int64)
    kernel[1, 256](x, out, np.int32(0))
    item = np.arange(216) - 2**31 + 2**33
    want[40:] = np.stack([x[item % 1000], item // 1000], 1)
    np.testing.assert_array_equal(out, want)


def test_products_that_do_not_wrap_behind_a_test():
    """In front of both loops, where they are asked for how large they are, they may."""
    @cuda.jit
    def kernel(x, out, n, count):
        i = cuda.grid(1)
        if i < count:
            if n < 1000 and n > 0 and x[0, i & 15] >= 0:
                width = n * 4
                out[i // width, i % width] = x[i // width, i % width]

    x = np.random.default_rng(1).integers(0, 99, (32, 64))
    for n in (1, 5, 16, 2**30 + 5, -(2**29)):
        out, want = np.zeros_like(x), np.zeros_like(x)
        kernel[2, 64](x, out, np.int32(n), 100)
        if 0 < n < 1000:
            i = np.arange(100)
            want[i // (4 * n), i % (4 * n)] = x[i // (4 * n), i % (4 * n)]
        np.testing.assert_array_equal(out, want)
    before, behind = kernel.inspect("divisors", kernel.signatures[0]).split("thread_loop", 1)
    assert re.search("mul n,", before) and re.search("mul !exact n,", behind)


GUARDED = {
    "a part's first thread": """
        rest = cuda.blockIdx.x + n
        if x[0, t & 63] >= 0 and rest > 0:
            item = t + near % rest
            out[t] = x[(item // 16) & 63, item % 16]""",
    "all threads, before they end": """
        if t > 40:
            return
        if n > 0:
            item = t + near % n
            out[t] = x[(item // 16) & 63, item % 16]""",
    "bounds": """
        if n > 0:
            if t < near % n:
                out[t] = x[0, 0]""",
    "a test of two parts": """
        if n > 0 and t < near // n:
            out[t] = x[0, 0]""",
    "a region's bounds": """
        for trip in range(2):
            if n + cuda.blockIdx.x > 0:
                if t < near % (n + cuda.blockIdx.x):
                    out[t] = x[trip, 0]
            cuda.syncthreads()""",
}
DIVIDES = """
import sys
sys.path.insert(0, sys.argv[1])
import numpy as np
import test_row_parts as tests

x = np.random.default_rng(1).integers(1, 99, (64, 64))
out = np.zeros((3, 200), np.int64)
kernel = tests.kernel_of("def kernel(x, out, near, n):\\n        t = cuda.threadIdx.x" + tests.GUARDED[sys.argv[2]])
for i, n in enumerate((3, 0, -1)):
    kernel[1, 200](x, out[i], 5, np.int32(n))
print(*(out != 0).any(1))
"""


@pytest.mark.parametrize("where", GUARDED)
def test_divisors_that_are_0_behind_no_test(where):
    """What is made in front of the test does not divide by them: the processor would end the program."""
    run = subprocess.run([sys.executable, "-c", DIVIDES, str(Path(__file__).parent), where], capture_output=True,
                         text=True, env={**os.environ, "CUJIT_DEVICE": "cpu"}, check=False)
    assert run.stdout == "True False False\n", (run.returncode, run.stdout, run.stderr)
