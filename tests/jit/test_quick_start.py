"""quick_start: first launches run code that was made quickly, which is then replaced by the optimized code."""
import gc
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from cujit import cuda, float64, vectorize

N = 1000
checks_bounds = pytest.mark.skipif(cuda.get_current_device().kind == "cuda", reason="a check of the CPU device")


def saxpy(a, x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a * x[i] + y[i]


def neighbours(x, out):
    shared = cuda.shared.array(64, float64)
    i, t = cuda.grid(1), cuda.threadIdx.x
    shared[t] = x[i] if i < x.size else 0.0
    cuda.syncthreads()
    total = 0.0
    for k in range(8):
        total += shared[(t + k) % 64] * (k + 1)
    if i < out.size:
        out[i] = total


# Compiles for as long as tests need to be there before it is done.
LONG = "def long(x):\n    i = cuda.grid(1)\n    if i < x.size:\n" + "".join(
    f"        for k in range(i % {n + 2}):\n            x[i] += k * {n} + x[i] % {n + 3}\n"
    for n in range(60))


def long_kernel(**options):
    scope = {"cuda": cuda}
    exec(LONG, scope)
    return cuda.jit(**options)(scope["long"])


def replaced(kernel):
    """Waits for it."""
    end = time.monotonic() + 60
    while kernel.stats.replaced != kernel.stats.quick_starts:
        assert time.monotonic() < end
        time.sleep(0.001)
    return sum(kernel.stats.replaced.values())


@pytest.fixture(autouse=True)
def without_disk(monkeypatch):
    monkeypatch.setenv("CUJIT_CACHE", "0")


def arrays(count, kind=np.float64, n=N):
    generator = np.random.default_rng(7)
    return [(generator.random(n) * 50).astype(kind) for _ in range(count)]


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int32, np.complex128])
def test_both_codes_give_the_same(kind):
    kernel = cuda.jit(quick_start=True, fmad=False)(saxpy)
    x, y = arrays(2, kind)
    results = []
    for _ in range(2):
        out = np.zeros_like(x)
        kernel[16, 64](3, x, y, out)
        results.append(out)
        assert replaced(kernel) == 1
    assert (results[0] == results[1]).all()
    np.testing.assert_allclose(results[0], 3 * x + y, rtol=1e-5)
    assert list(kernel.stats.quick_starts.values()) == [1] and not kernel.stats.variants


def test_threads_that_meet():
    kernel, x = cuda.jit(quick_start=True, fmad=False)(neighbours), *arrays(1, n=1024)
    quick, optimized = np.zeros(1024), np.zeros(1024)
    kernel[16, 64](x, quick)
    replaced(kernel)
    kernel[16, 64](x, optimized)
    rows = x.reshape(16, 64)
    expected = sum(np.roll(rows, -k, axis=1) * (k + 1) for k in range(8)).ravel()
    np.testing.assert_allclose(quick, expected)
    assert (quick == optimized).all()


def test_launches_do_not_wait_for_the_optimized_code():
    kernel, other = long_kernel(quick_start=True), long_kernel()
    x, y = arrays(1, np.int64)[0], arrays(1, np.int64)[0]
    kernel[16, 64](x)
    assert not kernel.stats.replaced
    other[16, 64](y)
    assert not other.stats.quick_starts
    assert (x == y).all()
    assert replaced(kernel) == 1
    kernel[16, 64](x)
    other[16, 64](y)
    assert (x == y).all()


@checks_bounds
def test_exceptions_of_both_codes():
    @cuda.jit(quick_start=True)
    def store(x, i):
        x[i] = 1

    for _ in range(2):
        with pytest.raises(IndexError, match="index 9"):
            store[1, 1](np.zeros(9), 9)
        assert replaced(store) >= 1


@checks_bounds
def test_variants_begin_quickly_too():
    @cuda.jit(quick_start=True)
    def move(x, y, shift):
        i = cuda.grid(1)
        if i < y.size:
            y[i] = x[i + shift]

    x, y = np.arange(12.0), np.zeros(10)
    move[1, 32](x, y, 2)
    with pytest.raises(IndexError):
        move[1, 32](x, y, 7)
    assert sum(move.stats.quick_starts.values()) == 1 + sum(move.stats.variants.values()) == 2
    assert replaced(move) == 2
    move[1, 32](x, y, 1)
    assert (y == np.arange(1.0, 11.0)).all()


@pytest.mark.parametrize("options", [{"opt": 0}, {"check": "overflow"}, {"observe": "accesses"}])
def test_code_that_is_not_replaced_is_optimized_at_once(options):
    @cuda.jit(quick_start=True, **options)
    def add(x):
        x[cuda.grid(1)] += x[0] + 1

    add[1, 4](np.zeros(4, np.int64))
    assert not add.stats.quick_starts


def test_large_kernels_are_optimized_at_once():
    scope = {"cuda": cuda}
    exec(LONG.replace("def long", "def larger") + LONG.partition("size:\n")[2] * 5, scope)
    kernel = cuda.jit(quick_start=True)(scope["larger"])
    kernel[1, 4](np.zeros(4, np.int64))
    assert not kernel.stats.quick_starts


def test_inspection_shows_the_optimized_code():
    quick, plain = cuda.jit(quick_start=True)(neighbours), cuda.jit(neighbours)
    quick[1, 64](np.zeros(64), np.zeros(64))
    types = (float64[::1], float64[::1])
    for what in ("llvm", "asm"):
        assert quick.inspect(what, types) == plain.inspect(what, types)


def test_a_graph_has_the_optimized_code():
    kernel, x = long_kernel(quick_start=True), cuda.to_device(np.zeros(N, np.int64))
    kernel[16, 64](x)
    with cuda.graph() as graph:
        kernel[16, 64](x)
        assert sum(kernel.stats.replaced.values()) == 1
    graph.launch()
    other, y = long_kernel(), cuda.to_device(np.zeros(N, np.int64))
    other[16, 64](y)
    other[16, 64](y)
    assert (x.copy_to_host() == y.copy_to_host()).all()


def test_kernels_that_are_gone_before():
    for _ in range(3):
        kernel = long_kernel(quick_start=True)
        kernel[1, 64](np.zeros(64, np.int64))
        others = [cuda.jit(quick_start=True)(saxpy) for _ in range(3)]
        for each in others:
            each[1, 64](2, *arrays(3, n=64))   # wait behind it
        del kernel, others, each
        gc.collect()


def test_the_environment_is_for_kernels_that_do_not_say_it(monkeypatch):
    monkeypatch.setenv("CUJIT_QUICK_START", "1")
    for options, count in (({}, 1), ({"quick_start": None}, 1), ({"quick_start": False}, 0)):
        kernel = cuda.jit(**options)(saxpy)
        kernel[1, 64](2, *arrays(3, n=64))
        assert len(kernel.stats.quick_starts) == count
    double = vectorize(lambda x: 2 * x)
    assert (double(np.arange(5)) == np.arange(0, 10, 2)).all()


HEAD = f"""
import os, signal, sys, time
import numpy as np
from cujit import cuda
exec({LONG!r})
kernel = cuda.jit(quick_start=True, cache=True)(long)
x = np.zeros(100, np.int64)
kernel[2, 64](x)
"""


@pytest.mark.not_under("thread", "the child's new thread takes the place of one of its parent's")
@pytest.mark.not_under("address", "older runtimes of it do not hold the locks of their allocator over a fork")
def test_a_forked_child_gets_optimized_code(run_python):
    program = HEAD + """
assert not kernel.stats.replaced
child = os.fork()
if not child:
    end = time.monotonic() + 60
    while not kernel.stats.replaced and time.monotonic() < end:
        kernel[2, 64](x)
    kernel[2, 64](x)
    print("replaced" if kernel.stats.replaced else "not", flush=True)
    del kernel
    os._exit(0)
del kernel
assert os.waitpid(child, 0)[1] == 0
"""
    assert "replaced" in run_python(program, CUJIT_DEVICE="cpu")


def test_a_forked_child_may_drop_what_is_not_done(run_python):
    program = HEAD + """
child = os.fork()
if not child:
    del kernel
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
print("ended")
"""
    assert "ended" in run_python(program, CUJIT_DEVICE="cpu")


def test_the_programs_end_waits_and_the_disk_has_the_optimized_code(run_python, tmp_path):
    told = HEAD + "print(len(kernel.stats.cache_hits), len(kernel.stats.quick_starts), len(kernel.stats.replaced))"
    disk = {"CUJIT_CACHE": "1", "CUJIT_CACHE_DIR": str(tmp_path / "cache"), "CUJIT_DEVICE": "cpu"}
    assert run_python(told, **disk).split() == ["0", "1", "0"]
    assert run_python(told, **disk).split() == ["1", "0", "0"]
    plain = told.replace("quick_start=True", "quick_start=False")
    assert run_python(plain, **disk).split() == ["1", "0", "0"]
    bodies = {each.read_bytes() for each in (tmp_path / "cache").rglob("*") if each.is_file()}
    other = {**disk, "CUJIT_CACHE_DIR": str(tmp_path / "other")}
    assert run_python(plain, **other).split() == ["0", "0", "0"]
    assert {each.read_bytes() for each in (tmp_path / "other").rglob("*") if each.is_file()} == bodies


@pytest.mark.parametrize("holds", ["", "kept = [kernel]; sys.kept = kept"], ids=["freed", "kept"])
def test_ctrl_c_while_the_program_ends(tmp_path, holds):
    script = tmp_path / "program.py"
    script.write_text(HEAD.replace("x = np", "signal.signal(signal.SIGINT, signal.default_int_handler)\nx = np") + f"""
import atexit
others = [cuda.jit(quick_start=True)(long) for _ in range(40)]
for each in others:
    each[2, 64](x)
{holds}
print("end", flush=True)
""")
    path = os.pathsep.join(p or os.getcwd() for p in sys.path)
    child = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             env={**os.environ, "PYTHONPATH": path, "CUJIT_DEVICE": "cpu", "CUJIT_CACHE": "0"})
    assert child.stdout.readline() == "end\n"
    time.sleep(0.3)
    assert child.poll() is None
    begun = time.monotonic()
    child.send_signal(signal.SIGINT)
    _, errors = child.communicate(timeout=60)
    assert time.monotonic() - begun < 3   # 40 compilations take longer
    assert "KeyboardInterrupt" in errors and child.returncode in (0, 1), (child.returncode, errors)


ON_A_GPU = """
import ctypes, os, time
import numpy as np
from cujit import cuda, errors
library = ctypes.CDLL(os.environ["CUJIT_DRIVER_LIBRARY"])

@cuda.jit(quick_start=True)
def {name}(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += 1

x = cuda.to_device(np.zeros(8))
try:
    {name}[1, 8](x)
    print("launched")
    while {name}.stats.replaced != {name}.stats.quick_starts:
        {name}[1, 8](x)
    print("replaced")
    {name}[1, 8](x)
    with cuda.graph() as graph:
        {name}[1, 8](x)
except errors.CudaAPIError as error:
    print(str(error))
levels = (ctypes.c_int * 8).in_dll(library, "fake_levels")
print(list(levels)[:2])
"""


def test_the_drivers_lowest_level_then_its_highest(run_python, fake_driver):
    told = run_python(ON_A_GPU.replace("{name}", "plain"), CUJIT_DRIVER_LIBRARY=fake_driver, CUJIT_DEVICE="cuda")
    assert told.split("\n")[:2] == ["launched", "replaced"] and "[0, 4]" in told


def test_what_only_the_optimized_code_fails_with_is_raised_by_a_launch(run_python, fake_driver):
    told = run_python(ON_A_GPU.replace("{name}", "hard"), CUJIT_DRIVER_LIBRARY=fake_driver, CUJIT_DEVICE="cuda")
    assert "replaced" not in told and "[0, 4]" in told and "ptxas fatal   : hard PTX" in told
