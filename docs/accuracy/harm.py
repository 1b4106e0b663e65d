"""Does the default harm? Its gain over majority vote on real sets: scores as they are, dealt at random, turned round.

python -m docs.accuracy.harm FOLDER [SET ..] measures and writes docs/accuracy/harm.csv; the stored figures of sets that
are not named stay. FOLDER holds the real sets, which are not part of this repository, all .parquet: boinf_gpqa_half,
boinf_math500_half and boinf_aime2024 (question, llm, sample, answer, length, correct; the score is 1 / (1 + length /
the LLM's median length)), math500_prm_half (responses with the scores of a process reward model), and with one response
of each of many LLMs mmlupro_llms_confidence (their confidences), simpleqa_even (the length) and rewardmath_even (the
scores of process reward models; each solution is an answer of its own). Without FOLDER only the grid is measured.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import steelyard as sy
from docs.accuracy.cells import CONTROLS
from docs.accuracy.page import markdown

HERE = Path(__file__).parent
SIZES = (20, 50, 100, 200)
SPLITS = 10
SAMPLES = 16
LEAST_TEST = 40  # questions; AIME has 30 in all and is split in half
TESTED = 600  # questions of the grid that are never used for calibration
LENGTHS = {
    "GPQA x length": "boinf_gpqa_half",
    "MATH-500 x length": "boinf_math500_half",
    "AIME 2024 x length": "boinf_aime2024",
}
REWARDS = "MATH-500 x PRM"
GRID = "the grid, 35 pairs"
MMLU, SIMPLE, SOLUTIONS = "MMLU-Pro x confidence", "SimpleQA x length", "RewardMATH x PRM"
MMLU_QUESTIONS = 1_000
KEYS = ("set", "scores", "labels")


@dataclass(frozen=True)
class Cell:
    """One pool of one set."""

    set: str
    name: str
    scores: str  # as they are, dealt at random, turned round
    pool: sy.LabelledPool


def by_length(title: str, path: Path) -> Iterator[Cell]:
    """The samples of every LLM, scored by how short they are."""
    table = pl.read_parquet(path).filter(pl.col("sample") < SAMPLES)
    short = 1 / (1 + pl.col("length") / pl.col("length").median().over("llm"))
    for (llm,), part in table.with_columns(score=short).group_by("llm", maintain_order=True):
        columns = part.select("question", "sample", "answer", "correct", "score")
        yield from variants(title, str(llm), sy.read_labelled(columns, score="score", answers="exact"))


def by_reward(path: Path) -> Iterator[Cell]:
    """Each way to reduce the step scores of the process reward model."""
    table = pl.read_parquet(path)
    for column in ("prm_last", "prm_min", "prm_mean", "prm_prod"):
        yield from variants(REWARDS, column, sy.read_labelled(table, score=column, answers="math"))


def by_confidence(path: Path) -> Iterator[Cell]:
    """What 83 LLMs answer, each with three kinds of confidence."""
    table = pl.read_parquet(path).rename({"question_id": "question", "response_id": "sample"})
    chosen = table["question"].unique(maintain_order=True).sample(MMLU_QUESTIONS, seed=0)
    table = table.filter(pl.col("question").is_in(chosen.implode()))
    for column in ("score_verbal_numeric", "score_verbal_linguistic", "score_logit_ppl"):
        columns = table.select("question", "sample", "answer", "correct", score=column)
        yield from variants(MMLU, column, sy.read_labelled(columns, score="score", answers="exact"))


def by_words(path: Path) -> Iterator[Cell]:
    """What 36 LLMs answer in free text, scored by how short they are for their LLM."""
    table = pl.read_parquet(path).filter(pl.col("output_tokens") >= 0)  # some logs have negative counts
    short = 1 / (1 + pl.col("output_tokens") / pl.col("output_tokens").median().over("llm"))
    columns = table.select("question", "response", "correct", score=short)
    yield from variants(SIMPLE, "length", sy.read_labelled(columns, score="score", answers="text"))


def by_solution(path: Path) -> Iterator[Cell]:
    """Ten solutions of each problem, of which one is right, by four process reward models."""
    table = pl.read_parquet(path).with_columns(answer="sample")
    for name in ("easy_to_hard", "math_shepherd", "reasoneval_7b", "reasoneval_34b"):
        columns = table.select("question", pl.col("answer").cast(pl.String), "correct", score=f"score_{name}")
        yield from variants(SOLUTIONS, name, sy.read_labelled(columns, score="score:min", answers="exact"))


def grid() -> Iterator[Cell]:
    """The pairs of the bundled grid; controls for two verifiers of each LLM."""
    llms, verifiers = sy.paper.grid_names()
    for llm in llms:
        for verifier in verifiers:
            if not verifier.startswith("self"):
                pool = sy.paper.load_grid(llm, verifier).first(SAMPLES)
                cells = list(variants(GRID, f"{llm}/{verifier}", pool))
                yield from cells if verifier in CONTROLS else cells[:1]


def variants(title: str, name: str, pool: sy.LabelledPool) -> Iterator[Cell]:
    """The pool with its scores, with scores that say nothing, and with scores that say the opposite."""
    yield Cell(title, name, "as they are", pool)
    yield Cell(title, name, "dealt at random", pool.with_shuffled_scores(1))
    yield Cell(title, name, "turned round", replace(pool, scores=1 - pool.known_scores))


def measure(cell: Cell) -> list[dict[str, Any]]:
    """A row per split and number of labels."""
    warnings.simplefilter("ignore")
    rows = []
    questions = cell.pool.n_questions
    sizes = [size for size in SIZES if questions - size >= LEAST_TEST] or [questions // 2]
    for split in range(SPLITS):
        order = np.random.default_rng(split).permutation(questions)
        for size in sizes:
            held_out = order[max(size, questions - TESTED) :]
            cal, test = cell.pool.take(np.sort(order[:size])), cell.pool.take(np.sort(held_out))
            vote, bare = sy.CalibratedVote().fit(cal), test.unlabelled()
            plan, majority = vote.predict(bare), sy.MajorityVote().predict(bare)
            rows.append(
                {
                    "set": cell.set, "pool": cell.name, "scores": cell.scores, "labels": size, "split": split,
                    "gain": float(plan.correct(test).mean() - majority.correct(test).mean()),
                    "changed": float((plan.code != majority.code).mean()),
                }
            )  # fmt: skip
    return rows


def summarised(rows: pl.DataFrame) -> pl.DataFrame:
    """Mean gain over pools and splits, its standard error over pools, the worst split of any pool, in points."""
    keys = list(KEYS)
    pools = rows.group_by(*keys, "pool", maintain_order=True).agg(pl.col("gain").mean())
    errors = pools.group_by(keys, maintain_order=True).agg(se=100 * pl.col("gain").std() / pl.len().sqrt())
    means = rows.group_by(keys, maintain_order=True).agg(
        pools=pl.col("pool").n_unique(),
        gain=100 * pl.col("gain").mean(),
        worst=100 * pl.col("gain").min(),
        by_majority=(pl.col("changed") == 0).mean(),
    )
    return means.join(errors, on=keys, maintain_order="left")


def harm_table(after: pl.DataFrame, before: pl.DataFrame) -> str:
    """The table of the page."""
    both = after.join(before, on=KEYS, how="left", suffix="_before", maintain_order="left")
    rows = [
        [
            row["set"], row["scores"], str(row["labels"]),
            _gain(row), f"{100 * row['by_majority']:.0f} %",
            _before(row),
        ]
        for row in both.iter_rows(named=True)
    ]  # fmt: skip
    head = ["set", "scores", "labels", "gain (worst split)", "unchanged", "before the guard"]
    return markdown(head, rows, text=2)


def _gain(row: dict[str, Any]) -> str:
    error = "" if row["se"] is None else f" ± {row['se']:.2f}"
    return f"{row['gain']:+.2f}{error} ({row['worst']:+.1f})"


def _before(row: dict[str, Any]) -> str:
    return "refused" if row["gain_before"] is None else f"{row['gain_before']:+.2f} ({row['worst_before']:+.1f})"


def harm_sentences(after: pl.DataFrame, before: pl.DataFrame) -> dict[str, str]:
    """What the table shows, in words."""

    def of(table: pl.DataFrame, scores: str, *sets: str) -> pl.DataFrame:
        return table.filter(pl.col("scores") == scores, pl.col("set").is_in(sets))

    random, weak = "dealt at random", "as they are"
    noise, noise_before = (table.filter(scores=random) for table in (after, before))
    length, length_before = (of(table, weak, *list(LENGTHS)[:2]) for table in (after, before))
    kept = []
    for title in (GRID, REWARDS):
        for row in of(after, weak, title).iter_rows(named=True):
            had = before.filter(set=title, scores=weak, labels=row["labels"])["gain"][0]
            kept.append(f"{title}, {row['labels']} labels: {row['gain']:+.2f} (before {had:+.2f})")
    return {
        "harm_random": f"{_extent(noise)}; before {_extent(noise_before)}.",
        "harm_length": f"{_extent(length)}; before {_extent(length_before)}.",
        "harm_reward": " and ".join(
            f"{row['gain']:+.1f} ± {row['se']:.1f}"
            for row in of(after, weak, REWARDS).filter(pl.col("labels").is_in((50, 200))).iter_rows(named=True)
        ),
        "harm_useful": "; ".join(kept) + ".",
        "harm_words": ", ".join(f"{row['gain']:+.1f}" for row in of(after, weak, SIMPLE).iter_rows(named=True)),
    }


def _extent(table: pl.DataFrame) -> str:
    return f"mean {table['gain'].to_numpy().mean():+.2f} points, worst split {table['worst'].to_numpy().min():+.1f}"


def cells(folder: Path | None, names: Collection[str]) -> Iterator[Cell]:
    """The pools of the sets that are named, or of all."""
    sets: dict[str, Callable[[], Iterator[Cell]]] = {GRID: grid}
    if folder is not None:
        sets |= {
            title: partial(by_length, title, folder / f"{file}.parquet") for title, file in LENGTHS.items()
        } | {
            REWARDS: partial(by_reward, folder / "math500_prm_half.parquet"),
            MMLU: partial(by_confidence, folder / "mmlupro_llms_confidence.parquet"),
            SIMPLE: partial(by_words, folder / "simpleqa_even.parquet"),
            SOLUTIONS: partial(by_solution, folder / "rewardmath_even.parquet"),
        }  # fmt: skip
    for title, made in sets.items():
        if not names or title in names:
            yield from made()


def store(found: pl.DataFrame, path: Path) -> None:
    """Write what was measured before the stored figures of the sets that were not."""
    kept = pl.read_csv(path, schema=dict(found.schema)).join(found, on="set", how="anti", maintain_order="left")
    pl.concat([kept, found]).write_csv(path, float_precision=6)


def main(folder: Path | None, *names: str) -> None:
    """Measure, and store a row per set, kind of scores and number of labels, and one per pool."""
    warnings.simplefilter("ignore")
    spawn = get_context("spawn")  # on macOS fork is unsafe
    with ProcessPoolExecutor(mp_context=spawn, initializer=warnings.simplefilter, initargs=("ignore",)) as workers:
        rows = pl.DataFrame([row for found in workers.map(measure, cells(folder, names)) for row in found])
    summary = summarised(rows)
    store(summary, HERE / "harm.csv")
    alone = rows.filter(scores="as they are").group_by("set", "pool", "labels", maintain_order=True)
    by_pool = alone.agg(gain=100 * pl.col("gain").mean(), worst=100 * pl.col("gain").min())
    store(by_pool, HERE / "harm_pools.csv")
    with pl.Config(tbl_rows=-1, tbl_cols=-1, tbl_width_chars=160):
        print(summary, by_pool.filter(pl.col("set") != GRID))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if sys.argv[1:] else None, *sys.argv[2:])
