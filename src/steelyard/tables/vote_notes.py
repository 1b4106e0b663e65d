"""Notes and errors of a vote on a file: unused scores, several LLMs, one response per question."""

from __future__ import annotations

import warnings

from steelyard.foundation.errors import SteelyardNote, SteelyardWarning, TableError
from steelyard.tables.columns import more_is_better
from steelyard.voting.methods.base.enough import listed
from steelyard.voting.methods.base.method import Method
from steelyard.voting.pools.pool import Origin

NAMED = 4  # columns in a message


def check_several(voter: Method, origin: Origin) -> None:
    """Refuse a file with one response per question; with a plan only warn, as it still gives confidences."""
    if not origin.single:
        return
    if voter.fitted_on_ is None:
        raise TableError(origin.single)
    warnings.warn(origin.single, SteelyardWarning, stacklevel=3)


def note_unweighed_scores(origin: Origin) -> None:
    """Issue a note on scores that the default majority vote does not use, and how to use them."""
    if not origin.score_columns:
        return
    columns = ", ".join(map(repr, origin.score_columns[:NAMED])) + (", .." if len(origin.score_columns) > NAMED else "")
    warnings.warn(
        f"this is a majority vote, which does not use the scores in {columns}: fit a plan on labelled responses "
        "('steelyard fit') and vote with it (--plan plan.json), or weight each response by its raw score (--method "
        f"vanilla --score {more_is_better(origin.score_columns[0])}); --method majority silences this note",
        SteelyardNote,
        stacklevel=3,
    )


def note_pooled_llms(voter: Method, origin: Origin) -> None:
    """Issue a note if responses of several LLMs vote together without weights per LLM."""
    if origin.llms and origin.source is None and voter.fitted_on_ is None:
        warnings.warn(
            f"the responses are of {listed(origin.llms)}, by the column {origin.llm_column!r}, and vote together: to "
            f"weight each LLM, use --source {origin.llm_column} with a plan or with --method consensus; or vote on the "
            "rows of one LLM",
            SteelyardNote,
            stacklevel=3,
        )
