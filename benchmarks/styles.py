"""One computation in the ways in which programs write it: what does a way of writing cost?

    [CUJIT_DEVICE=cpu] python benchmarks/styles.py [--only WORDS] [--markdown]

Medians, and the ratio to the first way of the group. The results of all ways are compared."""

import argparse
import warnings
from collections import namedtuple

import numpy as np
from timing import median_seconds, print_markdown, print_table

from cujit import cuda, float32, int32, uint32

COUNT = 1 << 21
RANDOM = np.random.default_rng(1)
Arrays = namedtuple("Arrays", "x y out")

# --- twice x and y: neighbours touch neighbours ----------------------------------------------------------------------


def by_grid(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = 2 * x[i] + y[i]


def by_registers(x, y, out):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if i < out.shape[0]:
        out[i] = 2 * x[i] + y[i]


def of_int32(x, y, out):
    i = int32(cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x)
    if i < len(out):
        out[i] = 2 * x[i] + y[i]


def of_uint32(x, y, out):
    i = uint32(cuda.grid(1))
    if i < out.size:
        out[i] = 2 * x[i] + y[i]


def returns_first(x, y, out):
    i = cuda.grid(1)
    if i >= out.size:
        return
    out[i] = 2 * x[i] + y[i]


def without_guard(x, y, out):
    i = cuda.grid(1)
    out[i] = 2 * x[i] + y[i]


def item(x, i):
    return x[i]


def put(x, i, value):
    x[i] = value


def by_functions(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        put(out, i, 2 * item(x, i) + item(y, i))


def of_named_tuple(arrays):
    i = cuda.grid(1)
    if i < arrays.out.size:
        arrays.out[i] = 2 * arrays.x[i] + arrays.y[i]


def strided_by_range(x, y, out):
    for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        out[i] = 2 * x[i] + y[i]


def strided_by_while(x, y, out):
    i = cuda.grid(1)
    while i < out.size:
        out[i] = 2 * x[i] + y[i]
        i += cuda.gridsize(1)


def four_of_each(x, y, out):
    i = cuda.grid(1) * 4
    for k in range(4):
        if i + k < out.size:
            out[i + k] = 2 * x[i + k] + y[i + k]


# --- the mean of four neighbours in a square --------------------------------------------------------------------------


def rows_first(a, out):
    i, j = cuda.grid(2)
    if 1 <= i < a.shape[0] - 1 and 1 <= j < a.shape[1] - 1:
        out[i, j] = (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1]) / 4


def columns_first(a, out):
    x, y = cuda.grid(2)
    if 1 <= x < a.shape[1] - 1 and 1 <= y < a.shape[0] - 1:
        out[y, x] = (a[y - 1, x] + a[y + 1, x] + a[y, x - 1] + a[y, x + 1]) / 4


def sample(a, i, j):
    return a[min(max(i, 0), a.shape[0] - 1), min(max(j, 0), a.shape[1] - 1)]


def by_clamped_samples(a, out):
    i, j = cuda.grid(2)
    if 1 <= i < a.shape[0] - 1 and 1 <= j < a.shape[1] - 1:
        out[i, j] = (sample(a, i - 1, j) + sample(a, i + 1, j) + sample(a, i, j - 1) + sample(a, i, j + 1)) / 4


def over_places(a, out):
    i, j = cuda.grid(2)
    if 1 <= i < a.shape[0] - 1 and 1 <= j < a.shape[1] - 1:
        total = float32(0)
        for di, dj in ((-1, 0), (1, 0), (0, -1), (0, 1)):
            total += a[i + di, j + dj]
        out[i, j] = total / 4


def by_rows_of_views(a, out):
    i, j = cuda.grid(2)
    if 1 <= i < a.shape[0] - 1 and 1 <= j < a.shape[1] - 1:
        out[i][j] = (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]) / 4


def flat(a, out, height, width):
    j, i = cuda.grid(2)
    if 1 <= i < height - 1 and 1 <= j < width - 1:
        k = i * width + j
        out[k] = (a[k - width] + a[k + width] + a[k - 1] + a[k + 1]) / 4


def flat_by_quotients(a, out, height, width):
    k = cuda.grid(1)
    i, j = k // width, k % width
    if 1 <= i < height - 1 and 1 <= j < width - 1:
        out[k] = (a[k - width] + a[k + width] + a[k - 1] + a[k + 1]) / 4


def a_row_of_each(a, out):
    i = cuda.grid(1)
    if 1 <= i < a.shape[0] - 1:
        for j in range(1, a.shape[1] - 1):
            out[i, j] = (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1]) / 4


def a_column_of_each(a, out):
    j = cuda.grid(1)
    if 1 <= j < a.shape[1] - 1:
        for i in range(1, a.shape[0] - 1):
            out[i, j] = (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1]) / 4


def strided_along_both(a, out):
    first_i, first_j = cuda.grid(2)
    step_i, step_j = cuda.gridsize(2)
    for i in range(first_i + 1, a.shape[0] - 1, step_i):
        for j in range(first_j + 1, a.shape[1] - 1, step_j):
            out[i, j] = (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1]) / 4


# --- counts of bins that come from memory -----------------------------------------------------------------------------


def a_thread_for_a_value(values, out):
    i = cuda.grid(1)
    if i < values.size:
        cuda.atomic.add(out, values[i], 1)


def counted_by_function(values, out):
    i = cuda.grid(1)
    if i < values.size:
        count(out, values[i])


def count(out, value):
    cuda.atomic.add(out, value, 1)


def counted_by_strides(values, out):
    for i in range(cuda.grid(1), values.size, cuda.gridsize(1)):
        cuda.atomic.add(out, values[i], 1)


# --- a product of matrices --------------------------------------------------------------------------------------------


def product(a, b, out):
    i, j = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        total = float32(0)
        for k in range(a.shape[1]):
            total += a[i, k] * b[k, j]
        out[i, j] = total


def product_by_while(a, b, out):
    i, j = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        total, k = float32(0), 0
        while k < a.shape[1]:
            total += a[i, k] * b[k, j]
            k += 1
        out[i, j] = total


def product_of_float64(a, b, out):
    i, j = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        total = 0.0
        for k in range(a.shape[1]):
            total += a[i, k] * b[k, j]
        out[i, j] = total


def product_in_memory(a, b, out):
    i, j = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = 0
        for k in range(a.shape[1]):
            out[i, j] += a[i, k] * b[k, j]


# --- measuring --------------------------------------------------------------------------------------------------------

SQUARES, ROWS = ((64, 64), (16, 16)), (4, 256)


def groups():
    """By name: the arguments, the last of which is filled, and the ways, each with its grid and block."""
    x, y, out = *(RANDOM.random(COUNT, np.float32) for _ in range(2)), np.zeros(COUNT, np.float32)
    line, few = (COUNT // 256, 256), (512, 256)
    yield "twice x and y", (x, y, out), [
        (by_grid, line), (by_registers, line), (of_int32, line), (of_uint32, line), (returns_first, line),
        (without_guard, line), (by_functions, line), (of_named_tuple, line, lambda *given: (Arrays(*given),)),
        (strided_by_range, few), (strided_by_while, few), (four_of_each, (COUNT // 1024, 256))]
    a = RANDOM.random((1024, 1024), np.float32)

    def flattened(*arrays):
        return *(array.reshape(-1) for array in arrays), 1024, 1024

    yield "mean of neighbours", (a, np.zeros_like(a)), [
        (rows_first, SQUARES), (columns_first, SQUARES), (by_clamped_samples, SQUARES), (over_places, SQUARES),
        (by_rows_of_views, SQUARES), (flat, SQUARES, flattened), (flat_by_quotients, (4096, 256), flattened),
        (a_row_of_each, ROWS), (a_column_of_each, ROWS), (strided_along_both, ((32, 32), (16, 16)))]
    yield "counts in 64 bins", (RANDOM.integers(0, 64, COUNT), np.zeros(64, np.int32)), [
        (a_thread_for_a_value, line), (counted_by_function, line), (counted_by_strides, few)]
    m = RANDOM.random((256, 256), np.float32)
    yield "product of 256 x 256", (m, m, np.zeros_like(m)), [
        (way, ((16, 16), (16, 16))) for way in (product, product_by_while, product_of_float64, product_in_memory)]


def measure(function, launch, given, adapt=lambda *given: given):
    """(milliseconds, what the last argument is after one launch)"""
    arrays = [cuda.to_device(array) for array in given]
    launcher, arguments = cuda.jit(function)[launch], adapt(*arrays)
    launcher(*arguments)
    result = arrays[-1].copy_to_host()
    return median_seconds(lambda: launcher(*arguments), cuda.synchronize) * 1e3, result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="parts of groups' names, with commas")
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for name, given, ways in groups():
        if not any(word in name for word in options.only.split(",")):
            continue
        first = expected = None
        for way in ways:
            taken, result = measure(way[0], way[1], given, *way[2:])
            first, expected = first or taken, result if expected is None else expected
            same = np.allclose(result, expected, rtol=1e-4)
            rows.append([name, way[0].__name__, taken, taken / first, "yes" if same else "NO"])
    show = print_markdown if options.markdown else print_table
    show(f"{cuda.get_current_device().name}, milliseconds", ["", "way", "ms", "ratio", "same"], rows)


main()
