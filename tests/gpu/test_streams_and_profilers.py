"""What only a GPU can show: kernels that overlap (row C26), and what Nsight Compute says of kernels (rows A21, A22)."""
import shutil
import subprocess
import sys

import numpy as np
import pytest

from cujit import cuda

pytestmark = pytest.mark.gpu


@cuda.jit
def spin(cycles, out):
    start = cuda.clock64()
    while cuda.clock64() - start < cycles:
        out[0] += 0


def milliseconds(streams):
    """Of one long kernel on each of the streams, from the first to the last."""
    outs = [cuda.to_device(np.zeros(1)) for _ in streams]
    start, end = cuda.event(), cuda.event()
    cuda.synchronize()
    start.record(streams[0])
    for stream in streams[1:]:
        stream.wait_event(start)
    for stream, out in zip(streams, outs, strict=True):
        spin[1, 1, stream](20_000_000, out)
    for stream in streams[1:]:
        done = cuda.event()
        done.record(stream)
        streams[0].wait_event(done)
    end.record(streams[0])
    end.synchronize()
    return start.elapsed_time(end)


def test_c26_two_kernels_overlap_on_two_streams():
    first, second = cuda.stream(), cuda.stream()
    milliseconds([first])
    alone, together, after_each_other = (min(milliseconds(streams) for _ in range(3))
                                         for streams in ([first], [first, second], [first, first]))
    assert after_each_other > 1.8 * alone
    assert together < 1.3 * alone


PROFILED = """import numpy as np
from cujit import cuda

@cuda.jit(lineinfo=True)
def triple_all(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = 3 * x[i]

triple_all[4, 128](cuda.to_device(np.ones(512, np.float32)))
cuda.synchronize()
"""


def test_a21_a22_nsight_compute_shows_names_and_lines_of_python(tmp_path):
    tool = shutil.which("ncu")
    if not tool:
        pytest.skip("needs Nsight Compute")
    program = tmp_path / "profiled.py"
    program.write_text(PROFILED)
    done = subprocess.run([tool, "--set", "source", "--import-source", "yes", "--page", "source", "--csv",
                           "--print-source", "sass", sys.executable, str(program)],
                          capture_output=True, text=True, timeout=200)
    if "ERR_NVGPUCTRPERM" in done.stdout + done.stderr:
        pytest.skip("needs the permission to read the GPU's counters")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "triple_all" in done.stdout
    report = subprocess.run([tool, "--set", "source", "--import-source", "yes", "--page", "source", "--csv",
                             "--print-source", "cuda,sass", sys.executable, str(program)],
                            capture_output=True, text=True, timeout=200)
    assert "3 * x[i]" in report.stdout or "profiled.py" in report.stdout, report.stdout
