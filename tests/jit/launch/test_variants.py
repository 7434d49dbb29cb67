"""Kernels that are made besides, for launches that the first one does not hold for, are counted in kernel.stats."""
import numpy as np
import pytest

from cujit import cuda


@cuda.jit(check="bounds")
def ends(x, n):
    i = cuda.grid(1)
    x[i + n] = 1


def test_launches_beyond_the_plan_have_a_variant():
    x = cuda.to_device(np.zeros(64))
    ends[1, 32](x, 32)
    assert ends.stats.variants == {} and len(ends.stats.cache_misses) == 1
    for _ in range(2):
        with pytest.raises(IndexError):
            ends[1, 32](x, 40)
            cuda.synchronize()
    (types, count), = ends.stats.variants.items()
    assert count == 1 and types == ends.signatures[0] and len(ends.stats.cache_misses) == 1


def test_what_was_never_launched_has_none():
    assert cuda.jit(ends.py_func).stats.variants == {}
