"""Kernels for operands that are not all without gaps, those for GPUs and those for the CPU device: what they compute on
the device in use, and their PTX."""
import itertools
import math

import numpy as np
import pytest

from cujit import _core, cuda, vectorize
from cujit._ufunc import array_loop, row_loop, serial_loop, tile_loop
from cujit.cuda._array.array_views import view_of

DTYPES = ["?", "i1", "f2", "i4", "f4", "f8", "F", "D"]


@pytest.fixture(autouse=True)
def of_gpus(monkeypatch):
    monkeypatch.setattr(array_loop, "plans_for_gpu", lambda: True)


@pytest.fixture
def launched(monkeypatch):
    """(kernel, argument types, blocks, threads) of what loops have launched."""
    seen = []
    launcher = array_loop.quiet_launcher

    def observed(kernel, blocks, threads, stream=0, sharedmem=0):
        def launch(*arguments):
            seen.append((kernel, tuple(map(_core.type_of, arguments)), blocks, threads))
            launcher(kernel, blocks, threads, stream, sharedmem)(*arguments)
        return launch
    monkeypatch.setattr(array_loop, "quiet_launcher", observed)
    return seen


def pair(rng, shape, dtype, order, steps):
    """The same elements for NumPy and on the device, axes in memory in that order, with gaps or backwards."""
    lengths = [shape[axis] * abs(steps[axis]) for axis in order]
    whole = rng.integers(0, 2 if dtype == "?" else 9, lengths).astype(dtype)
    host = whole.transpose(np.argsort(order))[tuple(slice(None, None, step) for step in steps)]
    offset = host.__array_interface__["data"][0] - whole.__array_interface__["data"][0]
    return host, view_of(cuda.to_device(whole), host.shape, host.strides, offset=offset)


def values(device):
    return device.copy_to_host() if device.layout == "C" else np.ascontiguousarray(device.copy().copy_to_host())


def ptx_of(launch):
    kernel, types, _, _ = launch
    return cuda.compile_ptx(kernel.py_func, types, cc=(9, 0))[0]


# --- values ----------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("of_gpu", [True, False])
@pytest.mark.parametrize("seed", range(30))
def test_any_layouts(monkeypatch, seed, of_gpu):
    """Orders of axes, steps, broadcasting, masks, dtypes: what NumPy computes, and nothing beside it is written."""
    monkeypatch.setattr(array_loop, "plans_for_gpu", lambda: of_gpu)
    rng = np.random.default_rng(seed)
    axes = int(rng.integers(1, 5))
    longest = {1: 5000, 2: 140, 3: 40, 4: 18}[axes]
    shape = tuple(int(n) for n in rng.integers(1, longest, axes))

    def operand(dtype, can_repeat):
        own = tuple(1 if can_repeat and rng.random() < 0.2 else n for n in shape)
        own = own[int(rng.integers(0, axes)):] if can_repeat and rng.random() < 0.2 else own
        order = rng.permutation(len(own)) if rng.random() < 0.7 else np.arange(len(own))
        return pair(rng, own, dtype, order, rng.choice([1, 1, 1, 1, 2, -1, -2], len(own)))

    count = int(rng.integers(1, 4))
    inputs = [operand(rng.choice(DTYPES), True) for _ in range(count)]
    ufunc = {1: np.positive, 2: np.add, 3: np.where}[count]
    if count == 1 and inputs[0][0].dtype == bool:
        ufunc = np.logical_not
    if count == 3:
        inputs[0] = operand("?", True)
        expected = np.broadcast_to(np.where(*(host for host, _ in inputs)), shape)
        got = cuda.where(*(device for _, device in inputs))
        np.testing.assert_array_equal(values(got), np.where(*(host for host, _ in inputs)))
        return
    expected_dtype = ufunc(*(host for host, _ in inputs)).dtype
    host_out, device_out = operand(expected_dtype.str, False)
    keywords, of_device = {}, {}
    if rng.random() < 0.4:
        host_mask, device_mask = operand("?", True)
        keywords, of_device = {"where": host_mask}, {"where": device_mask}
    with np.errstate(all="ignore"):
        ufunc(*(host for host, _ in inputs), out=host_out, **keywords)
    ufunc(*(device for _, device in inputs), out=device_out, **of_device)
    base = view_of(device_out, (math.prod(host_out.base.shape),), (host_out.itemsize,),
                   offset=host_out.base.__array_interface__["data"][0] - host_out.__array_interface__["data"][0])
    expected = np.ascontiguousarray(host_out.base if host_out.base.base is None else host_out.base.base)
    np.testing.assert_array_equal(base.copy_to_host(), expected.reshape(-1))


@pytest.mark.parametrize("dtype", ["?", "f2", "f4", "D"])
@pytest.mark.parametrize("shape", [(16, 16), (64, 64), (65, 31), (128, 200), (3, 64, 70), (33, 2, 40)])
def test_every_order_of_axes(rng, shape, dtype):
    for order in itertools.permutations(range(len(shape))):
        host, device = pair(rng, shape, dtype, order, (1,) * len(shape))
        other, device_other = pair(rng, shape, dtype, range(len(shape)), (1,) * len(shape))
        np.testing.assert_array_equal(values(np.add(device, device_other)), host + other)
        np.testing.assert_array_equal(values(device), host)
        host_out, device_out = pair(rng, shape, host.dtype, order, (1,) * len(shape))
        np.add(device_other, device_other, out=device_out)
        np.testing.assert_array_equal(values(device_out), other + other)


@pytest.mark.parametrize("n", [1, 2, 3, 15, 16, 17, 63, 64, 65, 1000, 4099])
def test_several_results_and_types(rng, n):
    @vectorize
    def both(x, y):
        return x + y, x * 2

    host, device = pair(rng, (7, n), "f4", (0, 1), (1, 1))
    row = rng.integers(0, 9, n).astype("f8")
    for got, wanted in zip(both(device, cuda.to_device(row)), (host + row, host * 2), strict=True):
        np.testing.assert_array_equal(values(got), wanted)


def test_many_short_rows(rng):
    """More blocks of rows than a grid's second axis has."""
    host, device = pair(rng, (70000 * 8, 3), "i1", (0, 1), (1, 2))
    np.testing.assert_array_equal(values(np.add(device, device)), host + host)


def test_dates_and_records(rng):
    host, device = pair(rng, (40, 50), "i8", (1, 0), (1, 1))
    days = host.astype("M8[D]")
    on_device = view_of(device, dtype="M8[D]")
    np.testing.assert_array_equal(values(np.add(on_device, np.timedelta64(1, "D"))), days + np.timedelta64(1, "D"))
    record = np.dtype([("a", "i4"), ("b", "u1")])
    whole = np.zeros((40, 50), record)
    whole["a"] = host
    target = cuda.to_device(np.zeros((40, 50), record, order="F"))
    target[:] = cuda.to_device(whole)
    np.testing.assert_array_equal(values(target), whole)


# --- code ------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize(("dtype", "width"), [("f4", "v4.b32"), ("f8", "v2.b64"), ("f2", "v4.b32"), ("i1", "v4.b32"),
                                              ("F", "v4.b32"), ("D", "v2.b64")])
def test_rows_are_read_and_written_16_bytes_at_a_time(launched, dtype, width):
    matrix, row, column = (cuda.device_array(shape, dtype) for shape in ((64, 1024), (1024,), (64, 1)))
    for other in (row, column):
        np.add(matrix, other)
        ptx = ptx_of(launched[-1])
        assert f"ld.global.{width}" in ptx and f"st.global.{width}" in ptx
        assert "div" not in ptx and "rem" not in ptx


def test_indices_are_divided_in_32_bits(launched):
    x = cuda.device_array((8, 32, 40, 50), "f4")
    y = view_of(x, x.shape, (x.strides[0], 4, 128 * 50, 128))
    np.add(x[:, ::2], x[:, ::2])
    np.add(x[:, :, ::2, ::2], 1)
    np.add(x, y)
    for launch in launched:
        ptx = ptx_of(launch)
        assert not {"div.u64", "div.s64", "rem.u64", "rem.s64"} & set(ptx.split())
    assert "ld.shared.b32" in ptx_of(launched[-1])


@pytest.mark.parametrize("dtype", ["i1", "f2", "f4", "f8", "D"])
def test_squares_touch_each_bank_once(launched, dtype):
    """A line and a column of a square in shared memory lie in different banks, as far as items are a word or less."""
    size = np.dtype(dtype).itemsize
    for side in (16, 32, 64):
        line = tile_loop.line_bytes(side, size)
        words = max(size // 4, 1)
        of_column = [{(k * line + 4 * w) // 4 % 32 for w in range(words)} for k in range(min(side, 32 // words))]
        assert len(set().union(*of_column)) == sum(map(len, of_column))
        assert line >= side * size and line % size == 0


@pytest.mark.parametrize(("dtype", "count"), [(np.int8, 16), (np.float16, 8), (np.float32, 4), (np.float64, 4)])
def test_narrow_elements_of_squares_are_read_more_at_once(launched, dtype, count):
    """What is not staged: as many bytes should be on their way."""
    x, y = cuda.device_array((128, 128), dtype), cuda.device_array((128, 128), dtype, order="F")
    t = np.dtype(dtype)
    vectorize([f"{t}({t}, {t})"])(lambda a, b: a + b)(x, y)
    ptx = ptx_of(launched[-1])
    computing = ptx[ptx.index("bar.sync"):]
    parts = [part.count("ld.global") for part in computing.split("st.global")]
    assert max(parts) == count


def test_what_is_chosen(launched, monkeypatch):
    chosen = []
    for room in (row_loop, serial_loop, tile_loop):
        def planned(*arguments, room=room, function=room.planned):
            plan = function(*arguments)
            chosen.extend([room.__name__.rpartition(".")[2]] if plan else [])
            return plan
        monkeypatch.setattr(room, "planned", planned)
    x = cuda.device_array((128, 256), "f4")
    y = cuda.device_array((128, 256), "f4", order="F")
    np.add(x, x)
    assert chosen == []
    np.add(x, y)
    np.add(x[::-1], x)
    np.add(y, y)
    np.add(x, x, out=y)
    assert chosen == ["tile_loop", "row_loop", "tile_loop"]
    monkeypatch.setattr(array_loop, "plans_for_gpu", lambda: False)
    np.add(x, y)
    np.add(x, x)
    np.add(x[:, ::2], 1)
    assert chosen[3:] == ["serial_loop"] * 2


@pytest.mark.parametrize("dtype", ["i1", "f2", "f4", "f8", "D"])
def test_what_is_not_aligned(rng, dtype):
    """Elements that a block's threads do at once lie beside each other; the second call is made by the extension."""
    @vectorize
    def add(x, y):
        return x + y

    host = rng.integers(0, 9, 5000).astype(dtype)
    device = cuda.to_device(host)
    for _ in range(2):
        for n in (4999, 2048, 2047, 3):
            np.testing.assert_array_equal(add(device[1:n], device[:n - 1]).copy_to_host(), host[1:n] + host[:n - 1])
            np.testing.assert_array_equal(add(device[:n], 2).copy_to_host(), host[:n] + np.array(2, dtype))
