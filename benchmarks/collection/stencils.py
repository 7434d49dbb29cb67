"""Stencils in one to three dimensions: low and high order, periodic and clamped borders, in shared memory, marching."""

import numpy as np

from collection.entry import Entry, Problem, blocks, integers, tiles, uniform


class Line(Entry):
    name = "1-D stencil, 3 points"
    gpu, cpu, small, tolerance = 1 << 25, 1 << 22, 1 << 14, 1e-6
    c = r"""
extern "C" __global__ void line(const float *u, float *out, float rate, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1) out[i] = u[i] + rate * (u[i - 1] - 2.0f * u[i] + u[i + 1]);
}"""

    def problem(n, random):
        u = uniform(random, n)
        return Problem([u, np.zeros_like(u), np.float32(0.1)], blocks(n), (256,), (np.int32(n),), outputs=(1,))

    def kernel(cuda):
        two = np.float32(2)

        def line(u, out, rate):
            i = cuda.grid(1)
            if i > 0 and i < u.shape[0] - 1:
                out[i] = u[i] + rate * (u[i - 1] - two * u[i] + u[i + 1])

        return line

    def reference(u, out, rate):
        out[1:-1] = u[1:-1] + rate * (u[:-2] - 2 * u[1:-1] + u[2:])
        return out

    def loops(numba):
        two = np.float32(2)

        def line(u, out, rate):
            out[1:-1] = u[1:-1] + rate * (u[:-2] - two * u[1:-1] + u[2:])

        return line


EIGHTH = [np.float32(each) for each in (-205 / 72, 8 / 5, -1 / 5, 8 / 315, -1 / 560)]


class LineHigh(Entry):
    name = "1-D stencil, 8th order, a loop over coefficients"
    gpu, cpu, small, tolerance = 1 << 25, 1 << 20, 1 << 14, 1e-6
    c = r"""
extern "C" __global__ void line_high(const float *u, const float *weights, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 4 || i >= n - 4) return;
    float sum = weights[0] * u[i];
    for (int k = 1; k < 5; k++) sum += weights[k] * (u[i - k] + u[i + k]);
    out[i] = sum;
}"""

    def problem(n, random):
        u = uniform(random, n)
        return Problem([u, np.array(EIGHTH), np.zeros_like(u)], blocks(n), (256,), (np.int32(n),))

    def kernel(cuda):
        def line_high(u, weights, out):
            i = cuda.grid(1)
            if i < 4 or i >= u.shape[0] - 4:
                return
            total = weights[0] * u[i]
            for k in range(1, 5):
                total += weights[k] * (u[i - k] + u[i + k])
            out[i] = total

        return line_high

    def reference(u, weights, out):
        n = u.size
        out[4:-4] = weights[0] * u[4:-4]
        for k in range(1, 5):
            out[4:-4] += weights[k] * (u[4 - k:n - 4 - k] + u[4 + k:n - 4 + k])
        return out


class PlanePeriodic(Entry):
    name = "2-D stencil, 5 points, periodic by remainder"
    gpu, cpu, small, tolerance = 4096, 1024, 128, 1e-6
    c = r"""
extern "C" __global__ void plane_periodic(const float *u, float *out, int height, int width) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= height || j >= width) return;
    int up = (i + height - 1) % height, down = (i + 1) % height;
    int left = (j + width - 1) % width, right = (j + 1) % width;
    out[i * width + j] = 0.25f * (u[up * width + j] + u[down * width + j] + u[i * width + left] + u[i * width + right]);
}"""

    def problem(n, random):
        u = uniform(random, n, n)
        return Problem([u, np.zeros_like(u)], tiles(n, n), (32, 8), (np.int32(n), np.int32(n)))

    def kernel(cuda):
        quarter = np.float32(0.25)

        def plane_periodic(u, out):
            j, i = cuda.grid(2)
            height, width = u.shape
            if i >= height or j >= width:
                return
            up = (i + height - 1) % height
            down = (i + 1) % height
            left = (j + width - 1) % width
            right = (j + 1) % width
            out[i, j] = quarter * (u[up, j] + u[down, j] + u[i, left] + u[i, right])

        return plane_periodic

    def reference(u, out):
        return np.float32(0.25) * (np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 1))


class PlaneClamped(Entry):
    name = "2-D stencil, 9 points, clamped by min and max"
    gpu, cpu, small, tolerance = 4096, 1024, 128, 1e-5
    c = r"""
extern "C" __global__ void plane_clamped(const float *u, const float *weights, float *out, int height, int width) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= height || j >= width) return;
    float sum = 0;
    for (int di = -1; di <= 1; di++)
        for (int dj = -1; dj <= 1; dj++) {
            int row = min(max(i + di, 0), height - 1), column = min(max(j + dj, 0), width - 1);
            sum += weights[(di + 1) * 3 + dj + 1] * u[row * width + column];
        }
    out[i * width + j] = sum;
}"""

    def problem(n, random):
        u = uniform(random, n, n)
        return Problem([u, uniform(random, 3, 3), np.zeros_like(u)], tiles(n, n), (32, 8), (np.int32(n), np.int32(n)))

    def kernel(cuda):
        def plane_clamped(u, weights, out):
            j, i = cuda.grid(2)
            height, width = u.shape
            if i >= height or j >= width:
                return
            total = np.float32(0)
            for di in range(-1, 2):
                for dj in range(-1, 2):
                    row = min(max(i + di, 0), height - 1)
                    column = min(max(j + dj, 0), width - 1)
                    total += weights[di + 1, dj + 1] * u[row, column]
            out[i, j] = total

        return plane_clamped

    def reference(u, weights, out):
        padded = np.pad(u, 1, mode="edge")
        n, m = u.shape
        return sum(weights[i, j] * padded[i:i + n, j:j + m] for i in range(3) for j in range(3))

    def loops(numba):
        def plane_clamped(u, weights, out):
            height, width = u.shape
            for i in numba.prange(height):
                for j in range(width):
                    total = np.float32(0)
                    for di in range(-1, 2):
                        for dj in range(-1, 2):
                            row = min(max(i + di, 0), height - 1)
                            column = min(max(j + dj, 0), width - 1)
                            total += weights[di + 1, dj + 1] * u[row, column]
                    out[i, j] = total

        return plane_clamped


class Box(Entry):
    name = "3-D stencil, 7 points"
    gpu, cpu, small, tolerance = 320, 160, 24, 1e-6
    c = r"""
extern "C" __global__ void box(const float *u, float *out, float c0, float c1, int nz, int ny, int nx) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x < 1 || y < 1 || z < 1 || x >= nx - 1 || y >= ny - 1 || z >= nz - 1) return;
    int i = (z * ny + y) * nx + x;
    out[i] = c0 * u[i] + c1 * (u[i - 1] + u[i + 1] + u[i - nx] + u[i + nx] + u[i - nx * ny] + u[i + nx * ny]);
}"""

    def problem(n, random):
        u = uniform(random, n, n, n)
        return Problem([u, np.zeros_like(u), np.float32(0.4), np.float32(0.1)], (-(-n // 32), -(-n // 4), -(-n // 2)),
                       (32, 4, 2), (np.int32(n),) * 3, outputs=(1,))

    def kernel(cuda):
        def box(u, out, c0, c1):
            x, y, z = cuda.grid(3)
            nz, ny, nx = u.shape
            if x < 1 or y < 1 or z < 1 or x >= nx - 1 or y >= ny - 1 or z >= nz - 1:
                return
            around = u[z, y, x - 1] + u[z, y, x + 1] + u[z, y - 1, x] + u[z, y + 1, x] + u[z - 1, y, x] + u[z + 1, y, x]
            out[z, y, x] = c0 * u[z, y, x] + c1 * around

        return box

    def reference(u, out, c0, c1):
        m = slice(1, -1)
        around = u[m, m, :-2] + u[m, m, 2:] + u[m, :-2, m] + u[m, 2:, m] + u[:-2, m, m] + u[2:, m, m]
        out[m, m, m] = c0 * u[m, m, m] + c1 * around
        return out

    def loops(numba):
        def box(u, out, c0, c1):
            nz, ny, nx = u.shape
            for z in numba.prange(1, nz - 1):
                for y in range(1, ny - 1):
                    for x in range(1, nx - 1):
                        out[z, y, x] = c0 * u[z, y, x] + c1 * (u[z, y, x - 1] + u[z, y, x + 1] + u[z, y - 1, x]
                                                               + u[z, y + 1, x] + u[z - 1, y, x] + u[z + 1, y, x])

        return box


class Wave(Entry):
    name = "3-D wave equation, 8th order, 25 points"
    gpu, cpu, small, tolerance = 320, 128, 24, 1e-5
    c = r"""
extern "C" __global__ void wave(const float *now, float *next, const float *speed, const float *weights, int nz, int ny,
                                int nx) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x < 4 || y < 4 || z < 4 || x >= nx - 4 || y >= ny - 4 || z >= nz - 4) return;
    int i = (z * ny + y) * nx + x;
    float sum = 3.0f * weights[0] * now[i];
    for (int k = 1; k < 5; k++)
        sum += weights[k] * (now[i - k] + now[i + k] + now[i - k * nx] + now[i + k * nx] + now[i - k * nx * ny]
                             + now[i + k * nx * ny]);
    next[i] = 2.0f * now[i] - next[i] + speed[i] * sum;
}"""

    def problem(n, random):
        now, speed = uniform(random, n, n, n), uniform(random, n, n, n, high=0.1)
        return Problem([now, np.zeros_like(now), speed, np.array(EIGHTH)], (-(-n // 32), -(-n // 4), -(-n // 2)),
                       (32, 4, 2), (np.int32(n),) * 3, outputs=(1,))

    def kernel(cuda):
        two, three = np.float32(2), np.float32(3)

        def wave(now, next, speed, weights):
            x, y, z = cuda.grid(3)
            nz, ny, nx = now.shape
            if x < 4 or y < 4 or z < 4 or x >= nx - 4 or y >= ny - 4 or z >= nz - 4:
                return
            total = three * weights[0] * now[z, y, x]
            for k in range(1, 5):
                total += weights[k] * (now[z, y, x - k] + now[z, y, x + k] + now[z, y - k, x] + now[z, y + k, x]
                                       + now[z - k, y, x] + now[z + k, y, x])
            next[z, y, x] = two * now[z, y, x] - next[z, y, x] + speed[z, y, x] * total

        return wave

    def reference(now, next, speed, weights):
        n = now.shape[0]
        m = slice(4, -4)
        total = 3 * weights[0] * now[m, m, m]
        for k in range(1, 5):
            low, high = slice(4 - k, n - 4 - k), slice(4 + k, n - 4 + k)
            total += weights[k] * (now[m, m, low] + now[m, m, high] + now[m, low, m] + now[m, high, m] + now[low, m, m]
                                   + now[high, m, m])
        next[m, m, m] = 2 * now[m, m, m] - next[m, m, m] + speed[m, m, m] * total
        return next


class March(Entry):
    name = "3-D stencil, 7 points, marching along z"
    gpu, cpu, small, tolerance = 384, 128, 24, 1e-6
    c = r"""
extern "C" __global__ void march(const float *u, float *out, float c0, float c1, int nz, int ny, int nx) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1) return;
    int i = y * nx + x, layer = nx * ny;
    float below = u[i], here = u[i + layer];
    for (int z = 1; z < nz - 1; z++) {
        i = (z * ny + y) * nx + x;
        float above = u[i + layer];
        out[i] = c0 * here + c1 * (below + above + u[i - 1] + u[i + 1] + u[i - nx] + u[i + nx]);
        below = here;
        here = above;
    }
}"""

    def problem(n, random):
        u = uniform(random, n, n, n)
        return Problem([u, np.zeros_like(u), np.float32(0.4), np.float32(0.1)], tiles(n, n), (32, 8),
                       (np.int32(n),) * 3, outputs=(1,))

    def kernel(cuda):
        def march(u, out, c0, c1):
            x, y = cuda.grid(2)
            nz, ny, nx = u.shape
            if x < 1 or y < 1 or x >= nx - 1 or y >= ny - 1:
                return
            below = u[0, y, x]
            here = u[1, y, x]
            for z in range(1, nz - 1):
                above = u[z + 1, y, x]
                around = below + above + u[z, y, x - 1] + u[z, y, x + 1] + u[z, y - 1, x] + u[z, y + 1, x]
                out[z, y, x] = c0 * here + c1 * around
                below = here
                here = above

        return march

    reference = Box.reference


class Halo(Entry):
    name = "2-D stencil, radius 2, tile with halo in shared memory"
    gpu, cpu, small, tolerance = 4096, 1024, 128, 1e-5
    c = r"""
extern "C" __global__ void halo(const float *u, float *out, int height, int width) {
    __shared__ float tile[20][36];
    int tx = threadIdx.x, ty = threadIdx.y;
    int j = blockIdx.x * 32 + tx, i = blockIdx.y * 16 + ty;
    for (int y = ty; y < 20; y += 16)
        for (int x = tx; x < 36; x += 32) {
            int row = blockIdx.y * 16 + y - 2, column = blockIdx.x * 32 + x - 2;
            bool inside = row >= 0 && row < height && column >= 0 && column < width;
            tile[y][x] = inside ? u[row * width + column] : 0.0f;
        }
    __syncthreads();
    if (i >= height || j >= width) return;
    float sum = tile[ty + 2][tx + 2];
    for (int k = 1; k < 3; k++)
        sum += (tile[ty + 2 - k][tx + 2] + tile[ty + 2 + k][tx + 2] + tile[ty + 2][tx + 2 - k]
                + tile[ty + 2][tx + 2 + k]) / (4.0f * k);
    out[i * width + j] = sum;
}"""

    def problem(n, random):
        u = uniform(random, n, n)
        return Problem([u, np.zeros_like(u)], tiles(n, n, (32, 16)), (32, 16), (np.int32(n), np.int32(n)))

    def kernel(cuda):
        float32 = np.float32

        def halo(u, out):
            tile = cuda.shared.array((20, 36), float32)
            tx = cuda.threadIdx.x
            ty = cuda.threadIdx.y
            j, i = cuda.grid(2)
            height, width = u.shape
            for y in range(ty, 20, 16):
                for x in range(tx, 36, 32):
                    row = cuda.blockIdx.y * 16 + y - 2
                    column = cuda.blockIdx.x * 32 + x - 2
                    inside = row >= 0 and row < height and column >= 0 and column < width
                    tile[y, x] = u[row, column] if inside else float32(0)
            cuda.syncthreads()
            if i >= height or j >= width:
                return
            total = tile[ty + 2, tx + 2]
            for k in range(1, 3):
                total += (tile[ty + 2 - k, tx + 2] + tile[ty + 2 + k, tx + 2] + tile[ty + 2, tx + 2 - k]
                          + tile[ty + 2, tx + 2 + k]) / (float32(4) * float32(k))
            out[i, j] = total

        return halo

    def reference(u, out):
        n, m = u.shape
        p = np.pad(u, 2)
        total = u.copy()
        for k in range(1, 3):
            total += (p[2 - k:n + 2 - k, 2:-2] + p[2 + k:n + 2 + k, 2:-2] + p[2:-2, 2 - k:m + 2 - k]
                      + p[2:-2, 2 + k:m + 2 + k]) / np.float32(4 * k)
        return total


class Life(Entry):
    name = "game of life on uint8, borders wrapped by comparisons"
    gpu, cpu, small = 8192, 1024, 128
    c = r"""
extern "C" __global__ void life(const unsigned char *cells, unsigned char *out, int height, int width) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= height || j >= width) return;
    int alive = 0;
    for (int di = -1; di <= 1; di++)
        for (int dj = -1; dj <= 1; dj++) {
            int row = i + di, column = j + dj;
            if (row < 0) row += height;
            if (row >= height) row -= height;
            if (column < 0) column += width;
            if (column >= width) column -= width;
            alive += cells[row * width + column];
        }
    unsigned char self = cells[i * width + j];
    out[i * width + j] = alive == 3 || (alive == 4 && self);
}"""

    def problem(n, random):
        cells = integers(random, 0, 2, n, n, dtype=np.uint8)
        return Problem([cells, np.zeros_like(cells)], tiles(n, n), (32, 8), (np.int32(n), np.int32(n)))

    def kernel(cuda):
        def life(cells, out):
            j, i = cuda.grid(2)
            height, width = cells.shape
            if i >= height or j >= width:
                return
            alive = 0
            for di in range(-1, 2):
                for dj in range(-1, 2):
                    row = i + di
                    column = j + dj
                    if row < 0:
                        row += height
                    if row >= height:
                        row -= height
                    if column < 0:
                        column += width
                    if column >= width:
                        column -= width
                    alive += cells[row, column]
            out[i, j] = 1 if alive == 3 or (alive == 4 and cells[i, j] != 0) else 0

        return life

    def reference(cells, out):
        alive = sum(np.roll(cells, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1))
        return ((alive == 3) | ((alive == 4) & (cells != 0))).astype(np.uint8)


DIRECTIONS = np.array([[0, 1, 0, -1, 0, 1, -1, -1, 1], [0, 0, 1, 0, -1, 1, 1, -1, -1]], np.int32)
SHARES = np.array([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4, np.float32)


class Boltzmann(Entry):
    name = "lattice Boltzmann, D2Q9, pull"
    gpu, cpu, small, tolerance = 2048, 256, 64, 1e-5
    c = r"""
extern "C" __global__ void boltzmann(const float *f, float *out, const int *ex, const int *ey, const float *share,
                                     float omega, int height, int width) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float at[9], density = 0, ux = 0, uy = 0;
    for (int k = 0; k < 9; k++) {
        int fromx = (x - ex[k] + width) % width, fromy = (y - ey[k] + height) % height;
        at[k] = f[(k * height + fromy) * width + fromx];
        density += at[k];
        ux += at[k] * ex[k];
        uy += at[k] * ey[k];
    }
    ux /= density;
    uy /= density;
    float square = 1.5f * (ux * ux + uy * uy);
    for (int k = 0; k < 9; k++) {
        float along = 3.0f * (ex[k] * ux + ey[k] * uy);
        float balanced = share[k] * density * (1.0f + along + 0.5f * along * along - square);
        out[(k * height + y) * width + x] = at[k] + omega * (balanced - at[k]);
    }
}"""

    def problem(n, random):
        f = uniform(random, 9, n, n, low=0.9) * SHARES[:, None, None]
        ex, ey = (each.copy() for each in DIRECTIONS)
        return Problem([f, np.zeros_like(f), ex, ey, SHARES, np.float32(0.6)], tiles(n, n), (32, 8),
                       (np.int32(n), np.int32(n)), outputs=(1,))

    def kernel(cuda):
        float32 = np.float32
        one, half, three, one_and_half = float32(1), float32(0.5), float32(3), float32(1.5)

        def boltzmann(f, out, ex, ey, share, omega):
            x, y = cuda.grid(2)
            _, height, width = f.shape
            if x >= width or y >= height:
                return
            at = cuda.local.array(9, float32)
            density = float32(0)
            ux = float32(0)
            uy = float32(0)
            for k in range(9):
                at[k] = f[k, (y - ey[k] + height) % height, (x - ex[k] + width) % width]
                density += at[k]
                ux += at[k] * float32(ex[k])
                uy += at[k] * float32(ey[k])
            ux /= density
            uy /= density
            square = one_and_half * (ux * ux + uy * uy)
            for k in range(9):
                along = three * (float32(ex[k]) * ux + float32(ey[k]) * uy)
                balanced = share[k] * density * (one + along + half * along * along - square)
                out[k, y, x] = at[k] + omega * (balanced - at[k])

        return boltzmann

    def reference(f, out, ex, ey, share, omega):
        at = np.stack([np.roll(f[k], (ey[k], ex[k]), (0, 1)) for k in range(9)])
        density = at.sum(0)
        ux, uy = (np.tensordot(e.astype(np.float32), at, 1) / density for e in (ex, ey))
        along = 3 * (ex[:, None, None] * ux + ey[:, None, None] * uy).astype(np.float32)
        balanced = share[:, None, None] * density * (1 + along + along**2 / 2 - np.float32(1.5) * (ux**2 + uy**2))
        return at + omega * (balanced - at)
