"""Make the dumps of docs/ARCHITECTURE.md: compare them with the page, or write them into it with --write."""

import re
import sys
import warnings
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "docs" / "ARCHITECTURE.md"
SM = 80
LANGUAGES = {"llvm": "llvm", "asm": "ptx"}
BLOCK = re.compile(r"(<!-- dump (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
SOURCE = re.compile(r"<!-- source -->\n```python\n(.*?)```\n<!-- end -->", re.DOTALL)


def kernel_of(page):
    """The kernel that the page shows."""
    namespace = {}
    exec(compile(SOURCE.search(page)[1], "saxpy.py", "exec"), namespace)
    return namespace["saxpy"]


def body(what, text):
    """LLVM IR and PTX without what goes before and after the kernel, other text as it is."""
    opening = {"llvm": r"^define ", "asm": r"^\.visible \.entry|^\t?\.entry"}.get(what)
    if not opening:
        return text.rstrip()
    start = re.search(opening, text, re.MULTILINE).start()
    end = re.compile(r"^}$", re.MULTILINE).search(text, start).end()
    return text[start:end].expandtabs(4)


def with_dumps(page):
    """The page with every dump made anew."""
    from cujit import float32, float64

    kernel = kernel_of(page)
    types = (float64, float32[::1], float32[::1], float32[::1])

    def made(match):
        opening, what, end = match.groups()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            text = body(what, kernel.inspect(what, types, SM))
        return f"{opening}```{LANGUAGES.get(what, 'text')}\n{text}\n```\n{end}"

    return BLOCK.sub(made, page)


if __name__ == "__main__":
    page = PAGE.read_text(encoding="utf-8")
    new = with_dumps(page)
    if "--write" in sys.argv:
        PAGE.write_text(new, encoding="utf-8")
    elif new != page:
        sys.exit(f"{PAGE.name} shows other dumps than the code makes; run scripts/architecture_dumps.py --write")
