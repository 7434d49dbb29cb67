"""Kernels of cuda.histogram: blocks count for themselves in shared memory, and add what they have."""
from cujit import cuda
from cujit.types import float64, int64


def uniform(x, edges, bins):
    """The bin of a number among bins of one width, as NumPy finds it: -1 outside. The edges decide on their own."""
    low, high = edges[0], edges[bins]
    if not low <= x <= high:
        return int64(-1)
    k = min(int64((x - low) * (bins / (high - low))), bins - 1)
    if x < edges[k]:
        return k - 1
    if k < bins - 1 and x >= edges[k + 1]:
        return k + 1
    return k


def between(x, edges, bins):
    """The bin of a number among bins of any width: -1 outside."""
    if not edges[0] <= x <= edges[bins]:
        return int64(-1)
    low, high = int64(0), bins   # edges[low] <= x, and x < edges[high] or high is the last
    while high - low > 1:
        middle = (low + high) // 2
        if x >= edges[middle]:
            low = middle
        else:
            high = middle
    return low


def by_blocks(find, element, in_shared):
    """counts: of `element`s, int64 or those of the weights, all 0; without in_shared all blocks count there at once."""

    def count_in_bins(size, bins, x, weights, edges, counts):
        thread = cuda.threadIdx.x
        if in_shared:
            own = cuda.shared.dynamic(bins, element)
            for k in range(thread, bins, cuda.blockDim.x):
                own[k] = 0
            cuda.syncthreads()
        for i in range(cuda.grid(1), size, cuda.gridsize(1)):
            k = find(float64(x[i]), edges, bins)
            if k >= 0:
                amount = element(1) if weights is None else element(weights[i])
                if in_shared:
                    cuda.atomic.add(own, k, amount)
                else:
                    cuda.atomic.add(counts, k, amount)
        if in_shared:
            cuda.syncthreads()
            for k in range(thread, bins, cuda.blockDim.x):
                if own[k] != 0:
                    cuda.atomic.add(counts, k, own[k])

    return count_in_bins
