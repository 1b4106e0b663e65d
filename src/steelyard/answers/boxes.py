r"""Find the last closed, non-empty \boxed{..}."""

from __future__ import annotations

import re

MAX_BRACES = 4000  # the longest boxed answer
MAX_BOXES = 4  # boxes tried, from the end
_BRACE = re.compile(r"[{}]")


def boxed(text: str) -> str | None:
    r"""Return the content of the last closed box; a box that is never closed was cut off and is skipped.

    >>> boxed(r"\boxed{3}, so \boxed{\frac{1}{2}}, \boxed{}"), boxed(r"\boxed{3}, then \boxed{\frac{1}{")
    ('\\frac{1}{2}', '3')
    """
    return last_box(text)[1]


def last_box(text: str) -> tuple[int, str | None]:
    """Return the position and content of the last box, or (-1, None)."""
    end = len(text)
    for _ in range(MAX_BOXES):
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
    closing = text.find("}", brace, brace + MAX_BRACES)
    if text.find("{", brace + 1, closing) < 0 <= closing:
        return text[brace + 1 : closing]
    depth = 0
    for match in _BRACE.finditer(text, brace, brace + MAX_BRACES):
        depth += 1 if match[0] == "{" else -1
        if depth == 0:
            return text[brace + 1 : match.start()]
    return None
