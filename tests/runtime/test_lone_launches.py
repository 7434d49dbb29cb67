"""Atomics of a launch that is the only one need no lock; those of launches that meet do."""
import os
import re
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

from cujit import cuda, float64, int64

pytestmark = pytest.mark.skipif(cuda.get_current_device().kind == "cuda",
                                reason="about how the CPU device runs kernels")
ROUNDS = 200_000


@cuda.jit
def add_often(x, rounds):
    for _ in range(rounds):
        cuda.atomic.add(x, 0, 1)


@pytest.fixture(params=[np.float64, np.int64], ids=lambda t: t.__name__)
def total(request):
    x = cuda.to_device(np.zeros(1, request.param))
    add_often[1, 1](x, 0)
    return x


def test_alone(total):
    for _ in range(3):
        add_often[1, 1](total, ROUNDS)
    assert total.copy_to_host()[0] == 3 * ROUNDS


def test_from_several_threads(total):
    """Each launch has one block, and so one worker."""
    def launch():
        for _ in range(20):
            add_often[1, 1](total, ROUNDS)

    threads = [threading.Thread(target=launch) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert total.copy_to_host()[0] == 4 * 20 * ROUNDS


def test_from_a_handler_in_the_middle_of_a_launch(total):
    """Its launches are of the same thread."""
    launches = 0

    def handler(number, frame):
        nonlocal launches
        launches += 1
        add_often[1, 1](total, 1000)

    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
    try:
        rounds = 0
        while launches < 5:
            add_often[1, 1](total, 100 * ROUNDS)
            rounds += 100 * ROUNDS
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert total.copy_to_host()[0] == rounds + 1000 * launches


def test_by_several_workers(monkeypatch, total):
    monkeypatch.setenv("CUJIT_CPU_THREADS", "4")
    add_often[64, 4](total, ROUNDS // 64)
    assert total.copy_to_host()[0] == 64 * 4 * (ROUNDS // 64)


def test_in_a_forked_child(total):
    if not hasattr(os, "fork"):
        pytest.skip("there is no fork")
    program = f"""
import os, numpy as np
from cujit import cuda
@cuda.jit
def add_often(x, rounds):
    for _ in range(rounds):
        cuda.atomic.add(x, 0, 1)
x = cuda.to_device(np.zeros(1, np.{total.dtype}))
add_often[1, 1](x, 10)
child = os.fork()
add_often[1, 1](x, 10)
assert x.copy_to_host()[0] == 20
if child:
    assert os.waitpid(child, 0)[1] == 0
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", program], check=True, timeout=100)


@pytest.mark.parametrize("scope, is_locked", [("device", False), ("system", True)])
def test_form(scope, is_locked):
    @cuda.jit
    def kernel(x, y):
        i = cuda.grid(1)
        cuda.atomic.add(x, i % 7, y[i], scope=scope)

    text = kernel.inspect_llvm((float64[::1], float64[::1]))
    assert "atomicrmw fadd" in text
    assert bool(re.search(r"load volatile double", text)) != is_locked
    assert "atomicrmw add" in cuda.jit(kernel.py_func).inspect_llvm((int64[::1], int64[::1]))
