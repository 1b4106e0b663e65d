"""A plan and a file -> verdicts, in bounded memory: a batch of questions is read, decided, dropped."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from steelyard.confidence.drift import score_drift, some_question_means
from steelyard.errors import ColumnError, PlanError, SettingError, SteelyardWarning
from steelyard.methods import method_class
from steelyard.methods.base.method import Method
from steelyard.pools.pool import Pool
from steelyard.tables import each_pool
from steelyard.tables.score_parts import same_scores


def unfitted(name: str) -> Method:
    """Return a method that can vote without a plan."""
    voter = method_class(name)()
    if voter.learns or voter.oracle:
        raise SettingError(f"{name} cannot vote without a plan: make one with 'steelyard fit', or use majority")
    return voter


def _fix(score: str, trained: str) -> str:
    """What to do about a plan for another score."""
    if "+" in trained or "+" in score or "*" in score:
        return f"vote without --score to use the plan's, or fit a plan for {score!r}"
    return f"rename the column ({score}={trained}) if it is the same verifier's, else fit a plan for {score!r}"


def decide_file(
    voter: Method,
    source: Any,
    *,
    score: str | None = None,
    n: int | None = None,
    rename: dict[str, str] | None = None,
    answers: str = "math",
    progress: Callable[[float], None] | None = None,
) -> pl.DataFrame:
    """Return one row a question, decided by a fitted method on the score it was fitted on."""
    fitted = voter.fitted_on_
    trained = fitted.score if fitted else None
    if voter.scored and score and trained and not same_scores(score, trained):
        raise PlanError(f"the plan was fitted on the score {trained!r}, not on {score!r}: {_fix(score, trained)}")
    largest = 0
    question_means: list[NDArray[np.float64]] = []

    def decide(pool: Pool) -> pl.DataFrame:
        nonlocal largest
        used = pool if n is None else pool.first(n)
        largest = max(largest, used.n)
        if fitted and fitted.reference_scores and pool.scores is not None:
            question_means.append(some_question_means(voter.mixed(used)))
        return voter.predict(used).to_polars()

    options: dict[str, Any] = {"rename": rename, "answers": answers, "need_score": voter.scored, "labels": False}
    options["progress"] = progress
    try:
        parts = each_pool(source, decide, score=score or trained, **options)
    except ColumnError as error:
        if not trained or score:
            raise
        if voter.scored:
            your = "columns to its" if "+" in trained else "column to it"
            raise ColumnError(f"{error}. The plan was fitted on {trained!r}: rename your {your}") from None
        parts = each_pool(source, decide, score=None, **options)  # it would only have broken ties
    if voter.learns and fitted and largest != fitted.n:
        warnings.warn(
            f"the plan was fitted at {fitted.n} samples a question, this vote is over up to {largest}: "
            f"fit with --n {largest} for the best offset",
            SteelyardWarning,
            stacklevel=2,
        )
    moved = score_drift(fitted.reference_scores, np.concatenate(question_means)) if fitted and question_means else None
    if moved and moved.warning:
        warnings.warn(moved.warning, SteelyardWarning, stacklevel=2)
    return pl.concat(parts)


def abstaining(verdicts: pl.DataFrame, threshold: float) -> pl.DataFrame:
    """Take the answer away where the confidence is too low; the column `answered` says where it stands."""
    answered = (pl.col("confidence") >= threshold) & pl.col("answer").is_not_null()
    return verdicts.with_columns(answer=pl.when(answered).then("answer"), answered=answered)
