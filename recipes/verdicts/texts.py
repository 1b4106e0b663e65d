"""Stage texts: what the verifier learns from, and the responses that it reads. Needs no GPU."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import polars as pl

import steelyard as sy
from recipes.grid.problems import Problem, draw, mistakes, solution
from recipes.verdicts.files import LEARN, NO_LABEL, READ, save
from recipes.verdicts.sizes import SEED, SPLIT, Sizes
from steelyard.sampling.verifiers.scored_items import split
from steelyard.tables.sources.bundled_grid import GRID, RESPONSES

RESULT = re.compile(r"(?<== )\d+")


def run(work: Path, sizes: Sizes) -> None:
    """Write both files, a response per line."""
    rows = responses(sizes)
    questions = sorted(set(rows["question"]))
    Random(SEED).shuffle(questions)
    learned, rest = questions[: sizes.learned], questions[sizes.learned :][: sizes.most]
    known = set(rows["prompt"])
    problems = [problem for problem in draw(sizes.problems, SEED) if problem.text not in known]
    taught = rows.filter(pl.col("question").is_in(learned)).unique(["prompt", "response"], maintain_order=True)
    save(work / LEARN, [*_made(problems), *_sampled(taught)])
    read = rows.filter(pl.col("question").is_in(rest)).unique(["llm", "question", "response"], maintain_order=True)
    names = ("llm", "question", "sample", "prompt")
    save(work / READ, ({n: row[n] for n in names} | {"steps": _steps(row)} for row in read.iter_rows(named=True)))


def responses(sizes: Sizes) -> pl.DataFrame:
    """All responses of the grid with their texts."""
    about = ["llm", "question", "sample", "prompt", "gold", "answer", "correct"]
    rows = pl.read_parquet(GRID, columns=about).join(pl.read_parquet(RESPONSES), on=["llm", "question", "sample"])
    kept = rows.filter(
        pl.col("llm").is_in(sy.paper.grid_names()[0][: sizes.llms]), pl.col("response").str.strip_chars() != ""
    )
    return kept.sort("llm", "question", "sample")


def _steps(row: dict[str, Any]) -> list[str]:
    return split(row["response"], SPLIT)


def _sampled(rows: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """Responses of the grid: of an incorrect one only its end is known to be bad."""
    for row in rows.iter_rows(named=True):
        steps = _steps(row)
        labels = [1] * len(steps) if row["correct"] else [*[NO_LABEL] * (len(steps) - 1), 0]
        yield {"prompt": row["prompt"], "steps": steps, "labels": labels}


def _made(problems: Iterable[Problem]) -> Iterator[dict[str, Any]]:
    """A correct solution, one with a wrong result in it, and one of the typical mistakes of every problem."""
    rng = Random(SEED)
    for problem in problems:
        style = "terse" if rng.random() < 0.3 else "verbose"
        good = split(solution(problem, style), SPLIT)
        others = list(mistakes(problem))
        wrong = [split(solution(rng.choice(others), style), SPLIT)] if others else []
        for steps in (good, *wrong, *_slipped(good, rng)):
            same = next((i for i, (a, b) in enumerate(zip(steps, good, strict=False)) if a != b), len(steps))
            labels = [int(i < same) for i in range(len(steps))]
            yield {"prompt": problem.text, "steps": steps, "labels": labels}


def _slipped(steps: list[str], rng: Random) -> Iterator[list[str]]:
    """The same solution with another number as the result of one of its steps."""
    found = [i for i, step in enumerate(steps) if RESULT.search(step)]
    if found:
        at = rng.choice(found)
        other = RESULT.sub(lambda number: str(max(0, int(number[0]) + rng.choice((-10, -2, -1, 1, 2, 10)))), steps[at])
        if other != steps[at]:
            yield [*steps[:at], other, *steps[at + 1 :]]
