"""cuda.block and cuda.warp beside NumPy: any number of threads, numbers and tuples of items, orders kept."""
import numpy as np
import pytest

from cujit import cuda, errors, types

THREADS = [1, 32, 40, 96, 200, 256]


def last(a, b):
    """Associative, not commutative."""
    return b


def then(first, second):
    """Two maps of numbers modulo 97, one after the other: associative, not commutative."""
    a, b = first // 128, first % 128
    c, d = second // 128, second % 128
    return (a * c % 97) * 128 + (b * c + d) % 97


def folded(x, start=None):
    found, value = [], start
    for item in x.tolist():
        value = item if value is None else then(value, item)
        found.append(value)
    return found


@pytest.mark.parametrize("threads", THREADS)
def test_scans_and_reductions_keep_the_order(rng, threads):
    @cuda.jit
    def scans(x, inclusive, exclusive, total, sums):
        t = cuda.threadIdx.x
        inclusive[t] = cuda.block.inclusive_scan(x[t], then)
        exclusive[t] = cuda.block.exclusive_scan(x[t], then, 133)
        total[t] = cuda.block.reduce(x[t], then)
        sums[t] = cuda.block.reduce(x[t])
    x = rng.integers(1, 97, threads) * 128 + rng.integers(0, 97, threads)
    outs = [np.zeros(threads, np.int64) for _ in range(4)]
    scans[1, threads](x, *outs)
    assert outs[0].tolist() == folded(x) and outs[1].tolist() == [133, *folded(x, 133)][:threads]
    assert set(outs[2].tolist()) == {folded(x)[-1]} and set(outs[3].tolist()) == {x.sum()}


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("dtype", [np.int32, np.float64])
def test_several_items_of_a_thread(rng, threads, dtype):
    @cuda.jit
    def scans(x, inclusive, exclusive, total):
        first = cuda.blockIdx.x * cuda.blockDim.x * 3
        items = cuda.block.load(x, first, 3)
        cuda.block.store(inclusive, first, cuda.block.inclusive_scan(items))
        cuda.block.store(exclusive, first, cuda.block.exclusive_scan(items, max, -5))
        total[cuda.blockIdx.x] = cuda.block.reduce(items, max)
    n = 3 * threads * 2 - 2
    x = rng.integers(0, 99, n).astype(dtype)
    inclusive, exclusive, total = np.zeros(n, dtype), np.zeros(n, dtype), np.zeros(2, dtype)
    scans[2, threads](x, inclusive, exclusive, total)
    for block in range(2):
        part = np.s_[block * 3 * threads:(block + 1) * 3 * threads]
        assert inclusive[part].tolist() == np.cumsum(x[part]).tolist()
        assert exclusive[part].tolist() == [-5, *np.maximum.accumulate(x[part])][:x[part].size]
        assert total[block] == x[part].max(initial=0)


@pytest.mark.parametrize("threads", THREADS)
def test_warps(rng, threads):
    @cuda.jit
    def scans(x, inclusive, exclusive, total, items_of):
        t = cuda.threadIdx.x
        inclusive[t] = cuda.warp.inclusive_scan(x[t], then)
        exclusive[t] = cuda.warp.exclusive_scan(x[t], then, 133)
        total[t] = cuda.warp.reduce(x[t], then)
        a, b = cuda.warp.inclusive_scan((x[t], x[t]))
        items_of[2 * t], items_of[2 * t + 1] = a, b
    x = rng.integers(1, 97, threads) * 128 + rng.integers(0, 97, threads)
    outs = [np.zeros(threads, np.int64) for _ in range(3)] + [np.zeros(2 * threads, np.int64)]
    scans[1, threads](x, *outs)
    for first in range(0, threads, 32):
        part = x[first:first + 32]
        assert outs[0][first:first + 32].tolist() == folded(part)
        assert outs[1][first:first + 32].tolist() == [133, *folded(part, 133)][:part.size]
        assert set(outs[2][first:first + 32].tolist()) == {folded(part)[-1]}
        assert outs[3][2 * first:2 * first + 64].tolist() == np.cumsum(np.repeat(part, 2)).tolist()


def test_exchange():
    @cuda.jit
    def exchange(x, striped, blocked):
        t, size = cuda.threadIdx.x, cuda.blockDim.x
        items = cuda.block.load_striped(x, 0, 4, -1)
        for k in range(4):
            striped[t * 4 + k] = items[k]
        items = cuda.block.to_blocked(items)
        for k in range(4):
            blocked[t * 4 + k] = items[k]
        again = cuda.block.to_striped(items)
        cuda.block.store_striped(x, 0, again)
    x = np.arange(70) * 3
    padded = np.concatenate([x, np.full(10, -1)])
    given, striped, blocked = x.copy(), np.zeros(80, np.int64), np.zeros(80, np.int64)
    exchange[1, 20](given, striped, blocked)
    assert blocked.tolist() == padded.tolist() and given.tolist() == x.tolist()
    assert striped.tolist() == padded.reshape(4, 20).T.ravel().tolist()


@pytest.mark.parametrize("threads", [1, 40, 256])
@pytest.mark.parametrize("dtype", [np.bool_, np.uint8, np.int8, np.int16, np.uint32, np.int32, np.int64, np.uint64,
                                   np.float16, np.float32, np.float64])
def test_radix_sort_is_stable(rng, threads, dtype):
    @cuda.jit
    def sort(x, keys, places, singles):
        t = cuda.threadIdx.x
        items = cuda.block.load(x, 0, 3)
        own, numbers = cuda.block.radix_sort(items, (3 * t, 3 * t + 1, 3 * t + 2))
        cuda.block.store(keys, 0, own)
        cuda.block.store(places, 0, numbers)
        singles[t] = cuda.block.radix_sort(x[t])
    n = 3 * threads
    x = rng.integers(-40, 40, n).astype(dtype)
    if np.dtype(dtype).kind in "iu" and n > 3:
        x[:2] = np.iinfo(dtype).min, np.iinfo(dtype).max
    if np.dtype(dtype).kind == "f":
        x[rng.random(n) < 0.2] = np.nan
        x[rng.random(n) < 0.2] = -0.0
        x = np.where(rng.random(n) < 0.5, x, x * dtype(1.25))
    keys, places, singles = np.zeros(n, dtype), np.zeros(n, np.int64), np.zeros(threads, dtype)
    sort[1, threads](x, keys, places, singles)
    np.testing.assert_array_equal(keys, np.sort(x))
    np.testing.assert_array_equal(places, np.argsort(x, kind="stable"))
    np.testing.assert_array_equal(singles, np.sort(x[:threads]))


@pytest.mark.parametrize("shape", [(7,), (16, 3), (4, 3, 5), (8, 8, 16)])
@pytest.mark.parametrize("dtype", [np.int8, np.float16, np.complex128, "M8[s]"])
def test_items_of_any_number_in_blocks_of_any_shape(rng, shape, dtype):
    """The last block has less than its items."""
    threads = int(np.prod(shape))

    @cuda.jit(max_registers=64)   # as many as 1024 threads can have
    def move(x, a, b, c):
        first = cuda.blockIdx.x * threads * 3
        items = cuda.block.load(x, first, 3, x[0])
        cuda.block.store(a, first, items)
        cuda.block.store_striped(b, first, cuda.block.to_striped(items))
        cuda.block.store(c, first, cuda.block.to_blocked(cuda.block.load_striped(x, first, 3, x[0])))
    x = rng.integers(0, 100, threads * 5 - 2).astype(dtype)
    moved = [np.zeros_like(x) for _ in range(3)]
    move[2, shape](x, *moved)
    for each in moved:
        np.testing.assert_array_equal(each, x)


def test_several_functions_in_a_loop(rng):
    """Tiles of two numbers each, sorted, beside shared memory of the kernel's own; a tile that is not whole."""
    @cuda.jit
    def tiles(keys, values, out, moved):
        lowest = cuda.shared.array(1, np.float32)
        for r in range(2):
            first = (cuda.blockIdx.x * 2 + r) * cuda.blockDim.x * 2
            if first >= keys.size:
                break
            own = cuda.block.load(keys, first, 2, float("inf"))
            below = cuda.block.load(values, first, 2, -1)
            own, below = cuda.block.radix_sort(own, below)
            if cuda.threadIdx.x == 0:
                lowest[0] = own[0]
            cuda.syncthreads()
            own = (own[0] - lowest[0], own[1] - lowest[0])
            cuda.block.store(out, first, own)
            cuda.block.store(moved, first, below)
    x, v = rng.random(500).astype(np.float32), rng.integers(0, 99, 500).astype(np.int16)
    out, moved = np.zeros_like(x), np.zeros_like(v)
    tiles[4, 33](x, v, out, moved)
    for first in range(0, 500, 66):
        tile, values = x[first:first + 66], v[first:first + 66]
        order = np.argsort(tile, kind="stable")
        np.testing.assert_array_equal(out[first:first + 66], tile[order] - tile.min())
        np.testing.assert_array_equal(moved[first:first + 66], values[order])


def test_an_item_by_itself_is_stored():
    @cuda.jit
    def store(x, y):
        cuda.block.store(x, 1, cuda.threadIdx.x + 1)
        cuda.block.store_striped(y, 0, 2 * cuda.threadIdx.x)
    x, y = np.zeros(8, np.int64), np.zeros(8, np.int64)
    store[1, 5](x, y)
    assert x.tolist() == [0, 1, 2, 3, 4, 5, 0, 0] and y.tolist() == [0, 2, 4, 6, 8, 0, 0, 0]


@pytest.mark.parametrize(("call", "why"), [
    ("block.load(rows, 0, 2)", "arrays are no items"),
    ("block.load(x, 0, 65)", "1 to 64 items"),
    ("block.load(x, 0, 0)", "1 to 64 items"),
    ("block.to_blocked((rows[0], rows[1]))", "exchange their elements"),
    ("block.radix_sort(records[0])", "takes records as values"),
    ("block.radix_sort((records[0], records[1]), (1, 2))", "takes records as values"),
    ("block.radix_sort((x[0], x[0]), end_bit=3)[0].x", "no attribute 'x'"),
    ("block.radix_sort(((x[0], 1), (x[0], 2)), end_bit=3)", "begin_bit and end_bit with numbers"),
    ("block.exclusive_scan(records[0], max, 3)", "what stands for a record"),
    ("block.reduce(records[0])", "\\+"),
    ("block.reduce((x[0], 1), lambda a, b: (a, b))", "float"),
    ("block.radix_sort((x[0], x[1]), (1, 2, 3))", "as many values as keys"),
    ("block.radix_sort(x[0] * 1j)", "integers and floats"),
])
def test_what_is_refused_says_why(call, why):
    made = {}
    exec(f"def kernel(x, rows, records):\n    cuda.{call}\n", {"cuda": cuda}, made)
    with pytest.raises(errors.TypingError, match=why):
        cuda.jit(made["kernel"])[1, 32](np.zeros(9), np.zeros((3, 3)), np.zeros(9, "i4,f8"))


def test_exchanges_of_one_type_have_one_array():
    @cuda.jit
    def move(x):
        items = cuda.block.radix_sort(cuda.block.load(x, 0, 4))
        cuda.block.store(x, 0, items)
    ptx = move.inspect_asm((types.float64[::1],), cc=(9, 0))
    assert sum("[8192];" in line for line in ptx.splitlines() if ".shared" in line) == 1


def test_histogram(rng):
    @cuda.jit
    def count(x, out):
        items = cuda.block.load(x, 0, 4, -1)
        counts = cuda.block.histogram(items, 10)
        if cuda.threadIdx.x < 10:
            out[cuda.threadIdx.x] = counts[cuda.threadIdx.x]
        more = cuda.block.histogram(x[cuda.threadIdx.x], 10)
        if cuda.threadIdx.x < 10:
            out[10 + cuda.threadIdx.x] = more[cuda.threadIdx.x]
    x, out = rng.integers(0, 12, 190), np.zeros(20, np.int64)
    count[1, 50](x, out)
    assert out[:10].tolist() == np.bincount(x, minlength=12)[:10].tolist()
    assert out[10:].tolist() == np.bincount(x[:50], minlength=12)[:10].tolist()


def test_kernels_for_gpus_are_compiled():
    @cuda.jit
    def sort(x):
        items = cuda.block.load(x, 0, 4)
        cuda.block.store(x, 0, cuda.block.radix_sort(items))
    ptx = sort.inspect_asm((types.float32[::1],), cc=(9, 0))
    assert "shfl.sync.up" in ptx and "bar" in ptx


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint32, np.uint64, np.float16, np.float32, np.float64])
@pytest.mark.parametrize("threads", [40, 64])
def test_radix_sort_in_descending_order(rng, dtype, threads):
    @cuda.jit
    def sort(keys, places, alone):
        own, moved = cuda.block.radix_sort(cuda.block.load(keys, 0, 3), cuda.block.load(places, 0, 3), descending=True)
        cuda.block.store(keys, 0, own)
        cuda.block.store(places, 0, moved)
        alone[cuda.threadIdx.x] = cuda.block.radix_sort(alone[cuda.threadIdx.x], descending=True)
    x = rng.integers(-20 if np.dtype(dtype).kind != "u" else 0, 20, 3 * threads).astype(dtype)
    if np.dtype(dtype).kind == "f":
        x[::7], x[1], x[5] = np.nan, np.inf, -np.inf
    else:
        x[1], x[5] = np.iinfo(dtype).max, np.iinfo(dtype).min
    places = np.arange(3 * threads)
    order = np.lexsort((places, [0 if v != v else -v for v in x.astype(object)], np.isnan(x.astype(float))))
    keys, moved, alone = x.copy(), places.copy(), x[:threads].copy()
    sort[1, threads](keys, moved, alone)
    np.testing.assert_array_equal(keys, x[order])
    np.testing.assert_array_equal(moved, order)
    few = x[:threads]
    np.testing.assert_array_equal(alone, np.r_[np.sort(few[few == few])[::-1], few[few != few]])


@pytest.mark.parametrize("dtype", [np.uint16, np.int32, np.uint64])
@pytest.mark.parametrize(("begin", "end"), [(0, 5), (3, 10), (6, 6), (0, 99), (8, 16)])
def test_radix_sort_by_some_bits(rng, dtype, begin, end):
    @cuda.jit
    def sort(keys, places, first):
        own, moved = cuda.block.radix_sort(cuda.block.load(keys, 0, 2), cuda.block.load(places, 0, 2),
                                           begin_bit=first, end_bit=end)
        cuda.block.store(keys, 0, own)
        cuda.block.store(places, 0, moved)
    x = rng.integers(0, 1 << 15, 128).astype(dtype)
    bits = np.dtype(dtype).itemsize * 8
    word = x.astype(np.uint64) ^ np.uint64((1 << (bits - 1)) if np.dtype(dtype).kind == "i" else 0)
    part = [(int(w) >> begin) & ((1 << (min(end, bits) - begin)) - 1) for w in word]
    order = np.argsort(part, kind="stable")
    keys, places = x.copy(), np.arange(128)
    sort[1, 64](keys, places, begin)
    np.testing.assert_array_equal(places, order)
    np.testing.assert_array_equal(keys, x[order])


def test_radix_sort_of_float16_has_no_bits():
    @cuda.jit
    def sort(x):
        cuda.block.radix_sort(x[0], end_bit=4)
    with pytest.raises(errors.TypingError, match="begin_bit and end_bit with integers"):
        sort[1, 32](np.zeros(1, np.float16))
