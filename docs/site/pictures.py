# SPDX-License-Identifier: GPL-2.0-or-later
"""Charts of notebooks are pictures. What one is called for those who do not see it is its title."""

import re
from html import unescape
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx

TITLE = re.compile(r"role-title-text.*?<text[^>]*>([^<]+)", re.DOTALL)
HEAD = re.compile(r'class="marks" width="(\d+)" height="(\d+)" viewBox="0 0 \1 \2"><rect width="\1"')
#: Part of the width that is added on both sides: letters of the reader's font may be wider than those it was drawn with.
MARGIN = 0.08


def name_of(picture: str) -> str:
    """Title of a chart; empty where it has none."""
    title = TITLE.search(picture)
    return unescape(title[1]) if title else ""


def with_margins(picture: str) -> str:
    """A chart with room for wider letters; one that has it stays."""
    head = HEAD.search(picture)
    if not head:
        return picture
    width, height = int(head[1]), int(head[2])
    margin = round(width * MARGIN)
    whole = width + 2 * margin
    wider = f'class="marks" width="{whole}" height="{height}" viewBox="{-margin} 0 {whole} {height}"><rect x="{-margin}" width="{whole}"'
    return picture.replace(head[0], wider)


def pictures(app: Sphinx, tree: nodes.document) -> None:
    """Names the charts of a page."""
    for image in tree.findall(nodes.image):
        path = Path(app.srcdir) / image["uri"].lstrip("/")
        if "jupyter_execute" in image["uri"] and path.suffix == ".svg":
            picture = path.read_text(encoding="utf-8")
            path.write_text(with_margins(picture), encoding="utf-8")
            image["alt"] = name_of(picture)


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    # Before Sphinx collects the pictures.
    app.connect("doctree-read", pictures, priority=100)
    return {"parallel_read_safe": True}
