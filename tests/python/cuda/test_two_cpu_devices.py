"""CUJIT_CPU_DEVICES: the tests of several devices in a process with two CPU devices, and what is theirs alone."""
import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
# What can be done on a device is tested elsewhere; these are written for whatever device is the current one.
ON_EACH = ["test_devices.py", "test_graphs.py", "test_random.py", "../ext/test_bad_memory.py"]


def run_tests(*arguments, **environment):
    environment = {**os.environ, "CUJIT_DEVICE": "cpu", **environment}
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist",
                           "--rootdir", str(FOLDER.parents[2]), "-c", str(FOLDER.parents[2] / "pyproject.toml"),
                           *map(str, arguments)],
                          cwd=FOLDER.parents[2], capture_output=True, text=True, timeout=280, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_tests_of_several_devices():
    """None of them is skipped but those of libraries that need a GPU."""
    output = run_tests("-m", "several_devices", FOLDER / "test_several_devices.py", FOLDER / "test_ipc.py",
                       FOLDER.parent / "comm",
                       CUJIT_CPU_DEVICES="2")
    reasons = [line for line in output.splitlines() if line.startswith("SKIPPED")]
    assert all("needs a GPU" in line for line in reasons) and len(reasons) <= 2, output


@pytest.mark.parametrize("file", ON_EACH)
def test_what_one_device_does_where_there_are_three(file):
    run_tests(FOLDER / file, CUJIT_CPU_DEVICES="3")


def test_how_many(run_python):
    program = """
from cujit import cuda, errors
try:
    print(len(cuda.gpus), [gpu.name.split(" (")[0] for gpu in cuda.gpus], repr(cuda.gpus[-1])[:15])
except ValueError as error:
    print(error)
"""

    def told(number):
        return run_python(program, CUJIT_DEVICE="cpu", CUJIT_CPU_DEVICES=number).strip()

    assert told("") == "1 ['CPU'] <CPU device 0 '"
    assert told("1") == "1 ['CPU'] <CPU device 0 '"
    assert told("3") == "3 ['CPU 0', 'CPU 1', 'CPU 2'] <CPU device 2 '"
    for wrong in ("0", "17", "-1", "two", "2.5"):
        assert told(wrong) == f"CUJIT_CPU_DEVICES={wrong}: expected a number from 1 to 16"


def test_memory_is_shared_out(run_python):
    run_python("""
import os
from cujit import _core, cuda, errors

whole = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
totals = [gpu.get_primary_context().get_memory_info().total for gpu in cuda.gpus]
assert totals == [whole // 4] * 4
with cuda.gpus[2]:
    held = [cuda.device_array(whole // 16, "i1") for _ in range(3)]       # pages that nobody touches
    free = cuda.current_context().get_memory_info().free
    assert free <= whole // 4 - sum(array.nbytes for array in held)
    try:
        cuda.device_array(whole // 8, "i1")
        raise AssertionError
    except errors.DeviceMemoryError as error:
        assert "CPU 2" in str(error)
with cuda.gpus[3]:
    held.append(cuda.device_array(whole // 8, "i1"))
try:
    _core.Device("cpu", 4)
    raise AssertionError
except ValueError as error:
    assert str(error) == "there is no CPU device 4, of 4; CUJIT_CPU_DEVICES says how many the CPU is"
""", CUJIT_DEVICE="cpu", CUJIT_CPU_DEVICES="4")


def test_a_kernel_is_compiled_once_for_all(run_python):
    run_python("""
import logging
import numpy as np
from cujit import cuda, vectorize

compiled = []
logger = logging.getLogger("cujit")
logger.setLevel(logging.INFO)
logger.addFilter(lambda record: compiled.append((record.kernel.__name__, record.steps)))

@cuda.jit
def double(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= 2

@vectorize(["float32(float32, float32)"])
def plus(x, y):
    return x + y

for gpu in cuda.gpus:
    with gpu:
        x = cuda.to_device(np.arange(4, dtype=np.float32))
        double[1, 4](x)
        assert plus(x, x).copy_to_host().tolist() == [0, 4, 8, 12] and plus(x, x).device.id == gpu.id
        assert plus.reduce(x) == 12 and float(x.sum()) == 12
doubles = [steps for name, steps in compiled if name == "double"]
assert len(doubles) == 3 and "codegen" in doubles[0] and not any("codegen" in steps for steps in doubles[1:]), doubles
""", CUJIT_DEVICE="cpu", CUJIT_CPU_DEVICES="3")
