"""Scores the samples of a run with a verifier: durable, resumable, no sample twice.

A score is written to the journal as soon as it arrives, so a process that is killed loses only what was under way. A
response without text is skipped; if the verifier fails on a response, the reason is recorded, and the next command
retries it.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import aclosing
from dataclasses import asdict, dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from steelyard.foundation.errors import RunError, VerifierError
from steelyard.runs.run import Run
from steelyard.runs.token_usage import FIELD, Usage, usage_field, usage_from_field
from steelyard.sampling.verifiers.scored_items import Item, Runner, Scores, split

WAITING = 4096  # records under way to the disk
DIMENSIONS = "dimensions"  # of vectors, as a runner reports it


@dataclass(frozen=True)
class Scoring:
    """The settings that make the scores of one column comparable; a resumed command must have the same."""

    column: str
    verifier: str
    model: str
    split: str
    context: int | None = None
    criteria: str | None = None  # the hash of a judge's criteria; None: the default ones


@dataclass
class Scored:
    """The result of a command. `before` were scored earlier, `empty` responses have no text, `unsampled` ones failed.

    With a `rule` responses were scored on demand: `not_scored` did not need a score, `copied` have the same text as
    another that was scored, and `readable` have an answer to vote for. `run` is the folder of the scores, and `spent`
    the usage that the verifier's server billed. A judge that compares responses made `comparisons`: `ties` gave both
    responses 0.5, and `unreadable` ones count for neither.
    """

    before: int = 0
    new: int = 0
    truncated: int = 0
    empty: int = 0
    unsampled: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    detected: dict[str, Any] = field(default_factory=dict)
    run: Path = Path()
    rule: str | None = None
    not_scored: int = 0
    copied: int = 0
    readable: int = 0
    comparisons: int = 0
    ties: int = 0
    unreadable: int = 0
    spent: Usage = field(default_factory=Usage)


async def score_samples(
    run: Run,
    scoring: Scoring,
    connect: Callable[[], Awaitable[Runner]],
    *,
    max_failures: int,
    progress: Callable[[float], None] = lambda _: None,
) -> Scored:
    """Score all samples without a score; the verifier is loaded or connected to only if there are any."""
    check_same(run, scoring)
    done = Scored(before=len(run.state.scores[scoring.column].done), unsampled=len(run.state.samples.failed))
    items = unscored_items(run, scoring, done)
    first = next(items, None)
    if first is None:
        return done
    left = len(run.state.samples.done) - done.before
    runner = await connect()
    saving = Saving(run)
    try:
        done.detected = runner.detected
        check_dimensions(run, scoring, done.detected)
        await run.add({"kind": "note", "about": "score", **asdict(scoring), "found": runner.detected})
        async with aclosing(runner.score(chain([first], items))) as results:
            async for item, result in results:
                await saving.add(record_of(scoring, item, result))
                count(done, result, max_failures)
                progress(min(1.0, (done.new + done.empty + done.failures.total()) / left))
    finally:
        await saving.finish()
        await runner.close()
    return done


class Saving:
    """Writes records without waiting for each; an error of the disk is raised by the next call."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.under_way: set[asyncio.Task[None]] = set()
        self.error: BaseException | None = None

    async def add(self, record: dict[str, Any]) -> None:
        """Start to write a record; wait only if many are under way."""
        task = asyncio.ensure_future(self.run.add(record))
        self.under_way.add(task)
        task.add_done_callback(self._written)
        if len(self.under_way) >= WAITING:
            await asyncio.wait(self.under_way, return_when=asyncio.FIRST_COMPLETED)
        self._check()

    async def finish(self) -> None:
        """Wait until everything is on the disk."""
        while self.under_way:
            await asyncio.wait(self.under_way)
        self._check()

    def _written(self, task: asyncio.Task[None]) -> None:
        self.under_way.discard(task)
        if not task.cancelled() and task.exception():
            self.error = self.error or task.exception()

    def _check(self) -> None:
        if self.error:
            raise self.error


def unscored_items(run: Run, scoring: Scoring, done: Scored) -> Iterator[Item]:
    """The responses to score, made lazily."""
    prompts = dict(zip(run.questions["question"], run.questions["prompt"], strict=True))
    for sample in run.unscored(scoring.column):
        steps = split(sample.get("response") or "", scoring.split)
        if steps:
            yield Item(prompts.get(sample["question"]) or "", steps, sample)
        else:
            done.empty += 1


def record_of(scoring: Scoring, item: Item, result: Scores | str) -> dict[str, Any]:
    """The journal's record of a score, or of a failure."""
    key = {"verifier": scoring.column, "question": item.sample["question"], "sample": item.sample["sample"]}
    if isinstance(result, str):
        return {"kind": "score-failure", **key, "reason": result}
    return {
        "kind": "score",
        **key,
        **result.content,
        "split": scoring.split,
        "truncated": result.truncated,
        **({} if result.usage is None else {FIELD: _billed(result.usage, result.samples)}),
    }


def _billed(usage: Mapping[str, Any], samples: int) -> dict[str, int]:
    """The tokens of one request; a pooling server generates none, and some do not report that."""
    return usage_field({"completion_tokens": 0, **usage}, samples)


def usage_of_score(result: Scores | str) -> Usage:
    """The usage of one score; empty if no server reports it."""
    if isinstance(result, str) or result.usage is None:
        return Usage()
    return usage_from_field(_billed(result.usage, result.samples))


def count(done: Scored, result: Scores | str, max_failures: int) -> None:
    """Count a result; too many failures end the command."""
    if isinstance(result, Scores):
        done.new += 1
        done.truncated += result.truncated
        done.spent += usage_of_score(result)
        return
    done.failures[result] += 1
    if done.failures.total() > max_failures:
        reason, times = done.failures.most_common(1)[0]
        raise VerifierError(
            f"stopped after {done.failures.total()} failures ({times} times: {reason}); {done.new} new scores are "
            "saved: fix that and run the same command again, or allow more with --max-failures"
        )


def check_same(run: Run, scoring: Scoring, *, begun: bool = False) -> None:
    """Scores of one column come from one verifier, one model and one split; a column without scores is free.

    `begun`: whether the column has comparisons, which will become scores.
    """
    notes = _notes(run, scoring)
    if not notes or not (begun or len(run.state.scores[scoring.column].done)):
        return
    refuse_other(run.folder, notes[-1], scoring)


def check_dimensions(run: Run, scoring: Scoring, detected: Mapping[str, Any]) -> None:
    """Refuse to continue a column of vectors with vectors of another length."""
    notes = _notes(run, scoring)
    earlier = (notes[-1].get("found") or {}).get(DIMENSIONS) if notes else None
    if earlier and len(run.state.scores[scoring.column].done) and earlier != detected.get(DIMENSIONS):
        raise RunError(
            f"the vectors in the column {scoring.column!r} of {run.folder} have {earlier} numbers, and "
            f"{scoring.model} now gives {detected.get(DIMENSIONS)}: serve the same model, or name another column "
            "with --as"
        )


def _notes(run: Run, scoring: Scoring) -> list[dict[str, Any]]:
    """The settings of the commands that wrote to a column."""
    return [note for note in run.state.notes if note.get("about") == "score" and note.get("column") == scoring.column]


def refuse_other(folder: Path, begun: Mapping[str, Any], scoring: Scoring) -> None:
    """Refuse to continue a column that was started with other settings."""
    pairs = [(name, begun.get(name), value) for name, value in asdict(scoring).items()]
    changed = [f"{name} was {before!r}, now {now!r}" for name, before, now in pairs if before != now]
    if changed:
        raise RunError(
            f"the column {scoring.column!r} of {folder} was begun with other settings "
            f"({'; '.join(changed)}): repeat those, or name another column with --as"
        )
