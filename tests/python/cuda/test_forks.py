"""Children of a process that has used a device: the CPU device goes on, a GPU cannot, and what fails says why."""
import pytest

GPU = """
import ctypes, os, sys
import numpy as np
from cujit import cuda, errors

class FakeDriver(ctypes.Structure):
    _fields_ = [("fail", ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_int, ctypes.c_int))]

driver = FakeDriver.in_dll(ctypes.CDLL(os.environ["CUJIT_DRIVER_LIBRARY"]), "fake_driver")

def message():
    driver.fail(b"cuMemcpyHtoDAsync", 1, 3) # what a real one answers in a child: CUDA_ERROR_NOT_INITIALIZED
    driver.fail(b"cuMemcpyHtoD", 1, 3)
    try:
        cuda.to_device(np.zeros(4))
    except errors.CudaAPIError as error:
        return str(error)
    return "none"

cuda.to_device(np.zeros(4))
told = message()
assert "failed" in told and "forked" not in told, told
child = os.fork()
if not child:
    told = message()
    print(told, flush=True)
    os._exit(0 if "forked" in told and "spawn" in told else 1)
assert os.waitpid(child, 0)[1] == 0
print("ended")
"""

CPU = """
import os, signal, threading
import numpy as np
from cujit import cuda

@cuda.jit
def add(x, n):
    i = cuda.grid(1)
    if i < x.shape[0]:
        x[i] += n

@cuda.jit
def late(x):
    add_to(x)

@cuda.jit(device=True)
def add_to(x):
    i = cuda.grid(1)
    if i < x.shape[0]:
        x[i] += 2

@cuda.jit
def endless(x):
    while x[6] == 0:
        x[0] += 1

def launch(n=50_000):
    x = np.zeros(n)
    add[(n + 127) // 128, 128](x, 1)
    return x

def child(number):
    signal.alarm(20)
    x = launch()
    late[400, 128](x)
    if number % 4 == 0: # signals are heard there, too
        signal.signal(signal.SIGALRM, lambda *_: 1 / 0)
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        try:
            endless[8, 32](np.zeros(8))
            return 2
        except ZeroDivisionError:
            pass
    return 0 if (x == 3).all() else 1

stop = False

def work():
    while not stop:
        launch()

launch()
threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads:
    thread.start()
for number in range(12):
    process = os.fork()
    if not process:
        os._exit(child(number))
    assert os.waitpid(process, 0)[1] == 0, number
stop = True
for thread in threads:
    thread.join()
launch()
print("ended")
"""

COMPILING = """
import os, signal, threading, time
import numpy as np
from cujit import cuda

def long(number):
    lines = [f"    x[i] = x[i] * {k % 7}.5 + {number}" for k in range(1500)]
    names = {"cuda": cuda}
    exec("\\n".join(["@cuda.jit", "def long(x):", "    i = cuda.grid(1)", *lines]), names)
    return names["long"]

for number in range(3):
    kernel, x = long(number), np.zeros(4)
    thread = threading.Thread(target=lambda: kernel[1, 4](x))
    thread.start()
    time.sleep(0.1)
    assert not kernel.signatures
    process = os.fork()
    if not process:
        signal.alarm(60)
        y = np.zeros(4)
        kernel[1, 4](y)
        os._exit(0 if np.isfinite(y).all() or np.isinf(y).all() else 1)
    assert os.waitpid(process, 0)[1] == 0, number
    thread.join()
print("ended")
"""

CALLBACKS = """
import os, signal, threading
from cujit import cuda

def called():
    stream, seen = cuda.stream(), []
    stream.add_callback(lambda stream, status, arg: seen.append(arg), 1)
    stream.synchronize()
    return seen == [1]

assert called()
held = threading.Event()
cuda.stream().add_callback(lambda *_: held.wait())   # the child has no thread that waits for it
process = os.fork()
if not process:
    signal.alarm(20)
    cuda.synchronize()
    os._exit(0 if called() else 1)
assert os.waitpid(process, 0)[1] == 0
held.set()
print("ended")
"""


def test_a_gpu(fake_driver, run_python):
    assert "ended" in run_python(GPU, CUJIT_DRIVER_LIBRARY=fake_driver, CUJIT_DEVICE="cuda")


@pytest.mark.not_under("thread", "it keeps signals, which interrupt kernels, until a C function is called")
def test_the_cpu_device(run_python):
    assert "ended" in run_python(CPU, CUJIT_DEVICE="cpu", CUJIT_CPU_THREADS="3", CUJIT_CACHE="0")


@pytest.mark.not_under("address", "older runtimes of it do not hold the locks of their allocator over a fork")
def test_what_another_thread_compiles(run_python):
    """The child has no thread that would end it, and compiles it itself."""
    assert "ended" in run_python(COMPILING, CUJIT_DEVICE="cpu", CUJIT_CACHE="0")


def test_callbacks(run_python):
    assert "ended" in run_python(CALLBACKS, CUJIT_DEVICE="cpu")
