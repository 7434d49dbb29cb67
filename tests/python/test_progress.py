"""The line of a long compilation: in a terminal alone, and gone at the end."""
import os
import pty
import subprocess
import sys

PROGRAM = """
import numpy as np
from cujit import cuda, _progress, errors
_progress.PATIENCE = 0.0   # every compilation is a long one

@cuda.jit
def double(x):
    x[0] *= 2

@cuda.jit
def wrong(x):
    x.no_such_attribute

double[1, 1](np.ones(1))
try:
    wrong[1, 1](np.ones(1))
except errors.TypingError:
    print("refused")
"""


def run(tmp_path, stderr):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    environment = {**os.environ, "CUJIT_CACHE": "0", "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    done = subprocess.run([sys.executable, "-W", "ignore", program], stdout=subprocess.PIPE, stderr=stderr, text=True,
                          timeout=120, env=environment)
    assert (done.returncode, done.stdout) == (0, "refused\n")
    return done.stderr


def test_a_terminal_has_a_line_that_goes(tmp_path):
    master, terminal = pty.openpty()
    try:
        run(tmp_path, terminal)
        shown = os.read(master, 1 << 16).decode()
    finally:
        os.close(master)
        os.close(terminal)
    assert "\rcujit: compiling double, 0.0 s" in shown and shown.endswith("\r\x1b[K")


def test_a_file_has_none(tmp_path):
    assert run(tmp_path, subprocess.PIPE) == ""
