"""The bold parts of a response in Markdown, in which most LLMs state their answer."""

from __future__ import annotations

MARKER = "**"


def bold_or_all(text: str) -> str:
    """Return the bold parts of a response, joined by spaces, else the whole response.

    >>> bold_or_all("In **1903** it was **Marie Curie**."), bold_or_all("**Answer:** Paris")
    ('1903 Marie Curie', '**Answer:** Paris')
    """
    return " ".join(bold_parts(text)) or text


def bold_parts(text: str) -> list[str]:
    """Return the texts between pairs of `**` that are neither labels, as in `**Answer:** 4`, nor surrounded by spaces.

    >>> bold_parts("**Winner**: **Marie Curie**"), bold_parts("2 ** 3 ** 4 and **kwargs")
    (['Marie Curie'], [])
    """
    pieces = text.split(MARKER)
    closed = zip(pieces[1:-1:2], pieces[2::2], strict=False)  # what follows the last marker is not closed
    return [part for part, after in closed if part.strip() == part != "" and not _is_label(part, after)]


def _is_label(part: str, after: str) -> bool:
    return part.endswith(":") or after.startswith(":")
