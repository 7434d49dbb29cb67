"""What docs/numerics.md says of numbers at the edges of their types."""
import numpy as np
import pytest

from cujit import cuda, errors


def computed(function, *values, result=np.int64):
    out = np.zeros(1, result)
    cuda.jit(function)[1, 1](out, *values)
    return out[0]


def one(value, dtype):
    return np.array([value], dtype)


def negative(out, x):
    out[0] = -x[0]


def inverse(out, x):
    out[0] = ~x[0]


def left(out, x, n):
    out[0] = x[0] << n[0]


def right(out, x, n):
    out[0] = x[0] >> n[0]


def plus(out, x, y):
    out[0] = x[0] + y[0]


def quotient(out, x, y):
    out[0] = x[0] // y[0]


def remainder(out, x, y):
    out[0] = x[0] % y[0]


def least(out, x, y):
    out[0] = min(x[0], y[0])


def greatest(out, x, y):
    out[0] = max(x[0], y[0])


def least_of_numpy(out, x, y):
    out[0] = np.minimum(x[0], y[0])


@pytest.mark.parametrize("dtype, bits", [("u1", 8), ("u2", 16), ("u4", 32)])
def test_narrow_integers(dtype, bits):
    assert computed(negative, one(5, dtype)) == 2**bits - 5
    assert computed(inverse, one(5, dtype)) == 2**bits - 6


@pytest.mark.parametrize("dtype", ["i1", "u1", "i4", "u4", "i8", "u8"])
def test_shift_counts_are_modulo_64(dtype):
    for count in (0, 7, 31, 32, 63, 64, 65, -1):
        assert computed(left, one(1, dtype), one(count, np.int64), result=np.uint64) == 1 << count % 64
        assert computed(right, one(100, dtype), one(count, np.int64)) == 100 >> count % 64


def test_divisions_without_a_quotient():
    for divisor in (-1, 0):
        assert computed(quotient, one(-(2**63), "i8"), one(divisor, "i8")) == 0
        assert computed(remainder, one(-(2**63), "i8"), one(divisor, "i8")) == 0


def test_uint64_with_int64():
    assert computed(plus, one(2**63, "u8"), one(3, "i8")) == 3 - 2**63
    assert computed(plus, one(2**63, "u8"), one(3, "i8"), result=np.float64) == 3.0 - 2.0**63


def test_nan_in_min_and_max():
    nan, number = one(np.nan, "f8"), one(1.0, "f8")
    for function in least, greatest:
        assert computed(function, nan, number, result=np.float64) == 1
        assert computed(function, number, nan, result=np.float64) == 1
    assert np.isnan(computed(least_of_numpy, number, nan, result=np.float64))


def test_units_of_time_whose_ratio_is_too_large():
    def convert(out, x):
        out[0] = x[0]

    with pytest.raises(errors.TypingError, match="beyond int64"):
        computed(convert, one(9, "M8[2147483647s]"), result="M8[as]")
    with pytest.raises(errors.TypingError):
        computed(quotient, one(9, "m8[2147483647s]"), one(9, "m8[as]"))
    assert computed(convert, one(9, "M8[s]"), result="M8[as]") == np.datetime64(9 * 10**18, "as")
