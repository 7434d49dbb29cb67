"""The kernels that are compared: as Python for cujit and numba-cuda, as CUDA C for NVRTC."""

import math

import numpy as np

TILE = 32
MANDELBROT_LIMIT = 255
NBODY_BLOCK = 128
SOFTENING = np.float32(1e-6)

CUDA_C = r"""
extern "C" __global__ void saxpy(float a, const float *x, const float *y, float *out, long long n) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n) out[i] = a * x[i] + y[i];
}

extern "C" __global__ void matmul(const float *a, const float *b, float *c, int n) {
    __shared__ float a_tile[32][32], b_tile[32][32];
    int tx = threadIdx.x, ty = threadIdx.y;
    int column = blockIdx.x * 32 + tx, row = blockIdx.y * 32 + ty;
    float sum = 0;
    for (int t = 0; t < n / 32; t++) {
        a_tile[ty][tx] = a[row * n + t * 32 + tx];
        b_tile[ty][tx] = b[(t * 32 + ty) * n + column];
        __syncthreads();
        for (int k = 0; k < 32; k++) sum += a_tile[ty][k] * b_tile[k][tx];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

extern "C" __global__ void mandelbrot(int *out, int width, int height, double x0, double y0, double step) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= width || row >= height) return;
    double cx = x0 + column * step, cy = y0 + row * step, x = 0, y = 0;
    int count = 0;
    while (count < 255 && x * x + y * y <= 4.0) {
        double next = x * x - y * y + cx;
        y = 2.0 * x * y + cy;
        x = next;
        count++;
    }
    out[row * width + column] = count;
}

extern "C" __global__ void nbody(const float *position, float *acceleration, int n) {
    __shared__ float tile[128][4];
    int i = blockIdx.x * 128 + threadIdx.x;
    float x = position[4 * i], y = position[4 * i + 1], z = position[4 * i + 2], ax = 0, ay = 0, az = 0;
    for (int start = 0; start < n; start += 128) {
        for (int k = 0; k < 4; k++) tile[threadIdx.x][k] = position[4 * (start + threadIdx.x) + k];
        __syncthreads();
        for (int j = 0; j < 128; j++) {
            float dx = tile[j][0] - x, dy = tile[j][1] - y, dz = tile[j][2] - z;
            float square = dx * dx + dy * dy + dz * dz + 1e-6f;
            float factor = tile[j][3] / (square * sqrtf(square));
            ax += dx * factor, ay += dy * factor, az += dz * factor;
        }
        __syncthreads();
    }
    acceleration[3 * i] = ax, acceleration[3 * i + 1] = ay, acceleration[3 * i + 2] = az;
}

__device__ float normal_below(float d) {
    float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    float series = 1.781477937f + k * (-1.821255978f + k * 1.330274429f);
    float tail = 0.39894228f * expf(-0.5f * d * d) * (k * (0.31938153f + k * (-0.356563782f + k * series)));
    return d > 0 ? 1.0f - tail : tail;
}

extern "C" __global__ void black_scholes(const float *price, const float *strike, const float *years, float *call,
                                         float rate, float volatility, long long n) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= n) return;
    float spread = volatility * sqrtf(years[i]);
    float d1 = (logf(price[i] / strike[i]) + (rate + 0.5f * volatility * volatility) * years[i]) / spread;
    float discounted = strike[i] * expf(-rate * years[i]);
    call[i] = price[i] * normal_below(d1) - discounted * normal_below(d1 - spread);
}

extern "C" __global__ void stencil(const float *from, float *to, int height, int width) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < 1 || column < 1 || row >= height - 1 || column >= width - 1) return;
    const float *at = from + (long long)row * width + column;
    to[(long long)row * width + column] = 0.5f * at[0] + 0.125f * (at[-1] + at[1] + at[-width] + at[width]);
}

extern "C" __global__ void histogram(const unsigned char *data, int *counts, long long n) {
    __shared__ int bins[256];
    bins[threadIdx.x] = 0;
    __syncthreads();
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll) atomicAdd(&bins[data[i]], 1);
    __syncthreads();
    atomicAdd(&counts[threadIdx.x], bins[threadIdx.x]);
}
"""


def saxpy_function(cuda):
    def saxpy(a, x, y, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = a * x[i] + y[i]

    return saxpy


def matmul_function(cuda):
    float32 = np.float32

    def matmul(a, b, c):
        a_tile = cuda.shared.array((TILE, TILE), float32)
        b_tile = cuda.shared.array((TILE, TILE), float32)
        tx = cuda.threadIdx.x
        ty = cuda.threadIdx.y
        column, row = cuda.grid(2)
        total = float32(0)
        for t in range(a.shape[1] // TILE):
            a_tile[ty, tx] = a[row, t * TILE + tx]
            b_tile[ty, tx] = b[t * TILE + ty, column]
            cuda.syncthreads()
            for k in range(TILE):
                total += a_tile[ty, k] * b_tile[k, tx]
            cuda.syncthreads()
        c[row, column] = total

    return matmul


def mandelbrot_function(cuda):
    def mandelbrot(out, x0, y0, step):
        column, row = cuda.grid(2)
        if row < out.shape[0] and column < out.shape[1]:
            cx = x0 + column * step
            cy = y0 + row * step
            x = 0.0
            y = 0.0
            count = 0
            while count < MANDELBROT_LIMIT and x * x + y * y <= 4.0:
                x, y = x * x - y * y + cx, 2.0 * x * y + cy
                count += 1
            out[row, column] = count

    return mandelbrot


def nbody_function(cuda):
    float32 = np.float32

    def nbody(position, acceleration):
        tile = cuda.shared.array((NBODY_BLOCK, 4), float32)
        thread = cuda.threadIdx.x
        i = cuda.grid(1)
        x = position[i, 0]
        y = position[i, 1]
        z = position[i, 2]
        ax = float32(0)
        ay = float32(0)
        az = float32(0)
        for start in range(0, position.shape[0], NBODY_BLOCK):
            for k in range(4):
                tile[thread, k] = position[start + thread, k]
            cuda.syncthreads()
            for j in range(NBODY_BLOCK):
                dx = tile[j, 0] - x
                dy = tile[j, 1] - y
                dz = tile[j, 2] - z
                square = dx * dx + dy * dy + dz * dz + SOFTENING
                factor = tile[j, 3] / (square * math.sqrt(square))
                ax += dx * factor
                ay += dy * factor
                az += dz * factor
            cuda.syncthreads()
        acceleration[i, 0] = ax
        acceleration[i, 1] = ay
        acceleration[i, 2] = az

    return nbody


def black_scholes_function(cuda):
    float32 = np.float32
    half, one, root = float32(0.5), float32(1), float32(0.39894228)
    p, a1, a2, a3, a4, a5 = map(float32, (0.2316419, 0.31938153, -0.356563782, 1.781477937, -1.821255978, 1.330274429))

    @cuda.jit(device=True)
    def normal_below(d):
        k = one / (one + p * abs(d))
        tail = root * math.exp(-half * d * d) * (k * (a1 + k * (a2 + k * (a3 + k * (a4 + k * a5)))))
        return one - tail if d > 0 else tail

    def black_scholes(price, strike, years, call, rate, volatility):
        i = cuda.grid(1)
        if i < call.size:
            spread = volatility * math.sqrt(years[i])
            d1 = (math.log(price[i] / strike[i]) + (rate + half * volatility * volatility) * years[i]) / spread
            discounted = strike[i] * math.exp(-rate * years[i])
            call[i] = price[i] * normal_below(d1) - discounted * normal_below(d1 - spread)

    return black_scholes


def stencil_function(cuda):
    half, eighth = np.float32(0.5), np.float32(0.125)

    def stencil(before, after):
        column, row = cuda.grid(2)
        if 0 < row < before.shape[0] - 1 and 0 < column < before.shape[1] - 1:
            beside = before[row, column - 1] + before[row, column + 1]
            around = beside + before[row - 1, column] + before[row + 1, column]
            after[row, column] = half * before[row, column] + eighth * around

    return stencil


def histogram_function(cuda):
    def histogram(data, counts):
        bins = cuda.shared.array(256, np.int32)
        thread = cuda.threadIdx.x
        bins[thread] = 0
        cuda.syncthreads()
        for i in range(cuda.grid(1), data.size, cuda.gridsize(1)):
            cuda.atomic.add(bins, data[i], 1)
        cuda.syncthreads()
        cuda.atomic.add(counts, thread, bins[thread])

    return histogram


class Case:
    """One kernel on one input: how to launch it from Python kernels and from CUDA C."""

    c_text = CUDA_C

    def __init__(self, name, function, inputs, output, grid, block, scalars=(), c_scalars=(), scalars_first=False,
                 output_first=False):
        self.name, self.function = name, function
        self.c_name = function.__name__.removesuffix("_function")
        self.inputs, self.output = inputs, output
        self.grid, self.block = grid, block
        self.scalars, self.c_scalars = tuple(scalars), tuple(c_scalars)
        self.scalars_first, self.output_first = scalars_first, output_first

    def arguments(self, inputs, output):
        """The arguments of the Python kernel."""
        if self.output_first:
            return (output, *self.scalars)
        return (*self.scalars, *inputs, output) if self.scalars_first else (*inputs, output, *self.scalars)

    def c_arguments(self, inputs, output):
        if self.output_first:
            return (output, *self.c_scalars)
        in_front = self.scalars if self.scalars_first else ()
        return (*in_front, *inputs, output, *self.c_scalars)


def cases(scale):
    """The cases; scale "gpu" or "cpu" sets the sizes."""
    large = scale == "gpu"
    random = np.random.default_rng(1)

    def uniform(*shape):
        return random.random(shape, dtype=np.float32)

    n = 1 << (26 if large else 24)
    yield Case("saxpy", saxpy_function, [uniform(n), uniform(n)], np.zeros(n, np.float32), (-(-n // 256),), (256,),
               scalars=[np.float32(2)], c_scalars=[np.int64(n)], scalars_first=True)

    n = 2048 if large else 256
    yield Case("tiled matmul", matmul_function, [uniform(n, n), uniform(n, n)], np.zeros((n, n), np.float32),
               (n // TILE, n // TILE), (TILE, TILE), c_scalars=[np.int32(n)])

    n = 4096 if large else 1024
    view = (-2.0, -1.5, 3.0 / n)
    yield Case("Mandelbrot", mandelbrot_function, [], np.zeros((n, n), np.int32), (n // 16, n // 16), (16, 16),
               scalars=view, c_scalars=[np.int32(n), np.int32(n), *map(np.float64, view)], output_first=True)

    n = 65536 if large else 2048
    yield Case("n-body", nbody_function, [uniform(n, 4)], np.zeros((n, 3), np.float32), (n // NBODY_BLOCK,),
               (NBODY_BLOCK,), c_scalars=[np.int32(n)])

    n = 1 << (24 if large else 20)
    market = [uniform(n) * 25 + 5, uniform(n) * 99 + 1, uniform(n) * np.float32(9.75) + np.float32(0.25)]
    economy = [np.float32(0.02), np.float32(0.3)]
    yield Case("Black-Scholes", black_scholes_function, market, np.zeros(n, np.float32), (-(-n // 256),), (256,),
               scalars=economy, c_scalars=[*economy, np.int64(n)])

    n = 8192 if large else 1024
    yield Case("stencil", stencil_function, [uniform(n, n)], np.zeros((n, n), np.float32), (n // 32, n // 8), (32, 8),
               c_scalars=[np.int32(n), np.int32(n)])

    n = 1 << (26 if large else 22)
    data = random.integers(0, 256, n, np.uint8)
    yield Case("histogram", histogram_function, [data], np.zeros(256, np.int32), (1056 if large else 64,), (256,),
               c_scalars=[np.int64(n)])
