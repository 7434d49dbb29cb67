"""Launches of kernels with several signatures, two of which may fit as well."""
import numpy as np
import pytest

from cujit import cuda, errors


def test_two_signatures_that_fit_as_well():
    @cuda.jit(["void(float32, float64, float64[:])", "void(float64, float32, float64[:])",
               "void(int64, int64, float64[:])"])
    def kernel(a, b, out):
        out[0] = a + b

    out = np.zeros(1)
    with pytest.raises(TypeError, match=r"(?s)ambiguous overloading for kernel 'kernel' \(float64, float64, .*"
                                        r"\(float32, float64, .*\(float64, float32, ") as caught:
        kernel[1, 1](1.0, 2.0, out)
    assert isinstance(caught.value, errors.LaunchArgumentError) and "int64, int64" not in str(caught.value)
    kernel[1, 1](np.float32(1), 2.0, out)
    assert out[0] == 3
    kernel[1, 1](3, 4, out)
    assert out[0] == 7
