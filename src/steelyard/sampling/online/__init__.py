"""Votes on samples as they arrive: the ballot and cascades, shared by `ask` and the gateway."""
