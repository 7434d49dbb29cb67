"""Items of tuples chosen while a kernel runs: by comparisons, from constants, from memory of the thread."""
import re
import shutil
import subprocess

import numpy as np
import pytest
from made_kernels import made

from cujit import cuda, types

PTXAS = shutil.which("ptxas") or shutil.which("ptxas", path="/usr/local/cuda/bin")
SM = 80
SMALL, LARGE = tuple(k * k for k in range(64)), tuple(k * k for k in range(1000))
FLAGS = tuple(k % 3 == 0 for k in range(100))
PAIRS = tuple((k, k + 0.5) for k in range(100))
COMPLEX = tuple(complex(k, -k) for k in range(100))
BYTES = tuple(np.uint8(k) for k in range(100))


def pick_small(out):
    i = cuda.grid(1)
    out[i] = SMALL[i % 64]


def pick_large(out):
    i = cuda.grid(1)
    out[i] = LARGE[i * 7 % 1000] + LARGE[-1 - i]


def pick_flags(out):
    i = cuda.grid(1)
    out[i] = 1 if FLAGS[i % 100] else 2


def pick_pairs(out):
    i = cuda.grid(1)
    a, b = PAIRS[i % 100]
    out[i] = a * 1000 + b


def pick_complex(out):
    i = cuda.grid(1)
    z = COMPLEX[i % 100]
    out[i] = z.real * 1000 + z.imag


def pick_bytes(out):
    i = cuda.grid(1)
    out[i] = BYTES[i % 100] + 1


EXPECTED = {
    pick_small: [k % 64 * (k % 64) for k in range(128)],
    pick_large: [(k * 7 % 1000)**2 + (999 - k)**2 for k in range(128)],
    pick_flags: [1 if k % 100 % 3 == 0 else 2 for k in range(128)],
    pick_pairs: [k % 100 * 1001 + 0.5 for k in range(128)],
    pick_complex: [k % 100 * 999 for k in range(128)],
    pick_bytes: [k % 100 + 1 for k in range(128)],
}


@pytest.mark.parametrize("function", EXPECTED, ids=lambda function: function.__name__)
def test_captured(function):
    out = np.zeros(128)
    cuda.jit(function)[2, 64](out)
    np.testing.assert_array_equal(out, EXPECTED[function])


def in_loop(n):
    items = ", ".join(f"x[i + {k}]" for k in range(n))
    return f"""
def kernel(x, out):
    i = cuda.grid(1)
    t = ({items})
    total = 0.0
    for k in range(3 * {n}):
        total += t[k * 7 % {n}] * (k + 1)
        if k % 5 == 0:
            total += t[{n} - 1 - k % {n}]
    out[i] = total
"""


def joined(n):
    return f"""
def kernel(x, out):
    i = cuda.grid(1)
    t, u = ({', '.join(f'x[{k}]' for k in range(n))}), ({', '.join(f'x[{k}] * 2' for k in range(n))})
    if i % 2:
        t, u = u, t
    for k in range(3):
        t, u = u, t
        out[i] += t[(i + k) % {n}]
"""


def in_parallel_region(n):
    return f"""
def kernel(x, out):
    i = cuda.grid(1)
    t = ({', '.join(f'x[i + {k}]' for k in range(n))})
    shared = cuda.shared.array(64, types.float64)
    shared[i] = t[i % {n}]
    cuda.syncthreads()
    out[i] = t[(i + 1) % {n}] + shared[63 - i]
"""


def run(source, n):
    """The kernel on the device, and thread by thread as Python's function."""
    kernel = made(source, cuda=cuda, types=types)
    x, out = np.random.default_rng(n).random(300), np.zeros(64)
    cuda.jit(kernel)[1, 64](x, out)
    return kernel, x, out


@pytest.mark.parametrize("n", [60, 70, 200])
def test_computed_in_a_loop(n):
    _, x, out = run(in_loop(n), n)
    k = np.arange(3 * n)
    expected = [(x[i + k * 7 % n] * (k + 1)).sum() + x[i + n - 1 - k[::5] % n].sum() for i in range(64)]
    np.testing.assert_allclose(out, expected, rtol=1e-12)


@pytest.mark.parametrize("n", [60, 70])
def test_joined_by_branches_and_loops(n):
    _, x, out = run(joined(n), n)
    factors = [[2, 1, 2], [1, 2, 1]]
    expected = [sum(x[(i + k) % n] * factors[i % 2][k] for k in range(3)) for i in range(64)]
    np.testing.assert_allclose(out, expected, rtol=1e-14)


@pytest.mark.parametrize("n", [60, 70])
def test_kept_over_a_barrier(n):
    _, x, out = run(in_parallel_region(n), n)
    i = np.arange(64)
    other = 63 - i
    np.testing.assert_array_equal(out, x[i + (i + 1) % n] + x[other + other % n])


def test_argument():
    @cuda.jit
    def kernel(t, out):
        i = cuda.grid(1)
        out[i] = t[i % 100] + t[(i + 50) % 100]
    values, out = tuple(float(k * 3) for k in range(100)), np.zeros(128)
    kernel[2, 64](values, out)
    i = np.arange(128)
    np.testing.assert_array_equal(out, i % 100 * 3 + (i + 50) % 100 * 3)


def test_small_tuples_are_compared_and_large_ones_loaded():
    signature = (types.float64[::1],)
    for sm in (SM, None):
        assert "@cujit.tuple" not in cuda.jit(pick_small).inspect("llvm", signature, sm)
        for function in (pick_large, pick_flags, pick_bytes):
            assert "@cujit.tuple" in cuda.jit(function).inspect("llvm", signature, sm)


def test_ptx_of_a_large_tuple():
    """One array of its items, however often it is named, and a load for each choice."""
    ptx = cuda.jit(pick_large).inspect("asm", (types.float64[::1],), SM)
    assert len(re.findall(r"^\.global .*\[8000\]|^\.global .*\[1000\]", ptx, re.M)) == 1
    assert ptx.count("ld.global") == 2 and ptx.count("selp") < 4


@pytest.mark.skipif(PTXAS is None, reason="needs ptxas")
@pytest.mark.parametrize("function", EXPECTED, ids=lambda function: function.__name__)
def test_assembles(function, tmp_path):
    path = tmp_path / "kernel.ptx"
    path.write_text(cuda.jit(function).inspect("asm", (types.float64[::1],), SM))
    subprocess.run([PTXAS, f"-arch=sm_{SM}", path, "-o", tmp_path / "out"], check=True)
