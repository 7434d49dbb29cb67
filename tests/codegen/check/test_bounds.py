"""The check `bounds`: what it reports, where, and that nothing is written out of bounds."""
import re

import numpy as np
import pytest

from cujit import cuda, errors, float64, int64
from cujit.cuda.random import create_xoroshiro128p_states, xoroshiro128p_uniform_float64


def fault(kernel, *arguments, grid=1, threads=32, error=IndexError):
    """The report of a launch that fails, without the file's folder."""
    arrays = [cuda.to_device(a) if isinstance(a, np.ndarray) else a for a in arguments]
    with pytest.raises(error) as caught:
        kernel[grid, threads](*arrays)
        cuda.synchronize()
    for given, array in zip(arguments, arrays, strict=True):
        if isinstance(given, np.ndarray):
            array.copy_to_host(given)
    return str(caught.value).replace(__file__, "program.py")


def line_of(kernel, distance):
    return kernel.py_func.__code__.co_firstlineno + distance


def test_report():
    @cuda.jit(check="bounds")
    def kernel(x, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = x[i + 1]

    assert fault(kernel, np.arange(10.0), np.zeros(10)) == f"""\
index 10 is out of bounds for axis 0 of 'x', whose shape is (10,)
  File "program.py", line {line_of(kernel, 4)}, in kernel: block (0, 0, 0), thread (9, 0, 0)
    out[i] = x[i + 1]
             ^^^^^^^^"""


def test_index_is_what_the_program_wrote():
    @cuda.jit(check="bounds")
    def kernel(x, i):
        x[i] = 1.0
        x[-4] = 1.0

    assert fault(kernel, np.zeros(3), -4, threads=1).startswith("index -4 is out of bounds for axis 0 of 'x'")
    assert fault(kernel, np.zeros(3), 3, threads=1).startswith("index 3 is out")
    assert fault(kernel, np.zeros(3), -3, threads=1).splitlines()[1].startswith(f'  File "program.py", line'
                                                                                f' {line_of(kernel, 3)}')


def test_the_axis_at_fault():
    @cuda.jit(check="bounds")
    def kernel(x, i, j, k):
        x[i, j, k] = 7.0

    x = np.zeros((2, 3, 4))
    for place, axis in (((2, 0, 0), 0), ((0, 3, 0), 1), ((0, 0, 4), 2), ((1, -4, 9), 1)):
        assert fault(kernel, x, *place, threads=1).startswith(
            f"index {place[axis]} is out of bounds for axis {axis} of 'x', whose shape is (2, 3, 4)")
    assert not x.any()
    kernel[1, 1](x, -1, -3, -4)
    assert x[1, 0, 0] == 7.0 and x.sum() == 7.0


def test_nothing_is_written_out_of_bounds():
    @cuda.jit(check="bounds")
    def kernel(x, i):
        x[cuda.threadIdx.x] = 1.0
        x[i] = 2.0

    memory = np.zeros(64)
    whole = cuda.to_device(memory)
    with pytest.raises(IndexError):
        kernel[1, 8](whole[16:24], 20)
        cuda.synchronize()
    assert whole.copy_to_host().nonzero()[0].tolist() == list(range(16, 24))


def test_integer_indices_of_views_atomics_and_own_memory():
    @cuda.jit(check="bounds")
    def kernel(x, what, i):
        tile = cuda.shared.array((4, 5), float64)
        mine = cuda.local.array(6, float64)
        if what == 0:
            x[i, :][0] = 1.0
        if what == 1:
            cuda.atomic.add(x, (0, i), 1.0)
        if what == 2:
            tile[1, i] = 1.0
        if what == 3:
            mine[i] = 1.0
        x[0, 0] = tile[0, 0] + mine[0]

    first = line_of(kernel, 0)
    for what, index, named, line, shape in ((0, 3, "x", 5, "(3, 8)"), (1, 8, "x", 7, "(3, 8)"),
                                            (2, 5, "tile", 9, "(4, 5)"), (3, -7, "mine", 11, "(6,)")):
        told = fault(kernel, np.zeros((3, 8)), what, index, threads=1)
        axis = int(what in (1, 2))
        assert f"index {index} is out of bounds for axis {axis} of '{named}', whose shape is {shape}\n" in told
        assert f"line {first + line}," in told


def test_device_functions_and_silent_raises():
    @cuda.jit(device=True)
    def picky(x, i):
        if i == 5:
            raise ValueError  # nobody is told
        return x[i]

    @cuda.jit(check="bounds")
    def kernel(x, out):
        i = cuda.grid(1)
        out[i] = picky(x, i)

    out = np.zeros(8)
    kernel[1, 8](np.ones(8), out)
    assert out.tolist() == [1, 1, 1, 1, 1, 0, 1, 1]
    told = fault(kernel, np.ones(7), np.zeros(8), threads=8)
    assert "of 'x'" in told and f"line {picky.py_func.__code__.co_firstlineno + 4}, in picky" in told


def made(what, function, check):
    text = cuda.jit(check=check)(function).inspect(what, (float64[::1], float64[:, ::1], int64))
    return re.sub(r" ;.*|exception .*|%\d+", "", text)


def test_reads_that_nobody_uses_are_tested_and_not_made():
    def reads(x, y, k):
        i = cuda.grid(1)
        if i < x.size:
            k = int(x[i])
            x[i] = 1.0
            w = x[k]
            y[k]
            w = (k, 3)[k]
            w = y[k, 1]

    def none(x, y, k):
        i = cuda.grid(1)
        if i < x.size:
            k = int(x[i])
            x[i] = 1.0

    text = made("checks", reads, "bounds")
    assert text.count("raise") == 4 and not re.search("subarray|pick|tuple", text)
    assert text.count(" load ") == 1
    assert "raise" not in made("checks", none, "bounds")
    for stage in "ir", "checks", "asm":
        assert made(stage, reads, False).replace("reads", "none") == made(stage, none, False)


def test_reads_that_nobody_uses_and_the_launch_proves_cost_nothing():
    def reads(x, y, k):
        for i in range(x.size):
            x[i]
            for value in x:
                w = value
        for row in y:
            row[:4]

    @cuda.jit(check="bounds")
    def others(x, y, k):
        i = cuda.grid(1)
        x[i], y[i, k], y[k]

    text = made("checks", reads, "bounds")
    assert "raise" not in text and "load" not in text
    text = made("checks", others.py_func, "bounds")
    assert "raise" not in text and "load" not in text and "subarray" not in text  # the launch's
    x, y = np.zeros(8), np.zeros((8, 3))
    others[1, 8](x, y, 2)
    for grid, place in ((9, 2), (8, 3), (8, -4)):
        assert "out of bounds" in fault(others, x, y, place, threads=grid)


def test_loops_and_barriers():
    @cuda.jit(check="bounds")
    def kernel(x, out, bound):
        tile = cuda.shared.array(32, float64)
        t = cuda.threadIdx.x
        total, k = 0.0, 0
        while k < bound:
            tile[t] = x[k * 32 + t]
            cuda.syncthreads()
            for j in range(32):
                total += tile[j]
            cuda.syncthreads()
            k += 1
        out[t] = total

    x, out = np.arange(96.0), np.zeros(32)
    kernel[1, 32](x, out, 3)
    assert (out == x.sum()).all()
    assert "index 96 is out of bounds for axis 0 of 'x'" in fault(kernel, x, out, 4)


def test_beside_exceptions_of_the_program():
    @cuda.jit(check="bounds", exceptions=True)
    def kernel(x, i):
        if i == 1:
            raise KeyError("one")
        x[i] = 1 // i

    for i, expected in ((0, ZeroDivisionError), (1, KeyError), (7, IndexError)):
        with pytest.raises(expected):
            kernel[1, 1](cuda.to_device(np.zeros(4)), i)
            cuda.synchronize()


@pytest.mark.parametrize("given, checks", [("bounds", True), (True, True), (["bounds"], True), (" bounds, ", True),
                                           (False, False), ("", False), ((), False)])
def test_words(given, checks):
    @cuda.jit(check=given)
    def kernel(x, i):
        x[int(x[i])] = 1.0

    text = kernel.inspect("checks", (float64[::1], int64))
    assert ("raise" in text) == checks


@pytest.mark.parametrize("given, error", [("bonds", ValueError), (["bounds", 3], TypeError), (4, TypeError)])
def test_wrong_words(given, error):
    with pytest.raises(error, match="check is True, False, or"):
        cuda.jit(check=given)(lambda x: None)


def test_environment(monkeypatch):
    def store(x, i):
        x[int(x[i])] = 1.0

    def is_checked(**options):
        return "raise" in cuda.jit(**options)(store).inspect("checks", (float64[::1], int64))

    monkeypatch.setenv("CUJIT_CHECK", "bounds")
    assert is_checked() and not is_checked(check=False)
    monkeypatch.setenv("CUJIT_CHECK", "1")
    assert is_checked()
    monkeypatch.setenv("CUJIT_CHECK", "0")
    assert not is_checked() and is_checked(check=True)
    monkeypatch.setenv("CUJIT_CHECK", "bonds")
    with pytest.raises(ValueError, match="CUJIT_CHECK is True, False, or of these words: bounds"):
        is_checked()


def test_without_source():
    code = "def kernel(x, i):\n    y = x\n    y[i] = 1.0\n"
    names = {}
    exec(compile(code, "<unknown>", "exec"), names)
    told = fault(cuda.jit(check="bounds")(names["kernel"]), np.zeros(3), 5, threads=1)
    assert told == ("index 5 is out of bounds for axis 0 of 'x', whose shape is (3,)\n"
                    '  File "<unknown>", line 3, in kernel: block (0, 0, 0), thread (0, 0, 0)')


def test_code_from_the_disk_reports_as_well(tmp_path, run_python):
    program = """
import numpy as np
from cujit import cuda

@cuda.jit(check="bounds", cache=True)
def kernel(x, i):
    x[i] = 1.0

try:
    kernel[1, 1](np.zeros(3), 3)
except IndexError as error:
    print(error)
print(len(kernel.stats.cache_hits))
"""
    first, second = (run_python(program, CUJIT_CACHE="1", CUJIT_CACHE_DIR=str(tmp_path)) for _ in range(2))
    assert first.splitlines()[0] == "index 3 is out of bounds for axis 0 of 'x', whose shape is (3,)"
    assert second.splitlines()[:-1] == first.splitlines()[:-1]
    assert first.splitlines()[-1] == "0" and second.splitlines()[-1] == "1"


def test_the_launch_after_a_fault_works():
    @cuda.jit(check="bounds")
    def kernel(x, i):
        x[i] = 1.0

    x = np.zeros(3)
    for _ in range(3):
        fault(kernel, x, 3, threads=1)
        kernel[1, 1](x, 2)
        assert x.tolist() == [0, 0, 1]
        x[:] = 0


# --- assignment to whole arrays ---------------------------------------------------------------------------------------


def test_report_of_shapes():
    @cuda.jit(check="bounds")
    def kernel(x, y):
        t = cuda.threadIdx.x
        x[t, 1:] = y[t]

    assert fault(kernel, np.zeros((2, 4)), np.ones((2, 4)), threads=2, error=ValueError) == f"""\
could not broadcast input array from shape (4,) into shape (3,)
  File "program.py", line {line_of(kernel, 3)}, in kernel: block (0, 0, 0), thread (0, 0, 0)
    x[t, 1:] = y[t]
    ^^^^^^^^"""


def assign(x, y):
    x[...] = y


def assign_to_slice(x, y):
    x[::-1] = y


def add(x, y):
    x[...] += y


SHAPES = [((5,), (5,)), ((5,), (1,)), ((5,), ()), ((5,), (4,)), ((5,), (6,)), ((5,), (0,)), ((0,), (0,)), ((0,), (1,)),
          ((0,), (2,)), ((1,), (1,)), ((1,), (2,)), ((2, 3), (2, 3)), ((2, 3), (3,)), ((2, 3), (1,)), ((2, 3), (2,)),
          ((2, 3), (1, 3)), ((2, 3), (2, 1)), ((2, 3), (2, 2)), ((2, 3), (3, 3)), ((2, 3), (3, 1)), ((2, 3, 4), (3, 1)),
          ((2, 3, 4), (2, 1)), ((2, 3, 4), (3, 4)), ((3, 3), (3,))]


@pytest.mark.parametrize("target, given", SHAPES, ids=str)
@pytest.mark.parametrize("function", [assign, assign_to_slice, add])
def test_shapes_that_numpy_broadcasts(function, target, given):
    kernel = cuda.jit(check="bounds")(function)
    expected = np.arange(np.prod(target), dtype=float).reshape(target)
    y = np.arange(1.0, np.prod(given) + 1).reshape(given)
    x = cuda.to_device(expected)
    try:
        function(expected, y)
    except ValueError:
        with pytest.raises(ValueError, match="could not broadcast") as caught:
            kernel[1, 1](x, y)
            cuda.synchronize()
        assert f"from shape {given} into shape {target}\n" in str(caught.value)
    else:
        kernel[1, 1](x, y)
    assert (x.copy_to_host() == expected).all()


def test_tuples_have_a_shape_too():
    @cuda.jit(check="bounds")
    def kernel(x, n):
        x[:, :n] = (1.0, 2, 3)

    x = np.zeros((2, 5))
    for n in 2, 4:
        told = fault(kernel, x, n, threads=1, error=ValueError)
        assert told.startswith(f"could not broadcast input array from shape (3,) into shape (2, {n})\n")
    assert not x.any()
    kernel[1, 1](x, 3)
    assert x.tolist() == [[1, 2, 3, 0, 0]] * 2


def test_shapes_in_device_functions_and_own_memory():
    @cuda.jit(device=True)
    def put(to, values):
        to[:] = values

    @cuda.jit(check="bounds")
    def kernel(x, n):
        mine = cuda.local.array(4, float64)
        mine[:] = 2.0
        put(mine[1:3], x[:2])
        put(x[4:], mine[:n])

    x = np.arange(8.0)
    kernel[1, 1](x, 4)
    assert x.tolist() == [0, 1, 2, 3, 2, 0, 1, 2]
    told = fault(kernel, x, 3, threads=1, error=ValueError)
    assert told.startswith("could not broadcast input array from shape (3,) into shape (4,)\n")
    assert f"line {line_of(put, 2)}, in put" in told


@pytest.mark.parametrize("call, x, out", [
    ("np.sin(x, out)", (4,), (3,)), ("np.sin(x, out=out)", (3,), (4,)), ("np.add(x, x[:2], out)", (3,), (3,)),
    ("np.clip(x, 0.1, 0.2, out)", (3,), (5,)), ("np.round(x, 1, out)", (2, 3), (2, 4)),
    ("np.sin(x, out)", (2, 3), (1, 3))])
def test_results_of_another_shape(call, x, out):
    scope = {"np": np}
    exec(f"def kernel(x, out):\n    {call}\n", scope)
    with pytest.raises(ValueError, match="could not broadcast input array"):
        cuda.jit(check="bounds", exceptions=True)(scope["kernel"])[1, 1](np.ones(x), np.zeros(out))
    with pytest.raises(errors.TypingError, match="cannot store"):
        cuda.jit(scope["kernel"])[1, 1](np.ones((2, *x)), np.zeros(out))


@pytest.mark.parametrize("x, out", [((4,), (4,)), ((1,), (4,)), ((3,), (2, 3)), ((2, 1), (2, 3)), ((), (3,))])
def test_results_that_broadcast(x, out):
    @cuda.jit(check="bounds")
    def kernel(x, out):
        np.sin(x, out)

    given, results = np.ones(x) if x else 1.0, np.zeros(out)
    kernel[1, 1](given, results)
    np.testing.assert_allclose(results, np.full(out, np.sin(1.0)))


def test_shapes_that_are_alike_cost_nothing():
    @cuda.jit(check="bounds")
    def kernel(x, y):
        i = cuda.grid(1)
        mine, row = cuda.local.array(4, float64), cuda.local.array((2, 4), float64)
        mine[:] = (1.0, 2.0, 3.0, 4.0)
        row[:] = mine
        row[1, 1:3] = mine[:2]
        if i < x.shape[0]:
            x[i, :] = y[i]

    assert "broadcast" in kernel.inspect("ir", (float64[:, ::1], float64[:, ::1]))
    text = kernel.inspect("checks", (float64[:, ::1], float64[:, ::1]))
    assert "raise" not in text and "broadcast" not in text


def test_shapes_without_the_check():
    @cuda.jit(check=False)
    def kernel(x, y):
        x[:] = y

    x = np.zeros(3)
    kernel[1, 1](x, np.arange(1.0, 6.0))
    assert x.tolist() == [1, 2, 3]
    assert "broadcast" not in kernel.inspect("ir", (float64[::1], float64[::1]))


# --- the library's functions ------------------------------------------------------------------------------------------


def interpolate(x, y, i):
    y[0] = np.interp(x[1] + 1.5, x, y)


def product(x, y, i):
    y[0] = np.dot(x, y)


def draw(x, states, i):
    x[0] = xoroshiro128p_uniform_float64(states, i)


def flat(x, y, i):
    x[0, 0] = x.flat[i]


def store_flat(x, y, i):
    x.flat[i] = 1.0


def item(x, y, i):
    x[0, 0] = x.item(i)


def reshape(x, y, i):
    x[0, 0] = x.reshape(i, 2)[0, 0]


def reshape_the_rest(x, y, i):
    x[0, 0] = x.reshape(i, -1)[0, 0]


def dynamic(x, y, i):
    s = cuda.shared.dynamic((i, 2), float64)
    s[0, 0] = 1.0


LIBRARY = [
    (interpolate, np.arange(4.0), np.ones(2), 0, "IndexError: index 3 is out of bounds for axis 0 of 'fp', whose shape "
                                                 "is (2,)"),
    (product, np.ones(4), np.ones(3), 0, "IndexError: index 3 is out of bounds for axis 0 of 'b', whose shape is (3,)"),
    (draw, np.ones(1), "states", 4, "IndexError: index 4 is out of bounds for axis 0 of 'states', whose shape is (4,)"),
    (flat, np.ones((2, 3)), np.ones(1), 6, "IndexError: index 6 is out of bounds for size 6"),
    (flat, np.ones((2, 3)), np.ones(1), -7, "IndexError: index -7 is out of bounds for size 6"),
    (store_flat, np.ones((2, 3)), np.ones(1), 9, "IndexError: index 9 is out of bounds for size 6"),
    (item, np.ones((2, 3)), np.ones(1), 6, "IndexError: index 6 is out of bounds for size 6"),
    (reshape, np.ones((2, 3)), np.ones(1), 4, "ValueError: cannot reshape array of size 6 into shape (4,2)"),
    (reshape, np.ones((2, 3)), np.ones(1), 2**63 - 1, f"ValueError: cannot reshape array of size 6 into shape "
                                                      f"({2**63 - 1},2)"),
    (reshape_the_rest, np.ones((2, 3)), np.ones(1), 4, "ValueError: cannot reshape array of size 6 into shape (4,1)"),
    (dynamic, np.ones(1), np.ones(1), 5, "ValueError: cannot reshape array of size 8 into shape (5,2)"),
]


@pytest.mark.parametrize("function, x, y, i, told", LIBRARY, ids=[f"{row[0].__name__} {row[3]}" for row in LIBRARY])
def test_the_library_is_told_of_at_its_call(function, x, y, i, told):
    kernel = cuda.jit(check="bounds")(function)
    y = create_xoroshiro128p_states(4, 1) if isinstance(y, str) else cuda.to_device(y)
    with pytest.raises((IndexError, ValueError)) as caught:
        kernel[1, 1, 0, 64](cuda.to_device(x), y, i)
        cuda.synchronize()
    first, place = str(caught.value).splitlines()[:2]
    assert f"{type(caught.value).__name__}: {first}" == told
    assert place.startswith(f'  File "{__file__}", line {line_of(kernel, 1)}, in {function.__name__}: block')


def test_the_library_that_stays_inside():
    @cuda.jit(check="bounds")
    def kernel(x, out, states):
        out[0] = np.interp(1.5, x, x) + np.dot(x, x) + x.flat[-1] + x.reshape(2, 2).item(3) + x.sum()
        out[1] = xoroshiro128p_uniform_float64(states, -1)

    out = np.zeros(2)
    kernel[1, 1](np.arange(4.0), out, create_xoroshiro128p_states(4, 1))
    assert out[0] == 1.5 + 14 + 3 + 3 + 6 and 0 < out[1] < 1


def test_from_where_a_device_function_was_called():
    @cuda.jit(device=True)
    def inner(x, i):
        return x[i]

    @cuda.jit(device=True)
    def outer(x, i):
        return inner(x, i) + np.dot(x, x[i - 5:])

    @cuda.jit(check="bounds")
    def once(x):
        x[0] = outer(x, 6)

    @cuda.jit(check="bounds")
    def twice(x):
        x[0] = inner(x, 1)
        x[1] = inner(x, 6)

    def calls(kernel):
        return [line for line in fault(kernel, np.zeros(6), threads=1).splitlines() if "called" in line]

    assert calls(once) == [f'  called from "program.py", line {line_of(outer, 2)}, in outer',
                           f'  called from "program.py", line {line_of(once, 2)}, in once']
    assert calls(twice) == [f'  called from "program.py", line {line_of(twice, 2)}, in twice '
                            f'or "program.py", line {line_of(twice, 3)}, in twice']

    @cuda.jit(check="bounds")
    def of_library(x):
        x[0] = outer(x, 5)
        x[0] = outer(x[:5], 4)

    first = line_of(of_library, 2)
    assert calls(of_library)[0].startswith(f'  called from "program.py", line {first}, in of_library or ')


def test_the_library_without_the_check():
    text = cuda.jit(check=False)(flat).inspect("checks", (float64[:, ::1], float64[::1], int64))
    assert "raise" not in text


def test_index_of_64_bits():
    """It counts nothing from the end, and is told of as it is."""
    @cuda.jit(check="bounds")
    def kernel(x, place, out):
        out[0] = x[0, place]

    x, out = np.arange(4.0).reshape(1, 4), np.zeros(1)
    kernel[1, 1](x, np.uint64(3), out)
    assert out[0] == 3
    for place in 2**63, 2**64 - 1, 4:
        with pytest.raises(IndexError, match=f"index {place} is out of bounds for axis 1 of 'x'"):
            kernel[1, 1](x, np.uint64(place), out)
            cuda.synchronize()
