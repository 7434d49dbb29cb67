"""Functions of whole arrays that fold some: np.sum(x * y, axis=0), (x - y).max(). Read from their source, each is
written as a function of the elements that are folded, and one of the arguments and the result for what is left."""
from __future__ import annotations

import ast
import copy
import inspect
import textwrap
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cujit._algorithms import functions
from cujit.cuda._dispatch.generated_source import parsed

if TYPE_CHECKING:
    import types
    from collections.abc import Iterator

    from cujit.cuda.dispatcher import Dispatcher

# name of a fold: (its ufunc, what it starts with)
FOLDS: dict[str, tuple[np.ufunc, Any]] = {
    "sum": (np.add, 0), "prod": (np.multiply, 1), "min": (np.minimum, None), "max": (np.maximum, None),
    "any": (np.logical_or, False), "all": (np.logical_and, True)}
_FUNCTIONS = {getattr(np, alias): name for name in FOLDS for alias in (name, f"a{name}") if hasattr(np, alias)}
_STRAIGHT = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return)


class Part(NamedTuple):
    """A function of some of the parameters of the one that it is a part of, and what it is made of where it folds."""

    function: Dispatcher[..., Any]
    parameters: tuple[str, ...]
    parts: Fold | list[Part] | None


class Fold(NamedTuple):
    """name: of FOLDS; elements: what is folded; rest: of its parameters and the result, None where that is all."""

    name: str
    elements: Part
    axis: Any
    keepdims: bool
    rest: Part | None
    result: str  # the parameter of rest that gets it


def split(function: Any) -> Fold | list[Part] | None:
    """What the function is made of, where it folds arrays: its first fold, or where it returns a tuple the functions of
    the items. None where it folds none, or has no source. TypeError for a fold that is not in straight code."""
    body, code = _body_of(function), function.__code__
    return None if body is None else _split(function, code.co_varnames[:code.co_argcount], body)


def _split(function: types.FunctionType, parameters: tuple[str, ...], body: list[ast.stmt]) -> Fold | list[Part] | None:
    """parameters: of these statements, which are what is left of the function."""
    namespace = _namespace(function)
    if not any(_fold_in(statement, namespace) for statement in body):
        return None
    last = body[-1]
    if not all(isinstance(statement, _STRAIGHT) for statement in body) or not isinstance(last, ast.Return):
        raise TypeError(f"'{function.__name__}' folds an array: it must be assignments and a return, without branches")
    if isinstance(last.value, ast.Tuple):
        return [_part(function, parameters, [*body[:-1], ast.Return(item)]) for item in last.value.elts]
    return _first_fold(function, parameters, body, namespace)


def _first_fold(function: types.FunctionType, parameters: tuple[str, ...], body: list[ast.stmt],
                namespace: dict[str, Any]) -> Fold:
    at, (call, name) = next((k, found) for k, statement in enumerate(body) if (found := _fold_in(statement, namespace)))
    array, axis, keepdims = _arguments_of(function, call, namespace)
    result = "folded"
    while result in {*parameters, *(node.id for s in body for node in ast.walk(s) if isinstance(node, ast.Name))}:
        result += "_"
    left = [copy.deepcopy(statement) if k != at else _Replace(call, result).visit(statement)
            for k, statement in enumerate(body)]
    holder = body[at]
    own = holder.targets[0] if isinstance(holder, ast.Assign) and holder.value is call else None
    left = [*left[:at + 1], *(_rebound(statement, own) for statement in left[at + 1:])]
    is_all = at == len(body) - 1 and body[-1].value is call   # type: ignore[attr-defined]
    rest = None if is_all else _part(function, (*parameters, result), left)
    return Fold(name, _part(function, parameters, [*body[:at], ast.Return(array)]), axis, keepdims, rest, result)


def _rebound(statement: ast.stmt, own: ast.AST | None) -> ast.stmt:
    """`total += x` where total is what a fold has given, and nothing else's: total = total + x."""
    if not (isinstance(statement, ast.AugAssign) and isinstance(own, ast.Name) and
            isinstance(statement.target, ast.Name) and statement.target.id == own.id):
        return statement
    read = ast.copy_location(ast.Name(own.id, ast.Load()), statement.target)
    value = ast.copy_location(ast.BinOp(read, statement.op, statement.value), statement)
    return ast.copy_location(ast.Assign([statement.target], value), statement)


# --- the source ------------------------------------------------------------------------------------------------------

def _body_of(function: types.FunctionType) -> list[ast.stmt] | None:
    """The statements but for the docstring."""
    tree = _tree_with(function)
    for node in () if tree is None else ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and _is_of(node, function):
            return [s for s in node.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
        if isinstance(node, ast.Lambda) and _is_of(node, function):
            return [ast.copy_location(ast.Return(node.body), node.body)]
    return None


def _tree_with(function: types.FunctionType) -> ast.AST | None:
    """Of its file, or where that is no program, such as a page of documentation, of the function alone."""
    try:
        lines, _ = inspect.findsource(function)
    except (OSError, TypeError):
        return None
    try:
        return parsed("".join(lines))
    except SyntaxError:
        pass
    try:
        own = parsed(textwrap.dedent(inspect.getsource(function)))
    except (OSError, SyntaxError):
        return None
    return ast.increment_lineno(own, function.__code__.co_firstlineno - 1)


def _is_of(node: ast.FunctionDef | ast.Lambda, function: types.FunctionType) -> bool:
    code = function.__code__
    if isinstance(node, ast.FunctionDef):
        first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
        return node.name == code.co_name and first == code.co_firstlineno
    places = [(line, column) for line, _, column, _ in code.co_positions() if line and column]
    body = node.body
    begin, end = (body.lineno, body.col_offset), (body.end_lineno, body.end_col_offset)
    return code.co_name == "<lambda>" and bool(places) and all(begin <= place < end for place in places) and (
        begin == min(places) or begin[0] == code.co_firstlineno)


def _namespace(function: types.FunctionType) -> dict[str, Any]:
    """Globals, with captured variables in front of them."""
    captured = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            captured[name] = cell.cell_contents
        except ValueError:   # no value yet
            continue
    return {**function.__globals__, **captured}


# --- folds -----------------------------------------------------------------------------------------------------------

def _fold_in(node: ast.AST, namespace: dict[str, Any]) -> tuple[ast.Call, str] | None:
    """The first fold that has no other in its array, and its name."""
    for child in ast.iter_child_nodes(node):
        if found := _fold_in(child, namespace):
            return found
    if not isinstance(node, ast.Call):
        return None
    name = _fold_named_by(node.func, namespace)
    return (node, name) if name else None


def _fold_named_by(callee: ast.expr, namespace: dict[str, Any]) -> str | None:
    value = _value_of(callee, namespace)
    if value is not None:
        return _FUNCTIONS.get(value) if isinstance(value, type(np.sum)) else None
    return callee.attr if isinstance(callee, ast.Attribute) and callee.attr in FOLDS else None


def _value_of(node: ast.expr, namespace: dict[str, Any]) -> Any:
    """Of a name and its attributes; None for what is computed."""
    if isinstance(node, ast.Name):
        return namespace.get(node.id)
    owner = _value_of(node.value, namespace) if isinstance(node, ast.Attribute) else None
    return None if owner is None else getattr(owner, node.attr, None)   # type: ignore[attr-defined]


def _arguments_of(function: types.FunctionType, call: ast.Call, namespace: dict[str, Any]
                  ) -> tuple[ast.expr, Any, bool]:
    """(array, axis, keepdims). TypeError for others, and for such that are not known before the call."""
    is_method = _value_of(call.func, namespace) is None
    given = [call.func.value, *call.args] if is_method else call.args   # type: ignore[attr-defined]
    keywords = {each.arg: each.value for each in call.keywords}
    array = given[0] if given else keywords.pop("a", None)
    if len(given) > 1:
        keywords["axis"] = given[1]
    if array is None or len(given) > 2 or keywords.keys() - {"axis", "keepdims"}:
        raise TypeError(f"a fold in '{function.__name__}' takes an array, axis and keepdims")
    try:
        known = {name: eval(compile(ast.Expression(value), "<fold>", "eval"), dict(namespace))
                 for name, value in keywords.items() if name}
    except Exception as error:
        raise TypeError(f"axis and keepdims of a fold in '{function.__name__}' are known before it is called"
                        ) from error
    return array, known.get("axis"), bool(known.get("keepdims", False))


# --- parts -----------------------------------------------------------------------------------------------------------

class _Replace(ast.NodeTransformer):
    """A copy of a statement with a name in the place of a call."""

    def __init__(self, call: ast.Call, name: str) -> None:
        self._call, self._name = call, name

    def visit(self, node: ast.AST) -> Any:
        if node is self._call:
            return ast.copy_location(ast.Name(self._name, ast.Load()), node)
        return self.generic_visit(copy.copy(node))

    def generic_visit(self, node: ast.AST) -> Any:
        for field, value in ast.iter_fields(node):
            if isinstance(value, list):
                setattr(node, field, [self.visit(each) if isinstance(each, ast.AST) else each for each in value])
            elif isinstance(value, ast.AST):
                setattr(node, field, self.visit(value))
        return node


def _names(node: ast.AST, context: type[ast.expr_context]) -> Iterator[str]:
    return (each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, context))


def _part(function: types.FunctionType, given: tuple[str, ...], body: list[ast.stmt]) -> Part:
    """The function of these statements as far as its result needs them; given: the parameters there are."""
    needed, kept = set(_names(body[-1], ast.Load)), [body[-1]]
    for statement in reversed(body[:-1]):
        written = set(_names(statement, ast.Store))
        if written & needed:
            is_changed = isinstance(statement, ast.AugAssign)
            needed = (needed if is_changed else needed - written) | set(_names(statement, ast.Load))
            kept.insert(0, statement)
    code = function.__code__
    parameters = tuple(name for name in given if name in needed)
    tree = parsed(f"def part({', '.join(parameters)}):\n    pass\n")
    made = tree.body[0]
    assert isinstance(made, ast.FunctionDef)
    made.name, made.body = function.__name__ if function.__name__.isidentifier() else "part", list(kept)
    ast.increment_lineno(made.args, code.co_firstlineno)
    made.lineno = made.end_lineno = code.co_firstlineno
    namespace = _namespace(function)
    exec(compile(ast.fix_missing_locations(tree), code.co_filename, "exec", dont_inherit=True), namespace)
    made_of = _split(function, parameters, kept)
    return Part(functions.device_function(namespace[made.name]), parameters, made_of)
