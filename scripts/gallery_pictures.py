"""The pictures of docs/gallery.md, by its own snippets.

Usage: gallery_pictures.py --write. Each snippet leaves `picture`, which goes to the file that the page shows before it.
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "gallery.md"
PART = re.compile(r"^!\[[^]]*\]\((?P<file>[^)]+)\)$|^```python\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)


def pictures():
    """(file, picture) of each that the page shows; uint8, rows and columns."""
    names, file = {"__name__": "gallery"}, None
    for part in PART.finditer(PAGE.read_text(encoding="utf-8")):
        if part["file"]:
            file = PAGE.parent / part["file"]
            continue
        exec(compile(part["code"], PAGE.name, "exec"), names)
        if file is not None:
            yield file, names["picture"]


def main():
    sys.path.insert(0, str(ROOT / "examples"))
    from mandelbrot import write_png

    for file, picture in pictures():
        print(f"{file.name}: {picture.shape}, {picture.min()} to {picture.max()}")
        if "--write" in sys.argv:
            file.parent.mkdir(exist_ok=True)
            write_png(file, picture)


if __name__ == "__main__":
    main()
