"""C leaves open in which order the arguments of a call are evaluated, and the items of an initializer: what emits is in
at most one of them, so that all compilers make the same IR."""
import re
from functools import cache

import pytest
from source_tree import code_of, sources

ROOMS = ["frontend", "codegen"]
# What appends to a block of IR, or opens one.
APPENDS = re.compile(r"^(?:ir_(?:append|const_\w+|phi|block|jump|branch|raise)|LLVMBuild\w+)$")
DEFINITION = re.compile(r"^(?!typedef|extern|#|enum|struct\s+\w+\s*\{)[A-Za-z][\w *]*?\b(\w+)\([^;{]*\)\s*\{",
                        re.MULTILINE)
CALL = re.compile(r"\b([A-Za-z_]\w*)\(")
# What is in front of a list: `=`, the type of a compound literal, another list's beginning or its last item.
LIST = re.compile(r"(?:=|(?:[=(,{?:&]|\breturn)\s*\((?:const )?\w[\w ]*\**(?:const)?(?:\[\w*\])?\)|[{,])\s*(?=\{)")
NO_CALLS = {"if", "while", "for", "switch", "return", "sizeof"}


def without_texts(text):
    """Of the same length: commas and brackets in texts and letters are none of the code's."""
    return re.sub(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\])\'', lambda found: "_" * len(found[0]), text)


def end_of_brackets(text, start):
    depth = 0
    for place in range(start, len(text)):
        depth += (text[place] in "([{") - (text[place] in ")]}")
        if not depth:
            return place
    return len(text)


def items_of(text, start):
    """The arguments of the call whose parenthesis is there, or what is in the list whose brace is."""
    depth, first, found, end = 0, start + 1, [], end_of_brackets(text, start)
    for place in range(start + 1, end):
        depth += (text[place] in "([{") - (text[place] in ")]}")
        if text[place] == "," and not depth:
            found.append(text[first:place])
            first = place + 1
    return [*found, text[first:end]]


def names_called(text):
    return {found[1] for found in CALL.finditer(text)} - NO_CALLS


@cache
def functions(room):
    """(file, name) -> what its body calls; name -> the files whose function others may call."""
    called, files = {}, {}
    for path in sources(room):
        text = without_texts(code_of(path))
        for match in DEFINITION.finditer(text):
            called[path, match[1]] = names_called(text[match.end():end_of_brackets(text, match.end() - 1)])
            if path.endswith(".h") or not match[0].startswith("static"):
                files.setdefault(match[1], set()).add(path)
    return called, files


@cache
def emitting(room):
    """Whether what a file calls by a name may emit, itself or by its calls. A name is a file's own before others'."""
    calls, files = functions(room)

    def emits(path, name, known):
        if APPENDS.match(name):
            return True
        owners = {path} if (path, name) in calls else files.get(name, ())
        return any((owner, name) in known for owner in owners)

    known, before = set(), None
    while before != len(known):
        before = len(known)
        known |= {key for key, called in calls.items() if any(emits(key[0], name, known) for name in called)}
    return lambda path, name: emits(path, name, known)


def unordered(path, room):
    text, emits = without_texts(code_of(path)), emitting(room)
    yield from unordered_in(text, path, emits)


def unordered_in(text, path, emits):
    starts = [match.end() - 1 for match in CALL.finditer(text) if match[1] not in NO_CALLS]
    for start in [*starts, *(match.end() for match in LIST.finditer(text))]:
        emit = [item for item in items_of(text, start) if any(emits(path, name) for name in names_called(item))]
        if len(emit) > 1:
            line = text.count("\n", 0, start) + 1
            yield f"{path}:{line}: {', '.join(' '.join(each.split()) for each in emit)}"


@pytest.mark.parametrize("room", ROOMS)
def test_one_item_emits(room):
    wrong = [line for path in sources(room) if path.endswith(".c") for line in unordered(path, room)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("code, is_wrong", [
    ("f(ir_jump(a), ir_jump(b));", True),
    ("f(a, ir_jump(b));", False),
    ("Pair p = {ir_jump(a), ir_jump(b)};", True),
    ("Pair p = {.first = ir_jump(a), .second = b};", False),
    ("Pair p[2] = {[0] = {ir_jump(a), 1}, [1] = {ir_jump(b), 2}};", True),
    ("Pair p[2] = {{{1, ir_jump(a)}, {2, ir_jump(b)}}, {{0}}};", True),
    ("return (Pair){a, {b, (Pair){ir_jump(a), ir_jump(b)}}};", True),
    ("f((IrValue *[]){ir_jump(a), ir_jump(b)});", True),
    ("f((IrValue *const[]){ir_jump(a), ir_jump(b)});", True),
    ("f((const IrValue *const[2]){ir_jump(a), ir_jump(b)});", True),
    ("x = ok && (Pair){ir_jump(a), ir_jump(b)}.first;", True),
    ("IrValue *a = ir_jump(b), *c = ir_jump(d);", False),
])
def test_what_is_found(code, is_wrong):
    """Lists in lists, too; the declarations of one line are made in their order."""
    found = list(unordered_in(f"static void g(void)\n{{\n    {code}\n}}\n", "", lambda _, name: name == "ir_jump"))
    assert bool(found) == is_wrong
