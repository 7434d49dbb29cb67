"""Every planted fault is found, with the error and the line that its row says, on the device in use."""
import pytest
from planted_faults import ROWS, run


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.check}: {row.memory}, {row.construct}")
def test_fault_is_found(row, tmp_path, monkeypatch):
    monkeypatch.setenv("CUJIT_CHECK", row.check)
    outcome = run(row, tmp_path)
    assert outcome.is_right, outcome.report


def test_a_fault_elsewhere_is_not_the_row_s(tmp_path):
    row = next(row for row in ROWS if "def kernel(x, out):" in row.source)
    lines = row.source.replace("# fault", "").replace("def kernel(x, out):", "def kernel(x, out):  # fault")
    outcome = run(row._replace(source=lines), tmp_path)
    assert outcome.found and not outcome.is_right
    assert not run(row._replace(source="def launch(check):\n    pass  # fault\n"), tmp_path).found


@pytest.mark.parametrize("check, least, memories", [("bounds", 40, 7), ("race", 25, 2), ("init", 55, 4),
                                                    ("barrier", 12, 1), ("overflow", 55, 3)])
def test_there_are_enough(check, least, memories):
    rows = [row for row in ROWS if row.check == check]
    assert len(rows) >= least and len({row.memory for row in rows}) >= memories
    assert len({(row.memory, row.construct) for row in rows}) == len(rows)
