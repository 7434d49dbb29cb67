"""Ranges up to the ends of their type: what CPython's have, in the same number of trips."""
import itertools

import numpy as np
import pytest

from cujit import cuda, float64, int32, int64, uint64

MOST, LEAST = 2**63 - 1, -2**63
MOST_UNSIGNED = 2**64 - 1
ENDS = [LEAST, LEAST + 1, LEAST + 7, -5, 0, 3, MOST - 7, MOST - 1, MOST]
STEPS = [LEAST, -MOST, -2**62, -5, -1, 1, 2, 5, 2**62, MOST]
ROOM = 12
RANGES = list(itertools.product(ENDS, ENDS, STEPS))


def first_items(start, stop, step):
    return list(itertools.islice(range(start, stop, step), ROOM))


@cuda.jit
def by_arguments(start, stop, step, out, count):
    n = 0
    for i in range(start, stop, step):
        out[n] = i
        n += 1
        if n == out.size:
            break
    count[0] = n


def test_a_loop_ends_where_the_next_number_is_none_of_the_type():
    for start, stop, step in RANGES:
        out, count = np.zeros(ROOM, np.int64), np.zeros(1, np.int64)
        by_arguments[1, 1](np.int64(start), np.int64(stop), np.int64(step), out, count)
        assert out[:count[0]].tolist() == first_items(start, stop, step), (start, stop, step)


@pytest.mark.parametrize("start, stop, step", [(LEAST, MOST, MOST), (MOST - 4, MOST, 2), (MOST - 4, MOST, 3),
                                               (LEAST + 4, LEAST, -3), (0, MOST, 2**62), (MOST, LEAST, LEAST)])
def test_of_constants(start, stop, step):
    @cuda.jit
    def kernel(out, count):
        n = 0
        for i in range(start, stop, step):
            out[n] = i
            n += 1
            if n == out.size:
                break
        count[0] = n
        count[1] = len(range(start, stop, step))

    out, count = np.zeros(ROOM, np.int64), np.zeros(2, np.int64)
    kernel[1, 1](out, count)
    assert out[:count[0]].tolist() == first_items(start, stop, step)
    assert count[0] == count[1]


def test_of_a_constant_step():
    @cuda.jit
    def kernel(start, stop, out, count):
        n = 0
        for i in range(start, stop, 3):
            out[n] = i
            n += 1
            if n == out.size:
                break
        count[0] = n

    for start in range(MOST - 12, MOST):
        out, count = np.zeros(ROOM, np.int64), np.zeros(1, np.int64)
        kernel[1, 1](np.int64(start), np.int64(MOST), out, count)
        assert out[:count[0]].tolist() == first_items(start, MOST, 3)


def test_of_unsigned_numbers():
    @cuda.jit
    def kernel(start, stop, step, out, count):
        n = 0
        for i in range(start, stop, step):
            out[n] = i
            n += 1
            if n == out.size:
                break
        count[0] = n

    for start, stop, step in [(0, MOST_UNSIGNED, 2**63), (MOST_UNSIGNED - 5, MOST_UNSIGNED, 3), (5, 3, 1),
                              (1, MOST_UNSIGNED, MOST_UNSIGNED), (0, 2**63 + 5, 2**62)]:
        out, count = np.zeros(ROOM, np.uint64), np.zeros(1, np.int64)
        kernel[1, 1](np.uint64(start), np.uint64(stop), np.uint64(step), out, count)
        assert out[:count[0]].tolist() == first_items(start, stop, step), (start, stop, step)


def test_lengths_and_members():
    @cuda.jit
    def kernel(start, stop, step, x, out):
        out[0] = len(range(start, stop, step))
        out[1] = x in range(start, stop, step)
        for i in reversed(range(start, stop, step)):
            out[2] = i
            break

    for start, stop, step in RANGES:
        expected = range(start, stop, step)
        if (stop - start) // step >= MOST:
            continue  # CPython's has no len()
        for x in (start, stop, 0, 4, LEAST + 10, MOST - 3):
            out = np.zeros(3, np.int64)
            kernel[1, 1](np.int64(start), np.int64(stop), np.int64(step), np.int64(x), out)
            assert out.tolist() == [len(expected), x in expected, expected[-1] if expected else 0], (expected, x)


def test_the_grid_s_parts_of_a_large_range():
    @cuda.jit
    def kernel(out, stop):
        for i in range(cuda.grid(1), stop, 2**62):
            out[cuda.grid(1)] += 1

    out = np.zeros(4, np.int64)
    kernel[2, 2](out, np.int64(MOST))
    assert out.tolist() == [2, 2, 2, 2]


@pytest.mark.parametrize("loop, types", [
    ("range(n)", (int64,)), ("range(3, n)", (int64,)), ("range(n, 0, -1)", (int64,)), ("range(0, n, 4)", (int64,)),
    ("range(cuda.grid(1), n, cuda.gridsize(1))", (int64,)), ("range(cuda.threadIdx.x, n, cuda.blockDim.x)", (int64,)),
    ("range(cuda.grid(1), x.size, cuda.gridsize(1) * 4)", (int64,)), ("range(n, x.size, 1000)", (int64,)),
    ("range(n)", (uint64,)), ("range(n, x.shape[0], k)", (int64, int32))])
def test_ordinary_loops_have_a_plain_sum(loop, types):
    names = ["n", "k"][:len(types)]
    namespace = {"cuda": cuda}
    exec(f"def kernel(x, {', '.join(names)}):\n    for i in {loop}:\n        x[i] += 1\n", namespace)
    text = cuda.jit(check=False)(namespace["kernel"]).inspect("ir", (float64[::1], *types))
    assert "saturates" not in text, text
