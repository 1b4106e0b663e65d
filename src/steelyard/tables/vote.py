"""A plan and a file -> verdicts, in bounded memory: a batch of questions is read, decided, dropped."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from steelyard.answers.extract import AUTO
from steelyard.answers.reader import AnswerReader
from steelyard.foundation.arguments import argument
from steelyard.foundation.errors import ColumnError, PlanError, SettingError, SteelyardWarning
from steelyard.tables import pools_of
from steelyard.tables.plan_fits import warn_of_plan
from steelyard.tables.plan_reading import answers_of_plan, rename_of_plan
from steelyard.tables.pools_from_frames import join
from steelyard.tables.reading import named
from steelyard.tables.score_parts import same_scores
from steelyard.tables.source_column import source_of_run
from steelyard.tables.vote_notes import check_several, note_pooled_llms, note_unweighed_scores
from steelyard.voting.confidence.drift import score_drift, some_question_means
from steelyard.voting.confidence.risk_control import RiskControl
from steelyard.voting.methods import load, method_class, method_names
from steelyard.voting.methods.base.configured import clone
from steelyard.voting.methods.base.enough import too_many
from steelyard.voting.methods.base.method import Method
from steelyard.voting.pools.arrays import Bools
from steelyard.voting.pools.pool import Origin, Pool


class Voted(NamedTuple):
    """The verdicts, who decided, how many questions had no readable answer, and the risk control that was asked for."""

    verdicts: pl.DataFrame
    voter: Method
    unreadable: int
    risk_control: RiskControl | None


def vote(
    table: Any,
    plan: Method | str | Path | None = None,
    *,
    method: str | None = None,
    score: str | None = None,
    source: str | None = None,
    n: int | None = None,
    risk: float | None = None,
    confidence_level: float = 0.9,
    rename: dict[str, str] | None = None,
    layout: str | None = None,
    answers: str = AUTO,
    progress: Callable[[float], None] | None = None,
) -> pl.DataFrame:
    """Decide every question of a table by a plan (a path, or a fitted method), else by a method that needs none.

    Without either it is the majority vote; both together are refused. A table of any length is read in the memory of
    a batch. With `risk` an answer stands only where the error stays within it with probability `confidence_level`;
    elsewhere it is null, and the column `answered` says so. Answers are read as the plan's were, unless `answers` names
    the kind for a plan that has none. The options are those of `steelyard vote`.

    >>> import steelyard as sy
    >>> plan = sy.LogitVote().fit(sy.read_labelled(sy.simulate(60, 8, seed=1)))
    >>> sy.vote(sy.simulate(2, 8, seed=2), plan).select("question", "votes").rows()
    [('q0', 4), ('q1', 4)]
    """
    return voted(
        table, plan, method=method, score=score, source=source, n=n, risk=risk,
        confidence_level=confidence_level, rename=rename, layout=layout, answers=answers,
        progress=progress,
    ).verdicts  # fmt: skip


def voted(
    table: Any,
    plan: Method | str | Path | None,
    *,
    method: str | None,
    risk: float | None,
    confidence_level: float,
    **options: Any,
) -> Voted:
    """Do as `vote` does and return what it knows besides; the other options are those of `decide`."""
    voter = voter_of(plan, method)
    if voter.weighs_sources and voter.fitted_on_ is None:
        kept = ("source", "n", "rename", "layout", "answers")
        voter = _fitted_here(voter, table, **{key: options[key] for key in kept})
    control = voter.risk_control(risk, confidence_level) if risk is not None else None
    decided = decide(voter, table, **options)
    check_several(voter, decided.origin)
    tell(voter, decided, options["n"])
    if plan is None and method is None:
        note_unweighed_scores(decided.origin)
    verdicts = pl.concat(decided.verdicts)
    unreadable = verdicts["answer"].null_count()
    return Voted(abstaining(verdicts, control.threshold) if control else verdicts, voter, unreadable, control)


def _fitted_here(voter: Method, table: Any, *, source: str | None, n: int | None, **options: Any) -> Method:
    """Let a method that needs no labels learn from the votes of the whole table."""
    source = source or source_of_run(table)
    if source is None:
        raise SettingError(
            f"{voter.name} weighs sources: name the column that says who answered, as {argument('source', 'llm')}"
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SteelyardWarning)  # the table is read again, and then says it
        pool = join(list(pools_of(table, source=source, need_score=False, labels=None, **options)))
    return clone(voter).fit(pool, n=n)


def voter_of(plan: object, method: object) -> Method:
    """Who decides: the plan, or a method that needs none."""
    if plan is None:
        return unfitted("majority" if method is None else method)
    if method is not None:
        raise SettingError("a plan and a method exclude each other, as a plan knows its method: leave one of them away")
    if isinstance(plan, Method):
        return plan
    if not isinstance(plan, str | Path):
        raise SettingError(f"{plan!r:.80} is no plan: give the path of one, or a fitted method")
    if str(plan) in method_names() and not Path(plan).exists():
        unfitted(str(plan))  # one that learns is refused with what to do
        raise PlanError(f'no such plan: {plan}; to vote by that method give method="{plan}" (--method {plan}) instead')
    return load(plan)


def unfitted(name: object) -> Method:
    """Return a method that can vote without a plan."""
    if not isinstance(name, str):
        raise SettingError(f"{name!r:.80} is no name of a method: give the name as text, or the object as the plan")
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
    """What was decided a batch at a time, what was noticed meanwhile, and mean logits of some questions."""

    verdicts: list[pl.DataFrame] = field(default_factory=list)
    questions: int = 0
    origin: Origin = field(default_factory=Origin)
    largest: int = 0  # the most samples a question had
    short: int = 0  # questions with fewer than n
    any_score: bool = False
    question_means: list[NDArray[np.float64]] = field(default_factory=list)


def decide(
    voter: Method,
    table: Any,
    *,
    score: str | None = None,
    source: str | None = None,
    n: int | None = None,
    rename: dict[str, str] | None = None,
    layout: str | None = None,
    answers: str | AnswerReader = AUTO,
    on_demand: bool = False,
    progress: Callable[[float], None] | None = None,
) -> Decided:
    """Decide every question of a table, or of one part of it (see `pools_of` for `on_demand`)."""
    fitted = voter.fitted_on_
    trained = fitted.score if fitted else None
    if voter.reads_scores() and score is not None and trained and not same_scores(score, trained):
        raise PlanError(f"the plan was fitted on the score {trained!r}, not on {score!r}: {_fix(score, trained)}")
    if isinstance(answers, str):
        answers = AnswerReader(answers_of_plan(voter, answers), named=answers != AUTO)
    options: dict[str, Any] = {
        "rename": rename_of_plan(voter, table, rename),
        "layout": layout,
        "answers": answers,
        "need_score": voter.reads_scores(),
        "labels": None,
        "on_demand": on_demand,
    }
    options |= {"progress": progress, "source": source or (fitted.source if fitted else None)}
    try:
        return _decided(voter, table, n, score=trained if score is None else score, **options)
    except ColumnError as error:
        if not trained or score is not None:
            raise
        if voter.reads_scores():
            your = "columns to its" if "+" in trained else "column to it"
            raise ColumnError(f"{error}. The plan was fitted on {trained!r}: rename your {your}") from None
        return _decided(voter, table, n, score=None, **options)  # it would only have broken ties


def tell(voter: Method, decided: Decided, n: int | None) -> None:
    """Warn of what may make the verdicts worse than the plan promises."""
    fitted = voter.fitted_on_
    warn_of_plan(voter, decided.origin, decided.any_score)
    note_pooled_llms(voter, decided.origin)
    if n is not None and decided.short:
        warnings.warn(_short(n, decided), SteelyardWarning, stacklevel=2)
    if voter.learns and not voter.weighs_sources and fitted and decided.largest != fitted.n:
        warnings.warn(
            f"the plan was fitted at {fitted.n} samples per question, this vote is over up to {decided.largest}: "
            f"fit with -n {decided.largest} for the best offset",
            SteelyardWarning,
            stacklevel=2,
        )
    moved = (
        score_drift(fitted.reference_scores, np.concatenate(decided.question_means))
        if fitted and decided.question_means
        else None
    )
    if moved and moved.warning:
        warnings.warn(moved.warning, SteelyardWarning, stacklevel=2)


def _decided(voter: Method, table: Any, n: int | None, **options: Any) -> Decided:
    """Vote on the questions of a table, each once."""
    fitted = voter.fitted_on_
    found = Decided()
    with named(table), closing(pools_of(table, **options)) as pools:
        for pool in pools:
            used = pool if n is None else pool.first(n)
            found.origin, found.largest = pool.origin, max(found.largest, used.n)
            found.short += 0 if n is None else int((pool.sizes < n).sum())
            found.any_score |= pool.scores is not None and not bool((np.isnan(pool.scores) & _asked(pool)).all())
            if fitted and fitted.reference_scores and pool.scores is not None and pool.asked is None:
                found.question_means.append(some_question_means(voter.mixed(used)))
            found.verdicts.append(voter.predict(used).to_polars())
            found.questions += pool.n_questions
    return found


def _asked(pool: Pool) -> Bools:
    """Which scores were asked for [R]; one that was not asked is not missing."""
    return np.ones(pool.n_responses, bool) if pool.asked is None else pool.asked


def _short(n: int, decided: Decided) -> str:
    """What to say where questions have fewer samples than were asked for."""
    if decided.largest < n:
        return too_many(n, decided.largest)
    return (
        f"{decided.short:,} of {decided.questions:,} questions have fewer than n = {n} samples: "
        "they vote with what they have"
    )


def abstaining(verdicts: pl.DataFrame, threshold: float) -> pl.DataFrame:
    """Take the answer away where the confidence is too low; the column `answered` says where it stands."""
    answered = (pl.col("confidence") >= threshold).fill_null(False) & pl.col("answer").is_not_null()
    return verdicts.with_columns(answer=pl.when(answered).then("answer"), answered=answered)
