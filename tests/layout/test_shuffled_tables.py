"""The tables that check-shuffled builds with: the same rows in other places."""
import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import shuffle_tables  # noqa: E402

ROW = re.compile(r"^([A-Z][A-Z0-9_]*\(\w+)", re.MULTILINE)


@pytest.mark.parametrize("table", shuffle_tables.TABLES)
def test_rows_are_the_same_in_another_order(table):
    text = (shuffle_tables.ROOT / table).read_text(encoding="utf-8")
    new = shuffle_tables.shuffled(text, 1)
    rows, places = ROW.findall(text), ROW.findall(new)
    assert len(rows) > 10 and sorted(rows) == sorted(places) and rows != places
    assert sorted(text) == sorted(new)
    assert re.findall(r"^#.*$", text, re.MULTILINE) == re.findall(r"^#.*$", new, re.MULTILINE)
