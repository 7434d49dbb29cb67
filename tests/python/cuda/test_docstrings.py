"""Docstrings of what programs use most: NumPy's sections, every parameter named, and examples that are run."""
import inspect

import pytest

from cujit import cuda, guvectorize, vectorize
from cujit.cuda import array_functions
from cujit.cuda._array.array_methods import ArrayMethods
from cujit.cuda._array.array_views import ArrayViews
from cujit.cuda._dispatch.inspection import Inspection

EXAMPLES = """
import doctest, importlib
import numpy as np
from cujit import cuda, guvectorize, types, vectorize

def names():
    \"\"\"What examples name: a kernel that nobody has launched is among it.\"\"\"
    def kernel(x):
        i = cuda.grid(1)
        if i < x.size:
            x[i] += 1
    return {"np": np, "cuda": cuda, "types": types, "vectorize": vectorize,
            "guvectorize": guvectorize, "kernel": cuda.jit(kernel)}

count = 0
for name in ("cuda.decorator", "cuda.dispatcher", "cuda._dispatch.inspection", "cuda.compiler",
             "cuda._array.arithmetic", "cuda._array.array_methods", "cuda._array.array_views", "cuda.array_functions",
             "cuda.devicearray",
             "_ufunc.ufunc", "_ufunc.gufunc",
             "_algorithms.element_kernel", "_algorithms.histogram", "_algorithms.mapping", "_algorithms.reduce",
             "_algorithms.reduction_kernel", "_algorithms.scan", "_algorithms.segments",
             "_algorithms.selection", "_algorithms.sort"):
    module, runner = importlib.import_module("cujit." + name), doctest.DocTestRunner()
    for test in doctest.DocTestFinder(exclude_empty=True).find(module):
        test.globs = names()
        runner.run(test)
    result = runner.summarize(verbose=False)
    assert not result.failed, name
    count += result.attempted
print(count)
"""


def members():
    """(name, what has the docstring) of each public method and property that cujit defines, and of the functions that
    compile."""
    yield from {"jit": cuda.jit, "compile": cuda.compile, "compile_ptx": cuda.compile_ptx,
                "vectorize": vectorize, "guvectorize": guvectorize}.items()
    yield from {"array": array_functions.array, "empty": array_functions.empty}.items()
    for name in ("arange", "argsort", "asarray", "elementwise", "filter", "full", "fuse", "histogram", "map", "ones",
                 "reduce", "reduction", "scan", "segmented_reduce", "segmented_scan", "select", "sort", "sort_by",
                 "top_k", "unique", "zeros", "zip_with"):
        yield name, getattr(cuda, name)
    for cls in (cuda.Dispatcher, Inspection, cuda.DeviceNDArray, ArrayMethods, ArrayViews):
        for name, value in vars(cls).items():
            if not name.startswith("_") and (callable(value) or isinstance(value, property)):
                yield f"{cls.__name__}.{name}", value


def sections(text):
    """{title: the lines below it} of a docstring in NumPy's style."""
    lines, found, title = inspect.cleandoc(text).splitlines(), {}, ""
    for line, ruler in zip(lines, [*lines[1:], ""], strict=True):
        if ruler and set(ruler) == {"-"} and len(ruler) == len(line):
            title = line
        found.setdefault(title, []).append(line)
    return found


@pytest.mark.parametrize("name, member", list(members()), ids=lambda value: value if isinstance(value, str) else "")
def test_docstrings_have_numpys_sections(name, member):
    found = sections(member.__doc__)
    assert ">>>" in "".join(found["Examples"])
    function = member.fget if isinstance(member, property) else inspect.unwrap(member)
    if inspect.signature(function).return_annotation not in ("None", None):
        assert {"Returns", "Yields"} & found.keys()
    if isinstance(member, property):
        return
    described = ", ".join(line.partition(" : ")[0] for title in ("Parameters", "Other Parameters")
                          for line in found.get(title, [])).replace("*", "").split(", ")
    parameters = [each for each in inspect.signature(member).parameters if each != "self"]
    assert [each for each in parameters if each not in described] == []


def test_array_functions_say_of_each_parameter_once_what_it_is():
    """Functions with the same parameters name the one that does."""
    said = []
    for function in vars(array_functions).values():
        if inspect.isfunction(function) and function.__module__ == array_functions.__name__ and function.__doc__:
            lines = sections(function.__doc__).get("Parameters", [])
            said += [pair for pair in zip(lines, lines[1:], strict=False) if " : " in pair[0]]
    assert len(said) > 5 and len(set(said)) == len(said)


def test_examples_are_true(run_python):
    assert int(run_python(EXAMPLES, CUJIT_DEVICE="cpu", CUJIT_LOW_OCCUPANCY_WARNINGS="0",
                          CUJIT_WARN_ON_IMPLICIT_COPY="0")) > 70
