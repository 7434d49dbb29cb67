"""ints='weak': integers of 32 bits are computed in 32 and widen no float, as in CUDA C."""
import re

import numpy as np
import pytest

from cujit import cuda, float16, float32, float64, int8, int32, int64, uint8, uint16, uint32, uint64

SEVEN = 7
TYPES = {"int8": int8, "int32": int32, "int64": int64, "uint8": uint8, "uint16": uint16, "uint32": uint32,
         "uint64": uint64, "float16": float16, "float32": float32, "float64": float64}


def type_of(text, a, b="int32", ints="weak", **options):
    namespace = {"np": np, "SEVEN": SEVEN, "abs": abs}
    exec(f"def function(a, b):\n    return {text}", namespace)
    function = cuda.jit(device=True, ints=ints, **options)(namespace["function"])
    return str(function.compile_device((TYPES[a], TYPES[b])))


@pytest.mark.parametrize("text, a, b, expected", [
    ("a + b", "int32", "int32", "int32"), ("a - b", "uint32", "uint32", "uint32"),
    ("a * b", "int8", "uint8", "int32"), ("a + b", "uint16", "uint32", "uint32"),
    ("a // b", "int32", "int32", "int32"), ("a % b", "int8", "int8", "int32"), ("a & b", "uint32", "uint8", "uint32"),
    ("a ^ b", "int32", "int8", "int32"), ("a << b", "int32", "int64", "int32"),
    ("a >> b", "uint32", "int32", "uint32"), ("a ** b", "int32", "int32", "int32"), ("-a", "int32", "int32", "int32"),
    ("~a", "uint32", "int32", "uint32"), ("abs(a)", "int32", "int32", "int32"),
    ("max(a, b)", "int32", "uint8", "int32"), ("divmod(a, b)[1]", "int32", "int32", "int32"),
    # Python's numbers
    ("a + 1", "int32", "int32", "int32"), ("3 * a", "uint32", "int32", "uint32"),
    ("a + SEVEN", "int32", "int32", "int32"), ("a & 255", "uint32", "int32", "uint32"),
    ("1 << a", "uint32", "int32", "uint32"), ("min(a, 5)", "int32", "int32", "int32"),
    ("a + 2 * 3", "int32", "int32", "int32"), ("a if a > b else 0", "int32", "int32", "int32"),
    ("a % 5 + 1", "int32", "int32", "int32"),
    # both kinds
    ("a + b", "uint32", "int32", "uint32"), ("a ^ b", "int32", "uint32", "uint32"),
    ("a // b", "int32", "uint32", "int64"), ("a % b", "uint32", "int8", "int64"),
    ("a % b", "uint32", "uint8", "uint32"),
    # floats
    ("a * b", "int32", "float32", "float32"), ("a + b", "float16", "int64", "float16"),
    ("a / b", "float32", "int64", "float32"), ("a // b", "int32", "float32", "float32"),
    ("max(a, b)", "float32", "int32", "float32"), ("a * 2", "float32", "int32", "float32"),
    # what stays
    ("a + b", "int32", "int64", "int64"), ("a + 3000000000", "int32", "int32", "int64"),
    ("a & -1", "uint32", "int32", "int64"), ("a / b", "int32", "int32", "float64"),
    ("a * b", "int32", "float64", "float64"), ("2 + 3", "int32", "int32", "int64"),
    ("a + np.int64(1)", "int32", "int32", "int64"), ("a * 0.5", "int32", "int32", "float64"),
])
def test_types(text, a, b, expected):
    assert type_of(text, a, b) == expected


@pytest.mark.parametrize("text", ["a + b", "a * 3", "a & b", "a << 2", "-a"])
def test_numbas_types_without_it(text):
    assert type_of(text, "int32", ints="numba") == "int64"


def test_both_options():
    assert type_of("a * 0.5 + 1", "float32", literals="weak") == "float32"
    assert type_of("a * 0.5 + b", "float32", literals="weak") == "float32"


@cuda.jit(ints="weak")
def hashes(x, out, parts):
    i = cuda.grid(1)
    if i < x.size:
        h = 5381
        for k in range(4):
            h = h * 33 + (x[i] ^ k)
        out[i] = h
        least = 100
        for k in range(parts.shape[1]):
            least = min(least, parts[i, k] - x[i])
        parts[i, 0] = least


def test_values_wrap_as_in_c():
    x = np.array([-7, 0, 1, 2**31 - 1, -2**31, 123456789], np.int32)
    parts = np.arange(24, dtype=np.int32).reshape(6, 4)
    before = parts.copy()
    out = np.zeros(6, np.int64)
    hashes[1, 32](x, out, parts)

    def word(value):
        return (value + 2**31) % 2**32 - 2**31

    for i, v in enumerate(x.tolist()):
        h = 5381
        for k in range(4):
            h = word(h * 33 + (v ^ k))
        assert out[i] == h
        assert parts[i, 0] == min(100, *(word(int(p) - v) for p in before[i]))


def test_what_differs_in_its_kind_keeps_its_order():
    @cuda.jit(ints="weak")
    def kernel(a, b, out):
        out[0] = a[0] < b[0]
        out[1] = a[0] // b[0]
        out[2] = max(a[0], b[0])
        out[3] = a[0] == b[0]

    out = np.zeros(4, np.int64)
    kernel[1, 1](np.array([-1], np.int32), np.array([2**32 - 1], np.uint32), out)
    assert out.tolist() == [1, -1, 2**32 - 1, 0]


def equalized(image, sums, out):
    i = cuda.grid(1)
    if i < out.size:
        value = (sums[image[i]] - sums[0]) * 255 // max(1, sums[255] - sums[0])
        out[i] = min(max(value, 0), 255)


def test_no_int64_is_left_in_the_code():
    types = uint8[::1], int32[::1], uint8[::1]
    ptx = {ints: cuda.jit(equalized, ints=ints).inspect("asm", types, 90) for ints in ("numba", "weak")}
    assert re.search(r"div\.[su]64", ptx["numba"]) and "min.s64" in ptx["numba"]
    assert re.search(r"div\.[su]32", ptx["weak"])
    assert not re.search(r"(?:div|min|max|mul\.lo|sub)\.[su]64", ptx["weak"])


def test_the_library_computes_as_ever():
    def kernel(x, out):
        out[0] = np.gcd(x[0], x[1])
        out[1] = np.sum(x)

    for ints in ("weak", "numba"):
        out = np.zeros(2, np.int64)
        cuda.jit(ints=ints)(kernel)[1, 1](np.array([2**31 - 1, 2**30], np.int32), out)
        assert out.tolist() == [1, 2**31 - 1 + 2**30]


def test_unknown_value_of_the_option():
    with pytest.raises(ValueError, match="ints is 'numba' or 'weak'"):
        cuda.jit(ints="strong")(equalized)


# --- the report ------------------------------------------------------------------------------------------------------

def wide(x, y, w, out):
    i = cuda.threadIdx.x * 4 + 1
    a = x[i] - y[i]
    b = a * 255 // x[0]
    c = (x[1] & 3) << 2
    out[i] = i * (out[1] - out[0]) / w + b + c


def test_lines_where_integers_or_floats_become_wide():
    types = int32[::1], int32[::1], int32, float32[::1]
    first = wide.__code__.co_firstlineno
    lines = cuda.jit(wide).inspect("widenings", types).splitlines()
    said = {int(line.split(":")[1]) - first: line.split(": ", 1)[1] for line in lines}
    assert said[2] == said[4] == "int32 computed in int64, as numba has it; ints='weak' would keep 32 bits"
    assert said[5] == ("float32 computed in float64 because of 'i', which is int64; float32(i) or ints='weak' would "
                       "keep float32")
    assert set(said) == {2, 4, 5}
    assert cuda.jit(ints="weak")(wide).inspect("widenings", types) == ""


def test_inspect_types_marks_integers(capsys):
    kernel = cuda.jit(wide)
    kernel[1, 1](np.ones(8, np.int32), np.ones(8, np.int32), np.int32(3), np.ones(8, np.float32))
    kernel.inspect_types()
    marked = [line for line in capsys.readouterr().out.splitlines() if "would keep 32 bits" in line]
    assert len(marked) == 2
