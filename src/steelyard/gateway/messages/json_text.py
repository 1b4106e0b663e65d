"""JSON that every client can read: what an upstream wrote as NaN or Infinity is null."""

from __future__ import annotations

import json
import math
from typing import Any

_ENCODER = json.JSONEncoder(allow_nan=False)


def json_bytes(content: Any) -> bytes:
    """The JSON of a reply.

    >>> json_bytes({"logprob": float("-inf"), "rest": [1.5, float("nan")]})
    b'{"logprob": null, "rest": [1.5, null]}'
    """
    try:
        return _ENCODER.encode(content).encode()
    except ValueError:
        return _ENCODER.encode(_finite(content)).encode()


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


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
