"""Remainders of sums of more than 32 bits are made of remainders of their parts, on a GPU."""
import re

import numpy as np
import pytest

from cujit import cuda, float32, int32, int64


def shifted(x, offsets, out):
    i = cuda.grid(1)
    if i < out.size and x.size > 0:
        out[i] = x[(i - offsets[i] + x.size) % x.size]


def twice(x, offsets, out):
    i = cuda.grid(1)
    if i < out.size and x.size > 0:
        out[i] = x[(offsets[i] + i - offsets[out.size - 1 - i]) % x.size]


def counted_down(x, offsets, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[(-2 - offsets[i]) % 7]


def by_what_may_be_below_0(x, offsets, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[(i - offsets[i]) % (offsets[0] - 5)]


TYPES = float32[::1], int32[::1], float32[::1]


def ir_of(kernel, types=TYPES):
    return cuda.jit(kernel).inspect("narrow", types, 90)


@pytest.mark.parametrize("kernel,parts", [(shifted, 2), (twice, 3), (counted_down, 2)])
def test_parts(kernel, parts):
    assert len(re.findall(r": [iu]32 = mod", ir_of(kernel))) == parts and "i64 = mod" not in ir_of(kernel)


def test_what_is_left_as_it_is():
    assert "i64 = mod" in ir_of(by_what_may_be_below_0)
    assert "i64 = mod" in ir_of(shifted, (float32[::1], int64[::1], float32[::1]))


@pytest.mark.parametrize("kernel", [shifted, twice, counted_down])
def test_values(kernel):
    offsets = np.array([0, 1, -1, 6, 7, 8, -7, -8, 2**31 - 1, -2**31, 2**31 - 2, 1 - 2**31, 5], np.int32)
    x, out, expected = np.arange(7, dtype=np.float32), np.zeros(13, np.float32), np.zeros(13, np.float32)
    for i in range(13):
        dividend = {shifted: lambda: i - int(offsets[i]) + 7, counted_down: lambda: -2 - int(offsets[i]),
                    twice: lambda: int(offsets[i]) + i - int(offsets[12 - i])}[kernel]()
        expected[i] = x[dividend % 7]
    cuda.jit(kernel)[1, 32](x, offsets, out)
    np.testing.assert_array_equal(out, expected)
