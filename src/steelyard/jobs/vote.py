"""A plan and a file -> verdicts, in bounded memory: a batch of questions is read, decided, dropped."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from steelyard.confidence.drift import shift, some_evidence
from steelyard.confidence.risk_control import Promise
from steelyard.errors import ColumnError, PlanError, SettingError, SteelyardWarning
from steelyard.methods import method_class
from steelyard.methods.base.method import Method
from steelyard.tables import pools_of
from steelyard.tables.reading import named
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


@dataclass
class Decided:
    """What was decided a batch at a time, the most samples a question had, and the evidence in their scores."""

    verdicts: list[pl.DataFrame] = field(default_factory=list)
    largest: int = 0
    evidence: list[NDArray[np.float64]] = field(default_factory=list)


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
    options: dict[str, Any] = {"rename": rename, "answers": answers, "need_score": voter.scored, "labels": False}
    options["progress"] = progress
    try:
        decided = _decided(voter, source, n, score=score or trained, **options)
    except ColumnError as error:
        if not trained or score:
            raise
        if voter.scored:
            your = "columns to its" if "+" in trained else "column to it"
            raise ColumnError(f"{error}. The plan was fitted on {trained!r}: rename your {your}") from None
        decided = _decided(voter, source, n, score=None, **options)  # it would only have broken ties
    if voter.learns and fitted and decided.largest != fitted.n:
        warnings.warn(
            f"the plan was fitted at {fitted.n} samples a question, this vote is over up to {decided.largest}: "
            f"fit with --n {decided.largest} for the best offset",
            SteelyardWarning,
            stacklevel=2,
        )
    moved = shift(fitted.evidence, np.concatenate(decided.evidence)) if fitted and decided.evidence else None
    if moved and moved.warning:
        warnings.warn(moved.warning, SteelyardWarning, stacklevel=2)
    return pl.concat(decided.verdicts)


def _decided(voter: Method, source: Any, n: int | None, **options: Any) -> Decided:
    """Vote on the questions of a table, each once."""
    fitted = voter.fitted_on_
    found = Decided()
    with named(source), closing(pools_of(source, **options)) as pools:
        for pool in pools:
            used = pool if n is None else pool.first(n)
            found.largest = max(found.largest, used.n)
            if fitted and fitted.evidence and pool.scores is not None:
                found.evidence.append(some_evidence(voter.mixed(used)))
            found.verdicts.append(voter.predict(used).to_polars())
    return found


def promised(voter: Method, risk: float, sure: float) -> Promise:
    """Return from which confidence on a plan's verdicts keep their error within `risk`."""
    from steelyard.methods.calibrated import CalibratedVote

    if not isinstance(voter, CalibratedVote):
        raise SettingError(
            f"{voter.name} has no confidence to promise by: fit a plan with --method calibrated --reserve 0.5"
        )
    return voter.promise(risk, sure)


def abstaining(verdicts: pl.DataFrame, threshold: float) -> pl.DataFrame:
    """Take the answer away where the confidence is too low; the column `answered` says where it stands."""
    answered = (pl.col("confidence") >= threshold) & pl.col("answer").is_not_null()
    return verdicts.with_columns(answer=pl.when(answered).then("answer"), answered=answered)
