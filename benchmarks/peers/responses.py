"""The responses that all vote on, from the bundled grid, as files for the drivers; no driver sees a label.

`grid` has the first 16 samples of one LLM with the scores of one verifier, 1,000 questions. `committee` has the first
sample of each of the five LLMs. Models such as Dawid and Skene's need a closed set of answers, so every question
there is a multiple choice: its answers, at most five, are the letters A to E in a random order.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import polars as pl

import steelyard as sy
from benchmarks.peers.catalogue import COMMITTEE, GRID
from benchmarks.peers.drivers.driver import Question

TABLE = Path(sy.__file__).parent / "tables" / "data" / "grid.parquet"
LLM, VERIFIER, SAMPLES = "smol-misled", "prm_soft", 16
LETTERS = "ABCDE"


@dataclass(frozen=True)
class ResponseSet:
    questions: Sequence[Question]
    correct: Sequence[frozenset[str]]  # the correct ones among the answers of each question

    def write(self, path: Path, times: int = 1) -> None:
        """Write the file for the drivers, with the questions repeated."""
        lines = [json.dumps(asdict(question)) + "\n" for question in self.questions]
        path.write_text("".join(lines) * times)


def response_sets() -> Mapping[str, ResponseSet]:
    table = pl.read_parquet(TABLE, columns=["question", "sample", "llm", "answer", "correct", VERIFIER]).with_columns(
        score=pl.col(VERIFIER).list.last()
    )
    grid = table.filter(pl.col("llm") == LLM, pl.col("sample") < SAMPLES).sort("question", "sample")
    committee = table.filter(pl.col("sample") == 0).sort("question", "llm")
    return {GRID: _response_set(grid), COMMITTEE: _as_letters(_response_set(committee))}


def _response_set(table: pl.DataFrame) -> ResponseSet:
    questions, correct = [], []
    for _, rows in table.group_by("question", maintain_order=True):
        questions.append(Question(*(rows[column].to_list() for column in ("answer", "score", "llm"))))
        correct.append(frozenset(rows.filter("correct")["answer"].to_list()))
    return ResponseSet(questions, correct)


def _as_letters(responses: ResponseSet) -> ResponseSet:
    rng = random.Random(0)
    questions, correct = [], []
    for question, right in zip(responses.questions, responses.correct, strict=True):
        letters = rng.sample(LETTERS, len(LETTERS))
        letter = dict(zip(dict.fromkeys(question.answers), letters, strict=False))
        questions.append(Question(_renamed(question.answers, letter), question.scores, question.sources))
        correct.append(frozenset(_renamed(right, letter)))
    return ResponseSet(questions, correct)


def _renamed(answers: Iterable[str], letter: Mapping[str, str]) -> list[str]:
    return [letter[answer] for answer in answers]
