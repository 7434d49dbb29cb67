"""Transforms of images and signals, digests, noise, trees with a stack: kinds that the other files have nothing of."""

import math

import numpy as np

from collection.bits import words
from collection.entry import Entry, Problem, blocks, integers, tiles, uniform

ROOTS = [n for n in range(2, 312) if all(n % k for k in range(2, n))]


def fraction_of_root(prime, root):
    """32 bits of the fraction of a root of the prime, by integers."""
    scaled = prime << (32 * root)
    guess = int(round(scaled ** (1 / root)))
    while guess**root > scaled:
        guess -= 1
    while (guess + 1) ** root <= scaled:
        guess += 1
    return guess & 0xFFFFFFFF


class Digest(Entry):
    name = "SHA-256, one block of 64 bytes, words in a local array"
    gpu, cpu, small = 1 << 20, 1 << 13, 200
    c = r"""
__device__ unsigned turned(unsigned x, int by) { return x >> by | x << (32 - by); }

extern "C" __global__ void digest(const unsigned *message, const unsigned *constants, unsigned *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned w[16];
    for (int t = 0; t < 16; t++) w[t] = message[i * 16 + t];
    unsigned a = constants[64], b = constants[65], c = constants[66], d = constants[67];
    unsigned e = constants[68], f = constants[69], g = constants[70], h = constants[71];
    for (int t = 0; t < 64; t++) {
        unsigned word = w[t % 16];
        if (t >= 16) {
            unsigned x = w[(t + 1) % 16], y = w[(t + 14) % 16];
            word += (turned(x, 7) ^ turned(x, 18) ^ x >> 3) + w[(t + 9) % 16];
            word += turned(y, 17) ^ turned(y, 19) ^ y >> 10;
            w[t % 16] = word;
        }
        unsigned first = h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + (e & f ^ ~e & g) + constants[t] + word;
        unsigned second = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + (a & b ^ a & c ^ b & c);
        h = g, g = f, f = e, e = d + first, d = c, c = b, b = a, a = first + second;
    }
    out[i * 2] = a + constants[64];
    out[i * 2 + 1] = e + constants[68];
}"""

    def problem(n, random):
        constants = [fraction_of_root(prime, 3) for prime in ROOTS]
        constants += [fraction_of_root(prime, 2) for prime in ROOTS[:8]]
        constants = np.array(constants, np.uint32)
        return Problem([words(random, n, 16), constants, np.zeros((n, 2), np.uint32)], blocks(n, 128), (128,),
                       (np.int32(n),))

    def kernel(cuda):
        uint32 = np.uint32

        @cuda.jit(device=True)
        def turned(x, by):
            return x >> uint32(by) | x << uint32(32 - by)

        def digest(message, constants, out):
            i = cuda.grid(1)
            if i >= message.shape[0]:
                return
            w = cuda.local.array(16, uint32)
            for t in range(16):
                w[t] = message[i, t]
            a, b, c, d = constants[64], constants[65], constants[66], constants[67]
            e, f, g, h = constants[68], constants[69], constants[70], constants[71]
            for t in range(64):
                word = w[t % 16]
                if t >= 16:
                    x = w[(t + 1) % 16]
                    y = w[(t + 14) % 16]
                    word = uint32(word + (turned(x, 7) ^ turned(x, 18) ^ x >> uint32(3)) + w[(t + 9) % 16]
                                  + (turned(y, 17) ^ turned(y, 19) ^ y >> uint32(10)))
                    w[t % 16] = word
                first = uint32(h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + (e & f ^ ~e & g) + constants[t]
                               + word)
                second = uint32((turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + (a & b ^ a & c ^ b & c))
                h, g, f, e, d, c, b, a = g, f, e, uint32(d + first), c, b, a, uint32(first + second)
            out[i, 0] = uint32(a + constants[64])
            out[i, 1] = uint32(e + constants[68])

        return digest

    def reference(message, constants, out):
        mask = 0xFFFFFFFF

        def turned(x, by):
            return (x >> by | x << (32 - by)) & mask

        w = [message[:, t].astype(np.uint64) for t in range(16)]
        state = [np.full(len(message), int(each), np.uint64) for each in constants[64:]]
        a, b, c, d, e, f, g, h = state
        for t in range(64):
            if t >= 16:
                x, y = w[t - 15], w[t - 2]
                w.append((w[t - 16] + (turned(x, 7) ^ turned(x, 18) ^ x >> 3) + w[t - 7]
                          + (turned(y, 17) ^ turned(y, 19) ^ y >> 10)) & mask)
            first = (h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + (e & f ^ (e ^ mask) & g) + int(constants[t])
                     + w[t]) & mask
            second = ((turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + (a & b ^ a & c ^ b & c)) & mask
            h, g, f, e, d, c, b, a = g, f, e, (d + first) & mask, c, b, a, (first + second) & mask
        return np.stack([(a + state[0]) & mask, (e + state[4]) & mask], 1).astype(np.uint32)


class BitLife(Entry):
    name = "game of life, 32 cells in a word, borders wrapped by remainder"
    gpu, cpu, small = 1 << 14, 1 << 11, 64
    c = r"""
extern "C" __global__ void bit_life(const unsigned *now, unsigned *next, int height, int width) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    unsigned one = 0, two = 0, four = 0;
    for (int dy = -1; dy <= 1; dy++) {
        int row = (y + dy + height) % height * width;
        unsigned here = now[row + x], left = now[row + (x + width - 1) % width], right = now[row + (x + 1) % width];
        for (int dx = -1; dx <= 1; dx++) {
            if (dx == 0 && dy == 0) continue;
            unsigned cells = dx < 0 ? here << 1 | left >> 31 : dx > 0 ? here >> 1 | right << 31 : here;
            unsigned carry = one & cells;
            one ^= cells;
            unsigned more = two & carry;
            two ^= carry;
            four |= more;
        }
    }
    next[y * width + x] = ~four & two & (one | now[y * width + x]);
}"""

    def problem(n, random):
        shape = n, n // 32
        return Problem([words(random, *shape), np.zeros(shape, np.uint32)], tiles(shape[1], n), (32, 8),
                       (np.int32(n), np.int32(shape[1])))

    def kernel(cuda):
        uint32 = np.uint32
        single, last = uint32(1), uint32(31)

        def bit_life(now, next_state):
            x, y = cuda.grid(2)
            height, width = now.shape
            if x >= width or y >= height:
                return
            one = two = four = uint32(0)
            for dy in range(-1, 2):
                row = (y + dy + height) % height
                here = now[row, x]
                left = now[row, (x + width - 1) % width]
                right = now[row, (x + 1) % width]
                for dx in range(-1, 2):
                    if dx == 0 and dy == 0:
                        continue
                    if dx < 0:
                        cells = here << single | left >> last
                    elif dx > 0:
                        cells = here >> single | right << last
                    else:
                        cells = here
                    carry = one & cells
                    one ^= cells
                    more = two & carry
                    two ^= carry
                    four |= more
            next_state[y, x] = ~four & two & (one | now[y, x])

        return bit_life

    def reference(now, next_state):
        cells = np.unpackbits(now.view(np.uint8), axis=1, bitorder="little").astype(np.int8)
        around = sum(np.roll(cells, (dy, dx), (0, 1)) for dy in (-1, 0, 1) for dx in (-1, 0, 1) if dy or dx)
        lives = (around == 3) | (cells & (around == 2))
        return np.packbits(lives, axis=1, bitorder="little").view(np.uint32)


DEEPEST = 32


class Traversal(Entry):
    name = "items in an interval, a tree walked with a stack in a local array"
    gpu, cpu, small = 1 << 18, 1 << 12, 100
    c = r"""
extern "C" __global__ void traversal(const float *lows, const float *highs, const int *firsts, const float *from,
                                     const float *to, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int stack[32], top = 0, count = 0;
    stack[top++] = 0;
    while (top > 0) {
        int node = stack[--top];
        if (highs[node] < from[i] || lows[node] > to[i]) continue;
        if (firsts[node] < 0) {
            count++;
        } else {
            stack[top++] = firsts[node];
            stack[top++] = firsts[node] + 1;
        }
    }
    out[i] = count;
}"""

    def problem(n, random):
        leaves = 1 << 12
        levels = [np.sort(uniform(random, leaves))]
        lows, highs = [levels[0]], [levels[0]]
        while len(lows[0]) > 1:
            lows.insert(0, lows[0][::2])
            highs.insert(0, highs[0][1::2])
        firsts = np.arange(2 * leaves - 1) * 2 + 1
        firsts[leaves - 1:] = -1
        start = uniform(random, n)
        return Problem([np.concatenate(lows), np.concatenate(highs), firsts.astype(np.int32), start,
                        start + np.float32(0.01), np.zeros(n, np.int32)], blocks(n, 128), (128,), (np.int32(n),))

    def kernel(cuda):
        int32 = np.int32

        def traversal(lows, highs, firsts, start, end, out):
            i = cuda.grid(1)
            if i >= out.size:
                return
            stack = cuda.local.array(DEEPEST, int32)
            stack[0] = 0
            top = 1
            count = 0
            while top > 0:
                top -= 1
                node = stack[top]
                if highs[node] < start[i] or lows[node] > end[i]:
                    continue
                if firsts[node] < 0:
                    count += 1
                else:
                    stack[top] = firsts[node]
                    stack[top + 1] = firsts[node] + 1
                    top += 2
            out[i] = count

        return traversal

    def reference(lows, highs, firsts, start, end, out):
        leaves = lows[firsts < 0]
        return (np.searchsorted(leaves, end, "right") - np.searchsorted(leaves, start, "left")).astype(np.int32)


class Noise(Entry):
    name = "gradient noise in two dimensions, 4 octaves, a table of permutations"
    gpu, cpu, small, tolerance = 1 << 12, 1 << 8, 40, 1e-4
    c = r"""
__device__ float dot_gradient(int hash, float x, float y) {
    float u = hash & 1 ? -x : x, v = hash & 2 ? -y : y;
    return hash & 4 ? u + 2.0f * v : 2.0f * u + v;
}

extern "C" __global__ void noise(const int *table, float *out, float scale, int n) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= n || j >= n) return;
    float x = j * scale, y = i * scale, total = 0.0f, weight = 1.0f;
    for (int octave = 0; octave < 4; octave++) {
        float fx = floorf(x), fy = floorf(y);
        int cx = (int)fx & 255, cy = (int)fy & 255;
        float u = x - fx, v = y - fy;
        float su = u * u * (3.0f - 2.0f * u), sv = v * v * (3.0f - 2.0f * v);
        int left = table[cx] + cy, right = table[cx + 1] + cy;
        float a = dot_gradient(table[left], u, v), b = dot_gradient(table[right], u - 1.0f, v);
        float c = dot_gradient(table[left + 1], u, v - 1.0f), d = dot_gradient(table[right + 1], u - 1.0f, v - 1.0f);
        float top = a + su * (b - a), bottom = c + su * (d - c);
        total += weight * (top + sv * (bottom - top));
        x *= 2.0f, y *= 2.0f, weight *= 0.5f;
    }
    out[i * n + j] = total;
}"""

    def problem(n, random):
        table = random.permutation(256)
        return Problem([np.concatenate([table, table, table[:2]]).astype(np.int32), np.zeros((n, n), np.float32),
                        np.float32(0.03)], tiles(n, n), (32, 8), (np.int32(n),), outputs=(1,))

    def kernel(cuda):
        float32 = np.float32
        one, two, three, half = float32(1), float32(2), float32(3), float32(0.5)

        @cuda.jit(device=True)
        def dot_gradient(hashed, x, y):
            u = -x if hashed & 1 else x
            v = -y if hashed & 2 else y
            return u + two * v if hashed & 4 else two * u + v

        def noise(table, out, scale):
            j, i = cuda.grid(2)
            if i >= out.shape[0] or j >= out.shape[1]:
                return
            x = float32(j) * scale
            y = float32(i) * scale
            total = float32(0)
            weight = one
            for _ in range(4):
                fx = float32(math.floor(x))
                fy = float32(math.floor(y))
                cx = int(fx) & 255
                cy = int(fy) & 255
                u = x - fx
                v = y - fy
                su = u * u * (three - two * u)
                sv = v * v * (three - two * v)
                left = table[cx] + cy
                right = table[cx + 1] + cy
                a = dot_gradient(table[left], u, v)
                b = dot_gradient(table[right], u - one, v)
                c = dot_gradient(table[left + 1], u, v - one)
                d = dot_gradient(table[right + 1], u - one, v - one)
                top = a + su * (b - a)
                bottom = c + su * (d - c)
                total += weight * (top + sv * (bottom - top))
                x *= two
                y *= two
                weight *= half
            out[i, j] = total

        return noise

    def reference(table, out, scale):
        n = len(out)
        x, y = np.meshgrid(np.arange(n, dtype=np.float32) * scale, np.arange(n, dtype=np.float32) * scale)
        total, weight = np.zeros_like(out), np.float32(1)

        def dot_gradient(hashed, x, y):
            u, v = np.where(hashed & 1, -x, x), np.where(hashed & 2, -y, y)
            return np.where(hashed & 4, u + 2 * v, 2 * u + v)

        for _ in range(4):
            fx, fy = np.floor(x), np.floor(y)
            cx, cy, u, v = fx.astype(int) & 255, fy.astype(int) & 255, x - fx, y - fy
            su, sv = u * u * (3 - 2 * u), v * v * (3 - 2 * v)
            left, right = table[cx] + cy, table[cx + 1] + cy
            a, b = dot_gradient(table[left], u, v), dot_gradient(table[right], u - 1, v)
            c, d = dot_gradient(table[left + 1], u, v - 1), dot_gradient(table[right + 1], u - 1, v - 1)
            top, bottom = a + su * (b - a), c + su * (d - c)
            total += weight * (top + sv * (bottom - top))
            x, y, weight = x * 2, y * 2, weight / 2
        return total


class Cosines(Entry):
    name = "cosine transform of blocks of 8 x 8, two passes in shared memory"
    gpu, cpu, small, tolerance = 1 << 12, 1 << 9, 64, 1e-5
    c = r"""
extern "C" __global__ void cosines(const float *image, const float *table, float *out, int n) {
    __shared__ float first[8][8], second[8][8];
    int tx = threadIdx.x, ty = threadIdx.y;
    int place = (blockIdx.y * 8 + ty) * n + blockIdx.x * 8 + tx;
    first[ty][tx] = image[place];
    __syncthreads();
    float sum = 0.0f;
    for (int k = 0; k < 8; k++) sum += table[tx * 8 + k] * first[ty][k];
    second[ty][tx] = sum;
    __syncthreads();
    sum = 0.0f;
    for (int k = 0; k < 8; k++) sum += table[ty * 8 + k] * second[k][tx];
    out[place] = sum;
}"""

    def problem(n, random):
        k, m = np.meshgrid(np.arange(8), np.arange(8))
        table = np.cos((2 * k + 1) * m * np.pi / 16) / 2
        table[0] /= np.sqrt(2)
        image = uniform(random, n, n)
        return Problem([image, table.astype(np.float32), np.zeros_like(image)], (n // 8, n // 8), (8, 8),
                       (np.int32(n),))

    def kernel(cuda):
        float32 = np.float32

        def cosines(image, table, out):
            first = cuda.shared.array((8, 8), float32)
            second = cuda.shared.array((8, 8), float32)
            tx = cuda.threadIdx.x
            ty = cuda.threadIdx.y
            x, y = cuda.grid(2)
            first[ty, tx] = image[y, x]
            cuda.syncthreads()
            total = float32(0)
            for k in range(8):
                total += table[tx, k] * first[ty, k]
            second[ty, tx] = total
            cuda.syncthreads()
            total = float32(0)
            for k in range(8):
                total += table[ty, k] * second[k, tx]
            out[y, x] = total

        return cosines

    def reference(image, table, out):
        n = len(image)
        parts = image.reshape(n // 8, 8, n // 8, 8)
        return np.einsum("uy,vx,iyjx->iujv", table, table, parts).reshape(n, n).astype(np.float32)


GAPPED = 16


class Gaps(Entry):
    name = "alignment of words of 16 letters with affine gaps, two rows in local arrays"
    gpu, cpu, small = 1 << 17, 1 << 11, 60
    c = r"""
extern "C" __global__ void gaps(const unsigned char *a, const unsigned char *b, int *out, int n) {
    int item = blockIdx.x * blockDim.x + threadIdx.x;
    if (item >= n) return;
    int score[17], gap[17], best = 0;
    for (int j = 0; j <= 16; j++) score[j] = gap[j] = 0;
    for (int i = 0; i < 16; i++) {
        int corner = 0, across = 0;
        for (int j = 1; j <= 16; j++) {
            gap[j] = max(gap[j] - 1, score[j] - 4);
            across = max(across - 1, score[j - 1] - 4);
            int same = a[item * 16 + i] == b[item * 16 + j - 1] ? 2 : -1;
            int value = max(max(0, corner + same), max(gap[j], across));
            corner = score[j];
            score[j] = value;
            best = max(best, value);
        }
    }
    out[item] = best;
}"""

    def problem(n, random):
        a, b = (integers(random, 0, 4, n, GAPPED, dtype=np.uint8) for _ in range(2))
        return Problem([a, b, np.zeros(n, np.int32)], blocks(n, 128), (128,), (np.int32(n),))

    def kernel(cuda):
        int32 = np.int32

        def gaps(a, b, out):
            item = cuda.grid(1)
            if item >= out.size:
                return
            score = cuda.local.array(GAPPED + 1, int32)
            gap = cuda.local.array(GAPPED + 1, int32)
            for j in range(GAPPED + 1):
                score[j] = 0
                gap[j] = 0
            best = 0
            for i in range(GAPPED):
                corner = 0
                across = 0
                for j in range(1, GAPPED + 1):
                    gap[j] = max(gap[j] - 1, score[j] - 4)
                    across = max(across - 1, score[j - 1] - 4)
                    same = 2 if a[item, i] == b[item, j - 1] else -1
                    value = max(max(0, corner + same), max(gap[j], across))
                    corner = score[j]
                    score[j] = value
                    best = max(best, value)
            out[item] = best

        return gaps

    def reference(a, b, out):
        score, gap, best = (np.zeros((GAPPED + 1, out.size), np.int32) for _ in range(3))
        for i in range(GAPPED):
            corner = across = np.zeros(out.size, np.int32)
            for j in range(1, GAPPED + 1):
                gap[j] = np.maximum(gap[j] - 1, score[j] - 4)
                across = np.maximum(across - 1, score[j - 1] - 4)
                value = np.maximum(np.maximum(0, corner + np.where(a[:, i] == b[:, j - 1], 2, -1)),
                                   np.maximum(gap[j], across))
                corner, score[j] = score[j].copy(), value
                best[0] = np.maximum(best[0], value)
        return best[0]


class Push(Entry):
    name = "ranks pushed along edges by atomic additions"
    gpu, cpu, small, tolerance = 1 << 19, 1 << 13, 300, 1e-4
    c = r"""
extern "C" __global__ void push(const int *starts, const int *targets, const float *rank, float *out, float damping,
                                int n) {
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= n) return;
    int degree = starts[node + 1] - starts[node];
    if (degree == 0) return;
    float share = damping * rank[node] / degree;
    for (int q = starts[node]; q < starts[node + 1]; q++) atomicAdd(&out[targets[q]], share);
}"""

    def problem(n, random):
        starts = np.zeros(n + 1, np.int32)
        np.cumsum(integers(random, 0, 9, n), out=starts[1:])
        return Problem([starts, integers(random, 0, n, int(starts[-1])), uniform(random, n), np.zeros(n, np.float32),
                        np.float32(0.85)], blocks(n), (256,), (np.int32(n),), outputs=(3,))

    def kernel(cuda):
        float32 = np.float32

        def push(starts, targets, rank, out, damping):
            node = cuda.grid(1)
            if node >= rank.size:
                return
            degree = starts[node + 1] - starts[node]
            if degree == 0:
                return
            share = damping * rank[node] / float32(degree)
            for q in range(starts[node], starts[node + 1]):
                cuda.atomic.add(out, targets[q], share)

        return push

    def reference(starts, targets, rank, out, damping):
        degrees = np.diff(starts)
        shares = damping * rank / np.maximum(degrees, 1)
        np.add.at(out, targets, np.repeat(shares, degrees).astype(np.float32))
        return out


class Butterflies(Entry):
    name = "one pass of a Fourier transform, radix 4, complex64"
    gpu, cpu, small, tolerance = 1 << 22, 1 << 16, 1 << 10, 1e-4
    c = r"""
__device__ float2 product(float2 a, float2 b) { return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }

extern "C" __global__ void butterflies(const float2 *x, const float2 *roots, float2 *out, int stride, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, quarter = n / 4;
    if (i >= quarter) return;
    int k = i % stride, to = (i - k) * 4 + k;
    float2 a = x[i], b = product(x[i + quarter], roots[k]), c = product(x[i + 2 * quarter], roots[2 * k]);
    float2 d = product(x[i + 3 * quarter], roots[3 * k]);
    float2 s = make_float2(a.x + c.x, a.y + c.y), t = make_float2(a.x - c.x, a.y - c.y);
    float2 u = make_float2(b.x + d.x, b.y + d.y), v = make_float2(b.y - d.y, d.x - b.x);
    out[to] = make_float2(s.x + u.x, s.y + u.y);
    out[to + stride] = make_float2(t.x + v.x, t.y + v.y);
    out[to + 2 * stride] = make_float2(s.x - u.x, s.y - u.y);
    out[to + 3 * stride] = make_float2(t.x - v.x, t.y - v.y);
}"""

    def problem(n, random):
        stride = 16
        x = (uniform(random, n) + 1j * uniform(random, n)).astype(np.complex64)
        roots = np.exp(-2j * np.pi * np.arange(3 * stride) / (4 * stride)).astype(np.complex64)
        return Problem([x, roots, np.zeros_like(x), np.int32(stride)], blocks(n // 4), (256,), (np.int32(n),),
                       outputs=(2,))

    def kernel(cuda):
        complex64 = np.complex64

        def butterflies(x, roots, out, stride):
            i = cuda.grid(1)
            quarter = x.size // 4
            if i >= quarter:
                return
            k = i % stride
            to = (i - k) * 4 + k
            a = x[i]
            b = x[i + quarter] * roots[k]
            c = x[i + 2 * quarter] * roots[2 * k]
            d = x[i + 3 * quarter] * roots[3 * k]
            s = a + c
            t = a - c
            u = b + d
            v = complex64(complex(b.imag - d.imag, d.real - b.real))
            out[to] = s + u
            out[to + stride] = t + v
            out[to + 2 * stride] = s - u
            out[to + 3 * stride] = t - v

        return butterflies

    def reference(x, roots, out, stride):
        i = np.arange(x.size // 4)
        k = i % stride
        a, b, c, d = (part * roots[m * k] for m, part in enumerate(x.reshape(4, -1)))
        for m in range(4):
            out[(i - k) * 4 + k + m * stride] = a + (-1j) ** m * b + (-1) ** m * c + 1j**m * d
        return out


class Equalized(Entry):
    name = "histogram equalization of uint8 by a table of sums"
    gpu, cpu, small = 1 << 13, 1 << 10, 50
    c = r"""
extern "C" __global__ void equalized(const unsigned char *image, const int *sums, unsigned char *out, int height,
                                     int width) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= height || j >= width) return;
    int least = sums[0], value = (sums[image[i * width + j]] - least) * 255 / max(1, sums[255] - least);
    out[i * width + j] = min(max(value, 0), 255);
}"""

    def problem(n, random):
        image = integers(random, 0, 200, n, n, dtype=np.uint8)
        sums = np.cumsum(integers(random, 1, 1000, 256)).astype(np.int32)
        return Problem([image, sums, np.zeros_like(image)], tiles(n, n), (32, 8), (np.int32(n), np.int32(n)))

    def kernel(cuda):
        def equalized(image, sums, out):
            j, i = cuda.grid(2)
            if i >= out.shape[0] or j >= out.shape[1]:
                return
            least = sums[0]
            value = (sums[image[i, j]] - least) * 255 // max(1, sums[255] - least)
            out[i, j] = min(max(value, 0), 255)

        return equalized

    def reference(image, sums, out):
        least = int(sums[0])
        table = np.clip((sums.astype(np.int64) - least) * 255 // max(1, int(sums[255]) - least), 0, 255)
        return table[image].astype(np.uint8)


class Blur(Entry):
    name = "Gaussian blur along rows, radius 4, clamped borders, a loop over weights"
    gpu, cpu, small, tolerance = 1 << 12, 1 << 9, 50, 1e-5
    c = r"""
extern "C" __global__ void blur(const float *image, const float *weights, float *out, int height, int width,
                                int radius) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= height || j >= width) return;
    float sum = 0.0f;
    for (int k = -radius; k <= radius; k++)
        sum += weights[k + radius] * image[i * width + min(max(j + k, 0), width - 1)];
    out[i * width + j] = sum;
}"""

    def problem(n, random):
        radius = 4
        weights = np.exp(-np.arange(-radius, radius + 1) ** 2 / 8).astype(np.float32)
        image = uniform(random, n, n)
        return Problem([image, weights / weights.sum(), np.zeros_like(image)], tiles(n, n), (32, 8),
                       (np.int32(n), np.int32(n), np.int32(radius)))

    def kernel(cuda):
        float32 = np.float32

        def blur(image, weights, out):
            j, i = cuda.grid(2)
            height, width = image.shape
            if i >= height or j >= width:
                return
            radius = weights.size // 2
            total = float32(0)
            for k in range(-radius, radius + 1):
                total += weights[k + radius] * image[i, min(max(j + k, 0), width - 1)]
            out[i, j] = total

        return blur

    def reference(image, weights, out):
        radius = weights.size // 2
        padded = np.pad(image, ((0, 0), (radius, radius)), mode="edge")
        return sum(weight * padded[:, k:k + image.shape[1]] for k, weight in enumerate(weights))
