"""Indices that are clamped or wrapped at the borders of an array are plain ones for the threads between, which are a
loop of their own on the CPU device. Results are the same for every size of the array and every shape of a block."""

import numpy as np
import pytest

from cujit import cuda, float32, int32, int64, uint32

pytestmark = pytest.mark.skipif(cuda.get_current_device().kind == "cuda",
                                reason="about how the CPU device runs kernels")
A, F = uint32[:, ::1], float32[::1]
BLOCKS = [(1, 1), (32, 8), (7, 5), (16, 16), (1, 33), (256, 1)]
SIZES = [(5, 200), (3, 1), (1, 2), (2, 3), (4, 9), (6, 64)]


def clamped(x, out, n):
    j, i = cuda.grid(2)
    height, width = x.shape
    if i >= height or j >= width:
        return
    total = uint32(0)
    for di in range(-1, 2):
        for dj in range(-3, 4):
            total = uint32(total * uint32(31) + x[min(max(i + di, 0), height - 1), max(min(width - 1, j + dj), 0)])
    out[i, j] = total


def clamped_along_y(x, out, n):
    i, j = cuda.grid(2)
    height, width = x.shape
    if i < height and j < width:
        total = uint32(0)
        for dj in range(2, -4, -2):
            total = uint32(total * uint32(31) + x[max(i - 1, 0), min(max(j - dj, 0), width - 1)])
        out[i, j] = total


def periodic(x, out, n):
    j, i = cuda.grid(2)
    height, width = x.shape
    if i < height and j < width:
        left, right = x[i, (j + width - 1) % width], x[i, (j + 1) % width]
        far = x[(i + 1) % height, (width + j - 2) % width]
        out[i, j] = uint32(left + right * uint32(3) + far * uint32(7))


def wrapped_by_comparisons(x, out, n):
    j, i = cuda.grid(2)
    height, width = x.shape
    if i < height and j < width:
        total = uint32(0)
        for dj in range(-1, 2):
            column = j + dj
            if column < 0:
                column += width
            if column >= width:
                column -= width
            total = uint32(total * uint32(31) + x[i, column])
        out[i, j] = total


def chosen(x, out, n):
    j, i = cuda.grid(2)
    height, width = x.shape
    if i < height and j < width:
        left = j - 1 if j > 0 else width - 1
        right = 0 if j == width - 1 else j + 1
        inside = 0 <= j - 2 and width > j + 2
        far = x[i, j + 2] if inside else uint32(j)
        first = uint32(5) if j == 0 else uint32(0)
        out[i, j] = uint32(x[i, left] + x[i, right] * uint32(3) + far * uint32(7) + first)


def last_of_several(x, out, n):
    j, i = cuda.grid(2)
    if i < x.shape[0] and j < x.shape[1]:
        inside = i >= 1 and j + 2 < x.shape[1]
        out[i, j] = x[i - 1, j + 2] if inside else uint32(7)


def up_to_a_number(x, out, n):
    j, i = cuda.grid(2)
    if i < x.shape[0] and j < x.shape[1]:
        out[i, j] = uint32(x[i, min(j + 1, n - 1)] * uint32(3) + (x[i, j] if j != n - 1 else uint32(1)))


def tile(x, out, n):
    cells = cuda.shared.array((8, 36), uint32)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    j, i = cuda.grid(2)
    height, width = x.shape
    for c in range(tx, 36, 32):
        column = cuda.blockIdx.x * 32 + c - 2
        row = min(i, height - 1)
        cells[ty, c] = x[row, column] if 0 <= column < width else uint32(0)
    cuda.syncthreads()
    if i < height and j < width:
        out[i, j] = uint32(cells[ty, tx] + cells[ty, tx + 4] * uint32(3) + cells[ty, tx + 2] * uint32(7))




def filled(shape):
    return np.random.default_rng(shape[1]).integers(0, 1 << 32, shape).astype(np.uint32)


FUNCTIONS = [clamped, clamped_along_y, periodic, wrapped_by_comparisons, chosen, last_of_several, up_to_a_number]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
@pytest.mark.parametrize("shape", SIZES, ids=str)
def test_results(function, shape, expected_of):
    x = filled(shape)
    extents = shape if function is clamped_along_y else shape[::-1]
    expected = expected_of(function, x, int32(shape[1]), np.ndindex(extents))
    kernel = cuda.jit(function)
    for block in BLOCKS:
        out = np.zeros_like(x)
        kernel[(-(-extents[0] // block[0]), -(-extents[1] // block[1])), block](x, out, int32(shape[1]))
        np.testing.assert_array_equal(out, expected, str(block))


@pytest.mark.parametrize("shape", SIZES, ids=str)
def test_results_of_tiles(shape):
    x = filled(shape)
    out = np.zeros_like(x)
    cuda.jit(tile)[(-(-shape[1] // 32), -(-shape[0] // 8)), (32, 8)](x, out, int32(0))
    padded = np.pad(x, ((0, 0), (2, 2)))
    expected = padded[:, :-4] + padded[:, 4:] * np.uint32(3) + x * np.uint32(7)
    np.testing.assert_array_equal(out, expected)


def loops_of(function, *types):
    """How many loops over threads the pass leaves."""
    return cuda.jit(function).inspect("borders", types).count("thread_loop")


@pytest.mark.parametrize("function", [*FUNCTIONS, tile], ids=lambda function: function.__name__)
def test_borders_have_a_loop(function):
    assert loops_of(function, A, A, int32) >= 2


@pytest.mark.parametrize("function", [periodic, chosen, up_to_a_number], ids=lambda function: function.__name__)
def test_loops_are_made_where_borders_get_one(function):
    """Without optimization they do not, and nothing else makes a loop over threads of these."""
    for opt, has_loops in ((True, True), (False, False)):
        text = cuda.jit(function, opt=opt).inspect("region_bounds", (A, A, int32))
        assert ("thread_loop" in text) == has_loops


def test_the_ends_of_a_row_may_be_most_of_it():
    """Where the shorter array ends nearly all threads are behind the border."""
    def joined(x, y, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = x[i] * 2 if i < x.size else y[i] * 3

    text = cuda.jit(joined).inspect("llvm", (F, F, F))
    assert loops_of(joined, F, F, F) >= 2 and '"llvm.loop.vectorize.enable", i1 false' not in text


def test_an_index_from_memory_that_the_border_decides():
    """Away from the border the index is no longer from memory, and elements lie two apart: what a thread stores and
    then reads may not be put together with what its neighbours do."""
    def chosen_index(a, c, places, out):
        i = cuda.grid(1)
        if i < out.size:
            place = places[i]
            k = cuda.selp(i > 0, 2 * i, place)
            a[k + 1] = c[k] + float32(1)
            out[i] = c[k + 1]

    both = cuda.to_device(np.arange(2002, dtype=np.float32) * 10)
    out = np.zeros(1000, np.float32)
    cuda.jit(chosen_index)[8, 128](both, both, np.arange(1000) * 2, out)
    assert np.array_equal(out, np.arange(1000) * 20 + 1)


def chain_of_functions(depth):
    """Each calls the next one twice, so that there are 2 ** depth ways."""
    following = None
    for place in range(depth):
        text = "uint32(x * uint32(3))" if place == 0 else "uint32(following(x) + following(uint32(x + uint32(1))))"
        names = {"uint32": uint32, "following": following}
        exec(f"def function(x):\n    return {text}", names)
        following = cuda.jit(device=True)(names["function"])
    return following


@pytest.mark.parametrize("depth, is_split", [(1, True), (4, True), (40, False)])
def test_functions_that_compute_may_be_called(depth, is_split):
    """Looking at what is called ends after a few hundred calls."""
    function = chain_of_functions(depth)

    def kernel(x, out):
        j, i = cuda.grid(2)
        if i < x.shape[0] and j < x.shape[1]:
            out[i, j] = function(x[i, max(j - 1, 0)])

    assert (loops_of(kernel, A, A) >= 2) == is_split


# --- what is no border ------------------------------------------------------------------------------------------------


def halves(x, out, n):
    """Half of the threads are not a few."""
    t = cuda.threadIdx.x
    if t >= 32:
        out[cuda.blockIdx.x, t] = x[0, t]
    else:
        out[cuda.blockIdx.x, t] = x[1, t]


def guarded(x, out, n):
    j, i = cuda.grid(2)
    if i < x.shape[0] and 0 < j < x.shape[1] - 1:
        out[i, j] = x[i, j - 1] + x[i, j + 1]


def far(x, out, n):
    j, i = cuda.grid(2)
    if i < x.shape[0] and j < x.shape[1]:
        out[i, j] = x[i, min(j + 1000, x.shape[1] - 1)]


def by_any_number(x, out, n):
    j, i = cuda.grid(2)
    if i < x.shape[0] and j < x.shape[1]:
        out[i, j] = x[i, min(j + n, x.shape[1] - 1)]


def counts(x, out, n):
    j, i = cuda.grid(2)
    if i < x.shape[0] and j < x.shape[1]:
        cuda.atomic.add(out, (0, max(j - 1, 0)), x[i, j])


@pytest.mark.parametrize("function", [halves, guarded, far, by_any_number, counts],
                         ids=lambda function: function.__name__)
def test_no_loop_of_borders(function):
    assert loops_of(function, A, A, int64) < 2


def test_floats_are_computed_alike():
    """The same operations in the same order, at borders and between."""
    def smooth(x, out):
        i = cuda.grid(1)
        if i < x.size:
            total = float32(0)
            for k in range(-2, 3):
                total += x[min(max(i + k, 0), x.size - 1)] * float32(0.1 + k)
            out[i] = total

    x = np.random.default_rng(3).random(300).astype(np.float32)
    kernel = cuda.jit(smooth)
    all_at_once, padded = np.zeros_like(x), np.pad(x, 2, mode="edge")
    kernel[2, 256](x, all_at_once)
    for i in 0, 1, 2, 150, 298, 299:
        few, one = padded[i:i + 5].copy(), np.zeros(5, np.float32)
        kernel[1, 32](few, one)
        assert one[2] == all_at_once[i]
