"""A chat request that is voted on, from the asking to the decision.

Samples are drawn from the upstreams, scored, and counted in the order of their numbers, whoever came first. The plan's
stopping rule or its cascade may end the drawing early; so does the deadline, and then those that came are voted on.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from steelyard.answers.doubtful_answers import is_cut
from steelyard.answers.extract import AUTO
from steelyard.foundation.errors import CalibrationError, SettingError
from steelyard.gateway.limits.worst_case import NOTHING, Reading
from steelyard.gateway.messages.api_errors import ApiError, invalid, of_fault, public
from steelyard.gateway.messages.chat_request import ChatRequest
from steelyard.gateway.messages.samples import Sample
from steelyard.gateway.upstream.source import Source
from steelyard.gateway.vote.counting import Counting
from steelyard.gateway.vote.decision import Decision, Party
from steelyard.gateway.vote.drawing import Drawing, Wanted
from steelyard.gateway.vote.drawn import ALL, DEADLINE, Drawn, Watch
from steelyard.gateway.vote.policies import TEXT, Policy, policy_of
from steelyard.gateway.vote.scoring import Scorer
from steelyard.gateway.vote.vote_settings import VoteSettings
from steelyard.sampling.ask.ask import SCORE, by_score, rule_applies, unplanned
from steelyard.sampling.ask.ask_upstreams import unscored, without_scores
from steelyard.sampling.ask.cascade_outcome import CascadeAsked
from steelyard.sampling.ask.planned_samples import planned_counts
from steelyard.sampling.llm.draws import Draw
from steelyard.sampling.llm.faults import LateError, SpentError, TryError
from steelyard.sampling.llm.prices import Prices
from steelyard.voting.methods import method_class
from steelyard.voting.methods.base.method import Method
from steelyard.voting.stopping.cascade import Cascade

GREEDY = "temperature 0 gives the same response every time, so one sample was drawn"
ONE_SAMPLE = "there is only one sample, so there was no vote"
NO_ANSWER = "no sample has a readable answer, so there was no vote: the best sample is returned"
UNPROBED = "the upstream could not be probed, so its samples came without log-probabilities"
MARGIN = 0.02  # of the time of a request that is kept for the vote itself, half of it for algebra


@dataclass(frozen=True)
class Voter:
    """How a model of ours votes: its plan or method (None: by what scores there are), and what scores the samples."""

    method: Method | None
    scorer: Scorer
    answers: str = AUTO  # the kind of answers; auto: by the text of each question
    cascade: Cascade | None = None
    score: str = SCORE


@dataclass
class Voting:
    """Votes on the requests of one model."""

    voter: Voter
    sources: Sequence[Source]
    counting: Counting

    def samples(self, settings: VoteSettings, only: Source | None = None) -> dict[str, int]:
        """How many samples a request may draw of every source; one of the `only` source."""
        if only:
            return {only.name: 1}
        if not (cascade := self._cascade(settings)):
            counts = self.voter.method.samples_ if self.voter.method and not settings.method else None
            names = [source.name for source in self.sources]
            if counts is None:
                return dict.fromkeys(names, settings.n)
            planned = planned_counts(counts, names)
            return planned if settings.by_plan else dict.fromkeys(planned, settings.n)
        return {
            source.name: cascade.samples_of(source.name) for source in self.sources if source.name in cascade.sources
        }

    def reading(
        self, asked: ChatRequest, settings: VoteSettings, prices: Prices, only: Source | None = None
    ) -> Reading:
        """What the verifier of a request is billed per sample at worst; a cascade, or a single sample, needs none."""
        return NOTHING if only or self._cascade(settings) else self.voter.scorer.reading(asked.question, prices)

    async def decide(
        self,
        asked: ChatRequest,
        settings: VoteSettings,
        request_id: str,
        watch: Watch = lambda *_: None,
        only: Source | None = None,
    ) -> Decision:
        """Draw, score and count; without any sample it is an ApiError."""
        method = method_class(settings.method)() if settings.method else self.voter.method
        cascade = None if only else self._cascade(settings)
        threshold = _threshold(method, settings.risk, cascade)
        policy = policy_of(asked, self.voter.answers, settings.vote_on)
        wanted, notes = self.samples(settings, only), list[str]()
        if asked.temperature == 0 and not cascade and settings.n > 1:
            wanted, notes = dict.fromkeys(wanted, 1), [GREEDY]
        until = time.monotonic() + settings.deadline_s * (1 - MARGIN)
        decided = until + settings.deadline_s * MARGIN / 2
        scorer = None if cascade or only else self.voter.scorer  # a cascade looks at answers alone
        drawings = [
            Drawing(
                source, asked,
                Wanted(
                    wanted[source.name], until, scored=scorer is not None and scorer.logprobs,
                    at_once=not rule_applies(method) and not settings.apart, max_tokens=settings.max_tokens,
                    allowance=settings.allowance,
                ),
                request_id, scorer,
            )
            for source in ([only] if only else self.sources) if source.name in wanted
        ]  # fmt: skip
        drawn = Drawn(self.counting, policy, method, drawings, cascade, until=until)
        stopped = await drawn.all(watch)
        if not any(sample.choice for sample in drawn.samples):
            raise _no_sample(drawn, settings.deadline_s)
        if stopped == DEADLINE:
            notes.append(DEADLINE)
        if scorer is not None and scorer.logprobs and any(each.source.abilities is None for each in drawings):
            notes.append(UNPROBED)
        counted = drawn.counted
        several = drawings[0].source.name != ""
        chosen = method or unplanned(any(one.score is not None for one in counted), several)
        turns: CascadeAsked | None = None
        if cascade and drawn.standing:
            (outcome, turns), late = await self.counting.cascaded(
                counted, _draws(drawn), chosen, cascade, drawn.standing, policy.kind,
                [source.name for source in self.sources], decided,
            )  # fmt: skip
            notes += late
        else:
            outcome, late = await self.counting.outcome(counted, chosen, policy.kind, decided, losses=settings.ballots)
            notes += late
            notes += _unscored(chosen, drawn.samples, self.voter) if several else []
        kept = sorted(filter(drawn.is_counted, drawn.samples), key=lambda one: (one.number, one.source))
        notes += _cut_off(policy, kept)
        used = [drawing for drawing in drawings if drawing.source.name in drawn.asked]
        came = drawn.came
        failed = [one for one in came if one.choice is None]
        requested, good = sum(drawing.wanted.n for drawing in used), sum(one.choice is not None for one in kept)
        if outcome.answer is None:
            notes.append(NO_ANSWER)
        elif good == 1 and not cascade and (requested == 1 or stopped in (ALL, DEADLINE)):
            notes.append(ONE_SAMPLE)
        return Decision(
            asked, settings, policy.name if outcome.answer is not None else TEXT, chosen, outcome, kept,
            drawn=requested, uncounted=len(came) - len(failed) - good, failed=failed, cancelled=requested - len(came),
            attempts=sum(drawing.attempts for drawing in used), at_once=any(drawing.size > 1 for drawing in used),
            replies=[reply for drawing in used for reply in drawing.replies], stopped=stopped, verifier=drawn.fault,
            threshold=threshold, notes=notes, cascade=turns,
            parties=[Party.of(drawing, came, kept) for drawing in used] if several else [],
            scoring=_scoring(scorer, came), scored_by=scorer.priced_as if scorer else None,
        )  # fmt: skip

    def _cascade(self, settings: VoteSettings) -> Cascade | None:
        """The plan's cascade, unless the client wants another method."""
        return None if settings.method else self.voter.cascade


def _draws(drawn: Drawn) -> list[Draw]:
    """What came of the sources that were asked, and what did not come in time."""
    came = {(sample.source, sample.number): sample for sample in drawn.samples}
    late = Draw(0, None, "nothing came in time")
    found = []
    for name in drawn.asked:
        for number in range(drawn.drawings[name].wanted.n):
            sample = came.get((name, number))
            reason = sample.error.reason if sample and sample.error else late.reason
            choice = sample.choice if sample else None
            found.append(Draw(number, choice, None if choice else reason, name))
    return found


def _scoring(scorer: Scorer | None, samples: list[Sample]) -> list[Mapping[str, Any] | None]:
    """What a verifier's server counted for each score, also for one that failed; nothing if no server was asked."""
    if scorer is None or scorer.reading("", {}) == NOTHING:
        return []
    return [sample.scoring for sample in samples if sample.score is not None or sample.unscored is not None]


def _unscored(method: Method, samples: list[Sample], voter: Voter) -> list[str]:
    """A note about sources without the scores that the plan needs."""
    if not voter.scorer.logprobs or not by_score(method):
        return []
    without = without_scores((sample.source, sample.choice) for sample in samples)
    return [unscored(without, voter.score)] if without else []


def _cut_off(policy: Policy, samples: Sequence[Sample]) -> list[str]:
    """Tell how many samples cast no vote because their length limit ended them before they marked an answer."""
    ended = [one for one in samples if one.choice and is_cut(one.choice.finish) and policy.answer(one) is None]
    why = "cut off by the length limit (max_tokens) before they marked an answer, and cast no vote"
    return [f"{len(ended)} of {len(samples)} samples were {why}"] if ended else []


def _threshold(method: Method | None, risk: float | None, cascade: Cascade | None) -> float | None:
    """From which confidence on the error stays within a risk; a risk that nobody can promise is the client's error."""
    if risk is None:
        return None
    try:
        if cascade:
            raise CalibrationError("the plan's cascade says how likely an answer is, and promises no risk")
        if method is None:
            raise CalibrationError("no probability was learned, as this model has no plan: fit a plan and serve it")
        return method.risk_control(risk).threshold
    except (CalibrationError, SettingError) as error:
        raise invalid("steelyard.risk", f"a risk of {risk:g} cannot be promised: {error}") from None


def _no_sample(drawn: Drawn, deadline: float) -> ApiError:
    """Why there is no sample at all: the first reason, in the order of the samples; of several upstreams, of each.

    That all tries are used up says least.
    """
    first: dict[str, TryError] = {}
    for sample in sorted(drawn.samples, key=lambda one: (isinstance(one.error, SpentError), one.number, one.source)):
        if sample.error:
            first.setdefault(sample.source, sample.error)
    told = of_fault(next(iter(first.values()), LateError(f"no sample within {deadline:g} s")))
    if len(first) > 1:
        reasons = (f"{name}: {public(error.reason)}" for name, error in first.items())
        told.message = "no upstream gave a response: " + "; ".join(reasons)
    return told
