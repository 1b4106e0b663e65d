"""The sidebar of the site, taken from the index in docs/README.md, so that every page is listed once."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

ROOT = Path(__file__).parents[2]
SECTION = re.compile(r"^\*\*(?P<title>[^*\n]+)\*\*", re.MULTILINE)
PAGE = re.compile(r"\[(?P<title>[^\]]+)\]\((?P<path>[\w./-]+)\.md\)")
API = ("steelyard", "evaluation", "paper", "testing", "experimental", "errors")


def sections(index: str) -> dict[str, list[str]]:
    """The pages of each section of the index, relative to docs/.

    >>> sections("**Start**\\n\\n- [First](start.md): more.\\n\\n**Changes**: [all](../CHANGELOG.md).")
    {'Start': ['start'], 'Changes': ['../CHANGELOG']}
    """
    parts = SECTION.split(index)
    pages = ([path for _, path in PAGE.findall(text)] for text in parts[2::2])
    return dict(zip(parts[1::2], pages, strict=True))


def toctrees(index: str) -> str:
    """One hidden table of contents per section, for the home page."""
    blocks = ["```{toctree}\n:hidden:\n\ndocs/README\n```\n"]
    for title, pages in sections(index).items():
        names = [f"docs/{page}".replace("docs/../", "") for page in pages]
        if title == "Reference":
            names += [f"docs/site/api/{name}" for name in API]
        lines = "\n".join(name for name in names if name != "README")
        blocks.append(f"```{{toctree}}\n:hidden:\n:caption: {title}\n\n{lines}\n```\n")
    return "\n".join(blocks)


def add_toctrees(app: Sphinx, docname: str, source: list[str]) -> None:
    """Put the contents of the site under the home page."""
    if docname == app.config.root_doc:
        source[0] += "\n" + toctrees((ROOT / "docs" / "README.md").read_text())


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension."""
    app.connect("source-read", add_toctrees)
    return {"parallel_read_safe": True}
