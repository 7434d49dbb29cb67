"""Kernels whose typed IR and PTX the tests of this folder know. Each has the signature it is compiled for."""
import math

import numpy as np
from made_kernels import echoes

from cujit import cuda, float32, int64

TILE = 4
WEIGHTS = np.array([0.25, 0.5, 0.25])


def saxpy(a, x, y, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = a * x[i] + y[i]


def grid_stride(x, out):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        out[i] = x[i] + 1


def negative_index(x, out):
    i = cuda.threadIdx.x - 3
    out[i, -1] = x[-i]


def tiled_sum(x, out):
    tile = cuda.shared.array((TILE, TILE + 1), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    tile[ty, tx] = x[ty, tx]
    cuda.syncthreads()
    total = float32(0.0)
    for k in range(TILE):
        total += tile[k, tx] * tile[ty, k]
    out[ty, tx] = total


def scale(x, factor=2):
    if x < 0:
        return -x
    return x * factor


def helpers(x, out):
    shift = cuda.threadIdx.x

    def twice(v):
        return scale(v) + shift

    i = cuda.grid(1)
    out[i] = twice(x[i]) + scale(x[0], factor=3)


def control(x, out):
    total = 0
    for i in range(10, 0, -3):
        if x[i] < 0:
            continue
        total += i
        if total > 100:
            break
    else:
        total = -total
    n = x.size
    value = total if n else math.sin(total)
    while n > 1 and total != n:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
    out[0] = value + n


def unify(x, out):
    value = 0
    for item in x:
        value = value + item
    out[0] = value


def captured(x, out):
    i = cuda.grid(1)
    out[i] = WEIGHTS[i % 3] * x[i]


def histogram(x, bins):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(bins, x[i], 1)


def windows(x, out):
    inner = x[1:-1, ::2]
    row = inner[cuda.grid(1)]
    out[cuda.grid(1)] = row[0] + row.shape[0]


def first_index(x, key):
    for i in range(x.size):
        if x[i] == key:
            return i
    return None


def optional(x, out):
    where = first_index(x, 3)
    if where is None:
        out[0] = -1
    else:
        out[0] = where


def warp_sum(x, out):
    value = x[cuda.grid(1)]
    for k in range(5):
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, 16 >> k)
    if cuda.laneid == 0:
        out[cuda.blockIdx.x] = value


def warp_votes(x, out):
    i = cuda.grid(1)
    ballot = cuda.ballot_sync(0xFFFFFFFF, x[i] > 0)
    rank = cuda.popc(ballot & cuda.lanemask_lt())
    mask, agree = cuda.match_all_sync(cuda.activemask(), x[i])
    cuda.syncwarp()
    if agree and cuda.all_sync(mask, rank):
        cuda.nanosleep(100)
    out[i] = cuda.syncthreads_count(x[i]) + cuda.syncthreads_or(rank)


def grid_phases(x, out):
    grid = cuda.cg.this_grid()
    i = cuda.grid(1)
    out[i] = x[i]
    grid.sync()
    x[i] = out[out.size - 1 - i]
    grid.sync()
    out[i] += x[i]


def squares(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = sum(x[j] * x[j] for j in range(i))


def totals(x, out):
    total = 0.0

    def add(v):
        nonlocal total
        total += v
    for v in x:
        add(v)
    out[0] = total


def normalized(x, y, out):
    i = cuda.grid(1)
    out[i] = x[i] / y[0] + y[i]


def small_array(x, out):
    window = cuda.local.array(4, float32)
    for k in range(4):
        window[k] = x[cuda.grid(1) + k]
    out[cuda.grid(1)] = window[0] * window[3]


def strided_sum(x, out):
    total = float32(0.0)
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        total += x[i]
    out[cuda.grid(1)] = total


def take_lock(lock, out):
    while cuda.atomic.cas(lock, 0, 0, 1) != 0:
        pass
    out[0] += 1
    cuda.threadfence()
    cuda.atomic.exch(lock, 0, 0)


def tree_sum(x, out):
    part = cuda.shared.array(64, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    if i >= x.size:
        return
    value = x[i] * x[i]
    part[t] = value
    cuda.syncthreads()
    k = 32
    while k > 0:
        other = part[(t + k) % 64]
        cuda.syncthreads()
        part[t] += other
        cuda.syncthreads()
        k //= 2
    rank = cuda.shfl_xor_sync(0xFFFFFFFF, t, 1)
    out[i] = part[0] / (value + rank)



def column_tiles(a, out):
    tile = cuda.shared.array((TILE, TILE + 1), float32)
    i, j = cuda.grid(2)
    kept = a[i, j]
    tile[cuda.threadIdx.x, cuda.threadIdx.y] = kept
    cuda.syncthreads()
    out[i, j] = tile[0, cuda.threadIdx.y] + kept



def block_bins(values, out):
    counts = cuda.shared.array(64, int64)
    t = cuda.threadIdx.x
    counts[t] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), values.size, cuda.gridsize(1)):
        cuda.atomic.add(counts, values[i], 1)
    cuda.syncthreads()
    cuda.atomic.add(out, t, counts[t])


def bins(values, out):
    i = cuda.grid(1)
    if i < values.size:
        cuda.atomic.add(out, values[i], 1)


SAMPLES = {
    "saxpy": (saxpy, "void(float32, float32[::1], float32[::1], float32[::1])"),
    "grid_stride": (grid_stride, "void(int32[::1], int64[::1])"),
    "negative_index": (negative_index, "void(float64[:], float64[:, ::1])"),
    "tiled_sum": (tiled_sum, "void(float32[:, ::1], float32[:, ::1])"),
    "helpers": (helpers, "void(int32[::1], int64[::1])"),
    "control": (control, "void(int32[::1], float64[::1])"),
    "unify": (unify, "void(float32[::1], float32[::1])"),
    "captured": (captured, "void(float64[::1], float64[::1])"),
    "histogram": (histogram, "void(uint8[::1], int32[::1])"),
    "windows": (windows, "void(float32[:, ::1], float32[::1])"),
    "warp_sum": (warp_sum, "void(float64[::1], float64[::1])"),
    "warp_votes": (warp_votes, "void(int64[::1], int64[::1])"),
    "grid_phases": (grid_phases, "void(int64[::1], int64[::1])"),
    "optional": (optional, "void(int64[::1], int64[::1])"),
    "squares": (squares, "void(float64[::1], float64[::1])"),
    "totals": (totals, "void(float64[::1], float64[::1])"),
}

# What each pass of codegen shows of itself: (kernel, signature), and options where it runs for some only, by pass.
def row_sums(starts, columns, x, out):
    row = cuda.grid(1)
    if row < out.size:
        total = float32(0)
        for q in range(starts[row], starts[row + 1]):
            total += x[columns[q]]
        out[row] = total


def neighbours(x, out):
    i, j = cuda.grid(2)
    height, width = x.shape
    if i < height and j < width:
        out[i, j] = x[(i - 1) % height, min(j + 1, width - 1)] + (x[i, j] >> 5)


def shifted(x, offsets, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[(i - offsets[0] + x.size) % x.size]


def copied_flat(x, out):
    i = cuda.grid(1)
    height, width = x.shape
    if i < height * width:
        out[i // width, i % width] = x[i // width, i % width]


def nearest(points, centers, out):
    p = cuda.grid(1)
    if p < out.size:
        least, best = float32(1e30), 0
        for c in range(centers.shape[0]):
            distance = float32(0)
            for k in range(2):
                d = points[p, k] - centers[c, k]
                distance += d * d
            if distance < least:
                least, best = distance, c
        out[p] = best


def block_hashes(x, out):
    part = cuda.shared.array(64, int64)
    t = cuda.threadIdx.x
    value = int64(t)
    for k in range(t, x.size, 64):
        value = ((value * 5 + 1) ^ (value >> 3)) * 7 + x[k]
    part[t] = value
    cuda.syncthreads()
    out[t] = part[63 - t]


def prefix_sums(x, out):
    item = cuda.shared.array(256, float32)
    t = cuda.threadIdx.x
    item[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    step = 1
    while step < 256:
        before = item[t - step] if t >= step else float32(0)
        cuda.syncthreads()
        item[t] += before
        cuda.syncthreads()
        step *= 2
    out[cuda.grid(1)] = item[t]


def counted(x, counts, least):
    count = cuda.shared.array(1, np.int32)
    if cuda.threadIdx.x == 0:
        count[0] = 0
    cuda.syncthreads()
    if x[cuda.grid(1)] > least:
        cuda.atomic.add(count, 0, 1)
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        counts[cuda.blockIdx.x] = count[0]


def triangle(x, out):
    i = cuda.grid(1)
    part = cuda.local.array(4, float32)
    for row in range(4):
        part[row] = x[i]
        for column in range(row):
            part[row] -= part[column]
    out[i] = part[3]


def warp_sums(starts, x, out):
    thread = cuda.grid(1)
    row = thread // 32
    lane = thread % 32
    if row < out.size:
        total = float32(0)
        for q in range(starts[row] + lane, starts[row + 1], 32):
            total += x[q]
        offset = 16
        while offset > 0:
            total += cuda.shfl_down_sync(0xFFFFFFFF, total, offset)
            offset //= 2
        if lane == 0:
            out[row] = total


def sums_of_two(x, y, out):
    tile = cuda.shared.array((64, 8), float32)
    totals = cuda.local.array(2, float32)
    t = cuda.threadIdx.x
    for k in range(64):
        tile[k, t] = x[k]
    cuda.syncthreads()
    totals[0] = totals[1] = 0
    for k in range(64):
        for i in range(2):
            totals[i] += tile[k, i] * y[k, t]
    out[t] = totals[0] + totals[1]


def limited(value, least, most):
    if value < least:
        return least
    return min(value, most)


def limits(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = limited(x[i], 0, 1) + limited(i, 1, 7)


def while_strided(x, out):
    i = cuda.grid(1)
    while i < out.size:
        out[i] = x[i]
        i += cuda.gridsize(1)


PASS_SAMPLES = {
    "counts": (while_strided, "void(float32[::1], float32[::1])"),
    "inline": (limits, "void(float32[::1], float32[::1])"),
    "loads": (normalized, "void(float32[::1], float32[::1], float32[::1])"),
    "unroll": (small_array, "void(float32[::1], float32[::1])"),
    "batch": (strided_sum, "void(float32[::1], float32[::1])"),
    "remainders": (shifted, "void(float32[::1], int32[::1], float32[::1])"),
    "versions": (row_sums, "void(int32[::1], int32[::1], float32[::1], float32[::1])"),
    "narrow": (neighbours, "void(uint32[:, ::1], uint32[:, ::1])"),
    "int32": (neighbours, "void(uint8[:, ::1], uint8[:, ::1])"),
    "sums": (counted, "void(float32[::1], int32[::1], float32)"),
    "front": (echoes, "void(int32[::1], float32[::1], float32[::1], float32[:, ::1])"),
    "arrays": (triangle, "void(float32[::1], float32[::1])"),
    "stride": (grid_stride, "void(int32[::1], int64[::1])"),
    "axis": (column_tiles, "void(float32[:, ::1], float32[:, ::1])"),
    "private": (bins, "void(uint8[::1], int32[::1])"),
    "bounds": (saxpy, "void(float32, float32[::1], float32[::1], float32[::1])"),
    "ahead": (nearest, "void(float32[:, ::1], float32[:, ::1], int32[::1])"),
    "regions": (tree_sum, "void(float32[::1], float32[::1])"),
    "all_go_on": (tree_sum, "void(float32[::1], float32[::1])"),
    "common": (block_bins, "void(uint8[::1], int64[::1])"),
    "warps": (warp_sums, "void(int32[::1], float32[::1], float32[::1])"),
    "distances": (warp_sums, "void(int32[::1], float32[::1], float32[::1])"),
    "trips": (sums_of_two, "void(float32[::1], float32[:, ::1], float32[::1])"),
    "registers": (sums_of_two, "void(float32[::1], float32[:, ::1], float32[::1])"),
    "borders": (neighbours, "void(uint8[:, ::1], uint8[:, ::1])"),
    "divisors": (copied_flat, "void(float32[:, ::1], float32[:, ::1])"),
    "joined": (prefix_sums, "void(float32[::1], float32[::1])"),
    "whole": (block_hashes, "void(int64[::1], int64[::1])"),
    "region_bounds": (tree_sum, "void(float32[::1], float32[::1])"),
    "yield": (take_lock, "void(int32[::1], int64[::1])"),
    "observe": (saxpy, "void(float32, float32[::1], float32[::1], float32[::1])", {"observe": "accesses"}),
}
