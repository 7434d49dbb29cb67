"""cujit in numba.cuda's place: programs for numba run as they are, as files, modules, text and in child processes."""
import importlib.util
import os
import subprocess
import sys

import pytest

PROGRAM = """
import sys
import numpy as np
import numba
from numba import cuda, float32, guvectorize, vectorize
from numba.cuda.cudadrv.devicearray import DeviceNDArray

@cuda.jit("void(float32[:])")
def fill(x):
    x[cuda.grid(1)] = 3

@vectorize([float32(float32, float32)], target="cuda")
def add(x, y):
    return x + y

@guvectorize(["void(float32[:], float32[:])"], "(n)->()", target="cuda")
def total(x, out):
    for value in x:
        out[0] += value

if __name__ == "__main__":
    x = np.zeros(32, np.float32)
    fill[1, 32](x)
    print(x.sum(), add(x, x)[:2], total(x, out=np.zeros((), np.float32)), cuda.__name__, sys.argv[1:])
    isinstance(cuda.to_device(x), DeviceNDArray) or exit("no device array")
"""
PRINTED = "96.0 [6. 6.] 96.0 cujit.cuda ['-a', 'b c']\n"

with_numba = pytest.mark.skipif(importlib.util.find_spec("numba") is None, reason="numba is not installed")
without_numba = pytest.mark.skipif(importlib.util.find_spec("numba") is not None, reason="numba is installed")


@pytest.fixture
def cujit(tmp_path):
    """Runs `python -m cujit ...` in tmp_path; gives the finished process."""

    def run(*arguments, options=(), text=None, **environment):
        path = os.pathsep.join(os.path.abspath(p) for p in sys.path)
        environment = {**os.environ, "PYTHONPATH": path, "CUJIT_DEVICE": "cpu", **environment}
        return subprocess.run([sys.executable, *options, "-m", "cujit", *map(str, arguments)], capture_output=True,
                              text=True, timeout=300, cwd=tmp_path, input=text, env=environment)

    return run


@pytest.fixture
def program(tmp_path):
    """Writes a program and gives its path."""

    def write(text):
        path = tmp_path / "some_program.py"
        path.write_text(text)
        return path

    return write


def printed(done):
    assert done.returncode == 0, done.stderr
    return done.stdout


# --- ways to run -----------------------------------------------------------------------------------------------------

def test_a_file(cujit, program):
    done = cujit(program(PROGRAM), "-a", "b c")
    assert printed(done) == PRINTED
    assert done.stderr == ""   # hints for GPUs are none of the CPU device's


def test_a_module(cujit, program):
    program(PROGRAM)
    assert printed(cujit("-m", "some_program", "-a", "b c")) == PRINTED


def test_text_and_standard_input(cujit):
    assert printed(cujit("-c", PROGRAM, "-a", "b c")) == PRINTED
    assert printed(cujit("-", "-a", "b c", text=PROGRAM)) == PRINTED


def test_pythons_own_options(cujit, program):
    path = program("import sys\nprint(sys.flags.optimize, sys.flags.utf8_mode, sys.argv)\nfrom numba import cuda")
    assert printed(cujit(path, options=["-O", "-X", "utf8"])) == f"1 1 ['{path}']\n"


def test_tracebacks_are_the_programs(cujit, program):
    path = program("from numba import cuda\n\ndef fail():\n    raise ValueError('own')\n\nfail()\n")
    done = cujit(path)
    assert done.returncode == 1
    lines = done.stderr.splitlines()
    assert lines[0].startswith("Traceback") and lines[1] == f'  File "{path}", line 6, in <module>'
    assert lines[-1] == "ValueError: own" and "cujit" not in done.stderr


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_child_processes(cujit, program, method):
    text = f"""
import multiprocessing, subprocess, sys
from numba import cuda

def name(k):
    return cuda.__name__, __name__

if __name__ == "__main__":
    with multiprocessing.get_context("{method}").Pool(1) as pool:
        print(pool.map(name, [1]))
    print(subprocess.check_output([sys.executable, "-c", "from numba import cuda; print(cuda.__name__)"], text=True))
"""
    assert printed(cujit(program(text))).split("\n")[:2] == ["[('cujit.cuda', '__mp_main__')]", "cujit.cuda"]


KERNELS_OF_MAIN = """
import multiprocessing
import numpy as np
from numba import cuda, vectorize

SCALE = 3

@cuda.jit(device=True)
def scaled(v):
    return v * SCALE

@cuda.jit
def kernel(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = scaled(x[i])

@vectorize(["float64(float64)"], target="cuda")
def half(x):
    return x / 2

def make(k):
    @cuda.jit
    def closure(x):
        x[cuda.grid(1)] += k
    return closure

def task(n):
    x = np.arange(n, dtype=np.float64)
    kernel[1, 32](x)
    return half(x).tolist()

def run(kernel, n):
    x = np.arange(n, dtype=np.float64)
    kernel[1, n](x)
    return x.tolist()

if __name__ == "__main__":
    {pool}
"""


@pytest.mark.parametrize("method", ["spawn", "forkserver", "fork"])
def test_kernels_of_main_in_a_pool(cujit, program, method):
    """kernel is found in the child's __main__, the closure comes as its code."""
    done = cujit(program(KERNELS_OF_MAIN.replace("{pool}", f"""
    with multiprocessing.get_context("{method}").Pool(2) as pool:
        print(pool.map(task, [2, 3]), pool.starmap(run, [(kernel, 3), (make(5), 3)]))
""")))
    assert printed(done) == "[[0.0, 1.5], [0.0, 1.5, 3.0]] [[0.0, 3.0, 6.0], [5.0, 6.0, 7.0]]\n"
    assert done.stderr == ""


def test_kernels_of_main_in_jobs_of_joblib(cujit, program):
    """Loky's workers have another __main__, and import numba for no name of the task's: it comes by cloudpickle."""
    pytest.importorskip("joblib")
    done = cujit(program(KERNELS_OF_MAIN.replace("{pool}", """
    from joblib import Parallel, delayed
    print(Parallel(n_jobs=2)(delayed(task)(n) for n in (2, 3)))
    print(Parallel(n_jobs=2)(delayed(run)(k, 3) for k in (kernel, make(5))))
""")))
    assert printed(done) == "[[0.0, 1.5], [0.0, 1.5, 3.0]]\n[[0.0, 3.0, 6.0], [5.0, 6.0, 7.0]]\n"
    assert done.stderr == ""   # hints for GPUs are none of the CPU device's


def test_a_sitecustomize_of_the_users_runs_too(cujit, program, tmp_path):
    own = tmp_path / "own"
    own.mkdir()
    (own / "sitecustomize.py").write_text("import sys\nsys.of_the_user = 5\n")
    path = os.pathsep.join([str(own), *(os.path.abspath(p) for p in sys.path)])
    text = """
import sys, sitecustomize
from numba import cuda
print(sys.of_the_user, cuda.__name__, sitecustomize.__file__)
"""
    done = cujit(program(text), PYTHONPATH=path)
    assert printed(done) == f"5 cujit.cuda {own}/sitecustomize.py\n"


def test_the_folder_for_starting_is_not_left_on_the_path(cujit):
    assert "startup" not in printed(cujit("-c", "import sys; print(sys.path)"))


def test_options_that_shut_out_the_hook(cujit):
    done = cujit("-c", "pass", options=["-S"])
    assert done.returncode != 0 and ("install_as_numba" in done.stderr or "No module" in done.stderr)


# --- by a call -------------------------------------------------------------------------------------------------------

def test_a_call_in_the_program(run_python):
    program = "import cujit\ncujit.install_as_numba()\ncujit.install_as_numba()\n" + PROGRAM
    assert run_python(program, "-a", "b c", CUJIT_DEVICE="cpu") == PRINTED


def test_a_call_that_comes_too_late(run_python):
    program = """
import sys, types
sys.modules["numba.cuda"] = types.ModuleType("numba.cuda")   # as if imported
import cujit
try:
    cujit.install_as_numba()
except RuntimeError as error:
    print(error)
"""
    assert "before" in run_python(program)


def test_numbas_variable_for_its_simulator(run_python):
    program = """
import cujit
cujit.install_as_numba()
from numba import cuda
print(cuda.is_available(), cuda.get_current_device().kind)
"""
    program = "import os\nos.environ.pop('CUJIT_DEVICE', None)\n" + program
    assert run_python(program, NUMBA_ENABLE_CUDASIM="1") == "True cpu\n"


# --- what is there ---------------------------------------------------------------------------------------------------

STATEMENTS = [
    "import numba.cuda.cudadrv.driver", "from numba.cuda.cudadrv.error import CudaSupportError, NvvmSupportError",
    "from numba.cuda.cudadrv.devices import get_context", "from numba.cuda.cudadrv.devicearray import is_cuda_ndarray",
    "from numba.cuda.cudadrv import nvvm; assert nvvm.is_available()", "from numba.cuda.cudadrv.runtime import runtime",
    "from numba.cuda.cudadrv.enums import CU_DEVICE_ATTRIBUTE_WARP_SIZE as w; assert w == 10",
    "from numba.cuda.random import create_xoroshiro128p_states", "from numba.cuda.cg import this_grid",
    "from numba.cuda.fp16 import hadd", "from numba.cuda.libdevice import rsqrtf", "from numba.cuda.bf16 import hmul",
    "from numba.cuda.api import to_device", "from numba.cuda.errors import CudaLoweringError",
    "from numba.cuda.compiler import compile_ptx", "from numba.cuda.dispatcher import Dispatcher",
    "from numba.cuda.kernels.reduction import Reduce", "from numba.cuda.kernels.transpose import transpose",
    "from numba.cuda.vector_types import vector_types, float32x4; assert vector_types['float32x4'] is float32x4",
    "from numba.cuda.testing import CUDATestCase, skip_on_cudasim, unittest", "from numba.cuda.stubs import threadIdx",
    "from numba.cuda.testing import skip_if_cudadevrt_missing, skip_unless_cc_50",
    "from numba.cuda.simulator import to_device", "from numba.cuda.core import config, errors, types",
    "from numba.cuda.core.errors import NumbaPerformanceWarning, TypingError", "from numba.cuda.args import wrap_arg",
    "from numba.cuda.np.numpy_support import carray, farray",
    "from numba.cuda.cudadrv.devicearray import from_array_like, is_contiguous",
    "from numba.cuda.np.numpy_support import as_dtype, from_dtype; assert as_dtype(from_dtype('f4')) == 'f4'",
    "from numba.cuda.core.errors import NumbaInvalidConfigWarning, NumbaDebugInfoWarning",
    "from numba import NumbaDeprecationWarning, NumbaPendingDeprecationWarning",
    "from numba.cuda.cudadrv.devicearray import is_contiguous, auto_device, verify_cuda_ndarray_interface",
    "from numba.cuda.misc.special import literal_unroll", "from numba.cuda.typing import signature",
    "from numba.core.errors import NumbaPerformanceWarning, TypingError", "from numba.core import config, types",
    "from numba.core.errors import NumbaPedanticWarning, NumbaSystemWarning, LiteralTypingError, VerificationError",
    "import numba; assert numba.version_info[:2] >= (0, 57)",
    "from numba import config, errors, types, void, literal_unroll", "from numba.cuda import float32, types",
    "from numba.np.numpy_support import from_dtype", "from numba.cuda.extending import overload",
    "from numba.extending import overload", "from numba.cuda.devicearray import auto_device",
    "from numba.cuda.core.caching import CacheImpl, IndexDataCacheFile, _CacheLocator",
    "from numba.cuda.serialize import dumps", "from numba.cuda.dispatcher import CUDADispatcher",
    "from numba.cuda.simulator.cudadrv.devicearray import FakeCUDAArray",
    "from numba.cuda.cudadrv.driver import event_elapsed_time, profile_start, profile_stop, profiling",
    "from numba.cuda.random import init_xoroshiro128p_states_cpu", "from numba.cuda.cache_hints import ldca, stwt",
    "from numba.cuda.fp16 import __hadd_sat, __half, __half2int_rz, atomicAdd",
    "from numba.cuda.core.errors import NumbaTypeError, NumbaValueError; assert issubclass(NumbaTypeError, TypeError)",
    "from numba import cuda; assert cuda.devices.get_context().device is cuda.get_current_device()",
    "from numba import cuda; assert cuda.devicearray.is_cuda_ndarray(cuda.device_array(3))",
    "from numba import cuda; cuda.devicearray.IpcArrayHandle, cuda.devicearray.ManagedNDArray",
    "from numba import cuda; assert cuda.driver.get_version() == cuda.driver.driver.get_version(); cuda.devices.reset",
    "from numba import cuda; assert issubclass(cuda.driver.CudaAPIError, Exception) and cuda.nvvm.is_available()",
    "from numba.cuda.cudadrv.drvapi import cu_context, cu_device, cu_device_ptr, cu_event, cu_stream; cu_stream(0)",
    "from numba import cuda; assert cuda.cudadrv.nvvm.is_available(); cuda.cudadrv.enums, cuda.cudadrv.drvapi",
]


# Of modules that an installed numba has itself.
STATEMENTS_WITHOUT_NUMBA = [
    "from numba.core.errors import ForbiddenConstruct as F; assert issubclass(F, NotImplementedError)",
    "from numba.core.extending import overload as o; from numba.cuda import extending; assert o is extending.overload",
]


def failures(cujit, statements):
    return printed(cujit("-c", f"""
for statement in {statements!r}:
    try:
        exec(statement)
    except Exception as error:
        print(statement, repr(error))
"""))


def test_modules(cujit):
    assert failures(cujit, STATEMENTS) == ""


@without_numba
def test_modules_of_a_numba_that_is_not_there(cujit):
    assert failures(cujit, STATEMENTS_WITHOUT_NUMBA) == ""


def test_modules_are_the_same_objects(cujit):
    text = """
import sys
import cujit.cuda, numba.cuda.cudadrv.driver, numba.cuda.types
for name in [name for name in sys.modules if name.startswith("numba.cuda")]:
    assert sys.modules[name] is sys.modules[name.replace("numba", "cujit", 1)], name
assert cujit.cuda.__spec__.name == "cujit.cuda" and numba.cuda is cujit.cuda
"""
    printed(cujit("-c", text))


def test_a_module_that_cujit_has_not(cujit):
    done = cujit("-c", "import numba.cuda.lowering")
    assert "No module named 'numba.cuda.lowering'" in done.stderr and "cujit" in done.stderr


def test_names_of_numbas_driver_that_cujit_has_not(cujit):
    done = cujit("-c", "from numba.cuda.cudadrv import driver\ndriver.load_module_image")
    assert "no attribute 'load_module_image': cuda.RawModule loads PTX" in done.stderr
    done = cujit("-c", "from numba.cuda.cudadrv import driver\ndriver.nonsense")
    assert done.stderr.endswith("has no attribute 'nonsense'\n")


def test_what_is_asked_of_functions_and_arrays(cujit):
    text = """
import pickle
from numba import cuda
from numba.cuda.dispatcher import CUDADispatcher
from numba.cuda.serialize import dumps
from numba.cuda.simulator.cudadrv.devicearray import FakeCUDAArray
from numba.cuda.simulator.kernel import FakeCUDAKernel
from numba.cuda.utils import numba_target_override

twice = cuda.jit(device=True)(lambda x: 2 * x)
kernel = cuda.jit(lambda out: None)
assert twice._device and not kernel._device
for function in twice, kernel:
    assert isinstance(function, CUDADispatcher) and isinstance(function, FakeCUDAKernel)
assert isinstance(cuda.to_device([1, 2]), FakeCUDAArray) and not isinstance(1, FakeCUDAArray)
with numba_target_override():
    assert pickle.loads(dumps({"a": (1, 2)})) == {"a": (1, 2)}
"""
    printed(cujit("-c", text))


def test_files_of_a_program_that_keeps_what_it_compiles(cujit, tmp_path):
    text = f"""
from pathlib import Path
from numba.cuda.core.caching import CacheImpl, IndexDataCacheFile, _CacheLocator

folder = Path({str(tmp_path / "kept")!r})

class Locator(_CacheLocator):
    def get_cache_path(self):
        return str(folder)

    def get_source_stamp(self):
        return "first"

    def get_disambiguator(self):
        return "apart"

    @classmethod
    def from_function(cls, function, file):
        return cls()

class Impl(CacheImpl):
    _locator_classes = [Locator]

    def reduce(self, data):
        return data

    def rebuild(self, target_context, payload):
        return payload

    def check_cachable(self, data):
        return True

def function():
    pass

impl = Impl(function)
impl.locator.ensure_cache_path()
assert folder.is_dir() and not list(folder.iterdir())
assert "function" in impl.filename_base and impl.filename_base.endswith("-apart")

def kept(stamp):
    return IndexDataCacheFile(impl.locator.get_cache_path(), impl.filename_base, stamp)

file = kept("first")
assert file.load("key") is None
file.save("key", [1])
file.save(("f", 2), "two")
file.save("key", [2])
assert (kept("first").load("key"), kept("first").load(("f", 2))) == ([2], "two")
assert kept("second").load("key") is None
assert len(list(folder.glob("*.nbi"))) == 1 and len(list(folder.glob("*.nbc"))) == 2 == len(list(folder.iterdir())) - 1
for data in folder.glob("*.nbc"):
    data.write_bytes(b"damaged")
assert file.load("key") is None
file.save("key", [3])
assert file.load("key") == [3]
file.flush()
assert file.load("key") is None

Impl._locator_classes = []
try:
    Impl(function)
except RuntimeError as error:
    assert "_locator_classes" in str(error)
else:
    raise AssertionError
"""
    printed(cujit("-c", text))


def test_kernels_transpose(cujit):
    text = """
import numpy as np
from numba import cuda
from numba.cuda.kernels.transpose import transpose
a = np.arange(35.0).reshape(5, 7)
b = transpose(cuda.to_device(a))
assert b.is_c_contiguous() and (b.copy_to_host() == a.T).all()
"""
    printed(cujit("-c", text))


def test_what_test_suites_import(cujit):
    text = """
import numpy as np
from numba import cuda
from numba.cuda.testing import CUDATestCase, captured_cuda_stdout, unittest

class Test(CUDATestCase):
    def test_print(self):
        @cuda.jit
        def hello():
            print("hello", cuda.grid(1))

        with captured_cuda_stdout() as stdout:
            hello[1, 2]()
        self.assertEqual(sorted(stdout.getvalue().split()), ["0", "1", "hello", "hello"])

unittest.main()
"""
    assert "OK" in cujit("-c", text).stderr


# --- without and with numba ------------------------------------------------------------------------------------------

@without_numba
def test_compilers_for_cpus_need_numba(cujit):
    done = cujit("-c", "from numba import njit")
    assert done.stderr.splitlines()[-1].startswith("ImportError: numba.njit compiles for CPUs and needs numba")
    assert "has no attribute 'x'" in cujit("-c", "import numba\nnumba.x").stderr


@with_numba
def test_numbas_side_for_cpus_stays(cujit):
    text = """
import numba
from numba import cuda, njit, vectorize

@njit
def twice(x):
    return 2 * x

@vectorize(["float64(float64)"])
def on_the_cpu(x):
    return twice(x)

@cuda.jit
def kernel(x):
    x[0] = twice(x[0])

import numpy as np
x = np.full(1, 4.0)
kernel[1, 1](x)
print(twice(3), on_the_cpu(2.0), x[0], type(on_the_cpu).__module__.split(".")[0], numba.__version__[:2])
"""
    assert printed(cujit("-c", text)) == "6 4.0 8.0 numba 0.\n"


@with_numba
def test_numbas_types_around_cujits(cujit):
    """`void` and `float32` of a program are numba's, what it imports from numba.cuda is cujit's."""
    text = """
import numpy as np
from numba import cuda, float32, types, void
from numba.cuda.random import create_xoroshiro128p_states, xoroshiro128p_type, xoroshiro128p_uniform_float32

def draw(states, out, pair):
    out[pair[1]] = xoroshiro128p_uniform_float32(states, pair[1])

pair = types.Tuple((types.int32, types.int64))
signatures = (void(xoroshiro128p_type[:], float32[:], pair), (xoroshiro128p_type[:], float32[:], pair),
              [void(xoroshiro128p_type[::1], float32[::1], pair)])
for signature in signatures:
    out = np.full(2, -1, np.float32)
    cuda.jit(signature)(draw)[1, 1](create_xoroshiro128p_states(2, 1), out, (7, 1))
    assert out[0] == -1 and 0 <= out[1] <= 1
"""
    printed(cujit("-c", text))


@with_numba
def test_numbas_optional_types(cujit):
    text = """
import numpy as np
from numba import cuda, float64, types, void

@cuda.jit(void(types.Optional(float64), float64[:]))
def kernel(x, out):
    out[0] = -1 if x is None else x

out = np.zeros(1)
for x, want in (None, -1), (2.5, 2.5):
    kernel[1, 1](x, out)
    assert out[0] == want
"""
    printed(cujit("-c", text))


@with_numba
def test_numbas_errors_warnings_and_settings(cujit):
    """Who catches or filters numba's classes, or assigns to its settings, means cujit's, too."""
    text = """
import warnings
import numba, cujit
from numba.core.errors import NumbaError, NumbaPerformanceWarning, TypingError
numba.config.CUDA_WARN_ON_IMPLICIT_COPY = 0
from numba import cuda, config
assert not cujit.config.CUDA_WARN_ON_IMPLICIT_COPY
config.CUDA_WARN_ON_IMPLICIT_COPY = config.CUDA_LOW_OCCUPANCY_WARNINGS = 1
assert cujit.config.CUDA_WARN_ON_IMPLICIT_COPY is True and not isinstance(config.DISABLE_JIT, property)

@cuda.jit
def wrong(x):
    x[0] = "a" + 1

for kind in (TypingError, NumbaError, TypeError):
    try:
        cuda.jit("void(int64[:])")(wrong.py_func)
    except kind as error:
        assert "wrong" in str(error)

@cuda.jit
def right(x):
    x[0] = 1

with warnings.catch_warnings():
    warnings.simplefilter("error")
    warnings.simplefilter("ignore", NumbaPerformanceWarning)
    right[1, 1](cuda.to_device([1]))
"""
    printed(cujit("-c", text))
