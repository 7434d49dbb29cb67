"""Regions of the CPU device whose checks are made beforehand: loops over threads that only ask, loops without checks,
and what happens where one fails."""

import re

import numpy as np
import pytest

from cujit import cuda

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
