"""A verifier on any OpenAI-compatible server: a short question, scored by the alternatives of its first token.

If the server returns no log-probabilities, some protocols read the first word of the reply instead, as certain.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import Any

from steelyard.foundation.errors import VerifierError
from steelyard.sampling.llm.address import CHAT, Address
from steelyard.sampling.llm.client import Client
from steelyard.sampling.llm.faults import BusyError, GoneError, LateError, SpentError, TryError, advice
from steelyard.sampling.llm.pace import Pace
from steelyard.sampling.verifiers.protocol import ChatProtocol, MeaningProtocol
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
TEXT_TOKENS = 4  # of a reply that is read as text
PROBE = Item("What is 1 + 1?", ["1 + 1 = 2.", "So the answer is 2."])  # two steps, or two responses
NOT_THE_REQUEST = (BusyError, GoneError, LateError, SpentError)  # a request without log-probabilities would fail too
# A word alone, or before a punctuation mark: "Yes.", "**No**, because", but not "No idea".
WORD = re.compile(r"[\W_]{0,20}([^\W_]{1,20})[*_\"'`]{0,9}(?:[.,:;!\n]|$)")


class ChatServer:
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
        self.from_text = False  # whether the reply's first word is read
        self.detected: dict[str, Any] = {"where": "chat", "served": model}

    @classmethod
    async def connect(
        cls,
        protocol: ChatProtocol,
        address: Address,
        model: str,
        tries: int = TRIES,
        timeout: float | None = None,
        pace: Pace | None = None,
    ) -> ChatServer:
        """Check by one request that the server returns log-probabilities, or else text that the protocol can read."""
        client = await Client(address).__aenter__()
        made = cls(protocol, client, model, tries, timeout, pace)
        try:
            alternatives = await made._probe()
            made.detected["alternatives"] = len(alternatives)
            if isinstance(protocol, MeaningProtocol):
                different = made._alternatives(await made._post(Item(PROBE.question, protocol.different), tries=2))
                made._check_judge(PROBE.steps, protocol.read(alternatives), same=True)
                made._check_judge(protocol.different, protocol.read(different), same=False)
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

    async def _probe(self) -> dict[str, float]:
        try:
            return first_token(await self._post(PROBE, tries=2))
        except TryError as error:
            if not self.protocol.reads_text or isinstance(error, NOT_THE_REQUEST):
                raise
        self.from_text = True
        return first_word(await self._post(PROBE, tries=2))

    def _check_judge(self, texts: Sequence[str], p: Sequence[float] | None, *, same: bool) -> None:
        """Refuse a judge that misjudges an obvious pair: its similarities would be wrong, and nobody would notice."""
        if not p or (p[0] >= 0.5) != same:
            verdict = f"judges with p = {p[0]:.2f}" if p else "does not say with Yes or No"
            raise VerifierError(
                f"{self.client.address.base} ({self.model}) {verdict} whether {texts[0]!r} and {texts[1]!r} mean the "
                f"same as answers to {PROBE.question!r}: use a stronger LLM as the judge"
            )

    def _alternatives(self, reply: Any) -> dict[str, float]:
        return first_word(reply) if self.from_text else first_token(reply)

    async def _ask(self, item: Item) -> Scores | str:
        try:
            reply = await self._post(item, self.tries, self.timeout)
            scores = self.protocol.read(self._alternatives(reply))
        except TryError as error:
            return error.reason
        if scores is None:
            return f"no expected word is among the {ALTERNATIVES} likeliest first tokens"
        return checked(scores, truncated=False, usage=usage_of(reply))

    async def _post(self, item: Item, tries: int, timeout: float | None = None) -> Any:
        messages = self.protocol.render(item.question, item.steps)
        body: dict[str, Any] = {"model": self.model, "messages": messages, "temperature": 0}
        if self.from_text:
            body |= {"max_tokens": TEXT_TOKENS}
        else:
            body |= {"max_tokens": 1, "logprobs": True, "top_logprobs": ALTERNATIVES}
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


def first_word(reply: Any) -> dict[str, float]:
    """The first word of a reply that is read as text, as its only alternative; none if more than a word is said.

    >>> reply = {"choices": [{"message": {"content": " **Yes**."}}]}
    >>> first_word(reply), first_word({"choices": [{"message": {"content": "No idea"}}]})
    ({'Yes': 0.0}, {})
    """
    try:
        content = reply["choices"][0]["message"]["content"]
        match = WORD.match(content.strip())
    except (TypeError, KeyError, IndexError, AttributeError):
        raise TryError("the reply contains no text") from None
    return {match[1]: 0.0} if match else {}
