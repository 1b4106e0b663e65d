"""The ballot is the batch vote, sample by sample, whoever arrives first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import steelyard as sy
from steelyard.answers.reader import AnswerReader
from steelyard.voting.stopping.rules.bayes_factor import BayesFactor
from steelyard.voting.stopping.rules.beta import Beta
from steelyard.voting.stopping.rules.certificate import Certificate
from steelyard.voting.stopping.rules.confidence import Confidence
from steelyard.voting.stopping.rules.esc import Esc
from steelyard.voting.stopping.rules.fixed import Fixed
from steelyard.voting.stopping.stopping_rule import prefix_votes
from tests.building import Labelled, labelled

HONEST = [name for name in sy.method_names() if not sy.method_class(name).oracle]
SPELLINGS = ["1/2", "0.5", " 1/2 ", r"\frac{1}{2}", "7", "7.0", "", "the answer", "-3", "x"]
samples = st.lists(
    st.tuples(
        st.sampled_from([*SPELLINGS, None]),
        st.one_of(st.none(), st.integers(0, 64).map(lambda i: i / 64), st.floats(0, 1)),
    ),
    min_size=1,
    max_size=12,
)
Samples = list[tuple[str | None, float | None]]


@pytest.fixture(scope="module")
def plans(tmp_path_factory: pytest.TempPathFactory) -> dict[str, sy.Method]:
    """Every method a plan can hold, fitted, saved and loaded."""
    folder = tmp_path_factory.mktemp("plans")
    cal = labelled(sy.simulate(120, 12, seed=21))
    for name in HONEST:
        sy.method_class(name)().fit(cal).save(folder / f"{name}.json")
    return {name: sy.load(folder / f"{name}.json") for name in HONEST}


def table(given: Samples, question: str = "q") -> pl.DataFrame:
    answers, scores = zip(*given, strict=True)
    schema: dict[str, Any] = {"question": pl.String, "sample": pl.Int64, "answer": pl.String, "score": pl.Float64}
    columns = {"question": [question] * len(given), "sample": range(len(given)), "answer": answers, "score": scores}
    return pl.DataFrame(columns, schema=schema)


def batches(method: sy.Method, rows: pl.DataFrame) -> list[tuple[Any, ...]]:
    """What the batch vote says of every question of a table."""
    verdicts = method.predict(sy.read(rows, score="score", answers="math")).to_polars()
    return verdicts.select("answer", "confidence", "share", "margin", "votes", "responses").rows()


def batch(method: sy.Method, given: Samples) -> tuple[Any, ...]:
    return batches(method, table(given))[0]


def told(now: sy.evaluation.BallotState) -> tuple[Any, ...]:
    return now.verdict, now.confidence, now.share, now.margin, now.votes, now.samples


@pytest.mark.parametrize("name", HONEST)
@given(given=samples)
def test_after_every_sample_a_ballot_says_what_predict_says(
    name: str, given: Samples, plans: dict[str, sy.Method]
) -> None:
    prefixes = pl.concat(table(given[:k], f"first {k}") for k in range(1, len(given) + 1))
    with sy.Ballot(plans[name]) as ballot:
        assert [told(ballot.add(*sample)) for sample in given] == batches(plans[name], prefixes)
        assert told(ballot.state) == batch(plans[name], given)
        assert ballot.verdict == ballot.state.verdict


@pytest.mark.parametrize("name", HONEST)
def test_a_ballot_says_of_one_question_what_predict_says_of_many(name: str, plans: dict[str, sy.Method]) -> None:
    rows = sy.simulate(30, 12, seed=22)
    pool = sy.read(rows)
    pool = pool.unlabelled() if isinstance(pool, Labelled) else pool
    by_size = [plans[name].predict(pool.first(k)).to_polars() for k in range(1, 13)]
    for q, (_, part) in enumerate(rows.group_by("question", maintain_order=True)):
        ballot = sy.Ballot(plans[name])
        for found, answer, score in zip(by_size, part["answer"], part["score"], strict=True):
            now = ballot.add(answer, score)
            row = found.row(q, named=True)
            names = ("answer", "confidence", "share", "margin", "votes", "responses")
            assert told(now) == tuple(row[column] for column in names)


@given(given=samples, order=st.randoms(use_true_random=False), threshold=st.sampled_from([0.7, 0.8, 0.9]))
def test_the_order_of_arrival_changes_nothing(
    given: Samples, order: Any, threshold: float, plans: dict[str, sy.Method]
) -> None:
    rule = Beta(6, 2, threshold)
    straight, mixed = (sy.Ballot(plans["vanilla"], rule=rule) for _ in range(2))
    for answer, score in given:
        straight.add(answer, score)
    arrivals = list(enumerate(given))
    order.shuffle(arrivals)
    for sample, (answer, score) in arrivals:
        mixed.add(answer, score, sample)
    assert mixed.state == straight.state


def test_only_the_complete_run_counts() -> None:
    ballot = sy.Ballot(sy.MajorityVote())
    now = ballot.add("5", sample=1)
    assert (now.samples, now.verdict, now.why) == (0, None, "waiting for sample 0")
    assert ballot.add("5", sample=3).samples == 0
    assert ballot.add("4", sample=0).samples == 2
    assert ballot.add("5", sample=2).samples == 4
    assert (ballot.verdict, ballot.state.votes) == ("5", 3)
    assert ballot.add("6").samples == 5  # without a number: the next


def test_a_ballot_stops_where_the_batch_stops_and_stays(plans: dict[str, sy.Method]) -> None:
    rows = sy.simulate(40, 12, seed=23)
    vote = plans["calibrated"]
    seen = prefix_votes(vote, sy.read(rows))
    for rule in (Fixed(5), Beta(10, 2, 0.9), Confidence(9, 2, 0.8), Esc(9, 3), BayesFactor(10), Certificate(10)):
        stops = rule.stops(seen)
        for q, (_, part) in enumerate(rows.group_by("question", maintain_order=True)):
            ballot = sy.Ballot(vote, rule=rule)
            standings = [ballot.add(answer, score) for answer, score in part.select("answer", "score").iter_rows()]
            assert [now.stop for now in standings] == [k >= stops[q] for k in range(1, 13)]
            assert standings[-1] == standings[stops[q] - 1]
            assert standings[-1].samples == stops[q]


def test_a_ballot_reads_a_plan_with_its_rule(plans: dict[str, sy.Method], tmp_path: Path) -> None:
    vote = plans["logit"]
    vote.stopping_ = Fixed(2)
    vote.save(tmp_path / "plan.json")
    vote.stopping_ = None
    ballot = sy.Ballot(tmp_path / "plan.json")
    assert not ballot.add("3", 0.5).stop
    assert ballot.add("3", 0.5).stop
    assert ballot.state.why == "stop: 2 of 2 samples are in"


def test_a_sample_that_comes_again_is_ignored_and_one_that_changed_refused() -> None:
    ballot = sy.Ballot(sy.MajorityVote())
    before = ballot.add("4", 1.0, 0)
    assert ballot.add("4", 1.0, 0) == before
    with pytest.raises(sy.SettingError, match="sample 0 was added twice, as '4' with score 1 and as '5' with score 1"):
        ballot.add("5", 1.0, 0)
    with pytest.raises(sy.SettingError, match="no score"):
        ballot.add("4", None, 0)
    assert ballot.state == before


@pytest.mark.parametrize(
    ("words", "error", "message"),
    [
        (("4", float("nan")), sy.errors.ScoreError, "NaN"),
        (("4", 1.5), sy.errors.ScoreError, "outside"),
        (("4", -1e-9), sy.errors.ScoreError, "outside"),
        (("4", float("inf")), sy.errors.ScoreError, "outside"),
        (("4", "0.5"), sy.errors.ScoreError, "not a number"),
        (("4", True), sy.errors.ScoreError, "not a number"),
        (("4", [0.5]), sy.errors.ScoreError, "not a number"),
        ((4, 0.5), sy.errors.ColumnError, "not text"),
        ((b"4", 0.5), sy.errors.ColumnError, "not text"),
        (("\ud800", 0.5), sy.errors.ColumnError, "a lone surrogate"),
        (("4", 0.5, -1), sy.SettingError, "0, 1, 2"),
        (("4", 0.5, 1.0), sy.SettingError, "0, 1, 2"),
        (("4", 0.5, True), sy.SettingError, "0, 1, 2"),
    ],
)
def test_what_cannot_be_counted_is_refused_in_one_line_and_leaves_no_trace(
    words: tuple[Any, ...], error: type[Exception], message: str
) -> None:
    ballot = sy.Ballot(sy.MajorityVote())
    with pytest.raises(error, match=message) as refused:
        ballot.add(*words)
    assert "\n" not in str(refused.value)
    assert ballot.add("7").votes == 1


def test_numbers_of_numpy_are_numbers() -> None:
    now = sy.Ballot(sy.MajorityVote()).add("7", np.float32(0.5), np.int64(0))  # type: ignore[arg-type]
    assert now.samples == 1


def test_an_oracle_and_an_unfitted_method_are_refused_before_any_sample() -> None:
    with pytest.raises(sy.SettingError, match="oracle"):
        sy.Ballot(sy.paper.PassAtN())
    with pytest.raises(sy.errors.CalibrationError, match="is not fitted"):
        sy.Ballot(sy.LogitVote())


def test_unreadable_answers_count_as_samples_and_cast_no_vote() -> None:
    ballot = sy.Ballot(sy.MajorityVote(), rule=Beta(4))
    for _ in range(3):
        now = ballot.add(None, 0.9)
    assert (now.verdict, now.votes, now.samples, now.stop) == (None, 0, 3, False)
    assert ballot.add("").stop


def test_symbolic_answers_vote_together_and_a_shared_reader_stays_open() -> None:
    reader = AnswerReader("math")
    try:
        with sy.Ballot(sy.MajorityVote(), answers=reader) as ballot:
            ballot.add("x+1")
            ballot.add("y")
            assert ballot.add("1+x").votes == 2
        assert sy.Ballot(sy.MajorityVote(), answers=reader).add("x+1").votes == 1
    finally:
        reader.close()
    assert sy.Ballot(sy.MajorityVote(), answers="exact").add("x+1").verdict == "x+1"


def test_a_ballot_warns_when_its_scores_are_like_no_calibration_question() -> None:
    table = sy.simulate(400, 8, seed=3)
    vote = sy.CalibratedVote().fit(sy.read(table))
    with sy.Ballot(vote) as usual, sy.Ballot(vote) as odd:
        assert usual.warning is None
        for answer, score in table.filter(pl.col("question") == table["question"][0])["answer", "score"].iter_rows():
            usual.add(answer, score)
            odd.add(answer, 1e-9)
        assert usual.warning is None
        assert "are lower than those of nearly all 400 calibration questions" in str(odd.warning)
