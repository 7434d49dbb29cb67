"""Puts the table of environment variables into docs/command_line.md: python variables_page.py --write."""
import re
import sys
from pathlib import Path

from cujit._command.variables import VARIABLES

PAGE = Path(__file__).resolve().parent.parent / "docs" / "command_line.md"
PLACE = re.compile(r"(<!-- variables[^\n]*-->\n).*?(<!-- end -->\n)", re.DOTALL)


def table():
    rows = ["| variable | does |", "|---|---|"]
    for variable in VARIABLES:
        names = " or ".join(f"`{name}`" for name in (variable.name, variable.numbas) if name)
        rows.append(f"| {names} | {variable.does} |")
    return "\n".join(rows) + "\n"


def with_table(page):
    """The page with the table of today."""
    return PLACE.sub(lambda found: found[1] + table() + found[2], page)


if __name__ == "__main__":
    text = with_table(PAGE.read_text(encoding="utf-8"))
    if "--write" in sys.argv[1:]:
        PAGE.write_text(text, encoding="utf-8")
    else:
        print(text, end="")
