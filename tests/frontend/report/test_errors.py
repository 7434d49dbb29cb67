"""Every error that a user can cause: its class, its row of diag.def, and where it points.

A case is the source of a kernel; the offending expression stands between « and ». The error must name the file and that
line, and the carets below the shown line must stand exactly under the marked text.
"""
import importlib.util
import itertools

import numpy as np
import pytest

from cujit import _core, cuda, errors, float64, int64

numbers = itertools.count()

F = np.zeros(8, np.float64)
I = np.zeros(8, np.int64)


class Case:
    def __init__(self, code, exception, source, *arguments, says="", before="", wide=False):
        """wide: some CPython versions place the error at the whole statement, which the marked text is a part of."""
        self.code, self.exception, self.says, self.wide = code, exception, says, wide
        self.source, self.arguments, self.before = source, arguments, before

    def __repr__(self):
        return f"{self.code}-{self.source[:30]}"


CASES = [
    # bytecode and values
    Case("UNSUPPORTED_BYTECODE", errors.UnsupportedError, "«def kernel(x):»\n    yield 1", F, says="generator"),
    Case("UNSUPPORTED_BYTECODE", errors.UnsupportedError, "«import math»", F, says="top of the module"),
    Case("UNSUPPORTED_BYTECODE", errors.UnsupportedError, "d = «{x[0]: 2}»", F, says="constant"),
    Case("TYPE_STORE", errors.TypingError, "«x += 0.5»", I, says="in place"),
    Case("TYPE_STORE", errors.TypingError, "d = {1: 2}\n«d[3]» = 4", F, says="cannot be changed"),
    Case("TYPE_STORE", errors.TypingError, "d = [1, 2]\n«d[1]» = 4", F, says="cannot be changed"),
    Case("CONSTANT_REQUIRED", errors.TypingError, "d = {1: 2}\nx[0] = «d[n]»", F, 3, says="key"),
    Case("CONSTANT_RANGE", errors.TypingError, "d = {1: 2}\nx[0] = «d[2]»", F, says="2"),
    Case("UNSUPPORTED_BYTECODE", errors.UnsupportedError, "s = «{1, x[0]}»", F, says="tuple"),
    Case("UNSUPPORTED_BYTECODE", errors.UnsupportedError, "del «x[0]»", F, says="store"),
    Case("UNSUPPORTED_BYTECODE", errors.UnsupportedError, "global q\n«q» = 1", F, says="array argument"),
    Case("UNSUPPORTED_BYTECODE", errors.UnsupportedError, "match n:\n    case «{}»: x[0] = 1", F, 3, says="dict"),
    Case("ATTRIBUTE_UNKNOWN", errors.TypingError, "y = []\n«y.append»(1)", F, says="cuda.local.array"),
    Case("UNSUPPORTED_BYTECODE", errors.UnsupportedError, "with «x»: pass", F, wide=True),
    Case("UNSUPPORTED_VALUE", errors.UnsupportedError, "x[0] = «thing»", F, before="thing = object()",
         says="'thing' is an object of class 'object', which"),
    Case("UNSUPPORTED_VALUE", errors.UnsupportedError, "x[0] = «sizes»[0]", F, before="sizes = [1, 2]",
         says="'sizes' is an object of class 'list', which cannot be used in a kernel; a tuple can be"),
    Case("UNSUPPORTED_VALUE", errors.UnsupportedError, "«input»()", F, says="a function that is not written in Python"),
    Case("UNSUPPORTED_VALUE", errors.UnsupportedError, "x[0] = «thing»", F, before="thing = {1.5: 2}", says="dict"),
    Case("UNSUPPORTED_VALUE", errors.UnsupportedError, "y = «np.zeros»(3)", F, before="import numpy as np",
         says="makes arrays, which cannot be used in a kernel; cuda.local.array(shape, dtype)"),
    Case("UNSUPPORTED_VALUE", errors.UnsupportedError, "y = «np.full_like»(x, 3)", F, before="import numpy as np",
         says="cuda.local.array(shape, dtype)"),
    Case("UNSUPPORTED_VALUE", errors.UnsupportedError, "y = «np.sort»(x)", F, before="import numpy as np",
         says="makes arrays"),
    Case("UNSUPPORTED_VALUE", errors.UnsupportedError, "y = «np.unique»(x)", F, before="import numpy as np",
         says="a function of NumPy that kernels do not have"),
    Case("UNSUPPORTED_VALUE", errors.UnsupportedError, "x[0] = «random.random»()", F, before="import random",
         says="cuda.random"),
    Case("UNSUPPORTED_VALUE", errors.UnsupportedError, "x[0] = «np.random.rand»()", F, before="import numpy as np",
         says="cuda.random"),
    Case("ATTRIBUTE_UNKNOWN", errors.TypingError, "y = «x.astype»(float64)", F, says="cuda.local.array(shape, dtype)",
         before="from cujit import float64"),
    Case("CONSTANT_REQUIRED", errors.TypingError, "y = «x.copy()»", F, says="cuda.local.array(shape, dtype)"),
    Case("TYPE_OPERANDS", errors.TypingError, "y = «x * 2»", F, says="kernels compute with elements"),
    # names and attributes
    Case("NAME_UNDEFINED", errors.TypingError, "x[0] = «nowhere»", F, says="nowhere"),
    Case("ATTRIBUTE_UNKNOWN", errors.TypingError, "x[0] = «x.colour»", F, says="colour"),
    Case("ATTRIBUTE_UNKNOWN", errors.TypingError, "«cuda.grit»(1)", F, says="grit"),
    Case("ATTRIBUTE_UNKNOWN", errors.TypingError, "x[0] = «math.sine»(1.0)", F, before="import math", says="sine"),
    # wide accesses
    Case("CONSTANT_REQUIRED", errors.TypingError, "x[0] = «cuda.wide.load(x, 0, n)»[0]", F, 2),
    Case("CONSTANT_RANGE", errors.TypingError, "x[0] = «cuda.wide.load(x, 0, 3)»[0]", F, says="2, 4, 8"),
    Case("CONSTANT_RANGE", errors.TypingError, "«cuda.wide.store(x, 0, (1.0,))»", F, says="2, 4, 8"),
    Case("TYPE_ARGUMENTS", errors.TypingError, "«cuda.wide.store(x, 0, 1.0)»", F, says="tuple"),
    Case("TYPE_ARGUMENTS", errors.TypingError, "x[0, 0] = «cuda.wide.load(x, 0, 2)»[0]", F.reshape(2, 4), says="axis"),
    Case("TYPE_ARGUMENTS", errors.TypingError, "x[0] = «cuda.wide.load(x, 1.5, 2)»[0]", F, says="integer"),
    # operators, calls and conversions
    Case("TYPE_OPERANDS", errors.TypingError, "x[0] = «x + (1, 2)»", F, says="+"),
    Case("TYPE_OPERANDS", errors.TypingError, "x[0] = «1.5 << 2»", F, says="<<"),
    Case("TYPE_OPERANDS", errors.TypingError, "x[0] = «~1.5»", F, says="~"),
    Case("TYPE_OPERANDS", errors.TypingError, "x[0] = «1j < 2j»", F, says="<"),
    Case("TYPE_ARGUMENTS", errors.TypingError, "x[0] = «math.sin(x)»", F, before="import math", says="sin"),
    Case("TYPE_UNIFY", errors.TypingError, "y = x[0]\nif n:\n    y = (1, 2)\nx[0] = «len»(y)", F, 3, says="float64"),
    Case("TYPE_CONVERT", errors.TypingError, "x[0] = «float(1j)»", F, says="complex128"),
    Case("TYPE_INDEX", errors.TypingError, "x[0] = «x[1.5]»", F, says="float64; int(...) makes an index"),
    Case("TYPE_INDEX", errors.TypingError, "x[0] = «x[0, 1]»", F, says="with so many indices; it has 1 axis"),
    Case("TYPE_INDEX", errors.TypingError, "x[0] = «x[0, 'a']»", F, says="so many indices"),
    Case("TYPE_INDEX", errors.TypingError, "x[0] = «n[0]»", F, 3),
    Case("TYPE_STORE", errors.TypingError, "«x[0]» = 1j", F, says="complex128"),
    Case("TYPE_STORE", errors.TypingError, "«x[0]» = (1, 2)", F),
    Case("TYPE_ITERATE", errors.TypingError, "for v in «n»: pass", F, 3, says="int64", wide=True),
    Case("TYPE_CALL", errors.TypingError, "x[0] = «n(1)»", F, 3, says="int64"),
    Case("TYPE_TRUTH", errors.TypingError, "if «x»: x[0] = 1", F, wide=True),
    Case("READ_ONLY", errors.TypingError, "«table[0]» = x[0]", F, before="table = np.arange(3.0)", says="read-only"),
    Case("CALL_ARITY", errors.TypingError, "x[0] = «helper(1)»", F, before="def helper(a, b): return a + b",
         says="helper"),
    Case("CALL_ARITY", errors.TypingError, "x[0] = «helper(1, 2, 3)»", F, before="def helper(a, b): return a + b"),
    Case("CALL_KEYWORD", errors.TypingError, "x[0] = «helper(1, c=2)»", F, before="def helper(a, b=1): return a + b",
         says="'c'"),
    Case("UNPACK_COUNT", errors.TypingError, "«a, b» = (1, 2, 3)", F, says="2"),
    Case("CONSTANT_REQUIRED", errors.TypingError, "t = «cuda.shared.array(n, float32)»", F, 3,
         before="from cujit import float32"),
    Case("TYPE_INDEX", errors.TypingError, "x[0] = «(1, 2.5)[n]»", F, 1, says="constant"),
    Case("CONSTANT_RANGE", errors.TypingError, "x[0] = «(1, 2)[5]»", F),
    Case("CONSTANT_RANGE", errors.TypingError, "t = «cuda.local.array(-1, float32)»", F,
         before="from cujit import float32"),
    Case("GENERATOR_USE", errors.UnsupportedError, "y = [v for v in x]\nx[0] = sum(y)\nx[1] = «sum(y)»", F,
         says="once"),
    Case("TYPE_ARGUMENTS", errors.TypingError, "x[0] = «next(x)»", F, says="iter()"),
    Case("GENERATOR_USE", errors.UnsupportedError, "y = [v for v in x]\nx[0] = 1\nx[1] = «sum(y)»", F, says="list"),
    Case("GENERATOR_USE", errors.UnsupportedError, "for v in «[v for v in x]»: x[0] = v", F, says="(...)", wide=True),
    Case("GENERATOR_USE", errors.UnsupportedError, "x[0] = any(«zip([v for v in x])»)", F, says="list", wide=True),
    Case("GENERATOR_USE", errors.UnsupportedError, "x[0] = next(«iter([v for v in x])»)", F, says="list", wide=True),
    Case("CONSTANT_REQUIRED", errors.TypingError, "y = «tuple(v for v in x)»", F, says="sum"),
    Case("UNSUPPORTED", errors.UnsupportedError, "x[0] = make(2)()", F, says="calls itself cannot return",
         before="def make(k):\n    def get(): return k\n    k = k + 1\n    return get if k > 3 else «make(k)»"),
    Case("TYPE_UNIFY", errors.TypingError, "k = 1\ndef f():\n    nonlocal k\n    «k» = (1, 2)\nf()\nx[0] = k", F,
         says="'k'"),
    Case("UNSUPPORTED_BYTECODE", errors.UnsupportedError, "for v in g(2): x[0] = v", F,
         before="def g(n):\n    for v in «g(n - 1)»: yield v", says="itself"),
    Case("UNSUPPORTED_BYTECODE", errors.UnsupportedError, "x[0] = «g()»", F, before="async def g(): return 1",
         says="async"),
    Case("KERNEL_RETURN", errors.KernelReturnError, "«return x[0]»", F, says="float64"),
    Case("UNSUPPORTED_VALUE", errors.UnsupportedError, "x[0] = «10 ** 30»", F, says="is an int that fits neither"),
    Case("TUPLE_SIZE", errors.TypingError, "t = (x[0], x[1])\n" + "t = (t, t)\n" * 11 + "t = «(t, t)»\nx[0] = 1", F,
         says="8192"),
    Case("CALL_DEPTH", errors.TypingError, "x[0] = grow(3, 1.0)", F, says="500",
         before="def grow(n, t): return «grow(n - 1, (t, 1))»"),
    Case("RECURSION_TYPE", errors.TypingError, "x[0] = loop(3)", F, before="def loop(n): return «loop(n - 1)»",
         says="loop"),
]
ROWS = {(case if isinstance(case, Case) else case.values[0]).code for case in CASES}

# Rows that no program in Python can reach, and why.
UNREACHABLE = {
    "UNSUPPORTED_PYTHON": "the build decides",
    "TYPE_UNRESOLVED": "no sample yields it",
    "BYTECODE_BROKEN": "CPython would have to be wrong",
    "IR_INVALID": "a broken invariant; test_ir in tests/core",
    "IR_SYNTAX": "text of tests",
    "NO_MEMORY": "test_no_memory.py",
    "MANY_VARIABLES": "no small program: test_many_variables.py",
    "DEEP_STACK": "no small program: test_many_variables.py",
    "LLVM": "LLVM would have to refuse what codegen makes",
    "BARRIER_DIVERGED": "tests of the CPU device",
    "KERNEL_TRAP": "test_trap.py",
    "INTERRUPTED": "test_interrupt.py",
    "SHADOW": "a GPU's; test_launch_state.c",
    "SHADOW_BLOCKS": "a GPU's; test_launch_state.c",
    "PROFILE_MEMORY": "test_profile.py",
    "PROFILE_LENGTH": "test_profile.py",
    "PROFILE_NESTED": "test_profile.py",
    "TENSOR_MAP": "test_tile.py",
    "TUPLE_NESTING": "test_bad_memory.py",
    "DRIVER_MISSING": "test_import.py",
    "DRIVER_SYMBOL": "an old driver",
    "DRIVER_CALL": "the fake driver's tests",
    "DRIVER_FORKED": "test_forks.py",
    "DRIVER_LINK": "the fake driver's tests",
    "PARAMETER_SPACE": "test_parameter_space.py",
    "DRIVER_PARAMETERS": "test_parameter_space.py",
    "DEVICE_CHOICE": "test_import.py",
    "COMPILER_THREAD": "tests/core/thread/test_own_stack.c",
    "HOST_THREADS": "an exhausted machine",
    "HOST_DEVICES": "test_two_cpu_devices.py",
    "NO_HOST_DEVICE": "test_two_cpu_devices.py",
    "HOST_STACK": "an exhausted machine",
    "HOST_FORK": "a process that is forked by a signal's handler, in the middle of a launch",
    "KERNEL_EXCEPTION": "the exception itself is raised, see test_exceptions.py",
    "INTRINSIC_TARGET": "no intrinsic of the table needs a newer GPU",
    "RESULT_TYPE": "tests/python/algorithms/test_results.py",
    "OVERLOAD_NONE": "tests/python/extending",
    "OVERLOAD_FAILED": "tests/python/extending",
    "LAUNCH_DEVICES": "test_two_devices.py",
    "LINK": "test_foreign.py",
    "SOURCE": "test_foreign.py",
    "TOOLKIT_MISSING": "test_foreign.py",
    "GPU_ONLY": "test_foreign.py",
    "HOST_COMPILER": "test_foreign.py",
    "NO_STREAM": "tests/runtime/cuda/test_cuda.c",
    "NOT_PICKLED": "test_pickling.py",
    "MEMORY_MANAGER": "test_memory_managers.py",
    "SHARED_MEMORY": "tests/runtime/cuda/memory/test_peers.c",
    "PEER_ACCESS": "tests/runtime/cuda/memory/test_peers.c",
    "LLVM7": "test_lto.py",
    "MEMORY_LIMIT": "test_memory_pool.py",
    "CAPTURE": "test_graphs.py",
    "GRAPH": "test_graphs.py",
}
LAUNCHING = {"LAUNCH_UNCONFIGURED", "LAUNCH_DEVICE_FUNCTION", "LAUNCH_SHAPE", "LAUNCH_ARITY", "LAUNCH_ARGUMENT",
             "LAUNCH_SIGNATURE", "LAUNCH_AMBIGUOUS", "DEVICE_MEMORY", "TARGET_UNKNOWN", "SIGNATURE_SYNTAX"}


def load(case, folder):
    """The kernel of a case in a module of its own; its path, and the marked place: line, first and last column."""
    text = case.source
    if "def kernel" not in text:
        body = "\n".join("    " + line for line in text.split("\n"))
        text = f"def kernel({', '.join(['x', 'n'][:len(case.arguments)])}):\n{body}"
    text = f"import numpy as np\nfrom cujit import cuda\n{case.before}\n{text}\n"
    before, marked, _ = text.replace("»", "«").split("«")
    place = before.count("\n") + 1, len(before) - before.rfind("\n") - 1, marked
    path = folder / f"case{next(numbers)}.py"
    path.write_text(text.replace("«", "").replace("»", ""), encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return cuda.jit(module.kernel), str(path), place


def carets(message):
    """The text above the carets of a message."""
    lines = message.split("\n")
    for shown, below in zip(lines, lines[1:]):
        if below.strip() and not below.strip(" ^"):
            return shown[below.index("^"):below.rindex("^") + 1]
    return None


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_error_in_a_kernels_source(case, tmp_path):
    kernel, path, (line, _, marked) = load(case, tmp_path)
    with pytest.raises(errors.CujitError) as raised:
        kernel[1, 1](*case.arguments)
    error, message = raised.value, str(raised.value)
    assert type(error) is case.exception and error.code == case.code, message
    assert (error.filename, error.lineno) == (path, line), message
    assert f"{path}:{line}" in message
    assert carets(message) == marked or case.wide and marked in carets(message), message
    assert case.says in message


@pytest.mark.parametrize("case", [c for c in CASES if isinstance(c, Case)][::5], ids=repr)
def test_the_same_error_at_every_attempt(case, tmp_path):
    kernel, _, _ = load(case, tmp_path)
    messages = set()
    for _ in range(2):
        with pytest.raises(errors.CujitError) as raised:
            kernel[1, 1](*case.arguments)
        messages.add(str(raised.value))
    assert len(messages) == 1


def test_every_row_is_here_or_has_a_reason():
    rows = {name for name, _, _ in _core.diagnostics}
    tested = ROWS | LAUNCHING
    assert tested | set(UNREACHABLE) == rows, tested ^ rows - set(UNREACHABLE)
    assert not tested & set(UNREACHABLE)


def test_every_row_names_a_class_that_is_there():
    import builtins

    for name, exception, _ in _core.diagnostics:
        found = getattr(errors, exception, None) or getattr(builtins, exception)
        assert issubclass(found, Exception) or found is KeyboardInterrupt, name


@pytest.mark.parametrize("base, derived", [
    (ValueError, errors.LaunchConfigurationError), (TypeError, errors.LaunchArgumentError),
    (TypeError, errors.KernelReturnError), (TypeError, errors.TypingError), (MemoryError, errors.DeviceMemoryError),
    (NotImplementedError, errors.UnsupportedError), (errors.CompileError, errors.TypingError),
    (ValueError, errors.SignatureError), (RuntimeError, errors.CudaAPIError), (UserWarning, errors.PerformanceWarning),
])
def test_the_bases_that_programs_catch(base, derived):
    assert issubclass(derived, base)


# --- launching -------------------------------------------------------------------------------------------------------

@cuda.jit
def store(x, y):
    x[0] = y


def nothing(x, y):
    pass


LAUNCHES = [
    ("LAUNCH_UNCONFIGURED", lambda: store(F, 1), "store[grid, block]"),
    ("LAUNCH_DEVICE_FUNCTION", lambda: cuda.jit(device=True)(store.py_func)[1, 1](F, 1), "device function"),
    ("LAUNCH_DEVICE_FUNCTION", lambda: cuda.jit(device=True)(store.py_func).forall(1)(F, 1), "'store'"),
    ("LAUNCH_SHAPE", lambda: store[0, 1](F, 1), "0"),
    ("LAUNCH_SHAPE", lambda: store[1, 2000](F, 1), "2000"),
    ("LAUNCH_ARITY", lambda: store[1, 1](F), "store"),
    ("LAUNCH_ARGUMENT", lambda: store[1, 1](F, "text"), "'y'"),
    ("LAUNCH_SIGNATURE", lambda: cuda.jit([(float64[:], int64), (float64[:], float64)])(store.py_func)[1, 1](F, 1j),
     "complex128"),
    ("LAUNCH_AMBIGUOUS", lambda: cuda.jit(["void(float32, float64)", "void(float64, float32)"])(nothing)[1, 1](1., 2.),
     "ambiguous"),
    ("DEVICE_MEMORY", lambda: cuda.device_array(1 << 60, np.uint8), str(1 << 60)),
    ("TARGET_UNKNOWN", lambda: cuda.compile_ptx(store.py_func, "void(float64[:], int64)", cc=(1, 1)), "sm_11"),
    ("SIGNATURE_SYNTAX", lambda: cuda.jit("void(float65)")(store.py_func), "float65"),
]


@pytest.mark.parametrize("code, action, says", LAUNCHES, ids=[f"{c}-{s}" for c, _, s in LAUNCHES])
def test_errors_of_launching(code, action, says):
    with pytest.raises(Exception) as raised:
        action()
    assert raised.value.code == code and says in str(raised.value)
    assert LAUNCHING == {code for code, _, _ in LAUNCHES}


# --- where errors point ----------------------------------------------------------------------------------------------

def test_an_error_in_a_called_function_points_there(tmp_path):
    case = Case("TYPE_OPERANDS", errors.TypingError, "x[0] = outer(x)", F,
                before="def inner(v):\n    return «v + (1, 2)»\ndef outer(v):\n    return inner(v)")
    test_error_in_a_kernels_source(case, tmp_path)


def test_an_error_without_source_names_the_line():
    namespace = {"cuda": cuda}
    exec("def kernel(x):\n    a = 1\n    x[0] = x + (a, 2)\n", namespace)
    with pytest.raises(errors.TypingError) as raised:
        cuda.jit(namespace["kernel"])[1, 1](F)
    assert raised.value.lineno == 3 and "<string>:3" in str(raised.value)


def test_characters_that_take_several_bytes(tmp_path):
    case = Case("TYPE_OPERANDS", errors.TypingError, "größe = 'µ'; x[0] = «x + (1, 2)»", F)
    test_error_in_a_kernels_source(case, tmp_path)


def test_a_failed_kernel_works_for_other_types():
    @cuda.jit
    def first(x, y):
        x[0] = y[0]

    with pytest.raises(errors.TypingError):
        first[1, 1](F, 3)
    out = np.zeros(1)
    first[1, 1](out, np.array([5.0]))
    assert out[0] == 5


def test_an_error_of_vectorize_points_into_the_function():
    from cujit import vectorize

    with pytest.raises(errors.TypingError) as raised:
        vectorize(["float64(float64)"])(bad_scalar)
    assert raised.value.filename == __file__ and carets(str(raised.value)) == "x + (1, 2)"


def bad_scalar(x):
    return x + (1, 2)


def test_an_error_in_a_library_function_points_to_the_call(tmp_path):
    case = Case("TYPE_OPERANDS", errors.TypingError, "x[0] = outer(x)", F,
                before="def outer(v):\n    return «np.logaddexp(v, 1.0)»")
    kernel, path, (line, _, marked) = load(case, tmp_path)
    with pytest.raises(errors.TypingError) as raised:
        kernel[1, 1](F)
    assert (raised.value.filename, raised.value.lineno) == (path, line) and carets(str(raised.value)) == marked
    assert "called from line 6 of kernel" in str(raised.value)


# --- what explains an error ------------------------------------------------------------------------------------------

EXPLAINED = [
    ("operands", "pair = (1, 2)\nx[0] = pair + n", "",
     ["'pair' is UniTuple(int64 x 2), assigned in line 5", "    pair = (1, 2)", "    ^^^^^^^^^^^^^",
      "'n' is int64, a parameter"]),
    ("branches", "if n > 1:\n    r = x\nelse:\n    r = x[0]\nx[0] = r", "",
     ["cannot unify", "array(float64, 1d, C), assigned in line 6", "    r = x", "float64, assigned in line 8",
      "    r = x[0]"]),
    ("nested branches", "if n > 1:\n    r = 1\nelif n > 0:\n    r = 2\nelse:\n    r = x\nx[0] = r", "",
     ["int64, assigned in line 6", "array(float64, 1d, C), assigned in line 10"]),
    ("a variable of several types", "if n:\n    r = 1\nelse:\n    r = 1.5\nx[0] = x[r]", "",
     ["cannot index", "'r' is float64: ", "int64 from line 6", "float64 from line 8"]),
    ("an expression in an expression", "k = n * 1.5\nx[0] = x[(k + 1) * n]", "",
     ["'k' is float64, assigned in line 5", "    k = n * 1.5", "'n' is int64, a parameter"]),
    ("callers", "x[0] = outer(x, n)",
     "def inner(v, w):\n    return v[w * 0.5]\ndef outer(v, w):\n    return inner(v, w)\n",
     ["'v' is array(float64, 1d, C), a parameter", "called from line 6 of outer, from line 9 of kernel",
      "    return inner(v, w)", "           ^^^^^^^^^^^"]),
    ("results", "x[0] = helper(n)", "def helper(v):\n    if v > 1:\n        return v\n    return (v, v)\n",
     ["as the results of one function", "int64, returned in line 5", "    return v", "called from line 9 of kernel"]),
    ("globals", "x[0] = x[SCALE]", "SCALE = 2.5", ["'SCALE' is float64, a global"]),
    ("loop variables", "for i in range(n):\n    x[0] = x + (i, i)", "", ["'i' is int64, assigned in line 5"]),
]


@pytest.mark.parametrize("name, body, before, says", EXPLAINED, ids=[row[0] for row in EXPLAINED])
def test_errors_explain_where_types_come_from(name, body, before, says, tmp_path):
    lines = "\n".join("    " + line for line in body.split("\n"))
    path = tmp_path / "explained.py"
    path.write_text(f"import numpy as np\nfrom cujit import cuda\n{before}\ndef kernel(x, n):\n{lines}\n")
    spec = importlib.util.spec_from_file_location(f"explained{next(numbers)}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with pytest.raises(errors.TypingError) as raised:
        cuda.jit(module.kernel)[1, 1](F, 3)
    message = str(raised.value)
    at = 0
    for text in says:
        assert text in message[at:], message
        at = message.index(text, at)
    assert message.count("\n") < 10, message


def test_an_explained_error_stays_within_ten_lines():
    def kernel(x, y):
        a = (1, 2)
        b = (a, 3)
        c = ((a, b), 1)
        x[0] = y[a, b, c]

    with pytest.raises(errors.TypingError) as raised:
        cuda.jit(kernel)[1, 1](F, F)
    assert str(raised.value).count("\n") < 10
