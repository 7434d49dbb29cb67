"""cuda.trap, breakpoint() and the hint of how much shared memory a multiprocessor should have."""
import re

import numpy as np
import pytest

from cujit import cuda, errors

on_cpu = pytest.mark.skipif(cuda.get_current_device().kind == "cuda",
                            reason="a GPU that trapped cannot be used again by this process")


@cuda.jit
def trap_in_one(out, at):
    i = cuda.grid(1)
    if i == at:
        cuda.trap()
    out[i] = i


@on_cpu
def test_trap_ends_the_launch():
    out = np.zeros(128, np.int64)
    with pytest.raises(errors.CudaAPIError) as caught:
        trap_in_one[2, 64](out, 70)
    line = trap_in_one.py_func.__code__.co_firstlineno + 4
    assert re.search(r"kernel '.*trap_in_one.*' trapped in thread \(6, 0, 0\) of block \(1, 0, 0\): cuda.trap in line "
                     f"{line}", str(caught.value))
    assert caught.value.code == 719
    trap_in_one[2, 64](out, -1)
    np.testing.assert_array_equal(out, np.arange(128))


@on_cpu
def test_trap_among_threads_that_wait_for_the_grid():
    @cuda.jit
    def kernel(out):
        grid = cuda.cg.this_grid()
        grid.sync()
        if cuda.grid(1) == 3:
            cuda.trap()
        grid.sync()
        out[cuda.grid(1)] = 1

    out = np.zeros(8, np.int64)
    with pytest.raises(errors.CudaAPIError, match=r"trapped in thread \(1, 0, 0\) of block \(1, 0, 0\)"):
        kernel[4, 2](out)
    assert not out.any()


def test_trap_takes_nothing(refused):
    refused("cuda.trap(x)", "cuda.trap takes 0 arguments, 1 given")


def test_breakpoint_without_a_debugger():
    @cuda.jit
    def kernel(out):
        if out[0] > 5:
            breakpoint()
        out[0] += 1

    out = np.array([3 if cuda.get_current_device().kind == "cuda" else 7])
    kernel[1, 1](out)
    assert out[0] in (4, 8)


DEBUGGED = """
import ctypes, os, signal, sys
import numpy as np
os.environ["CUJIT_DEVICE"] = "cpu"
from cujit import cuda

@cuda.jit
def kernel(out):
    breakpoint()
    out[0] = 1

child = os.fork()
if not child:
    out = np.zeros(1)
    ctypes.CDLL(None).ptrace(0, 0, 0, 0)
    kernel[1, 1](out)
    os._exit(int(out[0]))
while True:
    _, status = os.waitpid(child, 0)
    if not os.WIFSTOPPED(status):
        break
    print("stopped by", signal.Signals(os.WSTOPSIG(status)).name)
    ctypes.CDLL(None).ptrace(7, child, 0, 0)
print("exit", os.WEXITSTATUS(status))
"""


def test_breakpoint_under_a_debugger(run_python):
    assert run_python(DEBUGGED).split("\n")[:2] == ["stopped by SIGTRAP", "exit 1"]


@pytest.mark.parametrize("cc", [(7, 5), (9, 0)])
def test_instructions(cc):
    def kernel(out):
        if out[0] > 0:
            breakpoint()
        if out[0] > 1:
            cuda.trap()
        out[0] = 5

    ptx, _ = cuda.compile_ptx(kernel, "void(int64[::1])", cc=cc)
    assert re.search(r"\bbrkpt;", ptx) and re.search(r"\btrap;", ptx)


@pytest.mark.parametrize("carveout, percent", [("MaxL1", 0), ("maxshared", 100), (50, 50),
                                               ("default", None), (-1, None), (None, None)])
def test_carveout(carveout, percent):
    @cuda.jit(shared_memory_carveout=carveout)
    def kernel(out):
        out[0] = 1

    assert kernel.targetoptions.get("shared_memory_carveout") == percent
    out = np.zeros(1)
    kernel[1, 1](out)
    assert out[0] == 1


@pytest.mark.parametrize("carveout, error", [("MaxCache", ValueError), (101, ValueError), (-2, ValueError),
                                             (0.5, TypeError)])
def test_no_carveout(carveout, error):
    with pytest.raises(error, match="shared_memory_carveout"):
        cuda.jit(shared_memory_carveout=carveout)(lambda: None)
