"""An OTLP/HTTP collector as tests use it: it decodes and keeps what it receives."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue

PATIENT = (sys.executable, "-m", "tests.sampling.telemetry.patient")  # in place of `steelyard`


class Collector:
    """What was received: spans, events, and the bodies that contained them."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.spans: list[Any] = []
        self.events: list[Any] = []
        self.resources: list[dict[str, Any]] = []
        self.bodies: list[bytes] = []
        self.headers: list[dict[str, str]] = []

    def add(self, path: str, headers: dict[str, str], body: bytes) -> None:
        self.bodies.append(body)
        self.headers.append(headers)
        if path.endswith("/v1/traces"):
            traces = ExportTraceServiceRequest.FromString(body).resource_spans
            self.resources += [attributes(one.resource) for one in traces]
            self.spans += [span for one in traces for scope in one.scope_spans for span in scope.spans]
        else:
            logs = ExportLogsServiceRequest.FromString(body).resource_logs
            self.events += [record for one in logs for scope in one.scope_logs for record in scope.log_records]

    def variables(self, **more: str) -> dict[str, str]:
        """The environment of a process that exports here."""
        quick = {"OTEL_BSP_SCHEDULE_DELAY": "50", "OTEL_BLRP_SCHEDULE_DELAY": "50"}
        return {"OTEL_EXPORTER_OTLP_ENDPOINT": self.url, **quick, **more}

    def voted(self) -> Any:
        """The span of the only vote."""
        (span,) = (span for span in self.spans if span.kind != span.SPAN_KIND_CLIENT)
        return span

    def calls(self) -> list[Any]:
        """The spans of calls to servers."""
        return [span for span in self.spans if span.kind == span.SPAN_KIND_CLIENT]

    def contains(self, text: str) -> bool:
        return any(text.encode() in body for body in self.bodies)


def attributes(item: Any) -> dict[str, Any]:
    """The attributes of a span, an event or a resource."""
    return {entry.key: _value(entry.value) for entry in item.attributes}


def _value(value: AnyValue) -> Any:
    kind = value.WhichOneof("value")
    assert kind is not None
    return [_value(one) for one in value.array_value.values] if kind == "array_value" else getattr(value, kind)


@contextmanager
def collector(status: int = 200) -> Iterator[Collector]:
    """A collector that answers every export with this status."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            received.add(self.path, dict(self.headers), body)
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Nothing is printed."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        received = Collector(f"http://127.0.0.1:{server.server_port}")
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield received
        finally:
            server.shutdown()
            thread.join()
