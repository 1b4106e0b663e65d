"""How likely a verdict is correct, after any number of samples: learned on questions the vote had not seen.

    P(correct) = sigma(a + tau l) * sigma(b0 + b . f)
    l: log-odds of the winner among the answers;  f: its best evidence, log of the number of answers

The first factor says it is this answer and not another one, the second that the correct one is among them at all:
the winner's chance knows nothing of that, and is sure of itself where it was fitted. So a, tau and b are what makes
the outcomes of verdicts on other folds most likely, with a prior where the labels are few: a best score speaks
for its answer, the number of answers for nothing.

A lone sample has no rival and would seem certain. So there is a model after 1, 2, 4, .. and all N samples; in between
the two nearest are averaged by log k. Each fold of the calibration questions is decided by a fit on the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from steelyard.foundation.errors import PlanError
from steelyard.voting.fitting.conditional_logit import (
    FEATURES,
    AnswerFeatures,
    Theta,
    answer_features,
    choice_probabilities,
)
from steelyard.voting.fitting.solvers import maximise
from steelyard.voting.pools.arrays import Bools, Floats, Ints
from steelyard.voting.pools.pool import LabelledPool
from steelyard.voting.pools.scores import expit

SIZE = 2  # features of the second factor
STEPS = 100
SURE = 1e-6
LEAST = 0.01  # a feature with less spread is taken as it is
FAR = 3.0
BEST = FEATURES.index("best")
PRIOR = np.array([0.2, 0.0, 2.0, 1.0, 0.0])  # of log tau, a, b0, b
WEIGHT = np.array([25.0, 10.0, 0.3, 1.0, 4.0])  # one over the variance of each
Vector = NDArray[np.float64]
# log-odds [Q'], features [Q', 2] and correctness [Q'] of verdicts on a pool, of which these are the questions [Q]
Decided = Callable[[LabelledPool, Ints], tuple[Vector, Vector, Bools]]
NUMBERS = 3 * SIZE + 4  # of a model
FEWEST = 10  # questions for a model
MOST_MODELS, LARGEST = 64, 500.0  # models, and what they learn: e^LARGEST times any odds is still finite


@dataclass(frozen=True)
class CorrectnessModel:
    """What was learned after some number of samples: mean and spread of the features, then log tau, a, b0 and b."""

    samples: int
    middle: Vector
    spread: Vector
    theta: Vector

    @classmethod
    def fit(cls, odds: Vector, f: Vector, correct: Bools, samples: int) -> CorrectnessModel:
        """Learn from verdicts whose log-odds were not fitted on the same questions."""
        middle, spread = f.mean(axis=0), f.std(axis=0)
        spread = np.where(spread > LEAST, spread, 1.0)
        return cls(samples, middle, spread, most_likely(odds, standard(f, middle, spread), correct))


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
        finite = np.isfinite(rows).all() and (samples == np.floor(samples)).all()
        rising = len(rows) and samples[0] >= 1 and (np.diff(samples[:, 0]) > 0).all()
        possible = (spread >= LEAST).all() and (np.abs(rows[:, 1:]) <= LARGEST).all()
        if not finite or not rising or not possible or len(rows) > MOST_MODELS:
            raise PlanError("its confidence is damaged")
        columns = zip(samples[:, 0], middle, spread, theta, strict=True)
        return cls(tuple(CorrectnessModel(int(n), *parts) for n, *parts in columns))

    def predict_p_correct(self, answers: AnswerFeatures, chance: Vector, sizes: Ints) -> Vector:
        """Return P(correct) of the verdict of every question [Q]; 0 where there is no answer."""
        return self.predict_parts(answers, chance, sizes)[0]

    def predict_parts(self, answers: AnswerFeatures, chance: Vector, sizes: Ints) -> tuple[Vector, Vector]:
        """Return P(the verdict is correct) and P(some answer that was given is) [Q]; 0 where there is no answer."""
        odds, f, _ = winners(answers, chance)
        parts = np.zeros((2, len(sizes)))
        parts[:, answers.question] = self.parts_from(odds, f, sizes[answers.question])
        return parts[0], parts[1]

    def parts_from(self, odds: Vector, f: Vector, sizes: Ints) -> tuple[Vector, Vector]:
        """The same of verdicts by their log-odds, features and numbers of samples."""
        position = np.interp(np.log(sizes), np.log([j.samples for j in self.models]), np.arange(len(self.models)))
        p_correct, p_among = np.zeros(len(odds)), np.zeros(len(odds))
        for i, model in enumerate(self.models):
            near = np.maximum(0.0, 1 - np.abs(position - i))
            if near.any():
                this, among = factors(model.theta, odds, standard(f, model.middle, model.spread))
                p_correct += near * (this * among)
                p_among += near * among
        return p_correct, p_among


def winners(features: AnswerFeatures, chance: Vector) -> tuple[Vector, Vector, Ints]:
    """Return log-odds [Q'] and features [Q', 2] of each question's likeliest answer, and where it stands."""
    winner = features.winners(chance)
    inside = np.clip(features.of_like_answers(chance)[winner], SURE, 1 - SURE)
    f = np.stack((features.x[winner, BEST], np.log(features.sizes)), axis=1)
    return np.log(inside) - np.log1p(-inside), f, winner


def standard(f: Vector, middle: Vector, spread: Vector) -> Vector:
    """Features in units of their spread; beyond FAR nothing was learned, and all is as at FAR."""
    return np.clip((f - middle) / spread, -FAR, FAR)


def factors(theta: Vector, odds: Vector, f: Vector) -> tuple[Vector, Vector]:
    """Return how likely it is this answer of those given, and how likely the correct one is among them."""
    scaled = theta[1] + np.exp(theta[0]) * odds
    return expit(scaled), expit(theta[2] + theta[3] * f[:, 0] + theta[4] * f[:, 1])


def most_likely(odds: Vector, f: Vector, correct: Bools) -> Vector:
    """Maximise likelihood and prior by Fisher scoring."""
    posterior = partial(_posterior, odds=odds, f=f, correct=correct)
    return maximise(posterior, PRIOR, steps=STEPS, tolerance=1e-12, smallest=1e-9)


def _posterior(theta: Vector, odds: Vector, f: Vector, correct: Bools) -> tuple[float, Vector, NDArray[np.float64]]:
    """Return log-likelihood plus log-prior, its gradient, and Fisher's information."""
    this, among = factors(theta, odds, f)
    p = np.clip(this * among, 1e-12, 1 - 1e-12)
    not_this, not_among = (1 - this)[:, None], (1 - among)[:, None]
    one = np.ones_like(not_this)  # d log p / d theta:
    design = np.hstack((odds[:, None] * np.exp(theta[0]) * not_this, one * not_this, one * not_among, f * not_among))
    away = theta - PRIOR
    value = np.log(np.where(correct, p, 1 - p)).sum() - (WEIGHT * away**2).sum() / 2
    gradient = design.T @ np.where(correct, 1.0, -p / (1 - p)) - WEIGHT * away
    return float(value), gradient, (design.T * (p / (1 - p))) @ design + np.diag(WEIGHT)


def octaves(n: int) -> list[int]:
    """1, 2, 4, .. and n.

    >>> octaves(12), octaves(8)
    ([1, 2, 4, 8, 12], [1, 2, 4, 8])
    """
    return sorted({*(2**i for i in range(n.bit_length())), n})


def crossfit_probabilities(answers: AnswerFeatures, fold: Ints, thetas: Sequence[Theta]) -> Vector:
    """Return the choice_probabilities of all answers [K], those of a question in fold [Q] k by thetas[k]."""
    chance, mine = np.empty(len(answers.x)), fold[answers.question]
    for k, theta in enumerate(thetas):
        chance[np.repeat(mine == k, answers.sizes)] = choice_probabilities(answers.take(mine == k), theta)
    return chance


def winners_correct(answers: AnswerFeatures, chance: Vector, questions: int) -> Bools:
    """Return which likeliest answers are right [Q]."""
    correct = np.zeros(questions, bool)
    correct[answers.question] = answers.correct[winners(answers, chance)[2]]
    return correct
