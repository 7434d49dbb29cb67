"""PTX from elsewhere over the fake driver of the C tests: what is linked, loaded, kept and launched. Its kernels do
nothing, and each has two parameters of 8 bytes. tests/gpu/test_link.py has a real one."""
import pytest

BEGIN = """
import ctypes, gc, os
import numpy as np
from cujit import cuda, errors

library = ctypes.CDLL(os.environ["CUJIT_DRIVER_LIBRARY"])

class FakeDriver(ctypes.Structure):
    _fields_ = [("fail", ctypes.c_void_p), ("calls", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p))]

driver = FakeDriver.in_dll(library, "fake_driver")

def calls(name):
    return driver.calls(name.encode())

def refused(kind, call, *texts):
    try:
        call()
    except kind as error:
        for text in texts:
            assert text in str(error), error
        return
    raise AssertionError("the call went through")
"""


@pytest.fixture
def run(fake_driver, run_python, tmp_path):
    def run(program):
        run_python(BEGIN + program, CUJIT_DRIVER_LIBRARY=fake_driver, CUJIT_DEVICE="cuda", CUJIT_CACHE="1",
                   CUJIT_CACHE_DIR=str(tmp_path))

    return run


LINKED = """
def make(text, **callbacks):
    source = cuda.PTXSource(text, "twice.ptx", **callbacks)
    twice = cuda.declare_device("twice", "float32(float32)", link=source, abi="c")

    def kernel(x):
        x[0] = twice(x[0])

    return cuda.jit(kernel)

x = cuda.to_device(np.zeros(4, np.float32))
"""


def test_ptx_is_linked_by_the_driver_and_kept(run):
    run(LINKED + """
for text, linked in (("first", 1), ("first", 1), ("second", 2)):   # by content, not by name
    make(text)[1, 1](x)
    assert calls("cuLinkComplete") == calls("cuLinkCreate") == calls("cuLinkDestroy") == linked
    assert calls("cuLinkAddData") == 2 * linked
assert calls("cuLaunchKernel") + calls("cuLaunchKernelEx") == 3
""")


def test_callbacks_are_told_and_such_kernels_are_not_kept(run):
    run(LINKED + """
told = []
for _ in range(2):
    kernel = make("same", setup_callback=told.append, teardown_callback=lambda handle: told.append(-handle))
    kernel[1, 1](x)
    kernel[1, 1](x)
    del kernel
    gc.collect()
assert calls("cuLinkComplete") == 2
assert len(told) == 4 and told[0] > 0 and told[1] == -told[0] and told[2] > 0 and told[3] == -told[2]
""")


def test_broken_ptx_is_an_error_with_the_log(run):
    run(LINKED + """
refused(errors.LinkerError, lambda: make("bad PTX")[1, 1](x), "the driver cannot link twice.ptx", "bad code")
make("good PTX")[1, 1](x)
""")


def test_raw_kernels(run):
    run("""
ptx = ".version 7.0 .target sm_75"
module = cuda.RawModule(code=ptx)
kernel, x = module.get_function("scale"), cuda.to_device(np.zeros(4, np.float32))
kernel[2, 32](x, 5)
kernel[2, 32](x, 2.5)
kernel((2,), (32,), (x, np.uint64(5)))
kernel[2, 32](np.zeros(3), x)
assert calls("cuLaunchKernel") + calls("cuLaunchKernelEx") == 4 and calls("cuLibraryLoadData") == 1
refused(errors.LaunchArgumentError, lambda: kernel[1, 1](x), "kernel 'scale' takes 2 arguments, 1 given")
refused(errors.LaunchArgumentError, lambda: kernel[1, 1](x, 1, 2), "takes 2 arguments, 3 given")
refused(errors.LaunchArgumentError, lambda: kernel[1, 1](x, np.int32(1)), "#2", "int32 has 4 bytes", "parameter 8")
refused(errors.LaunchArgumentError, lambda: kernel[1, 1](x, (1, 2)), "#2", "numbers and arrays")
refused(errors.CudaAPIError, lambda: module.get_function("absent"), "no kernel 'absent'", "(500)")
refused(errors.CudaAPIError, lambda: module.get_global("absent"), "no variable 'absent'", "(500)")
refused(ValueError, lambda: module.get_global("table", "V3"), "no multiple")
assert module.get_global("table", np.int32).shape == (2,)
refused(errors.CudaAPIError, lambda: cuda.RawModule(code=ptx + " bad"), "could not load", "ptxas fatal   : bad PTX")
assert kernel.num_regs == kernel.attributes["num_regs"] == 7
with cuda.gpus[1]:
    kernel[1, 1](cuda.device_array(3), 1)
assert calls("cuLibraryLoadData") == 3   # on the second device, too
""")
