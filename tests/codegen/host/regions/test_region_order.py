"""What one thread writes and reads between two barriers keeps its order, however LLVM combines neighbouring accesses:
random kernels whose threads read and write cells of their own, under several names, beside the same in plain Python."""

import random

import numpy as np
import pytest

from cujit import cuda

pytestmark = pytest.mark.skipif(cuda.get_current_device().kind == "cuda",
                                reason="about how the CPU device runs kernels")
THREADS, CELLS, SEEDS = 64, 4, 80
PAIR = np.dtype([("a", np.int64), ("b", np.int64)])


class Generator:
    """Statements of one thread on the cells from t * CELLS on: of an argument under two names, of shared and of local
    memory. Phases are lists of statements; expressions stay small."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.dtype = self.random.choice(["int64", "int32", "uint32"])
        self.names = self.random.sample(["x", "y", "s", "w"], self.random.randint(1, 3))
        self.has_local, self.has_views = self.random.random() < 0.4, self.random.random() < 0.3

    def cell(self):
        name = self.random.choice([*self.names, *(["c"] if self.has_local else []), *(["v"] if self.has_views else [])])
        offset = self.random.choice(["0", "1", "2", "3", "((k + 1) & 3)", "(j & 3)", "(x[t * 4] & 3)"])
        if name in ("c", "v"):
            return f"{name}[{offset}]"
        return f"{name}[t * {CELLS} + {offset}]"

    def statement(self):
        count = self.random.randint(1, 3)
        terms = " + ".join(self.random.choice([self.cell(), self.cell(), "t", "3"]) for _ in range(count))
        kind = self.random.random()
        if kind < 0.08:
            return ["for k in range(3):", f"    {self.cell()} = ({terms}) & 255"]
        if kind < 0.2:
            return ["if t % 3 != j % 3:", f"    {self.cell()} = ({terms}) & 255"]
        return [f"{self.cell()} = ({terms}) & 255"]

    def phase(self):
        lines = [] if not self.has_views else ["v = x[t * 4 : t * 4 + 4]"]
        for _ in range(self.random.randint(2, 6)):
            lines += self.statement()
        return lines


def kernel_text(phases, has_local, dtype):
    lines = ["t = cuda.threadIdx.x", "k = 0", f"s = cuda.shared.array({THREADS * CELLS}, np.{dtype})",
             "for k in range(4):", "    s[t * 4 + k] = t + k", "k = 0"]
    if has_local:
        lines += [f"c = cuda.local.array(4, np.{dtype})", "for k in range(4):", "    c[k] = k", "k = 0"]
    for phase in phases:
        lines += ["cuda.syncthreads()", *phase]
    lines += ["cuda.syncthreads()", "for k in range(4):", "    out[t * 4 + k] = s[t * 4 + k]"]
    return "def kernel(x, y, w, j, out):\n" + "\n".join("    " + line for line in lines)


def run_in_python(phases, x, w, j, out):
    """Phase by phase, thread by thread; x and y are one array."""
    scopes = []
    shared = np.array([t + k for t in range(THREADS) for k in range(4)]).astype(x.dtype)
    for t in range(THREADS):
        scopes.append({"t": t, "k": 0, "x": x, "y": x, "w": w, "s": shared, "j": j, "c": np.arange(4).astype(x.dtype)})
    for phase in phases:
        code = compile("\n".join(phase), "phase", "exec")
        for scope in scopes:
            exec(code, scope)
    out[:] = shared


def arguments(dtype):
    cells = np.arange(THREADS * CELLS).astype(dtype)
    return cells % 7, cells % 5, np.zeros_like(cells)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_random_kernels(seed):
    generator = Generator(seed)
    phases = [generator.phase() for _ in range(generator.random.randint(1, 3))]
    text = kernel_text(phases, generator.has_local, generator.dtype)
    scope = {"cuda": cuda, "np": np}
    exec(text, scope)
    x, w, out = arguments(generator.dtype)
    device = cuda.to_device(x)
    cuda.jit(scope["kernel"])[1, THREADS](device, device, w, 5, out)
    x = device.copy_to_host()
    x2, w2, out2 = arguments(generator.dtype)
    run_in_python(phases, x2, w2, 5, out2)
    assert (out == out2).all() and (x == x2).all() and (w == w2).all(), text


def test_records_and_complex_numbers():
    """Their parts are what LLVM makes one access of."""
    @cuda.jit
    def kernel(z, p, q, out):
        t = cuda.threadIdx.x
        s = cuda.shared.array(64, np.complex128)
        s[t] = z[t]
        cuda.syncthreads()
        z[t] = s[t] * 2
        z[t] = z[t] + s[t]
        p[t].a = p[t].a + 1
        q[t].b = p[t].a + q[t].b
        p[t].b = q[t].b * 2
        cuda.syncthreads()
        out[t] = p[t].b + int(z[63 - t].real)

    z = np.arange(64) + 1j * np.arange(64)
    p = np.zeros(64, PAIR)
    p["b"] = np.arange(64)
    out = np.zeros(64, np.int64)
    device = cuda.to_device(p)
    kernel[1, 64](z, device, device, out)
    assert (z == 3 * (np.arange(64) + 1j * np.arange(64))).all()
    b = (1 + np.arange(64)) * 2
    assert (device.copy_to_host()["b"] == b).all() and (out == b + 3 * np.arange(63, -1, -1)).all()


def test_plain_loops_keep_it_too():
    """Without barriers LLVM itself finds out what depends on what."""
    @cuda.jit
    def kernel(x, y, j):
        i = cuda.grid(1)
        if i < x.size // 4:
            x[4 * i] = y[4 * i + 1] + 1
            x[4 * i + 1] = y[4 * i] + 1
            x[4 * i + 2] = y[4 * i + j] + y[4 * i + 1]
            x[4 * i + 3] = y[4 * i + 2]

    for j in range(4):
        x = np.arange(4096)
        want = x.reshape(-1, 4).copy()
        want[:, 0] = want[:, 1] + 1
        want[:, 1] = want[:, 0] + 1
        want[:, 2] = want[:, j] + want[:, 1]
        want[:, 3] = want[:, 2]
        device = cuda.to_device(x)
        kernel[16, 64](device, device, j)
        assert (device.copy_to_host().reshape(-1, 4) == want).all()
