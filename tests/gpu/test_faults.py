"""A kernel that breaks the context of a real GPU: what the errors say, at every later call. In a process of its own.
Its index is 8 GiB behind the array, where nothing is, and has 32 bits: code without checks computes no more of it."""
import pytest

from cujit import cuda


def has_gpu():
    return cuda.is_available() and cuda.get_current_device().kind == "cuda"


pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not has_gpu(), reason="needs a GPU")]

PROGRAM = """
import warnings
import numpy as np
from cujit import cuda, errors

warnings.simplefilter("ignore")

@cuda.jit
def astray(x, i):
    x[i] = 1.0

x = cuda.to_device(np.zeros(4))
astray[1, 1](x, 0)
cuda.synchronize()

def told(call):
    try:
        call()
    except errors.CudaAPIError as error:
        return str(error)
    raise AssertionError("no error")

astray[1, 1](x, 1 << 30)
first = told(cuda.synchronize)
assert "CUDA_ERROR_ILLEGAL_ADDRESS" in first and "launched since the last synchronization: astray" in first, first
assert "CUJIT_CHECK=bounds" in first and "start it again" in first, first
for call in (cuda.close, x.copy_to_host, lambda: cuda.to_device(np.zeros(4)), lambda: cuda.stream(),
             lambda: astray[1, 1](x, 0)):
    assert "start it again" in told(call)
"""


def test_errors_name_the_kernel_and_what_to_do(run_python):
    run_python(PROGRAM, CUJIT_DEVICE="cuda", CUJIT_CHECK="0")


def test_check_mode_prevents_it(run_python):
    run_python(PROGRAM.split("def told")[0] + """
try:
    astray[1, 1](x, 1 << 40)
    cuda.synchronize()
except IndexError as error:
    assert "line 10, in astray" in str(error), error
else:
    raise AssertionError("no error")
astray[1, 1](x, 2)
assert x.copy_to_host().tolist() == [1.0, 0.0, 1.0, 0.0]
""", CUJIT_DEVICE="cuda", CUJIT_CHECK="bounds")
