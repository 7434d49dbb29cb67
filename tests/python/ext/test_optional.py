"""types.Optional in signatures: None or a value, told apart at run time."""
import numpy as np
import pytest

from cujit import cuda, errors, float32, float64, int64, types, void


def doubles(a, out):
    if a is None:
        out[0] = -1
    else:
        out[0] = a * 2


@pytest.mark.parametrize("signature", [void(types.Optional(float32), float64[:]),
                                       "void(Optional(float32), float64[:])"], ids=str)
def test_none_and_numbers(signature):
    kernel, out = cuda.jit(signature)(doubles), np.zeros(1)
    for value, result in ((None, -1), (3, 6), (2.5, 5), (np.float32(4), 8), (None, -1)):
        kernel[1, 1](value, out)
        assert out[0] == result
    assert len(kernel.signatures) == 1


@pytest.mark.parametrize("value, result", [(None, 3), (np.arange(3.0), 3), (np.array([1.0, 5, 0, 7])[::2], None)],
                         ids=["None", "dense", "strided"])
def test_arrays_behind_it(value, result):
    @cuda.jit(void(int64, types.Optional(float64[:]), types.Optional(types.complex64), float64[:]))
    def kernel(n, weights, shift, out):
        total = 0.0
        for i in range(n):
            total += 1.0 if weights is None else weights[i]
        out[0] = total
        out[1] = 0 if shift is None else shift.imag

    n = 3 if result else len(value)
    out = np.zeros(2)
    for shift in (None, 2j):
        kernel[1, 1](n, value, shift, out)
        assert list(out) == [3 if result else value.sum(), 0 if shift is None else 2]


def test_host_arrays_come_back():
    @cuda.jit(void(types.Optional(float64[:]), float64[:]))
    def kernel(x, out):
        if x is not None:
            x[0] = 9
        out[0] += 1

    x, out = np.zeros(2), np.zeros(1)
    kernel[1, 1](x, out)
    kernel[1, 1](None, out)
    assert x[0] == 9 and out[0] == 2


def test_what_does_not_fit():
    kernel = cuda.jit(void(types.Optional(float32), float64[:]))(doubles)
    with pytest.raises(errors.LaunchArgumentError, match=r"complex128 does not convert to optional\(float32\)"):
        kernel[1, 1](1j, np.zeros(1))
    with pytest.raises(TypeError, match="not none"):
        types.Optional(types.none)
    with pytest.raises(errors.SignatureError, match="value of some type"):
        cuda.jit("void(Optional(none))")(lambda x: None)
    assert isinstance(types.Optional(float32), types.Optional) and types.Optional(float32).types[1] == float32
