"""How a response is split into steps. The name of the split is recorded with every score.

- blank-lines   at every blank line; empty pieces are dropped
- newlines      at every newline; a blank line is a step with its own score
- merge-blank   at every newline; blank lines are dropped
- ki            at every "ки" that ends a line, as the responses of Math-Shepherd's LLM mark their steps
- whole         the response is one step
"""

from __future__ import annotations

from collections.abc import Callable

from steelyard.foundation.errors import SettingError, did_you_mean


def _filled(pieces: list[str]) -> list[str]:
    return [piece for piece in pieces if piece.strip()]


SPLITS: dict[str, Callable[[str], list[str]]] = {
    "blank-lines": lambda text: _filled(text.split("\n\n")),
    "newlines": lambda text: text.split("\n"),
    "merge-blank": lambda text: _filled(text.split("\n")),
    "ki": lambda text: _filled([piece.strip().removesuffix("ки").strip() for piece in text.split("ки\n")]),
    "whole": lambda text: [text],
}


def split(response: str, how: str) -> list[str]:
    r"""The steps of a response. A response without text has none. Windows line ends are read as newlines.

    >>> split("First.\n\nThen,\nso.\n\n\n\nEnd.", "blank-lines")
    ['First.', 'Then,\nso.', 'End.']
    >>> split("a\n\nb", "newlines"), split("a\n\nb", "merge-blank")
    (['a', '', 'b'], ['a', 'b'])
    >>> split("Step 1: a ки\nStep 2: b ки", "ki")
    ['Step 1: a', 'Step 2: b']
    """
    if not response.strip():
        return []
    return SPLITS[known_split(how)](response.replace("\r\n", "\n"))


def known_split(how: str) -> str:
    """The name of a split, or an error that lists them."""
    if how not in SPLITS:
        raise SettingError(f"unknown split {how!r}: {did_you_mean(how, SPLITS)}")
    return how
