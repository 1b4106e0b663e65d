"""Weight functions, densities and reliabilities on a small simulated grid, each against another way to it."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import gaussian_kde

import steelyard as sy
from steelyard.voting.score_weights import clipped_logit, logit
from tests.building import labelled
from tests.evaluation.paper.grids import one, plain_splits, responses

pytestmark = pytest.mark.experiments


def test_table_variance_is_the_error_between_scaled_functions(
    rows: dict[str, pl.DataFrame], pool: sy.LabelledPool
) -> None:
    cal, test = plain_splits(pool)[0]
    scores = np.linspace(0.01, 0.99, 99)
    vote = sy.paper.KDEVote().fit(cal)
    whole = np.array([vote.weight(p) for p in scores])
    errors = []
    for q in range(test.n_questions):
        part = test.take([q])
        z, correct = clipped_logit(part.known_scores[part.readable]), part.correct[part.readable]
        if min(correct.sum(), (~correct).sum()) < 3:
            continue
        f1, f0 = (_scipy_density(z[correct == kind], clipped_logit(scores)) for kind in (True, False))
        errors.append(np.mean((_scaled(np.log(f1 + 1e-6) - np.log(f0 + 1e-6)) - _scaled(whole)) ** 2))
    cell = one(rows["table-variance"], llm="alpha", verifier="prm_a")
    assert cell["questions"] == len(errors) > 5
    assert cell["mse"] == pytest.approx(np.mean(errors), rel=1e-6)


def _scipy_density(z: Any, x: Any) -> Any:
    spread = np.std(z, ddof=1)
    if spread * (0.75 * len(z)) ** -0.2 < 0.01:
        return np.mean([np.exp(-0.5 * ((x - point) / 0.01) ** 2) for point in z], axis=0) / (0.01 * np.sqrt(2 * np.pi))
    return gaussian_kde(z, bw_method=(0.75 * len(z)) ** -0.2)(x)


def _scaled(values: Any) -> Any:
    return (values - values.min()) / (values.max() - values.min()) - 0.5


def test_fig_offset_is_the_accuracy_of_the_vote_with_that_offset(rows: dict[str, pl.DataFrame]) -> None:
    for form, b in (("linear", 0.5), ("logit", 0.7)):
        cell = (
            rows["fig-offset"]
            .filter((pl.col("llm") == "alpha") & (pl.col("form") == form) & ((pl.col("b") - b).abs() < 1e-9))
            .row(0, named=True)
        )
        cal = labelled(responses(1), score=cell["verifier"]).split(0.4, seed=3)[0]
        p = cal.known_scores.astype(float)
        weights = p - b if form == "linear" else clipped_logit(p) - logit(b)
        assert cell["accuracy"] == pytest.approx(
            sy.evaluation.tally(cal, weights).correct(cal).mean(), abs=1.5 / cal.n_questions
        )


def test_fig_weights_has_densities_of_area_one_and_a_true_zero(rows: dict[str, pl.DataFrame]) -> None:
    table = rows["fig-weights"]
    for _, part in table.filter(pl.col("kind") != "weight").group_by("pair", "kind"):
        assert part["value"].to_numpy().sum() / 25 == pytest.approx(1.0)
    shown = table.filter(pl.col("pair") == "alpha · prm_a")
    vote = sy.paper.KDEVote().fit(plain_splits(labelled(responses(1), score="prm_a"))[0][0])
    assert vote.weight(shown["zero"][0] - 0.02) < 0 < vote.weight(shown["zero"][0] + 0.02)


def test_fig_question_weights_draws_the_global_function(rows: dict[str, pl.DataFrame]) -> None:
    table = rows["fig-question-weights"].filter(function="all questions")
    pool = labelled(responses(1 if table["llm"][0] == "alpha" else 2), score=table["verifier"][0])
    vote = sy.paper.KDEVote().fit(plain_splits(pool)[0][0])
    assert table["weight"][10] == pytest.approx(vote.weight(table["score"][10]))


def test_fig_reliability_compares_with_a_constant(rows: dict[str, pl.DataFrame], pool: sy.LabelledPool) -> None:
    cal, test = plain_splits(pool)[0]
    true = np.array([test.take([q]).correct.mean() for q in range(test.n_questions)])
    cell = one(rows["fig-reliability"], llm="alpha", verifier="prm_a", source="constant")
    assert cell["error"] == pytest.approx(np.abs(true - cal.correct.mean()).mean())
    better = one(rows["fig-reliability"], llm="alpha", verifier="prm_a", source="estimated from scores")
    assert 0 < better["error"] < cell["error"]


def test_the_grid_says_how_well_its_verifiers_discriminate(
    rows: dict[str, pl.DataFrame], pool: sy.LabelledPool
) -> None:
    correct, wrong = pool.known_scores[pool.correct], pool.known_scores[~pool.correct]
    above = (correct[:, None] > wrong).mean() + (correct[:, None] == wrong).mean() / 2
    assert one(rows["grid"], llm="alpha", verifier="prm_a")["auroc"] == pytest.approx(above)
