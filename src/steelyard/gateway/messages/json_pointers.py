"""JSON pointers (RFC 6901): the parts of a structured output that are voted on."""

from __future__ import annotations

import re
from typing import Any

from steelyard.foundation.errors import SettingError

LONGEST = 500
MISSING = object()
_INDEX = re.compile(r"0|[1-9][0-9]{0,8}")


def check_pointer(given: Any) -> str:
    """Return a pointer that is one.

    >>> check_pointer("/answer/0")
    '/answer/0'
    """
    if not isinstance(given, str) or len(given) > LONGEST or (given and not given.startswith("/")):
        raise SettingError(f"{given!r:.60} is no JSON pointer: write it as /answer or /items/0/name")
    return given


def pointed(value: Any, pointer: str) -> Any:
    """What a pointer points at; MISSING where there is nothing.

    >>> pointed({"a": [5, {"b/c": 7}]}, "/a/1/b~1c"), pointed([1], "/3") is MISSING
    (7, True)
    """
    for part in pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict) and name in value:
            value = value[name]
        elif isinstance(value, list) and _INDEX.fullmatch(name) and int(name) < len(value):
            value = value[int(name)]
        else:
            return MISSING
    return value
