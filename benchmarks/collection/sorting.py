"""Sorting networks, merging, counting of digits."""

import numpy as np

from collection.entry import Entry, Problem, blocks, integers, uniform


class Bitonic(Entry):
    name = "bitonic sort of 1024 floats in shared memory"
    gpu, cpu, small = 1 << 13, 1 << 7, 4
    c = r"""
extern "C" __global__ void bitonic(const float *x, float *out) {
    __shared__ float item[1024];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    item[t] = x[i];
    __syncthreads();
    for (int k = 2; k <= 1024; k *= 2)
        for (int j = k / 2; j > 0; j /= 2) {
            int other = t ^ j;
            if (other > t) {
                float a = item[t], b = item[other];
                if (((t & k) == 0) == (a > b)) {
                    item[t] = b;
                    item[other] = a;
                }
            }
            __syncthreads();
        }
    out[i] = item[t];
}"""

    def problem(n, random):
        x = uniform(random, n, 1024)
        return Problem([x.reshape(-1), np.zeros(x.size, np.float32)], (n,), (1024,))

    def kernel(cuda):
        float32 = np.float32

        def bitonic(x, out):
            item = cuda.shared.array(1024, float32)
            t = cuda.threadIdx.x
            i = cuda.grid(1)
            item[t] = x[i]
            cuda.syncthreads()
            k = 2
            while k <= 1024:
                j = k // 2
                while j > 0:
                    other = t ^ j
                    if other > t:
                        a = item[t]
                        b = item[other]
                        if ((t & k) == 0) == (a > b):
                            item[t] = b
                            item[other] = a
                    cuda.syncthreads()
                    j //= 2
                k *= 2
            out[i] = item[t]

        return bitonic

    def reference(x, out):
        return np.sort(x.reshape(-1, 1024), 1).reshape(-1)

    def loops(numba):
        def bitonic(x, out):
            for segment in numba.prange(x.size // 1024):
                out[segment * 1024:segment * 1024 + 1024] = np.sort(x[segment * 1024:segment * 1024 + 1024])

        return bitonic


class Exchanges(Entry):
    name = "odd-even sort of 16 integers in a local array"
    gpu, cpu, small = 1 << 20, 1 << 16, 300
    c = r"""
extern "C" __global__ void exchanges(const int *x, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int v[16];
    for (int k = 0; k < 16; k++) v[k] = x[k * n + i];
    for (int round = 0; round < 16; round++)
        for (int k = round % 2; k < 15; k += 2) {
            int low = min(v[k], v[k + 1]), high = max(v[k], v[k + 1]);
            v[k] = low;
            v[k + 1] = high;
        }
    for (int k = 0; k < 16; k++) out[k * n + i] = v[k];
}"""

    def problem(n, random):
        x = integers(random, -(1 << 30), 1 << 30, 16, n)
        return Problem([x, np.zeros_like(x)], blocks(n), (256,), (np.int32(n),))

    def kernel(cuda):
        int32 = np.int32

        def exchanges(x, out):
            i = cuda.grid(1)
            if i >= x.shape[1]:
                return
            v = cuda.local.array(16, int32)
            for k in range(16):
                v[k] = x[k, i]
            for trip in range(16):
                for k in range(trip % 2, 15, 2):
                    low = min(v[k], v[k + 1])
                    high = max(v[k], v[k + 1])
                    v[k] = low
                    v[k + 1] = high
            for k in range(16):
                out[k, i] = v[k]

        return exchanges

    def reference(x, out):
        return np.sort(x, 0)


class Merge(Entry):
    name = "merge of two sorted arrays by ranks"
    gpu, cpu, small = 1 << 22, 1 << 17, 2000
    c = r"""
extern "C" __global__ void merge(const int *a, const int *b, int *out, int na, int nb) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < na) {
        int low = 0, high = nb;
        while (low < high) {
            int middle = (low + high) / 2;
            if (b[middle] < a[i]) low = middle + 1;
            else high = middle;
        }
        out[i + low] = a[i];
    }
    if (i < nb) {
        int low = 0, high = na;
        while (low < high) {
            int middle = (low + high) / 2;
            if (a[middle] <= b[i]) low = middle + 1;
            else high = middle;
        }
        out[i + low] = b[i];
    }
}"""

    def problem(n, random):
        a, b = (np.sort(integers(random, 0, 1 << 30, n)) for _ in range(2))
        return Problem([a, b, np.zeros(2 * n, np.int32)], blocks(n), (256,), (np.int32(n), np.int32(n)))

    def kernel(cuda):
        def merge(a, b, out):
            i = cuda.grid(1)
            if i < a.size:
                low = 0
                high = b.size
                while low < high:
                    middle = (low + high) // 2
                    if b[middle] < a[i]:
                        low = middle + 1
                    else:
                        high = middle
                out[i + low] = a[i]
            if i < b.size:
                low = 0
                high = a.size
                while low < high:
                    middle = (low + high) // 2
                    if a[middle] <= b[i]:
                        low = middle + 1
                    else:
                        high = middle
                out[i + low] = b[i]

        return merge

    def reference(a, b, out):
        return np.sort(np.concatenate([a, b]))


class Digits(Entry):
    name = "digit counts of each block, 4 bits of uint32"
    gpu, cpu, small = 1 << 24, 1 << 20, 1 << 13
    c = r"""
extern "C" __global__ void digits(const unsigned *keys, int *counts, int shift, int n) {
    __shared__ int bins[16];
    int t = threadIdx.x;
    if (t < 16) bins[t] = 0;
    __syncthreads();
    for (int k = 0; k < 8; k++) {
        int i = (blockIdx.x * 8 + k) * blockDim.x + t;
        if (i < n) atomicAdd(&bins[(keys[i] >> shift) & 15], 1);
    }
    __syncthreads();
    if (t < 16) counts[t * gridDim.x + blockIdx.x] = bins[t];
}"""

    def problem(n, random):
        keys = integers(random, 0, 1 << 32, n, dtype=np.uint32)
        return Problem([keys, np.zeros((16, n // 2048), np.int32), np.int32(8)], (n // 2048,), (256,), (np.int32(n),),
                       outputs=(1,))

    def kernel(cuda):
        int32 = np.int32

        def digits(keys, counts, shift):
            bins = cuda.shared.array(16, int32)
            t = cuda.threadIdx.x
            if t < 16:
                bins[t] = 0
            cuda.syncthreads()
            for k in range(8):
                i = (cuda.blockIdx.x * 8 + k) * cuda.blockDim.x + t
                if i < keys.size:
                    cuda.atomic.add(bins, (keys[i] >> shift) & 15, 1)
            cuda.syncthreads()
            if t < 16:
                counts[t, cuda.blockIdx.x] = bins[t]

        return digits

    def reference(keys, counts, shift):
        rows = (keys >> np.uint32(shift) & np.uint32(15)).reshape(counts.shape[1], -1)
        return np.stack([(rows == digit).sum(1) for digit in range(16)]).astype(np.int32)
