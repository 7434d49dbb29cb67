"""Arithmetic of bytes is of 32 bits on a GPU, which has no instructions of 16 for one number."""
import re

import numpy as np
import pytest

from cujit import cuda, uint8, uint16

OF_16_BITS = re.compile(r"\b(?:add|sub|mul\.lo|mad\.lo|shl|shr)\.[sub]16\b")


def weighted(a, b):
    return (77 * a + 151 * b + 28 * a) >> 8


def packed(a, b):
    return (a << 8 | b) & 0x0ff0


def wrapped(a, b):
    return np.uint16(a * 257) * b + np.uint16(b * 200)


def difference(a, b):
    return (np.uint16(a) - np.uint16(b)) >> 3


def halves(a, b):
    return (a ^ b) + ((a & b) << 1)


def compared(a, b):
    return a * 3 + b if a * 5 > b * 7 else b * 9 - a


FORMS = [weighted, packed, wrapped, difference, halves, compared]


def kernel_of(form):
    form = cuda.jit(device=True)(form)

    def kernel(a, b, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = form(a[i], b[i])

    return kernel


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
@pytest.mark.parametrize("result", [uint8, uint16], ids=str)
def test_no_arithmetic_of_16_bits(form, result):
    ptx, _ = cuda.compile_ptx(kernel_of(form), (uint8[::1], uint8[::1], result[::1]), cc=(9, 0))
    assert not OF_16_BITS.findall(ptx)


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
@pytest.mark.parametrize("result", [np.uint8, np.uint16, np.int64])
def test_values_are_those_of_integers(form, result):
    a, b = (values.ravel().astype(np.uint8) for values in np.mgrid[0:256, 0:256])
    out = np.zeros(a.size, result)
    cuda.jit(kernel_of(form))[256, 256](a, b, out)
    wide_a, wide_b = a.astype(np.int64), b.astype(np.int64)
    if form is compared:
        expected = np.where(wide_a * 5 > wide_b * 7, wide_a * 3 + wide_b, wide_b * 9 - wide_a)
    elif form is wrapped:
        expected = (wide_a * 257 % 65536) * wide_b + wide_b * 200 % 65536
    elif form is difference:    # of uint16: a uint64
        expected = (wide_a - wide_b).astype(np.uint64) >> np.uint64(3)
    else:
        expected = form(wide_a, wide_b)
    assert np.array_equal(out, expected.astype(result))


def test_numbers_of_16_bits_from_memory_stay_so():
    def kernel(x, out):
        i = cuda.grid(1)
        out[i] = x[i] + x[i + 1]

    ptx, _ = cuda.compile_ptx(kernel, (uint16[::1], uint16[::1]), cc=(9, 0))
    assert "add.s16" in ptx
