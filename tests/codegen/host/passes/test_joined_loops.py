"""What threads take of shared memory before a barrier and change behind it is one loop over them on the CPU device, in
the order in which none takes what another one has changed. Results are those of two loops, whatever the launch is."""

import textwrap

import numpy as np
import pytest
from made_kernels import made

from cujit import complex64, cuda, float32, float64, int8, int32, int64, uint16

pytestmark = pytest.mark.skipif(cuda.get_current_device().kind == "cuda",
                                reason="about how the CPU device runs kernels")
A = int32[::1]
SIZE = 1024 + 130

# name: (what is done before the barrier, and behind it, the order); t: the thread, n: how many, p and q: 0 to 63
BEFORE = "v = s[t - p] if t >= p else 0"
ORDERS = {
    "scan": (BEFORE, "s[t] += v", "down"),
    "mirrored": ("v = s[t - p] if p <= t else 0", "s[t] += v", "down"),
    "negated": ("v = 0 if t < p else s[t - p]", "s[t] += v", "down"),
    "behind": ("v = s[t - p] if t > p else s[t]", "s[t] = v + 1", "down"),
    "statements": ("v = 0\nif t >= p:\n    v = s[t - p]", "if t >= p:\n    s[t] += v", "down"),
    "nothing to start with": ("if t >= p:\n    v = s[t - p]", "if t >= p:\n    s[t] += v", "down"),
    "both ways": (BEFORE, "if t >= p:\n    s[t] = v\nelse:\n    s[t] -= 3", "down"),
    "last": ("v = s[t]", "s[t + 1] = v", "down"),
    "farther": ("v = s[t + 1]", "s[t + 2] = v", "down"),
    "one before": ("v = s[t + 63]", "s[t + 64] = v + s[t + 64]", "down"),
    "two of them": (BEFORE + "\nw = s[t]", "s[t + 1] = v + w * 5", "down"),
    "as far": ("v = s[t + p]", "s[t + p + 1] = v", "down"),
    "first": ("v = s[t + 1]", "s[t] = v", "up"),
    "suffix": ("v = s[t + p] if t + p < n else 0", "s[t] += v", "up"),
    "own": ("v = s[t] * 3", "s[t] = v + 1", "up"),
    "nearer": ("v = s[t + 2]", "s[t + 1] = v", "up"),
    "asked": ("v = s[t + p]", "s[t + q] = v + 1", "down"),   # which of them is larger is known at the launch
    "asked of two": ("v = s[t + p] + s[p + t + 1]", "s[q + t] = v", "down"),
    "of all rows": ("v = s[t + p]", "s[t] = v + 1\nk += v", "up"),
    "own in ways": ("v = s[t] * 3 if x[t] > 20 else 0", "if t & 1:\n    s[t] = v + 1\nelse:\n    u[t] = v", "up"),
    "kept": ("v = s[t + 1] + k", "s[t] = v\nk += v & 7", "up"),
    "elsewhere": ("v = s[t + 1] + u[t]", "s[t] = v", "up"),
    "kept for later": ("k = s[t + 1]", "s[t] = k", None),
    "kept behind": ("v = s[t + 1]", "s[t] = v\ncuda.syncthreads()\nk += v", None),
    "not told to be independent": ("v = s[t + 1]", "s[t] = v\nu[t * 2] = v\nk += u[t * 2 + 1]", None),
    "views": ("w = s[2:]\nv = w[t] + s[t + 1]", "s[t] = v", None),
    # LLVM would have the elements of one way stored before those of the other one are loaded
    "red black": ("v = s[t + 1] if (t & 1) == 0 else 0", "if t & 1:\n    s[t] += 9\nelse:\n    u[t] = v", None),
    "red black, own first": ("v = s[t + 1] if (t & 1) == 0 else 0",
                             "if (t & 1) == 0:\n    u[t] = v\nelse:\n    s[t] += 9", None),
    "thread": ("v = s[t + 3] if t == p else 0", "if t == p:\n    u[t] = v\nelse:\n    s[t] += 9", None),
    "item": ("v = s[t + 3] if x[t] > 20 else 0", "if x[t] > 20:\n    u[t] = v\nelse:\n    s[t] += 9", None),
    "range": ("v = s[t + 3] if t >= p and t < 99 else 0",
              "if t >= p and t < 99:\n    u[t] = v\nelse:\n    s[t] += 9", None),
    "needed in one way": ("v = s[t + 1]", "if t & 1:\n    s[t] += 9\nelse:\n    u[t] = v", None),
    "needed by item": ("v = s[t + 1]", "if x[t] > 20:\n    u[t] = v\nelse:\n    s[t] += 9", None),
    "taken in one way": ("v = s[t + p] if t % 3 == 1 else 2", "s[t] += v", None),
    "row by row": ("v = s[t + p]", "if cuda.threadIdx.y == 0:\n    s[t] = v + 1\nk += v", None),
    "routine": ("v = s[t + 1]", "s[t] = v\nk += v % 7", None),
    "both sides": ("v = s[t] + s[t + 2]", "s[t + 1] = v", None),
    "another test": (BEFORE, "if t > p:\n    s[t] += v", None),
    "even": ("v = s[t - p] if t % 2 == 0 and t >= p else 0", "s[t] += v", None),
    "backwards": ("v = s[n - 1 - t]", "s[t] = v", None),
    "scattered": ("v = s[t + 1]", "s[n - 1 - t] = v", None),
    "looked up": ("v = s[abs(s[t]) % n]", "s[t] = v", None),
}
BLOCKS = [(1, 1), (63, 1), (64, 1), (100, 1), (200, 1), (64, 2)]
NUMBERS = [(0, 0), (1, 0), (3, 5), (5, 3), (63, 62)]


def kernel_of(before, after, element):
    text = f"""
def kernel(x, out, a, b, rounds):
    s = cuda.shared.array({SIZE}, element)
    u = cuda.shared.array({SIZE}, element)
    t = cuda.threadIdx.x
    n = cuda.blockDim.x
    p = a & 63
    q = b & 63
    k = element(0)
    for i in range(t, {SIZE}, n):
        s[i] = x[i]
        u[i] = element(i % 5)
    cuda.syncthreads()
    for _ in range(rounds):
{textwrap.indent(before, " " * 8)}
        cuda.syncthreads()
{textwrap.indent(after, " " * 8)}
        cuda.syncthreads()
    for i in range(t, {SIZE}, n):
        out[i] = s[i]
        out[{SIZE} + i] = u[i]
    out[{2 * SIZE} + cuda.threadIdx.y * n + t] = k
"""
    return made(text, cuda=cuda, element=element)


def expected(before, after, x, p, q, rounds, n, rows):
    """All threads up to the barrier, one after the other, then behind it."""
    phases = [compile(text, "<phase>", "exec") for text in (before, *after.split("cuda.syncthreads()\n"))]
    s, u = x.copy(), (np.arange(SIZE) % 5).astype(x.dtype)

    class Thread:
        def __init__(self, y):
            self.threadIdx = type("Index", (), {"y": y})

    threads = [{"s": s, "u": u, "x": x, "t": t, "n": n, "p": p, "q": q, "k": x.dtype.type(0), "cuda": Thread(y)}
               for y in range(rows) for t in range(n)]
    with np.errstate(all="ignore"):
        for _ in range(rounds):
            for phase in phases:
                for thread in threads:
                    exec(phase, thread)     # noqa: S102
    return np.concatenate([s, u, np.array([thread["k"] for thread in threads], x.dtype)])


def numbers(element):
    return np.random.default_rng(5).integers(0, 40, SIZE).astype(np.dtype(str(element)))


def order_of(kernel, *types):
    text = cuda.jit(kernel).inspect("joined", types)
    return [each for each in ("up", "down") if f"!{each} " in text]


@pytest.mark.parametrize("name", ORDERS)
def test_order(name):
    before, after, order = ORDERS[name]
    found = order_of(kernel_of(before, after, int32), A, A, int32, int32, int32)
    assert found == ([order] if order else [])


@pytest.mark.parametrize("name", ORDERS)
def test_results(name):
    before, after, _ = ORDERS[name]
    kernel = cuda.jit(kernel_of(before, after, int32))
    x = numbers(int32)
    for n, rows in BLOCKS:
        for p, q in NUMBERS:
            if rows > 1 and name not in ("of all rows", "row by row"):
                continue    # threads of two rows would change the same elements
            out = np.zeros(2 * SIZE + n * rows, np.int32)
            kernel[1, (n, rows)](x, out, p, q, 2)
            assert np.array_equal(out, expected(before, after, x, p, q, 2, n, rows)), (n, rows, p, q)


@pytest.mark.parametrize("element", [int8, uint16, int64, float32, float64, complex64])
def test_elements(element):
    before, after = "v = s[t - p] if t >= p else element(0)", "s[t] += v"
    kernel = cuda.jit(kernel_of(before, after, element))
    x = numbers(element)
    for n in 64, 77, 512:
        for p in 1, 2, 13, 16, 32, 63:
            out = np.zeros(2 * SIZE + n, x.dtype)
            kernel[1, n](x, out, p, 0, 3)
            s = x.copy()
            for _ in range(3):
                s[p:n] += s[:n - p].copy()
            assert np.array_equal(out[:SIZE], s), (n, p)


def test_scan():
    def scan(x, out):
        s = cuda.shared.array(1024, int32)
        t = cuda.threadIdx.x
        i = cuda.grid(1)
        s[t] = x[i] if i < x.size else 0
        cuda.syncthreads()
        step = 1
        while step < cuda.blockDim.x:
            before = s[t - step] if t >= step else 0
            cuda.syncthreads()
            s[t] += before
            cuda.syncthreads()
            step *= 2
        if i < x.size:
            out[i] = s[t]

    kernel = cuda.jit(scan)
    for n in 1, 31, 64, 96, 255, 1024:
        x = np.arange(5 * n - n // 2, dtype=np.int32) ** 2
        out = np.zeros_like(x)
        kernel[5, n](x, out)
        for block in range(5):
            part = slice(block * n, block * n + n)
            assert np.array_equal(out[part], np.cumsum(x[part], dtype=np.int32)), n


def test_threads_that_ended():
    def kernel(x, out, end):
        s = cuda.shared.array(SIZE, int32)
        t = cuda.threadIdx.x
        s[t] = x[t]
        s[t + 1] = x[t + 1]
        cuda.syncthreads()
        if t >= end:
            return
        cuda.syncthreads()
        v = s[t + 1]
        cuda.syncthreads()
        s[t] = v
        cuda.syncthreads()
        for i in range(t, 130, end):
            out[i] = s[i]

    x = numbers(int32)
    for end in 1, 50, 127, 128:
        out = np.zeros(130, np.int32)
        cuda.jit(kernel)[1, 128](x, out, end)
        s = np.append(x[:129], 0)
        s[:end] = x[1:end + 1]
        assert np.array_equal(out[:129], s[:129]), end


def test_parameters_of_one_array():
    def kernel(x, y):
        s = cuda.shared.array(SIZE, int32)
        t = cuda.threadIdx.x
        s[t] = 100
        s[t + 1] = 100
        cuda.syncthreads()
        v = x[t] + s[t + 1]
        cuda.syncthreads()
        s[t] = v
        y[t + 1] = v

    assert not order_of(kernel, A, A)
    given = cuda.to_device(numbers(int32))
    cuda.jit(kernel)[1, 128](given, given)
    expected = numbers(int32)
    expected[1:129] = expected[:128] + 100
    assert np.array_equal(given.copy_to_host(), expected)


def test_dynamic_arrays_are_one():
    def kernel(x, out):
        a = cuda.shared.array(0, int32)
        b = cuda.shared.array(0, int32)
        t = cuda.threadIdx.x
        a[t] = x[t]
        cuda.syncthreads()
        v = a[t]
        cuda.syncthreads()
        b[t + 1] = v
        cuda.syncthreads()
        out[t] = a[t]

    x = numbers(int32)
    out = np.zeros(128, np.int32)
    cuda.jit(kernel)[1, 128, 0, 129 * 4](x, out)
    assert np.array_equal(out, np.append(x[:1], x[:127]))


def test_dynamic_array_beside_another():
    def kernel(x, out):
        s = cuda.shared.array(SIZE, int32)
        a = cuda.shared.array(0, int32)
        b = cuda.shared.array(0, int32)
        t = cuda.threadIdx.x
        a[t] = x[t]
        s[t] = 1
        s[t + 1] = 1
        cuda.syncthreads()
        v = a[t] + s[t + 1]
        cuda.syncthreads()
        s[t] = v
        b[t + 1] = v
        cuda.syncthreads()
        out[t] = a[t]

    x = numbers(int32)
    out = np.zeros(128, np.int32)
    cuda.jit(kernel)[1, 128, 0, 129 * 4](x, out)
    assert np.array_equal(out, np.append(x[:1], x[:127] + 1))


def test_rows():
    def kernel(x, out):
        s = cuda.shared.array((2, 80), int32)
        t, y = cuda.threadIdx.x, cuda.threadIdx.y
        s[y, t] = x[y * 80 + t]
        s[y, t + 1] = x[y * 80 + t + 1]
        cuda.syncthreads()
        v = s[1 - y, t + 1]
        cuda.syncthreads()
        s[y, t] = v
        cuda.syncthreads()
        out[y, t] = s[y, t]

    x = numbers(int32)
    out = np.zeros((2, 64), np.int32)
    cuda.jit(kernel)[1, (64, 2)](x, out)
    assert np.array_equal(out, x[:160].reshape(2, 80)[::-1, 1:65])
