"""What people say about verdicts, kept beside what the votes were, and how the confidence has held so far.

A request is on the disk before its reply goes out, so that it can be labelled, whatever happens to the server; a label
is on the disk before it is confirmed. A disk that refuses fails no request: it is logged and counted.

Only the key that sent a request may label it; to other keys its id is unknown. A request without an owner was sent to a
server without keys, or is older than owners: it can be labelled while the server has at most one key.
"""

from __future__ import annotations

import asyncio
import logging
import re
import sys
import time
from collections import Counter, deque
from typing import Any, NamedTuple

import numpy as np

from steelyard.answers.auto_kind import DEFAULT, kind_from_question
from steelyard.answers.extract import AUTO
from steelyard.foundation.errors import LabelError, RunError, SteelyardError
from steelyard.foundation.surrogates import replace_surrogates
from steelyard.gateway.feedback.kept_request import request_record
from steelyard.gateway.feedback.label_match import correct_answers
from steelyard.gateway.limits.access import NO_OWNER
from steelyard.gateway.messages.api_errors import ApiError, invalid
from steelyard.gateway.metrics import Metrics
from steelyard.gateway.vote.counting import Counting
from steelyard.gateway.vote.decision import Decision
from steelyard.gateway.vote.policies import AnswerPolicy
from steelyard.runs.feedback_folder import MAX_BYTES, REQUEST, FeedbackFolder, FeedbackSettings, Record, confidence_in
from steelyard.voting.confidence.calibration_error import calibration_curve
from steelyard.voting.confidence.drift import MOST_REFERENCES, score_drift
from steelyard.voting.score_weights import clipped_logit

LOG = logging.getLogger("steelyard.gateway")
MOST_KNOWN = 100_000  # requests that can still be labelled: the last ones
LEAST_SCORED = 20  # requests whose scores can be held against those of the calibration set
_ID = re.compile(r"(?:chatcmpl-|resp_)?([0-9a-f]{32})")


class Known(NamedTuple):
    """A request that can be labelled."""

    offset: int | None  # in the journal; None: not written yet
    owner: str


class Labelled(NamedTuple):
    """The label of a request, and the confidence that it is held against; None: the vote had none."""

    correct: tuple[bool, ...]  # of each answer
    verdict: bool
    confidence: float | None


class Feedback:
    """The requests and labels of one folder; `reference` is the evidence that the plan was fitted on."""

    def __init__(
        self, counting: Counting, metrics: Metrics, *, model: str, texts: bool, reference: tuple[float, ...] = (),
        keys: int = 1,
    ) -> None:  # fmt: skip
        self.counting, self.metrics, self.model, self.texts = counting, metrics, model, texts
        self.reference, self.keys = reference, keys
        self.kind = ""
        self.known: dict[str, Known] = {}  # by id
        self.labels: dict[str, Labelled] = {}
        self.means: deque[float] = deque(maxlen=MOST_REFERENCES)  # the evidence of the last requests
        self._confidence: dict[str, float | None] = {}  # while the journal is read
        self._pending: dict[str, asyncio.Task[None]] = {}
        self._folder: FeedbackFolder | None = None
        self._labelling: Counter[str] = Counter()  # requests that are being labelled
        self._trimming: asyncio.Task[None] | None = None

    @property
    def folder(self) -> FeedbackFolder:
        if self._folder is None:
            raise AssertionError("it is opened before the server listens")
        return self._folder

    def open(self, path: Any, settings: FeedbackSettings, most: int = MAX_BYTES) -> None:
        """Take up the folder and what is in it."""
        self.kind = settings.answers
        self._folder = FeedbackFolder(path, settings, self._see, most)
        self._confidence.clear()

    async def close(self) -> None:
        """Wait for what is being written, and let go of the folder."""
        await asyncio.gather(*self._pending.values(), return_exceptions=True)
        if self._trimming:
            await asyncio.gather(self._trimming, return_exceptions=True)
        self.folder.close()

    def _see(self, offset: int, record: Record) -> None:
        name = record["question"]
        if record["kind"] == REQUEST:
            self._know(name, offset, record)
            self._confidence[name] = confidence_in(record)
        elif name in self._confidence:
            self._label(name, Labelled(tuple(record["correct"]), record["verdict"], self._confidence[name]))

    def decided(self, reply: str, decision: Decision, owner: str) -> None:
        """Begin to write down a request that was voted on."""
        name = _name(reply)
        if name is None:
            raise AssertionError(f"{reply} is an id of ours")
        record = request_record(name, decision, owner, model=self.model, texts=self.texts)
        if self.kind == AUTO:
            record["answers_kind"] = kind_from_question(decision.asked.question)
        self._know(name, None, record)
        writing = self.folder.add(record, lambda place: self._placed(name, place))
        self._pending[name] = task = asyncio.create_task(self._written(writing))
        task.add_done_callback(lambda _: self._pending.pop(name, None))

    async def kept(self, reply: str) -> None:
        """Return when a request is on the disk, or cannot be."""
        if task := self._pending.get(_name(reply) or ""):
            await asyncio.shield(task)

    def _placed(self, name: str, place: int) -> None:
        if name in self.known:
            self.known[name] = self.known[name]._replace(offset=place)

    async def _written(self, writing: asyncio.Task[int]) -> None:
        try:
            await writing
        except RunError as error:
            LOG.error("a request could not be kept for feedback: %s", error)  # noqa: TRY400 - one line says it
            self.metrics.lost.add()
            return
        if self.folder.is_long and (self._trimming is None or self._trimming.done()):
            self._trimming = asyncio.create_task(self._trim())

    async def _trim(self) -> None:
        """Forget the oldest requests that nobody has labelled, here and on the disk."""
        try:
            await self.folder.trim(self._labelling, self._moved)
        except (SteelyardError, OSError) as error:
            LOG.error("the journal of feedback could not be made shorter: %s", error)  # noqa: TRY400

    def _moved(self, places: dict[str, int]) -> None:
        self.known = {
            name: each._replace(offset=places.get(name))
            for name, each in self.known.items()
            if each.offset is None or name in places
        }  # fmt: skip

    async def label(self, reply: str, owner: str, *, correct: bool | None, answer: str | None) -> dict[str, Any]:
        """Keep what the owner of a request says of its verdict; return what is held now, once it is on the disk."""
        name = _name(reply)
        if name is None or not self._may_label(name, owner):
            raise _unknown(reply)
        self._labelling[name] += 1
        try:
            return await self._labelled(reply, name, correct, answer)
        finally:
            self._labelling[name] -= 1
            self._labelling += Counter()  # without those that are none any more

    def _may_label(self, name: str, owner: str) -> bool:
        known = self.known.get(name)
        if known is None:
            return False
        return known.owner == owner or (known.owner == NO_OWNER and self.keys <= 1)

    async def _labelled(self, reply: str, name: str, correct: bool | None, answer: str | None) -> dict[str, Any]:
        await self.kept(reply)
        try:
            record = await self.folder.read(lambda: self._place(reply, name))
            if record["question"] != name:
                raise RunError("another request stands in the place of this one")
            flags = await self._flags(record, correct, answer)
            verdict = record["verdict"] is not None and flags[record["verdict"]]
            said: Record = {"kind": "label", "question": name, "at": time.time(), "correct": flags, "verdict": verdict}
            writing = self.folder.add(said | ({} if answer is None else {"gold": answer}))
            before = self._label(name, Labelled(tuple(flags), verdict, confidence_in(record)))
            await asyncio.shield(writing)
        except (RunError, OSError, ValueError) as error:
            LOG.error("a label could not be kept: %s", error)  # noqa: TRY400
            raise ApiError(503, "the label could not be written: the log of this server says why") from None
        self.metrics.feedback.add(correct=str(verdict).lower())
        changed = before is not None and before.correct != tuple(flags)
        return {
            "object": "steelyard.feedback", "id": reply, "correct": verdict,
            "correct_answers": [each for each, flag in zip(record["answers"], flags, strict=True) if flag],
            "replaced": {"correct": before.verdict} if changed and before else None,
        }  # fmt: skip

    def _place(self, reply: str, name: str) -> int:
        if name not in self.known:
            raise _unknown(reply)  # it was forgotten while others read
        place = self.known[name].offset
        if place is None:
            raise RunError("the request is not on the disk")
        return place

    async def _flags(self, record: Record, correct: bool | None, answer: str | None) -> list[bool]:
        kept = record["answers"]
        if answer is not None:
            kind = record.get("answers_kind") or self.kind if record["policy"] == AnswerPolicy.name else "exact"
            kind = DEFAULT if kind == AUTO else kind
            texts = [replace_surrogates(each) for each in (*kept, answer)]
            try:
                return await self.counting.run(kind, texts, lambda reader: correct_answers(record, answer, reader))
            except LabelError as error:
                raise invalid("answer", str(error)) from None
        if record["verdict"] is None or (correct and record["abstained"]):
            raise invalid("correct", "there was no verdict on this request: send the correct answer as 'answer'")
        return [bool(correct) and place == record["verdict"] for place in range(len(kept))]

    def _know(self, name: str, offset: int | None, record: Record) -> None:
        """Remember where a request stands, and forget the oldest."""
        self.known[name] = Known(offset, sys.intern(record.get("owner") or NO_OWNER))
        if len(self.known) > MOST_KNOWN:
            oldest = next(iter(self.known))
            del self.known[oldest]
            self._confidence.pop(oldest, None)
        there = [sample["score"] for sample in record["samples"] if sample["score"] is not None]
        if there:
            self.means.append(float(np.mean(clipped_logit(np.array(there)))))

    def _label(self, name: str, label: Labelled) -> Labelled | None:
        before = self.labels.pop(name, None)
        self.labels[name] = label
        if len(self.labels) > MOST_KNOWN:
            del self.labels[next(iter(self.labels))]
        return before

    def summary(self) -> dict[str, Any]:
        """How the confidence has held so far, and whether the scores look as they did."""
        labels = list(self.labels.values())
        known = [(each.confidence, each.verdict) for each in labels if each.confidence is not None]
        confidence = np.array([sure for sure, _ in known])
        curve = calibration_curve(confidence, np.array([verdict for _, verdict in known], bool)) if known else None
        scored = len(self.means) >= LEAST_SCORED
        drift = score_drift(self.reference, list(self.means)) if scored and self.reference else None
        return {
            "object": "steelyard.feedback_summary",
            "requests": len(self.known),
            "labelled": len(labels),
            "correct": sum(each.verdict for each in labels),
            "with_confidence": len(known),
            "confidence": float(confidence.mean()) if known else None,
            "calibration_error": curve.ece if curve else None,
            "bins": [vars(each) for each in curve.bins] if curve else [],
            "drift": None if drift is None else {**vars(drift), "moved": drift.warning is not None},
        }


def _unknown(reply: str) -> ApiError:
    return ApiError(
        404, f"no request {reply!r:.80} is known here: the id of a reply of this server's own model is needed, and the "
        f"last {MOST_KNOWN:,} are known, as far as the limit 'feedback' keeps them", param="id", code="unknown_id",
    )  # fmt: skip


def _name(reply: str) -> str | None:
    """The part of an id that chat completions and responses have in common; None for no id of ours."""
    found = _ID.fullmatch(reply)
    return found[1] if found else None
