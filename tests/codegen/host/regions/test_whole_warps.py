"""Kernels whose threads meet in warps only, on the CPU device: run warp by warp where warps have their threads along x.
Results are those of threads that are run as blocks (opt=0 has no such form) and of NumPy."""
import platform
import random
import re

import numpy as np
import pytest

from cujit import _core, cuda, float32, int32

pytestmark = pytest.mark.skipif(cuda.get_current_device().kind == "cuda",
                                reason="about how the CPU device runs kernels")
on_x86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="about loads and stores of some lanes")
FULL = 0xFFFFFFFF


def row_sums(starts, columns, values, x, out):
    thread = cuda.grid(1)
    row = thread // 32
    lane = thread % 32
    if row >= out.size:
        return
    total = float32(0)
    for q in range(starts[row] + lane, starts[row + 1], 32):
        total += values[q] * x[columns[q]]
    offset = 16
    while offset > 0:
        total += cuda.shfl_down_sync(FULL, total, offset)
        offset //= 2
    if lane == 0:
        out[row] = total


TYPES = (int32[::1], int32[::1], float32[::1], float32[::1], float32[::1])


def sparse(rows, seed=1):
    chance = np.random.default_rng(seed)
    starts = np.zeros(rows + 1, np.int32)
    starts[1:] = np.cumsum(chance.integers(0, 90, rows))
    columns = chance.integers(0, 50, starts[-1]).astype(np.int32)
    return starts, columns, chance.random(starts[-1], np.float32), chance.random(50, np.float32), \
        np.zeros(rows, np.float32)


@on_x86
def test_a_warp_is_the_unit(has_masks):
    """The row is computed once, its loop goes around the lanes, sums are in registers, shuffles are permutations."""
    kernel = cuda.jit(row_sums)
    before = re.sub(r" ;.*", "", kernel.inspect("warps", TYPES))
    assert "warp_start" in before and "laneid" in before
    marked = re.sub(r" ;.*", "", kernel.inspect("regions", TYPES))
    assert "by_warps" in marked.split("\n", maxsplit=1)[0]
    assert _core.ir_roundtrip(marked).split() == marked.split()
    text = kernel.inspect_llvm(TYPES)
    assert re.search(r"fadd contract <\d+ x float>|fma.*<\d+ x float>", text)
    assert re.search(r"shufflevector <32 x i32> .*<32 x i32> <i32 16, i32 17", text)
    assert not has_masks or re.search(r"phi <\d+ x float>", text), "the sums of a row are not in registers"


@pytest.mark.parametrize("block", [32, 96, 256, (32, 3), (64, 2, 2)])
@pytest.mark.parametrize("check", ["bounds", False])
def test_rows_by_warps(check, block):
    starts, columns, values, x, out = sparse(77)
    want = np.zeros_like(out)
    np.add.at(want, np.repeat(np.arange(77), np.diff(starts)), values * x[columns])

    @cuda.jit(check=check)
    def kernel(starts, columns, values, x, out):
        in_block = (cuda.threadIdx.z * cuda.blockDim.y + cuda.threadIdx.y) * cuda.blockDim.x + cuda.threadIdx.x
        threads = cuda.blockDim.x * cuda.blockDim.y * cuda.blockDim.z
        row = (cuda.blockIdx.x * threads + in_block) // 32
        lane = in_block & 31
        if row < out.size:
            total = float32(0)
            for q in range(starts[row] + lane, starts[row + 1], 32):
                total += values[q] * x[columns[q]]
            for k in range(5):
                total += cuda.shfl_xor_sync(FULL, total, 1 << k)
            if lane == 0:
                out[row] = total

    kernel[-(-77 * 32 // int(np.prod(block))), block](starts, columns, values, x, out)
    np.testing.assert_allclose(out, want, rtol=1e-5)


def test_blocks_without_whole_warps_are_another_variant():
    starts, columns, values, x, out = sparse(40)
    want = np.zeros_like(out)
    np.add.at(want, np.repeat(np.arange(40), np.diff(starts)), values * x[columns])
    kernel = cuda.jit(row_sums)
    kernel[10, 128](starts, columns, values, x, out)
    assert sum(kernel.stats.variants.values()) == 0
    np.testing.assert_allclose(out, want, rtol=1e-5)

    @cuda.jit
    def place(out):
        i, j = cuda.grid(2)
        value = cuda.threadIdx.x
        for step in 1, 2, 4:
            value += cuda.shfl_down_sync(FULL, value, step)
        out[j, i] = 1000 * (cuda.threadIdx.x // 32) + 100 * cuda.laneid + value

    for block in (32, 2), (8, 8), (48, 1), (33, 3):
        out = np.zeros(block[::-1], np.int64)
        place[1, block](out)
        lanes = np.arange(out.size)
        value = lanes % block[0]
        for step in 1, 2, 4:
            there = (lanes % 32 + step < 32) & (lanes + step < out.size)
            value = value + np.where(there, value[np.minimum(lanes + step, out.size - 1)], value)
        want = 1000 * (lanes % block[0] // 32) + 100 * (lanes % 32) + value
        np.testing.assert_array_equal(out.reshape(-1), want)
    assert sum(place.stats.variants.values()) == 1


@pytest.mark.parametrize("axis", ["y", "z"])
def test_loops_along_other_axes(axis):
    """Whose first thread along that axis is the block's, not the warp's."""
    names = {"cuda": cuda, "FULL": FULL}
    exec(f"""def kernel(x, out):
    i, j = cuda.threadIdx.x, cuda.threadIdx.{axis}
    total = 0
    for k in range(j, x.size, cuda.blockDim.{axis}):
        total += x[k]
    out[j, i] = total + cuda.shfl_xor_sync(FULL, total * i, 1)""", names)
    x, out = np.arange(50), np.zeros((4, 96), np.int64)
    cuda.jit(names["kernel"])[1, (96, 4) if axis == "y" else (96, 1, 4)](x, out)
    totals = np.array([x[j::4].sum() for j in range(4)])
    np.testing.assert_array_equal(out, totals[:, None] * (1 + (np.arange(96) ^ 1)))


def test_lanes_that_have_ended_stay_ended():
    """In a region whose check is asked for by a loop before it, too, and where a check has ended them."""
    def leaves(x, places, out):
        i = cuda.grid(1)
        if cuda.laneid >= x[0]:
            return
        value = cuda.shfl_xor_sync(FULL, i, 1)
        out[i] = x[places[i]] + value

    def fails(x, places, out):
        i = cuda.grid(1)
        value = x[places[i]]
        value += cuda.shfl_xor_sync(FULL, value, 1)
        out[i] = x[places[i] % 7] + value

    x, i = np.full(64, 20), np.arange(64)
    out = np.zeros(64, np.int64)
    cuda.jit(leaves)[1, 64](x, i, out)
    np.testing.assert_array_equal(out, np.where(i % 32 < 20, 20 + (i ^ 1), 0))
    places, out = i.copy(), np.zeros(64, np.int64)
    places[5] = 99
    with pytest.raises(IndexError, match="99"):
        cuda.jit(fails)[1, 64](x, places, out)
    np.testing.assert_array_equal(out[:32], np.where(i[:32] == 5, 0, 60))


@pytest.mark.parametrize("how", ["asks by a shuffle", "asks by memory"])
def test_a_warp_waits_for_a_later_one(how, run_python):
    """It may meet in the loop in which it waits."""
    waits = {"asks by a shuffle": """
        while cuda.shfl_sync(FULL, cuda.atomic.add(flag, 0, 0), 0) == 0:
            pass""", "asks by memory": """
        while True:
            if lane == 0:
                seen[0] = cuda.atomic.add(flag, 0, 0)
            cuda.syncwarp()
            if seen[0] != 0:
                break
            cuda.syncwarp()"""}[how]
    run_python(f"""
import numpy as np
from cujit import cuda

FULL = 0xffffffff

@cuda.jit
def kernel(flag, out):
    i = cuda.grid(1)
    seen = cuda.shared.array(1, np.int32)
    lane = cuda.threadIdx.x % 32
    value = cuda.shfl_xor_sync(FULL, i, 1)
    if cuda.threadIdx.x < 32:{waits}
    elif lane == 0:
        cuda.atomic.add(flag, 0, 1)
    out[i] = value

out = np.zeros(64, np.int64)
kernel[1, 64](np.zeros(1, np.int32), out)
assert (out == np.arange(64) ^ 1).all()
""")


def test_a_failed_check_ends_its_thread():
    """Behind it the others go on: they get their own values of lanes that have ended."""

    @cuda.jit
    def kernel(x, places, out):
        i = cuda.grid(1)
        value = x[places[i]]
        for step in 16, 8, 4, 2, 1:
            value += cuda.shfl_xor_sync(FULL, value, step)
        out[i] = value

    x = np.arange(64)
    places = np.arange(64)
    places[::2] -= 64  # counted from the end
    out = np.zeros(64, np.int64)
    kernel[1, 64](x, places, out)
    np.testing.assert_array_equal(out, np.repeat(x.reshape(2, 32).sum(1), 32))
    places[40] = 64
    out = np.zeros(64, np.int64)
    with pytest.raises(IndexError, match="64"):
        kernel[1, 64](x, places, out)
    assert (out[:32] == x[:32].sum()).all() and out[40] == 0


def scaled_rows(x, out):
    row = cuda.grid(1) // 32
    lane = cuda.laneid
    if row >= x.shape[0]:
        return
    total = float32(0)
    for k in range(lane, x.shape[1], 32):
        total += x[row, k]
    for step in 16, 8, 4, 2, 1:
        total += cuda.shfl_xor_sync(FULL, total, step)
    for k in range(lane, x.shape[1], 32):
        out[row, k] = x[row, k] * total


@on_x86
def test_a_whole_warp_needs_no_mask():
    """Trips that all lanes have load and store vectors, the last one with a mask; no value lies in memory."""
    types = (float32[:, ::1], float32[:, ::1])
    for check in "bounds", False:
        text = cuda.jit(scaled_rows, check=check).inspect_llvm(types)
        assert "llvm.masked.load" in text
        assert re.search(r"= load <\d+ x float>", text) and re.search(r"store <\d+ x float>", text)
        assert "alloca" not in text


@pytest.mark.parametrize("statements,is_written_out", [(1, True), (32, False)])
def test_only_short_loops_over_distances_are_written_out(statements, is_written_out):
    """A permutation of vectors for each distance is worth a few copies of the loop, not a thousand statements."""
    body = "\n".join(f"        value ^= (value * {n}) >> 3" for n in range(statements))
    names = {"cuda": cuda, "FULL": FULL}
    exec(f"def kernel(out):\n    value = cuda.grid(1)\n    for k in range(32):\n"
         f"        value += cuda.shfl_xor_sync(FULL, value, k)\n{body}\n    out[cuda.grid(1)] = value", names)
    text = cuda.jit(names["kernel"]).inspect("distances", (int32[::1],))
    assert ("unroll" in text) == is_written_out


@pytest.mark.parametrize("width", [0, 1, 31, 32, 33, 64, 100])
def test_rows_of_all_widths(width):
    x = np.random.default_rng(width).random((9, width), np.float32)
    out = np.full((9, width + 1), -1, np.float32)[:, :width]
    whole = np.ascontiguousarray(out)
    for result in whole, out:   # one beside which something else lies
        cuda.jit(scaled_rows)[3, 96](x, result)
        np.testing.assert_allclose(result, x * x.sum(1)[:, None], rtol=1e-5)
    assert (out.base[:, width] == -1).all()


# --- random programs -------------------------------------------------------------------------------------------------

THREADS = ["cuda.grid(1)", "cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x",
           "cuda.threadIdx.x + cuda.blockDim.x * cuda.blockIdx.x"]
ROWS = ["t // 32", "t >> 5", "cuda.threadIdx.x // 32 + cuda.blockIdx.x * (cuda.blockDim.x // 32)", "t // 64"]
LANES = ["t % 32", "t & 31", "cuda.laneid", "cuda.threadIdx.x % 32", "cuda.threadIdx.x & 31"]
GUARDS = ["if t >= n: return", "if row >= n // 40: return", "if lane >= n % 37: return", "if t == n % 29: return", ""]


class Program:
    """The text of a kernel made from a seed."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines, self.level = [], 1
        pick = self.random.choice
        self.line("def kernel(x, starts, places, out, sums, n):")
        self.level = 2
        self.line(f"t = {pick(THREADS)}")
        self.rows = pick([1, 1, 2])   # of a block
        if self.rows > 1:
            self.line("t += cuda.threadIdx.y * 128")
        self.line(f"row = {pick(ROWS)}")
        self.line(f"lane = {pick(LANES)}")
        self.line("v = x[t] if t < x.size else 1")
        self.line("w = lane * 3 - row")
        self.line(pick(GUARDS) or "w += 1")
        for _ in range(self.random.randrange(2, 7)):
            pick([self.loop, self.loop, self.scan, self.shuffle, self.vote, self.own_loop, self.array, self.test,
                  self.atomic, self.other_axis])()
        self.line(pick(["if lane == 0:", "if lane == 31:", "if lane < 7:", "if row % 2 == 0:", "if True:"]))
        self.line("    out[t] = v")
        self.line("sums[t] = w + v")

    def line(self, text):
        self.lines.append("    " * (self.level - 1) + text)

    def loop(self):
        pick = self.random.choice
        start, end = pick([("starts[row] + lane", "starts[row + 1]"), ("lane", "n % 101"), ("t % 32", "starts[3]")])
        self.line(f"for q in range({start}, {end}, {pick([32, 32, 64, 32])}):")
        self.line("    " + pick(["v += x[q] * 3 + q", "v += x[places[q]]", "v ^= places[q] + w",
                               "w += q if q % 3 else v"]))

    def other_axis(self):
        pick = self.random.choice
        start = pick(["cuda.threadIdx.y", "cuda.threadIdx.y + starts[2]", "cuda.threadIdx.y * 3", "row"])
        end, step = pick(["n % 101 + 50", "x.size", "starts.size"]), pick(["cuda.blockDim.y", "2", "7"])
        self.line(f"for q in range({start}, {end}, {step}):")
        self.line("    " + pick(["v += x[q] * 3 + q", "w ^= x[q] + t", "v += x[q] if q % 3 else w"]))

    def scan(self):
        self.line("step = 1")
        self.line("while step < 32:")
        self.line("    other = cuda.shfl_up_sync(FULL, v, step)")
        self.line("    if lane >= step: v += other")
        self.line("    step *= 2")

    def shuffle(self):
        pick = self.random.choice
        name = pick("vw")
        ask = pick(["16", "1", "3", "n % 32", "lane * 5 % 32", "w & 31"])
        width = pick(["", "", ", 8", ", 16"])
        kind = pick(["shfl_sync", "shfl_up_sync", "shfl_down_sync", "shfl_xor_sync"])
        self.line(f"{name} += cuda.{kind}(FULL, {pick('vw')}, {ask}{width})")

    def vote(self):
        pick = self.random.choice
        test = pick(["v > w", "lane < n % 32", "v % 3 == 0"])
        self.line(pick([f"w += cuda.ballot_sync(FULL, {test})", f"if cuda.any_sync(FULL, {test}): v += lane",
                        f"v += 5 if cuda.all_sync(FULL, {test}) else w"]))

    def own_loop(self):
        self.line(f"for k in range(lane % {self.random.randrange(2, 9)}):")
        self.line("    v = v * 5 + x[k]")

    def array(self):
        self.line("own = cuda.local.array(4, np.int64)")
        self.line("for k in range(4): own[k] = v + k * w")
        self.line(self.random.choice(["v = own[lane % 4]", "v += own[3] - own[1]"]))

    def test(self):
        self.line(self.random.choice(["if v > w: v -= w", "if lane % 3: w += v", "w = max(v, w) if row % 2 else w"]))

    def atomic(self):
        self.line("cuda.atomic.add(out, out.size - 1 - row, v)")


def results(program, options, block, seed):
    names = {"cuda": cuda, "np": np, "FULL": FULL}
    exec(compile("\n".join(program.lines), f"program{seed}", "exec"), names)  # noqa: S102
    chance = np.random.default_rng(seed)
    n = int(chance.integers(150, 260))
    starts = np.cumsum(chance.integers(0, 70, 12))
    x = chance.integers(-50, 50, 900)
    places = chance.integers(-900, 900, 900)
    out, sums = np.zeros(800, np.int64), np.zeros(800, np.int64)
    width = min(block, 256 // program.rows)
    kernel = cuda.jit(**options)(names["kernel"])
    kernel[256 // program.rows // width, (width, program.rows)](x, starts, places, out, sums, n)
    return out, sums, kernel


@pytest.mark.parametrize("seed", range(24))
def test_random_programs(seed):
    program = Program(seed)
    block = random.Random(seed).choice([32, 64, 128, 256])
    got = results(program, {}, block, seed)
    want = results(program, {"opt": 0}, block, seed)
    for mine, theirs in zip(got[:2], want[:2], strict=True):
        np.testing.assert_array_equal(mine, theirs, "\n".join(program.lines))


def test_what_threads_that_end_keep_is_no_address(has_masks):
    """A load in front of which some threads end is one of a vector under a mask."""
    def kernel(x, out):
        i = cuda.grid(1)
        if i >= x.size:
            return
        value = x[i]
        for k in range(5):
            value += cuda.shfl_xor_sync(FULL, value, 1 << k)
        out[i] = value

    text = cuda.jit(kernel).inspect_llvm((float32[::1], float32[::1]))
    assert not re.search(r"select i1 [^,]*, ptr", text) and (not has_masks or "llvm.masked.load" in text)
