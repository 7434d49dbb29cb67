"""What launches prove: right kernels run without checks of their indices, wrong ones are found, and ranges are never
narrower than the truth."""
import random

import numpy as np
import pytest
from made_kernels import made

from cujit import cuda, float64, int64

GRID, BLOCK = 3, 8
THREADS = GRID * BLOCK

# Bodies of kernels of (x, y, n, table): x and y have THREADS elements, as n says; table holds what nobody knows.
PROVEN = {
    "guard": "if i < x.size:\n    y[i] = x[i]",
    "guard by an argument": "if i < n:\n    y[i] = x[i]",
    "early return": "if i >= n:\n    return\ny[i] = x[i]",
    "no guard": "y[i] = x[i]",
    "two conditions": "if i > 0 and i + 1 < n:\n    y[i] = x[i - 1] + x[i] + x[i + 1]",
    "chain": "if 0 < i < n - 1:\n    y[i] = x[i - 1] + x[i + 1]",
    "either ends": "if i == 0 or i == n - 1:\n    return\ny[i] = x[i - 1] + x[i + 1]",
    "kept": "inside = i > 0 and i + 1 < n\nif inside:\n    y[i] = x[i - 1] + x[i] + x[i + 1]",
    "kept for a choice": "inside = i >= 1 and i < n\ny[i] = x[i - 1] if inside else 0.0",
    "kept of a square": "a = cuda.local.array((4, 6), np.float64)\nj = t - 1\n"
                        "inside = j >= 0 and j < 4 and i >= 2 and i < 8\nif inside:\n    a[j, i - 2] = 1.0\n"
                        "y[i] = a[0, 0]",
    "kept, either ends": "outside = i == 0 or i == n - 1\nif outside:\n    return\ny[i] = x[i - 1] + x[i + 1]",
    "kept in a loop": "for k in range(-3, n + 3):\n    inside = k >= 0 and k < n\n    if inside:\n        y[k] = x[k]",
    "truth": "if i:\n    y[i] = x[i - 1]",
    "remainder": "y[i] = x[(i + 1) % n] + x[(i + n - 1) % n]",
    "quotient": "y[i // 2] = x[i // 3]",
    "quotient that is tested": "w = n // 6\nif 1 <= i // w < n // w - 1:\n    y[i] = x[i - w] + x[i + w]",
    "bits": "y[i & 7] = x[(i ^ 5) & 15] + x[i >> 1]",
    "reverse": "y[n - 1 - i] = x[i]",
    "from the end": "y[-1 - i] = x[-n]",
    "minimum": "y[min(i, n - 1)] = x[max(i - 1, 0)]",
    "choice": "y[i if i < n else 0] = x[i - 1 if i > 0 else 0]",
    "absolute": "y[abs(i - 5)] = x[i]",
    "loop": "for k in range(x.shape[0]):\n    y[i] += x[k]",
    "loop with a step": "for k in range(i, n, 4):\n    y[k] = x[k]",
    "grid-stride loop": "for k in range(i, n, cuda.gridsize(1)):\n    y[k] = x[k]",
    "loop to the start": "for k in range(n - 1, -1, -1):\n    y[k] += x[k]",
    "inner loop": "for k in range(n):\n    for m in range(k):\n        y[k] += x[m]",
    "loop that counts itself": "k = 0\nwhile k < n:\n    y[k] += x[k]\n    k += 1",
    "loop that falls": "k = n - 1\nwhile k >= 0:\n    y[k] += x[k]\n    k -= 1",
    "halves": "s = BLOCK // 2\nwhile s > 0:\n    if t < s:\n        y[t] += x[t + s]\n    s //= 2",
    "shifts": "s = BLOCK // 2\nwhile s:\n    if t < s:\n        y[t] += x[t + s]\n    s >>= 1",
    "doubles": "d = 1\nwhile d < BLOCK:\n    if t >= d:\n        y[t] = x[t - d]\n    d *= 2",
    "some trips": "k = 0\nfor m in range(n):\n    if k < n:\n        y[k] += x[m]\n    if m % 2 == 0:\n        k += 1",
    "shared": "s = cuda.shared.array(BLOCK, np.float64)\ns[t] = x[i]\ncuda.syncthreads()\n"
              "y[i] = s[BLOCK - 1 - t] + s[(t + 1) % BLOCK]",
    "two axes": "a = cuda.local.array((4, 6), np.float64)\nfor r in range(4):\n    for c in range(6):\n"
                "        a[r, c] = x[r * 6 + c]\ny[i] = a[i % 4, i // 4]",
    "view": "v = x[2:10]\nfor k in range(v.shape[0]):\n    y[k] += v[k]",
    "function": "y[i] = take(x, i, 0) + take(x, i, -1)",
    "result of a function": "y[place(i, n)] = x[i]",
    "tuple": "at = (i, n - 1)\ny[at[0]] = x[at[1]]",
    "bytes of memory": "a = cuda.local.array(256, np.float64)\nfor k in range(256):\n    a[k] = 0.0\n"
                       "a[table[i]] = 1.0\ny[i] = a[3]",
    "iteration": "for v in x:\n    y[i] += v",
    "atomic": "cuda.atomic.add(y, i % 5, 1.0)",
    "many neighbours": "a = cuda.local.array(800, np.float64)\n" + "".join(
        f"a[i + {k}] = a[i + {700 - k}]\n" for k in range(30, 650)) + "y[i] = x[i]",
    "swapped": "a, b = x, y\nfor k in range(4):\n    b[i] = a[i]\n    a, b = b, a",
}


def take(a, i, d):
    return a[i + d] if i + d >= 0 else 0.0


def place(i, n):
    if i >= n:
        return 0
    return i


def kernel_of(body, globals_=None):
    lines = "\n".join("    " + line for line in body.split("\n"))
    source = f"def kernel(x, y, n, table):\n    i = cuda.grid(1)\n    t = cuda.threadIdx.x\n{lines}\n"
    names = {"cuda": cuda, "np": np, "take": take, "place": place, "BLOCK": BLOCK, **(globals_ or {})}
    return made(source, **names)


def launch(kernel, size=THREADS, n=None):
    table = np.arange(THREADS, dtype=np.uint8) * 10
    kernel[GRID, BLOCK](*(cuda.to_device(a) for a in (np.ones(size), np.zeros(size))), size if n is None else n, table)
    cuda.synchronize()


@pytest.mark.parametrize("name", PROVEN)
def test_right_kernels_check_nothing(name, capfd, monkeypatch):
    """No check is in the code, and the launch needs no other one."""
    monkeypatch.setenv("CUJIT_DUMP", "checks")
    launch(cuda.jit(check="bounds")(kernel_of(PROVEN[name])))
    dumped = capfd.readouterr().err
    assert dumped.count("--- checks of kernel") == 1 and "raise" not in dumped


def test_launches_that_differ(capfd, monkeypatch):
    """A launch that is wrong is found, one that is right runs without checks before and after it."""
    monkeypatch.setenv("CUJIT_DUMP", "checks")
    kernel = cuda.jit(check="bounds")(kernel_of("if i < n:\n    y[i] = x[i]"))
    for size, n in ((THREADS, None), (THREADS - 1, THREADS), (THREADS, None), (THREADS - 2, THREADS), (5, 6)):
        if n:
            with pytest.raises(IndexError, match=f"index {size} is out of bounds for axis 0"):
                launch(kernel, size, n)
        else:
            launch(kernel)
    assert capfd.readouterr().err.count("--- checks of kernel") == 2


def test_what_comes_from_memory_is_checked_always():
    body = "a = cuda.local.array(200, np.float64)\na[table[i]] = 1.0\ny[i] = a[0]"
    kernel = cuda.jit(check="bounds")(kernel_of(body))
    with pytest.raises(IndexError, match="index 2[0-3]0 is out of bounds for axis 0"):
        launch(kernel)


def test_kept_conditions_that_lead_past_each_other():
    """The ways to each went by the other, without end."""
    def kernel(x, y):
        held = x[0] > 3
        same = held
        c = 0
        while c < 2 and (not held or not same):
            c += 1
            y[cuda.grid(1)] += x[2 if x[3] > 0 else held]

    y = np.zeros(2)
    cuda.jit(kernel)[1, 2](np.arange(4.0), y)
    assert y.tolist() == [4.0, 4.0]


# --- random kernels ---------------------------------------------------------------------------------------------------


class Outside(Exception):
    pass


class Strict(list):
    """An array of CPython's that knows no index that NumPy's arrays do not."""

    @property
    def size(self):
        return len(self)

    def _place(self, i):
        if not -len(self) <= i < len(self):
            raise Outside(i)
        return i

    def __getitem__(self, i):
        return super().__getitem__(self._place(i))

    def __setitem__(self, i, value):
        super().__setitem__(self._place(i), value)


def random_index(rng, names):
    a, b = rng.choice(names), rng.choice(names)
    c = rng.randrange(1, 7)
    return rng.choice([f"{a} + {c}", f"{a} - {c}", a, a, a, f"{a} * {c}", f"({a} + {b}) // 2", f"{a} % {c}",
                       f"n - {c} - {a}", f"{a} - {b}", f"min({a}, n - {c})", f"max({a} - {c}, 0)", f"{a} ^ {c}",
                       f"({a} + {c}) % n", f"{a} >> 1", f"abs({a} - {b})", f"-{a}", f"{a} & 15", f"{a} << 1"])


def random_condition(rng, names):
    return (f"{random_index(rng, names)} {rng.choice(['<', '<=', '>', '>=', '==', '!='])} "
            f"{rng.choice(['n', 'x.size', '0', 'n - 1', str(rng.randrange(30)), random_index(rng, names)])}")


def random_block(rng, names, depth):
    lines = []
    for _ in range(rng.randrange(1, 4)):
        kind = rng.randrange(7) if depth else 0
        inner = "\n".join("    " + line for line in random_block(rng, names, depth - 1)) if kind in (3, 4, 5) else ""
        if kind < 2:
            lines.append(f"y[{random_index(rng, names)}] = x[{random_index(rng, names)}]")
        elif kind == 2:
            lines.append(f"if {random_condition(rng, names)}:\n    return")
        elif kind == 3:
            joined = random_condition(rng, names)
            if rng.random() < 0.5:
                joined += f" {rng.choice(['and', 'or'])} {random_condition(rng, names)}"
            kept = f"q{rng.randrange(3)}"
            is_kept, word = rng.random() < 0.4, rng.choice(["", "not "])
            lines.append(f"{kept} = {joined}\nif {word}{kept}:\n{inner}" if is_kept else f"if {joined}:\n{inner}")
        elif kind == 4:
            name = f"k{depth}"
            start, stop = rng.choice(["0", "i", "1", "n - 1"]), rng.choice(["n", "n - 1", "x.size", "i", "5"])
            body = "\n".join("    " + line for line in random_block(rng, [*names, name], depth - 1))
            lines.append(f"for {name} in range({start}, {stop}, {rng.choice([1, 1, 2, 5, -1])}):\n{body}")
        elif kind == 5:
            name = f"w{depth}"
            update = rng.choice([f"{name} //= 2", f"{name} >>= 1", f"{name} -= 1", f"{name} -= 3"])
            body = "\n".join("    " + line for line in random_block(rng, [*names, name], depth - 1))
            lines.append(f"{name} = {rng.choice(['n', 'n // 2', 'i', '7'])}\nwhile {name} > 0:\n{body}\n    {update}")
        else:
            lines.append(f"{rng.choice(['i', 't'])} = {random_index(rng, names)}")
    return "\n".join(lines).split("\n")


class _Register:
    x = 0


class _Thread:
    """What a kernel sees of cuda, for one thread of CPython's."""

    def __init__(self, block, thread):
        self.threadIdx = _Register()
        self.threadIdx.x = thread
        self._place = block * BLOCK + thread

    def grid(self, _):
        return self._place


def goes_outside(body, size, n):
    """Whether some thread does. Threads are independent of each other."""
    for block in range(GRID):
        for thread in range(BLOCK):
            run = kernel_of(body, {"cuda": _Thread(block, thread)})
            try:
                run(Strict([0.0] * size), Strict([0.0] * size), n, None)
            except Outside:
                return True
    return False


@pytest.mark.parametrize("seed", range(60))
def test_random_kernels(seed):
    rng = random.Random(seed)
    body = "\n".join(random_block(rng, ["i", "t"], 2))
    kernel = cuda.jit(check="bounds")(kernel_of(body))
    for size, n in ((THREADS, THREADS), (THREADS + 8, THREADS), (THREADS - 4, THREADS), (THREADS, 9), (1, 1)):
        expected = goes_outside(body, size, n)
        try:
            launch(kernel, size, n)
            found = False
        except IndexError:
            found = True
        assert found == expected, body


# --- indices that count from the end -----------------------------------------------------------------------------

def flat(x, out, n, m):
    j, i = cuda.grid(2)
    if 1 <= i < n - 1 and j < m:
        out[i * m + j] = x[(i - 1) * m + j] + x[i * m + j + m]


def moved(x, out, n, m):
    i = cuda.grid(1)
    if i < m:
        out[i] = x[i + n]


def periodic(x, out, n, m):
    i = cuda.grid(1)
    if i < m:
        out[i] = x[i * n - 1]


def kept(function):
    return cuda.jit(function).inspect("checks", (float64[::1], float64[::1], int64, int64)).count(" wrap ")


def test_which_indices_may_count_from_the_end():
    """Not where a launch says that none does; always where the first of them does in any launch."""
    if cuda.get_current_device().kind == "cuda":
        pytest.skip("checks are the CPU device's")
    assert kept(flat) == kept(moved) == 0
    assert kept(periodic) == 1


def test_launches_in_which_some_count_from_the_end():
    x, out = np.arange(64.0), np.zeros(64)
    kernel = cuda.jit(moved)
    for n, m in (0, 64), (-5, 64), (0, 10), (-64, 64), (3, 61), (-1, 1):
        kernel[2, 32](x, out, n, m)
        np.testing.assert_array_equal(out[:m], x[np.arange(m) + n])
    kernel = cuda.jit(periodic)
    for n in 1, 2:
        kernel[2, 32](x, out, n, 32)
        np.testing.assert_array_equal(out[:32], x[np.arange(32) * n - 1])
    kernel = cuda.jit(flat)
    for rows in 8, 4:
        kernel[(1, 2), (8, 4)](x, out, rows, 8)
        square = x[:8 * rows].reshape(rows, 8)
        np.testing.assert_array_equal(out[:8 * rows].reshape(rows, 8)[1:-1], square[:-2] + square[2:])
    out[:] = 0
    kernel[(1, 2), (8, 4)](x, out, 5, -8)   # no thread is at work
    assert not out.any()
