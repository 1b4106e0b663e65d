"""Confidence after any number of samples.

A lone sample has no rival and would seem certain. So a model (correctness_model.py) learns how likely a verdict is
correct after 1, 2, 4, .. and all N samples; in between the two nearest are averaged by log k. Each fold of the
calibration questions is decided by a fit on the others: a vote is sure of itself where it was fitted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from steelyard.foundation.errors import PlanError
from steelyard.voting.confidence.correctness_model import (
    LEAST,
    SIZE,
    CorrectnessModel,
    Vector,
    winners,
)
from steelyard.voting.fitting.answer_features import AnswerFeatures, answer_features
from steelyard.voting.fitting.conditional_logit import Theta, choice_probabilities
from steelyard.voting.pools.arrays import Bools, Floats, Ints
from steelyard.voting.pools.pool import LabelledPool

# log-odds [Q'], features [Q', 2] and correctness [Q'] of verdicts on a pool, of which these are the questions [Q]
Decided = Callable[[LabelledPool, Ints], tuple[Vector, Vector, Bools]]
NUMBERS = 3 * SIZE + 4  # of a model
FEWEST = 10  # questions for a model
MOST, FAR = 64, 500.0  # models, and what they learn: e^FAR times any odds is still finite


@dataclass(frozen=True)
class CorrectnessBySamples:
    """A model after 1, 2, 4, .. and after all N samples."""

    models: tuple[CorrectnessModel, ...]

    @classmethod
    def fit(
        cls, pool: LabelledPool, logits: Callable[[Floats], Vector], fold: Ints, thetas: Sequence[Theta]
    ) -> CorrectnessBySamples:
        """Learn from the first 1, 2, 4, .. samples of questions with so many; thetas[k] decides those of fold k."""

        def verdicts(some: LabelledPool, which: Ints) -> tuple[Vector, Vector, Bools]:
            answers = answer_features(some, logits(some.known_scores))
            odds, f, winner = winners(answers, crossfit_probabilities(answers, fold[which], thetas))
            return odds, f, answers.correct[winner]

        return cls.learn(pool, verdicts)

    @classmethod
    def learn(cls, pool: LabelledPool, verdicts: Decided) -> CorrectnessBySamples:
        """Learn from the verdicts on the first 1, 2, 4, .. samples of questions with so many."""
        models = []
        for n in octaves(pool.n):
            long = np.flatnonzero(pool.sizes >= n)
            odds, f, correct = verdicts(pool.take(long).first(n), long)
            if len(odds) >= FEWEST:
                models.append(CorrectnessModel.fit(odds, f, correct, n))
        if not models:
            models = [CorrectnessModel.fit(*verdicts(pool, np.arange(pool.n_questions)), pool.n)]
        return cls(tuple(models))

    @property
    def values(self) -> Vector:
        """All that was learned as a plan keeps it: NUMBERS for each model."""
        return np.concatenate([np.concatenate(([j.samples], j.middle, j.spread, j.theta)) for j in self.models])

    @classmethod
    def of(cls, values: Vector | None) -> CorrectnessBySamples:
        """Read what a plan keeps, and refuse what is damaged."""
        rows = np.empty((0, NUMBERS)) if values is None or len(values) % NUMBERS else values.reshape(-1, NUMBERS)
        samples, middle, spread, theta = np.split(rows, np.cumsum((1, SIZE, SIZE)), axis=1)
        whole = np.isfinite(rows).all() and (samples == np.floor(samples)).all()
        rising = len(rows) and samples[0] >= 1 and (np.diff(samples[:, 0]) > 0).all()
        if not whole or not rising or len(rows) > MOST or (spread < LEAST).any() or (np.abs(rows[:, 1:]) > FAR).any():
            raise PlanError("its confidence is damaged")
        return cls(
            tuple(
                CorrectnessModel(int(n), *parts) for n, *parts in zip(samples[:, 0], middle, spread, theta, strict=True)
            )
        )

    def predict_p_correct(self, answers: AnswerFeatures, chance: Vector, sizes: Ints) -> Vector:
        """Return P(correct) of the verdict of every question [Q]; 0 where there is no answer."""
        return self.predict_parts(answers, chance, sizes)[0]

    def predict_parts(self, answers: AnswerFeatures, chance: Vector, sizes: Ints) -> tuple[Vector, Vector]:
        """Return P(the verdict is correct) and P(some answer that was given is) [Q]; 0 where there is no answer."""
        odds, f, _ = winners(answers, chance)
        found = np.zeros((2, len(sizes)))
        found[:, answers.question] = self.parts_from(odds, f, sizes[answers.question])
        return found[0], found[1]

    def parts_from(self, odds: Vector, f: Vector, sizes: Ints) -> tuple[Vector, Vector]:
        """The same of verdicts by their log-odds, features and numbers of samples."""
        place = np.interp(np.log(sizes), np.log([j.samples for j in self.models]), np.arange(len(self.models)))
        p_correct, p_among = np.zeros(len(odds)), np.zeros(len(odds))
        for i, model in enumerate(self.models):
            near = np.maximum(0.0, 1 - np.abs(place - i))
            if near.any():
                this, among = model.predict_factors(odds, f)
                p_correct += near * (this * among)
                p_among += near * among
        return p_correct, p_among


def octaves(n: int) -> list[int]:
    """1, 2, 4, .. and n.

    >>> octaves(12), octaves(8)
    ([1, 2, 4, 8, 12], [1, 2, 4, 8])
    """
    return sorted({*(2**i for i in range(n.bit_length())), n})


def crossfit_probabilities(answers: AnswerFeatures, fold: Ints, thetas: Sequence[Theta]) -> Vector:
    """Return the choice_probabilities of all answers [K], those of a question in fold [Q] k by thetas[k]."""
    found, mine = np.empty(len(answers.x)), fold[answers.question]
    for k, theta in enumerate(thetas):
        found[np.repeat(mine == k, answers.sizes)] = choice_probabilities(answers.take(mine == k), theta)
    return found


def winners_correct(answers: AnswerFeatures, chance: Vector, questions: int) -> Bools:
    """Return which likeliest answers are right [Q]."""
    found = np.zeros(questions, bool)
    found[answers.question] = answers.correct[winners(answers, chance)[2]]
    return found
