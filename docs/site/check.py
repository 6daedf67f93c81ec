# SPDX-License-Identifier: GPL-2.0-or-later
"""Looks at a built site: links and places that are not there, what comes from elsewhere, paths of the machine it was built on.

Usage: check.py SITE LIST MACHINE; LIST gets the links that lead elsewhere, MACHINE is the path that no page shall have.
"""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

#: What a browser fetches by itself, by element.
LOADED = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src", "object": "data"}
#: Links of a page's head that nothing is fetched for.
NAMED = {"index", "search", "next", "prev", "canonical", "author", "help"}
STYLE = re.compile(r"""(?:url\(|@import )\s*["']?((?:https?:)?//[^"')]+)""")


class Page(HTMLParser):
    """Places, links and loaded files of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.places: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Called for each element."""
        given = {name: value or "" for name, value in attrs}
        self.places.add(given.get("id", ""))
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        target = given.get(LOADED.get(tag, ""), "")
        if target and not (tag == "link" and given.get("rel") in NAMED):
            self.loaded.append(target)


def is_elsewhere(target: str) -> bool:
    """True for what is fetched from another place."""
    parts = urlsplit(target)
    return bool(parts.netloc) or parts.scheme in {"http", "https", "mailto"}


def missing(pages: dict[Path, Page], path: Path, target: str) -> str:
    """What a link leads to and is not there; empty where all is."""
    parts = urlsplit(target)
    file = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if not file.is_file():
        return f"{target}: no such file"
    place = unquote(parts.fragment)
    return f"{target}: no such place" if file in pages and place and place not in pages[file].places else ""


def page_findings(pages: dict[Path, Page], path: Path) -> list[str]:
    """What is wrong with a page."""
    page = pages[path]
    found = [f"loads {target}" for target in page.loaded if is_elsewhere(target)]
    inside = {target for target in page.links + page.loaded if not is_elsewhere(target) and not target.startswith(("data:", "#top"))}
    return found + [said for target in sorted(inside) if (said := missing(pages, path, target))]


def style_findings(path: Path) -> list[str]:
    """What a style sheet fetches from elsewhere."""
    return [f"loads {target}" for target in STYLE.findall(path.read_text(encoding="utf-8"))]


def machine_findings(path: Path, machine: str) -> list[str]:
    """Whether a file has the path of the machine."""
    return ["has a path of this machine"] if machine.encode() in path.read_bytes() else []


def main(site: Path, listed: Path, machine: str) -> int:
    """Prints what was found, a line each; 1 where something was."""
    pages = {path: Page(path) for path in sorted(site.rglob("*.html"))}
    found = [(path, said) for path in pages for said in page_findings(pages, path)]
    found += [(path, said) for path in site.rglob("*.css") for said in style_findings(path)]
    found += [(path, said) for path in site.rglob("*") if path.is_file() for said in machine_findings(path, machine)]
    for path, said in found:
        print(f"{path.relative_to(site)}: {said}")
    elsewhere = sorted({link for page in pages.values() for link in page.links if is_elsewhere(link)})
    listed.write_text("".join(f"{link}\n" for link in elsewhere), encoding="utf-8")
    links = sum(len(page.links) for page in pages.values())
    print(f"docs: {len(pages)} pages, {links} links, {len(elsewhere)} addresses elsewhere, {len(found)} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]), sys.argv[3]))
