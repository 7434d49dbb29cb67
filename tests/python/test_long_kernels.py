"""How long a kernel is does not matter to the stack of the thread that compiles it."""
import os
import re
import subprocess
import sys

import numpy as np
import pytest

from cujit import _core, cuda, types

SCRIPT = r'''
import sys
import threading
import numpy as np
from cujit import cuda, types

shape, count, kib, what = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
bodies = dict(
    ifs=lambda k: f"    if i > {k}:\n        t += {k}.5",
    stores=lambda k: f"    if x[i] > {k}:\n        x[i] = {k}.5",
    returns=lambda k: f"    if x[i] == {k}.5:\n        return",
    loops=lambda k: f"    for j in range(i):\n        t += x[j] * {k}",
    lines=lambda k: f"    t = t * x[i] + {k}.5",
    calls=lambda k: f"    t = f(t, {k})",
)
body = "\n".join(bodies[shape](k) for k in range(count))
source = f"""
def f(a, b):
    return a if a > b else a * 0.5

def kernel(x):
    i = cuda.grid(1)
    t = 0.0
{body}
    x[i] = t
"""
namespace = {"cuda": cuda}
exec(compile(source, "<generated>", "exec"), namespace)
kernel = cuda.jit(namespace["kernel"])


@cuda.jit
def first(x):
    x[0] = cuda.grid(1)


def run():
    if what == "launch":
        x = np.ones(8)
        kernel[1, 8](x)
        expected = np.array([sum(k + 0.5 for k in range(count) if i > k) for i in range(8)])
        assert np.array_equal(x, expected)
    else:
        kernel.inspect(what, (types.float64[:],), 80)
    print("done")


if kib and sys.version_info >= (3, 14):   # its parser wants more than such a stack to import a source file
    first[1, 1](np.ones(1))
if kib:
    threading.stack_size(kib << 10)
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
else:
    run()
'''


def compile_in(shape, count, kib, what, limit=None):
    command = [sys.executable, "-c", SCRIPT, shape, str(count), str(kib), what]
    if limit:
        command = ["/bin/sh", "-c", f'ulimit -s {limit}; exec "$@"', "sh", *command]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout == "done\n", done.stderr[-2000:]


@pytest.mark.parametrize("what", ["ir", "asm"])
def test_ifs_in_a_thread_with_a_small_stack(what):
    compile_in("ifs", 4000, 256, what)


@pytest.mark.not_under("thread", "a process with ThreadSanitizer does not start with so little stack")
@pytest.mark.parametrize("what", ["ir", "asm"])
def test_ifs_where_the_stack_is_limited(what):
    compile_in("ifs", 10000, 0, what, limit=1024)


@pytest.mark.parametrize("shape", ["stores", "returns", "loops", "lines", "calls"])
def test_long_functions_in_a_thread_with_a_small_stack(shape):
    compile_in(shape, 10000, 256, "ir")


def test_launch_from_a_thread_with_the_smallest_stack():
    compile_in("ifs", 500, 64, "launch")


SHAPES_OF_CALLS = {
    "a thread alone": "    i = cuda.grid(1)\n    t = 0.0\n{ifs}\n    if i < x.size:\n        x[i] = t",
    "a grid's strides": ("    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):\n        t = 0.0\n{ifs}\n"
                         "        x[i] = t"),
    "a barrier": ("    i = cuda.grid(1)\n    s = cuda.shared.array(4, types.float64)\n    t = 0.0\n{ifs}\n"
                  "    s[cuda.threadIdx.x] = t\n    cuda.syncthreads()\n"
                  "    if i < x.size:\n        x[i] = s[cuda.threadIdx.x ^ 1]"),
}


@pytest.mark.parametrize("shape", SHAPES_OF_CALLS)
@pytest.mark.parametrize("count, is_called", [(3000, True), (20, False)])
def test_a_large_kernel_is_called_for_its_blocks_not_copied(shape, count, is_called):
    space = "        " if "strides" in shape else "    "
    ifs = "\n".join(f"{space}if i > {k % 5}:\n{space}    t += {k % 7}.5" for k in range(count))
    namespace = {"cuda": cuda, "types": types}
    exec(f"def kernel(x):\n{SHAPES_OF_CALLS[shape].format(ifs=ifs)}\n", namespace)
    kernel = cuda.jit(namespace["kernel"])
    values = [sum(k % 7 + 0.5 for k in range(count) if i > k % 5) for i in range(12)]
    expected = [values[i ^ 1] for i in range(12)] if "barrier" in shape else values
    x = np.ones(12)
    kernel[3, 4](x)
    assert x.tolist() == expected
    if not _core.gpu_count():
        text = kernel.inspect("llvm", (types.float64[:],))
        assert bool(re.search(r"call [^\n]*@\"?cujit\.kernel", text)) == is_called


CHAIN = r'''
import sys
import threading
from cujit import cuda, types

count, end = int(sys.argv[1]), sys.argv[2]
ends = dict(
    step="    i = cuda.grid(1)\n    while i < x.size:\n        x[i] = i\n        i += t",
    stop="    i = cuda.grid(1)\n    while i < t:\n        x[i] = i\n        i += cuda.gridsize(1)",
    test="    if cuda.threadIdx.x < t:\n        x[cuda.threadIdx.x] = t",
    barrier="    cuda.syncthreads()\n    x[cuda.threadIdx.x] = t\n    cuda.syncthreads()\n    x[0] = t",
)
sums = "\n".join("    t += 1" for _ in range(count))
namespace = {"cuda": cuda}
exec(f"def kernel(x):\n    t = cuda.gridsize(1)\n{sums}\n{ends[end]}\n", namespace)


def run():
    cuda.jit(namespace["kernel"]).inspect("regions", (types.int64[::1],))
    print("done")


threading.stack_size(256 << 10)
thread = threading.Thread(target=run)
thread.start()
thread.join()
'''


@pytest.mark.parametrize("end", ["step", "stop", "test", "barrier"])
def test_passes_of_the_cpu_device_follow_no_chain_of_values_to_its_end(end):
    environment = {**os.environ, "CUJIT_DEVICE": "cpu"}
    done = subprocess.run([sys.executable, "-c", CHAIN, "200000", end], capture_output=True, text=True, env=environment)
    assert done.returncode == 0 and done.stdout == "done\n", done.stderr[-2000:]
