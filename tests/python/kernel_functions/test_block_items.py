"""cuda.block and cuda.warp with records, tuples, named tuples and dataclasses beside NumPy; orders are kept."""
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

from cujit import cuda, from_dtype

RECORD = np.dtype([("x", "f4"), ("n", "i8"), ("tag", "S3"), ("taps", "i2", (3,))], align=True)
ODD = np.dtype("i4,u1")      # 5 bytes, none of them aligned
PAIRS = np.dtype([("a", "i2"), ("b", "i2"), ("c", "u2")])   # 6 bytes
THREADS = [1, 32, 40, 96]


class Point(NamedTuple):
    x: float
    n: int


@dataclass
class Sum:
    total: float
    count: int

    def __add__(self, other):
        return Sum(self.total + other.total, self.count + other.count)


@dataclass
class Both:
    first: float
    inner: Point


@dataclass
class Swap:
    left: object
    right: object


def greater(a, b):
    return a if a.x >= b.x else b


def joined(a, b):
    """Associative, not commutative: of the second, but for a sum and a product."""
    r = cuda.local.array(1, a.dtype)
    r[0] = b
    r[0].x = a.x + b.x
    r[0].n = a.n * b.n % 97
    return r[0]


def records(rng, n):
    made = np.zeros(n, RECORD)
    made["x"], made["n"] = rng.integers(0, 50, n), rng.integers(1, 97, n)
    made["tag"], made["taps"] = [b"%d" % (k % 1000) for k in range(n)], rng.integers(0, 9, (n, 3))
    return made


def folded(x, start=None):
    """joined of each with all before it."""
    out = x.copy()
    total, product = (0, 1) if start is None else (start["x"], int(start["n"]))
    for k in range(x.size):
        total, product = total + x["x"][k], product * int(x["n"][k]) % 97
        out["x"][k], out["n"][k] = total, product
    return out


@pytest.mark.parametrize("threads", THREADS)
def test_scans_and_reductions_of_records(rng, threads):
    @cuda.jit
    def scans(r, start, inclusive, exclusive, total, largest):
        t = cuda.threadIdx.x
        inclusive[t] = cuda.block.inclusive_scan(r[t], joined)
        exclusive[t] = cuda.block.exclusive_scan(r[t], joined, start[0])
        total[t] = cuda.block.reduce(r[t], joined)
        largest[t] = cuda.block.reduce(r[t], greater)
    r = records(rng, threads)
    start, outs = records(rng, 1), [np.zeros(threads, RECORD) for _ in range(4)]
    scans[1, threads](r, start, *outs)
    expected = folded(r)
    np.testing.assert_array_equal(outs[0], expected)
    np.testing.assert_array_equal(outs[1], np.concatenate([start, folded(r, start[0])])[:threads])
    assert (outs[2] == expected[-1]).all() and (outs[3] == r[r["x"].argmax()]).all()


@pytest.mark.parametrize("threads", [40, 96])
def test_warps(rng, threads):
    @cuda.jit
    def scans(r, inclusive, exclusive, total, sums, counts):
        t = cuda.threadIdx.x
        inclusive[t] = cuda.warp.inclusive_scan(r[t], joined)
        exclusive[t] = cuda.warp.exclusive_scan(r[t], joined, r[0])
        total[t] = cuda.warp.reduce(r[t], greater)
        own = cuda.warp.reduce(Sum(r[t].x, 1))
        sums[t], counts[t] = own.total, own.count
    r = records(rng, threads)
    outs, sums, counts = [np.zeros(threads, RECORD) for _ in range(3)], np.zeros(threads), np.zeros(threads, int)
    scans[1, threads](r, *outs, sums, counts)
    for first in range(0, threads, 32):
        part = np.s_[first:min(first + 32, threads)]
        np.testing.assert_array_equal(outs[0][part], folded(r[part]))
        np.testing.assert_array_equal(outs[1][part], np.concatenate([r[:1], folded(r[part], r[0])])[:r[part].size])
        assert (outs[2][part] == r[part][r["x"][part].argmax()]).all()
        assert set(sums[part]) == {r["x"][part].sum()} and set(counts[part]) == {r[part].size}


@pytest.mark.parametrize("threads", THREADS)
def test_several_records_of_a_thread(rng, threads):
    @cuda.jit
    def scans(r, inclusive, exclusive, total):
        first = cuda.blockIdx.x * cuda.blockDim.x * 3
        items = cuda.block.load(r, first, 3, r[0])
        cuda.block.store(inclusive, first, cuda.block.inclusive_scan(items, joined))
        cuda.block.store(exclusive, first, cuda.block.exclusive_scan(items, greater))
        total[cuda.blockIdx.x] = cuda.block.reduce(items, greater)
    n = 3 * threads * 2 - 2
    r = records(rng, n)
    inclusive, exclusive, total = np.zeros(n, RECORD), np.zeros(n, RECORD), np.zeros(2, RECORD)
    scans[2, threads](r, inclusive, exclusive, total)
    for block in range(2):
        part = np.s_[block * 3 * threads:(block + 1) * 3 * threads]
        own = r[part]
        np.testing.assert_array_equal(inclusive[part], folded(own))
        zero = np.zeros(1, RECORD)
        largest = [zero[0]] + [own[own["x"][:k + 1].argmax()] for k in range(own.size - 1)]
        chosen = [e if e["x"] > 0 else zero[0] for e in largest]   # the start is of zeros, and comes first
        np.testing.assert_array_equal(exclusive[part], np.array(chosen, RECORD))
        padded = np.concatenate([own, r[:1]]) if own.size < 3 * threads else own
        assert total[block] == padded[padded["x"].argmax()]


@pytest.mark.parametrize("dtype", [RECORD, ODD, PAIRS])
@pytest.mark.parametrize("shape", [(7,), (16, 3), (40,)])
def test_records_of_any_size_are_exchanged(rng, dtype, shape):
    """The last block has less than its items."""
    threads = int(np.prod(shape))

    @cuda.jit
    def move(x, a, b, c):
        first = cuda.blockIdx.x * threads * 3
        items = cuda.block.load(x, first, 3)
        cuda.block.store(a, first, items)
        cuda.block.store_striped(b, first, cuda.block.to_striped(items))
        cuda.block.store(c, first, cuda.block.to_blocked(cuda.block.load_striped(x, first, 3)))
    x = np.frombuffer(rng.integers(1, 99, dtype.itemsize * (threads * 5 - 2), np.uint8), dtype).copy()
    moved = [np.zeros_like(x) for _ in range(3)]
    move[2, shape](x, *moved)
    for each in moved:
        np.testing.assert_array_equal(each, x)


@pytest.mark.parametrize("kind", [Point, Sum, lambda x, n: (x, n), lambda x, n: Both(x, Point(x, n))])
def test_tuples_and_instances_of_arrays_have_items(rng, kind):
    @cuda.jit
    def move(source, target, scanned):
        items = cuda.block.load(source, 0, 2)
        cuda.block.store(target, 0, items)
        cuda.block.store_striped(scanned, 0, cuda.block.to_striped(cuda.block.inclusive_scan(items, lambda a, b: b)))
    x, n = rng.random(70).astype(np.float32), rng.integers(0, 99, 70)
    outs = [(np.zeros_like(x), np.zeros_like(n)) for _ in range(2)]
    move[1, 40](kind(x, n), kind(*outs[0]), kind(*outs[1]))
    for a, b in outs:
        np.testing.assert_array_equal(a, x)
        np.testing.assert_array_equal(b, n)


def test_scans_of_instances(rng):
    @cuda.jit
    def scans(x, sums, counts, most, where):
        t = cuda.threadIdx.x
        own = cuda.block.inclusive_scan(Sum(x[t], 1))
        sums[t], counts[t] = own.total, own.count
        best = cuda.block.reduce(Point(x[t], t), lambda a, b: b if b.x > a.x else a)
        most[t], where[t] = best.x, best.n
        low, high = cuda.block.reduce(((x[t], x[t]),), lambda a, b: (min(a[0], b[0]), max(a[1], b[1])))
        if low > high:
            sums[t] = -1
    x = rng.integers(0, 999, 100).astype(np.float64)
    outs = [np.zeros(100) for _ in range(4)]
    scans[1, 100](x, *outs)
    assert outs[0].tolist() == np.cumsum(x).tolist() and outs[1].tolist() == list(range(1, 101))
    assert set(outs[2]) == {x.max()} and set(outs[3]) == {x.argmax()}


def test_fields_may_change_places(rng):
    """Of an item with two records: each is the other one's copy."""
    def swapped(a, b):
        return Swap(b.right, a.left) if a.left.x > b.right.x else Swap(a.left, b.right)

    @cuda.jit
    def scan(r, out):
        t = cuda.threadIdx.x
        found = cuda.block.reduce(Swap(r[t], r[t + 32]), swapped)
        if t == 0:
            out[0] = found.left
            out[1] = found.right
    r = records(rng, 64)
    out = np.zeros(2, RECORD)
    scan[1, 32](r, out)
    values = [(r[t], r[t + 32]) for t in range(32)]
    for distance in (1, 2, 4, 8, 16):   # as lanes are combined
        values = [values[t] if t < distance else
                  ((values[t][1], values[t - distance][0]) if values[t - distance][0]["x"] > values[t][1]["x"]
                   else (values[t - distance][0], values[t][1])) for t in range(32)]
    assert (out[0], out[1]) == values[31]


@pytest.mark.parametrize("threads", [1, 40, 64])
def test_records_are_sorted_by_keys(rng, threads):
    @cuda.jit
    def sort(r, by_x, by_both, last):
        items = cuda.block.load(r, 0, 3)
        _, moved = cuda.block.radix_sort(tuple(item.x for item in items), items)
        cuda.block.store(by_x, 0, moved)
        keys, moved = cuda.block.radix_sort(tuple((item.x, -item.n) for item in items), items)
        cuda.block.store(by_both, 0, moved)
        if cuda.threadIdx.x == 0:
            last[0], last[1] = keys[0]
    r = records(rng, 3 * threads)
    r["x"] = rng.integers(0, 4, r.size)
    by_x, by_both, last = np.zeros_like(r), np.zeros_like(r), np.zeros(2)
    sort[1, threads](r, by_x, by_both, last)
    np.testing.assert_array_equal(by_x, r[np.argsort(r["x"], kind="stable")])
    order = np.lexsort((-r["n"], r["x"]))
    np.testing.assert_array_equal(by_both, r[order])
    assert last.tolist() == [r["x"][order[0]], -r["n"][order[0]]]


@pytest.mark.parametrize("descending", [False, True])
def test_keys_with_fields_are_sorted_by_one_after_another(rng, descending):
    @cuda.jit
    def sort(points, places, out, moved):
        keys, values = cuda.block.radix_sort(cuda.block.load(points, 0, 2), cuda.block.load(places, 0, 2), descending)
        cuda.block.store(out, 0, keys)
        cuda.block.store(moved, 0, values)
    x, n = rng.integers(-3, 3, 80).astype(np.float32), rng.integers(-5, 5, 80)
    out, moved = Point(np.zeros_like(x), np.zeros_like(n)), np.zeros(80, np.int64)
    sort[1, 40](Point(x, n), np.arange(80), out, moved)
    order = np.lexsort((-n, -x)) if descending else np.lexsort((n, x))
    np.testing.assert_array_equal(moved, order)
    np.testing.assert_array_equal(out.x, x[order])
    np.testing.assert_array_equal(out.n, n[order])


def test_kernels_for_gpus_are_compiled(assembles):
    def kernel(r, out):
        items = cuda.block.load(r, 0, 2)
        _, items = cuda.block.radix_sort(tuple(item.n for item in items), items)
        cuda.block.store(out, 0, cuda.block.inclusive_scan(items, joined))
    record = from_dtype(RECORD)
    assert "shfl.sync" in assembles(kernel, (record[::1], record[::1]), (9, 0))


@pytest.mark.parametrize("check", ["init", "race", "bounds", True])
def test_check_mode_has_nothing_to_say(rng, check):
    """Bytes between fields move, too."""
    @cuda.jit(check=check)
    def kernel(r, out):
        items = cuda.block.load(r, 0, 3)
        _, items = cuda.block.radix_sort(tuple(item.n for item in items), items)
        cuda.block.store(out, 0, cuda.block.inclusive_scan(items, joined))
    r, out = records(rng, 96), np.zeros(96, RECORD)
    kernel[1, 32](r, out)
    np.testing.assert_array_equal(out, folded(r[np.argsort(r["n"], kind="stable")]))


def test_exchanges_of_a_record_need_one_row():
    @cuda.jit
    def move(r, out):
        cuda.block.store(out, 0, cuda.block.load(r, 0, 4))
    record = from_dtype(RECORD)
    ptx = move.inspect_asm((record[::1], record[::1]), cc=(9, 0))
    assert sum("[4096];" in line for line in ptx.splitlines() if ".shared" in line) == 1


def test_named_tuples_know_their_fields():
    @cuda.jit
    def count(out):
        p = Point(1.0, 2)
        out[0], out[1], out[2] = len(p._fields), hasattr(p, "_fields"), hasattr((1, 2), "_fields")
        out[3] = p._fields[1] == "n"
    out = np.zeros(4, np.int64)
    count[1, 1](out)
    assert out.tolist() == [2, 1, 0, 1]
