"""What LLVM makes of the loops around a kernel's body: no copies of what is in them."""
import re

import numpy as np
import pytest

from cujit import _core, cuda, float32, void

pytestmark = pytest.mark.skipif("cuda.get_current_device().kind != 'cpu'", reason="code of the CPU device")


def llvm_of(function, signature):
    kernel = cuda.jit(function)
    kernel.compile(signature)
    return next(iter(kernel.inspect_llvm().values()))


def scale(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] / 3


def turn(x, out):
    tile = cuda.shared.array(64, float32)
    i = cuda.threadIdx.x
    tile[i] = x[i] / 3
    cuda.syncthreads()
    out[i] = tile[63 - i] / 5


@pytest.mark.parametrize("kernel, bodies", [(scale, 1), (turn, 2)])
def test_loops_around_loops_are_not_written_out(kernel, bodies):
    """Each body once for a vector, and at most once for a shorter one."""
    text = llvm_of(kernel, void(float32[::1], float32[::1]))
    assert 1 <= text.count("= fdiv <") <= 2 * bodies
    assert "llvm.loop.unroll.disable" in text


def saxpy(a, x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a / x[i] + y[i]


@pytest.mark.parametrize("layout, most", [("[::1]", 1), ("[:]", 8)])
def test_what_a_vector_leaves_is_not_written_out(layout, most):
    """Where arrays may overlap, LLVM writes out eight trips of it: those of steps of any size are worth that."""
    text = llvm_of(saxpy, f"void(float32, float32{layout}, float32{layout}, float32{layout})")
    assert text.count("= fdiv <") >= 1
    assert (text.count("= fdiv float") <= 1) == (most == 1)


@pytest.mark.parametrize("axes, loops", [("", 3), ("y", 5), ("z", 5), ("yz", 5)])
def test_axes_that_no_thread_asks_for_have_no_loop(axes, loops):
    """The runtime runs the kernel again for each index there, if threads ask for none but that along their rows."""
    @cuda.jit
    def kernel(x, counts):
        i = cuda.grid(1)
        if "y" in axes:
            i += cuda.threadIdx.y
        if "z" in axes:
            i += cuda.threadIdx.z
        if i < x.size:
            x[i] = x[i] / 3
            cuda.atomic.add(counts, i, 1)

    size, block = 50, (8, 3, 2)
    counts = np.zeros(size, np.int32)
    kernel[7, block](np.ones(size, np.float32), counts)
    y, z = (np.arange(count) * (axis in axes) for axis, count in zip("yz", block[1:], strict=True))
    places = (np.arange(7 * block[0])[:, None, None] + y[:, None] + z).ravel()
    assert (counts == np.bincount(places, minlength=size)[:size]).all()
    text = next(iter(kernel.inspect_llvm().values()))
    assert len(re.findall(r"br .*!llvm\.loop", text)) <= loops, text


def meeting(axes):
    @cuda.jit
    def kernel(x, counts):
        tile = cuda.shared.array(64, float32)
        i = cuda.threadIdx.x
        if "y" in axes:
            i += cuda.threadIdx.y
        if "z" in axes:
            i += cuda.threadIdx.z
        tile[i] = x[i] / 3
        cuda.syncthreads()
        x[i] = tile[i] / 5
        cuda.atomic.add(counts, i, 1)

    return kernel


@pytest.mark.parametrize("axes", ["", "y", "z", "yz"])
def test_meeting_threads_have_a_loop_along_z_where_they_ask_for_it(axes):
    """Launches with more threads along it are a variant's where they do not."""
    kernel, x, counts = meeting(axes), np.full(20, 30, np.float32), np.zeros(20, np.int32)
    block = (8, 3 if "y" in axes else 1, 2 if "z" in axes else 1)
    kernel[1, block](x, counts)
    places = np.add.outer(np.add.outer(np.arange(block[0]), np.arange(block[1])), np.arange(block[2])).ravel()
    assert (counts == np.bincount(places, minlength=20)).all()
    assert (x == np.where(counts > 0, 2, 30)).all()
    heading = kernel.inspect("checks", kernel.signatures[0]).split("\n")[0]
    assert ("single z" in heading) == ("z" not in axes)
    assert _core.ir_roundtrip(heading + "\nblock 0:\n  return\n").split("\n")[0] == heading
    made = sum(count for _, count in kernel.variant_counts())
    kernel[1, (4, 3, 2)](x, counts)
    assert counts.sum() == len(places) + 24
    assert sum(count for _, count in kernel.variant_counts()) == made + ("z" not in axes)


def test_threads_whose_order_shows_run_block_by_block():
    """Each takes a number: the first block has the first ones, along whatever axes it has threads."""
    @cuda.jit
    def number(counter, first):
        taken = cuda.atomic.add(counter, 0, 1)
        cuda.atomic.max(first, cuda.blockIdx.x, taken)

    first = np.zeros(1, np.int32)
    number[1, (4, 5, 6)](np.zeros(1, np.int32), first)
    assert first[0] == 119


def test_threads_that_need_no_index_are_counted_through():
    def loops(adds_place):
        @cuda.jit
        def kernel(x, out):
            i, j = cuda.grid(2)
            value = x[j, i]
            cuda.syncthreads()
            for k in range(5):
                value += cuda.shfl_xor_sync(0xFFFFFFFF, value, 1 << k)
                if adds_place:
                    value += cuda.threadIdx.y
            out[j, i] = value

        x = np.random.default_rng(1).integers(0, 100, (16, 8))
        out = np.zeros_like(x)
        kernel[1, (8, 16)](x, out)
        return x, out, next(iter(kernel.inspect_llvm().values())).count("!llvm.loop")

    x, out, few = loops(False)
    assert (out.reshape(-1, 32) == x.reshape(-1, 32).sum(1)[:, None]).all()
    assert few < loops(True)[2]


def test_bounded_loops_do_not_compare_addresses():
    """That a thread passes the tests which bound the loop is said in it; its accesses are independent all the same."""
    def march(u, out, weight):
        x, y = cuda.grid(2)
        if x < 1 or y < 1 or x >= u.shape[2] - 1 or y >= u.shape[1] - 1:
            return
        below = u[0, y, x]
        for z in range(1, u.shape[0]):
            here = u[z, y, x]
            out[z, y, x] = here * weight + below * (u[z, y, x - 1] + u[z, y, x + 1])
            below = here

    text = cuda.jit(march).inspect_llvm((float32[:, :, ::1], float32[:, :, ::1], float32))
    assert "x float>" in text and "icmp ult ptr" not in text
