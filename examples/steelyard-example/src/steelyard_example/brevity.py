"""Brevity: a short response scores high, exp(-tokens / 1000). It reads what a run has recorded and asks nobody."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from steelyard.sampling.verifiers.protocol import RecordedProtocol, Verifier

SCALE = 1000.0  # tokens


def read(sample: Mapping[str, Any]) -> list[float] | None:
    """The one score of a sample, None where nobody counted its tokens.

    >>> read({"tokens": 0}), read({"tokens": None})
    ([1.0], None)
    """
    tokens = sample.get("tokens")
    return None if tokens is None else [math.exp(-max(tokens, 0) / SCALE)]


PROTOCOL = RecordedProtocol(
    description="exp(-tokens / 1000) of a response; asks nobody",
    verifiers=(Verifier("brevity", "", "whole"),),
    read=read,
    missing="the run recorded no number of tokens",
)
