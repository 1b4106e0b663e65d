"""The length of responses as a score, on tables of samples of several LLMs: what the default gains over majority vote.

    python -m benchmarks.length_score TABLE.parquet... [--labels 50,200] [--samples 16] [--splits 10]

A table has the columns question, llm, sample, answer, correct and a length. Each LLM is a pool of its own. Every split
draws `--samples` samples per question at random, learns from `--labels` questions and votes on the others. Printed are
means over LLMs, with the standard error over LLMs, and the LLM with the smallest and the largest gain. `blind` is the
vote that takes shorter responses for better without any label: each weighs exp(-z / 2), z its standardised log length.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

import steelyard as sy
from steelyard.voting.methods import fit_or_majority, method_class
from steelyard.voting.pools.pool import LabelledPool
from steelyard.voting.score_weights import clipped_logit
from steelyard.voting.tally import tally

METHODS = ("platt", "calibrated")


def main() -> None:
    """Measure every table and print one block of Markdown rows for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="+", type=Path)
    parser.add_argument("--labels", default="50,200")
    parser.add_argument("--samples", type=int, default=16)
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--length", default="length", help="the column with the lengths")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| table | labels | majority | blind | platt | calibrated | least and most for one LLM |")
    print("|---|---|---|---|---|---|---|")
    for path in options.tables:
        pools = dict(_pools(path, options.length))
        for labels in map(int, options.labels.split(",")):
            if labels <= min(pool.n_questions for pool in pools.values()) - 10:
                print(_row(path.stem, pools, labels, options.samples, options.splits))


def _pools(path: Path, length: str) -> Iterator[tuple[str, LabelledPool]]:
    table = pl.read_parquet(path)
    for (llm,), rows in table.group_by("llm", maintain_order=True):
        pool = sy.read(rows, score=f"length({length})")
        if isinstance(pool, LabelledPool):
            yield str(llm), pool


def _row(name: str, pools: dict[str, LabelledPool], labels: int, samples: int, splits: int) -> str:
    accuracy = np.array([
        np.mean([_accuracies(pool, labels, samples, seed) for seed in range(splits)], axis=0) for pool in pools.values()
    ])  # fmt: skip
    gains = 100 * (accuracy[:, 1:] - accuracy[:, :1])
    error = gains.std(axis=0, ddof=1) / np.sqrt(len(gains))
    cells = [f"{mean:+.2f} ± {se:.2f}" for mean, se in zip(gains.mean(axis=0), error, strict=True)]
    least, most = gains[:, -1].argmin(), gains[:, -1].argmax()
    ends = ", ".join(f"{list(pools)[i]} {gains[i, -1]:+.1f}" for i in (least, most))
    return f"| {name} | {labels} | {100 * accuracy[:, 0].mean():.1f} | {' | '.join(cells)} | {ends} |"


def _accuracies(pool: LabelledPool, labels: int, samples: int, seed: int) -> NDArray[np.float64]:
    """Accuracy of majority, the blind vote and METHODS on the questions of one split that were not learned from."""
    drawn = pool.shuffled(1, np.random.default_rng(seed)).first(samples)
    order = np.random.default_rng(1000 + seed).permutation(drawn.n_questions)
    cal, test = drawn.take(np.sort(order[:labels])), drawn.take(np.sort(order[labels:]))
    voters = [method_class("majority")(), *(fit_or_majority(method_class(name)(), cal) for name in METHODS)]
    correct = [voter.predict(test.unlabelled()).correct(test).mean() for voter in voters]
    weights = np.exp(-clipped_logit(test.known_scores) / 2)
    blind = tally(test, np.where(np.isnan(weights), 1.0, weights)).correct(test).mean()
    return np.array([correct[0], blind, *correct[1:]])


if __name__ == "__main__":
    main()
