"""Arrays of the host as arguments: what a GPU's driver is asked for, and what comes back."""
import numpy as np
import pytest

from cujit import cuda

pytestmark = pytest.mark.filterwarnings("ignore::cujit.errors.NumbaPerformanceWarning")

ON_A_GPU = """
import ctypes, os, warnings
import numpy as np
from cujit import cuda

class FakeDriver(ctypes.Structure):
    _fields_ = [("fail", ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_int, ctypes.c_int)),
                ("calls", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p))]

driver = FakeDriver.in_dll(ctypes.CDLL(os.environ["CUJIT_DRIVER_LIBRARY"]), "fake_driver")
NAMES = ("cuMemcpyHtoD_v2", "cuMemcpyDtoH_v2", "cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2", "cuStreamSynchronize",
         "cuCtxSynchronize", "cuMemAllocAsync", "cuMemHostAlloc")
warnings.simplefilter("ignore")

@cuda.jit
def add(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + y[i]

@cuda.jit
def read(x, record):
    if x[0] == record.a:
        return

def calls(launch):
    launch(), launch()
    before = [driver.calls(name.split("_")[0].encode()) for name in NAMES]
    launch()
    return [driver.calls(name.split("_")[0].encode()) - n for name, n in zip(NAMES, before)]

def arrays(size):
    return [np.arange(size, dtype=np.float32) + k for k in range(3)]

x, y, out = arrays(1000)
record = np.zeros(1, [("a", np.float32), ("b", np.int8)])[0]
print(calls(lambda: add[4, 256](x, y, out)))
print(calls(lambda: add[4, 256](x, y, cuda.Out(out))))
print(calls(lambda: read[1, 1](x[:9], record)))
print(calls(lambda: add[4, 256, cuda.stream()](x, y, out)))
large = arrays(1 << 20)
print(calls(lambda: add[4096, 256](*large)))
print(all((a == np.arange(a.size, dtype=np.float32) + k).all() for k, a in enumerate((x, y, out))))
for name in b"cuLaunchKernel", b"cuMemcpyHtoDAsync", b"cuMemcpyDtoHAsync", b"cuStreamSynchronize":
    driver.fail(name, 1, 700)
    try:
        add[4, 256](x, y, out)
        print("no error")
    except Exception as error:
        print(type(error).__name__)
    driver.fail(name, 0, 0)
print(calls(lambda: add[4, 256](x, y, out)))
"""


def test_small_arrays_share_their_copies(fake_driver, run_python):
    """One copy there, one back, one wait, memory that is kept; the fake driver runs no kernel, so that what comes
    back is what went there."""
    said = run_python(ON_A_GPU, CUJIT_DRIVER_LIBRARY=fake_driver, CUJIT_DEVICE="cuda").splitlines()
    assert said[:2] == ["[0, 0, 1, 1, 1, 0, 0, 0]"] * 2
    assert said[2] == "[0, 0, 1, 0, 0, 0, 0, 0]"   # nothing comes back, nothing waits
    assert said[3][:18] == "[0, 0, 1, 1, 1, 0,"
    assert said[4][:6] == "[3, 1,"
    assert said[5:10] == ["True"] + ["CudaAPIError"] * 4
    assert said[10] == "[0, 0, 1, 1, 1, 0, 0, 0]"


@cuda.jit
def mixed(small, wide, out, left, record):
    i = cuda.grid(1)
    if i < small.size:
        out[i] = small[i] * 2
        wide[i] += record.a
        if i % 2 == 0:
            left[i] = 7


@pytest.mark.parametrize("size", [1, 5, 255, 1000, 60_000, 1 << 18])
def test_what_comes_back(size):
    """Odd sizes, element types of all widths, layouts with gaps, in several ways at once."""
    small, wide = np.arange(size).astype(np.int8), np.arange(2 * size, dtype=np.float64)[::2]
    out, left = np.full(size, 9, np.int16), np.full(size, 3, np.uint8)
    record = np.zeros(1, [("a", np.float32), ("b", np.int8)])[0]
    record["a"] = 4
    expected = small.astype(np.int16) * 2, wide + 4, np.where(np.arange(size) % 2 == 0, 7, 3)
    mixed[(size + 255) // 256, 256](cuda.In(small), wide, cuda.Out(out), left, record)
    for got, wanted in zip((out, wide, left), expected, strict=True):
        np.testing.assert_array_equal(got, wanted)
    np.testing.assert_array_equal(small, np.arange(size).astype(np.int8))


def test_arrays_without_elements():
    x, out = np.zeros(0, np.float32), np.zeros(0, np.int8)
    mixed[1, 32](out, x, x, x, np.zeros(1, [("a", np.float32)])[0])
    assert x.size == 0
