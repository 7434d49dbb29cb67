"""Division by what is above 0: without signs on a GPU, by one of 32 bits where the numbers are words."""
import numpy as np
import pytest

from cujit import cuda, int32, int64


def divide(a, b, quotients, remainders):
    i = cuda.grid(1)
    if i < a.size:
        divisor = max(1, b[i])
        quotients[i] = a[i] // divisor
        remainders[i] = a[i] % divisor


def test_a_gpu_divides_without_signs_once():
    ptx = cuda.jit(divide).inspect("asm", (int64[::1],) * 4, 90)
    assert "div.s" not in ptx and "rem." not in ptx
    assert ptx.count("div.u64") == 1 and ptx.count("div.u32") == 1
    ptx = cuda.jit(divide).inspect("asm", (int32[::1],) * 4, 90)
    assert ptx.count("div.u32") == 1 and "div.s" not in ptx and "rem." not in ptx


@pytest.mark.parametrize("kind", [np.int8, np.int16, np.int32, np.int64])
def test_values(kind):
    limits = np.iinfo(kind)
    edges = [0, 1, 2, 3, 7, 100, limits.max - 1, limits.max]
    edges += [2**31, 2**32 - 1, 2**32, 2**33 + 5] if kind is np.int64 else []
    numbers = np.array(edges + [-each for each in edges] + [limits.min], kind)
    a, b = (each.reshape(-1) for each in np.meshgrid(numbers, numbers))
    quotients, remainders = np.zeros((2, a.size), kind)
    cuda.jit(divide)[-(-a.size // 64), 64](a, b, quotients, remainders)
    divisors = np.maximum(b, 1).astype(kind)
    np.testing.assert_array_equal(quotients, a // divisors)
    np.testing.assert_array_equal(remainders, a % divisors)
