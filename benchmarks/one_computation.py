"""One computation in NumPy's words, as a ufunc, an elementwise kernel, a fused function and a kernel: milliseconds, the
least of several runs, on the device in use.

Usage: one_computation.py [LOG2_OF_ELEMENTS]. sin(x) + cos(y) / sqrt(z) of float32.
"""
import math
import sys
import time

import numpy as np

from cujit import cuda, vectorize

LOG2 = int(sys.argv[1]) if len(sys.argv) > 1 else 22


def wave(x, y, z):
    return np.sin(x) + np.cos(y) / np.sqrt(z)


@vectorize(["float32(float32, float32, float32)"])
def as_ufunc(x, y, z):
    return math.sin(x) + math.cos(y) / math.sqrt(z)


@cuda.jit
def as_kernel(x, y, z, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = math.sin(x[i]) + math.cos(y[i]) / math.sqrt(z[i])


as_elementwise = cuda.elementwise("math.sin(x) + math.cos(y) / math.sqrt(z)")
as_fused = cuda.fuse(wave)
sin, cos, sqrt = cuda.fuse(np.sin), cuda.fuse(np.cos), cuda.fuse(np.sqrt)
plus, over = cuda.elementwise("a + b"), cuda.elementwise("a / b")


def milliseconds(call):
    call()
    cuda.synchronize()
    times = []
    for _ in range(15):
        start = time.perf_counter()
        call()
        cuda.synchronize()
        times.append(time.perf_counter() - start)
    return f"{min(times) * 1e3:.2f}"


def main():
    n = 1 << LOG2
    host = np.random.default_rng(1).random((3, n), np.float32) + np.float32(0.5)
    x, y, z = (cuda.to_device(row) for row in host)
    out = cuda.device_array(n, np.float32)
    blocks = -(-n // 256)
    rows = [("NumPy", "five passes over memory", lambda: wave(*host)),
            ("a kernel for each operation", "`plus(sin(x), over(cos(y), sqrt(z)))`",
             lambda: plus(sin(x), over(cos(y), sqrt(z)), out=out)),
            ("`@vectorize`", "a ufunc", lambda: as_ufunc(x, y, z, out=out)),
            ("`cuda.elementwise`", "an expression", lambda: as_elementwise(x, y, z, out=out)),
            ("`cuda.fuse`", "NumPy's words", lambda: as_fused(x, y, z, out=out)),
            ("`@cuda.jit`", "a kernel", lambda: as_kernel[blocks, 256](x, y, z, out))]
    print(f"{cuda.get_current_device().name}, 2^{LOG2} float32\n\n| | | ms |\n|---|---|---:|")
    for name, what, call in rows:
        print(f"| {name} | {what} | {milliseconds(call)} |", flush=True)


if __name__ == "__main__":
    main()
