"""Kernels with barriers on the CPU device: those whose barriers all threads reach together run as loops over the
threads, the others as threads that switch. Both must do the same: random programs are run in both ways. The second is
forced by a barrier at the start under a condition from memory, which is true for all of them."""

import random
import re

import numpy as np
import pytest

from cujit import cuda
from cujit.errors import KernelHangError

pytestmark = pytest.mark.skipif(cuda.get_current_device().kind == "cuda",
                                reason="about the CPU device; a GPU hangs in some")
THREADS, BLOCKS = 48, 3
SWITCHES = "    if x[0] >= 0:\n        cuda.syncthreads()\n"


def is_in_loops(source):
    """Whether the compiled kernel runs blocks, by its entry's name."""
    kernel = compiled(source)
    kernel[1, 1](*arguments(1))
    return "kernel.blocks" in next(iter(kernel.inspect_llvm().values()))


def compiled(source):
    namespace = {"cuda": cuda, "np": np}
    exec(source, namespace)
    return cuda.jit(namespace["kernel"])


def arguments(seed):
    values = np.random.default_rng(seed).integers(0, 100, THREADS * BLOCKS)
    return values, np.full(THREADS * BLOCKS, -1), np.int64(7), np.int64(3)


def run(source, seed, block=THREADS):
    parameters = arguments(seed)
    compiled(source)[BLOCKS, block](*parameters)
    return parameters[1]


def source_of(body, start=""):
    lines = "\n".join(f"    {line}" for line in body.strip("\n").split("\n"))
    return f"""
def exchange(s, t, size, v):
    cuda.syncthreads()
    s[t] = v
    cuda.syncthreads()
    return s[(t + 1) % size] + 1

def total(mask, v):
    if mask == 0xFFFFFFFF:
        k = 16
        while k > 0:
            v += cuda.shfl_xor_sync(mask, v, k)
            k //= 2
        return v
    return v + cuda.shfl_sync(mask, v, 3)

def rounds(s, t, size, v, n):
    for k in range(n):
        v = exchange(s, t, size, v)
        if v > 90:
            v -= k
    return v, n

def own(t, v, stores):
    kept = cuda.shared.array(64, np.int64)
    if stores:
        kept[t] = v
    cuda.syncthreads()
    return kept[t]

def again(t, v):
    cuda.syncthreads()
    return again(t, v - 1) if v > 0 else t

def kernel(x, out, n, m):
    s = cuda.shared.array(64, np.int64)
    t = cuda.threadIdx.x
    size = cuda.blockDim.x
{start}    i = cuda.grid(1)
    v = x[i]
    w = x[i] * 3 + t
    s[t] = v
    cuda.syncthreads()
{lines}
    out[i] = v * 1000 + w
"""


def check_both(body, seed=1, block=THREADS):
    source, switching = source_of(body), source_of(body, SWITCHES)
    assert not is_in_loops(switching)
    result, expected = run(source, seed, block), run(switching, seed, block)
    assert np.array_equal(result, expected), source
    return is_in_loops(source)


# --- programs by hand -------------------------------------------------------------------------------------------------

EXCHANGE = """
    cuda.syncthreads()
    s[t] = v
    cuda.syncthreads()
    v = s[(t + 1) % size] + 1
"""

IN_LOOPS = {
    "straight": EXCHANGE.replace("\n    ", "\n"),
    "loop": "for k in range(n):" + EXCHANGE,
    "bound by a block's index": "for k in range(cuda.blockIdx.x + 2):" + EXCHANGE,
    "nested loops": "for k in range(n):\n    for j in range(k + m):" + EXCHANGE.replace("\n    ", "\n        "),
    "loop without a barrier in a loop with one":
        "for k in range(n):\n    for j in range(m):\n        w += s[(t + j) % size] * k" + EXCHANGE,
    "branch that all take alike": "if n > m:" + EXCHANGE + "else:" + EXCHANGE.replace("+ 1)", "+ 2)"),
    "while": "k = n\nwhile k > 0:" + EXCHANGE + "    k //= 2",
    "branches in between": "for k in range(n):" + EXCHANGE
        + "    if t % 2 == k % 2:\n        w += v\n    else:\n        w -= k",
    "loops of each thread's own": "for k in range(n):" + EXCHANGE + "    for j in range(t % 4):\n        w += j * v\n"
        "        if w > 5000:\n            break",
    "tree": "k = 32\nwhile k > 0:\n    if t < k and t + k < size:\n        s[t] += s[t + k]\n    cuda.syncthreads()\n"
        "    k //= 2\nv = s[0]",
    "return before": "if t % 3 == 1:\n    return\nfor k in range(n):" + EXCHANGE,
    "return in a loop": "for k in range(n):" + EXCHANGE + "    if t == k * 2:\n        out[i] = w\n        return",
    "all return": "if t >= 0 and x[i] >= 0:\n    out[i] = w\n    return\nwhile True:" + EXCHANGE,
    "break of some threads": "for k in range(n):" + EXCHANGE + "    if t == k * 2:\n        break",
    "end only by returns": "while True:" + EXCHANGE + "    w += 1\n    if w > 300:\n        out[i] = v\n        return",
    "swapped": "for k in range(n):" + EXCHANGE + "    v, w = w, v",
    "old and new value": "before = 0\nfor k in range(n):" + EXCHANGE + "    w += before\n    before = v",
    "after the loop": "k = 0\nwhile True:\n    old = w\n    w = w * 3 + v" + EXCHANGE + "    k += 1\n    if k >= n:\n"
        "        break\nv += old",
    "local array": "a = cuda.local.array(4, np.int64)\nfor k in range(4):\n    a[k] = v + k\nfor k in range(n):"
        + EXCHANGE + "    a[k % 4] += w\n    w += a[(k + t) % 4]",
    "flags": "flag = v > 50\nfor k in range(n):" + EXCHANGE + "    if flag:\n        w += k\n    flag = v % 2 == 0",
    "tuples": "pair = (v, t)\nfor k in range(n):" + EXCHANGE + "    w += pair[0] - pair[1]\n    pair = (w, k)",
    "views": "part = s[t:]\nfor k in range(n):" + EXCHANGE + "    w += part[0]",
    "barriers by each thread's count": "for k in range(t % 3):\n    cuda.syncthreads()\n    w += k",
    "bound from memory": "for k in range(s[0] % 3):\n    cuda.syncthreads()\n    w += k",
    "one goes on": "if t == 5:" + EXCHANGE,
    "shared variable": "total = 0\ndef add(value):\n    nonlocal total\n    total += value\nfor k in range(n):"
        + EXCHANGE + "    add(v)\nw += total",
    "atomics": "for k in range(n):" + EXCHANGE + "    cuda.syncthreads()\n    cuda.atomic.add(s, k, t)\n"
        "    cuda.syncthreads()\n    w += s[k]",
}

F = "0xFFFFFFFF"
IN_LOOPS |= {
    "shuffle down": f"k = 16\nwhile k > 0:\n    v += cuda.shfl_down_sync({F}, v, k)\n    k //= 2",
    "shuffles": f"for k in range(n):\n    v += cuda.shfl_sync({F}, w, k * 5)\n    w += cuda.shfl_up_sync({F}, v, k)\n"
        f"    v -= cuda.shfl_xor_sync({F}, w, k)",
    "width": f"v = cuda.shfl_down_sync({F}, v, t % 3, 8)\nw = cuda.shfl_sync({F}, w, t, 16)",
    "votes": f"for k in range(m):\n    v += cuda.ballot_sync({F}, w % 3 == k)\n"
        f"    if cuda.any_sync({F}, v % 7 == k):\n        w += 1\n    if cuda.all_sync({F}, w > k):\n        v += 2\n"
        f"    w += cuda.eq_sync({F}, v % 2 == 0)",
    "matches": f"w = cuda.match_any_sync({F}, v % 3)\nmask, alike = cuda.match_all_sync({F}, v % 2)\nv += mask\n"
        "if alike:\n    w += 1",
    "threads that have ended": f"if t % 5 == 1:\n    return\nfor k in range(n):\n"
        f"    v += cuda.shfl_down_sync({F}, w, k)\n"
        f"    w += cuda.ballot_sync({F}, v % 2 == 0)\n    v += cuda.syncthreads_count(w % 3 == 0)",
    "votes of the block": "w += cuda.syncthreads_and(v >= 0)\nv += cuda.syncthreads_count(w % 3 == 0)\n"
        "w -= cuda.syncthreads_or(v == 7)",
    "as long as any": "while cuda.syncthreads_or(v > 10):\n    s[t] = v // 2\n    cuda.syncthreads()\n"
        "    v = min(v, s[(t + 1) % size])\n    w += v\nv += s[t]",
    "syncwarp": f"for k in range(n):\n    cuda.syncwarp()\n    v += cuda.shfl_up_sync({F}, v, 1)",
}

IN_LOOPS |= {
    "function": "for k in range(n):\n    v = exchange(s, t, size, v)\n    w += exchange(s, t, size, w)",
    "functions of functions": "for k in range(m):\n    v, count = rounds(s, t, size, v + w, k + 1)\n    w += count",
    "function of a warp": f"w = total({F}, v)\nif t % 4 == 0:\n    return\nv += total({F}, w)",
    "function with an array": "own(t, v, True)\nw += own(t, 0, False)",
    "warp of the block": f"v = total({F}, v)\nif t % 32 == 0:\n    s[t // 32] = v\ncuda.syncthreads()\n"
        f"if t < 32:\n    v = s[t] if t < 2 else 0\n    out[i] = total({F}, v)\nreturn",
}

SWITCHING = {
    "recursion": "v = again(t, 3)",
    "shuffle of some": f"if t < 32:\n    v += cuda.shfl_down_sync({F}, v, 1)\ncuda.syncthreads()\nw += v",
    "mask of some": "v += cuda.ballot_sync(0x0000FFFF, w % 2 == 0) if t % 32 < 16 else 0\ncuda.syncthreads()",
    "active": "v += cuda.activemask()",
}


PARTED = {
    "branch of some threads": "if t < 10:" + EXCHANGE + "w += s[t]\ncuda.syncthreads()",
    "barrier in a loop of each thread's own": "for k in range(t % 3):\n    cuda.syncthreads()\ncuda.syncthreads()",
    "two ways": "if t < 10:\n    cuda.syncthreads()\nelse:\n    cuda.syncthreads()",
}


@pytest.mark.parametrize("name", IN_LOOPS)
def test_in_loops(name):
    assert check_both(IN_LOOPS[name])


@pytest.mark.parametrize("name", SWITCHING)
def test_switching(name):
    assert not check_both(SWITCHING[name])


@pytest.mark.parametrize("name", PARTED)
def test_barriers_of_different_lines_are_an_error(name):
    source = source_of(PARTED[name])
    lines = [number for number, line in enumerate(source.split("\n"), 1) if "syncthreads" in line]
    with pytest.raises(KernelHangError, match="wait at cuda.syncthreads in line") as caught:
        run(source, 1)
    named = {int(number) for number in re.findall(r"in line (\d+)", str(caught.value))}
    assert len(named) == 2 and named <= set(lines)


def test_block_shapes():
    def kernel(out):
        s = cuda.shared.array((4, 8, 16), np.int64)
        x, y, z = cuda.threadIdx.x, cuda.threadIdx.y, cuda.threadIdx.z
        s[z, y, x] = x + 100 * y + 10000 * z
        total = 0
        cuda.syncthreads()
        for k in range(3):
            total += s[(z + k) % cuda.blockDim.z, (y + k) % cuda.blockDim.y, (x + k) % cuda.blockDim.x]
            cuda.syncthreads()
        out[cuda.blockIdx.x, z, y, x] = total

    for shape in [(16, 8, 4), (1, 8, 4), (5, 3, 2), (16, 1, 1), (1, 1, 1)]:
        out = np.zeros((2, shape[2], shape[1], shape[0]), np.int64)
        cuda.jit(kernel)[2, shape](out)
        z, y, x = np.indices(out.shape[1:])
        expected = sum((x + k) % shape[0] + 100 * ((y + k) % shape[1]) + 10000 * ((z + k) % shape[2]) for k in range(3))
        assert np.array_equal(out, np.broadcast_to(expected, out.shape))


def test_exceptions_end_their_thread_alone():
    @cuda.jit(debug=True, opt=False)
    def kernel(out):
        t = cuda.threadIdx.x
        for k in range(4):
            if t == k:
                raise ValueError(k)
            cuda.syncthreads()
            out[t] += 1

    out = cuda.to_device(np.zeros(8, np.int64))
    with pytest.raises(ValueError):
        kernel[1, 8](out)
        cuda.synchronize()
    assert out.copy_to_host().tolist() == [0, 1, 2, 3, 4, 4, 4, 4]


# --- random programs --------------------------------------------------------------------------------------------------


class Program:
    """Statements that read shared memory only where it was written before a barrier."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines, self.counters = [], 0

    def add(self, depth, text):
        self.lines.append("    " * depth + text)

    def counter(self):
        self.counters += 1
        return f"k{self.counters}"

    def alike(self):
        return self.random.choice(["n", "m", "cuda.blockIdx.x + 1", "size % 5", "2"])

    def own(self):
        return self.random.choice(["v", "w", "t", "x[i]", "v % 7", "w - t", "v * 3 + w", "s[t]"])

    def condition(self):
        return self.random.choice(["t % 3 == 0", "v > w", "x[i] > 50", "t < n", "w % 2 == 1"])

    def assign(self, depth, inside):
        text = self.random.choice(["v = {}", "w = {}", "v += {}", "w -= {}"])
        self.add(depth, text.format(self.random.choice([self.own(), self.own(), *inside, self.alike()])) )

    def exchange(self, depth):
        self.add(depth, "cuda.syncthreads()")
        self.add(depth, f"s[t] = {self.own()}")
        self.add(depth, "cuda.syncthreads()")
        self.add(depth, f"{self.random.choice('vw')} += s[(t + {self.random.randrange(1, 9)}) % size] % 1000")

    def block(self, depth, inside, waits, in_own_loop=False):
        for _ in range(self.random.randrange(1, 4)):
            self.statement(depth, inside, waits, in_own_loop)

    def statement(self, depth, inside, waits, in_own_loop):
        choice = self.random.randrange(12)
        if depth > 3 or choice < 4:
            self.assign(depth, inside)
        elif choice < 7 and waits:
            self.exchange(depth)
        elif choice == 7 and waits:
            self.add(depth, f"if {self.alike()} > {self.alike()}:")
            self.block(depth + 1, inside, True)
            self.add(depth, "else:")
            self.block(depth + 1, inside, True)
        elif choice == 8:
            counter = self.counter()
            self.add(depth, f"for {counter} in range({self.alike()}):")
            self.block(depth + 1, [*inside, counter], waits, not waits)
        elif choice == 9 and in_own_loop:
            self.add(depth, f"if {self.condition()}:")
            self.add(depth + 1, self.random.choice(["break", "continue", "return"]))
        elif choice == 9 and waits and depth == 0:
            self.add(depth, f"if {self.condition()}:")
            self.add(depth + 1, "return")
        elif choice == 10:
            counter = self.counter()
            self.add(depth, f"for {counter} in range({self.random.choice(['t % 4', 'v % 5', 'x[i] % 3'])}):")
            self.block(depth + 1, [*inside, counter], False, True)
        else:
            self.add(depth, f"if {self.condition()}:")
            self.block(depth + 1, inside, False, in_own_loop)


@pytest.mark.parametrize("seed", range(40))
def test_random_programs(seed):
    program = Program(seed)
    for _ in range(6):
        program.block(0, [], True)
    check_both("\n".join(program.lines), seed, block=THREADS if seed % 2 else 33)


def test_a_thread_reads_what_it_has_written_between_barriers():
    """Neighbouring cells written together, one of them read at a place that is known at run time."""
    @cuda.jit
    def kernel(out, given, base):
        t = cuda.grid(1)
        cells = cuda.local.array(4, np.uint32)
        cells[:4] = np.uint32(given)
        found = cells[np.int32(base - given) % 4]
        rest = cells[1:]
        rest[2] += np.float32(2)
        s = cuda.shared.array(6, np.int64)
        s[cuda.threadIdx.x] = np.int64(found)
        cuda.syncthreads()
        neighbour = s[(cuda.threadIdx.x + 1) % 6]
        cuda.syncthreads()
        s[cuda.threadIdx.x] = neighbour
        cuda.syncthreads()
        out[t, 0] = s[(cuda.threadIdx.x + 5) % 6]
        out[t, 1] = found
        out[t, 2] = cells[0]
        out[t, 3] = rest[0]

    for given in (3.0, 70.0, 9.0, 1e6):
        out = np.zeros((6, 4), np.int64)
        kernel[1, 6](out, np.float32(given), 16777217.0)
        assert (out == given).all()


def test_regions_of_inlined_functions_come_in_the_order_of_their_values():
    """The blocks behind a call are numbered before those of the function; the vote's result is used in the former."""
    @cuda.jit
    def kernel(x, out, n):
        i = cuda.threadIdx.x
        w = cuda.reduce_add_sync(0xFFFFFFFF, x[i])
        w = cuda.syncthreads_or(w > 1000)
        w = cuda.popc(cuda.ballot_sync(0xFFFFFFFF, x[i] < w))
        for _ in range(n):
            w += cuda.reduce_or_sync(0xFFFFFFFF, np.int32(x[i]))
        out[i] = w

    x = np.random.default_rng(1).integers(0, 100, 64)
    for factor in (1, 0):
        out = np.zeros(64, np.int64)
        kernel[1, 64](x * factor, out, 3)
        warps = x.reshape(2, 32) * factor
        either = np.bitwise_or.reduce(warps, 1)
        np.testing.assert_array_equal(out, np.repeat((warps < factor).sum(1) + 3 * either, 32))
    assert "kernel.blocks" in next(iter(kernel.inspect_llvm().values()))
