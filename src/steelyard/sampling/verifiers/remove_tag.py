"""Take a tag out of a text for good."""

from __future__ import annotations


def without(text: str, tag: str) -> str:
    """Remove a tag, and the tags that removing it would put together, in linear time.

    >>> without("a ки b ккии c", "ки")
    'a  b  c'
    """
    text = text.replace(tag, "")
    if tag not in text:
        return text
    kept: list[str] = []
    for char in text:
        kept.append(char)
        if "".join(kept[-len(tag) :]) == tag:
            del kept[-len(tag) :]
    return "".join(kept)
