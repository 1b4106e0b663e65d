"""Bounds the number of values in a JSON text before any of them is built.

Python's objects take up to 24 times the memory of their JSON: 8 MB of `{},` are 200 MB. Outside of strings every value
but the first of a list or an object follows a comma, and every list or object has an opening bracket, so the
number of these three characters bounds the number of values.
"""

from __future__ import annotations

MAX_VALUES = 100_000  # at most 22 MB as Python objects, and far more than any chat request has

_STRUCTURAL = (b"{", b"[", b",")


def has_too_many_values(text: bytes, limit: int = MAX_VALUES) -> bool:
    """Whether a JSON text may contain more than `limit` values, not counting the contents of strings.

    >>> has_too_many_values(b'[{}, {}, {}]', limit=3), has_too_many_values(b'["a,b,c,{", "[,"]', limit=3)
    (True, False)
    """
    if _count_structural(text) <= limit:
        return False
    bare = text.replace(b"\\\\", b"").replace(b'\\"', b"")  # without escapes, quotes only begin and end strings
    if bare.count(b'"') > 4 * limit:  # each value has two quotes at most, and so has its name
        return True
    return _count_structural(b"".join(bare.split(b'"')[::2])) > limit


def _count_structural(text: bytes) -> int:
    return sum(text.count(character) for character in _STRUCTURAL)
