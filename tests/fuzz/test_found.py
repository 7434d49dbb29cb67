"""What the fuzzer found, one small test for each."""
import math

import numpy as np
import pytest

from cujit import cuda, errors, int32, int64, uint16


def test_remainders_of_what_may_be_nan():
    """LLVM made a remainder that is never NaN of fmod with a divisor of 0 / 0."""
    @cuda.jit
    def kernel(x, out):
        zero = uint16(not 1)
        nan = math.expm1(zero) / zero
        out[0] = (zero * 10) % nan
        out[1] = math.fmod(float(zero * 10), nan)
        out[2] = x[0] % nan
        out[3] = x[0] // nan
        out[4] = math.fmod(x[0], nan)

    for number in (0, 5):
        out = np.zeros(5)
        kernel[1, 1](np.array([number]), out)
        assert np.isnan(out).all(), out


@pytest.mark.parametrize("array", ["local.array(10**9, 'f8')", "local.array((2**32, 2**32), 'f4')",
                                   "shared.array(2**29 + 4, 'f8')", "local.array(2**62, 'f8')"])
def test_arrays_larger_than_memory_are_refused(array):
    """Their sizes wrapped in 32 or 64 bits, and the kernel wrote to memory of others."""
    place = "0, n" if "(" in array.split("(", 1)[1] else "n"
    source = f"def kernel(x):\n    a = cuda.{array}\n    n = int(x[0])\n    a[{place}] = 1\n    x[1] = a[{place}]"
    namespace = {"cuda": cuda}
    exec(source, namespace)
    with pytest.raises(errors.TypingError, match="at most 1 GiB") as failure:
        cuda.jit(namespace["kernel"])[1, 1](np.zeros(2))
    assert ":2 in kernel" in str(failure.value)


def test_a_tuple_that_doubles_is_refused_and_nothing_else():
    """Its type was compared item by item: time doubled with every line."""
    source = "def kernel(x):\n    t = (x[0], x[0])\n" + "    t = (t, t)\n" * 10 + "    x[0] = t[1][0]" + "[1]" * 9
    namespace = {}
    exec(source, namespace)
    x = np.array([3.0])
    cuda.jit(namespace["kernel"])[1, 1](x)
    assert x[0] == 3.0


@pytest.mark.parametrize("narrow", [2, 4, 8])
@pytest.mark.parametrize("dtype", [int32, int64])
def test_two_indices_that_wrap_at_different_powers_of_two(dtype, narrow):
    """LLVM's vectorizer took the narrow one for a straight line, having tested that the wide one does not wrap."""
    @cuda.jit
    def kernel(out):
        thread = cuda.threadIdx.x
        words, rows = cuda.shared.array(64, dtype), cuda.shared.array((64, narrow), dtype)
        words[thread] = 5 * thread
        for column in range(narrow):
            rows[thread, column] = thread * column
        cuda.syncthreads()
        out[thread] = words[cuda.grid(1) % 64] - rows[thread, thread % narrow]

    threads, out = np.arange(64), np.zeros(64, np.int64)
    kernel[1, 64](out)
    assert (out == 5 * threads - threads * (threads % narrow)).all(), out
