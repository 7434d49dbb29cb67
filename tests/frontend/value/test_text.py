"""Text of a fixed length, dtypes S and U: compared, copied and assigned, in arrays and in records."""
import numpy as np
import pytest

from cujit import cuda, errors

person = np.dtype([("name", "U5"), ("code", "S3"), ("age", np.int32)], align=True)
packed = np.dtype([("name", "U5"), ("code", "S3"), ("age", np.int32), ("weight", np.float64)])
WANTED, CODE = "Zoë", b"ab"


def people():
    return np.array([("Ann", b"ab", 30), ("Zoë", b"abc", 40), ("Maxim", b"", 50)], person)


def test_fields_compare_with_constants_and_each_other():
    @cuda.jit
    def kernel(out, a):
        i = cuda.grid(1)
        if i < a.size:
            out[i, 0] = a[i].name == WANTED
            out[i, 1] = a[i].code == CODE
            out[i, 2] = a[i]["code"] != "abc"
            out[i, 3] = a[i].name == a[a.size - 1 - i].name
            out[i, 4] = a[i].name == "Maximilian"
            out[i, 5] = a[i].code == ""

    a, out = people(), np.zeros((3, 6), bool)
    kernel[1, 4](out, a)
    assert out.tolist() == [[False, True, True, False, False, False], [True, False, False, True, False, False],
                            [False, False, True, False, False, True]]


def test_arrays_of_text():
    @cuda.jit
    def kernel(out, a, words):
        for i in range(words.size):
            if words[i] == "yes":
                out[0] += 1
            for k in range(a.size):
                if words[i] == a[k].name:
                    out[1] += 1
        words[1:] = "no, never"
        words[0] = words[2]

    words, out = np.array(["yes", "Ann", "yes", ""]), np.zeros(2)
    kernel[1, 1](out, people(), words)
    assert out.tolist() == [2, 1] and words.tolist() == ["no,"] * 4


def test_assignment_and_copies_of_records():
    @cuda.jit
    def kernel(out, a):
        out[0] = a[2]
        out[1].name = "Bob"
        out[1].code = a[0].code
        out[2].name = a[1].name
        out.code[2] = "x"
        out[2]["age"] = a[1].age

    a, out = people(), people()
    kernel[1, 1](out, a)
    assert out.tolist() == [("Maxim", b"", 50), ("Bob", b"ab", 40), ("Zoë", b"x", 40)]


def test_whole_records_are_copied_however_they_are_packed():
    @cuda.jit
    def kernel(out, a):
        out[1] = a[0]
        out[0].name = a[1].name

    a, out = np.array([("Ann", b"ab", 30, 1 / 3), ("Zoë", b"abc", -40, 2.5)], packed), np.zeros(2, packed)
    kernel[1, 1](out, a)
    assert out.tolist() == [("Zoë", b"", 0, 0), ("Ann", b"ab", 30, 1 / 3)]


def test_shared_and_captured_text():
    table = np.array([b"one", b"two"])

    @cuda.jit
    def kernel(out):
        tile = cuda.shared.array(2, table.dtype)
        tile[0] = "two"
        tile[1] = table[0]
        out[0] = (tile[0] == table[1]) * 10 + (tile[1] == b"one")

    out = np.zeros(1)
    kernel[1, 1](out)
    assert out[0] == 11


@pytest.mark.parametrize("source, says", [
    ("out[0] = a[0].name", "cannot store"), ("out[0] = a[0].name < 'x'", "operator <"),
    ("a[0].name = 3", "cannot store"),
    ("out[0] = a[0].name == 3", "text"), ("out[0] = a[0].name + 'x'", r"operator \+"),
])
def test_what_text_refuses(source, says):
    names = {}
    exec(f"def kernel(out, a):\n    {source}", names)
    with pytest.raises(errors.TypingError, match=says):
        cuda.jit(names["kernel"])[1, 1](np.zeros(1), people())
