"""cuda.atomic: every operation on every type it takes, on global and shared arrays, fields, views; scopes, orders."""
import itertools
import math

import numpy as np
import pytest

from cujit import cuda, errors

INTEGERS = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]
UNSIGNED = INTEGERS[1::2]
FLOATS = [np.float16, np.float32, np.float64]
TYPES = {
    "add": INTEGERS + FLOATS, "sub": INTEGERS + FLOATS, "max": INTEGERS + FLOATS, "min": INTEGERS + FLOATS,
    "nanmax": INTEGERS + FLOATS, "nanmin": INTEGERS + FLOATS, "and_": INTEGERS, "or_": INTEGERS, "xor": INTEGERS,
    "exch": INTEGERS + FLOATS + [np.bool_], "inc": UNSIGNED, "dec": UNSIGNED,
}
MODEL = {
    "add": lambda old, x: old + x, "sub": lambda old, x: old - x, "max": max, "min": min, "nanmax": max, "nanmin": min,
    "and_": lambda old, x: old & x, "or_": lambda old, x: old | x, "xor": lambda old, x: old ^ x,
    "exch": lambda old, x: x, "inc": lambda old, x: 0 if old >= x else old + 1,
    "dec": lambda old, x: x if old == 0 or old > x else old - 1,
}
CASES = [(name, dtype) for name, dtypes in TYPES.items() for dtype in dtypes]


def kernel_of(name, where="global", options=""):
    """Applies the operation once a thread to cells[thread] and keeps what was there."""
    shared = {"global": "    place = cells\n",
              "shared": "    place = cuda.shared.array(64, cells.dtype)\n    place[i] = cells[i]\n"
                        "    cuda.syncthreads()\n"}[where]
    back = "" if where == "global" else "    cuda.syncthreads()\n    cells[i] = place[i]\n"
    scope = {"cuda": cuda}
    exec(f"def kernel(cells, x, old):\n    i = cuda.grid(1)\n{shared}"
         f"    old[i] = cuda.atomic.{name}(place, i, x[i]{options})\n{back}", scope)
    return scope["kernel"]


def samples(rng, dtype):
    if dtype == np.bool_:
        return rng.random(64) < 0.5
    if np.issubdtype(dtype, np.integer):
        return rng.integers(0 if np.issubdtype(dtype, np.unsignedinteger) else -100, 100, 64).astype(dtype)
    return rng.integers(-100, 100, 64).astype(dtype)


@pytest.mark.parametrize("where", ["global", "shared"])
@pytest.mark.parametrize("name, dtype", CASES, ids=lambda x: getattr(x, "__name__", x))
def test_old_and_new_values(rng, name, dtype, where):
    before, x, old = samples(rng, dtype), samples(rng, dtype), np.zeros(64, dtype)
    after = before.copy()
    cuda.jit(kernel_of(name, where))[1, 64](after, x, old)
    np.testing.assert_array_equal(old, before)
    expected = [MODEL[name](b, v) for b, v in zip(before.tolist(), x.tolist())]
    np.testing.assert_array_equal(after, np.array(expected).astype(dtype))


@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS, np.bool_], ids=lambda t: t.__name__)
def test_cas_and_compare_and_swap(dtype):
    @cuda.jit
    def kernel(cells, expected, x, old, single):
        i = cuda.grid(1)
        old[i] = cuda.atomic.cas(cells, i, expected[i], x[i])
        if i == 0:
            old[4] = cuda.atomic.compare_and_swap(single, expected[0], x[0])

    cells, single = np.array([1, 0, 1, 0], dtype), np.array([1, 1], dtype)
    expected, x, old = np.array([1, 1, 0, 0], dtype), np.array([0, 0, 1, 1], dtype), np.zeros(5, dtype)
    kernel[1, 4](cells, expected, x, old, single)
    assert cells.astype(int).tolist() == [0, 0, 1, 1]
    assert old.astype(int).tolist() == [1, 0, 1, 0, 1] and single.astype(int).tolist() == [0, 1]


@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS], ids=lambda t: t.__name__)
def test_many_threads_on_neighbouring_cells(dtype):
    """Small elements share a word: none of the others may lose anything."""
    @cuda.jit
    def kernel(cells, top):
        i = cuda.grid(1)
        cuda.atomic.add(cells, i % cells.size, 1)
        cuda.atomic.max(top, i % top.size, i % 100)

    cells, top = np.zeros(7, dtype), np.zeros(5, dtype)
    kernel[7, 100](cells, top)
    assert cells.tolist() == [100] * 7
    assert top.tolist() == [95, 96, 97, 98, 99]


@pytest.mark.parametrize("dtype", FLOATS, ids=lambda t: t.__name__)
def test_extremes_and_nan(dtype):
    @cuda.jit
    def kernel(cells, x):
        cuda.atomic.max(cells, 0, x[0])
        cuda.atomic.max(cells, 1, x[1])
        cuda.atomic.nanmax(cells, 2, x[0])
        cuda.atomic.nanmin(cells, 3, x[1])

    cells, x = np.array([np.nan, 2, np.nan, 2], dtype), np.array([1, np.nan], dtype)
    kernel[1, 1](cells, x)
    np.testing.assert_array_equal(cells, np.array([np.nan, 2, 1, 2], dtype))


def test_places():
    """Tuples, negative indices, fields of records, parts of complex numbers, views, local arrays of any layout."""
    record = np.dtype([("a", np.int32), ("b", np.float64)], align=True)

    @cuda.jit
    def kernel(cube, records, numbers, out):
        cuda.atomic.add(cube, (1, 0, -1), 5)
        cuda.atomic.add(cube[0], (1, 1), 7)
        cuda.atomic.add(cube.T, (0, 1, 1), 9)
        cuda.atomic.add(records["b"], 1, 2.5)
        cuda.atomic.max(records.a, -1, 4)
        cuda.atomic.add(numbers.real, 0, 1.5)
        out[0] = cuda.atomic.sub(numbers.imag, 1, 0.5)
        cuda.atomic.add(cube[1, 1, :], (0,), 3)

    cube, numbers = np.zeros((2, 2, 3), np.int64), np.array([1 + 2j, 3 + 4j])
    records, out = np.zeros(3, record), np.zeros(1)
    kernel[1, 1](cube, records, numbers, out)
    expected = np.zeros((2, 2, 3), np.int64)
    expected[1, 0, -1] += 5
    expected[0, 1, 1] += 7
    expected.T[0, 1, 1] += 9
    expected[1, 1, 0] += 3
    np.testing.assert_array_equal(cube, expected)
    assert records["b"].tolist() == [0, 2.5, 0] and records["a"].tolist() == [0, 0, 4]
    assert numbers.tolist() == [2.5 + 2j, 3 + 3.5j] and out[0] == 4


@pytest.mark.parametrize("scope", ["block", "device", "system"])
@pytest.mark.parametrize("order", ["relaxed", "acquire", "release", "acq_rel", "seq_cst"])
def test_scopes_and_orders_keep_the_value(rng, scope, order):
    for name, dtype in itertools.product(["add", "max", "exch"], [np.int32, np.float32, np.int16]):
        before, x, old = samples(rng, dtype), samples(rng, dtype), np.zeros(64, dtype)
        after = before.copy()
        cuda.jit(kernel_of(name, options=f", scope='{scope}', order='{order}'"))[1, 64](after, x, old)
        np.testing.assert_array_equal(old, before)
        np.testing.assert_array_equal(after, [MODEL[name](b, v) for b, v in zip(before, x)])


def test_a_message_is_passed():
    """What is written before a release is read after an acquire."""
    @cuda.jit
    def kernel(data, flag, out):
        if cuda.blockIdx.x == 0:
            data[0] = 42
            cuda.atomic.exch(flag, 0, 1, order="release")
        else:
            while cuda.atomic.add(flag, 0, 0, order="acquire") == 0:
                cuda.nanosleep(100)
            out[0] = data[0]

    data, flag, out = np.zeros(1, np.int64), np.zeros(1, np.int32), np.zeros(1, np.int64)
    kernel[2, 1](data, flag, out)
    assert out[0] == 42


@pytest.mark.parametrize("scope, word", [("block", "cta"), ("device", "gpu"), ("system", "sys")])
def test_scope_and_order_in_ptx(assembles, scope, word):
    kernel = kernel_of("add", options=f", scope='{scope}', order='acq_rel'")
    ptx = assembles(kernel, "void(int32[::1], int32[::1], int32[::1])", (8, 0))
    assert f"fence.acq_rel.{word}" in ptx
    atomic = next(line for line in ptx.splitlines() if "atom" in line)
    assert f".{word}" in atomic or scope == "device"
    for name, dtypes in TYPES.items():
        for dtype in dtypes:
            text = "boolean" if dtype == np.bool_ else dtype.__name__
            signature = f"void({text}[::1], {text}[::1], {text}[::1])"
            ptx, _ = cuda.compile_ptx(kernel_of(name, options=f", scope='{scope}'"), signature, cc=(9, 0))
            atomic = next(line for line in ptx.splitlines() if "atom" in line)
            assert scope != "system" or ".sys" in atomic, ptx
    assert "fence" not in assembles(kernel_of("add"), "void(int32[::1], int32[::1], int32[::1])", (8, 0))


@pytest.mark.parametrize("cc", [(7, 5), (9, 0)])
@pytest.mark.parametrize("name", TYPES)
def test_every_operation_assembles(assembles, name, cc):
    for dtype in TYPES[name]:
        text = {"bool": "boolean"}.get(dtype.__name__.rstrip("_"), dtype.__name__)
        assembles(kernel_of(name, "shared"), f"void({text}[::1], {text}[::1], {text}[::1])", cc)


@pytest.mark.parametrize("call, message", [
    ("cuda.atomic.add(out, 0, 1, scope='warp')", "the scope of an atomic is one of 'device', 'block', 'system'"),
    ("cuda.atomic.add(out, 0, 1, order=x)", "the order of an atomic is one of 'relaxed', 'acquire'"),
    ("cuda.atomic.add(out, 0, 1, where='block')", "no parameter named 'where'"),
    ("cuda.atomic.add(out, 0)", "takes 3 arguments, 2 given"),
    ("cuda.atomic.inc(out, 0, 1)", "not for elements of int64"),
    ("cuda.atomic.add(x, 0, 1)", "an array and an index of an element"),
    ("cuda.atomic.add(out, (0, 0), 1)", ""),
])
def test_what_is_refused(refused, call, message):
    refused(call, message)


def test_complex_elements_are_refused():
    with pytest.raises(errors.TypingError, match="not for elements of complex128"):
        cuda.jit("void(complex128[:])")(lambda z: cuda.atomic.add(z, 0, 1))


@pytest.mark.parametrize("dtype", [np.int8, np.uint32, np.int64, np.float16, np.float32], ids=lambda t: t.__name__)
def test_arrays_of_the_thread(rng, assembles, dtype):
    """No other thread sees them, and GPUs have no atomics on them."""
    @cuda.jit(device=True)
    def keep_largest(cells, i, value):
        return cuda.atomic.max(cells, i, value)

    def kernel(x, old, out):
        cells = cuda.local.array((2, 3), x.dtype)
        i = cuda.grid(1)
        for k in range(6):
            cells[k // 3, k % 3] = x[i]
        old[0, i] = cuda.atomic.add(cells, (0, 1), 5)
        old[1, i] = cuda.atomic.cas(cells, (0, 2), x[i], 7)
        old[2, i] = keep_largest(cells[1], 2, 50)
        old[3, i] = cuda.atomic.nanmin(cells, (1, i % 2), -3)
        old[4, i] = cuda.atomic.exch(cells.T, (1, 0), 11)
        for k in range(6):
            out[i, k] = cells[k // 3, k % 3]

    x, old, out = rng.integers(0, 100, 64).astype(dtype), np.zeros((5, 64), dtype), np.zeros((64, 6), dtype)
    cuda.jit(kernel)[1, 64](x, old, out)
    np.testing.assert_array_equal(old, np.vstack([x, x, x, x, (x.astype(int) + 5).astype(dtype)]))
    minus = np.array(-3).astype(dtype)
    for i, row in enumerate(out):
        expected = [x[i], 11, 7, x[i], x[i], max(x[i], 50)]
        expected[3 + i % 2] = min(x[i], minus)
        np.testing.assert_array_equal(row, np.array(expected, dtype))
    name = np.dtype(dtype).name
    for cc, opt in itertools.product([(7, 5), (9, 0)], [0, 3]):
        assert "atom" not in assembles(kernel, f"void({name}[::1], {name}[:,::1], {name}[:,::1])", cc, opt=opt)


def test_floats_as_indices_are_cut_to_integers():
    """As numba cuts them: cuda.atomic.add(histogram, math.floor(x), 1)."""
    @cuda.jit
    def kernel(x, line, grid):
        i = cuda.grid(1)
        if i < x.size:
            cuda.atomic.add(line, math.floor(x[i] * line.size), 1)
            cuda.atomic.add(grid, (math.floor(x[i] * 2), i % 3), 1)

    x, line, grid = np.linspace(0, 0.99, 50), np.zeros(5, np.int32), np.zeros((2, 3), np.int32)
    kernel[2, 32](x, line, grid)
    np.testing.assert_array_equal(line, np.bincount((x * 5).astype(int)))
    np.testing.assert_array_equal(grid.sum(1), np.bincount((x * 2).astype(int)))
