"""Scans, reductions and a Fourier transform, by shared memory and by shuffles."""

import math

import numpy as np

from collection.entry import Entry, Problem, blocks, integers, uniform


class Doubling(Entry):
    name = "scan of blocks of 256, doubling in shared memory"
    gpu, cpu, small = 1 << 24, 1 << 19, 1 << 13
    c = r"""
extern "C" __global__ void doubling(const int *x, int *out, int n) {
    __shared__ int item[256];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    item[t] = i < n ? x[i] : 0;
    __syncthreads();
    for (int step = 1; step < 256; step *= 2) {
        int before = t >= step ? item[t - step] : 0;
        __syncthreads();
        item[t] += before;
        __syncthreads();
    }
    if (i < n) out[i] = item[t];
}"""

    def problem(n, random):
        return Problem([integers(random, 0, 100, n), np.zeros(n, np.int32)], blocks(n), (256,), (np.int32(n),))

    def kernel(cuda):
        int32 = np.int32

        def doubling(x, out):
            item = cuda.shared.array(256, int32)
            t = cuda.threadIdx.x
            i = cuda.grid(1)
            item[t] = x[i] if i < x.size else 0
            cuda.syncthreads()
            step = 1
            while step < 256:
                before = item[t - step] if t >= step else 0
                cuda.syncthreads()
                item[t] += before
                cuda.syncthreads()
                step *= 2
            if i < x.size:
                out[i] = item[t]

        return doubling

    def reference(x, out):
        return np.cumsum(x.reshape(-1, 256), 1, dtype=np.int32).reshape(-1)

    def loops(numba):
        def doubling(x, out):
            for block in numba.prange(x.size // 256):
                total = np.int32(0)
                for i in range(block * 256, block * 256 + 256):
                    total += x[i]
                    out[i] = total

        return doubling


class WarpScan(Entry):
    name = "scan of warps by shuffles"
    gpu, cpu, small = 1 << 25, 1 << 19, 1 << 13
    c = r"""
extern "C" __global__ void warp_scan(const int *x, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    if (i >= n) return;
    int value = x[i];
    for (int step = 1; step < 32; step *= 2) {
        int before = __shfl_up_sync(0xffffffff, value, step);
        if (lane >= step) value += before;
    }
    out[i] = value;
}"""

    problem = Doubling.problem

    def kernel(cuda):
        def warp_scan(x, out):
            i = cuda.grid(1)
            lane = cuda.threadIdx.x % 32
            if i >= x.size:
                return
            value = x[i]
            step = 1
            while step < 32:
                before = cuda.shfl_up_sync(0xFFFFFFFF, value, step)
                if lane >= step:
                    value += before
                step *= 2
            out[i] = value

        return warp_scan

    def reference(x, out):
        return np.cumsum(x.reshape(-1, 32), 1, dtype=np.int32).reshape(-1)

    def loops(numba):
        def warp_scan(x, out):
            for block in numba.prange(x.size // 32):
                total = np.int32(0)
                for i in range(block * 32, block * 32 + 32):
                    total += x[i]
                    out[i] = total

        return warp_scan


class Total(Entry):
    name = "sum, a grid-stride loop and a tree in shared memory"
    gpu, cpu, small, tolerance = 1 << 26, 1 << 22, 1 << 16, 1e-4
    c = r"""
extern "C" __global__ void total(const float *x, float *out, int n) {
    __shared__ float part[256];
    int t = threadIdx.x;
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += blockDim.x * gridDim.x) sum += x[i];
    part[t] = sum;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (t < half) part[t] += part[t + half];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = part[0];
}"""

    def problem(n, random):
        count = min(1056, n // 4096)
        return Problem([uniform(random, n), np.zeros(count, np.float32)], (count,), (256,), (np.int32(n),))

    def kernel(cuda):
        float32 = np.float32

        def total(x, out):
            part = cuda.shared.array(256, float32)
            t = cuda.threadIdx.x
            value = float32(0)
            for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
                value += x[i]
            part[t] = value
            cuda.syncthreads()
            half = 128
            while half > 0:
                if t < half:
                    part[t] += part[t + half]
                cuda.syncthreads()
                half //= 2
            if t == 0:
                out[cuda.blockIdx.x] = part[0]

        return total

    def reference(x, out):
        stride = out.size * 256
        whole = np.pad(x, (0, -x.size % stride)).reshape(-1, out.size, 256)
        return whole.sum((0, 2), dtype=np.float64).astype(np.float32)


class Largest(Entry):
    name = "largest item and its place, float64, by shuffles"
    gpu, cpu, small = 1 << 25, 1 << 20, 1 << 14
    c = r"""
extern "C" __global__ void largest(const double *x, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, at = i;
    double value = i < n ? x[i] : -1e300;
    for (int offset = 16; offset > 0; offset /= 2) {
        double other = __shfl_down_sync(0xffffffff, value, offset);
        int other_at = __shfl_down_sync(0xffffffff, at, offset);
        if (other > value) {
            value = other;
            at = other_at;
        }
    }
    if (threadIdx.x % 32 == 0) out[i / 32] = at;
}"""

    def problem(n, random):
        return Problem([uniform(random, n, dtype=np.float64), np.zeros(n // 32, np.int32)], blocks(n), (256,),
                       (np.int32(n),))

    def kernel(cuda):
        def largest(x, out):
            i = cuda.grid(1)
            at = np.int32(i)
            value = x[i] if i < x.size else -1e300
            offset = 16
            while offset > 0:
                other = cuda.shfl_down_sync(0xFFFFFFFF, value, offset)
                other_at = cuda.shfl_down_sync(0xFFFFFFFF, at, offset)
                if other > value:
                    value = other
                    at = other_at
                offset //= 2
            if cuda.threadIdx.x % 32 == 0:
                out[i // 32] = at

        return largest

    def reference(x, out):
        return (x.reshape(-1, 32).argmax(1) + np.arange(0, x.size, 32)).astype(np.int32)


class Fourier(Entry):
    name = "Fourier transform of 512 points, radix 2, shared memory"
    gpu, cpu, small, tolerance = 1 << 13, 1 << 9, 8, 1e-4
    c = r"""
extern "C" __global__ void fourier(const float *real, const float *imag, const float *cosines, const float *sines,
                                   float *out_real, float *out_imag) {
    __shared__ float re[512], im[512];
    int t = threadIdx.x, at = blockIdx.x * 512;
    for (int k = 0; k < 2; k++) {
        int i = t + k * 256, mirrored = __brev(i) >> 23;
        re[mirrored] = real[at + i];
        im[mirrored] = imag[at + i];
    }
    __syncthreads();
    for (int half = 1; half < 512; half *= 2) {
        int j = t % half, low = (t / half) * 2 * half + j, high = low + half, turn = j * (256 / half);
        float c = cosines[turn], s = sines[turn];
        float x = re[high] * c - im[high] * s, y = re[high] * s + im[high] * c;
        re[high] = re[low] - x;
        im[high] = im[low] - y;
        re[low] += x;
        im[low] += y;
        __syncthreads();
    }
    for (int k = 0; k < 2; k++) {
        int i = t + k * 256;
        out_real[at + i] = re[i];
        out_imag[at + i] = im[i];
    }
}"""

    def problem(n, random):
        angles = -2 * math.pi * np.arange(256) / 512
        parts = [uniform(random, n, 512, low=-1) for _ in range(2)]
        return Problem([*parts, np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32),
                        *(np.zeros((n, 512), np.float32) for _ in range(2))], (n,), (256,), outputs=(4, 5))

    def kernel(cuda):
        float32, uint32 = np.float32, np.uint32

        def fourier(real, imag, cosines, sines, out_real, out_imag):
            re = cuda.shared.array(512, float32)
            im = cuda.shared.array(512, float32)
            t = cuda.threadIdx.x
            row = cuda.blockIdx.x
            for k in range(2):
                i = t + k * 256
                mirrored = cuda.brev(uint32(i)) >> 23
                re[mirrored] = real[row, i]
                im[mirrored] = imag[row, i]
            cuda.syncthreads()
            half = 1
            while half < 512:
                j = t % half
                low = (t // half) * 2 * half + j
                high = low + half
                turn = j * (256 // half)
                c = cosines[turn]
                s = sines[turn]
                x = re[high] * c - im[high] * s
                y = re[high] * s + im[high] * c
                re[high] = re[low] - x
                im[high] = im[low] - y
                re[low] += x
                im[low] += y
                cuda.syncthreads()
                half *= 2
            for k in range(2):
                i = t + k * 256
                out_real[row, i] = re[i]
                out_imag[row, i] = im[i]

        return fourier

    def reference(real, imag, cosines, sines, out_real, out_imag):
        result = np.fft.fft(real + 1j * imag, axis=1)
        return [result.real.astype(np.float32), result.imag.astype(np.float32)]
