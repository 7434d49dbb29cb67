"""cujit.testing: kernels under many orders of their threads."""
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from cujit import cuda, float64, int32
from cujit.testing import ScheduleError, explore

pytestmark = pytest.mark.skipif(cuda.get_current_device().kind == "cuda", reason="the CPU device's")


@cuda.jit
def reverse(x, with_barrier):
    s = cuda.shared.array(64, float64)
    i = cuda.threadIdx.x
    s[i] = x[i]
    if with_barrier:
        cuda.syncthreads()
    x[i] = s[63 - i]


def test_a_right_kernel():
    x = np.arange(64.0)
    assert explore(reverse, (1, 64), x, True, seeds=20) == 20
    assert x.tolist() == list(range(64))


def test_a_missing_barrier():
    message = r"reverse leaves another array with CUJIT_SCHEDULE=\d+ than with 0"
    with pytest.raises(ScheduleError, match=message) as caught:
        explore(reverse, (1, 64), np.arange(64.0), False)
    assert caught.value.seed > 0
    assert explore(reverse, (1, 64), np.arange(64.0), False, seeds=[caught.value.seed] * 3) == 3


def test_order_of_blocks():
    @cuda.jit
    def first(out):
        cuda.atomic.cas(out, 0, -1, cuda.blockIdx.x)

    assert explore(first, (1, 4), np.full(1, -1, np.int64), seeds=10) == 10
    with pytest.raises(ScheduleError, match="first leaves another array"):
        explore(first, (10, 1), np.full(1, -1, np.int64), seeds=10)


def test_between_an_accesses_halves():
    """A read and the write behind it: only where another thread runs between them is an addition lost."""
    @cuda.jit
    def count(out):
        out[0] += 1

    plain = np.zeros(1)
    count[1, 32](plain)
    with pytest.raises(ScheduleError):
        explore(count, (1, 32), np.zeros(1))


def test_a_failure_names_its_order():
    @cuda.jit(debug=True)
    def kernel(out):
        s = cuda.shared.array(1, int32)
        if cuda.threadIdx.x == 0:
            s[0] = 0
        cuda.syncthreads()
        if cuda.atomic.add(s, 0, 1) == 5 and cuda.threadIdx.x > 20:
            raise ValueError("late")

    with pytest.raises(ScheduleError, match="kernel fails with CUJIT_SCHEDULE=") as caught:
        explore(kernel, (1, 32), np.zeros(1))
    assert isinstance(caught.value.__cause__, ValueError)
    assert any(f"CUJIT_SCHEDULE={caught.value.seed} " in note for note in caught.value.__cause__.__notes__)


def test_comparison_of_the_callers():
    @cuda.jit
    def total(x, out):
        cuda.atomic.add(out, 0, x[cuda.grid(1)])

    x = np.random.default_rng(1).random(256)
    assert explore(total, (4, 64), x, np.zeros(1), seeds=10, compare=np.allclose) == 10


def test_barriers_lanes_and_loops_that_wait():
    @cuda.jit
    def kernel(x, out):
        i = cuda.threadIdx.x
        v = x[i]
        for k in (16, 8, 4, 2, 1):
            v += cuda.shfl_down_sync(0xFFFFFFFF, v, k)
        if i % 32 == 0:
            while cuda.atomic.max(out, 1, 0) != i // 32:
                pass
            cuda.atomic.add(out, 0, v)
            cuda.atomic.add(out, 1, 1)
        out[2] = cuda.syncthreads_count(v > 0)

    assert explore(kernel, (1, 96), np.arange(96), np.zeros(3, np.int64), seeds=15) == 15


def test_the_environment(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent("""
        import numpy as np
        from cujit import cuda
        @cuda.jit
        def order(out, count):
            out[cuda.atomic.add(count, 0, 1)] = cuda.grid(1)
        out = np.zeros(64, np.int64)
        order[2, 32](out, np.zeros(1, np.int64))
        print(out.tolist())
    """))

    def run(seed):
        import os
        environment = {**os.environ, "CUJIT_SCHEDULE": seed, "CUJIT_DEVICE": "cpu"}
        return subprocess.run([sys.executable, "-W", "ignore", str(program)], env=environment, capture_output=True,
                              text=True, check=True).stdout

    assert run("") == str(list(range(64))) + "\n" or sorted(eval(run(""))) == list(range(64))
    assert run("1") == run("1") != run("2")
    assert sorted(eval(run("1"))) == list(range(64))


def test_what_explore_cannot_try():
    with pytest.raises(TypeError, match="explore launches a kernel that cuda.jit has made, not <function"):
        explore(lambda x: x, (1, 32), np.zeros(32))
    for seeds in (0, -3, []):
        with pytest.raises(ValueError, match="there is no order to try"):
            explore(reverse, (1, 64), np.zeros(64), True, seeds=seeds)
    with pytest.raises(TypeError, match="'str' object cannot be interpreted as an integer"):
        explore(reverse, (1, 64), np.zeros(64), True, seeds="12")


@pytest.mark.parametrize("text", ["abc", "1.5", "7 8", "0x10"])
def test_a_schedule_is_a_number(text, monkeypatch):
    monkeypatch.setenv("CUJIT_SCHEDULE", text)
    with pytest.raises(ValueError, match=f"CUJIT_SCHEDULE is a number, an order of threads, not '{text}'"):
        cuda.jit(lambda x: None)
