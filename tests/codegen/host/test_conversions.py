"""Floats to integers on the CPU device: what does not fit gives the nearest integer, NaN 0, in vectors too."""

import platform
import re

import numpy as np
import pytest

from cujit import cuda

pytestmark = pytest.mark.skipif(cuda.get_current_device().kind == "cuda",
                                reason="about how the CPU device runs kernels")
INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]


def converter(to):
    def convert(x, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = to(x[i])

    return convert


def numbers(dtype):
    edges = [2.0**k for k in range(65)]
    near = [np.nextafter(dtype(edge), dtype(limit)) for edge in edges for limit in (0, np.inf)]
    some = np.array([0, 0.5, 0.99, 1.5, np.inf, 1e30, 127.9, 128.5, 255.9, 32767.5, 65535.5, *edges, *near], dtype)
    quiet = np.array([np.nan], dtype)
    signalling = (np.array([np.inf], dtype).view(f"u{quiet.itemsize}") + 1).view(dtype)
    return np.concatenate([some, -some, quiet, -quiet, signalling, -signalling])


def expected_of(x, to):
    """By integers of Python."""
    info = np.iinfo(to)
    inside = np.nan_to_num(x, nan=0, posinf=2.0**70, neginf=-2.0**70).tolist()
    return np.array([min(max(int(v), info.min), info.max) for v in inside], to)


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=lambda t: t.__name__)
@pytest.mark.parametrize("to", INTEGERS, ids=lambda t: t.__name__)
def test_results(dtype, to):
    x = numbers(dtype)
    kernel = cuda.jit(converter(to))
    for count in 1, x.size:
        out = np.zeros(x.size, to)
        for first in range(0, x.size, count):
            kernel[1, 1024](x[first:first + count], out[first:first + count])
        np.testing.assert_array_equal(out, expected_of(x, to))


@pytest.mark.parametrize("to", [np.uint8, np.uint32, np.uint64, np.int64], ids=lambda t: t.__name__)
def test_what_is_chosen_first(to):
    """max(x, 0) is x where that is NaN: LLVM must not drop the conversion's own choice of what is above 0."""
    @cuda.jit
    def convert(x, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = to(max(x[i], 0))

    x = numbers(np.float64)
    out = np.ones(x.size, to)
    convert[1, 1024](x, out)
    np.testing.assert_array_equal(out, expected_of(np.maximum(x, 0), to))


@pytest.mark.skipif(platform.machine() != "x86_64", reason="about instructions of x86-64")
@pytest.mark.parametrize("to", [np.int32, np.uint32], ids=lambda t: t.__name__)
def test_is_vectorized(to):
    """Conversions of several numbers are one, not one for each: LLVM takes its own that saturates apart."""
    kernel = cuda.jit(converter(to))
    kernel[1, 64](np.zeros(64, np.float32), np.zeros(64, to))
    assert re.search(r"fpto[su]i <\d+ x float>", next(iter(kernel.inspect_llvm().values())))
    assert "maxps" in kernel.inspect_asm(kernel.signatures[0]), "what is too small is not kept away by one instruction"


@pytest.mark.skipif(platform.machine() != "x86_64", reason="about instructions of x86-64")
def test_nan_without_a_sign_costs_nothing():
    """The greater of NaN and 0 is 0 as it is: nothing asks for NaN again."""
    kernel = cuda.jit(converter(np.uint32))
    kernel[1, 64](np.zeros(64, np.float32), np.zeros(64, np.uint32))
    assert not re.search("cmp(un)?ord", kernel.inspect_asm(kernel.signatures[0]))
