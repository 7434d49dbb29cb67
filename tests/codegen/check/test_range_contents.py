"""What local and shared arrays hold is known where they are filled from each other so many times, on a GPU."""
import inspect

import numpy as np
import pytest

from cujit import cuda, int32, int64, uint8

WORD = 12


def distance(a, b, out):
    """Edit distance: each cell is at most 1 above another one."""
    item = cuda.grid(1)
    if item < out.size:
        row = cuda.local.array(WORD + 1, int32)
        for j in range(WORD + 1):
            row[j] = j
        for i in range(1, WORD + 1):
            corner = row[0]
            row[0] = i
            for j in range(1, WORD + 1):
                above = row[j]
                change = corner + (1 if a[item, i - 1] != b[item, j - 1] else 0)
                row[j] = min(min(above + 1, row[j - 1] + 1), change)
                corner = above
        out[item] = row[WORD]


def scores(a, out):
    """A block's: as many stores as threads have trips."""
    cells = cuda.shared.array(34, int32)
    t = cuda.threadIdx.x
    cells[t + 1] = t
    if t == 0:
        cells[0] = cells[33] = 0
    cuda.syncthreads()
    best = 0
    for k in range(20):
        value = max(cells[t], cells[t + 2]) + a[t] - 3
        cuda.syncthreads()
        cells[t + 1] = value
        best = max(best, value)
        cuda.syncthreads()
    out[t] = best


TYPES = {distance: (uint8[:, ::1], uint8[:, ::1], int32[::1]), scores: (uint8[::1], int32[::1])}


def sums_of_64_bits(kernel, types):
    text = cuda.jit(kernel).inspect("narrow", types, 90)
    return sum(": i64 = " + word in text for word in ("add", "sub", "min", "max", "phi"))


@pytest.mark.parametrize("kernel", TYPES)
def test_cells_have_32_bits(kernel):
    assert not sums_of_64_bits(kernel, TYPES[kernel])


def changed(line, by, function=distance):
    text = inspect.getsource(function)
    assert line in text
    namespace = {"cuda": cuda, "int32": int32, "WORD": WORD, "passed": cuda.jit(device=True)(lambda cells: cells[0])}
    exec(text.replace(line, by), namespace)
    return namespace[function.__name__]


@pytest.mark.parametrize("line,by", [
    ("range(1, WORD + 1):\n            corner", "range(1, a[item, 0] * out.size):\n            corner"),   # how often?
    ("corner + (1 if", "corner * 2 + (1 if"),
    ("corner + (1 if", "corner + row[1] + (1 if"),
    ("row[j] = j\n", "row[j] = out[j]\n"),   # 32 bits that may be all used
    ("corner = row[0]", "corner = passed(row)"),    # others could write
    ("above + 1", "above + 1000000000"),
])
def test_cells_that_may_need_64_bits(line, by):
    assert sums_of_64_bits(changed(line, by), TYPES[distance])


def turns(lock, flags, out):
    """Each thread of the block goes on counting where another one has stopped: 1,024 times 4 million."""
    count = cuda.shared.array(1, int64)
    if cuda.threadIdx.x == 0:
        count[0] = 0
    cuda.syncthreads()
    while cuda.atomic.cas(lock, 0, 0, 1) != 0:
        pass
    value = count[0]
    for k in range(4000000):
        if flags[k & 15]:
            value += 1
    count[0] = value
    cuda.threadfence_block()
    cuda.atomic.exch(lock, 0, 0)
    cuda.syncthreads()
    out[cuda.threadIdx.x] = count[0] * 3


def test_variables_with_what_other_threads_left_may_need_more_bits():
    """4,096 million fit 32 bits without a sign, three times as much does not."""
    text = cuda.jit(turns).inspect("narrow", (int32[::1], uint8[::1], int64[::1]), 90)
    assert "u32 = phi" in text and "i64 = mul" in text


def wrapping(out):
    """The counter steps over the end and goes on from below 0: 10,000 trips, not two."""
    total = cuda.shared.array(1, int64)
    total[0] = 0
    trips = 0
    i = 2**62
    while i < 2**63 - 1:
        total[0] += 2**20
        i += 2**62
        trips += 1
        if trips == 10000:
            break
    out[0] = total[0] // 3


def test_counters_that_wrap_around_end_when_they_like():
    text = cuda.jit(wrapping).inspect("narrow", (int64[::1],), 90)
    assert "i64 = floordiv" in text and "u32 = add" not in text
    out = np.zeros(1, np.int64)
    cuda.jit(wrapping)[1, 1](out)
    assert out[0] == 10000 * 2**20 // 3


def test_nothing_is_promised_of_what_nobody_wrote():
    """Sums of what lies there may wrap: they are not `exact`."""
    text = cuda.jit(distance).inspect("narrow", TYPES[distance], 90)
    row, = {line.split()[0].rstrip(":") for line in text.splitlines() if "= local" in line}
    loads = {line.split()[0].rstrip(":") for line in text.splitlines() if f"= load {row}[" in line}
    sums = [line for line in text.splitlines() if "i32 = add" in line and loads & set(line.replace(",", "").split())]
    assert sums and not any("exact" in line for line in sums)


def test_distances():
    rng = np.random.default_rng(3)
    a, b = (rng.integers(0, 3, (40, WORD)).astype(np.uint8) for _ in range(2))
    out = np.zeros(40, np.int32)
    cuda.jit(distance)[2, 32](a, b, out)
    for item in range(40):
        row = list(range(WORD + 1))
        for i in range(WORD):
            before, row = row, [i + 1]
            for j in range(WORD):
                row.append(min(before[j + 1] + 1, row[j] + 1, before[j] + int(a[item, i] != b[item, j])))
        assert out[item] == row[-1]


def test_scores():
    a, out = np.arange(32).astype(np.uint8) % 7, np.zeros(32, np.int64)
    cuda.jit(scores)[1, 32](a, out)
    cells, best = np.r_[0, np.arange(32), 0], np.zeros(32, np.int64)
    for _ in range(20):
        cells[1:33] = np.maximum(cells[:32], cells[2:]) + a - 3
        best = np.maximum(best, cells[1:33])
    assert out.tolist() == best.tolist()
