"""Threads that wait in a loop for what others write, without a barrier: all threads of a block go on in turn."""
import os
import subprocess
import sys

import numpy as np
import pytest

from cujit import cuda


@pytest.mark.parametrize("poll", ["cuda.atomic.add(x, 1, 0) == 0", "cuda.atomic.cas(x, 1, 7, 7) != 7",
                                  "cuda.ldcv(x, 1) == 0", "read(x) == 0"])
@pytest.mark.parametrize("writer", [1, 40])
@pytest.mark.parametrize("barriers", ["", "cuda.syncthreads()"])
def test_one_thread_waits_for_another(poll, writer, barriers):
    @cuda.jit(device=True)
    def read(x):
        return cuda.atomic.max(x, 1, 0)

    scope = {"cuda": cuda, "read": read, "writer": writer}
    exec(f"""def kernel(x):
    i = cuda.threadIdx.x
    {barriers}
    if i == 0:
        while {poll}:
            pass
        x[0] = 5
    elif i == writer:
        cuda.atomic.exch(x, 1, 7)
    {barriers}
""", scope)
    x = np.zeros(2, np.int32)
    cuda.jit(scope["kernel"])[2, 64](x)
    assert x.tolist() == [5, 7]


def test_a_fence_makes_a_plain_load_new():
    @cuda.jit
    def kernel(x):
        if cuda.threadIdx.x == 0:
            while x[1] == 0:
                cuda.threadfence()
            x[0] = x[2]
        elif cuda.threadIdx.x == 32:
            x[2] = 9
            cuda.threadfence()
            x[1] = 1

    x = np.zeros(3, np.int32)
    kernel[1, 64](x)
    assert x.tolist() == [9, 1, 9]


def test_threads_hand_a_turn_on():
    """Each waits for the one before it, the last one first in the loop's order."""
    @cuda.jit
    def kernel(turn, order):
        i = cuda.threadIdx.x
        while cuda.atomic.add(turn, 0, 0) != 127 - i:
            pass
        order[127 - i] = i
        cuda.threadfence()
        cuda.atomic.add(turn, 0, 1)

    turn, order = np.zeros(1, np.int32), np.zeros(128, np.int64)
    kernel[1, 128](turn, order)
    assert order.tolist() == list(range(127, -1, -1))


def test_locks_between_blocks_and_threads():
    @cuda.jit(device=True)
    def take(lock):
        while cuda.atomic.cas(lock, 0, 0, 1) != 0:
            pass
        cuda.threadfence()

    @cuda.jit(device=True)
    def leave(lock):
        cuda.threadfence()
        cuda.atomic.exch(lock, 0, 0)

    @cuda.jit
    def kernel(lock, total):
        if cuda.threadIdx.x % 32 == 0:
            take(lock)
            total[0] = cuda.ldcg(total, 0) + 1
            leave(lock)

    lock, total = np.zeros(1, np.int32), np.zeros(1, np.int64)
    kernel[20, 128](lock, total)
    assert total[0] == 80 and lock[0] == 0


# Blocks that wait for all others, by other places in each trip. The launches in front are brief.
BLOCKS_WAIT = """
import numpy as np
from cujit import cuda

@cuda.jit
def sums(flags, out, generation):
    cuda.stcg(flags, cuda.blockIdx.x, generation)
    s = 0
    while s != generation * cuda.gridDim.x:
        s = 0
        for j in range(cuda.gridDim.x):
            s += cuda.ldcg(flags, j)
    out[cuda.blockIdx.x] = generation

@cuda.jit
def one_by_one(flags, out, generation):
    cuda.atomic.exch(flags, cuda.blockIdx.x, generation)
    j = 0
    while j < cuda.gridDim.x:
        j += 1 if cuda.atomic.add(flags, j, 0) == generation else 0
    out[cuda.blockIdx.x] = generation

for kernel in sums, one_by_one:
    flags, out = cuda.to_device(np.zeros(2, np.int64)), cuda.to_device(np.zeros(2, np.int64))
    for generation in (0, 0, 0, 1, 2, 3):
        kernel[2, 1](flags, out, generation)
        assert out.copy_to_host().tolist() == [generation] * 2
print("done")
"""


def test_blocks_that_wait_for_each_other_run_at_once(tmp_path):
    """A kernel that was brief the last time has one worker at first, but not one that may wait."""
    (tmp_path / "waits.py").write_text(BLOCKS_WAIT)
    done = subprocess.run([sys.executable, "-W", "ignore", tmp_path / "waits.py"], capture_output=True, text=True,
                          env={**os.environ, "CUJIT_DEVICE": "cpu", "CUJIT_CPU_THREADS": "2"}, timeout=60, check=False)
    assert done.stdout == "done\n", done.stderr
