"""The host's time of a launch by kinds of arguments, beside C's cuLaunchKernel of the same parameters, in microseconds.

    python benchmarks/launch.py [--nvcc FILE] [--words]

Medians over batches of launches of empty kernels, one thread each, and of these over rounds over all rows. C's loop is
in this process, and a ratio is of batches that stand side by side: the host's clock is not the same at all times.
Arrays of the host are copied, so that their row is not of the launch alone. --words: C's launches alone, by how many
words of parameters they have, given one by one or as a buffer. Needs a GPU; without nvcc there is no column of C."""
import argparse
import collections
import ctypes
import functools
import shutil
import statistics
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
from timing import median_call_us, print_table

from cujit import cuda

FLOOR = r"""
#include <cuda.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST = 1024, BATCHES = 11, CALLS = 300 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e6 + t.tv_nsec * 1e-3;
}

static int by_value(const void *a, const void *b)
{
    double difference = *(const double *)a - *(const double *)b;
    return difference < 0 ? -1 : difference > 0;
}

/* The kernel "empty" of that text. */
void *load(const char *text)
{
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction function;
    if (cuInit(0) || cuDeviceGet(&device, 0) || cuDevicePrimaryCtxRetain(&context, device) || cuCtxSetCurrent(context))
        return 0;
    return cuModuleLoadData(&module, text) || cuModuleGetFunction(&function, module, "empty") ? 0 : (void *)function;
}

/* Microseconds of a launch, the median of batches; as_buffer: of that many bytes, else pointers to each parameter. */
double time_launches(void *function, size_t bytes, int as_buffer)
{
    static unsigned long long values[MOST];
    void *pointers[MOST];
    void *buffer[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, values, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
    double times[BATCHES];
    for (int i = 0; i < MOST; i++)
        pointers[i] = &values[i];
    for (int r = 0; r < BATCHES; r++) {
        double start = now();
        for (int i = 0; i < CALLS; i++)
            if (cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, 0, as_buffer ? 0 : pointers, as_buffer ? buffer : 0))
                return -1;
        times[r] = (now() - start) / CALLS;
        cuCtxSynchronize();
    }
    qsort(times, BATCHES, sizeof *times, by_value);
    return times[BATCHES / 2];
}
"""
ROUNDS = 15
WORDS = [0, 1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128, 160, 256]
Point = collections.namedtuple("Point", "x y")


class Floor:
    """Launches in C."""

    def __init__(self, nvcc, folder):
        source, library = Path(folder, "floor.c"), Path(folder, "floor.so")
        source.write_text(FLOOR)
        subprocess.run([nvcc, "-O2", "-shared", "-Xcompiler", "-fPIC", "-o", library, source, "-lcuda"], check=True)
        self._library = ctypes.CDLL(library)
        self._library.load.restype = ctypes.c_void_p
        self._library.time_launches.restype = ctypes.c_double
        self._kernels = {}

    def time(self, parameters, as_buffer=False):
        """Microseconds of the launch of an empty kernel whose parameters have these types of PTX."""
        kernel = self._kernels.get(parameters)
        if not kernel:
            declared = ", ".join(f".param .{type} p{i}" for i, type in enumerate(parameters))
            text = f".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry empty({declared}) {{ ret; }}\n"
            kernel = self._kernels[parameters] = ctypes.c_void_p(self._library.load(text.encode()))
        size = sum(int(type[1:]) // 8 for type in parameters)
        us = self._library.time_launches(kernel, ctypes.c_size_t(size), ctypes.c_int(as_buffer))
        if us < 0:
            sys.exit(f"C could not launch a kernel of {len(parameters)} parameters")
        return us


def empty(count):
    """A kernel of so many parameters."""
    names = {}
    exec(f"def empty({', '.join(f'p{i}' for i in range(count))}):\n    pass", names)
    return cuda.jit(names["empty"])


@cuda.jit
def reads(point, out):
    if out.size > 1 << 40:
        out[0] = point.x


@cuda.jit
def saxpy(a, x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a * x[i] + y[i]


def cases():
    """(name, parameters of C's kernel as types of PTX, launcher, arguments) of each row."""
    def array():
        return cuda.to_device(np.zeros(16, np.float32))

    record = np.zeros(1, [("x", np.float32), ("y", np.int32)])
    yield "no arguments", (), empty(0)[1, 1], []
    for count in (1, 4, 16):
        yield f"{count} arrays", ("u64",) * count, empty(count)[1, 1], [array() for _ in range(count)]
    yield "a float, three arrays, used", ("f64", "u64", "u64", "u64", "u64"), saxpy[1, 1], \
        [2.0] + [array() for _ in range(3)]
    for count in (16, 256):
        yield f"{count} of np.float32", ("f32",) * count, empty(count)[1, 1], [np.float32(1)] * count
    yield "256 floats", ("f64",) * 256, empty(256)[1, 1], [1.0] * 256
    yield "256 ints", ("u64",) * 256, empty(256)[1, 1], list(range(256))
    yield "a tuple of 4 numbers", ("u64", "f64") * 2, empty(1)[1, 1], [(1, 2.0, 3, 4.0)]
    yield "a named tuple", ("u64", "f64"), empty(1)[1, 1], [Point(1, 2.0)]
    yield "a record", ("u64",), empty(1)[1, 1], [record[0]]
    yield "a record that is read, an array", ("u64", "u64", "u64"), reads[1, 1], [record[0], array()]
    yield "3 arrays of the host, 1000 each", None, saxpy[4, 256], [2.0] + [np.zeros(1000, np.float32) for _ in range(3)]


def print_launches(floor):
    warnings.simplefilter("ignore")   # host arrays are meant here
    rows = [(*row, [], []) for row in cases()]
    for _ in range(ROUNDS):
        for _, parameters, launcher, arguments, of_c, ours in rows:
            if floor and parameters is not None:
                of_c.append(floor.time(parameters))
            ours.append(median_call_us(functools.partial(launcher, *arguments), cuda.synchronize, repeats=11))
    table = []
    for name, _, _, _, of_c, ours in rows:
        ratios = [us / c for us, c in zip(ours, of_c, strict=False)]
        table.append([name, *(statistics.median(values) if values else None for values in (of_c, ours, ratios))])
    print_table(f"{cuda.get_current_device().name}, microseconds of a launch", ["", "C", "cujit", "ratio"], table)


def print_words(floor):
    """C's launches by words: the driver's own cost of parameters."""
    times = {(words, as_buffer): [] for words in WORDS for as_buffer in (False, True) if words or not as_buffer}
    for _ in range(ROUNDS):
        for (words, as_buffer), found in times.items():
            found.append(floor.time(("u64",) * words, as_buffer))
    table = [[f"{words} words", min(times[words, False]), min(times.get((words, True), []), default=None)]
             for words in WORDS]
    print_table("microseconds of C's launches", ["", "pointers", "buffer"], table)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nvcc", default=shutil.which("nvcc"))
    parser.add_argument("--words", action="store_true")
    options = parser.parse_args()
    if cuda.get_current_device().kind == "cpu":
        sys.exit("there is no GPU")
    if options.words and not options.nvcc:
        sys.exit("C's launches need nvcc")
    with tempfile.TemporaryDirectory() as folder:
        floor = Floor(options.nvcc, folder) if options.nvcc else None
        (print_words if options.words else print_launches)(floor)


if __name__ == "__main__":
    main()
