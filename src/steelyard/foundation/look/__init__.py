"""The common style sheet and script of all pages; each page adds its own."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from pathlib import Path

HERE = Path(__file__).parent


def style(*extra: Path) -> str:
    """Return the common style sheet followed by those of one page."""
    return "".join(file.read_text(encoding="utf-8") for file in (HERE / "look.css", *extra))


def script(*extra: Path) -> str:
    """Return the common script followed by those of one page, wrapped so that no global names remain."""
    parts = "\n".join(file.read_text(encoding="utf-8") for file in (HERE / "look.js", *extra))
    return f'(() => {{\n"use strict";\n{parts}}})();'


def allowed(*contents: str) -> str:
    """Return the Content-Security-Policy sources for these scripts or style sheets, so that injected ones are blocked.

    >>> allowed("")
    "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
    """
    return " ".join(f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" for text in contents)
