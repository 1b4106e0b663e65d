"""One question from the asking to the verdict: what `steelyard ask` does, and `sy.ask`."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

from steelyard.errors import SettingError, UpstreamError
from steelyard.jobs.ask import SCORE, Outcome, Watch, count, planned, unplanned
from steelyard.jobs.interrupts import waits_for
from steelyard.jobs.standing import Standing
from steelyard.jobs.starting import started
from steelyard.llm.address import Address
from steelyard.llm.client import Client
from steelyard.llm.draws import Draw, draws
from steelyard.llm.embedded import LOCAL
from steelyard.llm.probe import probe
from steelyard.llm.prompts import read_template
from steelyard.llm.upstream import Serve, model_name, served
from steelyard.runs.parameters import Sampling

TOKENS, LOCAL_TOKENS = 2048, 512


@dataclass(frozen=True)
class Asked(Outcome):
    """The verdict, and what was asked of whom; `stopped` says where a plan's rule ended the sampling early."""

    question: str
    model: str
    method: str
    score: str | None  # by which the samples were weighed
    plan: str | None
    draws: list[Draw]
    stopped: Standing | None


async def aask(
    question: str,
    *,
    upstream: str,
    model: str | None = None,
    n: int = 8,
    plan: str | Path | None = None,
    prompt: str | Path = "math",
    temperature: float = 0.7,
    top_p: float = 0.9,
    max_tokens: int | None = None,
    seed: int = 0,
    key_env: str = "OPENAI_API_KEY",
    progress: Callable[[Draw], None] = lambda _: None,
    serve: Serve = served,
) -> Asked:
    """Do as `ask` does, in async code.

    >>> import asyncio, steelyard as sy
    >>> asked = asyncio.run(sy.aask("How many apples?", upstream=upstream, model="m", n=4))
    >>> len(asked.votes), asked.method
    (4, 'vanilla')
    """
    if not question.strip():
        raise SettingError("the question is empty: write it in quotes")
    template = read_template(prompt)
    usual = LOCAL_TOKENS if upstream == LOCAL else TOKENS
    longest = usual if max_tokens is None else max_tokens
    sampling = Sampling(model_name(upstream, model), n, temperature, top_p, longest, seed)
    voter, score = (None, SCORE) if plan is None else planned(Path(plan), n=n, model=sampling.model)
    needed = score if voter and voter.scored else None
    async with started(serve, upstream, key_env) as address:
        with Watch(voter, template.answers) as watch:
            came = await _sampled(address, sampling, template.fill(question), needed, watch, progress)
    scored = any(draw.choice and draw.choice.logprob is not None for draw in came)
    method = voter or unplanned(scored)
    outcome = count(came, method, by=score, answers=template.answers)
    return Asked(
        **vars(outcome), question=question, model=sampling.model, method=method.name, score=score if scored else None,
        plan=None if plan is None else str(plan), draws=came, stopped=watch.stopped,
    )  # fmt: skip


@waits_for(aask)
def ask() -> None:
    """Ask one question n times, group the answers and vote: by a plan, by self_logprob, or each response once.

    `plan` must be fitted on the score self_logprob; if it has a stopping rule, the asking ends when that says so.
    `progress` is called with every sample as it comes; `serve` opens the server. The options are those of
    `steelyard ask`.

    >>> import steelyard as sy
    >>> asked = sy.ask("How many apples are in the basket?", upstream=upstream, model="m", n=8)
    >>> asked.answer == max(asked.answers, key=lambda one: one.weight).answer
    True
    >>> sum(one.votes for one in asked.answers), 0 < asked.confidence <= 1
    (8, True)
    """


async def _sampled(
    address: Address,
    sampling: Sampling,
    prompt: str,
    needed: str | None,
    watch: Watch,
    progress: Callable[[Draw], None],
) -> list[Draw]:
    """Draw the samples until all are there or the plan's rule says stop.

    Without any sample, or without the score that is needed, it is an error.
    """
    came: list[Draw] = []
    async with Client(address) as client:
        able = await probe(client, sampling, wanted=1)
        if needed and not able.logprobs:
            raise UpstreamError(
                f"{address.base} gives no log-probabilities, which the plan's score {needed!r} is made of: "
                "ask another server, or without --plan"
            )
        async with aclosing(draws(client, sampling, able, prompt)) as coming:
            async for draw in coming:
                progress(draw)
                came.append(draw)
                if watch.enough(draw):
                    break
    if watch.stopped:
        came = [draw for draw in came if draw.sample < watch.stopped.samples]
    if not any(draw.choice for draw in came):
        raise UpstreamError(f"{address.base} gave no sample: {came[0].reason}; see 'steelyard doctor'")
    return sorted(came)


__test__ = {"ask": ask}  # a decorated function is not looked into otherwise
