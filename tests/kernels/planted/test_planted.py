"""Every planted fault is found, with the error and the line that its row says; on a GPU, too."""
import inspect

import pytest
from faults import ROWS

from cujit import cuda


def line_at_fault(launch):
    lines, first = inspect.getsourcelines(launch)
    found = [first + i for i, line in enumerate(lines) if "# fault" in line]
    assert len(found) == 1, "a row has one line at fault"
    return found[0]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.launch.__name__)
def test_fault_is_found(row, monkeypatch):
    monkeypatch.setenv("CUJIT_CHECK", row.check)  # for what takes no options
    with pytest.raises(Exception) as caught:
        row.launch(row.check)
        cuda.synchronize()
    text = str(caught.value)
    assert type(caught.value).__name__ == row.error, text
    assert f'File "{inspect.getfile(row.launch)}", line {line_at_fault(row.launch)}, in ' in text
    cuda.synchronize()


def test_there_are_enough():
    rows = [row for row in ROWS if row.check == "bounds"]
    assert len(rows) >= 40 and len({row.memory for row in rows}) >= 7 and len({row.construct for row in rows}) >= 30
