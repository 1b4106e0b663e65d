"""A verifier on any OpenAI-compatible server: a short question, scored by the alternatives of its first token."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from steelyard.foundation.errors import VerifierError
from steelyard.sampling.llm.address import CHAT, Address
from steelyard.sampling.llm.client import Client
from steelyard.sampling.llm.faults import BusyError, GoneError, TryError, advice
from steelyard.sampling.llm.pace import Pace
from steelyard.sampling.verifiers.protocol import ChatProtocol
from steelyard.sampling.verifiers.runners.many_requests import (
    MOST,
    TRIES,
    post,
    rolling,
)
from steelyard.sampling.verifiers.scored_items import (
    Item,
    Results,
    Scores,
    checked,
    usage_of,
)

ALTERNATIVES = 20
PROBE = Item("What is 1 + 1?", ["1 + 1 = 2.", "So the answer is 2."])  # two steps, or two responses


class Asked:
    """A chat model that judges responses; made by `connect`."""

    def __init__(
        self,
        protocol: ChatProtocol,
        client: Client,
        model: str,
        tries: int = TRIES,
        timeout: float | None = None,
        pace: Pace | None = None,
    ) -> None:
        self.tries, self.timeout = tries, timeout  # of one question, and of one try
        self.protocol = protocol
        self.client = client
        self.model = model
        self.pace = pace or Pace(MOST)
        self.found: dict[str, Any] = {"where": "chat", "served": model}

    @classmethod
    async def connect(
        cls,
        protocol: ChatProtocol,
        address: Address,
        model: str,
        tries: int = TRIES,
        timeout: float | None = None,
        pace: Pace | None = None,
    ) -> Asked:
        """Check by one request that the server returns log-probabilities."""
        client = await Client(address).__aenter__()
        made = cls(protocol, client, model, tries, timeout, pace)
        try:
            alternatives = first_token(await made._post(PROBE, tries=2))
            made.found["alternatives"] = len(alternatives)
            return made
        except TryError as error:
            await made.close()
            hint = "use a server that returns top_logprobs (vLLM, llama.cpp), or --verifier logprob"
            hint = advice(error) if isinstance(error, BusyError | GoneError) else hint
            raise VerifierError(
                f"{address.base} ({model}) cannot be used as a chat verifier: {error.reason}; {hint}"
            ) from None
        except BaseException:
            await made.close()
            raise

    def score(self, items: Iterator[Item]) -> Results:
        """Score items, many at once."""
        return rolling(items, self._ask)

    async def close(self) -> None:
        """Close the connections."""
        await self.client.__aexit__(None, None, None)

    async def _ask(self, item: Item) -> Scores | str:
        try:
            reply = await self._post(item, self.tries, self.timeout)
            scores = self.protocol.read(first_token(reply))
        except TryError as error:
            return error.reason
        if scores is None:
            return f"no expected word is among the {ALTERNATIVES} likeliest first tokens"
        return checked(scores, truncated=False, usage=usage_of(reply))

    async def _post(self, item: Item, tries: int, timeout: float | None = None) -> Any:
        body = {
            "model": self.model,
            "messages": self.protocol.render(item.question, item.steps),
            "max_tokens": 1,
            "temperature": 0,
            "logprobs": True,
            "top_logprobs": ALTERNATIVES,
        }
        return await post(self.client, self.pace, CHAT, body, tries, timeout)


def first_token(reply: Any) -> dict[str, float]:
    """The alternatives of the first token of a reply and their log-probabilities.

    >>> first_token({"choices": [{"logprobs": {"content": [{"top_logprobs": [{"token": "True", "logprob": -0.5}]}]}}]})
    {'True': -0.5}
    """
    try:
        alternatives = reply["choices"][0]["logprobs"]["content"][0]["top_logprobs"]
        logprobs = {str(entry["token"]): float(entry["logprob"]) for entry in alternatives}
    except (TypeError, KeyError, IndexError, ValueError, OverflowError):
        raise TryError("the server returns no log-probabilities") from None
    if not logprobs or any(math.isnan(logprob) for logprob in logprobs.values()):
        raise TryError("the server returns no log-probabilities")
    return logprobs
