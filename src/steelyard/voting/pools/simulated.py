"""A seeded simulator of responses and verifier scores, for demos, tests and what-if questions.

Each question draws a difficulty q (how often the LLM is right) from a mixture of two Beta
distributions, hard and easy. Wrong answers are Zipf-distributed, and in some questions one
dominates, as systematic mistakes do. A response's score is made in logit space,

    z = gap * (+1 if correct else -1) / 2 + bias + shift_q + spread_q * noise

with a shift and a spread of the question's own; `inconsistency` scales both. At
`inconsistency=0` scores of correct and of incorrect responses each follow one distribution,
whatever the question: the paper's pseudo-PRM experiment. Finally some scores saturate to exactly 0 or 1
and all are rounded to bfloat16, as real verifiers' are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from steelyard.foundation.errors import SettingError, need_numbers
from steelyard.voting.pools.scores import expit

if TYPE_CHECKING:
    import polars as pl


MOST = 100_000_000  # responses


@dataclass(frozen=True)
class World:
    """The parameters of the simulator.

    hard, easy       Beta parameters of q for hard and for easy questions
    easy_share       share of easy questions
    rivals           how many wrong answers a question has
    zipf             exponent of their popularity (0 = uniform)
    dominating       share of questions in which one wrong answer takes half of the wrong responses or more
    gap              distance in logits between mean scores of correct and incorrect responses
    bias             what is added to every score, in logits
    inconsistency    how much the score distributions differ between questions (0 = pseudo-PRM)
    saturated        share of scores pushed to exactly 0 or 1
    unreadable       share of responses without a readable answer
    bf16             round scores to bfloat16

    >>> World(gap=0).gap, len(simulate(10, 4, world=World(rivals=2))["answer"])
    (0, 40)
    """

    hard: tuple[float, float] = (1.2, 3.0)
    easy: tuple[float, float] = (4.0, 1.5)
    easy_share: float = 0.5
    rivals: int = 12
    zipf: float = 1.2
    dominating: float = 0.25
    gap: float = 1.5
    bias: float = 0.8
    inconsistency: float = 1.0
    saturated: float = 0.03
    unreadable: float = 0.02
    bf16: bool = True

    def __post_init__(self) -> None:
        for name in ("easy_share", "dominating", "saturated", "unreadable"):
            _check(name, getattr(self, name), 0, 1)
        for name, low, high in (("rivals", 1, 10_000), ("zipf", 0, 20), ("inconsistency", 0, 20)):
            _check(name, getattr(self, name), low, high)
        for name in ("gap", "bias"):
            _check(name, getattr(self, name), -50, 50)
        for value in (*self.hard, *self.easy):
            _check("a Beta parameter", value, 1e-3, 1e6)


def _check(name: str, value: float, low: float, high: float) -> None:
    if not low <= value <= high:
        raise SettingError(f"{name.replace('_', '-')} must lie between {low:g} and {high:g}, not {value}")


def simulate(questions: int = 500, samples: int = 32, *, seed: int = 0, world: World | None = None) -> pl.DataFrame:
    """Return a table of responses: question, sample, answer, correct, score.

    >>> simulate(questions=2, samples=3, seed=1).columns
    ['question', 'sample', 'answer', 'correct', 'score']
    """
    import polars as pl

    need_numbers(questions=questions, samples=samples, seed=seed)
    if questions < 1 or samples < 1:
        raise SettingError(f"simulate needs at least one question and one sample, not {questions} and {samples}")
    if questions * samples > MOST:
        raise SettingError(f"simulate makes at most {MOST:,} responses, not {questions * samples:,}")
    at = world or World()
    rng = np.random.default_rng(seed)
    easy = rng.random(questions) < at.easy_share
    q = np.where(easy, rng.beta(*at.easy, questions), rng.beta(*at.hard, questions))
    correct = rng.random((questions, samples)) < q[:, None]
    wrong = _wrong_answers(rng, questions, samples, at)
    gold = rng.integers(10, 1000, questions)
    answer = np.where(correct, gold[:, None], gold[:, None] + 1 + wrong)
    unreadable = rng.random((questions, samples)) < at.unreadable
    score = _scores(rng, correct & ~unreadable, at)
    digits = len(str(questions - 1))
    return pl.DataFrame(
        {
            "question": np.repeat([f"q{i:0{digits}d}" for i in range(questions)], samples),
            "sample": np.tile(np.arange(samples), questions),
            "answer": pl.Series(answer.ravel()).cast(pl.String),
            "correct": (correct & ~unreadable).ravel(),
            "score": score.ravel(),
            "unreadable": unreadable.ravel(),
        }
    ).select(
        "question",
        "sample",
        pl.when(~pl.col("unreadable")).then("answer"),
        "correct",
        "score",
    )


def _wrong_answers(rng: np.random.Generator, questions: int, samples: int, at: World) -> NDArray[np.int64]:
    """Draw wrong answers 0 .. rivals-1 [questions, samples]; in some questions number 0 takes half."""
    popularity = 1.0 / np.arange(1, at.rivals + 1) ** at.zipf
    wrong = rng.choice(at.rivals, (questions, samples), p=popularity / popularity.sum())
    dominated = rng.random(questions) < at.dominating
    systematic = dominated[:, None] & (rng.random((questions, samples)) < 0.5)
    return np.where(systematic, 0, wrong)


def _scores(rng: np.random.Generator, correct: NDArray[np.bool_], at: World) -> NDArray[np.float32]:
    """Draw verifier scores [questions, samples] in [0, 1]."""
    questions = len(correct)
    shift = at.inconsistency * rng.normal(0, 1.0, (questions, 1))
    spread = np.exp(at.inconsistency * rng.normal(0, 0.3, (questions, 1)))
    z = at.gap * (correct - 0.5) + at.bias + shift + spread * rng.normal(0, 1.5, correct.shape)
    smooth = expit(z)
    saturated = rng.random(correct.shape) < at.saturated
    score: NDArray[np.float32] = np.where(saturated, np.rint(smooth), smooth).astype(np.float32)
    return _bfloat16(score) if at.bf16 else score


def _bfloat16(x: NDArray[np.float32]) -> NDArray[np.float32]:
    """Round to the nearest bfloat16, kept in float32."""
    bits = x.view(np.uint32)
    rounded = (bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) & np.uint32(0xFFFF0000)
    return rounded.view(np.float32)
