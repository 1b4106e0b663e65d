"""docs/benchmarks.md by its sections: what stands before the first is of `make bench`, each has its own command."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parent.parent / "docs" / "benchmarks.md"


def with_head(page: str, head: str) -> str:
    """The page with another part before its sections."""
    return head.rstrip("\n") + "\n" + "".join(_parts(page)[1:])


def with_section(page: str, title: str, text: str) -> str:
    r"""The page with another text under a title; a new title comes last.

    >>> with_section("# Page\n\n## A\n\nold\n\n## B\n\nb\n", "A", "new")
    '# Page\n\n## A\n\nnew\n\n## B\n\nb\n'
    """
    made = f"\n## {title}\n\n{text.strip()}\n"
    parts = _parts(page)
    if not any(part.startswith(f"\n## {title}\n") for part in parts):
        parts.append(made)
    return "".join(made if part.startswith(f"\n## {title}\n") else part for part in parts)


def _parts(page: str) -> list[str]:
    return re.split(r"(?=\n## )", page)
