"""Many threads at once: first calls, launches of one kernel, and failures."""
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from ticking import ticking

from cujit import cuda, errors, vectorize

COUNT = 8


def at_once(work, count=COUNT):
    """Calls work(k) in `count` threads that start together; the results in order."""
    start = threading.Barrier(count)

    def run(k):
        start.wait(60)
        return work(k)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(run, range(count)))


@pytest.mark.parametrize("attempt", range(3))
def test_first_calls_of_one_kernel(attempt):
    @cuda.jit
    def fill(out, base):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = base * 1000 + i

    def work(k):
        out = cuda.to_device(np.full(257, -1))
        fill[3, 96](out, k)
        return out.copy_to_host()

    for k, got in enumerate(at_once(work)):
        np.testing.assert_array_equal(got, k * 1000 + np.arange(257))
    assert len(fill.signatures) == 1


def test_first_calls_with_different_types():
    @cuda.jit
    def double(x):
        i = cuda.grid(1)
        if i < x.size:
            x[i] *= 2

    dtypes = [np.int8, np.int16, np.int32, np.int64, np.float32, np.float64, np.uint16, np.uint64]

    def work(k):
        x = np.arange(50, dtype=dtypes[k])
        double[1, 64](x)
        return x

    for dtype, got in zip(dtypes, at_once(work), strict=True):
        np.testing.assert_array_equal(got, 2 * np.arange(50, dtype=dtype))
    assert len(double.signatures) == len(dtypes)


def test_first_calls_of_many_kernels():
    def work(k):
        @cuda.jit
        def kernel(out):
            i = cuda.grid(1)
            if i < out.size:
                out[i] = i * k

        out = np.zeros(100, np.int64)
        kernel[2, 64](out)
        return out

    for k, got in enumerate(at_once(work)):
        np.testing.assert_array_equal(got, k * np.arange(100))


def test_kernels_that_share_a_device_function():
    @cuda.jit(device=True)
    def shared(v, k):
        return v * k + 1

    def work(k):
        @cuda.jit
        def kernel(x):
            i = cuda.grid(1)
            if i < x.size:
                x[i] = shared(x[i], k)

        x = np.arange(64)
        kernel[1, 64](x)
        return x

    for k, got in enumerate(at_once(work)):
        np.testing.assert_array_equal(got, np.arange(64) * k + 1)


def test_first_calls_of_a_ufunc():
    @vectorize
    def poly(x, y):
        return x * x - y

    def work(k):
        x = np.arange(1000.0) + k
        return poly(x, 2.0)

    for k, got in enumerate(at_once(work)):
        np.testing.assert_array_equal(got, (np.arange(1000.0) + k) ** 2 - 2)


def test_every_thread_gets_the_error():
    @cuda.jit
    def broken(x):
        x[0] = undefined_name  # noqa: F821

    def work(k):
        try:
            broken[1, 1](np.zeros(1))
        except errors.TypingError as error:
            return str(error)

    messages = at_once(work)
    assert all(message and "undefined_name" in message for message in messages)


def test_launches_with_barriers_side_by_side():
    @cuda.jit
    def reverse(x):
        tile = cuda.shared.array(64, np.int64)
        t = cuda.threadIdx.x
        i = cuda.grid(1)
        tile[t] = x[i]
        cuda.syncthreads()
        x[i] = tile[63 - t]

    def work(k):
        x = np.arange(640) + k
        for _ in range(5):
            reverse[10, 64](x)
        return x

    for k, got in enumerate(at_once(work)):
        np.testing.assert_array_equal(got, (np.arange(640) + k).reshape(10, 64)[:, ::-1].ravel())


def test_other_threads_run_while_one_compiles_and_waits():
    """Compiling and launching release the interpreter: a thread that counts is not stopped."""
    with ticking():
        for k in range(5):
            @cuda.jit
            def spin(x, n):
                total = 0.0
                for j in range(n):
                    total = total * 0.5 + x[j % 8]
                x[0] = total + k

            spin[1, 1](np.ones(8), 5_000_000)
