"""Clusters of blocks: ranks, barriers and each other's shared memory."""
import numpy as np
import pytest

from cujit import cuda, errors, float32, int32
from cujit.cuda import cg


@pytest.fixture(autouse=True)
def has_clusters():
    if cuda.get_current_device().kind == "cuda" and cuda.get_current_device().compute_capability < (9, 0):
        pytest.skip("needs compute capability 9.0")


@cuda.jit
def neighbours(x, out):
    cluster = cg.this_cluster()
    tile = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    tile[t] = x[cuda.grid(1)]
    cluster.sync()
    next_tile = cluster.map_shared_rank(tile, (cluster.block_rank() + 1) % cluster.num_blocks())
    out[cuda.grid(1)] = next_tile[31 - t]
    cluster.sync()


@pytest.mark.parametrize("blocks, cluster", [(8, 4), (8, 2), (8, 8), (6, 1), (12, 3)])
def test_blocks_read_each_others_shared_memory(blocks, cluster):
    x = np.arange(blocks * 32, dtype=np.float32)
    out = np.zeros_like(x)
    neighbours[blocks, 32, 0, 0, cluster](x, out)
    tiles = x.reshape(blocks // cluster, cluster, 32)
    np.testing.assert_array_equal(out.reshape(tiles.shape), np.roll(tiles, -1, axis=1)[:, :, ::-1])


def test_without_a_cluster_each_block_is_one():
    x = np.arange(64, dtype=np.float32)
    out = np.zeros_like(x)
    neighbours[2, 32](x, out)
    np.testing.assert_array_equal(out.reshape(2, 32), x.reshape(2, 32)[:, ::-1])


@cuda.jit
def places(out):
    cluster = cg.this_cluster()
    if cuda.threadIdx.x == 1:
        block = (cuda.blockIdx.z * cuda.gridDim.y + cuda.blockIdx.y) * cuda.gridDim.x + cuda.blockIdx.x
        at, size = cluster.block_index(), cluster.dim_blocks()
        row = out[block]
        row[0], row[1], row[2] = at.x, at.y, at.z
        row[3], row[4], row[5] = size.x, size.y, size.z
        row[6], row[7] = cluster.block_rank(), cluster.num_blocks()
        row[8], row[9] = cluster.thread_rank(), cluster.num_threads()


def test_places_in_three_dimensions():
    out = np.zeros((4 * 3 * 4, 10), np.int32)
    places.configure((4, 3, 4), 8, cluster=(2, 1, 4))(out)
    for z in range(4):
        for y in range(3):
            for x in range(4):
                rank = x % 2 + 2 * (z % 4)
                expected = [x % 2, 0, z % 4, 2, 1, 4, rank, 8, rank * 8 + 1, 64]
                assert out[(z * 3 + y) * 4 + x].tolist() == expected


@cuda.jit
def cluster_sum(x, out):
    """Each block sums its part; the cluster's first block adds what is in the shared memory of the others."""
    cluster = cg.this_cluster()
    part = cuda.shared.array(1, int32)
    if cuda.threadIdx.x == 0:
        part[0] = 0
    cuda.syncthreads()
    cuda.atomic.add(part, 0, x[cuda.grid(1)])
    cluster.sync()
    if cluster.thread_rank() == 0:
        total = 0
        for rank in range(cluster.num_blocks()):
            total += cluster.map_shared_rank(part, rank)[0]
        out[cuda.blockIdx.x // cluster.num_blocks()] = total
    cluster.sync()


def test_a_sum_over_distributed_shared_memory(rng):
    x = rng.integers(0, 1000, 16 * 64).astype(np.int32)
    out = np.zeros(4, np.int32)
    cluster_sum[16, 64, 0, 0, 4](x, out)
    np.testing.assert_array_equal(out, x.reshape(4, -1).sum(axis=1))


def test_atomics_of_the_owner_and_of_others_on_the_same_memory():
    @cuda.jit
    def kernel(out):
        counts = cuda.shared.array(1, np.int64)
        cluster = cg.this_cluster()
        if cuda.threadIdx.x == 0:
            counts[0] = 0
        cluster.sync()
        for _ in range(500):
            if cluster.block_rank() == 0:
                cuda.atomic.add(counts, 0, 1)
            else:
                cuda.atomic.add(cluster.map_shared_rank(counts, 0), 0, 1)
        cluster.sync()
        if cuda.grid(1) == 0:
            out[0] = counts[0]

    out = np.zeros(1, np.int64)
    kernel[4, 64, 0, 0, 4](out)
    assert out[0] == 4 * 64 * 500


def test_atomics_on_another_blocks_memory():
    @cuda.jit
    def kernel(out):
        cluster = cg.this_cluster()
        counts = cuda.shared.array(1, int32)
        if cuda.threadIdx.x == 0:
            counts[0] = 0
        cluster.sync()
        cuda.atomic.add(cluster.map_shared_rank(counts, 0), 0, 1)
        cluster.sync()
        if cuda.threadIdx.x == 0:
            out[cuda.blockIdx.x] = counts[0]

    out = np.zeros(4, np.int32)
    kernel[4, 32, 0, 0, 2](out)
    assert out.tolist() == [64, 0, 64, 0]


def test_dynamic_shared_memory_is_mapped_too():
    @cuda.jit
    def kernel(out):
        cluster = cg.this_cluster()
        tile = cuda.shared.array(0, int32)
        tile[cuda.threadIdx.x] = 100 * cuda.blockIdx.x + cuda.threadIdx.x
        cluster.sync()
        out[cuda.grid(1)] = cluster.map_shared_rank(tile, 1 - cluster.block_rank())[cuda.threadIdx.x]
        cluster.sync()

    out = np.zeros(64, np.int32)
    kernel[2, 32, 0, 4 * 32, 2](out)
    np.testing.assert_array_equal(out, np.r_[100:132, 0:32])


def test_grid_and_cluster_barriers_in_one_kernel():
    @cuda.jit
    def kernel(out):
        cluster, grid = cg.this_cluster(), cg.this_grid()
        first = cuda.threadIdx.x == 0
        for _ in range(3):
            if first:
                cuda.atomic.add(out, cuda.blockIdx.x, 1)
            cluster.sync()
            grid.sync()
            if first:
                cuda.atomic.add(out, 4 + cuda.blockIdx.x, out[(cuda.blockIdx.x + 1) % 4])
            grid.sync()

    out = np.zeros(8, np.int32)
    kernel[4, 32, 0, 0, 2](out)
    assert out.tolist() == [3] * 4 + [6] * 4


def test_threads_that_have_returned_are_not_waited_for():
    @cuda.jit
    def kernel(out):
        if cuda.blockIdx.x % 2 and cuda.threadIdx.x > 3:
            return
        cg.this_cluster().sync()
        out[cuda.grid(1)] = 1

    out = np.zeros(64, np.int32)
    kernel[2, 32, 0, 0, 2](out)
    assert out.sum() == 36


# --- mistakes --------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("configuration, message", [
    ((4, 32, 0, 0, 17), "cluster has 17 blocks along x"), ((4, 32, 0, 0, (4, 4, 2)), "cluster has 32 blocks"),
    ((4, 32, 0, 0, 0), "cluster has 0 blocks"), ((4, 32, 0, 0, (1, 1, 1, 1)), "cluster has 4 dimensions"),
    ((4, 32, 0, 0, 1, 1), "stream, shared memory, cluster"),
])
def test_clusters_that_nothing_can_launch(configuration, message):
    with pytest.raises(errors.LaunchConfigurationError, match=message):
        neighbours[configuration]


def test_a_grid_that_is_no_multiple_of_the_cluster():
    x = np.zeros(5 * 32, np.float32)
    with pytest.raises(errors.LaunchConfigurationError, match="multiple of cluster.x, 2"):
        neighbours[5, 32, 0, 0, 2](x, x)


def test_older_gpus_have_no_clusters():
    with pytest.raises(errors.UnsupportedError, match="sm_80"):
        cuda.compile_ptx(neighbours.py_func, "void(float32[::1], float32[::1])", cc=(8, 0))

    def only_looks(out):
        shared = cuda.shared.array(4, float32)
        out[0] = cuda.cg.this_cluster().map_shared_rank(shared, 1)[0]

    with pytest.raises(errors.UnsupportedError, match="sm_75"):
        cuda.compile_ptx(only_looks, "void(float32[::1])", cc=(7, 5))
    ptx, _ = cuda.compile_ptx(neighbours.py_func, "void(float32[::1], float32[::1])", cc=(9, 0))
    assert "barrier.cluster.arrive" in ptx and "barrier.cluster.wait" in ptx and "mapa.u64" in ptx


def test_what_is_mapped_is_an_array(refused):
    refused("cg.this_cluster().map_shared_rank(x, 0)", "a shared array and the rank of a block", cg=cg)


def test_blocks_that_wait_for_each_other_in_different_places():
    @cuda.jit
    def kernel(out):
        if cuda.blockIdx.x == 0:
            cg.this_grid().sync()
        cg.this_cluster().sync()
        out[cuda.blockIdx.x] = 1

    if cuda.get_current_device().kind == "cuda":
        pytest.skip("a GPU hangs")
    with pytest.raises(errors.KernelHangError, match="this_grid.sync for block 1, which waits at"):
        kernel[2, 32, 0, 0, 2](np.zeros(2, np.int32))


@pytest.mark.skipif(cuda.get_current_device().kind == "cuda", reason="a GPU reads other memory, or fails")
@pytest.mark.parametrize("array, rank, message", [("x", 1, "it takes shared arrays"),
                                                  ("mine", 0, "it takes shared arrays"),
                                                  ("shared", 2, "the cluster has no block of that rank"),
                                                  ("shared", -1, "the cluster has no block of that rank")])
def test_memory_that_cannot_be_mapped(array, rank, message):
    scope = {"cuda": cuda, "np": np, "rank": rank}
    exec(f"""def kernel(x):
    shared, mine = cuda.shared.array(4, np.int64), cuda.local.array(4, np.int64)
    shared[0] = mine[0] = 0
    x[0] = cuda.cg.this_cluster().map_shared_rank({array}, rank)[0]
""", scope)
    with pytest.raises(errors.KernelHangError, match=f"for rank {rank} in line 4; {message}"):
        cuda.jit(scope["kernel"])[2, 32, 0, 0, 2](np.zeros(4, np.int64))
