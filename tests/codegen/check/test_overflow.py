"""`overflow`: arithmetic that goes wrong is told of behind the launch, each expression once, by its line: `# fault`
stands behind it. A row is a program, how often it goes wrong, and what the report says of the first time."""
import math
import os
import re
import shutil
import subprocess
import sys
import warnings

import numpy as np
import pytest
from made_kernels import made

sys.path.insert(0, __file__.rsplit("/tests/", 1)[0] + "/tests/kernels/planted")

from planted_overflow import LARGE, PLANTED  # noqa: E402

from cujit import cuda, float64, guvectorize, int8, int32, int64, uint8, uint32, uint64, vectorize
from cujit.cuda import random
from cujit.errors import OverflowWarning

HEAD = """import functools
import math
import operator
import numpy as np
from cujit import complex64, cuda, float32, float64, int8, int16, int32, int64, uint8, uint32, uint64
"""
TYPES = int64[::1], float64[::1], int32[::1], uint64[::1], uint8[::1], int64[::1]

RIGHT = {
    "at the ends": """
def kernel(x, f, n, u, o, out):
    i = cuda.grid(1)
    if i == 62:
        out[0] = x[i] - 1 + 1
        out[1] = -x[i] - 1
        out[2] = x[i] // -1
        out[3] = abs(-x[i])
    if i == 63:
        out[4] = x[i] + x[62]
        out[5] = x[i] % -1
        out[6] = x[i] // n[1]
        out[7] = (-2) ** (n[60] + 3)
        out[8] = -1 << n[60] + 3
        out[9] = int(-9223372036854775808.0)
        out[10] = x[i] * n[1]
""",
    "powers": """
def kernel(x, f, n, u, o, out):
    i = cuda.grid(1)
    out[i] = 3 ** min(i, 39)
    out[i] = (i % 8) ** 20
    out[i] = 3037000499 ** 2
    out[i] = x[i] ** 1
    out[i] = x[i] ** 0
""",
    "narrow numbers at their ends": """
def kernel(x, f, n, u, o, out):
    i = cuda.grid(1)
    o[i] = 255 - n[i] * 0
    o[i] = n[i] * 4 + 3
    out[i] = int8(127.9) + int8(-128.9) + uint8(255.5) + uint8(-0.5)
    out[i] = int32(2147483647.5) + int16(n[i])
    out[i] = uint8(n[i])
""",
    "a generator of random numbers": """
def kernel(x, f, n, u, o, out):
    i = cuda.grid(1)
    s = u[i] + uint64(0x9E3779B97F4A7C15)
    for k in range(20):
        s ^= s << uint64(13)
        s ^= s >> uint64(7)
        s ^= s << uint64(17)
        s = s * uint64(0x5851F42D4C957F2D) + uint64(0x14057B7EF767814F)
    u[i] = s
""",
    "hashes of uint64 and plain numbers": """
def kernel(x, f, n, u, o, out):
    i = cuda.grid(1)
    h = u[i] * 6364136223846793005 + 1442695040888963407
    u[i] = h
    u[i] = (u[i] ^ uint64(14695981039346656037)) * 1099511628211 + 12345
    u[i] *= 6364136223846793005
""",
    "32 bits by a conversion": """
def kernel(x, f, n, u, o, out):
    i = cuda.grid(1)
    s = uint32(i + 1)
    for k in range(20):
        s = uint32(s * 2654435761 + 12345)
        s = uint32(s - uint32(4294967295))
        s = uint32(-s)
        s ^= uint32(s << 13)
    u[i] = uint32(x[i]) + uint8(-1) + s
""",
    "32 bits by a mask": """
def kernel(x, f, n, u, o, out):
    i = cuda.grid(1)
    s = x[i] & 0xffffffff
    for k in range(20):
        s = (s * 6364136223846793005 + 1442695040888963407) & 0xffffffff
        s = (s * 1103515245 * 1103515245 + 12345) % 2147483648
    out[i] = s
""",
    "numbers of threads": """
def kernel(x, f, n, u, o, out):
    i = cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x
    step = cuda.gridDim.x * cuda.blockDim.x
    for k in range(i, out.size, step):
        out[k] = out[out.size - 1 - k] + k * step
""",
    "ranges": """
def kernel(x, f, n, u, o, out):
    i = cuda.grid(1)
    for k in range(-x[62] - 1, -x[62] + 1):
        out[i] = k
    for k in range(x[62], x[62] - 2, -1):
        out[i] = k
    out[i] = len(range(0, x[62]))
    out[i] = len(x[::-1])
""",
    "atomics": """
def kernel(x, f, n, u, o, out):
    i = cuda.grid(1)
    cuda.atomic.add(u, 0, -1)
    cuda.atomic.add(n, 0, 1)
    cuda.atomic.sub(n, 0, 1)
    cuda.atomic.inc(u, 1, 3)
""",
    "masks of lanes": """
def kernel(x, f, n, u, o, out):
    i = cuda.grid(1)
    out[i] = cuda.shfl_down_sync(-1, n[i], 1) + cuda.ballot_sync(0xffffffff, True)
    masks = cuda.local.array(3, uint32)
    masks[0] = cuda.ballot_sync(0xffffffff, True)
    masks[1] = cuda.match_any_sync(0xffffffff, n[i])
    mask, same = cuda.match_all_sync(0xffffffff, n[1])
    masks[2] = mask
    u[i] = masks[0] + masks[1] + masks[2]
""",
}


def compiled(name, source, **options):
    """The program's kernel; its source lines can be found."""
    text = HEAD + source
    file = f"<overflow: {name}>"
    lines = [number for number, line in enumerate(text.splitlines(), 1) if "# fault" in line]
    return cuda.jit(**options)(made(text, file=file)), file, lines


def arguments():
    x = np.arange(64)
    x[62:] = LARGE, -LARGE - 1
    return (x, np.arange(64.0), np.arange(64, dtype=np.int32), np.arange(64, dtype=np.uint64),
            np.arange(64, dtype=np.uint8), np.zeros(64, np.int64))


def warned(run):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", OverflowWarning)
        run()
    return [str(each.message) for each in caught]


def launched(kernel):
    return warned(lambda: kernel[1, 64](*arguments()))


def place_of(text):
    found = re.search(r'File "(.*)", line (\d+), in (\S+): block (\(.*?\)), thread (\(.*?\)), (.*)', text)
    return found[1], int(found[2]), found[6]


@pytest.mark.parametrize("name", PLANTED)
def test_the_line_is_named(name):
    count, told, source = PLANTED[name]
    kernel, file, (line,) = compiled(name, source, check="overflow")
    text, = launched(kernel)
    assert text.startswith(told + "\n"), text
    assert place_of(text) == (file, line, "once" if count == 1 else f"the first of {count} times"), text
    assert text.splitlines()[2].strip() == source.splitlines()[line - 1 - HEAD.count("\n")].strip()


@pytest.mark.parametrize("others", ["bounds", "bounds,race,init,barrier"])
@pytest.mark.parametrize("name", PLANTED)
def test_beside_other_checks(name, others):
    if "race" in others and name in ("loop", "atomic sum"):
        pytest.skip("it has a race")
    if "race" in others and cuda.get_current_device().kind == "cuda":
        pytest.skip("the CPU device's")
    count, told, source = PLANTED[name]
    kernel, _, (line,) = compiled(name, source, check=f"overflow,{others}")
    text, = launched(kernel)
    assert text.startswith(told + "\n") and place_of(text)[1] == line


@pytest.mark.parametrize("name", PLANTED)
def test_the_thread_ends_where_that_was_asked_for(name):
    _, told, source = PLANTED[name]
    kernel, file, (line,) = compiled(name, source, check="overflow=raise")
    expected = ZeroDivisionError if "division by zero" in told else OverflowError
    with pytest.raises(expected) as caught:
        kernel[1, 64](*arguments())
        cuda.synchronize()
    report = str(caught.value).partition("\n  called from")[0]
    assert re.search(r'File "(.*)", line (\d+)', report).groups() == (file, str(line))
    if name != "atomic sum":
        assert report.split()[-1].strip("^") == "" and told.split()[-1] in report


@pytest.mark.parametrize("name", RIGHT)
def test_nothing_is_said_of_what_is_right(name):
    kernel, _, _ = compiled(name, RIGHT[name], check="overflow")
    assert launched(kernel) == []


def test_nothing_is_said_of_cujits_own_functions():
    @cuda.jit(check="overflow")
    def kernel(states, x, y, least, out):
        i = cuda.grid(1)
        out[i] = random.xoroshiro128p_uniform_float64(states, i) + random.xoroshiro128p_normal_float32(states, i)
        out[i] += np.gcd(x[i], 12) + np.sum(x[:8]) + np.dot(y[:4], y[:4]) + np.searchsorted(y, y[i])
        out[i] += cuda.popc(x[i]) + math.gcd(least[0], 5) + round(least[0] + 4, -1)
        u = np.multiply(uint32(x[i]), uint32(2654435761)) + np.left_shift(uint64(1), uint64(63))
        out[i] += np.bitwise_xor(u, np.add(uint64(2**63), uint64(2**63))) + cuda.warp.inclusive_scan(x[i])

    states = random.create_xoroshiro128p_states(64, seed=1)
    x, y = cuda.to_device(np.arange(64)), cuda.to_device(np.arange(64.0))
    least, out = cuda.to_device(np.array([-LARGE - 1])), cuda.to_device(np.zeros(64))
    assert warned(lambda: kernel[2, 32](states, x, y, least, out)) == []


def test_each_expression_has_one_report_with_the_first_thread():
    @cuda.jit(check="overflow")
    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = (x[i] + 1) * (x[i] - 1)

    x = np.full(100000, LARGE)
    x[:300] = 0
    first, second = warned(lambda: kernel[100000 // 128 + 1, 128](x, np.zeros(100000, np.int64)))
    assert f"{-LARGE - 1} * {LARGE - 1} does not" in first and "the first of 99700 times" in first
    assert f"{LARGE} + 1 does not" in second and "the first of 99700 times" in second
    assert all("block (2, 0, 0), thread (44, 0, 0)" in text for text in (first, second))
    assert second.splitlines()[-1].index("^") > first.splitlines()[-1].index("^")


def test_a_function_for_two_types_is_one_expression():
    @cuda.jit(device=True)
    def twice(v):
        return v // 0

    @cuda.jit(check="overflow")
    def kernel(out):
        out[0] = twice(3) + twice(np.int32(out[0])) + twice(np.int64(out[0]))

    text, = warned(lambda: kernel[1, 2](np.zeros(1, np.int64)))
    assert "the first of 6 times" in text


def test_results_are_those_without_the_check():
    def kernel(x, f, n, u, o, out):
        i = cuda.grid(1)
        out[i] = x[i] * 3 + (x[i] << 3) - abs(x[i]) // (n[i] - 5)
        o[i] = x[i] * 7
        f[i] = int(f[i] * 1e18)

    given, expected = arguments(), arguments()
    assert warned(lambda: cuda.jit(check="overflow")(kernel)[1, 64](*given))
    cuda.jit(check=False)(kernel)[1, 64](*expected)
    for a, b in zip(given, expected, strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_filter_makes_an_error_of_it():
    kernel, _, _ = compiled("filter", PLANTED["sum"][2], check="overflow")
    given = arguments()
    with warnings.catch_warnings():
        warnings.simplefilter("error", OverflowWarning)
        with pytest.raises(OverflowWarning, match="does not fit int64"):
            kernel[1, 64](*given)
    assert given[-1][1] == 2  # the launch is done


def test_an_exception_of_the_launch_is_what_is_raised():
    @cuda.jit(check="overflow,bounds")
    def kernel(x, k):
        y = x[0] + 1
        x[k] = y

    with warnings.catch_warnings():
        warnings.simplefilter("error", OverflowWarning)
        with pytest.raises(IndexError):
            kernel[1, 1](np.array([LARGE]), 5)


@pytest.mark.parametrize("type_, value, told", [
    ("int32", 2**31, "int64 2147483648 does not fit int32"), ("int8", np.int16(-129), "int16 -129 does not fit int8"),
    ("uint32", -1, "int64 -1 does not fit uint32"), ("int64", 2**63, f"uint64 {2**63} does not fit int64"),
    ("UniTuple(int16, 2)", (5, 40000), "int64 40000 does not fit int16")])
def test_arguments_that_a_signature_narrows(type_, value, told):
    def kernel(out, n):
        out[0] = 1

    out, line = np.zeros(1), test_arguments_that_a_signature_narrows.__code__.co_firstlineno + 5
    compiled = cuda.jit(f"void(float64[:], {type_})", check="overflow")(kernel)
    for _ in range(2):
        text, = warned(lambda: compiled[1, 1](out, value))
        assert text.startswith(f"{told}, argument 'n' of the kernel\n") and f"line {line}, in kernel\n" in text
        assert out[0] == 1
        fits = (5, -5) if isinstance(value, tuple) else 5
        assert warned(lambda: compiled[1, 1](out, fits)) == []
    assert warned(lambda: cuda.jit(f"void(float64[:], {type_})")(kernel)[1, 1](out, value)) == []
    out[0] = 0
    with pytest.raises(OverflowError, match="does not fit"):
        cuda.jit(f"void(float64[:], {type_})", check="overflow=raise")(kernel)[1, 1](out, value)
    assert out[0] == 0


def test_an_argument_that_fits_the_next_signature_is_not_told_of():
    @cuda.jit(["void(int64[:], int32)", "void(float64[:], int64)"], check="overflow")
    def kernel(out, n):
        out[0] = n

    assert warned(lambda: kernel[1, 1](np.zeros(1, np.int64), 5)) == []
    assert warned(lambda: kernel[1, 1](np.zeros(1), 2**40)) == []
    assert len(warned(lambda: kernel[1, 1](np.zeros(1, np.int64), 2**40))) == 1


def test_ufuncs():
    @vectorize(["int64(int64, int64)", "int8(int8, int8)"], target="cuda", check="overflow")
    def plus(a, b):
        return a + b

    @guvectorize(["(int64[:], int64[:])"], "(n)->(n)", target="cuda", check="overflow")
    def double(x, out):
        for k in range(x.size):
            out[k] = x[k] * 2

    line = test_ufuncs.__code__.co_firstlineno + 1  # that of the signatures
    text, = warned(lambda: plus(np.array([1, LARGE]), np.array([1, 2])))
    assert text.startswith(f"{LARGE} + 2 does not fit int64") and place_of(text)[1:] == (line + 2, "once")
    text, = warned(lambda: plus(np.int8([1, 100]), np.int8([1, 100])))
    assert text.startswith("int64 200 does not fit int8") and place_of(text)[1:] == (line, "once")
    text, = warned(lambda: double(np.array([[1, LARGE], [3, 4]])))
    assert text.startswith(f"{LARGE} * 2 does not fit int64") and place_of(text)[1:] == (line + 7, "once")


def test_ufuncs_of_device_arrays():
    @vectorize(["int64(int64, int64)"], target="cuda", check="overflow")
    def plus(a, b):
        return a + b

    x = cuda.to_device(np.array([1, LARGE, LARGE]))
    for _ in range(3):
        text, = warned(lambda: plus(x, x))
        assert "the first of 2 times" in text


def test_reductions(monkeypatch):
    monkeypatch.setenv("CUJIT_CHECK", "overflow")

    @cuda.reduce
    def total(a, b):
        return a + b

    x = np.arange(10000)
    assert warned(lambda: total(x)) == []
    x[77] = LARGE
    text, = warned(lambda: total(x))
    assert "does not fit int64" in text and place_of(text)[1] == test_reductions.__code__.co_firstlineno + 5
    texts = warned(lambda: total(np.full(100, 2**30, np.int32)))  # of its two launches
    assert texts and all("does not fit int32" in text for text in texts)
    assert {place_of(text)[1] for text in texts} == {test_reductions.__code__.co_firstlineno + 3}


ARRAYS = """
import warnings
import numpy as np
from cujit import cuda

x = cuda.to_device(np.full((4, 4), 2**62))
for function in (lambda: x @ x, lambda: x.cumsum(), lambda: x + x, lambda: np.multiply(x, x), lambda: x.sum(axis=0)):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        function()
    print({(each.category.__name__, each.lineno) for each in caught})
"""


def test_functions_of_device_arrays(run_python):
    """At the program's line; where in cujit they are computed, the report says."""
    assert run_python(ARRAYS, CUJIT_CHECK="overflow", CUJIT_CACHE="0").splitlines() == ["{('OverflowWarning', 7)}"] * 5
    assert run_python(ARRAYS, CUJIT_CACHE="0").splitlines() == ["set()"] * 5


def test_from_the_disk_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("CUJIT_CACHE_DIR", str(tmp_path))
    for _ in range(2):
        kernel, _, _ = compiled("disk", PLANTED["sum"][2], check="overflow")
        assert len(launched(kernel)) == 1


def notes(source, types, **options):
    kernel, _, _ = compiled("notes", source, check="overflow", **options)
    return kernel.inspect("checks", types).count("note ")


VARIANT = """
import warnings
import numpy as np
from cujit import cuda, errors

@cuda.jit(check="overflow")
def add(x, n):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = n + i

x = cuda.to_device(np.zeros(64, np.int32))
warnings.simplefilter("error", errors.OverflowWarning)
add[1, 64](x, 5)
try:
    add[1, 64](x, 2147483600)
except errors.OverflowWarning as warning:
    print(type(warning).__name__)
"""


def test_a_variant_from_the_disk_cache_is_told_of_too(run_python, tmp_path):
    """The first launch's values prove the sum, and its kernel tells nothing."""
    for _ in range(2):
        assert run_python(VARIANT, CUJIT_CACHE_DIR=tmp_path / "cache") == "OverflowWarning\n"


@pytest.mark.skipif(cuda.get_current_device().kind != "cpu", reason="its checks are calls of watchers")
def test_what_ranges_prove_has_no_test():
    flat = """
def kernel(x, w, h, out):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if i < w * h:
        out[(i % w) * h + i // w] = x[i] * 2 + x[i // 2]
"""
    assert notes(flat, (float64[:], int64, int64, float64[:])) == 0
    assert notes(flat, (uint8[:], int64, int64, int64[:])) == 0
    assert notes(flat, (int64[:], int64, int64, int64[:])) == 2
    assert notes(flat, (int8[:], int64, int64, int8[:])) == 1
    assert notes(flat, (uint64[:], int64, int64, uint64[:])) == 0


def test_what_a_launch_cannot_prove_has_one():
    @cuda.jit(check="overflow")
    def kernel(a, b, out):
        out[0] = a * b

    assert "note " not in kernel.inspect("checks", (int64, int64, int64[:]))
    out = np.zeros(1, np.int64)
    assert warned(lambda: kernel[1, 1](3, 4, out)) == [] and out[0] == 12
    text, = warned(lambda: kernel[1, 1](2**40, 2**40, out))
    assert text.startswith(f"{2**40} * {2**40} does not fit int64")
    assert warned(lambda: kernel[1, 1](3, 5, out)) == [] and out[0] == 15


def test_words():
    def kernel(x):
        x[0] += 1

    full = np.array([LARGE])
    assert len(warned(lambda: cuda.jit(check=True)(kernel)[1, 1](full.copy()))) == 1
    assert warned(lambda: cuda.jit(check="bounds")(kernel)[1, 1](full.copy())) == []
    with pytest.raises(OverflowError):
        cuda.jit(check=["overflow", "overflow=raise"])(kernel)[1, 1](full.copy())
    with pytest.raises(ValueError, match="overflow=raise; not 'overflow=warn'"):
        cuda.jit(check="overflow=warn")(kernel)


def test_the_environment():
    program = ("import numpy as np\nfrom cujit import cuda\n@cuda.jit\ndef kernel(x):\n    x[0] += 1\n"
               "kernel[1, 1](np.array([2**63 - 1]))\n")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True,
                          env={**os.environ, "CUJIT_CHECK": "overflow", "CUJIT_DEVICE": "cpu"})
    assert "OverflowWarning: 9223372036854775807 + 1 does not fit int64\n" in done.stderr


@pytest.mark.parametrize("check", ["overflow", "overflow=raise"])
@pytest.mark.parametrize("name", PLANTED)
def test_code_for_gpus(name, check, tmp_path):
    kernel, _, _ = compiled(name, PLANTED[name][2], check=check)
    ptx = kernel.inspect("asm", TYPES, 80)
    if shutil.which("ptxas"):
        (tmp_path / "kernel.ptx").write_text(ptx)
        subprocess.run(["ptxas", "-arch=sm_80", "kernel.ptx", "-o", "kernel.cubin"], cwd=tmp_path, check=True)


def test_on_gpus_a_note_is_a_call():
    kernel, _, _ = compiled("note", PLANTED["product"][2], check="overflow")
    text = kernel.inspect("checks", TYPES, 80)
    assert "  note " not in text and "call watch_overflow." in text
    assert "launch_state: i64[1 C]) ;" in text.splitlines()[0]
    right = "def kernel(x, f, n, u, o, out):\n    out[0] = 1\n"
    for source, check in (PLANTED["product"][2], "bounds"), (right, "overflow"):
        kernel, _, _ = compiled("nothing", source, check=check)
        text = kernel.inspect("checks", TYPES, 80)
        assert "launch_state" not in text and "watch_" not in text


# --- beside Python's integers -----------------------------------------------------------------------------------------

EDGES = {
    np.int64: [-LARGE - 1, -LARGE, -2**62, -2**32, -2**31 - 1, -3037000500, -65, -64, -2, -1, 0, 1, 2, 3, 5, 38, 39, 62,
               63, 64, 3037000499, 3037000500, 2**31 - 1, 2**31, 2**32 - 1, 2**62 - 1, 2**62, LARGE - 1, LARGE],
    np.int32: [-2**31, -2**31 + 1, -64, -1, 0, 1, 2, 31, 63, 64, 2**31 - 1],
    np.int8: [-128, -127, -1, 0, 1, 7, 127],
}
OPERATIONS = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "//": lambda a, b: a // b if b else None,
    "%": lambda a, b: a % b if b else None, "<<": lambda a, b: a << b if 0 <= b < 64 else None,
    ">>": lambda a, b: a >> b if 0 <= b < 64 else None, "**": lambda a, b: a ** b if b >= 0 and abs(a) < 2 ** 64 else 0,
}


def how_often(texts):
    """Of one-line kernels: by how many threads something was told of."""
    counts = [re.search(r", (?:once|the first of (\d+) times)\n", text)[1] for text in texts]
    return sum(int(count or 1) for count in counts)


@pytest.mark.parametrize("element", EDGES, ids=lambda t: t.__name__)
@pytest.mark.parametrize("operator", OPERATIONS)
def test_as_often_as_pythons_integers_differ(operator, element):
    a, b = (side.ravel() for side in np.meshgrid(*[np.array(EDGES[element], element)] * 2))
    if operator == "**":
        keep = np.abs(b.astype(float)) <= 64
        a, b = a[keep], b[keep]
    source = f"\ndef kernel(a, b, out):\n    i = cuda.grid(1)\n    out[i] = a[i] {operator} b[i]  # fault\n"
    kernel, _, _ = compiled(f"{operator} of {element.__name__}", source, check="overflow")
    results = [OPERATIONS[operator](int(x), int(y)) for x, y in zip(a, b, strict=True)]
    expected = sum(result is None or not -LARGE - 1 <= result <= LARGE for result in results)
    out = np.zeros(len(a), np.int64)
    assert how_often(warned(lambda: kernel[1, len(a)](a, b, out))) == expected
    right = [k for k, result in enumerate(results) if result is not None and -LARGE - 1 <= result <= LARGE
             and not (operator == "**" and b[k] < 0)]
    assert [int(out[k]) for k in right] == [results[k] for k in right]


@pytest.mark.parametrize("to", [np.int8, np.uint8, np.int16, np.int32, np.uint32, np.int64, np.uint64],
                         ids=lambda t: t.__name__)
@pytest.mark.parametrize("element", [*EDGES, np.float64, np.float32], ids=lambda t: t.__name__)
def test_conversions_that_do_not_fit(element, to):
    ends = [int(np.iinfo(to).min), int(np.iinfo(to).max)]
    numbers = EDGES.get(element) or [float(end) + more for end in ends for more in (-1, -0.9, -0.5, 0, 0.5, 0.9, 1)]
    x = np.array(numbers if element in EDGES else [*numbers, np.nan, np.inf, -np.inf, 1e30, -0.0], element)
    expected = sum(not (np.isfinite(v) and ends[0] <= int(v) <= ends[1]) for v in x)
    source = "\ndef kernel(x, out):\n    i = cuda.grid(1)\n    out[i] = {}  # fault\n"
    by_store, _, _ = compiled(f"{element.__name__} in {to.__name__}", source.format("x[i]"), check="overflow")
    if element in EDGES:
        assert how_often(warned(lambda: by_store[1, x.size](x, np.zeros(x.size, to)))) == expected
    by_name, _, _ = compiled(f"{to.__name__}({element.__name__})", source.format(f"{to.__name__}(x[i])"),
                             check="overflow")
    is_meant = element in EDGES and np.dtype(to).kind == "u"
    assert how_often(warned(lambda: by_name[1, x.size](x, np.zeros(x.size, to)))) == (0 if is_meant else expected)
