"""Make the report of docs/profiling_kernels.md: compare it with the page, or write it with --write."""
import contextlib
import io
import linecache
import re
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "docs" / "profiling_kernels.md"
SOURCE = re.compile(r"<!-- source -->\n```python\n(.*?)```\n<!-- end -->", re.DOTALL)
REPORT = re.compile(r"(<!-- report -->\n).*?(<!-- end -->)", re.DOTALL)


def report(source):
    """What the program prints; its file is called program.py."""
    linecache.cache["program.py"] = len(source), None, source.splitlines(keepends=True), "program.py"
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(source, "program.py", "exec"), {"__name__": "program"})
    return printed.getvalue()


def page():
    """The page with the report as it is now."""
    text = PAGE.read_text(encoding="utf-8")
    made = f"```text\n{report(SOURCE.search(text)[1])}```\n"
    return REPORT.sub(lambda match: match[1] + made + match[2], text)


if __name__ == "__main__":
    if "--write" in sys.argv:
        PAGE.write_text(page(), encoding="utf-8")
    elif PAGE.read_text(encoding="utf-8") != page():
        sys.exit(f"{PAGE.name} is not what the code prints: scripts/profile_page.py --write")
