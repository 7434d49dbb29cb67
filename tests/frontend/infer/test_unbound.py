"""UnboundLocalError in check mode: `# fault` stands behind the line that reads a variable which the path to it has not
assigned. A row is a program, the variable, and an `n` with which the fault happens; with `n` 5 nothing does."""
import re
import sys

import numpy as np
import pytest
from made_kernels import made

sys.path.insert(0, __file__.rsplit("/tests/", 1)[0] + "/tests/kernels/planted")

from planted_unbound import PLANTED  # noqa: E402

from cujit import cuda, float64, int64

HEAD = "from cujit import cuda, float64, int64, vectorize\n"

RIGHT = {
    "same condition": """
def kernel(x, n):
    if n > 3:
        y = 1.5
    if n > 3:
        x[0] = y
""",
    "flag": """
def kernel(x, n):
    found = False
    for k in range(n):
        if k == 3:
            y = k
            found = True
    if found:
        x[0] = y
""",
    "moved and not used": """
def kernel(x, n):
    if n > 3:
        y = n
    x[0] = 1
    if n > 3:
        z = y
        x[0] = z
""",
    "assigned in the loop before it is read": """
def kernel(x, n):
    for k in range(n):
        if k > 0:
            x[0] = y
        y = k
""",
    "comprehension of the same name": """
def kernel(x, n):
    x[0] = sum([y for y in range(n)])
    y = 2
    x[1] = y
""",
    "del where it is assigned": """
def kernel(x, n):
    if n > 3:
        y = 1.5
    elif n > 1:
        y = (1, 2)
    else:
        y = x
    del y
    for k in range(n):
        z = k
        x[0] = z
        del z
    if n > 3:
        y = 2
    if n > 3:
        del y
""",
    "generator": """
def items(n):
    for k in range(n):
        if k > 0:
            yield y
        y = k
        if n > 3:
            z = k
        yield k
    if n > 3:
        yield z

def kernel(x, n):
    for item in items(n):
        x[0] += item
""",
    "captured where it is not called": """
def kernel(x, n):
    if n > 3:
        y = 1.5
    def inner():
        return y + 1
    if n > 3:
        x[0] = inner()
""",
    "captured, and assigned before the call": """
def kernel(x, n):
    def inner():
        nonlocal z
        z = y + 1
    y = n
    for k in range(2):
        inner()
        x[0] = z
    z = y
""",
    "captured, and deleted behind the last call": """
def kernel(x, n):
    for k in range(2):
        y = x[1] + k
        def inner():
            return y + 1
        x[0] = inner()
        del y
    def outer():
        nonlocal z
        z = n
        x[1] = z
        del z
        z = 2
    outer()
    x[2] = z
    del z
    outer()
    x[2] = z
    z = 5
""",
    "try and return": """
def kernel(x, n):
    if n < 0:
        return
    else:
        y = n
    x[0] = y
""",
}


def compiled(name, source, **options):
    """The program's kernel; its source lines can be found."""
    text = HEAD + source
    file = f"<unbound: {name}>"
    lines = [number for number, line in enumerate(text.splitlines(), 1) if "# fault" in line]
    return cuda.jit(**options)(made(text, file=file)), file, lines


@pytest.mark.filterwarnings("ignore:.*may be unassigned")
@pytest.mark.parametrize("check", ["bounds", "init", "barrier"])
@pytest.mark.parametrize("name", PLANTED)
def test_the_read_is_named(name, check):
    if check != "bounds" and cuda.get_current_device().kind == "cuda":
        pytest.skip("the CPU device's")
    variable, n, source = PLANTED[name]
    kernel, file, (line,) = compiled(name, source, check=check, exceptions=True)
    kernel[1, 4](np.zeros(4), 5)
    with pytest.raises(NameError) as caught:
        kernel[1, 4](np.zeros(4), n)
        cuda.synchronize()
    text = str(caught.value)
    is_own = f"# fault: {UnboundLocalError.__name__}" in source
    assert caught.type is (UnboundLocalError if is_own else NameError)
    found = re.search(r'File "(.*)", line (\d+), in (\w+): block \(0, 0, 0\), thread \((\d), 0, 0\)', text)
    assert (found[1], int(found[2])) == (file, line), text
    assert f"{'local' if is_own else 'free'} variable '{variable}'" in text
    assert int(found[4]) == 1 if name == "one thread of the block" else int(found[4]) < 4


@pytest.mark.filterwarnings("ignore:.*may be unassigned")
@pytest.mark.parametrize("name", RIGHT)
def test_nothing_is_said_where_the_paths_assign(name):
    kernel, _, _ = compiled(name, RIGHT[name], check="bounds")
    for n in range(6):
        kernel[1, 4](np.zeros(4), n)


@pytest.mark.filterwarnings("ignore:.*may be unassigned")
def test_checks_decide():
    kernel, _, _ = compiled("off", PLANTED["branch"][2], check=False)
    kernel[1, 4](np.zeros(4), 2)


@pytest.mark.filterwarnings("ignore:.*may be unassigned")
def test_the_variable_has_the_caret():
    kernel, _, _ = compiled("caret", PLANTED["branch"][2], check="bounds")
    with pytest.raises(UnboundLocalError) as caught:
        kernel[1, 1](np.zeros(4), 2)
    source, carets = str(caught.value).splitlines()[-2:]
    assert source[carets.index("^")] == "y" and carets.count("^") == 1


@pytest.mark.filterwarnings("ignore:.*may be unassigned")
def test_a_variable_that_every_path_assigns_has_no_test():
    kernel, _, _ = compiled("none", "\ndef kernel(x, n):\n    y = 1\n    if n > 2:\n        y = n\n    x[0] = y\n")
    assert "raise" not in kernel.inspect("ir", (float64[:], int64))
    kernel, _, _ = compiled("one", PLANTED["branch"][2])
    assert "raise" in kernel.inspect("ir", (float64[:], int64))


@pytest.mark.filterwarnings("ignore:.*may be unassigned")
def test_from_the_disk_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("CUJIT_CACHE_DIR", str(tmp_path))
    for _ in range(2):
        kernel, _, _ = compiled("disk", PLANTED["branch"][2], check="bounds")
        with pytest.raises(UnboundLocalError, match="local variable 'y'"):
            kernel[1, 1](np.zeros(4), 2)
