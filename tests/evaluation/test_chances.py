"""Pass@n and best-of-n by formula: against every subset in every order, and against whole numbers."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, permutations, product
from math import comb
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import hypergeom

import steelyard as sy
from steelyard.evaluation.subset_accuracy import best_of_n, correct_shares, pass_at_n
from tests.building import Labelled, make, pools


def every_subset(pool: Labelled, n: int) -> Labelled:
    """The n samples of a pool with one question, in every order: one question each."""
    rows = np.array(list(permutations(range(pool.n_responses), min(n, pool.n_responses))))
    question = np.repeat(np.arange(len(rows)), rows.shape[1])
    drawn = {"answer": pool.answer, "scores": pool.known_scores, "correct": pool.correct}
    found = sy.Pool.from_arrays(question=question, **{name: column[rows.ravel()] for name, column in drawn.items()})
    assert isinstance(found, sy.LabelledPool)
    return found


@given(pools(questions=3, responses=6), st.integers(1, 6))
def test_pass_at_n_is_the_mean_over_all_subsets(pool: Labelled, n: int) -> None:
    expected = [
        np.mean([any(subset) for subset in combinations(correct, min(n, len(correct)))])
        for correct in np.split(pool.correct, pool.starts[1:-1])
    ]
    assert pass_at_n(pool, [n])[:, 0] == pytest.approx(expected, abs=1e-12)


@given(st.sampled_from((0, 1, 2, 64)).flatmap(lambda levels: pools(questions=1, responses=6, levels=levels)))
def test_best_of_n_is_the_mean_of_its_verdicts_over_all_subsets_in_every_order(pool: Labelled) -> None:
    """Right and wrong answers share the top score, votes are equal, scores are missing, answers unreadable."""
    sizes = range(1, 8)
    subsets = [every_subset(pool, n) for n in sizes]
    expected = [sy.BestOfN().predict(subset.unlabelled()).correct(subset).mean() for subset in subsets]
    assert best_of_n(pool, sizes)[0] == pytest.approx(expected, abs=1e-12)


def counted(rows: list[tuple[int, int, float, bool]], n: int) -> Fraction:
    """Best-of-n in whole numbers: so many votes for each answer at the top, with or without one that stands there."""
    found = Fraction(0)
    for top in {score for _, answer, score, _ in rows if answer >= 0}:
        kept = [row for row in rows if row[1] < 0 or row[2] <= top]
        tied = {answer for _, answer, score, _ in kept if answer >= 0 and score == top}
        kinds = [[row for row in kept if row[1] == answer] for answer in tied]
        for draw in product(*(product(range(len(kind) + 1), (True, False)) for kind in kinds)):
            others = n - sum(votes for votes, _ in draw)
            ways = comb(len(kept) - sum(map(len, kinds)), others) if others >= 0 else 0
            for kind, (votes, racing) in zip(kinds, draw, strict=True):
                out = comb(sum(row[2] < top for row in kind), votes)
                ways *= comb(len(kind), votes) - out if racing else out
            most = max((votes for votes, racing in draw if racing), default=0)
            best = [kind[0][3] for kind, one in zip(kinds, draw, strict=True) if one == (most, True)]
            found += ways * Fraction(sum(best), max(1, len(best)))
    return found / comb(len(rows), n)


@pytest.mark.parametrize("levels", [1, 3, 8])
def test_best_of_n_of_thirty_samples_is_that_of_whole_numbers(levels: int) -> None:
    rng = np.random.default_rng(levels)
    rows = [(0, int(a) - 1, int(s) / 8, bool(a in (1, 3))) for a, s in rng.integers(0, [4, levels], (30, 2))]
    sizes = [1, 2, 3, 5, 15, 29, 30]
    expected = [float(counted(rows, n)) for n in sizes]
    assert best_of_n(make(rows), sizes)[0] == pytest.approx(expected, abs=1e-12)


def test_best_of_n_of_many_samples_with_one_score_is_the_majority_of_two() -> None:
    """So many that the smallest and the largest n cannot be counted on one scale."""
    rows = [(0, int(i < 640), 0.5, i < 640) for i in range(1200)]
    sizes = np.array([1, 2, 7, 600, 1199])
    more, equal = (hypergeom(1200, 640, sizes).sf(sizes // 2), hypergeom(1200, 640, sizes).pmf(sizes / 2))
    assert best_of_n(make(rows), sizes)[0] == pytest.approx(more + equal / 2, abs=1e-11)


def test_a_question_without_a_wrong_answer_is_right_without_rounding() -> None:
    pool = make([(0, 0, i / 37, True) for i in range(37)])
    assert best_of_n(pool, [1, 2, 5, 36, 37]).tolist() == [[1.0] * 5]
    assert pass_at_n(pool, [1, 2, 5, 36, 37]).tolist() == [[1.0] * 5]


def test_curves_of_best_of_n_and_pass_at_n_draw_nothing(test: Labelled, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("count_by_adding", "count_by_voting"):
        monkeypatch.setattr(f"steelyard.evaluation.subset_accuracy.{name}", lambda *_, **__: pytest.fail("drawn"))
    sizes = np.array([1, 2, 5, 16])
    methods: list[sy.Method | None] = [sy.BestOfN(), sy.paper.PassAtN()]
    share, _ = correct_shares([methods] * 4, test, sizes, resamples=1, seed=0)
    assert share[..., 0] == pytest.approx(best_of_n(test, sizes))
    assert share[..., 1] == pytest.approx(pass_at_n(test, sizes))


def test_another_best_of_n_is_not_taken_for_the_formula(test: Labelled) -> None:
    class Worst(sy.BestOfN):
        def weigh(self, pool: sy.Pool) -> Any:
            return 1 - super().weigh(pool)

    share, _ = correct_shares([[Worst()]], test, np.array([4]), resamples=3, seed=0)
    assert set(np.unique(share * 3).round(9)) <= {0.0, 1.0, 2.0, 3.0}
