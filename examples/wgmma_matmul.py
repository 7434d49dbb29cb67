"""Matrix product of float16, bfloat16 or 8-bit floats as Hopper GPUs do it: one thread copies tiles into shared memory
by the tensor memory accelerator, eight warps multiply them by wgmma, and results leave by the accelerator, too. Blocks
take one tile of the result after the other, and in a cluster they share what all need. docs/tensor_cores.md tells of
each step."""
import numpy as np

from cujit import cuda, float16, float32, uint64

BLOCK_M, BLOCK_N = 128, 256  # a block's tile of the result
ROW = 128  # bytes of k in a stage: a row of shared memory
GROUP_M = 64  # rows of a group of four warps
OUT = 64  # columns that leave at once
THREADS = 384  # one group copies, two multiply


def make_matmul(stages=4, cluster=1, band=16, dtype=float16, result=float16, kind=None):
    """A function for c = a @ b.T, of device arrays a (m, k) and b (n, k) of dtype, and c (m, n) of float16 or bfloat16.
    kind: "e4m3" or "e5m2", with dtype=uint8."""
    size = 1 if kind else 2
    block_k, step_k = ROW // size, 32 // size
    part = BLOCK_N // cluster  # rows of b that a block brings for its cluster
    stage_bytes = (BLOCK_M + BLOCK_N) * ROW
    everyone = (1 << cluster) - 1

    @cuda.jit(device=True)
    def place_of(tile, down, across):
        """Row and column of a tile: bands of rows, and in a band one column after the other, for the second cache."""
        first = tile // (band * across) * band
        rows = min(band, down - first)
        within = tile - first * across
        return (first + within % rows) * BLOCK_M, within // rows * BLOCK_N

    @cuda.jit(launch_bounds=(THREADS, 1))
    def matmul_kernel(map_a, map_b, map_c):
        a = cuda.shared.array((stages, BLOCK_M, block_k), dtype, swizzle=128)
        b = cuda.shared.array((stages, BLOCK_N, block_k), dtype, swizzle=128)
        out = cuda.shared.array((2, 2, GROUP_M, OUT), result, swizzle=128)
        full, empty = cuda.shared.array(stages, uint64), cuda.shared.array(stages, uint64)
        m, k = map_a.array.shape
        down, across = m // BLOCK_M, map_b.array.shape[0] // BLOCK_N
        steps, tiles = k // block_k, down * across
        thread, group = cuda.threadIdx.x % 128, cuda.threadIdx.x // 128
        this = cuda.cg.this_cluster()
        rank = this.block_rank() if cluster > 1 else 0
        if cuda.threadIdx.x == 0:
            for i in range(stages):
                cuda.mbarrier.init(full, i, 1)
                cuda.mbarrier.init(empty, i, 2 * cluster)
            cuda.mbarrier.fence_init()
        if cluster > 1:
            this.sync()
        else:
            cuda.syncthreads()
        stage, phase = 0, 0
        if group == 0:
            cuda.setmaxnreg_dec(40)
            if thread == 0:
                for tile in range(cuda.blockIdx.x, tiles, cuda.gridDim.x):
                    row, column = place_of(tile, down, across)
                    for step in range(steps):
                        cuda.mbarrier.wait(empty, stage, phase ^ 1)
                        cuda.mbarrier.arrive_expect_tx(full, stage, stage_bytes)
                        cuda.tma.load(a[stage], map_a, (row, step * block_k), full, stage)
                        if cluster > 1:
                            cuda.tma.load(b[stage, rank * part:], map_b, (column + rank * part, step * block_k),
                                          full, stage, multicast=everyone)
                        else:
                            cuda.tma.load(b[stage], map_b, (column, step * block_k), full, stage)
                        stage += 1
                        if stage == stages:
                            stage, phase = 0, phase ^ 1
        else:
            cuda.setmaxnreg_inc(232)
            sums = cuda.local.array(GROUP_M * BLOCK_N // 128, float32)
            own = (group - 1) * GROUP_M
            lane, warp = thread % 32, thread // 32
            for tile in range(cuda.blockIdx.x, tiles, cuda.gridDim.x):
                row, column = place_of(tile, down, across)
                before = -1
                for step in range(steps):
                    cuda.mbarrier.wait(full, stage, phase)
                    cuda.wgmma.fence(sums)
                    for i in range(0, block_k, step_k):
                        cuda.wgmma.mma(sums, a, (stage, own, i), b, (stage, 0, i), accumulate=step > 0 or i > 0,
                                       kind=kind)
                    cuda.wgmma.commit()
                    cuda.wgmma.wait(1, sums)
                    if before >= 0 and thread < cluster:
                        if cluster > 1:
                            cuda.mbarrier.arrive_cluster(empty, before, thread)
                        else:
                            cuda.mbarrier.arrive(empty, before)
                    before = stage
                    stage += 1
                    if stage == stages:
                        stage, phase = 0, phase ^ 1
                cuda.wgmma.wait(0, sums)
                if thread < cluster:
                    if cluster > 1:
                        cuda.mbarrier.arrive_cluster(empty, before, thread)
                    else:
                        cuda.mbarrier.arrive(empty, before)
                for piece in range(BLOCK_N // OUT):
                    to = out[group - 1, piece % 2]
                    if thread == 0:
                        cuda.tma.wait_read(1)
                    cuda.barrier_sync(group, 128)
                    for j in range(OUT // 8):
                        for half in range(2):
                            i = piece * (OUT // 2) + j * 4 + half * 2
                            cuda.wide.store(to[warp * 16 + lane // 4 + half * 8], j * 8 + lane % 4 * 2,
                                            (result(sums[i]), result(sums[i + 1])))
                    cuda.fence_proxy_async()
                    cuda.barrier_sync(group, 128)
                    if thread == 0:
                        cuda.tma.store(map_c, (row + own, column + piece * OUT), to)
                        cuda.tma.commit()
            if thread == 0:
                cuda.tma.wait(0)
        if cluster > 1:
            this.sync()

    def maps(a, b, c):
        return (cuda.tensor_map(a, (BLOCK_M, block_k), swizzle=128), cuda.tensor_map(b, (part, block_k), swizzle=128),
                cuda.tensor_map(c, (GROUP_M, OUT), swizzle=128))

    def blocks(m, n):
        """As many as run at once, in whole clusters."""
        there = cuda.get_current_device().MULTIPROCESSOR_COUNT
        return max(min(there, m // BLOCK_M * (n // BLOCK_N)) // cluster, 1) * cluster

    def plan(a, b, c):
        """A function that computes c = a @ b.T again and again: maps are made once. m is a multiple of 128 times the
        cluster, n of 256, k of 128 bytes."""
        (m, k), n = a.shape, b.shape[0]
        if m % (BLOCK_M * cluster) or n % BLOCK_N or k % block_k or b.shape[1] != k or c.shape != (m, n):
            raise ValueError(f"({m}, {k}) @ {b.shape}.T: m, n and k must be multiples of {BLOCK_M * cluster}, "
                             f"{BLOCK_N} and {block_k}")
        given, grid = maps(a, b, c), blocks(m, n)
        return lambda stream=0: matmul_kernel[grid, THREADS, stream, 0, cluster](*given)

    def matmul(a, b, c, stream=0):
        plan(a, b, c)(stream)

    matmul.plan, matmul.kernel = plan, matmul_kernel
    return matmul


def main(m=256, k=128, n=256):
    device = cuda.get_current_device()
    if device.kind == "cuda" and device.compute_capability != (9, 0):
        return "skipped: wgmma is of compute capability 9.0"
    rng = np.random.default_rng(5)
    a, b = rng.normal(size=(m, k)).astype(np.float16), rng.normal(size=(n, k)).astype(np.float16)
    c = cuda.device_array((m, n), np.float16)
    make_matmul()(cuda.to_device(a), cuda.to_device(b), c)
    np.testing.assert_allclose(c.copy_to_host(), a.astype(np.float32) @ b.astype(np.float32).T, rtol=1e-2, atol=1e-2)
    return f"({m}, {k}) @ ({n}, {k}).T in float16"


if __name__ == "__main__":
    print(main())
