"""For all tests: what they compile stays out of the user's disk cache (test_disk_cache.py has folders of its own),
those marked `gpu` run only on a GPU, those marked `several_devices` only where there are two (GPUs or CPU devices), and
those marked `not_under` not under that sanitizer. The others run on the GPU where there is one, else on the CPU
device."""
import os
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

os.environ["CUJIT_CACHE"] = "0"
ROOT = Path(__file__).parents[1]


def pytest_collection_modifyitems(items):
    for item in items:
        for marker in item.iter_markers("not_under"):
            sanitizer, why = marker.args
            item.add_marker(pytest.mark.skipif(os.environ.get("CUJIT_SANITIZER") == sanitizer, reason=why))
    _skip(items, "gpu", _runs_on_gpu, "needs a GPU")
    _skip(items, "several_devices", _has_several, "needs two devices, as in test_two_cpu_devices.py")


def _skip(items, marker, is_there, reason):
    marked = [item for item in items if item.get_closest_marker(marker)]
    if marked and not is_there():
        for item in marked:
            item.add_marker(pytest.mark.skip(reason=reason))


def _has_several():
    from cujit import cuda

    return len(cuda.gpus) > 1


def _runs_on_gpu():
    from cujit import cuda

    return cuda.is_available() and cuda.get_current_device().kind == "cuda"


@pytest.fixture(autouse=True)
def quiet_hints():
    """Small launches on host arrays are what these tests do; test_launch.py tests the warnings about them."""
    if "cujit" not in sys.modules:  # tests of the sources need no build
        yield
        return
    from cujit import errors

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", errors.PerformanceWarning)
        warnings.simplefilter("ignore", errors.NoGPUWarning)
        yield


@pytest.fixture
def rng():
    return np.random.default_rng(20240607)


@pytest.fixture
def run_python(tmp_path):
    """Runs a program in a fresh interpreter that finds the same packages; its standard output."""

    def run(program, *arguments, **environment):
        path = os.pathsep.join(p or os.getcwd() for p in sys.path)
        script = tmp_path / "program.py"
        script.write_text(program)
        done = subprocess.run([sys.executable, str(script), *map(str, arguments)], capture_output=True, text=True,
                              timeout=300, env={**os.environ, "PYTHONPATH": path, **environment})
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture
def refused(tmp_path):
    """Compiles a kernel of `out` that evaluates the expression; the error must have that text, the expression's line
    and carets under the whole of it. More names for the kernel: keywords."""
    from cujit import cuda, errors

    def check(expression, message, signature="void(int64[:])", **names):
        path = tmp_path / "kernel.py"
        path.write_text(f"def kernel(out):\n    x = 3\n    {expression}\n")
        scope = {"cuda": cuda, "np": np, **names}
        exec(compile(path.read_text(), str(path), "exec"), scope)
        with pytest.raises(errors.CujitError) as caught:
            cuda.jit(signature)(scope["kernel"])
        place, shown, carets, *rest = str(caught.value).splitlines()
        assert place.startswith(f"{path}:3 in kernel")
        assert message in "\n".join(rest)
        start = shown.index(expression)
        assert carets == " " * start + "^" * len(expression), str(caught.value)

    return check


@pytest.fixture
def takes_ptx(tmp_path):
    """That ptxas takes a text for a compute capability, where it is installed and knows the GPU."""
    ptxas = shutil.which("ptxas") or shutil.which("ptxas", path="/usr/local/cuda/bin")

    def check(ptx, cc):
        architecture = "sm_{}{}".format(*cc)
        known = ptxas and subprocess.run([ptxas, "--help"], capture_output=True, text=True).stdout
        if known and architecture in known:
            source = tmp_path / "kernel.ptx"
            source.write_text(ptx)
            done = subprocess.run([ptxas, f"-arch={architecture}", "-o", str(tmp_path / "cubin"), str(source)],
                                  capture_output=True, text=True)
            assert done.returncode == 0, done.stdout + done.stderr + ptx

    return check


@pytest.fixture
def assembles(takes_ptx):
    """The PTX of a function for a compute capability, which ptxas takes where it is installed and knows the GPU."""
    from cujit import cuda

    def check(function, signature, cc, **options):
        ptx, _ = cuda.compile_ptx(function, signature, cc=cc, **options)
        takes_ptx(ptx, cc)
        return ptx

    return check


@pytest.fixture(scope="session")
def fake_driver(tmp_path_factory):
    """The fake driver of the C tests as a library: the file's path."""
    compiler = shutil.which("cc")
    if not compiler:
        pytest.skip("needs a C compiler")
    library = tmp_path_factory.mktemp("driver") / "fake_driver.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-w", f"-I{ROOT}", "-o", str(library),
                    str(ROOT / "tests/runtime/cuda/fake_driver.c")], check=True)
    return str(library)
