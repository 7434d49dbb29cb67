"""What snapshots tell values by is looked up when cujit is imported: a kernel's first launch asks for none of it."""
import subprocess
import sys

PROGRAM = """
import sys
import numpy as np
from cujit import cuda

for name in ("enum", "functools", "opcode", "types"):
    sys.modules[name] = None   # an import of it fails

@cuda.jit
def add(x, n):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += n

x = np.zeros(3)
add[1, 4](x, 2)
print(x.tolist())
"""


def test_a_first_launch_imports_nothing_for_its_snapshot():
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", PROGRAM], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "[2.0, 2.0, 2.0]\n"
