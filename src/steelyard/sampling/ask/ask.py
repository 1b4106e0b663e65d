"""Samples one question and votes on the answers: `steelyard ask` and `sy.ask`."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass, field
from pathlib import Path

from steelyard.answers.extract import AUTO
from steelyard.runs.token_usage import Usage, usage_field, usage_from_field
from steelyard.sampling.ask.ask_cascade import CASCADE, CascadeTurns, cascade_outcome, in_turn, turns_of
from steelyard.sampling.ask.ask_verifier import ReadBy
from steelyard.sampling.ask.prepare import Prepared, by_score, prepare, unplanned
from steelyard.sampling.ask.sample_stream import (
    Draw,
    SampleRequest,
    check_scored,
    need_samples,
    samples_of,
    together,
    without_empty,
)
from steelyard.sampling.ask.sample_votes import SCORE, Outcome, Watch, count, entered, in_order, pool_of
from steelyard.sampling.interrupts import waits_for
from steelyard.sampling.llm.embedded import LOCAL
from steelyard.sampling.llm.prices import VERIFIER
from steelyard.sampling.llm.upstreams import Named, Serve, served, started
from steelyard.sampling.online.ballot import Ballot
from steelyard.sampling.online.cascade_walk import BallotState
from steelyard.sampling.telemetry.vote_span import recorded_vote


@dataclass(frozen=True)
class AskResult(Outcome):
    """The verdict and the samples behind it; `stopped` is the state at which a plan's rule ended the sampling early."""

    question: str
    model: str
    method: str
    score: str | None  # by which the samples were weighed
    plan: str | None
    draws: list[Draw]
    stopped: BallotState | None
    upstreams: tuple[str, ...] = ()  # the names of several
    cascade: CascadeTurns | None = None  # who was asked and who was not, by a plan that has a cascade
    read_by: ReadBy | None = None  # which verifier read the samples, and why not all of them
    spent_on_scores: Usage = field(default_factory=Usage)

    @property
    def spent(self) -> dict[str, Usage]:
        """The usage billed for the requests, by the name of the upstream ("" for the only one) and of a verifier."""
        total = {name: Usage() for name in self.upstreams or ("",)}
        for draw in self.draws:
            if draw.counts is not None:
                total[draw.source] += usage_from_field(usage_field(draw.counts))
        return total | ({VERIFIER: self.spent_on_scores} if self.spent_on_scores.requests else {})


async def aask(
    question: str,
    *,
    upstream: Named,
    model: Named | None = None,
    n: int | None = None,
    plan: str | Path | None = None,
    prompt: str | Path | None = None,
    answers: str = AUTO,
    temperature: float = 0.7,
    top_p: float = 0.9,
    max_tokens: int | None = None,
    seed: int = 0,
    key_env: Named = "OPENAI_API_KEY",
    verifier: str | None = None,
    verifier_upstream: str | None = None,
    verifier_model: str | None = None,
    criteria: str | None = None,
    local: bool = False,
    frugal: str | bool | None = None,
    progress: Callable[[Draw], None] = lambda _: None,
    serve: Serve = served,
) -> AskResult:
    """The async version of `ask`.

    >>> import asyncio, steelyard as sy
    >>> result = asyncio.run(sy.aask("How many apples?", upstream=upstream, model="m", n=4))
    >>> len(result.votes), result.method
    (4, 'vanilla')
    """
    prepared = prepare(
        question, upstream=upstream, model=model, n=n, plan=plan, prompt=prompt, answers=answers,
        temperature=temperature, top_p=top_p, max_tokens=max_tokens, seed=seed, key_env=key_env, verifier=verifier,
        verifier_upstream=verifier_upstream, verifier_model=verifier_model, criteria=criteria, local=local,
        frugal=frugal,
    )  # fmt: skip
    with recorded_vote() as span:
        if span:
            span.add_request(prepared.model, [{"role": "user", "content": prepared.prompt}])
        result = await _asked(question, prepared, plan, progress, serve)
        if span:
            samples = sum(draw.choice is not None for draw in result.draws)
            span.add_result(result.answer, result.confidence, method=result.method, share=result.share, samples=samples)
        return result


@waits_for(aask)
def ask() -> None:
    """Ask one question n times, group the answers and vote: by a plan, by self_logprob, or one vote per response.

    `upstream` is one address, or several by name, {"a": URL, "b": URL}, with `model` and `key_env` by name too: each is
    asked n times, and one without any sample is reported and does not vote. Without n a plan by `sy.plan_budget` sets
    the number of samples of each; other plans request 8. A plan with a cascade is followed: upstreams are asked in its
    order and as often as it says; `AskResult.cascade` lists them, and the cost. Answers are read as the plan's were;
    without a plan as `answers` says, else as `choice` if the prompt or the question has options, else as math. With
    answers="free" similar responses vote for each other: `AskResult.answer` is one of them, and
    `AskResult.answers` are groups.

    Without a verifier `plan` must be fitted on the score self_logprob; if it has a stopping rule, that ends the
    sampling. A `verifier` scores the samples, in this process (`local`) or at `verifier_upstream`; one that asks a chat
    server asks the upstream by default, and a judge grades by `criteria`, a text. Then `plan` is one for its score, and
    with `frugal` ("exact", "expected", or True) only samples that can change the verdict are scored: `Vote.verifier`
    says which, `AskResult.read_by` why.

    `progress` is called with every sample as it arrives; `serve` opens the server. The options are those of
    `steelyard ask`.

    >>> import steelyard as sy
    >>> result = sy.ask("How many apples are in the basket?", upstream=upstream, model="m", n=8)
    >>> result.answer == max(result.answers, key=lambda one: one.weight).answer
    True
    >>> sum(one.votes for one in result.answers), 0 < result.share <= 1
    (8, True)
    >>> result.confidence is None  # a probability takes a plan that has learned one
    True
    """


async def _asked(
    question: str, prepared: Prepared, plan: str | Path | None, progress: Callable[[Draw], None], serve: Serve
) -> AskResult:
    """Sample, score and vote."""
    names, kind, score, model_names = prepared.names, prepared.kind, prepared.score, prepared.model
    voter, reading, cascade = prepared.voter, prepared.reading, prepared.cascade
    needed = score if voter and by_score(voter) and not reading else None
    async with AsyncExitStack() as servers:
        requests = []
        for server in sorted(prepared.upstreams, key=lambda one: one.url != LOCAL):
            address = await servers.enter_async_context(started(serve, server.url, server.key_env))
            sampling = prepared.samplings[server.name]
            requests.append(SampleRequest(server.name, address, sampling, prepared.prompt, None if names else needed))
        if voter and cascade:
            ballot = servers.enter_context(Ballot(voter, answers=kind))
            samples = await in_turn(requests, ballot, cascade, kind, progress)
            need_samples(samples, requests)
            without_empty(samples, requests)
            pool = pool_of(samples, by=SCORE, answers=kind)
            return AskResult(
                **vars(cascade_outcome(pool, entered(samples), cascade, ballot.state)), question=question,
                model=model_names, method=CASCADE, score=None, plan=str(plan), draws=samples, stopped=ballot.state,
                upstreams=names, cascade=turns_of(pool, samples, cascade, names),
            )  # fmt: skip
        watch = servers.enter_context(Watch(None if reading else voter, kind, names, question))
        samples = await _sampled(requests, watch, progress)
        verified = await reading.verified(question, samples, kind, serve) if reading else None
    check_scored(samples, names, needed)
    scored = reading is not None or any(draw.choice and draw.choice.logprob is not None for draw in samples)
    method = voter or unplanned(scored, len(names) > 1 and not reading)
    outcome = count(samples, method, by=score, answers=kind, verified=verified, prompt=question)
    read = scored and (by_score(method) or not method.weighs_sources)
    return AskResult(
        **vars(outcome), question=question, model=model_names, method=method.name, score=score if read else None,
        plan=None if plan is None else str(plan), draws=samples, stopped=watch.stopped, upstreams=names,
        read_by=reading.summary(verified) if reading and verified else None,
        spent_on_scores=verified.spent if verified else Usage(),
    )  # fmt: skip


async def _sampled(requests: list[SampleRequest], watch: Watch, progress: Callable[[Draw], None]) -> list[Draw]:
    """Request samples until all have arrived or the plan's rule stops; without any sample, fail."""
    samples: list[Draw] = []
    async with aclosing(samples_of(requests[0]) if not requests[0].name else together(requests)) as stream:
        async for draw in stream:
            progress(draw)
            samples.append(draw)
            if watch.enough(draw):
                break
    samples = [draw for draw in samples if watch.counted(draw)]
    need_samples(samples, requests)
    return in_order(without_empty(samples, requests))


__test__ = {"ask": ask}  # doctest does not find decorated functions by itself
