"""A module is asked for what the code reads of it, and for all names in the code where its value goes elsewhere."""
import types

import numpy as np
import pytest

from cujit import cuda


class Asked(types.ModuleType):
    """A module that has each attribute as the number of asks before it, and notes what is asked."""

    def __init__(self):
        super().__init__("asked")
        self.names = []

    def __getattr__(self, name):
        if name in ("first", "second", "size"):
            self.names.append(name)
            return len(name)
        raise AttributeError(name)


def run(source, **names):
    """What the kernel `source` stores, and what it asked of `module`."""
    module, out = Asked(), np.zeros(2, np.int64)
    scope = {"cuda": cuda, "module": module, **{name: module for name in names}}
    exec(source, scope)
    cuda.jit(scope["kernel"])[1, 1](out)
    return out.tolist(), sorted(set(module.names))


def test_only_what_is_read_of_it():
    assert run("def kernel(out):\n    out[0], out[1] = module.first, out.size") == ([5, 2], ["first"])


def test_by_two_names():
    source = "def kernel(out):\n    out[0], out[1] = module.first, other.second + 0 * out.size"
    assert run(source, other=True) == ([5, 6], ["first", "second"])


def test_in_nested_functions():
    source = ("def kernel(out):\n    def inner():\n        return module.second\n"
              "    out[0], out[1] = module.first, inner()")
    assert run(source) == ([5, 6], ["first", "second"])


def test_as_a_free_variable():
    source = ("def outer(module):\n    def kernel(out):\n        def inner():\n            return module.second\n"
              "        out[0], out[1] = module.first, inner() + 0 * out.size\n    return kernel\n"
              "kernel = outer(module)")
    assert run(source) == ([5, 6], ["first", "second"])


@pytest.mark.parametrize("use", [
    "m = module\n    out[0], out[1] = m.first, m.second",
    "out[0], out[1] = module.first, getattr(module, 'second')",
    "out[0], out[1] = module.first, (lambda m: m.second)(module)",
    "out[0], out[1] = (module if out.size else module).first, module.second",
    "out[0] = module.first\n    for m in (module, module):\n        out[1] = m.second",
])
def test_where_it_goes_elsewhere(use):
    stored, asked = run(f"def kernel(out):\n    {use}\n")
    assert stored == [5, 6] and {"first", "second"} <= set(asked)


def test_a_submodule_has_all_names():
    source = "def kernel(out):\n    out[0], out[1] = package.module.first, package.module.second"
    package = types.ModuleType("package")
    module = package.module = Asked()
    scope, out = {"package": package}, np.zeros(2, np.int64)
    exec(source, scope)
    cuda.jit(scope["kernel"])[1, 1](out)
    assert out.tolist() == [5, 6] and {"first", "second"} <= set(module.names)


def test_names_far_behind_in_the_code():
    """Arguments above 255 have an instruction before the one that reads the attribute."""
    many = "\n    ".join(f"out[0] += module.first + names.n{i}" for i in range(300))
    names = types.SimpleNamespace(**{f"n{i}": 0 for i in range(300)})
    source = f"def kernel(out):\n    {many}\n    out[1] = last.second"
    module, last, out = Asked(), Asked(), np.zeros(2, np.int64)
    scope = {"module": module, "names": names, "last": last}
    exec(source, scope)
    cuda.jit(scope["kernel"])[1, 1](out)
    assert out.tolist() == [1500, 6] and set(last.names) == {"second"}
