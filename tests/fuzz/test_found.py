"""What the fuzzer found, one small test for each."""
import math

import numpy as np

from cujit import cuda, uint16


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


def test_a_tuple_that_doubles_is_refused_and_nothing_else():
    """Its type was compared item by item: time doubled with every line."""
    source = "def kernel(x):\n    t = (x[0], x[0])\n" + "    t = (t, t)\n" * 10 + "    x[0] = t[1][0]" + "[1]" * 9
    namespace = {}
    exec(source, namespace)
    x = np.array([3.0])
    cuda.jit(namespace["kernel"])[1, 1](x)
    assert x[0] == 3.0
