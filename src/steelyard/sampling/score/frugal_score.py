"""Scores the samples of a run on demand: in rounds, each on the disk before the next is chosen.

A command that was killed restarts from the scores that the journal had before it; later scores are read from the
journal when the rounds reach them. So the rounds are the same however often they are interrupted, and no score that is
on the disk is requested again.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Awaitable, Callable, Iterator
from contextlib import aclosing
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from steelyard.foundation.errors import SteelyardNote, SteelyardWarning, TableError
from steelyard.runs.derived_table import JOURNAL, fresh_table
from steelyard.runs.index import WIDE, Index
from steelyard.runs.on_demand_records import ENDS, ROUND, has_text, last_walk
from steelyard.runs.parameters import MAX_SOURCES
from steelyard.runs.run import Run
from steelyard.runs.run_state import Key
from steelyard.runs.token_usage import FIELD
from steelyard.sampling.score.frugal_rule import Frugal, Walk
from steelyard.sampling.score.score_samples import Saving, Scored, Scoring, check_same, count, record_of
from steelyard.sampling.verifiers.scored_items import Item, Runner, split
from steelyard.tables import read
from steelyard.tables.score_columns import NO_SCORE
from steelyard.tables.source_column import USUAL
from steelyard.voting.pools.arrays import Floats
from steelyard.voting.pools.pool import Pool

NUMBER = "number in the journal"


async def score_on_demand(
    run: Run,
    scoring: Scoring,
    frugal: Frugal,
    connect: Callable[[], Awaitable[Runner]],
    *,
    texts: bool,
    max_failures: int,
    is_part: bool = False,
    progress: Callable[[float], None] = lambda _: None,
) -> Scored:
    """Request the scores that the rule needs. With `texts` a text that was sampled several times is scored once.

    A run without any readable answer is refused, unless it is a part of one.
    """
    check_same(run, scoring)
    rows = Rows(run, scoring, frugal, texts)
    if not is_part:
        check_readable(run.folder, rows.readable)
    before = last_walk(run.folder / JOURNAL, scoring.column)
    done = Scored(before=len(run.state.scores[scoring.column].done), unsampled=len(run.state.samples.failed))
    done.rule, done.empty, done.readable = frugal.rule.name, rows.empty, rows.readable
    if not before.continues(frugal.note):
        if before.begun is not None:
            warnings.warn(_change(before.begun, frugal, done.before), SteelyardNote, stacklevel=2)
        await run.add(frugal.note)
        before = last_walk(run.folder / JOURNAL, scoring.column)
    scored = np.array([not text for text in rows.has_text]) | np.array([key in before.before for key in rows.keys])
    walk = Walk(frugal.rule, frugal.voter, rows.pool, scored, rows.scores)
    asking = Asking(run, scoring, frugal, rows, connect, max_failures)
    try:
        while readings := walk.next():
            for copies, value in await asking.settle(readings, done):
                walk.tell(copies, value)
            progress(walk.decided)
    finally:
        await asking.close()
    if not before.ended or asking.new:
        await run.add({"kind": "note", "about": ENDS, "column": scoring.column})
    done.not_scored = rows.unread(run, scoring.column)
    done.detected = asking.detected
    return done


def check_readable(folder: Path, readable: int) -> None:
    """Refuse responses without any readable answer: there is nothing to vote for."""
    if not readable:
        raise TableError(
            f"{folder}: no response has a readable answer, so no score can change a verdict: name the "
            "kind of answer with --answers, or score everything, without --frugal"
        )


class Rows:
    """The rows of a run as the vote reads them, with their keys in the journal and their scores so far."""

    def __init__(self, run: Run, scoring: Scoring, frugal: Frugal, texts: bool) -> None:
        table = pl.read_parquet(fresh_table(run.folder))
        has_scores = frugal.score.column in table.columns
        several = list(run.manifest.sources)
        index = table[USUAL].replace_strict(several, range(len(several)), return_dtype=pl.Int64) if several else None
        number = table["sample"] if index is None else table["sample"] * MAX_SOURCES + index
        columns = [name for name in ("question", "sample", "response", "answer", USUAL) if name in table.columns]
        scores = [frugal.score.column] if has_scores else []
        frame = table.select(*columns, *scores).with_columns(number.alias(NUMBER))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SteelyardWarning)  # the vote warns about the table
            self.pool: Pool = read(
                frame,
                score=frugal.score.name if has_scores else NO_SCORE,
                source=USUAL if several else None,
                tokens=NUMBER,
                texts=texts,
                answers=frugal.answers,
            )
        if frugal.voter.weighs_sources:
            frugal.voter.check_pool(self.pool)
        self.readable = int(self.pool.readable.sum())
        self.scores: Floats = self.pool.known_scores.copy() if has_scores else np.full(self.pool.n_responses, np.nan)
        questions = self.pool.questions.to_list()
        numbers: list[int] = np.asarray(self.pool.tokens).astype(np.int64).tolist()
        of_row = self.pool.spread(np.arange(self.pool.n_questions)).tolist()
        self.keys: list[Key] = [(questions[q], i) for q, i in zip(of_row, numbers, strict=True)]
        texts_of = zip(frame["question"], frame[NUMBER], frame["response"], strict=True)
        with_text = {(question, i) for question, i, text in texts_of if has_text(text) and split(text, scoring.split)}
        self.has_text = [key in with_text for key in self.keys]
        failed = run.state.samples.failed
        self.empty = sum(not text and key not in failed for key, text in zip(self.keys, self.has_text, strict=True))

    def unread(self, run: Run, column: str) -> int:
        """How many responses with a text were not scored."""
        tally = run.state.scores[column]
        pairs = zip(self.keys, self.has_text, strict=True)
        return sum(text and key not in tally.done and key not in tally.failed for key, text in pairs)


class Asking:
    """Requests scores of a verifier, which is connected to when the first is not in the journal."""

    def __init__(
        self,
        run: Run,
        scoring: Scoring,
        frugal: Frugal,
        rows: Rows,
        connect: Callable[[], Awaitable[Runner]],
        max_failures: int,
    ) -> None:
        self.run, self.scoring, self.frugal, self.rows = run, scoring, frugal, rows
        self.max_failures = max_failures
        self.detected: dict[str, Any] = {}
        self.new = 0
        self._connect = connect
        self._runner: Runner | None = None
        self._samples = Samples(run)

    async def settle(self, readings: list[list[int]], done: Scored) -> list[tuple[list[int], float]]:
        """The scores of these texts, from the journal or from the verifier; NaN if it fails."""
        settled, left = [], []
        scored = self.run.state.scores[self.scoring.column].done
        for rows in readings:
            recorded = [row for row in rows if self.rows.keys[row] in scored]
            if recorded:
                await self._copy(recorded[0], [row for row in rows if row not in recorded], done)
                settled.append((rows, float(self.rows.scores[recorded[0]])))
            else:
                left.append(rows)
        return settled + (await self._request(left, done) if left else [])

    async def close(self) -> None:
        self._samples.close()
        if self._runner:
            await self._runner.close()

    async def _request(self, readings: list[list[int]], done: Scored) -> list[tuple[list[int], float]]:
        if self._runner is None:
            self._runner = await self._connect()
            self.detected = self._runner.detected
            await self.run.add({"kind": "note", "about": "score", **asdict(self.scoring), "found": self.detected})
        began, settled, saving = time.monotonic(), [], Saving(self.run)
        by_key = {self.rows.keys[rows[0]]: rows for rows in readings}
        try:
            async with aclosing(self._runner.score(self._items(by_key))) as results:
                async for item, result in results:
                    rows = by_key[item.sample["question"], item.sample["sample"]]
                    record = record_of(self.scoring, item, result)
                    for row in rows:
                        await saving.add(self._of(record, row, rows[0]))
                    count(done, result, self.max_failures)
                    done.copied += len(rows) - 1
                    value = self.frugal.values([record["steps"]])[0] if "steps" in record else float("nan")
                    self.rows.scores[rows] = value
                    settled.append((rows, value))
        finally:
            await saving.finish()
            seconds = round(time.monotonic() - began, 3)
            self.new += len(settled)
            note = {"kind": "note", "about": ROUND, "column": self.scoring.column}
            await self.run.add(note | {"read": len(settled), "seconds": seconds})
        return settled

    def _items(self, keys: dict[Key, list[int]]) -> Iterator[Item]:
        """The responses of some keys, read from the journal lazily."""
        for key in keys:
            sample = self._samples.of(key)
            steps = split(sample.get("response") or "", self.scoring.split)
            yield Item(self._samples.prompts.get(key[0]) or "", steps, sample)

    async def _copy(self, origin: int, copies: list[int], done: Scored) -> None:
        """Record the score of a text for copies that a killed command left without."""
        for row in copies:
            steps = self._samples.steps(self.rows.keys[origin], self.scoring.column)
            settings = {"verifier": self.scoring.column, "split": self.scoring.split}
            record = {"kind": "score", **settings, "steps": steps, "truncated": False}
            await self.run.add(self._of(record, row, origin))
            done.copied += 1

    def _of(self, record: dict[str, Any], row: int, origin: int) -> dict[str, Any]:
        """The record of one copy of a text; one that was not scored itself names the copy that was."""
        question, number = self.rows.keys[row]
        own = {**record, "question": question, "sample": number}
        if row == origin:
            return own
        own.pop(FIELD, None)  # it was billed once
        return {**own, "copy_of": self.rows.keys[origin][1]}


class Samples:
    """The samples of a run by key, read from the journal."""

    def __init__(self, run: Run) -> None:
        questions = run.questions["question"].to_list()
        self.prompts = dict(zip(questions, run.questions["prompt"], strict=True))
        self._number = {question: i for i, question in enumerate(questions)}
        self._index = Index(run.folder / JOURNAL, questions)
        self._file = self._index.journal.open("rb")

    def of(self, key: Key) -> dict[str, Any]:
        return self._index.rows(self._file, self._slice(key))[0]

    def steps(self, key: Key, verifier: str) -> list[float]:
        """The scores of a sample when the command began."""
        (record,) = self._index.scored(self._file, verifier, self._slice(key))
        return list(record["steps"]) if record else []

    def close(self) -> None:
        self._file.close()

    def _slice(self, key: Key) -> slice:
        start = int(np.searchsorted(self._index.keys, self._number[key[0]] << WIDE | key[1]))
        return slice(start, start + 1)


def _change(begun: dict[str, Any], frugal: Frugal, scores: int) -> str:
    """The note on a column that continues with another rule, plan or kind of answer."""
    was = f"the rule {begun.get('rule')} and the plan {begun.get('plan')}"
    now = f"the rule {frugal.rule.name} and the plan {frugal.plan}"
    return f"{frugal.score.column} was scored by {was}: it continues with {now} from the {scores:,} existing scores"
