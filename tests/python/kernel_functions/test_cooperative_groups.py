"""cuda.cg: groups and what they can, beside what their definitions say."""
import numpy as np
import pytest

from cujit import cuda, errors

cg = cuda.cg
SIZES = [1, 2, 4, 8, 16, 32]


# --- blocks and grids -------------------------------------------------------------------------------------------------


def test_block_and_grid():
    @cuda.jit
    def kernel(out):
        block, grid = cg.this_thread_block(), cg.this_grid()
        i = grid.thread_rank()
        block.sync()
        out[i, 0], out[i, 1], out[i, 2] = block.thread_rank(), block.num_threads(), grid.num_threads()
        out[i, 3], out[i, 4], out[i, 5] = block.rank, block.size, grid.rank
        out[i, 6], out[i, 7], out[i, 8] = grid.size, grid.block_rank(), grid.num_blocks()
        index, thread, extent = block.group_index(), block.thread_index(), block.dim_threads()
        out[i, 9] = (index.z * 2 + index.y) * 3 + index.x
        out[i, 10] = (thread.z * extent.y + thread.y) * extent.x + thread.x
        out[i, 11] = grid.block_index().x * 100 + grid.dim_blocks().x

    grid, block = (3, 2, 2), (4, 3, 5)
    out = np.full((12 * 60, 12), -1)
    kernel[grid, block](out)
    rank, thread = np.divmod(np.arange(12 * 60), 60)
    expected = [thread, 0 * rank + 60, 0 * rank + 720, thread, 0 * rank + 60, np.arange(720), 0 * rank + 720, rank,
                0 * rank + 12, rank, thread, rank % 3 * 100 + 3]
    np.testing.assert_array_equal(out, np.array(expected).T)


def test_grid_sync_makes_the_launch_cooperative():
    @cuda.jit
    def kernel(counter, seen):
        grid = cg.this_grid()
        cuda.atomic.add(counter, 0, 1)
        grid.sync()
        seen[grid.rank] = counter[0]

    counter, seen = np.zeros(1, np.int64), np.zeros(128, np.int64)
    kernel[4, 32](counter, seen)
    assert (seen == 128).all()


def meet(group):
    group.sync()


def meet_apart(x):
    block = cg.this_thread_block()
    if cuda.threadIdx.x < 3:
        block.sync()
    else:
        x[0] = 1.0
        meet(block)


@pytest.mark.skipif(cuda.get_current_device().kind == "cuda", reason="a GPU does not say where threads wait")
def test_threads_that_wait_for_each_other_are_where_the_program_has_the_barrier():
    """A group is a named tuple, whose methods are the library's: the lines are those of the calls."""
    lines = meet_apart.__code__.co_firstlineno + 3, meet.__code__.co_firstlineno + 1
    with pytest.raises(errors.BarrierError, match="line {}; .* line {};".format(*lines)):
        cuda.jit(meet_apart)[1, 64](np.zeros(1))


# --- tiles ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", SIZES)
def test_tiles(rng, size):
    @cuda.jit
    def kernel(x, out):
        block = cg.this_thread_block()
        tile = cg.tiled_partition(block, size)
        i = block.thread_rank()
        tile.sync()
        out[0, i], out[1, i] = tile.thread_rank(), tile.num_threads()
        out[2, i], out[3, i] = tile.meta_group_rank(), tile.meta_group_size()
        out[4, i] = tile.shfl(x[i], 1)
        out[5, i] = tile.shfl_up(x[i], 1)
        out[6, i] = tile.shfl_down(x[i], 1)
        out[7, i] = tile.shfl_xor(x[i], size // 2)
        out[8, i] = tile.any(x[i] > 5)
        out[9, i] = tile.all(x[i] > 1)
        out[10, i] = tile.ballot(x[i] > 4)
        out[11, i] = tile.match_any(x[i])
        lanes, agree = tile.match_all(x[i] > 1)
        out[12, i] = lanes
        out[13, i] = agree
        out[14, i] = cg.reduce(tile, x[i], cg.plus)
        out[15, i] = cg.reduce(tile, x[i], op=cg.greater)
        out[16, i] = cg.inclusive_scan(tile, x[i])
        out[17, i] = cg.exclusive_scan(tile, x[i])

    x, out = rng.integers(0, 10, 96), np.full((18, 96), -1)
    kernel[1, 96](x, out)
    for start in range(0, 96, size):
        t, rank, part = x[start:start + size], np.arange(size), out[:, start:start + size]
        bits = 1 << rank
        all_same = len(set((t > 1).tolist())) == 1
        expected = [rank, 0 * rank + size, 0 * rank + start // size, 0 * rank + 96 // size,
                    t[[1 % size] * size], t[np.maximum(rank - 1, 0)], t[np.minimum(rank + 1, size - 1)],
                    t[rank ^ (size // 2)], 0 * rank + (t > 5).any(), 0 * rank + (t > 1).all(),
                    0 * rank + bits[t > 4].sum(), [bits[t == v].sum() for v in t],
                    0 * rank + (bits.sum() if all_same else 0), 0 * rank + all_same,
                    0 * rank + t.sum(), 0 * rank + t.max(), t.cumsum(), t.cumsum() - t]
        np.testing.assert_array_equal(part, np.array(expected), err_msg=f"tile at {start}")


def test_tiles_of_tiles_and_own_operators(rng):
    @cuda.jit
    def kernel(x, out):
        outer = cg.tiled_partition(cg.this_thread_block(), 16)
        inner = cg.tiled_partition(outer, 4)
        i = cuda.threadIdx.x
        out[i, 0] = cg.reduce(inner, x[i], lambda a, b: a * b)
        out[i, 1] = cg.reduce(outer, x[i], max)
        out[i, 2], out[i, 3] = inner.meta_group_rank(), inner.meta_group_size()

    x, out = rng.random(64), np.zeros((64, 4))
    kernel[1, 64](x, out)
    np.testing.assert_allclose(out[:, 0], np.repeat(x.reshape(-1, 4).prod(1), 4))
    np.testing.assert_array_equal(out[:, 1], np.repeat(x.reshape(-1, 16).max(1), 16))
    np.testing.assert_array_equal(out[:, 2], np.arange(64) % 16 // 4)
    assert (out[:, 3] == 4).all()


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32, np.float64], ids=lambda t: t.__name__)
@pytest.mark.parametrize("threads", [1, 7, 20, 33, 40, 64, 100])
def test_lanes_that_are_missing_take_no_part(rng, dtype, threads):
    """A last warp that is not whole."""
    @cuda.jit
    def kernel(x, out):
        i = cuda.threadIdx.x
        block = cg.this_thread_block()
        out[0, i] = cg.reduce(cg.tiled_partition(block, 32), x[i])
        out[1, i] = cg.reduce(cg.tiled_partition(block, 8), x[i], lambda a, b: a if a > b else b)
        out[2, i] = cuda.reduce_add_sync(0xFFFFFFFF, x[i])

    x, out = rng.integers(-50, 50, threads).astype(dtype), np.zeros((3, threads))
    kernel[1, threads](x, out)
    for start in range(0, threads, 32):
        part = x[start:start + 32]
        np.testing.assert_array_equal(out[::2, start:start + part.size], part.sum())
    for start in range(0, threads, 8):
        part = x[start:start + 8]
        np.testing.assert_array_equal(out[1, start:start + part.size], part.max())


@pytest.mark.skipif(cuda.get_current_device().kind == "cuda", reason="the CPU device's")
def test_whole_warps_need_no_real_threads():
    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        out[i] = cg.reduce(cg.tiled_partition(cg.this_thread_block(), 32), x[i])

    x, out = np.arange(64.0), np.zeros(64)
    kernel[1, 64](x, out)
    assert out.tolist() == [x[:32].sum()] * 32 + [x[32:].sum()] * 32
    assert "kernel.blocks" in next(iter(kernel.inspect_llvm().values()))


@pytest.mark.parametrize("call, message", [
    ("cuda.cg.tiled_partition(cuda.cg.this_thread_block(), x)", "must be a compile-time constant"),
    ("cuda.cg.tiled_partition(cuda.cg.this_thread_block(), 8.0)", "the size of a tile is 1, 2, 4, 8, 16 or 32"),
    ("cuda.cg.tiled_partition(cuda.cg.tiled_partition(cuda.cg.this_thread_block(), 8), 16)",
     "a tile cannot be larger than the one that it is a part of"),
    ("cuda.cg.tiled_partition(cuda.cg.this_grid(), 8)", "tiled_partition takes a thread block or a tile"),
    ("cuda.cg.reduce(cuda.cg.this_grid(), 1)", "reduce takes a thread block, a tile or a coalesced group"),
    ("cuda.cg.inclusive_scan(cuda.cg.this_thread_block(), 1)", "scans take a tile or a coalesced group"),
    ("cuda.cg.labeled_partition(cuda.cg.this_thread_block(), 1)", "labeled_partition takes a tile or a"),
    ("cuda.cg.binary_partition(5, True)", "binary_partition takes a tile or a coalesced group"),
])
def test_partitions_that_are_refused(refused, call, message):
    refused(call.replace("x", "out[0]"), message)


def test_sizes_that_are_refused():
    for size in (0, 3, 64):
        with pytest.raises(Exception, match="the size of a tile is 1, 2, 4, 8, 16 or 32"):
            @cuda.jit("void(int64[:])")
            def kernel(out):
                out[0] = cg.tiled_partition(cg.this_thread_block(), size).size


# --- coalesced groups -------------------------------------------------------------------------------------------------


def test_coalesced_threads(rng):
    @cuda.jit
    def kernel(x, takes_part, out):
        i = cuda.threadIdx.x
        if takes_part[i]:
            group = cg.coalesced_threads()
            out[0, i], out[1, i] = group.thread_rank(), group.num_threads()
            out[2, i] = group.shfl(x[i], group.size - 1)
            out[3, i] = group.shfl_up(x[i], 2)
            out[4, i] = group.shfl_down(x[i], 2)
            out[5, i] = group.ballot(x[i] > 4)
            out[6, i] = group.any(x[i] > 8)
            out[7, i] = group.all(x[i] > 0)
            out[8, i] = cg.reduce(group, x[i])
            out[9, i] = cg.reduce(group, float(x[i]), cg.less)
            out[10, i] = cg.inclusive_scan(group, x[i])
            out[11, i] = group.match_any(x[i])
            group.sync()

    x, takes_part = rng.integers(0, 10, 32), rng.random(32) < 0.6
    out = np.full((12, 32), -1)
    kernel[1, 32](x, takes_part, out)
    t = x[takes_part]
    rank, size = np.arange(len(t)), len(t)
    bits = 1 << rank
    expected = [rank, 0 * rank + size, 0 * rank + t[-1], t[np.where(rank >= 2, rank - 2, rank)],
                t[np.where(rank + 2 < size, rank + 2, rank)], 0 * rank + bits[t > 4].sum(), 0 * rank + (t > 8).any(),
                0 * rank + (t > 0).all(), 0 * rank + t.sum(), 0 * rank + t.min(), t.cumsum(),
                [bits[t == v].sum() for v in t]]
    np.testing.assert_array_equal(out[:, takes_part], np.array(expected))
    assert (out[:, ~takes_part] == -1).all()


def test_partitions_by_label_and_predicate(rng):
    @cuda.jit
    def kernel(x, out):
        i = cuda.threadIdx.x
        warp = cg.tiled_partition(cg.this_thread_block(), 32)
        alike = cg.labeled_partition(warp, x[i])
        out[0, i], out[1, i] = alike.rank, alike.size
        half = cg.binary_partition(warp, x[i] < 2)
        out[2, i], out[3, i] = half.rank, cg.reduce(half, x[i])

    x, out = rng.integers(0, 4, 32), np.zeros((4, 32), np.int64)
    kernel[1, 32](x, out)
    for i in range(32):
        same, half = x == x[i], (x < 2) == (x[i] < 2)
        assert out[:, i].tolist() == [same[:i].sum(), same.sum(), half[:i].sum(), x[half].sum()]


# --- reductions of a block --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 7, 32, 33, 100, 1024])
def test_reduction_of_a_block(rng, threads):
    @cuda.jit
    def kernel(x, out):
        block = cg.this_thread_block()
        i = block.thread_rank()
        out[0, i] = cg.reduce(block, x[i])
        out[1, i] = cg.reduce(block, x[i], cg.greater)
        out[2, i] = cg.reduce(block, int(x[i] * 100), cg.bit_xor)

    x, out = rng.random(threads), np.zeros((3, threads))
    kernel[1, threads](x, out)
    np.testing.assert_allclose(out[0], x.sum())
    assert (out[1] == x.max()).all()
    assert (out[2] == np.bitwise_xor.reduce((x * 100).astype(np.int64))).all()


@pytest.mark.parametrize("cc", [(7, 5), (8, 0), (9, 0), (12, 0)])
def test_groups_assemble(assembles, cc):
    def kernel(x, out):
        block, grid = cg.this_thread_block(), cg.this_grid()
        tile, group = cg.tiled_partition(block, 8), cg.coalesced_threads()
        value = cg.reduce(block, x[0]) + cg.reduce(tile, x[1], cg.less) + cg.reduce(group, x[2])
        grid.sync()
        out[grid.rank] = value + tile.shfl_up(value, 1) + group.shfl_down(value, 1) + tile.ballot(value > 1)

    assembles(kernel, "void(float32[::1], float32[::1])", cc)


@pytest.mark.parametrize("size", [1, 2, 4, 16, 32])
def test_exchanges_with_ranks_outside_of_a_tile_give_ones_own_value(size):
    @cuda.jit
    def kernel(out):
        i = cuda.threadIdx.x
        tile = cg.tiled_partition(cg.this_thread_block(), size)
        for mask in range(33):
            out[mask, i] = tile.shfl_xor(100 + i, mask)

    out = np.zeros((33, 64), np.int64)
    kernel[1, 64](out)
    i = np.arange(64)
    for mask in range(33):
        np.testing.assert_array_equal(out[mask], 100 + (i ^ mask if mask < size else i))
