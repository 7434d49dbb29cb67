"""What benchmarks/cpu_device.py runs: each case as a CUDA kernel for cujit and numba's simulator, as NumPy expressions,
and as loops for numba's `parallel`."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

cuda = None     # the library whose kernels they are: set it before all_cases(). The simulator wants it global

LIMIT = 255
BINS = 256
RATE, VOLATILITY, SQRT2 = 0.02, 0.3, math.sqrt(2)


@dataclass
class Case:
    name: str
    function: Callable      # the kernel
    arguments: tuple        # of the kernel; the output is the last one
    grid: tuple
    block: tuple
    numpy_form: Callable    # of the arguments without the output -> the output
    loops: Callable         # numba -> function of all arguments
    has_barriers: bool
    tolerance: float = 0.0  # relative; of integers the share that may differ
    simulated: tuple = None # arguments and grid for the simulator; None: the same arguments, few blocks

    def in_simulator(self):
        """Arguments, grid, and how many times the work of that is the whole work."""
        arguments, grid = self.simulated or (self.arguments, (1 if self.has_barriers else 4,))
        return arguments, grid, math.prod(self.grid) / math.prod(grid)


# --- kernels ----------------------------------------------------------------------------------------------------------


def saxpy(a, x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a * x[i] + y[i]


def waves(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = math.sin(a[i]) * math.exp(-b[i]) + a[i] * b[i]


def black_scholes(spot, strike, years, call, put):
    i = cuda.grid(1)
    if i < put.size:
        root = math.sqrt(years[i])
        d1 = (math.log(spot[i] / strike[i]) + (RATE + VOLATILITY * VOLATILITY / 2) * years[i]) / (VOLATILITY * root)
        d2 = d1 - VOLATILITY * root
        discounted = strike[i] * math.exp(-RATE * years[i])
        above1 = (1 + math.erf(d1 / SQRT2)) / 2
        above2 = (1 + math.erf(d2 / SQRT2)) / 2
        call[i] = spot[i] * above1 - discounted * above2
        put[i] = discounted * (1 - above2) - spot[i] * (1 - above1)


def mandelbrot(x0, y0, step, out):
    column, row = cuda.grid(2)
    if row < out.shape[0] and column < out.shape[1]:
        cx = x0 + column * step
        cy = y0 + row * step
        x = 0.0
        y = 0.0
        count = 0
        while count < LIMIT and x * x + y * y <= 4.0:
            x, y = x * x - y * y + cx, 2.0 * x * y + cy
            count += 1
        out[row, column] = count


def matmul_kernel(tile):
    float32 = np.float32

    def matmul(a, b, c):
        a_tile = cuda.shared.array((tile, tile), float32)
        b_tile = cuda.shared.array((tile, tile), float32)
        tx = cuda.threadIdx.x
        ty = cuda.threadIdx.y
        column, row = cuda.grid(2)
        total = float32(0)
        for t in range(a.shape[1] // tile):
            a_tile[ty, tx] = a[row, t * tile + tx]
            b_tile[ty, tx] = b[t * tile + ty, column]
            cuda.syncthreads()
            for k in range(tile):
                total += a_tile[ty, k] * b_tile[k, tx]
            cuda.syncthreads()
        c[row, column] = total

    return matmul


def stencil_rows(a, out):
    i, j = cuda.grid(2)
    if 0 < i < a.shape[0] - 1 and 0 < j < a.shape[1] - 1:
        out[i, j] = np.float32(0.25) * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])


def stencil_columns(a, out):
    j, i = cuda.grid(2)
    if 0 < i < a.shape[0] - 1 and 0 < j < a.shape[1] - 1:
        out[i, j] = np.float32(0.25) * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])


def matmul_rows_kernel(tile):
    float32 = np.float32

    def matmul(a, b, c):
        a_tile = cuda.shared.array((tile, tile), float32)
        b_tile = cuda.shared.array((tile, tile), float32)
        tx = cuda.threadIdx.x
        ty = cuda.threadIdx.y
        row, column = cuda.grid(2)
        total = float32(0)
        for t in range(a.shape[1] // tile):
            a_tile[tx, ty] = a[row, t * tile + ty]
            b_tile[tx, ty] = b[t * tile + tx, column]
            cuda.syncthreads()
            for k in range(tile):
                total += a_tile[tx, k] * b_tile[k, ty]
            cuda.syncthreads()
        c[row, column] = total

    return matmul


def tree_kernel(block):
    float32 = np.float32

    def tree(x, out):
        part = cuda.shared.array(block, float32)
        thread = cuda.threadIdx.x
        i = cuda.grid(1)
        part[thread] = x[i] if i < x.size else float32(0)
        cuda.syncthreads()
        half = block // 2
        while half > 0:
            if thread < half:
                part[thread] += part[thread + half]
            cuda.syncthreads()
            half //= 2
        if thread == 0:
            out[cuda.blockIdx.x] = part[0]

    return tree


def histogram(values, out):
    counts = cuda.shared.array(BINS, np.int32)
    thread = cuda.threadIdx.x
    counts[thread] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), values.size, cuda.gridsize(1)):
        cuda.atomic.add(counts, values[i], 1)
    cuda.syncthreads()
    cuda.atomic.add(out, thread, counts[thread])


def global_histogram(values, out):
    for i in range(cuda.grid(1), values.size, cuda.gridsize(1)):
        cuda.atomic.add(out, values[i], 1)


def shuffle(x, out):
    i = cuda.grid(1)
    value = x[i]
    offset = 16
    while offset > 0:
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, offset)
        offset //= 2
    if cuda.laneid == 0:
        out[i // 32] = value


# --- loops for numba's `parallel` -------------------------------------------------------------------------------------


def saxpy_loops(numba):
    def loops(a, x, y, out):
        for i in numba.prange(out.size):
            out[i] = a * x[i] + y[i]

    return loops


def waves_loops(numba):
    def loops(a, b, out):
        for i in numba.prange(out.size):
            out[i] = math.sin(a[i]) * math.exp(-b[i]) + a[i] * b[i]

    return loops


def black_scholes_loops(numba):
    def loops(spot, strike, years, call, put):
        for i in numba.prange(put.size):
            root = math.sqrt(years[i])
            d1 = (math.log(spot[i] / strike[i]) + (RATE + VOLATILITY * VOLATILITY / 2) * years[i]) / (VOLATILITY * root)
            d2 = d1 - VOLATILITY * root
            discounted = strike[i] * math.exp(-RATE * years[i])
            above1 = (1 + math.erf(d1 / SQRT2)) / 2
            above2 = (1 + math.erf(d2 / SQRT2)) / 2
            call[i] = spot[i] * above1 - discounted * above2
            put[i] = discounted * (1 - above2) - spot[i] * (1 - above1)

    return loops


def mandelbrot_loops(numba):
    def loops(x0, y0, step, out):
        for row in numba.prange(out.shape[0]):
            for column in range(out.shape[1]):
                cx = x0 + column * step
                cy = y0 + row * step
                x = 0.0
                y = 0.0
                count = 0
                while count < LIMIT and x * x + y * y <= 4.0:
                    x, y = x * x - y * y + cx, 2.0 * x * y + cy
                    count += 1
                out[row, column] = count

    return loops


def matmul_loops(numba):
    def loops(a, b, out):
        for i in numba.prange(out.shape[0]):
            out[i] = 0
            for k in range(a.shape[1]):
                for j in range(out.shape[1]):
                    out[i, j] += a[i, k] * b[k, j]

    return loops


def stencil_loops(numba):
    def loops(a, out):
        for i in numba.prange(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                out[i, j] = np.float32(0.25) * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])

    return loops


def segments_loops(numba):
    """Sums of as many neighbours as each item of the output stands for."""

    def loops(x, out):
        length = x.size // out.size
        for segment in numba.prange(out.size):
            total = np.float32(0)
            for i in range(segment * length, segment * length + length):
                total += x[i]
            out[segment] = total

    return loops


def histogram_loops(numba):
    def loops(values, out):
        parts = numba.get_num_threads()
        counts = np.zeros((parts, out.size), np.int32)
        for part in numba.prange(parts):
            for i in range(part * values.size // parts, (part + 1) * values.size // parts):
                counts[part, values[i]] += 1
        for part in range(parts):
            out += counts[part]

    return loops


# --- NumPy ------------------------------------------------------------------------------------------------------------


def mandelbrot_numpy(shape):
    def form(x0, y0, step):
        c = (x0 + np.arange(shape[1]) * step) + 1j * (y0 + np.arange(shape[0]) * step)[:, None]
        z, count = np.zeros_like(c), np.zeros(shape, np.int32)
        inside = np.arange(c.size)
        for _ in range(LIMIT):
            values = z.ravel()[inside]
            inside = inside[values.real**2 + values.imag**2 <= 4.0]
            z.ravel()[inside] = z.ravel()[inside] ** 2 + c.ravel()[inside]
            count.ravel()[inside] += 1
        return count

    return form


def stencil_numpy(a):
    out = np.zeros_like(a)
    out[1:-1, 1:-1] = np.float32(0.25) * (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])
    return out


def black_scholes_numpy(spot, strike, years, call):
    """NumPy has no error function: SciPy's, or the standard library's one by one."""
    try:
        from scipy.special import erf
    except ImportError:
        erf = np.vectorize(math.erf, otypes=[float])
    root = np.sqrt(years)
    d1 = (np.log(spot / strike) + (RATE + VOLATILITY**2 / 2) * years) / (VOLATILITY * root)
    above1, above2 = ((1 + erf(d / SQRT2)) / 2 for d in (d1, d1 - VOLATILITY * root))
    discounted = strike * np.exp(-RATE * years)
    return discounted * (1 - above2) - spot * (1 - above1)


def segments_numpy(length):
    return lambda x: x.reshape(-1, length).sum(axis=1)


# --- the cases --------------------------------------------------------------------------------------------------------


def elementwise_cases(uniform):
    n = 1 << 25
    grid = (n // 256,)
    x, y = uniform(n), uniform(n)
    yield Case("saxpy, 2^25", saxpy, (np.float32(2), x, y, np.zeros_like(x)), grid, (256,),
               lambda a, x, y: a * x + y, saxpy_loops, False, 1e-6)
    yield Case("sin(a)*exp(-b)+a*b, 2^25", waves, (x, y, np.zeros_like(x)), grid, (256,),
               lambda a, b: np.sin(a) * np.exp(-b) + a * b, waves_loops, False, 1e-5)

    n = 1 << 22
    spot, strike, years = (low + (high - low) * np.random.default_rng(low).random(n)
                           for low, high in ((10, 50), (11, 60), (1, 5)))
    yield Case("Black-Scholes, 2^22, float64", black_scholes, (spot, strike, years, np.zeros(n), np.zeros(n)),
               (n // 256,), (256,), black_scholes_numpy, black_scholes_loops, False, 1e-9)

    def picture(size):
        return (-2.0, -1.5, 3.0 / size, np.zeros((size, size), np.int32)), (size // 16, size // 16)

    arguments, grid = picture(1024)
    yield Case("Mandelbrot, 1024^2", mandelbrot, arguments, grid, (16, 16), mandelbrot_numpy((1024, 1024)),
               mandelbrot_loops, False, 2e-3, picture(64))
    plane = uniform(2048, 2048)
    for name, kernel in (("j, i", stencil_columns), ("i, j", stencil_rows)):
        yield Case(f"stencil 2048^2, {name} = grid(2)", kernel, (plane, np.zeros_like(plane)), (128, 128), (16, 16),
                   stencil_numpy, stencil_loops, False, 1e-5)


def barrier_cases(uniform):
    n = 512
    a, b = uniform(n, n), uniform(n, n)
    for tile in (16, 32):
        yield Case(f"matmul 512, tiles of {tile}x{tile}", matmul_kernel(tile), (a, b, np.zeros_like(a)),
                   (n // tile, n // tile), (tile, tile), lambda a, b: a @ b, matmul_loops, True, 1e-4)
    yield Case("matmul 512, tiles of 16x16, y fastest", matmul_rows_kernel(16), (a, b, np.zeros_like(a)),
               (n // 16, n // 16), (16, 16), lambda a, b: a @ b, matmul_loops, True, 1e-4)
    n = 1 << 20
    x = uniform(n)
    for block in (256, 1024):
        yield Case(f"tree reduction 2^20, blocks of {block}", tree_kernel(block),
                   (x, np.zeros(n // block, np.float32)), (n // block,), (block,), segments_numpy(block),
                   segments_loops, True, 1e-4)
    yield Case("shuffle reduction 2^20", shuffle, (x, np.zeros(n // 32, np.float32)), (n // 256,), (256,),
               segments_numpy(32), segments_loops, True, 1e-5)
    values = np.random.default_rng(2).integers(0, BINS, 1 << 22).astype(np.uint8)
    counts = np.zeros(BINS, np.int32)
    yield Case("histogram 2^22, shared atomics", histogram, (values, counts), (256,), (BINS,),
               lambda values: np.bincount(values, minlength=BINS), histogram_loops, True,
               simulated=((values[: values.size // 256], counts), (1,)))
    yield Case("histogram 2^22, global atomics", global_histogram, (values, counts), (256,), (BINS,),
               lambda values: np.bincount(values, minlength=BINS), histogram_loops, False,
               simulated=((values[: values.size // 256], counts), (1,)))


def all_cases():
    random = np.random.default_rng(1)

    def uniform(*shape):
        return random.random(shape, dtype=np.float32)

    yield from elementwise_cases(uniform)
    yield from barrier_cases(uniform)
