"""What check mode says of a fault: the report's text, with the source line and carets under the expression."""
import ast
import linecache
import os
import re
import sys
import warnings

import numpy as np

from cujit import errors


def text(form, values, name, file, function, place, block, thread, callers):
    """The report. form: a format of the values and of {array} or {variable}; name: of the variable, or of the array
    where the source is not at hand; callers: from where the function was called, lines with a newline in front, or
    None."""
    line, end_line, column, end_column = place
    lines = _source(file, line, end_line) if file else []
    expression = _expression(lines, column, end_column)
    if "{variable}" in form:
        column, end_column = _columns_of(name, lines) or (column, end_column)
    array = _array(expression) or name
    told = form.format(*values, array=f"'{array}'" if array else "an array", variable=f"'{name}'")
    where = f"block {block}, thread {thread}"
    if not file or line <= 0:
        return f"{told}\n  {where}{callers or ''}"
    told += f'\n  File "{file}", line {line}, in {function.rpartition(".")[2]}: {where}'
    return told + _shown(lines, column, end_column) + (callers or "")


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


def _is_assigned(lines, end_column):
    """Whether `=` stands behind the expression: what is read for it is the value's."""
    rest = lines[-1].encode()[end_column:].decode(errors="replace").lstrip() if lines else ""
    return rest.startswith("=") and not rest.startswith("==")


def _columns_of(name, lines):
    """Where the only line has the name, if it has it once."""
    places = list(re.finditer(rf"\b{re.escape(name)}\b", lines[0])) if len(lines) == 1 else []
    return [len(lines[0][:end].encode()) for end in places[0].span()] if len(places) == 1 else None


def _array(expression):
    """The array in `array[index]`, in a method of it, or the first argument of a call. A name alone is none: a loop
    assigns items to it."""
    source = f"({expression}\n)"
    try:
        node = ast.parse(source, mode="eval").body
    except SyntaxError:
        return None
    if isinstance(node, ast.Subscript):
        node = node.value
    elif isinstance(node, ast.Call) and node.args:
        is_method = isinstance(node.args[0], ast.Constant) and isinstance(node.func, ast.Attribute)
        node = node.func.value if is_method else node.args[0]
    elif not isinstance(node, ast.Attribute):
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


# --- faults that the CPU device's runtime finds ----------------------------------------------------------------------

# As core/watch_kind.h has them: kinds of accesses, then the places of the slots.
_READS, _WROTE = (0, 3), (1, 4)
_FAULT, _ACCESS, _VALUE, _FLAGS, _CALL_LINE, _EARLIER_SITE, _EARLIER_ACCESS, _EARLIER_VALUE, _EARLIER_BLOCK = range(9)
_EARLIER_THREAD, _NDIM, _INDICES = _EARLIER_BLOCK + 3, _EARLIER_BLOCK + 6, _EARLIER_BLOCK + 7
_RACE = 0
_HAS_VALUE, _HAS_EARLIER_VALUE, _SAME_BLOCK, _SAME_WARP, _NO_THREAD = 1, 2, 4, 8, 16


def watched(slots, element, name, site, earlier_site, block, thread, kernel):
    """The exception for a fault of the runtime's: a race, or memory that nothing has written. Sites are places in the
    source: (file, function, line, end_line, column, end_column, whether the library's)."""
    indices = [_signed(slot) for slot in slots[_INDICES:_INDICES + slots[_NDIM]]]
    if site[6] or (name or "").startswith("."):   # the library's name, or Python's for what a comprehension runs over
        name = None
    site = _users_site(site, slots[_CALL_LINE], kernel)
    is_of_value = slots[_ACCESS] in _READS and _is_assigned(_lines(site), site[5])
    array = (None if is_of_value else _array(_expression(_lines(site), *site[4:6]))) or name
    what = f"element {indices[0] if len(indices) == 1 else tuple(indices)} of {_quoted(array)}" if indices \
        else _quoted(array)
    if slots[_FAULT] != _RACE:
        return errors.UninitializedError(f"{what} is read, and nothing has written it\n" + _place(site, block, thread)
                                         + _source_of(site))
    earlier_block = tuple(slots[_EARLIER_BLOCK:_EARLIER_BLOCK + 3])
    earlier_thread = None if slots[_FLAGS] & _NO_THREAD else tuple(slots[_EARLIER_THREAD:_EARLIER_THREAD + 3])
    now = _told(slots[_ACCESS], slots[_VALUE], slots[_FLAGS] & _HAS_VALUE, element, False)
    before = _told(slots[_EARLIER_ACCESS], slots[_EARLIER_VALUE], slots[_FLAGS] & _HAS_EARLIER_VALUE, element, True)
    places = [_place(site, block, thread) + " " + now,
              _place(earlier_site, earlier_block, earlier_thread) + " " + before]
    return errors.RaceError(f"race: two threads access {what}, and {_missing(slots[_FLAGS])}\n"
                            + "\n".join(place + _source_of(where)
                                        for place, where in zip(places, (site, earlier_site), strict=True)))


def _missing(flags):
    if flags & _SAME_WARP:
        return "no cuda.syncwarp() or cuda.syncthreads() is between them"
    if flags & _SAME_BLOCK:
        return "no cuda.syncthreads() is between them"
    return "they are of different blocks: only atomics with fences, or another launch, order these"


def _told(access, bits, has_value, element, is_past):
    verb = {True: ("read", "wrote", "did an atomic operation"), False: ("reads", "writes", "does an atomic operation")}
    what = verb[is_past][0 if access in _READS else 1 if access in _WROTE else 2]
    value = _value(bits, element) if has_value else None
    return what if value is None else f"{what} {value}"


def _value(bits, element):
    try:
        dtype = np.dtype(element)
        return np.frombuffer(bits.to_bytes(8, "little")[:dtype.itemsize], dtype)[0].item()
    except (TypeError, ValueError):
        return None


def _signed(slot):
    return slot - (1 << 64) if slot >> 63 else slot


def _quoted(array):
    return f"'{array}'" if array else "an array"


def _users_site(site, call_line, kernel):
    """The user's call of the library function that the site is in."""
    if not site[6] or not call_line:
        return site
    return (kernel.__code__.co_filename, kernel.__qualname__, call_line, call_line, 0, 0, 0)


def _lines(site):
    return _source(site[0], site[2], site[3]) if site[0] else []


def _place(site, block, thread):
    where = f"block {block}" + (f", thread {thread}" if thread else "")
    if not site[0] or site[2] <= 0:
        return f"  {where}"
    function = "" if site[6] else f", in {site[1].rpartition('.')[2]}"
    return f'  File "{site[0]}", line {site[2]}{function}: {where}'


def _source_of(site):
    return _shown(_lines(site), *site[4:6])


# --- arithmetic that went wrong ---------------------------------------------------------------------------------------

def warn_of_overflows(overflows):
    """One warning for each expression. overflows: (format, values, site, block, thread, how many times) each; instances
    of a function have the same sites."""
    merged = {}
    for form, values, site, block, thread, count in overflows:
        key = form, site
        first = block[::-1], thread[::-1], values
        before, total = merged.get(key, (first, 0))
        merged[key] = min(first, before, key=lambda case: case[:2]), total + count
    for (form, site), ((block, thread, values), count) in sorted(merged.items(), key=_order_of_site):
        times = "once" if count == 1 else f"the first of {count} times"
        text = f"{form.format(*values)}\n{_place(site, block[::-1], thread[::-1])}, {times}{_source_of(site)}"
        warnings.warn(text, errors.OverflowWarning, stacklevel=_level_of_user())


def text_of_argument(value, given, taken, parameter, function):
    """The report of an integer that a signature narrows: where the function begins, its decorator may have that."""
    code = function.__code__
    lines = _source(code.co_filename, code.co_firstlineno, code.co_firstlineno)
    shown = f"\n    {lines[0].strip()}" if lines else ""
    return (f"{given} {value} does not fit {taken}, argument '{parameter}' of the kernel\n"
            f'  File "{code.co_filename}", line {code.co_firstlineno}, in {function.__name__}{shown}')


def warn_of_arguments(texts):
    """Before a launch."""
    for text in texts:
        warnings.warn(text, errors.OverflowWarning, stacklevel=_level_of_user())


def _level_of_user():
    """How far above the caller the program's own code is."""
    package, level, frame = os.path.dirname(__file__), 2, sys._getframe(2)
    while frame.f_back and frame.f_code.co_filename.startswith(package):
        frame, level = frame.f_back, level + 1
    return level


def _order_of_site(item):
    (form, site), _ = item
    return site[0] or "", site[2:6], form
