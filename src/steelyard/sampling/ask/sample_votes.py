"""Votes on the samples of one question: the grouped answers, their votes and the verdict.

The samples become a table, which is voted on like any other, so `ask` decides as `vote` would. The score is the one
that every server with log-probabilities gives for free: exp(mean log-probability of the sampled tokens). A plan may
know it by two names: `self_logprob`, a column of every run, and `logprob`, the verifier that copies it.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import exp
from typing import NamedTuple, Self

import numpy as np
import polars as pl

from steelyard.answers.doubtful_answers import is_cut
from steelyard.answers.extract import extract_answer, kind_of
from steelyard.answers.kind_choice import DEFAULT
from steelyard.foundation.errors import SteelyardWarning
from steelyard.sampling.ask.ask_verifier import Verified
from steelyard.sampling.ask.sample_stream import Draw
from steelyard.sampling.llm.completion_json import Choice
from steelyard.sampling.online.ballot import Ballot
from steelyard.sampling.online.cascade_walk import BallotState
from steelyard.tables import read
from steelyard.tables.score_columns import NO_SCORE
from steelyard.voting.methods.base.method import Method
from steelyard.voting.methods.base.response_losses import response_losses
from steelyard.voting.pools.pool import Pool
from steelyard.voting.pools.similarity import Similarity, group_leaders
from steelyard.voting.tally import answer_totals, smoothed

SCORE = "self_logprob"
COPY = "logprob"
SOURCE = "llm"  # the column of the upstreams' names, as in a run of several


class Vote(NamedTuple):
    """The vote of one sample: the answer it counts for (None = unreadable or failed), its score and weight."""

    sample: int
    answer: str | None
    score: float | None
    weight: float | None
    loss: float | None = None  # of the probability of its answer without it, if the method has probabilities
    source: str | None = None  # its upstream, if there are several
    verifier: str | None = None  # whether a verifier scored it: "read", "not scored", "words of another", "failed: .."


class Entered(NamedTuple):
    """A sample as it enters a vote."""

    sample: int  # its number
    source: str  # its upstream; empty for the only one
    score: float | None
    verifier: str | None = None  # its state at the verifier, if one scores the samples


class AnswerTotal(NamedTuple):
    """One answer: its number of samples, their total weight, and its probability, if the method has one."""

    answer: str
    votes: int
    weight: float
    probability: float | None = None


@dataclass(frozen=True)
class Outcome:
    """The verdict on a question (None = no readable answer), the answers by weight and the votes.

    The answers of free text are groups of similar responses, each with the text of its leader.

    `confidence` is the probability that the verdict is correct, None where the method learned none; `none_correct` the
    probability that no answer is correct, where the method has one for each answer.
    """

    answer: str | None
    confidence: float | None
    share: float
    margin: float
    answers: list[AnswerTotal]
    votes: list[Vote]
    none_correct: float | None
    leaders: tuple[int, ...] = field(default=(), kw_only=True)  # free text: the vote that each of the answers is of


def count(
    draws: Sequence[Draw],
    voter: Method,
    *,
    by: str = SCORE,
    answers: str = DEFAULT,
    verified: Verified | None = None,
    prompt: str | None = None,
) -> Outcome:
    """Vote on samples in the order of their numbers; one that failed counts as unreadable.

    `verified` has the scores of a verifier. Free text is compared without the words of the `prompt`.
    """
    rows = in_order(draws)
    pool = pool_of(rows, by=by, answers=answers, verified=verified, prompt=prompt)
    if verified is None:
        return outcome_of(pool, voter, entered(rows))
    scores = [None if np.isnan(value) else float(value) for value in pool.known_scores]
    states = zip(rows, scores, verified.states, strict=True)
    return outcome_of(pool, voter, [Entered(draw.sample, draw.source, score, state) for draw, score, state in states])


def entered(draws: Sequence[Draw]) -> list[Entered]:
    """Samples as they enter a vote, in this order."""
    return [Entered(draw.sample, draw.source, probability_of(draw.choice)) for draw in draws]


def outcome_of(pool: Pool, voter: Method, entered: Sequence[Entered], *, losses: bool = True) -> Outcome:
    """Vote on the one question of a pool, whose responses are those `entered`, in their order.

    Without `losses` those of the votes are left out, which take most of the time. If only some responses were scored,
    no answer has a probability of its own: the confidence in the verdict is the one learned for partial scores.
    """
    if pool.similarity is not None:
        return _similar_outcome(pool, pool.similarity, voter, entered)
    weights, verdict = voter.weights(pool).tolist(), voter.predict(pool)
    names = [] if pool.names is None else list(pool.names)
    codes = pool.answer.tolist()
    total, votes = answer_totals(pool, weights)
    all_scored = pool.scored is None
    chances = voter.answer_probabilities(pool) if all_scored else None
    loss_array = response_losses(voter, pool) if chances is not None and losses else None
    probabilities = [None] * len(names) if chances is None else chances.of(0).tolist()
    lost = [None] * len(entered) if loss_array is None else loss_array.tolist()
    totals = [AnswerTotal(str(name), int(votes[k]), float(total[k]), probabilities[k]) for k, name in enumerate(names)]
    return Outcome(
        answer=None if verdict.code[0] < 0 else names[int(verdict.code[0])],
        confidence=None if verdict.p_correct is None else float(verdict.p_correct[0]),
        share=float(verdict.share[0]),
        margin=float(verdict.margin[0]),
        answers=sorted(totals, key=lambda one: (-one.weight, -one.votes)),
        votes=[
            Vote(one.sample, names[code], one.score, weight, loss, one.source or None, one.verifier)
            if code >= 0
            else Vote(one.sample, None, one.score, None, None, one.source or None, one.verifier)
            for one, code, weight, loss in zip(entered, codes, weights, lost, strict=True)
        ],
        none_correct=None if chances is None else float(chances.none[0]),
    )


def _similar_outcome(pool: Pool, similarity: Similarity, voter: Method, entered: Sequence[Entered]) -> Outcome:
    """Vote on free text; each response counts for the leader of its group, and only the verdict has a probability."""
    weights, verdict = voter.weights(pool).tolist(), voter.predict(pool)
    names, codes, best = list(pool.names), pool.answer.tolist(), int(verdict.code[0])
    total = answer_totals(pool, weights)[0]
    total = total if voter.counts_similar else smoothed(pool, total)
    order = [best, *np.argsort(-total, kind="stable").tolist()]  # the verdict leads the first group
    leaders = [] if best < 0 else group_leaders(similarity.block(0, len(names)), order).tolist()
    votes = Counter(leaders[code] for code in codes if code >= 0)
    groups = sorted(votes, key=lambda code: (code != best, -total[code], -votes[code]))
    return Outcome(
        answer=None if best < 0 else names[best],
        confidence=None if verdict.p_correct is None else float(verdict.p_correct[0]),
        share=float(verdict.share[0]),
        margin=float(verdict.margin[0]),
        answers=[AnswerTotal(str(names[code]), votes[code], float(total[code])) for code in groups],
        votes=[
            Vote(one.sample, names[leaders[code]], one.score, weight, None, one.source or None, one.verifier)
            if code >= 0
            else Vote(one.sample, None, one.score, None, None, one.source or None, one.verifier)
            for one, code, weight in zip(entered, codes, weights, strict=True)
        ],
        none_correct=None,
        leaders=tuple(codes.index(code) for code in groups),
    )


def pool_of(
    rows: Sequence[Draw], *, by: str, answers: str, verified: Verified | None = None, prompt: str | None = None
) -> Pool:
    """The samples as a pool, read as a table is, in this order; one that failed is unreadable."""
    several = any(draw.source for draw in rows)
    scores = [probability_of(draw.choice) for draw in rows]
    table = pl.DataFrame(
        {
            "question": ["asked"] * len(rows),
            "sample": [draw.sample for draw in rows],
            "response": [draw.choice.text if draw.choice else None for draw in rows],
            "finish": [draw.choice.finish if draw.choice else None for draw in rows],
            SCORE: scores,
            COPY: [None if value is None else [value] for value in scores],
        },
        schema_overrides={"response": pl.String, "finish": pl.String, SCORE: pl.Float64, COPY: pl.List(pl.Float64)},
    )
    if prompt is not None and kind_of(answers).similarity is not None:
        table = table.with_columns(pl.lit(prompt).alias("prompt"))
    if several:
        table = table.with_columns(pl.Series(SOURCE, [draw.source for draw in rows]))
    has_scores = verified is not None or any(value is not None for value in scores)
    if verified is not None:
        table = table.with_columns(*verified.columns())
    return read(table, score=by if has_scores else NO_SCORE, source=SOURCE if several else None, answers=answers)


def in_order(draws: Sequence[Draw]) -> list[Draw]:
    """The samples in the order of their numbers, those with the same number in the order of their sources."""
    return sorted(draws, key=lambda draw: (draw.sample, draw.source))


def rule_applies(voter: Method | None) -> bool:
    """Whether a plan's stopping rule ends the sampling; not if it weighs sources, which are asked at once."""
    return voter is not None and voter.stopping_ is not None and not voter.weighs_sources


def tell_rule(voter: Method | None) -> None:
    """Warn if a plan has a stopping rule that does not apply."""
    if voter is not None and voter.stopping_ is not None and not rule_applies(voter):
        text = "the plan's stopping rule does not support several upstreams at once: all samples are drawn"
        warnings.warn(text, SteelyardWarning, stacklevel=2)


def place_of(sample: int, source: str, sources: Sequence[str]) -> int:
    """The number of a sample among those of all sources, for a stopping rule: sample 0 of each, then sample 1.

    >>> [place_of(sample, source, ["a", "b"]) for sample in range(2) for source in "ab"]
    [0, 1, 2, 3]
    """
    return sample * len(sources) + sources.index(source)


class Watch:
    """Applies a plan's stopping rule to the samples as they arrive; without a rule it never stops."""

    def __init__(self, voter: Method | None, kind: str, sources: Sequence[str] = (), prompt: str | None = None) -> None:
        tell_rule(voter)
        self.ballot = Ballot(voter, answers=kind, prompt=prompt) if voter and rule_applies(voter) else None
        self.kind, self.sources = kind, list(sources) or [""]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.ballot:
            self.ballot.close()

    def enough(self, draw: Draw) -> bool:
        """Add a sample, and return whether to stop; the rule takes samples in the order of their numbers."""
        if not self.ballot:
            return False
        answer, score = answer_of(draw, self.kind), probability_of(draw.choice)
        return self.ballot.add(answer, score, place_of(draw.sample, draw.source, self.sources)).stop

    def counted(self, draw: Draw) -> bool:
        """Whether a sample is among those that the rule used; without a rule all are."""
        return self.stopped is None or place_of(draw.sample, draw.source, self.sources) < self.stopped.samples

    @property
    def stopped(self) -> BallotState | None:
        """The state at which the rule stopped; None if it did not."""
        return self.ballot.state if self.ballot and self.ballot.state.stop else None


def answer_of(draw: Draw, kind: str) -> str | None:
    """The answer of a sample; None if it failed, has none, or was cut off before it marked one."""
    return extract_answer(draw.choice.text, kind, cut=is_cut(draw.choice.finish)) if draw.choice else None


def probability_of(choice: Choice | None) -> float | None:
    """exp(mean log-probability) of a choice; None if the server gave none."""
    return None if choice is None or choice.logprob is None else min(1.0, exp(choice.logprob))
