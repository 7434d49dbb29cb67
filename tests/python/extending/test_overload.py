"""cujit.extending's overloads: which implementation a call gets, and what is said where there is none."""
import operator
import typing

import numpy as np
import pytest

from cujit import cuda, errors, types
from cujit.extending import (
    overload,
    overload_attribute,
    overload_classmethod,
    overload_method,
    register_jitable,
)


def clamp(x, low, high):
    raise AssertionError("kernels have its implementations")


asked = []


@overload(clamp)
def clamp_for(x, low, high):
    asked.append((x, low, high))
    if isinstance(x, types.Integer):
        def clamp_integers(x, low, high):
            return min(max(x, low), high)
        return clamp_integers
    if isinstance(x, types.Float):
        return lambda x, low, high: min(max(x, low), high) + 0.5
    return None


@cuda.jit
def clamp_all(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = clamp(x[i], 2, 5)


@pytest.mark.parametrize("dtype, added", [(np.int32, 0), (np.float32, 0.5)])
def test_the_implementation_is_chosen_by_types(dtype, added):
    x = np.arange(10).astype(dtype)
    out = np.zeros(10)
    clamp_all[1, 32](x, out)
    np.testing.assert_array_equal(out, np.clip(x, 2, 5) + added)
    assert (types.from_dtype(x.dtype), types.int64, types.int64) in asked


def test_one_definition_serves_a_gpu(assembles):
    assert "max.s" in assembles(clamp_all.py_func, (types.int32[::1], types.float64[::1]), (8, 0))
    assembles(clamp_all.py_func, (types.float32[::1], types.float32[::1]), (9, 0))


def mode_of(x, mode):
    pass


@overload(mode_of)
def mode_of_for(x, mode):
    if isinstance(mode, types.StringLiteral):
        return (lambda x, mode: x * 2) if mode.literal_value == "double" else (lambda x, mode: x * 3)
    if isinstance(mode, types.BooleanLiteral):
        return (lambda x, mode: x + 1) if mode.literal_value else (lambda x, mode: x - 1)
    if isinstance(mode, types.IntegerLiteral):
        n = mode.literal_value * 1000
        return lambda x, mode: x + n
    if isinstance(mode, types.Callable):
        return lambda x, mode: mode(x)
    if isinstance(mode, types.DType) and mode.dtype == types.float32:
        return lambda x, mode: mode(x) + 0.5
    if isinstance(mode, types.UniTuple) and mode.dtype == types.int64 and mode.count == 2:
        return lambda x, mode: mode[1]
    if isinstance(mode, types.BaseTuple):
        return lambda x, mode: mode[1](x)
    if isinstance(mode, types.NoneType):
        return lambda x, mode: -x
    if isinstance(mode, types.Array) and mode.ndim == 2 and mode.is_c_contig:
        return lambda x, mode: mode[1, 1]
    return None


@register_jitable
def sevenfold(x):
    return x * 7


@register_jitable(inline="always")
def eightfold(x):
    return x * 8


def run(kernel, *arguments, count=8):
    out = np.zeros(count)
    kernel[1, 1](out, *arguments)
    return list(out)


def test_definitions_see_what_is_known_of_arguments():
    @cuda.jit
    def kernel(out, matrix):
        out[0] = mode_of(2.0, "double")
        out[1] = mode_of(2.0, "triple")
        out[2] = mode_of(2.0, 4)
        out[3] = mode_of(2.0, sevenfold)
        out[4] = mode_of(2.0, np.float32)
        out[5] = mode_of(2.0, (8, 9))
        out[6] = mode_of(2.0, mode=None)
        out[7] = mode_of(2.0, matrix)

    assert run(kernel, np.full((2, 2), 3.0)) == [4, 6, 4002, 14, 2.5, 9, -2, 3]

    @cuda.jit
    def more(out):
        out[0] = mode_of(2.0, True)
        out[1] = mode_of(2.0, False)
        out[2] = mode_of(2.0, (1, eightfold))

    assert run(more, count=3) == [3, 1, 16]


def test_implementations_call_what_is_overloaded():
    def depth(x, n):
        pass

    @overload(depth)
    def depth_for(x, n):
        if isinstance(n, types.IntegerLiteral):
            m = n.literal_value
            if m == 0:
                return lambda x, n: x
            return lambda x, n: depth(x + 1, literal)[0] if False else x + m
        return None
    literal = 0

    def outer(x):
        pass

    @overload(outer)
    def outer_for(x):
        return lambda x: clamp(x, 0, 3) + depth(x, 5)

    @cuda.jit
    def kernel(out):
        out[0] = outer(7)

    assert run(kernel, count=1) == [3 + 12]


def test_what_cujit_knows_answers_where_no_definition_does():
    class Pair(typing.NamedTuple):
        a: float
        b: float

    @overload(np.hypot)
    def hypot_for(x, y):
        if isinstance(x, types.Complex):
            return lambda x, y: 1000.0
        return None

    @overload(abs)
    def abs_for(x):
        if isinstance(x, types.BaseNamedTuple) and x.fields == ("a", "b"):
            return lambda x: x.a + x.b
        return None

    @cuda.jit
    def kernel(out, pair):
        out[0] = np.hypot(3.0, 4.0)
        out[1] = np.hypot(1j, 2j)
        out[2] = abs(-2.0)
        out[3] = abs(pair)
        np.hypot(3.0, 4.0, out=out[4:])   # which no definition takes

    assert run(kernel, Pair(5.0, 6.0), count=5) == [5, 1000, 2, 11, 5]


def test_arguments_that_no_definition_takes():
    def twice(x):
        pass

    @overload(twice)
    def twice_for(x):
        return lambda x: 2 * x

    @cuda.jit
    def kernel(out):
        out[0] = twice(out[0], by=2.0)

    with pytest.raises(errors.TypingError, match=r"no overload of .*twice accepts"):
        run(kernel, count=1)


def test_literals_first():
    def kind(x):
        pass

    @overload(kind, prefer_literal=True)
    def kind_for(x):
        number = 1.0 if isinstance(x, types.Literal) else 2.0
        return lambda x: number

    @cuda.jit
    def kernel(out):
        out[0] = kind(5)
        out[1] = kind(out[0])

    assert run(kernel, count=2) == [1, 2]


def test_defaults_and_keywords():
    def power(x, n=3, *, offset=0):
        pass

    @overload(power)
    def power_for(x, n=3, *, offset=0):
        assert n == 3 or isinstance(n, types.Integer)
        return lambda x, n=3, *, offset=0: x ** n + offset

    @cuda.jit
    def kernel(out):
        out[0] = power(2)
        out[1] = power(2, 4)
        out[2] = power(2, offset=100)
        out[3] = power(n=2, x=5)

    assert run(kernel, count=4) == [8, 16, 108, 25]


def aimed(x):
    return 1   # where no definition is for kernels


@overload(aimed, target="cpu")
def aimed_at_cpus(x):
    return lambda x: 2


def test_targets():
    @cuda.jit
    def kernel(x, out):
        out[0], out[1] = aimed(x[0]), aimed(out[0])

    def launched():
        out = np.zeros(2, np.int64)
        cuda.jit(kernel.py_func)[1, 1](np.zeros(1), out)
        return out.tolist()

    assert launched() == [1, 1]
    overload(aimed, target="generic")(lambda x: lambda x: 3)
    assert launched() == [3, 3]
    overload(aimed, target="cuda")(lambda x: (lambda x: 4) if isinstance(x, types.Float) else None)
    assert launched() == [4, 3]   # registered later, asked first
    overload_method(types.Array, "aimed", target="generic")(lambda x: lambda x: 5)
    overload_method(types.Array, "aimed", target="cpu")(lambda x: lambda x: 6)
    overload_method(types.Array, "aimed", target="gpu")(lambda x: lambda x: 7)
    out = np.zeros(1)

    @cuda.jit
    def members(x):
        x[0] = x.aimed()

    members[1, 1](out)
    assert out[0] == 7


def test_members_of_arrays():
    @overload_attribute(types.Array, "last_axis_for_test")
    def last_axis(array):
        axis = array.ndim - 1
        return lambda array: axis

    @overload_method(types.Array, "middle_for_test")
    def middle(array, scale=1):
        if array.ndim == 1:
            return lambda array, scale=1: array[array.size // 2] * scale
        return None

    @overload_method((types.float64, types.float32), "halved_for_test")
    def halved(number):
        return lambda number: number / 2

    @overload_classmethod(types.Float, "biggest_for_test")
    def biggest(cls):
        limit = 7.0
        return lambda cls: limit

    @cuda.jit
    def kernel(out, x):
        out[0] = x.last_axis_for_test
        out[1] = out.last_axis_for_test
        out[2] = x[0].middle_for_test(10)
        out[3] = x[0, 1].halved_for_test()
        out[4] = np.float32.biggest_for_test()

    assert run(kernel, np.arange(6.0).reshape(2, 3), count=5) == [1, 0, 10, 0.5, 7]

    @cuda.jit
    def wrong(out, x):
        out[0] = x.middle_for_test()

    with pytest.raises(errors.TypingError, match="array.float64, 2d, C. has no attribute|middle_for_test"):
        run(wrong, np.zeros((2, 2)))


def broken(x):
    pass


@overload(broken)
def broken_for(x):
    if isinstance(x, types.Float):
        return lambda x: x.nothing
    if isinstance(x, types.Complex):
        raise ValueError("no complex numbers")
    if isinstance(x, types.Boolean):
        raise errors.TypingError("booleans are no numbers")
    if isinstance(x, types.Array):
        return 3
    if isinstance(x, types.UniTuple):
        return lambda y: y
    return None


@cuda.jit
def breaks(out, x):
    out[0] = broken(x)


@pytest.mark.parametrize("value, lines", [
    (1.0, ["float64 has no attribute 'nothing'", "return lambda x: x.nothing", "called from line"]),
    (1, ["no overload of broken accepts (int64)"]),
    (1j, ["raised ValueError: no complex numbers", "test_overload.py:"]),
    (True, ["booleans are no numbers"]),
    (np.zeros(2), ["neither a function nor None"]),
    ((1, 2), ["its implementation takes (y), it takes (x)"]),
])
def test_errors_name_the_call_and_the_reason(value, lines):
    with pytest.raises(errors.TypingError) as caught:
        run(breaks, value)
    for line in lines:
        assert line in str(caught.value)
    assert "out[0] = broken(x)" in str(caught.value)


def test_other_parameters_where_that_is_allowed():
    def renamed(x):
        pass

    @overload(renamed, strict=False)
    def renamed_for(x):
        return lambda y: y + 1

    @cuda.jit
    def kernel(out):
        out[0] = renamed(1)

    assert run(kernel, count=1) == [2]


def test_what_is_no_definition():
    with pytest.raises(TypeError, match="defined by a Python function"):
        overload(len)(3)
    with pytest.raises(TypeError):
        overload([])(lambda x: None)


def test_in_device_functions_and_inspection():
    @cuda.jit(device=True)
    def device(x):
        return clamp(x, 1, 2)

    @cuda.jit
    def kernel(out):
        out[0] = device(5)

    assert run(kernel, count=1) == [2]
    assert "max" in kernel.inspect("ir", (types.float64[::1],))
    ptx, result = cuda.compile_ptx(device.py_func, (types.int32,), device=True)
    assert result == types.int64 and "min" in ptx


PROGRAM = """
import sys
import numpy as np
from cujit import cuda, types
from cujit.extending import overload
def f(x):
    pass
factor = float(sys.argv[1])
@overload(f)
def f_for(x):
    other = factor * 2
    return lambda x: x * other
@cuda.jit
def kernel(out):
    out[0] = f(out[1])
out = np.array([0.0, 3.0])
kernel[1, 1](out)
print(out[0], len(kernel.stats.cache_hits))
"""


def test_the_chosen_implementation_is_in_the_key_of_the_disk_cache(run_python, tmp_path):
    settings = {"CUJIT_CACHE": "1", "CUJIT_CACHE_DIR": str(tmp_path / "cache"), "CUJIT_DEVICE": "cpu"}
    program = PROGRAM.replace("@cuda.jit\n", "@cuda.jit(cache=True)\n")
    results = [run_python(program, factor, **settings).split() for factor in (1, 1, 5, 1)]
    assert [float(value) for value, _ in results] == [6, 6, 30, 6]
    assert [hits for _, hits in results] == ["0", "1", "0", "1"]


def test_operators_of_module_operator_are_functions():
    @cuda.jit
    def kernel(out):
        out[0] = operator.add(1, 2)

    assert run(kernel, count=1) == [3]
