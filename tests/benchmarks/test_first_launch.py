import os
import subprocess
import sys
from pathlib import Path

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "first_launch.py"


def test_processes_that_are_measured_have_no_log():
    """The benchmark asserts itself that they import no logging, and that kernels come from disk where it says so."""
    run = subprocess.run([sys.executable, BENCHMARK, "--times", "1", "--only", "saxpy"], text=True, capture_output=True,
                         env=dict(os.environ, CUJIT_DEVICE="cpu", PYTHONDONTWRITEBYTECODE="1"))
    assert run.returncode == 0, run.stderr
    row = run.stdout.splitlines()[-1].split("|")[1:-1]
    assert row[0].strip() == "saxpy, float32" and all(float(cell) >= 0 for cell in row[1:])
