"""Makes a failing program small: leaves out statements, takes bodies and operands for what is around them."""
import ast
import copy
from dataclasses import replace


def blocks(tree):
    """Every list of statements."""
    for node in ast.walk(tree):
        for name in ("body", "orelse"):
            if isinstance(getattr(node, name, None), list):
                yield getattr(node, name)


def without_statements(tree):
    """Trees with some statements left out: many at once first."""
    count = sum(len(block) for block in blocks(tree))
    size = max(count // 2, 1)
    while size >= 1:
        for number in range(sum(1 for _ in blocks(tree))):
            length = len(list(blocks(tree))[number])
            for start in range(0, length, size):
                made = copy.deepcopy(tree)
                block = list(blocks(made))[number]
                del block[start:start + size]
                if not block and not isinstance(made, ast.Module):
                    block.append(ast.Pass())
                yield made
        size //= 2


def unwrapped(tree):
    """Trees with one compound statement replaced by its body."""
    for number in range(sum(1 for _ in blocks(tree))):
        for place, statement in enumerate(list(blocks(tree))[number]):
            if isinstance(statement, ast.If | ast.For | ast.While):
                for name in ("body", "orelse"):
                    made = copy.deepcopy(tree)
                    block = list(blocks(made))[number]
                    block[place:place + 1] = getattr(block[place], name) or [ast.Pass()]
                    yield made


def expressions(tree):
    """(node, field, place in it) of every expression that may be made smaller."""
    for node in ast.walk(tree):
        for name, value in ast.iter_fields(node):
            for place, child in enumerate(value if isinstance(value, list) else [value]):
                if isinstance(child, ast.expr) and not isinstance(getattr(child, "ctx", None), ast.Store | ast.Del):
                    yield node, name, place if isinstance(value, list) else None


def child_of(node, name, place):
    value = getattr(node, name)
    return value if place is None else value[place]


def smaller(expression):
    """What may stand in its place."""
    if isinstance(expression, ast.Name | ast.Constant):
        return []
    parts = [child for child in ast.iter_child_nodes(expression) if isinstance(child, ast.expr)]
    return [part for part in parts if not isinstance(part, ast.Slice)] + [ast.Constant(1), ast.Constant(1.5)]


def with_smaller_expressions(tree):
    for number in range(sum(1 for _ in expressions(tree))):
        node, name, place = list(expressions(tree))[number]
        for choice in range(len(smaller(child_of(node, name, place)))):
            made = copy.deepcopy(tree)
            node_there, _, _ = list(expressions(made))[number]
            new = smaller(child_of(node_there, name, place))[choice]
            if place is None:
                setattr(node_there, name, new)
            else:
                getattr(node_there, name)[place] = new
            yield made


def text_of(tree):
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def minimize(program, fails, tries=800):
    """The smallest program found for which fails(program) is still true."""
    best, progress = program, True
    while progress and tries > 0:
        progress = False
        for candidates in (without_statements, unwrapped, with_smaller_expressions):
            for tree in candidates(ast.parse(best.text)):
                tries -= 1
                try:
                    candidate = replace(best, text=text_of(tree))
                    better = len(candidate.text) < len(best.text) and fails(candidate)
                except Exception:
                    better = False
                if better:
                    best, progress = candidate, True
                    break
                if tries <= 0:
                    return best
            if progress:
                break
    return best
