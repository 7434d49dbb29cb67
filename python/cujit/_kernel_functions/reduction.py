"""Kernels of cuda.reduce. All of them keep the order of the elements, so the function need be associative only.

`combine` is the function with its result converted to the elements' type, `move` a shuffle of such elements. A factory
makes the kernels for one function and type; what it is given is constant for the compiler.
"""
from cujit import cuda

ALL_LANES = 0xFFFFFFFF
PACKETS = 8  # reads in flight of a thread
TAKES_TURNS = 4  # parts of a thread's range that are reduced side by side, where threads do not meet


def mover(element, is_complex):
    """The element of the lane whose number differs in the bits of `mask`."""

    def move(value, mask):
        return element(cuda.shfl_xor_sync(ALL_LANES, value, mask))

    def move_complex(value, mask):
        return element(complex(cuda.shfl_xor_sync(ALL_LANES, value.real, mask),
                               cuda.shfl_xor_sync(ALL_LANES, value.imag, mask)))

    return move_complex if is_complex else move


# --- many blocks: an array to one element for each block -------------------------------------------------------------

def by_warps(combine, move, element, width):
    """Every warp reduces a range of whole tiles. `width`: elements of a read, 16 bytes of them, or 1.

    A tile is PACKETS rows of 32 packets, one for each lane. The rows are folded together: with each fold a lane hands
    half of its rows to its neighbour and gets the neighbour's part of the others, so that 12 shuffles do for 8 rows.
    """
    row = 32 * width
    tile_size = PACKETS * row

    def packet_of_one(x, i):
        return x[i]

    def packet(x, i):
        items = cuda.wide.load(x, i, width)
        value = items[0]
        for k in range(1, width):
            value = combine(value, items[k])
        return value

    read = packet_of_one if width == 1 else packet

    def fold(low, high, lane, mask):
        """The lanes without the bit keep the lower row, the others the higher one; both rows halve their lanes."""
        is_first = lane & mask == 0
        kept = low if is_first else high
        other = move(high if is_first else low, mask)
        return combine(kept if is_first else other, other if is_first else kept)

    def meet(value, lane, mask):
        """What the two lanes have, in both of them."""
        is_first = lane & mask == 0
        other = move(value, mask)
        return combine(value if is_first else other, other if is_first else value)

    def tile(x, start, lane):
        i = start + lane * width
        a, b, c, d = read(x, i), read(x, i + row), read(x, i + 2 * row), read(x, i + 3 * row)
        e, f, g, h = read(x, i + 4 * row), read(x, i + 5 * row), read(x, i + 6 * row), read(x, i + 7 * row)
        a, b, c, d = fold(a, e, lane, 1), fold(b, f, lane, 1), fold(c, g, lane, 1), fold(d, h, lane, 1)
        a, b = fold(a, c, lane, 2), fold(b, d, lane, 2)
        value = fold(a, b, lane, 4)
        for mask in (8, 16, 4, 2, 1):  # the other lanes of the row, then the rows
            value = meet(value, lane, mask)
        return value

    def reduce_by_warps(x, size, partial):
        """Launched with as many warps as there are tiles or less; what is behind the last tile is the last warp's."""
        lane, warp_in_block = cuda.threadIdx.x & 31, cuda.threadIdx.x >> 5
        warp, warps, tiles = cuda.grid(1) >> 5, cuda.gridsize(1) >> 5, size // tile_size
        start, stop = tiles * warp // warps * tile_size, tiles * (warp + 1) // warps * tile_size
        value = tile(x, start, lane)
        while start + tile_size < stop:
            start += tile_size
            value = combine(value, tile(x, start, lane))
        if warp == warps - 1 and stop < size:
            rest = of_warp(x, stop, size, lane)
            if lane == 0:
                value = combine(value, rest)
        of_warps = cuda.shared.array(32, element)
        if lane == 0:
            of_warps[warp_in_block] = value
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            for k in range(1, cuda.blockDim.x >> 5):
                value = combine(value, of_warps[k])
            partial[cuda.blockIdx.x] = value

    of_warp = _of_warp(combine, move)
    return reduce_by_warps, tile_size


def _of_warp(combine, move):
    def of_warp(x, start, stop, lane):
        """x[start:stop], which has elements, in lane 0: lanes take pieces of one length; the last ones may be idle."""
        each = (stop - start + 31) // 32
        lanes = (stop - start + each - 1) // each
        first = start + min(lane, lanes - 1) * each
        value = x[first]
        for i in range(first + 1, min(first + each, stop)):
            value = combine(value, x[i])
        for mask in (1, 2, 4, 8, 16):
            other = move(value, mask)
            if lane & (2 * mask - 1) == 0 and lane + mask < lanes:
                value = combine(value, other)
        return value

    return of_warp


# --- one block: an array to the result -------------------------------------------------------------------------------

def by_block(combine, move, element):
    """result[0] = init (unless None), x[0], x[1], ... of at least one element."""
    of_warp = _of_warp(combine, move)

    def reduce_by_block(x, size, init, result):
        lane, warp, warps = cuda.threadIdx.x & 31, cuda.threadIdx.x >> 5, cuda.blockDim.x >> 5
        of_warps = cuda.shared.array(32, element)
        each = (size + warps - 1) // warps
        start, stop = warp * each, min((warp + 1) * each, size)
        if start < stop:
            value = of_warp(x, start, stop, lane)
            if lane == 0:
                of_warps[warp] = value
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            value = of_warps[0] if init is None else combine(element(init), of_warps[0])
            for k in range(1, (size + each - 1) // each):
                value = combine(value, of_warps[k])
            result[0] = value

    return reduce_by_block


# --- threads that do not meet: the CPU device, and elements that shuffles cannot move --------------------------------

def by_threads(combine):
    """partial[t] = a range of x for each thread t, of which there are at most as many as elements."""

    def of_range(x, start, stop):
        value = x[start]
        for i in range(start + 1, stop):
            value = combine(value, x[i])
        return value

    def reduce_by_threads(x, size, partial):
        thread, threads = cuda.grid(1), partial.size
        if thread >= threads:
            return
        start, stop = size * thread // threads, size * (thread + 1) // threads
        part = (stop - start) // TAKES_TURNS
        if part == 0:
            partial[thread] = of_range(x, start, stop)
            return
        a, b, c, d = x[start], x[start + part], x[start + 2 * part], x[start + 3 * part]
        for i in range(start + 1, start + part):
            a, b = combine(a, x[i]), combine(b, x[i + part])
            c, d = combine(c, x[i + 2 * part]), combine(d, x[i + 3 * part])
        value = combine(combine(a, b), combine(c, d))
        for i in range(start + TAKES_TURNS * part, stop):
            value = combine(value, x[i])
        partial[thread] = value

    return reduce_by_threads


def by_one_thread(combine, element):
    """result[0] = init (unless None), x[0], x[1], ... of at least one element."""

    def reduce_by_one_thread(x, size, init, result):
        value = x[0] if init is None else combine(element(init), x[0])
        for i in range(1, size):
            value = combine(value, x[i])
        result[0] = value

    return reduce_by_one_thread
