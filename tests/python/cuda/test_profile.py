"""kernel.profile: counts beside numbers worked out by hand. A warp is 32 lanes, a sector 32 bytes, a bank 4 bytes."""
import sys
import textwrap
import threading
from pathlib import Path

import numpy as np
import pytest

from cujit import _core, cuda
from cujit.errors import CujitError, LaunchConfigurationError

pytestmark = pytest.mark.skipif(cuda.get_current_device().kind != "cpu", reason="profiles count on the CPU device")
HERE = Path(__file__).read_text(encoding="utf-8").splitlines()


def line_of(text, start=0):
    """The number of the only line of this file, from that of the kernel on, that has the text."""
    found = [number for number, line in enumerate(HERE, 1) if number > start and text in line]
    return found[0]


def at(profile, kernel, text):
    """The counts of the first line of the kernel with that text."""
    return profile.line(line_of(text, kernel.py_func.__code__.co_firstlineno))


def sectors(counts):
    return counts.sectors, counts.ideal_sectors


def waves(counts):
    return counts.waves, counts.ideal_waves


def branches(counts):
    return counts.divergent, counts.branches


# --- global memory ----------------------------------------------------------------------------------------------------

@cuda.jit
def copy(x, out, step):
    i = cuda.grid(1)
    if i < out.size:
        value = x[i * step]
        out[i] = value


@pytest.mark.parametrize("dtype, step, load, ideal", [
    (np.float32, 1, 4, 4),      # 128 bytes side by side
    (np.float32, 2, 8, 4),      # over 256 bytes, half of which are wanted
    (np.float32, 32, 32, 4),    # a sector for each lane
    (np.float32, 0, 1, 1),      # all lanes at one element
    (np.float64, 1, 8, 8),
    (np.uint8, 1, 1, 1),
    (np.uint8, 3, 3, 1),        # bytes 0 to 93
    (np.complex64, 1, 16, 8),   # a GPU loads one part, then the other: each asks for all of the sectors
    (np.complex128, 1, 32, 16),
])
def test_sectors_of_copies(dtype, step, load, ideal):
    x, out = np.arange(1024 * max(step, 1)).astype(dtype), np.zeros(1024, dtype)
    profile = copy.profile[8, 128](x, out, step)
    np.testing.assert_array_equal(out, x[::step] if step else np.full(1024, x[0]))
    warps = 32
    assert sectors(at(profile, copy, "value = x[i * step]")) == (load * warps, ideal * warps)
    whole = 32 * np.dtype(dtype).itemsize // 32
    stored = 2 * whole if np.dtype(dtype).kind == "c" else whole
    assert sectors(at(profile, copy, "out[i] = value")) == (stored * warps, whole * warps)
    assert at(profile, copy, "value = x[i * step]").threads == 1024


def test_sectors_of_a_part_of_a_warp():
    """100 threads of 128 have elements: three whole warps, and 4 lanes at half a sector."""
    x, out = np.arange(100, dtype=np.float32), np.zeros(100, np.float32)
    profile = copy.profile[1, 128](x, out, 1)
    assert sectors(at(profile, copy, "value = x[i * step]")) == (3 * 4 + 1, 3 * 4 + 1)
    assert branches(at(profile, copy, "if i < out.size")) == (1, 4)
    assert at(profile, copy, "if i < out.size").threads == 128
    assert at(profile, copy, "out[i] = value").threads == 100


@cuda.jit
def off_by_one(x, out):
    i = cuda.grid(1)
    out[i] = x[i + 1]


def test_sectors_of_what_begins_within_one():
    """128 bytes from byte 4 on lie in 5 sectors."""
    profile = off_by_one.profile[1, 32](np.zeros(33, np.float32), np.zeros(32, np.float32))
    assert sectors(at(profile, off_by_one, "out[i] =")) == (5 + 4, 4 + 4)


@cuda.jit
def gather(x, places, out):
    i = cuda.grid(1)
    place = places[i]
    out[i] = x[place]


def test_sectors_of_places_without_order(rng):
    places = rng.integers(0, 10000, 256)
    profile = gather.profile[2, 128](np.zeros(10000, np.float32), places, np.zeros(256, np.float32))
    by_warp = places.reshape(8, 32)
    asked = sum(len(set(warp * 4 // 32)) for warp in by_warp)
    ideal = sum(-(-len(set(warp)) * 4 // 32) for warp in by_warp)
    assert sectors(at(profile, gather, "out[i] = x[place]")) == (asked + 8 * 4, ideal + 8 * 4)


# --- shared memory ----------------------------------------------------------------------------------------------------

def transposing(width):
    @cuda.jit
    def transpose(x, out):
        tile = cuda.shared.array((32, width), np.float32)
        column, row = cuda.threadIdx.x, cuda.threadIdx.y
        j, i = cuda.blockIdx.x * 32, cuda.blockIdx.y * 32
        tile[row, column] = x[i + row, j + column]
        cuda.syncthreads()
        out[j + row, i + column] = tile[column, row]
    return transpose


@pytest.mark.parametrize("width, ways", [(32, 32), (33, 1), (36, 4), (48, 16)])
def test_bank_conflicts_of_a_transpose(width, ways):
    """A column of the tile is `width` words from row to row: with 33, every lane has a bank of its own."""
    kernel = transposing(width)
    x, out = np.arange(64 * 64, dtype=np.float32).reshape(64, 64), np.zeros((64, 64), np.float32)
    profile = kernel.profile[(2, 2), (32, 32)](x, out)
    np.testing.assert_array_equal(out, x.T)
    warps = 4 * 32
    written, read = at(profile, kernel, "tile[row, column] ="), at(profile, kernel, "= tile[column, row]")
    assert waves(written) == (warps, warps) and waves(read) == (ways * warps, warps)
    assert sectors(written) == (4 * warps, 4 * warps) and sectors(read) == (4 * warps, 4 * warps)


@cuda.jit
def of_shared(out, step):
    tile = cuda.shared.array(2048, np.float64)
    i = cuda.threadIdx.x
    tile[i * step] = i
    cuda.syncthreads()
    out[i] = tile[0]


@pytest.mark.parametrize("step, count", [
    (1, 2),    # half a warp of 8 bytes each: all banks once
    (2, 4),    # 16 lanes at 16 bytes: 8 pairs of banks, each twice
    (16, 32),  # all 16 lanes at the same two banks
])
def test_elements_of_8_bytes_are_served_by_halves(step, count):
    profile = of_shared.profile[1, 64](np.zeros(64), step)
    assert waves(at(profile, of_shared, "tile[i * step] =")) == (2 * count, 2 * 2)
    assert waves(at(profile, of_shared, "out[i] = tile[0]")) == (2 * 2, 2 * 2)   # one word for all


# --- branches ---------------------------------------------------------------------------------------------------------

@cuda.jit
def parted(out, by):
    i = cuda.grid(1)
    if (i // by) % 2:
        out[i] = 1
    else:
        out[i] = 2


@pytest.mark.parametrize("by, divergent", [(1, 8), (16, 8), (32, 0), (48, 4)])
def test_divergent_branches(by, divergent):
    """256 threads. Where the two ways change every 48 threads, they do within every second warp."""
    profile = parted.profile[2, 128](np.zeros(256), by)
    expected = sum(len({(i // by) % 2 for i in range(warp, warp + 32)}) == 2 for warp in range(0, 256, 32))
    assert branches(at(profile, parted, "if (i // by)")) == (expected, 8)
    assert by == 48 or expected == divergent
    assert at(profile, parted, "out[i] = 1").threads + at(profile, parted, "out[i] = 2").threads == 256


@cuda.jit
def triangle(x, out):
    i = cuda.threadIdx.x
    total = 0.0
    for k in range(i):
        total += x[k]
    out[i] = total


def test_lanes_are_aligned_by_trips():
    """In trip k lanes k + 1 to 31 read the same element; at the test of trip k, lane k leaves the others."""
    profile = triangle.profile[1, 32](np.arange(32, dtype=np.float32), np.zeros(32, np.float32))
    body = at(profile, triangle, "total += x[k]")
    assert body.threads == 31 * 32 // 2 and body.global_warps == 31
    assert sectors(body) == (31, 31)
    assert branches(at(profile, triangle, "for k in range(i)")) == (31, 32)
    assert at(profile, triangle, "for k in range(i)").threads == 31 * 32 // 2 + 32
    assert sectors(at(profile, triangle, "out[i] = total")) == (4, 4)


@cuda.jit
def nested_loops(x, out):
    i = cuda.threadIdx.x
    for a in range(3):
        for b in range(i % 2 + 1):
            out[i] += x[a, b, i]


def test_inner_loops_are_aligned_by_the_outer_ones():
    """Odd lanes have two inner trips: 3 * (a whole warp, and half of one over the same 4 sectors)."""
    profile = nested_loops.profile[1, 32](np.zeros((3, 2, 32), np.float32), np.zeros(32, np.float32))
    body = at(profile, nested_loops, "out[i] += x[a, b, i]")
    assert body.threads == 3 * 48 and body.global_warps == 3 * 2 * 3   # x, out read, out written
    assert sectors(body) == (3 * 2 * 3 * 4, 3 * 3 * (4 + 2))
    assert branches(at(profile, nested_loops, "for b in range")) == (3, 3 * 3)


@cuda.jit(device=True)
def element(x, k):
    if k > 15:
        k -= 16
    return x[k]


@cuda.jit
def calling(x, out):
    i = cuda.threadIdx.x
    first = element(x, i)
    for k in range(2):
        first += element(x, k)
    out[i] = first + element(x, 31 - i)


def test_device_functions_are_aligned_by_their_calls():
    profile = calling.profile[1, 32](np.zeros(32, np.float32), np.zeros(32, np.float32))
    assert branches(at(profile, element, "if k > 15")) == (2, 4)
    loaded = at(profile, element, "return x[k]")
    assert loaded.global_warps == 4 and sectors(loaded) == (2 + 1 + 1 + 2, 2 + 1 + 1 + 2)


@cuda.jit
def recursive(out):
    i = cuda.threadIdx.x
    out[i] = factorial(i % 4)


@cuda.jit("int64(int64)", device=True)
def factorial(n):
    if n <= 1:
        return 1
    return n * factorial(n - 1)


def test_recursion():
    """i % 4 is 0, 1, 2, 3: they part at the first test and at the second."""
    out = np.zeros(32, np.int64)
    profile = recursive.profile[1, 32](out)
    assert list(out[:4]) == [1, 1, 2, 6]
    assert branches(at(profile, factorial, "if n <= 1")) == (2, 3)


# --- atomics ----------------------------------------------------------------------------------------------------------

@cuda.jit
def histogram(x, bins):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(bins, x[i], 1)


@pytest.mark.parametrize("count, most", [(1, 32), (4, 8), (32, 1), (64, 1)])
def test_contention_of_a_histogram(count, most):
    x, bins = np.arange(1024) % count, np.zeros(count, np.int64)
    profile = histogram.profile[4, 256](x, bins)
    assert bins.sum() == 1024
    counts = at(profile, histogram, "cuda.atomic.add")
    assert (counts.atomic_warps, counts.contended, counts.most_contended) == (32, 32 * most, most)


@cuda.jit
def shared_histogram(x, out):
    bins = cuda.shared.array(0, np.int32)
    i = cuda.threadIdx.x
    if i < 8:
        bins[i] = 0
    cuda.syncthreads()
    cuda.atomic.add(bins, x[i], 1)
    cuda.syncthreads()
    if i < 8:
        out[i] = bins[i]


def test_contention_in_dynamic_shared_memory():
    out = np.zeros(8, np.int32)
    x = np.where(np.arange(64) < 24, 0, np.arange(64) % 8)
    profile = shared_histogram.profile[1, 64, 0, 32](x, out)
    np.testing.assert_array_equal(out, np.bincount(x))
    counts = at(profile, shared_histogram, "cuda.atomic.add")
    assert (counts.atomic_warps, counts.contended, counts.most_contended) == (2, 25 + 4, 25)


# --- ways in which threads run ----------------------------------------------------------------------------------------

@cuda.jit
def in_rounds(x, out):
    i = cuda.threadIdx.x
    for k in range(3):
        if i == k:
            out[k] = x[k]
        cuda.syncthreads()
    out[i] = cuda.shfl_down_sync(0xFFFFFFFF, x[i], 1)


def test_barriers_and_shuffles():
    profile = in_rounds.profile[1, 64](np.zeros(64, np.float32), np.zeros(64, np.float32))
    assert branches(at(profile, in_rounds, "if i == k")) == (3, 6)
    assert branches(at(profile, in_rounds, "for k in range(3)")) == (0, 8)
    assert sectors(at(profile, in_rounds, "out[i] = cuda.shfl")) == (16, 16)


@cuda.jit
def whole_grid(x, out):
    i = cuda.grid(1)
    out[i] = x[i]
    cuda.cg.this_grid().sync()
    for k in range(2):
        out[i] += x[(i + 32) % 128]


def test_blocks_that_wait_for_each_other():
    x, out = np.arange(128, dtype=np.float32), np.zeros(128, np.float32)
    profile = whole_grid.profile[2, 64](x, out)
    np.testing.assert_array_equal(out, x + 2 * np.roll(x, -32))
    assert sectors(at(profile, whole_grid, "out[i] += x")) == (2 * 4 * 12, 2 * 4 * 12)


@cuda.jit
def wide(x, out):
    i = cuda.grid(1) * 4
    cuda.wide.store(out, i, cuda.wide.load(x, i, 4))


def test_several_elements_at_once():
    """16 bytes a lane: 512 bytes are 16 sectors."""
    profile = wide.profile[1, 32](np.zeros(128, np.float32), np.zeros(128, np.float32))
    assert sectors(at(profile, wide, "cuda.wide.store")) == (32, 32)


@cuda.jit
def of_its_own(out):
    i = cuda.grid(1)
    mine = cuda.local.array(4, np.float32)
    mine[i % 4] = i
    fill(mine)
    out[i] = mine[i % 4]


@cuda.jit(device=True)
def fill(array):
    array[0] = 5


def test_a_threads_own_arrays_are_not_global():
    profile = of_its_own.profile[1, 32](np.zeros(32, np.float32))
    assert profile.total().global_warps == 1 and profile.total().sectors == 4


@cuda.jit(debug=True)
def raising(x, out):
    i = cuda.grid(1)
    if i == 3:
        raise ValueError("three")
    out[i] = x[i]


def test_exceptions_are_raised():
    with pytest.raises(ValueError, match="three"):
        raising.profile[1, 32](np.zeros(32), np.zeros(32))
    profile = raising.profile[1, 2](np.zeros(32), np.zeros(32))   # what was counted before is gone
    assert at(profile, raising, "out[i] = x[i]").threads == 2


def test_checks_are_no_branches():
    """Bounds are checked as in any launch; the program has no branch there."""
    checked = cuda.jit(check="bounds")(off_by_one.py_func)
    profile = checked.profile[1, 32](np.zeros(33, np.float32), np.zeros(32, np.float32))
    assert profile.total().branches == 0
    with pytest.raises(IndexError):
        checked.profile[1, 33](np.zeros(33, np.float32), np.zeros(32, np.float32))


@cuda.jit(check="bounds")
def by_squares(x, out):
    i = cuda.grid(1)
    if i * i < 100:
        out[i] = x[i]


def test_launches_that_have_to_be_checked_are_counted():
    """10 of 32 threads access arrays of 10: what the launch cannot prove is checked by code of its own."""
    x, out = np.arange(10, dtype=np.float32), np.zeros(10, np.float32)
    for _ in range(2):
        profile = by_squares.profile[1, 32](x, out)
        np.testing.assert_array_equal(out, x)
        assert at(profile, by_squares, "out[i] = x[i]").threads == 10
        assert sectors(at(profile, by_squares, "out[i] = x[i]")) == (4, 4)
        assert branches(at(profile, by_squares, "if i * i < 100")) == (1, 1)


# --- lines ------------------------------------------------------------------------------------------------------------

@cuda.jit
def several_lines(x, out):
    i = cuda.grid(1)
    out[i] = max(
        x[i],
        min(
            x[i] * 2,
            4.0))
    while out[i] > 3:
        out[i] -= 1


def test_statements_of_several_lines_count_once():
    x = np.arange(32.0)
    profile = several_lines.profile[1, 32](x, np.zeros(32))
    first = at(profile, several_lines, "out[i] = max(")
    assert first.threads == 32 and first.global_warps == 3
    assert at(profile, several_lines, "x[i] * 2,").threads == 0
    trips = sum(int(max(0, np.ceil(max(value, min(2 * value, 4.0)) - 3))) for value in x)
    assert at(profile, several_lines, "out[i] -= 1").threads == trips
    assert at(profile, several_lines, "while out[i] > 3").threads == trips + 32


REPORT = """
divergent: grid 2, block 64, 128 threads in 4 warps

{file}
line  threads  divergent  sectors  ideal  one address  most
   3                                                         @cuda.jit
   4                                                         def divergent(x, out):
   5      128                                                    i = cuda.grid(1)
   6      128     1 of 4                                         if i < 100:
   7      100                  38     26                             out[i] = x[2 * i]
   8                                                             else:
   9       28                                      28    28          cuda.atomic.add(out, 0, 1)

  threads: how often threads came to the line
  divergent: warps whose lanes went both ways, of those that came to a branch
  sectors: of 32 bytes, asked of global memory by warps; ideal: what the bytes would fill
  one address: the most lanes of a warp whose atomics are at one address, the mean; most: of any
"""


def test_the_report(tmp_path):
    file = tmp_path / "program.py"
    file.write_text(textwrap.dedent("""\
        from cujit import cuda

        @cuda.jit
        def divergent(x, out):
            i = cuda.grid(1)
            if i < 100:
                out[i] = x[2 * i]
            else:
                cuda.atomic.add(out, 0, 1)
        """), encoding="utf-8")
    names = {}
    exec(compile(file.read_text(encoding="utf-8"), str(file), "exec"), names)
    profile = names["divergent"].profile[2, 64](np.zeros(200, np.float32), np.zeros(128, np.float32))
    assert str(profile) == REPORT.strip("\n").format(file=file)


def test_without_the_source():
    names = {}
    exec("from cujit import cuda\n@cuda.jit\ndef kernel(out):\n    out[cuda.grid(1)] = 1\n", names)
    profile = names["kernel"].profile[1, 32](np.zeros(32, np.float32))
    assert profile.line(4).threads == 32 and profile.line(4).sectors == 4
    assert "<string>" in str(profile)


def test_functions_of_cujit_have_a_table_of_their_own():
    @cuda.jit
    def summing(x, out):
        out[cuda.grid(1)] = np.sum(x)

    profile = summing.profile[1, 32](np.ones(8), np.zeros(32))
    assert "in functions of cujit" in str(profile)
    assert sum(site.sectors for site in profile.sites if site.event == "load") == 8


# --- the host ---------------------------------------------------------------------------------------------------------

def test_results_types_and_options_are_those_of_the_kernel():
    @cuda.jit("void(float32[:], float32)", fastmath=True)
    def scale(x, by):
        i = cuda.grid(1)
        if i < x.size:
            x[i] *= by

    x, again = np.arange(40, dtype=np.float32), np.arange(40, dtype=np.float32)
    assert scale.profile[2, 32](x, 3).line(scale.py_func.__code__.co_firstlineno + 3).threads == 64
    scale[2, 32](again, 3)
    np.testing.assert_array_equal(x, again)
    assert scale.profile is scale.profile and len(scale.signatures) == 1


def test_views_and_device_arrays():
    x, out = np.arange(64, dtype=np.float32)[::2], cuda.device_array(32, np.float32)
    profile = copy.profile[1, 32](x, out, 1)
    np.testing.assert_array_equal(out.copy_to_host(), x)
    assert at(profile, copy, "out[i] = value").sectors == 4


@pytest.fixture
def eager_switches():
    """Threads take turns after every few bytecodes."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_threads_of_the_program_take_turns(eager_switches):
    totals = []
    for _ in range(20):   # each with a new kernel, of which all threads ask the first profile at once
        kernel, barrier, profilers = cuda.jit(copy.py_func), threading.Barrier(4), set()

        def run(kernel=kernel, barrier=barrier, profilers=profilers):
            barrier.wait()
            profiler = kernel.profile
            profilers.add(profiler)
            launcher = profiler[8, 128]
            barrier.wait()   # all have asked before the first launches
            totals.append(launcher(np.zeros(1024, np.float32), np.zeros(1024, np.float32), 1).total())

        threads = [threading.Thread(target=run) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert profilers == {kernel.profile}
    assert len(totals) == 80
    assert {total.sectors for total in totals} == {2 * 8 * 4 * 4}   # a load and a store by 4 warps of 8 blocks


INTERRUPTED = """
import signal, time
import numpy as np
from cujit import cuda
from cujit.errors import LaunchConfigurationError

@cuda.jit
def long(x, out):
    i = cuda.grid(1)
    for k in range(x.size):
        out[i] += x[k]

def run(threads, size):
    return long.profile[max(threads // 64, 1), 64](np.ones(size), np.zeros(max(threads, 64)))

def inside(number, frame):
    try:
        run(64, 8)
    except LaunchConfigurationError as error:
        print(error)
    raise KeyboardInterrupt

run(64, 8)
signal.signal(signal.SIGALRM, inside)
signal.setitimer(signal.ITIMER_REAL, 0.2)
start = time.monotonic()
try:
    run(1 << 16, 1 << 12)
except KeyboardInterrupt:
    print("ended", time.monotonic() - start < 5)
print(run(64, 8).total().threads)
"""


@pytest.mark.not_under("thread", "it keeps signals, which interrupt kernels, until a C function is called")
def test_a_profile_can_be_interrupted(run_python):
    """A handler that profiles, too, is told why it cannot."""
    told = run_python(INTERRUPTED, CUJIT_DEVICE="cpu").splitlines()
    assert "handler of a signal that interrupts another profile" in told[0]
    assert told[1:] == ["ended True", "64"]


@pytest.mark.skipif(not hasattr(_core, "_fail_memory"), reason="not a build for tests")
def test_out_of_memory(rng):
    """The n-th request fails, for each n: a profile or MemoryError, and none is lost."""
    places = rng.integers(0, 4000, 512)
    arguments = np.zeros(4000, np.float32), places, np.zeros(512, np.float32)
    expected, n, failures = gather.profile[2, 256](*arguments).total(), 1, 1
    while failures:
        _core._fail_memory(n)
        try:
            found = gather.profile[2, 256](*arguments).total()
        except MemoryError:
            found = None
        failures = _core._fail_memory(0)
        assert found in (None, expected) and (failures or found)
        n += 1
    assert n > 8 and gather.profile[2, 256](*arguments).total() == expected


def test_what_is_too_long_is_refused():
    @cuda.jit
    def endless(x, out):
        i = cuda.grid(1)
        total = 0.0
        for k in range(3_000_000):
            total += x[k % 2]
        out[i] = total

    with pytest.raises(LaunchConfigurationError, match="'endless' did more than .* a smaller problem"):
        endless.profile[1, 1](np.zeros(2), np.zeros(1))
    assert copy.profile[1, 32](np.zeros(32), np.zeros(32), 1).total().sectors == 16


def test_device_functions_are_refused():
    with pytest.raises(CujitError, match="'element' is a device function"):
        element.profile[1, 1]


ON_A_GPU = """
import numpy as np
from cujit import cuda
from cujit.errors import CujitError

try:
    cuda.jit(lambda x: None).profile[1, 1]
except CujitError as error:
    print(error)
"""


def test_a_gpu_is_refused(fake_driver, run_python):
    told = run_python(ON_A_GPU, CUJIT_DRIVER_LIBRARY=fake_driver, CUJIT_DEVICE="cuda")
    assert "counts on the CPU device only: CUJIT_DEVICE=cpu" in told
