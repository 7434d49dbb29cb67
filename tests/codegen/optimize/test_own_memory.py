"""Functions whose result is an array of the thread's own: it lives on with the caller, for each thread by itself."""
import numpy as np
import pytest

from cujit import cuda, types


def multiples(x):
    made = cuda.local.array(40, types.float64)
    for i in range(40):
        made[i] = x * i
    return made


def pair(x):
    return multiples(x), multiples(x + 1)


def sum_of(x, j):
    a, b = pair(x)
    return a[j] + b[j + 1]


@pytest.mark.parametrize("opt", [0, 1, 2, 3])
def test_two_results_are_two_arrays(opt):
    @cuda.jit(opt=opt)
    def kernel(x, j, out):
        t = cuda.grid(1)
        if t < x.size:
            a, b = multiples(x[t]), multiples(x[t] + 1)
            out[t] = a[j[t]] + b[j[t] + 1]
    x, j, out = np.arange(200.0), np.arange(200) % 30, np.zeros(200)
    kernel[4, 64](x, j, out)
    np.testing.assert_array_equal(out, x * j + (x + 1) * (j + 1))


@pytest.mark.parametrize("opt", [0, 2])
def test_results_are_kept_across_a_barrier(opt):
    @cuda.jit(opt=opt)
    def kernel(x, j, out):
        t = cuda.threadIdx.x
        a = multiples(x[t])
        cuda.syncthreads()
        b, c = pair(x[t])
        cuda.syncthreads()
        out[t] = a[j[t]] + b[j[t]] + c[j[t]] + sum_of(x[t], j[t])
    x, j, out = np.arange(64.0), np.arange(64) % 30, np.zeros(64)
    kernel[1, 64](x, j, out)
    np.testing.assert_array_equal(out, x * j + x * j + (x + 1) * j + x * j + (x + 1) * (j + 1))


def test_results_are_kept_around_a_loop_that_all_run():
    @cuda.jit
    def kernel(x, rows, out):
        t = cuda.grid(1)
        own = multiples(x[t])
        for r in range(rows.shape[0]):
            rows[r, t] += own[r % 40]
        out[t] = own[39]
    x, rows, out = np.arange(256.0), np.zeros((50, 256)), np.zeros(256)
    kernel[4, 64](x, rows, out)
    np.testing.assert_array_equal(rows, x * (np.arange(50) % 40)[:, None])
    np.testing.assert_array_equal(out, 39 * x)


def test_results_of_functions_that_are_not_to_be_inlined():
    @cuda.jit(device=True, inline="never")
    def own(x):
        return multiples(x)

    @cuda.jit
    def kernel(x, j, out):
        t = cuda.grid(1)
        out[t] = own(x[t])[j[t]] + own(x[t] + 1)[j[t]]
    x, j, out = np.arange(64.0), np.arange(64) % 30, np.zeros(64)
    kernel[1, 64](x, j, out)
    np.testing.assert_array_equal(out, (2 * x + 1) * j)


def test_a_thread_has_a_stack_for_all_of_them():
    """Threads are real here; each of 12 arrays has 8 KB."""
    def large(x):
        made = cuda.local.array(1024, types.float64)
        for i in range(1024):
            made[i] = x + i
        return made

    @cuda.jit
    def kernel(x, j, out):
        t = cuda.threadIdx.x
        cuda.match_any_sync(0xFFFFFFFF, t)
        a, b, c, d = large(x[t]), large(x[t] + 1), large(x[t] + 2), large(x[t] + 3)
        e, f, g, h = large(x[t] + 4), large(x[t] + 5), large(x[t] + 6), large(x[t] + 7)
        k, m, n, o = large(x[t] + 8), large(x[t] + 9), large(x[t] + 10), large(x[t] + 11)
        i = j[t]
        cuda.match_any_sync(0xFFFFFFFF, t)
        out[t] = a[i] + b[i] + c[i] + d[i] + e[i] + f[i] + g[i] + h[i] + k[i] + m[i] + n[i] + o[i]
    x, j, out = np.arange(64.0), np.arange(64) * 16, np.zeros(64)
    kernel[1, 64](x, j, out)
    np.testing.assert_array_equal(out, 12 * (x + j) + 66)


def test_the_code_of_a_gpu_has_them():
    @cuda.jit
    def kernel(x, j, out):
        t = cuda.grid(1)
        out[t] = multiples(x[t])[j[t]]
    ptx = kernel.inspect_asm((types.float64[::1], types.int64[::1], types.float64[::1]), cc=(9, 0))
    assert "st.local" in ptx and "ld.local" in ptx or "st.global" in ptx
