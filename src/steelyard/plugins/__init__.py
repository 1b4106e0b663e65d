"""Votes inside other tools: Inspect, lm-evaluation-harness and LiteLLM (docs/plugins.md)."""
