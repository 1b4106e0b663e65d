"""The published votes, each against a slow and obvious computation or a published value."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise, permutations, product
from pathlib import Path
from statistics import fmean, geometric_mean
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import steelyard as sy
from steelyard.voting.methods.best_of_majority import BestOfMajority
from steelyard.voting.methods.borda import BordaVote
from steelyard.voting.methods.cisc import TEMPERATURES, CISCVote, mean_log_share
from steelyard.voting.methods.filtered import FilteredVote
from steelyard.voting.methods.mob import MoBVote
from steelyard.voting.methods.soft_best_of_n import SoftBestOfN
from steelyard.voting.methods.soft_self_consistency import SoftSelfConsistency
from steelyard.voting.question_weights import ScoreRanks
from tests.building import Labelled, labelled, plain_vote, pools
from tests.running import steelyard

PUBLISHED = (
    "best-of-majority", "borda", "cisc", "filtered", "mob", "soft-best-of-n", "soft-self-consistency"
)  # fmt: skip
SCORES = st.lists(st.integers(0, 4).map(lambda i: i / 4), min_size=1, max_size=5)
Rows = list[tuple[int, float]]


def one_question(scores: list[float], answers: list[int] | None = None) -> sy.Pool:
    answer = np.zeros(len(scores), int) if answers is None else np.array(answers)
    return sy.Pool.from_arrays(question=np.zeros(len(scores), int), answer=answer, scores=np.array(scores))


def questions(pool: sy.Pool) -> list[Rows]:
    """The answer and the score of every readable response, question by question."""
    ends = zip(pool.starts[:-1], pool.starts[1:], strict=True)
    rows = [list(zip(pool.answer[a:b].tolist(), pool.known_scores[a:b].tolist(), strict=True)) for a, b in ends]
    return [[(answer, score) for answer, score in part if answer >= 0] for part in rows]


def by_answer(rows: Rows) -> dict[int, list[float]]:
    """The scores of every answer that are there."""
    return {answer: [s for a, s in rows if a == answer and not math.isnan(s)] for answer, _ in rows}


@given(scores=SCORES, m=st.integers(1, 3))
def test_mob_weighs_a_response_by_how_often_it_is_the_best_of_all_bootstrap_samples(
    scores: list[float], m: int
) -> None:
    wins = [Fraction(0)] * len(scores)
    for drawn in product(range(len(scores)), repeat=m):
        best = [i for i in drawn if scores[i] == max(scores[j] for j in drawn)]
        for i in best:
            wins[i] += Fraction(1, len(best) * len(scores) ** m)
    assert MoBVote(m=m).weigh(one_question(scores)) == pytest.approx([float(share) for share in wins], abs=1e-12)


def test_mob_is_majority_vote_for_m_1_best_of_n_for_large_m_and_has_the_square_root_in_between(test: Labelled) -> None:
    distinct = replaced(test, np.random.default_rng(0).permutation(test.n_responses) / test.n_responses)
    assert np.array_equal(MoBVote(m=1).predict(distinct).code, sy.MajorityVote().predict(distinct).code)
    assert np.array_equal(MoBVote(m=10**6).predict(distinct).code, sy.BestOfN().predict(distinct).code)
    assert test.n == 16
    assert np.array_equal(MoBVote().weigh(test), MoBVote(m=4).weigh(test))


def replaced(pool: Labelled, scores: Any) -> Labelled:
    return sy.LabelledPool(**(vars(pool) | {"scores": scores}))


@given(scores=SCORES, power=st.sampled_from([0.0, 0.5, 1.0, 2.0]))
def test_borda_weighs_a_response_by_the_power_of_its_mean_rank_over_all_orders_of_equal_scores(
    scores: list[float], power: float
) -> None:
    every = range(len(scores))
    orders = [order for order in permutations(every) if all(scores[a] <= scores[b] for a, b in pairwise(order))]
    ranks = [fmean(order.index(i) + 1 for order in orders) for i in every]
    expected = [(rank / len(scores)) ** power for rank in ranks]
    assert BordaVote(power=power).weigh(one_question(scores)) == pytest.approx(expected, rel=1e-12)


@given(scores=SCORES, share=st.sampled_from([0.1, 0.25, 0.5, 0.9, 1.0]))
def test_filtered_weighs_a_response_by_its_score_times_how_often_it_is_kept_over_all_orders_of_equal_scores(
    scores: list[float], share: float
) -> None:
    every = range(len(scores))
    orders = [order for order in permutations(every) if all(scores[a] >= scores[b] for a, b in pairwise(order))]
    voters = 1 + int(share * (len(scores) - 1))
    expected = [scores[i] * fmean(order.index(i) < voters for order in orders) for i in every]
    assert FilteredVote(share=share).weigh(one_question(scores)) == pytest.approx(expected, rel=1e-12)


@given(size=st.integers(1, 40), share=st.integers(1, 100).map(lambda i: i / 100), seed=st.integers(0, 9))
def test_without_equal_scores_filtered_keeps_what_the_percentile_of_deepconf_keeps(
    size: int, share: float, seed: int
) -> None:
    scores = np.random.default_rng(seed).permutation(np.arange(1, size + 1)) / 64
    votes = FilteredVote(share=share).weigh(one_question(scores.tolist())) > 0
    assert votes.tolist() == (scores >= np.percentile(scores, 100 * (1 - share)) - 1e-9).tolist()


def test_cisc_decides_the_published_example() -> None:
    """That of the tests of google-research/cisc, with confidences and temperatures divided by 10."""
    pool = one_question([0.6, 0.6, 0.6, 0.8, 0.8, 0.9], [0, 0, 0, 1, 1, 2])
    assert CISCVote(temperature=0.1).predict(pool).code.tolist() == [2]
    assert CISCVote(temperature=0.2).predict(pool).code.tolist() == [1]
    assert CISCVote(temperature=10.0).predict(pool).code.tolist() == [0]


@given(pool=pools(missing=False), temperature=st.sampled_from([0.05, 0.3, 2.0]))
def test_the_share_of_a_verdict_by_cisc_and_the_expected_accuracy_are_sums_of_the_softmax(
    pool: Labelled, temperature: float
) -> None:
    verdicts = CISCVote(temperature=temperature).predict(pool)
    chance = SoftBestOfN(temperature=temperature).expected_accuracy(pool)
    assert np.array_equal(verdicts.code, SoftBestOfN(temperature=temperature).predict(pool).code)
    for q, rows in enumerate(questions(pool)):
        weights = [math.exp(score / temperature) for _, score in rows]
        share = defaultdict[int, float](float)
        for (answer, _), weight in zip(rows, weights, strict=True):
            share[answer] += weight / sum(weights)
        if rows:
            assert verdicts.weight_share[q] == pytest.approx(max(share.values()), abs=1e-6)
        correct = sum(share[answer] for answer in share if pool.answer_correct[pool.base[q] + answer])
        assert chance[q] == pytest.approx(correct, abs=1e-9)


def test_soft_best_of_n_expects_what_draws_get_right(test: Labelled) -> None:
    vote, rng = SoftBestOfN(temperature=0.2), np.random.default_rng(0)
    chance = vote.expected_accuracy(test).mean()
    ends = list(zip(test.starts[:-1], test.starts[1:], strict=True))
    noise = rng.gumbel(size=(200, test.n_responses))  # the largest of log-weight + noise is a draw by weight
    keys = np.asarray(test.known_scores) / 0.2 + noise
    hits = [test.correct[a + keys[:, a:b].argmax(axis=1)].mean() for a, b in ends]
    assert chance == pytest.approx(np.mean(hits), abs=0.02)
    assert vote.expected_accuracy(test).shape == (test.n_questions,)


def test_cisc_fits_the_temperature_that_makes_correct_answers_most_likely(cal: Labelled) -> None:
    def log_likelihood(temperature: float) -> float:
        logs = []
        for a, b in zip(cal.starts[:-1], cal.starts[1:], strict=True):
            rows = a + np.flatnonzero(cal.readable[a:b])
            weights = [math.exp((score - 1) / temperature) for score in cal.known_scores[rows].tolist()]
            correct = cal.correct[rows].tolist()
            if any(correct) and not all(correct):
                logs.append(math.log(sum(w for w, c in zip(weights, correct, strict=True) if c) / sum(weights)))
        return fmean(logs)

    tried = [t for t in TEMPERATURES if t >= 0.03]
    assert [mean_log_share(cal, t) for t in tried] == pytest.approx([log_likelihood(t) for t in tried], rel=1e-4)
    assert CISCVote().fit(cal).temperature_ == max(tried, key=log_likelihood)
    assert CISCVote().fit(cal.unlabelled()).temperature_ == 0.1
    assert CISCVote(temperature=0.5).fit(cal).temperature_ == 0.1  # what is given is not fitted
    equal = replaced(cal, np.full(cal.n_responses, 0.7))
    assert CISCVote().fit(equal).temperature_ == 0.1
    settled = labelled(sy.simulate(40, 4, seed=0).filter(correct=True))
    assert CISCVote().fit(settled).temperature_ == 0.1


@given(pool=pools(), min_share=st.sampled_from([0.0, 0.125, 0.3, 0.5, 1.0]))
def test_best_of_majority_takes_the_top_score_among_frequent_answers(pool: Labelled, min_share: float) -> None:
    weights = np.zeros(pool.n_responses)
    for begin, end in zip(pool.starts[:-1].tolist(), pool.starts[1:].tolist(), strict=True):
        rows = [i for i in range(begin, end) if pool.answer[i] >= 0]
        votes = Counter(pool.answer[i] for i in rows)
        needed = min(Fraction(str(min_share)) * len(rows), Fraction(max(votes.values(), default=0)))
        frequent = [i for i in rows if votes[pool.answer[i]] >= needed]
        scores = [pool.known_scores[i] for i in frequent if not math.isnan(pool.known_scores[i])]
        best = [i for i in frequent if not scores or pool.known_scores[i] == max(scores)]
        for i in best if not scores else {pool.answer[i]: i for i in best}.values():
            weights[i] = 1.0
    assert BestOfMajority(min_share=min_share).predict(pool).code.tolist() == plain_vote(pool, weights)


@pytest.mark.parametrize(
    ("aggregate", "function"),
    [("mean", fmean), ("min", min), ("product", lambda s: geometric_mean(s) if all(s) else 0.0)],
)
@given(pool=pools())
def test_soft_self_consistency_takes_the_answer_with_the_best_aggregate(
    aggregate: str, function: Callable[[list[float]], float], pool: Labelled
) -> None:
    verdicts = SoftSelfConsistency(aggregate=aggregate).predict(pool)
    for q, rows in enumerate(questions(pool)):
        scores = by_answer(rows)
        every = [score for values in scores.values() for score in values]
        mean = fmean(every) if every else 0.5
        value = {answer: function(values) if values else mean for answer, values in scores.items()}
        assert verdicts.total[q] == pytest.approx(max(value.values(), default=0.0), abs=1e-9)
        if rows:
            assert value[int(verdicts.code[q])] == pytest.approx(max(value.values()), abs=1e-9)


@given(scores=st.lists(st.integers(0, 40).map(lambda i: i / 40), min_size=65, max_size=90))
def test_many_scores_are_ranked_as_few_are(scores: list[float]) -> None:
    ranks = ScoreRanks.of(one_question(scores))
    assert ranks.below.tolist() == [sum(other < score for other in scores) for score in scores]
    assert ranks.upto.tolist() == [sum(other <= score for other in scores) for score in scores]


def test_soft_self_consistency_tells_tiny_scores_apart() -> None:
    pool = one_question([2e-20, 2e-20, 3e-20], [0, 0, 1])
    assert SoftSelfConsistency().predict(pool).code.tolist() == [1]


@pytest.mark.parametrize("vote", [CISCVote(), SoftBestOfN(), MoBVote(m=2), BordaVote()], ids=repr)
def test_a_missing_score_has_the_mean_weight_of_its_question(vote: sy.Method) -> None:
    pool = sy.Pool.from_arrays(
        question=[0, 0, 0, 0, 1, 1], answer=[0, 1, 1, -1, 0, 0], scores=[0.25, 0.75, np.nan, 1.0, np.nan, np.nan]
    )
    weights = vote.weigh(pool)
    alone = vote.weigh(one_question([0.25, 0.75]))
    assert weights[:3] == pytest.approx([*alone, alone.mean()], abs=1e-9)
    assert weights[4:].tolist() == [1.0, 1.0]


def test_a_response_without_a_score_is_never_the_best_and_never_among_the_top() -> None:
    pool = one_question([0.1, math.nan, math.nan], [0, 1, 1])
    assert BestOfMajority().predict(pool).code.tolist() == [0]
    assert FilteredVote().weigh(pool).tolist() == [0.1, 0.0, 0.0]
    nothing = one_question([math.nan, math.nan, math.nan], [0, 1, 1])
    for vote in (BestOfMajority(), FilteredVote(), SoftSelfConsistency()):
        assert vote.predict(nothing).code.tolist() == [1]


@pytest.mark.parametrize(
    ("vote", "words"),
    [
        (CISCVote(temperature=0.0), "temperature must lie between 0.0001 and 10000, not 0.0"),
        (SoftBestOfN(temperature=math.nan), "temperature must lie between"),
        (MoBVote(m=0), "m must be at least 1 and at most 1000000, not 0"),
        (BordaVote(power=-1.0), "power must be at least 0 and at most 100, not -1.0"),
        (FilteredVote(share=0.0), "share must be above 0 and at most 1, not 0.0"),
        (BestOfMajority(min_share=2.0), "min_share must be at least 0 and at most 1, not 2.0"),
        (SoftSelfConsistency(aggregate="median"), "aggregate is 'median'"),
    ],
    ids=lambda value: value.name if isinstance(value, sy.Method) else "",
)
def test_settings_that_cannot_work_are_refused_in_one_line(vote: sy.Method, words: str, cal: Labelled) -> None:
    with pytest.raises(sy.SettingError, match=words) as refused:
        vote.fit(cal)
    assert "\n" not in str(refused.value)


def test_a_damaged_temperature_is_refused_on_load(cal: Labelled, tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    vote = CISCVote().fit(cal)
    vote.temperature_ = 0.0
    vote.save(path)
    with pytest.raises(sy.PlanError, match="its temperature is damaged"):
        sy.load(path)


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_vote_needs_no_labels_and_says_so_without_scores(name: str, tmp_path: Path) -> None:
    table = sy.simulate(40, 6, seed=1).drop("correct", "gold", strict=False)
    for path, columns in (("scored.parquet", table), ("bare.parquet", table.drop("score"))):
        sy.write(columns, tmp_path / path)
    done = steelyard("vote", tmp_path / "scored.parquet", "--method", name, "-o", tmp_path / "verdicts.parquet")
    assert done.code == 0, done.err
    refused = steelyard("vote", tmp_path / "bare.parquet", "--method", name, "-o", tmp_path / "none.parquet")
    assert refused.code == 2
    assert "score" in refused.err
