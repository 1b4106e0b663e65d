"""The measurements behind docs/free.md: by labels, LLMs and similarity, the confidence, abstention, and tool calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

import steelyard as sy
from docs.committees.cells import Outcome, best_single, by_source, mean_and_error, tested
from steelyard.voting.confidence.calibration_error import calibration_curve
from steelyard.voting.pools.similarity import Similarity

SPLITS = range(10)
LABELS = (20, 50, 100, 200)
MOST = max(LABELS)  # the questions beyond these are for the test, whatever the number of labels
USUAL = 50  # labels of the tables that show one number
SIZES = (2, 4, 8, 16)  # LLMs, and all
DRAWS = 10  # random committees of each size
ANSWERED = (1.0, 0.8, 0.6, 0.4)  # shares of the questions, the most confident first
WAYS = ("best single", "majority", "consensus", "committee", "few-label")


def questions_pool(path: Path, answers: str = "free") -> sy.LabelledPool:
    """Free-text responses of many LLMs, graded one by one."""
    return sy.read_labelled(path, answers=answers, source="llm", score="none")


def split(pool: sy.LabelledPool, seed: int, labels: int) -> tuple[sy.LabelledPool, NDArray[np.int64]]:
    """The labelled questions, and where the test questions are."""
    order = np.random.default_rng(seed).permutation(pool.n_questions)
    most = min(MOST, pool.n_questions // 2)
    return pool.take(np.sort(order[: min(labels, most)])), np.sort(order[most:])


def by_labels(pool: sy.LabelledPool) -> pl.DataFrame:
    """Every way to decide, by number of labels; majority and consensus read none."""
    rows: list[dict[str, Any]] = []
    for labels in LABELS:
        rows += _summary([_cell(pool, seed, labels) for seed in SPLITS], labels=labels)
    return pl.DataFrame(rows)


def by_size(pool: sy.LabelledPool) -> pl.DataFrame:
    """Random committees of 2, 4, 8, 16 LLMs, and all of them, with the usual number of labels."""
    rows: list[dict[str, Any]] = []
    for size in (*SIZES, len(pool.sources)):
        draws = DRAWS if size < len(pool.sources) else len(SPLITS)
        cells = []
        for draw in range(draws):
            names = np.random.default_rng([size, draw]).choice(pool.sources, size, replace=False).tolist()
            part = pool.from_sources(names)
            cells.append(_cell(part, draw, USUAL) if part.n_questions == pool.n_questions else {})
        rows += _summary([cell for cell in cells if cell], llms=size)
    return pl.DataFrame(rows)


def by_similarity(path: Path) -> pl.DataFrame:
    """Other similarities, like answers cut to equal ones, and texts that are exactly equal."""
    tokens = questions_pool(path)
    pools = {"tokens": tokens, "tokens, cut at 1/2": cut(tokens), "characters": questions_pool(path, "free:characters")}
    rows: list[dict[str, Any]] = []
    for name, pool in pools.items():
        rows += _summary([_cell(pool, seed, USUAL) for seed in SPLITS], similarity=name)
    return pl.DataFrame(rows)


def cut(pool: sy.LabelledPool) -> sy.LabelledPool:
    """The same pool with similarities of 0 and 1 alone, as a vote by clusters has them."""
    assert pool.similarity is not None
    hard = (pool.similarity.values >= 0.5).astype(np.float32)
    return replace(pool, similarity=Similarity(hard, pool.similarity.begin))


def confidence(pool: sy.LabelledPool) -> pl.DataFrame:
    """Calibration error of the confidence, and accuracy if only the most confident verdicts are given."""
    rows = []
    for labels in LABELS:
        sure, correct = [], []
        for seed in SPLITS:
            labelled, test = split(pool, seed, labels)
            verdicts = sy.CommitteeVote().fit(labelled).predict(pool.take(test).unlabelled())
            sure.append(verdicts.confidence)
            correct.append(verdicts.correct(pool.take(test)))
        row: dict[str, Any] = {"labels": labels}
        row["ece"] = float(np.mean([calibration_curve(s, c).ece for s, c in zip(sure, correct, strict=True)]))
        row["ece of all splits"] = calibration_curve(np.concatenate(sure), np.concatenate(correct)).ece
        for share in ANSWERED:
            kept = [c[np.argsort(-s)[: round(share * len(s))]].mean() for s, c in zip(sure, correct, strict=True)]
            row[f"accuracy at {share:.0%}"] = float(np.mean(kept))
        rows.append(row)
    return pl.DataFrame(rows)


def tool_calls(path: Path) -> pl.DataFrame:
    """Function calls as JSON, by category: equality and partial credit, without labels and with 50."""
    table = pl.read_parquet(path)
    rows: list[dict[str, Any]] = []
    for category in sorted(table["category"].unique()):
        part = table.filter(pl.col("category") == category)
        for kind in ("json", "free:json"):
            pool = sy.read_labelled(part, answers=kind, source="llm", score="none")
            hindsight = float(by_source(pool).mean(axis=0).max())
            cells = [_cell(pool, seed, USUAL) for seed in SPLITS]
            rows += [
                row | {"best in hindsight": hindsight}
                for row in _summary(cells, category=category, answers=kind, questions=pool.n_questions)
            ]
    return pl.DataFrame(rows)


def _cell(pool: sy.LabelledPool, seed: int, labels: int) -> dict[str, Outcome]:
    """What every way gets right on the test questions of one split; the consensus has seen all responses."""
    labelled, test = split(pool, seed, labels)
    new = pool.unlabelled()
    votes: dict[str, sy.Method] = {"majority": sy.MajorityVote(), "consensus": sy.ConsensusVote().fit(new)}
    votes["committee"] = sy.CommitteeVote().fit(labelled)
    votes["few-label"] = sy.CommitteeVote().fit(labelled, unlabelled=new)
    found = {way: vote.predict(new).correct(pool).astype(np.float64) for way, vote in votes.items()}
    return tested(found | {"best single": best_single(pool, labelled)}, test)


def _summary(cells: list[dict[str, Outcome]], **keys: Any) -> Iterator[dict[str, Any]]:
    for way in WAYS:
        mean, error = mean_and_error([cell[way] for cell in cells])
        gain, gain_error = mean_and_error([cell[way] - cell["best single"] for cell in cells])
        yield {**keys, "way": way, "accuracy": mean, "se": error, "gain on best single": gain, "gain se": gain_error}


PARTS: Mapping[str, Any] = {"labels": by_labels, "sizes": by_size, "confidence": confidence}
