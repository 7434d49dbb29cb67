"""Additions of floats by atomics that the CPU device makes behind the loop over threads: which ones, and that each is
made as it would be alone, in the order of threads."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest

from cujit import cuda, float32, float64, int32, int64

pytestmark = pytest.mark.skipif(cuda.get_current_device().kind == "cuda",
                                reason="about how the CPU device runs kernels")


def scatter(index, x, out):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(out, index[i], x[i])


def early_return(index, x, out):
    i = cuda.grid(1)
    if i >= x.size:
        return
    cuda.atomic.sub(out, index[i], x[i] * x[i])


def conditional(index, x, out):
    i = cuda.grid(1)
    if i < x.size:
        if index[i] % 3 == 1:
            cuda.atomic.add(out, index[i], x[i])


def several(index, x, out):
    i = cuda.grid(1)
    if i < x.size:
        at, v = index[i], x[i]
        cuda.atomic.add(out, at, v)
        cuda.atomic.add(out, at + 1, v * v)
        cuda.atomic.sub(out, at, v)
        cuda.atomic.add(out, at // 2, v + v)


def reads_behind(index, x, out):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(out, index[i], x[i])
        x[i] = out[index[i]]


def writes_behind(index, x, out):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(out, index[i], x[i])
        out[index[i]] = x[i]


def uses_old(index, x, out):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = cuda.atomic.add(out, index[i], x[i])


def releases(index, x, out):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(out, index[i], x[i], order="release")


def of_the_system(index, x, out):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(out, index[i], x[i], scope="system")


def fences(index, x, out):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(out, index[i], x[i])
        cuda.threadfence()


def in_a_loop(index, x, out):
    i = cuda.grid(1)
    if i < x.size:
        for k in range(3):
            cuda.atomic.add(out, index[i] + k, x[i])


def exchanges_too(index, x, out):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.exch(out, 0, x[i])
        cuda.atomic.add(out, index[i], x[i])


def behind_a_loop(index, x, out):
    i = cuda.grid(1)
    if i < x.size:
        v = x[i]
        for k in range(out.size):
            v = float32(k) - v
        cuda.atomic.add(out, index[i], v)


def behind_loops_of_rows(index, x, out):
    i = cuda.grid(1)
    if i < x.size:
        v = x[i]
        for k in range(index[0], out.size):
            v = float32(k) - v
        for k in range(4):
            cuda.atomic.add(out, index[i] // 2 + k, v)


def around_a_loop(index, x, out):
    i = cuda.grid(1)
    if i < x.size:
        v = x[i]
        cuda.atomic.add(out, index[i], v)
        for k in range(out.size):
            v = float32(k) - v
        cuda.atomic.add(out, index[i] // 2, v)


@cuda.jit(device=True, inline="never")
def put(out, at, v):
    cuda.atomic.add(out, at, v)


def by_calls_around_a_loop(index, x, out):
    i = cuda.grid(1)
    if i < x.size:
        v = x[i]
        put(out, index[i], v)
        for k in range(out.size):
            v = float32(k) - v
        put(out, index[i] // 2, v)


def is_late(function, *types):
    return "additions %" in cuda.jit(function).inspect("regions", types)


@pytest.mark.parametrize("function", [scatter, early_return, conditional, several])
@pytest.mark.parametrize("element", [float32, float64])
def test_late(function, element):
    assert is_late(function, int32[::1], element[::1], element[::1])
    assert is_late(function, int64[::1], element[:], element[:])


@pytest.mark.parametrize("function", [reads_behind, writes_behind, uses_old, releases, of_the_system, fences, in_a_loop,
                                      exchanges_too])
def test_not_where_it_could_be_seen(function):
    assert not is_late(function, int64[::1], float32[::1], float32[::1])


def test_the_array_is_known_to_be_written():
    """For all that asks which arguments the kernel writes to."""
    text = cuda.jit(several).inspect("regions", (int32[::1], float32[::1], float32[::1]))
    assert text.count("address !escapes ") == 4


def test_not_of_integers():
    assert not is_late(scatter, int64[::1], int32[::1], int32[::1])


@pytest.mark.parametrize("checks", [{"check": "race"}, {"check": "init"}])
def test_not_under_checks_of_accesses(checks):
    kernel = cuda.jit(**checks)(scatter)
    assert "additions %" not in kernel.inspect("regions", (int32[::1], float32[::1], float32[::1]))


SUBTRACTS_VECTORS = r"fsub( \w+)* <\d+ x float>"


@pytest.mark.parametrize("function", [behind_a_loop, behind_loops_of_rows])
def test_loops_go_around_threads_that_add_behind_them(function):
    text = cuda.jit(function).inspect_llvm((int32[::1], float32[::1], float32[::1]))
    assert re.search(SUBTRACTS_VECTORS, text)


@pytest.mark.parametrize("function", [around_a_loop, by_calls_around_a_loop])
@pytest.mark.parametrize("check", ["bounds", False])
def test_no_loop_parts_the_additions_of_a_thread(function, check):
    text = cuda.jit(check=check)(function).inspect_llvm((int32[::1], float32[::1], float32[::1]))
    assert not re.search(SUBTRACTS_VECTORS, text)


def behind_the_loop(v, trips):
    for k in trips:
        v = np.float32(k) - v
    return v


def one_by_one(function, index, x, out):
    """The same in the order of threads, each rounded by itself."""
    kind = out.dtype.type
    for at, v in zip(index.tolist(), x, strict=True):
        if function is scatter or (function is conditional and at % 3 == 1):
            out[at] = out[at] + v
        elif function is early_return:
            out[at] = out[at] - kind(v * v)
        elif function is several:
            out[at] = out[at] + v
            out[at + 1] = out[at + 1] + kind(v * v)
            out[at] = out[at] - v
            out[at // 2] = out[at // 2] + kind(v + v)
        elif function is behind_a_loop:
            out[at] = out[at] + behind_the_loop(v, range(out.size))
        elif function is behind_loops_of_rows:
            out[at // 2:at // 2 + 4] += behind_the_loop(v, range(index[0], out.size))
        elif function in (around_a_loop, by_calls_around_a_loop):
            out[at] = out[at] + v
            out[at // 2] = out[at // 2] + behind_the_loop(v, range(out.size))


OF_FLOAT32 = [behind_a_loop, behind_loops_of_rows, around_a_loop, by_calls_around_a_loop]
VALUES = """
import sys
import numpy as np
sys.path.insert(0, sys.argv[1])
import test_late_additions as tests
from cujit import cuda

random = np.random.default_rng(3)
for dtype in (np.float32, np.float64):
    for places in ("random", "sorted", "one", "neighbours"):
        for n, block in ((1000, 256), (777, 37), (90, 1)):
            index = {"random": random.integers(0, 60, n), "sorted": np.sort(random.integers(0, 60, n)),
                     "one": np.full(n, 7), "neighbours": np.arange(n) % 61}[places]
            x = (random.random(n) * 10.0 ** random.integers(-6, 6, n)).astype(dtype)
            for function in [tests.scatter, tests.early_return, tests.conditional, tests.several] + (
                    tests.OF_FLOAT32 if dtype == np.float32 else []):
                out = random.random(64).astype(dtype)
                want = out.copy()
                cuda.jit(check=False if n == 777 else "bounds")(function)[-(-n // block), block](index, x, out)
                tests.one_by_one(function, index, x, want)
                assert (out == want).all(), (dtype, places, n, function.__name__, out - want)
print("same")
"""


def test_values_in_the_order_of_threads():
    """Of one worker, bit by bit."""
    from pathlib import Path

    run = subprocess.run([sys.executable, "-c", VALUES, str(Path(__file__).parent)], capture_output=True, text=True,
                         env={**os.environ, "CUJIT_DEVICE": "cpu", "CUJIT_CPU_THREADS": "1"}, check=False)
    assert run.stdout == "same\n", run.stdout + run.stderr


def test_rows_of_blocks():
    @cuda.jit
    def kernel(x, out):
        j, i = cuda.grid(2)
        if i < x.shape[0] and j < x.shape[1]:
            v = x[i, j]
            cuda.atomic.add(out, i, v)
            cuda.atomic.add(out, i + 1, v)

    x = np.random.default_rng(1).integers(0, 100, (37, 53)).astype(np.float32)
    out, want = np.zeros(38, np.float32), np.zeros(38, np.float32)
    want[:37] += x.sum(1)
    want[1:] += x.sum(1)
    assert "additions %" in kernel.inspect("regions", (float32[:, ::1], float32[::1]))
    kernel[(7, 8), (8, 5)](x, out)
    assert (out == want).all()


def test_numbers_that_are_none():
    """Zeros keep their sign, infinities and NaN come where they would."""
    kernel = cuda.jit(scatter)
    nan, inf = np.nan, np.inf
    index = np.array([0, 0, 1, 1, 2, 2, 3, 4, 5, 5, 5])
    x = np.array([-0.0, -0.0, -0.0, 0.0, inf, 1, nan, 3e38, 3e38, -3e38, 3e38], np.float32)
    out = np.array([-0.0, -0.0, -1, 0, 3e38, -3e38], np.float32)
    kernel[1, 32](index, x, out)
    want = np.array([-0.0, 0.0, inf, nan, inf, 0], np.float32)
    assert np.array_equal(out, want, equal_nan=True)
    assert (np.signbit(out[:3]) == [True, False, False]).all()


def test_arrays_that_share_memory():
    """A thread reads before it adds, whatever others do."""
    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.size:
            cuda.atomic.add(out, i, x[i] * 2)

    x = cuda.to_device(np.arange(500, dtype=np.float32))
    kernel[4, 128](x, x)
    assert (x.copy_to_host() == np.arange(500) * 3).all()


def test_every_second_element_and_fields():
    @cuda.jit
    def kernel(records, out):
        i = cuda.grid(1)
        if i < out.size:
            cuda.atomic.add(records["mass"], i % 5, out[i])
            cuda.atomic.add(out, i, 1)

    records = np.zeros(5, np.dtype([("kind", np.int8), ("mass", np.float32)], align=True))
    out = np.arange(200, dtype=np.float32)[::2]
    want = np.bincount(np.arange(100) % 5, out)
    kernel[1, 128](records, out)
    assert (records["mass"] == want).all() and (out == np.arange(100) * 2 + 1).all()


def test_index_errors():
    """What threads do before the first one that fails, and others, is done."""
    index = np.arange(300)
    index[200] = 1000
    x, out = np.ones(300, np.float32), np.zeros(300, np.float32)
    kernel = cuda.jit(scatter)
    with pytest.raises(IndexError):
        kernel[3, 128](index, x, out)
    assert out[200] == 0 and out.sum() == 299

    @cuda.jit
    def twice(index, x, out):
        i = cuda.grid(1)
        if i < x.size:
            cuda.atomic.add(out, i, x[i])
            cuda.atomic.add(out, index[i], x[i])

    out[:] = 0
    with pytest.raises(IndexError):
        twice[3, 128](index, x, out)
    assert out[200] == 1 and out.sum() == 599
    index[200] = -1
    out[:] = 0
    twice[3, 128](index, x, out)
    assert out[200] == 1 and out[299] == 3 and out.sum() == 600


def test_workers_lose_nothing():
    """Pairs, runs and single places of several workers, at once."""
    @cuda.jit
    def kernel(out):
        i = cuda.grid(1)
        if i < 1 << 18:
            cuda.atomic.add(out, i % 15, 1)
            cuda.atomic.add(out, i % 15 + 1, 1)

    @cuda.jit
    def singly(out):
        i = cuda.grid(1)
        if i < 1 << 18:
            cuda.atomic.add(out, i * 7 % 16, 1)

    for dtype in (np.float32, np.float64):
        out = np.zeros(16, dtype)
        for _ in range(4):
            kernel[1 << 10, 256](out)
            singly[1 << 10, 256](out)
        assert out.sum() == 4 * 3 * (1 << 18)


LAUNCHES = """
import threading
import numpy as np
from cujit import cuda

@cuda.jit
def kernel(out):
    i = cuda.grid(1)
    if i < 4096:
        cuda.atomic.add(out, i % 16, 1)
        cuda.atomic.add(out, i * 7 % 16, 1)

def launches():
    for _ in range(100):
        kernel[16, 256](out)

out = cuda.to_device(np.zeros(16, np.float32))
threads = [threading.Thread(target=launches) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
cuda.synchronize()
assert (out.copy_to_host() == 4 * 100 * 4096 * 2 // 16).all(), out.copy_to_host()
print("same")
"""


def test_launches_at_once_lose_nothing():
    """Of one worker each, which needs no locks while the others have no launch."""
    run = subprocess.run([sys.executable, "-c", LAUNCHES], capture_output=True, text=True,
                         env={**os.environ, "CUJIT_DEVICE": "cpu", "CUJIT_CPU_THREADS": "1"}, check=False)
    assert run.stdout == "same\n", run.stdout + run.stderr


def test_loops_before_and_behind_bounds():
    @cuda.jit
    def kernel(x, y, out):
        i = cuda.grid(1)
        if i < x.shape[0]:
            total = np.float32(0)
            for k in range(4):
                total += x[i, k] * y[k]
            cuda.atomic.add(out, i // 10, total)

    random = np.random.default_rng(5)
    x, y = random.integers(0, 9, (333, 4)).astype(np.float32), random.integers(0, 9, 4).astype(np.float32)
    out = np.zeros(34, np.float32)
    kernel[3, 128](x, y, out)
    assert (out == np.bincount(np.arange(333) // 10, x @ y)).all()
