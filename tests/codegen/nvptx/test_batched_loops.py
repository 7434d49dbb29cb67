"""Loops by a step that the launch decides do four trips at a time on a GPU, where loads are what they wait for."""
import math
import re

import numpy as np
import pytest

from cujit import cuda, float32, int32, int64


def loads(function, *types):
    ptx, _ = cuda.compile_ptx(function, types, cc=(9, 0))
    return ptx.count("ld.global")


def make(body, before="total = float32(0)", after="out[0] = total", parameters="x, out"):
    lines = [f"def kernel({parameters}):", f"    {before}",
             "    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):",
             *(f"        {line}" for line in body.splitlines()), f"    {after}"]
    namespace = {"cuda": cuda, "float32": float32, "int32": int32}
    exec("\n".join(lines), namespace)
    return namespace["kernel"]


F = float32[::1]


@pytest.mark.parametrize("body", [
    "total += x[i]", "total = max(total, x[i])", "if x[i] > total:\n    total = x[i]", "total += x[i] * x[i // 2]",
])
def test_loops_that_read(body):
    kernel = make(body)
    one = make(body + "\ncuda.syncthreads()")
    assert loads(kernel, F, F) == 5 * loads(one, F, F)


def test_what_ptxas_may_do_more_of():
    """It batches a loop once more whose branch back is conditional and which no pragma forbids it."""
    ptx, _ = cuda.compile_ptx(make("total += x[i]"), (F, F), cc=(9, 0))
    loops = [text for text in re.split(r"^\$L", ptx, flags=re.M) if "ld.global" in text]
    assert sorted((text.count("ld.global"), "nounroll" in text) for text in loops) == [(1, True), (4, False)]
    for text in loops:
        name = "$L" + text.split(":")[0]
        assert re.search(rf"@%p\d+ bra\s+{re.escape(name)};", text)


def test_loops_that_write_to_shared_memory():
    kernel = make("cuda.atomic.add(bins, int32(x[i]), 1)", "bins = cuda.shared.array(256, int32)", "out[0] = bins[0]")
    assert loads(kernel, F, int32[::1]) == 5


@pytest.mark.parametrize("body", [
    "out[i] = x[i]", "cuda.atomic.add(out, 0, x[i])", "if x[i] < 0:\n    break\ntotal += x[i]",
    "total += x[i]\ncuda.syncthreads()", "total += cuda.ldcv(x, i)", "total += 1",
])
def test_loops_that_others_could_notice(body):
    assert loads(make(body), F, F) <= 2


def test_calls_of_functions():
    def square(v):
        return v * v

    def noisy(v, out):
        out[1] = v
        return v

    def kernel(x, out):
        total = float32(0)
        for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
            total += square(x[i])
        out[0] = total

    def quiet(x, out):
        total = float32(0)
        for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
            total += noisy(x[i], out)
        out[0] = total

    assert loads(kernel, F, F) == 5
    assert loads(quiet, F, F) == 1


def iterate(body):
    namespace = {"float32": float32, "cuda": cuda}
    exec(f"def kernel(n, out):\n    x = out[0]\n    for k in range(n):\n        {body}\n    out[0] = x", namespace)
    return cuda.compile_ptx(namespace["kernel"], (int32, F), cc=(9, 0))[0]


def test_short_loops_by_a_constant_that_read_nothing():
    """Thirty operations in a trip, which LLVM leaves as they are."""
    text = "; ".join(f"x = x * x + float32(0.5{k})" for k in range(30))
    assert iterate(text).count("fma.rn.f32") == 30 * (4 + 1)
    assert iterate("; ".join([text] * 3)).count("fma.rn.f32") == 90


def test_functions_of_math_are_not_short():
    def kernel(n, out):
        x = out[0]
        for _ in range(n):
            x = math.sin(x) + math.exp(x)
        out[0] = x

    assert "!batch" not in cuda.jit(kernel).inspect("batch", (int32, F), 90)


def test_short_functions_are_as_much_as_they_do():
    """Small loops are written out, and calls of functions of three lines make no loop large."""
    def signed(bits, x):
        v = -x if bits & 1 else x
        return v + x if bits & 2 else v

    def kernel(x, out):
        total = float32(0)
        for k in range(8):
            total += signed(int(math.floor(x[k])), x[k]) + signed(k, total) + signed(k + 1, total)
        out[0] = total

    assert cuda.jit(kernel).inspect("unroll", (F, F), 90).count("!unroll") == 1


@pytest.mark.parametrize("lines, batches", [(2, 1), (30, 0)])
def test_loops_around_long_ones_that_are_written_out(lines, batches):
    """Four trips of sixteen times thirty operations are more than the instructions that a GPU has at hand."""
    body = "; ".join(f"row[j] = row[j] * row[j] + float32({k}.5)" for k in range(lines))
    namespace = {"cuda": cuda, "float32": float32}
    exec("def kernel(out):\n    row = cuda.local.array(16, float32)\n    for j in range(16):\n        row[j] = out[j]\n"
         f"    for i in range(16):\n        for j in range(16):\n            {body}\n"
         "    for j in range(16):\n        out[j] = row[j]", namespace)
    assert cuda.jit(namespace["kernel"]).inspect("unroll", (F,), 90).count("!batch") == batches


@pytest.mark.parametrize("size", [0, 1, 2, 3, 5, 14, 15, 16, 44, 45, 46, 59, 60, 61, 74, 75, 76, 250])
@pytest.mark.parametrize("index", ["cuda.gridsize(1)", "step"])
def test_every_element_once_and_in_order(size, index):
    namespace = {"cuda": cuda}
    exec(f"""def kernel(x, out, step):
    thread = cuda.grid(1)
    total = x.dtype.type(1)
    for i in range(thread, x.size, {index}):
        total = total * 3 + x[i]
    out[thread] = total""", namespace)
    x = np.random.default_rng(size).integers(0, 1000, size)
    out = np.zeros(15, np.int64)
    cuda.jit(namespace["kernel"])[3, 5](x, out, 15)
    expected = []
    for thread in range(15):
        total = 1
        for value in x[thread::15]:
            total = (total * 3 + int(value)) % (1 << 64)
        expected.append(total)
    np.testing.assert_array_equal(out.view(np.uint64), np.array(expected, np.uint64))


def test_steps_of_nothing_and_backwards():
    @cuda.jit
    def kernel(x, out, first, last, step):
        total = 0
        for i in range(first, last, step):
            total = total * 3 + x[i]
        out[0] = total

    x = np.arange(40) + 7
    for first, last, step in [(0, 40, 7), (39, -1, -7), (5, 5, 3), (9, 2, 3), (0, 40, 1), (39, 0, -1), (2, 30, 100)]:
        out, total = np.zeros(1, np.int64), 0
        kernel[1, 1](x, out, first, last, step)
        for i in range(first, last, step):
            total = (total * 3 + int(x[i])) % (1 << 64)
        assert int(out.view(np.uint64)[0]) == total


def test_the_step_may_be_any_variable():
    def kernel(x, out, step):
        total = 0
        for i in range(0, x.size, step):
            total += x[i]
        out[0] = total

    assert loads(kernel, int64[::1], int64[::1], int64) >= 1
