"""The disk cache: what the next process finds and what it does not, and what happens to bad files and folders."""
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from cujit import _core, cuda, float32, float64, int64


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty folder that the cache of this process uses for the test."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("CUJIT_CACHE", "1")
    monkeypatch.setenv("CUJIT_CACHE_DIR", str(folder))
    return folder


def files(folder):
    return sorted(folder.glob("*")) if folder.exists() else []


SOURCE = """
import math
import numpy as np
from cujit import cuda, float32

FACTOR = 3.0
TABLE = np.array([1.0, 2.0, 4.0])

def helper(x):
    return x + 1.0

def scale(x, by=2.0):
    return x * by

@cuda.jit(OPTIONS)
def kernel(out, x):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = FACTOR * helper(x[i]) + scale(x[i]) + TABLE[i % 3]
"""


def hits_of(source, options="", types=(float64[::1], float64[::1])):
    """Whether the kernel of this source is on disk; compiles it where not."""
    namespace = {"__name__": "cached"}
    exec(compile(source.replace("OPTIONS", options), "cached.py", "exec"), namespace)
    kernel = namespace["kernel"]
    kernel.compile(types)
    return kernel.loaded_types() == [types]


def test_the_same_code_is_found(cache):
    assert not hits_of(SOURCE)
    assert len(files(cache)) == 1
    assert hits_of(SOURCE) and hits_of(SOURCE)
    assert len(files(cache)) == 1


@pytest.mark.parametrize("old, new", [
    ("FACTOR = 3.0", "FACTOR = 3.5"),
    ("FACTOR = 3.0", "FACTOR = 3"),
    ("4.0])", "5.0])"),
    ("4.0])", "4.0], np.float32)"),
    ("x + 1.0", "x - 1.0"),
    ("x + 1.0", "x + 1.5"),
    ("by=2.0", "by=2.5"),
    ("x * by", "math.sin(x) * by"),
    ("x * by", "x / by"),
    ("i % 3", "i % 2"),
    ("i % 3", "(i + 1) % 3"),
    ("def helper(x)", "@cuda.jit(device=True, inline='always')\ndef helper(x)"),
])
def test_whatever_the_code_reaches_is_part_of_the_key(cache, old, new):
    assert not hits_of(SOURCE)
    assert old in SOURCE and not hits_of(SOURCE.replace(old, new))
    assert hits_of(SOURCE) and hits_of(SOURCE.replace(old, new))


@pytest.mark.parametrize("options", ["fastmath=True", "fmad=False", "opt=False", "debug=True, opt=False",
                                     "lineinfo=True", "max_registers=32", "launch_bounds=128"])
def test_options_are_part_of_the_key(cache, options):
    assert not hits_of(SOURCE) and not hits_of(SOURCE, options)
    assert hits_of(SOURCE) and hits_of(SOURCE, options)


def test_types_are_part_of_the_key(cache):
    for array in (float64[::1], float64[:], float32[::1], int64[::1]):
        assert not hits_of(SOURCE, types=(array, array))
        assert hits_of(SOURCE, types=(array, array))


def test_records_differ_by_their_fields(cache):
    source = """
from cujit import cuda

@cuda.jit
def kernel(x, out):
    out[0] = x[1]["a"]
"""
    dtypes = [np.dtype(fields, align=align) for fields, align in [
        ([("a", "f8"), ("b", "f4", (2,))], True), ([("a", "f8"), ("b", "f4", (2, 1))], True),
        ([("a", "f8"), ("b", "i4", (2,))], True), ([("b", "f4", (2,)), ("a", "f8")], True),
        ([("a", "f8"), ("b", "f4")], True), ([("a", "f8"), ("b", "f4")], False)]]
    types = [(_core.type_of(cuda.to_device(np.zeros(2, dtype))), float64[::1]) for dtype in dtypes]
    assert [hits_of(source, types=each) for each in types] == [False] * len(types)
    assert [hits_of(source, types=each) for each in types] == [True] * len(types)


def test_closures_and_captured_functions(cache):
    def kernel_of(value, function):
        @cuda.jit
        def kernel(out):
            out[0] = function(value)

        kernel.compile((float64[::1],))
        return bool(kernel.loaded_types())

    def twice(x):
        return 2 * x

    def thrice(x):
        return 3 * x

    calls = [(1.0, twice), (2.0, twice), (1.0, thrice), (1, twice)]
    assert [kernel_of(*call) for call in calls] == [False] * 4
    assert [kernel_of(*call) for call in calls] == [True] * 4


def test_functions_that_call_themselves(cache):
    source = """
from cujit import cuda

@cuda.jit(device=True)
def factorial(n):
    return 1 if n < 2 else n * factorial(n - 1)

@cuda.jit
def kernel(out):
    out[0] = factorial(STOP)
"""
    found = [hits_of(source.replace("STOP", n), types=(int64[::1],)) for n in ("5", "6", "5", "6")]
    assert found == [False, False, True, True]


def test_captured_device_arrays_stay_out(cache):
    captured = cuda.to_device(np.arange(4.0))

    @cuda.jit
    def kernel(out):
        out[0] = captured[1]

    kernel.compile((float64[::1],))
    assert files(cache) == []


def test_results_and_copies_back_of_a_loaded_kernel(cache):
    def launch():
        @cuda.jit(cache=True)
        def kernel(x, y):
            tile = cuda.shared.array(32, float64)
            tile[cuda.threadIdx.x] = x[cuda.threadIdx.x]
            cuda.syncthreads()
            y[cuda.threadIdx.x] = tile[31 - cuda.threadIdx.x]

        x, y = np.arange(32.0), np.zeros(32)
        kernel[1, 32](x, y)
        np.testing.assert_array_equal(y, np.arange(32.0)[::-1])
        np.testing.assert_array_equal(x, np.arange(32.0))
        return sum(kernel.stats.cache_hits.values()), sum(kernel.stats.cache_misses.values())

    assert (launch(), launch()) == ((0, 1), (1, 0))


def test_stats_tell_of_the_disk_only_where_asked(cache):
    def stats():
        @cuda.jit
        def kernel(out):
            out[0] = 1

        kernel.compile((int64[::1],))
        return kernel.stats.cache_hits, list(kernel.stats.cache_misses.values())

    assert stats() == stats() == ({}, [1])


def test_the_main_thread_reads_by_itself(tmp_path):
    """On the CPU device what is on disk is there sooner than a thread for it."""
    script = ("import threading\nimport numpy as np\nfrom pathlib import Path\nfrom cujit import cuda\n"
              "def add(x):\n    x[cuda.grid(1)] += 1\n"
              "def names():\n"
              "    return [each.read_text().strip() for each in Path('/proc/self/task').glob('*/comm')]\n"
              "x = np.zeros(2)\n"
              "first = threading.Thread(target=cuda.jit(add)[1, 2], args=(x,))\nfirst.start()\nfirst.join()\n"
              "cuda.jit(add)[1, 2](x)\nassert 'cujit-compile' not in names(), names()\n"
              "cuda.jit(lambda x: None)[1, 2](x)\nassert 'cujit-compile' in names(), names()\nprint(*x)\n")
    environment = dict(os.environ, CUJIT_CACHE="1", CUJIT_CACHE_DIR=str(tmp_path / "cache"), CUJIT_DEVICE="cpu")
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=120)
    assert done.stdout == "2.0 2.0\n", done.stderr


def test_a_damaged_file_is_replaced(cache):
    hits_of(SOURCE)
    [file] = files(cache)
    whole = file.read_bytes()
    for damaged in (b"", whole[:100], whole[:-1], whole[:200] + b"?" + whole[201:], b"x" * 5000):
        file.write_bytes(damaged)
        assert not hits_of(SOURCE)
        assert hits_of(SOURCE)


def test_a_folder_that_cannot_be_written_is_no_error(cache, monkeypatch):
    for folder in ("/dev/null/cujit", "/proc/cujit", "x" * 5000):
        monkeypatch.setenv("CUJIT_CACHE_DIR", folder)
        assert not hits_of(SOURCE) and not hits_of(SOURCE)


@pytest.mark.filterwarnings("ignore:compiled kernels are not kept")
@pytest.mark.parametrize("mode", [0o770, 0o707, 0o1777])
def test_a_folder_that_others_may_write_is_not_used(cache, mode):
    hits_of(SOURCE)
    cache.chmod(mode)
    assert not hits_of(SOURCE) and not hits_of(SOURCE.replace("3.0", "7.0")) and len(files(cache)) == 1
    cache.chmod(0o755)
    assert hits_of(SOURCE)


def test_such_a_folder_is_told_of_once(tmp_path):
    script, folder = tmp_path / "program.py", tmp_path / "cache"
    folder.mkdir()
    folder.chmod(0o777)
    script.write_text("import warnings\nwarnings.simplefilter('always')\n" + PROGRAM)
    process = start(script, 3, folder, PYTHONWARNINGS="", stderr=subprocess.PIPE)
    _, said = process.communicate(timeout=300)
    assert process.returncode == 0 and said.count("CujitWarning") == 1 and f"{folder} belongs to" in said


@pytest.mark.parametrize("planted", ["link", "pipe", "open to others", "folder"])
def test_a_planted_file_is_not_read(cache, planted):
    hits_of(SOURCE)
    [file] = files(cache)
    if planted == "open to others":
        file.chmod(0o666)
    else:
        elsewhere = cache.parent / "elsewhere"
        file.rename(elsewhere)
        if planted == "link":
            file.symlink_to(elsewhere)
        elif planted == "pipe":
            os.mkfifo(file)
        else:
            file.mkdir()
    assert not hits_of(SOURCE)
    assert planted == "folder" or hits_of(SOURCE)  # what is planted was replaced; a folder cannot be


def test_it_can_be_switched_off(cache, monkeypatch):
    monkeypatch.setenv("CUJIT_CACHE", "0")
    assert not hits_of(SOURCE) and not hits_of(SOURCE)
    assert files(cache) == []


@pytest.mark.parametrize("stage", ["ir", "a pass"])
def test_dumps_are_made_anew(cache, monkeypatch, capfd, stage):
    if stage == "a pass":
        stage = "loads" if cuda.get_current_device().kind == "cuda" else "yield"
    hits_of(SOURCE)
    monkeypatch.setenv("CUJIT_DUMP", f"nothing,{stage}")
    assert not hits_of(SOURCE)
    assert "kernel kernel" in capfd.readouterr().err


PROGRAM = """
import sys
import numpy as np
from cujit import cuda

def make(k):
    @cuda.jit(cache=True)
    def kernel(out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = i * k
    return kernel

kernels = [make(k) for k in range(int(sys.argv[1]))]
for k, kernel in enumerate(kernels):
    out = np.zeros(40, np.int64)
    kernel[2, 32](out)
    assert (out == np.arange(40) * k).all()
print(sum(sum(kernel.stats.cache_hits.values()) for kernel in kernels))
"""


def start(script, count, folder, stderr=None, **environment):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p or os.getcwd() for p in sys.path), "CUJIT_CACHE": "1",
                   "CUJIT_CACHE_DIR": str(folder), "PYTHONWARNINGS": "ignore", **environment}
    command = [sys.executable, str(script), str(count)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=stderr, text=True)


def finish(process):
    printed, _ = process.communicate(timeout=300)
    assert process.returncode == 0
    return int(printed)


def test_processes_share_the_folder(tmp_path):
    script, folder = tmp_path / "program.py", tmp_path / "deep" / "cache"
    script.write_text(PROGRAM)
    for process in [start(script, 3, folder) for _ in range(3)]:
        finish(process)
    assert len(files(folder)) == 3 and all(file.suffix == ".kernel" for file in files(folder))
    before = [file.stat().st_mtime_ns for file in files(folder)]
    assert finish(start(script, 3, folder)) == 3
    assert [file.stat().st_mtime_ns for file in files(folder)] == before


def test_a_killed_process_leaves_no_harm(tmp_path):
    script, folder = tmp_path / "program.py", tmp_path / "cache"
    script.write_text(PROGRAM)
    process = start(script, 300, folder)
    while not files(folder):
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    old, young = (folder / f"{'0' * 32}.kernel.1.{n}.unfinished" for n in (0, 1))
    for file in (old, young):
        file.write_bytes(b"half")
    os.utime(old, (1, 1))
    found = len(list(folder.glob("*.kernel")))
    assert finish(start(script, found + 1, folder)) == found
    assert young.exists() and not old.exists()


def test_the_folder_stays_small(tmp_path):
    script, folder = tmp_path / "program.py", tmp_path / "cache"
    script.write_text(PROGRAM)
    finish(start(script, 4, folder))
    one = files(folder)[0].stat().st_size
    for k in range(1500):
        (folder / f"{k:032x}.kernel").write_bytes(b"x" * 1000)
        os.utime(folder / f"{k:032x}.kernel", (k, k))
    finish(start(script, 5, folder, CUJIT_CACHE_MEGABYTES="1"))
    assert sum(file.stat().st_size for file in files(folder)) <= (1 << 20) + one
    assert not (folder / f"{0:032x}.kernel").exists() and (folder / f"{1499:032x}.kernel").exists()
    assert finish(start(script, 5, folder)) == 5


def test_another_version_of_cujit_finds_nothing(tmp_path):
    """The linker's hash of the build is in the key: a file of another build has another name."""
    import cujit._core

    text = open(cujit._core.__file__, "rb").read()
    assert re.search(rb"GNU\0", text), "no build id in the extension"
