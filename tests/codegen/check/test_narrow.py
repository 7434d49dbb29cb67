"""On a GPU integers of 64 bits are computed in 32 where they fit, and small loops are written out."""
import re

import numpy as np
import pytest

from cujit import cuda, float32, int32, int64, types, uint8, uint32

MATRICES = (float32[:, ::1], float32[:, ::1])


def periodic(x, out):
    i, j = cuda.grid(2)
    height, width = x.shape
    if i < height and j < width:
        out[i, j] = x[(i - 1) % height, (j + 1) % width] + x[max(i - 1, 0), min(j + 1, width - 1)]


def rows(starts, columns, values, x, out):
    row = cuda.grid(1)
    if row < out.size:
        total = float32(0)
        for q in range(starts[row], starts[row + 1]):
            total += values[q] * x[columns[q]]
        out[row] = total


def mixed(x, out):
    i = cuda.grid(1)
    if i < x.size:
        h = x[i]
        for _ in range(32):
            h = uint32((h ^ (h >> 16)) * 0x7feb352d + i)
        out[i] = h


def search(sorted_x, keys, out):
    i = cuda.grid(1)
    if i < keys.size:
        low, high = 0, sorted_x.size
        while low < high:
            middle = (low + high) // 2
            if sorted_x[middle] < keys[i]:
                low = middle + 1
            else:
                high = middle
        out[i] = low


def checksum(x, table, out):
    i = cuda.grid(1)
    if i < out.size:
        c = uint32(0xFFFFFFFF)
        for k in range(x.shape[0]):
            c = table[(c ^ x[k, i]) & uint32(255)] ^ (c >> uint32(8))
        out[i] = c


def lanes(starts, x, out):
    """The start has 33 bits, or 64."""
    row, lane = cuda.blockIdx.x, cuda.threadIdx.x
    total = float32(0)
    for q in range(starts[row] + lane, starts[row + 1], 32):
        total += x[q]
    out[row, lane] = total


def bits(x, out):
    i = cuda.grid(1)
    out[i] = (x[i] + (x[i] << 3)) >> 1      # needs more than 32 bits


def ptx_of(function, *types):
    return cuda.jit(function).inspect("asm", types, 90)


def wide_operations(ptx):
    return re.findall(r"\b(?:rem|div|mul\.lo|min|max|selp|setp\.[a-z]+|shl|and)\.[su]64\b", ptx)


@pytest.mark.parametrize("function,types", [(periodic, MATRICES), (mixed, (uint32[::1], uint32[::1])),
                                            (search, (float32[::1], float32[::1], int32[::1])),
                                            (rows, (int32[::1], int32[::1], float32[::1], float32[::1], float32[::1]))])
def test_what_fits_has_32_bits(function, types):
    assert not wide_operations(ptx_of(function, *types))


def test_what_other_launchers_run_holds_for_any_launch():
    """They test nothing: a row of the matrix may be beyond 2^31 elements."""
    assert wide_operations(cuda.compile_ptx(periodic, MATRICES, cc=(9, 0))[0])


def test_what_does_not_fit_has_64_bits():
    assert "shl.b64" in ptx_of(bits, int32[::1], int64[::1]) or "mul.wide" in ptx_of(bits, int32[::1], int64[::1])


def test_small_loops_are_written_out():
    """The words of the loop's 32 rounds, each with one product."""
    assert ptx_of(mixed, uint32[::1], uint32[::1]).count("2146121005") == 32


def test_rows_have_a_loop_without_tests_of_the_sign():
    """Four trips at a time: three loads each, whose only test is of the column that comes from memory."""
    kernel = cuda.jit(rows)
    text = kernel.inspect("narrow", (int32[::1], int32[::1], float32[::1], float32[::1], float32[::1]), 90)
    assert text.count("!batch") == text.count("!rolled") == 1
    assert text.count("= wrap") == 1 + 3


def test_words_that_stay_words():
    text = cuda.jit(checksum).inspect("narrow", (uint8[:, ::1], uint32[::1], uint32[::1]), 90)
    assert "u32 = phi" in text and "u64 = phi" not in text and "u64 = xor" not in text


def segments(starts, x, out):
    row, lane = cuda.blockIdx.x, cuda.threadIdx.x
    total = float32(0)
    for q in range(starts[row], starts[row + 1]):
        total += x[q]
    out[row, lane] = total


@pytest.mark.parametrize("kernel,starts", [(lanes, int32), (segments, int64)])
def test_starts_that_32_bits_do_not_hold_have_a_version(kernel, starts):
    text = cuda.jit(kernel).inspect("narrow", (starts[::1], float32[::1], float32[:, ::1]), 90)
    assert text.count("!batch") == text.count("!rolled") == 1
    header, = re.findall(r"!batch:\n((?:  .*\n)+)", text)
    assert "i32 = phi" in header and "i64 = phi" not in header


def made_anew(starts, n, x, out):
    i = cuda.grid(1)
    if i < out.size:
        total = 0
        k = starts[i]
        while k < n * 2 + i:
            total = total * 3 + x[k]
            k += 1
        out[i] = total


def test_ends_that_each_trip_makes_anew():
    """They are not there in front of the loop, where the first version would be asked about."""
    types = int64[::1], int64, int64[::1], int64[::1]
    assert cuda.jit(made_anew).inspect("narrow", types, 90).count("!rolled") == 1
    starts, x, out = np.array([-5, 0, 3, 90]), np.arange(40), np.zeros(4, np.int64)
    cuda.jit(made_anew)[1, 32](starts, 6, x, out)
    expected = np.zeros(4, np.int64)
    for i in range(4):
        for k in range(starts[i], 12 + i):
            expected[i] = expected[i] * 3 + x[k]
    assert out.tolist() == expected.tolist()


def around(x, weights, out):
    i = cuda.grid(1)
    radius = weights.size // 2
    total = float32(0)
    for k in range(-radius, radius + 1):
        total += weights[k + radius] * x[i + k]
    out[i] = total


def test_loops_from_below_0_have_one_version():
    text = cuda.jit(around).inspect("narrow", (float32[::1], float32[::1], float32[::1]), 90)
    assert text.count("!batch") == 1 and "!rolled" not in text


@pytest.mark.parametrize("starts", [[0, 40, 99, 100], [-100, -60, -1, 0], [3, 2**31 + 5, -2**31, 99],
                                    [2**31 - 1, 2**31 - 1, 2**31 - 32, -5]])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_starts_of_all_kinds(starts, dtype):
    """Whole ranges are in x, or in what has no trip."""
    x = np.arange(100, dtype=np.float32)
    starts = np.array(starts).astype(dtype)
    out, expected = np.zeros((3, 32), np.float32), np.zeros((3, 32), np.float32)
    for row in range(3):
        for lane in range(32):
            numbers = range(int(starts[row]) + lane, int(starts[row + 1]), 32)
            if len(numbers) > 10:
                starts[row + 1] = -2**31    # no trip
                numbers = []
            expected[row, lane] = sum(x[q] for q in numbers)
    cuda.jit(lanes)[3, 32](starts, x, out)
    np.testing.assert_array_equal(out, expected)


def test_a_search_finds_its_place():
    x, keys = np.arange(0, 200, 2, dtype=np.float32), np.array([-1, 0, 1, 99, 198, 199], np.float32)
    out = np.zeros(6, np.int32)
    cuda.jit(search)[1, 32](x, keys, out)
    assert out.tolist() == np.searchsorted(x, keys).tolist()


@pytest.mark.parametrize("step", ["a, b = b, a + b", "a, b = b, a * 3 - b", "a, b = b - a, a"])
def test_variables_that_leave_what_they_start_in(step):
    namespace = {"cuda": cuda}
    exec(f"def kernel(n, out):\n    a, b = 0, 1\n    for i in range(n):\n        {step}\n    out[0] = a", namespace)
    text = cuda.jit(namespace["kernel"]).inspect("narrow", (int32, int64[::1]), 90)
    assert text.count("i64 = phi") == 2
    out, expected = np.zeros(1, np.int64), {"n": 40, "out": [0]}
    cuda.jit(namespace["kernel"])[1, 1](40, out)
    namespace["kernel"](**expected)
    assert out[0] == expected["out"][0]


def test_rows_that_count_from_the_end():
    starts, columns = np.array([-2, 0, 2, 2], np.int32), np.array([1, -1, 0, 2], np.int32)
    values, x, out = np.arange(1, 5, dtype=np.float32), np.array([1, 10, 100], np.float32), np.zeros(3, np.float32)
    cuda.jit(rows)[1, 32](starts, columns, values, x, out)
    assert out.tolist() == [3 * 1 + 4 * 100, 1 * 10 + 2 * 100, 0]


def hashed(table, x, out):
    """The sum has 33 bits; where the table has an element there, 32."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = table[x[i] + i] + table[x[i] - 1]


def test_indices_have_32_bits_since_there_is_an_element():
    text = ptx_of(hashed, int32[::1], int32[::1], int32[::1])
    assert not wide_operations(text) and len(re.findall(r"min\.u32", text)) == 2


def test_what_is_more_than_an_index_does_not():
    def kernel(table, x, out):
        i = cuda.grid(1)
        place = x[i] + i
        out[i] = table[place] if place < 5 else 0

    text = ptx_of(kernel, int32[::1], int32[::1], int32[::1])
    assert re.search(r"setp\.(lt|gt)\.s64", text)   # which of the two depends on the Python's order of blocks


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_indices_from_both_ends(dtype):
    table = np.arange(100, 140, dtype=np.int32)
    x = np.array([0, 39 - 1, -3, -39 - 4 + 4, -38, 1], dtype)
    out = np.zeros(6, np.int32)
    cuda.jit(hashed)[1, 32](table, x, out)
    assert out.tolist() == [int(table[v + i]) + int(table[v - 1]) for i, v in enumerate(x)]


def nearest(x, keys, out):
    i = cuda.grid(1)
    best, at = 1000, 0
    for k in range(keys.size):
        value = x[i] & keys[k] & 255
        if value < best:
            best = value
            at = k
    out[i] = at


def test_the_best_so_far_has_32_bits():
    text = cuda.jit(nearest).inspect("narrow", (int32[::1], int32[::1], int32[::1]), 90)
    assert "i32 = phi" in text and "i64 = phi" not in text


def differing(x, keys, out):
    """At most 4 times 32 bits differ; at most as many keys are near as there are."""
    i = cuda.grid(1)
    best, near = 1000, 0
    for k in range(keys.shape[0]):
        distance = 0
        for w in range(4):
            distance += cuda.popc(x[i, w] ^ keys[k, w])
        if distance < best:
            best = distance
        if distance < 3:
            near += 1
    out[i] = best + (near >> 1)


def test_sums_in_loops_that_count():
    text = cuda.jit(differing).inspect("narrow", (uint32[:, ::1], uint32[:, ::1], int64[::1]), 90)
    assert text.count("i32 = phi") >= 5 and "i64 = phi" not in text
    x = np.array([[0, 0, 0, 0], [2**32 - 1] * 4], np.uint32)
    keys = np.array([[1, 0, 0, 0], [2**32 - 1] * 4, [3, 0, 0, 0]], np.uint32)
    out = np.zeros(2, np.int64)
    cuda.jit(differing)[1, 2](x, keys, out)
    assert out.tolist() == [1 + 1, 0]


@pytest.mark.parametrize("step", ["total += x[k]", "total += 1 << 60", "total = total + total + 1",
                                  "total -= x[k] * x[k]"])
def test_sums_that_may_be_large(step):
    namespace = {"cuda": cuda}
    exec(f"def kernel(x, out):\n    total = 0\n    for k in range(x.size):\n        {step}\n    out[0] = total >> 1",
         namespace)
    assert "i64 = phi" in cuda.jit(namespace["kernel"]).inspect("narrow", (int64[::1], int64[::1]), 90)


def aligned(a, gap, out):
    """`across` may fall out of 32 bits for all that is known of a, `best` takes what stays."""
    across, best = 0, 0
    for k in range(a.size):
        across = max(across - 1, a[k] - 4)
        best = max(best, min(across, 100), 0)
    out[0] = best + 1


def test_what_is_taken_of_others_that_leave_32_bits():
    text = cuda.jit(aligned).inspect("narrow", (int64[::1], int32, int64[::1]), 90)
    assert len(re.findall(r"i64 = phi", text)) == 1


def scale(x, factors, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] * factors[0]
        out[i] += x[i] * factors[1]


ARRAYS = float32[::1], float32[::1], float32[::1]


def test_what_nobody_writes_is_read_once():
    assert ptx_of(scale, *ARRAYS).count("ld.global.nc") == 3 == ptx_of(scale, *ARRAYS).count("ld.global")


def test_arrays_of_other_launchers_may_overlap():
    text = cuda.compile_ptx(scale, ARRAYS, cc=(9, 0))[0]
    assert "ld.global.nc" not in text and text.count("ld.global") > 3


def test_arrays_in_tuples_may_overlap():
    def of_tuple(arrays, out):
        i = cuda.grid(1)
        out[i] = arrays[0][i] + arrays[1][i]

    assert "ld.global.nc" not in ptx_of(of_tuple, types.UniTuple(float32[::1], 2), float32[::1])


def test_what_others_may_write_meanwhile_is_read_again():
    def waits(flag, x, out):
        i = cuda.grid(1)
        while flag[0] == 0:
            cuda.threadfence()
        out[i] = x[i]

    assert "ld.global.nc" not in ptx_of(waits, int32[::1], float32[::1], float32[::1])


def test_what_is_written_is_read_behind_a_barrier():
    """Another thread may have written it."""
    def swap(x, y):
        t = cuda.threadIdx.x
        before = y[31 - t]
        cuda.syncthreads()
        y[t] = x[t] + before
        cuda.syncthreads()
        x[t] = y[31 - t]
        cuda.syncthreads()
        y[t] += x[31 - t] + y[31 - t]

    assert ptx_of(swap, float32[::1], float32[::1]).count("ld.global") == 6


def test_shuffles_hand_on_as_many_bits_as_are_asked_for():
    def scan(x, out):
        i = cuda.grid(1)
        value = x[i]
        for k in range(5):
            before = cuda.shfl_up_sync(0xFFFFFFFF, value, 1 << k)
            if i % 32 >= 1 << k:
                value += before
        out[i] = value

    counts = [ptx_of(scan, int32[::1], result[::1]).count("shfl.sync.up") for result in (int32, int64)]
    assert counts == [5, 10]
