"""Matrix product: the threads of a block share tiles of both matrices and wait for each other."""
import numpy as np

from cujit import cuda, float32

TILE = 16


@cuda.jit
def matmul(a, b, c):
    tile_a = cuda.shared.array((TILE, TILE), float32)
    tile_b = cuda.shared.array((TILE, TILE), float32)
    column, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y

    total = float32(0.0)
    for start in range(0, a.shape[1], TILE):
        tile_a[ty, tx] = a[row, start + tx] if row < a.shape[0] and start + tx < a.shape[1] else 0.0
        tile_b[ty, tx] = b[start + ty, column] if start + ty < b.shape[0] and column < b.shape[1] else 0.0
        cuda.syncthreads()
        for k in range(TILE):
            total += tile_a[ty, k] * tile_b[k, tx]
        cuda.syncthreads()

    if row < c.shape[0] and column < c.shape[1]:
        c[row, column] = total


def main(m=200, k=150, n=170):
    rng = np.random.default_rng(2)
    a, b = rng.random((m, k), dtype=np.float32), rng.random((k, n), dtype=np.float32)

    c = cuda.device_array((m, n), np.float32)
    grid = (-(-n // TILE), -(-m // TILE))
    matmul[grid, (TILE, TILE)](cuda.to_device(a), cuda.to_device(b), c)

    np.testing.assert_allclose(c.copy_to_host(), a @ b, rtol=1e-4)
    return f"({m}, {k}) @ ({k}, {n})"


if __name__ == "__main__":
    print(main())
