"""Loops for numba's `parallel` over the rows of images, matrices and grids: of kernels that are a thread for a cell."""

import math

import numpy as np

from collection import dynamic_programming, images, monte_carlo, number_kinds, stencils
from collection.entry import loops_of


@loops_of(images.Sobel)
def sobel(numba):
    float32, int32, uint8 = np.float32, np.int32, np.uint8
    most = float32(255)

    def sobel(image, out):
        height, width = image.shape
        for i in numba.prange(1, height - 1):
            for j in range(1, width - 1):
                a = int32(image[i - 1, j - 1])
                b = int32(image[i - 1, j])
                c = int32(image[i - 1, j + 1])
                d = int32(image[i, j - 1])
                e = int32(image[i, j + 1])
                f = int32(image[i + 1, j - 1])
                g = int32(image[i + 1, j])
                h = int32(image[i + 1, j + 1])
                gx = c + 2 * e + h - a - 2 * d - f
                gy = f + 2 * g + h - a - 2 * b - c
                out[i, j] = uint8(min(most, math.sqrt(float32(gx * gx + gy * gy))))

    return sobel


@loops_of(images.Median)
def median(numba):
    uint8 = np.uint8

    def median(image, out):
        height, width = image.shape
        for i in numba.prange(1, height - 1):
            v = np.empty((9, width - 2), uint8)
            for k in range(9):
                for j in range(width - 2):
                    v[k, j] = image[i + k // 3 - 1, j + k % 3]
            for a in range(5):
                for b in range(a + 1, 9):
                    for j in range(width - 2):
                        low = min(v[a, j], v[b, j])
                        high = max(v[a, j], v[b, j])
                        v[a, j] = low
                        v[b, j] = high
            for j in range(width - 2):
                out[i, j + 1] = v[4, j]

    return median


@loops_of(images.Gray)
def gray(numba):
    def gray(image, out):
        for i in numba.prange(out.shape[0]):
            for j in range(out.shape[1]):
                out[i, j] = (77 * image[i, j, 0] + 151 * image[i, j, 1] + 28 * image[i, j, 2]) >> 8

    return gray


@loops_of(images.March)
def ray_march(numba):
    float32 = np.float32
    one, two, four, low, tiny, limit = map(float32, (1, 2, 4, 1.2, 1e-3, 20))

    @numba.njit
    def near_by(x, y, z):
        sphere = math.sqrt(x * x + y * y + (z - four) * (z - four)) - one
        return min(sphere, y + low)

    def ray_march(out):
        height, width = out.shape
        for i in numba.prange(height):
            for j in range(width):
                x = two * float32(j) / float32(width) - one
                y = one - two * float32(i) / float32(height)
                scale = one / math.sqrt(x * x + y * y + one)
                far = float32(0)
                for _ in range(64):
                    d = near_by(far * x * scale, far * y * scale, far * scale)
                    if d < tiny or far > limit:
                        break
                    far += d
                out[i, j] = min(far, limit)

    return ray_march


@loops_of(monte_carlo.Spins)
def spins(numba):
    float32 = np.float32
    two = float32(2)

    def spins(spin, draws, out, beta, color):
        n = spin.shape[0]
        for i in numba.prange(n):
            up = i - 1 if i > 0 else n - 1
            down = i + 1 if i < n - 1 else 0
            for j in range(n):
                self = spin[i, j]
                if (i + j) % 2 == color:
                    left = j - 1 if j > 0 else n - 1
                    right = j + 1 if j < n - 1 else 0
                    around = spin[up, j] + spin[down, j] + spin[i, left] + spin[i, right]
                    if draws[i, j] < math.exp(-two * beta * float32(self * around)):
                        self = -self
                out[i, j] = self

    return spins


@loops_of(number_kinds.Strided)
def strided(numba):
    two = np.float32(2)

    def strided(a, out):
        for i in numba.prange(out.shape[0]):
            for j in range(out.shape[1]):
                out[i, j] = two * a[i, j]

    return strided


@loops_of(number_kinds.ColumnsFirst)
def columns_first(numba):
    def columns_first(a, b, out):
        for i in numba.prange(out.shape[0]):
            for j in range(out.shape[1]):
                out[i, j] = a[i, j] + b[i, j]

    return columns_first


@loops_of(dynamic_programming.Knapsack)
def knapsack(numba):
    def knapsack(worth, weights, values, out):
        for sack in numba.prange(worth.shape[0]):
            weight = weights[sack]
            for room in range(weight):
                out[sack, room] = worth[sack, room]
            for room in range(weight, worth.shape[1]):
                out[sack, room] = max(worth[sack, room], worth[sack, room - weight] + values[sack])

    return knapsack


@loops_of(stencils.PlanePeriodic)
def plane_periodic(numba):
    quarter = np.float32(0.25)

    def plane_periodic(u, out):
        height, width = u.shape
        for i in numba.prange(height):
            up = (i + height - 1) % height
            down = (i + 1) % height
            for j in range(width):
                left = (j + width - 1) % width
                right = (j + 1) % width
                out[i, j] = quarter * (u[up, j] + u[down, j] + u[i, left] + u[i, right])

    return plane_periodic


@loops_of(stencils.Wave)
def wave(numba):
    two, three = np.float32(2), np.float32(3)

    def wave(now, next, speed, weights):
        nz, ny, nx = now.shape
        for z in numba.prange(4, nz - 4):
            for y in range(4, ny - 4):
                for x in range(4, nx - 4):
                    total = three * weights[0] * now[z, y, x]
                    for k in range(1, 5):
                        total += weights[k] * (now[z, y, x - k] + now[z, y, x + k] + now[z, y - k, x] + now[z, y + k, x]
                                               + now[z - k, y, x] + now[z + k, y, x])
                    next[z, y, x] = two * now[z, y, x] - next[z, y, x] + speed[z, y, x] * total

    return wave


stencils.March.loops = stencils.Box.loops


@loops_of(stencils.Halo)
def halo(numba):
    float32 = np.float32

    def halo(u, out):
        height, width = u.shape
        for i in numba.prange(height):
            for j in range(width):
                total = u[i, j]
                for k in range(1, 3):
                    up = u[i - k, j] if i >= k else float32(0)
                    down = u[i + k, j] if i + k < height else float32(0)
                    left = u[i, j - k] if j >= k else float32(0)
                    right = u[i, j + k] if j + k < width else float32(0)
                    total += (up + down + left + right) / (float32(4) * float32(k))
                out[i, j] = total

    return halo


@loops_of(stencils.Life)
def life(numba):
    def life(cells, out):
        height, width = cells.shape
        for i in numba.prange(height):
            for j in range(width):
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


@loops_of(stencils.Boltzmann)
def boltzmann(numba):
    float32 = np.float32
    one, half, three, one_and_half = float32(1), float32(0.5), float32(3), float32(1.5)

    def boltzmann(f, out, ex, ey, share, omega):
        _, height, width = f.shape
        for y in numba.prange(height):
            at = np.empty(9, float32)
            for x in range(width):
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
