"""python -m cujit: what it prints of this machine, the kernels on disk, code of a function."""
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from cujit import _core
from cujit._command import cache
from cujit._command.variables import VARIABLES

KERNELS = """
import numpy as np
from cujit import cuda

@cuda.jit(fastmath=True)
def scale(x, by):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = x[i] / by

@cuda.jit(device=True)
def twice(x):
    return x * 2

def plain(x):
    return x + 1

number = 5
"""


@pytest.fixture
def command(tmp_path, monkeypatch):
    """A function that runs `python -m cujit` in a folder with kernels.py and a cache of its own."""
    (tmp_path / "kernels.py").write_text(KERNELS, encoding="utf-8")
    monkeypatch.setenv("CUJIT_CACHE", "1")
    monkeypatch.setenv("CUJIT_CACHE_DIR", str(tmp_path / "cache"))

    def run(*arguments, text=True):
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        return subprocess.run([sys.executable, "-m", "cujit", *arguments], capture_output=True, text=text, timeout=120,
                              cwd=tmp_path, env=environment)

    return run


def launched(tmp_path):
    """Fills the cache: one kernel for two types."""
    program = "import kernels, numpy as np; [kernels.scale[1, 32](np.ones(4, t), 2) for t in ('f4', 'f8')]"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    subprocess.run([sys.executable, "-W", "ignore", "-c", program], check=True, timeout=120, env=environment)


def test_alone_it_reports(command, tmp_path, monkeypatch):
    monkeypatch.setenv("CUJIT_CPU_THREADS", "2")
    done = command()
    assert done.returncode == 0 and not done.stderr
    assert re.search(r"^  processor +\S+\n    features +\S+ \S+", done.stdout, re.MULTILINE)
    assert [line for line in done.stdout.splitlines() if line and line[0] != " "] == [
        "Versions", "Devices", "Disk cache", "Variables that are set"]
    assert _core.llvm_version() in done.stdout and str(tmp_path / "cache") in done.stdout
    assert "CUJIT_CPU_THREADS       2" in done.stdout and "error" not in done.stdout


def test_a_part_of_the_report_that_fails_says_so(command, monkeypatch):
    monkeypatch.setenv("CUJIT_DEVICE", "toaster")
    done = command()
    assert done.returncode == 0 and "error" in done.stdout and "toaster" in done.stdout
    assert "Disk cache" in done.stdout


def test_cache_lists_sums_and_removes(command, tmp_path):
    assert command("cache", "ls").stdout == ""
    launched(tmp_path)
    lines = command("cache", "ls").stdout.splitlines()
    assert len(lines) == 2 and all("scale" in line for line in lines)
    files = sorted((tmp_path / "cache").glob("*.kernel"))
    assert sorted(line.split()[-1] for line in lines) == [file.name for file in files]
    total = sum(file.stat().st_size for file in files)
    assert f"2 kernels, {cache.size_text(total)}" in command("cache", "size").stdout
    assert "0 kernels removed" in command("cache", "rm", "other*").stdout
    assert "1 kernel removed" in command("cache", "rm", files[0].name).stdout
    assert [file for file in files if file.exists()] == files[1:]
    assert "1 kernel removed" in command("cache", "rm").stdout
    assert command("cache", "ls").stdout == ""
    assert command("cache").stderr.endswith("error: the following arguments are required: action\n")


def test_damaged_files_are_not_listed(command, tmp_path):
    launched(tmp_path)
    damaged, whole = sorted((tmp_path / "cache").glob("*.kernel"))
    damaged.write_bytes(damaged.read_bytes()[:-1])
    assert [line.split()[-1] for line in command("cache", "ls").stdout.splitlines()] == [whole.name]


def test_no_cache_is_an_error(command, monkeypatch):
    monkeypatch.setenv("CUJIT_CACHE", "0")
    done = command("cache", "ls")
    assert done.returncode == 1 and "CUJIT_CACHE=0" in done.stderr


@pytest.mark.parametrize("size, text", [(0, "0 bytes"), (1023, "1023 bytes"), (1536, "1.5 KiB"), (3 << 40, "3.0 TiB")])
def test_sizes_as_text(size, text):
    assert cache.size_text(size) == text


def test_compile_a_kernel(command, tmp_path):
    done = command("compile", "kernels:scale", "--signature", "void(float32[::1], float32)", "--target", "sm_90")
    assert done.returncode == 0, done.stderr
    assert ".target sm_90" in done.stdout and ".entry" in done.stdout and "scale" in done.stdout
    assert "div.approx" in done.stdout   # by the options of cuda.jit
    done = command("compile", "kernels.py:scale", "--signature", "(float64[::1], float64)", "--output", "llvm",
                   "-o", "scale.ll")
    assert done.returncode == 0 and done.stdout == ""
    assert "nvptx64" in (tmp_path / "scale.ll").read_text()


def test_the_decorators_signature(command, tmp_path):
    (tmp_path / "kernels.py").write_text(KERNELS.replace("@cuda.jit(fast", '@cuda.jit("(float32[::1], float32)", fast'),
                                         encoding="utf-8")
    code = command("compile", "kernels:scale", "--target", "sm_90")
    assert ".entry scale(" in code.stdout and ".target sm_90" in code.stdout, code.stderr
    page = command("explain", "kernels:scale", "--target", "cpu")
    assert "scale(array(float32, 1d, C), float32)" in page.stdout, page.stderr


def test_help_is_of_cujit(command):
    for option in ("-h", "--help"):
        done = command(option)
        assert done.returncode == 0 and "python -m cujit program.py" in done.stdout


def test_compile_device_functions(command):
    done = command("compile", "kernels:twice", "--signature", "float32(float32)")
    assert done.returncode == 0 and ".func" in done.stdout and "twice" in done.stdout
    done = command("compile", "kernels:plain", "--signature", "(int64,)", "--device")
    assert done.returncode == 0 and ".visible .func" in done.stdout


def test_compile_for_the_cpu_device(command):
    done = command("compile", "kernels:scale", "--signature", "(float32[::1], float32)", "--target", "cpu", "--output",
                   "asm")
    assert done.returncode == 0 and "scale" in done.stdout and ".text" in done.stdout
    done = command("compile", "kernels:scale", "--signature", "(float32[::1], float32)", "--target", "cpu", "--output",
                   "object", text=False)
    assert done.returncode == 0 and done.stdout.startswith(b"\x7fELF") and b"scale" in done.stdout


def test_explain_writes_a_page(command, tmp_path):
    arguments = ["explain", "kernels:scale", "--signature", "(float32[::1], float32)", "-o", "page.html"]
    for target, text in ((["--target", "sm_90"], "st.global"), (["--target", "cpu"], "assembly")):
        done = command(*arguments, *target)
        assert done.returncode == 0 and not done.stdout, done.stderr
        page = (tmp_path / "page.html").read_text(encoding="utf-8")
        assert page.startswith("<!DOCTYPE html>") and text in page and "x[i] = x[i] / by" in page


@pytest.mark.parametrize("arguments, text", [
    (["kernels", "--signature", "()"], "is not module:function"),
    (["kernels:number", "--signature", "()"], "which is no function"),
    (["kernels:nothing", "--signature", "()"], "nothing"),
    (["no_such_module:f", "--signature", "()"], "no_such_module"),
    (["kernels:scale", "--signature", "(float32[::1], float32)", "--target", "gfx90"], "is no target such as sm_90"),
    (["kernels:scale", "--signature", "(float32[::1], float32)", "--target", "cpu"],
     "it has llvm, asm and object"),
    (["kernels:scale", "--signature", "(float32[::1], float32)", "--output", "object"], "a GPU has no object"),
    (["kernels:scale", "--signature", "(float32, float32)"], "kernels.py"),
])
def test_wrong_requests_are_one_message(command, arguments, text):
    done = command("compile", *arguments)
    assert done.returncode == 1 and text in done.stderr and "Traceback" not in done.stderr


# --- variables ------------------------------------------------------------------------------------------------------

ROOT = Path(__file__).resolve().parents[3]


def test_every_variable_that_is_read_is_a_row():
    reads = re.compile(r'(?:getenv|environ\.get|_environment)\(\s*f?"((?:CUJIT_|\w+)[A-Z_0-9]*)"')
    named = set()
    for folder in ("core", "frontend", "codegen", "runtime", "jit", "python"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in (".c", ".h", ".py", ".def") and path.name != "variables.py":
                text = path.read_text(encoding="utf-8")
                named |= {name for name in reads.findall(text) if name.startswith("CUJIT_")}
                named |= set(re.findall(r'LIBRARY\(.*"(CUJIT_\w+)"', text))
    rows = {variable.name for variable in VARIABLES}
    assert len(named) > 10 and named <= rows
    everything = "".join(path.read_text(encoding="utf-8") for folder in ("runtime", "jit", "python")
                         for path in (ROOT / folder).rglob("*")
                         if path.suffix in (".c", ".py", ".def") and path.name != "variables.py")
    assert not [name for name in rows if name.removeprefix("CUJIT_") not in everything]
