"""Threads that meet in the middle of nested loops, on the CPU device: behind the barrier some go on with the inner
loop, with what they made on the way to it, and others come to it again by way of the outer one, which makes it anew.
Beside a model in Python that runs each thread to its next barrier."""
import random
import textwrap

import numpy as np
import pytest
from made_kernels import made

from cujit import _core, cuda, int64

pytestmark = pytest.mark.skipif(cuda.get_current_device().kind == "cuda",
                                reason="about how the CPU device runs kernels")
SEEDS, CELLS = 120, 4
TYPES = (int64[::1], int64[::1], int64[::1], int64)

# x: nobody writes to it; y: has CELLS items for each thread. MEET is a barrier.
SHAPES = {
    "bound_inside": """
        for w in range(x[0]):
            n = x[1]
            s = 0
            for k in range(n):
                s += x[k]
                MEET
            out[i] += s
        """,
    "bound_in_front": """
        n = x[1]
        for w in range(2):
            if i == 0:
                y[1] = 1
            for k in range(n):
                MEET
                out[i] += k + w
        """,
    "bound_of_each_trip": """
        for w in range(3):
            for k in range(x[w]):
                out[i] += k
                MEET
            out[i] += 10 * w
        """,
    "bound_of_each_thread": """
        for w in range(2):
            n = x[(i + w) & 7]
            v = n * i
            for k in range(n):
                out[i] += v + k
                MEET
            out[i] += v
        """,
    "bound_that_is_written": """
        for w in range(3):
            n = y[i * 4] & 3
            for k in range(n):
                MEET
                y[i * 4] += 1
            out[i] += n + w
            y[i * 4] += 1
        """,
    "two_barriers": """
        for w in range(x[0]):
            n = x[w]
            a = x[w + 1]
            k = 0
            while k < n:
                k += 1
                y[i * 4 + 1] = a + k
                MEET
                a += y[(i ^ 1) * 4 + 1]
                MEET
            out[i] += a
        """,
    "three_loops": """
        for u in range(2):
            m = x[u]
            for w in range(m):
                n = x[w] - u
                for k in range(n):
                    MEET
                    out[i] += u + w * n + k * m
                out[i] += n
            out[i] += m
        """,
    "used_by_an_if": """
        w = 0
        while w < x[0]:
            w += 1
            n = x[w]
            c = x[i & 7]
            for k in range(n):
                if c & 1:
                    out[i] += n
                else:
                    c += n
                MEET
            out[i] += c
        """,
    "left_early": """
        for w in range(x[1]):
            n, c = x[w], x[w + 2]
            for k in range(4):
                if k == n:
                    break
                MEET
                out[i] += c * k
                if i == 2:
                    return
        """,
    "several_values": """
        for w in range(2):
            pair = (x[w], x[w + 1] * 0.5)
            row = x[w:]
            for k in range(pair[0]):
                MEET
                out[i] += row[k] + int(pair[1])
        """,
}


class Program:
    """Nested loops with one place in which all threads meet, and statements of a thread on its own around it."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines, self.counters = [], []
        self.loop(0, self.random.randint(2, 3))
        self.lines.append("out[i] += v + 3 * u")

    def add(self, depth, line):
        self.lines.append("    " * depth + line)

    def one_of(self, *choices):
        return self.random.choice(choices)

    def index(self):
        return self.one_of("0", "1", "2", "i & 7", "v & 7", *(f"{name} & 7" for name in self.counters))

    def bound(self):
        return self.one_of(f"x[{self.index()}]", f"x[{self.index()}]", f"x[{self.index()}] - x[3] + 1", "n", "2",
                           f"y[i * 4 + {self.random.randrange(CELLS)}] & 3")

    def value(self):
        terms = [self.one_of("u", "v", "i", f"x[{self.index()}]", f"y[i * 4 + {self.random.randrange(CELLS)}]",
                             *self.counters) for _ in range(self.random.randint(1, 3))]
        return f"({' + '.join(terms)}) & 1023"

    def statement(self, depth):
        name, kind = self.one_of("u", "v"), self.random.random()
        if kind < 0.4:
            self.add(depth, f"{name} = {self.value()}")
        elif kind < 0.6:
            self.add(depth, f"y[i * 4 + {self.random.randrange(CELLS)}] = {self.value()}")
        elif kind < 0.8:
            self.add(depth, f"if {name} & 1:")
            self.add(depth + 1, f"{name} = {self.value()}")
        elif kind < 0.95 and self.counters:
            self.add(depth, f"if {name} % 5 == {self.random.randrange(5)}:")
            self.add(depth + 1, self.one_of("break", "continue", "return"))

    def loop(self, depth, left):
        number, bound = len(self.counters), self.bound()
        if self.random.random() < 0.6:
            self.add(depth, f"m{number} = {bound}")
            bound = f"m{number}"
        self.add(depth, f"for k{number} in range({bound}):")
        self.counters.append(f"k{number}")
        for _ in range(self.random.randint(0, 2)):
            self.statement(depth + 1)
        if left > 1:
            self.loop(depth + 1, left - 1)
        else:
            self.add(depth + 1, "MEET")
        for _ in range(self.random.randint(0, 2)):
            self.statement(depth + 1)
        self.counters.pop()

    def text(self):
        return "\n".join(["u, v = 0, i", *self.lines])


def function_of(body, meet, heading, name):
    lines = textwrap.indent(textwrap.dedent(body).strip("\n"), "    ").replace("MEET", meet)
    return made(f"def f({heading}):\n{lines}\n", "f", name, cuda=cuda)


def run_model(body, name, threads, out, x, y, n):
    model = function_of(body + "\nreturn\nMEET", "yield", "out, x, y, n, i", f"<model {name}>")
    going = [model(out, x, y, n, i) for i in range(threads)]
    while going:
        going = [thread for thread in going if next(thread, "ended") != "ended"]


def arguments(seed, threads):
    chance = np.random.default_rng(seed)
    x = chance.integers(0, 4, 8)
    return np.zeros(threads, np.int64), x, chance.integers(0, 9, threads * CELLS), 2


def check(body, name, seed):
    threads = (4, 2, 64, 34)[seed % 4]
    kernel = cuda.jit(function_of("i = cuda.threadIdx.x\n" + body, "cuda.syncthreads()", "out, x, y, n", f"<{name}>"))
    regions = kernel.inspect("regions", TYPES)
    assert "thread_loop" in regions or name not in SHAPES
    assert _core.ir_roundtrip(regions)
    got, want = arguments(seed, threads), arguments(seed, threads)
    run_model(body, name, threads, *want)
    kernel[1, threads](*got)
    for mine, its in zip(got[:3], want[:3], strict=True):
        np.testing.assert_array_equal(mine, its)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", SHAPES)
def test_shapes(name, seed):
    check(textwrap.dedent(SHAPES[name]), name, seed)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_random_loops(seed):
    check(Program(seed).text(), f"random {seed}", seed)
