"""Keys for the answers of one question without a table or a worker: the fast path of a vote on one question."""

from __future__ import annotations

import re
from collections.abc import Sequence

from steelyard.answers.grouping import symbolic_forms
from steelyard.answers.kind import Kind
from steelyard.answers.names_in_sentences import TEXT, is_sentence

_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,15}")
_CONTEXT_DEPENDENT = re.compile(r"%|[Pp]er ?cent|^[\s$]*+[-−]?\d++,\d++[\s$.]*+$")  # the other answers decide


def simple_keys(texts: Sequence[str], kind: Kind) -> list[str | None] | None:
    r"""Return the keys that `AnswerReader.keys` would give, or None if other answers or algebra decide.

    >>> from steelyard.answers.extract import kind_of
    >>> simple_keys(["7", "1/2", "0.5", "7.0"], kind_of("math")), simple_keys([r"\sqrt[3]{x}"], kind_of("math"))
    (['7', '1/2', '1/2', '7'], None)
    """
    if kind.name == TEXT and any(map(is_sentence, texts)):
        return None
    if not kind.maths:
        return [form if (form := kind.form(text)) or kind.blank else None for text in texts]
    if any(_CONTEXT_DEPENDENT.search(text) for text in texts):
        return None
    keys = [text if _INTEGER.fullmatch(text) else kind.form(text) or None for text in texts]
    return None if symbolic_forms(key for key in keys if key is not None) else keys
