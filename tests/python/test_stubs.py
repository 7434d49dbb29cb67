"""The type stubs name what is there, and nothing else."""
import ast
import pkgutil
from pathlib import Path

import pytest

import cujit
import cujit._ufunc.gufunc
import cujit._ufunc.ufunc
import cujit.cuda
import cujit.types
from cujit import _core


def names_of_stub(module):
    """The public names that a stub defines or re-exports, and the methods of its classes."""
    path = Path(module.__file__).with_suffix(".pyi")
    names, members = set(), set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ImportFrom | ast.Import):
            names |= {alias.asname for alias in node.names if alias.asname == alias.name}
        elif isinstance(node, ast.AnnAssign):
            names.add(node.target.id)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
            if isinstance(node, ast.ClassDef):
                members |= {(node.name, item.name) for item in node.body if isinstance(item, ast.FunctionDef)}
    return {name for name in names if name and not name.startswith("_")}, members


@pytest.mark.parametrize("module", [cujit, cujit.cuda, cujit.types, cujit._ufunc.ufunc, cujit._ufunc.gufunc],
                         ids=lambda m: m.__name__)
def test_what_a_stub_names_is_there(module):
    names, members = names_of_stub(module)
    hidden = {"Stream", "Overload", "ForAll", "Device", "Context", "Deallocations"}  # classes of what functions return
    for name in names - hidden:
        assert hasattr(module, name), name
    for owner, member in members:
        if hasattr(module, owner):
            assert hasattr(getattr(module, owner), member), (owner, member)


def test_what_is_public_is_in_the_stubs():
    intrinsics = {path.split(".")[1] for path in _core.intrinsics if "." in path}
    submodules = {module.name for module in pkgutil.iter_modules(cujit.cuda.__path__)}
    public = {name for name in vars(cujit.cuda) if not name.startswith("_")} - intrinsics - submodules
    public -= set(cujit.types.__all__)   # all of them by one import
    assert public == names_of_stub(cujit.cuda)[0] - {"Stream", "Overload", "ForAll", "Device", "Context",
                                                     "Deallocations", "types", "cudadrv", "random", "guvectorize",
                                                     "vectorize"}
    assert set(cujit.types.__all__) <= names_of_stub(cujit.types)[0]
