"""Scores that need no verifier, computed from a column of the table: one idea per file, all of them by name here."""

from steelyard.tables.computed import length, token_scores
from steelyard.tables.computed.computed_score import ComputedScore

__all__ = ["COMPUTED", "ComputedScore"]

MODULES = (length, token_scores)
COMPUTED: dict[str, ComputedScore] = {score.name: score for module in MODULES for score in module.SCORES}
