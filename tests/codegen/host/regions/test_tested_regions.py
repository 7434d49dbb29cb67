"""Regions of the CPU device whose checks are made beforehand: loops over threads that only ask, loops without checks,
and what happens where one fails."""

import re

import numpy as np
import pytest

from cujit import cuda, float32, int32
from cujit.errors import OverflowWarning

pytestmark = pytest.mark.skipif(cuda.get_current_device().kind == "cuda",
                                reason="about how the CPU device runs kernels")


@cuda.jit(check="bounds")
def gather(x, places, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[places[i]] * 2


@cuda.jit(check="bounds")
def ell(columns, values, x, out):
    row = cuda.grid(1)
    if row < out.size:
        total = np.float32(0)
        for k in range(columns.shape[0]):
            column = columns[k, row]
            if column >= 0:
                total += values[k, row] * x[column]
        out[row] = total


@cuda.jit(check="overflow")
def quotients(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] / y[i]


@cuda.jit(check="overflow")
def sums_of_quotients(x, y, out):
    column = cuda.grid(1)
    if column < out.size:
        total = 0.0
        for row in range(x.shape[0]):
            total += x[row, column] / y[row, column]
        out[column] = total


def loops_of(kernel):
    """The typed IR of each loop over threads, and of what comes behind it."""
    return kernel.inspect("regions", next(iter(kernel.signatures))).split("thread_loop")[1:]


def run_ell(columns, threads=64):
    n = columns.shape[1]
    values, x, out = np.ones(columns.shape, np.float32), np.arange(n, dtype=np.float32), np.full(n, -1, np.float32)
    ell[-(-n // threads), threads](columns, values, x, out)
    return out


def test_a_loop_asks_and_another_has_no_checks():
    columns = np.random.default_rng(1).integers(-1, 200, (5, 200)).astype(np.int32)
    assert (run_ell(columns) == np.where(columns >= 0, columns, 0).sum(0)).all()
    with_loads = [loop for loop in loops_of(ell) if "load columns" in loop]
    assert len([loop for loop in with_loads if "raise" not in loop and "slot_store" in loop]) == 1
    assert len([loop for loop in with_loads if "raise" not in loop and "slot_store" not in loop]) == 1
    assert len([loop for loop in with_loads if "raise" in loop]) >= 1
    assert re.search(r"masked.gather.v\d+f32|masked.load.v\d+f32", next(iter(ell.inspect_llvm().values())))


@pytest.mark.parametrize("row", [0, 63, 64, 150, 199])
def test_who_fails_is_named_and_the_others_go_on(row):
    n = 200
    columns = np.tile(np.arange(n, dtype=np.int32), (4, 1))
    columns[2, row] = n
    values, x = np.ones(columns.shape, np.float32), np.arange(n, dtype=np.float32)
    device = [cuda.to_device(each) for each in (columns, values, x, np.full(n, -1, np.float32))]
    with pytest.raises(IndexError, match=rf"index 200 is out of bounds for axis 0 of 'x'(.|\n)*"
                                         rf"block \({row // 64}, 0, 0\), thread \({row % 64}, 0, 0\)"):
        ell[4, 64](*device)
        cuda.synchronize()
    want = np.arange(n, dtype=np.float32) * 4
    want[row] = -1
    assert (device[3].copy_to_host() == want).all()


def test_stores_are_made_once_and_not_behind_a_failure():
    n = 300
    places = np.arange(n)[::-1].copy()
    out = np.zeros(n)
    gather[5, 64](np.arange(n, dtype=float), places, out)
    assert (out == places * 2).all()
    places[77] = -n - 1
    device = [cuda.to_device(each) for each in (np.arange(n, dtype=float), places, np.full(n, -1.0))]
    with pytest.raises(IndexError, match=r"block \(1, 0, 0\), thread \(13, 0, 0\)"):
        gather[5, 64](*device)
        cuda.synchronize()
    out = device[2].copy_to_host()
    assert out[77] == -1 and (np.delete(out, 77) == np.delete(places, 77) * 2).all()


def test_no_index_is_asked_for_beforehand_that_may_change():
    @cuda.jit(check="bounds")
    def jumps(parent):
        i = cuda.grid(1)
        if i < parent.size:
            parent[i] = parent[parent[i]]

    @cuda.jit(check="bounds")
    def by_own_store(places, x, out):
        i = cuda.grid(1)
        out[i] = i // 2
        x[out[i]] = places[i]

    jumps[1, 32](np.zeros(32, np.int64))
    by_own_store[1, 32](np.zeros(32, np.int64), np.zeros(32), np.zeros(32, np.int64))
    for kernel in jumps, by_own_store:
        assert not loops_of(kernel)


# Where places and y share memory, a thread changes what a later one loads.
WRITES_AHEAD = """def kernel(places, y, out):
    i = cuda.grid(1)
    if i < places.size:
        at = places[i]
        {ahead}
        {marks}
    {end}
"""


@pytest.mark.parametrize("ahead, marks, end", [
    ("y[i + 1] = 20", "out[at] = 1", ""),
    ("y[i + 1] = 20", "cuda.atomic.add(out, at, np.float32(1))", ""),
    ("cuda.atomic.add(y, i + 1, 20)", "cuda.atomic.add(out, at, 1)", "cuda.syncthreads()")])
@pytest.mark.parametrize("step", [1, -1, 2])
def test_arguments_that_share_memory_are_asked_for(ahead, marks, end, step):
    scope = {"cuda": cuda, "np": np}
    exec(WRITES_AHEAD.format(ahead=ahead, marks=marks, end=end), scope)
    kernel = cuda.jit(check="bounds")(scope["kernel"])
    whole = cuda.to_device(np.zeros(10 * abs(step), np.int32))
    y = whole[::step]
    memory = cuda.to_device(np.zeros(64, np.float32))
    with pytest.raises(IndexError, match="index 20 is out of bounds for axis 0 of 'out'"):
        kernel[1, 16](y[:9], y, memory[:10])
        cuda.synchronize()
    assert (memory.copy_to_host()[10:] == 0).all()
    apart = cuda.to_device(np.zeros(10 * abs(step), np.int32))[::step]
    kernel[1, 16](apart[:9], y, memory[:10])
    assert memory.copy_to_host()[0] >= 1 and (memory.copy_to_host()[1:] == 0).all()
    without_checks = [loop for loop in loops_of(kernel) if "load places" in loop and "raise" not in loop]
    assert [loop for loop in without_checks if " y[" in loop]


def test_sums_are_private_beside_questions():
    """To ask whether the array lies apart from what the questions load is no use of it."""
    @cuda.jit(check="overflow")
    def flip(x, y, out):
        i = cuda.grid(1)
        if i < x.size:
            cuda.atomic.xor(out, int(x[i] / y[i]), 1 << i % 10)
        cuda.syncthreads()

    out = np.zeros(10, np.int64)
    flip[2, 64](np.arange(100.0), np.full(100, 10.0), out)
    assert (out == 1023).all()
    text = flip.inspect("private", flip.signatures[0])
    assert "!private" in text and "= address out" in text


def test_beside_barriers():
    @cuda.jit(check="bounds")
    def kernel(x, places, out):
        part = cuda.shared.array(64, np.float64)
        t = cuda.threadIdx.x
        i = cuda.grid(1)
        part[t] = x[places[i]]
        cuda.syncthreads()
        out[i] = part[63 - t]

    x, places = np.arange(128.0), np.random.default_rng(1).permutation(128)
    out = np.zeros(128)
    kernel[2, 64](x, places, out)
    assert (out.reshape(2, 64) == x[places].reshape(2, 64)[:, ::-1]).all()
    places[70] = 128
    with pytest.raises(IndexError, match=r"block \(1, 0, 0\), thread \(6, 0, 0\)"):
        kernel[2, 64](x, places, out)
    assert [loop for loop in loops_of(kernel) if "load places" in loop and "store %" in loop and "raise" not in loop]


@pytest.mark.parametrize("kernel, shape", [(quotients, 300), (sums_of_quotients, (5, 300))])
def test_what_the_host_is_told_is_asked_beforehand(kernel, shape):
    x, y, out = np.ones(shape), np.full(shape, 2.0), np.zeros(300)
    kernel[5, 64](x, y, out)
    assert (out == x.reshape(-1, 300).sum(0) / 2).all()
    with_quotients = [loop for loop in loops_of(kernel) if "load y" in loop]
    assert sorted("note" in loop for loop in with_quotients) == [False, False, True]
    assert re.search(r"fdiv[ a-z]* <\d+ x double>", next(iter(kernel.inspect_llvm().values())))


@pytest.mark.parametrize("kernel, shape", [(quotients, 300), (sums_of_quotients, (5, 300))])
def test_the_host_is_told_as_without_a_question(kernel, shape):
    """Of the first thread, of how many in all, and the results are those of all threads."""
    x, y, out = np.ones(shape), np.ones(shape), np.zeros(300)
    y[..., [77, 130, 299]] = 0
    times = 3 * (x.size // 300)
    with pytest.warns(OverflowWarning, match=rf"1.0 / 0.0 of float64: division by zero(.|\n)*block \(1, 0, 0\), "
                                             rf"thread \(13, 0, 0\), the first of {times} times"):
        kernel[5, 64](x, y, out)
    want = np.full(300, float(x.size // 300))
    want[[77, 130, 299]] = np.inf
    assert (out == want).all()


def test_the_host_is_told_of_what_a_thread_writes_itself():
    """A question beforehand would be of what was there before."""
    @cuda.jit(check="overflow")
    def kernel(x):
        i = cuda.grid(1)
        if i < x.size:
            for _ in range(3):
                x[i] *= x[i]

    x = np.arange(100) * 1000
    with pytest.warns(OverflowWarning, match=r"1000000000000 \* 1000000000000(.|\n)*first of 143 times") as told:
        kernel[2, 64](x)
    assert len([each for each in told if each.category is OverflowWarning]) == 1
    assert not [loop for loop in loops_of(kernel) if "load x" in loop and "note" not in loop]


def test_the_host_is_told_of_the_right_thread():
    """Of a loop over threads in which nothing else asks where a thread is."""
    @cuda.jit(check="overflow")
    def behind_a_barrier(x, out):
        part = cuda.shared.array(1, np.int64)
        i = cuda.grid(1)
        own = x[i]
        if i == 0:
            part[0] = 0
        cuda.syncthreads()
        own = 1.0 / own + part[0]
        cuda.syncthreads()
        out[i] = own

    @cuda.jit(check="overflow")
    def columns_first(x, out):
        j, i = cuda.grid(2)
        if i < out.shape[0] and j < out.shape[1]:
            out[i, j] = 1.0 / x[i, j]

    x = np.ones(64)
    x[37] = 0
    with pytest.warns(OverflowWarning, match=r"block \(0, 0, 0\), thread \(37, 0, 0\)"):
        behind_a_barrier[1, 64](x, np.zeros(64))
    for block, where in ((8, 8), (0, 5)), ((2, 8), (2, 1)):
        match = r"block \({}, 0, 0\), thread \({}, 4, 0\)".format(*where)
        with pytest.warns(OverflowWarning, match=match):
            columns_first[(8 // block[0], 1), block](x.reshape(8, 8), np.zeros((8, 8)))


def test_an_index_that_counts_from_the_end_fails_the_test():
    """The loops behind the test do without it; where one does count so, the loop as it was written runs."""
    x, places, out = np.arange(100), np.arange(100)[::-1].copy(), np.zeros(100, np.int64)
    gather[2, 64](x, places, out)
    text = re.sub(r" ;.*", "", gather.inspect("regions", gather.signatures[0]))
    assert text.count("thread_loop") == 3 and text.count("= wrap") == 1
    np.testing.assert_array_equal(out, x[places] * 2)
    places[[3, 70]] = -1, -100
    gather[2, 64](x, places, out)
    np.testing.assert_array_equal(out, x[places] * 2)
    places[5] = -101
    with pytest.raises(IndexError, match="-101"):
        gather[2, 64](x, places, out)


def test_failures_are_counted_as_wide_as_indices_are():
    """Vectors of bits are not made narrower; but narrow ones are not made wider."""
    def gather(x, places, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = x[places[i]]

    def gather_some(x, places, out):
        i = cuda.grid(1)
        if i < out.size and places[i] != -1:
            out[i] = x[places[i]]

    for function, width in (gather, 64), (gather_some, 32):
        text = cuda.jit(function).inspect("regions", (float32[::1], int32[::1], float32[::1]))
        cell, zero = re.search(r"(%\d+): u8\[0 C\] = cell (%\d+)", text).groups()
        assert re.search(rf"{zero}: i{width} = const 0", text)
        assert re.search(rf": i{width} = cell_load {cell}\b", text)
