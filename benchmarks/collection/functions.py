"""Device functions, recursion, and texts."""

import math

import numpy as np

from collection.entry import Entry, Problem, blocks, integers, uniform


class RungeKutta(Entry):
    name = "Runge-Kutta, device functions that return tuples"
    gpu, cpu, small, tolerance = 1 << 20, 1 << 13, 500, 1e-3
    c = r"""
__device__ float2 slope(float x, float v, float mu) {
    return make_float2(v, mu * (1.0f - x * x) * v - x);
}

extern "C" __global__ void runge_kutta(const float *x0, const float *v0, float *x1, float *v1, float mu, float h,
                                       int steps, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = x0[i], v = v0[i];
    for (int k = 0; k < steps; k++) {
        float2 a = slope(x, v, mu);
        float2 b = slope(x + 0.5f * h * a.x, v + 0.5f * h * a.y, mu);
        float2 c = slope(x + 0.5f * h * b.x, v + 0.5f * h * b.y, mu);
        float2 d = slope(x + h * c.x, v + h * c.y, mu);
        x += h / 6.0f * (a.x + 2.0f * b.x + 2.0f * c.x + d.x);
        v += h / 6.0f * (a.y + 2.0f * b.y + 2.0f * c.y + d.y);
    }
    x1[i] = x;
    v1[i] = v;
}"""

    def problem(n, random):
        x, v = uniform(random, n, low=-1), uniform(random, n, low=-1)
        return Problem([x, v, np.zeros_like(x), np.zeros_like(x), np.float32(1.5), np.float32(0.01), np.int32(100)],
                       blocks(n), (256,), (np.int32(n),), outputs=(2, 3))

    def kernel(cuda):
        one, two, half, six = map(np.float32, (1, 2, 0.5, 6))

        @cuda.jit(device=True)
        def slope(x, v, mu):
            return v, mu * (one - x * x) * v - x

        def runge_kutta(x0, v0, x1, v1, mu, h, steps):
            i = cuda.grid(1)
            if i >= x0.size:
                return
            x = x0[i]
            v = v0[i]
            for _ in range(steps):
                ax, av = slope(x, v, mu)
                bx, bv = slope(x + half * h * ax, v + half * h * av, mu)
                cx, cv = slope(x + half * h * bx, v + half * h * bv, mu)
                dx, dv = slope(x + h * cx, v + h * cv, mu)
                x += h / six * (ax + two * bx + two * cx + dx)
                v += h / six * (av + two * bv + two * cv + dv)
            x1[i] = x
            v1[i] = v

        return runge_kutta

    def reference(x, v, x1, v1, mu, h, steps):
        def slope(y):
            return np.stack([y[1], mu * (1 - y[0] ** 2) * y[1] - y[0]])

        y = np.stack([x, v])
        for _ in range(steps):
            a = slope(y)
            b = slope(y + h / 2 * a)
            c = slope(y + h / 2 * b)
            y = y + h / 6 * (a + 2 * b + 2 * c + slope(y + h * c))
        return list(y.astype(np.float32))


class Newton(Entry):
    name = "Newton's method, float64, a device function in a loop"
    gpu, cpu, small, tolerance = 1 << 21, 1 << 14, 500, 1e-9
    c = r"""
__device__ double newton_step(double x, double target) {
    return x - (x * exp(x) - target) / (exp(x) * (x + 1.0));
}

extern "C" __global__ void newton(const double *targets, double *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double x = log(1.0 + targets[i]);
    for (int k = 0; k < 20; k++) {
        double next = newton_step(x, targets[i]);
        if (fabs(next - x) < 1e-12) break;
        x = next;
    }
    out[i] = x;
}"""

    def problem(n, random):
        return Problem([uniform(random, n, low=0.1, high=50, dtype=np.float64), np.zeros(n)], blocks(n), (256,),
                       (np.int32(n),))

    def kernel(cuda):
        @cuda.jit(device=True)
        def newton_step(x, target):
            return x - (x * math.exp(x) - target) / (math.exp(x) * (x + 1.0))

        def newton(targets, out):
            i = cuda.grid(1)
            if i >= out.size:
                return
            x = math.log(1.0 + targets[i])
            for _ in range(20):
                following = newton_step(x, targets[i])
                if abs(following - x) < 1e-12:
                    break
                x = following
            out[i] = x

        return newton

    def reference(targets, out):
        x = np.log(1 + targets)
        for _ in range(20):
            x = x - (x * np.exp(x) - targets) / (np.exp(x) * (x + 1))
        return x


class Recursion(Entry):
    name = "recursion: Ackermann's function of small numbers"
    gpu, cpu, small = 1 << 18, 1 << 14, 200
    c = r"""
__device__ int ackermann(int m, int n) {
    if (m == 0) return n + 1;
    if (n == 0) return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, n - 1));
}

extern "C" __global__ void recursion(const int *x, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = ackermann(2, x[i]);
}"""

    def problem(n, random):
        return Problem([integers(random, 0, 5, n), np.zeros(n, np.int32)], blocks(n), (256,), (np.int32(n),))

    def kernel(cuda):
        @cuda.jit(device=True)
        def ackermann(m, n):
            if m == 0:
                return n + 1
            if n == 0:
                return ackermann(m - 1, 1)
            return ackermann(m - 1, ackermann(m, n - 1))

        def recursion(x, out):
            i = cuda.grid(1)
            if i < out.size:
                out[i] = ackermann(2, x[i])

        return recursion

    def reference(x, out):
        return 2 * x + 3


class Matches(Entry):
    name = "string matching: places of a word of 8 letters"
    gpu, cpu, small = 1 << 26, 1 << 20, 5000
    c = r"""
extern "C" __global__ void matches(const unsigned char *text, const unsigned char *word, unsigned char *out, int length,
                                   int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > n - length) return;
    int k = 0;
    while (k < length && text[i + k] == word[k]) k++;
    out[i] = k == length;
}"""

    def problem(n, random):
        text = integers(random, 0, 2, n, dtype=np.uint8)
        return Problem([text, text[100:108].copy(), np.zeros_like(text)], blocks(n), (256,),
                       (np.int32(8), np.int32(n)))

    def kernel(cuda):
        def matches(text, word, out):
            i = cuda.grid(1)
            length = word.size
            if i > text.size - length:
                return
            k = 0
            while k < length and text[i + k] == word[k]:
                k += 1
            out[i] = 1 if k == length else 0

        return matches

    def reference(text, word, out):
        out[:text.size - word.size + 1] = (np.lib.stride_tricks.sliding_window_view(text, word.size) == word).all(1)
        return out

    def loops(numba):
        def matches(text, word, out):
            for i in numba.prange(text.size - word.size + 1):
                k = 0
                while k < word.size and text[i + k] == word[k]:
                    k += 1
                out[i] = 1 if k == word.size else 0

        return matches
