"""Loops around the threads do four trips in one loop over the threads on the CPU device, and what threads carry from
trip to trip goes through their slots once in four. Results are those of one trip after the other."""

import numpy as np
import pytest

from cujit import cuda, float32, int32, int64

pytestmark = pytest.mark.skipif(cuda.get_current_device().kind == "cuda",
                                reason="about how the CPU device runs kernels")
A, L, M = int64[::1], int64[:, ::1], int32[::1]


def carried(x, out):
    """Two values that change places, and one that all threads have alike."""
    t = cuda.grid(1)
    if t < out.size:
        before, here, common = int64(1), int64(t), int64(7)
        for k in range(2, x.shape[0]):
            before, here = here, before * 3 + here + (x[k, t] + common)
            common = common * 5 + k
        out[t] = before * 31 + here + common


def carried_by_three(x, out):
    t = cuda.grid(1)
    if t < out.size:
        total = int64(0)
        for k in range(0, x.shape[0], 3):
            total = total * 3 + x[k, t]
        out[t] = total


def with_branches(x, out):
    t = cuda.grid(1)
    if t < out.size:
        total = int64(0)
        for k in range(x.shape[0]):
            if x[k, t] & 1:
                total += x[k, t]
            else:
                total = total * 2 - k
        out[t] = total


def stored(x, out):
    """What a trip stores, the next one loads."""
    t = cuda.grid(1)
    if t < out.size:
        last = int64(0)
        for k in range(x.shape[0] - 1):
            last = last * 3 + x[k, t]
            x[k + 1, t] += last
        out[t] = last


def long_way(x, out):
    """Four trips would wait for each other."""
    t = cuda.grid(1)
    if t < out.size:
        state = int64(t)
        for k in range(x.shape[0]):
            state = ((state * 5 + 1) ^ (state >> 3)) * 7 + x[k, t]
        out[t] = state


def sorted_by_turns(x, out):
    """Which elements a trip compares depends on the trip: the array stays where it is."""
    t = cuda.grid(1)
    if t < out.size:
        part = cuda.local.array(8, int64)
        for k in range(8):
            part[k] = (t * 5 + k * 3) % 8
        for k in range(x.shape[0]):
            for i in range(3):
                part[(k & 1) + 2 * i] = min(part[(k & 1) + 2 * i], part[(k & 1) + 2 * i + 1])
        out[t] = part[0] * 10 + part[3]


FUNCTIONS = [carried, carried_by_three, with_branches, stored]


def expected_of(function, x, out):
    """By the kernel's own text, thread for thread."""
    where = [0]

    class Grid:
        def grid(self, ndim):
            return where[0]

    thread = type(function)(function.__code__, {**function.__globals__, "cuda": Grid(), "int64": np.int64})
    with np.errstate(over="ignore"):
        for t in range(out.size):
            where[0] = t
            thread(x, out)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_results(function):
    kernel = cuda.jit(function)
    for trips in [*range(16), 25]:
        x = np.random.default_rng(trips).integers(-9, 9, (trips, 70))
        mine, its = x.copy(), x.copy()
        out, expected = np.zeros(70, np.int64), np.zeros(70, np.int64)
        kernel[3, 32](mine, out)
        expected_of(function, its, expected)
        np.testing.assert_array_equal(out, expected)
        np.testing.assert_array_equal(mine, its)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_four_trips_have_a_loop(function):
    kernel = cuda.jit(function)
    before, after = (kernel.inspect(stage, (L, A)).count("thread_loop") for stage in ("regions", "trips"))
    assert after == before + 1


@pytest.mark.parametrize("function", [long_way, sorted_by_turns], ids=lambda function: function.__name__)
def test_what_does_not_gain_stays(function):
    kernel = cuda.jit(function)
    before, after = (kernel.inspect(stage, (L, A)).count("thread_loop") for stage in ("regions", "trips"))
    assert after == before


def test_ends_of_the_counters_type():
    def count(out, start, end):
        t = cuda.grid(1)
        total = int64(t)
        for k in range(start, end):
            total = total * 3 + k
        out[t] = total

    kernel = cuda.jit(count)
    for number, most in (int64, 2**63 - 1), (int32, 2**31 - 1):
        for start, end in (most - 6, most), (-most - 1, -most + 4), (most, -most - 1), (-most - 1, -most - 1):
            out = np.zeros(32, np.int64)
            kernel[1, 32](out, number(start), number(end))
            for t in 0, 31:
                total = t
                for k in range(start, end):
                    total = total * 3 + k
                assert out[t] == (total + 2**63) % 2**64 - 2**63


def test_each_trip_of_a_row_is_checked_in_its_turn():
    def row_sums(starts, columns, x, out):
        column = cuda.threadIdx.x
        row = cuda.threadIdx.y
        total = float32(0)
        for q in range(starts[row], starts[row + 1]):
            total += x[columns[q], column]
        out[row, column] = total

    kernel = cuda.jit(row_sums)
    x = np.random.default_rng(3).random((9, 32)).astype(np.float32)
    columns = np.arange(30, dtype=np.int32) % 9
    starts = np.array([0, 13, 13, 30], np.int32)
    out = np.zeros((3, 32), np.float32)
    kernel[1, (32, 3)](starts, columns, x, out)
    for row in range(3):
        total = np.zeros(32, np.float32)
        for q in range(starts[row], starts[row + 1]):
            total += x[columns[q]]
        np.testing.assert_array_equal(out[row], total)
    types = (M, M, float32[:, ::1], float32[:, ::1])
    assert kernel.inspect("trips", types).count("thread_loop") > kernel.inspect("regions", types).count("thread_loop")
    for place in 0, 5, 11, 12, 29:
        wrong = columns.copy()
        wrong[place] = 9
        with pytest.raises(IndexError, match="index 9"):
            kernel[1, (32, 3)](starts, wrong, x, out)


@pytest.mark.parametrize("trips", [3, 4, 13])
def test_no_load_passes_a_store_to_the_same_memory(trips):
    """What all threads of a row load, one of them has stored to in the trip before, as a part of the same array."""
    def kernel(starts, a, out):
        row, column = cuda.threadIdx.y, cuda.threadIdx.x
        total = int64(column)
        for q in range(starts[row], starts[row + 1]):
            total += a[q]
            out[row, column] = total

    memory = np.arange(3 * trips) % 3 + 1
    expected = memory.reshape(3, trips).copy()
    for row in expected:
        total = 0
        for q in range(trips):
            total += row[q]
            row[2] = total
    memory = cuda.to_device(memory)
    cuda.jit(kernel)[1, (1, 3)](np.arange(4) * trips, memory, memory.reshape(3, trips)[:, 2:3])
    np.testing.assert_array_equal(memory.copy_to_host().reshape(3, trips), expected)


def test_no_trip_passes_a_barrier():
    """One barrier in each trip: what a thread reads is what another one wrote in the trip before."""
    def shifted(x, out, rounds):
        s = cuda.shared.array((2, 64), int64)
        t = cuda.threadIdx.x
        s[0, t] = x[t]
        cuda.syncthreads()
        total = int64(0)
        for k in range(rounds):
            total = total * 3 + s[k & 1, (t + 1) & 63]
            s[1 - (k & 1), t] = total
            cuda.syncthreads()
        out[t] = total

    x, out = np.arange(64) * 7, np.zeros(64, np.int64)
    cuda.jit(shifted)[1, 64](x, out, 11)
    s, total = x.copy(), np.zeros(64, np.int64)
    for _ in range(11):
        total = total * 3 + np.roll(s, -1)
        s = total.copy()
    np.testing.assert_array_equal(out, total)
    stages = [cuda.jit(shifted).inspect(stage, (A, A, int64)).count("thread_loop") for stage in ("regions", "trips")]
    assert stages[0] == stages[1]


def test_known_trips_leave_none_over():
    def product(a, b, out):
        tile = cuda.shared.array((64, 32), float32)
        t = cuda.threadIdx.x
        for k in range(64):
            tile[k, t] = b[k, t]
        cuda.syncthreads()
        sums = cuda.local.array(6, float32)
        for i in range(6):
            sums[i] = 0
        for k in range(64):
            for i in range(6):
                sums[i] += a[i, k] * tile[k, 31 - t]
        for i in range(6):
            out[i, t] = sums[i]

    F = float32[:, ::1]
    stages = [cuda.jit(product).inspect(stage, (F, F, F)).count("thread_loop") for stage in ("regions", "trips")]
    assert stages[0] == stages[1]
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-9, 9, shape).astype(np.float32) for shape in [(6, 64), (64, 32)])
    out = np.zeros((6, 32), np.float32)
    cuda.jit(product)[1, 32](a, b, out)
    np.testing.assert_array_equal(out, a @ b[:, ::-1])
