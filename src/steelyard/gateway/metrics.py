"""Counters and histograms in the text format of Prometheus; OpenTelemetry's GenAI names where they exist.

Labels never contain client data: only routes, statuses and the names of our own models.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence

from steelyard.gateway.vote.decision import Decision

SECONDS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
TOKENS = (1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576)
SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0)
SAMPLES = (1, 2, 4, 8, 16, 32, 64, 128)

Labels = tuple[tuple[str, str], ...]  # in the order of the keyword arguments


class Counter:
    """A number that only grows, by labels."""

    def __init__(self, name: str, description: str) -> None:
        self.name, self.description = name, description
        self.values: dict[Labels, float] = {}

    def add(self, value: float = 1, **labels: str) -> None:
        key = tuple(labels.items())
        self.values[key] = self.values.get(key, 0) + value

    def lines(self) -> list[str]:
        rows = [f"{self.name}{_format_labels(key)} {value:g}" for key, value in self.values.items()]
        return [f"# HELP {self.name} {self.description}", f"# TYPE {self.name} counter", *rows]


class PolledMetric:
    """A number per upstream that is read when the metrics are scraped; `kind` is gauge or counter."""

    def __init__(self, name: str, description: str, kind: str) -> None:
        self.name, self.description, self.kind = name, description, kind
        self.read: Callable[[], dict[str, float]] = dict  # by upstream

    def lines(self) -> list[str]:
        rows = [f"{self.name}{_format_labels((('upstream', name),))} {value:g}" for name, value in self.read().items()]
        return [f"# HELP {self.name} {self.description}", f"# TYPE {self.name} {self.kind}", *rows]


class Histogram:
    """The number of values below each bound, by labels."""

    def __init__(self, name: str, description: str, bounds: Sequence[float]) -> None:
        self.name, self.description, self.bounds = name, description, bounds
        self.counts: dict[Labels, list[int]] = {}
        self.sums: dict[Labels, float] = {}

    def add(self, value: float, **labels: str) -> None:
        key = tuple(labels.items())
        counts = self.counts.setdefault(key, [0] * (len(self.bounds) + 1))
        counts[bisect_left(self.bounds, value)] += 1
        self.sums[key] = self.sums.get(key, 0.0) + value

    def lines(self) -> list[str]:
        rows = []
        for key, counts in self.counts.items():
            total = 0
            for bound, count in zip((*map(str, self.bounds), "+Inf"), counts, strict=True):
                total += count
                rows.append(f"{self.name}_bucket{_format_labels((*key, ('le', bound)))} {total}")
            rows += [
                f"{self.name}_sum{_format_labels(key)} {self.sums[key]:g}",
                f"{self.name}_count{_format_labels(key)} {total}",
            ]
        return [f"# HELP {self.name} {self.description}", f"# TYPE {self.name} histogram", *rows]


class Metrics:
    """All metrics of a server."""

    def __init__(self) -> None:
        self.duration = Histogram(
            "gen_ai_server_request_duration_seconds", "Duration of requests, by route and status.", SECONDS
        )
        self.tokens = Histogram("gen_ai_client_token_usage", "Tokens that the upstream billed per request.", TOKENS)
        self.confidence = Histogram(
            "steelyard_confidence", "Probability that a verdict is correct, where the plan has learned one.", SHARES
        )
        self.share = Histogram("steelyard_share", "Share of the readable samples that gave the verdict.", SHARES)
        self.samples = Histogram("steelyard_samples", "Samples counted by the vote, per request.", SAMPLES)
        self.abstained = Counter("steelyard_abstained_total", "Requests on which the vote abstained.")
        self.failed = Counter("steelyard_failed_samples_total", "Samples that failed at the upstream.")
        self.cancelled = Counter("steelyard_cancelled_samples_total", "Samples that were cancelled by an early stop.")
        self.degraded = Counter("steelyard_verifier_degraded_total", "Requests on which the verifier failed.")
        self.repaired = Counter("steelyard_dropped_events_total", "Events of upstream streams that were not JSON.")
        self.feedback = Counter("steelyard_feedback_total", "Labels of verdicts, by whether the verdict was correct.")
        self.lost = Counter("steelyard_feedback_lost_total", "Requests that could not be stored for feedback.")
        self.unlogged = Counter("steelyard_access_log_lost_total", "Lines of the access log that were not written.")
        self.unlogged.add(0)  # the thread of the log adds no new key while the metrics are read
        self.paused = PolledMetric(
            "steelyard_upstream_paused_seconds",
            "Seconds until requests are sent to a paused upstream again.",
            "gauge",
        )
        self.pauses = PolledMetric(
            "steelyard_upstream_pauses_total", "Pauses of more than 60 seconds that an upstream asked for.", "counter"
        )

    def on_decision(self, _: str, decision: Decision, __: str) -> None:
        """Record a request that was voted on."""
        model = decision.chat_request.model
        if decision.outcome.confidence is not None:
            self.confidence.add(decision.outcome.confidence, model=model)
        self.share.add(decision.outcome.share, model=model)
        self.samples.add(len(decision.good), model=model)
        self.failed.add(len(decision.failed), model=model)
        self.cancelled.add(decision.cancelled, model=model)
        self.abstained.add(int(decision.abstained), model=model)
        self.degraded.add(int(decision.verifier is not None), model=model)
        usage = decision.usage or {}
        for kind, name in (("input", "prompt_tokens"), ("output", "completion_tokens")):
            if type(usage.get(name)) is int:
                self.tokens.add(usage[name], gen_ai_request_model=model, gen_ai_token_type=kind)

    def text(self) -> str:
        return "\n".join(line for metric in vars(self).values() for line in metric.lines()) + "\n"


def _format_labels(labels: Labels) -> str:
    escaped = (f'{name}="{_escaped(value)}"' for name, value in labels)
    return "{" + ",".join(escaped) + "}" if labels else ""


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
