"""What all threads of a row load alike, on the CPU device: loops that it bounds go around the loop over the row.
Results, faults, and what is not loaded are those of threads on their own."""
import random
import re
import types as python_types

import numpy as np
import pytest

from cujit import _core, cuda, float32, int32, uint32

pytestmark = pytest.mark.skipif(cuda.get_current_device().kind == "cuda",
                                reason="about how the CPU device runs kernels")
SHAPES = [(32, 8), (1, 1), (64, 1), (7, 5), (1, 33)]


def times_dense(starts, columns, values, dense, out):
    column = cuda.threadIdx.x
    row = cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y
    if row >= out.shape[0]:
        return
    total = float32(0)
    for q in range(starts[row], starts[row + 1]):
        total += values[q] * dense[columns[q], column]
    out[row, column] = total


TYPES = (int32[::1], int32[::1], float32[::1], float32[:, ::1], float32[:, ::1])


def sparse(rows, width, seed=1):
    chance = np.random.default_rng(seed)
    starts = np.zeros(rows + 1, np.int32)
    starts[1:] = np.cumsum(chance.integers(0, 9, rows))
    columns = chance.integers(0, 50, starts[-1]).astype(np.int32)
    return (starts, columns, chance.random(starts[-1], np.float32), chance.random((50, width), np.float32),
            np.zeros((rows, width), np.float32))


def test_a_row_of_its_own_length_is_vectorized():
    kernel = cuda.jit(times_dense)
    marked = re.sub(r" ;.*", "", kernel.inspect("regions", TYPES))
    assert "by_rows" in marked.split("\n", maxsplit=1)[0]
    assert _core.ir_roundtrip(marked).split() == marked.split()
    assert re.search(r"fadd contract <\d+ x float>|fma.*<\d+ x float>", kernel.inspect_llvm(TYPES))


@pytest.mark.parametrize("check", ["bounds", False])
def test_sparse_times_dense(check):
    starts, columns, values, dense, out = sparse(77, 32)
    cuda.jit(times_dense, check=check)[(10,), (32, 8)](starts, columns, values, dense, out)
    want = np.zeros_like(out)
    np.add.at(want, np.repeat(np.arange(77), np.diff(starts)), values[:, None] * dense[columns])
    np.testing.assert_allclose(out, want, rtol=1e-5)


def bag_sums(table, bags, out):
    """As many trips for all rows, and a check that each row makes alike."""
    column = cuda.threadIdx.x
    bag = cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y
    if bag >= out.shape[0]:
        return
    total = float32(0)
    for k in range(bags.shape[1]):
        total += table[bags[bag, k], column]
    out[bag, column] = total


BAGS = (float32[:, ::1], int32[:, ::1], float32[:, ::1])


def test_a_check_that_a_row_makes_alike_is_made_once():
    heading = cuda.jit(bag_sums, check="bounds").inspect("regions", BAGS).split("\n", maxsplit=1)[0]
    assert "by_rows" in heading
    unchecked = cuda.jit(bag_sums, check=False).inspect("regions", BAGS).split("\n", maxsplit=1)[0]
    assert "by_rows" not in unchecked


@pytest.mark.parametrize("per_bag", [0, 1, 4, 7, 8, 13])
def test_sums_of_bags(per_bag):
    chance = np.random.default_rng(per_bag)
    table = chance.integers(-9, 9, (40, 32)).astype(np.float32)
    bags = chance.integers(-40, 40, (21, per_bag)).astype(np.int32)
    out = np.ones((21, 32), np.float32)
    kernel = cuda.jit(bag_sums, check="bounds")[3, (32, 8)]
    kernel(table, bags, out)
    np.testing.assert_array_equal(out, table[bags].sum(1))
    if per_bag:
        bags[20, per_bag - 1] = 40
        with pytest.raises(IndexError, match="40"):
            kernel(table, bags, out)
            cuda.synchronize()


def row_sums(starts, x, out):
    i, j = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        total = float32(0)
        for q in range(starts[i], starts[i + 1]):
            total += x[q, j]
        out[i, j] = total


def test_rows_along_y_of_joined_blocks():
    starts = np.cumsum([0, *(i % 5 for i in range(37))])
    x = np.random.default_rng(1).random((starts[-1], 50), np.float32)
    want = np.array([x[first:end].sum(0) for first, end in zip(starts[:-1], starts[1:], strict=True)])
    kernel = cuda.jit(row_sums)
    for block in (8, 32), (4, 4), (1, 7), (16, 1):
        out = np.zeros((37, 50), np.float32)
        kernel[(-(-37 // block[0]), -(-50 // block[1])), block](starts, x, out)
        np.testing.assert_allclose(out, want, rtol=1e-5)
    assert "rows y joined by_rows" in kernel.inspect("regions", kernel.signatures[0])


def test_rows_of_three_axes():
    @cuda.jit
    def kernel(starts, data, out):
        t, y, z = cuda.threadIdx.x, cuda.threadIdx.y, cuda.threadIdx.z
        if t >= out.shape[3]:
            return
        total = 0
        for q in range(starts[y] + z, starts[y + 1] + z):
            total += data[q] * (t + 1)
        out[cuda.blockIdx.x, z, y, t] = total

    starts, data, out = np.array([0, 3, 3, 10, 12]), np.arange(40), np.zeros((3, 2, 4, 9), np.int64)
    kernel[3, (12, 4, 2)](starts, data, out)
    for z, y, t in np.ndindex(out.shape[1:]):
        assert (out[:, z, y, t] == data[starts[y] + z:starts[y + 1] + z].sum() * (t + 1)).all()


@pytest.mark.parametrize("wrong, told", [
    (lambda s, c, v, d: c.__setitem__(7, 50), "index 50 is out of bounds for axis 0 of 'dense'"),
    (lambda s, c, v, d: s.__setitem__(-1, s[-1] + 1), "is out of bounds for axis 0 of 'values'"),
])
def test_checks_that_all_threads_fail(wrong, told):
    starts, columns, values, dense, out = sparse(16, 32)
    wrong(starts, columns, values, dense)
    with pytest.raises(IndexError, match=told):
        cuda.jit(times_dense, check="bounds")[(2,), (32, 8)](starts, columns, values, dense, out)
        cuda.synchronize()


def test_checks_that_some_threads_fail():
    starts, columns, values, dense, _ = sparse(16, 30)
    out = np.zeros((16, 32), np.float32)
    with pytest.raises(IndexError, match="index 3[01] is out of bounds for axis 1 of 'dense'"):
        cuda.jit(times_dense, check="bounds")[(2,), (32, 8)](starts, columns, values, dense, out)
        cuda.synchronize()


@pytest.mark.parametrize("guard", ["row < n and i < n", "i < n and row < n", "i >= 1 and i < n and row < n",
                                   "row < n", "i + row * 4 < n and row < n"])
def test_nothing_is_loaded_for_threads_that_are_kept_out(guard):
    """There is no memory at these places."""
    source = f"""
def kernel(starts, out, n):
    i, row = cuda.threadIdx.x, cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y
    if {guard}:
        total = 0
        for q in range(starts[row << 30], starts[(row << 30) + 1]):
            total += q
        out[row, i] = total
"""
    scope = {"cuda": cuda}
    exec(source, scope)
    kernel = cuda.jit(scope["kernel"], check=False)
    for n in 0, 1:
        out = np.zeros((1, 32), np.int64)
        kernel[(4,), (32, 4)](np.array([2, 5]), out, n)
        want = [9 if n and eval(guard, {"i": i, "row": 0, "n": n}) else 0 for i in range(32)]
        assert out[0].tolist() == want


def test_nothing_is_loaded_that_a_check_has_ruled_out():
    """The second index is proven by the first one's check, which all threads fail."""
    @cuda.jit(check="bounds")
    def kernel(x, starts, out, n):
        i, row = cuda.threadIdx.x, cuda.threadIdx.y
        total = x[i + n + (row << 40)]
        for q in range(starts[n + (row << 40)], starts[n + 1 + (row << 40)]):
            total += q
        out[row, i] = total

    with pytest.raises(IndexError):
        kernel[1, (8, 4)](np.arange(20), np.arange(21), np.zeros((4, 8), np.int64), 30)
        cuda.synchronize()


def test_arguments_that_are_one_array():
    """A thread reads what it has written, though by another name."""
    @cuda.jit
    def kernel(a, b, out):
        i, row = cuda.threadIdx.x, cuda.threadIdx.y
        out[row] = a[row]
        for q in range(b[row], b[row] + 4):
            a[row + 1] = q + i
            for k in range(b[row + 1], b[row + 1] + 3):
                out[row] = out[row] * 3 + k
                a[row + 2] = k
                out[row] += b[row + 2]

    def model(a, out):
        out[0] = a[0]
        for q in range(a[0], a[0] + 4):
            a[1] = q
            for k in range(a[1], a[1] + 3):
                out[0] = out[0] * 3 + k
                a[2] = k
                out[0] += a[2]

    results = []
    for run in (lambda a, out: kernel[1, 1](a, a, out), model):
        a, out = cuda.to_device(np.array([3, 1, 4, 1, 5])) if run is not model else np.array([3, 1, 4, 1, 5]), None
        out = cuda.to_device(np.zeros(2, np.int64)) if run is not model else np.zeros(2, np.int64)
        run(a, out)
        results.append([v.copy_to_host() if run is not model else v for v in (a, out)])
    for got, want in zip(*results, strict=True):
        assert got.tolist() == want.tolist()


# --- random kernels ---------------------------------------------------------------------------------------------------

STARTS = ["starts[row]", "starts[row] + t", "row", "t", "0", "starts[row + 1] - 3", "starts[cuda.blockIdx.x]"]
ENDS = ["starts[row + 1]", "starts[row] + 5", "starts[row + 1] - t % 2", "n", "row + 4", "starts[cuda.blockIdx.x] + 7"]
LINES = [
    ["total = uint32(total * uint32(5) + data[k % data.size])"],
    ["total = uint32(total ^ x[k % x.shape[0], t])"],
    ["if data[k % data.size] > uint32(5):", "    total = uint32(total + uint32(t))"],
    ["if t > 2:", "    total = uint32(total + data[row])"],
    ["other = uint32(other + data[starts[row] % data.size])", "total, other = other, total"],
    ["for m in range(starts[row % 3] % 5):", "    total = uint32(total * uint32(3) + uint32(m) + data[m])"],
    ["out[row, t] = uint32(out[row, t] + total)"],
    ["if starts[row] % 3 == 1:", "    total = uint32(total + uint32(k))"],
    ["total = uint32(total + uint32(row))"],
]
GUARDS = ["row < out.shape[0] and t < out.shape[1]", "t < out.shape[1] and row < out.shape[0]",
          "1 <= t < out.shape[1] and row < out.shape[0]", "row < min(out.shape[0], n) and t < out.shape[1]"]


def source_of(chance):
    lines = []
    for _ in range(chance.randrange(1, 3)):
        step = chance.choice(["", "", ", 2", ", 3"])
        lines.append(f"for k in range({chance.choice(STARTS)}, {chance.choice(ENDS)}{step}):")
        for _ in range(chance.randrange(1, 4)):
            lines += ["    " + line for line in chance.choice(LINES)]
    lines.append("out[row, t] ^= uint32(total + other)")
    if chance.random() < 0.5:
        body = [f"if {chance.choice(GUARDS)}:", *("    " + line for line in lines)]
    else:
        body = [f"if not ({chance.choice(GUARDS)}):", "    return", *lines]
    head = ["def kernel(starts, data, x, out, n):", "    t = cuda.threadIdx.x",
            "    row = cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y", "    total, other = uint32(1), uint32(0)"]
    return "\n".join(head + ["    " + line for line in body])


def model(source, blocks, block, arguments):
    place = python_types.SimpleNamespace
    for b, y, t in np.ndindex(blocks, *block[::-1]):
        thread = place(threadIdx=place(x=t, y=y), blockIdx=place(x=b), blockDim=place(x=block[0], y=block[1]))
        scope = {"cuda": thread, "uint32": lambda value: np.uint32(int(value) & 0xFFFFFFFF)}
        exec(source, scope)
        scope["kernel"](*arguments)


@pytest.mark.parametrize("seed", range(60))
def test_random_kernels(seed):
    chance = random.Random(seed)
    source = source_of(chance)
    scope = {"cuda": cuda, "uint32": uint32}
    exec(source, scope)
    kernel = cuda.jit(scope["kernel"], check=chance.choice(["bounds", False]))
    numbers = np.random.default_rng(seed)
    for block in chance.sample(SHAPES, 3):
        starts = np.cumsum([0, *numbers.integers(0, 5, 40)]).astype(numbers.choice([np.int32, np.int64]))
        data = numbers.integers(0, 12, 50).astype(np.uint32)
        x = numbers.integers(0, 1 << 32, (9, 70)).astype(np.uint32)
        out = numbers.integers(0, 9, (13, 40)).astype(np.uint32)
        blocks, n = -(-16 // block[1]), chance.choice([0, 1, 11, 30])
        want = out.copy()
        with np.errstate(all="ignore"):
            model(source, blocks, block, (starts, data, x, want, n))
        kernel[blocks, block](starts, data, x, out, n)
        np.testing.assert_array_equal(out, want, source + str(block))
