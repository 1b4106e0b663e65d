"""One picture of one thing."""

from __future__ import annotations

import pytest

import steelyard as sy
from tests.building import Labelled


def test_curves_are_drawn_with_a_line_for_each_method(cal: Labelled, test: Labelled) -> None:
    found = sy.evaluation.curves(["majority", "logit"], cal, test, n=[4, 16], resamples=2)
    (values,) = sy.plot(found).to_dict()["datasets"].values()
    assert {(row["method"], row["n"]) for row in values} == {(m, n) for m in ("majority", "logit") for n in (4, 16)}
    assert values[-1]["accuracy"] == pytest.approx(found.accuracy[1, 1])


@pytest.mark.parametrize("kind", [sy.LogitVote, sy.paper.LinearVote])
def test_an_offset_vote_is_drawn_over_b_with_the_b_it_chose(kind: type[sy.LogitVote], cal: Labelled) -> None:
    vote = kind(rule="exact").fit(cal)
    steps, chosen = sorted(sy.plot(vote).to_dict()["datasets"].values(), key=len, reverse=True)
    assert max(row["accuracy"] for row in steps) >= vote.curve_.best / vote.curve_.questions
    assert chosen == [{"b": vote.b}]


def test_what_has_no_picture_is_one_line() -> None:
    with pytest.raises(sy.SettingError, match="there is no picture of MajorityVote: plot curves"):
        sy.plot(sy.MajorityVote())  # type: ignore[arg-type]
    with pytest.raises(sy.errors.CalibrationError, match="is not fitted"):
        sy.plot(sy.LogitVote())
