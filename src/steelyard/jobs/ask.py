"""One question, sampled many times: the answers grouped, their votes and the verdict.

The samples become a table and the table is voted on like any other, so `ask` decides as `vote` would. The score is the
one that every server with log-probabilities gives for nothing: exp(mean log-probability of the sampled tokens). A plan
may know it by two names: `self_logprob`, a column of every run, and `logprob`, the verifier that copies it.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np
import polars as pl

from steelyard.answers.extract import extract_answer
from steelyard.errors import PlanError, SteelyardWarning
from steelyard.jobs.ballot import Ballot
from steelyard.jobs.standing import Standing
from steelyard.llm.draws import Draw
from steelyard.methods import load, method_class
from steelyard.methods.abilities.response_losses import response_losses
from steelyard.methods.base.method import Method
from steelyard.tables import read
from steelyard.tables.columns import NO_SCORE

SCORE = "self_logprob"
COPY = "logprob"


class Vote(NamedTuple):
    """What became of one sample: the answer it counts for (None = unreadable or failed), its score and weight.

    `loss` is what the probability of its answer would lose without it, where the method has probabilities.
    """

    sample: int
    answer: str | None
    score: float | None
    weight: float | None
    loss: float | None = None


class AnswerTotal(NamedTuple):
    """One answer: how many samples gave it, what they weigh together, and how likely it is, if the method says so."""

    answer: str
    votes: int
    weight: float
    probability: float | None = None


@dataclass(frozen=True)
class Outcome:
    """The verdict on a question (None = no answer could be read), and how it came about; answers by weight.

    `none_correct` is the probability that no answer is correct, where the method has probabilities.
    """

    answer: str | None
    confidence: float
    share: float
    margin: float
    answers: list[AnswerTotal]
    votes: list[Vote]
    none_correct: float | None


def planned(path: Path, *, n: int, model: str) -> tuple[Method, str]:
    """Read a plan and the score it goes by; refuse one that goes by a score no server gives while it samples."""
    voter = load(path)
    fitted = voter.fitted_on_
    score = fitted.score if fitted else None
    if voter.oracle:
        raise PlanError(f"{path} is for {voter.name}, an oracle that reads the correct answers: ask with another plan")
    if voter.scored and (score is None or score.partition(":")[0] not in (SCORE, COPY)):
        raise PlanError(
            f"{path} weighs by the score {score!r}, which cannot be had while asking: fit a plan with --score {SCORE}, "
            "or use generate, score and vote"
        )
    if fitted and voter.learns and fitted.n != n:
        _warn(f"the plan was fitted at {fitted.n} samples per question, this vote is over {n}: ask with -n {fitted.n}")
    if fitted and voter.learns and fitted.llm not in (None, model):
        _warn(f"the plan was fitted on responses of {fitted.llm}, these are of {model}: its weights may not hold")
    return voter, score if voter.scored and score else SCORE


def unplanned(scored: bool) -> Method:
    """The method without a plan: each response weighs its score where there is one, else each counts once."""
    return method_class("vanilla" if scored else "majority")()


def count(draws: Sequence[Draw], voter: Method, *, by: str = SCORE, answers: str = "math") -> Outcome:
    """Vote on samples in the order of their numbers; one that failed is there without an answer."""
    rows = sorted(draws, key=lambda draw: draw.sample)
    scores = [score_of(draw) for draw in rows]
    table = pl.DataFrame(
        {
            "question": ["asked"] * len(rows),
            "sample": [draw.sample for draw in rows],
            "response": [draw.choice.text if draw.choice else None for draw in rows],
            SCORE: scores,
            COPY: [None if value is None else [value] for value in scores],
        },
        schema_overrides={"response": pl.String, SCORE: pl.Float64, COPY: pl.List(pl.Float64)},
    )
    known = any(value is not None for value in scores)
    pool = read(table, score=by if known else NO_SCORE, answers=answers)
    weights, verdict = voter.weigh(pool), voter.predict(pool)
    names = [] if pool.names is None else pool.names.to_list()
    voting = pool.readable
    held = np.bincount(pool.answer[voting], minlength=len(names))
    total = np.bincount(pool.answer[voting], weights[voting], len(names))
    chances, losses = voter.answer_probabilities(pool), response_losses(voter, pool)
    likely = [None] * len(names) if chances is None else chances.of(0).tolist()
    lost = [None] * len(rows) if losses is None else losses.tolist()
    totals = [AnswerTotal(str(name), int(held[k]), float(total[k]), likely[k]) for k, name in enumerate(names)]
    return Outcome(
        answer=None if verdict.code[0] < 0 else names[int(verdict.code[0])],
        confidence=float(verdict.confidence[0]),
        share=float(verdict.share[0]),
        margin=float(verdict.margin[0]),
        answers=sorted(totals, key=lambda one: (-one.weight, -one.votes)),
        votes=[
            Vote(draw.sample, names[code], score, weight, loss) if code >= 0 else Vote(draw.sample, None, score, None)
            for draw, code, score, weight, loss in zip(
                rows, pool.answer.tolist(), scores, weights.tolist(), lost, strict=True
            )
        ],
        none_correct=None if chances is None else float(chances.none[0]),
    )


class Watch:
    """Look at the samples as they come and say when the plan's stopping rule has enough; without a rule never."""

    def __init__(self, voter: Method | None, kind: str) -> None:
        self.ballot = Ballot(voter, answers=kind) if voter and voter.stopping_ else None
        self.kind = kind

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.ballot:
            self.ballot.close()

    def enough(self, draw: Draw) -> bool:
        """Count a sample; the rule goes by the samples in the order of their numbers, whoever came first."""
        if not self.ballot:
            return False
        answer = extract_answer(draw.choice.text, self.kind) if draw.choice else None
        return self.ballot.add(answer, score_of(draw), draw.sample).stop

    @property
    def stopped(self) -> Standing | None:
        """How the question stood when the rule said stop; None if it did not."""
        return self.ballot.standing if self.ballot and self.ballot.standing.stop else None


def score_of(draw: Draw) -> float | None:
    """exp(mean log-probability) of a sample, None where the server gave none."""
    return None if draw.choice is None or draw.choice.logprob is None else min(1.0, exp(draw.choice.logprob))


def _warn(text: str) -> None:
    warnings.warn(text, SteelyardWarning, stacklevel=3)
