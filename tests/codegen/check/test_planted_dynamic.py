"""Kernels with one fault each, which the checks `race`, `init` and `barrier` find in the line that has it: `# fault`
stands behind the line; where a race has two, either is right. A row is a memory kind, a construct, and a program."""
import linecache
import re

import numpy as np
import pytest

import cujit
from cujit import cuda, errors

pytestmark = pytest.mark.skipif(cuda.get_current_device().kind == "cuda", reason="the CPU device's")

HEAD = """import math
import numpy as np
import cujit
from cujit import cuda, float32, float64, int32, int64
"""
CLASSES = {"race": errors.RaceError, "init": errors.UninitializedError, "barrier": errors.BarrierError}

# --- races ------------------------------------------------------------------------------------------------------------

RACES = {
    "shared, no barrier before the read": """
def kernel(x, out):
    s = cuda.shared.array(64, float64)
    i = cuda.threadIdx.x
    s[i] = x[i]  # fault
    out[i] = s[63 - i]  # fault
""",
    "shared, no barrier behind the read": """
def kernel(x, out):
    s = cuda.shared.array(64, float64)
    i = cuda.threadIdx.x
    s[i] = x[i]
    cuda.syncthreads()
    a = s[63 - i]  # fault
    s[i] = a + 1  # fault
    out[i] = a
""",
    "shared, tree reduction without its barrier": """
def kernel(x, out):
    s = cuda.shared.array(64, float64)
    i = cuda.threadIdx.x
    s[i] = x[i]
    cuda.syncthreads()
    step = 32
    while step > 0:
        if i < step:
            s[i] += s[i + step]  # fault
        step //= 2
    out[i] = 1
""",
    "shared, stencil with one array": """
def kernel(x, out):
    s = cuda.shared.array(64, float64)
    i = cuda.threadIdx.x
    s[i] = x[i]
    cuda.syncthreads()
    for _ in range(3):
        left = s[i - 1] if i > 0 else 0.0  # fault
        s[i] = (left + s[i]) / 2  # fault
        cuda.syncthreads()
    out[i] = s[i]
""",
    "shared, dynamic": """
def kernel(x, out):
    s = cuda.shared.array(0, float64)
    i = cuda.threadIdx.x
    s[i // 2] = x[i]  # fault
    out[i] = 1
""",
    "shared, two axes": """
def kernel(x, out):
    s = cuda.shared.array((8, 8), float64)
    i = cuda.threadIdx.x
    s[i // 8, i % 8] = x[i]  # fault
    out[i] = s[i % 8, i // 8]  # fault
""",
    "shared, a counter of plain additions": """
def kernel(x, out):
    n = cuda.shared.array(1, int64)
    if cuda.threadIdx.x == 0:
        n[0] = 0
    cuda.syncthreads()
    n[0] += 1  # fault
    out[0] = 1
""",
    "shared, read beside atomics": """
def kernel(x, out):
    n = cuda.shared.array(2, int64)
    i = cuda.threadIdx.x
    if i < 2:
        n[i] = 0
    cuda.syncthreads()
    cuda.atomic.add(n, i % 2, 1)  # fault
    if i == 5:
        out[0] = n[0]  # fault
""",
    "shared, set to zero beside atomics": """
def kernel(x, out):
    n = cuda.shared.array(2, int64)
    i = cuda.threadIdx.x
    if i < 2:
        n[i] = 0  # fault
    cuda.atomic.add(n, i % 2, 1)  # fault
    out[i] = 1
""",
    "shared, syncwarp where syncthreads was meant": """
def kernel(x, out):
    s = cuda.shared.array(64, float64)
    i = cuda.threadIdx.x
    s[i] = x[i]  # fault
    cuda.syncwarp()
    out[i] = s[63 - i]  # fault
""",
    "shared, a mask that leaves lanes out": """
def kernel(x, out):
    s = cuda.shared.array(64, float64)
    i = cuda.threadIdx.x
    s[i] = x[i]  # fault
    if i % 32 < 16:
        cuda.syncwarp(0xFFFF)
    out[i] = s[i ^ 16]  # fault
""",
    "shared, between threads of a loop's rounds": """
def kernel(x, out):
    s = cuda.shared.array(64, float64)
    i = cuda.threadIdx.x
    for k in range(2):
        s[i] = x[i] + k  # fault
        cuda.syncthreads()
        out[i] = s[63 - i]  # fault
""",
    "global, same block": """
def kernel(x, out):
    i = cuda.grid(1)
    out[i] = x[i]  # fault
    if i > 0:
        out[i - 1] = 5.5  # fault
""",
    "global, other blocks": """
def kernel(x, out):
    out[cuda.threadIdx.x] += x[cuda.grid(1)]  # fault
""",
    "global, barrier does not reach other blocks": """
def kernel(x, out):
    i = cuda.grid(1)
    out[i] = x[i]  # fault
    cuda.syncthreads()
    x[i] = out[(i + 64) % 128]  # fault
""",
    "global, sum of all": """
def kernel(x, out):
    out[0] += x[cuda.grid(1)]  # fault
""",
    "global, flag without a fence": """
def kernel(x, out):
    i = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        if i == 0:
            x[5] = 3.25  # fault
            cuda.atomic.exch(out, 0, 1.0)
        elif cuda.atomic.max(out, 0, 0.0) == 1.0:
            out[1] = x[5]  # fault
""",
    "global, histogram without atomics": """
def kernel(x, out):
    out[int(x[cuda.grid(1)]) % 4] += 1  # fault
""",
    "global, in place transposition": """
def kernel(x, out):
    i, j = cuda.threadIdx.x // 8, cuda.threadIdx.x % 8
    out[i * 8 + j] = out[j * 8 + i]  # fault
""",
    "global, view": """
def kernel(x, out):
    i = cuda.grid(1)
    part = out[10:]
    part[i // 2] = x[i]  # fault
""",
    "global, slice assignment": """
def kernel(x, out):
    i = cuda.threadIdx.x
    out[i:i + 2] = x[i]  # fault
""",
    "global, complex numbers": """
def kernel(x, out):
    z = out.view(np.complex128)
    i = cuda.threadIdx.x
    z[i // 4] = x[i] + 1j  # fault
""",
    "global, bytes of one number": """
def kernel(x, out):
    i = cuda.threadIdx.x
    small = out.view(np.int8)
    if i == 0:
        out[2] = 1.5  # fault
    elif i == 1:
        small[19] = 3  # fault
""",
    "device function": """
@cuda.jit(device=True)
def put(a, i, v):
    a[i // 2] = v  # fault

def kernel(x, out):
    i = cuda.grid(1)
    put(out, i, x[i])
""",
    "plain function": """
def put(a, i, v):
    a[i // 3] = v  # fault

def kernel(x, out):
    i = cuda.grid(1)
    put(out, i, x[i])
""",
    "nested function": """
def kernel(x, out):
    i = cuda.grid(1)

    def put(v):
        out[i // 2] = v  # fault

    put(x[i])
""",
    "closure over a factory's array size": """
def make(n):
    def inner(x, out):
        s = cuda.shared.array(n, float64)
        i = cuda.threadIdx.x
        s[i] = x[i]  # fault
        out[i] = s[n - 1 - i]  # fault
    return inner

kernel = make(64)
""",
    "generator": """
def places(i, n):
    for k in range(n):
        yield (i + k) % 64

def kernel(x, out):
    i = cuda.threadIdx.x
    for p in places(i, 2):
        out[p] = x[i]  # fault
""",
    "tuple of arrays": """
def kernel(x, out):
    both = (x, out)
    i = cuda.threadIdx.x
    both[1][i // 2] = both[0][i]  # fault
""",
    "lambda": """
def kernel(x, out):
    i = cuda.threadIdx.x
    f = lambda k: out[k]  # fault
    out[i] = x[i]  # fault
    x[i] = f(63 - i)
""",
}

# --- memory that nothing has written ----------------------------------------------------------------------------------

INITS = {
    "device array, part that a kernel has written": """
@cuda.jit(check="init")
def fill(a):
    a[2:7] = 1.0

def arguments():
    a = cuda.device_array(10)
    fill[1, 1](a)
    return np.zeros(4), a

def kernel(x, out):
    for k in range(2, 8):
        x[0] += out[k]  # fault
""",
    "device array, atomic": """
def arguments():
    return np.zeros(4), cuda.device_array((3, 4), np.int64)

def kernel(x, out):
    cuda.atomic.add(out, (2, 1), 1)  # fault
""",
    "device array, field of a record": """
def arguments():
    return np.zeros(4), cuda.device_array(3, np.dtype([("a", np.float64), ("b", np.int64)]))

def kernel(x, out):
    out[1].a = 3
    x[0] = out[1].a
    x[0] = out[1].b  # fault
""",
    "shared, part that is not filled": """
def kernel(x, out):
    s = cuda.shared.array(64, float64)
    i = cuda.threadIdx.x
    if i != 20:
        s[i] = x[i]
    cuda.syncthreads()
    out[i] = s[63 - i]  # fault
""",
    "shared, accumulator": """
def kernel(x, out):
    n = cuda.shared.array(1, int64)
    cuda.atomic.add(n, 0, 1)  # fault
    out[0] = 1
""",
    "shared, border of a tile": """
def kernel(x, out):
    s = cuda.shared.array(66, float64)
    i = cuda.threadIdx.x
    s[i + 1] = x[i]
    cuda.syncthreads()
    out[i] = s[i] + s[i + 1] + s[i + 2]  # fault
""",
    "shared, dynamic": """
def kernel(x, out):
    s = cuda.shared.array(0, float64)
    out[cuda.threadIdx.x] = s[cuda.threadIdx.x]  # fault
""",
    "shared, two axes": """
def kernel(x, out):
    s = cuda.shared.array((8, 9), float64)
    i = cuda.threadIdx.x
    s[i // 8, i % 8] = x[i]
    cuda.syncthreads()
    out[i] = s[i % 8, 8]  # fault
""",
    "local, element": """
def kernel(x, out):
    a = cuda.local.array(4, float64)
    a[0] = 1
    out[cuda.threadIdx.x] = a[cuda.threadIdx.x % 4]  # fault
""",
    "local, accumulator in a loop": """
def kernel(x, out):
    total = cuda.local.array(1, float64)
    for k in range(4):
        total[0] += x[k]  # fault
    out[0] = total[0]
""",
    "local, sum over one too many": """
def kernel(x, out):
    a = cuda.local.array(8, float64)
    for k in range(7):
        a[k] = k
    total = 0.0
    for k in range(8):
        total += a[k]  # fault
    out[0] = total
""",
    "local, slice": """
def kernel(x, out):
    a = cuda.local.array(8, float64)
    a[:4] = 1.0
    out[0] = a[2:][3]  # fault
""",
    "local, made anew in each round": """
def kernel(x, out):
    for k in range(2):
        a = cuda.local.array(2, float64)
        if k == 0:
            a[0] = 1
        out[k] = a[0]  # fault
""",
    "local, in a device function": """
@cuda.jit(device=True)
def pick(i):
    a = cuda.local.array(3, float64)
    a[1] = 2
    return a[i]  # fault

def kernel(x, out):
    out[cuda.threadIdx.x] = pick(cuda.threadIdx.x % 3)
""",
    "local, in a nested function": """
def kernel(x, out):
    a = cuda.local.array(3, float64)

    def get(i):
        return a[i]  # fault

    a[0] = a[1] = 1
    out[0] = get(2)
""",
    "local, by a device function": """
def total(a):
    s = 0.0
    for k in range(a.size):
        s += a[k]  # fault
    return s

def kernel(x, out):
    a = cuda.local.array(5, float64)
    for k in range(4):
        a[k] = k
    out[0] = total(a)
""",
    "local, generator": """
def items(a):
    for k in range(a.size):
        yield a[k]  # fault

def kernel(x, out):
    a = cuda.local.array(5, float64)
    a[0] = 1
    for v in items(a):
        out[0] += v
""",
    "device array": """
def arguments():
    return np.zeros(4), cuda.device_array(10)

def kernel(x, out):
    x[0] = out[3]  # fault
""",
}

# --- barriers that threads miss ---------------------------------------------------------------------------------------

BARRIERS = {
    "some return": """
def kernel(x, out):
    if cuda.threadIdx.x < 10:
        cuda.syncthreads()  # fault
""",
    "early return": """
def kernel(x, out):
    if cuda.threadIdx.x >= 40:
        return
    out[cuda.threadIdx.x] = 1
    cuda.syncthreads()  # fault
""",
    "other rounds of a loop": """
def kernel(x, out):
    for _ in range(cuda.threadIdx.x):
        cuda.syncthreads()  # fault
""",
    "two branches": """
def kernel(x, out):
    if cuda.threadIdx.x % 2:
        cuda.syncthreads()  # fault
    else:
        cuda.syncthreads()  # fault
""",
    "votes in two branches": """
def kernel(x, out):
    if cuda.threadIdx.x % 2:
        out[0] = cuda.syncthreads_or(1)  # fault
    else:
        out[1] = cuda.syncthreads_or(0)  # fault
""",
    "in a device function": """
@cuda.jit(device=True)
def meet():
    cuda.syncthreads()  # fault

def kernel(x, out):
    if cuda.threadIdx.x < 33:
        meet()
""",
    "in a nested function": """
def kernel(x, out):
    def meet():
        cuda.syncthreads()  # fault

    if cuda.threadIdx.x > 3:
        meet()
""",
    "break in front of it": """
def kernel(x, out):
    for k in range(4):
        if k == 2 and cuda.threadIdx.x == 7:
            break
        cuda.syncthreads()  # fault
""",
    "lanes of a shuffle": """
def kernel(x, out):
    if cuda.threadIdx.x < 40:
        out[cuda.threadIdx.x] = cuda.shfl_down_sync(0xFFFFFFFF, x[0], 1)  # fault
""",
    "lanes of a vote": """
def kernel(x, out):
    if cuda.threadIdx.x % 32 < 5:
        out[0] = cuda.any_sync(0xFF, True)  # fault
""",
    "lane that its mask lacks": """
def kernel(x, out):
    out[0] = cuda.ballot_sync(0xFFFF, True)  # fault
""",
    "syncwarp and a barrier": """
def kernel(x, out):
    if cuda.threadIdx.x == 3:
        cuda.syncthreads()  # fault
    else:
        cuda.syncwarp()  # fault
""",
}

ROWS = [(check, name, text) for check, rows in (("race", RACES), ("init", INITS), ("barrier", BARRIERS))
        for name, text in rows.items()]


def lines_in(report):
    return {int(number) for number in re.findall(r"line (\d+)", report)}


@pytest.mark.parametrize("check, name, text", ROWS, ids=[f"{check}: {name}" for check, name, _ in ROWS])
def test_planted_fault(check, name, text, tmp_path):
    path = tmp_path / "planted.py"
    path.write_text(HEAD + text)
    scope = {}
    linecache.checkcache(str(path))
    exec(compile(path.read_text(), str(path), "exec"), scope)
    kernel = cuda.jit(check=check)(scope["kernel"])
    arguments = scope["arguments"]() if "arguments" in scope else (np.arange(128.0), np.zeros(128))
    with pytest.raises(CLASSES[check]) as caught:
        kernel[2, 64, 0, 1024](*arguments)
    faulty = {number for number, line in enumerate(path.read_text().splitlines(), 1) if "# fault" in line}
    assert lines_in(str(caught.value)) and lines_in(str(caught.value)) <= faulty, str(caught.value)


# --- ufuncs, gufuncs, reductions --------------------------------------------------------------------------------------

def test_ufunc():
    @cujit.cuda.jit(device=True)
    def f(v):
        a = cuda.local.array(2, np.float64)
        a[0] = v
        return a[1]

    g = cujit.vectorize(["float64(float64)"], target="cuda", check="init")(lambda v: f(v))
    with pytest.raises(errors.UninitializedError, match=f"line {f.py_func.__code__.co_firstlineno + 4}, in f"):
        g(np.arange(5.0))


def test_generalized_ufunc():
    def body(x, out):
        a = cuda.local.array(2, np.float64)
        a[1] = x[0]
        out[0] = a[0]

    line = body.__code__.co_firstlineno + 3
    g = cujit.guvectorize(["(float64[:], float64[:])"], "(n)->(n)", target="cuda", check="init")(body)
    with pytest.raises(errors.UninitializedError, match=f"line {line}, in body"):
        g(np.ones((4, 3)))


def test_reduction(monkeypatch):
    monkeypatch.setenv("CUJIT_CHECK", "init")

    def body(a, b):
        scratch = cuda.local.array(1, np.float64)
        return a + b + scratch[0]

    add = cuda.Reduce(body)
    with pytest.raises(errors.UninitializedError, match=f"line {body.__code__.co_firstlineno + 2}, in body"):
        add(np.arange(100.0))
