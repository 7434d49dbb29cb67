"""Prints the rows of frontend/bytecode/bytecode_pyXYZ.def for the CPython that runs this: its opcodes by number.

Where a new version's opcode is not in raw_bytecode.def, the C compiler says so. The tests compare:
tests/frontend/bytecode/test_bytecode.py.
"""
import opcode
import textwrap

LAST = 255
# Never in a code object: made by instrumentation, by the interpreter for itself, or while the compiler works.
INTERNAL = {"CACHE", "ENTER_EXECUTOR", "EXIT_INIT_CHECK", "INTERPRETER_EXIT", "RESERVED", "TRACE_RECORD"}


def caches(name, number):
    """2-byte units behind the instruction."""
    entries = opcode._inline_cache_entries
    return entries[number] if isinstance(entries, list) else entries.get(name, 0)


def numbers():
    """{name: (number, caches)} of what code objects can show."""
    by_number = sorted(opcode.opmap.items(), key=lambda row: row[1])
    return {name: (number, caches(name, number)) for name, number in by_number
            if number <= LAST and name not in INTERNAL and not name.startswith("INSTRUMENTED_")}


def rows(found):
    words = [f"CACHED({number},~{name},~{units})" if units else f"OPCODE({number},~{name})"
             for name, (number, units) in found.items()]
    return textwrap.fill(" ".join(words), 120).replace("~", " ")


if __name__ == "__main__":
    print(rows(numbers()))
