"""Choices of LLMs by labelled questions or without labels, and the weights of Best-of-infinity."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import steelyard as sy
from docs.sample_committees.samples import Division, SampleSet, Shares, equal_division

DRAWS = 8  # random subsets of the samples of the labelled questions
FOLDS = 5
TIE = 1e-3  # weight of single samples where the majority does not tell LLMs apart
CANDIDATES = 2000  # random weights
REFINED = 5  # of these, the best ones are improved
STEPS = (0.2, 0.1, 0.05, 0.02)  # of weight, from one LLM to another
PUBLISHED = {
    "EXAONE-Deep-32B": 0.0176,
    "MetaStone-S1-32B": 0.0346,
    "Phi-4-reasoning": 0.2690,
    "Qwen3-30B-A3B-Thinking-2507": 0.4144,
    "gpt-oss-20b": 0.2644,
}  # for GPQA-Diamond, from the README of jkomiyama/BoInf-code-publish
Weights = NDArray[np.float64]  # [S], sum 1


def merit(labelled: SampleSet, total: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """How often the majority of `total` samples of each LLM is correct [Q, S], by random subsets of the samples."""
    mean = np.mean([labelled.shuffled(rng).singles(total) for _ in range(DRAWS)], axis=0)
    return np.asarray(mean + TIE * (labelled.limit_shares() * labelled.correct[:, None]).sum(axis=2), np.float64)


def best_members(labelled: SampleSet, total: int, by_llm: NDArray[np.float64], rng: np.random.Generator) -> list[int]:
    """The best LLMs by the labels, so many that their majority is most often correct in cross-validation.

    In every fold, LLMs are ranked by the other folds.
    """
    questions, llms = by_llm.shape
    fold = rng.permutation(questions) % FOLDS
    ranked = np.stack([np.argsort(-by_llm[fold != k].mean(axis=0), kind="stable") for k in range(FOLDS)])[fold]
    accuracy = np.zeros(llms)
    for _ in range(DRAWS):
        drawn = labelled.shuffled(rng)
        for size in range(min(llms, total)):
            division = equal_division(total, ranked[:, : size + 1], llms, rng)
            accuracy[size] += drawn.majority(division).mean()
    order = np.argsort(-by_llm.mean(axis=0), kind="stable")
    return [int(llm) for llm in order[: int(accuracy.argmax()) + 1]]


def consensus_ranking(questions: SampleSet) -> list[int]:
    """The LLMs by their weight in the consensus on all samples of these questions, the heaviest first; no labels."""
    everything = np.full(questions.answer.shape[:2], questions.answer.shape[2])
    weights = sy.ConsensusVote().fit(questions.pool(everything).unlabelled()).weights_
    return sorted(range(len(questions.llms)), key=lambda llm: -weights[questions.llms[llm]])


def limit_weights(shares: Shares, correct: NDArray[np.bool_], rng: np.random.Generator) -> Weights:
    """Weights of LLMs [S] with which the vote with no limit on samples is correct in the most labelled questions.

    The rule of Best-of-infinity (arXiv 2509.21091), with the largest least margin among equals; a random search and
    moves of weight between two LLMs stand in for its mixed-integer program.
    """
    llms = shares.shape[1]
    start = np.concatenate((np.eye(llms), np.full((1, llms), 1 / llms), rng.dirichlet(np.ones(llms), CANDIDATES)))
    values = _limit_values(start, shares, correct)
    best = np.argsort(-values, kind="stable")[:REFINED]
    refined = [_refined(start[i], float(values[i]), shares, correct) for i in best]
    return max(refined, key=lambda pair: pair[1])[0]


def _limit_values(weights: NDArray[np.float64], shares: Shares, correct: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Questions that each row of weights [W, S] gets right, plus half of the least margin among them."""
    total = np.zeros(len(weights))
    margin = np.ones(len(weights))
    for share, right in zip(shares, correct, strict=True):
        votes = weights @ share
        lead = np.where(right, votes, 0.0).max(axis=1) - np.where(right, 0.0, votes).max(axis=1)
        total += lead > 0
        margin = np.where(lead > 0, np.minimum(margin, lead), margin)
    return np.asarray(total + margin / 2, np.float64)


def _refined(weights: Weights, value: float, shares: Shares, correct: NDArray[np.bool_]) -> tuple[Weights, float]:
    """Move weight from one LLM to another while that is better."""
    llms = len(weights)
    moves = np.eye(llms)[:, None] - np.eye(llms)[None]  # [S, S, S]
    moves = moves[~np.eye(llms, dtype=bool)]
    for step in STEPS:
        while True:
            options = np.maximum(weights + step * moves, 0.0)
            options /= options.sum(axis=1, keepdims=True)
            values = _limit_values(options, shares, correct)
            if values.max() <= value + 1e-9:
                break
            weights, value = options[values.argmax()], float(values.max())
    return weights, value


def random_division(total: int, weights: Weights, questions: int, rng: np.random.Generator) -> Division:
    """Draw the LLM of every sample with these probabilities [Q, S]."""
    return rng.multinomial(total, weights / weights.sum(), size=questions).astype(np.int64)
