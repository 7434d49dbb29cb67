"""Variables that may be read unassigned: one warning where a path can be taken that assigns nothing, none elsewhere."""
import re
import warnings

import numpy as np
import pytest

from cujit import cuda, float64, int64
from cujit.errors import CujitWarning, TypingError

WARNED = {}  # function: (variable, line from the function's, words)
SILENT = []


def warned(variable, line, path):
    def note(function):
        WARNED[function] = (variable, function.__code__.co_firstlineno + line, path)
        return function
    return note


def silent(function):
    SILENT.append(function)
    return function


@warned("y", 4, "where the condition of line {2} is false")
def one_branch(x, n):
    if n > 3:
        y = 1.5
    x[0] = y


@warned("y", 8, "where the condition of line {4} is true")
def other_branch(x, n):
    y = 0
    del y
    if n <= 3:
        x[1] = 1
    else:
        y = 1.5
    x[0] = y


@warned("y", 4, "where the condition of line {2} is false")
def deletes_what_a_branch_assigns(x, n):
    if n > 3:
        y = 1.5
    del y
    x[0] = n


@warned("y", 6, "where the condition of line {4} is false")
def captures_what_two_branches_assign(x, n):
    if n > 3:
        y = 1.5
    elif n > 1:
        y = 2.5
    def inner():
        return y
    x[0] = inner()


@warned("y", 6, "where the condition of line {4} is false")
def reads_what_a_function_shares(x, n):
    def inner():
        return y + n
    if n > 3:
        y = 1.5
    x[0] = y
    y = 2.5
    x[1] = inner()


@warned("y", 10, "where the condition of line {6} is true")
def deletes_what_a_function_shares(x, n):
    y = 1.5
    def inner():
        return y + n
    x[0] = inner()
    if n > 3:
        del y
    else:
        y = 3.5
    x[1] = y
    y = 2.5
    x[0] = inner()


@silent
def captures_before_it_assigns(x, n):
    def inner():
        return y + n
    if n > 3:
        y = 1.5
    else:
        y = 2.5
    x[0] = inner() + y
    y = 3.5
    x[1] = inner()
    del y


@silent
def has_a_function_assign(x, n):
    def inner():
        nonlocal y
        y = n
    if n > 3:
        y = 1.5
        del y
    inner()
    x[0] = y


@warned("y", 4, "where the condition of line {2} is false")
def captures_what_a_branch_assigns(x, n):
    if n > 3:
        y = 1.5
    def inner():
        return y
    x[0] = inner()


@warned("y", 5, "on any path to it")
def deletes_twice(x, n):
    y = n
    x[0] = y
    del y
    del y


@warned("y", 3, "in the first trip of the loop of line {2}")
def read_at_the_top_of_a_loop(x, n):
    while n > 0:
        x[0] = y
        y = 2
        n -= 1


@warned("j", 6, "where the loop of line {2} comes to its end")
def found_by_no_trip(x, n):
    for i in range(n):
        if x[i] == 7:
            j = i
            break
    x[0] = j


@warned("y", 7, "where the condition of line {4} is false")
def inner_of_two(x, n):
    y = 1
    del y
    if n > 1:
        if n > 2:
            y = 2
    x[1] = y


@warned("y", 6, "where the condition of line {2} is false")
def condition_that_changes(x, n):
    if n > 1:
        y = 2
    n += 1
    if n > 1:
        x[0] = y


@warned("c", 6, "on any path to it")
def on_no_path(x, n):
    if n:
        c = 1.5
        x[0] = c
    else:
        c += 1
        x[0] = c


@warned("tile", 4, "where the condition of line {2} is false")
def array_of_one_branch(x, n):
    if n > 3:
        tile = cuda.local.array(3, np.float32)
    tile[0] = 2
    x[0] = tile[0]


@silent
def deletes_what_was_assigned(x, n):
    if n > 3:
        y = 1.5
    else:
        y = x
    del y
    for k in range(n):
        x[k] = k
    del k
    if n > 2:
        y = n
    x[0] = n
    if n > 2:
        del y


@silent
def same_condition(x, n):
    i = cuda.grid(1)
    if i < n and x[i] > 0:
        y = x[i]
    cuda.syncthreads()
    if i < n and x[i] > 0:
        x[i] = y


@silent
def opposite_condition(x, n):
    i = cuda.grid(1)
    if i < n:
        y = x[i]
    if not i < n:
        return
    x[i] = y
    if i >= n:
        return
    x[i] = y + 1


@silent
def flag(x, n):
    found = False
    for i in range(n):
        if x[i] > 0:
            y = x[i]
            found = True
    if found:
        x[0] = y


@silent
def behind_a_loop(x, n):
    for i in range(n):
        last = x[i]
    x[0] = last + i


@silent
def behind_nested_loops(x, n):
    for i in range(n):
        for k in range(i, n):
            last = x[k]
    x[0] = last + k


@silent
def first_trip(x, n):
    for i in range(n):
        if i == 0:
            best = x[i]
        elif x[i] > best:
            best = x[i]
    k = 1
    while k < n:
        if k == 1:
            least = x[k]
        least = min(least, x[k])
        k += 1
    x[0] = best


@silent
def until_it_is_found(x, n):
    i = 0
    while True:
        if x[i] >= 0:
            j = i
            break
        i += 1
    x[0] = j


@silent
def constant_condition(x, n):
    if x.ndim == 1:
        y = 1
    x[0] = y


@silent
def raised_otherwise(x, n):
    if n > 0:
        y = 1
    else:
        raise ValueError
    x[0] = y


@silent
def never_read(x, n):
    if n > 0:
        y = 1
        x[0] = y


def launch(function):
    kernel = cuda.jit(function, check=False)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        kernel[1, 2](np.ones(4), 4)
        kernel[1, 2](np.ones(4), 4)
    return [str(w.message) for w in caught if w.category is CujitWarning]


@pytest.mark.parametrize("function", WARNED, ids=lambda f: f.__name__)
def test_a_path_without_assignment_is_named(function):
    variable, line, path = WARNED[function]
    path = re.sub(r"\{(\d+)\}", lambda m: str(function.__code__.co_firstlineno + int(m[1])), path)
    text, = launch(function)
    assert text.startswith(f"{__file__}:{line}: '{variable}' may be unassigned")
    assert function.__name__ in text and f"nothing is assigned to it {path};" in text


@pytest.mark.parametrize("function", SILENT, ids=lambda f: f.__name__)
def test_no_warning_where_no_path_lacks_the_assignment(function):
    assert not launch(function)


def test_a_kernel_from_the_disk_cache_warns_as_well(monkeypatch, tmp_path):
    monkeypatch.setenv("CUJIT_CACHE_DIR", str(tmp_path))
    assert len(launch(one_branch)) == len(launch(one_branch)) == 1


def test_two_types_warn_once_for_a_helper():
    def helper(v):
        if v > 3:
            y = v
        return y

    def kernel(x, n):
        x[0] = helper(n) + helper(x[0])
    assert len(launch(kernel)) == 1


def test_the_type_is_that_of_the_assignments():
    kernel = cuda.jit(on_no_path, check=False)
    with pytest.warns(CujitWarning, match="on any path"):
        kernel[1, 1](np.zeros(1), 3)
    assert "f64 = add" in kernel.inspect("ir", (float64[:], int64))


def test_an_assignment_further_down_does_not_count():
    @cuda.jit
    def kernel(x):
        x[0] = y  # noqa: F821
        y = 3  # noqa: F841

    with pytest.raises(TypingError, match="name 'y' is not defined"):
        kernel[1, 1](np.zeros(1))


def test_nothing_is_deleted_that_is_assigned_further_down():
    @cuda.jit
    def kernel(x):
        del y  # noqa: F821
        y = 3  # noqa: F841

    with pytest.raises(TypingError, match="name 'y' is not defined"):
        kernel[1, 1](np.zeros(1))


def test_variables_of_generators_are_deleted_as_ever():
    def numbers(n):
        if n > 1:
            y = 2.5
        yield 1.0
        if n > 1:
            yield y
            del y

    @cuda.jit
    def kernel(x, n):
        for number in numbers(n):
            x[0] += number

    x = np.zeros(1)
    for n in 1, 2:
        kernel[1, 1](x, n)
    assert x[0] == 4.5


def test_inspect_lists_them():
    kernel = cuda.jit(one_branch)
    types = (float64[:], int64)
    assert kernel.inspect("warnings", types).count("\n") == 1
    assert cuda.jit(never_read).inspect("warnings", types) == ""
