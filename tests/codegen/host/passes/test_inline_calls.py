"""Device functions on the CPU device: what they load and test is seen beside the kernel's own, so that a kernel that is
written with functions has the loops of one that is written without."""
import re

import numpy as np
import pytest

from cujit import cuda, float32, int64

pytestmark = pytest.mark.skipif(cuda.get_current_device().kind == "cuda",
                                reason="about how the CPU device runs kernels")

A, M = float32[::1], float32[:, ::1]


def clamped(value, last):
    return min(max(value, 0), last)


def sample(x, i, j):
    return x[clamped(i, x.shape[0] - 1), clamped(j, x.shape[1] - 1)]


def put(x, i, j, value):
    x[i, j] = value


def blur(x, out):
    j, i = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        total = float32(0)
        for p in range(-1, 2):
            for q in range(-1, 2):
                total += x[min(max(i + p, 0), x.shape[0] - 1), min(max(j + q, 0), x.shape[1] - 1)]
        out[i, j] = total


def blur_by_functions(x, out):
    j, i = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        total = float32(0)
        for p in range(-1, 2):
            for q in range(-1, 2):
                total += sample(x, i + p, j + q)
        put(out, i, j, total)


def calls(text):
    return len(re.findall(r"(?:= |  )call ", text))


def test_functions_cost_nothing():
    by_functions, without = (cuda.jit(function).inspect("front", (M, M)) for function in (blur_by_functions, blur))
    assert calls(by_functions) == 0 and "\ndevice " not in by_functions
    assert by_functions.count("thread_loop") == without.count("thread_loop")


def test_results():
    x = np.random.default_rng(1).random((37, 53), np.float32)
    out, expected = np.zeros_like(x), np.zeros_like(x)
    cuda.jit(blur_by_functions)[(4, 3), (16, 16)](x, out)
    cuda.jit(blur)[(4, 3), (16, 16)](x, expected)
    np.testing.assert_array_equal(out, expected)
    edges = np.pad(x, 1, "edge")
    total = sum(edges[p:p + 37, q:q + 53] for p in range(3) for q in range(3))
    np.testing.assert_allclose(out, total, rtol=1e-5)


def test_several_returns_and_loops():
    def sign(value):
        if value > 0:
            return 1
        if value < 0:
            return -1
        return 0

    def first_multiple(value, of):
        for k in range(value, value + 100):
            if k % of == 0:
                return k
        return -1

    def nothing(out, i):
        if i % 2:
            return
        out[i] += 1000

    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = sign(x[i]) * 100 + first_multiple(i, 7) * sign(first_multiple(i, 5) - 20)
            nothing(out, i)

    x = np.random.default_rng(3).integers(-3, 4, 300)
    out = np.zeros(300, np.int64)
    cuda.jit(kernel)[5, 64](x, out)
    expected = [np.sign(x[i]) * 100 + -(-i // 7) * 7 * np.sign(-(-i // 5) * 5 - 20) + 1000 * (i % 2 == 0)
                for i in range(300)]
    np.testing.assert_array_equal(out, expected)
    assert calls(cuda.jit(kernel).inspect("inline", (int64[::1], int64[::1]))) == 0


def test_constant_arguments_decide_branches():
    def chosen(value, kind):
        if kind == 0:
            return value + 1
        return value * 2

    def kernel(x):
        x[cuda.grid(1)] = chosen(chosen(x[cuda.grid(1)], 0), 1)

    def without(x):
        x[cuda.grid(1)] = (x[cuda.grid(1)] + 1) * 2

    texts = [cuda.jit(function).inspect("inline", (int64[::1],)) for function in (kernel, without)]
    assert texts[0].count("branch") == texts[1].count("branch") and calls(texts[0]) == 0
    x = np.arange(64)
    cuda.jit(kernel)[1, 64](x)
    np.testing.assert_array_equal(x, (np.arange(64) + 1) * 2)


def test_what_stays_a_call():
    def factorial(n):
        return 1 if n < 2 else n * factorial(n - 1)

    def keeps(value):
        """Each copy would have memory of its own."""
        own = cuda.local.array(4, int64)
        for k in range(4):
            own[k] = value + k
        return own[value % 4]

    def kernel(x):
        i = cuda.grid(1)
        x[i] = factorial(x[i] % 5) + keeps(x[i]) + keeps(i)

    text = cuda.jit(kernel).inspect("inline", (int64[::1],))
    assert calls(text[:text.index("\ndevice ")]) == 3
    x = np.arange(64)
    cuda.jit(kernel)[1, 64](x)
    expected = [[1, 1, 2, 6, 24][v % 5] + 2 * (v + v % 4) for v in range(64)]
    np.testing.assert_array_equal(x, expected)


def test_shared_arrays_are_one():
    def scratch(value):
        part = cuda.shared.array(64, int64)
        part[cuda.threadIdx.x] = value
        cuda.syncthreads()
        other = part[63 - cuda.threadIdx.x]
        cuda.syncthreads()
        return other

    def kernel(x):
        x[cuda.threadIdx.x] = scratch(x[cuda.threadIdx.x]) * 10 + scratch(int64(cuda.threadIdx.x))

    text = cuda.jit(kernel).inspect("inline", (int64[::1],))
    assert text.count("shared (64)") == 1
    x = np.arange(64)
    cuda.jit(kernel)[1, 64](x)
    np.testing.assert_array_equal(x, (63 - np.arange(64)) * 11)


def test_too_much_code_stays_as_it_is():
    """Functions that call the next one twice, whose copies would double at every level."""
    scope = {}
    lines = ["def f0(v): return v * 3 + 1"]
    lines += [f"def f{k}(v): return f{k - 1}(v) + f{k - 1}(v + {k})" for k in range(1, 16)]
    exec("\n".join(lines), scope)
    top = scope["f15"]

    def kernel(x):
        x[cuda.grid(1)] = top(x[cuda.grid(1)])

    text = cuda.jit(kernel).inspect("inline", (int64[::1],))
    assert calls(text) > 0 and len(text) < 400_000
    x = np.arange(4)
    cuda.jit(kernel)[1, 4](x)
    np.testing.assert_array_equal(x, [top(v) for v in range(4)])
