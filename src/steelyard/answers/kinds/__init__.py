"""The kinds of answers, one per file; the file name is the name users type. `re:PATTERN` is in ../extract.py.

A new kind is one file with a `KIND`.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from steelyard.answers.kind import Kind
from steelyard.foundation.registry import Registry


@cache
def registry() -> Registry[Kind]:
    """All kinds by name."""

    def pick(module: object) -> Kind:
        kind: Kind = vars(module)["KIND"]
        return kind

    return Registry("kind of answer", __name__, Path(__file__).parent, pick)
