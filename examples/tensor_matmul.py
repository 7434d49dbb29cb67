"""Matrix product of float16 on tensor cores: blocks of 128 x 128, of which each of 8 warps computes 64 x 32; tiles come
by asynchronous copies into three stages of shared memory while the tensor cores work on others."""
import numpy as np

from cujit import cuda, float16, float32

BLOCK_M, BLOCK_N, BLOCK_K = 128, 128, 32
STAGES = 3
PAD = 8  # elements behind each row of a tile: rows begin in different banks
THREADS = 256


@cuda.jit(device=True)
def copy_tiles(a, b, tile_a, tile_b, stage, row, column, start):
    """16 bytes (8 elements) a copy: 2 copies of a's tile and 2 of b's for each of the 256 threads."""
    for i in range(2):
        place = (cuda.threadIdx.x + i * THREADS) * 8
        r, c = place // BLOCK_K, place % BLOCK_K
        cuda.cp_async(tile_a, (stage, r, c), a, (row + r, start + c), 8)
        r, c = place // BLOCK_N, place % BLOCK_N
        cuda.cp_async(tile_b, (stage, r, c), b, (start + r, column + c), 8)


@cuda.jit
def matmul_kernel(a, b, c):
    tile_a = cuda.shared.array((STAGES, BLOCK_M, BLOCK_K + PAD), float16, alignment=16)
    tile_b = cuda.shared.array((STAGES, BLOCK_K, BLOCK_N + PAD), float16, alignment=16)
    sums = cuda.local.array((4, 4, 4), float32)
    for i in range(4):
        for j in range(4):
            for k in range(4):
                sums[i, j, k] = 0.0
    row, column = cuda.blockIdx.y * BLOCK_M, cuda.blockIdx.x * BLOCK_N
    lane, warp = cuda.laneid, cuda.threadIdx.x // 32
    warp_row, warp_column = warp // 4 * 64, warp % 4 * 32

    steps = a.shape[1] // BLOCK_K
    for step in range(STAGES - 1):
        if step < steps:
            copy_tiles(a, b, tile_a, tile_b, step, row, column, step * BLOCK_K)
        cuda.cp_async_commit()
    for step in range(steps):
        cuda.cp_async_wait(STAGES - 2)
        cuda.syncthreads()
        if step + STAGES - 1 < steps:
            copy_tiles(a, b, tile_a, tile_b, (step + STAGES - 1) % STAGES, row, column, (step + STAGES - 1) * BLOCK_K)
        cuda.cp_async_commit()
        from_a, from_b = tile_a[step % STAGES], tile_b[step % STAGES]
        for k in range(0, BLOCK_K, 16):
            b01 = cuda.ldmatrix_x4_trans(from_b, k + lane % 16, warp_column + lane // 16 * 8)
            b23 = cuda.ldmatrix_x4_trans(from_b, k + lane % 16, warp_column + 16 + lane // 16 * 8)
            for i in range(4):
                fragment = cuda.ldmatrix_x4(from_a, warp_row + i * 16 + lane % 16, k + lane // 16 * 8)
                multiply(fragment, b01[:4], sums[i, 0])
                multiply(fragment, b01[4:], sums[i, 1])
                multiply(fragment, b23[:4], sums[i, 2])
                multiply(fragment, b23[4:], sums[i, 3])

    for i in range(4):
        for j in range(4):
            for k in range(4):
                r = row + warp_row + i * 16 + lane // 4 + k // 2 * 8
                c[r, column + warp_column + j * 8 + lane % 4 * 2 + k % 2] = sums[i, j, k]


@cuda.jit(device=True)
def multiply(a, b, sums):
    """sums += a @ b, for fragments of 16 x 16 and 16 x 8."""
    total = cuda.mma.m16n8k16_f16_f32(a, b, (sums[0], sums[1], sums[2], sums[3]))
    for i in range(4):
        sums[i] = total[i]


def matmul(a, b, c, stream=0):
    """c = a @ b: float16 (m, k) and (k, n), float32 (m, n); m and n multiples of 128, k of 32, all C-contiguous."""
    (m, k), n = a.shape, b.shape[1]
    if m % BLOCK_M or n % BLOCK_N or k % BLOCK_K:
        raise ValueError(f"({m}, {k}) @ ({k}, {n}): m and n must be multiples of 128, k of 32")
    matmul_kernel[(n // BLOCK_N, m // BLOCK_M), THREADS, stream](a, b, c)


def main(m=256, k=128, n=256):
    rng = np.random.default_rng(5)
    a, b = rng.normal(size=(m, k)).astype(np.float16), rng.normal(size=(k, n)).astype(np.float16)
    if cuda.is_available() and cuda.get_current_device().compute_capability < (8, 0):
        return "skipped: asynchronous tensor cores need compute capability 8.0"
    c = cuda.device_array((m, n), np.float32)
    matmul(cuda.to_device(a), cuda.to_device(b), c)
    np.testing.assert_allclose(c.copy_to_host(), a.astype(np.float32) @ b.astype(np.float32), rtol=1e-3, atol=1e-2)
    return f"({m}, {k}) @ ({k}, {n}) in float16"


if __name__ == "__main__":
    print(main())
