"""Particles: charge on a grid by atomics, forces, counts of distances, clusters; and records of them."""

import math

import numpy as np

from collection.entry import Entry, Problem, blocks, integers, uniform


class Deposit(Entry):
    name = "particles to a grid, four atomic additions each"
    gpu, cpu, small, tolerance = 1 << 22, 1 << 18, 3000, 1e-4
    c = r"""
extern "C" __global__ void deposit(const float *x, const float *y, float *grid, int height, int width, int n) {
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= n) return;
    float gx = x[p] * (width - 1), gy = y[p] * (height - 1);
    int j = min((int)gx, width - 2), i = min((int)gy, height - 2);
    float fx = gx - j, fy = gy - i;
    atomicAdd(&grid[i * width + j], (1.0f - fx) * (1.0f - fy));
    atomicAdd(&grid[i * width + j + 1], fx * (1.0f - fy));
    atomicAdd(&grid[(i + 1) * width + j], (1.0f - fx) * fy);
    atomicAdd(&grid[(i + 1) * width + j + 1], fx * fy);
}"""

    def problem(n, random):
        return Problem([uniform(random, n), uniform(random, n)[::-1].copy(), np.zeros((512, 512), np.float32)],
                       blocks(n), (256,), (np.int32(512), np.int32(512), np.int32(n)))

    def kernel(cuda):
        float32, int32 = np.float32, np.int32
        one = float32(1)

        def deposit(x, y, grid):
            p = cuda.grid(1)
            if p >= x.size:
                return
            height, width = grid.shape
            gx = x[p] * float32(width - 1)
            gy = y[p] * float32(height - 1)
            j = min(int32(gx), width - 2)
            i = min(int32(gy), height - 2)
            fx = gx - float32(j)
            fy = gy - float32(i)
            cuda.atomic.add(grid, (i, j), (one - fx) * (one - fy))
            cuda.atomic.add(grid, (i, j + 1), fx * (one - fy))
            cuda.atomic.add(grid, (i + 1, j), (one - fx) * fy)
            cuda.atomic.add(grid, (i + 1, j + 1), fx * fy)

        return deposit

    def reference(x, y, grid):
        gx, gy = x * np.float32(511), y * np.float32(511)
        j, i = np.minimum(gx.astype(int), 510), np.minimum(gy.astype(int), 510)
        fx, fy = gx - j.astype(np.float32), gy - i.astype(np.float32)
        for di, dj, part in (0, 0, (1 - fx) * (1 - fy)), (0, 1, fx * (1 - fy)), (1, 0, (1 - fx) * fy), (1, 1, fx * fy):
            np.add.at(grid, (i + di, j + dj), part)
        return grid


class Clusters(Entry):
    name = "k-means: the nearest of 32 centers, sums by atomics"
    gpu, cpu, small, tolerance = 1 << 20, 1 << 16, 2000, 1e-3
    c = r"""
extern "C" __global__ void clusters(const float *points, const float *centers, int *nearest, float *sums, int *counts,
                                    int n) {
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= n) return;
    float least = 1e30f;
    int best = 0;
    for (int c = 0; c < 32; c++) {
        float distance = 0;
        for (int k = 0; k < 4; k++) {
            float d = points[p * 4 + k] - centers[c * 4 + k];
            distance += d * d;
        }
        if (distance < least) least = distance, best = c;
    }
    nearest[p] = best;
    for (int k = 0; k < 4; k++) atomicAdd(&sums[best * 4 + k], points[p * 4 + k]);
    atomicAdd(&counts[best], 1);
}"""

    def problem(n, random):
        return Problem([uniform(random, n, 4), uniform(random, 32, 4), np.zeros(n, np.int32),
                        np.zeros((32, 4), np.float32), np.zeros(32, np.int32)], blocks(n), (256,), (np.int32(n),),
                       outputs=(3, 4))

    def kernel(cuda):
        float32 = np.float32

        def clusters(points, centers, nearest, sums, counts):
            p = cuda.grid(1)
            if p >= points.shape[0]:
                return
            least = float32(1e30)
            best = 0
            for c in range(centers.shape[0]):
                distance = float32(0)
                for k in range(4):
                    d = points[p, k] - centers[c, k]
                    distance += d * d
                if distance < least:
                    least = distance
                    best = c
            nearest[p] = best
            for k in range(4):
                cuda.atomic.add(sums, (best, k), points[p, k])
            cuda.atomic.add(counts, best, 1)

        return clusters

    def reference(points, centers, nearest, sums, counts):
        best = ((points[:, None] - centers) ** 2).sum(2).argmin(1)
        np.add.at(sums, best, points)
        return [sums, np.bincount(best, minlength=32).astype(np.int32)]


BODY = np.dtype([("x", np.float32), ("y", np.float32), ("vx", np.float32), ("vy", np.float32), ("mass", np.float32),
                 ("kind", np.int32)], align=True)


class Records(Entry):
    name = "records of particles, a step"
    gpu, cpu, small, tolerance = 1 << 23, 1 << 20, 3000, 1e-5
    c = r"""
struct Body { float x, y, vx, vy, mass; int kind; };

extern "C" __global__ void records(const Body *from, Body *to, float dt, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Body b = from[i];
    float r = sqrtf(b.x * b.x + b.y * b.y) + 0.1f;
    float pull = b.kind == 1 ? -1.0f / (r * r * r) : -0.5f / b.mass;
    to[i].vx = b.vx + dt * pull * b.x;
    to[i].vy = b.vy + dt * pull * b.y;
    to[i].x = b.x + dt * b.vx;
    to[i].y = b.y + dt * b.vy;
    to[i].mass = b.mass;
    to[i].kind = b.kind;
}"""

    def problem(n, random):
        bodies = np.zeros(n, BODY)
        for field in ("x", "y", "vx", "vy", "mass"):
            bodies[field] = uniform(random, n, low=0.5, high=2)
        bodies["kind"] = integers(random, 0, 2, n)
        return Problem([bodies, np.zeros_like(bodies), np.float32(0.01)], blocks(n), (256,), (np.int32(n),),
                       outputs=(1,))

    def kernel(cuda):
        tenth, one, half = np.float32(0.1), np.float32(1), np.float32(0.5)

        def records(before, after, dt):
            i = cuda.grid(1)
            if i >= before.size:
                return
            b = before[i]
            r = math.sqrt(b.x * b.x + b.y * b.y) + tenth
            pull = -one / (r * r * r) if b.kind == 1 else -half / b.mass
            after[i].vx = b.vx + dt * pull * b.x
            after[i].vy = b.vy + dt * pull * b.y
            after[i].x = b.x + dt * b.vx
            after[i].y = b.y + dt * b.vy
            after[i].mass = b.mass
            after[i].kind = b.kind

        return records

    def reference(before, after, dt):
        x, y, vx, vy, mass, kind = (before[name] for name in BODY.names)
        r = np.sqrt(x * x + y * y) + np.float32(0.1)
        pull = np.where(kind == 1, -1 / (r * r * r), np.float32(-0.5) / mass)
        values = x + dt * vx, y + dt * vy, vx + dt * pull * x, vy + dt * pull * y, mass, kind
        for name, value in zip(BODY.names, values, strict=True):
            after[name] = value
        return after
