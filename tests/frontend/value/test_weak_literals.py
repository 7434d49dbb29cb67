"""literals='weak': Python's numbers do not widen narrow floats; and the report of what becomes float64 without it."""
import math
import warnings

import numpy as np
import pytest

from cujit import cuda, errors, float32

HALF = 0.5
DOUBLE = np.float64(0.5)
F4 = np.array([1.25, -2.5, 3.0], np.float32)


def run(function, literals="weak", dtype=np.float64):
    """The values of function(x) for the items x of F4, as stored, and the type that inference gave the result."""
    out = np.zeros(3, dtype)
    device = cuda.jit(device=True, literals=literals)(function)

    @cuda.jit(literals=literals)
    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = device(x[i])

    kernel[1, 4](F4, out)
    inferred = str(device.compile_device((float32,)))
    return out, inferred


def wide_global(x):
    return x * HALF


def nested(x):
    def scale(v, k=0.1):
        return v * k
    return scale(x) + scale(x, 2)


WEAK = {
    "float literal": lambda x: x * 0.1,
    "int literal": lambda x: x + 3,
    "on the left": lambda x: 1 / x,
    "both sides": lambda x: 0.5 * x + 1.5,
    "folded literals": lambda x: x * (2 * 0.25),
    "negative": lambda x: x * -0.1,
    "power": lambda x: abs(x) ** 0.5,
    "power of a literal": lambda x: 2.0 ** x,
    "floor division": lambda x: x // 0.7,
    "remainder": lambda x: x % 0.7,
    "branches": lambda x: x if x > 0 else 0.1,
    "literal branches": lambda x: (0.1 if x > 0 else 0.7) * x,
    "min": lambda x: min(x, 0.1),
    "max": lambda x: max(0.1, x),
    "math.pow": lambda x: math.pow(abs(x), 0.3),
    "math.atan2": lambda x: math.atan2(x, 0.3),
    "np.maximum": lambda x: np.maximum(x, 0.1),
    "a global": wide_global,
    "defaults and arguments": nested,
}


@pytest.mark.parametrize("name", WEAK)
def test_numbers_of_python_keep_float32(name):
    _, weak = run(WEAK[name])
    _, plain = run(WEAK[name], literals="numba")
    assert (weak, plain) == ("float32", "float64")


@pytest.mark.parametrize("name", ["float literal", "int literal", "on the left", "both sides", "a global", "negative"])
def test_values_are_those_of_numpy(name):
    function = WEAK[name]
    out, _ = run(function)
    expected = np.array([function(v) for v in F4])
    assert expected.dtype == np.float32   # NEP 50 in NumPy itself, from 2.0 on
    np.testing.assert_array_equal(out, expected.astype(np.float64))


if int(np.__version__.split(".")[0]) < 2:
    test_values_are_those_of_numpy = pytest.mark.skip("NumPy 1 promotes by value")(test_values_are_those_of_numpy)


@pytest.mark.parametrize("function, expected", [
    (lambda x: x * np.float64(0.5), "float64"),
    (lambda x: x * DOUBLE, "float64"),
    (lambda x: 2 * 3, "int64"),
    (lambda x: 0.5 + 2, "float64"),
    (lambda x: int(x) + 1, "int64"),
    (lambda x: x * 1j, "complex64"),
    (lambda x: complex(x, x) * 0.5, "complex64"),
    (lambda x: np.float16(x) * 0.1, "float16"),
    (lambda x: float(x) * 0.5, "float32"),
    (lambda x: np.float64(x) * 0.5, "float64"),
])
def test_types_next_to_literals(function, expected):
    assert run(function, dtype=np.complex128)[1] == expected


def test_accumulators_that_start_with_a_literal():
    @cuda.jit(literals="weak")
    def total(x, out):
        s = 0
        t = 0.0
        for v in x:
            s += v
            t = t + v * 0.5
        out[0], out[1] = s, t

    out = np.zeros(2, np.float32)
    total[1, 1](F4, out)
    assert "double" not in total.inspect_llvm(total.signatures[0])
    np.testing.assert_array_equal(out, [F4.sum(), F4.sum() / 2])


def test_the_library_computes_as_ever():
    """Literals inside cujit's own functions are not the user's."""
    def kernel(x, out):
        out[0] = np.logaddexp(x[0], x[0])

    for literals in ("weak", "numba"):
        out = np.zeros(1)
        cuda.jit(literals=literals)(kernel)[1, 1](F4, out)
        assert out[0] == pytest.approx(np.logaddexp(F4[0], F4[0]), rel=1e-6)


def test_unknown_value_of_the_option():
    with pytest.raises(ValueError, match="'numba' or 'weak'"):
        cuda.jit(literals="strong")(wide_global)


# --- the report ------------------------------------------------------------------------------------------------------

def widened(x, n):
    s = 0.0
    s += x[0]
    y = x[1] * 0.5
    z = x[2] * n
    w = math.pow(x[0], 2)
    if x[0] > 0.5:
        x[0] = float(x[1]) + np.float64(x[2])
    x[0] = s + y + z + w


LINES = {  # lines behind def: what the report says of them
    2: "the number 0", 3: "the number 0.5", 4: "'n', which is int64", 5: "the number 2", 6: "the number 0.5",
    7: "an operand that is float64",
}


def test_a_warning_for_each_line_that_widens():
    kernel = cuda.jit(warn_float64=True)(widened)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        kernel[1, 1](F4.copy(), 3)
        kernel[1, 1](F4.copy(), 3)
    texts = [str(w.message) for w in caught if issubclass(w.category, errors.PerformanceWarning)
             and "float64" in str(w.message)]
    first = widened.__code__.co_firstlineno
    for line, says in LINES.items():
        found = [text for text in texts if text.startswith(f"{__file__}:{first + line}: ")]
        assert len(found) == 1 and says in found[0], (line, texts)
    assert len(texts) == len(LINES), texts


def test_no_report_without_widening():
    def narrow(x):
        x[0] = x[1] * float32(0.5) + x[2]

    def weak(x):
        x[0] = x[1] * 0.5 + 2

    with warnings.catch_warnings():
        warnings.filterwarnings("error", "float32", errors.PerformanceWarning)
        data = cuda.to_device(F4)
        for function, options in ((narrow, {}), (weak, {"literals": "weak"})):
            kernel = cuda.jit(warn_float64=True, **options)(function)
            kernel[1, 1](data)
            assert kernel.inspect("widenings", kernel.signatures[0]) == ""


def test_the_environment_asks_for_the_report(monkeypatch):
    monkeypatch.setenv("CUJIT_WARN_FLOAT64", "1")
    with pytest.warns(errors.PerformanceWarning, match="the number 0.5"):
        kernel = cuda.jit(widened)
        kernel[1, 1](F4.copy(), 3)


def test_inspect_types_marks_the_expressions(capsys):
    kernel = cuda.jit(widened)
    kernel[1, 1](F4.copy(), 3)
    kernel.inspect_types()
    marked = [line for line in capsys.readouterr().out.split("\n") if "<-" in line]
    assert len(marked) == len(LINES) and any("float32(n) or ints='weak' would keep float32" in line for line in marked)
