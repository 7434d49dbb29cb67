"""Where in the source each operation comes from is what co_positions() tells, read from co_linetable without it."""
import re
from types import FunctionType

from cujit import cuda, types

# Each with entries of its own: columns up to 79, up to 255 and beyond; the next lines, far ones and earlier ones; and
# expressions over several lines.
SOURCE = f"""def kernel(x):
    i = cuda.grid(1)
    t = x[i] + x[i + 1]; u = x[i + 2] * 2; v = x[i + 3] - x[i + 4]; w = x[i + 5] / 3; y = x[i + 6] + x[i + 7]
    x[i] = {"1 + " * 60} t; x[i + 1] = u + v{" " * 200}+ w



    t = (x[i + 8] +

         x[i + 9]
         * x[i + 10])
    for k in range(3):
        t = t * x[
            i + k] if (t
                       > 1) else y
    x[i + 2] = t
{chr(10) * 300}
    x[i + 3] = x[i +
                 4]
"""


def kinds(table):
    """The kinds of the entries of a co_linetable: the first byte of each has the highest bit."""
    return {byte >> 3 & 15 for byte in table if byte & 128}


def check(code):
    function = FunctionType(code, {"cuda": cuda})
    told = {tuple(number or 0 for number in place) for place in code.co_positions()}
    text = cuda.jit(function).inspect("ir", (types.float64[::1],))
    found = re.findall(r" ; (\d+):(\d+)-(?:(\d+):)?(\d+)$", text, re.MULTILINE)
    places = {(int(line), int(end or line), int(column), int(last)) for line, column, end, last in found}
    assert places <= told, places - told
    return places


def code_of_kernel():
    names = {}
    exec(compile(SOURCE, "positions.py", "exec"), names)
    return names["kernel"].__code__


def test_entries_of_a_compiler():
    code = code_of_kernel()
    assert kinds(code.co_linetable) >= {0, 1, 9, 10, 11, 14}
    places = check(code)
    assert len(places) > 30
    assert any(line != end for line, end, _, _ in places) and any(column > 255 for _, _, column, _ in places)


def test_entries_without_columns_and_without_lines():
    code = code_of_kernel()
    count = len(code.co_code) // 2
    lines = b"".join(bytes([0x80 | 13 << 3 | 7, number]) for number in (2, 40, 3))       # eight units: +1, +20, -1
    far = bytes([0x80 | 13 << 3 | 7, 64 | 32, 64 | 1, 5])                                # three bytes of a number
    nowhere = bytes([0x80 | 15 << 3 | 7])
    table = (lines + far + nowhere) * (count // 40 + 1)
    places = check(code.replace(co_linetable=table))
    assert len({line for line, _, _, _ in places}) > 4 and {column for _, _, column, _ in places} == {0}


def test_a_table_that_ends_early():
    code = code_of_kernel()
    assert {line for line, _, _, _ in check(code.replace(co_linetable=b""))} <= {code.co_firstlineno, 0}


def test_long_entries_without_columns_and_with_any_number():
    code = code_of_kernel()
    count = len(code.co_code) // 2
    none = bytes([0x80 | 14 << 3 | 7, 2, 3, 0, 0])                                       # +1 and three more lines
    begin = bytes([0x80 | 14 << 3 | 7, 2, 3, 0, 9])
    places = check(code.replace(co_linetable=(none + begin) * (count // 16 + 1)))
    assert {column for _, _, column, _ in places} == {0} and {last for _, _, _, last in places} == {0, 8}
    far = bytes([0x80 | 14 << 3 | 7] + 4 * ([0x7E] + 4 * [0x7F] + [1]))                  # of six bytes, beyond 32 bits
    assert len(cuda.jit(FunctionType(code.replace(co_linetable=far * (count // 8 + 1)), {"cuda": cuda})).inspect(
        "ir", (types.float64[::1],))) > 100
