"""The loops around the logarithm compute what numpy computes, to the last bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.voting.kernels.evidence import clipped_odds, fill_evidence
from steelyard.voting.score_weights import clipped_logit
from steelyard.voting.tally import quantize

FLOATS = st.lists(st.floats(width=64), max_size=20).map(lambda values: np.array(values, np.float64))
SCORES = st.lists(st.one_of(st.floats(0, 1), st.just(np.nan)), max_size=20).map(np.array)
both = pytest.mark.parametrize("source", [False, True], ids=["compiled", "source"])


def loop(function: Any, source: bool) -> Any:
    return function.py_func if source else function


@both
@given(p=SCORES, clip=st.sampled_from([2.0**-9, 1e-15, 0.49]))
def test_odds_are_those_of_the_clipped_scores(source: bool, p: Any, clip: float) -> None:
    odds, inside = np.empty(len(p)), np.clip(p, clip, 1 - clip)
    loop(clipped_odds, source)(p, clip, 1 - clip, odds)
    assert odds.tobytes() == (inside / (1 - inside)).tobytes()


@both
@given(z=FLOATS, missing=st.floats(-10, 10))
def test_evidence_is_rounded_and_filled_in(source: bool, z: Any, missing: float) -> None:
    rounded = np.empty(len(z))
    loop(fill_evidence, source)(z, missing, rounded)
    assert rounded.tobytes() == quantize(np.where(np.isnan(z), missing, z)).tobytes()


def test_logits_of_columns_and_of_short_floats_are_those_of_their_scores() -> None:
    p = np.random.default_rng(0).random((5, 3))
    assert np.array_equal(clipped_logit(p)[:, 1], clipped_logit(p[:, 1]))
    short = p.astype(np.float32)
    assert np.array_equal(clipped_logit(short), clipped_logit(short.astype(np.float64)))
