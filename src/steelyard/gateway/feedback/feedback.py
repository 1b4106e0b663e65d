"""Labels of verdicts, stored with the requests that they label.

A request is on disk before its reply is sent, so that it can be labelled whatever happens to the server; a label is on
disk before it is confirmed. If the disk fails, the request still succeeds: the failure is logged and counted.

Only the key that sent a request may label it; to other keys its id is unknown. A request without an owner was sent to a
server without keys, or is older than owners: it can be labelled while the server has at most one key.
"""

from __future__ import annotations

import asyncio
import logging
import re
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from steelyard.answers.auto_kind import kind_from_question
from steelyard.answers.extract import AUTO
from steelyard.answers.kind_choice import DEFAULT
from steelyard.foundation.errors import LabelError, RunError, SteelyardError
from steelyard.foundation.surrogates import replace_surrogates
from steelyard.gateway.feedback.feedback_summary import Label, RecentScores, summary_of
from steelyard.gateway.feedback.request_record import correct_answers, request_record
from steelyard.gateway.limits.access import NO_OWNER
from steelyard.gateway.messages.api_errors import ApiError, invalid
from steelyard.gateway.metrics import Metrics
from steelyard.gateway.vote.decision import Decision
from steelyard.gateway.vote.policies import AnswerPolicy
from steelyard.gateway.vote.vote_counter import VoteCounter
from steelyard.runs.feedback_folder import MAX_BYTES, FeedbackFolder
from steelyard.runs.feedback_journal import REQUEST, confidence_in
from steelyard.runs.feedback_settings import FeedbackSettings
from steelyard.runs.journal_lines import Record

LOG = logging.getLogger("steelyard.gateway")
MAX_REQUESTS = 100_000  # the last requests, which can still be labelled
_ID = re.compile(r"(?:chatcmpl-|resp_)?([0-9a-f]{32})")


class LabellableRequest(NamedTuple):
    """A request that can be labelled."""

    offset: int | None  # in the journal; None: not written yet
    owner: str


class Feedback:
    """The requests and labels of one folder; `reference` is the evidence of the calibration set."""

    def __init__(
        self, path: Path, settings: FeedbackSettings, counter: VoteCounter, metrics: Metrics, *, model: str,
        texts: bool, reference: tuple[float, ...] = (), keys: int = 1, limit: int = MAX_BYTES,
    ) -> None:  # fmt: skip
        """Open the folder and load its records."""
        self.counter, self.metrics, self.model, self.texts = counter, metrics, model, texts
        self.keys, self.kind = keys, settings.answers
        self.requests: dict[str, LabellableRequest] = {}  # by id
        self.labels: dict[str, Label] = {}
        self.scores = RecentScores(reference)
        self._confidence: dict[str, float | None] = {}  # while the journal is read
        self._pending: dict[str, asyncio.Task[None]] = {}
        self._labelling: Counter[str] = Counter()  # requests that are being labelled
        self._trimming: asyncio.Task[None] | None = None
        self.folder = FeedbackFolder(path, settings, self._load, limit)
        self._confidence.clear()

    async def close(self) -> None:
        """Wait for pending writes, and close the folder."""
        await asyncio.gather(*self._pending.values(), return_exceptions=True)
        if self._trimming:
            await asyncio.gather(self._trimming, return_exceptions=True)
        self.folder.close()

    def _load(self, offset: int, record: Record) -> None:
        name = record["question"]
        if record["kind"] == REQUEST:
            self._remember(name, offset, record)
            self._confidence[name] = confidence_in(record)
        elif name in self._confidence:
            self._label(name, Label(tuple(record["correct"]), record["verdict"], self._confidence[name]))

    def on_decision(self, reply: str, decision: Decision, owner: str) -> None:
        """Start to write the record of a request that was voted on."""
        name = _name(reply)
        if name is None:
            raise AssertionError(f"{reply} is an id of ours")
        record = request_record(name, decision, owner, model=self.model, texts=self.texts)
        if self.kind == AUTO:
            record["answers_kind"] = kind_from_question(decision.chat_request.question)
        self._remember(name, None, record)
        writing = self.folder.add(record, lambda offset: self._set_offset(name, offset))
        self._pending[name] = task = asyncio.create_task(self._written(writing))
        task.add_done_callback(lambda _: self._pending.pop(name, None))

    async def wait_until_stored(self, reply: str) -> None:
        """Return when a request is on disk, or could not be written."""
        if task := self._pending.get(_name(reply) or ""):
            await asyncio.shield(task)

    def _set_offset(self, name: str, offset: int) -> None:
        if name in self.requests:
            self.requests[name] = self.requests[name]._replace(offset=offset)

    async def _written(self, writing: asyncio.Task[int]) -> None:
        try:
            await writing
        except RunError as error:
            LOG.error("a request could not be stored for feedback: %s", error)  # noqa: TRY400 - one line is enough
            self.metrics.lost.add()
            return
        if self.folder.is_long and (self._trimming is None or self._trimming.done()):
            self._trimming = asyncio.create_task(self._trim())

    async def _trim(self) -> None:
        """Drop the oldest unlabelled requests, in memory and on disk."""
        try:
            await self.folder.trim(self._labelling, self._update_offsets)
        except (SteelyardError, OSError) as error:
            LOG.error("the feedback journal could not be trimmed: %s", error)  # noqa: TRY400

    def _update_offsets(self, offsets: dict[str, int]) -> None:
        self.requests = {
            name: request._replace(offset=offsets.get(name))
            for name, request in self.requests.items()
            if request.offset is None or name in offsets
        }  # fmt: skip

    async def label(self, reply: str, owner: str, *, correct: bool | None, answer: str | None) -> dict[str, Any]:
        """Store the label of a request by its owner; return it once it is on disk."""
        name = _name(reply)
        if name is None or not self._may_label(name, owner):
            raise _unknown(reply)
        self._labelling[name] += 1
        try:
            return await self._store_label(reply, name, correct, answer)
        finally:
            self._labelling[name] -= 1
            self._labelling += Counter()  # drops zero counts

    def _may_label(self, name: str, owner: str) -> bool:
        request = self.requests.get(name)
        if request is None:
            return False
        return request.owner == owner or (request.owner == NO_OWNER and self.keys <= 1)

    async def _store_label(self, reply: str, name: str, correct: bool | None, answer: str | None) -> dict[str, Any]:
        await self.wait_until_stored(reply)
        try:
            record = await self.folder.read(lambda: self._offset(reply, name))
            if record["question"] != name:
                raise RunError("another request is stored at the position of this one")
            flags = await self._flags(record, correct, answer)
            verdict = record["verdict"] is not None and flags[record["verdict"]]
            label: Record = {"kind": "label", "question": name, "at": time.time(), "correct": flags, "verdict": verdict}
            writing = self.folder.add(label | ({} if answer is None else {"gold": answer}))
            before = self._label(name, Label(tuple(flags), verdict, confidence_in(record)))
            await asyncio.shield(writing)
        except (RunError, OSError, ValueError) as error:
            LOG.error("a label could not be stored: %s", error)  # noqa: TRY400
            raise ApiError(503, "the label could not be written: see the log of this server") from None
        self.metrics.feedback.add(correct=str(verdict).lower())
        changed = before is not None and before.correct != tuple(flags)
        return {
            "object": "steelyard.feedback", "id": reply, "correct": verdict,
            "correct_answers": [text for text, flag in zip(record["answers"], flags, strict=True) if flag],
            "replaced": {"correct": before.verdict} if changed and before else None,
        }  # fmt: skip

    def _offset(self, reply: str, name: str) -> int:
        if name not in self.requests:
            raise _unknown(reply)  # it was dropped in the meantime
        offset = self.requests[name].offset
        if offset is None:
            raise RunError("the request is not on disk")
        return offset

    async def _flags(self, record: Record, correct: bool | None, answer: str | None) -> list[bool]:
        answers = record["answers"]
        if answer is not None:
            kind = record.get("answers_kind") or self.kind if record["policy"] == AnswerPolicy.name else "exact"
            kind = DEFAULT if kind == AUTO else kind
            texts = [replace_surrogates(text) for text in (*answers, answer)]
            try:
                return await self.counter.run(kind, texts, lambda reader: correct_answers(record, answer, reader))
            except LabelError as error:
                raise invalid("answer", str(error)) from None
        if record["verdict"] is None or (correct and record["abstained"]):
            raise invalid("correct", "there was no verdict on this request: send the correct answer as 'answer'")
        return [bool(correct) and index == record["verdict"] for index in range(len(answers))]

    def _remember(self, name: str, offset: int | None, record: Record) -> None:
        """Remember the position of a request, and drop the oldest."""
        self.requests[name] = LabellableRequest(offset, sys.intern(record.get("owner") or NO_OWNER))
        if len(self.requests) > MAX_REQUESTS:
            oldest = next(iter(self.requests))
            del self.requests[oldest]
            self._confidence.pop(oldest, None)
        self.scores.add([sample["score"] for sample in record["samples"] if sample["score"] is not None])

    def _label(self, name: str, label: Label) -> Label | None:
        before = self.labels.pop(name, None)
        self.labels[name] = label
        if len(self.labels) > MAX_REQUESTS:
            del self.labels[next(iter(self.labels))]
        return before

    def summary(self) -> dict[str, Any]:
        """How well the confidence has held so far, and whether the scores have drifted."""
        return summary_of(list(self.labels.values()), len(self.requests), self.scores)


def _unknown(reply: str) -> ApiError:
    return ApiError(
        404, f"unknown request {reply!r:.80}: send the id of a reply of this server's own model; the last "
        f"{MAX_REQUESTS:,} are kept, within the limit 'feedback'", param="id", code="unknown_id",
    )  # fmt: skip


def _name(reply: str) -> str | None:
    """The part that the ids of chat completions and responses share; None if it is not our id."""
    match = _ID.fullmatch(reply)
    return match[1] if match else None
