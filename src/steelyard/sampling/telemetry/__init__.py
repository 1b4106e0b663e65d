"""Spans and events of votes for OpenTelemetry."""
