"""The README of the archives: its links lead to the repository, because its pages and pictures are not in them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")
COMPLETE = re.compile(r"[a-z]+:|#")


class ReadmeHook(MetadataHookInterface):
    """Sets the readme of the project."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Make the links of README.md complete."""
        text = (Path(self.root) / "README.md").read_text()
        content = with_complete_links(text, metadata["urls"]["Repository"], f"v{metadata['version']}")
        metadata["readme"] = {"content-type": "text/markdown", "text": content}


def with_complete_links(text: str, repository: str, tag: str) -> str:
    """Make every link to a file lead to that file in the repository, at the tag of a version.

    >>> with_complete_links("![A chart](docs/a.svg) of [a page](docs/a.md#b).", "https://host/us/it", "v1.0")
    '![A chart](https://host/us/it/raw/v1.0/docs/a.svg) of [a page](https://host/us/it/blob/v1.0/docs/a.md#b).'
    """

    def complete(link: re.Match[str]) -> str:
        image, title, target = link.groups()
        if COMPLETE.match(target):
            return link[0]
        return f"{image}[{title}]({repository}/{'raw' if image else 'blob'}/{tag}/{target})"

    return LINK.sub(complete, text)
