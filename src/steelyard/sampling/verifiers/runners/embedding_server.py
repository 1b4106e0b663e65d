"""Embeddings of responses by any OpenAI-compatible server, many texts per request (POST /v1/embeddings).

If a request fails because of its texts, its halves are sent instead: only a text that fails alone has no vector, such
as one that is longer than the model's context.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from steelyard.foundation.errors import VerifierError
from steelyard.foundation.vectors import encode, scaled
from steelyard.sampling.llm.address import Address
from steelyard.sampling.llm.client import Client
from steelyard.sampling.llm.faults import BusyError, GoneError, LateError, SpentError, TryError, advice
from steelyard.sampling.llm.pace import Pace
from steelyard.sampling.verifiers.protocol import EmbeddingProtocol
from steelyard.sampling.verifiers.runners.many_requests import TRIES, post, rolling
from steelyard.sampling.verifiers.scored_items import Item, Results, Scores, usage_of

PATH = "/embeddings"
BATCH = 32  # texts per request, the most that Text Embeddings Inference takes by default
BATCH_BYTES = 1 << 18  # of text per request, unless a single text is longer
REQUESTS = 16  # under way
PROBE = "The capital of France is Paris.", "Rome."
NOT_THE_TEXTS = (BusyError, GoneError, LateError, SpentError)  # smaller requests would fail as well


class EmbeddingServer:
    """An embedding model on a server; made by `connect`."""

    def __init__(self, protocol: EmbeddingProtocol, client: Client, model: str, pace: Pace | None = None) -> None:
        self.protocol = protocol
        self.client = client
        self.model = model
        self.pace = pace or Pace(REQUESTS)
        self.tries = TRIES  # of one request
        self.timeout: float | None = None  # of one try; None: the client's
        self.batch = BATCH
        self.halves = True  # whether a request that fails because of its texts is sent again in halves
        self.dimensions: int | None = None
        self.detected: dict[str, Any] = {"where": "embeddings", "served": model}

    @classmethod
    async def connect(
        cls,
        protocol: EmbeddingProtocol,
        address: Address,
        model: str,
        tries: int = TRIES,
        timeout: float | None = None,
        pace: Pace | None = None,
    ) -> EmbeddingServer:
        """Ask for the vectors of two texts, or of one if the server takes only one at a time."""
        client = await Client(address).__aenter__()
        server = cls(protocol, client, model, pace)
        server.tries, server.timeout = tries, timeout
        try:
            await server._probe()
            return server
        except BaseException:
            await server.close()
            raise

    async def score(self, items: Iterator[Item]) -> Results:
        """Embed items, many at once."""
        parts = batches(self.protocol, items, self.batch)
        async with aclosing(rolling(parts, self._ask, REQUESTS)) as replies:
            async for part, results in replies:
                for item, result in zip(part, results, strict=True):
                    yield item, result

    async def close(self) -> None:
        """Close the connections."""
        await self.client.__aexit__(None, None, None)

    async def _probe(self) -> None:
        try:
            try:
                results = await self._vectors(PROBE, tries=2)
            except TryError as error:
                if isinstance(error, NOT_THE_TEXTS):
                    raise
                results = await self._vectors(PROBE[:1], tries=2)
                self.batch = 1
        except TryError as error:
            raise VerifierError(f"{self._where} cannot embed texts: {error.reason}; {advice(error)}") from None
        if isinstance(results[0], str):
            raise VerifierError(f"{self._where} cannot embed texts: {results[0]}; name an embedding model with --model")
        self.detected |= {"dimensions": self.dimensions, "batch": self.batch}

    async def _ask(self, part: Sequence[Item], tries: int | None = None) -> list[Scores | str]:
        """Embed several items by one request, or by smaller ones if that fails."""
        texts = [self.protocol.render(item.question, item.steps) for item in part]
        try:
            return await self._vectors(texts, tries or self.tries)
        except TryError as error:
            if len(part) == 1 or not self.halves or isinstance(error, NOT_THE_TEXTS):
                return [error.reason] * len(part)
        half = len(part) // 2
        return [*await self._ask(part[:half], 2), *await self._ask(part[half:], 2)]

    async def _vectors(self, texts: Sequence[str], tries: int) -> list[Scores | str]:
        body = {"model": self.model, "input": list(texts)}
        reply = await post(self.client, self.pace, PATH, body, tries, self.timeout)
        results = [self._vector(values) for values in embeddings_of(reply, len(texts))]
        vectors = [(i, result) for i, result in enumerate(results) if isinstance(result, Scores)]
        for i, result in vectors[:1]:  # the usage of a request is recorded with its first vector
            results[i] = replace(result, usage=usage_of(reply), samples=len(vectors))
        return results

    def _vector(self, values: Any) -> Scores | str:
        """The vector as a run stores it, or what is wrong with it."""
        try:
            vector = scaled(values)
        except ValueError as error:
            return str(error)
        self.dimensions = self.dimensions or len(vector)
        if len(vector) != self.dimensions:
            return f"the vector has {len(vector)} numbers instead of {self.dimensions}"
        return Scores([], vector=encode(vector))

    @property
    def _where(self) -> str:
        return f"{self.client.address.base} ({self.model})"


def batches(protocol: EmbeddingProtocol, items: Iterator[Item], most: int = BATCH) -> Iterator[list[Item]]:
    """Group items into requests of at most so many texts and BATCH_BYTES."""
    part: list[Item] = []
    size = 0
    for item in items:
        length = len(protocol.render(item.question, item.steps).encode("utf-8", "surrogatepass"))
        if part and (len(part) == most or size + length > BATCH_BYTES):
            yield part
            part, size = [], 0
        part.append(item)
        size += length
    if part:
        yield part


def embeddings_of(reply: Any, count: int) -> list[Any]:
    """The embeddings of a reply in the order of the texts; any other number of them is a TryError.

    >>> embeddings_of({"data": [{"index": 1, "embedding": [2]}, {"index": 0, "embedding": [1]}]}, 2)
    [[1], [2]]
    """
    try:
        by_index = {entry.get("index", i): entry["embedding"] for i, entry in enumerate(reply["data"])}
        number = len(reply["data"])
    except (TypeError, KeyError, AttributeError):
        raise TryError("the reply contains no embeddings") from None
    if number != count or by_index.keys() != set(range(count)):
        raise TryError(f"the reply has {number} embeddings for {count} texts, or their indices are wrong")
    return [by_index[i] for i in range(count)]
