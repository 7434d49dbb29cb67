"""Write the index of python/cujit/_kernel_functions: a C row for each call of stands_for, found without running any.

STANDS_FOR(paths apart by spaces, module, function, doc); python/ext/snapshot/library_function.c includes it.
Usage: stands_for_index.py FOLDER OUTPUT"""
import ast
import json
import sys
from pathlib import Path


def marks(node):
    """(name of the function, call of stands_for) for each mark that a statement of a module has."""
    if isinstance(node, ast.FunctionDef):
        return [(node.name, mark) for mark in node.decorator_list if is_mark(mark)]
    found, value = [], node.value if isinstance(node, ast.Assign) else None
    while isinstance(value, ast.Call) and is_mark(value.func):
        found.append((node.targets[0].id, value.func))
        value = value.args[0]
    return found


def is_mark(node):
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "stands_for"


def rows(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = [(name, mark) for node in tree.body for name, mark in marks(node)]
    count = sum(is_mark(node) for node in ast.walk(tree))
    if len(found) != count:
        sys.exit(f"{path}: stands_for() marks functions of a module, by their name")
    for name, mark in found:
        paths = " ".join(ast.literal_eval(argument) for argument in mark.args)
        doc = ast.literal_eval(mark.keywords[0].value) if mark.keywords else ""
        yield paths, name, doc


def index(folder):
    return [(paths, ".".join(path.relative_to(folder).with_suffix("").parts), name, doc)
            for path in sorted(folder.rglob("*.py")) for paths, name, doc in rows(path)]


if __name__ == "__main__":
    lines = [f"STANDS_FOR({json.dumps(row, ensure_ascii=False)[1:-1]})\n" for row in index(Path(sys.argv[1]))]
    Path(sys.argv[2]).write_text("".join(lines), encoding="utf-8")
