"""Write the pages of the interface from what is public: a page for each module, each name by its docstring.

Usage: api_pages.py FOLDER. docs/conf.py calls write() before Sphinx reads the pages. What kernels call is on the page
of intrinsics.
"""
import importlib
import inspect
import sys
from pathlib import Path

# Module, title, and which of its names: None for all that are public.
PAGES = [
    ("cujit.cuda", "cujit.cuda: devices, memory, launches, algorithms", None),
    ("cujit", "cujit: ufuncs and what is beside cuda",
     ["vectorize", "guvectorize", "install_as_numba", "carray", "farray"]),
    ("cujit.extending", "cujit.extending: functions by type, types, PTX", None),
    ("cujit.cuda.random", "cujit.cuda.random: states of random numbers", None),
    ("cujit.comm", "cujit.comm: communicators between devices, processes and machines", None),
    ("cujit.testing", "cujit.testing: schedules and checks in tests", None),
    ("cujit.errors", "cujit.errors: exceptions and warnings", None),
]


def intrinsics():
    """Names that have a meaning in kernels."""
    from cujit import _core

    return {path.split(".")[1] for row in _core.intrinsic_table for path in row["paths"] if path.startswith("cuda.")}


def public_names(module):
    """Functions and classes of a module that begin with a letter, have a docstring and are cujit's."""
    elsewhere = {name for _, _, names in PAGES for name in names or ()}
    skipped = intrinsics() | elsewhere if module.__name__ == "cujit.cuda" else set()
    found = []
    for name in getattr(module, "__all__", None) or dir(module):
        if name.startswith("_") or name in skipped:
            continue
        value = getattr(module, name)
        is_own = getattr(value, "__module__", "").startswith(home(module)) and not inspect.ismodule(value)
        if is_own and callable(value) and inspect.getdoc(value) and not is_type(value):
            found.append(name)
    return sorted(found, key=lambda name: (inspect.isclass(getattr(module, name)), name.lower()))


def home(module):
    """Where its own names come from: a package gathers those of others, a file imports what it works with."""
    return "cujit" if hasattr(module, "__path__") else module.__name__


def is_type(value):
    from cujit import types

    return isinstance(value, types.Type)


def directive(module, name):
    value = getattr(module, name)
    kind = "autoclass" if inspect.isclass(value) else "autofunction"
    lines = [f".. {kind}:: {module.__name__}.{name}"]
    if kind == "autoclass":
        lines.append("   :members:")
    return "\n".join(lines)


def page(module_name, title, names):
    module = importlib.import_module(module_name)
    names = names or public_names(module)
    body = "\n\n".join(directive(module, name) for name in names)
    return f"{title}\n{'=' * len(title)}\n\n.. currentmodule:: {module_name}\n\n{body}\n"


def write(folder):
    folder.mkdir(exist_ok=True)
    files = []
    for module_name, title, names in PAGES:
        files.append(module_name.replace(".", "_"))
        put(folder / f"{files[-1]}.rst", page(module_name, title, names))
    contents = "\n".join(f"   {name}" for name in files)
    put(folder / "index.rst", "Interface\n=========\n\nOf the host. What kernels call is on the page of intrinsics.\n\n"
                              f".. toctree::\n   :maxdepth: 1\n\n{contents}\n")


def put(path, text):
    if not path.exists() or path.read_text(encoding="utf-8") != text:   # Sphinx reads again what is newer
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
