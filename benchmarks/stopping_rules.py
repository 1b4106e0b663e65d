"""What stopping rules save: `python -m benchmarks.stopping_rules FILE...` prints a table of rules by file.

Each file has one row per sample with `question`, `sample`, `answer` and `correct`, and may have `llm`. The samples of
each LLM for a question are voted on by majority, in their order. Figures are means over questions and LLMs; a standard
error is over questions, because LLMs err on the same ones. `same` is the share of verdicts that all samples confirm.
"""

from __future__ import annotations

import sys
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

import steelyard as sy
from steelyard.voting.stopping.stopping_rule import Rule, prefix_votes

RULES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("fixed", {}), ("esc", {"least": 5}), ("esc", {"least": 8}), ("beta", {}), ("beta", {"threshold": 0.99}),
    ("bayes-factor", {"threshold": 0.91}), ("bayes-factor", {}), ("certificate", {"threshold": 0.9}),
    ("certificate", {}),
)  # fmt: skip
HEAD = "| rule | mean samples | % correct | % against all samples | % same |\n|---|---|---|---|---|"


def labelled_samples(path: Path) -> tuple[sy.LabelledPool, NDArray[np.int64]]:
    """The samples with one question per LLM, and the original question of each as a number."""
    table = pl.read_parquet(path) if path.suffix == ".parquet" else pl.read_ndjson(path)
    llm = pl.col("llm").cast(pl.String) if "llm" in table.columns else pl.lit("")
    table = table.with_columns(question=pl.col("question").cast(pl.String) + "|" + llm)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sy.SteelyardWarning)
        pool = sy.read_labelled(table.select("question", "sample", "answer", "correct"), score="none")
    names = [str(name).rpartition("|")[0] for name in pool.questions]
    return pool, np.unique(names, return_inverse=True)[1]


def mean_and_error(values: NDArray[np.float64], question: NDArray[np.int64]) -> str:
    """A mean with its standard error over questions."""
    count = np.bincount(question)
    mean = float(values.mean())
    rest = (np.bincount(question, values) - count * mean) / count.mean()
    return f"{mean:.1f} ± {float(np.sqrt((rest**2).sum() / (len(rest) * (len(rest) - 1)))):.1f}"


def rows_of(pool: sy.LabelledPool, question: NDArray[np.int64]) -> list[str]:
    """One row per rule."""
    seen = prefix_votes(sy.MajorityVote(), pool)
    assert seen.correct is not None
    index = np.arange(pool.n_questions)
    full = seen.correct[index, pool.sizes - 1].astype(float)
    rows = []
    for name, settings in RULES:
        rule: Rule = sy.evaluation.rule_class(name)(cap=pool.n, **settings)
        stops = rule.stops(seen)
        correct = seen.correct[index, stops - 1].astype(float)
        same = float((seen.code[index, stops - 1] == seen.code[index, -1]).mean())
        shown = f" at {rule.threshold:g}" if len(rule.thresholds) > 1 else f", window {rule.least}" * (name == "esc")
        figures = [
            mean_and_error(values.astype(np.float64), question)
            for values in (stops, 100 * correct, 100 * (correct - full))
        ]
        rows.append(f"| `{name}`{shown} | {' | '.join(figures)} | {100 * same:.1f} |")
    return rows


def answer_sets(pool: sy.LabelledPool, unit: NDArray[np.int64], alpha: float = 0.1, splits: int = 20) -> str:
    """Coverage and size of answer sets by votes alone, over random splits of these units."""
    pool = replace(pool, scores=np.full(pool.n_responses, 0.5))
    coverage, size, none = [], [], 0
    for seed in range(splits):
        share = np.random.default_rng(seed).permutation(unit.max() + 1)[unit] / (unit.max() + 1)
        cal, test = pool.take(np.flatnonzero(share < 0.6)), pool.take(np.flatnonzero(share >= 0.6))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", sy.SteelyardWarning)
            plan = sy.CalibratedVote(reserve=0.5, seed=seed).fit(cal)
        try:
            measured = sy.evaluation.answer_set_coverage(plan, test, alpha)
        except sy.errors.CalibrationError:
            none += 1
        else:
            coverage.append(100 * measured.coverage.mean)
            size.append(measured.size.mean)
    if not coverage:
        return f"none in {none} of {splits} splits: the correct answer was too often never sampled"
    error = [np.std(values, ddof=1) / np.sqrt(len(values)) for values in (coverage, size)]
    return (
        f"{np.mean(coverage):.1f} ± {error[0]:.1f} % covered, {np.mean(size):.2f} ± {error[1]:.2f} answers per set, "
        f"no set possible in {none} of {splits} splits"
    )


def main(paths: list[str]) -> None:
    """Print a table for each file."""
    for path in map(Path, paths):
        pool, question = labelled_samples(path)
        print(f"\n{path.name}: {len(np.unique(question))} questions, {pool.n} samples\n\n{HEAD}")
        print("\n".join(rows_of(pool, question)))
        print(f"\nAnswer sets at 0.1, split by question and LLM: {answer_sets(pool, np.arange(pool.n_questions))}")
        print(f"Split by question: {answer_sets(pool, question)}")


if __name__ == "__main__":
    main(sys.argv[1:])
