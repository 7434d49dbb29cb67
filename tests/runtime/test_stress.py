"""Threads that compile, launch and drop kernels at the same time, each test for a bounded time."""
import gc
import threading
import time

import numpy as np
import pytest

from cujit import cuda, errors

SECONDS = 2
THREADS = 6


def make(constant, source="out[i] = x[i] * {0} + {0}"):
    """A kernel of its own, with a constant of its own."""
    namespace = {"cuda": cuda}
    lines = [f"def helper(a): return a * {constant}", "def kernel(x, out):", "    i = cuda.grid(1)",
             f"    if i < out.size: {source.format(constant)}"]
    exec("\n".join(lines), namespace)
    return cuda.jit(namespace["kernel"])


def run_all(*works):
    """Runs each work(k) in a thread, for k = 0, 1, ... until SECONDS are over, and once at least; the first exception
    of any is raised."""
    stop, failures, counts = time.monotonic() + SECONDS, [], [0] * len(works)

    def run(k):
        try:
            while counts[k] == 0 or time.monotonic() < stop and not failures:
                works[k](counts[k])
                counts[k] += 1
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(len(works))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
        assert not thread.is_alive()
    if failures:
        raise failures[0]
    return counts


def check(kernel, constant, size=100):
    x = np.arange(size, dtype=np.int64)
    out = np.zeros(size, np.int64)
    kernel[4, 32](x, out)
    np.testing.assert_array_equal(out, x * constant + constant)


def test_compile_and_drop_while_others_launch():
    shared = make(7)
    check(shared, 7)

    def launches(k):
        check(shared, 7)

    def compiles(k):
        kernel = make(k + 1)
        check(kernel, k + 1)
        del kernel
        if k % 4 == 0:
            gc.collect()

    counts = run_all(*[launches] * (THREADS // 2), *[compiles] * (THREADS // 2))
    assert min(counts) > 0


def test_kernels_are_dropped_by_another_thread():
    kept = []
    lock = threading.Lock()

    def makes(k):
        kernel = make(k % 5 + 1)
        check(kernel, k % 5 + 1)
        with lock:
            kept.append((kernel, k % 5 + 1))

    def launches_and_drops(k):
        with lock:
            taken = kept.pop() if kept else None
        if taken:
            check(*taken)
        else:
            time.sleep(0.001)

    run_all(makes, makes, launches_and_drops, launches_and_drops)
    kept.clear()
    gc.collect()


def test_new_types_for_one_kernel_while_it_runs():
    kernel = make(3, "out[i] = helper(x[i])")
    dtypes = [np.int8, np.int16, np.int32, np.int64, np.float32, np.float64, np.uint8, np.uint16, np.uint32]

    def launches(k):
        dtype = dtypes[k % len(dtypes)]
        ndim = 1 + k // len(dtypes) % 2
        x = np.arange(30).astype(dtype)[::ndim]
        out = np.zeros(x.size, dtype)
        kernel[1, 32](x, out)
        np.testing.assert_array_equal(out, x * dtype(3))

    run_all(*[launches] * THREADS)


def test_errors_and_results_side_by_side():
    good, bad = make(2), make(2, "out[i] = x[i] + (1, 2)")

    def works(k):
        check(good, 2)

    def fails(k):
        with pytest.raises(errors.TypingError, match="does not accept"):
            check(bad, 2)
        with pytest.raises(errors.TypingError):
            check(make(k, "out[i] = nowhere"), 2)

    run_all(works, works, fails, fails)


def test_barriers_and_streams_in_every_thread():
    @cuda.jit
    def reverse(x):
        tile = cuda.shared.array(64, np.int64)
        t = cuda.threadIdx.x
        tile[t] = x[t]
        cuda.syncthreads()
        x[t] = tile[63 - t]

    def works(k):
        stream = cuda.stream()
        x = cuda.to_device(np.arange(64), stream)
        reverse[1, 64, stream](x)
        reverse[1, 64, stream](x)
        reverse[1, 64, stream](x)
        got = x.copy_to_host(stream=stream)
        stream.synchronize()
        np.testing.assert_array_equal(got, np.arange(64)[::-1])

    run_all(*[works] * THREADS)
