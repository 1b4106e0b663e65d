"""Sets with many samples of several LLMs as dense arrays, and votes on some of the samples.

A division says how many samples of each LLM vote on each question [Q, S]. The files are not part of this repository:
one row per sample, with the columns question, llm, sample, answer, gold and correct.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

import steelyard as sy

SAMPLES = 80  # of each LLM and question
FILES = {
    "aime": ("boinf_aime2024.parquet", "math"),
    "gpqa": ("boinf_gpqa_half.parquet", "exact"),
    "math500": ("boinf_math500_half.parquet", "math"),
}
Division = NDArray[np.int64]  # [Q, S]
Shares = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SampleSet:
    """The answers of S LLMs to Q questions, N samples of each, as codes within the question."""

    llms: tuple[str, ...]
    answer: NDArray[np.int32]  # [Q, S, N], -1: unreadable
    correct: NDArray[np.bool_]  # [Q, K] by code

    @classmethod
    def read(cls, path: Path, answers: str) -> SampleSet:
        """Read a file; equivalent answers get one code, which is correct if most of its samples are."""
        table = pl.read_parquet(path).filter(pl.col("sample") < SAMPLES)
        pairs = table.select("question", "answer").unique().sort("question", "answer")
        pool = sy.read(pairs, answers=answers, score="none")
        pairs = pairs.with_columns(code=pool.answer)
        table = table.join(pairs, on=["question", "answer"], nulls_equal=True).sort("question", "llm", "sample")
        llms = tuple(table["llm"].unique().sort())
        answer = table["code"].to_numpy().astype(np.int32).reshape(table["question"].n_unique(), len(llms), SAMPLES)
        correct = np.zeros((len(answer), int(answer.max()) + 1))
        question, rows = np.arange(len(answer))[:, None, None], table["correct"].to_numpy().reshape(answer.shape)
        np.add.at(correct, (np.broadcast_to(question, answer.shape), answer), np.where(answer >= 0, 2.0 * rows - 1, 0))
        return cls(llms, answer, correct > 0)

    def take(self, questions: NDArray[np.int64]) -> SampleSet:
        """Keep these questions."""
        return replace(self, answer=self.answer[questions], correct=self.correct[questions])

    def shuffled(self, rng: np.random.Generator) -> SampleSet:
        """The same samples, those of each LLM and question in random order."""
        return replace(self, answer=rng.permuted(self.answer, axis=2))

    def limit_shares(self) -> Shares:
        """The share of an LLM's samples that gave each answer [Q, S, K]: its vote with no limit on samples."""
        codes = np.arange(self.correct.shape[1])
        return np.stack([(self.answer == code).mean(axis=2) for code in codes], axis=2)

    def majority(self, division: Division) -> NDArray[np.float64]:
        """Whether the majority of the first samples is correct [Q]; tied answers share the credit."""
        drawn = (np.arange(self.answer.shape[2]) < division[:, :, None]) & (self.answer >= 0)
        cells = np.nonzero(drawn)[0] * self.correct.shape[1] + self.answer[drawn]
        votes = np.bincount(cells, minlength=self.correct.size).reshape(self.correct.shape)
        leading = (votes == votes.max(axis=1, keepdims=True)) & (votes > 0)
        return np.asarray((leading & self.correct).sum(axis=1) / np.maximum(leading.sum(axis=1), 1), np.float64)

    def singles(self, total: int) -> NDArray[np.float64]:
        """Whether the majority of the first samples of each LLM alone is correct [Q, S]."""
        one = total * np.eye(len(self.llms), dtype=np.int64)
        return np.stack([self.majority(np.tile(row, (len(self.answer), 1))) for row in one], axis=1)

    def pool(self, division: Division, rng: np.random.Generator | None = None) -> sy.LabelledPool:
        """The first samples as a pool; with `rng` the samples of a question are in random order."""
        question, llm, sample = np.nonzero(np.arange(self.answer.shape[2]) < division[:, :, None])
        if rng is not None:
            order = np.lexsort((rng.random(len(question)), question))
            question, llm, sample = question[order], llm[order], sample[order]
        answer = self.answer[question, llm, sample]
        correct = self.correct[question, answer] & (answer >= 0)
        pool = sy.Pool.from_arrays(question=question, answer=answer, source=np.asarray(self.llms)[llm], correct=correct)
        assert isinstance(pool, sy.LabelledPool)
        return pool


def equal_division(total: int, members: NDArray[np.int64], llms: int, rng: np.random.Generator) -> Division:
    """Divide samples equally among the members of each question [Q, M]; random members get the remainder.

    >>> equal_division(4, np.array([[0, 2]]), 3, np.random.default_rng(0))
    array([[2, 0, 2]])
    """
    quotient, rest = divmod(total, members.shape[1])
    extra = np.arange(members.shape[1]) < rest
    counts = quotient + rng.permuted(np.tile(extra, (len(members), 1)), axis=1)
    division = np.zeros((len(members), llms), np.int64)
    np.put_along_axis(division, members, counts, axis=1)
    return division
