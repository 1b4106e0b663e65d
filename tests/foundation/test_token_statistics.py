"""Statistics of the most likely tokens: the formulas, the two bytes per token, and replies with anything in them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from steelyard.foundation.token_statistics import confidence_and_entropy, decode, encode, top_logprobs


def test_confidence_and_entropy_are_those_of_a_plain_loop() -> None:
    p = np.random.default_rng(0).dirichlet(np.full(8, 0.3), size=50)[:, :5]
    confidence, entropy = confidence_and_entropy(np.log(p))
    for i, row in enumerate(p.tolist()):
        rest = max(0.0, 1 - sum(row))
        assert math.isclose(confidence[i], -sum(math.log(x) for x in row) / 5)
        expected = -sum(x * math.log(x) for x in row) - (rest * math.log(rest) if rest else 0.0)
        assert math.isclose(entropy[i], expected, abs_tol=1e-9)


def test_what_is_stored_differs_by_half_a_step_at_most_in_three_bytes_per_token() -> None:
    rng = np.random.default_rng(1)
    confidence, entropy = rng.uniform(0, 31, 999), rng.uniform(0, 3, 999)
    text = encode(confidence, entropy)
    decoded = decode(text)
    assert decoded is not None
    assert np.abs(decoded[0] - confidence).max() <= 1 / 16
    assert np.abs(decoded[1] - entropy).max() <= 1 / 128
    assert len(text) <= 8 * math.ceil(len(confidence) / 3)


@pytest.mark.parametrize("text", [None, 7, "", "?", "AAA=x", "AAAA"])
def test_a_damaged_record_has_no_statistics(text: Any) -> None:
    assert decode(text) is None


def tokens(*values: Any) -> list[dict[str, Any]]:
    return [{"top_logprobs": [{"logprob": value} for value in row]} for row in values]


@pytest.mark.parametrize(
    "entries",
    [None, [], [3], [{}], tokens([-0.1]), tokens([-0.1, "x"]), tokens([-0.1, True]), tokens([-0.1, math.nan]),
     tokens([-0.1, 5.0]), tokens([-0.1, -(10**400)]), [{"top_logprobs": "ab"}]],
)  # fmt: skip
def test_a_reply_without_two_numbers_for_every_token_has_no_statistics(entries: Any) -> None:
    assert top_logprobs(entries, 2) is None


def test_the_most_likely_tokens_are_used_in_any_order_and_an_impossible_one_is_clipped() -> None:
    top = top_logprobs(tokens([-3.0, -0.5, -1.0], [-math.inf, 0.0]), 2)
    assert top is not None
    assert top.tolist() == [[-0.5, -1.0], [0.0, -math.inf]]
    assert np.isfinite(np.concatenate(confidence_and_entropy(top))).all()
