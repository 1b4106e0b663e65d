"""What mixes of several verifiers choose: with few labels, and with none."""

from __future__ import annotations

import re
import warnings
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

import steelyard as sy

Outcome = NDArray[np.float64]  # [Q] 1 correct, 0 not, NaN: not a test question
SPLITS, LABELS = 20, (20, 50, 100)
GRID_SPLITS, GRID_LABELS, GRID_TEST = 2, (20, 50, 200), 200
BEST = ("prm_soft", "orm_last")
SINGLE, MIX, MEAN, COVARIANCE = "single verifier that the labels choose", "calibrated mix", "mean", "covariance"


def rewardmath(file: Path) -> pl.DataFrame:
    """Choose one of ten solutions: accuracy by number of labels, over all questions that were not labelled."""
    pool = sy.read_labelled(file, score="score_*", answers="exact")
    new = pool.unlabelled()
    single = _top_shares(pool)
    rows = [_row("chance", 0, [pool.correct.reshape(pool.n_questions, -1).mean(axis=1)])]
    rows.append(_row("best single verifier in hindsight", 0, [single[:, single.mean(axis=0).argmax()]]))
    rows.append(_row(MEAN, 0, [sy.VanillaVote().fit(new).predict(new).correct(pool).astype(float)]))
    mixed, agreement = _without_labels(new)
    rows.append(_row(COVARIANCE, 0, [mixed.predict(new).correct(pool).astype(float)], agreement))
    for labels in LABELS:
        outcomes: dict[str, list[Outcome]] = defaultdict(list)
        for seed in range(SPLITS):
            order = np.random.default_rng(seed).permutation(pool.n_questions)
            seen, test = np.sort(order[:labels]), np.sort(order[labels:])
            vote = sy.CalibratedVote().fit(pool.take(seen))
            part = pool.take(test)
            chosen = single[:, single[seen].mean(axis=0).argmax()]
            for way, correct in ((SINGLE, chosen[test]), (MIX, vote.predict(part.unlabelled()).correct(part))):
                outcomes[way].append(_at(pool.n_questions, test, correct))
        rows += [_row(way, labels, results) for way, results in outcomes.items()]
    return pl.DataFrame(rows)


def grid() -> pl.DataFrame:
    """Vote among 16 samples of each LLM of the bundled grid: all seven verifiers, and all but the two best."""
    llms, names = sy.paper.grid_names()
    seven = [name for name in names if not name.startswith("self")]
    rows = []
    for which, some in (("all seven", seven), ("without the two best", [name for name in seven if name not in BEST])):
        outcomes: dict[tuple[str, int], list[Outcome]] = defaultdict(list)
        shares = []
        for llm in llms:
            pool = sy.paper.load_grid(llm, "+".join(some)).first(16)
            for seed in range(GRID_SPLITS):
                order = np.random.default_rng(seed).permutation(pool.n_questions)
                test = pool.take(np.sort(order[GRID_TEST:]))
                mixed, agreement = _without_labels(test.unlabelled())
                shares.append(agreement)
                votes: dict[tuple[str, int], sy.Method] = {(MEAN, 0): sy.VanillaVote(), (COVARIANCE, 0): mixed}
                for labels in GRID_LABELS:
                    votes[MIX, labels] = sy.CalibratedVote().fit(pool.take(np.sort(order[:labels])))
                for key, vote in votes.items():
                    correct = vote.predict(test.unlabelled()).correct(test)
                    outcomes[key].append(_at(pool.n_questions, np.sort(order[GRID_TEST:]), correct))
        for (choice, count), results in outcomes.items():
            share = float(np.mean(shares)) if choice == COVARIANCE else None
            rows.append({"verifiers": which, **_row(choice, count, results, share)})
    return pl.DataFrame(rows)


def _without_labels(new: sy.Pool) -> tuple[sy.VanillaVote, float]:
    """The mix by covariance, and how often two halves of the verifiers choose the same answer, as the fit says."""
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always")
        vote = sy.VanillaVote(mix="covariance").fit(new)
    match = re.search(r"(\d+)% of the questions", " ".join(str(note.message) for note in notes))
    return vote, int(match[1]) / 100 if match else float("nan")


def _top_shares(pool: sy.LabelledPool) -> NDArray[np.float64]:
    """How often the top response of each verifier is right [Q, V]; equal scores share."""
    if pool.parts is None:
        raise AssertionError("this pool has one score, not several")
    parts = pool.parts.reshape(pool.n_questions, -1, pool.parts.shape[1])
    top = parts == parts.max(axis=1, keepdims=True)
    correct = pool.correct.reshape(pool.n_questions, -1, 1)
    share: NDArray[np.float64] = (top & correct).sum(axis=1) / top.sum(axis=1)
    return share


def _at(questions: int, test: NDArray[np.int64], correct: NDArray[Any]) -> Outcome:
    outcome = np.full(questions, np.nan)
    outcome[test] = correct
    return outcome


def _row(way: str, labels: int, outcomes: list[Outcome], agreement: float | None = None) -> dict[str, Any]:
    """Accuracy with its standard error over questions, each the mean over the splits (and LLMs) that test it."""
    by_question = np.nanmean(np.array(outcomes, np.float64), axis=0)
    by_question = by_question[~np.isnan(by_question)]
    error = by_question.std(ddof=1) / np.sqrt(len(by_question))
    return {"way": way, "labels": labels, "accuracy": by_question.mean(), "se": error, "agreement": agreement}
