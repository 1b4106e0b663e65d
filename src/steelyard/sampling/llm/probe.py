"""Probes which features a server supports: `n`, log-probabilities, seeds, usage.

The first request is that of the run with a low token limit. Only if it is refused, fewer features are requested, one
less at a time. llama.cpp allows as many choices per request as it has slots; Ollama ignores `n`; some models take
max_completion_tokens instead of max_tokens.
"""

from __future__ import annotations

import time
from dataclasses import replace

from steelyard.foundation.errors import UpstreamError
from steelyard.runs.parameters import Abilities, Sampling
from steelyard.sampling.llm.client import Client
from steelyard.sampling.llm.completion_json import Reply, body_of
from steelyard.sampling.llm.faults import GoneError, RefusedError, TryError, advice, refusal
from steelyard.sampling.llm.pace import Pace
from steelyard.sampling.llm.retry import persistently

QUESTION = "Write one short sentence about anything you like."
TOKENS = 16
TRIES = 3
PATIENCE = 120.0  # seconds to wait for a busy server, by default


class Prober:
    """Sends the probe's requests one after another; waits for a busy server for at most `patience` seconds."""

    def __init__(self, client: Client, sampling: Sampling, patience: float = PATIENCE) -> None:
        self.client, self.sampling = client, sampling
        self.pace = Pace(1)
        self.until = time.monotonic() + patience

    async def ask(self, able: Abilities, *, n: int, first: int = 0) -> Reply:
        """Send one request; temporary errors are retried a few times."""
        body = body_of(self.sampling, able, QUESTION, n=n, first=first, max_tokens=TOKENS)

        async def send() -> Reply:
            reply = await self.client.sample(body, n, timeout=self.until - time.monotonic())
            if not reply.good:
                raise TryError(reply.wrong[0])
            return reply

        return await persistently(self.pace, send, tries=TRIES, until=self.until, final=(GoneError,))


async def probe(
    client: Client,
    sampling: Sampling,
    *,
    max_n: int | None = None,
    logprobs: bool = True,
    patience: float = PATIENCE,
) -> Abilities:
    """Find out what the server supports for this run; a server that refuses everything is an UpstreamError.

    `max_n` is the most samples that one request will ask for; 1 does not probe `n`.
    """
    desired = Abilities(most=sampling.n if max_n is None else max_n, logprobs=logprobs)
    prober = Prober(client, sampling, patience)
    try:
        abilities, reply = await _supported(prober, desired)
        if abilities.most > 1 and len(reply.good) < abilities.most:
            abilities = replace(abilities, most=max(1, len(reply.good)))
        if abilities.most > 1 and sampling.temperature > 0 and await _repeats(prober, abilities, reply):
            abilities = replace(abilities, most=1)
    except RefusedError as error:
        raise refusal(client.address.base, error, sampling.model) from None
    except TryError as error:
        raise UpstreamError(
            f"{client.address.base} returns no sample: {error.reason}; {advice(error)}, and see 'steelyard doctor'"
        ) from None
    scored = any(choice.logprob is not None for choice in reply.good.values())
    return replace(abilities, logprobs=abilities.logprobs and scored, usage=reply.usage)


async def _supported(prober: Prober, able: Abilities) -> tuple[Abilities, Reply]:
    """Request all features; while that is refused, fewer."""
    try:
        return able, await prober.ask(able, n=able.most)
    except RefusedError as error:
        if error.everywhere:
            raise
        first = error
    for weaker in _weaker(able, first.reason):
        try:
            reply = await prober.ask(weaker, n=1)
        except RefusedError:
            continue
        refused = able.most if weaker == able else able.most + 1  # with fewer parameters all of them may work
        return await _largest_n(prober, weaker, reply, refused)
    raise first


def _weaker(able: Abilities, reason: str) -> list[Abilities]:
    """The features to request after a refusal: one choice, then fewer parameters."""
    renamed = replace(able, limit_name="max_completion_tokens")
    first = [renamed, replace(renamed, logprobs=False)] if "max_completion_tokens" in reason else []
    fewer = [able] if able.most > 1 else []
    return [*first, *fewer, replace(able, logprobs=False), replace(able, logprobs=False, seed=False)]


async def _largest_n(prober: Prober, able: Abilities, single: Reply, refused: int) -> tuple[Abilities, Reply]:
    """The largest n that works, by bisection."""
    works, reply = 1, single
    while refused - works > 1:
        n = refused - 1 if refused > able.most else (works + refused) // 2
        try:
            works, reply = n, await prober.ask(able, n=n)
        except RefusedError:
            refused = n
    return replace(able, most=works), reply


async def _repeats(prober: Prober, able: Abilities, reply: Reply) -> bool:
    """Whether the choices of one request are all the same while requests with other seeds are not."""
    texts = {choice.text for choice in reply.good.values()}
    if len(texts) > 1 or not able.seed:
        return False
    alone = [await prober.ask(able, n=1, first=first) for first in (0, 1, 2)]
    return len({one.good[0].text for one in alone}) > 1
