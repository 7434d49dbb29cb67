"""Functions in which the threads of a warp meet: LLVM leaves a call in the one place that the source gives it."""
import re

from cujit import cuda, int32, int64, void
from cujit.extending import asm

ALL_LANES = 0xFFFFFFFF


@cuda.jit(device=True)
def window(last, lane, flags, values):
    i = max(last - lane, 0)
    what = cuda.ldcv(flags, i)
    while what == 0:
        what = cuda.ldcv(flags, i)
    ends = cuda.ballot_sync(ALL_LANES, what == 2)
    value = cuda.ldcg(values, i)
    other = cuda.shfl_sync(ALL_LANES, value, (lane + 1) & 31)
    return value + other if lane + 1 < 32 else value, ends != 0


@cuda.jit(device=True)
def look_back(tile, lane, flags, values):
    last = tile - 1
    value, is_done = window(last, lane, flags, values)
    while not is_done:
        last -= 32
        earlier, is_done = window(last, lane, flags, values)
        value += earlier
    return value


def kernel(flags, values, out):
    lane, tile = cuda.threadIdx.x & 31, cuda.blockIdx.x
    if tile > 0:
        if lane == 0:
            values[tile] = tile
            cuda.threadfence()
            cuda.atomic.exch(flags, tile, 1)
        value = look_back(tile, lane, flags, values)   # LLVM 22 had made two of it, one for lane 0
        if lane == 0:
            out[tile] = value


def test_a_call_behind_a_branch_is_not_copied_into_both_ways():
    ptx, _ = cuda.compile_ptx(kernel, void(int32[::1], int64[::1], int64[::1]), cc=(9, 0))
    assert ptx.count("vote.sync.ballot") == 2   # before the loop and in it
    assert ptx.count("shfl.sync") == 4   # two halves of 64 bits each


def marked(kernel, name):
    """Whether the function is convergent in the LLVM IR of sm_80."""
    text = kernel.inspect("llvm", (int64[::1],), 80)
    group = re.search(rf"^define .*@\"?[\w.]*{name}[\w.]*\"?\(.*(#\d+)", text, re.MULTILINE)[1]
    return "convergent" in re.search(rf"^attributes {group} = (.*)", text, re.MULTILINE)[1].split()


def calling(meet):
    """A kernel with a function that is not inlined, since it calls itself, and that calls meet()."""
    @cuda.jit(device=True)
    def function(x, i):
        meet()
        return x[i] + function(x, i - 1) * 3 if i > 0 else 1

    @cuda.jit
    def kernel(x):
        x[0] = function(x, x[1])

    return kernel


def test_functions_in_which_threads_meet():
    assert marked(calling(cuda.syncthreads), "function")
    assert marked(calling(cuda.syncwarp), "function")
    assert marked(calling(asm("bar.sync 0;", "void()")), "function")


def test_others():
    kernel = calling(lambda: None)
    assert not marked(kernel, "function") and not marked(kernel, "kernel")
