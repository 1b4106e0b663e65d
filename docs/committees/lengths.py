"""Does the length of a response say anything beyond who gave it?

Length is made a score: the logit is the standardised log of the length among the responses of its source, or minus it.
The committee learns from labels what it is worth. For the consensus every weight is multiplied by exp(b times that
logit), with the b, of STRENGTHS, that is best on the test questions themselves: this flatters length.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

import steelyard as sy
from docs.committees.cells import SPLITS, Outcome, mean_and_error, split, tested
from docs.committees.measuring import USUAL

STRENGTHS = (-0.5, -0.2, -0.1, -0.05, 0.05, 0.1, 0.2, 0.5)


def by_length(name: str, pool: sy.LabelledPool) -> pl.DataFrame:
    """The points that length adds to committee and consensus, with standard errors."""
    z = standardised_length(pool)
    rows: list[dict[str, Any]] = []
    for way, sign in (("committee, longer is better", 1), ("committee, shorter is better", -1)):
        gain, se = mean_and_error(_committee_gains(pool, sign * z))
        rows.append({"set": name, "way": way, "gain": gain, "se": se})
    weights = sy.ConsensusVote().fit(pool.unlabelled()).weigh(pool.unlabelled())
    gain, se = max(mean_and_error([_consensus_gain(pool, weights, b * z)]) for b in STRENGTHS)
    rows.append({"set": name, "way": "consensus, the best strength", "gain": gain, "se": se})
    return pl.DataFrame(rows)


def standardised_length(pool: sy.LabelledPool) -> NDArray[np.float64]:
    """The log of every response's length, standardised among those of its source [R]; 0 where it is not known."""
    if pool.tokens is None or pool.source is None:
        raise AssertionError("this pool has no lengths, or no sources")
    known = np.isfinite(pool.tokens)
    z = np.log(np.maximum(np.where(known, pool.tokens, 1.0), 1.0))
    for source in range(len(pool.sources)):
        mine = known & (pool.source == source)
        z[mine] = (z[mine] - z[mine].mean()) / max(float(z[mine].std()), 1e-9) if mine.any() else 0.0
    return np.where(known, z, 0.0)


def _committee_gains(pool: sy.LabelledPool, z: NDArray[np.float64]) -> list[Outcome]:
    scored = replace(pool, scores=1 / (1 + np.exp(-z)))
    gains = []
    for seed in SPLITS:
        outcomes = {}
        for way, each in (("with", scored), ("without", pool)):
            labelled, test = split(each, seed, USUAL)
            vote = sy.CommitteeVote().fit(labelled)
            outcomes[way] = vote.predict(each.unlabelled()).correct(each).astype(np.float64)
        both = tested(outcomes, test)
        gains.append(both["with"] - both["without"])
    return gains


def _consensus_gain(pool: sy.LabelledPool, weights: NDArray[np.float64], logit: NDArray[np.float64]) -> Outcome:
    new = pool.unlabelled()
    plain, by_length = (sy.evaluation.tally(new, w).correct(pool) for w in (weights, weights * np.exp(logit)))
    return by_length.astype(np.float64) - plain
