"""What every method does, whoever wrote it: the checks of `steelyard.testing`, and what is special to our methods."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import steelyard as sy
from steelyard.testing.checks import MethodCheck
from steelyard.voting import methods, stopping
from tests.building import Labelled

METHODS = [sy.method_class(name) for name in sy.method_names()]
ORACLES = [kind for kind in METHODS if kind.oracle]
CHECKS = [
    check
    for kind in METHODS
    for check in sy.testing.method_checks(kind)
    if str(check) != "optimal-crossfit-ignores_sample_order"  # it splits the samples by parity
]


@pytest.mark.parametrize("check", CHECKS, ids=str)
def test_every_method_passes_the_checks_of_steelyard_testing(check: MethodCheck) -> None:
    check()


@pytest.mark.parametrize("kind", METHODS, ids=lambda kind: kind.name)
def test_a_plan_is_loaded_by_the_name_of_its_method(kind: type[sy.Method], cal: Labelled, tmp_path: Path) -> None:
    assert sy.method_class(kind.name) is kind
    kind().fit(cal).save(tmp_path / "plan.json")
    assert type(sy.load(tmp_path / "plan.json")) is kind


@pytest.mark.parametrize("kind", METHODS, ids=lambda kind: kind.name)
def test_only_calibrated_and_committee_learn_a_confidence(kind: type[sy.Method], cal: Labelled, test: Labelled) -> None:
    confidence = kind().fit(cal).predict(test).confidence
    assert np.isnan(confidence).all() == (kind.name not in ("calibrated", "committee"))


def test_the_oracles_are_those_that_read_labels() -> None:
    optimal = {"optimal", "optimal-crossfit", "kde-optimal-llm", "kde-optimal-prm"}
    assert {kind.name for kind in ORACLES} == optimal | {"pass-at-n"}


def test_an_unfitted_vanilla_vote_gives_a_missing_score_the_mean_of_its_question() -> None:
    pool = sy.Pool.from_arrays(question=[0, 0, 0, 1], answer=[0, 1, 1, 0], scores=[0.25, 0.75, np.nan, np.nan])
    assert sy.VanillaVote().weigh(pool).tolist() == [0.25, 0.75, 0.5, 0.5]


@pytest.mark.parametrize(
    "kind", [sy.VanillaVote, sy.paper.LinearVote, sy.LogitVote, sy.paper.KDEVote], ids=lambda kind: kind.name
)
def test_a_missing_score_votes_with_the_mean_weight_of_the_calibration_set(kind: Any, cal: Labelled) -> None:
    """For kde the mean of its PRM term, and for q_M the mean share; the LLM term is the question's."""
    method = kind().fit(cal)
    weigh = method.prm_term if kind is sy.paper.KDEVote else method.weigh
    mean = weigh(cal)[cal.readable].mean()
    gone = sy.Pool.from_arrays(question=[0, 0], answer=[1, 2], scores=[np.nan, 0.5])
    assert weigh(gone)[0] == pytest.approx(mean, abs=1e-9)
    assert abs(mean) > 0.01
    if kind is sy.paper.KDEVote:
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
    for registry in (methods.registry(), stopping.REGISTRY):
        assert [registry.get(name).name for name in registry.built_in] == list(registry.built_in)
