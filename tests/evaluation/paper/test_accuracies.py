"""Tables of accuracies on a small simulated grid: each against another way to the same figure."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import steelyard as sy
from steelyard.evaluation.accuracy_curves import default_sizes
from steelyard.evaluation.paper.experiment import experiment
from tests.building import labelled
from tests.evaluation.paper.grids import QUESTIONS, N, one, plain_splits, responses, share_right

pytestmark = pytest.mark.experiments


def test_table1_is_the_mean_and_spread_over_calibration_sets(
    rows: dict[str, pl.DataFrame], pool: sy.LabelledPool
) -> None:
    cell = one(rows["table1"], llm="alpha", verifier="prm_a", method="logit")
    by_run = [share_right(sy.LogitVote(), cal, test) for cal, test in plain_splits(pool)]
    assert cell["accuracy"] == pytest.approx(np.mean(by_run))
    assert cell["sd"] == pytest.approx(np.std(by_run, ddof=1))
    correct = np.mean([sy.LogitVote().fit(c).predict(t).correct(t) for c, t in plain_splits(pool)], axis=0)
    assert cell["se"] == pytest.approx(correct.std(ddof=1) / np.sqrt(len(correct)))
    assert cell["over_vanilla"] == pytest.approx(
        cell["accuracy"] - one(rows["table1"], llm="alpha", verifier="prm_a", method="vanilla")["accuracy"]
    )


def test_the_control_stands_beside_the_printed_optimum(rows: dict[str, pl.DataFrame], pool: sy.LabelledPool) -> None:
    _, test = plain_splits(pool)[0]
    noise = test.with_shuffled_scores(3)
    for name in ("optimal", "optimal-crossfit"):
        vote = sy.method_class(name)()
        for method, on in ((name, test), (f"{name}-shuffled", noise)):
            cell = one(rows["table-n112"], llm="alpha", verifier="prm_a", method=method)
            assert cell["accuracy"] == pytest.approx(float(sy.accuracy(vote.predict(on), on)))
    assert "pure noise" in experiment("table1").find(rows["table1"]).ours


def test_table_self_reads_the_self_assessments_only(rows: dict[str, pl.DataFrame]) -> None:
    assert set(rows["table-self"]["verifier"]) == {"self_p"}
    assert "self_p" not in set(rows["table1"]["verifier"])
    sets = plain_splits(labelled(responses(2), score="self_p"))
    cell = one(rows["table-self"], llm="beta", method="linear")
    assert cell["accuracy"] == pytest.approx(np.mean([share_right(sy.paper.LinearVote(), *pair) for pair in sets]))


def test_table_ablation_replaces_one_term(rows: dict[str, pl.DataFrame], pool: sy.LabelledPool) -> None:
    for name in ("kde-optimal-prm", "kde-optimal-llm"):
        found = [share_right(sy.method_class(name)(), *pair) for pair in plain_splits(pool)]
        cell = one(rows["table-ablation"], llm="alpha", verifier="prm_a", method=name)
        assert cell["accuracy"] == pytest.approx(np.mean(found))


def test_table_domains_and_transfer_stay_within_and_leave_the_domain(rows: dict[str, pl.DataFrame]) -> None:
    table = responses(1)
    name = one(rows["table-domains"], llm="alpha", domain="d1", method="linear")["verifier"]
    inside, outside = (
        labelled(table.filter(is_in), score=name) for is_in in (pl.col("domain") == "d1", pl.col("domain") != "d1")
    )
    cal, test = inside.split(1 / 3, seed=3)
    cell = one(rows["table-domains"], llm="alpha", domain="d1", method="linear")
    assert cell["accuracy"] == pytest.approx(share_right(sy.paper.LinearVote(), cal, test))
    cell = one(rows["table-transfer"], llm="alpha", domain="d1", method="linear")
    assert cell["accuracy"] == pytest.approx(share_right(sy.paper.LinearVote(), inside, outside))
    assert cell["questions"] == outside.n_questions


def test_table_pseudo_keeps_the_scores_of_each_kind(rows: dict[str, pl.DataFrame]) -> None:
    from steelyard.evaluation.paper.experiments._weight_functions import pseudo

    name = one(rows["table-pseudo"], llm="alpha", method="vanilla")["scores_of"]
    pool = labelled(responses(1), score=name)
    dealt = pseudo(pool, 3)
    for kind in (True, False):
        mask = pool.correct == kind
        assert np.array_equal(np.sort(pool.known_scores[mask]), np.sort(dealt.known_scores[mask]))
    assert not np.array_equal(pool.known_scores, dealt.known_scores)
    _, test = dealt.split(0.4, seed=3)
    cell = one(rows["table-pseudo"], llm="alpha", method="vanilla")
    assert cell["accuracy"] == pytest.approx(float(sy.accuracy(sy.VanillaVote().predict(test), test)))


def test_table_compute_and_fig_scaling_follow_the_curves(rows: dict[str, pl.DataFrame], pool: sy.LabelledPool) -> None:
    cal, test = plain_splits(pool)[0]
    found = sy.evaluation.curves(["vanilla", "logit"], cal, test, n=sy.evaluation.fine_sizes(N), resamples=4, seed=3)
    match = sy.evaluation.compute_to_match(found, "logit", "vanilla", seed=3)
    cell = one(rows["table-compute"], llm="alpha", verifier="prm_a", method="logit", baseline="vanilla")
    assert (cell["fraction"], cell["low"]) == pytest.approx((match.fraction, match.fraction_low), abs=1e-9)
    assert cell["break_even"] == pytest.approx(match.break_even(cal.n_responses), abs=1e-9)
    curve = rows["fig-scaling"]
    assert curve.filter(method="logit")["n"].to_list() == sy.evaluation.fine_sizes(N)
    assert curve.filter(method="kde")["n"].to_list() == default_sizes(N)
    tests = [
        labelled(responses(seed), score=name).split(0.4, seed=3)[1] for seed in (1, 2) for name in ("prm_a", "prm_b")
    ]
    passed = np.mean([np.add.reduceat(t.correct, t.starts[:-1]).astype(bool).mean() for t in tests])
    assert one(curve, method="pass-at-n", n=N)["accuracy"] == pytest.approx(passed)
    assert one(curve, method="logit", n=1)["accuracy"] == pytest.approx(np.mean([t.correct.mean() for t in tests]))


def test_fig_calibration_size_ends_with_all_there_is(rows: dict[str, pl.DataFrame]) -> None:
    cell = one(rows["fig-calibration-size"], llm="beta", method="logit", size=QUESTIONS // 2)
    cal, test = labelled(responses(2), score=cell["verifier"]).split(0.5, seed=3)
    assert cell["accuracy"] == pytest.approx(share_right(sy.LogitVote(), cal, test))
