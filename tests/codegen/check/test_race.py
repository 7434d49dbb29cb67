"""The check `race`: accesses that nothing orders are found; what CUDA orders is not. Threads of the CPU device run one
after the other, so that which two of them a report names is always the same."""
import builtins
import re
import shutil
import subprocess

import numpy as np
import pytest

from cujit import complex128, cuda, errors, float32, from_dtype, int8, int32, int64

pytestmark = pytest.mark.skipif(cuda.get_current_device().kind == "cuda", reason="the CPU device's")
SMS = [75, 80, 86, 87, 89, 90, 100, 103, 120, 121]


def line_of(kernel, distance):
    return kernel.py_func.__code__.co_firstlineno + distance


def race(kernel, *arguments, grid=1, threads=64):
    with pytest.raises(errors.RaceError) as caught:
        kernel[grid, threads](*arguments)
    return str(caught.value).replace(__file__, "program.py")


def test_report():
    @cuda.jit(check="race")
    def kernel(x, out):
        s = cuda.shared.array(64, float32)
        i = cuda.threadIdx.x
        s[i] = x[i]
        out[i] = s[i // 2]

    x = np.arange(64, dtype=np.float32)
    first = line_of(kernel, 4)
    assert race(kernel, x + 1, x.copy()) == f"""\
race: two threads access element 0 of 's', and no cuda.syncwarp() or cuda.syncthreads() is between them
  File "program.py", line {first + 1}, in kernel: block (0, 0, 0), thread (1, 0, 0) reads 1.0
    out[i] = s[i // 2]
             ^^^^^^^^^
  File "program.py", line {first}, in kernel: block (0, 0, 0), thread (0, 0, 0) wrote 1.0
    s[i] = x[i]
    ^^^^"""


def test_other_blocks():
    @cuda.jit(check="race")
    def kernel(out):
        out[cuda.threadIdx.x, 1] += cuda.blockIdx.x + 1.0

    text = race(kernel, np.zeros((4, 2)), grid=(2, 2), threads=(2, 2))
    assert text.startswith("race: two threads access element (0, 1) of 'out', and no cuda.syncwarp()")
    text = race(kernel, np.zeros((4, 2)), grid=(2, 2), threads=2)
    assert "they are of different blocks: only atomics with fences, or another launch, order these" in text
    assert "block (1, 0, 0), thread (0, 0, 0) reads 1.0" in text
    assert "block (0, 0, 0), thread (0, 0, 0) wrote 1.0" in text


def test_the_next_launch_begins_anew():
    @cuda.jit(check="race")
    def kernel(out, share):
        out[cuda.grid(1) // share] += 1

    out = np.zeros(64)
    for _ in range(3):
        kernel[2, 32](out, 1)
        race(kernel, np.zeros(64), 2)
    assert (out == 3).all()


def test_atomics_and_plain_accesses():
    @cuda.jit(check="race")
    def kernel(x, out):
        counts = cuda.shared.array(4, int32)
        i = cuda.threadIdx.x
        if i < 4:
            counts[i] = 0
        cuda.syncthreads()
        cuda.atomic.add(counts, x[i], 1)
        if i < 4:
            out[i] = counts[i]

    text = race(kernel, np.arange(64) % 4, np.zeros(4))
    assert "of 'counts'" in text and "does an atomic operation" in text


# --- what is ordered -------------------------------------------------------------------------------------------------

def test_all_may_write_the_same():
    @cuda.jit(check="race")
    def kernel(out):
        out[0] = 7
        if out[0] == 7:
            out[1] = 8

    out = np.zeros(2)
    kernel[3, 64](out)
    assert out.tolist() == [7, 8]


def test_barriers_and_lanes_that_meet():
    @cuda.jit(check="race,barrier")
    def kernel(x, out):
        s = cuda.shared.array(64, float32)
        i = cuda.threadIdx.x
        s[i] = x[i]
        cuda.syncwarp()
        a = s[i ^ 1]
        cuda.syncthreads()
        s[i ^ 31] = a
        cuda.shfl_sync(0xFFFFFFFF, i, 0)
        out[i] = s[i ^ 3]

    x, out = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    kernel[1, 64](x, out)
    i = np.arange(64)
    assert out.tolist() == (i ^ 3 ^ 31 ^ 1).tolist()


def test_numbered_barriers():
    @cuda.jit(check="race")
    def kernel(out, with_barrier):
        s = cuda.shared.array(32, int64)
        i = cuda.threadIdx.x
        if i < 32:
            s[i] = i
            if with_barrier:
                cuda.barrier_arrive(1, 64)
        else:
            if with_barrier:
                cuda.barrier_sync(1, 64)
            out[i - 32] = s[63 - i]

    out = np.zeros(32)
    kernel[1, 64](out, True)
    assert out.tolist() == list(range(31, -1, -1))
    race(kernel, out, False)


@pytest.mark.parametrize("before, behind", [(True, True), (True, False), (False, True)])
def test_the_last_block(before, behind):
    """Its fences are what tells it of the other blocks' sums: without one of them there is a race."""
    @cuda.jit(check="race")
    def kernel(x, partial, ticket, out):
        i = cuda.blockIdx.x
        partial[i] = x[i]
        if before:
            cuda.threadfence()
        if cuda.atomic.add(ticket, 0, 1) == cuda.gridDim.x - 1:
            if behind:
                cuda.threadfence()
            total = 0
            for k in range(cuda.gridDim.x):
                total += partial[k]
            out[0] = total
            if before:
                ticket[0] = 0

    x, out = np.arange(200), np.zeros(1, np.int64)
    arguments = x, np.zeros(200, np.int64), np.zeros(1, np.int64), out
    if not (before and behind):
        assert "of 'partial'" in race(kernel, *arguments, grid=200, threads=1)
        return
    kernel[200, 1](*arguments)
    assert out[0] == x.sum() and arguments[2][0] == 0


@pytest.mark.parametrize("has_met", [True, False])
def test_a_fence_covers_what_lanes_have_told_though_a_barrier_comes_behind(has_met):
    @cuda.jit(check="race")
    def kernel(x, flag, out):
        t = cuda.threadIdx.x
        if cuda.blockIdx.x == 0:
            x[t] = t
            if has_met:
                cuda.syncwarp()
            if t == 0:
                cuda.threadfence()
            cuda.syncthreads()
            if t == 0:
                cuda.atomic.exch(flag, 0, 1)
        elif t == 0 and cuda.atomic.max(flag, 0, 0) == 1:
            cuda.threadfence()
            out[0] = x[5]

    x, flag, out = np.zeros(32), np.zeros(1, np.int64), np.zeros(1)
    if has_met:
        kernel[2, 32](x, flag, out)
        assert out[0] == 5
    else:
        assert f"line {line_of(kernel, 14)}," in race(kernel, x, flag, out, grid=2, threads=32)


@pytest.mark.parametrize("is_locked", [True, False])
def test_a_lock(is_locked):
    @cuda.jit(check="race")
    def kernel(lock, out):
        while is_locked and cuda.atomic.cas(lock, 0, 0, 1) != 0:
            pass
        cuda.threadfence()
        out[0] += 1
        cuda.threadfence()
        if is_locked:
            cuda.atomic.exch(lock, 0, 0)

    lock, out = np.zeros(1, np.int32), np.zeros(1)
    if is_locked:
        kernel[8, 3](lock, out)
        assert out[0] == 24
    else:
        race(kernel, lock, out, grid=8, threads=3)


def test_a_guess_that_a_swap_finds_right():
    @cuda.jit(check="race")
    def kernel(values, out):
        seen = out[0]
        assumed = seen + 1
        while seen != assumed:
            assumed = seen
            seen = cuda.atomic.cas(out, 0, assumed, assumed + values[cuda.grid(1)])

    out = np.zeros(1, np.int64)
    kernel[2, 40](np.arange(80), out)
    assert out[0] == 80 * 79 // 2


def test_many_readers():
    """More groups of threads have read the element than a cell remembers one by one."""
    @cuda.jit(check="race")
    def kernel(x, out, faulty):
        i = cuda.grid(1)
        out[i] = x[0]
        if faulty and i == out.size - 1:
            x[0] = 5

    out = np.zeros(400 * 33)
    kernel[400, 33](np.ones(1), out, False)
    assert out.all()
    text = race(kernel, np.ones(1), out, True, grid=400, threads=33)
    assert "block (399, 0, 0), thread (32, 0, 0) writes 5.0" in text


def test_parts_of_an_element():
    @cuda.jit(check="race")
    def kernel(x, small, place):
        i = cuda.threadIdx.x
        if i == 0:
            x[1] = 3.0
        elif i == 1:
            small[place] = 1

    for place in range(24):
        x = cuda.to_device(np.zeros(3))
        small = x.view(np.int8)
        if 8 <= place < 16:
            race(kernel, x, small, place)
        else:
            kernel[1, 64](x, small, place)


# --- code for GPUs ----------------------------------------------------------------------------------------------------

def everything(x, small, z, record, out):
    s, t = cuda.shared.array(64, float32), cuda.shared.array(0, int64)
    i = cuda.threadIdx.x
    own = cuda.local.array((2, 3), int64)
    own[i % 2, 1] = i
    s[i] = x[i]
    t[i] = small[i] + own[0, 1]
    z[i] += 1j
    record[i].a = record[i].v[1]
    cuda.syncwarp()
    out[i] = cuda.shfl_sync(0xFFFF, out[i], 0) + cuda.syncthreads_count(i)
    cuda.atomic.add(out, 0, t[i])
    cuda.threadfence()
    cuda.stcg(out, 1, cuda.ldcv(out, 0))
    if i < 32:
        cuda.barrier_arrive(1, 64)
    else:
        cuda.barrier_sync(1, 64)
    cuda.cg.this_grid().sync()
    x[3:5] = s[i]


EVERYTHING = (float32[::1], int8[:], complex128[::1], from_dtype(np.dtype([("a", "i4"), ("v", "i2", 3)]))[::1],
              int64[::1])


@pytest.mark.parametrize("check", ["race", "init", "barrier", True])
@pytest.mark.parametrize("sm", SMS)
def test_code_for_gpus(sm, check, tmp_path):
    kernel = cuda.jit(check=check)(everything)
    ptx = kernel.inspect("asm", EVERYTHING, sm)
    assert ("isspacep.shared" in ptx) == (check != "barrier") and ("exit;" in ptx) == (check in ("barrier", True))
    if shutil.which("ptxas"):
        (tmp_path / "kernel.ptx").write_text(ptx)
        subprocess.run(["ptxas", f"-arch=sm_{sm}", "kernel.ptx", "-o", "kernel.cubin"], cwd=tmp_path, check=True)


def test_on_gpus_it_is_calls_of_watchers():
    def kernel(x, out):
        i = cuda.grid(1)
        own = cuda.local.array(4, int64)
        own[i % 4] = i
        cuda.syncthreads()
        out[i] = x[i] + own[0]

    text = cuda.jit(check="race")(kernel).inspect("checks", (float32[::1], float32[::1]), 80)
    first = text[:text.index("\ndevice ")]
    assert "  watch " not in text and "launch_state: i64[1 C]" in first.splitlines()[0]
    assert first.count("call watch_access.") == 2  # what is the thread's own is nobody else's
    lines = [line.split(" ; ")[0].strip().split(".")[0] for line in first.splitlines()]
    place = lines.index("cuda")
    assert lines[place - 1] == "call watch_meeting" and lines[place + 1] == "call watch_barrier"
    assert "device watch_lanes" not in text


@pytest.mark.parametrize("options, has", [({}, "64"), ({"max_registers": 80}, "80"), ({"launch_bounds": 256}, None)])
def test_the_largest_blocks_run_with_watchers(options, has):
    """A multiprocessor has 64 registers for each of 1,024 threads."""
    def kernel(x):
        x[cuda.grid(1)] += 1

    ptx = cuda.jit(check="race", **options)(kernel).inspect("asm", (int64[::1],), 90)
    assert re.findall(r"\.maxnreg (\d+)", ptx) == ([has] if has else [])
    assert ".maxnreg" not in cuda.jit(check="bounds")(kernel).inspect("asm", (int64[::1],), 90)


def test_where_nothing_is_accessed_nothing_is_told():
    def kernel(n):
        cuda.syncthreads()

    text = cuda.jit(check="race")(kernel).inspect("checks", (int64,), 80)
    first = text[:text.index("\ndevice ")]
    assert "launch_state" not in first and "watch" not in first


# --- barriers --------------------------------------------------------------------------------------------------------

def barrier(kernel, *arguments, threads=32):
    with pytest.raises(errors.BarrierError) as caught:
        kernel[1, threads](*arguments)
    return str(caught.value)


def test_threads_that_have_returned():
    """Without the check, those that are left meet, as on GPUs."""
    def kernel(out):
        i = cuda.threadIdx.x
        for _ in range(i):
            cuda.syncthreads()
        out[i] = 1

    cuda.jit(kernel)[1, 40](np.zeros(40))
    checked = cuda.jit(check="barrier")(kernel)
    line = kernel.__code__.co_firstlineno + 3
    assert barrier(checked, np.zeros(40), threads=40).endswith(
        f"threads 1-39 wait at cuda.syncthreads in line {line}; thread 0 has returned")


def test_lanes_that_are_not_there():
    @cuda.jit(check="barrier")
    def kernel(out, mask):
        i = cuda.threadIdx.x
        if i < 10:
            out[i] = cuda.shfl_sync(mask, i, 0)

    line = line_of(kernel, 4)
    assert barrier(kernel, np.zeros(32), 0xFFFFFFFF).endswith(
        f"cuda.shfl_sync with mask 0xffffffff in line {line}; lanes 10-31 that it names are not there")
    assert barrier(kernel, np.zeros(32), 0x7FF, threads=10).endswith("; lane 10 that it names is not there")
    kernel[1, 10](np.zeros(32), 0x3FF)


def test_library_functions_name_whole_tiles():
    """The last warp of a block may not be whole; who has returned is missed all the same."""
    @cuda.jit(check="barrier")
    def kernel(out, threads):
        i = cuda.threadIdx.x
        if i < threads:
            warp = cuda.cg.tiled_partition(cuda.cg.this_thread_block(), 32)
            out[i] = cuda.cg.reduce(warp, i)

    for threads in 1, 7, 40, 64:
        out = np.zeros(threads)
        kernel[1, threads](out, threads)
        assert out[0] == sum(range(min(threads, 32))) and out[-1] == sum(range((threads - 1) // 32 * 32, threads))
    assert barrier(kernel, np.zeros(40), 36, threads=40).endswith("lanes 4-7 that it names are not there")


@pytest.mark.filterwarnings("ignore:.*may be unassigned")
@pytest.mark.parametrize("meet", ["barrier", "shuffle"])
@pytest.mark.parametrize("error, text", [
    ("IndexError", "value = x[i]"), ("UnboundLocalError", "if i < n: value = x[i]"),
    ("ValueError", "value = x[0]\n    if i >= n: raise ValueError(n)")])
def test_threads_that_have_raised_are_not_missed(error, text, meet):
    """What they raised is why the others wait for ever."""
    there = {"barrier": "cuda.syncthreads()", "shuffle": "value += cuda.shfl_down_sync(0xffffffff, value, 1)"}[meet]
    names = {"cuda": cuda}
    exec(f"def kernel(x, n, out):\n    i = cuda.threadIdx.x\n    {text}\n    {there}\n    out[i] = value", names)
    for check in "bounds,barrier", True:
        kernel = cuda.jit(check=check, exceptions=True)(names["kernel"])
        with pytest.raises(getattr(builtins, error)):
            kernel[1, 32](np.zeros(10), 10, np.zeros(32))
