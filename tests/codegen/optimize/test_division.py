"""Divisions in front of loops stay there."""
import re

import pytest

from cujit import cuda, float32

pytestmark = pytest.mark.skipif(cuda.get_current_device().kind == "cuda", reason="reads the CPU device's code")


def test_the_block_s_index_is_computed_once():
    """By one division of 64 bits, or one of 32 where that is enough and the processor is slow at the other."""
    def kernel(x, out):
        s = cuda.shared.array(64, float32)
        t = cuda.threadIdx.x
        i = cuda.grid(1)
        s[t] = x[i] if i < x.size else 0
        cuda.syncthreads()
        if i < x.size:
            out[i] = s[63 - t]

    text = cuda.jit(kernel).inspect("asm", (float32[::1], float32[::1]))
    assert len(re.findall(r"\bdiv[lq]\b|\budiv\b", text)) in (1, 2)
