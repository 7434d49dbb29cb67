"""Small arrays of a thread are in registers: loops over their indices are written out in full."""
import numpy as np
import pytest

from cujit import cuda, float32


def products(a, b, out):
    sums = cuda.local.array((12, 12), float32)
    for i in range(12):
        for j in range(12):
            sums[i, j] = 0
    for k in range(a.shape[1]):
        for i in range(12):
            for j in range(0, 12, 1):
                sums[i, j] += a[i, k] * b[k, j]
    for i in range(12):
        for j in range(12):
            out[i, j] = sums[i, j]


def by_rows(a, b, out):
    """Rows are passed on as views, items of a tuple are picked by the loop's variable."""
    sums = cuda.local.array((12, 12), float32)
    for i in range(12):
        sums[i][:] = 0
    for k in range(a.shape[1]):
        row = (b[k, 0], b[k, 1], b[k, 2], b[k, 3], b[k, 4], b[k, 5], b[k, 6], b[k, 7], b[k, 8],
               b[k, 9], b[k, 10], b[k, 11])
        for i in range(12):
            add(sums[i], a[i, k], row)
    for i in range(12):
        for j in range(12):
            out[i, j] = sums[i, j]


@cuda.jit(device=True)
def add(sums, factor, row):
    for j in range(12):
        sums[j] += factor * row[j]


def ptx_of(function, **options):
    return cuda.compile_ptx(function, "void(float32[:,::1], float32[:,::1], float32[:,::1])", cc=(9, 0), **options)[0]


@pytest.mark.parametrize("function", [products, by_rows])
def test_accumulators_are_in_registers(function):
    rng = np.random.default_rng(2)
    a, b = (rng.integers(-9, 9, shape).astype(np.float32) for shape in ((12, 5), (5, 12)))
    out = np.zeros((12, 12), np.float32)
    cuda.jit(function)[1, 1](a, b, out)
    np.testing.assert_array_equal(out, a @ b)
    assert "local" not in ptx_of(function)
    assert "local" in ptx_of(function, opt=0)


def test_what_has_no_constant_index_stays_in_memory():
    def chosen(a, b, out):
        cells = cuda.local.array(16, float32)
        for i in range(16):
            cells[i] = a[0, i]
        out[0, 0] = cells[int(b[0, 0]) & 15]

    def large(a, b, out):
        cells = cuda.local.array(3000, float32)
        for i in range(3000):
            cells[i] = a[0, i]
        for i in range(3000):
            out[0, i] = cells[2999 - i]

    for function in (chosen, large):
        ptx = ptx_of(function)
        assert ".local" in ptx
        assert len(ptx.splitlines()) < 300


def test_code_that_would_grow_too_much_is_left_alone():
    def deep(a, b, out):
        cells = cuda.local.array(64, float32)
        for i in range(64):
            cells[i] = 0
        for i in range(64):
            for j in range(64):
                for k in range(64):
                    cells[(i + j + k) % 64] += a[i, j] * b[j, k]
        for i in range(64):
            out[0, i] = cells[i]

    assert len(ptx_of(deep).splitlines()) < 2000
