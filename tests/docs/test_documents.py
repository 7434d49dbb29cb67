"""The documents name files and functions that exist, and ARCHITECTURE.md shows what the code prints."""

import re
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = ["README.md", "CONTRIBUTING.md", *(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md"))]
SOURCE_FOLDERS = ["core", "frontend", "codegen", "runtime", "jit", "python", "tools"]
CODE = re.compile(r"```.*?```|`[^`]*`", re.DOTALL)
sys.path.insert(0, str(ROOT / "scripts"))


@cache
def all_code():
    paths = [path for folder in SOURCE_FOLDERS for path in (ROOT / folder).rglob("*")]
    return "\n".join(path.read_text(encoding="utf-8") for path in paths if path.suffix in (".c", ".h", ".py", ".def"))


def read(page):
    return (ROOT / page).read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES)
def test_files_exist(page):
    named = set(re.findall(r"`([\w./-]+/[\w.-]+\.(?:c|h|def|py|sh|md|txt|cmake|toml))`", read(page)))
    assert not [name for name in named if "XYZ" not in name and not (ROOT / name).exists()]


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    targets = re.findall(r"\]\(([\w./-]+)\)", CODE.sub("", read(page)))
    assert not [target for target in targets if not (ROOT / page).parent.joinpath(target).exists()]


def test_words_of_the_glossary_lead_somewhere():
    """What its last column names beside files: identifiers, or prefixes of them."""
    places = " ".join(line.rsplit("|", 2)[1] for line in read("docs/glossary.md").splitlines() if line.startswith("|"))
    named = {name for name in re.findall(r"`@?([\w.]+)`", places)}
    assert len(named) > 20
    assert not [name for name in named if not re.search(rf"\b{name.rpartition('.')[2]}", all_code())]


def test_functions_exist():
    named = set(re.findall(r"`(\w+)\(\)`", read("docs/ARCHITECTURE.md")))
    assert not [name for name in named if not re.search(rf"\b{name}\(", all_code())]


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="CPython 3.13 pushes NULL behind what is called")
def test_architecture_dumps():
    pytest.importorskip("cujit")
    import architecture_dumps

    page = read("docs/ARCHITECTURE.md")
    assert architecture_dumps.with_dumps(page) == page, "run scripts/architecture_dumps.py --write"


def test_report_of_a_profile():
    pytest.importorskip("cujit")
    import profile_page

    from cujit import cuda

    if cuda.get_current_device().kind != "cpu":
        pytest.skip("profiles count on the CPU device")
    assert profile_page.page() == read("docs/profiling_kernels.md"), "run scripts/profile_page.py --write"


def test_reports_of_check_mode():
    pytest.importorskip("cujit")
    import debugging_reports

    page = read("docs/debugging_kernels.md")
    assert debugging_reports.with_reports(page) == page, "run scripts/debugging_reports.py --write"


def test_page_of_intrinsics():
    pytest.importorskip("cujit")
    import intrinsics_page

    assert intrinsics_page.page() == read("docs/intrinsics.md"), "run scripts/intrinsics_page.py --write"


def test_variables_of_the_command_line():
    pytest.importorskip("cujit")
    import variables_page

    page = read("docs/command_line.md")
    assert variables_page.with_table(page) == page, "run scripts/variables_page.py --write"
