"""A plan and a table -> verdicts, in bounded memory: questions are read, decided and dropped in batches."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from steelyard.answers.extract import AUTO
from steelyard.answers.reader import AnswerReader
from steelyard.foundation.arguments import argument
from steelyard.foundation.errors import ColumnError, PlanError, SettingError, SteelyardError, SteelyardWarning
from steelyard.tables import pools_of
from steelyard.tables.answer_set_column import check_sample_count, with_answer_sets
from steelyard.tables.plan_reading import answers_of_plan, check_plan_or_method, rename_of_plan
from steelyard.tables.pools_from_frames import join
from steelyard.tables.reading import prepare
from steelyard.tables.row_order import ScatteredError
from steelyard.tables.score_columns import NoStepsError, same_scores
from steelyard.tables.source_column import source_of_run
from steelyard.tables.sources.file_checks import PartialReadError, name_in_errors
from steelyard.tables.vote_warnings import (
    check_several,
    note_few_questions,
    note_pooled_llms,
    note_unweighed_scores,
    warn_of_plan,
)
from steelyard.voting.confidence.drift import MOST_REFERENCES, NOT_RARE, score_drift, some_question_means
from steelyard.voting.methods import load, method_class, method_names
from steelyard.voting.methods.base.calibration_checks import too_many, warn_of_undirected_scores
from steelyard.voting.methods.base.configured import clone
from steelyard.voting.methods.base.method import Method
from steelyard.voting.pools.origin import Origin
from steelyard.voting.pools.pool import Pool

if TYPE_CHECKING:
    from steelyard.voting.confidence.answer_sets import AnswerSetThreshold
    from steelyard.voting.confidence.risk_control import RiskControl

OF_SOURCES = "consensus"  # the method without a plan for several sources, if there are
ENOUGH_QUESTIONS = 20  # questions to learn from how often sources agree, or
ENOUGH_SIMILAR = 100  # questions with free text
ENOUGH_MEANS = 10 * MOST_REFERENCES


class VoteDetails(NamedTuple):
    """The verdicts, the method, the number of questions without a readable answer, and any risk control."""

    verdicts: pl.DataFrame
    voter: Method
    unreadable: int
    risk_control: RiskControl | None
    answer_sets: AnswerSetThreshold | None


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
    answer_sets: float | None = None,
    rename: dict[str, str] | None = None,
    layout: str | None = None,
    answers: str = AUTO,
    progress: Callable[[float], None] | None = None,
) -> pl.DataFrame:
    """Decide every question of a table with a plan (a path or a fitted method), or with a method that needs none.

    The default is the majority vote; for several sources it is the consensus, which weights each source by its
    agreement with the others. A plan and a method together are refused. Memory is bounded by a batch, whatever the
    length of the table, except where sources are weighed without a plan. With `risk`, answers are given only as long as
    the error rate stays within it with probability `confidence_level`; the others are null, with false in the column
    `answered`. With `answer_sets`, the column `answer_set` lists answers that contain the correct one, except with this
    probability. Answers are read as the plan's were; `answers` names the kind if the plan has none. The options are
    those of `steelyard vote`.

    >>> import steelyard as sy
    >>> plan = sy.LogitVote().fit(sy.read_labelled(sy.simulate(60, 8, seed=1)))
    >>> sy.vote(sy.simulate(2, 8, seed=2), plan).select("question", "votes").rows()
    [('q0', 4), ('q1', 4)]
    """
    return vote_with_details(
        table, plan, method=method, score=score, source=source, n=n, risk=risk,
        confidence_level=confidence_level, answer_sets=answer_sets, rename=rename, layout=layout, answers=answers,
        progress=progress,
    ).verdicts  # fmt: skip


def vote_with_details(
    table: Any,
    plan: Method | str | Path | None,
    *,
    method: str | None,
    risk: float | None,
    confidence_level: float,
    answer_sets: float | None = None,
    **options: Any,
) -> VoteDetails:
    """Vote like `vote` and return the details; the other options are those of `decide`."""
    voter = voter_of(plan, method)
    passed = {key: options[key] for key in ("source", "n", "rename", "layout", "answers")}
    if plan is None and method is None:
        voter = _without_plan(voter, table, **passed)
    elif voter.weighs_sources and voter.fitted_on_ is None:
        voter = _fitted_here(voter, table, **passed)
    control = voter.risk_control(risk, confidence_level) if risk is not None else None
    sets = voter.answer_sets(answer_sets) if answer_sets is not None else None
    decisions = decide(voter, table, answer_sets=sets, **options)
    check_several(voter, decisions.origin)
    check_promises(voter, decisions.largest, control, sets)
    warn_about_verdicts(voter, decisions, options["n"])
    if plan is None and method is None:
        note_unweighed_scores(voter, decisions.origin)
    verdicts = pl.concat(decisions.verdicts)
    unreadable = verdicts["answer"].null_count()
    verdicts = abstaining(verdicts, control.threshold) if control else verdicts
    return VoteDetails(verdicts, voter, unreadable, control, sets)


def check_promises(voter: Method, samples: int, control: RiskControl | None, sets: AnswerSetThreshold | None) -> None:
    """Refuse a vote with fewer samples than those with which its error rate or its answer sets were calibrated."""
    if control is not None:
        check_sample_count(voter, samples, "the error rate was controlled")
    if sets is not None:
        check_sample_count(voter, samples, "answer sets were calibrated")


def _without_plan(majority: Method, table: Any, *, source: str | None, n: int | None, **options: Any) -> Method:
    """The consensus of several sources if there are enough questions to learn it from; otherwise the majority vote."""
    source = source or source_of_run(table)
    if source is None:
        return majority
    pool = _votes_of_all(table, source=source, **options)
    enough = ENOUGH_QUESTIONS if pool.similarity is None else ENOUGH_SIMILAR
    if len(pool.sources) < 2:
        return majority
    if pool.n_questions < enough:
        note_few_questions(pool, enough, OF_SOURCES)
        return majority
    return unfitted(OF_SOURCES).fit(pool, n=n)


def _fitted_here(voter: Method, table: Any, *, source: str | None, n: int | None, **options: Any) -> Method:
    """Fit a method that needs no labels on the votes of the full table."""
    source = source or source_of_run(table)
    if source is None:
        raise SettingError(
            f"{voter.name} weighs sources: name the column with the source of each response, such as "
            f"{argument('source', 'llm')}"
        )
    return clone(voter).fit(_votes_of_all(table, source=source, **options), n=n)


def _votes_of_all(table: Any, **options: Any) -> Pool:
    """All responses of a table, without scores and labels."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SteelyardWarning)  # the table is read again with warnings
        return join(list(pools_of(table, need_score=False, labels=None, **options)))


def voter_of(plan: object, method: object) -> Method:
    """Return the method of a plan, or a method that needs none."""
    if plan is None:
        return unfitted("majority" if method is None else method)
    check_plan_or_method(plan, method)
    if isinstance(plan, Method):
        return plan
    if not isinstance(plan, str | Path):
        raise SettingError(f"{plan!r:.80} is not a plan: pass the path of one, or a fitted method")
    if str(plan) in method_names() and not Path(plan).exists():
        unfitted(str(plan))  # raises with the fix for a method that learns
        raise PlanError(f'no such plan: {plan}; to vote with that method, use method="{plan}" (--method {plan})')
    return load(plan)


def unfitted(name: object) -> Method:
    """Return a method that can vote without a plan."""
    if not isinstance(name, str):
        raise SettingError(
            f"{name!r:.80} is not the name of a method: pass the name as text, or a method object as the plan"
        )
    voter = method_class(name)()
    if voter.learns or voter.oracle:
        raise SettingError(f"{name} cannot vote without a plan: make one with 'steelyard fit', or use majority")
    return voter


def _fix(score: str, trained: str) -> str:
    """Return how to fix a plan for another score."""
    if "+" in trained or "+" in score or "*" in score:
        return f"vote without --score to use the plan's, or fit a plan for {score!r}"
    return f"rename the column ({score}={trained}) if it is the same verifier's, else fit a plan for {score!r}"


@dataclass
class Decisions:
    """Verdicts by batch, with what is needed for warnings: counts, and mean logits of some questions."""

    verdicts: list[pl.DataFrame] = field(default_factory=list)
    questions: int = 0
    origin: Origin = field(default_factory=Origin)
    largest: int = 0  # largest number of samples of a question
    short: int = 0  # questions with fewer than n
    any_score: bool = False
    used_scores: set[str] | None = None  # those of several that have any value; None: unknown
    question_means: list[NDArray[np.float64]] = field(default_factory=list)
    batches: int = 0
    step: int = 1  # of the batches from which means are remembered

    def remember(self, means: Callable[[], NDArray[np.float64]]) -> None:
        """Remember the means of a batch; in a long table only those of every second, fourth, .. batch."""
        if self.batches % self.step == 0:
            self.question_means.append(means())
        self.batches += 1
        if sum(map(len, self.question_means)) > ENOUGH_MEANS:
            self.question_means = self.question_means[::2]
            self.step *= 2


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
    answer_sets: AnswerSetThreshold | None = None,
    progress: Callable[[float], None] | None = None,
) -> Decisions:
    """Decide every question of a table, or of one part of it (see `pools_of` for `on_demand`)."""
    fitted = voter.fitted_on_
    trained = fitted.score if fitted else None
    if voter.reads_scores() and score is not None and trained and not same_scores(score, trained):
        raise PlanError(f"the plan was fitted on the score {trained!r}, not on {score!r}: {_fix(score, trained)}")
    if isinstance(answers, str):
        answers = AnswerReader(answers_of_plan(voter, answers), named=answers != AUTO)
    decide_with = partial(
        _decide_batches, voter, table, n, rename=rename_of_plan(voter, table, rename), layout=layout, answers=answers,
        need_score=voter.reads_scores(), labels=None, on_demand=on_demand, progress=progress, answer_sets=answer_sets,
        source=source or (fitted.source if fitted else None),
    )  # fmt: skip
    try:
        return decide_with(score=trained if score is None else score)
    except ColumnError as error:
        if not trained or score is not None:
            raise
        if voter.reads_scores():
            if isinstance(error, NoStepsError):
                raise ColumnError(
                    f"the plan was fitted on step scores, {trained!r}, and this table has one number per response "
                    "instead: read a table with the steps, or fit a plan on one number per response"
                ) from None
            noun = "columns" if "+" in trained else "column"
            raise ColumnError(f"{error}. The plan was fitted on {trained!r}: rename your {noun} to match") from None
        return decide_with(score=None)  # the score is used only to break ties


def warn_about_verdicts(voter: Method, decisions: Decisions, n: int | None) -> None:
    """Warn about anything that may make the verdicts worse than the plan promises."""
    fitted = voter.fitted_on_
    warn_of_plan(voter, decisions.origin, decisions.any_score)
    used = decisions.origin.parts if decisions.used_scores is None else decisions.used_scores
    empty = [name for name in decisions.origin.parts if name not in used]
    if voter.reads_scores() and empty and decisions.any_score:
        warnings.warn(
            f"{', '.join(empty)} has no value in this table: the other scores vote without it",
            SteelyardWarning,
            stacklevel=2,
        )
    if voter.reads_scores() and not voter.learns:
        warn_of_undirected_scores(decisions.origin)
    note_pooled_llms(voter, decisions.origin)
    if n is not None and decisions.short:
        some = f"{decisions.short:,} of {decisions.questions:,} questions have fewer than n = {n} samples"
        all_short = decisions.largest < n
        message = too_many(n, decisions.largest) if all_short else f"{some}: they vote with what they have"
        warnings.warn(message, SteelyardWarning, stacklevel=2)
    if voter.learns and not voter.weighs_sources and fitted and decisions.largest != fitted.n:
        warnings.warn(
            f"the plan was fitted at {fitted.n} samples per question, but this vote uses up to {decisions.largest}: "
            f"fit with -n {decisions.largest} for the best offset",
            SteelyardWarning,
            stacklevel=2,
        )
    if fitted and decisions.question_means:
        drift = score_drift(fitted.reference_scores, np.concatenate(decisions.question_means), enough=NOT_RARE)
        if drift and drift.warning:
            warnings.warn(drift.warning, SteelyardWarning, stacklevel=2)


def _decide_batches(
    voter: Method,
    table: Any,
    n: int | None,
    *,
    answers: AnswerReader,
    answer_sets: AnswerSetThreshold | None,
    progress: Callable[[float], None] | None,
    **options: Any,
) -> Decisions:
    """Vote on every question of a table, batch by batch: in one pass over it if its rows prove to be in order."""
    progress = progress and _rising(progress)
    with name_in_errors(table), closing(answers):
        prepared = prepare(table, answers, **options)
        decided = partial(_decided, voter, n, answer_sets)
        if prepared.is_plain() and voter.made_by() is None and not voter.weighs_sources:  # these warn batch by batch
            reader = answers.copy()
            try:
                decisions = decided(prepared.pools(reader, progress, once=True))
            except PartialReadError:
                raise
            except (ScatteredError, SteelyardError):  # reading in any order deals with it, or raises it
                del reader
            else:
                vars(answers).update(vars(reader))
                return decisions
        return decided(prepared.pools(answers, progress))


def _rising(progress: Callable[[float], None]) -> Callable[[float], None]:
    """Report progress only where it is more than before: a table may be read again from its beginning."""
    highest = 0.0

    def report(fraction: float) -> None:
        nonlocal highest
        if fraction > highest:
            progress(fraction)
            highest = fraction

    return report


def _decided(
    voter: Method, n: int | None, answer_sets: AnswerSetThreshold | None, batches: Generator[Pool]
) -> Decisions:
    """Vote on every question of some pools."""
    fitted = voter.fitted_on_
    decisions = Decisions()
    with closing(batches) as pools:
        for pool in pools:
            used = pool if n is None else pool.first(n)
            decisions.origin, decisions.largest = pool.origin, max(decisions.largest, used.n)
            decisions.short += 0 if n is None else int((pool.sizes < n).sum())
            scored = True if pool.scored is None else pool.scored  # the others do not count as missing
            if not decisions.any_score and pool.scores is not None:
                decisions.any_score = not bool((np.isnan(pool.scores) & scored).all())
            if pool.parts is not None:
                has_values: list[bool] = np.any(~np.isnan(pool.parts), axis=0).tolist()
                decisions.used_scores = (decisions.used_scores or set()) | set(compress(pool.origin.parts, has_values))
            if fitted and fitted.reference_scores and pool.scores is not None and pool.scored is None:
                decisions.remember(partial(_means, voter, used))
            verdicts = voter.predict(used)
            decisions.verdicts.append(
                verdicts.to_polars() if answer_sets is None else with_answer_sets(verdicts, used, voter, answer_sets)
            )
            decisions.questions += pool.n_questions
    return decisions


def _means(voter: Method, pool: Pool) -> NDArray[np.float64]:
    return some_question_means(voter.mixed(pool))


def abstaining(verdicts: pl.DataFrame, threshold: float) -> pl.DataFrame:
    """Remove answers whose confidence is below the threshold, and add the column `answered`."""
    answered = (pl.col("confidence") >= threshold).fill_null(False) & pl.col("answer").is_not_null()
    return verdicts.with_columns(answer=pl.when(answered).then("answer"), answered=answered)
