"""Attributes that the spans of votes and of calls share: the responses, and the kind of an error."""

from __future__ import annotations

from asyncio import CancelledError
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from steelyard.foundation.surrogates import replace_surrogates
from steelyard.sampling.llm.faults import (
    NO_CREDIT,
    BusyError,
    CertificateError,
    GoneError,
    LateError,
    ProxyError,
    RefusedError,
    SpentError,
    StatusError,
    TooLargeError,
    TryError,
)
from steelyard.sampling.telemetry.message_content import Choice, output_messages

if TYPE_CHECKING:
    from opentelemetry.trace import Span

MOST_FINISH = 40  # characters
TYPES: dict[type[TryError], str] = {
    BusyError: "busy", CertificateError: "certificate", ProxyError: "proxy", GoneError: "no_connection",
    LateError: "timeout", SpentError: "timeout", TooLargeError: "too_large", TryError: "invalid_reply",
}  # fmt: skip


def choice_attributes(choices: Sequence[Choice], *, texts: bool) -> dict[str, Any]:
    """Why each response ended and, with `texts`, the responses."""
    finishes = [replace_surrogates(finish[:MOST_FINISH]) for _, finish in choices]
    shown = {"gen_ai.output.messages": output_messages(choices)} if texts else {}
    return {"gen_ai.response.finish_reasons": finishes, **shown}


def set_error(span: Span, error: BaseException | str, *, failed: bool = True) -> None:
    """How a vote or a call ended; one that was cancelled, as the vote stopped or the client left, has not failed."""
    from opentelemetry.trace import StatusCode

    if isinstance(error, CancelledError):
        span.set_attribute("steelyard.cancelled", True)
        return
    span.set_attribute("error.type", error if isinstance(error, str) else error_type(error))
    if failed:
        span.set_status(StatusCode.ERROR)


def error_type(error: BaseException) -> str:
    """The kind of an error; never its message, which may contain private text.

    >>> error_type(BusyError("HTTP 429: too many")), error_type(StatusError("HTTP 500", 500)), error_type(KeyError("a"))
    ('busy', '500', 'KeyError')
    """
    if isinstance(error, StatusError | RefusedError):
        return "no_credit" if error.status == NO_CREDIT else str(error.status)
    kinds = (TYPES[kind] for kind in type(error).__mro__ if kind in TYPES)
    return next(kinds, type(error).__name__)
