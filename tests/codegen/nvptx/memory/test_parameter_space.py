"""A kernel's parameters: 4 KiB in the PTX that every driver takes, 32,764 bytes in PTX 8.1, and no more."""
import re

import pytest

from cujit import cuda, errors, int64, types


def total(values, out):
    result = 0
    for value in values:
        result += value
    out[0] = result


def compiled(assembles, count, cc):
    """The kernel with a tuple of `count` numbers and, behind it, the 16 bytes of an array."""
    return assembles(total, (types.UniTuple(int64, count), int64[::1]), cc)


@pytest.mark.parametrize("cc", [(7, 5), (8, 0), (9, 0), (12, 0)])
@pytest.mark.parametrize("count, needs_more", [(510, False), (511, True), (4093, True)])
def test_ptx_is_as_new_as_the_parameters_ask_for(assembles, cc, count, needs_more):
    ptx = compiled(assembles, count, cc)
    version = tuple(map(int, re.search(r"^\.version (\d+)\.(\d+)", ptx, re.M).groups()))
    oldest = re.search(r"^\.version (\d+)\.(\d+)", compiled(assembles, 1, cc), re.M).groups()
    assert version == max(tuple(map(int, oldest)), (8, 1) if needs_more else (0, 0))


@pytest.mark.parametrize("count", [4094, 5000])
def test_more_than_a_gpu_takes_names_the_argument(count):
    with pytest.raises(errors.UnsupportedError) as caught:
        cuda.compile_ptx(total, (types.UniTuple(int64, count), int64[::1]), cc=(9, 0))
    size = count * 8 + 16
    assert f"kernel 'total' take {size} bytes, and a GPU takes 32764: 'values' alone has {count * 8}" \
        in str(caught.value)
    assert "test_parameter_space.py:9" in str(caught.value)


OLD_DRIVER = """
from cujit import cuda
@cuda.jit
def total(values, out):
    out[0] = values[3]
total[1, 1](tuple(range(500)), cuda.device_array(1))
try:
    total[1, 1](tuple(range(600)), cuda.device_array(1))
except Exception as error:
    print(type(error).__name__, error)
total[1, 1](tuple(range(500)), cuda.device_array(1))
print("goes on")
"""


def test_a_driver_that_is_too_old_is_named(fake_driver, run_python):
    environment = {"CUJIT_DRIVER_LIBRARY": fake_driver, "CUJIT_DEVICE": "cuda", "CUJIT_CACHE": "0"}
    said = run_python(OLD_DRIVER, FAKE_DRIVER_VERSION="12000", **environment)
    assert "DriverMissingError the parameters of kernel 'total' take 4816 bytes: more than 4096 need driver 12.1" \
        in said
    assert "goes on" in said
    assert "Error" not in run_python(OLD_DRIVER, **environment)


@pytest.mark.parametrize("count", [600, 4000])
def test_a_kernel_reads_all_of_them(count):
    out = cuda.to_device([0])
    cuda.jit(total)[1, 1](tuple(range(count)), out)
    assert out.copy_to_host()[0] == count * (count - 1) // 2
