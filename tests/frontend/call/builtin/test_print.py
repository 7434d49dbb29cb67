"""print in kernels, and the text that f-strings, %, + and str.format() make there.

PYTEST_DONT_REWRITE: pytest would turn the asserts of kernels into calls that no kernel can make.
"""
import collections
import ctypes
import re

import numpy as np
import pytest

from cujit import cuda, errors

Point = collections.namedtuple("Point", "x y")


@pytest.fixture
def printed(capfd):
    """Launches one thread of a kernel; what came out of the process's standard output."""
    def run(kernel, *arguments):
        capfd.readouterr()
        kernel[1, 1](*arguments)
        cuda.synchronize()
        ctypes.CDLL(None).fflush(None)
        return capfd.readouterr().out

    return run


def kernel_of(body, parameters="x", **names):
    namespace = {"cuda": cuda, "np": np, **names}
    exec(f"def kernel({parameters}):\n    {body}\n", namespace)
    return cuda.jit(namespace["kernel"])


# --- values ----------------------------------------------------------------------------------------------------------

VALUES = [
    (7, "7"), (-7, "-7"), (np.int8(-128), "-128"), (np.uint8(200), "200"), (np.uint64(2**64 - 1), str(2**64 - 1)),
    (-2**63, "-9223372036854775808"), (True, "True"), (False, "False"), (2.5, "2.500000"), (-0.0, "-0.000000"),
    (1e300, f"{1e300:f}"), (np.float32(0.1), "0.100000"), (np.float16(1.5), "1.500000"), (float("inf"), "inf"),
    (float("nan"), "nan"), (1 - 2j, "(1.000000-2.000000j)"), (np.complex64(1j), "(0.000000+1.000000j)"),
    ((7, 2), "(7, 2)"), ((1,), "(1,)"), ((1, (2.5, True)), "(1, (2.500000, True))"),
    (Point(3, 0.5), "Point(x=3, y=0.500000)"),
    (None, "None"),
]


@pytest.mark.parametrize("value, text", VALUES, ids=repr)
def test_values(printed, value, text):
    kernel = kernel_of("print(x)")
    assert printed(kernel, value) == text + "\n"
    assert printed(kernel_of("print('a', x, x, 'b')"), value) == f"a {text} {text} b\n"


def test_constants_and_places(printed):
    body = "print('a%d {}', 1, 2.5, None, True, LIMIT, (1, 'two', ('it\\'s',)), cuda.threadIdx, cuda.blockDim.x)"
    assert printed(kernel_of(body, "", LIMIT=-3)) == (
        """a%d {} 1 2.500000 None True -3 (1, 'two', ("it's",)) (0, 0, 0) 1\n""")


def test_nothing_and_text(printed):
    assert printed(kernel_of("print()", "")) == "\n"
    assert printed(kernel_of("print('')", "")) == "\n"
    assert printed(kernel_of("print('', end='')", "")) == ""
    assert printed(kernel_of("print('é…', end='')", "")) == "é…"


def test_separator_and_end(printed):
    assert printed(kernel_of("print(x, 2, x, sep='%, ', end='!\\n\\n', flush=True)"), 1) == "1%, 2%, 1!\n\n"
    assert printed(kernel_of("print(x, 2, sep=None, end=None, file=None)"), 1) == "1 2\n"
    assert printed(kernel_of("print(x, 2, sep=S)", S=""), 1) == "12\n"


@pytest.mark.parametrize("count", [30, 31, 32, 33, 64, 100])
def test_many_items(printed, count):
    kernel = kernel_of(f"print({', '.join(['x'] * (count - 1) + ['x + 1'])})")
    assert printed(kernel, 5) == " ".join(["5"] * (count - 1) + ["6"]) + "\n"


def test_records(printed):
    records = np.zeros(2, np.dtype([("a", np.int32), ("b", np.float64)], align=True))
    records[1] = 3, 0.25
    assert printed(kernel_of("print(x[1].a, x[1]['b'])"), records) == "3 0.250000\n"


# --- formatting ------------------------------------------------------------------------------------------------------

INTEGER_SPECS = ["", "d", "5", "<5", ">5", "05", "+", " ", "+05d", "0=+6", "0=5", "x", "X", "#x", "#X", "o", "#o",
                 "08x", "#08x", "#06o", "e", ".2f", "8.1e", "g", "c"]
FLOAT_SPECS = ["f", ".3f", "8.3f", "<8.3f", ">+9.2f", "08.2f", "e", ".2e", "E", "g", ".3g", "G", "F", ".0f", "#.0f",
               ".1%", " .2f", "12.4", ".4"]


@pytest.mark.parametrize("spec", INTEGER_SPECS)
def test_integers_by_a_spec(printed, spec):
    kernel = kernel_of(f"print(f'<{{x:{spec}}}> {{y:{spec}}}')", "x, y")
    value = 65
    assert printed(kernel, value, np.uint8(value)) == f"<{value:{spec}}> {value:{spec}}\n"


def test_negative_integers(printed):
    kernel = kernel_of("print(f'{x:5d}|{x:<5}|{x:05}|{x:+}|{x: }|{x:.1f}')")
    x = -42
    assert printed(kernel, x) == f"{x:5d}|{x:<5}|{x:05}|{x:+}|{x: }|{x:.1f}\n"
    huge = np.uint64(2**63)
    assert printed(kernel_of("print(f'{x:+} {x:+025} {x: }')"), huge) == f"{2**63:+} {2**63:+025} {2**63: }\n"
    assert printed(kernel_of("print(f'{x:x} {y:o}')", "x, y"), -1, np.int8(-1)) == f"{2**64 - 1:x} {2**64 - 1:o}\n"


@pytest.mark.parametrize("spec", FLOAT_SPECS)
@pytest.mark.parametrize("value", [1234.5678, -0.015625, 2.0])
def test_floats_by_a_spec(printed, spec, value):
    kernel = kernel_of(f"print(f'<{{x:{spec}}}> {{y:{spec}}}')", "x, y")
    single = float(np.float32(value))
    expected = [format(value, spec), format(single, spec)]
    if spec in ("12.4", ".4"):  # without a letter Python leaves a point and a zero
        expected = [format(v, spec + "g") for v in (value, single)]
    assert printed(kernel, value, np.float32(value)) == f"<{expected[0]}> {expected[1]}\n"


def test_exact_floats(printed):
    kernel = kernel_of("print(f'{x!r} {y!r} {z!r} {x!s}', repr(x))", "x, y, z")
    first, second, third, plain, again = printed(kernel, 0.1, np.float32(0.1), np.float16(0.1)).split()
    assert float(first) == float(again) == 0.1 and np.float32(second) == np.float32(0.1)
    assert np.float16(third) == np.float16(0.1) and plain == "0.100000"


def test_f_strings(printed):
    body = "print(f'{{}} 50% {x}{y:>6}{B} {\"pad\":>6}|{\"mid\":^7}|{\"cut\":.2}|{\"l\":*<3} {(x, y)} {B!r}')"
    assert printed(kernel_of(body, "x, y", B="b"), 1, 2) == "{} 50% 1     2b    pad|  mid  |cu|l** (1, 2) 'b'\n"


def test_text_is_a_value(printed):
    @cuda.jit(device=True)
    def label(text, v):
        print(text + ":", v)

    @cuda.jit
    def kernel(x, y):
        text = f"{x} of {y:.1f}"
        if x > 3:
            text = text
        print(text, text + "; " + str(x) + format(y, ".3f"))
        label("plain", x)
        label(text, y)

    assert printed(kernel, 2, 0.5) == "2 of 0.5 2 of 0.5; 20.500\nplain: 2\n2 of 0.5: 0.500000\n"


def test_percent(printed):
    body = "print('%d|%5d|%-5d|%05d|%+d|%i|%x|%#o' % (x, x, x, x, x, x, x, x), '%.2f %8.1e %g%%' % (y, y, y), '%s' % x)"
    x, y = 42, 2.75
    expected = "%d|%5d|%-5d|%05d|%+d|%i|%x|%#o" % (x, x, x, x, x, x, x, x) + " %.2f %8.1e %g%% 42\n" % (y, y, y)
    assert printed(kernel_of(body, "x, y"), x, y) == expected
    assert printed(kernel_of("print('%d %s %r %5s|%-5s|' % (y, 'a', 'b', 'c', 'd'))", "x, y"), x, y) == (
        "2 a 'b'     c|d    |\n")


def test_format_method(printed):
    body = "print('{} {:>4} {{}}'.format(x, y), '{1}{0}{1:+}'.format(x, y), '{k:.2f} {0!r}'.format(x, k=y))"
    assert printed(kernel_of(body, "x, y"), 3, 7) == "3    7 {} 73+7 7.00 3\n"


@pytest.mark.parametrize("count", [3, 15, 16, 40])
def test_texts_of_many_parts(printed, count):
    """CPython joins a list of the parts where there are more than its stack is to hold."""
    body = "print(f'" + " ".join(f"{{x + {k}}}" for k in range(count)) + "')"
    assert printed(kernel_of(body), 5) == " ".join(str(5 + k) for k in range(count)) + "\n"


def test_join(printed):
    body = "print(', '.join((str(x), 'b{', f'{y:.1f}')), '-'.join(str(x + k) for k in (1, 2)), ''.join(()))"
    assert printed(kernel_of(body, "x, y"), 3, 2.5) == "3, b{, 2.5 4-5 \n"


def test_constant_text(printed):
    @cuda.jit
    def kernel(out):
        out[0] = len("abé") + len("x" + "y")
        out[1] = "a" in "cat"
        out[2] = "ab" == "a" + "b"
        out[3] = "dog" not in "cat"
        out[4] = f"{1}{'x'}" == "1x"
        out[5] = isinstance("a", str)

    out = np.zeros(6, np.int64)
    kernel[1, 1](out)
    assert out.tolist() == [5, 1, 1, 1, 1, 1]


# --- where it goes ---------------------------------------------------------------------------------------------------

def test_every_line_is_whole(capfd):
    @cuda.jit
    def kernel(x):
        i = cuda.grid(1)
        print("line", i, x[i], "end")

    x = np.arange(512) / 4
    kernel[16, 32](x)
    cuda.synchronize()
    ctypes.CDLL(None).fflush(None)
    lines = capfd.readouterr().out.splitlines()
    assert sorted(lines) == sorted(f"line {i} {v:.6f} end" for i, v in enumerate(x))


def test_with_barriers_and_votes(capfd):
    @cuda.jit
    def kernel():
        count = cuda.syncthreads_count(cuda.threadIdx.x > 3)
        if cuda.threadIdx.x == 2:
            print("above", count)

    kernel[1, 10]()
    cuda.synchronize()
    ctypes.CDLL(None).fflush(None)
    assert capfd.readouterr().out == "above 6\n"


def test_the_programs_own_output_comes_first(run_python):
    program = """
from cujit import cuda
import ctypes, warnings
warnings.simplefilter("ignore")

@cuda.jit
def kernel():
    print("kernel")

print("before")
kernel[1, 1]()
cuda.synchronize()
ctypes.CDLL(None).fflush(None)
print("behind")
"""
    assert run_python(program) == "before\nkernel\nbehind\n"


# --- exceptions ------------------------------------------------------------------------------------------------------

def test_messages_with_run_time_values():
    """The host formats them: all of Python's specs."""
    @cuda.jit(exceptions=True)
    def kernel(x, which):
        i = cuda.grid(1)
        if i == 3 and which == 0:
            raise ValueError(f"x[{i}] is {x[i]:.3f} {{}} {x[i]!r:^9} {1000 * i:,}", i)
        if i == 3 and which == 1:
            raise ValueError("%d: %5.1f %s" % (i, x[i], (i, "a")))
        assert i != 3 or which != 2, "item " + str(i) + " is {}".format(x[i])

    x = cuda.to_device(np.arange(8) / 8)
    cases = [(0, ValueError, ": x[3] is 0.375 {}   0.375   3,000"), (1, ValueError, ": 3:   0.4 (3, 'a')"),
             (2, AssertionError, ": item 3 is 0.375")]
    for which, error, text in cases:
        with pytest.raises(error) as caught:
            kernel[1, 8](x, which)
            cuda.synchronize()
        assert caught.value.args[0].endswith(text)


# --- refused ---------------------------------------------------------------------------------------------------------

REFUSED = [
    ("print(x)", "its items do"), ("print(int)", "has no text"), ("print(1, sep=2)", "'sep' of print"),
    ("print(1, file=x)", "standard output"), ("print(1, colour=2)", "colour"),
    ("print(f'{x[0]:,}')", "format spec ','"), ("print(f'{x[0]:^9}')", "format spec"),
    ("print(f'{x[0]:d}')", "format spec 'd'"), ("print(f'{n:.2}')", "precision"), ("print(f'{n:#9x}')", "only zeros"),
    ("print(f'{n:b}')", "format spec 'b'"), ("print(f'{n:{n}}')", "format spec must be"),
    ("print('%d' % (1, 2))", "fewer"), ("print('%d %d' % n)", "more"), ("print('{}'.format())", "no value"),
    ("print(','.join((n, 'a')))", "takes texts"),
    ("print('%q' % n)", "with %"), ("s = f'{n}' * 2", "of text"), ("print(f'{f\"{n}\":>5}')", "again"),
]


@pytest.mark.parametrize("statement, text", REFUSED)
def test_what_is_refused(statement, text):
    with pytest.raises(errors.TypingError, match=text) as caught:
        kernel_of(statement, "x, n")[1, 1](np.zeros(3), 5)
    assert caught.value.lineno == 2


def test_characters_lie_side_by_side_for_a_gpu():
    """vprintf takes an int of 4 bytes for %c, and aligns what follows."""
    kernel = kernel_of("print(f'{x:c}{y:c} {x} {y:c}')", "x, y")
    ptx, _ = cuda.compile_ptx(kernel.py_func, "void(int64, int64)", cc=(9, 0))
    stores = re.findall(r"st\.local\.(?:v2\.)?[bu](\d+)\s+\[%\w+(?:\+(\d+))?\]", ptx)
    assert sorted((int(place or 0), int(size)) for size, place in stores) in (
        [(0, 32), (4, 32), (8, 64), (16, 32)], [(0, 32), (8, 64), (16, 32)])
