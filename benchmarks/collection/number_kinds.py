"""Other kinds of numbers and arrays: complex64, float16, views with strides, columns first."""

import numpy as np

from collection.entry import Entry, Problem, blocks, tiles, uniform


def complex_numbers(random, *shape, high=1.0):
    return (uniform(random, *shape, low=-high, high=high)
            + 1j * uniform(random, *shape, low=-high, high=high)[::-1]).astype(np.complex64)


class Polynomial(Entry):
    name = "polynomial of complex64 by Horner's rule"
    gpu, cpu, small, tolerance = 1 << 24, 1 << 18, 2000, 1e-5
    c = r"""
extern "C" __global__ void polynomial(const float2 *z, const float2 *factors, float2 *out, int degree, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float2 at = z[i], sum = make_float2(0.0f, 0.0f);
    for (int k = 0; k < degree; k++) {
        float re = sum.x * at.x - sum.y * at.y + factors[k].x, im = sum.x * at.y + sum.y * at.x + factors[k].y;
        sum = make_float2(re, im);
    }
    out[i] = sum;
}"""

    def problem(n, random):
        return Problem([complex_numbers(random, n), complex_numbers(random, 8), np.zeros(n, np.complex64)], blocks(n),
                       (256,), (np.int32(8), np.int32(n)))

    def kernel(cuda):
        def polynomial(z, factors, out):
            i = cuda.grid(1)
            if i < out.size:
                at = z[i]
                total = np.complex64(0)
                for k in range(factors.size):
                    total = total * at + factors[k]
                out[i] = total

        return polynomial

    def reference(z, factors, out):
        for factor in factors:
            out = out * z + factor
        return out

    def loops(numba):
        def polynomial(z, factors, out):
            for i in numba.prange(out.size):
                total = np.complex64(0)
                for k in range(factors.size):
                    total = total * z[i] + factors[k]
                out[i] = total

        return polynomial


class Julia(Entry):
    name = "Julia set, complex64"
    gpu, cpu, small, mismatches = 4096, 256, 64, 5e-3
    c = r"""
extern "C" __global__ void julia(int *out, float cx, float cy, int n) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= n || j >= n) return;
    float x = -1.5f + 3.0f * j / n, y = -1.5f + 3.0f * i / n;
    int count = 0;
    while (count < 200 && x * x + y * y < 4.0f) {
        float next = x * x - y * y + cx;
        y = 2.0f * x * y + cy;
        x = next;
        count++;
    }
    out[i * n + j] = count;
}"""

    def problem(n, random):
        return Problem([np.zeros((n, n), np.int32), np.float32(-0.8), np.float32(0.156)], tiles(n, n, (16, 16)),
                       (16, 16), (np.int32(n),), outputs=(0,))

    def kernel(cuda):
        float32 = np.float32
        edge, span, four = float32(-1.5), float32(3), float32(4)

        def julia(out, cx, cy):
            j, i = cuda.grid(2)
            n = out.shape[0]
            if i >= n or j >= n:
                return
            z = np.complex64(complex(edge + span * float32(j) / float32(n), edge + span * float32(i) / float32(n)))
            c = np.complex64(complex(cx, cy))
            count = 0
            while count < 200 and z.real * z.real + z.imag * z.imag < four:
                z = z * z + c
                count += 1
            out[i, j] = count

        return julia

    def reference(out, cx, cy):
        n = out.shape[0]
        line = (-1.5 + 3 * np.arange(n, dtype=np.float32) / np.float32(n)).astype(np.float32)
        z, c = (line + 1j * line[:, None]).astype(np.complex64), np.complex64(complex(cx, cy))
        for _ in range(200):
            inside = z.real**2 + z.imag**2 < 4
            z = np.where(inside, z * z + c, z)
            out += inside
        return out


class Half(Entry):
    name = "float16: a * x + y"
    gpu, cpu, small, tolerance = 1 << 25, 1 << 20, 3000, 2e-3
    c = r"""
#include <cuda_fp16.h>

extern "C" __global__ void half_axpy(const __half *x, const __half *y, __half *out, __half a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = __hadd(__hmul(a, x[i]), y[i]);
}"""

    def problem(n, random):
        x = uniform(random, n, dtype=np.float16)
        return Problem([x, x[::-1].copy(), np.zeros_like(x), np.float16(1.5)], blocks(n), (256,), (np.int32(n),),
                       outputs=(2,))

    def kernel(cuda):
        def half_axpy(x, y, out, a):
            i = cuda.grid(1)
            if i < out.size:
                out[i] = a * x[i] + y[i]

        return half_axpy

    def reference(x, y, out, a):
        return a * x + y


class Strided(Entry):
    name = "every second row and third column of a matrix, doubled"
    gpu, cpu, small = 6144, 1536, 96
    c = r"""
extern "C" __global__ void strided(const float *a, float *out, int height, int width, int row_step, int column_step) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < height && j < width) out[i * width + j] = 2.0f * a[i * row_step + j * column_step];
}"""

    def problem(n, random):
        height, width = n // 2, n // 3
        return Problem([uniform(random, n, n), np.zeros((height, width), np.float32)], tiles(width, height), (32, 8),
                       (np.int32(height), np.int32(width), np.int32(2 * n), np.int32(3)),
                       views={0: (slice(None, None, 2), slice(None, None, 3))})

    def kernel(cuda):
        two = np.float32(2)

        def strided(a, out):
            j, i = cuda.grid(2)
            if i < out.shape[0] and j < out.shape[1]:
                out[i, j] = two * a[i, j]

        return strided

    def reference(a, out):
        return 2 * a


class ColumnsFirst(Entry):
    name = "sum of matrices, one of them columns first"
    gpu, cpu, small = 4096, 1024, 96
    c = r"""
extern "C" __global__ void columns_first(const float *a, const float *b, float *out, int height, int width) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < height && j < width) out[i * width + j] = a[i * width + j] + b[j * height + i];
}"""

    def problem(n, random):
        a = uniform(random, n, n)
        return Problem([a, np.asfortranarray(a[::-1]), np.zeros_like(a)], tiles(n, n, (16, 16)), (16, 16),
                       (np.int32(n), np.int32(n)))

    def kernel(cuda):
        def columns_first(a, b, out):
            j, i = cuda.grid(2)
            if i < a.shape[0] and j < a.shape[1]:
                out[i, j] = a[i, j] + b[i, j]

        return columns_first

    def reference(a, b, out):
        return a + b
