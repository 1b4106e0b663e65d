"""Consensus where all questions have the same few answers: Dawid and Skene's model, and its form with one coin."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import steelyard as sy
from steelyard.voting.fitting.dawid_skene import dawid_skene
from tests.committees import accuracy, committee, pool
from tests.running import steelyard

YES_SAYER = [[0.95, 0.05], [0.7, 0.3]]  # by what is correct: yes, no
CAREFUL = [[0.7, 0.3], [0.05, 0.95]]
PLAIN = [[0.8, 0.2], [0.2, 0.8]]


def judged(questions: int = 400, seed: int = 0) -> pl.DataFrame:
    """Independent judges of yes-no questions, two of whom say yes to nearly everything."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(questions) < 0.5).astype(int)
    judges = {"ann": PLAIN, "bob": CAREFUL, "yea": YES_SAYER, "yes": YES_SAYER, "yup": YES_SAYER}
    rows = []
    for name, confusion in judges.items():
        said = (rng.random(questions) > np.array(confusion)[truth, 0]).astype(int)
        rows += [(f"q{q:04d}", name, "yn"[s], "yn"[t]) for q, (s, t) in enumerate(zip(said, truth, strict=True))]
    return pl.DataFrame(rows, ["question", "llm", "answer", "gold"], orient="row").sort("question", "llm")


JUDGED = pool(judged())


def test_it_finds_what_every_judge_says_without_labels() -> None:
    vote = sy.ConsensusVote(rule="dawid-skene").fit(pool(judged(3000)).unlabelled())
    assert list(vote.log_priors_) == ["n", "y"]
    yea = np.exp(vote.log_confusion_["yea"]).reshape(2, 2)[::-1, ::-1]
    assert yea == pytest.approx(np.array(YES_SAYER), abs=0.06)


def test_judges_with_a_preference_for_an_answer_are_seen_through() -> None:
    best = accuracy(sy.ConsensusVote(rule="dawid-skene").fit(JUDGED.unlabelled()), JUDGED)
    assert best > accuracy(sy.ConsensusVote(rule="one-coin").fit(JUDGED), JUDGED) + 0.03
    assert best > accuracy(sy.MajorityVote(), JUDGED) + 0.03


def test_with_one_coin_a_source_weighs_the_log_odds_of_its_reliability() -> None:
    reliability = {"ant": 0.9, "bee": 0.7, "cat": 0.5, "dog": 0.4}
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 4, 4000)
    said = np.stack(
        [np.where(rng.random(4000) < p, truth, (truth + rng.integers(1, 4, 4000)) % 4) for p in reliability.values()]
    ).T.astype(np.int32)
    expected = [np.log(p / (1 - p)) + np.log(3) for p in reliability.values()]
    assert dawid_skene(said, 4, one_coin=True).log_odds() == pytest.approx(expected, abs=0.15)


def test_the_total_of_a_verdict_is_the_log_likelihood_ratio() -> None:
    vote = sy.ConsensusVote(rule="dawid-skene").fit(JUDGED)
    verdicts = vote.predict(JUDGED.unlabelled())
    one = pl.DataFrame(judged()).filter(question="q0000")
    z = np.array(list(vote.log_priors_.values()))
    for name, said in one.select("llm", "answer").iter_rows():
        z += vote.log_confusion_[name].reshape(2, 2)[:, "ny".index(said)]
    first = verdicts.to_polars().filter(question="q0000").row(0, named=True)
    assert first["answer"] == "ny"[int(z.argmax())]
    assert verdicts.total[0] == pytest.approx(abs(z[0] - z[1]))


def test_open_answers_are_refused_in_one_line(tmp_path: Path) -> None:
    rows = [(f"q{q}", name, str(100 * q + (s if q % 3 else 0))) for q in range(40) for s, name in enumerate("abc")]
    pl.DataFrame(rows, ["question", "llm", "answer"], orient="row").write_parquet(tmp_path / "t.parquet")
    for rule in ("dawid-skene", "one-coin"):
        words = ("--method", "consensus", "--source", "llm", "--set", f"rule={rule}")
        done = steelyard("fit", tmp_path / "t.parquet", *words)
        assert done.code == 2
        assert f"rule={rule} needs a closed set of answers" in done.err
        assert "use rule=agreement" in done.err
    wrong = steelyard("fit", tmp_path / "t.parquet", *words[:-1], "rule=dawid")
    assert (wrong.code, "dawid-skene" in wrong.err) == (2, True)


def test_a_plan_votes_as_it_was_fitted_and_one_without_rules_is_that_of_agreement(tmp_path: Path) -> None:
    vote = sy.ConsensusVote(rule="dawid-skene").fit(JUDGED)
    vote.save(tmp_path / "p.json")
    loaded = sy.load(tmp_path / "p.json")
    assert loaded.predict(JUDGED).to_polars().equals(vote.predict(JUDGED).to_polars())
    plain = sy.ConsensusVote().fit(JUDGED)
    plain.save(tmp_path / "a.json")
    plan = json.loads((tmp_path / "a.json").read_text())
    plan["settings"].pop("rule")
    for key in ("log_priors_", "log_confusion_"):
        plan["learned"].pop(key)
    (tmp_path / "old.json").write_text(json.dumps(plan))
    assert sy.load(tmp_path / "old.json").predict(JUDGED).code.tolist() == plain.predict(JUDGED).code.tolist()


def test_answers_beyond_the_closed_set_cannot_win_and_are_told() -> None:
    vote = sy.ConsensusVote(rule="dawid-skene").fit(JUDGED)
    rows = [("q", "ann", "maybe"), ("q", "bob", "maybe"), ("q", "yea", "maybe"), ("q", "yes", "y")]
    table = pl.DataFrame(rows, ["question", "llm", "answer"], orient="row")
    odd = sy.read(table, source="llm", answers="exact", score="none")
    with pytest.warns(sy.SteelyardWarning, match="3 answers are not among n, y and cannot win"):
        verdicts = vote.predict(odd)
    assert verdicts.to_polars()["answer"].to_list() == ["y"]


def test_copies_have_one_voice_and_the_order_of_the_file_says_nothing() -> None:
    made = committee({"ant": 0.8, "bee": 0.7, "cat": 0.6, "poor": 0.3}, 300, seed=4, copies={"poor2": "poor"})
    with pytest.warns(sy.SteelyardWarning, match="count as one source"):
        vote = sy.ConsensusVote(rule="dawid-skene").fit(pool(made))
    with pytest.warns(sy.SteelyardWarning, match="count as one source"):
        other = sy.ConsensusVote(rule="dawid-skene").fit(pool(made.reverse()))
    assert vote.log_confusion_["poor"].tolist() == vote.log_confusion_["poor2"].tolist()
    assert {k: v.tolist() for k, v in vote.log_confusion_.items()} == {
        k: v.tolist() for k, v in other.log_confusion_.items()
    }
