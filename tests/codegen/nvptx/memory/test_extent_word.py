"""Loops from row to row go by an extent that ptxas knows to be a word: an instruction for an address or comparison."""
import re

import numpy as np
import pytest

from cujit import cuda, float32

TYPES = {2: (float32[:, ::1],) * 3, 3: (float32[:, :, ::1],) * 3}
IN_F_ORDER = (float32[:, ::1], float32[::1, :], float32[:, ::1])


def product(a, b, out):
    j, i = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        total = float32(0)
        for k in range(a.shape[1]):
            total += a[i, k] * b[k, j]
        out[i, j] = total


def batch(a, b, out):
    j, i, at = cuda.threadIdx.x, cuda.threadIdx.y, cuda.blockIdx.x
    total = float32(0)
    for k in range(a.shape[2]):
        total += a[at, i, k] * b[at, k, j]
    out[at, i, j] = total


def columns(a, b, out):
    j, i = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        total = float32(0)
        for k in range(a.shape[1]):
            total += a[i, k] * b[j, k]
        out[i, j] = total


def loop_of_four(ptx):
    """The block with four products."""
    return next(each for each in re.split(r"^\$L", ptx, flags=re.M) if each.count("fma.rn.f32") == 4)


@pytest.mark.parametrize("kernel, types", [(product, TYPES[2]), (batch, TYPES[3]), (columns, IN_F_ORDER)])
def test_addresses_of_a_loop_are_steps_of_words(kernel, types):
    ptx = cuda.jit(kernel).inspect("asm", types, 90)
    loop = loop_of_four(ptx)
    assert not re.findall(r"\b(mul|mad|cvt)\.", loop)
    assert len(re.findall(r"add\.s64", loop)) == 5     # three rows further on, and both arrays for the next trip
    stride = re.search(r"mul\.wide\.u32\s+%rd\d+, (%r\d+), 16;", ptx).group(1)
    assert {f"mul.wide.u32 {stride}, {4 * rows}" for rows in (1, 2, 3, 4)} <= {
        re.sub(r"(\S+)\s+%rd\d+, ", r"\1 ", each) for each in re.findall(r"mul\.wide\.u32\s+[^;]+", ptx)}


@pytest.mark.parametrize("kernel, types", [(product, TYPES[2]), (batch, TYPES[3])])
def test_whether_a_loop_runs_is_asked_of_words(kernel, types):
    assert not re.search(r"setp\.\w+\.[bsu]64", cuda.jit(kernel).inspect("asm", types, 90))


def test_values_of_products():
    random = np.random.default_rng(3)
    a, b = random.random((19, 11), np.float32), random.random((11, 23), np.float32)
    out = np.zeros((19, 23), np.float32)
    cuda.jit(product)[(3, 3), (8, 8)](a, b, out)
    np.testing.assert_allclose(out, a @ b, rtol=1e-5)
    out[:] = 0
    cuda.jit(columns)[(3, 3), (8, 8)](a, np.asfortranarray(b.T), out)
    np.testing.assert_allclose(out, a @ b, rtol=1e-5)


def test_values_of_a_batch():
    random = np.random.default_rng(4)
    a, b = random.random((5, 9, 7), np.float32), random.random((5, 7, 6), np.float32)
    out = np.zeros((5, 9, 6), np.float32)
    cuda.jit(batch)[5, (6, 9)](a, b, out)
    np.testing.assert_allclose(out, a @ b, rtol=1e-5)
