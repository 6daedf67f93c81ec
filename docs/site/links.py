# SPDX-License-Identifier: GPL-2.0-or-later
"""Links that forges follow and MyST does not: to folders, and to places `<a id="...">` of a page."""

import os
import re
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx

#: Page that lists what a folder of pages has, where no README does.
LIST = "docs/README.md"
FOLDER = re.compile(r"(?<=\]\()[^)#:]+/(?=\))")
PLACE = re.compile(r'<a id="([^"]+)">')


def page_of(top: Path, folder: Path) -> str:
    """Page that stands for a folder, relative to `top`."""
    page = folder / "README.md"
    return str(page.relative_to(top)) if page.is_file() else LIST


def folders(app: Sphinx, name: str, source: list[str]) -> None:
    """Leads links to folders to pages."""
    top = Path(app.srcdir)
    here = (top / name).parent

    def page(link: re.Match[str]) -> str:
        folder = Path(os.path.normpath(here / link[0]))
        return os.path.relpath(top / page_of(top, folder), here) if folder.is_dir() else link[0]

    source[0] = FOLDER.sub(page, source[0])


def places(app: Sphinx, tree: nodes.document) -> None:
    """Makes places of a page known, where MyST keeps its headings: name, line, id, text."""
    names = [name for raw in tree.findall(nodes.raw) for name in PLACE.findall(raw.astext())]
    known = app.env.metadata[app.env.docname].setdefault("myst_slugs", {})
    known.update({name: (0, name, name.upper()) for name in names})


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("source-read", folders)
    app.connect("doctree-read", places)
    return {"parallel_read_safe": True}
