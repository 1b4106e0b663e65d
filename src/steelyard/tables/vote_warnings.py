"""Warnings, notes and errors of a vote: unused scores, several LLMs, an unsuitable plan, one response per question."""

from __future__ import annotations

import warnings

import polars as pl

from steelyard.foundation.arguments import argument
from steelyard.foundation.errors import SteelyardNote, SteelyardWarning, TableError
from steelyard.tables.score_columns import more_is_better, score_columns
from steelyard.tables.source_column import llm_column
from steelyard.tables.writing import VERDICTS
from steelyard.voting.methods.base.calibration_checks import listed
from steelyard.voting.methods.base.method import Method
from steelyard.voting.pools.origin import Origin
from steelyard.voting.pools.pool import Pool

NAMED = 4  # columns in a message
MOSTLY = 0.95  # share of questions in a question file that are unique; published sets may repeat some
OF_RESPONSES = {"response", "sample", "correct"}  # columns that no question file has


def check_several(voter: Method, origin: Origin) -> None:
    """Refuse a file with one response per question; with a plan only warn, as it still gives confidences."""
    if not origin.single:
        return
    if voter.fitted_on_ is None:
        raise TableError(origin.single)
    warnings.warn(origin.single, SteelyardWarning, stacklevel=3)


def note_few_questions(pool: Pool, enough: int, method: str) -> None:
    """Issue a note where sources have one vote each because there are too few questions to compare them on."""
    warnings.warn(
        f"{pool.n_questions} questions are too few to learn which of {len(pool.sources)} sources to trust, so each has "
        f"one vote; from {enough} questions on the default is {method}: use it here with {argument('method', method)}",
        SteelyardNote,
        stacklevel=4,
    )


def note_unweighed_scores(voter: Method, origin: Origin) -> None:
    """Issue a note on scores that the default vote does not use, and how to use them."""
    if not origin.score_columns:
        return
    columns = ", ".join(map(repr, origin.score_columns[:NAMED])) + (", .." if len(origin.score_columns) > NAMED else "")
    warnings.warn(
        f"this is a {voter.name} vote, which does not use the scores in {columns}: fit a plan on labelled responses "
        "('steelyard fit') and vote with it (--plan plan.json), or weight each response by its raw score (--method "
        f"vanilla --score {more_is_better(origin.score_columns[0])}); --method {voter.name} silences this note",
        SteelyardNote,
        stacklevel=3,
    )


def note_pooled_llms(voter: Method, origin: Origin) -> None:
    """Issue a note if responses of several LLMs vote together without weights per LLM."""
    if origin.llms and origin.source is None and voter.fitted_on_ is None:
        warnings.warn(
            f"the responses are of {listed(origin.llms)}, by the column {origin.llm_column!r}, and vote together: to "
            f"weight each LLM, by agreement with the others or by a plan, use --source {origin.llm_column}; or vote "
            "on the rows of one LLM",
            SteelyardNote,
            stacklevel=3,
        )


def warn_of_plan(voter: Method, origin: Origin, any_score: bool) -> None:
    """Warn if the responses are from another LLM than the plan's or from several, or if there are no scores."""
    fitted = voter.fitted_on_
    if voter.cascade_:
        _warn(
            "the plan has a cascade, but this vote counts every response in the table, as they are already paid for; "
            "'steelyard evaluate FILE --plan PLAN' measures the cascade"
        )
    if fitted and voter.reads_scores() and not any_score:
        _warn(
            f"every score {origin.score or fitted.score!r} is missing, but the plan needs it: all responses weigh the "
            "same, as in a majority vote; score them first ('steelyard score'), or name the column with the scores"
        )
    if not (fitted and voter.learns and fitted.llm):
        return
    if origin.llms:
        _warn(
            f"the plan was fitted on responses of {fitted.llm}, and these are of {listed(origin.llms)}, which vote "
            "together: its weights may be wrong; vote on the rows of one LLM"
        )
    elif origin.llm not in (None, fitted.llm):
        _warn(f"the plan was fitted on responses of {fitted.llm}, these are of {origin.llm}: its weights may be wrong")


def _warn(text: str) -> None:
    warnings.warn(text, SteelyardWarning, stacklevel=4)


def single_responses(schema: pl.Schema, single: float, name: str) -> str:
    """Return what is wrong with a table where this share of the questions has one response; empty if it is small."""
    questions_only = not (OF_RESPONSES & set(schema) or score_columns(schema) or llm_column(schema))
    if single < (MOSTLY if questions_only else 1.0):
        return ""
    if set(schema) >= VERDICTS.columns:
        fix = "these are the verdicts of a vote; 'steelyard compare A B --on LABELLED' compares two files of them"
    elif questions_only:
        fix = (
            "it looks like a question file, whose 'answer' is the correct answer and not a response; sample responses "
            "with 'steelyard generate FILE'"
        )
    else:
        fix = (
            "sample several responses per question; if several rows do answer one question, name the column they "
            f"share with {argument('rename', {'COLUMN': 'question'})}"
        )
    return f"{name}: every question has one response, so there is nothing to vote on: {fix}"
