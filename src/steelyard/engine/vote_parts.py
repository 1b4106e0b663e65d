"""The vote on a folder of parts by many workers.

Workers turn a plan and a folder of parts into a folder of verdicts, part by part. The verdicts are bit for bit those of
the vote on all rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from steelyard.answers.doubtful_answers import LAST_NUMBER_ONLY
from steelyard.answers.extract import AUTO
from steelyard.answers.reader import PLACEHOLDERS, AnswerReader
from steelyard.answers.unreadable import NO_VOTE
from steelyard.engine.engines import Engine
from steelyard.engine.input_parts import all_scored, input_parts_of, rows_without
from steelyard.engine.read_answers import reader_for
from steelyard.engine.table_jobs import TableJob, TablePart, check_cut, seal_part
from steelyard.engine.worker_messages import WarningSummary, captured_warnings
from steelyard.foundation.errors import SettingError
from steelyard.foundation.store_address import Place
from steelyard.runs.manifest import sha256_of
from steelyard.tables.layouts.long import Long
from steelyard.tables.plan_reading import answers_of_plan, rename_of_plan
from steelyard.tables.source_column import source_of_run
from steelyard.tables.vote import (
    OF_SOURCES,
    Decisions,
    abstaining,
    check_promises,
    decide,
    voter_of,
    warn_about_verdicts,
)
from steelyard.tables.vote_warnings import check_several, note_unweighed_scores
from steelyard.voting.confidence.answer_sets import AnswerSetThreshold
from steelyard.voting.confidence.drift import MOST_REFERENCES
from steelyard.voting.confidence.risk_control import RiskControl
from steelyard.voting.methods.base.method import Method
from steelyard.voting.pools.origin import Origin

VERDICT = {
    "question": pl.String, "answer": pl.String, "confidence": pl.Float64, "share": pl.Float64, "margin": pl.Float64,
    "votes": pl.Int64, "responses": pl.Int64,
}  # fmt: skip
_voter = cache(voter_of)
COUNTED = (NO_VOTE, PLACEHOLDERS, LAST_NUMBER_ONLY)  # in warnings with a count, which are given once for all parts


@dataclass(frozen=True)
class VoteOrder:
    """What every worker of a vote gets."""

    plan: str | None
    method: str | None
    threshold: float | None  # of the confidence, where the risk is controlled
    n: int | None
    options: Mapping[str, Any]  # score, source, rename, layout
    answers: str
    placeholders: frozenset[str] = frozenset()  # words that are not answers
    all_scored: tuple[str, ...] = ()  # columns that can be ignored, because every response was scored
    answer_sets: AnswerSetThreshold | None = None


@dataclass
class VotedParts:
    """The outcome of all parts."""

    voter: Method
    risk_control: RiskControl | None
    answer_sets: AnswerSetThreshold | None
    questions: int = 0
    responses: int = 0
    without_answer: int = 0
    answered: int = 0
    decided: Decisions = field(default_factory=Decisions)

    def summary(self) -> dict[str, Any]:
        """The content of summary.json."""
        counts = {"method": self.voter.name, "questions": self.questions, "responses": self.responses}
        counts |= {"without_answer": self.without_answer}
        held = self.risk_control
        counts |= {"risk_control": asdict(held), "answered": self.answered} if held else {}
        return counts | ({"answer_sets": asdict(self.answer_sets)} if self.answer_sets else {})


def vote_parts(
    folder: Place,
    target: Place,
    engine: Engine,
    *,
    plan: Path | None = None,
    method: str | None = None,
    risk: float | None = None,
    confidence_level: float = 0.9,
    answer_sets: float | None = None,
    score: str | None = None,
    source: str | None = None,
    n: int | None = None,
    rename: dict[str, str] | None = None,
    layout: str | None = None,
    answers: str = AUTO,
    workers: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> VotedParts:
    """Decide every question of a folder of parts; the options are those of `steelyard.vote`."""
    several = source or source_of_run(folder)
    voter = voter_of(plan, OF_SOURCES if several and plan is None and method is None else method)
    if voter.weighs_sources and voter.fitted_on_ is None:
        raise SettingError(
            f"{voter.name} learns from the whole table, and no worker sees it: make a plan first ('steelyard fit "
            f"{folder} --method {voter.name} --source {several or 'COLUMN'} -o plan.json') and vote with --plan "
            "plan.json, or use --method majority"
        )
    control = voter.risk_control(risk, confidence_level) if risk is not None else None
    sets = voter.answer_sets(answer_sets) if answer_sets is not None else None
    if n is not None:
        check_promises(voter, n, control, sets)
    source = source or (voter.fitted_on_.source if voter.fitted_on_ else None) or source_of_run(folder)
    rename = rename_of_plan(voter, str(folder), rename)
    options: dict[str, Any] = {"score": score, "source": source, "rename": rename, "layout": layout or Long.name}
    check_cut(folder, options)
    kind = answers_of_plan(voter, answers)
    reader = reader_for(folder, kind, options["layout"], rename, named_kind=answers != AUTO)
    plan_path = str(plan.absolute()) if plan else None
    settings = {
        "method": voter.name, "risk": risk, "confidence_level": confidence_level if control else None, "n": n,
        "answers": reader.kind.name, **options, **({} if sets is None else {"answer_sets": answer_sets}),
    }  # fmt: skip
    read = input_parts_of(folder, engine, workers)
    threshold = control.threshold if control else None
    complete = all_scored(read, engine, workers)
    order = VoteOrder(
        plan_path, method, threshold, n, options, reader.kind.name, reader.placeholders or frozenset(), complete, sets
    )
    job = TableJob(read, target, "verdicts", settings, {plan_path: sha256_of(Path(plan_path))} if plan_path else {})
    result, notices = VotedParts(voter, control, sets), WarningSummary()
    means: list[float] = []
    for part in job.run(engine, vote_part, order, workers=workers, progress=progress):
        _add(result, part, reader)
        means += part["means"]
        notices.add(part["part"], part["said"])
    result.decided.question_means = [np.array(means)] if means else []
    notices.warn()
    check_several(voter, result.decided.origin)
    check_promises(voter, result.decided.largest, control, sets)
    warn_about_verdicts(voter, result.decided, n)
    if plan is None and method is None:
        note_unweighed_scores(voter, result.decided.origin)
    reader.warn(f"steelyard answers {folder} --only-unreadable")
    job.summarise(result.summary())
    return result


def vote_part(order: VoteOrder, part: TablePart) -> dict[str, Any]:
    """Decide the questions of one part, write the verdicts and seal them, in a worker."""
    reader = AnswerReader(order.answers)
    reader.placeholders = order.placeholders
    listed: dict[str, Any] = {"answer_set": pl.List(pl.String)} if order.answer_sets else {}
    decisions, verdicts = Decisions(), pl.DataFrame(schema={**VERDICT, **listed})
    with part.read.opened() as source, captured_warnings() as warnings:
        rows = rows_without(source, order.all_scored) if order.all_scored else source
        if part.read.rows:
            voter = _voter(order.plan, order.method)
            decisions = decide(
                voter, rows, n=order.n, answers=reader, on_demand=True, answer_sets=order.answer_sets, **order.options
            )
            verdicts = pl.concat(decisions.verdicts)
    empty = verdicts["answer"].null_count()
    if order.threshold is not None:
        verdicts = abstaining(verdicts, order.threshold)
    means = np.concatenate([np.empty(0), *decisions.question_means])
    reference = np.linspace(0, len(means) - 1, min(len(means), MOST_REFERENCES)).astype(np.int64)
    origin = decisions.origin
    summary = {
        "part": part.name, "questions": verdicts.height, "responses": reader.responses, "without_answer": empty,
        "answered": int(verdicts["answered"].sum()) if order.threshold is not None else verdicts.height - empty,
        "unreadable": reader.unreadable, "undecided": reader.undecided, "costly": reader.costly,
        "replaced": reader.replaced,
        "how_read": [reader.counts.extracted, reader.counts.last_numbers, reader.counts.cut],
        "largest": decisions.largest, "short": decisions.short, "any_score": decisions.any_score, "score": origin.score,
        "llms": list(origin.llms or ([origin.llm] if origin.llm else [])), "means": means[reference].tolist(),
        "source": origin.source, "llm_column": origin.llm_column, "score_columns": list(origin.score_columns),
        "single": origin.single, "undirected": list(origin.undirected),
        "said": [text for text in warnings if not any(phrase in text for phrase in COUNTED)],
    }  # fmt: skip
    seal_part(part, verdicts, summary)
    return summary


def _add(result: VotedParts, part: Mapping[str, Any], reader: AnswerReader) -> None:
    """Add the counts of one part to those of the others."""
    for name in ("questions", "responses", "without_answer", "answered"):
        setattr(result, name, getattr(result, name) + part[name])
    for name in ("responses", "unreadable", "undecided", "costly", "replaced"):
        setattr(reader, name, getattr(reader, name) + part[name])
    reader.counts.add_counts(*part["how_read"])
    decided = result.decided
    if not part["questions"]:
        return
    decided.questions += part["questions"]
    decided.largest = max(decided.largest, part["largest"])
    decided.short += part["short"]
    decided.any_score |= part["any_score"]
    llms = tuple(sorted({*decided.origin.llms, *filter(None, [decided.origin.llm]), *part["llms"]}))
    single, several = (llms[0], ()) if len(llms) == 1 else (None, llms)
    before = decided.origin
    decided.origin = Origin(
        before.score or part["score"], single, llms=several, source=before.source or part["source"],
        llm_column=before.llm_column or part["llm_column"],
        score_columns=before.score_columns or tuple(part["score_columns"]),
        single=part["single"] if decided.questions == part["questions"] else before.single and part["single"],
        undirected=before.undirected or tuple(part["undirected"]),
    )  # fmt: skip
