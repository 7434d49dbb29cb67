"""UnboundLocalError in check mode: `# fault` stands behind the line that reads a variable which the path to it has not
assigned. A row is a program, the variable, and an `n` with which the fault happens; with `n` 5 nothing does."""
import linecache
import re

import numpy as np
import pytest

from cujit import cuda, float64, int64

HEAD = "from cujit import cuda, float64, int64, vectorize\n"

PLANTED = {
    "branch": ("y", 2, """
def kernel(x, n):
    if n > 3:
        y = 1.5
    x[0] = y  # fault
"""),
    "same constant on the paths that assign": ("y", 1, """
def kernel(x, n):
    if n == 5:
        y = 7
    elif n == 4:
        y = 7
    x[0] = y  # fault
"""),
    "loop without a trip": ("y", 0, """
def kernel(x, n):
    for i in range(n):
        y = x[i % 4]
    x[0] = y  # fault
"""),
    "loop variable": ("i", 0, """
def kernel(x, n):
    for i in range(n):
        pass
    x[0] = i  # fault
"""),
    "first trip": ("y", 1, """
def kernel(x, n):
    k = 0
    while k < n:
        if k > 0 or n > 4:
            y = 2
        x[0] = y  # fault
        k += 1
"""),
    "del": ("y", 1, """
def kernel(x, n):
    y = 2
    if n == 1:
        del y
    x[0] = y  # fault
"""),
    "conditional expression": ("y", 1, """
def kernel(x, n):
    if n > 1:
        y = 1.0
    x[0] = 2.0 if n == 2 else y  # fault
"""),
    "one thread of the block": ("z", 2, """
def kernel(x, n):
    if cuda.threadIdx.x == 0 or n == 5:
        z = x[0]
    cuda.syncthreads()
    if cuda.threadIdx.x < n:
        x[1] = z  # fault
"""),
    "nested function": ("y", 1, """
def kernel(x, n):
    def inner(m):
        if m > 1:
            y = m
        return y  # fault
    x[0] = inner(n)
"""),
    "device function": ("y", 1, """
@cuda.jit(device=True)
def inner(m):
    for k in range(m):
        if k == 3:
            y = k
    return y * 2  # fault

def kernel(x, n):
    x[0] = inner(n)
"""),
    "condition": ("y", 1, """
def kernel(x, n):
    if n > 1:
        y = n
    if y > 3:  # fault
        x[0] = 1
"""),
    "array": ("s", 1, """
def kernel(x, n):
    if n > 1:
        s = cuda.local.array(4, float64)
    s[0] = n  # fault
    x[0] = s[0]
"""),
    "moved to another variable": ("y", 1, """
def kernel(x, n):
    if n > 1:
        y = n
    z = y
    x[0] = z + 1  # fault
"""),
}

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
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    namespace = {}
    exec(compile(text, file, "exec"), namespace)
    lines = [number for number, line in enumerate(text.splitlines(), 1) if "# fault" in line]
    return cuda.jit(**options)(namespace["kernel"]), file, lines


@pytest.mark.filterwarnings("ignore:.*may be unassigned")
@pytest.mark.parametrize("check", ["bounds", "init", "barrier"])
@pytest.mark.parametrize("name", PLANTED)
def test_the_read_is_named(name, check):
    if check != "bounds" and cuda.get_current_device().kind == "cuda":
        pytest.skip("the CPU device's")
    variable, n, source = PLANTED[name]
    kernel, file, (line,) = compiled(name, source, check=check, exceptions=True)
    kernel[1, 4](np.zeros(4), 5)
    with pytest.raises(UnboundLocalError) as caught:
        kernel[1, 4](np.zeros(4), n)
        cuda.synchronize()
    text = str(caught.value)
    found = re.search(r'File "(.*)", line (\d+), in (\w+): block \(0, 0, 0\), thread \((\d), 0, 0\)', text)
    assert (found[1], int(found[2])) == (file, line), text
    assert f"local variable '{variable}'" in text
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
