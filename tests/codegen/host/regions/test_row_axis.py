"""Along which axis the innermost loop over threads runs on the CPU device: chosen by the accesses, where nobody can
tell. Results are the same for every shape of a block."""

import numpy as np
import pytest

from cujit import cuda, float32, int64

pytestmark = pytest.mark.skipif(cuda.get_current_device().kind == "cuda",
                                reason="about how the CPU device runs kernels")
SHAPES = [(1, 1), (16, 16), (32, 8), (1, 96), (96, 1), (7, 5), (3, 33)]
SHAPES_3D = [(1, 1, 1), (8, 8, 4), (4, 3, 16), (2, 33, 1), (1, 1, 40), (5, 7, 3)]


def axis_of(function, *types):
    header = cuda.jit(function).inspect("axis", types).split("\n")[0]
    return header.split(" rows ")[1][0] if " rows " in header else "x"


def grid_for(extents, block):
    return tuple(-(-extent // size) for extent, size in zip(extents, block, strict=True))


def stencil(a, out):
    i, j = cuda.grid(2)
    if 0 < i < a.shape[0] - 1 and 0 < j < a.shape[1] - 1:
        out[i, j] = a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1]


def stencil_x(a, out):
    j, i = cuda.grid(2)
    if 0 < i < a.shape[0] - 1 and 0 < j < a.shape[1] - 1:
        out[i, j] = a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1]


def flat(a, out):
    i, j = cuda.grid(2)
    width = a.shape[1]
    if i < a.shape[0] and j < width:
        out.ravel()[i * width + j] = a.ravel()[i * width + max(j - 1, 0)]


def rows(a, out):
    i, j = cuda.grid(2)
    if i < a.shape[0] and j < a.shape[1]:
        row = out[i]
        row[j] = a[i][j] * 2


def element(a, place):
    return a[place[0], place[1]]


def helped(a, out):
    place = cuda.grid(2)
    if place[0] < a.shape[0] and place[1] < a.shape[1]:
        out[place] = element(a, place) + 1


def transposed(a, out):
    i, j = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = a[j, i]


def transposed_x(a, out):
    i, j = cuda.grid(2)
    if i < a.shape[0] and j < a.shape[1]:
        out[j, i] = a[i, j]


def planes(a, out):
    i, j, k = cuda.grid(3)
    if 0 < i < a.shape[0] and j < a.shape[1] and k < a.shape[2]:
        out[i, j, k] = a[i - 1, j, k] + 3 * a[i, j, k]


def planes_y(a, out):
    i, k, j = cuda.grid(3)
    if i < a.shape[0] and j < a.shape[1] and k < a.shape[2]:
        out[i, j, k] = a[i, j, k] + 1


C2, F2, A2, C3 = float32[:, ::1], float32[::1, :], float32[:, :], float32[:, :, ::1]


@pytest.mark.parametrize(("function", "types", "axis"), [
    (stencil, (C2, C2), "y"), (stencil_x, (C2, C2), "x"), (stencil, (F2, F2), "x"), (stencil_x, (F2, F2), "y"),
    (stencil, (A2, A2), "y"), (flat, (C2, C2), "y"), (rows, (C2, C2), "y"), (helped, (C2, C2), "y"),
    (transposed, (C2, C2), "y"), (transposed_x, (C2, C2), "x"), (planes, (C3, C3), "z"), (planes_y, (C3, C3), "y")])
def test_choice(function, types, axis):
    assert axis_of(function, *types) == axis


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("function", [stencil, stencil_x, rows, helped, transposed, transposed_x])
def test_results_in_two_dimensions(function, order):
    a = np.asarray(np.arange(67 * 67).reshape(67, 67) % 251, np.float32, order=order)
    want = np.zeros_like(a)
    if function in (stencil, stencil_x):
        want[1:-1, 1:-1] = a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:]
    else:
        want[:] = {rows: a * 2, helped: a + 1}.get(function, a.T)
    for block in SHAPES:
        out = np.zeros_like(a)
        cuda.jit(function)[grid_for(a.shape, block), block](a, out)
        assert (out == want).all(), block


def test_results_in_three_dimensions():
    a = np.asarray(np.arange(19 * 34 * 41).reshape(19, 34, 41) % 251, np.float32)
    want = 3 * a
    want[1:] += a[:-1]
    want[0] = 0
    for block in SHAPES_3D:
        out, out_y = np.zeros_like(a), np.zeros_like(a)
        cuda.jit(planes)[grid_for(a.shape, block), block](a, out)
        cuda.jit(planes_y)[grid_for((19, 41, 34), block), block](a, out_y)
        assert (out == want).all() and (out_y == a + 1).all(), block


@pytest.mark.parametrize("tile", [(16, 16), (8, 3), (3, 8), (5, 5)])
def test_barriers_slots_and_votes(tile):
    """What threads keep between barriers lies along the rows, too."""
    @cuda.jit
    def kernel(a, out, lost):
        part = cuda.shared.array((16, 17), np.int64)
        i, j = cuda.grid(2)
        x, y = cuda.threadIdx.x, cuda.threadIdx.y
        if i >= a.shape[0] or j >= a.shape[1]:
            lost[i, j] = 1
            return
        kept = a[i, j]
        for k in range(3):
            part[x, y] = kept
            cuda.syncthreads()
            kept = kept * 3 + part[x, (y + 1) % cuda.blockDim.y] + part[(x + 1) % cuda.blockDim.x, y]
            if cuda.syncthreads_count(kept % 2) > k:
                kept += 1
            cuda.syncthreads()
        out[i, j] = kept

    blocks = (3, 2)
    shape = (tile[0] * 3, tile[1] * 2)
    a, out, lost = np.arange(shape[0] * shape[1]).reshape(shape) % 97, np.zeros(shape, np.int64), np.zeros(shape)
    kernel[blocks, tile](a, out, lost)
    assert axis_of(kernel.py_func, *next(iter(kernel.inspect_llvm()))) == "y"
    want = a.reshape(3, tile[0], 2, tile[1]).astype(np.int64)
    for k in range(3):
        want = want * 3 + np.roll(want, -1, 3) + np.roll(want, -1, 1)
        want += (want % 2).sum((1, 3), keepdims=True) > k
    assert (out == want.reshape(shape)).all() and not lost.any()


def test_rows_have_no_masks():
    x = np.ones((64, 64), np.float32)
    kernel = cuda.jit(stencil)
    kernel[(4, 4), (16, 16)](x, x.copy())
    text = next(iter(kernel.inspect_llvm().values()))
    assert " x float>" in text and "masked" not in text


def takes_places(a, out, count):
    i, j = cuda.grid(2)
    out[i, j] = a[i, j] + cuda.atomic.add(count, 0, 1)


def adds_floats(a, out, count):
    i, j = cuda.grid(2)
    out[i, j] = a[i, j]
    cuda.atomic.add(count, 0, a[i, j])


def counts(a, out, count):
    i, j = cuda.grid(2)
    out[i, j] = a[i, j]
    cuda.atomic.add(count, 0, 1)


def prints(a, out, count):
    i, j = cuda.grid(2)
    out[i, j] = a[i, j]
    print(i, j)


def meets(a, out, count):
    i, j = cuda.grid(2)
    out[i, j] = cuda.shfl_xor_sync(0xFFFFFFFF, a[i, j], 1)


@pytest.mark.parametrize(("function", "axis"), [(takes_places, "x"), (adds_floats, "x"), (prints, "x"), (meets, "x"),
                                                (counts, "y")])
def test_an_order_that_shows_is_kept(function, axis):
    assert axis_of(function, C2, C2, float32[::1] if function is adds_floats else int64[::1]) == axis


def test_threads_take_places_in_their_order():
    count, out = np.zeros(1, np.int64), np.zeros((8, 6))
    cuda.jit(takes_places)[1, (8, 6)](np.zeros((8, 6)), out, count)
    assert (out == np.arange(48).reshape(6, 8).T).all() and count[0] == 48


def test_the_first_thread_is_told_of():
    @cuda.jit(debug=True, opt=False)
    def kernel(a):
        i, j = cuda.grid(2)
        if a[i, j] < 0:
            raise ValueError("negative", i, j)
        a[i, j] = 1

    with pytest.raises(ValueError, match=r"3, 4") as error:
        a = np.zeros((8, 8))
        a[3, 4] = a[4, 1] = a[2, 5] = -1
        a[4, 1] = 0
        kernel[1, (8, 8)](a)
    assert "3, 4" in str(error.value)
