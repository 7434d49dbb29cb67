"""Kernels of cuda.histogram: blocks count for themselves in shared memory, and add what they have."""
from cujit import cuda
from cujit.types import float64, int64

TURNS = 4  # reads of a thread in flight
ROUNDING = 2.0 ** -49  # of a bin's number and of edges, as a part of what they are computed from


def limits_of_uniform(edges, bins):
    """(the first edge, the last one, bins of one unit, how near to an edge a number of a bin may be in doubt)."""
    low, high = edges[0], edges[bins]
    scale = bins / (high - low)
    return low, high, scale, (abs(low) + abs(high)) * scale * ROUNDING


def uniform(x, limits, edges, bins):
    """The bin of a number among bins of one width, as NumPy finds it: -1 outside. The edges decide on their own; they
    are read where rounding can matter only, since lanes read them at many places."""
    low, high, scale, doubt = limits
    if not low <= x <= high:
        return int64(-1)
    place = (x - low) * scale
    k = min(int64(place), bins - 1)
    if doubt < place - k < 1 - doubt:
        return k
    if x < edges[k]:
        return k - 1
    if k < bins - 1 and x >= edges[k + 1]:
        return k + 1
    return k


def limits_of_any(edges, bins):
    return edges[0], edges[bins]


def between(x, limits, edges, bins):
    """The bin of a number among bins of any width: -1 outside."""
    if not limits[0] <= x <= limits[1]:
        return int64(-1)
    low, high = int64(0), bins   # edges[low] <= x, and x < edges[high] or high is the last
    while high - low > 1:
        middle = (low + high) // 2
        if x >= edges[middle]:
            low = middle
        else:
            high = middle
    return low


def by_blocks(limits_of, find, element, own_element, in_shared):
    """counts: of `element`s, int64 or those of the weights, all 0; without in_shared all blocks count there at once.
    own_element: what a block counts in for itself; 32 bits are added at once, 64 by trying."""

    def count_one(value, i, limits, bins, weights, edges, counts, own):
        k = find(float64(value), limits, edges, bins)
        if k >= 0:
            if in_shared:
                cuda.atomic.add(own, k, own_element(1) if weights is None else own_element(weights[i]))
            else:
                cuda.atomic.add(counts, k, element(1) if weights is None else element(weights[i]))

    def count_in_bins(size, bins, x, weights, edges, counts):
        thread = cuda.threadIdx.x
        own = cuda.shared.dynamic(bins, own_element) if in_shared else counts
        if in_shared:
            for k in range(thread, bins, cuda.blockDim.x):
                own[k] = 0
            cuda.syncthreads()
        limits = limits_of(edges, bins)
        i, step = cuda.grid(1), cuda.gridsize(1)
        while i + (TURNS - 1) * step < size:
            a, b, c, d = x[i], x[i + step], x[i + 2 * step], x[i + 3 * step]
            count_one(a, i, limits, bins, weights, edges, counts, own)
            count_one(b, i + step, limits, bins, weights, edges, counts, own)
            count_one(c, i + 2 * step, limits, bins, weights, edges, counts, own)
            count_one(d, i + 3 * step, limits, bins, weights, edges, counts, own)
            i += TURNS * step
        while i < size:
            count_one(x[i], i, limits, bins, weights, edges, counts, own)
            i += step
        if in_shared:
            cuda.syncthreads()
            for k in range(thread, bins, cuda.blockDim.x):
                if own[k] != 0:
                    cuda.atomic.add(counts, k, element(own[k]))

    return count_in_bins
