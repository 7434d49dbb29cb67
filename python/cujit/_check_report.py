"""What check mode says of a fault: the report's text, with the source line and carets under the expression."""
import ast
import linecache


def text(form, values, name, file, function, place, block, thread):
    """The report. form: a format of the values and of {array}; name: of the array where the source is not at hand."""
    line, end_line, column, end_column = place
    lines = _source(file, line, end_line) if file else []
    expression = _expression(lines, column, end_column)
    array = _array(expression) or name
    told = form.format(*values, array=f"'{array}'" if array else "an array")
    where = f"block {block}, thread {thread}"
    if not file or line <= 0:
        return f"{told}\n  {where}"
    told += f'\n  File "{file}", line {line}, in {function.rpartition(".")[2]}: {where}'
    return told + _shown(lines, column, end_column)


def _source(file, line, end_line):
    """The lines of the expression, without their ends; none where the source is not at hand."""
    linecache.checkcache(file)
    lines = [linecache.getline(file, number).rstrip() for number in range(line, max(line, end_line) + 1)]
    return lines if all(lines) else []


def _expression(lines, column, end_column):
    """The source text in these columns, which count bytes."""
    if not lines or column < 0 or end_column <= 0:
        return ""
    encoded = [line.encode() for line in lines]
    encoded[-1] = encoded[-1][:end_column]
    encoded[0] = encoded[0][column:]
    return b"\n".join(encoded).decode(errors="replace")


def _array(expression):
    """The array in `array[index]`, or the first argument of a call."""
    source = f"({expression}\n)"
    try:
        node = ast.parse(source, mode="eval").body
    except SyntaxError:
        return None
    if isinstance(node, ast.Subscript):
        node = node.value
    elif isinstance(node, ast.Call) and node.args:
        node = node.args[0]
    elif not isinstance(node, (ast.Name, ast.Attribute)):
        return None
    return ast.get_source_segment(source, node)


def _shown(lines, column, end_column):
    """The first line, and carets below it."""
    if not lines:
        return ""
    first = lines[0]
    code = first.lstrip()
    start = len(first.encode()[:column].decode(errors="replace"))
    end = len(first.encode()[:end_column].decode(errors="replace")) if len(lines) == 1 else len(first)
    start = max(start - (len(first) - len(code)), 0)
    end -= len(first) - len(code)
    return f"\n    {code}" + (f"\n    {' ' * start}{'^' * (end - start)}" if end > start else "")
