"""How many values a JSON text holds, bounded before any of them is built.

Python's objects take up to 24 times the memory of their JSON: 8 MB of `{},` are 200 MB. Outside of strings every value
but the first of a list or an object follows a comma, and every list or object has an opening bracket, so that these
three signs bound the number of values.
"""

from __future__ import annotations

MOST_VALUES = 100_000  # 22 MB at most as objects of Python, and far more than any chat request has

_SIGNS = (b"{", b"[", b",")


def has_too_many_values(text: bytes, limit: int = MOST_VALUES) -> bool:
    """Whether a JSON text may hold more than `limit` values; what stands in strings does not count.

    >>> has_too_many_values(b'[{}, {}, {}]', limit=3), has_too_many_values(b'["a,b,c,{", "[,"]', limit=3)
    (True, False)
    """
    if _signs(text) <= limit:
        return False
    bare = text.replace(b"\\\\", b"").replace(b'\\"', b"")  # without escapes, quotes only begin and end strings
    if bare.count(b'"') > 4 * limit:  # each value has two quotes at most, and so has its name
        return True
    return _signs(b"".join(bare.split(b'"')[::2])) > limit


def _signs(text: bytes) -> int:
    return sum(text.count(sign) for sign in _SIGNS)
