"""The kernels of benchmarks/collection: results at a small size, PTX that ptxas takes, the command that measures."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from cujit import cuda

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"
sys.path.append(str(BENCHMARKS))

import collection  # noqa: E402, F401
from collection.entry import ENTRIES, agree  # noqa: E402
from collection.measure import arguments_by, expected_outputs  # noqa: E402

PTXAS = shutil.which("ptxas") or shutil.which("ptxas", path="/usr/local/cuda/bin")
EVERY = pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.c_name())


@EVERY
@pytest.mark.filterwarnings("ignore")
def test_results_and_ptx(entry, tmp_path):
    problem = entry.problem(entry.small, np.random.default_rng(1))
    arguments = arguments_by(cuda.to_device, problem)
    kernel = cuda.jit(entry.kernel(cuda))
    kernel[problem.grid, problem.block](*arguments)
    assert kernel.__name__ == entry.c_name()
    expected = expected_outputs(entry, problem)
    assert len(expected) == len(problem.outputs)
    for place, each in zip(problem.outputs, expected):
        result = arguments[place].copy_to_host()
        assert agree(entry, result, each), (result, each)
        assert np.count_nonzero(np.ascontiguousarray(result).view(np.uint8))
    for architecture in (8, 0), (9, 0):
        ptx, = kernel.inspect_asm(cc=architecture).values()
        if PTXAS:
            source = tmp_path / "kernel.ptx"
            source.write_text(ptx)
            subprocess.run([PTXAS, "-arch=sm_{}{}".format(*architecture), "-o", str(tmp_path / "cubin"), str(source)],
                           check=True)


def test_names():
    for names in [entry.name for entry in ENTRIES], [entry.c_name() for entry in ENTRIES]:
        assert len(set(names)) == len(names)


def test_command(tmp_path):
    table = tmp_path / "table.md"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, str(BENCHMARKS / "collection/run_cpu.py"), "--only", "3 points",
                           "--turns", "1", "--markdown", str(table)], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    row, = [line for line in table.read_text().splitlines() if line.startswith("| 1-D stencil, 3 points")]
    assert row.split(" | ")[2] == "yes"
