"""A process reward model on a vLLM server: POST ids to /pooling, get rows of numbers.

Versions differ in their replies: a row per step tag or a row per token, probabilities or logits, two columns or one.
The kind of this server is probed at the start and recorded; after that every reply must be of the same kind and have
the expected number of rows, or it is a failure: a server with another step tag replies 200 and no rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from steelyard.foundation.errors import VerifierError
from steelyard.sampling.llm.address import Address
from steelyard.sampling.llm.client import Client
from steelyard.sampling.llm.faults import RefusedError, TryError, advice
from steelyard.sampling.llm.pace import Pace
from steelyard.sampling.verifiers.context_window import fit_or_reason
from steelyard.sampling.verifiers.protocol import Array, Rendered, TokenProtocol
from steelyard.sampling.verifiers.runners.many_requests import (
    MOST,
    TRIES,
    get,
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
from steelyard.sampling.verifiers.tokens import Tokens

POOLING = "/pooling"
PROBE = Item("What is 1 + 1?", ["One and one are added.", "The answer is 2."])
WHERE = "is a vLLM server there? Check --upstream"
LEAST = -100.0  # the log of a probability of 0


class Served:
    """A verifier behind vLLM; made by `connect`."""

    def __init__(self, protocol: TokenProtocol, tokens: Tokens, client: Client, model: str, context: int) -> None:
        self.protocol = protocol
        self.tokens = tokens
        self.client = client
        self.model = model
        self.context = context
        self.pace = Pace(MOST)
        self.raw = True  # ask for logits
        self.kind: Kind | None = None
        self.tries = TRIES  # of one response
        self.timeout: float | None = None  # of one try; None: the client's
        self.detected: dict[str, Any] = {"where": "vllm", "served": model, "context": context}

    @classmethod
    async def connect(
        cls,
        protocol: TokenProtocol,
        tokens: Tokens,
        address: Address,
        *,
        model: str = "",
        context: int | None = None,
        tries: int = TRIES,
        timeout: float | None = None,
        pace: Pace | None = None,
    ) -> Served:
        """Probe the kind of replies; of a server with a single model that one is used, whatever its name."""
        tokens.check(protocol.needs)
        client = await Client(replace(address, base=address.base.removesuffix("/v1"))).__aenter__()
        try:
            name, longest = await _model(client, model)
            made = cls(protocol, tokens, client, name, min(context or protocol.context, longest or protocol.context))
            made.tries, made.timeout, made.pace = tries, timeout, pace or made.pace
            version = await get(client, "/version")
            named = version.get("version") if isinstance(version, dict) else None
            made.detected["version"] = address.masked(str(named), 40) if named else None
            await made._probe()
            return made
        except BaseException:
            await client.__aexit__(None, None, None)
            raise

    def score(self, items: Iterator[Item]) -> Results:
        """Score items, many at once."""
        return rolling(items, self._ask)

    async def close(self) -> None:
        """Close the connections."""
        await self.client.__aexit__(None, None, None)

    async def _ask(self, item: Item) -> Scores | str:
        fitted = fit_or_reason(self.protocol, item, self.tokens, self.context)
        if isinstance(fitted, str):
            return fitted
        try:
            reply = await self._post(fitted.rendered.ids, self.tries, self.timeout)
            rows = rows_of(reply)
        except TryError as error:
            return error.reason
        kind, rendered = kind_of(rows, fitted.rendered), fitted.rendered
        if isinstance(kind, str) or self.kind is None:
            return str(kind)
        if (kind.columns, kind.a_row) != (self.kind.columns, self.kind.a_row):
            return f"the server gave {rows.shape[0]} rows of {rows.shape[1]} for {len(rendered.positions)} steps"
        places = rendered.positions if kind.a_row == "token" else range(len(rendered.positions))
        return checked(self.protocol.read(self._logits(rows), places), fitted.truncated, usage_of(reply))

    async def _probe(self) -> None:
        rendered = self.protocol.render(PROBE.question, self.protocol.prepare(PROBE.steps), self.tokens)
        try:
            try:
                reply = await self._post(rendered.ids, tries=2)
            except TryError:
                self.raw = False
                reply = await self._post(rendered.ids, tries=2)
            rows = rows_of(reply)
        except TryError as error:
            raise VerifierError(f"{self._where} does not score: {error.reason}; {self._advice}") from None
        kind = kind_of(rows, rendered)
        if isinstance(kind, str):
            raise VerifierError(f"{self._where}: {kind}; {self._advice}")
        if kind.columns == 1 and self.raw:
            kind = replace(kind, probabilities=await self._ignores_raw(rendered, rows))
        self.kind = kind
        self.detected |= {"row": kind.a_row, "columns": kind.columns, "probabilities": kind.probabilities}

    async def _ignores_raw(self, rendered: Rendered, rows: Array) -> bool:
        """Whether a server returns probabilities although logits were requested: a single column does not show it."""
        self.raw = False
        try:
            active = rows_of(await self._post(rendered.ids, tries=2))
        except TryError:
            return False
        finally:
            self.raw = True
        return active.shape == rows.shape and bool(np.allclose(active, rows))

    async def _post(self, ids: list[int], tries: int, timeout: float | None = None) -> Any:
        body: dict[str, Any] = {"model": self.model, "input": ids}
        if self.raw:
            body["use_activation"] = False
        return await post(self.client, self.pace, POOLING, body, tries, timeout)

    def _logits(self, rows: Array) -> Array:
        """The input of the protocol: as many columns of logits as its head has."""
        if self.kind is not None and self.kind.probabilities:
            rows = rows if rows.shape[1] > 1 else np.hstack((rows, 1 - rows))
            with np.errstate(divide="ignore", invalid="ignore"):
                rows = np.maximum(np.log(rows), LEAST)
        elif rows.shape[1] == 1:
            rows = np.hstack((rows, np.zeros_like(rows)))
        if self.kind is not None and self.kind.columns == 1 and self.protocol.words[:1] == ("-",):
            rows = rows[:, ::-1]
        return rows

    @property
    def _where(self) -> str:
        return f"{self.client.address.base} ({self.model}, vLLM {self.detected.get('version') or 'of unknown version'})"

    @property
    def _advice(self) -> str:
        return f"serve it with: vllm serve MODEL {self.protocol.served}"


async def _model(client: Client, requested: str) -> tuple[str, int | None]:
    """The name of the server's model, and the longest input."""
    try:
        reply = await client.request("GET", "/v1/models")
    except TryError as error:
        fix = "" if isinstance(error, RefusedError) and error.status == 404 else advice(error)
        raise VerifierError(f"{client.address.base} does not list models: {error.reason}; {fix or WHERE}") from None
    if not isinstance(reply, dict) or not isinstance(reply.get("data"), list):
        raise VerifierError(f"{client.address.base} does not list models; {WHERE}")
    there = {str(model.get("id")): model.get("max_model_len") for model in reply["data"] if isinstance(model, dict)}
    name = requested if requested in there or len(there) != 1 else next(iter(there))
    if name not in there:
        served = client.address.masked(", ".join(there)) or "none"
        raise VerifierError(
            f"{client.address.base} has no model {requested!r}: it serves {served}; "
            f"start it with --served-model-name {requested}"
        )
    longest = there[name]
    return name, longest if isinstance(longest, int) else None


@dataclass(frozen=True)
class Kind:
    """The kind of a server's replies."""

    a_row: str  # "tag" or "token"
    probabilities: bool
    columns: int


def kind_of(rows: Array, rendered: Rendered) -> Kind | str:
    """The kind of a reply, or the reason why it is invalid."""
    steps, tokens = len(rendered.positions), len(rendered.ids)
    if rows.ndim != 2 or rows.shape[0] not in (steps, tokens) or rows.shape[1] not in (1, 2):
        shape = " x ".join(map(str, rows.shape))
        return f"the server gave {shape} numbers, expected 2 for each of {steps} steps or {tokens} tokens"
    if not np.isfinite(rows).all():
        return "the server gave numbers that are not finite"
    inside = bool(((rows >= 0) & (rows <= 1)).all())
    probabilities = inside and (rows.shape[1] == 1 or bool(np.allclose(rows.sum(1), 1, atol=1e-3)))
    return Kind("tag" if rows.shape[0] == steps else "token", probabilities, rows.shape[1])


def rows_of(reply: Any) -> Array:
    """The rows of the one result of a reply."""
    try:
        (result,) = reply["data"]
        return np.array(result["data"], np.float64)
    except (TypeError, KeyError, ValueError):
        raise TryError("the reply contains no rows of numbers") from None
