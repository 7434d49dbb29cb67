"""The built extension exports one symbol and needs the C and C++ runtime only; importing it is cheap and quiet."""

import importlib.util
import lzma
import shutil
import subprocess
import sys
import zlib

import pytest
from source_tree import ROOT

sys.path.insert(0, str(ROOT / "scripts"))
from check_wheel import extension_problems  # noqa: E402


@pytest.fixture
def extension():
    if not importlib.util.find_spec("cujit"):
        pytest.skip("cujit is not built")
    found = importlib.util.find_spec("cujit._core")
    assert found, "the package is there, its extension is not"
    return found.origin


@pytest.mark.skipif(not shutil.which("nm") or not shutil.which("ldd"), reason="needs nm and ldd")
def test_extension_is_self_contained(extension):
    assert list(extension_problems(extension)) == []


def run_python(code):
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.strip()


def test_import_loads_no_driver(extension):
    code = "import cujit; from cujit import cuda; print('libcuda' in open('/proc/self/maps').read())"
    assert run_python(code) == "False"


def test_import_starts_no_thread(extension):
    assert run_python("import cujit, os; print(len(os.listdir('/proc/self/task')))") == run_python(
        "import numpy, os; print(len(os.listdir('/proc/self/task')))"
    )


@pytest.mark.skipif(not shutil.which("strip"), reason="needs strip")
def test_wheel_is_small(extension, tmp_path):
    """What a wheel of this extension weighs: under 20 MB, with a reserve for everything else in it."""
    stripped = tmp_path / "stripped"
    subprocess.run(["strip", "-o", stripped, extension], check=True)
    assert len(zlib.compress(stripped.read_bytes(), 6)) < 19.5e6


def made_by_lld(extension):
    command = ["readelf", "-p", ".comment", extension]
    return "LLD" in subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.mark.skipif(not shutil.which("nm") or not shutil.which("readelf"), reason="needs nm and readelf")
def test_functions_of_a_compilation_lie_together(extension):
    """Those of cmake/function_order.txt.xz have hardly any others between them."""
    lines = subprocess.run(["nm", "-n", extension], check=True, capture_output=True, text=True).stdout.splitlines()
    functions = [words[2] for words in map(str.split, lines) if len(words) == 3 and words[1] in "tT"]
    if len(functions) < 10000 or not made_by_lld(extension):
        pytest.skip("a stripped extension, or another linker's")
    named = set(lzma.open(ROOT / "cmake" / "function_order.txt.xz", "rt").read().split())
    places = [place for place, function in enumerate(functions) if function in named]
    assert len(places) > 5000, "most names are of another LLVM: scripts/function_order.py"
    middle = places[len(places) // 20 : -len(places) // 20]
    assert middle[-1] - middle[0] < 1.5 * len(middle)


@pytest.mark.skipif(not shutil.which("nm"), reason="needs nm")
def test_functions_of_a_launch_lie_together(extension):
    """In few pages, whichever rooms they are of (core/base/likely.h)."""
    path = {"launcher_vectorcall", "ext_frame_pack", "jit_launch", "rt_launch", "cuda_launch"}
    symbols = subprocess.run(["nm", extension], check=True, capture_output=True, text=True).stdout.split("\n")
    found = {words[2]: int(words[0], 16) for words in map(str.split, symbols) if len(words) == 3 and words[2] in path}
    if not found:
        pytest.skip("it is stripped")
    assert found.keys() == path
    assert max(found.values()) - min(found.values()) < 64 * 1024
