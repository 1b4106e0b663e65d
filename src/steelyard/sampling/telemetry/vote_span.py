"""The span of a vote and the event with its result, as OpenTelemetry names them.

https://github.com/open-telemetry/semantic-conventions-genai says which attributes there are. No attribute contains a
key or an upstream's error message, and none contains text of prompts or responses unless the user has asked for it.
Nothing is recorded, and OpenTelemetry is not imported, unless exporting.py has opened a `Recorder`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from steelyard.foundation.surrogates import replace_surrogates
from steelyard.sampling.telemetry.message_content import Choice, input_messages
from steelyard.sampling.telemetry.span_attributes import choice_attributes, set_error

if TYPE_CHECKING:
    from opentelemetry._logs import Logger
    from opentelemetry.trace import Span, Tracer

CHAT = "chat"
VOTE = "steelyard.vote"  # the name of the evaluation
DECIDED, ABSTAINED = "decided", "abstained"  # labels of its result
LONGEST_LABEL = 1000  # characters


@dataclass(frozen=True)
class Recorder:
    """Records spans, and events if there is a `logger`; `texts`: spans with content, `answers`: events with it."""

    tracer: Tracer
    logger: Logger | None
    texts: bool = False
    answers: bool = False

    @contextmanager
    def vote(self, *, server: bool = False, headers: Mapping[str, str] | None = None) -> Iterator[VoteSpan]:
        """The span of a vote, for calls within the block; it continues the trace of a request's `headers`."""
        from opentelemetry.trace import SpanKind
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        parent = TraceContextTextMapPropagator().extract(headers) if headers else None
        attributes = {"gen_ai.operation.name": CHAT, "gen_ai.provider.name": "steelyard"}
        kind = SpanKind.SERVER if server else SpanKind.INTERNAL
        vote = VoteSpan(self, self.tracer.start_span(CHAT, parent, kind, attributes))
        token = CURRENT.set(vote)
        try:
            yield vote
        finally:
            CURRENT.reset(token)
            vote.span.end()


class VoteSpan:
    """The span of one vote."""

    def __init__(self, recorder: Recorder, span: Span) -> None:
        from opentelemetry.trace import set_span_in_context

        self.recorder, self.span = recorder, span
        self.context = set_span_in_context(span)

    def add_request(self, model: str, messages: Sequence[Mapping[str, Any]], **parameters: float | None) -> None:
        """What the vote is about: the model, and other parameters by their names in `gen_ai.request`."""
        name = replace_surrogates(model)
        options = {f"gen_ai.request.{parameter}": value for parameter, value in parameters.items() if value is not None}
        shown = {"gen_ai.input.messages": input_messages(messages)} if self.recorder.texts else {}
        self.span.update_name(f"{CHAT} {name}")
        self.span.set_attributes({"gen_ai.request.model": name, **options, **shown})

    def add_reply(self, response_id: str, choices: Sequence[Choice]) -> None:
        """The reply: its id and its messages."""
        shown = choice_attributes(choices, texts=self.recorder.texts)
        self.span.set_attributes({"gen_ai.response.id": response_id, **shown})

    def add_result(
        self, answer: str | None, confidence: float | None, response_id: str | None = None, **more: str | float
    ) -> None:
        """The result of the vote; no answer means that it abstained."""
        result = ABSTAINED if answer is None else DECIDED
        text = None if answer is None else replace_surrogates(answer[:LONGEST_LABEL])
        details = {"result": result, "confidence": confidence, "answer": text if self.recorder.texts else None, **more}
        self.span.set_attributes({f"{VOTE}.{name}": value for name, value in details.items() if value is not None})
        if self.recorder.logger is None:
            return
        evaluation = {
            "gen_ai.evaluation.name": VOTE, "gen_ai.evaluation.score.value": confidence,
            "gen_ai.evaluation.score.label": text if text is not None and self.recorder.answers else result,
            "gen_ai.response.id": response_id,
        }  # fmt: skip
        self.recorder.logger.emit(
            event_name="gen_ai.evaluation.result", timestamp=time.time_ns(), context=self.context,
            attributes={name: value for name, value in evaluation.items() if value is not None},
        )  # fmt: skip

    def add_error(self, error: BaseException | str, *, ours: bool = True) -> None:
        """Why there is no reply; `ours`: whether the fault is not the client's."""
        set_error(self.span, error, failed=ours)


RECORDER: ContextVar[Recorder | None] = ContextVar("recorder", default=None)
CURRENT: ContextVar[VoteSpan | None] = ContextVar("vote_span", default=None)


@contextmanager
def recorded_vote() -> Iterator[VoteSpan | None]:
    """The span of a vote of this process; None if nothing is recorded."""
    recorder = RECORDER.get()
    if recorder is None:
        yield None
        return
    with recorder.vote() as span:
        try:
            yield span
        except BaseException as error:
            span.add_error(error)
            raise
