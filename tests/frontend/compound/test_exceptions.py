"""Exceptions of kernels that reach the host: which class, which arguments, when, and what other threads do.

PYTEST_DONT_REWRITE: pytest would turn the asserts of kernels into calls that no kernel can make.
"""
import re
import threading

import numpy as np
import pytest

from cujit import cuda, errors, float64, int64, vectorize

TOLD = [dict(debug=True, opt=False), dict(exceptions=True)]


class Unwelcome(Exception):
    pass


class Picky(ValueError):
    def __init__(self, text, *rest):
        super().__init__(text, *rest)
        self.rest = rest


told = pytest.mark.parametrize("options", TOLD, ids=["debug", "exceptions"])


def run(kernel, *arguments, threads=40):
    """Launches and waits, with device arrays: an exception comes at the latest when waiting."""
    arrays = [cuda.to_device(a) if isinstance(a, np.ndarray) else a for a in arguments]
    try:
        kernel[2, threads // 2](*arrays)
        cuda.synchronize()
    finally:
        for given, array in zip(arguments, arrays, strict=True):
            if isinstance(given, np.ndarray):
                given[...] = array.copy_to_host()


@told
def test_classes_arguments_and_place(options):
    @cuda.jit(**options)
    def kernel(out, x):
        i = cuda.grid(1)
        if x[i] == 1:
            raise Unwelcome("one", 2, 3.5, None, True, ("a", (1, 2j)))
        if x[i] == 2:
            raise Picky("two", 22)
        if x[i] == 3:
            raise Unwelcome
        if x[i] == 4:
            raise KeyError(4)
        if x[i] == 5:
            raise Unwelcome()
        out[i] = 10 * x[i]

    first = kernel.py_func.__code__.co_firstlineno
    expected = [
        (1, Unwelcome, 5, ("one", 2, 3.5, None, True, ("a", (1, 2j)))), (2, Picky, 7, ("two", 22)),
        (3, Unwelcome, 9, ()), (4, KeyError, 11, ("4",)), (5, Unwelcome, 13, ()),
    ]
    for bad, error, line, arguments in expected:
        x, out = np.full(40, 7), np.full(40, -7)
        x[33] = bad
        with pytest.raises(error) as caught:
            run(kernel, out, x)
        assert type(caught.value) is error
        place = (f"In function 'kernel', file {__file__}, line {first + line - 1}, "
                 "tid=[0, 0, 13] ctaid=[0, 0, 1]")
        got = caught.value.args
        assert got[0] == (f"{place}: {arguments[0]}" if arguments else place)
        assert got[1:] == arguments[1:]
        assert out[33] == -7 and (np.delete(out, 33) == 70).all()
    x, out = np.full(40, 7), np.full(40, -7)
    run(kernel, out, x)
    assert (out == 70).all()


@told
def test_three_axes(options):
    @cuda.jit(**options)
    def kernel(x):
        t, b = cuda.threadIdx, cuda.blockIdx
        if t.x == 3 and t.y == 2 and t.z == 1 and b.x == 1 and b.y == 0 and b.z == 2:
            raise Unwelcome("here")

    with pytest.raises(Unwelcome, match=re.escape("tid=[1, 2, 3] ctaid=[2, 0, 1]: here")):
        kernel[(2, 2, 3), (4, 3, 2)](cuda.to_device(np.zeros(1)))
        cuda.synchronize()


@told
def test_run_time_arguments(options):
    @cuda.jit(**options)
    def kernel(x, n, z, flag, small):
        i = cuda.grid(1)
        if i == 5:
            raise Unwelcome("bad", x[i], n, z, flag, small, (i, (n, 0.5)), -i)

    with pytest.raises(Unwelcome) as caught:
        run(kernel, np.arange(40) / 4, np.uint64(2**64 - 3), 1 - 2j, True, np.float32(0.1))
    assert caught.value.args[1:] == (1.25, 2**64 - 3, 1 - 2j, True, float(np.float32(0.1)), (5, (2**64 - 3, 0.5)), -5)


@told
def test_assert(options):
    @cuda.jit(**options)
    def kernel(out, x):
        i = cuda.grid(1)
        assert x[i] != 1
        assert x[i] != 2, "two"
        assert x[i] != 3, 3
        assert x[i] != 4, ("four", 4)
        out[i] = x[i]

    for bad, text in [(1, r"ctaid=\[0, 0, 0\]$"), (2, ": two$"), (3, ": 3$"), (4, r": \('four', 4\)$")]:
        x, out = np.zeros(40, np.int64), np.full(40, -7)
        x[7] = bad
        with pytest.raises(AssertionError, match=text):
            run(kernel, out, x)
        assert out[7] == -7 and (np.delete(out, 7) == 0).all()


DIVISIONS = [
    ("/", np.int64, "division by zero"), ("//", np.int64, "integer division or modulo by zero"),
    ("%", np.int64, "integer modulo by zero"), ("/", np.float32, "division by zero"),
    ("//", np.float64, "float floor division by zero"), ("%", np.float64, "float modulo by zero"),
    ("/", np.complex64, "complex division by zero"), ("/", np.uint8, "division by zero"),
    ("%", np.uint64, "integer modulo by zero"),
]


@told
@pytest.mark.parametrize("operator, dtype, text", DIVISIONS, ids=lambda v: getattr(v, "__name__", str(v)))
def test_division_by_zero(options, operator, dtype, text):
    namespace = {"cuda": cuda}
    exec(f"def kernel(out, x, y):\n    i = cuda.grid(1)\n    out[i] = x[i] {operator} y[i]\n", namespace)
    kernel = cuda.jit(**options)(namespace["kernel"])
    x, y, out = np.arange(40).astype(dtype), np.full(40, 3, dtype), np.full(40, np.nan, np.result_type(dtype, float))
    run(kernel, out, x, y)
    np.testing.assert_allclose(out, eval(f"x {operator} y"), rtol=1e-6)
    y[9] = 0
    with pytest.raises(ZeroDivisionError, match=text):
        run(kernel, out, x, y)


@told
def test_divmod_augmented_and_constant_divisors(options):
    @cuda.jit(**options)
    def kernel(out, x, which):
        i = cuda.grid(1)
        if which == 0:
            q, r = divmod(x[i], x[i] - 5)
            out[i] = q + r
        elif which == 1:
            out[i] //= x[i] - 5
        elif which == 2:
            out[i] = 1 // (3 - 3)
        out[i] += x[i] // 4 + x[i] % 7

    for which in (0, 1, 2):
        with pytest.raises(ZeroDivisionError):
            run(kernel, np.full(40, 1), np.arange(40), which)
    out = np.full(40, 1)
    run(kernel, out, np.arange(40), 3)
    np.testing.assert_array_equal(out, 1 + np.arange(40) // 4 + np.arange(40) % 7)


def test_numpy_functions_follow_numpy():
    """np.floor_divide and its like divide by zero as NumPy does, also where the host is told of exceptions."""
    @cuda.jit(exceptions=True)
    def kernel(out, x):
        i = cuda.grid(1)
        out[i] = np.floor_divide(7, x[i]) + np.divide(1.0, x[i] + 1.0)

    out = np.full(40, -7.0)
    run(kernel, out, np.zeros(40, np.int64))
    assert (out == 1).all()


@told
def test_tuple_index_and_range_step(options):
    @cuda.jit(**options)
    def kernel(out, choices, which, step):
        i = cuda.grid(1)
        out[i] = choices[which[i]]
        for k in range(0, 3, step[i]):
            out[i] += k

    which, step = np.arange(40) % 6 - 3, np.full(40, 2)
    out = np.full(40, -7)
    run(kernel, out, (10, 20, 30), which, step)
    np.testing.assert_array_equal(out, np.array([10, 20, 30])[which] + 2)
    for bad in (3, -4, 2**40):
        which[31] = bad
        with pytest.raises(IndexError, match="tuple index out of range"):
            run(kernel, out, (10, 20, 30), which, step)
    which[31], step[2] = 0, 0
    with pytest.raises(ValueError, match="arg 3 must not be zero"):
        run(kernel, out, (10, 20, 30), which, step)


@told
def test_what_is_not_there(options):
    import functools
    import operator

    @cuda.jit(**options)
    def kernel(out, x, limit, which):
        i = cuda.grid(1)
        if which == 0:
            out[i] = min(v for v in x if v > limit)
        elif which == 1:
            out[i] = max(x[limit:])
        elif which == 2:
            out[i] = operator.indexOf(x, limit)
        elif which == 3:
            out[i] = (5, 6, 7).index(limit)
        elif which == 4:
            out[i] = functools.reduce(lambda a, b: a + b, (v for v in x if v > limit))
        else:
            out[i] = min((v for v in x if v > limit), default=-3)

    x, out = np.arange(7), np.zeros(40)
    for which, good, value, bad, class_, text in [
            (0, 3, 4, 9, ValueError, "min() iterable argument is empty"),
            (1, 2, 6, 7, ValueError, "max() iterable argument is empty"),
            (2, 4, 4, 9, ValueError, "sequence.index(x): x not in sequence"),
            (3, 6, 1, 9, ValueError, "tuple.index(x): x not in tuple"),
            (4, 4, 11, 9, TypeError, "reduce() of empty iterable with no initial value")]:
        run(kernel, out, x, good, which)
        assert (out == value).all()
        with pytest.raises(class_, match=re.escape(text)) as caught:
            run(kernel, out, x, bad, which)
        line = kernel.py_func.__code__.co_firstlineno + 4 + 2 * which
        assert f"In function 'kernel', file {__file__}, line {line}, " in str(caught.value)
    run(kernel, out, x, 9, 5)
    assert (out == -3).all()


@cuda.jit(device=True)
def checked_root(v):
    if v < 0:
        raise ValueError("negative")
    return v**0.5


@cuda.jit(device=True, inline="never")
def deeper(v, scale):
    return checked_root(v) * scale, v


@cuda.jit(device=True)
def down(n):
    """Recursive: every level returns at once."""
    if n == 0:
        raise Unwelcome("bottom")
    if n < 0:
        return 0
    return down(n - 1) + 1


@told
def test_device_functions_unwind(options):
    @cuda.jit(**options)
    def kernel(out, x):
        i = cuda.grid(1)
        a, b = deeper(x[i], 2.0)
        out[i] = a + b

    x, out = np.full(40, 4.0), np.full(40, -7.0)
    run(kernel, out, x)
    assert (out == 8).all()
    x[3], out[:] = -1, -7
    with pytest.raises(ValueError, match="In function 'checked_root'.*: negative"):
        run(kernel, out, x)
    assert out[3] == -7 and (np.delete(out, 3) == 8).all()


@told
def test_recursion_and_calls_that_never_return(options):
    def always(v):
        raise Unwelcome("always", v)

    @cuda.jit(**options)
    def kernel(out, n):
        i = cuda.grid(1)
        if n < 0:
            out[i] = always(n) + 1
            out[i] = 99
        out[i] = down(n) + 100

    out = np.full(40, -7)
    with pytest.raises(Unwelcome, match="bottom"):
        run(kernel, out, 20)
    with pytest.raises(Unwelcome, match="always") as caught:
        run(kernel, out, -3)
    assert caught.value.args[1] == -3 and (out == -7).all()


@told
def test_nested_functions(options):
    limit = 3

    @cuda.jit(**options)
    def kernel(out, x):
        def check(v):
            if v > limit:
                raise Unwelcome("above", v)
            return v

        i = cuda.grid(1)
        out[i] = check(x[i])

    out = np.full(40, -7)
    with pytest.raises(Unwelcome) as caught:
        run(kernel, out, np.arange(40) // 20 * 4)
    assert caught.value.args[1] == 4 and out.tolist() == [0] * 20 + [-7] * 20


@told
def test_threads_that_die_before_a_barrier(options):
    @cuda.jit(**options)
    def kernel(out, bad):
        s = cuda.shared.array(64, int64)
        t = cuda.threadIdx.x
        s[t] = 0
        cuda.syncthreads()
        if t % 3 == bad:
            raise Unwelcome("gone")
        s[t] = cuda.syncthreads_count(1)
        cuda.syncthreads()
        out[t] = s[t]

    out = cuda.to_device(np.full(60, -7))
    with pytest.raises(Unwelcome):
        kernel[1, 60](out, 1)
        cuda.synchronize()
    got = out.copy_to_host()
    assert (got[1::3] == -7).all() and (np.delete(got, np.arange(1, 60, 3)) == 40).all()


@told
def test_grid_stride_loops_end(options):
    """A thread that raised takes no further trip."""
    @cuda.jit(**options)
    def kernel(out, x):
        for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
            if x[i] < 0:
                raise Unwelcome("negative")
            out[i] = x[i]

    x, out = np.arange(320), cuda.to_device(np.full(320, -7))
    x[45] = -1
    with pytest.raises(Unwelcome):
        kernel[2, 20](out, cuda.to_device(x))
        cuda.synchronize()
    expected = x.copy()
    expected[45::40] = -7
    np.testing.assert_array_equal(out.copy_to_host(), expected)


def test_host_arrays_come_back():
    @cuda.jit(debug=True, opt=False)
    def kernel(out, x):
        i = cuda.grid(1)
        if x[i] == 3:
            raise Unwelcome
        out[i] = x[i]

    out = np.full((2, 40), -7)[:, ::2]  # not contiguous
    with pytest.raises(Unwelcome):
        kernel[1, 20](out[0], np.arange(20))
    expected = np.arange(20)
    expected[3] = -7
    np.testing.assert_array_equal(out[0], expected)


def test_silent_without_the_options():
    """The thread ends, in device functions too; nothing is reported."""
    @cuda.jit
    def kernel(out, x):
        i = cuda.grid(1)
        if x[i] > 16:
            raise Unwelcome("text", object)
        assert x[i] != 9
        out[i] = checked_root(x[i]) + (1, 2, 3)[0]

    x, out = np.full(40, 4.0), np.full(40, -7.0)
    x[:3] = 25, 9, -1
    run(kernel, out, x)
    assert (out[:3] == -7).all() and (out[3:] == 3).all()


def test_kernels_that_cannot_raise_have_no_trace_of_it():
    def kernel(out, x):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = x[i] / 2 + x[i] // 4

    plain, told = cuda.jit(kernel), cuda.jit(exceptions=True)(kernel)
    signature = (float64[::1], int64[::1])
    assert told.inspect("asm", signature, 80) == plain.inspect("asm", signature, 80)


@told
def test_every_host_thread_gets_its_own(options):
    @cuda.jit(**options)
    def kernel(x, number):
        if cuda.grid(1) == number:
            raise Unwelcome("mine", number)

    seen, failures = {}, []

    def work(number):
        try:
            stream = cuda.stream()
            x = cuda.to_device(np.zeros(64), stream=stream)
            for _ in range(5):
                with pytest.raises(Unwelcome) as caught:
                    kernel[2, 32, stream](x, number)
                    stream.synchronize()
                seen.setdefault(number, set()).add(caught.value.args[1])
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures and seen == {number: {number} for number in range(6)}


def test_the_default_stream_carries_on():
    @cuda.jit(exceptions=True)
    def kernel(out, bad):
        if bad:
            raise Unwelcome("bad")
        out[0] += 1

    out = cuda.to_device(np.zeros(1))
    for _ in range(3):
        with pytest.raises(Unwelcome):
            kernel[1, 1](out, True)
            cuda.synchronize()
        cuda.synchronize()
        kernel[1, 1](out, False)
    assert out.copy_to_host()[0] == 3


def test_several_specializations():
    """Each has a table of its own."""
    @cuda.jit(exceptions=True)
    def kernel(x):
        if cuda.grid(1) == 0:
            if x.dtype == np.float64:
                raise Unwelcome("real")
            raise Picky("whole")

    for dtype, error, text in [(np.float64, Unwelcome, "real"), (np.int64, Picky, "whole")] * 2:
        with pytest.raises(error, match=text):
            run(kernel, np.zeros(1, dtype))


REFUSED = [
    ("raise", "without an exception"), ("raise x", "no exception that can be raised"),
    ("raise ValueError(x)", "an exception cannot take array"), ("raise ValueError(a=1)", "positional"),
    ("raise ValueError(" + ", ".join(["i"] * 28) + ")", "at most 27 numbers"),
]


@pytest.mark.parametrize("statement, text", REFUSED)
def test_what_cannot_be_raised(statement, text):
    namespace = {"cuda": cuda}
    exec(f"def kernel(x):\n    i = cuda.grid(1)\n    {statement}\n", namespace)
    with pytest.raises(errors.UnsupportedError, match=text) as caught:
        cuda.jit(exceptions=True)(namespace["kernel"])[1, 1](np.zeros(3))
    assert caught.value.lineno == 3


def test_an_exception_that_cannot_be_made():
    """Its constructor's own complaint is raised."""
    class Two(Exception):
        def __init__(self, a, b):
            super().__init__(a, b)

    @cuda.jit(debug=True, opt=False)
    def kernel():
        raise Two

    with pytest.raises(TypeError, match="missing 1 required"):
        kernel[1, 1]()


def test_a_kernel_that_is_gone():
    """Nothing is left to say what was raised; still it is an error, and nothing crashes."""
    def make():
        @cuda.jit(exceptions=True)
        def kernel():
            raise Unwelcome("late")

        return kernel

    with pytest.raises((RuntimeError, Unwelcome)):
        make()[1, 1]()
        cuda.synchronize()
    cuda.synchronize()


@told
def test_ufuncs(options):
    @vectorize(["int64(int64, int64)"], target="cuda", **options)
    def quotient(a, b):
        return a // b

    assert quotient(np.arange(40), np.full(40, 3)).tolist() == [k // 3 for k in range(40)]
    out = cuda.to_device(np.zeros(40, np.int64))
    with pytest.raises(ZeroDivisionError):
        quotient(np.arange(40), np.arange(40) - 5, out=out)
        cuda.synchronize()


def test_compiled_to_text():
    """Who launches the text knows nothing of records: the kernel has its own parameters only."""
    def kernel(x):
        x[0] = checked_root(x[0])

    ptx, _ = cuda.compile_ptx(kernel, "void(float64[::1])", debug=True)
    assert ptx.count(".param .u64") == 2


def test_kernels_from_disk(run_python, tmp_path):
    """A second process finds the classes again."""
    program = """
import warnings
from cujit import cuda
warnings.simplefilter("ignore")

class First(Exception):
    pass

class Second(Exception):
    pass

@cuda.jit(exceptions=True, cache=True)
def kernel(n):
    if n == 1:
        raise First("one", n)
    if n == 2:
        raise Second(f"{n} is two")
    print("no", n)

for n in (1, 2, 3):
    try:
        kernel[1, 1](n)
        cuda.synchronize()
    except (First, Second) as error:
        print(type(error).__name__, *error.args, flush=True)
print(sum(kernel.stats.cache_hits.values()))
"""
    seen = [run_python(program, CUJIT_CACHE_DIR=str(tmp_path / "cache"), CUJIT_CACHE="1") for _ in range(2)]
    assert "one 1\nSecond In function 'kernel'" in seen[0] and "2 is two\nno 3\n" in seen[0]
    assert [text.splitlines()[-1] for text in seen] == ["0", "1"]
    assert seen[0].splitlines()[:-1] == seen[1].splitlines()[:-1]
