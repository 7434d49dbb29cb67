"""The table of this Python's opcodes against what CPython's own module says."""
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "scripts"))
import bytecode_numbers  # noqa: E402

VERSIONS = sorted(int(path.stem[-2:]) for path in (ROOT / "frontend" / "bytecode").glob("bytecode_py3*.def"))


def rows_of(minor):
    """(name, number, caches) of each row."""
    text = (ROOT / "frontend" / "bytecode" / f"bytecode_py3{minor}.def").read_text(encoding="utf-8")
    found = re.findall(r"(?:OPCODE|CACHED|EXCEPTION)\((\d+), (\w+)(?:, (\d+))?", text)
    return [(name, int(number), int(caches or 0)) for number, name, caches in found]


def test_numbers_are_those_of_this_python():
    found = {name: (number, caches) for name, number, caches in rows_of(sys.version_info[1])}
    assert found == bytecode_numbers.numbers()


@pytest.mark.parametrize("minor", VERSIONS)
def test_each_opcode_has_one_row(minor):
    rows = rows_of(minor)
    assert len({row[0] for row in rows}) == len({row[1] for row in rows}) == len(rows) > 100


def test_every_name_is_used():
    text = (ROOT / "frontend" / "bytecode" / "raw_bytecode.def").read_text(encoding="utf-8")
    names = re.findall(r"(?:RAW|REFUSED)\((\w+)", text)
    assert len(names) == len(set(names)) > 100
    assert set(names) == {row[0] for minor in VERSIONS for row in rows_of(minor)}


@pytest.mark.parametrize("minor", VERSIONS)
def test_exceptions_differ(minor):
    """An exception that says what raw_bytecode.def says is none."""
    folder = ROOT / "frontend" / "bytecode"
    usual = dict(re.findall(r"^RAW\((\w+), +(.*)\)", (folder / "raw_bytecode.def").read_text(), re.MULTILINE))
    text = (folder / f"bytecode_py3{minor}.def").read_text()
    for name, own in re.findall(r"^EXCEPTION\(\d+, (\w+), \d+, (.*)\)", text, re.MULTILINE):
        assert own.split(", ") != re.split(r", +", usual[name]), name
