"""The span of one call to an upstream or a verifier, as a part of the vote that makes it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any
from urllib.parse import urlsplit

from steelyard.foundation.surrogates import replace_surrogates
from steelyard.sampling.llm.address import PORTS, Address
from steelyard.sampling.llm.completion_json import MOST_NAME, MOST_TOKENS, Reply
from steelyard.sampling.telemetry.span_attributes import choice_attributes, set_error
from steelyard.sampling.telemetry.vote_span import CHAT, CURRENT, VoteSpan

PROVIDER = "openai"  # the API that every server speaks, not the company that runs it

TOKENS = {"prompt_tokens": "input_tokens", "completion_tokens": "output_tokens"}  # as OpenTelemetry calls them


class UnrecordedCall:
    """A call to a server outside of a recorded vote."""

    headers: Mapping[str, str] = {}

    def __enter__(self) -> UnrecordedCall:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Nothing ends."""

    def add_reply(self, reply: Reply) -> None:
        """The reply, which was checked and contains no key."""

    def add_identity(self, content: Mapping[str, Any]) -> None:
        """The id, model and usage of a reply, or of a part of a stream; it was checked and contains no key."""

    def add_usage(self, usage: Any) -> None:
        """The tokens that the server counted."""

    def add_error(self, error: BaseException) -> None:
        """Why there is no complete reply."""


class RecordedCall(UnrecordedCall):
    """The span of one call; `headers` are sent along, so that the server can continue the trace."""

    def __init__(self, vote: VoteSpan, address: Address, model: str | None, n: int, operation: str) -> None:
        from opentelemetry.trace import SpanKind, set_span_in_context
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        parts = urlsplit(address.base)
        attributes: dict[str, str | int] = {
            "gen_ai.operation.name": operation, "gen_ai.provider.name": PROVIDER,
            "server.address": parts.hostname or "", "server.port": parts.port or PORTS[parts.scheme],
        }  # fmt: skip
        recorder, name = vote.recorder, operation
        if model is not None:
            attributes["gen_ai.request.model"] = replace_surrogates(model)
            name = f"{operation} {attributes['gen_ai.request.model']}"
        if n != 1:
            attributes["gen_ai.request.choice.count"] = n
        self._span = recorder.tracer.start_span(name, vote.context, SpanKind.CLIENT, attributes)
        self._texts = recorder.texts
        self.headers: dict[str, str] = {}
        TraceContextTextMapPropagator().inject(self.headers, set_span_in_context(self._span))

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is not None:
            self.add_error(error)
        self._span.end()

    def add_reply(self, reply: Reply) -> None:
        choices = [({"content": choice.text}, choice.finish) for _, choice in sorted(reply.good.items())]
        content = {"id": reply.response_id, "model": reply.model, "usage": reply.counts}
        self._span.set_attributes(_identity(content) | choice_attributes(choices, texts=self._texts))

    def add_identity(self, content: Mapping[str, Any]) -> None:
        self._span.set_attributes(_identity(content))

    def add_usage(self, usage: Any) -> None:
        self._span.set_attributes(_tokens(usage))

    def add_error(self, error: BaseException) -> None:
        set_error(self._span, error)


UNRECORDED = UnrecordedCall()


def upstream_call(
    address: Address, model: str | None, n: int = 1, operation: str = CHAT
) -> AbstractContextManager[UnrecordedCall]:
    """Record a call to a server, for n choices, as a part of the current vote."""
    vote = CURRENT.get()
    return UNRECORDED if vote is None else RecordedCall(vote, address, model, n, operation)


def _identity(content: Mapping[str, Any]) -> dict[str, Any]:
    """The id, model and usage of a reply, as far as it has them."""
    names = {name: content.get(name) for name in ("id", "model")}
    return {
        **{f"gen_ai.response.{name}": _name(value) for name, value in names.items() if isinstance(value, str)},
        **_tokens(content.get("usage")),
    }


def _name(value: str) -> str:
    return replace_surrogates(value[:MOST_NAME])


def _tokens(usage: Any) -> dict[str, Any]:
    counts = {name: usage.get(name) if isinstance(usage, dict) else None for name in TOKENS}
    valid = {name: count for name, count in counts.items() if type(count) is int and 0 <= count < MOST_TOKENS}
    return {f"gen_ai.usage.{TOKENS[name]}": count for name, count in valid.items()}
