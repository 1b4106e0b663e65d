"""Several verifiers of the bundled grid made one score without labels, and the votes by it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

import steelyard as sy
from docs.committees.cells import Outcome, mean_and_error
from docs.committees.measuring import USUAL
from steelyard.voting.fitting.mixing import Mix

MEAN, ALIKE, COVARIANCE = "mean of logits", "as steep, all alike", "covariance"
BEST = ("prm_soft", "orm_last")
SINGLE, LABELLED = f"best single verifier, {USUAL} labels", f"calibrated, {USUAL} labels"


def by_mix() -> pl.DataFrame:
    """Accuracy on the questions without labels, for all verifiers of each LLM, and for all but the two best."""
    llms, verifiers = sy.paper.grid_names()
    rows: list[dict[str, Any]] = []
    for which, names in (("all nine", verifiers), ("without the two best", [v for v in verifiers if v not in BEST])):
        cells = [_decided(llm, names) for llm in llms]
        for way in cells[0]:
            accuracy, error = mean_and_error([cell[way] for cell in cells])
            gain, se = mean_and_error([cell[way] - cell[MEAN] for cell in cells])
            row = {"verifiers": which, "way": way, "accuracy": accuracy, "se": error, "gain": gain, "gain_se": se}
            rows.append(row | {llm: float(cell[way].mean()) for llm, cell in zip(llms, cells, strict=True)})
    return pl.DataFrame(rows)


def _decided(llm: str, verifiers: list[str]) -> dict[str, Outcome]:
    """What every way gets right on the test questions [Q]; the covariance sees their scores, as it needs no labels."""
    pool = sy.paper.load_grid(llm, "+".join(verifiers))
    order = np.random.default_rng(0).permutation(pool.n_questions)
    labelled, test = pool.take(np.sort(order[:USUAL])), pool.take(np.sort(order[USUAL:]))
    return {way: vote.correct(test).astype(np.float64) for way, vote in _verdicts(labelled, test)}


def _verdicts(labelled: sy.LabelledPool, test: sy.LabelledPool) -> Iterator[tuple[str, sy.Verdicts]]:
    new = test.unlabelled()
    yield "majority", sy.MajorityVote().predict(new)
    yield MEAN, sy.VanillaVote().predict(new)
    mixed = sy.VanillaVote(mix="covariance").fit(new)
    yield ALIKE, _alike(mixed).predict(new)
    yield COVARIANCE, mixed.predict(new)
    yield SINGLE, _best_single(labelled, test)
    yield LABELLED, sy.CalibratedVote().fit(labelled).predict(new)


def _alike(mixed: sy.VanillaVote) -> sy.VanillaVote:
    """The same vote with the coefficients of all scores alike: what is gained by the scale of the mix alone."""
    mix = mixed.mix_
    if mix is None:
        raise AssertionError("this vote mixes nothing")
    equal = sy.VanillaVote(mix="covariance")
    vars(equal).update(vars(mixed))
    alike = np.full(len(mix.names), float(mix.coefficient.mean()))
    equal.mix_ = Mix(mix.names, alike, mix.mean, mix.spread, mix.intercept)
    return equal


def _best_single(labelled: sy.LabelledPool, test: sy.LabelledPool) -> sy.Verdicts:
    """The vanilla vote by the verifier that does best on the labelled questions."""
    if labelled.parts is None or test.parts is None:
        raise AssertionError("these pools have one score, not several")
    place = range(labelled.parts.shape[1])
    by_verifier = [replace(labelled, scores=labelled.parts[:, v], parts=None) for v in place]
    right = [sy.VanillaVote().predict(one.unlabelled()).correct(one).mean() for one in by_verifier]
    best = int(np.argmax(right))
    return sy.VanillaVote().predict(replace(test, scores=test.parts[:, best], parts=None).unlabelled())
