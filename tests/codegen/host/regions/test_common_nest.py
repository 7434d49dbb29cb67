"""Loops over what a block fills together, a tile and its border say, one inside of the other, on the CPU device: all
threads run the inner one together, and each does the trips that it has in Python. Integers: any mistake shows."""
import re
from types import SimpleNamespace as Place

import numpy as np
import pytest

from cujit import cuda, float32, int32, int64

pytestmark = pytest.mark.skipif(cuda.get_current_device().kind == "cuda",
                                reason="about how the CPU device runs kernels")


def planes(out, trips, n, m):
    """Three axes, and what is made on the way from one loop to the next."""
    for z in range(cuda.threadIdx.z, 5, cuda.blockDim.z):
        for y in range(cuda.threadIdx.y + 1, n, cuda.blockDim.y):
            place = z * 1000 + y * 31
            for x in range(cuda.threadIdx.x, m, cuda.blockDim.x):
                cuda.atomic.add(out, (place + x) % out.size, place + x)
                cuda.atomic.add(trips, 0, 1)
    cuda.syncthreads()
    cuda.atomic.add(trips, 1, 1)


def carried(out, trips, n, m):
    """What a thread takes from trip to trip of the outer loop, and of the inner one."""
    total = 1
    for y in range(cuda.threadIdx.y, n, cuda.blockDim.y):
        row = y
        for x in range(cuda.threadIdx.x, m, cuda.blockDim.x):
            row = (row * 3 + x) % 1009
        total = (total * 5 + row) % 1013
        for x in range(cuda.threadIdx.x, m, 7):
            cuda.atomic.add(out, (x + y) % out.size, total)
    cuda.syncthreads()
    cuda.atomic.add(trips, 0, total)


def around(out, trips, n, m):
    """Something is done in front of the inner loop, and behind it, where only those come that have the trip."""
    for y in range(cuda.threadIdx.y, n, 3):
        cuda.atomic.add(trips, 0, 1)
        for x in range(cuda.threadIdx.x, m, 4):
            cuda.atomic.add(out, (x * y) % out.size, x + 1)
    for y in range(cuda.threadIdx.y, n, 3):
        for x in range(cuda.threadIdx.x, m, 4):
            cuda.atomic.add(out, (x * y) % out.size, x + 1)
        cuda.atomic.add(trips, 1, 1)
    cuda.syncthreads()
    trips[2] = 7


def own_end(out, trips, n, m):
    """The inner loop's end is the outer trip's, and threads leave it."""
    for y in range(cuda.threadIdx.y, n, 3):
        for x in range(cuda.threadIdx.x, y + 2, 4):
            cuda.atomic.add(out, (x * y) % out.size, x + 1)
    for y in range(cuda.threadIdx.y, n, 3):
        for x in range(cuda.threadIdx.x, m, 4):
            if x > y:
                break
            cuda.atomic.add(out, (x * y) % out.size, x + 1)
    cuda.syncthreads()
    trips[2] = 7


def chosen(out, trips, n, m):
    """Ways of their own in the inner loop, and a part of the grid's place in it."""
    for y in range(cuda.threadIdx.y, n, cuda.blockDim.y):
        row = cuda.blockIdx.x * 16 + y - 2
        for x in range(cuda.threadIdx.x, m, cuda.blockDim.x):
            if row >= 0 and x >= 2:
                cuda.atomic.add(out, row % out.size, x)
            else:
                cuda.atomic.add(trips, 0, x + y)
    cuda.syncthreads()
    cuda.atomic.add(trips, 1, 1)


def in_python(kernel, blocks, block, *arguments):
    """Thread by thread: they share nothing but sums."""

    def add(array, index, value):
        array[index] += value

    for b in range(blocks):
        for z, y, x in np.ndindex(block[::-1]):
            names = {"cuda": Place(threadIdx=Place(x=x, y=y, z=z), blockIdx=Place(x=b), syncthreads=lambda: None,
                                   blockDim=Place(x=block[0], y=block[1], z=block[2]), atomic=Place(add=add))}
            type(kernel)(kernel.__code__, names)(*arguments)


@pytest.mark.parametrize("block", [(8, 4, 2), (32, 2, 1), (5, 3, 2), (1, 1, 1), (4, 16, 1)], ids=str)
@pytest.mark.parametrize("kernel", [planes, carried, around, own_end, chosen], ids=lambda kernel: kernel.__name__)
def test_each_thread_has_its_trips(kernel, block):
    compiled = cuda.jit(kernel)
    for n, m in ((0, 5), (1, 1), (6, 9), (17, 36), (20, 0)):
        out, trips = np.zeros(97, np.int64), np.zeros(3, np.int64)
        want, wanted = out.copy(), trips.copy()
        compiled[2, block](out, trips, n, m)
        in_python(kernel, 2, block, want, wanted, n, m)
        assert (out == want).all() and (trips == wanted).all(), (n, m)


def fill(u, out):
    tile = cuda.shared.array((20, 36), float32)
    t, r = cuda.threadIdx.x, cuda.threadIdx.y
    for y in range(r, 20, 16):
        for x in range(t, 36, 32):
            tile[y, x] = u[cuda.blockIdx.y * 16 + y, cuda.blockIdx.x * 32 + x]
    cuda.syncthreads()
    if t == 0:
        out[cuda.blockIdx.y, r] = tile[r + 4, 35]


def test_both_tests_bound_one_loop_over_threads():
    text = cuda.jit(fill).inspect("region_bounds", (float32[:, ::1], float32[:, ::1]))
    loop = text[:text.index("load u[")].rpartition("thread_loop")[2]
    assert loop.count("branch !in") == 2 and loop.count("branch") == 2 and "phi" not in loop
    assert "!unroll" not in text


def test_a_tile_is_filled_by_vectors():
    text = cuda.jit(fill).inspect("llvm", (float32[:, ::1], float32[:, ::1]))
    assert re.search(r"= load <\d+ x float>", text)


def test_what_is_left_of_a_nest_in_fibers():
    """Where threads do not meet together, the nest means the same."""

    @cuda.jit
    def kernel(out, n):
        for y in range(cuda.threadIdx.y, n, 2):
            for x in range(cuda.threadIdx.x, n, 8):
                cuda.atomic.add(out, y * n + x, 1)
        if cuda.threadIdx.x < 4:
            cuda.syncthreads()
            out[n * n] = 5

    out = np.zeros(9 * 9 + 1, np.int64)
    kernel[1, (4, 2)](out, 9)
    assert (out[:-1].reshape(9, 9)[:, [x for x in range(9) if x % 8 < 4]] == 1).all() and out[-1] == 5


def test_numbers_of_32_bits_end_where_their_trips_do():
    """An index beyond those of a thread's trips is never made."""

    @cuda.jit
    def kernel(out, n):
        most = int32(2**28)
        for y in range(int32(cuda.threadIdx.y) + most - int32(n), most, int32(4)):
            for x in range(cuda.threadIdx.x, 9, 4):
                cuda.atomic.add(out, x, int64(y) * 8 - int64(2**31))
        cuda.syncthreads()
        out[9] = 1

    for n in (1, 3, 9):
        out = np.zeros(10, np.int64)
        kernel[1, (4, 4)](out, n)
        ys = [y for t in range(4) for y in range(t + 2**28 - n, 2**28, 4)]
        assert (out[:9] == sum(y * 8 - 2**31 for y in ys)).all()
