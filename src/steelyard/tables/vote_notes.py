"""What a vote on a file may leave out or mix up: unweighed scores, several LLMs, one response per question."""

from __future__ import annotations

import warnings

from steelyard.foundation.errors import SteelyardNote, SteelyardWarning, TableError
from steelyard.tables.columns import more_is_better
from steelyard.voting.methods.base.enough import listed
from steelyard.voting.methods.base.method import Method
from steelyard.voting.pools.pool import Origin

NAMED = 4  # columns in a message


def check_several(voter: Method, origin: Origin) -> None:
    """Refuse a file with one response per question; a plan can still say how confident one is by its score."""
    if not origin.single:
        return
    if voter.fitted_on_ is None:
        raise TableError(origin.single)
    warnings.warn(origin.single, SteelyardWarning, stacklevel=3)


def note_unweighed_scores(origin: Origin) -> None:
    """Name the scores of a file that a majority vote by default does not weigh, and how to weigh them."""
    if not origin.score_columns:
        return
    columns = ", ".join(map(repr, origin.score_columns[:NAMED])) + (", .." if len(origin.score_columns) > NAMED else "")
    warnings.warn(
        f"this is a majority vote, and the scores in {columns} are not weighed: fit a plan on labelled responses "
        "('steelyard fit') and vote by it (--plan plan.json), or weigh each response by its raw score (--method "
        f"vanilla --score {more_is_better(origin.score_columns[0])}); --method majority leaves this note out",
        SteelyardNote,
        stacklevel=3,
    )


def note_pooled_llms(voter: Method, origin: Origin) -> None:
    """Say that the responses of several LLMs vote together, unless the vote weighs them by who answered."""
    if origin.llms and origin.source is None and voter.fitted_on_ is None:
        warnings.warn(
            f"the responses are of {listed(origin.llms)}, by the column {origin.llm_column!r}, and vote together: to "
            f"weigh each LLM, use --source {origin.llm_column} with a plan or with --method consensus; or vote on the "
            "rows of one LLM",
            SteelyardNote,
            stacklevel=3,
        )
