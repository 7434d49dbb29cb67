"""Matrix product of float16 on tensor cores: blocks of 128 x 128, of which each of 4 warps computes 64 x 64; tiles come
by asynchronous copies into three stages of shared memory while the tensor cores work on others."""
import numpy as np

from cujit import cuda, float16, float32

BLOCK_M, BLOCK_N, BLOCK_K = 128, 128, 64
WARP = 64  # rows and columns of what a warp computes
STAGES = 3
PAD = 8  # elements behind each row of a tile: rows begin in different banks
THREADS = 128
TOGETHER = 8  # rows of blocks that run at the same time share what they read of b
WORD = 8  # elements of a copy of 16 bytes
ROWS, COLUMNS = WARP // 16, WARP // 8  # of fragments of 16 x 8 in a warp's part


@cuda.jit(device=True)
def copy_tiles(a, b, tile_a, tile_b, stage, row, column, start):
    for i in range(BLOCK_M * BLOCK_K // (THREADS * WORD)):
        place = (i * THREADS + cuda.threadIdx.x) * WORD
        r, c = place // BLOCK_K, place % BLOCK_K
        cuda.cp_async(tile_a, (stage, r, c), a, (row + r, start + c), WORD)
    for i in range(BLOCK_K * BLOCK_N // (THREADS * WORD)):
        place = (i * THREADS + cuda.threadIdx.x) * WORD
        r, c = place // BLOCK_N, place % BLOCK_N
        cuda.cp_async(tile_b, (stage, r, c), b, (start + r, column + c), WORD)


@cuda.jit(device=True)
def place_of_block():
    """The first row and column of the block's part of c."""
    across, down = cuda.gridDim.x, cuda.gridDim.y
    number = cuda.blockIdx.y * across + cuda.blockIdx.x
    band = number // (TOGETHER * across) * TOGETHER
    rows = min(TOGETHER, down - band)
    within = number - band * across
    return (band + within % rows) * BLOCK_M, within // rows * BLOCK_N


@cuda.jit(launch_bounds=THREADS)
def matmul_kernel(a, b, c):
    tile_a = cuda.shared.array((STAGES, BLOCK_M, BLOCK_K + PAD), float16, alignment=16)
    tile_b = cuda.shared.array((STAGES, BLOCK_K, BLOCK_N + PAD), float16, alignment=16)
    sums = cuda.local.array((ROWS, COLUMNS, 4), float32)
    for i in range(ROWS):
        for j in range(COLUMNS):
            for k in range(4):
                sums[i, j, k] = 0.0
    row, column = place_of_block()
    lane, warp = cuda.laneid, cuda.threadIdx.x // 32
    warp_row, warp_column = warp // (BLOCK_N // WARP) * WARP, warp % (BLOCK_N // WARP) * WARP

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
            right = [cuda.ldmatrix_x4_trans(from_b, k + lane % 16, warp_column + j * 16 + lane // 16 * 8)
                     for j in range(COLUMNS // 2)]
            for i in range(ROWS):
                left = cuda.ldmatrix_x4(from_a, warp_row + i * 16 + lane % 16, k + lane // 16 * 8)
                for j in range(COLUMNS // 2):
                    multiply(left, right[j][:4], sums[i, 2 * j])
                    multiply(left, right[j][4:], sums[i, 2 * j + 1])

    for i in range(ROWS):
        for j in range(COLUMNS):
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
    """c = a @ b: float16 (m, k) and (k, n), float32 (m, n); m and n multiples of 128, k of 64, all C-contiguous."""
    (m, k), n = a.shape, b.shape[1]
    if m % BLOCK_M or n % BLOCK_N or k % BLOCK_K:
        raise ValueError(f"({m}, {k}) @ ({k}, {n}): m and n must be multiples of 128, k of 64")
    matmul_kernel[(n // BLOCK_N, m // BLOCK_M), THREADS, stream](a, b, c)


def main(m=256, k=128, n=256):
    rng = np.random.default_rng(5)
    a, b = rng.normal(size=(m, k)).astype(np.float16), rng.normal(size=(k, n)).astype(np.float16)
    device = cuda.get_current_device()
    if device.kind == "cuda" and device.compute_capability < (8, 0):
        return "skipped: asynchronous tensor cores need compute capability 8.0"
    c = cuda.device_array((m, n), np.float32)
    matmul(cuda.to_device(a), cuda.to_device(b), c)
    np.testing.assert_allclose(c.copy_to_host(), a.astype(np.float32) @ b.astype(np.float32), rtol=1e-3, atol=1e-2)
    return f"({m}, {k}) @ ({k}, {n}) in float16"


if __name__ == "__main__":
    print(main())
