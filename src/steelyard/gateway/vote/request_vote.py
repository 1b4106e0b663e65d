"""The vote on one chat request, from sampling to the decision.

Samples are drawn from the upstreams, scored, and counted in the order of their numbers, whichever arrived first. The
plan's stopping rule or cascade may stop early. At the deadline, the vote is on the samples that have arrived.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from steelyard.answers.doubtful_answers import is_cut
from steelyard.answers.extract import AUTO, kind_of
from steelyard.foundation.errors import CalibrationError, SettingError
from steelyard.gateway.limits.request_budget import NO_USAGE, ScoreUsage
from steelyard.gateway.messages.api_errors import ApiError, from_fault, invalid, public
from steelyard.gateway.messages.chat_request import ChatRequest
from steelyard.gateway.upstream.samples import Sample
from steelyard.gateway.upstream.source import Source
from steelyard.gateway.vote.decision import Decision, SourceSummary
from steelyard.gateway.vote.embedder import Embedder, TextComparison
from steelyard.gateway.vote.policies import TEXT, AnswerPolicy, Policy, policy_of, read_answers, similar_policy
from steelyard.gateway.vote.sample_request import SampleRequest, SampleSpec
from steelyard.gateway.vote.sample_set import ALL, DEADLINE, SampleSet, Watch
from steelyard.gateway.vote.scoring import Scorer
from steelyard.gateway.vote.vote_counter import VoteCounter, VoteEntry
from steelyard.gateway.vote.vote_settings import VoteSettings
from steelyard.sampling.ask.ask_cascade import CascadeTurns
from steelyard.sampling.ask.prepare import by_score, planned_counts, unplanned
from steelyard.sampling.ask.sample_stream import Draw, unscored, without_scores
from steelyard.sampling.ask.sample_votes import SCORE, rule_applies
from steelyard.sampling.llm.faults import LateError, SpentError, TryError
from steelyard.sampling.llm.prices import Prices
from steelyard.voting.methods import method_class
from steelyard.voting.methods.base.method import Method
from steelyard.voting.stopping.cascade import Cascade

GREEDY = "temperature 0 gives the same response every time, so one sample was drawn"
ONE_SAMPLE = "there is only one sample, so there was no vote"
NO_ANSWER = "no sample has a readable answer, so there was no vote: the best sample is returned"
BY_SIMILARITY = "no sample has a readable answer: the response that is most like the others is returned"
UNPROBED = "the upstream could not be probed, so its samples came without log-probabilities"
MARGIN = 0.02  # share of a request's time that is reserved for the vote itself, half of it for algebra


@dataclass(frozen=True)
class Voter:
    """How our model votes: its plan or method (None: depends on the available scores), and the scorer."""

    method: Method | None
    scorer: Scorer
    answers: str = AUTO  # the kind of answers; auto: by the text of each question
    cascade: Cascade | None = None
    score: str = SCORE
    embedder: Embedder | None = None  # compares free text


@dataclass
class Voting:
    """Votes on the requests of one model."""

    voter: Voter
    sources: Sequence[Source]
    counter: VoteCounter

    def samples(self, settings: VoteSettings, only: Source | None = None) -> dict[str, int]:
        """The largest number of samples per source; one of the `only` source."""
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

    def score_usage(
        self, chat_request: ChatRequest, settings: VoteSettings, prices: Prices, only: Source | None = None
    ) -> ScoreUsage:
        """The tokens of one score at worst; a cascade and a single sample need no scores."""
        if only or self._cascade(settings):
            return NO_USAGE
        if embedder := self._embedder(settings):
            policy = policy_of(chat_request, self.voter.answers, settings.vote_on)
            embeds = isinstance(policy, AnswerPolicy)
            return embedder.score_usage(chat_request.question, prices) if embeds else NO_USAGE
        return self.voter.scorer.score_usage(chat_request.question, prices)

    async def decide(
        self,
        chat_request: ChatRequest,
        settings: VoteSettings,
        request_id: str,
        watch: Watch = lambda *_: None,
        only: Source | None = None,
    ) -> Decision:
        """Draw, score and count samples; raise an ApiError if there is none at all."""
        method = self.method(settings)
        cascade = None if only else self._cascade(settings)
        threshold = _threshold(method, settings.risk, cascade)
        policy = policy_of(chat_request, self.voter.answers, settings.vote_on, settings.similarity)
        counts, notes = self.samples(settings, only), list[str]()
        if chat_request.temperature == 0 and not cascade and settings.n > 1:
            counts, notes = dict.fromkeys(counts, 1), [GREEDY]
        until = time.monotonic() + settings.deadline_s * (1 - MARGIN)
        vote_until = until + settings.deadline_s * MARGIN / 2
        scorer = None if cascade or only else self.voter.scorer  # a cascade looks at answers alone
        requests = [
            SampleRequest(
                source, chat_request,
                SampleSpec(
                    counts[source.name], until, scored=scorer is not None and scorer.logprobs,
                    at_once=not rule_applies(method) and not settings.separately, max_tokens=settings.max_tokens,
                    allowance=settings.allowance,
                ),
                request_id, scorer,
            )
            for source in ([only] if only else self.sources) if source.name in counts
        ]  # fmt: skip
        sample_set = SampleSet(self.counter, policy, method, requests, cascade, until=until)
        stopped = await sample_set.all(watch)
        if not any(sample.choice for sample in sample_set.samples):
            raise _no_sample(sample_set, settings.deadline_s)
        if stopped == DEADLINE:
            notes.append(DEADLINE)
        if scorer is not None and scorer.logprobs and any(request.source.abilities is None for request in requests):
            notes.append(UNPROBED)
        await read_answers(policy, sample_set.samples)
        entries = sample_set.entries(policy)
        several = requests[0].source.name != ""
        chosen = method or unplanned(any(one.score is not None for one in entries), several)
        turns: CascadeTurns | None = None
        comparison = TextComparison(self._embedder(settings), chat_request.question, vote_until)
        if cascade and sample_set.state:
            (outcome, turns), late = await self.counter.cascade_outcome_of(
                entries, _draws(sample_set), chosen, cascade, sample_set.state, policy.kind,
                [source.name for source in self.sources], vote_until,
            )  # fmt: skip
            notes += late
        else:
            compared = await comparison.of(policy, entries)
            outcome, late = await self.counter.outcome(
                entries, chosen, policy.kind, vote_until, texts=compared, losses=settings.ballots
            )
            notes += late
            notes += _unscored(chosen, sample_set.samples, self.voter) if several else []
        similar = similar_policy(chat_request)
        if outcome.answer is None and (
            texts := await similar_entries(policy, similar, sample_set.samples, sample_set.entries)
        ):
            policy, chosen = similar, similar_method(method, texts)
            outcome, _ = await self.counter.outcome(
                texts, chosen, policy.kind, vote_until, texts=await comparison.of(policy, texts)
            )
            notes.append(BY_SIMILARITY)
        counted = sorted(filter(sample_set.is_counted, sample_set.samples), key=lambda one: (one.number, one.source))
        notes += [*comparison.notes, *_cut_off(policy, counted)]
        used = [request for request in requests if request.source.name in sample_set.requested_sources]
        received = sample_set.received
        failed = [one for one in received if one.choice is None]
        requested = sum(request.spec.n for request in used)
        good = sum(one.choice is not None for one in counted)
        if outcome.answer is None:
            notes.append(NO_ANSWER)
        elif good == 1 and not cascade and (requested == 1 or stopped in (ALL, DEADLINE)):
            notes.append(ONE_SAMPLE)
        return Decision(
            chat_request, settings, policy.name if outcome.answer is not None else TEXT, chosen, outcome, counted,
            requested=requested, uncounted=len(received) - len(failed) - good, failed=failed,
            cancelled=requested - len(received), attempts=sum(request.attempts for request in used),
            at_once=any(request.size > 1 for request in used),
            replies=[reply for request in used for reply in request.replies], stopped=stopped,
            verifier=comparison.fault or sample_set.fault, threshold=threshold, notes=notes, cascade=turns,
            summaries=[SourceSummary.of(request, received, counted) for request in used] if several else [],
            scoring=[*_scoring(scorer, received), *comparison.usages],
            scored_by=comparison.priced_as or (scorer.priced_as if scorer else None), vectors=comparison.vectors,
        )  # fmt: skip

    def method(self, settings: VoteSettings) -> Method | None:
        """The client's method, else the plan's if it is for such answers; None: depends on the available scores."""
        if settings.method:
            return method_class(settings.method)()
        method, answers = self.voter.method, self.voter.answers
        if settings.similarity is None or (answers != AUTO and kind_of(answers).similarity == settings.similarity):
            return method
        if self.voter.cascade is not None:
            raise invalid(
                "steelyard.similarity", "the plan's cascade votes only on equal answers: omit similarity, or add method"
            )
        return None if method is None or not _votes_unfitted(method) else method

    def _embedder(self, settings: VoteSettings) -> Embedder | None:
        """What compares free text by vectors, unless the client names a similarity."""
        return self.voter.embedder if settings.similarity is None else None

    def _cascade(self, settings: VoteSettings) -> Cascade | None:
        """The plan's cascade, unless the client wants another method."""
        return None if settings.method else self.voter.cascade


async def similar_entries(
    policy: Policy, similar: Policy, samples: Sequence[Sample], entries: Callable[[Policy], list[VoteEntry]]
) -> list[VoteEntry] | None:
    """The entries of a vote on free text instead of `policy`; None if there are not two responses to compare."""
    if not isinstance(policy, AnswerPolicy) or policy.texts is not None:
        return None
    await read_answers(similar, samples)
    rows = entries(similar)
    return rows if sum(row.answer is not None for row in rows) > 1 else None


def similar_method(method: Method | None, entries: Sequence[VoteEntry]) -> Method:
    """The method of such a vote: not a plan for other answers, whose confidence would be wrong."""
    if method is not None and _votes_unfitted(method):
        return method
    return unplanned(any(one.score is not None for one in entries), any(one.source for one in entries))


def _votes_unfitted(method: Method) -> bool:
    """Whether a method votes on free text without a plan."""
    return method.fitted_on_ is None and method.votes_on_similar


def _draws(sample_set: SampleSet) -> list[Draw]:
    """The samples of the requested sources, also those that did not arrive in time."""
    received = {(sample.source, sample.number): sample for sample in sample_set.samples}
    late = Draw(0, None, "no response arrived in time")
    draws = []
    for name in sample_set.requested_sources:
        for number in range(sample_set.requests[name].spec.n):
            sample = received.get((name, number))
            reason = sample.error.reason if sample and sample.error else late.reason
            choice = sample.choice if sample else None
            draws.append(Draw(number, choice, None if choice else reason, name))
    return draws


def _scoring(scorer: Scorer | None, samples: list[Sample]) -> list[Mapping[str, Any] | None]:
    """The reported usage of each score, also of failed ones; empty if no server was asked."""
    if scorer is None or scorer.score_usage("", {}) == NO_USAGE:
        return []
    return [sample.scoring for sample in samples if sample.score is not None or sample.unscored is not None]


def _unscored(method: Method, samples: list[Sample], voter: Voter) -> list[str]:
    """A note about sources without the scores that the plan needs."""
    if not voter.scorer.logprobs or not by_score(method):
        return []
    without = without_scores((sample.source, sample.choice) for sample in samples)
    return [unscored(without, voter.score)] if without else []


def _cut_off(policy: Policy, samples: Sequence[Sample]) -> list[str]:
    """A note about samples that the length limit cut off before they marked an answer."""
    cut = [one for one in samples if one.choice and is_cut(one.choice.finish) and policy.answer(one) is None]
    why = "cut off by the length limit (max_tokens) before they marked an answer, and cast no vote"
    return [f"{len(cut)} of {len(samples)} samples were {why}"] if cut else []


def _threshold(method: Method | None, risk: float | None, cascade: Cascade | None) -> float | None:
    """The confidence threshold that keeps the error within a risk; an ApiError if no threshold does."""
    if risk is None:
        return None
    try:
        if cascade:
            raise CalibrationError("the plan's cascade estimates how likely an answer is, but cannot control the risk")
        if method is None:
            raise CalibrationError(
                "this model has no plan for such answers, so it learned no probability: fit a plan and serve it"
            )
        return method.risk_control(risk).threshold
    except (CalibrationError, SettingError) as error:
        raise invalid("steelyard.risk", f"a risk of {risk:g} cannot be guaranteed: {error}") from None


def _no_sample(sample_set: SampleSet, deadline: float) -> ApiError:
    """The error of a request without any sample: the first reason by sample number, for each upstream.

    Exhausted retries are reported only if there is no other reason.
    """
    first: dict[str, TryError] = {}
    for sample in sorted(
        sample_set.samples, key=lambda one: (isinstance(one.error, SpentError), one.number, one.source)
    ):
        if sample.error:
            first.setdefault(sample.source, sample.error)
    error = from_fault(next(iter(first.values()), LateError(f"no sample within {deadline:g} s")))
    if len(first) > 1:
        reasons = (f"{name}: {public(fault.reason)}" for name, fault in first.items())
        error.message = "no upstream gave a response: " + "; ".join(reasons)
    return error
