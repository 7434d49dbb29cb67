"""The host's time of a launch by kinds of arguments, beside C's cuLaunchKernel with as many words, in microseconds.

    python benchmarks/launch.py [--nvcc FILE]

Medians over batches of launches of empty kernels, one thread each, the least of several rounds over all rows, C's and
Python's in turn: the host's clock is not the same at all times. Arrays of the host are copied, so that their row is not
of the launch alone. Needs a GPU; without nvcc there is no column of C."""
import argparse
import collections
import functools
import shutil
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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

int main(int count, char **words)
{
    CUdevice device;
    CUcontext context;
    if (cuInit(0) || cuDeviceGet(&device, 0) || cuDevicePrimaryCtxRetain(&context, device) || cuCtxSetCurrent(context))
        return 1;
    for (int k = 1; k < count; k++) {
        static char text[65536];
        int n = atoi(words[k]);
        strcpy(text, ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry empty(");
        for (int i = 0; i < n; i++)
            sprintf(text + strlen(text), "%s.param .u64 p%d", i ? ", " : "", i);
        strcat(text, ") { ret; }\n");
        CUmodule module;
        CUfunction function;
        if (cuModuleLoadData(&module, text) || cuModuleGetFunction(&function, module, "empty"))
            return 2;
        unsigned long long value = 0;
        void *parameters[256];
        for (int i = 0; i < 256; i++)
            parameters[i] = &value;
        double times[31];
        for (int r = 0; r < 31; r++) {
            double start = now();
            for (int i = 0; i < 300; i++)
                cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, 0, parameters, 0);
            times[r] = (now() - start) / 300;
            cuCtxSynchronize();
        }
        qsort(times, 31, sizeof *times, by_value);
        printf("%f\n", times[15]);
    }
    return 0;
}
"""
ROUNDS = 4
Point = collections.namedtuple("Point", "x y")


def empty(count):
    """A kernel of so many parameters."""
    names = {}
    exec(f"def empty({', '.join(f'p{i}' for i in range(count))}):\n    pass", names)
    return cuda.jit(names["empty"])


@cuda.jit
def saxpy(a, x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a * x[i] + y[i]


def cases():
    """(name, words of C's launch, launcher, arguments) of each row."""
    def array():
        return cuda.to_device(np.zeros(16, np.float32))

    record = np.zeros(1, [("x", np.float32), ("y", np.int32)])
    yield "no arguments", 0, empty(0)[1, 1], []
    for count in (1, 4, 16):
        yield f"{count} arrays", count, empty(count)[1, 1], [array() for _ in range(count)]
    for count in (16, 256):
        yield f"{count} of np.float32", count, empty(count)[1, 1], [np.float32(1)] * count
    yield "256 floats", 256, empty(256)[1, 1], [1.0] * 256
    yield "256 ints", 256, empty(256)[1, 1], list(range(256))
    yield "a tuple of 4 numbers", 4, empty(1)[1, 1], [(1, 2.0, 3, 4.0)]
    yield "a named tuple", 1, empty(1)[1, 1], [Point(1, 2.0)]
    yield "a record", 1, empty(1)[1, 1], [record[0]]
    yield "3 arrays of the host, 1000 each", None, saxpy[4, 256], [2.0] + [np.zeros(1000, np.float32) for _ in range(3)]


def floors(program, counts):
    """Microseconds of C's launches with so many words each."""
    done = subprocess.run([program, *map(str, counts)], check=True, capture_output=True, text=True)
    return [float(word) for word in done.stdout.split()]


def least(rounds):
    return [min(times) for times in zip(*rounds, strict=True)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nvcc", default=shutil.which("nvcc"))
    nvcc = parser.parse_args().nvcc
    if cuda.get_current_device().kind == "cpu":
        sys.exit("there is no GPU")
    warnings.simplefilter("ignore")   # host arrays are meant here
    rows = list(cases())
    counts = sorted({words for _, words, _, _ in rows if words is not None})
    ours, of_c = [], []
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder, "floor.c"), Path(folder, "floor")
        source.write_text(FLOOR)
        if nvcc:
            subprocess.run([nvcc, "-O2", "-o", program, source, "-lcuda"], check=True)
        for _ in range(ROUNDS):
            of_c += [floors(program, counts)] if nvcc else []
            ours.append([median_call_us(functools.partial(launcher, *arguments), cuda.synchronize, repeats=11)
                         for _, _, launcher, arguments in rows])
    floor = dict(zip(counts, least(of_c), strict=True)) if nvcc else {}
    table = [[name, floor.get(words), us, us / floor[words] if words in floor else None]
             for (name, words, _, _), us in zip(rows, least(ours), strict=True)]
    print_table(f"{cuda.get_current_device().name}, microseconds of a launch", ["", "C", "cujit", "ratio"], table)


if __name__ == "__main__":
    main()
