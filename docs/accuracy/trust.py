"""Is the confidence right, and does an abstaining vote keep its promise? Every question not calibrated on is a test."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl

import steelyard as sy
from steelyard.evaluation.method_tables import measures
from steelyard.voting.pools.arrays import Floats

SPLITS = range(100, 120)  # of the confidence: not looked at while it was designed (0 to 9 and 20 to 29 were)
SIZES = (50, 100, 200, 400)
AFTER = (1, 2, 3, 4, 6, 8, 16, 32, 64)  # samples
RISK, SURE = 0.1, 0.9
PROMISES = range(1000, 1100)


def pairs() -> Iterator[tuple[str, sy.LabelledPool]]:
    """Every pair of the grid, self-assessments last."""
    llms, verifiers = sy.paper.grid_names()
    for verifier in sorted(verifiers, key=lambda name: name.startswith("self")):
        for llm in llms:
            yield f"{llm}/{verifier}", sy.paper.load_grid(llm, verifier)


def trusted(pool: sy.LabelledPool, size: int, splits: range = SPLITS) -> dict[str, float]:
    """How right the confidence is on the questions that were not calibrated on, means over the splits."""
    rows: list[dict[str, float]] = []
    for seed in splits:
        cal, test = pool.split(size / pool.n_questions, seed=seed)
        sure = sy.CalibratedVote().fit(cal).predict(test.unlabelled())
        plain = sy.VanillaVote().predict(test.unlabelled())
        found = measures(sure.confidence, sure.correct(test))
        share = measures(plain.weight_share, plain.correct(test))
        rows.append(found | {"floor": floor(sure.confidence)} | {f"vanilla_{name}": share[name] for name in share})
    return {name: float(np.mean([row[name] for row in rows])) for name in rows[0]}


def after(splits: range = SPLITS[:5], size: int = 200) -> pl.DataFrame:
    """One row a number of samples: how right a plan fitted at 64 is about verdicts on fewer, means over 35 pairs."""
    rows: dict[int, list[tuple[float, float, float]]] = {n: [] for n in AFTER}
    for name, pool in pairs():
        for seed in splits if "/self_" not in name else ():
            cal, test = pool.split(size / pool.n_questions, seed=seed)
            vote = sy.CalibratedVote().fit(cal)
            for n in AFTER:
                verdicts = vote.predict(test.first(n).unlabelled())
                correct = verdicts.correct(test.first(n))
                found = measures(verdicts.confidence, correct)["ece"]
                rows[n].append((float(verdicts.confidence.mean()), float(correct.mean()), found))
    means = {n: np.mean(found, axis=0).tolist() for n, found in rows.items()}
    return pl.DataFrame(
        [[n, *found] for n, found in means.items()], ["samples", "confidence", "accuracy", "ece"], orient="row"
    )


def floor(confidence: Floats) -> float:
    """The ECE that a perfect confidence would show on so many questions, by chance."""
    rng = np.random.default_rng(0)
    return float(np.mean([measures(confidence, rng.random(len(confidence)) < confidence)["ece"] for _ in range(20)]))


def trust() -> pl.DataFrame:
    """One row a pair and calibration size."""
    return pl.DataFrame(
        [{"pair": name, "calibration": size, **trusted(pool, size)} for name, pool in pairs() for size in SIZES]
    )


def promised(pool: sy.LabelledPool, splits: range = PROMISES) -> dict[str, Any]:
    """Over many splits of 400 labelled questions, half of them reserved: what became of the promise.

    `broken` goes by all questions the vote was not fitted on, of which the reserved ones are a random draw: what is
    promised of. `broken_others` goes by those that were not reserved either.
    """
    rows: list[tuple[bool, bool, float, float]] = []
    for seed in splits:
        cal, test = pool.split(0.4, seed=seed)
        vote = sy.CalibratedVote(reserve=0.5, seed=seed).fit(cal)
        try:
            held = vote.risk_control(RISK, SURE)
        except sy.errors.CalibrationError:
            continue
        verdicts = vote.predict(test.unlabelled())
        assert vote.reserved_confidence_ is not None
        assert vote.reserved_correct_ is not None
        wrong = ~verdicts.correct(test)[verdicts.confidence >= held.threshold]
        every = np.concatenate((wrong, vote.reserved_correct_[vote.reserved_confidence_ >= held.threshold] == 0))
        error = wrong.sum() / max(1, len(wrong))
        rows.append((every.mean() > RISK, error > RISK, len(wrong) / test.n_questions, error))
    broken, others, coverage, error = np.array(rows, float).reshape(-1, 4).T
    return {
        "promised": len(rows),
        "broken": int(broken.sum()),
        "broken_others": int(others.sum()),
        "coverage": float(coverage.mean()) if rows else None,
        "error": float(error.mean()) if rows else None,
    }


def promises() -> pl.DataFrame:
    """One row a pair."""
    return pl.DataFrame([{"pair": name, **promised(pool)} for name, pool in pairs()], infer_schema_length=None)
