"""Dense algebra: products, rows (softmax, layer norm), small systems in local arrays."""

import math

import numpy as np

from collection.entry import Entry, Problem, blocks, uniform


def well_conditioned(random, n, order):
    """Matrices with a strong diagonal."""
    return uniform(random, n, order, order) + 4 * order * np.eye(order, dtype=np.float32)


class Blocked(Entry):
    name = "matrix product, tiles of 64 x 64, 4 x 4 items for each thread"
    gpu, cpu, small, tolerance = 2048, 512, 128, 1e-4
    c = r"""
extern "C" __global__ void blocked(const float *a, const float *b, float *out, int n) {
    __shared__ float a_tile[16][64], b_tile[16][64];
    int tx = threadIdx.x, ty = threadIdx.y, thread = ty * 16 + tx;
    int row = blockIdx.y * 64, column = blockIdx.x * 64;
    float sum[4][4];
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) sum[i][j] = 0;
    for (int start = 0; start < n; start += 16) {
        for (int k = 0; k < 4; k++) {
            int item = thread + k * 256;
            a_tile[item % 16][item / 16] = a[(row + item / 16) * n + start + item % 16];
            b_tile[item / 64][item % 64] = b[(start + item / 64) * n + column + item % 64];
        }
        __syncthreads();
        for (int k = 0; k < 16; k++)
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++) sum[i][j] += a_tile[k][ty * 4 + i] * b_tile[k][tx * 4 + j];
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) out[(row + ty * 4 + i) * n + column + tx * 4 + j] = sum[i][j];
}"""

    def problem(n, random):
        a, b = uniform(random, n, n), uniform(random, n, n)
        return Problem([a, b, np.zeros_like(a)], (n // 64, n // 64), (16, 16), (np.int32(n),))

    def kernel(cuda):
        float32 = np.float32

        def blocked(a, b, out):
            a_tile = cuda.shared.array((16, 64), float32)
            b_tile = cuda.shared.array((16, 64), float32)
            total = cuda.local.array((4, 4), float32)
            tx = cuda.threadIdx.x
            ty = cuda.threadIdx.y
            thread = ty * 16 + tx
            row = cuda.blockIdx.y * 64
            column = cuda.blockIdx.x * 64
            for i in range(4):
                for j in range(4):
                    total[i, j] = 0
            for start in range(0, a.shape[1], 16):
                for k in range(4):
                    item = thread + k * 256
                    a_tile[item % 16, item // 16] = a[row + item // 16, start + item % 16]
                    b_tile[item // 64, item % 64] = b[start + item // 64, column + item % 64]
                cuda.syncthreads()
                for k in range(16):
                    for i in range(4):
                        for j in range(4):
                            total[i, j] += a_tile[k, ty * 4 + i] * b_tile[k, tx * 4 + j]
                cuda.syncthreads()
            for i in range(4):
                for j in range(4):
                    out[row + ty * 4 + i, column + tx * 4 + j] = total[i, j]

        return blocked

    def reference(a, b, out):
        return a @ b

    def loops(numba):
        def blocked(a, b, out):
            for i in numba.prange(out.shape[0]):
                out[i] = 0
                for k in range(a.shape[1]):
                    for j in range(out.shape[1]):
                        out[i, j] += a[i, k] * b[k, j]

        return blocked


class PlainProduct(Entry):
    name = "batch of matrix products, 16 x 16, a block for each"
    gpu, cpu, small, tolerance = 1 << 15, 1 << 11, 32, 1e-5
    c = r"""
extern "C" __global__ void plain_product(const float *a, const float *b, float *out, int order) {
    int j = threadIdx.x, i = threadIdx.y, at = blockIdx.x * order * order;
    float sum = 0;
    for (int k = 0; k < order; k++) sum += a[at + i * order + k] * b[at + k * order + j];
    out[at + i * order + j] = sum;
}"""

    def problem(n, random):
        a, b = uniform(random, n, 16, 16), uniform(random, n, 16, 16)
        return Problem([a, b, np.zeros_like(a)], (n,), (16, 16), (np.int32(16),))

    def kernel(cuda):
        def plain_product(a, b, out):
            j = cuda.threadIdx.x
            i = cuda.threadIdx.y
            batch = cuda.blockIdx.x
            total = np.float32(0)
            for k in range(a.shape[2]):
                total += a[batch, i, k] * b[batch, k, j]
            out[batch, i, j] = total

        return plain_product

    def reference(a, b, out):
        return a @ b

    def loops(numba):
        def plain_product(a, b, out):
            for batch in numba.prange(out.shape[0]):
                for i in range(out.shape[1]):
                    for j in range(out.shape[2]):
                        total = np.float32(0)
                        for k in range(a.shape[2]):
                            total += a[batch, i, k] * b[batch, k, j]
                        out[batch, i, j] = total

        return plain_product


class TimesVector(Entry):
    name = "matrix times vector, a warp for a row"
    gpu, cpu, small, tolerance = 8192, 2048, 200, 1e-4
    c = r"""
extern "C" __global__ void times_vector(const float *a, const float *x, float *out, int height, int width) {
    int lane = threadIdx.x, row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= height) return;
    float sum = 0;
    for (int k = lane; k < width; k += 32) sum += a[row * width + k] * x[k];
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffff, sum, offset);
    if (lane == 0) out[row] = sum;
}"""

    def problem(n, random):
        return Problem([uniform(random, n, n), uniform(random, n), np.zeros(n, np.float32)], (-(-n // 8),), (32, 8),
                       (np.int32(n), np.int32(n)))

    def kernel(cuda):
        def times_vector(a, x, out):
            lane = cuda.threadIdx.x
            row = cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y
            if row >= a.shape[0]:
                return
            total = np.float32(0)
            for k in range(lane, a.shape[1], 32):
                total += a[row, k] * x[k]
            offset = 16
            while offset > 0:
                total += cuda.shfl_xor_sync(0xFFFFFFFF, total, offset)
                offset //= 2
            if lane == 0:
                out[row] = total

        return times_vector

    def reference(a, x, out):
        return a @ x

    def loops(numba):
        def times_vector(a, x, out):
            for row in numba.prange(a.shape[0]):
                total = np.float32(0)
                for k in range(a.shape[1]):
                    total += a[row, k] * x[k]
                out[row] = total

        return times_vector


class Softmax(Entry):
    name = "row softmax, a block for a row"
    gpu, cpu, small, tolerance = 1 << 14, 1 << 10, 16, 1e-4
    c = r"""
extern "C" __global__ void softmax(const float *x, float *out, int width) {
    __shared__ float part[256];
    int t = threadIdx.x, row = blockIdx.x;
    float most = -1e30f, sum = 0;
    for (int k = t; k < width; k += 256) most = fmaxf(most, x[row * width + k]);
    part[t] = most;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (t < half) part[t] = fmaxf(part[t], part[t + half]);
        __syncthreads();
    }
    most = part[0];
    __syncthreads();
    for (int k = t; k < width; k += 256) sum += expf(x[row * width + k] - most);
    part[t] = sum;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (t < half) part[t] += part[t + half];
        __syncthreads();
    }
    sum = part[0];
    for (int k = t; k < width; k += 256) out[row * width + k] = expf(x[row * width + k] - most) / sum;
}"""

    def problem(n, random):
        x = uniform(random, n, 1024, low=-5, high=5)
        return Problem([x, np.zeros_like(x)], (n,), (256,), (np.int32(1024),))

    def kernel(cuda):
        float32 = np.float32

        def softmax(x, out):
            part = cuda.shared.array(256, float32)
            t = cuda.threadIdx.x
            row = cuda.blockIdx.x
            width = x.shape[1]
            most = float32(-1e30)
            for k in range(t, width, 256):
                most = max(most, x[row, k])
            part[t] = most
            cuda.syncthreads()
            half = 128
            while half > 0:
                if t < half:
                    part[t] = max(part[t], part[t + half])
                cuda.syncthreads()
                half //= 2
            most = part[0]
            cuda.syncthreads()
            total = float32(0)
            for k in range(t, width, 256):
                total += math.exp(x[row, k] - most)
            part[t] = total
            cuda.syncthreads()
            half = 128
            while half > 0:
                if t < half:
                    part[t] += part[t + half]
                cuda.syncthreads()
                half //= 2
            total = part[0]
            for k in range(t, width, 256):
                out[row, k] = math.exp(x[row, k] - most) / total

        return softmax

    def reference(x, out):
        powers = np.exp(x - x.max(1, keepdims=True))
        return powers / powers.sum(1, keepdims=True)

    def loops(numba):
        def softmax(x, out):
            for row in numba.prange(x.shape[0]):
                most = np.float32(-1e30)
                for k in range(x.shape[1]):
                    most = max(most, x[row, k])
                total = np.float32(0)
                for k in range(x.shape[1]):
                    out[row, k] = math.exp(x[row, k] - most)
                    total += out[row, k]
                for k in range(x.shape[1]):
                    out[row, k] /= total

        return softmax


class LayerNorm(Entry):
    name = "layer norm, a warp for a row"
    gpu, cpu, small, tolerance = 1 << 15, 1 << 11, 40, 1e-4
    c = r"""
__device__ float of_warp(float value) {
    for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffff, value, offset);
    return value;
}

extern "C" __global__ void layer_norm(const float *x, const float *scale, const float *shift, float *out, int height,
                                      int width) {
    int lane = threadIdx.x, row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= height) return;
    float sum = 0, squares = 0;
    for (int k = lane; k < width; k += 32) sum += x[row * width + k];
    float mean = of_warp(sum) / width;
    for (int k = lane; k < width; k += 32) {
        float d = x[row * width + k] - mean;
        squares += d * d;
    }
    float factor = 1.0f / sqrtf(of_warp(squares) / width + 1e-5f);
    for (int k = lane; k < width; k += 32)
        out[row * width + k] = (x[row * width + k] - mean) * factor * scale[k] + shift[k];
}"""

    def problem(n, random):
        x = uniform(random, n, 512, low=-5, high=5)
        return Problem([x, uniform(random, 512), uniform(random, 512), np.zeros_like(x)], (-(-n // 4),), (32, 4),
                       (np.int32(n), np.int32(512)))

    def kernel(cuda):
        float32 = np.float32
        one, tiny = float32(1), float32(1e-5)

        @cuda.jit(device=True)
        def of_warp(value):
            offset = 16
            while offset > 0:
                value += cuda.shfl_xor_sync(0xFFFFFFFF, value, offset)
                offset //= 2
            return value

        def layer_norm(x, scale, shift, out):
            lane = cuda.threadIdx.x
            row = cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y
            height, width = x.shape
            if row >= height:
                return
            total = float32(0)
            squares = float32(0)
            for k in range(lane, width, 32):
                total += x[row, k]
            mean = of_warp(total) / float32(width)
            for k in range(lane, width, 32):
                d = x[row, k] - mean
                squares += d * d
            factor = one / math.sqrt(of_warp(squares) / float32(width) + tiny)
            for k in range(lane, width, 32):
                out[row, k] = (x[row, k] - mean) * factor * scale[k] + shift[k]

        return layer_norm

    def reference(x, scale, shift, out):
        from_mean = x - x.mean(1, keepdims=True)
        return from_mean / np.sqrt((from_mean**2).mean(1, keepdims=True) + np.float32(1e-5)) * scale + shift

    def loops(numba):
        def layer_norm(x, scale, shift, out):
            height, width = x.shape
            for row in numba.prange(height):
                total = np.float32(0)
                squares = np.float32(0)
                for k in range(width):
                    total += x[row, k]
                mean = total / np.float32(width)
                for k in range(width):
                    squares += (x[row, k] - mean) ** 2
                factor = np.float32(1) / math.sqrt(squares / np.float32(width) + np.float32(1e-5))
                for k in range(width):
                    out[row, k] = (x[row, k] - mean) * factor * scale[k] + shift[k]

        return layer_norm


class Cholesky(Entry):
    name = "Cholesky of 6 x 6 matrices in a local array"
    gpu, cpu, small, tolerance = 1 << 18, 1 << 15, 300, 1e-4
    c = r"""
extern "C" __global__ void cholesky(const float *a, float *out, int n) {
    int item = blockIdx.x * blockDim.x + threadIdx.x;
    if (item >= n) return;
    float l[6][6];
    for (int i = 0; i < 6; i++)
        for (int j = 0; j <= i; j++) {
            float sum = a[(item * 6 + i) * 6 + j];
            for (int k = 0; k < j; k++) sum -= l[i][k] * l[j][k];
            l[i][j] = i == j ? sqrtf(sum) : sum / l[j][j];
        }
    for (int i = 0; i < 6; i++)
        for (int j = 0; j <= i; j++) out[(item * 6 + i) * 6 + j] = l[i][j];
}"""

    def problem(n, random):
        a = well_conditioned(random, n, 6)
        a = (a + a.transpose(0, 2, 1)) / 2
        return Problem([a, np.zeros_like(a)], blocks(n, 128), (128,), (np.int32(n),))

    def kernel(cuda):
        float32 = np.float32

        def cholesky(a, out):
            item = cuda.grid(1)
            if item >= a.shape[0]:
                return
            low = cuda.local.array((6, 6), float32)
            for i in range(6):
                for j in range(i + 1):
                    total = a[item, i, j]
                    for k in range(j):
                        total -= low[i, k] * low[j, k]
                    low[i, j] = math.sqrt(total) if i == j else total / low[j, j]
            for i in range(6):
                for j in range(i + 1):
                    out[item, i, j] = low[i, j]

        return cholesky

    def reference(a, out):
        return np.linalg.cholesky(a)

    def loops(numba):
        def cholesky(a, out):
            for item in numba.prange(a.shape[0]):
                for i in range(6):
                    for j in range(i + 1):
                        total = a[item, i, j]
                        for k in range(j):
                            total -= out[item, i, k] * out[item, j, k]
                        out[item, i, j] = math.sqrt(total) if i == j else total / out[item, j, j]

        return cholesky


class Pivot(Entry):
    name = "solution of 5 x 5 systems with pivots, local arrays"
    gpu, cpu, small, tolerance = 1 << 18, 1 << 14, 300, 1e-3
    c = r"""
extern "C" __global__ void pivot(const float *a, const float *b, float *out, int n) {
    int item = blockIdx.x * blockDim.x + threadIdx.x;
    if (item >= n) return;
    float m[5][6];
    for (int i = 0; i < 5; i++) {
        for (int j = 0; j < 5; j++) m[i][j] = a[(item * 5 + i) * 5 + j];
        m[i][5] = b[item * 5 + i];
    }
    for (int k = 0; k < 5; k++) {
        int best = k;
        for (int i = k + 1; i < 5; i++)
            if (fabsf(m[i][k]) > fabsf(m[best][k])) best = i;
        for (int j = k; j < 6; j++) {
            float keep = m[k][j];
            m[k][j] = m[best][j];
            m[best][j] = keep;
        }
        for (int i = k + 1; i < 5; i++) {
            float factor = m[i][k] / m[k][k];
            for (int j = k; j < 6; j++) m[i][j] -= factor * m[k][j];
        }
    }
    for (int i = 4; i >= 0; i--) {
        float sum = m[i][5];
        for (int j = i + 1; j < 5; j++) sum -= m[i][j] * m[j][5];
        m[i][5] = sum / m[i][i];
        out[item * 5 + i] = m[i][5];
    }
}"""

    def problem(n, random):
        a = well_conditioned(random, n, 5)[:, [2, 0, 4, 1, 3]]
        return Problem([np.ascontiguousarray(a), uniform(random, n, 5), np.zeros((n, 5), np.float32)], blocks(n, 128),
                       (128,), (np.int32(n),))

    def kernel(cuda):
        float32 = np.float32

        def pivot(a, b, out):
            item = cuda.grid(1)
            if item >= a.shape[0]:
                return
            m = cuda.local.array((5, 6), float32)
            for i in range(5):
                for j in range(5):
                    m[i, j] = a[item, i, j]
                m[i, 5] = b[item, i]
            for k in range(5):
                best = k
                for i in range(k + 1, 5):
                    if abs(m[i, k]) > abs(m[best, k]):
                        best = i
                for j in range(k, 6):
                    keep = m[k, j]
                    m[k, j] = m[best, j]
                    m[best, j] = keep
                for i in range(k + 1, 5):
                    factor = m[i, k] / m[k, k]
                    for j in range(k, 6):
                        m[i, j] -= factor * m[k, j]
            for i in range(4, -1, -1):
                total = m[i, 5]
                for j in range(i + 1, 5):
                    total -= m[i, j] * m[j, 5]
                m[i, 5] = total / m[i, i]
                out[item, i] = m[i, 5]

        return pivot

    def reference(a, b, out):
        return np.linalg.solve(a, b[..., None])[..., 0]


class Inverse(Entry):
    name = "inverse of 3 x 3 matrices, float64"
    gpu, cpu, small, tolerance = 1 << 21, 1 << 18, 300, 1e-10
    c = r"""
extern "C" __global__ void inverse(const double *a, double *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const double *m = a + 9 * i;
    double *r = out + 9 * i;
    double c0 = m[4] * m[8] - m[5] * m[7], c1 = m[5] * m[6] - m[3] * m[8], c2 = m[3] * m[7] - m[4] * m[6];
    double by = 1.0 / (m[0] * c0 + m[1] * c1 + m[2] * c2);
    r[0] = c0 * by, r[1] = (m[2] * m[7] - m[1] * m[8]) * by, r[2] = (m[1] * m[5] - m[2] * m[4]) * by;
    r[3] = c1 * by, r[4] = (m[0] * m[8] - m[2] * m[6]) * by, r[5] = (m[2] * m[3] - m[0] * m[5]) * by;
    r[6] = c2 * by, r[7] = (m[1] * m[6] - m[0] * m[7]) * by, r[8] = (m[0] * m[4] - m[1] * m[3]) * by;
}"""

    def problem(n, random):
        a = well_conditioned(random, n, 3).astype(np.float64)
        return Problem([a, np.zeros_like(a)], blocks(n), (256,), (np.int32(n),))

    def kernel(cuda):
        def inverse(a, out):
            i = cuda.grid(1)
            if i >= a.shape[0]:
                return
            m = a[i]
            r = out[i]
            c0 = m[1, 1] * m[2, 2] - m[1, 2] * m[2, 1]
            c1 = m[1, 2] * m[2, 0] - m[1, 0] * m[2, 2]
            c2 = m[1, 0] * m[2, 1] - m[1, 1] * m[2, 0]
            by = 1.0 / (m[0, 0] * c0 + m[0, 1] * c1 + m[0, 2] * c2)
            r[0, 0] = c0 * by
            r[0, 1] = (m[0, 2] * m[2, 1] - m[0, 1] * m[2, 2]) * by
            r[0, 2] = (m[0, 1] * m[1, 2] - m[0, 2] * m[1, 1]) * by
            r[1, 0] = c1 * by
            r[1, 1] = (m[0, 0] * m[2, 2] - m[0, 2] * m[2, 0]) * by
            r[1, 2] = (m[0, 2] * m[1, 0] - m[0, 0] * m[1, 2]) * by
            r[2, 0] = c2 * by
            r[2, 1] = (m[0, 1] * m[2, 0] - m[0, 0] * m[2, 1]) * by
            r[2, 2] = (m[0, 0] * m[1, 1] - m[0, 1] * m[1, 0]) * by

        return inverse

    def reference(a, out):
        return np.linalg.inv(a)
