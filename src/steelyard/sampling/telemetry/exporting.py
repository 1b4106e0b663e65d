"""Exports what votes record over OTLP/HTTP, if the standard variables of OpenTelemetry name an endpoint.

Spans and events are exported in batches by threads of their own, so that a vote never waits for a collector. One that
cannot be reached is reported once, in one line without its address, which may contain a key, and delays the end of the
program by FLUSH seconds at most.
"""

from __future__ import annotations

import logging
import os
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager

from steelyard.foundation.errors import SteelyardWarning
from steelyard.foundation.version import __version__
from steelyard.sampling.telemetry.vote_span import RECORDER, Recorder

FLUSH = 3.0  # seconds
OTLP = "OTEL_EXPORTER_OTLP"
CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
IN_SPANS = ("true", "span_only", "span_and_event")  # values of CONTENT
IN_EVENTS = ("true", "event_only", "span_and_event")
NO_CONTENT = ("", "false", "no_content")
HTTP = "http/protobuf"
INSTALL = "pip install 'steelyard[otel]'"
IGNORED = "OpenTelemetry ignores the value of a variable ({kind}): check the variables OTEL_*"
FAILED = "telemetry is not exported ({kind}): check the variables OTEL_*. Further failures are not reported."


@contextmanager
def exporting() -> Iterator[Recorder | None]:
    """Record votes within the block and export them at its end at the latest; None without an endpoint."""
    with ExitStack() as stack:
        recorder = _opened(stack, os.environ)
        token = RECORDER.set(recorder)
        try:
            yield recorder
        finally:
            RECORDER.reset(token)


def signals(environment: Mapping[str, str]) -> list[str]:
    """The signals that are exported: TRACES, LOGS, both or none.

    >>> signals({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:4318", "OTEL_LOGS_EXPORTER": "none"})
    ['TRACES']
    """
    if environment.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return []
    return [
        signal
        for signal in ("TRACES", "LOGS")
        if environment.get(f"{OTLP}_{signal}_ENDPOINT") or environment.get(f"{OTLP}_ENDPOINT")
        if environment.get(f"OTEL_{signal}_EXPORTER", "").strip().lower() != "none"
    ]


def _opened(stack: ExitStack, environment: Mapping[str, str]) -> Recorder | None:
    """A recorder, closed with the stack; whatever is wrong with the variables is a warning, and no vote fails."""
    exported = [signal for signal in signals(environment) if _is_http(signal, environment)]
    if not exported:
        return None
    try:
        return _recorder(stack, exported, environment.get(CONTENT, "").strip().lower())
    except ImportError:
        _warn(f"an OTLP endpoint is set, but OpenTelemetry is not installed, so nothing is exported: {INSTALL}")
    except Exception as error:  # noqa: BLE001 - the message may contain a key
        _warn(f"nothing is exported to the OTLP endpoint: {type(error).__name__}; check the variables OTEL_*")
    return None


def _is_http(signal: str, environment: Mapping[str, str]) -> bool:
    protocol = environment.get(f"{OTLP}_{signal}_PROTOCOL") or environment.get(f"{OTLP}_PROTOCOL") or HTTP
    if protocol != HTTP:
        _warn(f"{signal.lower()} are exported by {HTTP} only: set {OTLP}_PROTOCOL to it, and its endpoint's port")
    return protocol == HTTP


def _recorder(stack: ExitStack, exported: list[str], content: str) -> Recorder:
    from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk._logs import LoggerProvider
    from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
    from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    if content not in (*IN_SPANS, *IN_EVENTS, *NO_CONTENT):
        _warn(f"{CONTENT} has an unknown value, so no content is exported: set it to true or false")
    log = logging.getLogger("opentelemetry")
    log.propagate, log.handlers = False, [_FirstProblem(IGNORED)]
    resource = Resource.create({SERVICE_VERSION: __version__})
    if str(resource.attributes.get(SERVICE_NAME, "")).startswith("unknown_service"):
        resource = resource.merge(Resource({SERVICE_NAME: "steelyard"}))
    tracers = TracerProvider(resource=resource, shutdown_on_exit=False)
    loggers = LoggerProvider(resource=resource, shutdown_on_exit=False)
    if "TRACES" in exported:
        tracers.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    if "LOGS" in exported:
        loggers.add_log_record_processor(BatchLogRecordProcessor(OTLPLogExporter()))
    failure = _FirstProblem(FAILED)
    log.handlers = [failure]

    def close() -> None:
        if not _ends_within(FLUSH, tracers.shutdown, loggers.shutdown):
            failure.report(f"the last export did not end within {FLUSH:g} s")

    stack.callback(close)
    return Recorder(
        tracers.get_tracer("steelyard", __version__),
        loggers.get_logger("steelyard", __version__) if "LOGS" in exported else None,
        texts=content in IN_SPANS,
        answers=content in IN_EVENTS,
    )


def _ends_within(seconds: float, *actions: Callable[[], object]) -> bool:
    """Run actions at once, and wait for them for so many seconds at most; return whether all have ended."""
    threads = [threading.Thread(target=action, daemon=True) for action in actions]
    until = time.monotonic() + seconds
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.0, until - time.monotonic()))
    return not any(thread.is_alive() for thread in threads)


class _FirstProblem(logging.Handler):
    """Warns of the first problem; its message may contain an address with a key, so only its kind is shown."""

    def __init__(self, text: str) -> None:
        super().__init__(logging.WARNING)
        self.text, self.is_reported = text, False

    def emit(self, record: logging.LogRecord) -> None:
        values = record.args if isinstance(record.args, tuple) else ()
        statuses = (f"HTTP {value}" for value in values if isinstance(value, int) and value in range(100, 600))
        faults = (type(value).__name__ for value in values if isinstance(value, Exception))
        self.report(next(statuses, None) or next(faults, None) or record.name.removeprefix("opentelemetry."))

    def report(self, kind: str) -> None:
        if not self.is_reported:
            self.is_reported = True
            _warn(self.text.format(kind=kind))


def _warn(text: str) -> None:
    warnings.warn(text, SteelyardWarning, stacklevel=2)
