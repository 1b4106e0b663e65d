"""Compares free text by the vectors of the operator's embedding server.

The distinct responses are embedded when the last sample has arrived, each of them once. If one of them gets no usable
vector in time, all are compared by words, and the reply says so.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Any, NamedTuple

from steelyard.answers.extract import kind_of
from steelyard.foundation.vectors import Vector, decode
from steelyard.gateway.messages.secrets_filter import Secrets
from steelyard.gateway.vote.policies import COMPARED, Policy
from steelyard.gateway.vote.scoring import ScoringError, VerifierConnection
from steelyard.gateway.vote.vote_counter import VoteEntry
from steelyard.sampling.llm.completion_json import ECHO
from steelyard.sampling.online.similar_texts import EmbeddedTexts, SimilarTexts
from steelyard.sampling.verifiers.scored_items import Item, Runner, Scores

BY_WORDS = "the embeddings failed, so the responses were compared by words"
RESULT = "vectors of the responses"


class Embedding(NamedTuple):
    """The vectors of texts, or why there are none, and what they took."""

    vectors: Mapping[str, Vector] | None
    usages: list[Mapping[str, Any] | None]  # of each request to the server; None: unknown
    fault: str | None


class Embedder(VerifierConnection):
    """An embedding server."""

    def __init__(self, connect: Callable[[], Awaitable[Runner]], secrets: Secrets, **settings: Any) -> None:
        super().__init__(connect, **settings)
        self._secrets = secrets

    async def embed(self, question: str, texts: Sequence[str], until: float) -> Embedding:
        """Embed distinct texts, all or none."""
        scores: dict[str, Scores] = {}
        fault = None
        try:
            async with (
                self.within(until, RESULT) as runner,
                aclosing(runner.score(Item(question, [text]) for text in texts)) as results,
            ):
                async for item, result in results:
                    if isinstance(result, str):
                        raise ScoringError(result)
                    scores[item.steps[0]] = result
        except ScoringError as error:
            fault = str(error)
        usages = usages_of(list(scores.values()), len(texts))
        if self._secrets.in_json([usages, fault]):
            return Embedding(None, [None], ECHO)
        vectors = {text: decode(scores[text].vector or "") for text in texts} if fault is None else None
        return Embedding(vectors, usages, fault)


class TextComparison:
    """How the responses to one request are compared: by vectors if there is an `embedder`, else by words."""

    def __init__(self, embedder: Embedder | None, question: str, until: float) -> None:
        self.embedder, self.question, self.until = embedder, question, until
        self.usages: list[Mapping[str, Any] | None] = []  # of each request to the embedding server; None: unknown
        self.fault: str | None = None  # of the embedding server
        self.vectors: EmbeddedTexts | None = None

    async def of(self, policy: Policy, entries: Sequence[VoteEntry]) -> SimilarTexts | None:
        """The similarities of free text: by vectors if all responses get one in time, else those of the policy."""
        if self.embedder is None or policy.texts is None:
            return policy.texts
        texts = list(dict.fromkeys(one.answer[:COMPARED] for one in entries if one.answer is not None))
        if len(texts) < 2:
            return policy.texts
        vectors, self.usages, self.fault = await self.embedder.embed(self.question, texts, self.until)
        if vectors is None:
            return policy.texts
        self.vectors = await asyncio.to_thread(EmbeddedTexts, kind_of(policy.kind), vectors, COMPARED)
        return self.vectors

    @property
    def notes(self) -> list[str]:
        return [] if self.fault is None else [BY_WORDS]

    @property
    def priced_as(self) -> str | None:
        return self.embedder.priced_as if self.embedder else None


def usages_of(scores: Sequence[Scores], texts: int) -> list[Mapping[str, Any] | None]:
    """The usage of each request, with None if that of some texts is unknown. An embedding model writes no tokens.

    >>> usages_of([Scores([], usage={"prompt_tokens": 9}, samples=2), Scores([])], 2)
    [{'prompt_tokens': 9, 'completion_tokens': 0}]
    >>> usages_of([Scores([])], 2)
    [None]
    """
    reported = [(one.usage, one.samples) for one in scores if one.usage is not None]
    usages: list[Mapping[str, Any] | None] = [
        dict(usage, completion_tokens=usage.get("completion_tokens") or 0) for usage, _ in reported
    ]
    return usages if sum(samples for _, samples in reported) == texts else [*usages, None]
