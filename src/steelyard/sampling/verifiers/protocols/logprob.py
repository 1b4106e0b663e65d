"""Log-probability: the probability the generating LLM gave its own tokens, exp(mean token log-probability)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from steelyard.sampling.verifiers.protocol import RecordedProtocol, Verifier


def read(sample: Mapping[str, Any]) -> list[float] | None:
    """exp(mean log-probability) of a sample, None when the server gave none.

    >>> read({"logprob": 0.0}), read({"logprob": None})
    ([1.0], None)
    """
    mean = sample.get("logprob")
    if mean is None or not math.isfinite(mean):
        return None
    return [math.exp(min(mean, 0.0))]


PROTOCOL = RecordedProtocol(
    description="exp(mean log-probability) of the sampled tokens, as `generate` recorded it; sends no request",
    verifiers=(Verifier("logprob", "", "whole"),),
    read=read,
    missing="the run recorded no log-probability",
)
