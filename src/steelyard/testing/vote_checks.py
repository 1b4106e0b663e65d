"""Checks of verdicts: what they may depend on, and that every question with an answer gets one."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import numpy as np
import polars as pl

from steelyard.foundation.errors import LabelError
from steelyard.tables.labelled import read_labelled
from steelyard.testing.shared import calibration_pool, require, visible, voting_pool
from steelyard.voting.methods.base.method import Method
from steelyard.voting.methods.majority import MajorityVote
from steelyard.voting.pools.pool import LabelledPool, Pool
from steelyard.voting.pools.simulated import simulate
from steelyard.voting.pools.verdicts import Verdicts


def ignores_row_order(method: type[Method]) -> None:
    """The order of the rows of a table changes no verdict."""
    table = simulate(40, 8, seed=3)
    fitted = method().fit(calibration_pool())
    columns = ["question", "answer", "confidence", "margin"]
    in_order, shuffled = (
        _predict(fitted, read_labelled(rows)).to_polars().select(columns).sort("question")
        for rows in (table, table.sample(fraction=1, shuffle=True, seed=1))
    )
    require(in_order.equals(shuffled), "verdicts change when the rows of the table are shuffled")


def ignores_sample_order(method: type[Method]) -> None:
    """The order of a question's samples changes no verdict, where no two scores are equal."""
    pool, rng = voting_pool(), np.random.default_rng(0)
    distinct = replace(pool, scores=np.clip(pool.known_scores + rng.normal(0, 1e-3, pool.n_responses), 0, 1))
    fitted = method().fit(calibration_pool())
    verdicts, shuffled = (_predict(fitted, labelled) for labelled in (distinct, distinct.shuffled(1, rng)))
    require(np.array_equal(verdicts.code, shuffled.code), "verdicts change when the samples are shuffled")


def ignores_answer_names(method: type[Method]) -> None:
    """Renaming the answers renames the verdicts and changes nothing else."""
    table = simulate(40, 8, seed=4)
    renamed = table.with_columns(answer=pl.lit("<") + pl.col("answer").str.reverse() + pl.lit(">"))
    fitted = method().fit(calibration_pool())
    answers, others = (_predict(fitted, read_labelled(rows)).to_polars()["answer"] for rows in (table, renamed))
    back = others.str.strip_prefix("<").str.strip_suffix(">").str.reverse()
    require(back.to_list() == answers.to_list(), "verdicts depend on the text of the answers")


def ignores_answer_codes(method: type[Method]) -> None:
    """Numbering the answers of each question in the opposite order changes no verdict."""
    pool = voting_pool()
    last = pool.width - 1
    renumbered = Pool.from_arrays(
        question=np.repeat(np.arange(pool.n_questions), pool.sizes),
        answer=np.where(pool.readable, pool.spread(last) - pool.answer, -1),
        scores=pool.scores,
        correct=pool.correct,
    )
    fitted = method().fit(calibration_pool())
    code = _predict(fitted, pool).code
    expected = np.where(code < 0, -1, last - code)
    answer = _predict(fitted, cast(LabelledPool, renumbered)).answer
    require(np.array_equal(answer, expected), "verdicts depend on the integer codes of the answers")


def handles_missing_scores(method: type[Method]) -> None:
    """Verdicts are finite where scores are missing (NaN); a confidence is a probability, or NaN for every question."""
    cal, pool, rng = calibration_pool(), voting_pool(), np.random.default_rng(0)
    for share in (0.3, 1.0):
        scores = np.where(rng.random(pool.n_responses) < share, np.nan, pool.known_scores)
        sparse = replace(cal, scores=np.where(rng.random(cal.n_responses) < 0.3, np.nan, cal.known_scores))
        verdicts = _predict(method().fit(sparse), replace(pool, scores=scores))
        for name in ("total", "margin", "share", "weight_share"):
            require(np.all(np.isfinite(getattr(verdicts, name))), f"{name} is not finite where scores are missing")
        confidence = verdicts.confidence
        require(
            np.all(np.isnan(confidence)) or np.all((confidence >= 0) & (confidence <= 1)),
            "confidence must be a probability for every question, or NaN for every question",
        )


def counts_responses_without_scores(method: type[Method]) -> None:
    """The only answer of a question wins, even if no response has a score."""
    pool = Pool.from_arrays(question=[0, 0], answer=[1, 1], scores=[np.nan, np.nan], correct=[True, True])
    code = method().fit(calibration_pool()).predict(pool).code
    require(code.tolist() == [1], "the only answer of a question does not win when its scores are missing")


def decides_single_answers(method: type[Method]) -> None:
    """A question with one response, or one answer, gets that answer; one without a readable answer gets none."""
    pool = Pool.from_arrays(
        question=[0, 1, 1, 2, 3, 3],
        answer=[3, 2, 2, -1, 0, 1],
        scores=[0.1, 0.0, 1.0, 0.5, 0.9, 0.1],
        correct=[1, 0, 0, 0, 1, 0],
    )
    code = method().fit(calibration_pool()).predict(pool).code
    require(code[:3].tolist() == [3, 2, -1], "a question with a single answer does not get it")
    require(code[3] in (0, 1), "the verdict is not one of the answers")


def weighs_every_response(method: type[Method]) -> None:
    """`weigh` returns one finite weight per response, and `weight`, where there is one, a float."""
    fitted, pool = method().fit(calibration_pool()), voting_pool()
    weights = fitted.weigh(pool)
    require(weights.shape == (pool.n_responses,), "weigh must return one weight per response")
    require(np.all(np.isfinite(weights)), "weigh returns weights that are NaN or infinite")
    if hasattr(fitted, "weight"):
        require(isinstance(fitted.weight(0.3), float), "weight must return a float")


def by_response_holds(method: type[Method]) -> None:
    """Where `by_response` is true, a response weighs the same when other responses are left out."""
    fitted, pool = method().fit(calibration_pool()), voting_pool()
    if fitted.by_response():
        position = np.arange(pool.n_responses) - np.repeat(pool.starts[:-1], pool.sizes)
        alone = fitted.weigh(pool.first(3))
        require(
            np.array_equal(fitted.weigh(pool)[position < 3], alone),
            "by_response() is True, but a weight changes when other responses are left out",
        )


def equal_scores_are_majority(method: type[Method]) -> None:
    """If all scores are equal, the verdicts are those of majority vote."""
    cal, pool = (
        replace(labelled, scores=np.full(labelled.n_responses, 0.7)) for labelled in (calibration_pool(), voting_pool())
    )
    code = method().fit(cal).predict(pool.unlabelled()).code
    require(np.array_equal(code, MajorityVote().predict(pool).code), "equal scores do not give the majority vote")


def ignores_labels(method: type[Method]) -> None:
    """Verdicts are the same with labels, with inverted labels and without labels."""
    fitted, pool = method().fit(calibration_pool()), voting_pool()
    code = fitted.predict(pool.unlabelled()).code
    inverted = replace(pool, answer_correct=~pool.answer_correct)
    same = all(np.array_equal(code, fitted.predict(labelled).code) for labelled in (pool, inverted))
    require(same, "verdicts depend on the labels of the pool: a method that reads them must have oracle = True")


def decides_every_question(method: type[Method]) -> None:
    """Every question with a readable answer gets a verdict, without labels."""
    pool = voting_pool()
    code = method().fit(calibration_pool()).predict(pool.unlabelled()).code
    answered = np.add.reduceat(pool.readable, pool.starts[:-1]) > 0
    require(np.array_equal(code >= 0, answered), "a question with a readable answer has no verdict")


def requires_labels(method: type[Method]) -> None:
    """An oracle refuses a pool without labels."""
    try:
        method().fit(calibration_pool()).predict(voting_pool().unlabelled())
    except LabelError:
        return
    raise AssertionError("an oracle must raise a LabelError for a pool without labels")


def _predict(fitted: Method, pool: LabelledPool) -> Verdicts:
    return fitted.predict(visible(fitted, pool))


ALL = (
    ignores_row_order, ignores_sample_order, ignores_answer_names, ignores_answer_codes, handles_missing_scores,
    counts_responses_without_scores, decides_single_answers, weighs_every_response, by_response_holds,
)  # fmt: skip
WITHOUT_LABELS = (equal_scores_are_majority, ignores_labels, decides_every_question)
ORACLE = (requires_labels,)
