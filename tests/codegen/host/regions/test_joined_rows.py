"""Blocks next to each other run as a wider one on the CPU device, where threads know their place in the grid only."""

import numpy as np
import pytest

from cujit import cuda, float32, uint8

pytestmark = pytest.mark.skipif(cuda.get_current_device().kind == "cuda",
                                reason="about how the CPU device runs kernels")
A, V = float32[:, ::1], float32[::1]


def is_joined(function, *types):
    return " joined" in cuda.jit(function).inspect("axis", types).split("\n")[0]


def stencil(a, out):
    j, i = cuda.grid(2)
    if 0 < i < a.shape[0] - 1 and 0 < j < a.shape[1] - 1:
        out[i, j] = a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1]


def stencil_y(a, out):
    i, j = cuda.grid(2)
    if 0 < i < a.shape[0] - 1 and 0 < j < a.shape[1] - 1:
        out[i, j] = a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1]


def by_hand(a, out):
    j = cuda.threadIdx.x + cuda.blockDim.x * cuda.blockIdx.x
    i = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    if 0 < i < a.shape[0] - 1 and 0 < j < a.shape[1] - 1:
        total = float32(0)
        for k in range(-1, 2, 2):
            total += a[i + k, j] + a[i, j + k]
        out[i, j] = total


@cuda.jit(device=True)
def place():
    return cuda.grid(1)


def strides(a, out):
    flat, flat_out = a.ravel(), out.ravel()
    width = a.shape[1]
    for p in range(place(), flat.size, cuda.gridsize(1)):
        i, j = p // width, p % width
        if 0 < i < a.shape[0] - 1 and 0 < j < width - 1:
            flat_out[p] = flat[p - width] + flat[p + width] + flat[p - 1] + flat[p + 1]


JOINED = [stencil, stencil_y, by_hand]
SHAPES = [(1, 1), (16, 16), (32, 4), (1, 96), (1024, 1), (7, 5)]


@pytest.mark.parametrize("function", JOINED, ids=lambda function: function.__name__)
def test_is_joined(function):
    assert is_joined(function, A, A)


@pytest.mark.parametrize("function", [*JOINED, strides], ids=lambda function: function.__name__)
@pytest.mark.parametrize("shape", [(3, 3), (40, 130), (9, 5000)], ids=str)
def test_results(function, shape):
    a = np.random.default_rng(1).random(shape, np.float32)
    expected = np.zeros_like(a)
    expected[1:-1, 1:-1] = a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:]
    kernel = cuda.jit(function)
    for block in SHAPES:
        out = np.zeros_like(a)
        extents = shape if function is stencil_y else shape[::-1]
        grid = tuple(-(-extent // size) for extent, size in zip(extents, block, strict=True))
        kernel[(3, 64) if function is strides else (grid, block)](a, out)
        np.testing.assert_allclose(out, expected, rtol=1e-5, err_msg=str(block))


# --- where blocks are known -------------------------------------------------------------------------------------------


def by_thread(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + float32(cuda.threadIdx.x)


def by_block(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + float32(cuda.blockIdx.x)


def by_first(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + float32(cuda.blockIdx.x * cuda.blockDim.x)


def by_narrow(x, out):
    i = cuda.blockIdx.x * cuda.blockDim.x + uint8(cuda.threadIdx.x)
    if i < out.size:
        out[i] = x[i] + float32(1)


def by_lane(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + float32(cuda.laneid)


@cuda.jit(device=True)
def thread():
    return cuda.threadIdx.x


def by_function(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + float32(thread())


def by_shared(x, out):
    own = cuda.shared.array(64, float32)
    i = cuda.grid(1)
    if i < out.size:
        own[i % 64] = x[i]
        out[i] = own[i % 64]


KNOW = [by_thread, by_block, by_first, by_narrow, by_lane, by_function, by_shared]


@pytest.mark.parametrize("function", KNOW, ids=lambda function: function.__name__)
def test_is_not_joined(function):
    assert not is_joined(function, V, V)


def test_columns_keep_their_tiles():
    """Where one array is walked across, blocks keep what they touch small."""
    def transpose(a, out):
        j, i = cuda.grid(2)
        if i < a.shape[0] and j < a.shape[1]:
            out[j, i] = a[i, j]

    assert not is_joined(transpose, A, A)


@pytest.mark.parametrize(("function", "addend"), [
    (by_thread, lambda i: i % 64), (by_block, lambda i: i // 64), (by_first, lambda i: i // 64 * 64),
    (by_lane, lambda i: i % 32), (by_function, lambda i: i % 64)], ids=lambda item: getattr(item, "__name__", ""))
def test_results_of_those(function, addend):
    x = np.arange(1000, dtype=np.float32)
    out = np.zeros_like(x)
    cuda.jit(function)[16, 64](x, out)
    np.testing.assert_array_equal(out, x + addend(np.arange(1000)))
