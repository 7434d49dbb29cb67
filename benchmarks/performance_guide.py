"""The rows of docs/guide/performance.md on the device in use: the same work written in two ways.

Usage: performance_guide.py [--small]. Prints a Markdown table; times are medians over launches, between events.
"""
import math
import sys

import numpy as np
import timing
from peers import PythonPeer

from cujit import cuda, float32

SIDE = 1024 if "--small" in sys.argv else 8192
COUNT = SIDE * SIDE
BLOCK = 256


@cuda.jit
def copy_along_x(a, out):
    column, row = cuda.grid(2)
    if row < out.shape[0] and column < out.shape[1]:
        out[row, column] = a[row, column]


@cuda.jit
def copy_along_y(a, out):
    row, column = cuda.grid(2)
    if row < out.shape[0] and column < out.shape[1]:
        out[row, column] = a[row, column]


@cuda.jit
def wave(a, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = math.sin(a[i] * float32(0.5))


@cuda.jit
def wave_by_accident(a, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = math.sin(a[i] * 0.5)


@cuda.jit
def fields_apart(a, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[0, i] + a[1, i]


@cuda.jit
def fields_together(a, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i, 0] + a[i, 1]


@cuda.jit
def sum_one_by_one(a, out):
    i = cuda.grid(1)
    if i < a.size:
        cuda.atomic.add(out, 0, a[i])


@cuda.jit
def sum_by_blocks(a, out):
    total = float32(0)
    for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
        total += a[i]
    total = cuda.block.reduce(total)
    if cuda.threadIdx.x == 0:
        cuda.atomic.add(out, 0, total)


def cases():
    """(name, kernel, launch, shape of a, shape of out) of both ways, the slower one behind the other."""
    square, flat = ((SIDE // 16, SIDE // 16), (16, 16)), (COUNT // BLOCK, BLOCK)
    few = min(COUNT // BLOCK, 8 * cuda.get_current_device().MULTIPROCESSOR_COUNT), BLOCK
    part, plane, line = (COUNT // 16 // BLOCK, BLOCK), (SIDE, SIDE), (COUNT,)
    return [
        (("a copy, `a[y, x]`", copy_along_x, square, plane, plane),
         ("`a[x, y]`", copy_along_y, square, plane, plane)),
        (("sin in float32", wave, flat, line, line),
         ("`* 0.5` makes it float64", wave_by_accident, flat, line, line)),
        (("two fields of 16, `a[field, i]`", fields_apart, part, (16, COUNT // 16), (COUNT // 16,)),
         ("`a[i, field]`", fields_together, part, (COUNT // 16, 16), (COUNT // 16,))),
        (("a sum, one atomic a block", sum_by_blocks, few, line, (1,)),
         ("one atomic an element", sum_one_by_one, flat, line, (1,))),
    ]


def milliseconds(peer, row):
    _, kernel, (grid, block), shape, out_shape = row
    a, out = cuda.to_device(np.ones(shape, np.float32)), cuda.to_device(np.zeros(out_shape, np.float32))
    return timing.median_kernel_ms(peer, lambda: kernel[grid, block](a, out), launches=3, repeats=5)


if __name__ == "__main__":
    peer = PythonPeer("cujit", "cujit.cuda")
    print(f"{cuda.get_current_device().name}, {COUNT} float32\n")
    print("| | ms | | ms | times |\n|---|---:|---|---:|---:|")
    for better, worse in cases():
        fast, slow = milliseconds(peer, better), milliseconds(peer, worse)
        print(f"| {better[0]} | {fast:.3f} | {worse[0]} | {slow:.3f} | {slow / fast:.1f} |", flush=True)
