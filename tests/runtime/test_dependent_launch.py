"""Launches that begin before the one before them in the stream is done, and wait for it inside."""
import numpy as np
import pytest

from cujit import cuda


@cuda.jit
def double_early(x, out):
    i = cuda.grid(1)
    factor = 2 + 0 * i  # what does not depend on the launch before could be done here
    cuda.grid_dependency_synchronize()
    if i < x.size:
        out[i] = x[i] * factor
    cuda.trigger_launch_completion()


def test_each_launch_sees_what_the_one_before_wrote():
    a = cuda.to_device(np.ones(50_000, np.int64))
    b = cuda.device_array_like(a)
    stream = cuda.stream()
    for turn in range(40):
        x, out = (a, b) if turn % 2 == 0 else (b, a)
        double_early[200, 256, stream](x, out)
    stream.synchronize()
    assert (a.copy_to_host() == 2 ** 40).all()
    assert (b.copy_to_host() == 2 ** 39).all()


def test_beside_plain_launches_and_copies():
    @cuda.jit
    def add_one(x):
        i = cuda.grid(1)
        if i < x.size:
            x[i] += 1

    x = np.zeros(10_000, np.int64)
    device = cuda.to_device(x)
    for _ in range(10):
        add_one[40, 256](device)
        double_early[40, 256](device, device)
    expected = 0
    for _ in range(10):
        expected = (expected + 1) * 2
    assert (device.copy_to_host() == expected).all()
    double_early[40, 256](x + 1, x)
    assert (x == 2).all()


@pytest.mark.parametrize("cc", [(8, 0), (9, 0), (12, 0)])
def test_instructions(assembles, cc):
    ptx = assembles(double_early.py_func, "void(float32[::1], float32[::1])", cc)
    assert ("griddepcontrol.wait;" in ptx) == ("griddepcontrol.launch_dependents;" in ptx) == (cc >= (9, 0))


def test_loads_stay_behind_the_wait():
    def kernel(x, out):
        cuda.grid_dependency_synchronize()
        out[0] = x[0]

    ptx = cuda.compile_ptx(kernel, "void(float32[::1], float32[::1])", cc=(9, 0))[0]
    assert ptx.index("griddepcontrol.wait") < ptx.index("ld.global")
