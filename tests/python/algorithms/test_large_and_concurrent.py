"""All algorithms on more than 2^20 elements, and in several threads and streams at once."""
import threading

import numpy as np

from cujit import cuda

N = (1 << 20) + 7


def test_more_elements_than_one_launch_has_threads(rng):
    x = rng.integers(-1000, 1000, N).astype(np.int32)
    d = cuda.to_device(x)
    np.testing.assert_array_equal(cuda.map("x * 2", d).copy_to_host(), x * 2)
    assert cuda.reduce("a + b", d).copy_to_host() == x.sum()
    np.testing.assert_array_equal(cuda.reduce(max, d[:1 << 20].reshape(1 << 18, 4), axis=1).copy_to_host(),
                                  x[:1 << 20].reshape(1 << 18, 4).max(1))
    np.testing.assert_array_equal(cuda.scan("a + b", d).copy_to_host(), np.cumsum(x))
    np.testing.assert_array_equal(cuda.filter("x > 0", d).copy_to_host(), x[x > 0])
    np.testing.assert_array_equal(cuda.sort(d).copy_to_host(), np.sort(x))
    np.testing.assert_array_equal(cuda.unique(d).copy_to_host(), np.unique(x))
    np.testing.assert_array_equal(cuda.histogram(x, 50)[0], np.histogram(x, 50)[0])
    offsets = np.array([0, 5, N // 2, N])
    assert cuda.segmented_reduce("a + b", d, offsets, 0).copy_to_host().tolist() == [
        x[a:b].sum() for a, b in zip(offsets[:-1], offsets[1:], strict=True)]


def test_threads_and_streams(rng):
    x = rng.integers(0, 500, 3000).astype(np.int32)
    found, failures = {}, []

    def work(k):
        try:
            stream = cuda.stream()
            d = cuda.to_device(x + k, stream=stream)
            results = [cuda.map(lambda v: v + 1, d, stream=stream), cuda.scan("a + b", d, stream=stream),
                       cuda.sort(d, stream=stream), cuda.filter("x % 2 == 0", d, stream=stream),
                       cuda.unique(d, stream=stream), cuda.sort(d, less="a > b", stream=stream),
                       cuda.segmented_scan("a + b", d, np.array([0, 1000, 3000]), stream=stream),
                       cuda.reduce("a + b", d, stream=stream)]
            found[k] = [each.copy_to_host(stream=stream) for each in results]
            stream.synchronize()
        except Exception as error:   # shown by the main thread
            failures.append(error)
    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    for k in range(4):
        y = x.astype(np.int64) + k
        expected = [y + 1, np.cumsum(y), np.sort(y), y[y % 2 == 0], np.unique(y), np.sort(y)[::-1],
                    np.concatenate([np.cumsum(y[:1000]), np.cumsum(y[1000:])]), y.sum()]
        for got, wanted in zip(found[k], expected, strict=True):
            np.testing.assert_array_equal(got, wanted)
