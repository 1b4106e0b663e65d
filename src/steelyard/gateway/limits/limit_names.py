"""What upstreams call a limit on the tokens of a response; some know only the older name, some only the newer."""

from __future__ import annotations

NAMES = ("max_tokens", "max_completion_tokens")


def other_name(name: str, refusal: str) -> str | None:
    """The other name, where the words with which a request was refused speak of it.

    >>> other_name("max_tokens", "HTTP 400: 'max_tokens' is not supported, use 'max_completion_tokens' instead")
    'max_completion_tokens'
    """
    other = NAMES[1 - NAMES.index(name)]
    return other if other in refusal else None
