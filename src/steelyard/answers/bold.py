"""The bold parts of a response in Markdown, in which most LLMs state their answer."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TypeVar

MARKER = "**"
T = TypeVar("T")


def stated(text: str, read: Callable[[str], list[T]], ignored: Collection[T]) -> list[T]:
    """Return what `read` finds in the bold parts, without what is ignored, such as the words of the prompt.

    If nothing of the bold parts remains, all of the text counts; if nothing of the text remains, nothing is ignored.

    >>> stated("Oslo, since **1814**", str.split, ["Oslo,"]), stated("Oslo since 1814", str.split, ["Oslo"])
    (['1814'], ['since', '1814'])
    >>> stated("**Norway** has Oslo", str.split, ["Norway"]), stated("Norway", str.split, ["Norway"])
    (['Norway', '**Norway**', 'has', 'Oslo'], ['Norway'])
    """
    bold = read(" ".join(bold_parts(text)))
    new = [item for item in bold if item not in ignored]
    if new:
        return new
    everything = read(text)
    return [*bold, *(item for item in everything if item not in ignored)] or everything


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
