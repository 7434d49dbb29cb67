"""Importing the package: what it costs, and that it leaves the driver and the devices alone."""
import pytest

from cujit import _core

MODULES = """
import sys
import numpy
before = set(sys.modules)
import cujit
print(*sorted(set(sys.modules) - before))
"""

MOST_MODULES = 32  # benchmarks/compare.py measures the time that they take


def test_import_loads_only_what_is_needed(run_python):
    loaded = run_python(MODULES).split()
    assert "cujit._core" in loaded
    assert len(loaded) < MOST_MODULES, loaded
    for name in ("cujit._annotations", "cujit._ufunc.ufunc", "cujit._numba.names", "cujit.cuda.pickling", "asyncio",
                 "queue", "llvmlite", "numba"):
        assert name not in loaded


def test_a1_import_loads_no_driver(run_python):
    """Nor does decorating a function; asking for a device does, where there is one."""
    maps = run_python("""
import cujit
from cujit import cuda, vectorize

@cuda.jit
def kernel(x):
    x[0] = 1

@vectorize
def double(x):
    return 2 * x

with open("/proc/self/maps") as file:
    print(file.read())
""")
    assert "libcuda" not in maps and "libnvidia" not in maps
    assert "_core" in maps


@pytest.mark.gpu
def test_a1_asking_for_a_device_loads_the_driver(run_python):
    assert "libcuda" in run_python("""
from cujit import cuda
cuda.get_current_device()
with open("/proc/self/maps") as file:
    print(file.read())
""")


def test_import_starts_no_threads(run_python):
    assert run_python("""
import os
import numpy
before = len(os.listdir("/proc/self/task"))
import cujit
print(len(os.listdir("/proc/self/task")) - before)
""").strip() == "0"


def test_no_gpu_is_said_once(run_python):
    """Where there is no GPU, `auto` warns at the first use and never again; `cpu` was asked for, and does not warn."""
    program = """
import warnings
from cujit import cuda, errors
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for _ in range(3):
        cuda.to_device([1, 2, 3])
    print(sum(issubclass(w.category, errors.NoGPUWarning) for w in caught), cuda.get_current_device().kind)
"""
    warnings, kind = run_python(program, CUJIT_DEVICE="auto").split()
    assert (warnings, kind) in [("1", "cpu"), ("0", "cuda")]
    assert run_python(program, CUJIT_DEVICE="cpu").split() == ["0", "cpu"]


def test_a_device_that_is_no_choice(run_python):
    assert run_python("""
from cujit import cuda
try:
    cuda.to_device([1])
except ValueError as error:
    print(error)
""", CUJIT_DEVICE="tpu").startswith("CUJIT_DEVICE=tpu")


def test_asking_for_a_gpu_that_is_not_there(run_python):
    """With CUJIT_DEVICE=cuda there is no falling back."""
    printed = run_python("""
from cujit import cuda, errors
try:
    print(cuda.get_current_device().kind)
except errors.CujitError as error:
    print("no driver" if isinstance(error, errors.DriverMissingError) else error)
""", CUJIT_DEVICE="cuda")
    assert printed.strip() == ("cuda" if _core.gpu_count() else "no driver")


def test_version():
    import cujit

    assert cujit.__version__[0].isdigit()


def test_numbas_names_of_modules_classes_and_errors():
    from cujit import NumbaPerformanceWarning, cuda, errors as cujit_errors
    from cujit.cuda import CudaSupportError
    from cujit.cuda.cudadrv.devicearray import DeviceNDArray, is_cuda_ndarray
    from cujit.cuda.cudadrv.devices import get_context, gpus, reset
    from cujit.cuda.cudadrv.driver import Context, CudaAPIError, Device, Event, Stream
    from cujit.cuda.cudadrv.error import CudaDriverError
    from cujit.cuda.cudadrv.runtime import runtime

    array = cuda.device_array(3)
    assert isinstance(array, DeviceNDArray) and is_cuda_ndarray(array) and not is_cuda_ndarray([])
    assert isinstance(cuda.stream(), Stream) and isinstance(cuda.event(), Event)
    assert isinstance(cuda.gpus[0], Device) and isinstance(get_context(), Context) and len(gpus) == len(cuda.gpus)
    assert cuda.gpus[0]._device.name == cuda.gpus[0].name and runtime is cuda.runtime and callable(reset)
    assert cuda.cudadrv.driver.CudaAPIError is CudaAPIError is CudaDriverError is cujit_errors.CudaAPIError
    assert issubclass(cujit_errors.DeviceMemoryError, CudaAPIError)
    assert CudaSupportError is cujit_errors.DriverMissingError
    assert NumbaPerformanceWarning is cujit_errors.PerformanceWarning


def test_names_that_only_numba_has_say_why():
    import cujit
    with pytest.raises(AttributeError, match="autojit.*cuda.jit does what it did"):
        cujit.cuda.autojit
    with pytest.raises(AttributeError, match="no attribute 'no_such_name'$"):
        cujit.cuda.no_such_name
    assert cujit.cuda.args.wrap_arg


def test_first_launch_loads_only_what_is_needed(run_python):
    """A kernel's only global is a module: no module of math and the like is looked through for it. And nobody listens
    to a log, though the program has logging."""
    assert run_python("""
import logging, sys, warnings
import numpy
from cujit import cuda
warnings.simplefilter("ignore")

@cuda.jit
def scale(x, by):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= by

x = cuda.to_device(numpy.ones(8))
before = set(sys.modules)
scale[1, 8](x, 2.0)
after = set(sys.modules)
assert x.copy_to_host()[7] == 2.0
print(*sorted(after - before))
""").split() == []
