"""Make the reports of docs/debugging_kernels.md by running its programs on the CPU device: compare them with the page,
or write them into it with --write."""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "docs" / "debugging_kernels.md"
PAIR = re.compile(r"(<!-- program -->\n```python\n(.*?)```\n<!-- report -->\n```text\n).*?(```\n<!-- end -->)",
                  re.DOTALL)


def report_of(program):
    """What the program's exception says, as a traceback ends, or its warning of arithmetic."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "program.py").write_text(program, encoding="utf-8")
        path = os.pathsep.join(os.path.abspath(each) for each in sys.path if each)
        environment = {**os.environ, "PYTHONPATH": path, "CUJIT_DEVICE": "cpu", "CUJIT_CACHE": "0"}
        environment.pop("CUJIT_CHECK", None)
        done = subprocess.run([sys.executable, "-W", "ignore", "-W", "always::cujit.errors.OverflowWarning",
                               "program.py"], cwd=folder, capture_output=True,
                              text=True, env=environment)
    found = re.search(r"^(?:(?:\w+\.)*\w+Error|.*: OverflowWarning): ", done.stderr, re.MULTILINE)
    if not found:
        raise RuntimeError(f"the program ends without a report:\n{program}\n{done.stderr}")
    return done.stderr[found.start() :].replace(folder + os.sep, "").rstrip() + "\n"


def with_reports(page):
    """The page with every report made anew."""
    return PAIR.sub(lambda match: match[1] + report_of(match[2]) + match[3], page)


if __name__ == "__main__":
    page = PAGE.read_text(encoding="utf-8")
    new = with_reports(page)
    if "--write" in sys.argv:
        PAGE.write_text(new, encoding="utf-8")
    elif new != page:
        sys.exit(f"{PAGE.name} shows other reports than the code makes; run scripts/debugging_reports.py --write")
