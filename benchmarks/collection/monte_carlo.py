"""Random numbers made by the kernel: integrals, paths of prices, spins."""

import math

import numpy as np

from collection.entry import Entry, Problem, blocks, integers, tiles, uniform


class Quarter(Entry):
    name = "points in a circle, a linear congruence for each thread"
    gpu, cpu, small = 1 << 19, 1 << 14, 500
    c = r"""
extern "C" __global__ void quarter(const unsigned *seeds, int *out, int trips, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned state = seeds[i];
    int inside = 0;
    for (int k = 0; k < trips; k++) {
        state = state * 1664525u + 1013904223u;
        float x = (state >> 8) * (1.0f / 16777216.0f);
        state = state * 1664525u + 1013904223u;
        float y = (state >> 8) * (1.0f / 16777216.0f);
        if (x * x + y * y < 1.0f) inside++;
    }
    out[i] = inside;
}"""
    mismatches = 2e-3

    def problem(n, random):
        seeds = integers(random, 0, 1 << 32, n, dtype=np.uint32)
        return Problem([seeds, np.zeros(n, np.int32), np.int32(256)], blocks(n), (256,), (np.int32(n),), outputs=(1,))

    def kernel(cuda):
        uint32, float32 = np.uint32, np.float32
        factor, summand, eight, unit = uint32(1664525), uint32(1013904223), uint32(8), float32(1 / 16777216)

        def quarter(seeds, out, trips):
            i = cuda.grid(1)
            if i >= out.size:
                return
            state = seeds[i]
            inside = 0
            for _ in range(trips):
                state = uint32(state * factor + summand)
                x = float32(state >> eight) * unit
                state = uint32(state * factor + summand)
                y = float32(state >> eight) * unit
                if x * x + y * y < float32(1):
                    inside += 1
            out[i] = inside

        return quarter

    def reference(seeds, out, trips):
        state = seeds.copy()
        unit = np.float32(1 / 16777216)
        for _ in range(trips):
            points = []
            for _ in range(2):
                state = state * np.uint32(1664525) + np.uint32(1013904223)
                points.append((state >> np.uint32(8)).astype(np.float32) * unit)
            out += points[0]**2 + points[1]**2 < 1
        return out


class Paths(Entry):
    name = "price paths, xorshift and Box-Muller, mean of the path"
    gpu, cpu, small, tolerance = 1 << 18, 1 << 13, 300, 1e-3
    c = r"""
extern "C" __global__ void paths(const unsigned *seeds, float *out, float drift, float spread, int steps, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned s = seeds[i];
    float price = 100.0f, sum = 0;
    for (int k = 0; k < steps; k++) {
        s ^= s << 13, s ^= s >> 17, s ^= s << 5;
        float u = ((s >> 8) + 1) * (1.0f / 16777216.0f);
        s ^= s << 13, s ^= s >> 17, s ^= s << 5;
        float v = (s >> 8) * (1.0f / 16777216.0f);
        float normal = sqrtf(-2.0f * logf(u)) * cosf(6.2831853f * v);
        price *= expf(drift + spread * normal);
        sum += price;
    }
    out[i] = fmaxf(sum / steps - 100.0f, 0.0f);
}"""

    def problem(n, random):
        seeds = integers(random, 1, 1 << 32, n, dtype=np.uint32)
        return Problem([seeds, np.zeros(n, np.float32), np.float32(1e-4), np.float32(0.02), np.int32(64)], blocks(n),
                       (256,), (np.int32(n),), outputs=(1,))

    def kernel(cuda):
        uint32, float32 = np.uint32, np.float32
        unit, turn, two = float32(1 / 16777216), float32(6.2831853), float32(2)

        @cuda.jit(device=True)
        def advance(s):
            s = uint32(s ^ (s << 13))
            s = uint32(s ^ (s >> 17))
            return uint32(s ^ (s << 5))

        def paths(seeds, out, drift, spread, steps):
            i = cuda.grid(1)
            if i >= out.size:
                return
            s = seeds[i]
            price = float32(100)
            total = float32(0)
            for _ in range(steps):
                s = advance(s)
                u = float32((s >> 8) + 1) * unit
                s = advance(s)
                v = float32(s >> 8) * unit
                normal = math.sqrt(-two * math.log(u)) * math.cos(turn * v)
                price *= math.exp(drift + spread * normal)
                total += price
            out[i] = max(total / float32(steps) - float32(100), float32(0))

        return paths

    def reference(seeds, out, drift, spread, steps):
        s, price, total = seeds.copy(), np.full(out.size, 100, np.float32), 0
        for _ in range(steps):
            draws = []
            for extra in (1, 0):
                for left, by in ((True, 13), (False, 17), (True, 5)):
                    s = s ^ (s << np.uint32(by) if left else s >> np.uint32(by))
                draws.append(((s >> np.uint32(8)) + np.uint32(extra)).astype(np.float32) / np.float32(16777216))
            normal = np.sqrt(-2 * np.log(draws[0])) * np.cos(np.float32(6.2831853) * draws[1])
            price = price * np.exp(drift + spread * normal)
            total = total + price
        return np.maximum(total / np.float32(steps) - 100, 0)


class Spins(Entry):
    name = "Ising spins, int8, one color of a checkerboard"
    gpu, cpu, small = 8192, 1024, 64
    mismatches = 1e-4
    c = r"""
extern "C" __global__ void spins(const signed char *spin, const float *draws, signed char *out, float beta, int color,
                                 int n) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= n || j >= n) return;
    signed char self = spin[i * n + j];
    if ((i + j) % 2 == color) {
        int up = i > 0 ? i - 1 : n - 1, down = i < n - 1 ? i + 1 : 0;
        int left = j > 0 ? j - 1 : n - 1, right = j < n - 1 ? j + 1 : 0;
        int around = spin[up * n + j] + spin[down * n + j] + spin[i * n + left] + spin[i * n + right];
        if (draws[i * n + j] < expf(-2.0f * beta * (self * around))) self = -self;
    }
    out[i * n + j] = self;
}"""

    def problem(n, random):
        spin = (2 * integers(random, 0, 2, n, n) - 1).astype(np.int8)
        return Problem([spin, uniform(random, n, n), np.zeros_like(spin), np.float32(0.4), np.int32(1)], tiles(n, n),
                       (32, 8), (np.int32(n),), outputs=(2,))

    def kernel(cuda):
        float32 = np.float32
        two = float32(2)

        def spins(spin, draws, out, beta, color):
            j, i = cuda.grid(2)
            n = spin.shape[0]
            if i >= n or j >= n:
                return
            self = spin[i, j]
            if (i + j) % 2 == color:
                up = i - 1 if i > 0 else n - 1
                down = i + 1 if i < n - 1 else 0
                left = j - 1 if j > 0 else n - 1
                right = j + 1 if j < n - 1 else 0
                around = spin[up, j] + spin[down, j] + spin[i, left] + spin[i, right]
                if draws[i, j] < math.exp(-two * beta * float32(self * around)):
                    self = -self
            out[i, j] = self

        return spins

    def reference(spin, draws, out, beta, color):
        around = sum(np.roll(spin, by, axis) for by in (1, -1) for axis in (0, 1))
        turned = draws < np.exp(np.float32(-2) * beta * (spin * around).astype(np.float32))
        of_color = np.add.outer(np.arange(spin.shape[0]), np.arange(spin.shape[0])) % 2 == color
        return np.where(turned & of_color, -spin, spin)
