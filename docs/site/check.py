"""Check a built site: its own links lead somewhere, and it loads nothing from elsewhere."""

from __future__ import annotations

import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {"img": "src", "script": "src", "link": "href", "source": "src", "iframe": "src"}


class Page(HTMLParser):
    """The links, loaded files and anchors of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a tag refers to."""
        values = {name: value for name, value in attrs if value}
        self.anchors.update(values[name] for name in ("id", "name") if name in values)
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if tag in LOADED and LOADED[tag] in values:
            self.loaded.append(values[LOADED[tag]])


@cache
def parsed(path: Path) -> Page:
    """A page, read once."""
    return Page(path)


def problems(site: Path) -> list[str]:
    """What is wrong with the pages under a folder, one line each."""
    lines = []
    for path in sorted(site.rglob("*.html")):
        name, page = path.relative_to(site), parsed(path)
        lines += [f"{name} loads {address}" for address in page.loaded if urlsplit(address).netloc]
        for address in (*page.links, *page.loaded):
            lines += [f"{name} refers to {address}, {reason}" for reason in _dead(site, path, address)]
    return lines


def _dead(site: Path, path: Path, address: str) -> list[str]:
    """Why an address on a page leads nowhere, if it is one of the site."""
    parts = urlsplit(address)
    if parts.scheme or parts.netloc:
        return []
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if not target.is_file() or not target.is_relative_to(site.resolve()):
        return ["which is not a file of the site"]
    if parts.fragment and target.suffix == ".html" and unquote(parts.fragment) not in parsed(target).anchors:
        return ["which has no such anchor"]
    return []


if __name__ == "__main__":
    lines = problems(Path(sys.argv[1]).resolve())
    sys.exit("\n".join(lines) or 0)
