"""What a run stores of the log-probabilities of a response: two bytes per token.

    C_i = -(1/k) sum_j log P_i(j)                          the confidence at token i, over its k most likely tokens
    H_i = -sum_j P_i(j) log P_i(j) - r_i log r_i           the entropy, r_i the probability of all other tokens together

C is stored in steps of 1/8 up to 31.875, H in steps of 1/64 up to 3.984: one byte each, and 8 bytes of Base64 for three
tokens. H counts the tokens outside the top k as one, so it is a lower bound of the entropy.
"""

from __future__ import annotations

import base64
import binascii
from typing import Any

import numpy as np
from numpy.typing import NDArray

CONFIDENCE, ENTROPY = "token_confidence", "token_entropy"  # columns of the table: one list per response
CONFIDENCE_STEP, ENTROPY_STEP = 1 / 8, 1 / 64
LOWEST = -100.0  # log-probabilities below this, and -inf, count as this
Array = NDArray[np.float64]


def confidence_and_entropy(top: Array) -> tuple[Array, Array]:
    """Return C and H of every token, from the log-probabilities of its most likely tokens [T, k].

    >>> c, h = confidence_and_entropy(np.log([[0.5, 0.25], [0.9, 0.1]]))
    >>> c.round(3), h.round(3)
    (array([1.04 , 1.204]), array([1.04 , 0.325]))
    """
    log_p = np.clip(top, LOWEST, 0.0)
    p = np.exp(log_p)
    rest = np.clip(1 - p.sum(axis=1), 0.0, 1.0)
    log_rest = np.log(np.where(rest > 0, rest, 1.0))
    return -log_p.mean(axis=1), -(p * log_p).sum(axis=1) - rest * log_rest


def top_logprobs(entries: Any, k: int) -> Array | None:
    """Return the k largest log-probabilities of every token [T, k]; None if a token of a reply has fewer."""
    if not isinstance(entries, list) or not entries:
        return None
    rows = []
    for entry in entries:
        top = entry.get("top_logprobs") if isinstance(entry, dict) else None
        values = [each.get("logprob") for each in top if isinstance(each, dict)] if isinstance(top, list) else []
        numbers: list[Any] = [value for value in values if type(value) in (int, float)]
        if len(numbers) < k:
            return None
        rows.append(sorted(numbers, reverse=True)[:k])
    try:
        table = np.array(rows, np.float64)
    except OverflowError:
        return None
    return None if np.isnan(table).any() or (table > 1e-3).any() else table


def encode(confidence: Array, entropy: Array) -> str:
    """Return both as text.

    >>> encode(np.array([1.0, 99.0]), np.array([0.5, 0.0]))
    'CP8gAA=='
    """
    steps = np.concatenate((confidence / CONFIDENCE_STEP, entropy / ENTROPY_STEP))
    return base64.b64encode(np.clip(np.rint(steps), 0, 255).astype(np.uint8).tobytes()).decode()


def decode(text: Any) -> tuple[Array, Array] | None:
    """Return what `encode` was given, rounded to steps; None for anything else.

    >>> decode("CP8gAA=="), decode("?")
    ((array([ 1.   , 31.875]), array([0.5, 0. ])), None)
    """
    try:
        stored = np.frombuffer(base64.b64decode(text, validate=True), np.uint8).astype(np.float64)
    except (TypeError, ValueError, binascii.Error):
        return None
    if not len(stored) or len(stored) % 2:
        return None
    confidence, entropy = np.split(stored, 2)
    return confidence * CONFIDENCE_STEP, entropy * ENTROPY_STEP
