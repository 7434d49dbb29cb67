"""Make the stubs of what kernels name below `cuda` from the tables of intrinsics: compare them, or write with --write.

cuda/_intrinsics.pyi has a function for each row that is called, a class for each namespace, a variable for each value;
cuda/libdevice.pyi, cuda/bf16.pyi and cuda/fp16.pyi are the modules of the same names. The types of parameters and
results come from the row's shape, from the annotations of the Python function behind it, or from PARAMETERS and RESULTS
below.
"""
import importlib
import inspect
import re
import sys
from fnmatch import fnmatchcase
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from intrinsics_page import description, is_private, signature  # noqa: E402

FOLDER = Path(__file__).resolve().parent.parent / "python" / "cujit" / "cuda"
MODULES = {"libdevice": "cuda.libdevice.", "bf16": "cuda.bf16.", "fp16": "cuda.fp16."}
LIBRARY = "cujit._kernel_functions"

# A letter of a row's shape as a parameter and as a result.
LETTERS = {"n": (None, "None"), "b": ("object", "bool"), "i": ("Integer", "int"), "u": ("Integer", "int"),
           "l": ("Integer", "int"), "q": ("Integer", "int"), "h": ("Integer", "int"), "f": ("Real", "float"),
           "d": ("Real", "float"), "v": ("Integer", "int"), "w": ("Integer", "int"), "x": ("Number", "Any"),
           "a": ("Array", "Any"), "c": ("int", "int")}

# The type of a parameter by its name, where the row has no shape; Any for others.
PARAMETERS = {
    "array": "Array", "to": "Array", "from_": "Array", "ndarray": "NDArray[_Element]", "index": "Index", "i": "Index",
    "to_index": "Index", "from_index": "Index", "row": "Integer", "column": "Integer", "count": "Integer",
    "n": "Integer", "shape": "Shape", "dtype": "ElementType", "x": "Number", "alignment": "int | None",
    "scope": "Scope", "order": "Order", "values": "tuple[Any, ...]", "condition": "object",
}

# The type of a result by the path, where neither the shape nor the function behind the row tells; Any for others.
RESULTS = {
    "cuda.shared.array": "NDArray[Any]", "cuda.local.array": "NDArray[Any]",
    "cuda.const.array_like": "NDArray[_Element]",
    "cuda.st[cw]?": "None", "cuda.wide.load": "tuple[Any, ...]", "cuda.wide.store": "None",
    "cuda.mma.*": "tuple[Any, ...]", "cuda.ldmatrix_*": "tuple[Any, ...]", "cuda.cp_async*": "None",
    "cuda.tma.*": "None", "cuda.wgmma.*": "None",
    "cuda.popc": "int", "cuda.clz": "int", "cuda.ffs": "int", "cuda.match_all_sync": "tuple[int, bool]",
    "cuda.literal_unroll": "_T", "cuda.literally": "_T", "cuda.bf16.bfloat16_as_*": "int",
    "cuda.fp16.__half_as_*": "int", "cuda.cbrt": "float",
}

# What a variable is: a row that is no function and has no rows below it.
VALUES = "int"

# Functions whose result depends on a literal argument.
OVERLOADS = {
    "(ndim)": [("ndim: Literal[1]", "int"), ("ndim: Literal[2]", "tuple[int, int]"),
               ("ndim: Literal[3]", "tuple[int, int, int]")],
}

HEAD = '''"""{title} Made by scripts/intrinsics_stub.py from the tables."""
# ruff: noqa: E501, I001
'''
# The module that has a name of the annotations, in the order of the imports.
IMPORTS = {
    "collections.abc": ["Callable"],
    "typing": ["Any", "Literal", "TypeVar", "overload"],
    "numpy.typing": ["NDArray"],
    "cujit": ["_core"],
    "cujit._annotations": ["Array", "ElementType", "Index", "Integer", "Number", "Order", "Real", "Scope", "Shape"],
    "cujit._kernel_functions": ["cooperative_groups"],
}
VARIABLES = ['_T = TypeVar("_T")', '_Element = TypeVar("_Element", bound=Any)']


class Row:
    """A row under one of its paths: its parameters, result and documentation as a stub has them."""

    def __init__(self, row, path):
        self.row, self.path, self.name = row, path, path.rpartition(".")[2]
        self.parameters = parameters_of(row)
        self.doc = description(row).replace("\\|", "|")

    @property
    def is_function(self):
        return self.parameters is not None

    def lines(self, indent, is_method):
        """The definition, with what makes it a static method of a class."""
        if self.parameters == "ndim":
            return [line for parameters, result in OVERLOADS["(ndim)"]
                    for line in [f"{indent}@overload", *self.definition(indent, is_method, parameters, result)]]
        return self.definition(indent, is_method, self.typed_parameters(), self.result())

    def definition(self, indent, is_method, parameters, result):
        head = [f"{indent}@staticmethod"] if is_method else []
        return [*head, f"{indent}def {self.name}({parameters}) -> {result}:", f"{indent}    {docstring(self.doc)}"]

    def shape(self):
        """Letters for the result and for each parameter, or None."""
        if self.row["signature"]:
            results, _, arguments = self.row["signature"].removeprefix("v").partition(":")
            return [results, *arguments]
        return list(self.row["shape"].replace("p", "al")) if self.row["shape"] else None

    def result(self):
        named = [result for pattern, result in RESULTS.items() if fnmatchcase(self.path, pattern)]
        if named:
            return named[0]
        shape, function = self.shape(), library_function(self.row)
        if shape and shape[0] == "x" and "x" in shape[1:]:
            return "_T" if shape.count("x") == 2 else "Any"
        if shape:
            results = [LETTERS[letter][1] for letter in shape[0]]
            return results[0] if len(results) == 1 else f"tuple[{', '.join(results)}]"
        return annotation(function, "return") if function else "Any"

    def typed_parameters(self):
        if self.row["signature"]:
            return ", ".join(f"{name}: {LETTERS[letter][0]}" for name, letter in
                             zip(self.parameters.split(", "), self.shape()[1:], strict=True))
        shape, function = self.shape(), library_function(self.row)
        is_generic = self.result() == "_T"
        made, place = [], 0
        for text in filter(None, self.parameters.split(", ")):
            name, is_optional, default = text.partition("=")
            if name in ("*", "/") or name.startswith("*"):
                made.append(name if name in "*/" else f"{name}: Any")
                continue
            place += 1
            if function:
                a_type = annotation(function, name)
            elif shape:
                a_type = "_T" if is_generic and shape[place] == "x" else LETTERS[shape[place]][0]
            else:
                other = "_T" if is_generic else "Real" if self.row["kind"] == "math" else "Any"
                a_type = other if self.row["kind"] == "math" else PARAMETERS.get(name, other)
            made.append(f"{name}: {a_type} = {default}" if is_optional else f"{name}: {a_type}")
        return ", ".join(made)


def parameters_of(row):
    """The parameters as text, with the defaults that a stub can have; None for what is not called."""
    function = library_function(row)
    if function:
        made = []
        for parameter in inspect.signature(function).parameters.values():
            default = parameter.default
            is_plain = isinstance(default, (int, float, str, type(None)))
            tail = "" if default is parameter.empty else f"={default!r}" if is_plain else "=..."
            made.append(("*" if parameter.kind is parameter.VAR_POSITIONAL else "") + parameter.name + tail)
        return ", ".join(made)
    if row["signature"]:
        arguments = row["signature"].partition(":")[2]
        return ", ".join("xyzw"[:len(arguments)])
    text = signature(row)
    return text[1:-1] if text else None


def library_function(row):
    if not row["python_function"] or row["kind"] != "python_function":
        return None
    module, _, name = row["python_function"].rpartition(".")
    return getattr(importlib.import_module(f"{LIBRARY}.{module}"), name)


def annotation(function, name):
    """What the function says of a parameter or of its result, by the names that the stub knows."""
    text = function.__annotations__.get(name, "Any")
    return re.sub(r"\b(Block|Cluster|Grid|Lanes|Tile)\b", r"cooperative_groups.\1", text)


def docstring(text):
    """A docstring that no backslash or quote can end."""
    text = text.replace("\\", "\\\\")
    return f'"""{text}"""' if not text.endswith('"') else f'"""{text} """'


# --- the tree of paths ------------------------------------------------------------------------------------------------


def rows(prefix):
    """Those below the prefix that have names without an underscore in front."""
    from cujit import _core

    found = {}
    for row in _core.intrinsic_table:
        for path in row["paths"]:
            if path.startswith(prefix) and not is_private(path):
                found[path] = Row(row, path)
    return {path: row for path, row in found.items()
            if path.rpartition(".")[0] not in found or not found[path.rpartition(".")[0]].is_function}


def namespace(name, members):
    """A class whose static methods are the namespace's functions, whose properties are a value's parts."""
    are_parts = not any(row.is_function for row in members)
    lines = [f"class {name}:"]
    for row in members:
        if are_parts:
            lines += ["    @property", f"    def {row.name}(self) -> {VALUES}:", f"        {docstring(row.doc)}"]
        else:
            lines += row.lines("    ", True)
    return lines


def below(found, path):
    return [row for other, row in found.items() if other.rpartition(".")[0] == path]


def intrinsics():
    """The text of cuda/_intrinsics.pyi."""
    from cujit import _core

    found = rows("cuda.")
    modules = tuple(MODULES.values())
    found = {path: row for path, row in found.items() if not path.startswith(modules)}
    lines, done = [], set()
    for path, row in found.items():
        top = ".".join(path.split(".")[:2])
        if top in done:
            continue
        done.add(top)
        name, members = top.removeprefix("cuda."), below(found, top)
        if members and top in found:
            class_name = f"_{name[0].upper()}{name[1:]}"
            lines += ["", *namespace(class_name, members), "", f"{name}: {class_name}", docstring(found[top].doc)]
        elif members:
            lines += ["", *namespace(name, members), ""]
        elif row.is_function:
            lines += row.lines("", False)
        else:
            lines += [f"{name}: {VALUES}", docstring(row.doc)]
    lines += ["", *(f"{name}: _core.Type" for name in _core.vector_types)]
    return assembled("What has a meaning in kernels only.", lines,
                     [f"from cujit.cuda import {module} as {module}" for module in sorted(MODULES)])


def module_stub(name):
    """The text of the stub of a module whose members are a namespace's."""
    from cujit import _core

    found = rows(MODULES[name])
    lines = [line for row in found.values() for line in row.lines("", False)]
    others = [path for path, value in _core.intrinsics.items()
              if path.startswith(MODULES[name]) and path not in found and isinstance(value, _core.Type)]
    lines = [*(f"{path.rpartition('.')[2]}: _core.Type" for path in others), *lines]
    return assembled(f"cuda.{name}.", lines)


def assembled(title, lines, more_imports=()):
    """The text of a stub: its opening, the imports that its lines need, and the lines."""
    body = "\n".join(lines)
    variables = [line for line in VARIABLES if re.search(rf"\b{line.split()[0]}\b", body)]
    all_names, imports = "\n".join([*variables, body]), []
    for module, names in IMPORTS.items():
        needed = [name for name in names if re.search(rf"\b{name}\b", all_names)]
        imports += [f"from {module} import {', '.join(needed)}"] if needed else []
    return HEAD.format(title=title) + "\n".join([*imports, *more_imports, "", *variables, "", body, ""])


def stubs():
    """{file: text}"""
    return {FOLDER / "_intrinsics.pyi": intrinsics(),
            **{FOLDER / f"{name}.pyi": module_stub(name) for name in MODULES}}


def unused_entries():
    """Entries of the tables of this script that no row has use for."""
    found = [row for row in rows("cuda.").values() if row.is_function]
    names = {name.partition("=")[0] for row in found for name in row.parameters.split(", ")}
    return [*(name for name in PARAMETERS if name not in names),
            *(pattern for pattern in RESULTS if not any(fnmatchcase(row.path, pattern) for row in found))]


if __name__ == "__main__":
    if unused_entries():
        sys.exit(f"no row has use for {', '.join(unused_entries())}")
    for path, text in stubs().items():
        if "--write" in sys.argv:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            sys.exit(f"{path.name} is not what the tables say; run scripts/intrinsics_stub.py --write")
