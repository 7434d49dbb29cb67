"""Images of uint8 and float32: convolutions, edges, medians, bilateral filters, resizing, ray marching."""

import math

import numpy as np

from collection.entry import Entry, Problem, integers, tiles, uniform


def picture(random, *shape):
    return integers(random, 0, 256, *shape, dtype=np.uint8)


class Sobel(Entry):
    name = "Sobel edges of a uint8 image"
    gpu, cpu, small, mismatches = 8192, 1024, 96, 1e-3
    c = r"""
extern "C" __global__ void sobel(const unsigned char *image, unsigned char *out, int height, int width) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < 1 || j < 1 || i >= height - 1 || j >= width - 1) return;
    const unsigned char *up = image + (i - 1) * width + j, *at = up + width, *down = at + width;
    int gx = up[1] + 2 * at[1] + down[1] - up[-1] - 2 * at[-1] - down[-1];
    int gy = down[-1] + 2 * down[0] + down[1] - up[-1] - 2 * up[0] - up[1];
    out[i * width + j] = (unsigned char)min(255.0f, sqrtf((float)(gx * gx + gy * gy)));
}"""

    def problem(n, random):
        image = picture(random, n, n)
        return Problem([image, np.zeros_like(image)], tiles(n, n), (32, 8), (np.int32(n), np.int32(n)))

    def kernel(cuda):
        float32, int32, uint8 = np.float32, np.int32, np.uint8
        most = float32(255)

        def sobel(image, out):
            j, i = cuda.grid(2)
            height, width = image.shape
            if i < 1 or j < 1 or i >= height - 1 or j >= width - 1:
                return
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

    def reference(image, out):
        w = image.astype(np.int32)
        up, at, down = w[:-2], w[1:-1], w[2:]
        across = up + 2 * at + down
        gx = across[:, 2:] - across[:, :-2]
        gy = (down - up)[:, :-2] + 2 * (down - up)[:, 1:-1] + (down - up)[:, 2:]
        out[1:-1, 1:-1] = np.minimum(np.sqrt((gx * gx + gy * gy).astype(np.float32)), 255).astype(np.uint8)
        return out


class Median(Entry):
    name = "median of 3 x 3, uint8, a local array"
    gpu, cpu, small = 4096, 512, 96
    c = r"""
extern "C" __global__ void median(const unsigned char *image, unsigned char *out, int height, int width) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < 1 || j < 1 || i >= height - 1 || j >= width - 1) return;
    unsigned char v[9];
    for (int k = 0; k < 9; k++) v[k] = image[(i + k / 3 - 1) * width + j + k % 3 - 1];
    for (int a = 0; a < 5; a++)
        for (int b = a + 1; b < 9; b++) {
            unsigned char low = min(v[a], v[b]), high = max(v[a], v[b]);
            v[a] = low;
            v[b] = high;
        }
    out[i * width + j] = v[4];
}"""

    problem = Sobel.problem

    def kernel(cuda):
        uint8 = np.uint8

        def median(image, out):
            j, i = cuda.grid(2)
            height, width = image.shape
            if i < 1 or j < 1 or i >= height - 1 or j >= width - 1:
                return
            v = cuda.local.array(9, uint8)
            for k in range(9):
                v[k] = image[i + k // 3 - 1, j + k % 3 - 1]
            for a in range(5):
                for b in range(a + 1, 9):
                    low = min(v[a], v[b])
                    high = max(v[a], v[b])
                    v[a] = low
                    v[b] = high
            out[i, j] = v[4]

        return median

    def reference(image, out):
        n, m = image.shape
        parts = [image[i:n - 2 + i, j:m - 2 + j] for i in range(3) for j in range(3)]
        out[1:-1, 1:-1] = np.median(np.stack(parts), 0)
        return out


class Convolution(Entry):
    name = "convolution of 7 x 7, clamped borders"
    gpu, cpu, small, tolerance = 2048, 512, 64, 1e-4
    c = r"""
extern "C" __global__ void convolution(const float *image, const float *filter, float *out, int height, int width) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= height || j >= width) return;
    float sum = 0;
    for (int di = 0; di < 7; di++)
        for (int dj = 0; dj < 7; dj++) {
            int row = min(max(i + di - 3, 0), height - 1), column = min(max(j + dj - 3, 0), width - 1);
            sum += filter[di * 7 + dj] * image[row * width + column];
        }
    out[i * width + j] = sum;
}"""

    def problem(n, random):
        image = uniform(random, n, n)
        return Problem([image, uniform(random, 7, 7), np.zeros_like(image)], tiles(n, n), (32, 8),
                       (np.int32(n), np.int32(n)))

    def kernel(cuda):
        def convolution(image, weights, out):
            j, i = cuda.grid(2)
            height, width = image.shape
            if i >= height or j >= width:
                return
            total = np.float32(0)
            for di in range(7):
                for dj in range(7):
                    row = min(max(i + di - 3, 0), height - 1)
                    column = min(max(j + dj - 3, 0), width - 1)
                    total += weights[di, dj] * image[row, column]
            out[i, j] = total

        return convolution

    def reference(image, weights, out):
        padded = np.pad(image, 3, mode="edge")
        n, m = image.shape
        return sum(weights[i, j] * padded[i:i + n, j:j + m] for i in range(7) for j in range(7))

    def loops(numba):
        def convolution(image, weights, out):
            height, width = image.shape
            for i in numba.prange(height):
                for j in range(width):
                    total = np.float32(0)
                    for di in range(7):
                        for dj in range(7):
                            row = min(max(i + di - 3, 0), height - 1)
                            column = min(max(j + dj - 3, 0), width - 1)
                            total += weights[di, dj] * image[row, column]
                    out[i, j] = total

        return convolution


class Gray(Entry):
    name = "gray of RGB, uint8, integer weights"
    gpu, cpu, small = 8192, 1024, 96
    c = r"""
extern "C" __global__ void gray(const unsigned char *image, unsigned char *out, int height, int width) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= height || j >= width) return;
    const unsigned char *at = image + (i * width + j) * 3;
    out[i * width + j] = (77 * at[0] + 151 * at[1] + 28 * at[2]) >> 8;
}"""

    def problem(n, random):
        return Problem([picture(random, n, n, 3), np.zeros((n, n), np.uint8)], tiles(n, n), (32, 8),
                       (np.int32(n), np.int32(n)))

    def kernel(cuda):
        def gray(image, out):
            j, i = cuda.grid(2)
            if i >= out.shape[0] or j >= out.shape[1]:
                return
            out[i, j] = (77 * image[i, j, 0] + 151 * image[i, j, 1] + 28 * image[i, j, 2]) >> 8

        return gray

    def reference(image, out):
        return (image.astype(np.int32) @ np.array([77, 151, 28]) >> 8).astype(np.uint8)


class March(Entry):
    name = "ray marching to a sphere over a plane"
    gpu, cpu, small, tolerance, mismatches = 2048, 256, 48, 1e-3, 2e-2
    c = r"""
__device__ float near_by(float x, float y, float z) {
    float sphere = sqrtf(x * x + y * y + (z - 4.0f) * (z - 4.0f)) - 1.0f;
    return fminf(sphere, y + 1.2f);
}

extern "C" __global__ void ray_march(float *out, int height, int width) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= height || j >= width) return;
    float x = 2.0f * j / width - 1.0f, y = 1.0f - 2.0f * i / height;
    float scale = 1.0f / sqrtf(x * x + y * y + 1.0f), far = 0;
    for (int step = 0; step < 64; step++) {
        float d = near_by(far * x * scale, far * y * scale, far * scale);
        if (d < 1e-3f || far > 20.0f) break;
        far += d;
    }
    out[i * width + j] = fminf(far, 20.0f);
}"""

    def problem(n, random):
        return Problem([np.zeros((n, n), np.float32)], tiles(n, n, (16, 16)), (16, 16), (np.int32(n), np.int32(n)))

    def kernel(cuda):
        float32 = np.float32
        one, two, four, low, tiny, limit = map(float32, (1, 2, 4, 1.2, 1e-3, 20))

        @cuda.jit(device=True)
        def near_by(x, y, z):
            sphere = math.sqrt(x * x + y * y + (z - four) * (z - four)) - one
            return min(sphere, y + low)

        def ray_march(out):
            j, i = cuda.grid(2)
            height, width = out.shape
            if i >= height or j >= width:
                return
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

    def reference(out):
        height, width = out.shape
        y, x = np.mgrid[:height, :width].astype(np.float32)
        x, y = 2 * x / width - 1, 1 - 2 * y / height
        scale = 1 / np.sqrt(x * x + y * y + 1)
        far, going = np.zeros_like(x), np.ones(x.shape, bool)
        for _ in range(64):
            px, py, pz = far * x * scale, far * y * scale, far * scale
            d = np.minimum(np.sqrt(px**2 + py**2 + (pz - 4) ** 2) - 1, py + np.float32(1.2))
            going &= ~((d < 1e-3) | (far > 20))
            far = np.where(going, far + d, far)
        return np.minimum(far, 20)
