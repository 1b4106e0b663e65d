"""Scoring on demand: the plan and rule that choose which responses a verifier scores, and the rounds they go in."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from steelyard.answers.extract import AUTO, kind_of
from steelyard.foundation.arguments import argument
from steelyard.foundation.errors import PlanError, SettingError, did_you_mean
from steelyard.runs.on_demand_records import BEGINS
from steelyard.tables.plan_reading import answers_of_plan
from steelyard.tables.score_spelling import REDUCERS, Score, parse_score, split_scores
from steelyard.voting.methods import load
from steelyard.voting.methods.base.method import Method
from steelyard.voting.on_demand import asking_names, asking_rule
from steelyard.voting.on_demand.base_rule import AskingRule
from steelyard.voting.pools.arrays import Bools, Floats
from steelyard.voting.pools.pool import LabelledPool, Pool

ANY = "auto"  # expected where the plan has learned it, else exact


@dataclass(frozen=True)
class Frugal:
    """A checked plan and rule for one column of scores."""

    voter: Method
    rule: AskingRule
    score: Score
    plan: str
    answers: str = AUTO

    @property
    def note(self) -> dict[str, Any]:
        """Its record in the journal."""
        return {
            "kind": "note",
            "about": BEGINS,
            "column": self.score.column,
            "rule": self.rule.name,
            "plan": self.plan,
            "plan_sha256": fingerprint(self.voter),
            "answers": self.answers,
        }

    def values(self, steps: list[list[float]]) -> list[float]:
        """The scores of some lists of steps, as the plan reads them; NaN if there is none."""
        table = pl.DataFrame({self.score.column: steps}, schema={self.score.column: pl.List(pl.Float64)})
        return table.select(self.score.expression().fill_null(float("nan")))["score"].to_list()


def frugal_rule(
    frugal: str | bool | None,
    plan: Method | str | Path | None,
    column: str,
    answers: str = AUTO,
    *,
    by_source: bool = False,
) -> Frugal | None:
    """Check plan and rule before anything is opened; None if everything is scored.

    `by_source`: the source of each response will be known, so a committee that has learned what to score may decide.
    """
    if frugal is None or frugal is False:
        if plan is not None:
            add, omit = argument("frugal", True), argument("plan")
            raise SettingError(f"a plan is for scoring on demand: add {add}, or omit {omit}")
        return None
    names = (ANY, *asking_names())
    if frugal is not True and frugal not in names:
        raise SettingError(f"unknown --frugal rule {frugal!r}: {did_you_mean(str(frugal), names[1:])}")
    if plan is None:
        raise SettingError(
            f"--frugal needs a plan: name one with --plan, made by 'steelyard fit FILE --score {column} -o plan.json'"
        )
    voter, name = (plan, "a fitted method") if isinstance(plan, Method) else (load(plan), str(plan))
    score = _checked(voter, name, column, by_source=by_source)
    if frugal is True or frugal == ANY:
        frugal = voter.asking_.rule if voter.asking_ is not None else "exact"
    rule = asking_rule(frugal)
    try:
        rule.check(voter)
    except SettingError as error:
        raise SettingError(f"{name}: {error}") from None
    kind = answers_of_plan(voter, answers)
    if kind != AUTO and kind_of(kind).similarity is not None:
        raise SettingError(
            f"{name}: scoring on demand compares equal answers, and these are free text: leave out --frugal"
        )
    return Frugal(voter, rule, score, name, kind)


def _checked(voter: Method, name: str, column: str, *, by_source: bool) -> Score:
    """The score of a plan, which must be of this column; refuse a plan that cannot choose what to score."""
    if voter.oracle:
        raise PlanError(f"{name} is for {voter.name}, an oracle that reads the correct answers: use another plan")
    if not voter.reads_scores():
        raise PlanError(f"{name} is for {voter.name}, which uses no scores: leave out --frugal and the verifier")
    if voter.weighs_sources and not (by_source and voter.asking_ is not None):
        raise PlanError(f"{name} is for {voter.name}, which weighs sources: score everything, without --frugal")
    if voter.learns and voter.fitted_on_ is None:
        raise PlanError(f"{name} is not fitted: fit it on labelled responses with the score {column!r}")
    return score_of_plan(voter, name, column)


def score_of_plan(voter: Method, name: str, column: str) -> Score:
    """The score of a plan, which must be of the steps of this column; refuse a plan for another."""
    fitted = voter.fitted_on_.score if voter.fitted_on_ else None
    if fitted is None:
        return Score(column, "last")
    score = parse_score(fitted)
    if len(split_scores(fitted)) > 1 or score is None:
        raise PlanError(
            f"{name} uses several scores, {fitted!r}, but a verifier gives only one: fit a plan with --score {column}"
        )
    if score.column != column:
        raise PlanError(
            f"{name} uses the score {fitted!r}, but these scores are {column!r}: if the verifier is the same, "
            f"name them so (--as {score.column}), else fit a plan with --score {column}"
        )
    if score.reducer not in REDUCERS:
        raise PlanError(
            f"{name} uses {fitted!r}, one number per response, but a verifier scores steps, from which a vote "
            f"takes {column}:last: fit a plan on a run that it scored, or on a column of lists"
        )
    return score


def fingerprint(voter: Method) -> str:
    """A hash of what a plan has learned, independent of its file."""
    asking = voter.asking_.plain() if voter.asking_ else None
    content = [voter.name, voter.settings(), voter.learned(), asking]
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=_listed).encode()).hexdigest()


def _listed(value: Any) -> Any:
    """An array or a number of numpy as JSON."""
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else repr(value)


class Walk:
    """The state of scoring on demand, in rounds, until the rule needs no more scores of any question.

    A round is chosen when the one before it is complete, and by nothing but the scores: the order in which they arrive
    changes nothing. Copies of a text are scored once. `scored` [R] says which responses were scored, `scores` [R] the
    results; NaN where there is none.
    """

    def __init__(self, rule: AskingRule, voter: Method, pool: Pool, scored: Bools, scores: Floats) -> None:
        self.rule, self.voter = rule, voter
        self.pool = pool.unlabelled() if isinstance(pool, LabelledPool) else pool
        self.scored, self.scores = scored.copy(), np.where(scored, scores, np.nan)
        self.rounds = 0
        self._question = pool.spread(np.arange(pool.n_questions))
        self._active = np.ones(pool.n_questions, bool)

    @property
    def decided(self) -> float:
        """The fraction of the questions that need no more scores."""
        return float(1 - self._active.mean())

    def next(self) -> list[list[int]]:
        """The texts to score now, each as the rows of its copies in the order of samples; empty at the end."""
        rows = np.flatnonzero(self._active[self._question])
        part = self._with_scores().take(np.flatnonzero(self._active)).only_scored(self.scored[rows])
        some = np.zeros(len(rows), bool) if part.scored is None else self.rule.next(self.voter, part) & ~part.scored
        chosen = rows[some]
        self._active[:] = False
        self._active[self._question[chosen]] = True
        self.rounds += 1
        return self._readings(chosen.tolist())

    def tell(self, rows: Sequence[int], score: float) -> None:
        """Set the score of a text, NaN if the verifier failed, for all its copies."""
        self.scored[rows], self.scores[rows] = True, score

    def seen(self) -> Pool:
        """The pool with the scores so far."""
        return self._with_scores().only_scored(self.scored)

    def _with_scores(self) -> Pool:
        return replace(self.pool, scores=self.scores)

    def _readings(self, rows: list[int]) -> list[list[int]]:
        readings: dict[tuple[int, int], list[int]] = {}
        for row in rows:
            text = row if self.pool.text is None else int(self.pool.text[row])
            readings.setdefault((int(self._question[row]), text), []).append(row)
        return list(readings.values())
