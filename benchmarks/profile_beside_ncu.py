"""Sectors and bank conflicts as kernel.profile counts them, beside those of Nsight Compute on this machine's GPU:
python benchmarks/profile_beside_ncu.py [NCU]

NCU: the program, where it is not called ncu or is not found. It needs leave to read the GPU's counters. Each kernel
runs in two processes: on the CPU device, with a profile, and on the GPU, below ncu."""
import csv
import io
import json
import os
import shutil
import subprocess
import sys

import numpy as np

from cujit import cuda

# What is compared: title, the metrics that are added up, the count of a profile's sites.
COLUMNS = {
    "load sectors": (["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"],
                     lambda site: site.sectors * (site.event == "load")),
    "store sectors": (["l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"],
                      lambda site: site.sectors * (site.event == "store")),
    "bank conflicts": (["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
                        "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"],
                       lambda site: site.waves - site.ideal_waves),
}
METRICS = [metric for metrics, _ in COLUMNS.values() for metric in metrics]
SIZE = 1 << 16


@cuda.jit
def copy(x, out):
    i = cuda.grid(1)
    out[i] = x[i]


@cuda.jit
def copy_by_2(x, out):
    i = cuda.grid(1)
    out[i] = x[2 * i]


@cuda.jit
def copy_by_32(x, out):
    i = cuda.grid(1)
    out[i] = x[32 * i]


@cuda.jit
def from_the_second(x, out):
    i = cuda.grid(1)
    out[i] = x[i + 1]


@cuda.jit
def copy_some(x, out):
    i = cuda.grid(1)
    if i % 3 == 0:
        out[i] = x[i]


@cuda.jit
def gather(x, places, out):
    i = cuda.grid(1)
    out[i] = x[places[i]]


@cuda.jit
def triangle(x, out):
    i = cuda.grid(1)
    total = np.float32(0)
    for k in range(i % 32):
        total += x[64 * k + i]
    out[i] = total


def transposing(name, width):
    @cuda.jit
    def transpose(x, out):
        tile = cuda.shared.array((32, width), np.float32)
        column, row = cuda.threadIdx.x, cuda.threadIdx.y
        j, i = cuda.blockIdx.x * 32, cuda.blockIdx.y * 32
        tile[row, column] = x[i + row, j + column]
        cuda.syncthreads()
        out[j + row, i + column] = tile[column, row]

    transpose.__name__ = name
    return transpose


@cuda.jit
def transpose_without(x, out):
    column, row = cuda.grid(2)
    out[column, row] = x[row, column]


def runs():
    """(name, kernel, configuration, arguments)"""
    rng = np.random.default_rng(7)
    x, square = np.arange(33 * SIZE, dtype=np.float32), np.arange(256 * 256, dtype=np.float32).reshape(256, 256)
    out, doubles = np.zeros(SIZE, np.float32), np.arange(float(2 * SIZE))
    lines, tiles = (SIZE // 256, 256), ((8, 8), (32, 32))
    yield "copy of float32", copy, lines, (x, out)
    yield "copy of float64", copy, lines, (doubles, np.zeros(SIZE))
    yield "copy of complex128", copy, lines, (doubles.view(np.complex128), np.zeros(SIZE, np.complex128))
    yield "copy of uint8", copy, lines, (np.zeros(SIZE, np.uint8), np.zeros(SIZE, np.uint8))
    yield "every second element", copy_by_2, lines, (x, out)
    yield "every 32nd element", copy_by_32, lines, (x, out)
    yield "from the second element", from_the_second, lines, (x, out)
    yield "every third thread", copy_some, lines, (x, out)
    yield "gather", gather, lines, (x, rng.integers(0, SIZE, SIZE), out)
    yield "loops of 0 to 31 trips", triangle, lines, (x, out)
    yield "transpose, global", transpose_without, tiles, (square, np.zeros_like(square))
    yield "transpose, tile 32 x 32", transposing("tile_32", 32), tiles, (square, np.zeros_like(square))
    yield "transpose, tile 32 x 33", transposing("tile_33", 33), tiles, (square, np.zeros_like(square))
    yield "transpose, tile 32 x 36", transposing("tile_36", 36), tiles, (square, np.zeros_like(square))


def profile():
    """Prints what profiles say, as JSON."""
    found = []
    for _, kernel, configuration, arguments in runs():
        sites = kernel.profile[configuration](*arguments).sites
        found.append([sum(count(site) for site in sites) for _, count in COLUMNS.values()])
    print(json.dumps(found))


def launch():
    """One launch of a kernel each: what ncu sees."""
    for _, kernel, configuration, arguments in runs():
        kernel[configuration](*(cuda.to_device(value) for value in arguments))
        cuda.synchronize()


def measured(ncu):
    """What ncu says of each launch, in order."""
    command = [ncu, "--csv", "--metrics", ",".join(METRICS), sys.executable, __file__, "--launch"]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "CUJIT_DEVICE": "cuda"},
                          check=False)
    start = done.stdout.find('"ID"')
    if done.returncode or start < 0:
        sys.exit(f"{' '.join(command[:2])} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    launches = {}
    for row in csv.DictReader(io.StringIO(done.stdout[start:])):
        value = float(row["Metric Value"].replace(",", ""))
        launches.setdefault(int(row["ID"]), {})[row["Metric Name"]] = value
    return [[sum(int(values[metric]) for metric in metrics) for metrics, _ in COLUMNS.values()]
            for _, values in sorted(launches.items())]


def compare(ncu):
    environment = {**os.environ, "CUJIT_DEVICE": "cpu", "PYTHONWARNINGS": "ignore"}
    done = subprocess.run([sys.executable, __file__, "--profile"], capture_output=True, text=True, env=environment,
                          check=True)
    counted, of_ncu, names = json.loads(done.stdout), measured(ncu), [name for name, *_ in runs()]
    if len(of_ncu) != len(names):
        sys.exit(f"ncu saw {len(of_ncu)} launches of {len(names)}")
    print("| kernel | " + " | ".join(f"{title} | ncu" for title in COLUMNS) + " |")
    print("|---|" + "---:|" * 2 * len(COLUMNS))
    same = 0
    for name, mine, theirs in zip(names, counted, of_ncu, strict=True):
        print(f"| {name} | " + " | ".join(f"{a} | {b}" for a, b in zip(mine, theirs, strict=True)) + " |")
        same += sum(a == b for a, b in zip(mine, theirs, strict=True))
    print(f"\n{same} of {len(names) * len(COLUMNS)} numbers are the same")


if __name__ == "__main__":
    if sys.argv[1:] == ["--profile"]:
        profile()
    elif sys.argv[1:] == ["--launch"]:
        launch()
    else:
        program = sys.argv[1] if len(sys.argv) > 1 else shutil.which("ncu") or shutil.which(
            "ncu", path="/usr/local/cuda/bin:/opt/nvidia/nsight-compute")
        compare(program or sys.exit("ncu is not found; give its path as an argument"))
