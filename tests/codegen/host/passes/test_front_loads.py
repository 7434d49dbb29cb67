"""Loads of what all threads of a loop have alike are made in front of it, where no thread can tell."""

import re

import numpy as np
import pytest
from made_kernels import echoes

from cujit import cuda, float32, int32

pytestmark = pytest.mark.skipif(cuda.get_current_device().kind == "cuda",
                                reason="about how the CPU device runs kernels")


SIGNATURE = (int32[::1], float32[::1], float32[::1], float32[:, ::1])


def blocks_of_threads(text):
    """What the loops over threads run: blocks that ask for threadIdx.x, and those that these lead to."""
    blocks = dict(re.findall(r"^block (\d+)[^:\n]*:\n(.*?)(?=^block|\Z)", text, re.S | re.M))
    heads = {name for name, block in blocks.items() if "thread_loop" in block}
    found, left = set(), [re.search(r"thread_loop.* block \d+, block (\d+)", blocks[name])[1] for name in heads]
    while left:
        name = left.pop()
        if name not in found | heads:
            found.add(name)
            left += re.findall(r"block (\d+)", blocks[name].splitlines()[-1])
    return "".join(blocks[name] for name in found)


def uses_of_loads(text, array):
    """How often what is loaded from the array is used."""
    return sum(len(re.findall(rf"{load}\b", text)) - 1 for load in re.findall(rf"(%\d+): \w+ = load {array}\[", text))


def test_loads_are_made_in_front():
    text = cuda.jit(echoes).inspect("front", SIGNATURE)
    inside = blocks_of_threads(text)
    assert uses_of_loads(inside, "x") > 1
    assert not uses_of_loads(inside, "delays") and not uses_of_loads(inside, "gains")
    assert uses_of_loads(text, "delays") and uses_of_loads(text, "gains")


def test_not_of_what_the_kernel_writes():
    def kernel(delays, gains, x, out):
        row = cuda.blockIdx.y
        i = cuda.grid(1)
        if i < x.size:
            if i >= delays[row]:
                out[row, i] = x[i - delays[row]] * gains[row]
            if i == 0:
                gains[row] = 0

    inside = blocks_of_threads(cuda.jit(kernel).inspect("front", SIGNATURE))
    assert uses_of_loads(inside, "gains") and not uses_of_loads(inside, "delays")


@pytest.mark.parametrize("n", [1, 63, 256, 1000])
def test_values(n):
    random = np.random.default_rng(n)
    delays, gains = random.integers(0, 2 * n, 5).astype(np.int32), random.random(5).astype(np.float32)
    x, out = random.random(n).astype(np.float32), np.zeros((5, n), np.float32)
    cuda.jit(echoes)[(-(-n // 64), 5), 64](delays, gains, x, out)
    for delay, gain, row in zip(delays, gains, out, strict=True):
        want = x.copy()
        want[delay:] += x[:max(n - delay, 0)] * gain
        np.testing.assert_allclose(row, want, rtol=1e-6)


def test_of_an_array_without_axes():
    """It has no index that could be out of bounds."""
    @cuda.jit
    def kernel(delay, gain, x, out):
        i = cuda.grid(1)
        if i >= delay[()]:
            out[i] = x[i - delay[()]] * gain[()]

    x, out = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    kernel[2, 32](np.array(3, np.int32), np.array(2, np.float32), x, out)
    np.testing.assert_array_equal(out[3:], 2 * x[:-3])
    assert (out[:3] == 0).all()


def test_arrays_that_share_memory():
    """A thread reads what it has written by another name, on whichever way it comes to the load."""
    def kernel(places, common, out):
        i = cuda.grid(1)
        if i < places.size:
            first = common[0]
            if places[i] >= 0:
                out[places[i]] = first + 1
            if first > 1:
                out[places[i]] += common[0]

    for start, want in (1, 2), (2, 6):
        memory = cuda.to_device(np.array([start, 0, 0], np.float32))
        cuda.jit(kernel)[1, 1](np.array([0]), memory[:1], memory)
        assert memory.copy_to_host()[0] == want


def test_indices_that_no_thread_uses():
    """Out of bounds where no thread comes to the load; an error where one does."""
    kernel = cuda.jit(echoes)
    x = np.ones(100, np.float32)
    delays, out = np.full(3, 100, np.int32), np.zeros((3, 100), np.float32)
    kernel[(2, 3), 64](delays, np.ones(1, np.float32), x, out)
    assert (out == 1).all()
    delays[2] = 99
    with pytest.raises(IndexError):
        kernel[(2, 3), 64](delays, np.ones(1, np.float32), x, out)
