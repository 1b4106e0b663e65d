"""Rules that count answers: ESC, the Bayes factor and the certificate, against their definitions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

import steelyard as sy
from steelyard.voting.pools.similarity import Similarity
from steelyard.voting.stopping.answer_numbers import answer_numbers
from steelyard.voting.stopping.rules.bayes_factor import UNSEEN, BayesFactor
from steelyard.voting.stopping.rules.beta import Beta
from steelyard.voting.stopping.rules.certificate import Certificate, evidence_table
from steelyard.voting.stopping.rules.esc import Esc
from steelyard.voting.stopping.stopping_rule import PrefixVotes, Rule, prefix_of, prefix_votes

SEQUENCES = st.lists(st.integers(-1, 4), min_size=1, max_size=14)


def pool_of(*sequences: list[int]) -> sy.Pool:
    question = np.repeat(np.arange(len(sequences)), [len(one) for one in sequences])
    return sy.Pool.from_arrays(question=question, answer=np.concatenate(sequences).astype(np.int32))


def prefixes(*sequences: list[int]) -> PrefixVotes:
    return prefix_votes(sy.MajorityVote(), pool_of(*sequences))


def challenger(before: list[int], excluded: int) -> int | None:
    """The answer with the most votes, the first seen of equal ones, without one answer."""
    others = [a for a in dict.fromkeys(before) if a not in (-1, excluded)]
    return max(others, key=before.count) if others else None


def evidence_by_quadrature(sequence: list[int], m: int) -> float:
    """The product of the bets against an answer, for each t, averaged over t."""
    grid = np.linspace(0.5, 1.0, 20_001)
    product = np.ones_like(grid)
    for i, now in enumerate(sequence):
        bet_on = challenger(sequence[:i], m)
        if bet_on is not None and now == bet_on:
            product *= 2 * grid
        elif bet_on is not None and now == m:
            product *= 2 * (1 - grid)
    return float(integrate.simpson(product, x=grid) * 2)


@settings(max_examples=30)
@given(SEQUENCES)
def test_the_certificate_is_the_lowest_of_the_bets_against_all_other_answers(sequence: list[int]) -> None:
    signal = Certificate(20).signal(prefixes(sequence))[0]
    for k in range(1, len(sequence) + 1):
        verdict = int(sy.MajorityVote().predict(pool_of(sequence[:k])).answer[0])
        if verdict < 0:
            assert signal[k - 1] == 0
            continue
        rivals = [*({*sequence[:k]} - {-1, verdict}), 99]  # 99 was never seen
        lowest = min(evidence_by_quadrature(sequence[:k], m) for m in rivals)
        assert signal[k - 1] == pytest.approx(max(0.0, 1 - 1 / lowest), abs=1e-6)


def test_the_evidence_has_its_closed_form() -> None:
    table = np.exp(evidence_table(12))
    for hits, losses in ((0, 0), (5, 0), (0, 5), (7, 2), (12, 12)):
        value, _ = integrate.quad(lambda t, h=hits, n=losses: 2 * (2 * t) ** h * (2 - 2 * t) ** n, 0.5, 1)
        assert table[hits, losses] == pytest.approx(value, rel=1e-9)


def false_stops(rule: Rule, shares: list[float], runs: int, seed: int) -> float:
    """How often a rule that looks after every sample stops at another answer than the mode, which is 0."""
    drawn = np.random.default_rng(seed).choice(len(shares), (runs, rule.cap), p=shares).astype(np.int32)
    seen = prefixes(*drawn.tolist())
    sure = rule.signal(seen) >= rule.threshold
    at = np.arange(runs), sure.argmax(axis=1)
    seen_as_0 = np.array([one.tolist().index(0) for one in drawn])  # every sequence has a 0
    wrong = seen.leader[at] != seen.numbers[np.arange(runs), seen_as_0]
    return float((sure.any(axis=1) & wrong).mean())


@pytest.mark.parametrize(
    "shares",
    [[0.501, 0.499], [0.34, 0.33, 0.33], [0.253, *[0.249] * 3], [0.11, *[0.01] * 89]],
    ids=["two", "three", "four", "many"],
)
def test_the_certificate_holds_its_error_however_often_one_looks(shares: list[float]) -> None:
    assert false_stops(Certificate(150, threshold=0.9), shares, 600, seed=1) <= 0.1


def test_a_posterior_at_the_same_level_does_not_hold_it() -> None:
    assert false_stops(Beta(150, threshold=0.9), [0.501, 0.499], 600, seed=1) > 0.3


def test_the_certificate_stops_at_a_clear_mode() -> None:
    seen = prefixes([0] * 8, [0, 1] * 4)
    assert (Certificate(20).signal(seen)[0] >= 0.95).tolist() == [False] * 7 + [True]
    assert Certificate(20).stops(seen).tolist() == [8, 8]
    assert Certificate(20).signal(seen)[1, -1] == 0


def bayes_factor(counts: list[int]) -> float:
    """Of the first answer, by adaptive quadrature."""
    shapes = [n + 1 for n in counts[1:]] + [UNSEEN + 1]

    def lost(x: float) -> float:
        below = np.prod([stats.gamma.cdf(x, shape) for shape in shapes])
        return float(stats.gamma.pdf(x, counts[0] + 1) * (1 - below))

    wrong, _ = integrate.quad(lost, 0, counts[0] + 60, limit=400, epsrel=1e-8, points=[counts[0]])
    return float((len(counts) + 1) * (1 - wrong) / wrong)


@pytest.mark.parametrize("counts", [[1], [5], [30], [3, 1], [2, 2], [12, 5, 1], [40, 1, 1, 1], [20, 18, 3], [1, 2]])
def test_the_bayes_factor_is_that_of_the_dirichlet_posterior(counts: list[int]) -> None:
    order = np.argsort([-n for n in counts], kind="stable").tolist()
    sequence = [a for a in order for _ in range(counts[a])]
    seen = prefixes(sequence)
    seen.leader[0, -1] = order.index(0)  # also of an answer that does not lead
    signal = float(BayesFactor(99).signal(seen)[0, -1])
    assert signal / (1 - signal) == pytest.approx(bayes_factor(counts), rel=2e-4)


def test_the_bayes_factor_is_that_of_random_draws() -> None:
    """As the published code computes it."""
    counts = [6, 4, 1]
    draws = np.random.default_rng(0).dirichlet([*(n + 1 for n in counts), UNSEEN + 1], 200_000)
    p = float((draws.argmax(axis=1) == 0).mean())
    assert bayes_factor(counts) == pytest.approx(4 * p / (1 - p), rel=0.02)


@settings(max_examples=50)
@given(SEQUENCES, st.integers(1, 5))
def test_esc_stops_after_the_first_window_of_equal_answers(sequence: list[int], window: int) -> None:
    rule = Esc(max(window, 20), window)
    windows = [sequence[i : i + window] for i in range(0, len(sequence) - window + 1, window)]
    equal = [i for i, one in enumerate(windows) if len(set(one)) == 1 and one[0] >= 0]
    expected = (equal[0] + 1) * window if equal else len(sequence)
    assert rule.stops(prefixes(sequence)).tolist() == [expected]


@pytest.mark.parametrize("rule", [Esc(20, 3), BayesFactor(20), Certificate(20)], ids=lambda rule: rule.name)
@given(sequence=SEQUENCES)
def test_a_vote_sample_by_sample_gives_the_same_signal(rule: Rule, sequence: list[int]) -> None:
    seen = rule.signal(prefixes(sequence))[0]
    for k in range(1, len(sequence) + 1):
        last = prefix_of(sy.MajorityVote().predict(pool_of(sequence[:k])))
        assert rule.signal(last)[0, 0] == pytest.approx(seen[k - 1], abs=1e-9)


@pytest.mark.parametrize("rule", [Esc(20, 3), BayesFactor(20), Certificate(20)], ids=lambda rule: rule.name)
def test_weights_do_not_count(rule: Rule) -> None:
    answer = np.array([0, 0, 0, 1, 0, 0], np.int32)
    scores = [np.linspace(0.1, 0.9, 6), np.full(6, 0.5)]
    pools = [sy.Pool.from_arrays(question=np.zeros(6, int), answer=answer, scores=one) for one in scores]
    first, second = (rule.signal(prefix_votes(sy.VanillaVote(), pool)) for pool in pools)
    assert np.array_equal(first, second)


def test_a_verdict_with_fewer_votes_is_not_certified() -> None:
    pool = sy.Pool.from_arrays(question=[0] * 12, answer=[0] * 11 + [1], scores=[0.001] * 11 + [0.99])
    seen = prefix_votes(sy.VanillaVote(), pool)
    assert seen.leader[0, -1] == 1
    assert Certificate(20).signal(seen)[0, -1] == pytest.approx(0, abs=1e-12)
    assert BayesFactor(20).signal(seen)[0, -1] < 0.01


def test_chunks_of_questions_change_nothing() -> None:
    rng = np.random.default_rng(0)
    many = rng.integers(0, 3, (1500, 6)).tolist()
    all_of, few = prefixes(*many), prefixes(*many[1400:])
    for rule in (BayesFactor(6), Certificate(6)):
        assert np.array_equal(rule.signal(all_of)[1400:], rule.signal(few))


def test_similar_answers_have_one_number() -> None:
    values = np.array([1, 0, 0.6, 0, 1, 0, 0.6, 0, 1], np.float32)  # answers 0 and 2 are alike
    similarity = Similarity(values, np.array([0]))
    pool = sy.Pool.from_arrays(question=[0] * 4, answer=[2, 1, 0, 2])
    similar = sy.Pool(**{**vars(pool), "similarity": similarity})
    assert answer_numbers(pool, 4)[0].tolist() == [[0, 1, 2, 0]]
    assert answer_numbers(similar, 4)[0].tolist() == [[0, 1, 0, 0]]
    assert answer_numbers(similar, 1)[0].tolist() == [[0]]


def test_why_gives_the_signal() -> None:
    seen: Any = prefixes([0, 0, 1, 1, 1])
    assert Esc(20, 3).why(seen) == "go on: the last 3 samples agree (window 3)"
    assert Certificate(20).why(seen) == "go on: the verdict is the most likely answer at level 0.333 (threshold 0.95)"
    assert BayesFactor(20).why(seen).startswith("go on: the Bayes factor for the leader is ")
    assert BayesFactor(20).why(seen).endswith("(needed: 99)")
    assert BayesFactor(20, threshold=1.0).why(seen).endswith("(needed: infinity)")
