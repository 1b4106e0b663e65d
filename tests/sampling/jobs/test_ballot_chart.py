"""The picture of a ballot: its answers, best first."""

from __future__ import annotations

from typing import Any

import pytest

import steelyard as sy
from tests.building import Labelled

SAMPLES = (("12", 0.9), ("15", 0.3), ("15", 0.2), ("12", 0.8), ("15", 0.4), ("9", 0.1))


def bars(ballot: sy.Ballot) -> list[dict[str, Any]]:
    return [row for data in ballot.plot().to_dict()["datasets"].values() for row in data if "votes" in row]


def filled(ballot: sy.Ballot) -> sy.Ballot:
    for answer, score in SAMPLES:
        ballot.add(answer, score)
    return ballot


def test_the_bars_are_the_shares_of_the_answers_and_the_verdict_comes_first() -> None:
    rows = bars(filled(sy.Ballot(sy.VanillaVote())))
    shown = [(row["answer"], row["votes"], row["won"]) for row in rows]
    assert shown == [("12", 2, True), ("15", 3, False), ("9", 1, False)]
    assert [row["value"] for row in rows] == pytest.approx([1.7 / 2.7, 0.9 / 2.7, 0.1 / 2.7], abs=1e-5)


def test_weights_for_and_against_an_answer_are_drawn_apart(cal: Labelled) -> None:
    vote = sy.LogitVote().fit(cal)
    rows = bars(filled(sy.Ballot(vote)))
    weights = [vote.weight(score) for _, score in SAMPLES]
    assert sum(row["value"] for row in rows) == pytest.approx(sum(w for w in weights if w > 0), abs=1e-4)
    assert sum(row["against"] for row in rows) == pytest.approx(sum(w for w in weights if w < 0), abs=1e-4)


def test_probabilities_add_up_to_one_with_none_of_these(cal: Labelled) -> None:
    rows = bars(filled(sy.Ballot(sy.CalibratedVote().fit(cal))))
    assert rows[-1]["answer"] == "none of these"
    assert sum(row["value"] for row in rows) == pytest.approx(1, abs=1e-3)


def test_a_ballot_without_a_readable_answer_has_no_picture() -> None:
    ballot = sy.Ballot(sy.MajorityVote(), answers="exact")
    for _ in range(2):
        with pytest.raises(sy.SettingError, match="no answer is readable so far"):
            ballot.plot()
        ballot.add(None)


def test_long_answers_are_cut_and_stay_apart() -> None:
    ballot = sy.Ballot(sy.MajorityVote(), answers="exact")
    for end in "ab":
        ballot.add("x" * 80 + end)
    labels = [row["label"] for row in bars(ballot)]
    assert len(set(labels)) == 2
    assert max(map(len, labels)) <= 41


def test_only_the_best_answers_are_drawn_and_the_others_counted() -> None:
    ballot = sy.Ballot(sy.MajorityVote(), answers="exact")
    for number in range(15):
        ballot.add(str(number))
    assert len(bars(ballot)) == 12
    assert "3 more answers are not shown" in ballot.plot().to_json()
