"""The decisions of the design, one by one, each shown by what a user would see."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import steelyard as sy
from steelyard.voting.fitting.llm_reliability import question_reliability
from tests.building import Labelled, labelled, make


def test_decision_1_unreadable_answers_cast_no_vote() -> None:
    pool = make([(0, -1, 0.9, False), (0, -1, 0.9, False), (0, 4, 0.1, True)])
    assert sy.MajorityVote().predict(pool).code.tolist() == [4]


def test_decision_1_unreadable_answers_count_among_the_n_responses_for_reliability() -> None:
    half = make([(0, 0, 0.5, True), (0, -1, 0.5, False)])
    full = make([(0, 0, 0.5, True), (0, 0, 0.5, True)])
    share = np.full(10, 0.8)
    assert question_reliability(half, share, 0.5)[0] == pytest.approx(0.4)
    assert question_reliability(full, share, 0.5)[0] == pytest.approx(0.75)  # 0.8, kept half a response from 1


def test_decision_1_a_question_with_only_unreadable_answers_has_the_verdict_null_and_is_wrong() -> None:
    table = pl.DataFrame(
        {"question": ["a", "a", "b"], "answer": [None, "  ", "7"], "gold": ["7", "7", "7"], "score": [0.9, 0.9, 0.9]}
    )
    pool = labelled(table)
    verdicts = sy.MajorityVote().predict(pool)
    assert verdicts.to_polars()["answer"].to_list() == [None, "7"]
    assert verdicts.correct(pool).tolist() == [False, True]
    assert float(sy.accuracy(verdicts, pool)) == 0.5


@pytest.mark.parametrize(
    ("why", "rows", "winner"),
    [
        ("higher total score", [(0, 0, 0.4, False), (0, 1, 0.5, False)], 1),
        (
            "a missing score is the question's mean",
            [(0, 0, 0.4, False), (0, 1, np.nan, False), (0, 2, 0.6, False)],
            2,
        ),
        ("then the answer seen first", [(0, 1, 0.5, False), (0, 0, 0.5, False)], 1),
        ("without any score, the answer seen first", [(0, 3, np.nan, False), (0, 0, np.nan, False)], 3),
    ],
)
def test_decision_2_ties(why: str, rows: list[tuple[int, int, float, bool]], winner: int) -> None:
    assert sy.MajorityVote().predict(make(rows)).code.tolist() == [winner], why


def test_decision_2_ties_in_weight_and_score_go_to_more_votes() -> None:
    pool = make([(0, 0, 0.5, False), (0, 1, 0.25, False), (0, 1, 0.25, False)])
    assert sy.VanillaVote().predict(pool).code.tolist() == [1]


def test_decision_2_best_of_n_breaks_a_tie_at_the_top_by_votes_then_by_order() -> None:
    rows = [(0, 0, 0.75, False), (0, 0, 0.75, False), (0, 1, 0.75, False), (0, 1, 0.25, False), (0, 1, 0.25, False)]
    assert sy.BestOfN().predict(make(rows)).code.tolist() == [1]
    assert sy.BestOfN().predict(make(rows[:4])).code.tolist() == [0]
    assert sy.BestOfN().predict(make(rows[3:1:-1] + rows[:2])).code.tolist() == [1]


def test_decision_3_negative_totals_are_fine() -> None:
    pool = make([(0, 0, 0.5, False), (0, 1, 0.5, False), (0, 1, 0.5, False)])
    verdicts = sy.evaluation.tally(pool, [-1.0, -1.0, -1.0])
    assert (verdicts.code.tolist(), verdicts.total.tolist(), verdicts.margin.tolist()) == ([0], [-1.0], [1.0])
    assert verdicts.weight_share.tolist() == verdicts.share.tolist() == [1 / 3]


def test_decision_4_the_same_answers_vote_together() -> None:
    table = pl.DataFrame({"question": ["a"] * 3, "answer": ["9", "7", " 7 "], "score": [0.9, 0.5, 0.5]})
    assert sy.MajorityVote().predict(sy.read(table)).to_polars().row(0)[:2] == ("a", "7")


def test_decision_5_scores_are_clipped_and_the_plan_says_where(cal: Labelled, tmp_path: Path) -> None:
    vote = sy.LogitVote().fit(cal)
    assert vote.weight(0.0) == vote.weight(2**-9)
    assert vote.weight(1.0) == vote.weight(1 - 2**-9)
    vote.save(tmp_path / "plan.json")
    assert json.loads((tmp_path / "plan.json").read_text())["settings"]["clip"] == 2**-9


def test_decision_6_m_counts_distinct_readable_answers_and_a_lone_answer_wins(cal: Labelled) -> None:
    pool = make([(0, 0, 0.1, False), (0, 2, 0.1, False), (0, -1, 0.1, False), (1, 1, 0.0, False), (1, 1, 0.0, False)])
    assert pool.m.tolist() == [2, 1]
    for method in (sy.LogitVote(), sy.paper.LinearVote(), sy.paper.KDEVote()):
        assert method.fit(cal).predict(pool).code[1] == 1


def test_decision_7_fit_uses_the_first_n_samples_and_the_plan_records_n(cal: Labelled) -> None:
    few, first = sy.LogitVote().fit(cal, n=4), sy.LogitVote().fit(cal.first(4))
    assert few.offset_ == first.offset_ != sy.LogitVote().fit(cal).offset_
    assert few.fitted_on_ is not None
    assert few.fitted_on_.n == 4


def test_decision_8_same_input_and_seed_same_bytes_out(cal: Labelled, tmp_path: Path) -> None:
    for name in ("one.json", "two.json"):
        sy.LogitVote(seed=3).fit(cal).save(tmp_path / name)
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()
    assert sy.simulate(20, 4, seed=5).equals(sy.simulate(20, 4, seed=5))
    assert not sy.simulate(20, 4, seed=5).equals(sy.simulate(20, 4, seed=6))


def test_decision_9_the_split_is_the_permutation_of_sorted_ids() -> None:
    ids = [f"q{i}" for i in range(25)]
    table = pl.DataFrame({"question": ids, "answer": ["1"] * 25, "correct": [True] * 25, "score": [0.5] * 25})
    cal, test = labelled(table.sample(fraction=1, shuffle=True, seed=1)).split(0.3, seed=7)
    order = np.random.default_rng(7).permutation(25)
    assert set(cal.questions) == {sorted(ids)[i] for i in order[: round(0.3 * 25)]}
    assert set(cal.questions) | set(test.questions) == set(ids)
    assert not set(cal.questions) & set(test.questions)


def test_decision_10_a_plan_is_json_with_where_it_came_from(tmp_path: Path) -> None:
    table = sy.simulate(60, 8, seed=1).rename({"score": "prm"}).with_columns(llm=pl.lit("tiny"))
    vote = sy.LogitVote().fit(labelled(table, score="prm"))
    vote.save(tmp_path / "plan.json")
    plan = json.loads((tmp_path / "plan.json").read_text())
    assert plan["method"] == "logit"
    assert plan["steelyard"] == sy.__version__
    assert plan["learned"]["offset_"] == vote.offset_
    assert set(plan["learned"]["offsets_"]) >= {"bagged", "exact", "grid", "likelihood"}
    told = {"n": 8, "score": "prm", "llm": "tiny", "verifier": "prm", "questions": 60, "responses": 480}
    assert told.items() <= plan["fitted_on"].items()
    assert plan["fitted_on"]["accuracy"] == pytest.approx(float(vote.curve_.at(vote.offset_ or 0.0)))
