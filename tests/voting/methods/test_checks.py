"""What every method does, whoever wrote it: the methods are found by walking the package."""

from __future__ import annotations

import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import steelyard as sy
from steelyard.voting import methods, stopping
from tests.building import Labelled, labelled

METHODS = [sy.method_class(name) for name in sy.method_names()]
every_method = pytest.mark.parametrize("kind", METHODS, ids=lambda kind: kind.name)
HONEST = [kind for kind in METHODS if not kind.oracle]
ORACLES = [kind for kind in METHODS if kind.oracle]
UNORDERED = [kind for kind in METHODS if kind.name != "optimal-crossfit"]  # it parts the samples by parity


def seen(method: sy.Method, pool: Labelled) -> sy.Pool:
    """What a method may see when it predicts."""
    return pool if method.oracle else pool.unlabelled()


@every_method
def test_permuting_rows_of_the_table_changes_no_verdict(kind: type[sy.Method], cal: Labelled) -> None:
    table = sy.simulate(40, 8, seed=3)
    straight, mixed = labelled(table), labelled(table.sample(fraction=1, shuffle=True, seed=1))
    method = kind().fit(cal)
    columns = ["question", "answer", "confidence", "margin"]
    one = method.predict(seen(method, straight)).to_polars().select(columns)
    two = method.predict(seen(method, mixed)).to_polars().select(columns)
    assert one.sort("question").equals(two.sort("question"))


@pytest.mark.parametrize("kind", UNORDERED, ids=lambda kind: kind.name)
def test_permuting_samples_changes_no_verdict(kind: type[sy.Method], cal: Labelled, test: Labelled) -> None:
    method = kind().fit(cal)
    rng = np.random.default_rng(0)
    smooth = replace(test, scores=np.clip(test.known_scores + rng.normal(0, 1e-3, test.n_responses), 0, 1))
    mixed = smooth.shuffled(1, rng)
    assert np.array_equal(method.predict(seen(method, smooth)).code, method.predict(seen(method, mixed)).code)


@pytest.fixture(scope="module")
def renamed() -> tuple[Labelled, Labelled]:
    """The same responses twice; in the second every answer has another name."""
    table = sy.simulate(40, 8, seed=4)
    other = table.with_columns(answer=pl.lit("<") + pl.col("answer").str.reverse() + pl.lit(">"))
    return labelled(table), labelled(other)


@every_method
def test_renaming_answers_changes_no_verdict(
    kind: type[sy.Method], cal: Labelled, renamed: tuple[Labelled, Labelled]
) -> None:
    method = kind().fit(cal)
    one, two = (method.predict(seen(method, pool)).to_polars() for pool in renamed)
    back = two["answer"].str.strip_prefix("<").str.strip_suffix(">").str.reverse()
    assert back.to_list() == one["answer"].to_list()


@every_method
def test_renaming_the_integer_codes_changes_no_verdict(kind: type[sy.Method], cal: Labelled, test: Labelled) -> None:
    other = np.where(test.readable, (test.answer + 1) * 7919 % 100_003, -1)
    pool = sy.Pool.from_arrays(
        question=np.repeat(np.arange(test.n_questions), test.sizes),
        answer=other,
        scores=test.scores,
        correct=test.correct,
    )
    assert isinstance(pool, sy.LabelledPool)
    method = kind().fit(cal)
    winner = method.predict(seen(method, test)).code
    expected = np.where(winner < 0, -1, (winner + 1) * 7919 % 100_003)
    assert np.array_equal(method.predict(seen(method, pool)).answer, expected)


@pytest.mark.parametrize("kind", HONEST, ids=lambda kind: kind.name)
def test_equal_scores_give_the_majority_vote(kind: type[sy.Method], cal: Labelled, test: Labelled) -> None:
    flat_cal, flat = (replace(pool, scores=np.full(pool.n_responses, 0.7)) for pool in (cal, test))
    method = kind().fit(flat_cal)
    assert np.array_equal(method.predict(flat.unlabelled()).code, sy.MajorityVote().predict(flat).code)


@every_method
def test_fitting_twice_is_the_same(kind: type[sy.Method], cal: Labelled, tmp_path: Path) -> None:
    once, twice = kind().fit(cal), kind().fit(cal).fit(cal)
    once.save(tmp_path / "once")
    twice.save(tmp_path / "twice")
    assert (tmp_path / "once").read_bytes() == (tmp_path / "twice").read_bytes()


@every_method
def test_fitting_leaves_the_pool_and_the_settings_alone(kind: type[sy.Method], cal: Labelled) -> None:
    before = copy.deepcopy(vars(cal))
    method = kind()
    settings = method.settings()
    method.fit(cal)
    assert method.settings() == settings
    for name in ("starts", "answer", "scores", "base", "width", "answer_correct"):
        assert np.array_equal(before[name], getattr(cal, name), equal_nan=name == "scores")


@pytest.mark.parametrize("kind", HONEST, ids=lambda kind: kind.name)
def test_prediction_never_reads_labels(kind: type[sy.Method], cal: Labelled, test: Labelled) -> None:
    method = kind().fit(cal)
    inverted = replace(test, answer_correct=~test.answer_correct)
    assert np.array_equal(method.predict(test).code, method.predict(inverted).code)
    assert np.array_equal(method.predict(test).code, method.predict(test.unlabelled()).code)


def test_the_oracles_are_those_that_read_labels() -> None:
    optimal = {"optimal", "optimal-crossfit", "kde-optimal-llm", "kde-optimal-prm"}
    assert {kind.name for kind in ORACLES} == optimal | {"pass-at-n"}


@pytest.mark.parametrize("kind", ORACLES, ids=lambda kind: kind.name)
def test_an_oracle_refuses_a_pool_without_labels(kind: type[sy.Method], cal: Labelled, test: Labelled) -> None:
    with pytest.raises(sy.LabelError, match="oracle"):
        kind().fit(cal).predict(test.unlabelled())


@pytest.mark.parametrize("kind", HONEST, ids=lambda kind: kind.name)
def test_a_method_that_is_no_oracle_decides_every_question_without_labels(
    kind: type[sy.Method], cal: Labelled, test: Labelled
) -> None:
    verdicts = kind().fit(cal).predict(test.unlabelled())
    answered = np.add.reduceat(test.readable, test.starts[:-1]) > 0
    assert np.array_equal(verdicts.code >= 0, answered)
    assert answered.any()


@every_method
def test_a_plan_survives_json_bit_for_bit(kind: type[sy.Method], cal: Labelled, test: Labelled, tmp_path: Path) -> None:
    method = kind().fit(cal)
    method.save(tmp_path / "plan.json")
    loaded = sy.load(tmp_path / "plan.json")
    one, two = method.predict(seen(method, test)), loaded.predict(seen(method, test))
    assert one.code.tobytes() == two.code.tobytes()
    assert one.total.tobytes() == two.total.tobytes()
    loaded.save(tmp_path / "again.json")
    assert (tmp_path / "plan.json").read_bytes() == (tmp_path / "again.json").read_bytes()


@every_method
def test_verdicts_are_finite_with_missing_scores(kind: type[sy.Method], cal: Labelled, test: Labelled) -> None:
    rng = np.random.default_rng(0)
    for share in (0.3, 1.0):
        gone = rng.random(test.n_responses) < share
        scores = np.where(gone, np.nan, test.known_scores)
        patchy_cal = replace(cal, scores=np.where(rng.random(cal.n_responses) < 0.3, np.nan, cal.known_scores))
        method = kind().fit(patchy_cal)
        verdicts = method.predict(seen(method, replace(test, scores=scores)))
        for values in (verdicts.total, verdicts.margin, verdicts.share, verdicts.weight_share):
            assert np.all(np.isfinite(values))
        learned = kind.name in ("calibrated", "committee")
        assert np.all(np.isfinite(verdicts.confidence) if learned else np.isnan(verdicts.confidence))


def test_an_unfitted_vanilla_vote_gives_a_missing_score_the_mean_of_its_question() -> None:
    pool = sy.Pool.from_arrays(question=[0, 0, 0, 1], answer=[0, 1, 1, 0], scores=[0.25, 0.75, np.nan, np.nan])
    assert sy.VanillaVote().weigh(pool).tolist() == [0.25, 0.75, 0.5, 0.5]


@pytest.mark.parametrize("kind", [sy.VanillaVote, sy.LinearVote, sy.LogitVote, sy.KDEVote], ids=lambda kind: kind.name)
def test_a_missing_score_votes_with_the_mean_weight_of_the_calibration_set(kind: Any, cal: Labelled) -> None:
    """For kde the mean of its PRM term, and for q_M the mean share; the LLM term is the question's."""
    method = kind().fit(cal)
    weigh = method.prm_term if kind is sy.KDEVote else method.weigh
    mean = weigh(cal)[cal.readable].mean()
    gone = sy.Pool.from_arrays(question=[0, 0], answer=[1, 2], scores=[np.nan, 0.5])
    assert weigh(gone)[0] == pytest.approx(mean, abs=1e-9)
    assert abs(mean) > 0.01
    if kind is sy.KDEVote:
        from steelyard.voting.fitting.llm_reliability import question_reliability

        alone = sy.Pool.from_arrays(question=[0] * 9, answer=[1] * 9, scores=[np.nan] * 9)
        assert question_reliability(alone, method.shares_, method.prior_share_)[0] == pytest.approx(
            cal.correct[cal.readable].mean()
        )
    else:
        assert method.weight(np.nan) == pytest.approx(mean, abs=1e-9)


def test_a_method_of_ones_own_can_be_evaluated(cal: Labelled, test: Labelled) -> None:
    class MyCautiousVote(sy.MajorityVote):
        pass

    assert sy.evaluate([MyCautiousVote()], cal, test, n=[16])["method"].to_list() == ["my-cautious-vote"]


def test_the_file_of_a_built_in_method_or_rule_is_named_as_the_user_types_it() -> None:
    for registry in (methods.registry(), stopping.registry()):
        assert [registry.get(name).name for name in registry.built_in] == list(registry.built_in)


@every_method
def test_missing_scores_never_silence_a_response(kind: type[sy.Method], cal: Labelled) -> None:
    """The only answer of a question wins even when the verifier said nothing about it."""
    pool = sy.Pool.from_arrays(question=[0, 0], answer=[1, 1], scores=[np.nan, np.nan], correct=[True, True])
    assert kind().fit(cal).predict(pool).code.tolist() == [1]


@every_method
def test_single_answers_and_single_responses_are_decided(kind: type[sy.Method], cal: Labelled) -> None:
    pool = sy.Pool.from_arrays(
        question=[0, 1, 1, 2, 3, 3],
        answer=[3, 2, 2, -1, 0, 1],
        scores=[0.1, 0.0, 1.0, 0.5, 0.9, 0.1],
        correct=[1, 0, 0, 0, 1, 0],
    )
    code = kind().fit(cal).predict(pool).code
    assert code[:3].tolist() == [3, 2, -1]
    assert code[3] in (0, 1)


@every_method
def test_the_file_name_is_the_name_and_weights_are_one_a_response(
    kind: type[sy.Method], cal: Labelled, test: Labelled
) -> None:
    method = kind().fit(cal)
    assert sy.method_class(kind.name) is kind
    assert method.weigh(test).shape == (test.n_responses,)
    if hasattr(method, "weight"):
        assert isinstance(method.weight(0.3), float)
