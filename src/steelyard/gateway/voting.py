"""A chat request that is voted on, from the asking to the decision.

Samples are drawn from the upstream, scored, and counted in the order of their numbers, whoever came first. The plan's
stopping rule may end the drawing early; so does the deadline, and then those that came are voted on.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from steelyard.errors import CalibrationError, SettingError
from steelyard.gateway.api_errors import invalid, of_fault
from steelyard.gateway.chat_request import ChatRequest
from steelyard.gateway.counting import Counted, Counting, RunningBallot
from steelyard.gateway.drawing import Drawing, Wanted
from steelyard.gateway.policies import TEXT, Policy, policy_of
from steelyard.gateway.replays import Replays
from steelyard.gateway.samples import Sample
from steelyard.gateway.scoring import Scorer
from steelyard.gateway.source import Source
from steelyard.gateway.usage import added
from steelyard.gateway.vote_settings import VoteSettings
from steelyard.jobs.ask import Outcome, unplanned
from steelyard.jobs.standing import Standing
from steelyard.llm.faults import LateError, SpentError, TryError
from steelyard.methods import method_class
from steelyard.methods.base.method import Method

GREEDY = "temperature 0 gives the same response every time, so one sample was drawn"
DEADLINE = "the deadline was reached, so the vote is over the samples that came in time"
UNPROBED = "the upstream could not be probed, so its samples came without log-probabilities"
MARGIN = 0.02  # of the time of a request that is kept for the vote itself


@dataclass(frozen=True)
class Voter:
    """How a model of ours votes: its plan or method (None: by what scores there are), and what scores the samples."""

    method: Method | None
    scorer: Scorer
    answers: str = "math"


@dataclass
class Decision:
    """What became of a request, for the reply, the metrics and the page."""

    asked: ChatRequest
    settings: VoteSettings
    policy: str
    method: Method
    outcome: Outcome
    samples: list[Sample]  # those that the vote went by, also failed ones, in the order of their numbers
    drawn: int  # samples that were wanted in all
    uncounted: int  # of those, how many came that the vote did not need
    failed: list[Sample]  # of those, the ones that were not given, in the order of their numbers
    cancelled: int  # of those, how many were under way when the drawing ended
    attempts: int
    at_once: bool
    replies: list[dict[str, Any]]
    stopped: str  # why no more were drawn
    verifier: str | None = None  # why the verifier was not believed
    threshold: float | None = None  # of the confidence, by the risk that was asked for
    notes: list[str] = field(default_factory=list)

    @cached_property
    def usage(self) -> dict[str, Any] | None:
        """All that the upstream has billed; None where it counts nothing."""
        return added(reply.get("usage") for reply in self.replies)

    @property
    def good(self) -> list[Sample]:
        """The samples that the vote went by, without failed ones."""
        return [sample for sample in self.samples if sample.choice]

    @property
    def abstained(self) -> bool:
        """Whether the confidence is not what the risk asks for."""
        return self.threshold is not None and not self.outcome.confidence >= self.threshold


Watch = Callable[[Sample, Standing | None], None]


@dataclass
class Voting:
    """Votes on the requests of one model."""

    voter: Voter
    source: Source
    counting: Counting

    async def decide(
        self, asked: ChatRequest, settings: VoteSettings, request_id: str, watch: Watch = lambda *_: None
    ) -> Decision:
        """Draw, score and count; without any sample it is an ApiError."""
        method = method_class(settings.method)() if settings.method else self.voter.method
        threshold = _threshold(method, settings.risk)
        policy = policy_of(asked, self.voter.answers, settings.vote_on)
        notes = []
        n = settings.n
        if asked.temperature == 0 and n > 1:
            n, notes = 1, [GREEDY]
        until = time.monotonic() + settings.deadline_s * (1 - MARGIN)
        wanted = Wanted(
            n, until, scored=self.voter.scorer.logprobs, at_once=_rule(method) is None and not settings.apart,
            max_tokens=settings.max_tokens,
        )  # fmt: skip
        drawing = Drawing(self.source, asked, wanted, request_id, self.voter.scorer)
        drawn = Drawn(self, asked, policy, method)
        stopped = await drawn.all(drawing, until, watch)
        if not any(sample.choice for sample in drawn.samples):
            raise of_fault(_first_error(drawn.samples, settings.deadline_s))
        if stopped == DEADLINE:
            notes.append(DEADLINE)
        if self.voter.scorer.logprobs and self.source.abilities is None:
            notes.append(UNPROBED)
        counted = drawn.counted
        chosen = method or unplanned(any(one.score is not None for one in counted))
        outcome = await self.counting.outcome(counted, chosen, policy.kind)
        known = {(one.number, one.source) for one in drawn.samples}
        unseen = [one for one in drawing.came if (one.number, one.source) not in known]
        came = sorted([*drawn.samples, *unseen], key=lambda one: one.number)
        kept = sorted((one for one in drawn.samples if drawn.is_counted(one)), key=lambda one: one.number)
        failed = [one for one in came if one.choice is None]
        uncounted = len(came) - len(failed) - sum(one.choice is not None for one in kept)
        return Decision(
            asked, settings, policy.name if outcome.answer is not None else TEXT, chosen, outcome, kept, n,
            uncounted, failed, n - len(came), drawing.attempts, drawing.size > 1, drawing.replies, stopped, drawn.fault,
            threshold, notes,
        )  # fmt: skip


class Drawn:
    """The samples of one request as they come, each scored, and how the question stands by the rule."""

    def __init__(self, voting: Voting, asked: ChatRequest, policy: Policy, method: Method | None) -> None:
        self.voting, self.asked, self.policy, self.method = voting, asked, policy, method
        self.samples: list[Sample] = []
        self.fault: str | None = None  # of the verifier
        self.standing: Standing | None = None
        self._ballot = self._new_ballot()
        self._replays = Replays()

    @property
    def counted(self) -> list[Counted]:
        """What the samples enter the vote with; without scores, where the verifier has failed on one."""
        return [self._counted(sample) for sample in self.samples if self.is_counted(sample)]

    def is_counted(self, sample: Sample) -> bool:
        """Whether a sample is among those that the rule went by; without a rule all are."""
        return self.standing is None or not self.standing.stop or sample.number < self.standing.samples

    async def all(self, drawing: Drawing, until: float, watch: Watch) -> str:
        """Take samples until the rule, the number or the time says stop; return why."""
        try:
            async with asyncio.timeout(until - time.monotonic()), aclosing(drawing.samples()) as coming:
                async for sample in coming:
                    for changed in self._replays.sorted_out(sample):
                        await self._take(changed)
                        watch(changed, self.standing)
                    if self.standing and self.standing.stop:
                        return self.standing.why
        except TimeoutError:
            failed = self._unscored()
            self.fault = self.fault or (failed.unscored if failed else None)
            return DEADLINE
        return "all samples were drawn"

    async def _take(self, sample: Sample) -> None:
        """Take a sample in; where the verifier failed on one that the rule has to go by, count all without scores.

        A rule may stop before the number of that sample, whoever came first: until all before it are there it waits.
        """
        before = len(self.samples)
        self.samples = [one for one in self.samples if (one.number, one.source) != (sample.number, sample.source)]
        self.samples.append(sample)
        if len(self.samples) == before:
            await self._count_anew()
        elif self._ballot and (self.fault is not None or sample.unscored is None):
            self.standing = await self._ballot.add(self._counted(sample))
        if self.fault is None and not (self.standing and self.standing.stop):
            scored = {one.number for one in self.samples if one.unscored is None}
            failed = self._unscored()
            if failed and (self._ballot is None or scored >= set(range(failed.number))):
                await self._degrade(failed)

    async def _degrade(self, failed: Sample) -> None:
        """Count all anew without scores."""
        self.fault = failed.unscored
        await self._count_anew()

    async def _count_anew(self) -> None:
        self._ballot = ballot = self._new_ballot()
        if ballot:
            for each in self.samples:
                if self.fault is not None or each.unscored is None:
                    self.standing = await ballot.add(self._counted(each))

    def _unscored(self) -> Sample | None:
        """The first sample by number that the verifier failed on."""
        failed = (one for one in self.samples if one.unscored is not None)
        return min(failed, key=lambda one: one.number, default=None)

    def _counted(self, sample: Sample) -> Counted:
        score = None if self.fault is not None else sample.score
        return Counted(sample.number, sample.source, self.policy.answer(sample), score)

    def _new_ballot(self) -> RunningBallot | None:
        rule = _rule(self.method)
        return RunningBallot(self.voting.counting, self.method, self.policy.kind) if self.method and rule else None


def _rule(method: Method | None) -> Any:
    return None if method is None else method.stopping_


def _threshold(method: Method | None, risk: float | None) -> float | None:
    """From which confidence on the error stays within a risk; a risk that nobody can promise is the client's error."""
    if risk is None:
        return None
    try:
        if method is None:
            raise CalibrationError("this model has no plan to control a risk by")
        return method.risk_control(risk).threshold
    except (CalibrationError, SettingError) as error:
        raise invalid("steelyard.risk", f"a risk of {risk:g} cannot be promised: {error}") from None


def _first_error(samples: list[Sample], deadline: float) -> TryError:
    """Why there is no sample at all."""
    errors = [sample.error for sample in sorted(samples, key=lambda one: one.number) if sample.error]
    errors.sort(key=lambda error: isinstance(error, SpentError))  # which says least
    return errors[0] if errors else LateError(f"no sample within {deadline:g} s")
