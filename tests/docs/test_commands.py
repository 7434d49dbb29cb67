"""Shell commands in README.md and the pages: what can be run here is, in a folder with files of the names that it uses;
of the others, a row of NOT_RUN each, files, make's targets and CMake's presets are looked up. Bash reads all."""
import itertools
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = ["README.md", "CONTRIBUTING.md", "SECURITY.md",
         *sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^( *)```(\w*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
SHELLS = {"sh", "bash", "shell", "console"}

# The files that commands name, as a reader of the page has them.
FILES = {
    "program.py": """
import sys
import numpy as np

if sys.argv[1:]:
    assert sys.argv[1:] == ["--its", "arguments"]
    from numba import cuda
    assert cuda.jit.__module__.startswith("cujit")
else:
    from cujit import cuda

@cuda.jit
def double(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= 2

x = cuda.to_device(np.arange(4.0))
double[1, 4](x)
assert x.copy_to_host().tolist() == [0, 2, 4, 6]
""",
    "kernels.py": """
from cujit import cuda

@cuda.jit
def saxpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] += a * x[i]

@cuda.jit
def double(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = 2 * x[i]
""",
    "test_of_a_library.py": """
def test():
    from numba import cuda
    assert cuda.jit.__module__.startswith("cujit")
""",
}


def files(words):
    """Those of the repository are there; a build's, and an environment's, come later."""
    for word in words:
        path = word.split("=")[-1].strip("'\")")
        if re.match(r"[\w-]+[/.][\w./-]+$", path) and not re.match(r"\.venv|dist/|build/|python3\.", path):
            assert (ROOT / path).exists(), path


def targets(words):
    [name] = words
    done = subprocess.run(["make", "--dry-run", "--always-make", name], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def wheels(words):
    """A wheel's name has the package, the Python and the platform."""
    for word in words[1:]:
        assert re.fullmatch(r"\.|dist/cujit-\*(-cp3\d+-\*)?(aarch64)?\.whl", word), word


def presets(kind):
    def check(words):
        known = json.loads((ROOT / "CMakePresets.json").read_text())[f"{kind}Presets"]
        assert words[words.index("--preset") + 1] in [preset["name"] for preset in known]
        files(words)
    return check


# How a command starts -> why it is not run here, and what looks at its other words.
NOT_RUN = {
    ("apt-get", "install"): ("changes the system", files),
    ("pip",): ("needs a built wheel, and changes the environment", wheels),
    ("python3.12", "-m", "venv"): ("fetches packages", files),
    ("make",): ("builds all, and tests all", targets),
    ("cmake", "--build"): ("builds all", presets("build")),
    ("cmake",): ("is how this build began", presets("configure")),
    ("ctest",): ("runs the C tests", presets("test")),
    ("PYTHONPATH=build/default/python",): ("is what runs this", files),
}


def commands(text):
    """The commands of a block, without comments, a line each; one that names alternatives (a|b, [what may be left out])
    is several."""
    for line in text.replace("\\\n", " ").splitlines():
        line = re.sub(r"(^|\s)#.*", "", line.removeprefix("$ ")).strip()
        if not line:
            continue
        parts = [re.split(r"\|", part) if re.fullmatch(r"\w+(\|\w+)+", part) else ["", part[1:-1]] if
                 re.fullmatch(r"\[.*\]", part) and '"' not in part else [part] for part in line.split(" ")]
        yield from (" ".join(filter(None, chosen)) for chosen in itertools.product(*parts))


def row_of(command):
    words = shlex.split(command)
    return next((start for start in NOT_RUN if tuple(words[:len(start)]) == start), None)


BLOCKS = [(page, block[3]) for page in PAGES for block in BLOCK.finditer((ROOT / page).read_text(encoding="utf-8"))
          if block[2] in SHELLS]


@pytest.fixture
def shell(tmp_path):
    """Runs a command in a folder with the files that commands name, where `python` is this one, on the CPU device."""
    if not shutil.which("bash"):
        pytest.skip("needs bash")
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/python").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n')
    (tmp_path / "bin/python").chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}/bin{os.pathsep}{os.environ['PATH']}", "CUJIT_DEVICE": "cpu",
                   "CUJIT_CACHE": "1", "CUJIT_CACHE_DIR": str(tmp_path / "cache"), "PYTHONWARNINGS": "ignore",
                   "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}

    def run(command):
        return subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, timeout=120,
                              env=environment, stdin=subprocess.DEVNULL)

    return run


@pytest.mark.parametrize("page, text", BLOCKS, ids=[page for page, _ in BLOCKS])
def test_a_block(page, text, shell):
    for command in commands(text):
        assert shell(f"set -n\n{command}").returncode == 0, command
        start = row_of(command)
        if start is not None:
            for each in re.split(r" && |\$\(", command):
                begins = row_of(each)
                words = shlex.split(each)
                NOT_RUN[begins][1](words[len(begins):]) if begins else files(words)
            continue
        done = shell(command)
        if "--output cubin" in command and "nvJitLink, which links LTO-IR, is needed: pip install" in done.stderr:
            continue   # not on every machine
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        if " -o " in command:
            assert os.path.getsize(Path(shell("pwd").stdout.strip()) / command.split(" -o ")[1])


def test_no_row_is_left_over():
    used = {row_of(command) for _, text in BLOCKS for command in commands(text)}
    assert used - {None} == set(NOT_RUN)


@pytest.mark.parametrize("page", PAGES)
def test_targets_and_commands_in_the_text(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    made = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"`make ([\w-]+)", text)) <= made
    for word in re.findall(r"`[^`\n]*python -m cujit ([^\s`]+)", text):
        assert word in ("cache", "compile", "explain") or word.startswith("-") or word.endswith(".py"), word


def test_alternatives():
    assert list(commands("a x|y ['p*']   # b\n\n$ c 'd e' \\\n    --f # g\n")) == [
        "a x", "a x 'p*'", "a y", "a y 'p*'", "c 'd e' --f"]
