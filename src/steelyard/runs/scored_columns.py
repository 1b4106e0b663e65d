"""The columns of a table that say which responses a verifier was asked to score (on_demand_records.py)."""

from __future__ import annotations

SUFFIX = ":scored"


def scored_column(verifier: str) -> str:
    """Return the column that says which responses a verifier was asked to score.

    >>> scored_column("prm")
    'prm:scored'
    """
    return verifier + SUFFIX


def is_scored_column(name: str) -> bool:
    """Whether a column says which responses a verifier was asked to score."""
    return name.endswith(SUFFIX)
