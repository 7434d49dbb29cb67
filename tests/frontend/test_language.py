"""Python in kernels against Python itself: each sample runs in a kernel for all its arguments, and in CPython."""
import numpy as np
import pytest
from language_samples import OFFSETS, SAMPLES, SCALE

from cujit import cuda, errors


def combinations(columns):
    rows = [()]
    for column in columns:
        rows = [(*row, value) for row in rows for value in column]
    return rows


def run_in_kernel(function, columns, rows):
    """The results of the function for all rows, by a kernel that stores the items of its tuples."""
    first = function(*rows[0])
    is_tuple = isinstance(first, tuple)
    count = len(first) if is_tuple else 1
    arrays = [np.array([row[k] for row in rows]) for k in range(len(columns))]
    results = [function(*row) if is_tuple else (function(*row),) for row in rows]
    outs = [np.zeros(len(rows), np.array([r[k] for r in results]).dtype) for k in range(count)]
    names = [f"a{k}" for k in range(len(arrays))] + [f"r{k}" for k in range(count)]
    call = f"function({', '.join(f'a{k}[i]' for k in range(len(arrays)))})"
    lines = [f"def kernel({', '.join(names)}):", "    i = cuda.grid(1)", "    if i < r0.size:", f"        r = {call}"]
    lines += [f"        r{k}[i] = r[{k}]" if is_tuple else f"        r{k}[i] = r" for k in range(count)]
    namespace = {"cuda": cuda, "function": function}
    exec("\n".join(lines), namespace)
    cuda.jit(namespace["kernel"])[len(rows) // 64 + 1, 64](*arrays, *outs)
    return results, outs


@pytest.mark.parametrize("function, columns", [pytest.param(*of, id=of[0].__name__) for of in SAMPLES])
def test_as_python(function, columns):
    rows = combinations(columns)
    results, outs = run_in_kernel(function, columns, rows)
    for k, out in enumerate(outs):
        expected = [result[k] for result in results]
        if out.dtype.kind == "f":
            np.testing.assert_allclose(out, expected, rtol=1e-14, atol=0, err_msg=f"result {k}")
            np.testing.assert_array_equal(np.signbit(out), np.signbit(expected), err_msg=f"result {k}: sign")
        else:
            np.testing.assert_array_equal(out, expected, err_msg=f"result {k}")


def test_kernels_without_source():
    namespace = {"cuda": cuda}
    exec("def kernel(x):\n    x[cuda.grid(1)] = 7\n", namespace)
    x = np.zeros(4)
    cuda.jit(namespace["kernel"])[1, 4](x)
    np.testing.assert_array_equal(x, 7)


def test_globals_of_the_module_are_found_by_name():
    @cuda.jit
    def kernel(x):
        x[0] = SCALE + OFFSETS[2]

    x = np.zeros(1)
    kernel[1, 1](x)
    assert x[0] == 7


def test_captured_values_stay_constant_in_functions_that_are_called():
    def size_of(count):
        def first(x):
            block = cuda.local.array(count, np.float64)
            block[count - 1] = x
            return block[count - 1]

        return first

    three, five = size_of(3), size_of(5)

    @cuda.jit
    def kernel(out):
        out[0] = three(1.5)
        out[1] = five(2.5)

    out = np.zeros(2)
    kernel[1, 1](out)
    assert out.tolist() == [1.5, 2.5]


@pytest.mark.parametrize("expression, message", [
    ("tuple(range(out[0]))", "the number of items of a tuple made of range"),
    ("tuple(zip(range(out[0]), (1, 2)))", "the number of items of a tuple made of zip"),
    ("(*out,)", "a tuple can be made of a tuple"),
    ("list(5)", "a tuple can be made of a tuple"),
])
def test_tuples_of_unknown_length_are_refused(refused, expression, message):
    refused(expression, message)


@pytest.mark.parametrize("call", ['float("x")', 'float("0x10")', 'int("1.5")', 'float("")', 'int(" ")', 'complex("1j")'
                                  ])
def test_text_that_is_no_number_is_refused(call, refused):
    refused(call, "the text is no number")


def test_nan_as_text():
    @cuda.jit
    def kernel(out):
        out[0] = float("nan")

    out = np.zeros(1)
    kernel[1, 1](out)
    assert np.isnan(out[0])


def test_modules_that_make_modules_of_every_attribute():
    import types

    class Endless(types.ModuleType):
        def __getattr__(self, name):
            if name.startswith("__"):
                raise AttributeError(name)
            return Endless(f"{self.__name__}.{name}")

    endless = Endless("endless")

    @cuda.jit
    def kernel(out):
        out[0] = endless.a.b.c(out[0], out.size, out.shape)

    with pytest.raises(errors.TypingError):
        kernel[1, 1](np.zeros(1))
