"""What a function captured and may never read: an error where it is read, not where the function begins."""
import types

import numpy as np
import pytest

from cujit import cuda, errors


def make(dimensions):
    first = 1
    if dimensions > 3:
        fourth = 4
    plan = object()

    def kernel(out, which):
        out[0] = first
        if dimensions > 3:
            out[1] = fourth
        if dimensions > 4:
            out[2] = len(plan)

    def through(out, which):
        kernel(out, which)

    return kernel, through


@pytest.mark.parametrize("dimensions, expected", [(3, [1, 0]), (4, [1, 4])])
@pytest.mark.parametrize("which", [0, 1], ids=["of the kernel", "of a function that it calls"])
def test_an_unbound_name_in_a_branch_that_is_never_taken(dimensions, expected, which):
    out = np.zeros(2)
    cuda.jit(make(dimensions)[which])[1, 1](out, 0)
    assert out.tolist() == expected


def test_an_unbound_name_that_is_read():
    if False:
        missing = 1

    @cuda.jit
    def kernel(out):
        out[0] = 1
        if out.size > 1:
            out[0] = missing + 1

    with pytest.raises(errors.TypingError, match="name 'missing' is not defined") as caught:
        kernel[1, 1](np.zeros(1))
    assert "missing + 1\n" in str(caught.value)


def test_an_object_that_is_read():
    with pytest.raises(errors.UnsupportedError, match="'plan' is an object of class 'object'") as caught:
        cuda.jit(make(5)[0])[1, 1](np.zeros(3), 0)
    assert "len(plan)\n" in str(caught.value)


def captures_nothing(x):
    function = lambda: 1  # noqa: E731
    x[0] = function()


def captures_one(x):
    number = x[0]
    function = lambda: number  # noqa: E731
    x[0] = function()


@pytest.mark.parametrize("count", [0, 1, 2])
@pytest.mark.parametrize("kernel", [captures_nothing, captures_one])
def test_code_that_is_given_other_variables(kernel, count):
    """No compiler makes it: the nested function's code expects so many, and read what was not there."""
    inner = [lambda: 1, (lambda a: lambda: a)(1), (lambda a, b: lambda: a + b)(1, 2)][count].__code__
    code = kernel.__code__
    constants = tuple(inner if isinstance(item, types.CodeType) else item for item in code.co_consts)
    made = types.FunctionType(code.replace(co_consts=constants), kernel.__globals__)
    if count == len(next(item for item in code.co_consts if isinstance(item, types.CodeType)).co_freevars):
        cuda.jit(made)[1, 1](np.zeros(1))
        return
    with pytest.raises(errors.InternalError, match="malformed bytecode in .*without its variables"):
        cuda.jit(made)[1, 1](np.zeros(1))
