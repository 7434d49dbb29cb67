"""Atomic operations of the CPU device that would leave what is there are loads; others do not look first."""

import numpy as np
import pytest

from cujit import cuda, int32

pytestmark = pytest.mark.skipif(cuda.get_current_device().kind == "cuda", reason="about the CPU device's code")


def smallest(out, values, order):
    i = cuda.grid(1)
    if i < values.size:
        cuda.atomic.min(out, i % out.size, values[i], order=order)


def bits(out, values, order):
    i = cuda.grid(1)
    if i < values.size:
        cuda.atomic.or_(out, i % out.size, values[i], order=order)


def first(out, values, order):
    i = cuda.grid(1)
    if i < values.size:
        cuda.atomic.cas(out, i % out.size, 0, values[i], order=order)


def total(out, values, order):
    i = cuda.grid(1)
    if i < values.size:
        values[i] = cuda.atomic.add(out, i % out.size, values[i], order=order)


def loads_first(function, order):
    text = cuda.jit(lambda out, values: function(out, values, order)).inspect_llvm((int32[::1], int32[::1]))
    assert "atomicrmw" in text or "cmpxchg" in text
    return "load atomic" in text


@pytest.mark.parametrize("function", [smallest, bits, first])
def test_what_changes_nothing_is_a_load(function):
    assert loads_first(cuda.jit(device=True)(function), "relaxed")


@pytest.mark.parametrize("order", ["acquire", "release", "seq_cst"])
@pytest.mark.parametrize("function", [smallest, bits, first])
def test_what_orders_other_accesses_is_done(function, order):
    assert not loads_first(cuda.jit(device=True)(function), order)


def test_sums_do_not_load_first():
    assert not loads_first(cuda.jit(device=True)(total), "relaxed")


def fold(values, function, start, count):
    out = np.full(count, start, np.int32)
    for i, value in enumerate(values):
        out[i % count] = function(out[i % count], value)
    return out


@pytest.mark.parametrize("function, model, start", [
    (smallest, min, 10 ** 6), (bits, lambda old, value: old | value, 0), (first, lambda old, value: old or value, 0)])
def test_all_threads_are_heard(rng, function, model, start):
    """Some change what is there, most do not."""
    values = rng.integers(1, 1 << 20, 20000).astype(np.int32)
    if function is first:
        values[:] = np.resize(np.arange(1, 8), values.size)  # whoever comes first says the same
    out = np.full(7, start, np.int32)
    device = cuda.jit(device=True)(function)
    cuda.jit(lambda out, values: device(out, values, "relaxed"))[(values.size + 255) // 256, 256](out, values)
    np.testing.assert_array_equal(out, fold(values, model, start, 7))
