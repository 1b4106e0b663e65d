"""A plan and a folder of parts -> a folder of verdicts, part by part; bit for bit those of the vote on all rows."""

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
from steelyard.engine.answer_kind import reader_for
from steelyard.engine.asked_parts import all_asked, rows_without
from steelyard.engine.engines import Engine
from steelyard.engine.part_warnings import ToldOnce, caught
from steelyard.engine.parts_job import PartsJob, TablePart, check_cut, seal_part
from steelyard.engine.parts_read import parts_read
from steelyard.foundation.errors import SettingError
from steelyard.foundation.store_address import Place
from steelyard.runs.manifest import sha256_of
from steelyard.tables.layouts.long import Long
from steelyard.tables.plan_reading import answers_of_plan, rename_of_plan
from steelyard.tables.source_column import source_of_run
from steelyard.tables.vote import Decisions, abstaining, decide, voter_of, warn_about_verdicts
from steelyard.tables.vote_warnings import check_several, note_unweighed_scores
from steelyard.voting.confidence.drift import MOST_REFERENCES
from steelyard.voting.confidence.risk_control import RiskControl
from steelyard.voting.methods.base.method import Method
from steelyard.voting.pools.pool import Origin

VERDICT = {
    "question": pl.String, "answer": pl.String, "confidence": pl.Float64, "share": pl.Float64, "margin": pl.Float64,
    "votes": pl.Int64, "responses": pl.Int64,
}  # fmt: skip
COUNTED = (NO_VOTE, PLACEHOLDERS, LAST_NUMBER_ONLY)  # in warnings with a count, which are given once for all parts


@dataclass(frozen=True)
class VoteOrder:
    """What every worker of a vote is told."""

    plan: str | None
    method: str | None
    threshold: float | None  # of the confidence, where the risk is controlled
    n: int | None
    options: Mapping[str, Any]  # score, source, rename, layout
    answers: str
    placeholders: frozenset[str] = frozenset()  # words that are no answers
    all_asked: tuple[str, ...] = ()  # columns that say nothing, as everything was asked


@dataclass
class VotedParts:
    """What became of all parts."""

    voter: Method
    risk_control: RiskControl | None
    questions: int = 0
    responses: int = 0
    without_answer: int = 0
    answered: int = 0
    decided: Decisions = field(default_factory=Decisions)

    def summary(self) -> dict[str, Any]:
        """What summary.json says."""
        counts = {"method": self.voter.name, "questions": self.questions, "responses": self.responses}
        counts |= {"without_answer": self.without_answer}
        held = self.risk_control
        return counts | ({"risk_control": asdict(held), "answered": self.answered} if held else {})


def vote_parts(
    folder: Place,
    target: Place,
    engine: Engine,
    *,
    plan: Path | None = None,
    method: str | None = None,
    risk: float | None = None,
    confidence_level: float = 0.9,
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
    voter = voter_of(plan, method)
    if voter.weighs_sources and voter.fitted_on_ is None:
        raise SettingError(
            f"{voter.name} learns from the whole table, and no worker sees it: make a plan first ('steelyard fit "
            f"{folder} --method {voter.name} --source {source or 'COLUMN'} -o plan.json'), then give --plan plan.json"
        )
    control = voter.risk_control(risk, confidence_level) if risk is not None else None
    source = source or (voter.fitted_on_.source if voter.fitted_on_ else None) or source_of_run(folder)
    rename = rename_of_plan(voter, str(folder), rename)
    options: dict[str, Any] = {"score": score, "source": source, "rename": rename, "layout": layout or Long.name}
    check_cut(folder, options)
    kind = answers_of_plan(voter, answers)
    reader = reader_for(folder, kind, options["layout"], rename, named_kind=answers != AUTO)
    at = str(plan.absolute()) if plan else None
    settings = {
        "method": voter.name, "risk": risk, "confidence_level": confidence_level if control else None, "n": n,
        "answers": reader.kind.name, **options,
    }  # fmt: skip
    read = parts_read(folder, engine, workers)
    threshold = control.threshold if control else None
    asked = all_asked(read, engine, workers)
    order = VoteOrder(at, method, threshold, n, options, reader.kind.name, reader.placeholders or frozenset(), asked)
    job = PartsJob(read, target, "verdicts", settings, {at: sha256_of(Path(at))} if at else {})
    found, told = VotedParts(voter, control), ToldOnce()
    means: list[float] = []
    for part in job.run(engine, vote_part, order, workers=workers, progress=progress):
        _add(found, part, reader)
        means += part["means"]
        told.hear(part["part"], part["said"])
    found.decided.question_means = [np.array(means)] if means else []
    told.tell()
    check_several(voter, found.decided.origin)
    warn_about_verdicts(voter, found.decided, n)
    if plan is None and method is None:
        note_unweighed_scores(found.decided.origin)
    reader.warn(f"steelyard answers {folder} --only-unreadable")
    job.summarise(found.summary())
    return found


def vote_part(order: VoteOrder, part: TablePart) -> dict[str, Any]:
    """Decide the questions of one part, write the verdicts and seal them; what a worker does."""
    reader = AnswerReader(order.answers)
    reader.placeholders = order.placeholders
    found, verdicts = Decisions(), pl.DataFrame(schema=VERDICT)
    with part.read.opened() as there, caught() as said:
        rows = rows_without(there, order.all_asked) if order.all_asked else there
        if part.read.rows:
            voter = _voter(order.plan, order.method)
            found = decide(voter, rows, n=order.n, answers=reader, on_demand=True, **order.options)
            verdicts = pl.concat(found.verdicts)
    empty = verdicts["answer"].null_count()
    if order.threshold is not None:
        verdicts = abstaining(verdicts, order.threshold)
    means = np.concatenate([np.empty(0), *found.question_means])
    few = np.linspace(0, len(means) - 1, min(len(means), MOST_REFERENCES)).astype(np.int64)
    origin = found.origin
    summary = {
        "part": part.name, "questions": verdicts.height, "responses": reader.responses, "without_answer": empty,
        "answered": int(verdicts["answered"].sum()) if order.threshold is not None else verdicts.height - empty,
        "unreadable": reader.unreadable, "undecided": reader.undecided, "costly": reader.costly,
        "replaced": reader.replaced,
        "how_read": [reader.counts.extracted, reader.counts.last_numbers, reader.counts.cut],
        "largest": found.largest, "short": found.short, "any_score": found.any_score, "score": origin.score,
        "llms": list(origin.llms or ([origin.llm] if origin.llm else [])), "means": means[few].tolist(),
        "source": origin.source, "llm_column": origin.llm_column, "score_columns": list(origin.score_columns),
        "single": origin.single,
        "said": [text for text in said if not any(each in text for each in COUNTED)],
    }  # fmt: skip
    seal_part(part, verdicts, summary)
    return summary


@cache
def _voter(plan: str | None, method: str | None) -> Method:
    return voter_of(plan, method)


def _add(found: VotedParts, part: Mapping[str, Any], reader: AnswerReader) -> None:
    """Add what was noticed in one part to what was noticed in the others."""
    for name in ("questions", "responses", "without_answer", "answered"):
        setattr(found, name, getattr(found, name) + part[name])
    for name in ("responses", "unreadable", "undecided", "costly", "replaced"):
        setattr(reader, name, getattr(reader, name) + part[name])
    reader.counts.add_counts(*part["how_read"])
    decided = found.decided
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
    )  # fmt: skip
