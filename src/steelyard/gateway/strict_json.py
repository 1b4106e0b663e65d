"""JSON as every client reads it: what an upstream sent as NaN or Infinity, which are no JSON, is null."""

from __future__ import annotations

import json
import math
from typing import Any


def dumped(content: Any) -> bytes:
    """Write an object.

    >>> dumped({"logprob": float("-inf"), "more": [1.5, float("nan")]})
    b'{"logprob": null, "more": [1.5, null]}'
    """
    try:
        return json.dumps(content, allow_nan=False).encode()
    except ValueError:
        return json.dumps(_finite(content), allow_nan=False).encode()


def is_strict(data: bytes) -> bool:
    """Whether bytes that Python reads as JSON are so for everybody: UTF-8 without a name that stands for a number.

    >>> is_strict(b'{"a": 1}'), is_strict(b'{"a": NaN}'), is_strict(b'"\\xed\\xa0\\x80"')
    (True, False, False)
    """
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return b"NaN" not in data and b"Infinity" not in data


def _finite(content: Any) -> Any:
    if isinstance(content, float):
        return content if math.isfinite(content) else None
    if isinstance(content, dict):
        return {name: _finite(value) for name, value in content.items()}
    return [_finite(value) for value in content] if isinstance(content, list | tuple) else content
