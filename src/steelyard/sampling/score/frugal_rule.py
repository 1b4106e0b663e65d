"""By what a verifier is asked on demand: a plan for its score, and a rule that the plan allows."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from steelyard.answers.extract import AUTO
from steelyard.foundation.arguments import argument
from steelyard.foundation.errors import PlanError, SettingError, did_you_mean
from steelyard.runs.on_demand import BEGINS
from steelyard.tables.plan_reading import answers_of_plan
from steelyard.tables.score_spelling import REDUCERS, Score, parse_score, split_scores
from steelyard.voting.methods import load
from steelyard.voting.methods.base.method import Method
from steelyard.voting.on_demand import asking_names, asking_rule
from steelyard.voting.on_demand.base_rule import AskingRule

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
        """What the journal keeps of it."""
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
        """The scores of some lists of steps, as the plan reads them; NaN where there is none."""
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
    """Check what was asked for before anything is opened; None where the verifier is asked for everything.

    `by_source`: it will be known who gave each response, so a committee that has learned what to ask for may say so.
    """
    if frugal is None or frugal is False:
        if plan is not None:
            add, omit = argument("frugal", True), argument("plan")
            raise SettingError(f"a plan says what to ask on demand: add {add}, or leave {omit} away")
        return None
    known = (ANY, *asking_names())
    if frugal is not True and frugal not in known:
        raise SettingError(f"there is no rule {frugal!r} for --frugal: {did_you_mean(str(frugal), known[1:])}")
    if plan is None:
        raise SettingError(
            f"--frugal goes by a plan: name one with --plan, made by 'steelyard fit FILE --score {column} -o plan.json'"
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
    return Frugal(voter, rule, score, name, answers_of_plan(voter, answers))


def _checked(voter: Method, name: str, column: str, *, by_source: bool) -> Score:
    """The score a plan goes by, one of this column; refuse a plan that cannot say what to ask."""
    if voter.oracle:
        raise PlanError(f"{name} is for {voter.name}, an oracle that reads the correct answers: ask by another plan")
    if not voter.reads_scores():
        raise PlanError(f"{name} is for {voter.name}, which reads no scores: there is nothing to ask a verifier for")
    if voter.weighs_sources and not (by_source and voter.asking_ is not None):
        raise PlanError(f"{name} is for {voter.name}, which weighs sources: score everything, without --frugal")
    if voter.learns and voter.fitted_on_ is None:
        raise PlanError(f"{name} is not fitted: fit it on labelled responses with the score {column!r}")
    return score_of_plan(voter, name, column)


def score_of_plan(voter: Method, name: str, column: str) -> Score:
    """The score a plan goes by, one of the steps of this column; refuse a plan for another."""
    fitted = voter.fitted_on_.score if voter.fitted_on_ else None
    if fitted is None:
        return Score(column, "last")
    meant = parse_score(fitted)
    if len(split_scores(fitted)) > 1 or meant is None:
        raise PlanError(
            f"{name} goes by {fitted!r}, several scores together, and one verifier gives one: fit a plan with "
            f"--score {column}"
        )
    if meant.column != column:
        raise PlanError(
            f"{name} goes by the score {fitted!r}, and these are scores {column!r}: if they are the same verifier's, "
            f"name them so (--as {meant.column}), else fit a plan with --score {column}"
        )
    if meant.reducer not in REDUCERS:
        raise PlanError(
            f"{name} goes by {fitted!r}, one number per response, and a verifier scores steps, from which a vote "
            f"takes {column}:last: fit a plan on a run that it scored, or on a column of lists"
        )
    return meant


def fingerprint(voter: Method) -> str:
    """Tells plans apart by what they have learned, wherever their files are."""
    asking = voter.asking_.plain() if voter.asking_ else None
    content = [voter.name, voter.settings(), voter.learned(), asking]
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=_listed).encode()).hexdigest()


def _listed(value: Any) -> Any:
    """An array or a number of numpy as JSON has it."""
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else repr(value)
