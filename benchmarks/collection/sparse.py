"""Sparse matrices: products by row, by warp, in ELL, from triples, with a dense matrix, and sampled."""

import numpy as np

from collection.entry import Entry, Problem, blocks, integers, uniform

NEAR = 16   # entries of a row in the mean


def sparse_rows(random, n):
    """(starts of the rows, columns, values) with 0 to 2 * NEAR entries in a row, near the diagonal and far."""
    lengths = integers(random, 0, 2 * NEAR + 1, n)
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    rows = np.repeat(np.arange(n), lengths)
    near = rows + integers(random, -500, 500, rows.size)
    columns = np.where(np.arange(rows.size) % 8 < 6, near % n, integers(random, 0, n, rows.size)).astype(np.int32)
    return starts, columns, uniform(random, columns.size)


class ByRow(Entry):
    name = "CSR times vector, a thread for a row"
    gpu, cpu, small, tolerance = 1 << 21, 1 << 17, 2000, 1e-5
    c = r"""
extern "C" __global__ void by_row(const int *starts, const int *columns, const float *values, const float *x,
                                  float *out, int n) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n) return;
    float sum = 0;
    for (int q = starts[row]; q < starts[row + 1]; q++) sum += values[q] * x[columns[q]];
    out[row] = sum;
}"""

    def problem(n, random):
        return Problem([*sparse_rows(random, n), uniform(random, n), np.zeros(n, np.float32)], blocks(n), (256,),
                       (np.int32(n),))

    def kernel(cuda):
        def by_row(starts, columns, values, x, out):
            row = cuda.grid(1)
            if row < out.size:
                total = np.float32(0)
                for q in range(starts[row], starts[row + 1]):
                    total += values[q] * x[columns[q]]
                out[row] = total

        return by_row

    def reference(starts, columns, values, x, out):
        np.add.at(out, np.repeat(np.arange(out.size), np.diff(starts)), values * x[columns])
        return out

    def loops(numba):
        def by_row(starts, columns, values, x, out):
            for row in numba.prange(out.size):
                total = np.float32(0)
                for q in range(starts[row], starts[row + 1]):
                    total += values[q] * x[columns[q]]
                out[row] = total

        return by_row


class ByWarp(Entry):
    name = "CSR times vector, a warp for a row"
    gpu, cpu, small, tolerance = 1 << 20, 1 << 16, 1000, 1e-5
    c = r"""
extern "C" __global__ void by_warp(const int *starts, const int *columns, const float *values, const float *x,
                                   float *out, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int row = thread / 32, lane = thread % 32;
    if (row >= n) return;
    float sum = 0;
    for (int q = starts[row] + lane; q < starts[row + 1]; q += 32) sum += values[q] * x[columns[q]];
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffff, sum, offset);
    if (lane == 0) out[row] = sum;
}"""

    def problem(n, random):
        return Problem([*sparse_rows(random, n), uniform(random, n), np.zeros(n, np.float32)], blocks(32 * n), (256,),
                       (np.int32(n),))

    def kernel(cuda):
        def by_warp(starts, columns, values, x, out):
            thread = cuda.grid(1)
            row = thread // 32
            lane = thread % 32
            if row >= out.size:
                return
            total = np.float32(0)
            for q in range(starts[row] + lane, starts[row + 1], 32):
                total += values[q] * x[columns[q]]
            offset = 16
            while offset > 0:
                total += cuda.shfl_down_sync(0xFFFFFFFF, total, offset)
                offset //= 2
            if lane == 0:
                out[row] = total

        return by_warp

    reference, loops = ByRow.reference, ByRow.loops


class Ell(Entry):
    name = "ELL times vector, columns of -1 are none"
    gpu, cpu, small, tolerance = 1 << 21, 1 << 17, 2000, 1e-5
    c = r"""
extern "C" __global__ void ell(const int *columns, const float *values, const float *x, float *out, int width, int n) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n) return;
    float sum = 0;
    for (int k = 0; k < width; k++) {
        int column = columns[k * n + row];
        if (column >= 0) sum += values[k * n + row] * x[column];
    }
    out[row] = sum;
}"""

    def problem(n, random):
        columns = (np.arange(n) + integers(random, -300, 300, NEAR, n)) % n
        columns[integers(random, 0, 4, NEAR, n) == 0] = -1
        arrays = [columns.astype(np.int32), uniform(random, NEAR, n), uniform(random, n), np.zeros(n, np.float32)]
        return Problem(arrays, blocks(n), (256,), (np.int32(NEAR), np.int32(n)))

    def kernel(cuda):
        def ell(columns, values, x, out):
            row = cuda.grid(1)
            if row < out.size:
                total = np.float32(0)
                for k in range(columns.shape[0]):
                    column = columns[k, row]
                    if column >= 0:
                        total += values[k, row] * x[column]
                out[row] = total

        return ell

    def reference(columns, values, x, out):
        return np.where(columns >= 0, values * x[columns], np.float32(0)).sum(0)

    def loops(numba):
        def ell(columns, values, x, out):
            for row in numba.prange(out.size):
                total = np.float32(0)
                for k in range(columns.shape[0]):
                    column = columns[k, row]
                    if column >= 0:
                        total += values[k, row] * x[column]
                out[row] = total

        return ell


class Triples(Entry):
    name = "COO times vector, atomic additions"
    gpu, cpu, small, tolerance = 1 << 20, 1 << 16, 1000, 1e-4
    c = r"""
extern "C" __global__ void triples(const int *rows, const int *columns, const float *values, const float *x, float *out,
                                   int n) {
    int q = blockIdx.x * blockDim.x + threadIdx.x;
    if (q < n) atomicAdd(&out[rows[q]], values[q] * x[columns[q]]);
}"""

    def problem(n, random):
        starts, columns, values = sparse_rows(random, n)
        rows = np.repeat(np.arange(n, dtype=np.int32), np.diff(starts))
        return Problem([rows, columns, values, uniform(random, n), np.zeros(n, np.float32)], blocks(rows.size), (256,),
                       (np.int32(rows.size),))

    def kernel(cuda):
        def triples(rows, columns, values, x, out):
            q = cuda.grid(1)
            if q < rows.size:
                cuda.atomic.add(out, rows[q], values[q] * x[columns[q]])

        return triples

    def reference(rows, columns, values, x, out):
        np.add.at(out, rows, values * x[columns])
        return out


class TimesDense(Entry):
    name = "CSR times a dense matrix of 32 columns"
    gpu, cpu, small, tolerance = 1 << 18, 1 << 14, 500, 1e-5
    c = r"""
extern "C" __global__ void times_dense(const int *starts, const int *columns, const float *values, const float *dense,
                                       float *out, int n, int width) {
    int column = threadIdx.x, row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= n) return;
    float sum = 0;
    for (int q = starts[row]; q < starts[row + 1]; q++) sum += values[q] * dense[columns[q] * width + column];
    out[row * width + column] = sum;
}"""

    def problem(n, random):
        return Problem([*sparse_rows(random, n), uniform(random, n, 32), np.zeros((n, 32), np.float32)], (-(-n // 8),),
                       (32, 8), (np.int32(n), np.int32(32)))

    def kernel(cuda):
        def times_dense(starts, columns, values, dense, out):
            column = cuda.threadIdx.x
            row = cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y
            if row >= out.shape[0]:
                return
            total = np.float32(0)
            for q in range(starts[row], starts[row + 1]):
                total += values[q] * dense[columns[q], column]
            out[row, column] = total

        return times_dense

    def reference(starts, columns, values, dense, out):
        np.add.at(out, np.repeat(np.arange(out.shape[0]), np.diff(starts)), values[:, None] * dense[columns])
        return out

    def loops(numba):
        def times_dense(starts, columns, values, dense, out):
            for row in numba.prange(out.shape[0]):
                out[row] = 0
                for q in range(starts[row], starts[row + 1]):
                    for column in range(out.shape[1]):
                        out[row, column] += values[q] * dense[columns[q], column]

        return times_dense
