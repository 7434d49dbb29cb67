"""cujit beside numba-cuda and CuPy, measured in one run on the machine at hand.

    python benchmarks/compare.py [--cpu] [--only import,compile,launch,copies,kernels]

Prints import time, compile time, launch overhead, the time of copies and kernel times. Without a GPU, or with --cpu,
the figures are those of cujit's CPU device and of NumPy. Peers that are not installed are skipped, and said to be."""

import argparse
import os
import platform
import tempfile
import warnings
from pathlib import Path

import numpy as np
import peers
from kernels import cases, saxpy_function
from timing import child_values, median_call_us, median_columns, median_kernel_ms, median_seconds, print_table

CHILD = str(Path(__file__).with_name("child.py"))
SECTIONS = ["import", "compile", "launch", "copies", "kernels"]


def clean_environment(folder, **extra):
    """No compiled code left over from earlier runs: the libraries' and the driver's caches begin empty."""
    return {**os.environ, "CUDA_CACHE_PATH": str(Path(folder, "driver")), "CUPY_CACHE_DIR": folder,
            "CUJIT_CACHE_DIR": folder, **extra}


def import_section(names):
    with tempfile.TemporaryDirectory() as folder:
        environment = clean_environment(folder)
        rows = []
        for name in names:
            values = [child_values(CHILD, "import", name, environment=environment) for _ in range(6)]
            rows.append([name, *median_columns(values[1:])] if all(values) else [name, None])
    print_table("Import, over `import numpy`", ["", "ms"], rows)


def compile_section(names, repeats=3):
    rows = []
    for name in names:
        samples = []
        for _ in range(repeats):
            with tempfile.TemporaryDirectory() as folder:
                cold = child_values(CHILD, "compile", name, environment=clean_environment(folder))
                warm = child_values(CHILD, "compile", name, environment=clean_environment(folder))
            if cold and warm:
                samples.append([*cold, warm[1]])
        rows.append([name, *median_columns(samples)] if samples else [name, None, None, None])
    header = ["", "first kernel of the process, ms", "saxpy after it, ms", "saxpy in a second process, ms"]
    print_table("Compile: decorated to first result, context up", header, rows)


def empty_kernel(peer, parameters):
    """A kernel that does nothing, and a call of it with one thread, by parameter list ("f" scalar, "a" array)."""
    arguments = [np.float32(1) if kind == "f" else peer.put(np.zeros(16, np.float32)) for kind in parameters]
    if peer.name == "CuPy RawKernel":
        kinds = ", ".join(f"{'float' if kind == 'f' else 'float *'} p{k}" for k, kind in enumerate(parameters))
        kernel = peer.cupy.RawKernel(f'extern "C" __global__ void empty({kinds}) {{}}', "empty")
        return lambda: kernel((1,), (1,), arguments)
    names = ", ".join(f"p{k}" for k in range(len(parameters)))
    namespace = {}
    exec(f"def empty({names}): pass", namespace)
    launcher = peer.cuda.jit(namespace["empty"])[1, 1]
    return lambda: launcher(*arguments)


def launch_section(found):
    columns = {"no arguments": "", "float + 3 arrays": "faaa", "1 array": "a", "4 arrays": "a" * 4,
               "16 arrays": "a" * 16, "16 scalars": "f" * 16}
    rows = []
    for peer in found.values():
        row = [peer.name]
        for parameters in columns.values():
            call = empty_kernel(peer, parameters)
            row.append(median_call_us(call, peer.synchronize))
        rows.append(row)
    print_table("Launch overhead, device arrays, us of the host's time for a call", ["", *columns], rows)


def host_launch_us(peer):
    """A launch with three small host arrays, of which the kernel writes one."""
    if not hasattr(peer, "cuda"):
        return None
    x, y, out = (np.ones(1000, np.float32) for _ in range(3))
    kernel = peer.cuda.jit(saxpy_function(peer.cuda))[4, 256]
    return median_seconds(lambda: kernel(np.float32(2), x, y, out), peer.synchronize) * 1e6


def copy_rates(peer, megabytes):
    """GB/s into the device and out of it."""
    host = np.ones(megabytes << 20, np.uint8)
    device = peer.put(host)
    seconds = [median_seconds(lambda: peer.put(host), peer.synchronize),
               median_seconds(lambda: peer.get(device), peer.synchronize)]
    return [host.nbytes / each / 1e9 for each in seconds]


def copies_section(found):
    a, b = (np.ones(1 << 26, np.float32) for _ in range(2))
    rows = []
    for peer in found.values():
        add = peer.adder()
        sum_ms = median_seconds(lambda add=add: add(a, b), peer.synchronize) * 1e3
        rows.append([peer.name, *copy_rates(peer, 1), *copy_rates(peer, 256), sum_ms, host_launch_us(peer)])
    header = ["", "1 MiB in, GB/s", "out", "256 MiB in", "out", "a + b of 2^26, ms", "launch, 3 x 1000, us"]
    print_table("Host arrays of float32, pageable, results in new memory", header, rows)


def measure_case(peer, case, on_gpu):
    """(milliseconds, result)."""
    inputs = [peer.put(array) for array in case.inputs]
    output = peer.put(case.output)
    run = peer.call(peer.kernel(case), case, inputs, output)
    ms = median_kernel_ms(peer, run) if on_gpu else median_seconds(run, peer.synchronize) * 1e3
    return ms, peer.get(output)


def agree(case, result, expected):
    """Mandelbrot counts may differ where rounding decides, in a few points of a thousand."""
    if result.dtype.kind == "i":
        return np.mean(result != expected) < 2e-3
    return np.allclose(result, expected, rtol=2e-3, atol=1e-3)


def gpu_kernel_section(found):
    reference = found.get("CuPy RawKernel")
    others = [peer for peer in found.values() if peer is not reference]
    rows, ratios = [], []
    for case in cases("gpu"):
        base, expected = measure_case(reference, case, True) if reference else (None, None)
        row = [case.name, base]
        ratios.append([])
        for peer in others:
            ms, result = measure_case(peer, case, True)
            if expected is not None and not agree(case, result, expected):
                print(f"{peer.name} computes another {case.name} than CUDA C")
            row += [ms, ms / base if base else None]
            ratios[-1].append(ms / base if base else None)
        rows.append(row)
    if reference:
        means = [float(np.exp(np.mean(np.log(column)))) for column in zip(*ratios, strict=True)]
        rows.append(["geometric mean", None, *[cell for mean in means for cell in (None, mean)]])
    header = ["", "CUDA C, ms", *[cell for peer in others for cell in (f"{peer.name}, ms", "ratio")]]
    print_table("Kernel time on the GPU; ratio to CUDA C through NVRTC", header, rows)


def cpu_kernel_section(peer):
    numpy_forms = {"saxpy": lambda case: case.scalars[0] * case.inputs[0] + case.inputs[1],
                   "tiled matmul": lambda case: case.inputs[0] @ case.inputs[1]}
    rows = []
    for case in cases("cpu"):
        ms, result = measure_case(peer, case, False)
        form = numpy_forms.get(case.name)
        numpy_ms = None
        if form:
            numpy_ms = median_seconds(lambda form=form, case=case: form(case), lambda: None) * 1e3
            if not agree(case, result, form(case)):
                print(f"{peer.name} computes another {case.name} than NumPy")
        rows.append([f"{case.name} {case.output.shape}", ms, numpy_ms])
    print_table("Time on the CPU device", ["", f"{peer.name}, ms", "NumPy, ms"], rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cpu", action="store_true", help="measure the CPU device even where there is a GPU")
    parser.add_argument("--only", default=",".join(SECTIONS), help=f"sections, of {','.join(SECTIONS)}")
    options = parser.parse_args()
    wanted = options.only.split(",")
    warnings.simplefilter("ignore")  # of grids that are too small to fill a GPU

    if options.cpu:
        os.environ["CUJIT_DEVICE"] = "cpu"
    found, notes = peers.available(["cujit"] if options.cpu else list(peers.MAKERS))
    gpu = None if options.cpu else next((name for name in map(peers.gpu_name, found.values()) if name), None)
    if not gpu:
        os.environ["CUJIT_DEVICE"] = "cpu"
        found = {name: peer for name, peer in found.items() if name == "cujit"}
    print(f"{gpu or 'CPU device'}; {platform.machine()}, {os.cpu_count()} CPUs; "
          f"Python {platform.python_version()}, NumPy {np.__version__}")
    print(*notes, sep="\n")

    if "import" in wanted:
        import_section(found)
    if "compile" in wanted:
        compile_section(found)
    if "launch" in wanted:
        launch_section(found)
    if "copies" in wanted and gpu:
        copies_section(found)
    if "kernels" in wanted and gpu:
        gpu_kernel_section(found)
    elif "kernels" in wanted and found:
        cpu_kernel_section(found["cujit"])


if __name__ == "__main__":
    main()
