"""Votes inside other tools: score reducers for Inspect, a filter for lm-evaluation-harness (docs/plugins.md)."""
