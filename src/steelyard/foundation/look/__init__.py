"""The one look of all pages: a style sheet and a script, which each page adds its own parts to."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from pathlib import Path

HERE = Path(__file__).parent


def style(*own: Path) -> str:
    """The style sheet, and after it those of one page."""
    return "".join(file.read_text(encoding="utf-8") for file in (HERE / "look.css", *own))


def script(*own: Path) -> str:
    """The script, and after it those of one page, as one that leaves no name behind."""
    parts = "\n".join(file.read_text(encoding="utf-8") for file in (HERE / "look.js", *own))
    return f'(() => {{\n"use strict";\n{parts}}})();'


def allowed(*contents: str) -> str:
    """What a page's policy allows: these scripts or sheets, and nothing that a text might smuggle in.

    >>> allowed("")
    "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
    """
    return " ".join(f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" for text in contents)
