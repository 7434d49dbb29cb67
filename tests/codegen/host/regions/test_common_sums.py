"""Sums of all threads of a block into one element of shared memory are made in a variable, on the CPU device: where
nobody can tell, with the same results."""

import re

import numpy as np
import pytest

from cujit import cuda

pytestmark = pytest.mark.skipif(cuda.get_current_device().kind == "cuda",
                                reason="about how the CPU device runs kernels")


def kernel_of(operation, dtype, behind="", condition="x[i] > least"):
    text = f"""
def kernel(x, out, least, place):
    cell = cuda.shared.array(4, numpy.{dtype})
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    if t < 4:
        cell[t] = 7
    cuda.syncthreads()
    for trip in range(2):
        if i < x.size and {condition}:
            cuda.atomic.{operation}(cell, place, x[i])
            {behind}
        cuda.syncthreads()
    if t < 4:
        out[cuda.blockIdx.x, t] = cell[t]
"""
    scope = {"cuda": cuda, "numpy": np}
    exec(text, scope)
    return cuda.jit(scope["kernel"])


def shown(kernel):
    return kernel.inspect("sums", next(iter(kernel.signatures)))


def in_loops(text):
    """The parts of the typed IR that are bodies of loops over threads: up to where the loop's first target begins."""
    loops = re.findall(r"thread_loop[^\n]*?block (\d+), block \d+[^\n]*\n(.*?)(?=thread_loop|\Z)", text, re.DOTALL)
    return [re.split(rf"\nblock {after}( |:)", rest)[0] for after, rest in loops]


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint64"])
@pytest.mark.parametrize("operation", ["add", "sub", "or_", "xor"])
def test_sums(operation, dtype):
    kernel = kernel_of(operation, dtype)
    x = np.random.default_rng(1).integers(0, 1000, 200).astype(dtype)
    fold = {"add": lambda a, b: a + b, "sub": lambda a, b: a - b, "or_": lambda a, b: a | b,
            "xor": lambda a, b: a ^ b}[operation]
    for least in (0, 500, 1000):
        out = np.zeros((4, 4), dtype)
        kernel[4, 64](x, out, least, 2)
        want = np.full((4, 4), 7, dtype)
        for block in range(4):
            for value in list(x[block * 64:block * 64 + 64]) * 2:
                if value > least:
                    want[block, 2] = fold(want[block, 2], value)
        assert (out == want).all(), least
    assert not any("atomic" in body for body in in_loops(shown(kernel)))
    assert shown(kernel).count("atomic") == 1


def test_a_place_that_nobody_adds_to_is_left_alone():
    kernel = kernel_of("add", "int32")
    out = np.zeros((1, 4), np.int32)
    kernel[1, 64](np.zeros(64, np.int32), out, 5, 1 << 20)   # out of bounds, if it were touched
    assert (out == 7).all()


@pytest.mark.parametrize("behind, condition", [("out[0, 0] = cell[0]", "True"), ("", "x[i] > cell[1]")])
def test_what_is_looked_at_meanwhile_is_added_at_once(behind, condition):
    kernel = kernel_of("add", "int32", behind, condition)
    kernel[1, 64](np.arange(64, dtype=np.int32), np.zeros((1, 4), np.int32), 5, 2)
    assert any("atomic" in body for body in in_loops(shown(kernel)))


def test_floats_and_old_values_are_added_one_by_one():
    floats = kernel_of("add", "float32")
    floats[1, 64](np.arange(64, dtype=np.float32), np.zeros((1, 4), np.float32), 5, 2)
    assert any("atomic" in body for body in in_loops(shown(floats)))

    @cuda.jit
    def tickets(out):
        taken = cuda.shared.array(1, np.int32)
        t = cuda.threadIdx.x
        if t == 0:
            taken[0] = 0
        cuda.syncthreads()
        out[t] = cuda.atomic.add(taken, 0, 1)

    out = np.zeros(64, np.int32)
    tickets[1, 64](out)
    assert sorted(out) == list(range(64))


def test_a_predicate_is_counted_by_vectors():
    kernel = kernel_of("add", "int32")
    kernel[1, 64](np.arange(64, dtype=np.int32), np.zeros((1, 4), np.int32), 5, 2)
    assert re.search(r"vector.reduce.add.v\d+i32", next(iter(kernel.inspect_llvm().values())))
