"""Small arrays whose index the program chooses among a few are in registers, too."""
import numpy as np
import pytest

from cujit import cuda, float32

N = 4


def solve(a, b, out):
    """Gauss with pivots: rows are swapped with the one that is found."""
    m = cuda.local.array((N, N + 1), float32)
    for i in range(N):
        for j in range(N):
            m[i, j] = a[i, j]
        m[i, N] = b[0, i]
    for k in range(N):
        best = k
        for i in range(k + 1, N):
            if abs(m[i, k]) > abs(m[best, k]):
                best = i
        for j in range(k, N + 1):
            keep = m[k, j]
            m[k, j] = m[best, j]
            m[best, j] = keep
        for i in range(k + 1, N):
            factor = m[i, k] / m[k, k]
            for j in range(k, N + 1):
                m[i, j] -= factor * m[k, j]
    for i in range(N - 1, -1, -1):
        total = m[i, N]
        for j in range(i + 1, N):
            total -= m[i, j] * m[j, N]
        m[i, N] = total / m[i, i]
        out[0, i] = m[i, N]


def least(a, b, out):
    """The place of the smallest, by a variable that a loop carries and by an expression."""
    cells = cuda.local.array(N, float32)
    for i in range(N):
        cells[i] = a[0, i]
    place = 0
    for i in range(1, N):
        place = i if cells[i] < cells[place] else place
    cells[place] += 100
    cells[N - 1 - place] *= 2
    for i in range(N):
        out[0, i] = cells[i]


def outside(a, b, out):
    """A choice of two axes at once is left to LLVM, one of a long axis stays in memory."""
    cells = cuda.local.array((2, 2), float32)
    many = cuda.local.array(20, float32)
    for i in range(2):
        for j in range(2):
            cells[i, j] = a[i, j]
    for i in range(20):
        many[i] = i
    first = 1 if b[0, 0] > 0 else 0
    second = 0 if b[0, 1] > 0 else 1
    cells[first, second] = many[19 if b[0, 2] > 0 else 3]
    for i in range(2):
        for j in range(2):
            out[i, j] = cells[i, j]


def ptx_of(function):
    return cuda.compile_ptx(function, "void(float32[:,::1], float32[:,::1], float32[:,::1])", cc=(9, 0))[0]


@pytest.mark.parametrize("function", [solve, least])
def test_arrays_are_in_registers(function):
    assert ".local" not in ptx_of(function)


def run(function, a, b):
    out = np.zeros((N, N), np.float32)
    cuda.jit(function)[1, 1](a, b, out)
    return out


def test_values():
    rng = np.random.default_rng(5)
    for _ in range(5):
        a, b = rng.normal(size=(N, N)).astype(np.float32), rng.normal(size=(1, N)).astype(np.float32)
        np.testing.assert_allclose(run(solve, a, b)[0], np.linalg.solve(a, b[0]), rtol=1e-2, atol=1e-3)
        expected = a[0].copy()
        place = int(np.argmin(expected))
        expected[place] += np.float32(100)
        expected[N - 1 - place] *= 2
        np.testing.assert_array_equal(run(least, a, b)[0], expected)
        expected = a[:2, :2].copy()
        expected[int(b[0, 0] > 0), int(b[0, 1] <= 0)] = 19 if b[0, 2] > 0 else 3
        np.testing.assert_array_equal(run(outside, a, b)[:2, :2], expected)
