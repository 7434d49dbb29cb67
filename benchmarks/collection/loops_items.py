"""Loops for numba's `parallel`, an item for each trip: of kernels that are a thread for each item."""

import math

import numpy as np

from collection import bits, dense, functions, gathers, monte_carlo, number_kinds, particles, sorting, stencils
from collection.entry import loops_of

CHUNK = 256     # items that share a local array


@loops_of(bits.Fnv)
def fnv(numba):
    uint32 = np.uint32
    basis, prime = uint32(2166136261), uint32(16777619)

    def fnv(data, out):
        for i in numba.prange(out.size):
            h = basis
            for k in range(data.shape[1]):
                h = uint32((h ^ data[i, k]) * prime)
            out[i] = h

    return fnv


@loops_of(bits.Crc)
def crc(numba):
    uint32 = np.uint32
    ones, byte, eight = uint32(0xFFFFFFFF), uint32(0xFF), uint32(8)

    def crc(data, table, out):
        for i in numba.prange(out.size):
            c = ones
            for k in range(data.shape[0]):
                c = table[(c ^ data[k, i]) & byte] ^ (c >> eight)
            out[i] = c ^ ones

    return crc


@loops_of(bits.Hamming)
def hamming(numba):
    uint32 = np.uint32
    first, second, third, factor = map(uint32, (0x55555555, 0x33333333, 0x0F0F0F0F, 0x01010101))
    one, two, four, most = map(uint32, (1, 2, 4, 24))

    @numba.njit
    def ones_of(v):
        v = uint32(v - ((v >> one) & first))
        v = uint32((v & second) + ((v >> two) & second))
        v = uint32((v + (v >> four)) & third)
        return uint32(v * factor) >> most

    def hamming(x, keys, out):
        for i in numba.prange(out.size):
            best = 1000
            at = 0
            for k in range(keys.shape[0]):
                distance = 0
                for w in range(4):
                    distance += ones_of(x[i, w] ^ keys[k, w])
                if distance < best:
                    best = distance
                    at = k
            out[i] = at

    return hamming


@loops_of(bits.Morton)
def morton(numba):
    uint32 = np.uint32
    most = np.float32(1023)

    @numba.njit
    def spread(v):
        v = (v | (v << uint32(16))) & uint32(0x030000FF)
        v = (v | (v << uint32(8))) & uint32(0x0300F00F)
        v = (v | (v << uint32(4))) & uint32(0x030C30C3)
        return (v | (v << uint32(2))) & uint32(0x09249249)

    def morton(x, y, z, out):
        for i in numba.prange(out.size):
            a = spread(uint32(x[i] * most))
            b = spread(uint32(y[i] * most))
            c = spread(uint32(z[i] * most))
            out[i] = a | (b << uint32(1)) | (c << uint32(2))

    return morton


@loops_of(bits.Cipher)
def cipher(numba):
    uint32 = np.uint32
    delta, three, four, five, eleven = map(uint32, (0x9E3779B9, 3, 4, 5, 11))

    def cipher(text, key, out):
        for i in numba.prange(text.shape[0]):
            a = text[i, 0]
            b = text[i, 1]
            total = uint32(0)
            for _ in range(32):
                a = uint32(a + ((((b << four) ^ (b >> five)) + b) ^ (total + key[total & three])))
                total = uint32(total + delta)
                b = uint32(b + ((((a << four) ^ (a >> five)) + a) ^ (total + key[(total >> eleven) & three])))
            out[i, 0] = a
            out[i, 1] = b

    return cipher


@loops_of(bits.Wide)
def wide(numba):
    uint64 = np.uint64
    factor = uint64(2685821657736338717)

    def wide(seeds, out):
        for i in numba.prange(out.size):
            x = seeds[i]
            total = uint64(0)
            for _ in range(16):
                x ^= x >> uint64(12)
                x ^= x << uint64(25)
                x ^= x >> uint64(27)
                total += x * factor
            out[i] = total

    return wide


@loops_of(dense.Pivot)
def pivot(numba):
    float32 = np.float32

    def pivot(a, b, out):
        for chunk in numba.prange(-(-a.shape[0] // CHUNK)):
            m = np.empty((5, 6), float32)
            for item in range(chunk * CHUNK, min(chunk * CHUNK + CHUNK, a.shape[0])):
                m[:, :5] = a[item]
                m[:, 5] = b[item]
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
                        total -= m[i, j] * out[item, j]
                    out[item, i] = total / m[i, i]

    return pivot


@loops_of(dense.Inverse)
def inverse(numba):
    def inverse(a, out):
        for i in numba.prange(a.shape[0]):
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


@loops_of(functions.RungeKutta)
def runge_kutta(numba):
    one, two, half, six = map(np.float32, (1, 2, 0.5, 6))

    @numba.njit
    def slope(x, v, mu):
        return v, mu * (one - x * x) * v - x

    def runge_kutta(x0, v0, x1, v1, mu, h, steps):
        for i in numba.prange(x0.size):
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


@loops_of(functions.Newton)
def newton(numba):
    @numba.njit
    def newton_step(x, target):
        return x - (x * math.exp(x) - target) / (math.exp(x) * (x + 1.0))

    def newton(targets, out):
        for i in numba.prange(out.size):
            x = math.log(1.0 + targets[i])
            for _ in range(20):
                following = newton_step(x, targets[i])
                if abs(following - x) < 1e-12:
                    break
                x = following
            out[i] = x

    return newton


@loops_of(functions.Recursion)
def recursion(numba):
    @numba.njit
    def ackermann(m, n):
        if m == 0:
            return n + 1
        if n == 0:
            return ackermann(m - 1, 1)
        return ackermann(m - 1, ackermann(m, n - 1))

    def recursion(x, out):
        for i in numba.prange(out.size):
            out[i] = ackermann(2, x[i])

    return recursion


@loops_of(gathers.Table)
def table(numba):
    float32, int32 = np.float32, np.int32
    one = float32(1)

    def table(x, values, out):
        for i in numba.prange(out.size):
            place = x[i] * float32(values.size - 1)
            k = min(int32(place), int32(values.size - 2))
            part = place - float32(k)
            out[i] = values[k] * (one - part) + values[k + 1] * part

    return table


@loops_of(monte_carlo.Quarter)
def quarter(numba):
    uint32, float32 = np.uint32, np.float32
    factor, summand, eight, unit = uint32(1664525), uint32(1013904223), uint32(8), float32(1 / 16777216)

    def quarter(seeds, out, trips):
        for i in numba.prange(out.size):
            state = seeds[i]
            inside = 0
            for _ in range(trips):
                state = uint32(state * factor + summand)
                x = float32(state >> eight) * unit
                state = uint32(state * factor + summand)
                y = float32(state >> eight) * unit
                if x * x + y * y < float32(1):
                    inside += 1
            out[i] = inside

    return quarter


@loops_of(monte_carlo.Paths)
def paths(numba):
    uint32, float32 = np.uint32, np.float32
    unit, turn, two = float32(1 / 16777216), float32(6.2831853), float32(2)

    @numba.njit
    def advance(s):
        s = uint32(s ^ (s << 13))
        s = uint32(s ^ (s >> 17))
        return uint32(s ^ (s << 5))

    def paths(seeds, out, drift, spread, steps):
        for i in numba.prange(out.size):
            s = seeds[i]
            price = float32(100)
            total = float32(0)
            for _ in range(steps):
                s = advance(s)
                u = float32((s >> 8) + 1) * unit
                s = advance(s)
                v = float32(s >> 8) * unit
                normal = math.sqrt(-two * math.log(u)) * math.cos(turn * v)
                price *= math.exp(drift + spread * normal)
                total += price
            out[i] = max(total / float32(steps) - float32(100), float32(0))

    return paths


@loops_of(number_kinds.Julia)
def julia(numba):
    float32 = np.float32
    edge, span, four = float32(-1.5), float32(3), float32(4)

    def julia(out, cx, cy):
        n = out.shape[0]
        for i in numba.prange(n):
            for j in range(n):
                z = np.complex64(complex(edge + span * float32(j) / float32(n), edge + span * float32(i) / float32(n)))
                c = np.complex64(complex(cx, cy))
                count = 0
                while count < 200 and z.real * z.real + z.imag * z.imag < four:
                    z = z * z + c
                    count += 1
                out[i, j] = count

    return julia


@loops_of(particles.Records)
def records(numba):
    tenth, one, half = np.float32(0.1), np.float32(1), np.float32(0.5)

    def records(before, after, dt):
        for i in numba.prange(before.size):
            b = before[i]
            r = math.sqrt(b.x * b.x + b.y * b.y) + tenth
            pull = -one / (r * r * r) if b.kind == 1 else -half / b.mass
            after[i].vx = b.vx + dt * pull * b.x
            after[i].vy = b.vy + dt * pull * b.y
            after[i].x = b.x + dt * b.vx
            after[i].y = b.y + dt * b.vy
            after[i].mass = b.mass
            after[i].kind = b.kind

    return records


@loops_of(sorting.Exchanges)
def exchanges(numba):
    """A few columns at a time, so that the innermost loop is over neighbours."""
    int32 = np.int32

    def exchanges(x, out):
        for chunk in numba.prange(-(-x.shape[1] // CHUNK)):
            first, end = chunk * CHUNK, min(chunk * CHUNK + CHUNK, x.shape[1])
            v = np.empty((16, CHUNK), int32)
            for k in range(16):
                for i in range(first, end):
                    v[k, i - first] = x[k, i]
            for trip in range(16):
                for k in range(trip % 2, 15, 2):
                    for i in range(end - first):
                        low = min(v[k, i], v[k + 1, i])
                        high = max(v[k, i], v[k + 1, i])
                        v[k, i] = low
                        v[k + 1, i] = high
            for k in range(16):
                for i in range(first, end):
                    out[k, i] = v[k, i - first]

    return exchanges


@loops_of(sorting.Merge)
def merge(numba):
    def merge(a, b, out):
        for i in numba.prange(a.size):
            low = 0
            high = b.size
            while low < high:
                middle = (low + high) // 2
                if b[middle] < a[i]:
                    low = middle + 1
                else:
                    high = middle
            out[i + low] = a[i]
        for i in numba.prange(b.size):
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


@loops_of(stencils.LineHigh)
def line_high(numba):
    """Slices: numba does not test their items for negative indices."""

    def line_high(u, weights, out):
        out[4:-4] = (weights[0] * u[4:-4] + weights[1] * (u[3:-5] + u[5:-3]) + weights[2] * (u[2:-6] + u[6:-2])
                     + weights[3] * (u[1:-7] + u[7:-1]) + weights[4] * (u[:-8] + u[8:]))

    return line_high
