"""The state of one question after some samples, and along a cascade: which answers count, which source is next."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from steelyard.answers.kind import Kind
from steelyard.foundation.arguments import argument
from steelyard.foundation.errors import SettingError, SteelyardWarning, did_you_mean
from steelyard.voting.fitting.answer_odds import Panel
from steelyard.voting.stopping.cascade import Cascade, joined

Entry = tuple[str | None, float | None, str | None]  # answer, score and source


@dataclass(frozen=True)
class BallotState:
    """The state of a question after some samples.

    >>> from steelyard import Ballot, MajorityVote
    >>> stands = Ballot(MajorityVote()).add("7")
    >>> stands.verdict, stands.votes, stands.stop
    ('7', 1, False)
    """

    verdict: str | None  # None: no readable answer yet
    confidence: float | None  # the probability that the verdict is correct; None: the method learned none
    share: float  # of the readable answers, those that gave the verdict
    margin: float
    votes: int  # for the verdict
    samples: int  # counted so far
    stop: bool
    why: str  # one line
    next: tuple[str, ...] = ()  # the sources to ask now, by the plan's cascade


def check_cascade(kind: Kind) -> None:
    """Refuse free text, whose answers are similar but not equal."""
    if kind.similarity is not None:
        raise SettingError(
            "a cascade votes only on equal answers, and this plan is for free text: make the plan with 'steelyard fit'"
        )


class CascadeWalk:
    """Follows the steps of a cascade in order; an answer counts when its step is reached, however early it arrived."""

    def __init__(self, cascade: Cascade) -> None:
        self.cascade = cascade
        self._entries: dict[str, dict[int, Entry]] = {}
        self._sampled: tuple[str, ...] = ()  # the sources whose answers count
        self._step = 0
        self._confidence = 0.0
        self._code, self._codes = -1, list[int]()

    def add(self, entry: Entry, sample: int | None, sources: Sequence[str]) -> None:
        """Add an answer; those of each source are numbered 0, 1, 2, .."""
        source = entry[2]
        if source is None:
            raise SettingError(
                f"this plan asks its sources in turn: name the source, as {argument('source', self.cascade.sources[0])}"
            )
        if source not in self.cascade.sources:
            if source not in sources:
                raise SettingError(
                    f"no source {source!r} in this plan: {did_you_mean(source, sources or self.cascade.sources)}"
                )
            warnings.warn(f"the cascade skips {source}, so this answer does not count", SteelyardWarning, stacklevel=3)
            return
        entries = self._entries.setdefault(source, {})
        number = max(entries, default=-1) + 1 if sample is None else sample
        if entries.setdefault(number, entry)[0] != entry[0]:
            raise SettingError(
                f"sample {number} of {source} was added twice, as {entries[number][0]!r:.40} and as {entry[0]!r:.40}: "
                "give every sample of a source a number of its own"
            )

    @property
    def next_sources(self) -> tuple[str, ...]:
        """The sources to ask now; empty at the end."""
        steps = self.cascade.steps[self._step :]
        return tuple(name for step in steps[:1] for name in joined(self._sampled, step)[len(self._sampled) :])

    @property
    def ready(self) -> bool:
        """Whether the current step can be taken: all its answers have arrived, or it asks no source."""
        if self._step >= len(self.cascade.steps):
            return False
        return not self._asks() or all(self._complete(name) for name in self.next_sources)

    def take_step(self) -> list[Entry]:
        """Take the step and return the answers that count now, in the order of the cascade."""
        if self._asks():
            self._sampled = joined(self._sampled, self.cascade.steps[self._step])
        self._step += 1
        return [self._entries[name][i] for name in self._sampled for i in range(self.cascade.samples_of(name))]

    def look(self, codes: list[int]) -> None:
        """Decide by the answers that count, given by their codes."""
        names = list(self._sampled)
        source = [k for k, name in enumerate(names) for _ in range(self.cascade.samples_of(name))]
        zeros = np.zeros(len(codes), np.int64)
        none = np.zeros(len(codes), bool)
        panel = Panel.build(names, 1, zeros, np.array(codes, np.int32), np.array(source, np.int32), none)
        leading = self.cascade.leading(panel, self._sampled)
        self._codes, self._confidence = codes, float(leading.confidence[0])
        self._code = int(panel.code[leading.row[0]]) if leading.row[0] >= 0 else -1

    def state(self, names: Any) -> BallotState:
        """The state of the question; `names` are the answers by code."""
        votes, readable = self._codes.count(self._code), sum(code >= 0 for code in self._codes)
        over = self._step >= len(self.cascade.steps)
        undecided = self._code < 0
        share = 0.0 if undecided else votes / readable
        rival = max((self._codes.count(code) for code in set(self._codes) - {-1, self._code}), default=0)
        sure = f"the answer so far is correct with probability {self._confidence:.3f}"
        if undecided:
            sure = "there is no answer yet"
        missing = tuple(name for name in self.next_sources if not self._complete(name))
        return BallotState(
            verdict=None if undecided else names[self._code],
            confidence=self._confidence if self._sampled else None,
            share=share,
            margin=0.0 if undecided else (votes - rival) / readable,
            votes=0 if undecided else votes,
            samples=len(self._codes),
            stop=over,
            why=f"stop: {sure}" if over else f"ask {' and '.join(missing)}: {sure}",
            next=missing,
        )

    def _asks(self) -> bool:
        return bool(self.cascade.steps[self._step].asks(np.array([self._confidence]))[0])

    def _complete(self, name: str) -> bool:
        entries = self._entries.get(name, {})
        return all(i in entries for i in range(self.cascade.samples_of(name)))
