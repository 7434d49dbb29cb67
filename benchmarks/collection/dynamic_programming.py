"""Tables that are filled in an order: distances of words, alignments, shortest paths, knapsacks, hidden states."""

import numpy as np

from collection.entry import Entry, Problem, blocks, integers, tiles, uniform

LETTERS = 24
ROW = LETTERS + 1


class Distance(Entry):
    name = "edit distance of words of 24 letters, a row in a local array"
    gpu, cpu, small = 1 << 17, 1 << 11, 60
    c = r"""
extern "C" __global__ void distance(const unsigned char *a, const unsigned char *b, int *out, int n) {
    int item = blockIdx.x * blockDim.x + threadIdx.x;
    if (item >= n) return;
    int row[25];
    for (int j = 0; j <= 24; j++) row[j] = j;
    for (int i = 1; i <= 24; i++) {
        int corner = row[0];
        row[0] = i;
        for (int j = 1; j <= 24; j++) {
            int above = row[j];
            int change = corner + (a[item * 24 + i - 1] != b[item * 24 + j - 1]);
            row[j] = min(min(above + 1, row[j - 1] + 1), change);
            corner = above;
        }
    }
    out[item] = row[24];
}"""

    def problem(n, random):
        a, b = (integers(random, 0, 4, n, LETTERS, dtype=np.uint8) for _ in range(2))
        return Problem([a, b, np.zeros(n, np.int32)], blocks(n, 128), (128,), (np.int32(n),))

    def kernel(cuda):
        int32 = np.int32

        def distance(a, b, out):
            item = cuda.grid(1)
            if item >= out.size:
                return
            row = cuda.local.array(ROW, int32)
            for j in range(ROW):
                row[j] = j
            for i in range(1, ROW):
                corner = row[0]
                row[0] = i
                for j in range(1, ROW):
                    above = row[j]
                    change = corner + (1 if a[item, i - 1] != b[item, j - 1] else 0)
                    row[j] = min(min(above + 1, row[j - 1] + 1), change)
                    corner = above
            out[item] = row[LETTERS]

        return distance

    def reference(a, b, out):
        row = np.tile(np.arange(ROW), (out.size, 1))
        for i in range(1, ROW):
            before, row = row, np.full_like(row, i)
            for j in range(1, ROW):
                change = before[:, j - 1] + (a[:, i - 1] != b[:, j - 1])
                row[:, j] = np.minimum(np.minimum(before[:, j], row[:, j - 1]) + 1, change)
        return row[:, -1].astype(np.int32)


class Alignment(Entry):
    name = "local alignment scores, a block for a pair, antidiagonals"
    gpu, cpu, small = 1 << 13, 1 << 8, 10
    c = r"""
extern "C" __global__ void alignment(const unsigned char *a, const unsigned char *b, int *out) {
    __shared__ int score[3][129];
    __shared__ int best;
    int t = threadIdx.x, at = blockIdx.x * 128;
    for (int k = 0; k < 3; k++) score[k][t + 1] = 0;
    if (t == 0) {
        for (int k = 0; k < 3; k++) score[k][0] = 0;
        best = 0;
    }
    __syncthreads();
    int mine = 0;
    for (int d = 0; d < 255; d++) {
        int j = d - t, now = d % 3, last = (d + 2) % 3, before = (d + 1) % 3;
        if (j >= 0 && j < 128) {
            int same = a[at + t] == b[at + j] ? 3 : -2;
            int value = max(max(0, score[before][t] + same), max(score[last][t], score[last][t + 1]) - 4);
            score[now][t + 1] = value;
            mine = max(mine, value);
        } else {
            score[now][t + 1] = 0;
        }
        __syncthreads();
    }
    atomicMax(&best, mine);
    __syncthreads();
    if (t == 0) out[blockIdx.x] = best;
}"""

    def problem(n, random):
        a, b = (integers(random, 0, 4, n, 128, dtype=np.uint8) for _ in range(2))
        return Problem([a, b, np.zeros(n, np.int32)], (n,), (128,))

    def kernel(cuda):
        int32 = np.int32

        def alignment(a, b, out):
            score = cuda.shared.array((3, 129), int32)
            best = cuda.shared.array(1, int32)
            t = cuda.threadIdx.x
            pair = cuda.blockIdx.x
            for k in range(3):
                score[k, t + 1] = 0
            if t == 0:
                for k in range(3):
                    score[k, 0] = 0
                best[0] = 0
            cuda.syncthreads()
            mine = 0
            for d in range(255):
                j = d - t
                now = d % 3
                last = (d + 2) % 3
                before = (d + 1) % 3
                if j >= 0 and j < 128:
                    same = 3 if a[pair, t] == b[pair, j] else -2
                    value = max(max(0, score[before, t] + same), max(score[last, t], score[last, t + 1]) - 4)
                    score[now, t + 1] = value
                    mine = max(mine, value)
                else:
                    score[now, t + 1] = 0
                cuda.syncthreads()
            cuda.atomic.max(best, 0, mine)
            cuda.syncthreads()
            if t == 0:
                out[pair] = best[0]

        return alignment

    def reference(a, b, out):
        table = np.zeros((out.size, 129, 129), int)
        for i in range(1, 129):
            for j in range(1, 129):
                same = np.where(a[:, i - 1] == b[:, j - 1], 3, -2)
                gap = np.maximum(table[:, i - 1, j], table[:, i, j - 1]) - 4
                table[:, i, j] = np.maximum(np.maximum(table[:, i - 1, j - 1] + same, gap), 0)
        return table.max((1, 2)).astype(np.int32)


class Ways(Entry):
    name = "Floyd-Warshall, one step for all pairs"
    gpu, cpu, small = 4096, 512, 64
    c = r"""
extern "C" __global__ void ways(const float *d, float *out, int k, int n) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < n && j < n) out[i * n + j] = fminf(d[i * n + j], d[i * n + k] + d[k * n + j]);
}"""

    def problem(n, random):
        d = uniform(random, n, n)
        return Problem([d, np.zeros_like(d), np.int32(n // 3)], tiles(n, n), (32, 8), (np.int32(n),), outputs=(1,))

    def kernel(cuda):
        def ways(d, out, k):
            j, i = cuda.grid(2)
            if i < d.shape[0] and j < d.shape[1]:
                out[i, j] = min(d[i, j], d[i, k] + d[k, j])

        return ways

    def reference(d, out, k):
        return np.minimum(d, d[:, k:k + 1] + d[k])

    def loops(numba):
        def ways(d, out, k):
            for i in numba.prange(d.shape[0]):
                for j in range(d.shape[1]):
                    out[i, j] = min(d[i, j], d[i, k] + d[k, j])

        return ways


class Knapsack(Entry):
    name = "knapsack, one thing, rows of many sacks"
    gpu, cpu, small = 1 << 13, 1 << 9, 32
    c = r"""
extern "C" __global__ void knapsack(const int *worth, const int *weights, const int *values, int *out, int width) {
    int sack = blockIdx.y, room = blockIdx.x * blockDim.x + threadIdx.x;
    if (room >= width) return;
    int best = worth[sack * width + room], weight = weights[sack];
    if (room >= weight) best = max(best, worth[sack * width + room - weight] + values[sack]);
    out[sack * width + room] = best;
}"""

    def problem(n, random):
        worth = integers(random, 0, 1000, n, 2000)
        return Problem([worth, integers(random, 1, 100, n), integers(random, 1, 100, n), np.zeros_like(worth)], (8, n),
                       (256,), (np.int32(2000),))

    def kernel(cuda):
        def knapsack(worth, weights, values, out):
            sack = cuda.blockIdx.y
            room = cuda.grid(1)
            if room >= worth.shape[1]:
                return
            best = worth[sack, room]
            weight = weights[sack]
            if room >= weight:
                best = max(best, worth[sack, room - weight] + values[sack])
            out[sack, room] = best

        return knapsack

    def reference(worth, weights, values, out):
        for sack, weight in enumerate(weights):
            out[sack] = worth[sack]
            out[sack, weight:] = np.maximum(worth[sack, weight:], worth[sack, :-weight] + values[sack])
        return out


class Hidden(Entry):
    name = "Viterbi, 8 states, local arrays"
    gpu, cpu, small = 1 << 17, 1 << 12, 100
    tolerance = 1e-5
    c = r"""
extern "C" __global__ void hidden(const int *seen, const float *change, const float *emit, float *out, int steps,
                                  int n) {
    int item = blockIdx.x * blockDim.x + threadIdx.x;
    if (item >= n) return;
    float score[8], next[8];
    for (int s = 0; s < 8; s++) score[s] = 0;
    for (int k = 0; k < steps; k++) {
        int sign = seen[k * n + item];
        for (int to = 0; to < 8; to++) {
            float best = -1e30f;
            for (int from = 0; from < 8; from++) best = fmaxf(best, score[from] + change[from * 8 + to]);
            next[to] = best + emit[to * 16 + sign];
        }
        for (int s = 0; s < 8; s++) score[s] = next[s];
    }
    float best = -1e30f;
    for (int s = 0; s < 8; s++) best = fmaxf(best, score[s]);
    out[item] = best;
}"""

    def problem(n, random):
        return Problem([integers(random, 0, 16, 32, n), uniform(random, 8, 8, low=-2, high=0),
                        uniform(random, 8, 16, low=-2, high=0), np.zeros(n, np.float32)], blocks(n), (256,),
                       (np.int32(32), np.int32(n)))

    def kernel(cuda):
        float32 = np.float32
        lowest = float32(-1e30)

        def hidden(seen, change, emit, out):
            item = cuda.grid(1)
            if item >= out.size:
                return
            score = cuda.local.array(8, float32)
            following = cuda.local.array(8, float32)
            for s in range(8):
                score[s] = 0
            for k in range(seen.shape[0]):
                sign = seen[k, item]
                for to in range(8):
                    best = lowest
                    for start in range(8):
                        best = max(best, score[start] + change[start, to])
                    following[to] = best + emit[to, sign]
                for s in range(8):
                    score[s] = following[s]
            best = lowest
            for s in range(8):
                best = max(best, score[s])
            out[item] = best

        return hidden

    def reference(seen, change, emit, out):
        score = np.zeros((out.size, 8), np.float32)
        for signs in seen:
            score = (score[:, :, None] + change).max(1) + emit[:, signs].T
        return score.max(1)
