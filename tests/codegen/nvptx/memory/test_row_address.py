"""Accesses of a row, or of a column, have one instruction for an address on a GPU."""
import re

import numpy as np
import pytest

from cujit import cuda, float32, float64, int32, uint8

M, V, L = float32[:, ::1], float32[::1], int32[::1]


def clamped(x, out):
    j, i = cuda.grid(2)
    height, width = x.shape
    if i >= height or j >= width:
        return
    total = float32(0)
    for di in range(-1, 2):
        for dj in range(-1, 2):
            total += x[min(max(i + di, 0), height - 1), min(max(j + dj, 0), width - 1)]
    out[i, j] = total


def cross(x, out):
    j, i = cuda.grid(2)
    if i < 1 or j < 1 or i >= x.shape[0] - 1 or j >= x.shape[1] - 1:
        return
    out[i, j] = x[i, j] + x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1]


def planes(x, out):
    k, j, i = cuda.grid(3)
    if j < 1 or i >= x.shape[0] or j >= x.shape[1] - 1 or k >= x.shape[2]:
        return
    out[i, j, k] = x[i, j, k] + x[i, j - 1, k] + x[i, j + 1, k]


def bags(table, bags, out):
    column, bag = cuda.threadIdx.x, cuda.blockIdx.x
    total = float32(0)
    for k in range(bags.size):
        total += table[bags[k], column]
    out[bag, column] = total


def sums(x, out):
    i = cuda.grid(1)
    if i >= x.shape[0]:
        return
    total = float32(0)
    for k in range(x.shape[1]):
        total += x[i, k]
    out[i] = total


def rows_of_numbers(x, columns, out):
    i = cuda.grid(1)
    if i >= columns.size:
        return
    j = columns[i]
    out[i] = x[1, j] + x[2, j] + x[3, j]


def three(x, rows, out):
    j = cuda.grid(1)
    if j >= x.shape[1]:
        return
    out[j] = x[rows[0], j] + x[rows[1], j] + x[rows[2], j]


def two_at_a_time(keys, x, out):
    """LLVM does two trips of it at a time."""
    i = cuda.grid(1)
    if i >= x.size:
        return
    best, at = float32(1e30), 0
    for k in range(keys.shape[0]):
        distance = float32(0)
        for w in range(4):
            distance += abs(x[i] - keys[k, w])
        if distance < best:
            best, at = distance, k
    out[i] = at


def ptx_of(kernel, *types):
    return cuda.jit(kernel).inspect("asm", types, 90)


def loop_of(ptx):
    """The longest block with loads: the one of the loop, in which several trips are."""
    return max(re.split(r"^\$L", ptx, flags=re.M), key=lambda block: block.count("ld.global"))


@pytest.mark.parametrize("element, products", [(float32, 0), (float64, 3)])
def test_columns_of_a_row_and_rows_of_a_column(element, products):
    """Three and three offsets, three addresses of rows or columns, nine of elements and one of the output. Rows of
    elements of eight bytes may have more bytes than a word holds: their products are in elements."""
    ptx = ptx_of(clamped, element[:, ::1], element[:, ::1])
    assert ptx.count("ld.global") == 9
    assert len(re.findall(r"\bmul\.wide\.u32", ptx)) == 3 + 3 + 1
    assert len(re.findall(r"\badd\.s64", ptx)) == 3 + 9 + 1
    assert len(re.findall(r"\bmad\.lo\.s32", ptx)) == 3    # both of cuda.grid(2), and the output's
    assert len(re.findall(r"\bmul\.lo\.s32", ptx)) == products


def test_a_part_that_stays_in_a_loop():
    """The column's address is made in front of the loop, and rows are added to it by products of their bytes."""
    loop = loop_of(ptx_of(bags, M, L, M))
    rows = loop.count("ld.global") // 2
    assert rows >= 4
    assert len(re.findall(r"\bmul\.wide\.u32\s+%rd\d+, %r\d+, %r\d+;", loop)) == rows
    assert not re.search(r"\b(mul|mad)\.lo", loop)


@pytest.mark.parametrize("kernel, types", [(sums, (M, V)), (rows_of_numbers, (M, L, V)), (three, (M, L, V))])
def test_what_is_left_as_it_is(kernel, types):
    """LLVM makes a pointer of what a loop counts on; a constant row's place is a word that all threads have; and
    products of rows with the width are words outside of loops. No address is that of a row or column and something."""
    llvm = cuda.jit(kernel).inspect("llvm", types, 90)
    made = set(re.findall(r"(%\d+) = getelementptr", llvm))
    begun = set(re.findall(r"= getelementptr .*?, ptr (?:addrspace\(1\) )?(%\d+)", llvm))
    assert made and begun and not made & begun


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8])
def test_values_of_neighbours(dtype):
    x = np.random.default_rng(5).integers(0, 9, (21, 34)).astype(dtype)
    out = np.zeros_like(x)
    cuda.jit(clamped)[(5, 3), (8, 8)](x, out)
    padded = np.pad(x, 1, mode="edge")
    around = [padded[i:i + 21, j:j + 34] for i in range(3) for j in range(3)]
    np.testing.assert_array_equal(out, sum(around).astype(dtype))
    out[:] = 0
    cuda.jit(cross)[(5, 3), (8, 8)](x, out)
    inner = x[1:-1, 1:-1] + x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]
    np.testing.assert_array_equal(out[1:-1, 1:-1], inner)


def test_values_in_planes():
    x = np.random.default_rng(6).integers(0, 9, (5, 7, 6)).astype(np.float32)
    out = np.zeros_like(x)
    cuda.jit(planes)[(2, 2, 2), (4, 4, 4)](x, out)
    np.testing.assert_array_equal(out[:, 1:-1], x[:, :-2] + x[:, 1:-1] + x[:, 2:])


@pytest.mark.parametrize("count", [0, 1, 2, 7, 16])
def test_values_of_loops(count):
    random = np.random.default_rng(7)
    table, places = random.integers(0, 9, (11, 8)).astype(np.float32), random.integers(-11, 11, count).astype(np.int32)
    out = np.ones((3, 8), np.float32)
    cuda.jit(bags)[3, 8](table, places, out)
    np.testing.assert_array_equal(out, np.tile(table[places].sum(0), (3, 1)))
    keys, x = random.integers(0, 99, (count, 5)).astype(np.float32), random.integers(0, 99, 40).astype(np.float32)
    nearest = np.ones(40, np.int32)
    cuda.jit(two_at_a_time)[2, 32](keys, x, nearest)
    expected = np.abs(x[:, None, None] - keys[:, :4]).sum(2).argmin(1) if count else np.zeros(40)
    np.testing.assert_array_equal(nearest, expected)


# --- stencils that ask whether a neighbour is there -------------------------------------------------------------------

# A neighbour's offsets, and what stands in front of its element: a statement's guard, or both sides of a conditional
# expression. "": an index below 0 counts from the end.
GUARDED = {
    "blur": [(-1, 0, "if i > 0:"), (1, 0, "if i < height - 1:"), (0, 0, "")],
    "both_axes": [(-1, -1, "if i > 0 and j > 0:"), (1, 1, "if i + 1 < height and j + 1 < width:"), (-1, 0, "if i:")],
    "choices": [(0, -1, "x if j >= 1 else 0"), (-2, 0, "x if i > 1 else 0"), (0, 1, "x if j + 1 < width else 0")],
    "far": [(-3, 0, "if not i < 3:"), (0, -2, "if 2 <= j:"), (3, 0, "if i < height - 3:"), (0, 2, "if j < width - 2:")],
    "nested": [(-1, 0, "if 0 < i < height:"), (-1, 1, "if i != 0 and j != width - 1:"),
               (1, -1, "if i + 1 != height and j:")],
    "wraps": [(-1, 0, ""), (0, -1, ""), (-1, -1, ""), (1, 0, "if i + 1 < height:"), (0, 0, "")],
}
LOOPS = {           # over what a thread has: the rows of its column, the columns of its row, one element
    "rows": ("j = cuda.grid(1)", "j >= width", "for i in range(height):"),
    "columns": ("i = cuda.grid(1)", "i >= height", "for j in range(width):"),
    "elements": ("i, j = cuda.grid(2)", "i >= height or j >= width", "if True:"),
}


def guarded(neighbours, loop, is_turned):
    """The kernel. is_turned: arrays are indexed by column and row."""
    place, ends, head = LOOPS[loop]
    lines = []
    for di, dj, guard in neighbours:
        index = [f"{name} {'+' if d > 0 else '-'} {abs(d)}" if d else name for name, d in (("i", di), ("j", dj))]
        element = f"x[{', '.join(index[::-1] if is_turned else index)}]"
        if guard.startswith("x "):
            lines.append(f"s += {element + guard[1:]}")
        else:
            lines += [guard, f"    s += {element}"] if guard else [f"s += {element}"]
    shape, index = ("width, height", "j, i") if is_turned else ("height, width", "i, j")
    lines = ["def kernel(x, out):", f"    {shape} = x.shape", f"    {place}", f"    if {ends}:", "        return",
             f"    {head}", "        s = x[0, 0] * 0", *("        " + line for line in lines),
             f"        out[{index}] = s"]
    scope = {"cuda": cuda}
    exec("\n".join(lines), scope)
    return scope["kernel"]


def sum_of(neighbours, x):
    total, places = np.zeros(x.shape, np.float64), np.indices(x.shape)
    for di, dj, guard in neighbours:
        i, j = places[0] + di, places[1] + dj
        is_there = (i >= 0) & (i < x.shape[0]) & (j >= 0) & (j < x.shape[1])
        total += np.where(is_there | (guard == ""), np.roll(x, (-di, -dj), (0, 1)), 0)
    return total


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("name", GUARDED)
@pytest.mark.parametrize("dtypes, orders", [("u1 f4 f8", (False, True)), ("i1 i4 u8", (False,)),
                                            ("u2 i2 u4 i8", (True,))])
def test_values_of_guarded_stencils(name, loop, dtypes, orders):
    random = np.random.default_rng(8)
    for is_turned in orders:
        kernel = cuda.jit(guarded(GUARDED[name], loop, is_turned))
        for dtype in dtypes.split():
            for shape in [(1, 1), (2, 9), (40, 3), (33, 70), (130, 257)]:
                x = random.integers(0, 9, shape).astype(dtype)
                given = np.ascontiguousarray(x.T) if is_turned else x
                out = np.zeros_like(given)
                block = (8, 8) if loop == "elements" else 32
                grid = tuple(-(-size // 8) for size in shape) if loop == "elements" else -(-max(shape) // 32)
                kernel[grid, block](given, out)
                expected = sum_of(GUARDED[name], x).astype(dtype)
                np.testing.assert_array_equal(out.T if is_turned else out, expected, f"{dtype}, {shape}, {is_turned}")


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("name", GUARDED)
def test_ptxas_takes_guarded_stencils(name, loop, takes_ptx):
    for is_turned in (False, True):
        kernel = cuda.jit(guarded(GUARDED[name], loop, is_turned))
        for element in (uint8, float64):
            takes_ptx(kernel.inspect("asm", (element[:, ::1], element[:, ::1]), 90), (9, 0))
