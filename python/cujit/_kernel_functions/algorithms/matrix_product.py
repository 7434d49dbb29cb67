"""Kernels of array @ array: products of stacks of matrices, x of (stack, rows, length), y of (stack, length, columns).

A block makes TILE x TILE elements of a product, each of its threads EACH x EACH of them, whose rows and columns lie
apart so that threads next to each other have neighbours. number is the type that is added in.
"""
from cujit import cuda

TILE, DEPTH, SIDE, EACH = 64, 16, 16, 4   # DEPTH: how much of the length is in shared memory; SIDE: threads of a side
STRIP = 32   # columns that one thread of the CPU device makes side by side
ROWS = 4     # rows of them


def by_tiles(number):
    """Blocks of SIDE * SIDE threads, one for each tile of each matrix."""

    def product_by_tiles(rows, columns, length, x, y, out):
        of_x = cuda.shared.array((DEPTH, TILE), number)
        of_y = cuda.shared.array((DEPTH, TILE), number)
        sums = cuda.local.array((EACH, EACH), number)
        across = (columns + TILE - 1) // TILE
        down = (rows + TILE - 1) // TILE
        place, thread = cuda.blockIdx.x, cuda.threadIdx.x
        first_column, place = place % across * TILE, place // across
        first_row, k = place % down * TILE, place // down
        row, column = thread // SIDE, thread % SIDE
        for i in range(EACH):
            for j in range(EACH):
                sums[i, j] = number(0)
        for first in range(0, length, DEPTH):
            for step in range(DEPTH * TILE // (SIDE * SIDE)):
                item = thread + step * SIDE * SIDE
                r, p = first_row + item // DEPTH, first + item % DEPTH
                of_x[item % DEPTH, item // DEPTH] = number(x[k, r, p]) if r < rows and p < length else number(0)
                p, c = first + item // TILE, first_column + item % TILE
                of_y[item // TILE, item % TILE] = number(y[k, p, c]) if p < length and c < columns else number(0)
            cuda.syncthreads()
            for p in range(DEPTH):
                for i in range(EACH):
                    for j in range(EACH):
                        sums[i, j] += of_x[p, row + i * SIDE] * of_y[p, column + j * SIDE]
            cuda.syncthreads()
        for i in range(EACH):
            for j in range(EACH):
                r, c = first_row + row + i * SIDE, first_column + column + j * SIDE
                if r < rows and c < columns:
                    out[k, r, c] = sums[i, j]

    return product_by_tiles


def by_strips(number):
    """A thread for each ROWS x STRIP elements of each matrix: it reads rows of y in the order of memory."""

    def product_by_strips(rows, columns, length, x, y, out):
        place = cuda.grid(1)
        across, down = (columns + STRIP - 1) // STRIP, (rows + ROWS - 1) // ROWS
        first_column, place = place % across * STRIP, place // across
        first_row, k = place % down * ROWS, place // down
        if k >= x.shape[0]:
            return
        sums = cuda.local.array((ROWS, STRIP), number)
        for i in range(ROWS):
            for j in range(STRIP):
                sums[i, j] = number(0)
        count, width = min(ROWS, rows - first_row), min(STRIP, columns - first_column)
        if count == ROWS and width == STRIP:
            for p in range(length):
                a, b = number(x[k, first_row, p]), number(x[k, first_row + 1, p])
                c, d = number(x[k, first_row + 2, p]), number(x[k, first_row + 3, p])
                for j in range(STRIP):
                    value = number(y[k, p, first_column + j])
                    sums[0, j] += a * value
                    sums[1, j] += b * value
                    sums[2, j] += c * value
                    sums[3, j] += d * value
        else:
            for p in range(length):
                for i in range(count):
                    a = number(x[k, first_row + i, p])
                    for j in range(width):
                        sums[i, j] += a * number(y[k, p, first_column + j])
        for i in range(count):
            for j in range(width):
                out[k, first_row + i, first_column + j] = sums[i, j]

    return product_by_strips
