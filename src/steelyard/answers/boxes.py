r"""The content of a \boxed{..}: the last closed one that holds something."""

from __future__ import annotations

import re

MOST_BRACES = 4000  # the longest boxed answer
MOST_BOXES = 4  # boxes looked at, from the end
_BRACE = re.compile(r"[{}]")


def boxed(text: str) -> str | None:
    r"""The content of the last closed box; one that is never closed was cut off and is passed over.

    >>> boxed(r"\boxed{3}, so \boxed{\frac{1}{2}}, \boxed{}"), boxed(r"\boxed{3}, then \boxed{\frac{1}{")
    ('\\frac{1}{2}', '3')
    """
    return last_box(text)[1]


def last_box(text: str) -> tuple[int, str | None]:
    """Where the last box stands, and its content; (-1, None) if there is none."""
    end = len(text)
    for _ in range(MOST_BOXES):
        start = text.rfind("\\boxed", 0, end)
        start = max(start, text.rfind("\\fbox", max(0, start), end))
        if start < 0:
            break
        content = _braced(text, start)
        if content is not None and content.strip():
            return start, content
        end = start
    return -1, None


def _braced(text: str, start: int) -> str | None:
    brace = text.find("{", start, start + 12)
    if brace < 0:
        word = text[start + 6 : start + 30].split(maxsplit=1)  # \boxed 5
        return word[0].strip("$.,*") if word and text[start : start + 7] == "\\boxed " else None
    closing = text.find("}", brace, brace + MOST_BRACES)
    if text.find("{", brace + 1, closing) < 0 <= closing:
        return text[brace + 1 : closing]
    depth = 0
    for found in _BRACE.finditer(text, brace, brace + MOST_BRACES):
        depth += 1 if found[0] == "{" else -1
        if depth == 0:
            return text[brace + 1 : found.start()]
    return None
