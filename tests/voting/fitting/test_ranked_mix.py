"""Scores on any scale, mixed by their ranks: invariance, ties, signs, and the plan that keeps the ranks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import steelyard as sy
from steelyard.voting.fitting.mixing import Mix
from steelyard.voting.fitting.score_scales import REFERENCES, rank_logit, references
from steelyard.voting.pools.scores import expit, question_ranks
from tests.building import Labelled

QUESTIONS, SOLUTIONS = 80, 6
INCREASING: dict[str, Any] = {
    "stretched": lambda x: 40 * x - 7,
    "exponential": lambda x: np.exp(x / 4),
    "cubed": lambda x: x**3,
    "squeezed": expit,
}


def verifiers(questions: int = QUESTIONS, seed: int = 0) -> dict[str, np.ndarray]:
    """Scores of one right solution in six: two verifiers that like style, and one that sees nothing else."""
    rng = np.random.default_rng(seed)
    rows = questions * SOLUTIONS
    correct = np.arange(rows) % SOLUTIONS == 0
    style = 2 * rng.normal(size=rows)
    return {
        "judge": np.clip(np.round(5 + correct + 1.5 * style), 1, 10),
        "prm": 1.5 * correct + 2 * style + 0.5 * rng.normal(size=rows),
        "style": 0.3 * correct + style + 0.2 * rng.normal(size=rows),
    }


def pool_of(parts: dict[str, np.ndarray]) -> Labelled:
    rows = len(next(iter(parts.values())))
    plain = sy.Pool.from_arrays(
        question=np.arange(rows) // SOLUTIONS,
        answer=np.arange(rows) % SOLUTIONS,
        correct=np.arange(rows) % SOLUTIONS == 0,
    )
    assert isinstance(plain, sy.LabelledPool)
    return plain.with_parts(parts)


def mixed(pool: Labelled, signed: bool | None = None) -> np.ndarray:
    return np.asarray(Mix.fit(pool, signed).apply(pool).known_scores)


@pytest.mark.parametrize("name", INCREASING)
@pytest.mark.parametrize("signed", [True, False])
def test_any_increasing_transformation_of_a_score_changes_no_bit(name: str, signed: bool) -> None:
    parts = verifiers() | {"far": 1e6 * np.random.default_rng(1).normal(size=QUESTIONS * SOLUTIONS)}
    other = parts | {"prm": INCREASING[name](parts["prm"])}
    assert mixed(pool_of(parts), signed).tobytes() == mixed(pool_of(other), signed).tobytes()


def test_the_names_and_order_of_the_scores_do_not_matter() -> None:
    parts = verifiers()
    renamed = {"z": parts["judge"], "y": parts["prm"], "x": parts["style"]}
    assert mixed(pool_of(parts)) == pytest.approx(mixed(pool_of(renamed)), abs=1e-9)


def test_a_constant_score_weighs_nothing() -> None:
    parts = verifiers()
    beside = pool_of(parts | {"flat": np.full(QUESTIONS * SOLUTIONS, 17.0)})
    more = Mix.fit(beside)
    assert more.coefficient[more.names.index("flat")] == 0
    assert "the same for every response" in more.notes()
    assert mixed(pool_of(parts)) == pytest.approx(
        more.apply(pool_of(parts | {"flat": np.full(480, 17.0)})).known_scores
    )


def test_a_verifier_of_style_alone_corrects_the_others_where_labels_show_it() -> None:
    test = pool_of(verifiers(2000, seed=1))
    mix = Mix.fit(pool_of(verifiers()))
    coefficient = dict(zip(mix.names, mix.coefficient.tolist(), strict=True))
    assert coefficient["style"] < 0 < coefficient["prm"]
    assert any("corrects the others" in note for note in mix.notes())
    assert "held-out questions support" in mix.described()
    assert mix.shares.sum() == pytest.approx(1)

    def right(scores: np.ndarray) -> float:
        return float((scores.reshape(-1, SOLUTIONS).argmax(axis=1) == 0).mean())

    monotone = Mix.fit(pool_of(verifiers()), signed=False)
    assert right(mix.apply(test).known_scores) > right(monotone.apply(test).known_scores) + 0.1


def test_without_such_a_verifier_the_mix_is_monotone() -> None:
    rng = np.random.default_rng(0)
    correct = np.arange(QUESTIONS * SOLUTIONS) % SOLUTIONS == 0
    for seed in range(5):
        rng = np.random.default_rng(seed)
        parts = {f"v{i}": 3 * correct + rng.normal(size=len(correct)) * (1 + i) for i in range(5)}
        assert not Mix.fit(pool_of(parts)).corrects


@settings(max_examples=50)
@given(st.lists(st.integers(-3, 3), min_size=1, max_size=30))
def test_equal_grades_have_equal_ranks_and_higher_ones_higher(grades: list[int]) -> None:
    values = np.array(grades, np.float64)
    z = rank_logit(values, references(values))
    assert np.isfinite(z).all()
    for one, other in zip(np.argsort(values)[:-1], np.argsort(values)[1:], strict=True):
        assert (z[one] == z[other]) if values[one] == values[other] else (z[one] < z[other])
    within = question_ranks(values, np.zeros(len(values), np.int64))
    assert np.allclose(np.log(within / (1 - within)), z)


def test_many_reference_scores_are_thinned_to_quantiles() -> None:
    values = np.random.default_rng(0).normal(size=20_000)
    some = references(values)
    assert len(some) == REFERENCES
    assert np.abs(expit(rank_logit(values, some)) - question_ranks(values, np.zeros(20_000, np.int64))).max() < 0.003


def test_ranks_of_nothing_known_are_missing() -> None:
    assert np.isnan(question_ranks(np.full(3, np.nan), np.array([0, 0, 1]))).all()


@pytest.mark.parametrize("kind", [sy.CalibratedVote, sy.LogitVote, sy.VanillaVote, sy.BestOfN], ids=lambda k: k.name)
def test_a_plan_keeps_the_ranks_bit_for_bit(kind: Any, tmp_path: Path) -> None:
    pool = pool_of(verifiers())
    vote = kind().fit(pool)
    vote.save(tmp_path / "plan.json")
    some = pool.take([3, 7, 11])  # other responses beside it change nothing
    loaded = sy.load(tmp_path / "plan.json")
    assert vote.predict(some).total.tobytes() == loaded.predict(some).total.tobytes()
    assert (
        loaded.mixed(some).known_scores.tobytes() == vote.mixed(pool).known_scores.reshape(-1, 6)[[3, 7, 11]].tobytes()
    )


@pytest.mark.parametrize(
    "ranks", [[[1.0]], [[1.0], [2.0], ["a"]], [[2.0, 1.0], [1.0], [1.0]], [[], [1.0], [1.0]], 3, [[[1.0]]] * 3]
)
def test_damaged_ranks_are_refused(ranks: Any, tmp_path: Path) -> None:
    sy.LogitVote().fit(pool_of(verifiers())).save(tmp_path / "plan.json")
    content = json.loads((tmp_path / "plan.json").read_text())
    content["mix"]["ranks"] = ranks
    (tmp_path / "plan.json").write_text(json.dumps(content))
    with pytest.raises(sy.PlanError, match="mix of scores is damaged"):
        sy.load(tmp_path / "plan.json")


def test_without_a_fit_a_question_with_other_scales_is_ranked_within_itself() -> None:
    parts = {"a": np.array([-3.0, 8.0, 0.2, 0.9]), "b": np.array([0.1, 0.8, 0.3, 0.6])}
    plain = sy.Pool.from_arrays(question=[0, 0, 1, 1], answer=[0, 1, 0, 1]).with_parts(parts)
    inside = sy.Pool.from_arrays(question=[0, 0], answer=[0, 1]).with_parts({name: x[2:] for name, x in parts.items()})
    assert plain.known_scores[2:].tobytes() == inside.known_scores.tobytes()
    assert plain.known_scores[:2] == pytest.approx([1 / 3, 2 / 3])


def test_a_list_of_names_reads_every_reducer_and_patterns_read_the_same(tmp_path: Path) -> None:
    table = pl.DataFrame(
        {
            "question": ["q", "q"],
            "answer": ["1", "2"],
            "sample": [0, 1],
            "correct": [True, False],
            "is_correct": [1, 0],
            "rm_reward": [-7.5, 30.0],
            "rm_steps": [[0.1, 0.2], [0.3]],
            "rm_name": ["a", "b"],
            "rm_latency": [0.1, 0.2],
            "judge": [7, 9],
        }
    )
    names = ("judge", "rm_reward", "rm_steps:last", "rm_steps:mean", "rm_steps:min", "rm_steps:prod")
    assert sy.read(table, score=["judge", "rm_reward", "rm_steps"]).origin.parts == names
    assert sy.read(table, score="rm_*+judge").origin.parts == names
    assert sy.read(table, score="*").origin.parts == names
    assert sy.read(table, score="rm_*:min").origin.parts == ("rm_reward", "rm_steps:min")
    assert sy.read(table, score="sigmoid(rm_r*)").origin.score == "sigmoid(rm_reward)"
    assert sy.read(table, score=["judge/10"]).origin.score == "judge/10"
    with pytest.raises(sy.errors.ColumnError, match="give the name of a column, or a list of names"):
        sy.read(table, score=["judge", 3])  # type: ignore[list-item]
    with pytest.raises(sy.errors.ScoreError, match=r"outside \[0, 1\]"):
        sy.read(table, score="rm_r*")
