"""Judgements as runs and tables store them: of a response, the probability of the same meaning per other response.

{"bdff8c417ab50e95e95cce16035a3799": 0.97}

The other response is named by a hash of its text, so that judgements do not depend on the order or number of rows.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from steelyard.foundation.errors import TableError

KEY = 32  # hexadecimal digits


def text_key(text: str) -> str:
    """Return the key of a response in the judgements of others.

    >>> text_key("Paris.")
    'bdff8c417ab50e95e95cce16035a3799'
    """
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:KEY]


def parse_judgements(text: str | None) -> Mapping[str, float]:
    """Parse the judgements of a response; raises a TableError if the text has no such form.

    >>> parse_judgements('{"0123": 0.75}'), parse_judgements(None)
    ({'0123': 0.75}, {})
    """
    if text is None:
        return {}
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if not is_judgements(value):
        raise TableError(
            f"{text!r:.60} is not a JSON object of probabilities by response: name a column that 'steelyard score "
            "--verifier same-meaning' has made"
        )
    return dict(value)


def is_judgements(value: Any) -> bool:
    """Return whether a value is an object with probabilities."""
    return isinstance(value, dict) and all(type(p) in (int, float) and 0 <= p <= 1 for p in value.values())
