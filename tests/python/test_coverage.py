"""Lines and branches of kernels in coverage.py's data: the same as where the functions run as plain Python."""
import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import cujit

coverage = pytest.importorskip("coverage")

SAMPLES = Path(__file__).with_name("line_samples.py")
PACKAGE = str(Path(cujit.__file__).absolute().parents[1])
SETTINGS = "[run]\n{}\nbranch = {}\n{}\n"


def run(folder, command, branch=True, more="", plugin="plugins = cujit.coverage"):
    """Runs it under coverage.py in the folder."""
    (folder / ".coveragerc").write_text(SETTINGS.format(plugin, branch, more), encoding="utf-8")
    # The tracer in Python is there in every version, and tells of all pairs of lines.
    settings = {**os.environ, "CUJIT_DEVICE": "cpu", "COVERAGE_CORE": "pytrace", "PYTHONWARNINGS": "ignore",
                "PYTHONPATH": PACKAGE}
    done = subprocess.run([sys.executable, "-m", *map(str, command)], cwd=folder, env=settings, capture_output=True,
                          text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def data_of(folder, file):
    data = coverage.CoverageData(str(folder / ".coverage"))
    data.read()
    measured = [name for name in data.measured_files() if Path(name).name == Path(file).name]
    return data, measured[0] if measured else None


def write(folder, name, text):
    (folder / name).write_text("import numpy as np\nimport cujit\nfrom cujit import cuda\n" + text, encoding="utf-8")
    return name


def measure(folder, text, branch=True, more=""):
    run(folder, ["coverage", "run", write(folder, "program.py", text)], branch, more)
    return data_of(folder, "program.py")


# --- beside the truth -----------------------------------------------------------------------------------------------

def kernel_lines():
    """By name of a sample: its lines."""
    found = {}
    for node in ast.parse(SAMPLES.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef) and node.name != "run":
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            found[node.name] = range(first, node.end_lineno + 1)
    return found


LINES = kernel_lines()


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    found = {}
    for how in ("python", "kernels"):
        for branch in (True, False):
            folder = tmp_path_factory.mktemp(how)
            run(folder, ["coverage", "run", SAMPLES, how], branch)
            data, file = data_of(folder, SAMPLES)
            found[how, branch] = data.arcs(file) if branch else data.lines(file)
    return found


def first_lines():
    """For the lines of statements with list comprehensions: the first. They are one line to coverage.py, and versions
    of CPython differ in how they come from one to the next."""
    found = {}
    for node in ast.walk(ast.parse(SAMPLES.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.ListComp):
            found |= dict.fromkeys(range(node.lineno, node.end_lineno + 1), node.lineno)
    return found


FIRST_LINES = first_lines()


def inside(arcs, lines):
    """What the arcs say of these lines. A line that is followed by itself is no branch, and coverage.py drops it.
    Before CPython 3.12 a list comprehension is a function of its own, which is entered and left."""
    found = {tuple(FIRST_LINES.get(line, line) for line in arc) for arc in arcs if all(abs(k) in lines for k in arc)}
    return {arc for arc in found if arc[0] != arc[1] and not (arc[0] == -arc[1] and abs(arc[0]) in FIRST_LINES)}


@pytest.mark.parametrize("name", LINES)
def test_branches_are_those_of_plain_python(both, name):
    expected = inside(both["python", True], LINES[name])
    assert expected and inside(both["kernels", True], LINES[name]) == expected


@pytest.mark.parametrize("name", LINES)
def test_lines_are_those_of_plain_python(both, name):
    expected = set(both["python", False]).intersection(LINES[name])
    assert expected and set(both["kernels", False]).intersection(LINES[name]) == expected


# --- who runs functions ---------------------------------------------------------------------------------------------

UFUNCS = """
@cujit.vectorize(["float64(float64)"])
def ufunc(x):
    if x > 1:
        return x
    return -x

@cujit.guvectorize(["void(float64[:], float64[:])"], "(n)->()")
def gufunc(x, out):
    out[0] = 0
    for i in range(x.shape[0]):
        if x[i] > 100:
            out[0] = 5
        out[0] += x[i]

@cuda.reduce
def largest(a, b):
    if a > b:
        return a
    return b

for _ in range(3):
    ufunc(cuda.to_device(np.arange(5.0)))
gufunc(np.ones((3, 4)))
largest(np.array([1.0, 0.0] * 8))
"""


def test_ufuncs_gufuncs_and_reductions(tmp_path):
    data, file = measure(tmp_path, UFUNCS, branch=False)
    source = (tmp_path / "program.py").read_text(encoding="utf-8").splitlines()
    missing = [source[line - 1].strip() for line in range(6, 27)
               if source[line - 1].strip() and line not in data.lines(file)]
    assert missing == ["out[0] = 5"]


CONTEXTS = """
import coverage

@cuda.jit
def kernel(which, out):
    if which == 1:
        out[0] = 1
    else:
        out[0] = 2

running = coverage.Coverage.current()
for which in (1, 2, 1):
    running.switch_context(f"call {which}")
    kernel[1, 1](which, np.zeros(1))
"""


def test_lines_belong_to_the_context_of_their_launch(tmp_path):
    data, file = measure(tmp_path, CONTEXTS, branch=False)
    contexts = data.contexts_by_lineno(file)
    assert set(contexts[9]) == {"call 1", "call 2"}
    assert set(contexts[10]) == {"call 1"}
    assert set(contexts[12]) == {"call 2"}


ELSEWHERE = """
from left_out import kernel as other

@cuda.jit
def kernel(out):
    out[0] = 1

kernel[1, 1](np.zeros(1))
other[1, 1](np.zeros(1))
"""


@pytest.mark.parametrize("more", ["omit = */left_out.py", "include = */program.py"])
def test_files_that_are_left_out_stay_out(tmp_path, more):
    write(tmp_path, "left_out.py", "@cuda.jit\ndef kernel(out):\n    out[0] = 1\n")
    data, file = measure(tmp_path, ELSEWHERE, more=more)
    assert 8 in data.lines(file)
    assert data_of(tmp_path, "left_out.py")[1] is None


def test_packages_of_the_source(tmp_path):
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text("", encoding="utf-8")
    write(tmp_path, "package/kernels.py", "@cuda.jit\ndef kernel(out):\n    out[0] = 1\n")
    text = "from package.kernels import kernel\nkernel[1, 1](np.zeros(1))\n"
    run(tmp_path, ["coverage", "run", write(tmp_path, "program.py", text)], True, "source_pkgs = package")
    data, file = data_of(tmp_path, "kernels.py")
    assert 6 in data.lines(file)
    assert data_of(tmp_path, "program.py")[1] is None


FAILS = """
@cuda.jit(debug=True)
def kernel(out):
    i = cuda.grid(1)
    if i == 2:
        raise ValueError("two")
    out[i] = 1

try:
    kernel[1, 4](np.zeros(4))
except ValueError:
    seen = True
"""


def test_a_kernel_that_raises_has_run(tmp_path):
    data, file = measure(tmp_path, FAILS)
    assert {7, 8, 9, 10, 15} <= set(data.lines(file))
    assert (9, -5) in data.arcs(file)


CHECKED = """
@cuda.jit(check="bounds")
def kernel(out):
    i = cuda.grid(1)
    if i * i < 100:
        out[i] = 1

kernel[1, 32](np.zeros(10))
try:
    kernel[1, 32](np.zeros(9))
except IndexError:
    seen = True
"""


def test_launches_that_have_to_be_checked_have_run(tmp_path):
    data, file = measure(tmp_path, CHECKED)
    assert {7, 8, 9, 15} <= set(data.lines(file))
    assert {(8, 9), (8, -5)} <= set(data.arcs(file))


CACHED = """
@cuda.jit
def kernel(which, out):
    if which:
        out[0] = 1
    else:
        out[0] = 2

kernel[1, 1](1, np.zeros(1))
"""


def test_code_from_the_disk_cache_counts(tmp_path, monkeypatch):
    monkeypatch.setenv("CUJIT_CACHE", "1")
    monkeypatch.setenv("CUJIT_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "cache").mkdir(mode=0o700)
    for _ in range(2):
        data, file = measure(tmp_path, CACHED)
        assert {7, 8} <= set(data.lines(file)) and 10 not in data.lines(file)
    # The same file without the plugin: code that does not count.
    run(tmp_path, ["coverage", "run", "program.py"], plugin="")
    data, file = data_of(tmp_path, "program.py")
    assert 7 not in data.lines(file)


TESTS = """
@cuda.jit
def kernel(which, out):
    if which:
        out[0] = 1
    else:
        out[0] = 2

def test_first():
    kernel[1, 1](1, np.zeros(1))

def test_second():
    kernel[1, 1](0, np.zeros(1))
"""


@pytest.mark.parametrize("options", [[], ["-n", "2"]])
def test_pytest_cov(tmp_path, options):
    pytest.importorskip("pytest_cov")
    write(tmp_path, "test_it.py", TESTS)
    run(tmp_path, ["pytest", "-q", "--cov=.", "--cov-report=term-missing", "-p", "no:cacheprovider", *options,
                   "test_it.py"])
    data, file = data_of(tmp_path, "test_it.py")
    assert {(7, 8), (7, 10), (8, -5), (10, -5)} <= set(data.arcs(file))


def test_option_by_hand():
    """Without coverage.py, code that counts lines runs as any other, and nobody is told."""
    import numpy as np

    from cujit import cuda

    out = np.zeros(1)
    cuda.jit(observe="lines")(lambda out: None)[1, 1](out)
    with pytest.raises(ValueError, match="observe is 'lines', 'accesses' or ''"):
        cuda.jit(observe="words")(lambda out: None)


UNCOUNTED = """
import warnings
import numpy as np
from cujit import _core, cuda

_core.set_setting("observe_lines", True)
kernels = [cuda.jit(lambda out: None) for _ in range(2)]
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    for kernel in kernels:
        kernel[1, 1](cuda.device_array(1))
print([str(each.message) for each in seen if "coverage.py" in str(each.message)])
"""


def test_a_gpu_says_once_that_it_counts_nothing(fake_driver, run_python):
    """The fake driver takes any code; what it runs does nothing."""
    told = run_python(UNCOUNTED, CUJIT_DRIVER_LIBRARY=fake_driver, CUJIT_DEVICE="cuda")
    assert told.count("lines of kernels that run on a GPU are not counted") == 1


@pytest.mark.parametrize("lost", ["_file_mapper", "_data"])
def test_a_coverage_without_what_is_asked_of_it(tmp_path, lost):
    run(tmp_path, ["coverage", "run", write(tmp_path, "program.py", f"""
import coverage

@cuda.jit
def kernel(x):
    x[0] = 1

running = coverage.Coverage.current()
kept = vars(running).pop("{lost}")
try:
    kernel[1, 1](np.zeros(1))
except RuntimeError as error:
    assert "coverage.py " + coverage.__version__ in str(error) and "Coverage has no {lost}:" in str(error), error
else:
    raise AssertionError("no error")
finally:
    vars(running)["{lost}"] = kept
""")])
