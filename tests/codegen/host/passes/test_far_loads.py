"""Loads of a thread's own row that are made in front of a loop, which then goes around the loop over threads. Where,
and that nobody can tell: no thread loads what it would not have loaded, nor what has changed since."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from cujit import cuda, float32, float64, int32

pytestmark = pytest.mark.skipif(cuda.get_current_device().kind == "cuda",
                                reason="about how the CPU device runs kernels")


def nearest(points, centers, out):
    p = cuda.grid(1)
    if p < out.size:
        best = out[p]
        for c in range(centers.shape[0]):
            distance = centers[c, 3]
            for k in range(4):
                distance += abs(points[p, k] - centers[c, k])
            best = min(best, distance)
        out[p] = best


def direct(points, centers, out):
    p = cuda.grid(1)
    if p < out.size:
        total = out[p]
        for c in range(1, centers.shape[0]):
            total = abs(total - points[p, 2]) + centers[c, 0] * points[p, 1]
        out[p] = total


def odd_ranges(points, centers, out):
    p = cuda.grid(1)
    if p < out.size:
        total = out[p]
        for c in range(centers.shape[0]):
            for k in range(-2, 1):
                total = abs(total - points[p, k + 3] * centers[c, 0])
            for k in range(1, 4):
                total = abs(total - points[p, 4 - k] * centers[c, 1])
        out[p] = total


def two_inner_loops(points, centers, out):
    p = cuda.grid(1)
    if p < out.size:
        total = out[p]
        for c in range(centers.shape[0]):
            for a in range(2):
                for b in range(2, 4):
                    total = abs(total - points[p, a * 2 + b - 2] * centers[c, a])
        out[p] = total


def conditional(points, centers, out):
    p = cuda.grid(1)
    if p < out.size:
        total = out[p]
        for c in range(centers.shape[0]):
            if centers[c, 0] > 9:
                total = abs(total - points[p, 1])
        out[p] = total


def inner_break(points, centers, out):
    p = cuda.grid(1)
    if p < out.size:
        total = out[p]
        for c in range(centers.shape[0]):
            for k in range(4):
                if centers[c, k] < 10:
                    break
                total = abs(total - points[p, k])
        out[p] = total


def unknown_trips(points, centers, out):
    p = cuda.grid(1)
    if p < out.size:
        total = out[p]
        for c in range(centers.shape[0]):
            for k in range(min(centers.shape[1], 4)):
                total = abs(total - points[p, k])
        out[p] = total


def writes_in_the_loop(points, centers, out):
    p = cuda.grid(1)
    if p < out.size:
        total = out[p]
        for c in range(centers.shape[0]):
            for k in range(4):
                total = abs(total - points[p, k] * centers[c, k])
            out[p] = total


@cuda.jit(device=True, inline="never")
def put(array, at, value):
    array[at] = value


def calls_in_the_loop(points, centers, out):
    p = cuda.grid(1)
    if p < out.size:
        total = out[p]
        for c in range(centers.shape[0]):
            for k in range(4):
                total = abs(total - points[p, k] * centers[c, k])
            put(out, p, total)


def one_stays(points, centers, out):
    p = cuda.grid(1)
    if p < out.size:
        total = out[p]
        for c in range(centers.shape[0]):
            total = abs(total - points[p, 1] * points[p, c % 4])
        out[p] = total


MADE = [nearest, direct, odd_ranges]
KEPT = [conditional, inner_break, unknown_trips, writes_in_the_loop, calls_in_the_loop, one_stays,
        two_inner_loops]


def has_own_array(function, check="bounds"):
    text = cuda.jit(check=check)(function).inspect("ahead", (float32[:, ::1], float32[:, ::1], float32[::1]))
    return "= local (" in text


@pytest.mark.parametrize("function", MADE)
def test_made_in_front(function):
    assert has_own_array(function)
    for types in [(float32[:, ::1], float32[:, ::1], float32[::1]), (float64[:, ::1],) * 2 + (float64[::1],)]:
        text = cuda.jit(function).inspect_llvm(types)
        assert re.search(r"f(sub|add)( \w+)* <\d+ x (float|double)>", text)


@pytest.mark.parametrize("function", KEPT)
@pytest.mark.parametrize("check", ["bounds", False])
def test_not_where_it_could_be_seen(function, check):
    assert not has_own_array(function, check)


def test_not_where_neighbours_read_side_by_side():
    def columns(points, centers, out):
        p = cuda.grid(1)
        if p < out.size:
            total = out[p]
            for c in range(centers.shape[0]):
                for k in range(4):
                    total = abs(total - points[k, p] * centers[c, k])
            out[p] = total

    assert not has_own_array(columns)


@pytest.mark.parametrize("checks", [{"check": "race"}, {"check": "init"}])
def test_not_under_checks_of_accesses(checks):
    kernel = cuda.jit(**checks)(nearest)
    assert "= local (" not in kernel.inspect("ahead", (float32[:, ::1], float32[:, ::1], float32[::1]))


@pytest.mark.parametrize("function", MADE + KEPT)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
@pytest.mark.parametrize("rounds", [0, 1, 5])
def test_values(function, dtype, rounds):
    """The kernel's text as Python, one thread after the other."""
    random = np.random.default_rng(7)
    n = 333
    points, centers = (random.integers(0, 30, (size, 4)).astype(dtype) for size in (n, rounds))
    start = random.integers(0, 100, n).astype(dtype)
    want = start.copy()
    python = {**function.__globals__, "cuda": Places, "put": put.py_func}
    of_thread = type(function)(function.__code__, python)
    for Places.thread in range(n):
        of_thread(points, centers, want)
    for shape in (1, 64), (6, 64), (3, 128), (12, 33):
        out = start.copy()
        cuda.jit(function)[shape](points, centers, out)
        if shape[0] * shape[1] >= n:
            assert np.array_equal(out, want)


class Places:
    thread = 0

    @classmethod
    def grid(cls, ndim):
        return cls.thread


@pytest.mark.parametrize("function", [writes_in_the_loop, calls_in_the_loop])
def test_arrays_that_share_memory(function):
    """out is a part of points: what a trip writes, the next one reads."""
    centers = np.array([[1, 2, 3, 4], [4, 3, 2, 1], [2, 2, 2, 2]], np.float32)
    memory = np.arange(32, dtype=np.float32)
    shared = cuda.to_device(memory)
    want = memory.reshape(8, 4).copy()
    for p in range(8):
        total = want[p, 0]
        for center in centers:
            for k in range(4):
                total = abs(total - want[p, k] * center[k])
            want[p, 0] = total
    cuda.jit(function)[1, 8](shared.reshape(8, 4), centers, shared[::4])
    assert np.array_equal(shared.copy_to_host().reshape(8, 4), want)


FORBIDDEN = """
import ctypes, sys
import numpy as np
sys.path.insert(0, sys.argv[1])
import test_far_loads as tests
from cujit import cuda

libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
place = libc.mmap(None, 1 << 16, 0, 0x22, -1, 0)
points = np.ctypeslib.as_array((ctypes.c_float * (1 << 14)).from_address(place)).reshape(-1, 4)
points = cuda.as_cuda_array(type("Memory", (), {"__cuda_array_interface__": {
    "shape": points.shape, "typestr": "<f4", "data": (place, False), "version": 3}})())
for check in "bounds", False:
    for function in tests.MADE + tests.KEPT:
        for centers in np.zeros((0, 4), np.float32), np.zeros((3, 4), np.float32):
            if len(centers) and function not in (tests.conditional, tests.inner_break):
                continue
            out = np.arange(500, dtype=np.float32)
            cuda.jit(check=check)(function)[4, 128](points, centers, out)
            assert (out == np.arange(500)).all()
print("untouched")
"""


def test_nothing_is_loaded_that_would_not_have_been():
    """Of memory that nobody may read: in loops without a trip, and where a trip does not come to the load."""
    run = subprocess.run([sys.executable, "-c", FORBIDDEN, str(Path(__file__).parent)], capture_output=True, text=True,
                         env={**os.environ, "CUJIT_DEVICE": "cpu"}, check=False)
    assert run.stdout == "untouched\n", run.returncode or run.stderr


def test_index_errors():
    """A row that is too short fails where the loop has trips, and there only."""
    points, out = np.ones((50, 3), np.float32), np.zeros(50, np.float32)
    kernel = cuda.jit(nearest)
    kernel[1, 64](points, np.zeros((0, 4), np.float32), out)
    with pytest.raises(IndexError):
        kernel[1, 64](points, np.zeros((2, 4), np.float32), out)


def test_integers_and_views():
    def counts(points, centers, out):
        p = cuda.grid(1)
        if p < out.size:
            same = 0
            for c in range(centers.shape[0]):
                for k in range(4):
                    same += points[p, k] == centers[c, k]
            out[p] = same

    random = np.random.default_rng(2)
    points, centers = random.integers(0, 5, (100, 8)).astype(np.uint8)[::2, ::2], random.integers(0, 5, (9, 4))
    out = np.zeros(50, np.int32)
    cuda.jit(counts)[1, 64](points, centers, out)
    assert np.array_equal(out, (points[:, None] == centers).sum((1, 2)))
    text = cuda.jit(counts).inspect("ahead", (int32[:, :], int32[:, ::1], int32[::1]))
    assert "= local (" in text
