"""The documents name files and functions that exist, and ARCHITECTURE.md shows what the code prints."""

import re
import struct
import sys
import zlib
from functools import cache
from pathlib import Path

import numpy as np
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


def test_plots_of_benchmarks():
    import benchmark_plots

    plots = benchmark_plots.plots()
    assert len(plots) == 4
    for file, text in plots.items():
        assert file.read_text(encoding="utf-8") == text, "run scripts/benchmark_plots.py --write"


def rows_of_png(path):
    """What write_png() in examples/mandelbrot.py was given."""
    data = path.read_bytes()
    width, height = struct.unpack(">II", data[16:24])
    [part] = re.findall(rb"IDAT(.*)....\0\0\0\0IEND", data, re.DOTALL)
    return np.frombuffer(zlib.decompress(part), np.uint8).reshape(height, width + 1)[:, 1:]


def coarse(picture):
    """Means of squares of 8 x 8 pixels."""
    height, width = (size // 8 * 8 for size in picture.shape)
    return picture[:height, :width].reshape(height // 8, 8, width // 8, 8).mean((1, 3))


def test_pictures_of_the_gallery():
    """Up to rounding, which other devices and versions do in other ways: a chaotic path ends elsewhere then, but paths
    together show the same."""
    pytest.importorskip("cujit")
    import gallery_pictures

    files = []
    for file, picture in gallery_pictures.pictures():
        shown = rows_of_png(file)
        assert shown.shape == picture.shape and shown.std() > 10
        difference = abs(coarse(shown) - coarse(picture))
        assert (difference > 12).mean() < 0.02, f"{file}: run scripts/gallery_pictures.py --write"
        files.append(file)
    assert len(set(files)) == 10


def test_page_of_intrinsics():
    pytest.importorskip("cujit")
    import intrinsics_page

    assert intrinsics_page.page() == read("docs/intrinsics.md"), "run scripts/intrinsics_page.py --write"


def test_variables_of_the_command_line():
    pytest.importorskip("cujit")
    import variables_page

    page = read("docs/command_line.md")
    assert variables_page.with_table(page) == page, "run scripts/variables_page.py --write"


def test_pages_of_the_interface_have_names_of_their_own():
    """What a module imports is documented where it comes from."""
    pytest.importorskip("cujit")
    import api_pages

    from cujit import cuda

    names = api_pages.public_names(cuda.random)
    assert "create_xoroshiro128p_states" in names and not {"to_device", "from_dtype"} & set(names)
    assert "to_device" in (names := api_pages.public_names(cuda)) and "vectorize" not in names   # it is cujit's
