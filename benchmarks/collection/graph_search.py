"""Graphs in rows of neighbours: a level of a breadth-first search, page ranks, labels of components."""

import numpy as np

from collection.entry import Entry, Problem, blocks, integers, uniform
from collection.sparse import sparse_rows


class Level(Entry):
    name = "breadth-first search, one level"
    gpu, cpu, small = 1 << 20, 1 << 17, 2000
    c = r"""
extern "C" __global__ void level(const int *starts, const int *to, const int *depth, int *out, int now, int n) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    if (depth[v] == now) {
        for (int q = starts[v]; q < starts[v + 1]; q++)
            if (depth[to[q]] < 0) out[to[q]] = now + 1;
    }
}"""

    def problem(n, random):
        starts, to, _ = sparse_rows(random, n)
        depth = integers(random, -2, 4, n)
        return Problem([starts, to, depth, np.full(n, -1, np.int32), np.int32(3)], blocks(n), (256,), (np.int32(n),),
                       outputs=(3,))

    def kernel(cuda):
        def level(starts, to, depth, out, now):
            v = cuda.grid(1)
            if v >= depth.size:
                return
            if depth[v] == now:
                for q in range(starts[v], starts[v + 1]):
                    if depth[to[q]] < 0:
                        out[to[q]] = now + 1

        return level

    def reference(starts, to, depth, out, now):
        reached = to[np.repeat(depth == now, np.diff(starts))]
        out[reached[depth[reached] < 0]] = now + 1
        return out


class Ranks(Entry):
    name = "page ranks, pulled along edges"
    gpu, cpu, small, tolerance = 1 << 20, 1 << 16, 2000, 1e-5
    c = r"""
extern "C" __global__ void ranks(const int *starts, const int *from, const float *rank, const int *degree, float *out,
                                 float damping, int n) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    float sum = 0;
    for (int q = starts[v]; q < starts[v + 1]; q++) {
        int u = from[q];
        sum += rank[u] / degree[u];
    }
    out[v] = (1.0f - damping) / n + damping * sum;
}"""

    def problem(n, random):
        starts, origin, _ = sparse_rows(random, n)
        return Problem([starts, origin, uniform(random, n), integers(random, 1, 30, n), np.zeros(n, np.float32),
                        np.float32(0.85)], blocks(n), (256,), (np.int32(n),), outputs=(4,))

    def kernel(cuda):
        float32 = np.float32

        def ranks(starts, origin, rank, degree, out, damping):
            v = cuda.grid(1)
            if v >= out.size:
                return
            total = float32(0)
            for q in range(starts[v], starts[v + 1]):
                u = origin[q]
                total += rank[u] / float32(degree[u])
            out[v] = (float32(1) - damping) / float32(out.size) + damping * total

        return ranks

    def reference(starts, origin, rank, degree, out, damping):
        shares = rank[origin] / degree[origin].astype(np.float32)
        np.add.at(out, np.repeat(np.arange(out.size), np.diff(starts)), shares)
        return (1 - damping) / np.float32(out.size) + damping * out

    def loops(numba):
        float32 = np.float32

        def ranks(starts, origin, rank, degree, out, damping):
            for v in numba.prange(out.size):
                total = float32(0)
                for q in range(starts[v], starts[v + 1]):
                    total += rank[origin[q]] / float32(degree[origin[q]])
                out[v] = (float32(1) - damping) / float32(out.size) + damping * total

        return ranks


class Labels(Entry):
    name = "component labels, atomic minima along edges"
    gpu, cpu, small = 1 << 23, 1 << 19, 5000
    c = r"""
extern "C" __global__ void labels(const int *a, const int *b, int *label, const int *old, int n) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= n) return;
    int at_a = old[a[e]], at_b = old[b[e]];
    if (at_a < at_b) atomicMin(&label[b[e]], at_a);
    else if (at_b < at_a) atomicMin(&label[a[e]], at_b);
}"""

    def problem(n, random):
        nodes = n // 8
        a = integers(random, 0, nodes, n)
        b = ((a + integers(random, 1, 1000, n)) % nodes).astype(np.int32)
        label = np.arange(nodes, dtype=np.int32)
        return Problem([a, b, label.copy(), label], blocks(n), (256,), (np.int32(n),), outputs=(2,))

    def kernel(cuda):
        def labels(a, b, label, old):
            e = cuda.grid(1)
            if e >= a.size:
                return
            at_a = old[a[e]]
            at_b = old[b[e]]
            if at_a < at_b:
                cuda.atomic.min(label, b[e], at_a)
            elif at_b < at_a:
                cuda.atomic.min(label, a[e], at_b)

        return labels

    def reference(a, b, label, old):
        np.minimum.at(label, b, old[a])
        np.minimum.at(label, a, old[b])
        return label
