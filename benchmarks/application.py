"""A whole program beside the same one in CUDA C++: SAXPY of 2^24 numbers, with start, copies and end.

Prints a Markdown table of milliseconds of a process, the least of several, as processes take turns. The C++ program is
compiled before by nvcc (--nvcc; without it there is no such row). Python's start, with NumPy, has a row of its own:
it is what no compiler changes.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

OWN = """
import numpy as np
from cujit import cuda

@cuda.jit
def saxpy(a, x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a * x[i] + y[i]

n = 1 << 24
x, y = np.ones(n, np.float32), np.full(n, 2, np.float32)
d_out = cuda.device_array(n, np.float32)
saxpy[n // 512, 512](np.float32(3), cuda.to_device(x), cuda.to_device(y), d_out)
out = d_out.copy_to_host()
assert (out == 5).all()
"""

START = """
import numpy as np
n = 1 << 24
x, y = np.ones(n, np.float32), np.full(n, 2, np.float32)
assert (x + y == 3).all()
"""

THEIRS = """
#include <cstdio>
#include <vector>
__global__ void saxpy(float a, const float *x, const float *y, float *out, size_t n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) out[i] = a * x[i] + y[i];
}
int main() {
    const size_t n = 1 << 24, bytes = n * sizeof(float);
    std::vector<float> x(n, 1), y(n, 2), out(n);
    float *dx, *dy, *dout;
    if (cudaMalloc(&dx, bytes) || cudaMalloc(&dy, bytes) || cudaMalloc(&dout, bytes)) return 1;
    cudaMemcpy(dx, x.data(), bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(dy, y.data(), bytes, cudaMemcpyHostToDevice);
    saxpy<<<n / 512, 512>>>(3, dx, dy, dout, n);
    cudaMemcpy(out.data(), dout, bytes, cudaMemcpyDeviceToHost);
    for (size_t i = 0; i < n; i++) if (out[i] != 5) return 2;
    return 0;
}
"""


def programs(folder, nvcc):
    """(name, command, environment) of each row."""
    own, start = folder / "own.py", folder / "start.py"
    own.write_text(OWN)
    start.write_text(START)
    python, cache = [sys.executable, str(own)], {"CUJIT_CACHE_DIR": str(folder / "cache")}
    yield "cujit, code kept by an earlier process", python, {**cache, "CUJIT_CACHE": "1"}
    yield "cujit, nothing kept", python, {"CUJIT_CACHE": "0"}
    yield "Python and NumPy alone", [sys.executable, str(start)], {}
    if nvcc:
        source, made = folder / "theirs.cu", folder / "theirs"
        source.write_text(THEIRS)
        subprocess.run([nvcc, "-O3", "-arch=native", str(source), "-o", str(made)], check=True)
        yield "CUDA C++", [str(made)], {}


def milliseconds(command, environment):
    begin = time.perf_counter()
    subprocess.run(command, check=True, env={**os.environ, **environment})
    return (time.perf_counter() - begin) * 1e3


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nvcc", default=shutil.which("nvcc"), help="the compiler of the C++ program")
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        rows = list(programs(Path(name), options.nvcc))
        least = dict.fromkeys((row[0] for row in rows), float("inf"))
        for _ in range(options.rounds + 1):   # the first of the kept code is the one that keeps it
            for what, command, environment in rows:
                least[what] = min(least[what], milliseconds(command, environment))
    print("| SAXPY of 2^24 float32, a whole process | ms |\n|---|---:|")
    for what, found in least.items():
        print(f"| {what} | {found:.0f} |")


if __name__ == "__main__":
    main()
