"""Kernels that are one grid-stride loop, of which the CPU device runs all first trips of a block before the second:
a thread that raises has no trips behind that, and others have all of theirs."""
import numpy as np
import pytest

from cujit import cuda, int64

pytestmark = [pytest.mark.skipif(cuda.get_current_device().kind == "cuda",
                                 reason="about how the CPU device runs kernels"),
              pytest.mark.filterwarnings("ignore:debug=True with opt=True")]

A = int64[::1]


def gather(x, index, out):
    for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        out[i] = x[index[i]]


def raises_itself(x, index, out):
    for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        if index[i] >= x.size:
            raise IndexError("far")
        out[i] = x[index[i]]


def element(x, i):
    if i >= x.size:
        raise IndexError("far")
    return x[i]


def raises_in_a_function(x, index, out):
    for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        out[i] = element(x, index[i])


def raises_ahead(x, index, out):
    if index[cuda.grid(1)] >= x.size:
        raise IndexError("far")
    for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        out[i] = x[index[i] % x.size]


def is_one_trip(function):
    return "next_trip" in cuda.jit(debug=True, opt=True)(function).inspect("stride", (A, A, A))


@pytest.mark.parametrize("function", [gather, raises_itself, raises_in_a_function])
def test_is_one_trip(function):
    assert is_one_trip(function)


def test_loads_ahead_are_not_repeated():
    assert not is_one_trip(raises_ahead)


def expected_of(function, x, index, before, threads):
    """Each thread's trips, in order, up to the one in which it raises."""
    out = before.copy()
    for thread in range(threads):
        for i in range(thread, out.size, threads):
            if index[thread if function is raises_ahead else i] >= x.size:
                break
            out[i] = x[index[i] % x.size]
    return out


@pytest.mark.parametrize("function", [gather, raises_itself, raises_in_a_function, raises_ahead])
@pytest.mark.parametrize(("grid", "block"), [(1, 1), (1, 64), (3, 50), (4, 1024), (2, (8, 4))])
def test_threads_that_raise_have_no_other_trips(function, grid, block):
    threads = grid * int(np.prod(block))
    if block == (8, 4):
        threads = 16  # cuda.grid(1) counts along x
    random = np.random.default_rng(threads)
    x, index = random.integers(1, 1000, 300), random.integers(0, 300, 5000)
    out = np.zeros(5000, np.int64)
    cuda.jit(debug=True, opt=True)(function)[grid, block](x, index, out)
    np.testing.assert_array_equal(out, x[index])
    index[random.integers(0, 5000, 7)] = 300
    index[threads // 2] = 301
    out = np.zeros(5000, np.int64)
    with pytest.raises(IndexError):
        cuda.jit(debug=True, opt=True)(function)[grid, block](x, index, out)
    np.testing.assert_array_equal(out, expected_of(function, x, index, np.zeros(5000, np.int64), threads))


def test_the_next_block_has_all_trips():
    """What a block's threads have raised says nothing of the one that the same worker runs behind it."""
    x, index, out = np.arange(10), np.zeros(64000, np.int64), np.zeros(64000, np.int64)
    index[:64] = 10
    x[0] = 7
    with pytest.raises(IndexError):
        cuda.jit(gather)[100, 64](x, index, out)
    expected = np.full((10, 6400), 7)
    expected[:, :64] = 0
    np.testing.assert_array_equal(out, expected.ravel())
