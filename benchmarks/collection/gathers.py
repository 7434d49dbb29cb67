"""Indices that come from memory, and moves: gathers, scatters, tables, transposes, segments, binary search."""

import numpy as np

from collection.entry import Entry, Problem, blocks, integers, tiles, uniform


class Gather(Entry):
    name = "gather, int32 indices"
    gpu, cpu, small = 1 << 25, 1 << 22, 1 << 14
    c = r"""
extern "C" __global__ void gather(const float *x, const int *index, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = x[index[i]];
}"""

    def problem(n, random):
        index = (np.arange(n) // 64 * 64 + integers(random, 0, 64, n)).astype(np.int32)
        return Problem([uniform(random, n), index, np.zeros(n, np.float32)], blocks(n), (256,), (np.int32(n),))

    def kernel(cuda):
        def gather(x, index, out):
            i = cuda.grid(1)
            if i < out.size:
                out[i] = x[index[i]]

        return gather

    def reference(x, index, out):
        return x[index]

    def loops(numba):
        def gather(x, index, out):
            for i in numba.prange(out.size):
                out[i] = x[index[i]]

        return gather


class Scatter(Entry):
    name = "scatter by a permutation, int64 indices"
    gpu, cpu, small = 1 << 24, 1 << 22, 1 << 14
    c = r"""
extern "C" __global__ void scatter(const float *x, const long long *index, float *out, long long n) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n) out[index[i]] = 2.0f * x[i];
}"""

    def problem(n, random):
        index = (np.arange(n) // 1024 * 1024 + np.tile(random.permutation(1024), n // 1024)).astype(np.int64)
        return Problem([uniform(random, n), index, np.zeros(n, np.float32)], blocks(n), (256,), (np.int64(n),))

    def kernel(cuda):
        two = np.float32(2)

        def scatter(x, index, out):
            i = cuda.grid(1)
            if i < x.size:
                out[index[i]] = two * x[i]

        return scatter

    def reference(x, index, out):
        out[index] = 2 * x
        return out

    def loops(numba):
        two = np.float32(2)

        def scatter(x, index, out):
            for i in numba.prange(x.size):
                out[index[i]] = two * x[i]

        return scatter


class Embedding(Entry):
    name = "embedding bags, sums of 8 rows of 64"
    gpu, cpu, small, tolerance = 1 << 17, 1 << 13, 256, 1e-5
    c = r"""
extern "C" __global__ void embedding(const float *table, const int *bags, float *out, int n, int per_bag, int width) {
    int column = threadIdx.x, bag = blockIdx.x * blockDim.y + threadIdx.y;
    if (bag >= n) return;
    float sum = 0;
    for (int k = 0; k < per_bag; k++) sum += table[bags[bag * per_bag + k] * width + column];
    out[bag * width + column] = sum;
}"""

    def problem(n, random):
        words = 100_000
        return Problem([uniform(random, words, 64), integers(random, 0, words, n, 8), np.zeros((n, 64), np.float32)],
                       (-(-n // 4),), (64, 4), (np.int32(n), np.int32(8), np.int32(64)))

    def kernel(cuda):
        def embedding(table, bags, out):
            column = cuda.threadIdx.x
            bag = cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y
            if bag >= out.shape[0]:
                return
            total = np.float32(0)
            for k in range(bags.shape[1]):
                total += table[bags[bag, k], column]
            out[bag, column] = total

        return embedding

    def reference(table, bags, out):
        return table[bags].sum(1)

    def loops(numba):
        def embedding(table, bags, out):
            for bag in numba.prange(out.shape[0]):
                out[bag] = 0
                for k in range(bags.shape[1]):
                    for column in range(out.shape[1]):
                        out[bag, column] += table[bags[bag, k], column]

        return embedding


class Table(Entry):
    name = "linear interpolation in a table"
    gpu, cpu, small = 1 << 25, 1 << 20, 1 << 14
    tolerance = 1e-4        # x * 1023 - k is one rounding or two, and 1023 has few bits left
    c = r"""
extern "C" __global__ void table(const float *x, const float *values, float *out, int size, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float place = x[i] * (size - 1);
    int k = min((int)place, size - 2);
    float part = place - k;
    out[i] = values[k] * (1.0f - part) + values[k + 1] * part;
}"""

    def problem(n, random):
        return Problem([uniform(random, n), uniform(random, 1024), np.zeros(n, np.float32)], blocks(n), (256,),
                       (np.int32(1024), np.int32(n)))

    def kernel(cuda):
        float32, int32 = np.float32, np.int32
        one = float32(1)

        def table(x, values, out):
            i = cuda.grid(1)
            if i >= out.size:
                return
            place = x[i] * float32(values.size - 1)
            k = min(int32(place), int32(values.size - 2))
            part = place - float32(k)
            out[i] = values[k] * (one - part) + values[k + 1] * part

        return table

    def reference(x, values, out):
        place = x * np.float32(values.size - 1)
        k = np.minimum(place.astype(np.int32), values.size - 2)
        part = place - k.astype(np.float32)
        return values[k] * (1 - part) + values[k + 1] * part


class Transpose(Entry):
    name = "transpose through tiles of 32 x 33"
    gpu, cpu, small = 4096, 1024, 128
    c = r"""
extern "C" __global__ void transpose(const float *a, float *out, int height, int width) {
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        if (x < width && y + k < height) tile[threadIdx.y + k][threadIdx.x] = a[(y + k) * width + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        if (x < height && y + k < width) out[(y + k) * height + x] = tile[threadIdx.x][threadIdx.y + k];
}"""

    def problem(n, random):
        a = uniform(random, n, 2 * n)
        return Problem([a, np.zeros((2 * n, n), np.float32)], tiles(2 * n, n, (32, 32)), (32, 8),
                       (np.int32(n), np.int32(2 * n)))

    def kernel(cuda):
        float32 = np.float32

        def transpose(a, out):
            tile = cuda.shared.array((32, 33), float32)
            tx = cuda.threadIdx.x
            ty = cuda.threadIdx.y
            height, width = a.shape
            x = cuda.blockIdx.x * 32 + tx
            y = cuda.blockIdx.y * 32 + ty
            for k in range(0, 32, 8):
                if x < width and y + k < height:
                    tile[ty + k, tx] = a[y + k, x]
            cuda.syncthreads()
            x = cuda.blockIdx.y * 32 + tx
            y = cuda.blockIdx.x * 32 + ty
            for k in range(0, 32, 8):
                if x < height and y + k < width:
                    out[y + k, x] = tile[tx, ty + k]

        return transpose

    def reference(a, out):
        return a.T

    def loops(numba):
        def transpose(a, out):
            for i in numba.prange(a.shape[1]):
                for j in range(a.shape[0]):
                    out[i, j] = a[j, i]

        return transpose


class TransposePlain(Entry):
    name = "transpose, an element for a thread"
    gpu, cpu, small = 4096, 1024, 128
    c = r"""
extern "C" __global__ void transpose_plain(const float *a, float *out, int height, int width) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) out[x * height + y] = a[y * width + x];
}"""

    def problem(n, random):
        a = uniform(random, n, 2 * n)
        return Problem([a, np.zeros((2 * n, n), np.float32)], tiles(2 * n, n, (16, 16)), (16, 16),
                       (np.int32(n), np.int32(2 * n)))

    def kernel(cuda):
        def transpose_plain(a, out):
            x, y = cuda.grid(2)
            if x < a.shape[1] and y < a.shape[0]:
                out[x, y] = a[y, x]

        return transpose_plain

    reference, loops = Transpose.reference, Transpose.loops


class Segments(Entry):
    name = "segment maxima, int64 offsets"
    gpu, cpu, small = 1 << 20, 1 << 17, 2000
    c = r"""
extern "C" __global__ void segments(const float *x, const long long *offsets, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float best = -1.0f;
    for (long long q = offsets[i]; q < offsets[i + 1]; q++) best = fmaxf(best, x[q]);
    out[i] = best;
}"""

    def problem(n, random):
        offsets = np.concatenate([[0], np.cumsum(integers(random, 1, 32, n))]).astype(np.int64)
        return Problem([uniform(random, int(offsets[-1])), offsets, np.zeros(n, np.float32)], blocks(n), (256,),
                       (np.int32(n),))

    def kernel(cuda):
        lowest = np.float32(-1)

        def segments(x, offsets, out):
            i = cuda.grid(1)
            if i < out.size:
                best = lowest
                for q in range(offsets[i], offsets[i + 1]):
                    best = max(best, x[q])
                out[i] = best

        return segments

    def reference(x, offsets, out):
        return np.maximum.reduceat(x, offsets[:-1])

    def loops(numba):
        lowest = np.float32(-1)

        def segments(x, offsets, out):
            for i in numba.prange(out.size):
                best = lowest
                for q in range(offsets[i], offsets[i + 1]):
                    best = max(best, x[q])
                out[i] = best

        return segments


class Search(Entry):
    name = "binary search in 2^16 sorted floats"
    gpu, cpu, small = 1 << 24, 1 << 18, 1 << 12
    c = r"""
extern "C" __global__ void search(const float *sorted, const float *wanted, int *out, int size, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float value = wanted[i];
    int low = 0, high = size;
    while (low < high) {
        int middle = (low + high) / 2;
        if (sorted[middle] < value) low = middle + 1;
        else high = middle;
    }
    out[i] = low;
}"""

    def problem(n, random):
        ordered = np.sort(uniform(random, 1 << 16))
        return Problem([ordered, uniform(random, n), np.zeros(n, np.int32)], blocks(n), (256,),
                       (np.int32(ordered.size), np.int32(n)))

    def kernel(cuda):
        def search(ordered, wanted, out):
            i = cuda.grid(1)
            if i >= out.size:
                return
            value = wanted[i]
            low = 0
            high = ordered.size
            while low < high:
                middle = (low + high) // 2
                if ordered[middle] < value:
                    low = middle + 1
                else:
                    high = middle
            out[i] = low

        return search

    def reference(ordered, wanted, out):
        return np.searchsorted(ordered, wanted).astype(np.int32)

    def loops(numba):
        def search(ordered, wanted, out):
            for i in numba.prange(out.size):
                value = wanted[i]
                low = 0
                high = ordered.size
                while low < high:
                    middle = (low + high) // 2
                    if ordered[middle] < value:
                        low = middle + 1
                    else:
                        high = middle
                out[i] = low

        return search


class Kept(Entry):
    name = "count of a predicate, an atomic counter for each block"
    gpu, cpu, small = 1 << 24, 1 << 20, 1 << 13
    c = r"""
extern "C" __global__ void kept_items(const float *x, int *counts, float least, int n) {
    __shared__ int kept;
    if (threadIdx.x == 0) kept = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] > least) atomicAdd(&kept, 1);
    __syncthreads();
    if (threadIdx.x == 0) counts[blockIdx.x] = kept;
}"""

    def problem(n, random):
        return Problem([uniform(random, n), np.zeros(blocks(n), np.int32), np.float32(0.75)], blocks(n), (256,),
                       (np.int32(n),), outputs=(1,))

    def kernel(cuda):
        int32 = np.int32

        def kept_items(x, counts, least):
            kept = cuda.shared.array(1, int32)
            if cuda.threadIdx.x == 0:
                kept[0] = 0
            cuda.syncthreads()
            i = cuda.grid(1)
            if i < x.size and x[i] > least:
                cuda.atomic.add(kept, 0, 1)
            cuda.syncthreads()
            if cuda.threadIdx.x == 0:
                counts[cuda.blockIdx.x] = kept[0]

        return kept_items

    def reference(x, counts, least):
        return (x > least).reshape(-1, 256).sum(1).astype(np.int32)
