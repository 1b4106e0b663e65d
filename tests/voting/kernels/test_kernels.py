"""Every compiled loop does what its Python source says."""

import warnings
from dataclasses import dataclass, replace
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import numpy as np
import polars as pl
import pytest

import steelyard as sy
from steelyard.evaluation.random_subsets import count_by_adding
from steelyard.evaluation.subset_accuracy import best_of_n, pass_at_n
from steelyard.voting import kernels
from steelyard.voting.fitting.llm_reliability import question_ratio
from steelyard.voting.fitting.offset_curve import intervals, lines
from steelyard.voting.fitting.offset_rules import likelihood_with_slope
from steelyard.voting.pools.similarity import Similarity
from steelyard.voting.question_weights import ScoreRanks
from steelyard.voting.stopping.stopping_rule import prefix_votes
from steelyard.voting.tally import smoothed, tally
from tests.building import Labelled
from tests.committees import committee
from tests.voting.test_similar_votes import sources_that_know, with_random_similarity

MODULES = [kernels, *(import_module(f"steelyard.voting.kernels.{m.name}") for m in iter_modules(kernels.__path__))]
for public in dir(kernels):
    getattr(kernels, public)  # a name is in vars() once it was used
LOOPS = [(module, name) for module in MODULES for name, item in vars(module).items() if hasattr(item, "py_func")]


@dataclass(repr=False)
class Times(sy.Method):
    """Scores times a size, so that sums need every quantum."""

    size: float = 1.0

    def weigh(self, pool: sy.Pool) -> Any:
        return np.nan_to_num(pool.known_scores) * self.size

    def by_response(self) -> bool:
        return True


def _voters(sizes: Any) -> list[list[sy.Method | None]]:
    return [[sy.MajorityVote(), Times(1.0), Times(1e-6), Times(1e7), Times(n), None] for n in sizes.tolist()]


def _everything(pool: Labelled) -> list[Any]:
    """Run every kernel on one pool and return all that came out."""
    regrouped = sy.Pool.from_arrays(
        question=np.repeat(np.arange(pool.n_questions), pool.sizes),
        answer=np.where(pool.readable, pool.answer * 1000 + 7, -1),
        scores=pool.scores,
        correct=pool.correct,
    )
    assert isinstance(regrouped, sy.LabelledPool)
    z = np.where(np.isnan(pool.known_scores), 0.0, pool.known_scores) * 4 - 2
    found = lines(pool, z, pool.known_scores)
    wins = intervals(found)
    tiny = sy.LabelledPool(**(vars(pool) | {"scores": np.nan_to_num(pool.known_scores) * 1e-12}))
    shuffled = pool.shuffled(2, np.random.default_rng(0))
    sizes, keys = np.array([2, 5, 9]), np.arange(pool.n_questions, dtype=np.uint64)
    faint = np.where(np.arange(pool.n_responses) % 3, pool.known_scores, 1e-12)
    scored = (pool, replace(pool, scores=np.nan_to_num(faint)), replace(tiny, scores=tiny.known_scores * 2.0**-20))
    drawn = [count_by_adding(_voters(sizes), p, sizes, keys, 3) for p in scored]
    verdicts = [sy.method_class(name)().fit(pool).predict(pool) for name in ("best-of-n", "majority", "borda", "mob")]
    ranks = ScoreRanks.of(sy.Pool.from_arrays(question=np.zeros(len(z)), answer=pool.answer, scores=pool.scores))
    alike = with_random_similarity(pool, 0)
    equal = replace(pool, similarity=Similarity.of_equal_answers(pool.width), scores=pool.known_scores.round())
    similar = [tally(each, weights) for each in (alike, equal) for weights in (z, np.ones(len(z)), z * 1e-12)]
    similar += [tally(alike, z, spread=False), tally(replace(alike, scores=None), np.ones(len(z)))]
    return [
        *(figure for v in similar for figure in (v.code, v.total, v.margin, v.votes, v.support)),
        prefix_votes(sy.MajorityVote(), alike).rival, smoothed(alike, np.arange(float(alike.width.sum()))),
        regrouped.answer, regrouped.names, regrouped.answer_correct, pool.m,
        found.s, found.n, found.merit, found.correct,
        wins.low, wins.high, wins.question, found.correct_at([-np.inf, -1.0, 0.0, 0.5, np.inf]),
        question_ratio(pool, clip=2**-9, crossfit=False), question_ratio(pool, clip=2**-9, crossfit=True),
        *(sy.evaluation.tally(pool, z * size).total for size in (1e-12, 1e9)),
        sy.evaluation.tally(tiny, np.ones(tiny.n_responses)).code,
        lines(tiny, z, tiny.known_scores).merit, shuffled.answer, shuffled.scores,
        *drawn, pass_at_n(pool, sizes), best_of_n(replace(pool, scores=pool.known_scores.round(1)), sizes),
        *(v.code for v in verdicts), *(v.margin for v in verdicts), prefix_votes(sy.MajorityVote(), pool).rival,
        likelihood_with_slope(found), ranks.below, ranks.upto,
    ]  # fmt: skip


def test_compiled_loops_and_their_source_agree(cal: Labelled, monkeypatch: pytest.MonkeyPatch) -> None:
    pool = cal.take(np.arange(25))
    scores = np.array(pool.known_scores, np.float64)
    scores[::7] = np.nan
    pool = sy.LabelledPool(**(vars(pool) | {"scores": scores}))
    compiled = _everything(pool)
    for module, name in LOOPS:
        monkeypatch.setattr(module, name, getattr(module, name).py_func)
    with warnings.catch_warnings():  # random numbers are made by overflowing
        warnings.simplefilter("ignore", RuntimeWarning)
        source = _everything(pool)
    for fast, plain in zip(compiled, source, strict=True):
        np.testing.assert_allclose(fast, plain, rtol=1e-12)


def _fitted() -> list[Any]:
    """What fits of sources and of scores give: the loops that only they run."""
    table = committee(questions=24, seed=5, copies={"cow": "cat"}, samples={"bee": 3})
    scored = table.with_columns(score=0.2 + 0.5 * pl.col("correct") + 0.02 * (pl.int_range(pl.len()) % 11))
    pools = [sy.read_labelled(each, source="llm", answers="exact", need_score=False) for each in (table, scored)]
    kinds = [(kind, pool) for kind in (sy.CommitteeVote, sy.ConsensusVote) for pool in pools]
    free = sources_that_know({"a": 0.8, "b": 0.6, "c": 0.5}, 24)
    kinds += [(sy.CommitteeVote, free), (sy.ConsensusVote, free)]
    drawn = sy.read_labelled(sy.simulate(24, 6, seed=1))
    every = [kind().fit(pool).predict(pool) for kind, pool in (*kinds, (sy.CalibratedVote, drawn))]
    return [figure for verdicts in every for figure in (verdicts.code, verdicts.total, verdicts.confidence)]


def test_fits_by_compiled_loops_and_by_their_source_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = _fitted()
    for module, name in LOOPS:
        monkeypatch.setattr(module, name, getattr(module, name).py_func)
    with warnings.catch_warnings():  # random numbers are made by overflowing
        warnings.simplefilter("ignore", RuntimeWarning)
        source = _fitted()
    for fast, plain in zip(compiled, source, strict=True):
        np.testing.assert_allclose(fast, plain, rtol=1e-6)


def test_kernels_compile_where_no_cache_can_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_cache(**options: object) -> object:
        if options.get("cache"):
            raise RuntimeError("cannot cache function: no locator available")
        return lambda function: function

    monkeypatch.setattr("numba.njit", no_cache)
    assert kernels.compiled(abs)(-3) == 3


def test_an_array_that_cannot_be_written_is_counted_by_the_same_loop() -> None:
    question, answer = np.repeat(np.arange(3), 4), np.tile([0, 1, 1, 2], 3)
    fixed = np.linspace(0.1, 0.9, 12)
    fixed.flags.writeable = False
    loops: list[Any] = [kernels.tally, kernels.best_weights]
    compiled = []
    for scores in (np.array(fixed), fixed):
        pool = sy.Pool.from_arrays(question=question, answer=answer, scores=scores)
        for method in (sy.VanillaVote(), sy.BestOfN()):
            method.predict(pool)
        compiled.append([list(loop.by_kinds) for loop in loops])
    assert compiled[0] == compiled[1]


def test_the_loops_that_are_replaced_by_their_source_are_all_that_there_are() -> None:
    assert {name for module, name in LOOPS if module is kernels} >= set(dir(kernels)) - {
        "QUANTIZER",
        "compiled",
        "read_only",
    }
