"""Python source that the library writes, and expressions that it is given, as trees and as code."""
from __future__ import annotations

import ast
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import types

# Before CPython 3.11.8 and 3.12.2, two threads that make trees at a time end in a SystemError (gh-106905).
_making_a_tree = threading.Lock()


def parsed(source: str, file: str = "<string>") -> ast.Module:
    """The source's tree. SyntaxError as Python has it."""
    with _making_a_tree:
        return ast.parse(source, file)


def parsed_expression(source: str, file: str) -> ast.Expression:
    """The expression's tree. SyntaxError as Python has it."""
    with _making_a_tree:
        return ast.parse(source, file, "eval")


def code_at_the_place_of(function: Any, source: str) -> types.CodeType:
    """The source's code. What is said of it is said of the line where the Python function begins."""
    code = getattr(function, "__code__", None)
    file, line = (code.co_filename, code.co_firstlineno) if code else ("<string>", 1)
    place = {"lineno": line, "end_lineno": line, "col_offset": 0, "end_col_offset": 0}
    tree = parsed(source)
    for node in ast.walk(tree):
        vars(node).update({name: place[name] for name in node._attributes})
    with _making_a_tree:
        code_of_source: types.CodeType = compile(tree, file, "exec")
    return code_of_source
