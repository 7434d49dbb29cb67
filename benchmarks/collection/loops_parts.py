"""Loops for numba's `parallel` of kernels whose threads work together: a trip does what a block does, or has a copy of
its own of what the kernel adds to by atomics."""

import numpy as np

from collection import dynamic_programming, gathers, graph_search, particles, scans, sorting, sparse
from collection.entry import loops_of

LETTERS = dynamic_programming.LETTERS


@loops_of(dynamic_programming.Distance)
def distance(numba):
    int32 = np.int32
    row_length = LETTERS + 1

    def distance(a, b, out):
        for chunk in numba.prange(-(-out.size // 64)):
            row = np.empty(row_length, int32)
            for item in range(chunk * 64, min(chunk * 64 + 64, out.size)):
                for j in range(row_length):
                    row[j] = j
                for i in range(1, row_length):
                    corner = row[0]
                    row[0] = i
                    for j in range(1, row_length):
                        above = row[j]
                        change = corner + (1 if a[item, i - 1] != b[item, j - 1] else 0)
                        row[j] = min(min(above + 1, row[j - 1] + 1), change)
                        corner = above
                out[item] = row[LETTERS]

    return distance


@loops_of(dynamic_programming.Alignment)
def alignment(numba):
    int32 = np.int32

    def alignment(a, b, out):
        for pair in numba.prange(out.size):
            row = np.zeros(b.shape[1] + 1, int32)
            best = 0
            for i in range(a.shape[1]):
                corner = 0
                for j in range(b.shape[1]):
                    same = 3 if a[pair, i] == b[pair, j] else -2
                    value = max(max(0, corner + same), max(row[j], row[j + 1]) - 4)
                    corner = row[j + 1]
                    row[j + 1] = value
                    best = max(best, value)
            out[pair] = best

    return alignment


@loops_of(dynamic_programming.Hidden)
def hidden(numba):
    float32 = np.float32
    lowest = float32(-1e30)

    def hidden(seen, change, emit, out):
        for chunk in numba.prange(-(-out.size // 64)):
            score = np.empty(8, float32)
            following = np.empty(8, float32)
            for item in range(chunk * 64, min(chunk * 64 + 64, out.size)):
                score[:] = 0
                for k in range(seen.shape[0]):
                    sign = seen[k, item]
                    for to in range(8):
                        best = lowest
                        for start in range(8):
                            best = max(best, score[start] + change[start, to])
                        following[to] = best + emit[to, sign]
                    score[:] = following
                best = lowest
                for s in range(8):
                    best = max(best, score[s])
                out[item] = best

    return hidden


@loops_of(gathers.Kept)
def kept_items(numba):
    def kept_items(x, counts, least):
        for block in numba.prange(counts.size):
            kept = 0
            for i in range(block * 256, min(block * 256 + 256, x.size)):
                if x[i] > least:
                    kept += 1
            counts[block] = kept

    return kept_items


@loops_of(graph_search.Level)
def level(numba):
    def level(starts, to, depth, out, now):
        for v in numba.prange(depth.size):
            if depth[v] == now:
                for q in range(starts[v], starts[v + 1]):
                    if depth[to[q]] < 0:
                        out[to[q]] = now + 1

    return level


@loops_of(graph_search.Labels)
def labels(numba):
    def labels(a, b, label, old):
        parts = numba.get_num_threads()
        least = np.empty((parts, label.size), np.int32)
        for part in numba.prange(parts):
            least[part] = label
            for e in range(part * a.size // parts, (part + 1) * a.size // parts):
                at_a = old[a[e]]
                at_b = old[b[e]]
                if at_a < at_b:
                    least[part, b[e]] = min(least[part, b[e]], at_a)
                elif at_b < at_a:
                    least[part, a[e]] = min(least[part, a[e]], at_b)
        for i in numba.prange(label.size):
            for part in range(parts):
                label[i] = min(label[i], least[part, i])

    return labels


@loops_of(particles.Deposit)
def deposit(numba):
    float32, int32 = np.float32, np.int32
    one = float32(1)

    def deposit(x, y, grid):
        parts = numba.get_num_threads()
        height, width = grid.shape
        sums = np.zeros((parts, height, width), float32)
        for part in numba.prange(parts):
            for p in range(part * x.size // parts, (part + 1) * x.size // parts):
                gx = x[p] * float32(width - 1)
                gy = y[p] * float32(height - 1)
                j = min(int32(gx), width - 2)
                i = min(int32(gy), height - 2)
                fx = gx - float32(j)
                fy = gy - float32(i)
                sums[part, i, j] += (one - fx) * (one - fy)
                sums[part, i, j + 1] += fx * (one - fy)
                sums[part, i + 1, j] += (one - fx) * fy
                sums[part, i + 1, j + 1] += fx * fy
        for i in numba.prange(height):
            for part in range(parts):
                for j in range(width):
                    grid[i, j] += sums[part, i, j]

    return deposit


@loops_of(particles.Clusters)
def clusters(numba):
    float32, int32 = np.float32, np.int32

    def clusters(points, centers, nearest, sums, counts):
        parts = numba.get_num_threads()
        groups, fields = sums.shape
        some_sums = np.zeros((parts, groups, fields), float32)
        some_counts = np.zeros((parts, counts.size), int32)
        for part in numba.prange(parts):
            for p in range(part * nearest.size // parts, (part + 1) * nearest.size // parts):
                least = float32(1e30)
                best = 0
                for c in range(centers.shape[0]):
                    distance = float32(0)
                    for k in range(4):
                        d = points[p, k] - centers[c, k]
                        distance += d * d
                    if distance < least:
                        least = distance
                        best = c
                nearest[p] = best
                for k in range(4):
                    some_sums[part, best, k] += points[p, k]
                some_counts[part, best] += 1
        for part in range(parts):
            for c in range(groups):
                counts[c] += some_counts[part, c]
                for k in range(fields):
                    sums[c, k] += some_sums[part, c, k]

    return clusters


@loops_of(scans.Total)
def total(numba):
    def total(x, out):
        for block in numba.prange(out.size):
            value = np.float32(0)
            for start in range(block * 256, x.size, out.size * 256):
                for i in range(start, min(start + 256, x.size)):
                    value += x[i]
            out[block] = value

    return total


@loops_of(scans.Largest)
def largest(numba):
    def largest(x, out):
        for warp in numba.prange(out.size):
            at = warp * 32
            for i in range(warp * 32 + 1, min(warp * 32 + 32, x.size)):
                if x[i] > x[at]:
                    at = i
            out[warp] = at

    return largest


@loops_of(scans.Fourier)
def fourier(numba):
    def fourier(real, imag, cosines, sines, out_real, out_imag):
        mirrored = np.zeros(512, np.int32)
        for i in range(512):
            for bit in range(9):
                mirrored[i] |= (i >> bit & 1) << (8 - bit)
        for row in numba.prange(real.shape[0]):
            re = out_real[row]
            im = out_imag[row]
            for i in range(512):
                re[mirrored[i]] = real[row, i]
                im[mirrored[i]] = imag[row, i]
            half = 1
            while half < 512:
                for start in range(0, 512, 2 * half):
                    for j in range(half):
                        low = start + j
                        high = low + half
                        c = cosines[j * (256 // half)]
                        s = sines[j * (256 // half)]
                        x = re[high] * c - im[high] * s
                        y = re[high] * s + im[high] * c
                        re[high] = re[low] - x
                        im[high] = im[low] - y
                        re[low] += x
                        im[low] += y
                half *= 2

    return fourier


@loops_of(sorting.Digits)
def digits(numba):
    def digits(keys, counts, shift):
        for block in numba.prange(counts.shape[1]):
            bins = np.zeros(16, np.int32)
            for i in range(block * 2048, min(block * 2048 + 2048, keys.size)):
                bins[(keys[i] >> shift) & 15] += 1
            counts[:, block] = bins

    return digits


@loops_of(sparse.Triples)
def triples(numba):
    def triples(rows, columns, values, x, out):
        parts = numba.get_num_threads()
        sums = np.zeros((parts, out.size), np.float32)
        for part in numba.prange(parts):
            for q in range(part * rows.size // parts, (part + 1) * rows.size // parts):
                sums[part, rows[q]] += values[q] * x[columns[q]]
        for i in numba.prange(out.size):
            for part in range(parts):
                out[i] += sums[part, i]

    return triples
