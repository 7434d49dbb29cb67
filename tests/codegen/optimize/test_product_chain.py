"""Numbers that are made of the last one, by one product and one sum each."""
import re

import numpy as np
import pytest

from cujit import cuda, uint32, uint64

FACTOR, SUMMAND = 1664525, 1013904223


def chain(kind):
    factor, summand = kind(FACTOR), kind(SUMMAND)

    def kernel(seeds, out):
        i = cuda.grid(1)
        if i < out.size:
            state = seeds[i]
            total = kind(0)
            for _ in range(20):
                state = kind(state * factor + summand)
                total ^= state >> kind(7)
                state = kind(state * factor + summand)
                total ^= state >> kind(9)
            out[i] = total

    return kernel


@pytest.mark.parametrize("kind", [uint32, uint64], ids=str)
def test_each_number_is_made_of_the_last_one(kind):
    ptx = cuda.jit(chain(kind)).inspect("asm", (kind[::1], kind[::1]), 90)
    factors = re.findall(r"mad\.lo\.s(?:32|64)\s+%\w+, %\w+, (-?\d+), ", ptx)
    assert len(factors) >= 2 and set(factors) == {str(FACTOR)}


@pytest.mark.parametrize("kind", [np.uint32, np.uint64])
def test_values(kind):
    seeds = np.arange(64).astype(kind) * kind(2654435761)
    out = np.zeros_like(seeds)
    cuda.jit(chain(uint32 if kind is np.uint32 else uint64))[1, 64](seeds, out)
    state, total = seeds.copy(), np.zeros_like(seeds)
    for count in [7, 9] * 20:
        state = state * kind(FACTOR) + kind(SUMMAND)
        total ^= state >> kind(count)
    np.testing.assert_array_equal(out, total)
