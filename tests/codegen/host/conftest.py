import numpy as np
import pytest


@pytest.fixture(scope="session")
def has_masks():
    """Whether LLVM makes vectors of loops in which some threads load what others do not: AVX-512 has masks for that;
    with AVX2 it finds one thread after the other cheaper, and NEON has no loads of some lanes."""
    from cujit import _core

    return "+avx512vl" in _core.host_cpu()


@pytest.fixture(scope="session")
def expected_of():
    """Runs a kernel of a grid of two axes and 32-bit numbers by its own text, thread for thread: expected_of(kernel, x,
    count, threads) is the array `out` that it fills, of which `threads` are what cuda.grid(2) is in each."""

    def run(function, x, count, threads):
        out = np.zeros_like(x)
        where = [None]

        class Grid:
            def grid(self, ndim):
                return where[0]

        names = {**function.__globals__, "cuda": Grid(), "uint32": lambda value: np.uint32(int(value) & 0xFFFFFFFF)}
        thread = type(function)(function.__code__, names)
        with np.errstate(all="ignore"):
            for where[0] in threads:
                thread(x, out, count)
        return out

    return run
