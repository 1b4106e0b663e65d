"""When a rule stops: by its definition, in sample order, within cap and minimum, and soundly."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta as beta_distribution

import steelyard as sy
from steelyard.evaluation.method_tables import measures
from steelyard.voting.stopping import rule_from
from steelyard.voting.stopping.rules.beta import Beta, keeps_leading
from steelyard.voting.stopping.rules.confidence import Confidence
from steelyard.voting.stopping.rules.fixed import Fixed
from steelyard.voting.stopping.stopping_rule import prefix_votes
from tests.building import Labelled, labelled, pools

RULES = [sy.evaluation.rule_class(name) for name in sy.evaluation.rule_names()]
every_rule = pytest.mark.parametrize("kind", RULES, ids=lambda kind: kind.name)


@pytest.fixture(scope="module")
def vote(cal: Labelled) -> sy.CalibratedVote:
    return sy.CalibratedVote().fit(cal)


@given(pools())
def test_a_walk_says_what_predict_says_of_every_prefix(pool: Labelled) -> None:
    method = sy.VanillaVote()
    found = prefix_votes(method, pool)
    for k in range(1, pool.n + 1):
        part = pool.first(k)
        verdicts = method.predict(part)
        assert np.array_equal(found.code[:, k - 1], verdicts.code)
        assert np.isnan(found.confidence[:, k - 1]).all()
        assert np.array_equal(found.votes[:, k - 1], verdicts.votes)
        assert found.correct is not None
        assert np.array_equal(found.correct[:, k - 1], verdicts.correct(part))
        for q in range(pool.n_questions):
            given = part.answer[part.starts[q] : part.starts[q + 1]]
            others = [int((given == a).sum()) for a in set(given.tolist()) - {-1, int(verdicts.code[q])}]
            assert found.rival[q, k - 1] == max(others, default=0)


@every_rule
@given(pool=pools(), least=st.integers(1, 4), more=st.integers(0, 6))
def test_a_rule_stops_at_the_first_prefix_that_is_ready(
    kind: type[sy.evaluation.Rule], pool: Labelled, least: int, more: int
) -> None:
    rule = kind(least + more, least)
    seen = replace(prefix_votes(sy.MajorityVote(), pool), learned=True)
    ready, stops = rule.ready(seen), rule.stops(seen)
    for q, size in enumerate(pool.sizes.tolist()):
        first = next((k for k in range(1, pool.n + 1) if ready[q, k - 1]), pool.n)
        assert stops[q] == min(first, size)
        assert stops[q] <= rule.cap
        assert stops[q] >= min(rule.least, size)


@every_rule
def test_a_rule_never_looks_beyond_the_sample_it_stops_at(
    kind: type[sy.evaluation.Rule], vote: sy.CalibratedVote, test: Labelled
) -> None:
    rule = kind(12)
    stops = rule.stops(prefix_votes(vote, test))
    place = np.arange(test.n_responses) - test.spread(test.starts[:-1])
    later = place >= test.spread(stops)
    changed = replace(test, answer=np.where(later, -1, test.answer).astype(np.int32))
    changed = replace(changed, scores=np.where(later, 0.5, test.known_scores))
    assert np.array_equal(rule.stops(prefix_votes(vote, changed)), stops)


@given(st.integers(0, 40), st.integers(0, 40))
def test_the_beta_signal_is_the_posterior(votes: int, rival: int) -> None:
    found = keeps_leading(np.array([votes]), np.array([rival]))[0]
    expected = beta_distribution.sf(0.5, votes + 1, rival + 1) if votes else 0.0
    assert found == pytest.approx(expected, abs=1e-12)


def _upper(hits: int, runs: int, level: float = 0.99) -> float:
    """Clopper and Pearson's upper bound."""
    return float(beta_distribution.ppf(level, hits + 1, runs - hits))


def _differing(shares: np.ndarray[Any, Any], delta: float, seed: int, n: int = 16) -> tuple[int, float]:
    """Draw a question for every row of answer shares; count early winners that are not those of all n."""
    rng = np.random.default_rng(seed)
    picked = (rng.random((len(shares), n, 1)) > np.cumsum(shares, axis=1)[:, None, :-1]).sum(axis=2)
    pool = sy.Pool.from_arrays(question=np.repeat(np.arange(len(shares)), n), answer=picked.ravel().astype(np.int32))
    seen = prefix_votes(sy.MajorityVote(), pool)
    stops = Beta(n, threshold=1 - delta).stops(seen)
    early = seen.code[np.arange(len(stops)), stops - 1]
    return int((early != seen.code[:, -1]).sum()), float(stops.mean())


@pytest.mark.parametrize("delta", [0.05, 0.1, 0.2])
def test_beta_is_sound_where_any_share_is_as_likely(delta: float) -> None:
    """The Beta posterior's own world: two answers, all shares equally likely."""
    runs = 20_000
    share = np.random.default_rng(1).random(runs)
    differing, samples = _differing(np.stack((share, 1 - share), axis=1), delta, seed=2)
    assert _upper(differing, runs) <= delta
    assert samples < 12  # and it does stop


@pytest.mark.parametrize(("answers", "weight"), [(3, 1.0), (6, 1.0), (6, 0.3), (12, 2.0)])
def test_beta_is_sound_with_many_answers(answers: int, weight: float) -> None:
    delta, runs = 0.05, 20_000
    shares = np.random.default_rng(answers).dirichlet(np.full(answers, weight), runs)
    differing, _ = _differing(shares, delta, seed=3)
    assert _upper(differing, runs) <= delta


def test_beta_is_sound_on_the_simulator() -> None:
    pool = labelled(sy.simulate(4000, 16, seed=5))
    seen = prefix_votes(sy.MajorityVote(), pool)
    stops = Beta(16, threshold=0.95).stops(seen)
    early = seen.code[np.arange(len(stops)), stops - 1]
    assert _upper(int((early != seen.code[:, -1]).sum()), len(stops)) <= 0.05


def test_confidence_is_right_after_any_number_of_samples() -> None:
    cal, test = (labelled(sy.simulate(1500, 16, seed=seed)) for seed in (13, 14))
    seen = prefix_votes(sy.CalibratedVote().fit(cal), test)
    assert seen.correct is not None
    for k in (1, 2, 3, 4, 6, 11, 16):
        said, correct = Confidence(16).signal(seen)[:, k - 1], seen.correct[:, k - 1]
        assert said.mean() == pytest.approx(correct.mean(), abs=0.05)
        assert measures(said, correct)["ece"] < 0.06


def test_confidence_refuses_a_method_that_has_learned_none(test: Labelled) -> None:
    with pytest.raises(sy.SettingError, match="fit 'calibrated', or stop by 'beta'"):
        Confidence(8).stops(prefix_votes(sy.MajorityVote(), test))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"cap": 0}, "1 <= least <= cap"),
        ({"cap": 4, "least": 5}, "1 <= least <= cap"),
        ({"cap": 2.5}, "whole number"),
        ({"cap": True}, "whole number"),
        ({"cap": 4, "threshold": 0.0}, "above 0 and up to 1"),
        ({"cap": 4, "threshold": float("nan")}, "above 0 and up to 1"),
        ({"cap": 4, "threshold": "0.9"}, "above 0 and up to 1"),
    ],
)
def test_impossible_settings_are_refused(settings: dict[str, Any], message: str) -> None:
    for kind in RULES:
        with pytest.raises(sy.SettingError, match=message):
            kind(**settings)


@every_rule
def test_a_plan_keeps_its_rule_bit_for_bit(
    kind: type[sy.evaluation.Rule], vote: sy.CalibratedVote, test: Labelled, tmp_path: Path
) -> None:
    rule = replace(kind(12, 2), threshold=0.1 + 0.2)
    vote.stopping_ = rule
    vote.save(tmp_path / "plan.json")
    vote.stopping_ = None
    loaded = sy.load(tmp_path / "plan.json")
    assert loaded.stopping_ == rule
    loaded.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "plan.json").read_bytes()
    assert np.array_equal(loaded.predict(test.unlabelled()).confidence, vote.predict(test.unlabelled()).confidence)


def test_a_plan_without_a_rule_is_written_as_before_and_loads(vote: sy.CalibratedVote, tmp_path: Path) -> None:
    vote.save(tmp_path / "plan.json")
    assert "stopping" not in json.loads((tmp_path / "plan.json").read_text())
    assert sy.load(tmp_path / "plan.json").stopping_ is None


def test_fitting_again_forgets_the_rule(cal: Labelled) -> None:
    vote = sy.VanillaVote()
    vote.stopping_ = Fixed(4)
    assert vote.fit(cal).stopping_ is None


@pytest.mark.parametrize(
    "stopping",
    [
        None,
        [],
        "beta",
        {},
        {"rule": "bet", "cap": 8, "least": 1, "threshold": 0.9},
        {"rule": "_base", "cap": 8, "least": 1, "threshold": 0.9},
        {"rule": "../beta", "cap": 8, "least": 1, "threshold": 0.9},
        {"rule": ["beta"], "cap": 8, "least": 1, "threshold": 0.9},
        {"rule": "beta", "cap": 8},
        {"rule": "beta", "cap": 8, "least": 1, "threshold": 0.9, "more": 1},
        {"rule": "beta", "cap": 8.5, "least": 1, "threshold": 0.9},
        {"rule": "beta", "cap": 8, "least": 9, "threshold": 0.9},
        {"rule": "beta", "cap": 8, "least": 1, "threshold": 1e999},
        {"rule": "confidence", "cap": 8, "least": 1, "threshold": 0.9, "offsets": [0.0]},
        {"rule": "confidence", "cap": 8, "least": 1, "threshold": [0.9]},
    ],
)
def test_a_damaged_rule_is_refused_in_one_line(vote: sy.CalibratedVote, tmp_path: Path, stopping: Any) -> None:
    vote.save(tmp_path / "plan.json")
    content = json.loads((tmp_path / "plan.json").read_text()) | {"stopping": stopping}
    (tmp_path / "plan.json").write_text(json.dumps(content).replace("Infinity", "1e999"))
    with pytest.raises(sy.PlanError) as refused:
        sy.load(tmp_path / "plan.json")
    assert "\n" not in str(refused.value)
    assert "again" in str(refused.value)


def test_a_rule_is_what_its_plain_form_says() -> None:
    for rule in (Fixed(3), Beta(9, 2, 0.75), Confidence(5)):
        assert rule_from(json.loads(json.dumps(rule.plain()))) == rule


def test_why_is_one_line_that_names_the_reason(vote: sy.CalibratedVote, test: Labelled) -> None:
    one = np.flatnonzero(test.answer[test.starts[:-1]] >= 0)[:1]
    seen = prefix_votes(vote, test.take(one).first(1))
    assert Fixed(2).why(seen) == "go on: 1 of 2 samples are in"
    assert Fixed(1).why(seen) == "stop: 1 of 1 samples are in"
    votes = "1 votes against 0: the leader stays ahead with probability 0.750"
    assert Beta(8).why(seen) == f"go on: {votes} (threshold 0.95)"
    assert Beta(1).why(seen) == f"stop: the cap of 1 samples is reached; {votes} (threshold 0.95)"
    assert Beta(8, threshold=0.75).why(seen) == f"stop: {votes} (threshold 0.75)"
    likely = f"the verdict is right with probability {seen.confidence[0, 0]:.3f}"
    assert Confidence(8, threshold=0.01).why(seen) == f"stop: {likely} (threshold 0.01)"
