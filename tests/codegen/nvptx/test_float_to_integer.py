"""Floats become integers by an instruction of the GPU, which saturates; NaN is 0."""
import math
import re

import numpy as np
import pytest

from cujit import cuda, float32, float64, int32, int64, uint32, uint64

FLOATS = [float32, float64]
INTEGERS = [int32, uint32, int64, uint64]


def converter(to):
    def convert(x, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = to(x[i])

    return convert


@pytest.mark.parametrize("to", INTEGERS, ids=str)
@pytest.mark.parametrize("source", FLOATS, ids=str)
def test_one_instruction_and_a_choice(source, to):
    ptx = cuda.jit(converter(to)).inspect("asm", (source[::1], to[::1]), 90)
    assert len(re.findall(r"cvt\.rzi", ptx)) == 1
    has_zero = source == float32 and to in (int32, uint32)
    assert len(re.findall(r"selp", ptx)) == (0 if has_zero else 1)


def without_a_choice(x, out):
    i = cuda.grid(1)
    if i < out.size:
        whole = int(x[i])
        out[i] = (whole & 255) + ((whole * 3 + i) & 0xFFFF)


def shifted_down(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = (int(x[i]) >> 1) & 255


def of_either_sign(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = int(x[i]) & -256


@pytest.mark.parametrize("source", FLOATS, ids=str)
def test_no_choice_where_the_highest_bit_is_not_used(source):
    types = (source[::1], int64[::1])
    assert "selp" not in cuda.jit(without_a_choice).inspect("asm", types, 90)
    assert "selp" in cuda.jit(of_either_sign).inspect("asm", types, 90)
    assert "selp" in cuda.jit(converter(int64)).inspect("asm", types, 90)


@pytest.mark.parametrize("source", [np.float32, np.float64])
@pytest.mark.parametrize("function", [without_a_choice, shifted_down, of_either_sign])
def test_bits_of_what_is_no_number(source, function):
    x = np.array([np.nan, -np.nan, 3.5, -3.5, 1e6, -1e6, 2.0**40, -(2.0**40)], source)
    out = np.zeros(x.size, np.int64)
    cuda.jit(function)[1, 32](x, out)
    whole = np.array([0 if math.isnan(each) else int(each) for each in x.tolist()])
    of = {without_a_choice: (whole & 255) + ((whole * 3 + np.arange(x.size)) & 0xFFFF),
          shifted_down: whole >> 1 & 255, of_either_sign: whole & -256}
    np.testing.assert_array_equal(out, of[function])


@pytest.mark.parametrize("to", INTEGERS, ids=str)
@pytest.mark.parametrize("source", [np.float32, np.float64])
def test_what_does_not_fit(source, to):
    edges = np.array([0, 0.5, 0.99, 1.5, 2.0**31, 2.0**32, 2.0**63, 2.0**64, 1e30, np.inf], source)
    near = np.concatenate([np.nextafter(edges, source(0)), np.nextafter(edges, source(np.inf))])
    x = np.concatenate([edges, near, -edges, -near, np.array([np.nan], source)])
    out = np.ones(x.size, str(to))
    cuda.jit(converter(to))[1, 128](x, out)
    limits = np.iinfo(out.dtype)

    def expected(value):
        if math.isnan(value):
            return 0
        whole = limits.max if value == math.inf else limits.min if value == -math.inf else int(value)
        return min(max(whole, int(limits.min)), int(limits.max))

    assert out.tolist() == [expected(float(value)) for value in x]
