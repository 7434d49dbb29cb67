"""Sphinx: `make docs` makes the site of these pages in build/site. What is public is documented from its docstrings."""
import re
import sys
from importlib import metadata
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent / "scripts"))

project = "cujit"
copyright = "the cujit authors"
release = version = metadata.version("cujit")
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode"]
html_theme = "pydata_sphinx_theme"
html_title = "cujit"
html_sidebars = {"gallery": []}   # a page without others of its kind
html_theme_options = {"show_prev_next": True, "navigation_with_keys": False, "show_toc_level": 2}
html_show_sourcelink = False
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
myst_heading_anchors = 4
suppress_warnings = ["misc.highlighting_failure"]   # LLVM's and PTX's newest words are not in the highlighter
autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_ivar = True


def write_api_pages(app):
    import api_pages

    api_pages.write(FOLDER / "api")


def escape_stars(app, what, name, value, options, lines):
    """`*args` in a docstring is no emphasis."""
    lines[:] = [re.sub(r"(?<![\\*\w`])(\*{1,2})(?=[A-Za-z_])", lambda m: "\\*" * len(m[1]), line) for line in lines]


def leave_out_modules_in_c(app):
    """Which have no page of source: Sphinx lists them, with a link that leads nowhere."""
    modules = getattr(app.env, "_viewcode_modules", {})
    for name in [name for name, source in modules.items() if not source]:
        del modules[name]
    return []


def setup(app):
    app.connect("html-collect-pages", leave_out_modules_in_c, priority=400)
    app.connect("autodoc-process-docstring", escape_stars)
    app.connect("builder-inited", write_api_pages)
