"""Whether a regular expression can be made to go back over the same characters again and again.

Backtracking costs more than linear time where two unbounded repeats that are not possessive can share characters and
only optional things stand between them (\\s*[:*]*\\s*), or where such a repeat is repeated itself.
"""

from __future__ import annotations

import re
from typing import Any

MANY = 500  # repeats up to this number count as bounded
ALPHABET = [chr(i) for i in range(128)]


def ambiguous(pattern: re.Pattern[str]) -> str | None:
    """The first place of a pattern that can take more than linear time, in words; None if there is none.

    >>> ambiguous(re.compile(r"a\\s*b?\\s*c")), ambiguous(re.compile(r"a\\s*+b?\\s*+c"))
    ('two repeats share characters', None)
    """
    tree: Any = re._parser.parse(pattern.pattern, pattern.flags)  # type: ignore[attr-defined]
    return _in_sequence(list(tree), pattern.flags)


def _in_sequence(grouped: list[Any], flags: int) -> str | None:
    items = _flat(grouped)
    for i, item in enumerate(items):
        for body in _bodies(item):
            looped = list(body) + (list(body) if _unbounded(item) else [])
            if found := _in_sequence(looped, flags):
                return found
        if not _unbounded(item):
            continue
        first = _letters([item], flags)
        for later in items[i + 1 :]:
            if _repeats(later) and first & _letters([later], flags):
                return "two repeats share characters"
            if not _nullable(later):
                break
    return None


def _flat(items: list[Any]) -> list[Any]:
    """The items without the groups around them."""
    parts = [_flat(list(_bodies(item)[0])) if _kind(item) == "SUBPATTERN" else [item] for item in items]
    return [item for part in parts for item in part]


def _kind(item: Any) -> str:
    return str(item[0])


def _bodies(item: Any) -> list[Any]:
    kind, value = _kind(item), item[1]
    if kind in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        return [value[2]]
    if kind == "SUBPATTERN":
        return [value[3]]
    if kind == "BRANCH":
        return list(value[1])
    if kind in ("ASSERT", "ASSERT_NOT"):
        return [value[1]]
    return [value] if kind == "ATOMIC_GROUP" else []


def _repeats(item: Any) -> bool:
    return "REPEAT" in _kind(item) and item[1][1] > MANY


def _unbounded(item: Any) -> bool:
    return _kind(item) in ("MAX_REPEAT", "MIN_REPEAT") and item[1][1] > MANY


def _nullable(item: Any) -> bool:
    kind = _kind(item)
    if "REPEAT" in kind:
        return bool(item[1][0] == 0) or all(map(_nullable, item[1][2]))
    if kind in ("ASSERT", "ASSERT_NOT", "AT"):
        return True
    if kind == "BRANCH":
        return any(all(map(_nullable, body)) for body in item[1][1])
    return kind in ("SUBPATTERN", "ATOMIC_GROUP") and all(map(_nullable, _bodies(item)[0]))


def _letters(items: list[Any], flags: int) -> set[str]:
    """The ASCII characters that a sequence may begin with."""
    letters: set[str] = set()
    for item in items:
        kind = _kind(item)
        if kind in ("LITERAL", "NOT_LITERAL", "IN", "ANY"):
            one = re._compiler.compile(_pattern(item, flags), flags)  # type: ignore[attr-defined]
            letters |= {char for char in ALPHABET if one.fullmatch(char)}
        else:
            for body in _bodies(item):
                letters |= _letters(list(body), flags) if kind not in ("ASSERT", "ASSERT_NOT") else set()
        if not _nullable(item):
            break
    return letters


def _pattern(item: Any, flags: int) -> Any:
    tree = re._parser.parse("", flags)  # type: ignore[attr-defined]
    tree.append(item)
    return tree
